// SPDX-License-Identifier: BSD-3-Clause
// A rank that has no address space, no mappings, no descriptors or no file size left, and buffers that cannot be accessed. All ranks get
// the error, with the name of the limit. Committed data stays, and the same call works afterwards.
//
//   resources [--policy buddies|rs]    rank 1 is the one in need
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 1;
constexpr int kKept = 0;
constexpr int kLarge = 1;
constexpr int kNeedy = 1;
constexpr int kCount = 1000;
constexpr int kLargeCount = 2 << 20;  // 16 MiB

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = 0;
int stamp = -1;
std::vector<double> kept(kCount);
std::vector<double> large(kLargeCount);

double value(int i) { return rank * 1000.0 + i + stamp * 0.5; }

void snapshot() {
  ++stamp;
  for (int i = 0; i < kCount; ++i) kept[static_cast<std::size_t>(i)] = value(i);
  success(Fenix_Data_member_store(kGroup, kKept, FENIX_DATA_SUBSET_FULL), "store");
  int made = -1;
  success(Fenix_Data_commit_barrier(kGroup, &made), "commit_barrier");
  expect_equal(made, stamp, "time stamp");
}

void expect_snapshot() {
  std::vector<double> target(kCount, -1);
  success(Fenix_Data_member_restore(kGroup, kKept, target.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                    FENIX_DATA_SUBSET_IGNORE),
          "restore");
  for (int i = 0; i < kCount; ++i) {
    require(target[static_cast<std::size_t>(i)] == value(i), "element " + std::to_string(i) + " is another one");
  }
}

/// A limit of this process, lowered as long as this lives.
class Lowered {
 public:
  Lowered(int resource, rlim_t to) : resource_(resource) {
    require(getrlimit(which(), &before_) == 0, "getrlimit");
    const rlimit lowered{to, before_.rlim_max};
    require(setrlimit(which(), &lowered) == 0, "setrlimit");
  }
  Lowered(const Lowered&) = delete;
  Lowered& operator=(const Lowered&) = delete;
  ~Lowered() { setrlimit(which(), &before_); }

 private:
  [[nodiscard]] __rlimit_resource which() const { return static_cast<__rlimit_resource>(resource_); }

  int resource_;
  rlimit before_{};
};

rlim_t address_space() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// All descriptors that the limit leaves.
class Descriptors {
 public:
  Descriptors() {
    for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) all_.push_back(fd);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (const int fd : all_) close(fd);
  }

 private:
  std::vector<int> all_;
};

/// All mappings that the system leaves to a process: pages that may be read, between pages that may not.
class Mappings {
 public:
  explicit Mappings(std::size_t most) : bytes_(2 * (most + 2) * page()) {
    memory_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(memory_ != MAP_FAILED, "mmap");
    std::size_t at = page();
    while (at < bytes_ && mprotect(static_cast<char*>(memory_) + at, page(), PROT_READ) == 0) at += 2 * page();
    require(at < bytes_, "there are more mappings than the system said");
    // Each of those takes two. One more may be left.
    last_ = mmap(nullptr, page(), PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;
  ~Mappings() {
    munmap(memory_, bytes_);
    if (last_ != MAP_FAILED) munmap(last_, page());
  }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  std::size_t bytes_;
  void* memory_ = nullptr;
  void* last_ = nullptr;
};

/// call fails for want of memory on all ranks while the needy one is in need, and works then. limit: named by the error.
void in_need(const std::string& what, const char* limit,
             const std::function<void(const std::function<void()>&)>& in_need, const std::function<int()>& call) {
  check::context() = what + ": ";
  int code = FENIX_SUCCESS;
  const auto run = [&] { code = call(); };
  if (rank == kNeedy) {
    in_need(run);
  } else {
    run();
  }
  expect_equal(code, FENIX_ERROR_NO_MEMORY, "the code");
  const std::string message = Fenix_Error_message();
  require(message.find(limit) != std::string::npos, "the limit is not named: " + message);
  expect_snapshot();
  success(call(), "the same with memory");
  expect_snapshot();
  snapshot();
  expect_snapshot();
  check::context().clear();
}

void without_address_space(const std::function<void()>& run) {
  constexpr rlim_t kSome = rlim_t{8} << 20;
  const Lowered limit(RLIMIT_AS, address_space() + kSome);
  run();
}

void without_descriptors(const std::function<void()>& run) {
  constexpr rlim_t kMost = 256;
  const Lowered limit(RLIMIT_NOFILE, kMost);
  const Descriptors all;
  run();
}

std::size_t most_mappings() {
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::size_t most = 0;
  file >> most;
  return most;
}

// The heap cannot grow then: it has some room beforehand.
void without_mappings(const std::function<void()>& run) {
  constexpr int kRoom = 16 << 20;
  require(mallopt(M_TRIM_THRESHOLD, 2 * kRoom) == 1 && mallopt(M_MMAP_THRESHOLD, 2 * kRoom) == 1, "mallopt");
  void* volatile room = std::malloc(kRoom);
  std::free(room);
  const Mappings all(most_mappings());
  run();
}

// SIGXFSZ would end the process.
void without_file_size(const std::function<void()>& run) {
  const Lowered limit(RLIMIT_FSIZE, 1 << 20);
  run();
}

int create_large() { return Fenix_Data_member_create(kGroup, kLarge, large.data(), kLargeCount, MPI_DOUBLE); }

void delete_large() {
  success(Fenix_Data_member_delete(kGroup, kLarge), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
}

/// A page that cannot be accessed, on the needy rank.
class Closed {
 public:
  Closed() : memory_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    require(memory_ != MAP_FAILED, "mmap");
    if (rank == kNeedy) require(mprotect(memory_, kBytes, PROT_NONE) == 0, "mprotect");
  }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;
  ~Closed() { munmap(memory_, kBytes); }
  [[nodiscard]] void* memory() const { return memory_; }

 private:
  static constexpr std::size_t kBytes = 65536;
  void* memory_;
};

// A buffer of the library that cannot become larger stays as it was, on all ranks.
void larger_buffer() {
  double* base = nullptr;
  success(Fenix_Data_member_allocate(kGroup, kLarge, kCount, MPI_DOUBLE, &base), "member_allocate");
  base[kCount - 1] = rank;
  double* larger = nullptr;
  in_need("larger buffer without address space", "RLIMIT_AS", without_address_space, [&] {
    const int code = Fenix_Data_member_allocate(kGroup, kLarge, kLargeCount, MPI_DOUBLE, &larger);
    if (code == FENIX_SUCCESS) return code;
    int count = -1;
    success(Fenix_Data_member_attr_get(kGroup, kLarge, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, nullptr, rank),
            "attr_get");
    expect_equal(count, kCount, "count after an error");
    require(base[kCount - 1] == rank, "the buffer has changed");
    return code;
  });
  require(larger[kCount - 1] == rank && larger[kLargeCount - 1] == 0, "contents of the larger buffer");
  delete_large();
}

void buffers_that_cannot_be_accessed() {
  check::context() = "buffer: ";
  const Closed closed;
  expect_equal(Fenix_Data_member_restore(kGroup, kKept, closed.memory(), kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                         FENIX_DATA_SUBSET_IGNORE),
               FENIX_ERROR_INVALID_ARGUMENT, "restore to it");
  if (rank != kNeedy) {
    const auto* bytes = static_cast<const char*>(closed.memory());
    for (int i = 0; i < 8 * kCount; ++i) require(bytes[i] == 0, "another rank has written to its target");
  }
  success(Fenix_Data_member_create(kGroup, 2, closed.memory(), kCount, MPI_DOUBLE), "member_create");
  expect_equal(Fenix_Data_member_store(kGroup, 2, FENIX_DATA_SUBSET_FULL), FENIX_ERROR_INVALID_ARGUMENT,
               "the first store from it");
  success(Fenix_Data_member_delete(kGroup, 2), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
  expect_snapshot();
  snapshot();
  expect_snapshot();
}

void create_group(int policy) {
  std::vector<int> values{1, 1};
  if (policy == FENIX_DATA_POLICY_REED_SOLOMON) values = {1, 4, 2};
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, policy, values.data(), nullptr), "group_create");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool codes = argc > 2 && std::strcmp(argv[2], "rs") == 0;
  const int policy = codes ? FENIX_DATA_POLICY_REED_SOLOMON : FENIX_DATA_POLICY_IN_MEMORY_RAID;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  create_group(policy);
  success(Fenix_Data_member_create(kGroup, kKept, kept.data(), kCount, MPI_DOUBLE), "member_create");
  snapshot();

  in_need("member without address space", "RLIMIT_AS", without_address_space, create_large);
  delete_large();
  constexpr std::size_t kTooMany = 300'000;  // would take long
  if (most_mappings() < kTooMany) {
    in_need("member without mappings", "vm.max_map_count", without_mappings, create_large);
    delete_large();
  }
  in_need("member without descriptors", "RLIMIT_NOFILE", without_descriptors, create_large);
  delete_large();
  in_need("member without file size", "RLIMIT_FSIZE", without_file_size, create_large);
  delete_large();

  larger_buffer();

  // A member grows in its store.
  success(Fenix_Data_member_create(kGroup, kLarge, large.data(), FENIX_RESIZEABLE, MPI_DOUBLE), "member_create");
  Fenix_Data_subset all;
  success(Fenix_Data_subset_create(1, 0, kLargeCount - 1, 1, &all), "subset_create");
  in_need("growth without address space", "RLIMIT_AS", without_address_space,
          [&] { return Fenix_Data_member_store(kGroup, kLarge, all); });
  success(Fenix_Data_subset_delete(&all), "subset_delete");

  buffers_that_cannot_be_accessed();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
