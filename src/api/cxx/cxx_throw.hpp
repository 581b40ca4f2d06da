// SPDX-License-Identifier: BSD-3-Clause
// How functions of the C++ interface turn a code of the C interface into fenix::RuntimeException.
#pragma once

namespace fenix_impl {

/// Throws the latest error of this thread if code is one, with the place where the library found it. Returns warnings,
/// FENIX_SUCCESS, and FENIX_ERROR_CANCELLED: failures have their own exception, in resume mode "throw".
int thrown(int code);

}  // namespace fenix_impl
