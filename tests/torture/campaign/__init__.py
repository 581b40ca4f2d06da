# SPDX-License-Identifier: BSD-3-Clause
"""Random campaigns against the library: see tests/torture/README.md."""
