// SPDX-License-Identifier: BSD-3-Clause
#include "image.hpp"

#include <link.h>

#include <cstdlib>
#include <cstring>

#include "process.hpp"

namespace fenix_simulation {
namespace {

// The first object of the list is the executable.
int find_thread_data(dl_phdr_info* info, std::size_t /*size*/, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS || info->dlpi_tls_data == nullptr) continue;
    *static_cast<std::span<std::byte>*>(result) = {static_cast<std::byte*>(info->dlpi_tls_data),
                                                   info->dlpi_phdr[i].p_memsz};
  }
  return 1;
}

void copy(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

}  // namespace

Image::Image(std::span<std::byte> data) : data_(data) {
  dl_iterate_phdr(find_thread_data, &thread_data_);
  fresh_.assign(data_.begin(), data_.end());
  fresh_of_thread_.assign(thread_data_.begin(), thread_data_.end());
}

void Image::change_to(Fiber& fiber) {
  if (present_ == &fiber) return;
  const bool is_same_process = present_ != nullptr && present_->process == fiber.process;
  if (is_same_process) {
    if (!present_->done) copy(present_->thread_data, thread_data_);
  } else {
    // A fiber that has ended leaves the data of its process in place.
    if (present_ != nullptr && present_->process->alive) {
      if (!present_->done) copy(present_->thread_data, thread_data_);
      copy(present_->process->data, data_);
    }
    copy(data_, fiber.process->data);
  }
  copy(thread_data_, fiber.thread_data);
  present_ = &fiber;
}

}  // namespace fenix_simulation
