// SPDX-License-Identifier: BSD-3-Clause
// Another user of the node can neither read nor write what a job has: its regions, its processes' memory, its files and sockets, its store, and
// the keeper that writes it.
//
// A rank holds stored data, and has flushed it; a child of rank 0 becomes another user and tries every way there is to get at it.
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "check.hpp"
#include "store_folder.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 1;
constexpr uid_t kOtherUser = 65534;  // nobody
constexpr std::size_t kWords = 1 << 16;

/// The data of a rank that a child of rank 0 needs.
struct Target {
  pid_t pid = 0;
  std::uint64_t address = 0;  ///< of the application's buffer
};

struct Descriptor {
  int number = -1;
  std::string leads_to;
};

std::vector<Descriptor> descriptors_of(pid_t pid) {
  std::vector<Descriptor> all;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::error_code gone;
    all.push_back({std::stoi(entry.path().filename()), std::filesystem::read_symlink(entry.path(), gone).string()});
  }
  return all;
}

bool is_region(const Descriptor& each) { return each.leads_to.starts_with("/memfd:fenix"); }

// ------------------------------------------------------------------------------------------------------- the other user

/// Lines about what the other user has got at; none if all is well.
using Findings = std::vector<std::string>;

void try_file(const std::string& path, Findings& findings) {
  for (const int mode : {O_RDONLY, O_WRONLY, O_RDWR}) {
    const int fd = open(path.c_str(), mode | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
      findings.push_back("opened " + path);
      close(fd);
      return;
    }
  }
}

void try_process(const Target& target, const std::vector<Descriptor>& descriptors, Findings& findings) {
  const std::string process = "/proc/" + std::to_string(target.pid);
  try_file(process + "/mem", findings);
  if (DIR* folder = opendir((process + "/map_files").c_str()); folder != nullptr) {
    findings.push_back("listed map_files");
    closedir(folder);
  }
  for (const Descriptor& each : descriptors) {
    if (is_region(each)) try_file(process + "/fd/" + std::to_string(each.number), findings);
  }
  std::uint64_t word = 0;
  iovec here{&word, sizeof word};
  iovec there{reinterpret_cast<void*>(target.address), sizeof word};
  if (process_vm_readv(target.pid, &here, 1, &there, 1, 0) >= 0) findings.emplace_back("process_vm_readv");
  // Writes the byte that is there already, in case it succeeds.
  if (process_vm_writev(target.pid, &here, 1, &there, 1, 0) >= 0) findings.emplace_back("process_vm_writev");
  // Unlike PTRACE_ATTACH, it does not stop the process, should it succeed.
  if (ptrace(PTRACE_SEIZE, target.pid, nullptr, nullptr) == 0) findings.emplace_back("ptrace");
}

bool can_connect(const std::string& path, std::size_t begin) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() + begin >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path + begin, path.c_str(), path.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + begin + path.size());
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    const bool is_connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), bytes) == 0;
    close(fd);
    if (is_connected) return true;
  }
  return false;
}

// Sockets that have names, in file systems and in none. Anybody can list them.
void try_sockets(Findings& findings) {
  std::ifstream list("/proc/net/unix");
  for (std::string line; std::getline(list, line);) {
    const auto at = line.find("fenix");
    if (at == std::string::npos) continue;
    const auto begin = line.find_last_of(' ', at) + 1;
    const std::string name = line.substr(begin);
    const bool is_abstract = name.front() == '@';
    if (can_connect(is_abstract ? name.substr(1) : name, is_abstract ? 1 : 0))
      findings.push_back("connected to " + name);
    // The name cannot be taken either, once the keeper has ended: there is a lock.
    if (!is_abstract) try_file(name + ".lock", findings);
  }
}

// What others may write to could be removed, or get a link in its place.
void try_names(const std::string& folder, Findings& findings) {
  const std::string name = folder + "/of-another-user";
  const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) {
    findings.push_back("made a file in " + folder);
    close(fd);
    unlink(name.c_str());
  }
  if (access(folder.c_str(), R_OK) == 0) findings.push_back("listed " + folder);
}

// Files and sockets under a folder, as far as they can be reached.
void try_folder(const std::string& folder, Findings& findings) {
  std::error_code denied;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  std::filesystem::recursive_directory_iterator entries(folder, options, denied);
  for (; !denied && entries != std::filesystem::end(entries); entries.increment(denied)) {
    const std::string path = entries->path();
    if (entries->is_socket(denied)) {
      if (can_connect(path, 0)) findings.push_back("connected to " + path);
    } else if (entries->is_regular_file(denied)) {
      try_file(path, findings);
    }
  }
}

/// folders: of the store, and of its datasets.
Findings try_everything(const std::vector<Target>& targets, const std::vector<std::vector<Descriptor>>& descriptors,
                        const std::vector<std::string>& folders) {
  Findings findings;
  for (std::size_t i = 0; i < targets.size(); ++i) try_process(targets[i], descriptors[i], findings);
  for (const std::string& each : folders) try_names(each, findings);
  try_sockets(findings);
  if (geteuid() != 0) {
    try_folder(".", findings);
    try_folder("/dev/shm", findings);
  }
  return findings;
}

/// Returns a user's findings as one text. Uses nothing of MPI in the child.
std::string found_by(uid_t user, const std::vector<Target>& targets, const std::string& folder,
                     const std::vector<std::string>& folders) {
  std::vector<std::vector<Descriptor>> descriptors;
  for (const Target& each : targets) descriptors.push_back(descriptors_of(each.pid));
  int pipe_ends[2];
  require(pipe(pipe_ends) == 0, "pipe");
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    std::string text;
    // The folders above this one may be closed to others, which would hide what can be done in it.
    if (chdir(folder.c_str()) != 0) _exit(1);
    if (user != geteuid() && (setgroups(0, nullptr) != 0 || setgid(user) != 0 || setuid(user) != 0)) {
      text = "this process could not become the other user";
    } else {
      for (const std::string& line : try_everything(targets, descriptors, folders)) text += line + "; ";
    }
    const auto done = write(pipe_ends[1], text.data(), text.size());
    _exit(done == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = read(pipe_ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  close(pipe_ends[0]);
  int status = -1;
  require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "the other user's child");
  return text;
}

// ------------------------------------------------------------------------------------------------------------- this user

/// Regions are there, and nobody but their user may open them, whatever the way to them is.
void check_modes(pid_t pid) {
  int regions = 0;
  for (const Descriptor& each : descriptors_of(pid)) {
    if (!is_region(each)) continue;
    ++regions;
    struct stat status {};
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(each.number);
    require(stat(path.c_str(), &status) == 0, "stat of a region");
    expect_equal(status.st_mode & 0777, 0600, "mode of a region");
  }
  require(regions >= 2, "this rank has a control region and one of its member");
}

/// The keeper of this node, by the regions that it has open. It is a process of this user.
pid_t find_keeper(const std::string& store) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    if (name != "fenix-keeper") continue;
    std::ifstream file(entry.path() / "environ");
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    if (environment.find("FENIX_STORE=" + store) != std::string::npos) return std::stoi(entry.path().filename());
  }
  return 0;
}

/// Returns the store and what is in it, after a look at the modes: nobody else may do anything.
std::vector<std::string> check_store(const std::string& store) {
  std::vector<std::string> folders{store};
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store)) {
    struct stat status {};
    require(lstat(entry.path().c_str(), &status) == 0, "lstat of " + entry.path().string());
    expect_equal(status.st_mode & 077, 0, "what others may do with " + entry.path().string());
    if (entry.is_directory()) folders.push_back(entry.path());
    if (entry.is_regular_file()) ++files;
  }
  require(folders.size() >= 2 && files >= 3, "the store has a dataset");
  return folders;
}

/// Shared memory that has a name in a folder of all users, as Open MPI's has, can be opened by its owner alone.
void check_files(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      const auto begins = [&](const char* with) { return name.starts_with(with); };
      struct stat status {};
      if (!begins("sm_") && !begins("vader") && !begins("osc_") && !begins("fenix")) continue;
      if (lstat(entry.path().c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
      expect_equal(status.st_mode & 077, 0, "what others may do with " + entry.path().string());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // The modes must not depend on it.
  umask(0);
  const std::string store = check::store_folder();
  int first = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &first);
  require(!store.empty(), "FENIX_STORE is not set");
  // The keeper makes it.
  if (first == 0) std::filesystem::remove_all(store);
  MPI_Barrier(MPI_COMM_WORLD);
  int role = -1;
  int error = -1;
  MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  int rank = -1;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int flag = -1;
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag), "group_create");
  std::vector<std::uint64_t> data(kWords, 0x5ec2e75ec2e75ec2U + static_cast<std::uint64_t>(rank));
  const auto before = data;
  success(Fenix_Data_member_create(kGroup, 0, data.data(), static_cast<int>(kWords), MPI_UINT64_T), "member_create");
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  check_modes(getpid());
  success(Fenix_Data_flush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "flush");

  const Target mine{getpid(), reinterpret_cast<std::uint64_t>(data.data())};
  std::vector<Target> targets(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, targets.data(), sizeof mine, MPI_BYTE, comm);
  const char* temporary = std::getenv("TMPDIR");
  const std::string tmp = temporary != nullptr ? temporary : "/tmp";
  if (rank == 0) check_files({"/dev/shm", tmp});
  std::vector<std::string> folders;
  if (rank == 0) {
    folders = check_store(store);
    const pid_t keeper = find_keeper(store);
    require(keeper != 0, "the keeper of this node lives");
    // Memory that is no address of the keeper cannot be read by anybody.
    targets.push_back({keeper, 0});
  }
  if (rank == 0 && geteuid() == 0) {
    const std::string found = found_by(kOtherUser, targets, tmp, folders);
    require(found.empty(), "another user got at: " + found);
    // The same ways are ways: the owner gets there.
    const std::string own = found_by(geteuid(), targets, tmp, folders);
    for (const char* way : {"/fd/", "/mem", "map_files", "process_vm_readv", "process_vm_writev", "connected to",
                            "listed", "made a file in"}) {
      require(own.find(way) != std::string::npos, std::string("the owner finds nothing by ") + way + ", only " + own);
    }
  } else if (rank == 0) {
    std::printf("not root: nobody else could be asked; only modes were checked\n");
  }
  MPI_Barrier(comm);

  std::fill(data.begin(), data.end(), 0);
  success(
      Fenix_Data_member_restore(kGroup, 0, data.data(), static_cast<int>(kWords), FENIX_DATA_SNAPSHOT_LATEST, nullptr),
      "restore");
  require(data == before, "what was restored is what was stored");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::remove_store();
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
