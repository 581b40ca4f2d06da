// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace fenix_impl {
namespace {

TEST(WindowFiles, OnlyThoseOfTheProcess) {
  const auto folder = std::filesystem::temp_directory_path() / ("fenix-window-files-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  for (const char* name : {"osc_rdma.host.1f.23.42", "osc_rdma.host.1f.24.42", "osc_rdma.host.1f.23.142",
                           "osc_rdma.host.1f.23.421", "sm_segment.host.0.42", "other.42"}) {
    std::ofstream(folder / name) << name;
  }
  remove_window_files(42, folder);
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) left.insert(entry.path().filename());
  std::filesystem::remove_all(folder);
  EXPECT_EQ(left, (std::set<std::string>{"osc_rdma.host.1f.23.142", "osc_rdma.host.1f.23.421", "sm_segment.host.0.42",
                                         "other.42"}));
}

TEST(WindowFiles, AFolderThatIsNotThere) { remove_window_files(42, "/no/such/folder"); }

}  // namespace
}  // namespace fenix_impl
