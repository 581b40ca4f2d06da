// SPDX-License-Identifier: BSD-3-Clause
// Runs of a store: their numbers, and the mark that one has come to its end (P11).
#include <gtest/gtest.h>

#include <cerrno>
#include <random>

#include "store/sealed_file.hpp"
#include "store/store.hpp"
#include "support/random_seed.hpp"
#include "support/recorded_file_system.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

TEST(StoreRuns, TheEndIsNotedOnAFullDisk) {
  RecordedFileSystem files;
  Store store(files, "");
  const auto run = store.begin_run().number;
  EXPECT_FALSE(store.has_finished(run));
  files.is_full = true;
  EXPECT_THROW((void)files.create("/x", FileSystem::Use::small), StoreError);
  store.finish_run(run);
  EXPECT_TRUE(store.has_finished(run));
}

TEST(StoreRuns, ADiskThatIsFullFromTheBeginningStopsNoRun) {
  RecordedFileSystem files;
  Store store(files, "");
  files.error_of_writes = ENOSPC;
  const auto run = store.begin_run().number;
  EXPECT_EQ(run, 1U);
  EXPECT_FALSE(store.has_finished(run));
  files.error_of_writes = 0;
  store.finish_run(run);
  EXPECT_TRUE(store.has_finished(run));
  EXPECT_EQ(store.begin_run().number, 2U);
}

TEST(StoreRuns, AfterACrashARunHasEndedOnlyIfItHasSaidSo) {
  std::mt19937 random(random_seed());
  RecordedFileSystem files;
  Store store(files, "");
  const auto run = store.begin_run().number;
  const std::size_t begun = files.operations();
  store.finish_run(run);
  const std::size_t ended = files.operations();
  for (std::size_t end = 0; end <= ended; ++end) {
    for (int times = 0; times < 20; ++times) {
      const auto after = files.after_crash(end, static_cast<unsigned>(random() % 9), random);
      const bool has_finished = Store(*after, "").has_finished(run);
      if (end <= begun) {
        EXPECT_FALSE(has_finished) << "after operation " << end;
      }
      if (end == ended) {
        EXPECT_TRUE(has_finished);
      }
    }
  }
}

// Of earlier versions: empty until the end, or with the text of the end.
TEST(StoreRuns, FilesOfEarlierVersionsAreUnderstood) {
  RecordedFileSystem files;
  Store store(files, "");
  (void)files.create("/run.7", FileSystem::Use::small);
  EXPECT_FALSE(store.has_finished(7));
  EXPECT_EQ(store.begin_run().number, 8U);
  const std::string text = "finished\n";
  files.create("/run.9", FileSystem::Use::small)->write(0, std::as_bytes(std::span(text)));
  EXPECT_TRUE(store.has_finished(9));
}

}  // namespace
}  // namespace fenix_test
