// SPDX-License-Identifier: BSD-3-Clause
// Windows, files, intercommunicators and partitioned requests, on the resilient communicator (newcomm NULL) and on a derived one. Rank 1
// of 4 dies. The old objects end with errors, and new ones on the same handles work. Resume mode "return".
// usage: passed_through KIND [CALL]
//   CALL: the survivors are in this call on the old object when rank 1 has died, or come to it; else in MPI_Barrier
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "../check.hpp"
#include "comms.hpp"

namespace {

constexpr int kVictim = 1;
constexpr int kTag = 4;
constexpr int kCount = 16;
constexpr useconds_t kBetweenLooks = 20'000;

int role = -1;
int error = -1;
int repairs = 0;
std::string file_name;

void count_repair(MPI_Comm, int, void*) { ++repairs; }

int after(MPI_Comm comm) { return (rank_in(comm) + 1) % size_of(comm); }

int before(MPI_Comm comm) { return (rank_in(comm) + size_of(comm) - 1) % size_of(comm); }

/// The tested object is made on a communicator, used by all its members, and freed.
struct Object {
  virtual ~Object() = default;
  virtual void make(MPI_Comm comm) = 0;
  /// Returns the error of MPI.
  virtual int use() = 0;
  /// Calls one function on an object that has lost rank 1.
  virtual int call(const std::string& name) = 0;
  /// May fail after a death, but must end.
  virtual int free() = 0;
};

#define MAKE(CALL) \
  if (const int code = (CALL); code != MPI_SUCCESS) return code

class Window : public Object {
 public:
  explicit Window(std::string kind) : kind_(std::move(kind)) {}

  void make(MPI_Comm comm) override {
    comm_ = comm;
    constexpr MPI_Aint kBytes = kCount * sizeof(int);
    memory_ = own_.data();
    int code = MPI_SUCCESS;
    if (kind_ == "create") code = MPI_Win_create(memory_, kBytes, sizeof(int), MPI_INFO_NULL, comm, &window_);
    if (kind_ == "allocate") {
      code = MPI_Win_allocate(kBytes, sizeof(int), MPI_INFO_NULL, comm, static_cast<void*>(&memory_), &window_);
    }
    if (kind_ == "shared") {
      code = MPI_Win_allocate_shared(kBytes, sizeof(int), MPI_INFO_NULL, comm, static_cast<void*>(&memory_), &window_);
    }
    if (kind_ == "dynamic") {
      code = MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window_);
      MPI_Win_attach(window_, memory_, kBytes);
      MPI_Get_address(memory_, &place_);
      MPI_Sendrecv(&place_, 1, MPI_AINT, before(comm), kTag, &place_after_, 1, MPI_AINT, after(comm), kTag, comm,
                   MPI_STATUS_IGNORE);
    }
    check::success(code, "making a window");
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  }

  int use() override {
    const int rank = rank_in(comm_);
    int got = -1;
    memory_[0] = memory_[1] = -1;
    MAKE(MPI_Win_fence(0, window_));
    MAKE(put(rank, 0));
    MAKE(MPI_Win_fence(0, window_));
    check::expect_equal(memory_[0], before(comm_), "what was put between fences");
    MAKE(MPI_Get(&got, 1, MPI_INT, after(comm_), place_after_, 1, MPI_INT, window_));
    MAKE(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_));
    check::expect_equal(got, rank, "what was got between fences");
    MAKE(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, after(comm_), 0, window_));
    MAKE(put(rank + 100, 1));
    MAKE(MPI_Win_unlock(after(comm_), window_));
    MAKE(MPI_Barrier(comm_));
    check::expect_equal(memory_[1], 100 + before(comm_), "what was put under a lock");
    MAKE(post());
    MAKE(MPI_Win_complete(window_));
    return MPI_Win_wait(window_);
  }

  int call(const std::string& name) override {
    const int rank = rank_in(comm_);
    if (name == "fence") return MPI_Win_fence(0, window_);
    if (name == "post") return post();
    MAKE(MPI_Win_lock_all(0, window_));
    MAKE(MPI_Put(&rank, 1, MPI_INT, kVictim, 0, 1, MPI_INT, window_));
    MAKE(MPI_Win_flush(kVictim, window_));
    return MPI_Win_unlock_all(window_);
  }

  int free() override {
    const int code = MPI_Win_free(&window_);
    check::require(window_ == MPI_WIN_NULL, "MPI_Win_free leaves the handle");
    return code;
  }

 private:
  int put(const int& value, MPI_Aint at) {
    const MPI_Aint unit = kind_ == "dynamic" ? MPI_Aint{sizeof(int)} : 1;
    return MPI_Put(&value, 1, MPI_INT, after(comm_), place_after_ + at * unit, 1, MPI_INT, window_);
  }

  int post() {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group origin = MPI_GROUP_NULL;
    MPI_Group target = MPI_GROUP_NULL;
    const int from = before(comm_);
    const int to = after(comm_);
    MPI_Comm_group(comm_, &all);
    MPI_Group_incl(all, 1, &from, &origin);
    MPI_Group_incl(all, 1, &to, &target);
    const int posted = MPI_Win_post(origin, 0, window_);
    const int started = posted == MPI_SUCCESS ? MPI_Win_start(target, 0, window_) : posted;
    for (MPI_Group* group : {&all, &origin, &target}) MPI_Group_free(group);
    return started;
  }

  std::string kind_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::array<int, kCount> own_{};
  int* memory_ = nullptr;
  MPI_Aint place_ = 0;
  MPI_Aint place_after_ = 0;
};

class File : public Object {
 public:
  void make(MPI_Comm comm) override {
    comm_ = comm;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    check::success(MPI_File_open(comm, file_name.c_str(), mode, MPI_INFO_NULL, &file_), "MPI_File_open");
  }

  int use() override {
    const int rank = rank_in(comm_);
    MAKE(write(rank));
    MAKE(MPI_File_sync(file_));
    MAKE(MPI_Barrier(comm_));
    int got = -1;
    MAKE(MPI_File_read_at_all(file_, place(after(comm_)), &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    check::expect_equal(got, after(comm_), "what was read");
    return MPI_SUCCESS;
  }

  int call(const std::string& name) override {
    if (name == "sync") return MPI_File_sync(file_);
    return write(rank_in(comm_));
  }

  int free() override { return MPI_File_close(&file_); }

 private:
  static MPI_Offset place(int rank) { return MPI_Offset{rank} * MPI_Offset{sizeof(int)}; }

  int write(int rank) { return MPI_File_write_at_all(file_, place(rank), &rank, 1, MPI_INT, MPI_STATUS_IGNORE); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_File file_ = MPI_FILE_NULL;
};

/// Between the even and the odd ranks.
class Intercommunicator : public Object {
 public:
  void make(MPI_Comm comm) override {
    comm_ = comm;
    const int rank = rank_in(comm);
    MPI_Comm half = MPI_COMM_NULL;
    check::success(MPI_Comm_split(comm, rank % 2, rank, &half), "MPI_Comm_split");
    check::success(MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, kTag, &inter_), "MPI_Intercomm_create");
    // A communicator that exists is made anew by a repair, and then is not to be made twice.
    MPI_Comm_free(&half);
  }

  int use() override {
    int size = -1;
    int sum = -1;
    const int rank = rank_in(comm_);
    MAKE(MPI_Comm_remote_size(inter_, &size));
    check::expect_equal(size, 2, "remote size");
    MAKE(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter_));
    check::expect_equal(sum, rank % 2 == 0 ? 4 : 2, "sum of the ranks on the other side");
    MPI_Comm merged = MPI_COMM_NULL;
    MAKE(MPI_Intercomm_merge(inter_, rank % 2, &merged));
    check::expect_equal(rank_in(merged), rank / 2 + (rank % 2) * 2, "rank after MPI_Intercomm_merge");
    MAKE(MPI_Barrier(merged));
    return MPI_Comm_free(&merged);
  }

  int call(const std::string&) override { return MPI_Barrier(inter_); }

  int free() override { return MPI_Comm_free(&inter_); }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm inter_ = MPI_COMM_NULL;
};

std::unique_ptr<Object> object_of(const std::string& kind) {
  if (kind == "file") return std::make_unique<File>();
  if (kind == "intercommunicator") return std::make_unique<Intercommunicator>();
  return std::make_unique<Window>(kind);
}

/// Open MPI cannot do it here: they are refused, and do not wait without an end.
void check_partitioned(MPI_Comm comm) {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check::expect_equal(MPI_Psend_init(&value, 1, 1, MPI_INT, after(comm), kTag, comm, MPI_INFO_NULL, &request),
                      MPI_ERR_UNSUPPORTED_OPERATION, "code of MPI_Psend_init");
  check::expect_equal(MPI_Precv_init(&value, 1, 1, MPI_INT, before(comm), kTag, comm, MPI_INFO_NULL, &request),
                      MPI_ERR_UNSUPPORTED_OPERATION, "code of MPI_Precv_init");
}

void make_and_use(Object& object, MPI_Comm comm) {
  object.make(comm);
  check::success(object.use(), "use");
}

/// Waits until MPI knows of the death. An access to a dead rank that is not known to be dead may wait inside of Open MPI.
void wait_for_notice(MPI_Comm comm) {
  for (int size = 0; size == 0;) {
    int found = 0;
    MPI_Group failed = MPI_GROUP_NULL;
    usleep(kBetweenLooks);
    MPI_Iprobe(0, kTag, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    MPIX_Comm_get_failed(comm, &failed);
    MPI_Group_size(failed, &size);
    if (failed != MPI_GROUP_EMPTY) MPI_Group_free(&failed);
  }
}

void die_and_use(const std::string& kind, const std::string& call, MPI_Comm derived) {
  // They stay: what is left of a window with a dead rank may be written to.
  static const auto in_world = object_of(kind);
  static const auto in_derived = object_of(kind);
  make_and_use(*in_world, MPI_COMM_WORLD);
  make_and_use(*in_derived, derived);
  check::success(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  if (rank_in(MPI_COMM_WORLD) == kVictim) raise(SIGKILL);
  if (call.empty()) {
    check::require(is_failure(MPI_Barrier(derived)), "a barrier with a dead rank");
  } else {
    wait_for_notice(derived);
    const int code = in_derived->call(call);
    check::require(is_failure(code), "the call of an object with a dead rank returned " + std::to_string(code));
  }
  check::expect_equal(repairs, 1, "repairs");
  for (Object* old : {in_world.get(), in_derived.get()}) {
    const int code = old->call(call.empty() ? "fence" : call);
    check::expect_equal(class_of(code), MPIX_ERR_REVOKED, "class of the error of an object from before the repair");
    (void)old->free();
  }
  check::expect_equal(repairs, 1, "repairs after the calls of old objects");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argv[1];
  const std::string call = argc > 2 ? argv[2] : "";
  MPI_Init(&argc, &argv);
  file_name = std::string(std::getenv("TMPDIR")) + "/data";
  Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_set_option(FENIX_UNHANDLED_MODE, FENIX_UNHANDLED_SILENT);
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 1, &error);
  check::success(error, "Fenix_Init");
  MPI_Comm derived = MPI_COMM_NULL;
  check::success(MPI_Comm_dup(MPI_COMM_WORLD, &derived), "MPI_Comm_dup");
  if (role == FENIX_ROLE_INITIAL_RANK) {
    Fenix_Callback_register(count_repair, nullptr);
    if (kind == "partitioned") {
      check_partitioned(MPI_COMM_WORLD);
      check_partitioned(derived);
      if (rank_in(derived) == kVictim) raise(SIGKILL);
      check::require(is_failure(MPI_Barrier(derived)), "a barrier with a dead rank");
    } else {
      die_and_use(kind, call, derived);
    }
  }
  check::require(role != FENIX_ROLE_INITIAL_RANK, "nobody has died");
  for (const MPI_Comm comm : {MPI_COMM_WORLD, derived}) {
    if (kind == "partitioned") {
      check_partitioned(comm);
      continue;
    }
    const auto made = object_of(kind);
    make_and_use(*made, comm);
    check::success(made->free(), "free");
  }
  if (kind == "file" && rank_in(derived) == 0) unlink(file_name.c_str());
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank_in(derived));
  MPI_Finalize();
  return 0;
}
