// SPDX-License-Identifier: BSD-3-Clause
// Calls of the system, as a process of the simulation gets them.
#include "kernel.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <utility>

#include "cost.hpp"
#include "fabric.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr int kFirstDescriptor = 100;
constexpr std::size_t kPage = 4096;
constexpr ino_t kFirstNamespace = 4'026'531'836;

Process& self() { return *present_process(); }

void unmap(Process& process, const std::shared_ptr<MemoryFile>& file) {
  const auto found = std::find(file->mappers.begin(), file->mappers.end(), &process);
  if (found != file->mappers.end()) file->mappers.erase(found);
}

}  // namespace

OpenFile* file_of(int descriptor) {
  auto& files = self().kernel->files;
  const auto found = files.find(descriptor);
  return found != files.end() ? &found->second : nullptr;
}

ProcName look_up(const char* name) {
  ProcName found;
  int pid = 0;
  char rest[16] = "";
  if (std::sscanf(name, "/proc/%d", &pid) != 1 || pid < kFirstPid) return found;
  found.is_one = true;
  Process* process = world().find(pid);
  if (process == nullptr || !process->alive) return found;
  found.process = process;
  std::sscanf(name, "/proc/%d/fd/%d", &pid, &found.descriptor);
  found.is_stat = std::sscanf(name, "/proc/%d/%15s", &pid, rest) == 2 && std::string_view(rest) == "stat";
  return found;
}

const std::shared_ptr<MemoryFile>* memory_of(const ProcName& name) {
  if (name.process == nullptr || name.descriptor < 0) return nullptr;
  const auto found = name.process->kernel->files.find(name.descriptor);
  return found != name.process->kernel->files.end() && found->second.memory ? &found->second.memory : nullptr;
}

// Whole pages are given back: most of them have never been used, and never will be.
void clear_memory(std::byte* memory, std::size_t bytes) {
  const std::size_t head = std::min(bytes, (kPage - reinterpret_cast<std::uintptr_t>(memory) % kPage) % kPage);
  const std::size_t pages = (bytes - head) / kPage * kPage;
  std::memset(memory, 0, head);
  if (pages > 0) ::madvise(memory + head, pages, MADV_DONTNEED);
  std::memset(memory + head + pages, 0, bytes - head - pages);
}

std::string status_of(const Process& process) {
  return std::to_string(process.pid) + " (simulated) " + (process.stopped ? "T" : "R") + " 1";
}

// Closing may wake others, who look at what the process has.
void release_kernel_state(Process& process) {
  for (const auto& [address, file] : process.kernel->mapped) std::erase(file->mappers, &process);
  const auto old = std::exchange(process.kernel, std::make_unique<KernelState>());
}

void wait_for_news(Time until) {
  constexpr Time kLongWait = 1'000'000'000;
  Fiber& fiber = *world().scheduler().present();
  fiber.idle = true;
  fiber.earliest = 0;
  world().scheduler().give_away(std::min(until, world().now() + kLongWait));
}

int open_file(OpenFile file, int least) {
  auto& files = self().kernel->files;
  int descriptor = std::max(kFirstDescriptor, least);
  while (files.count(descriptor) != 0) ++descriptor;
  files[descriptor] = std::move(file);
  return descriptor;
}

}  // namespace fenix_simulation

using fenix_simulation::access;
using fenix_simulation::Kind;
using fenix_simulation::MemoryFile;
using fenix_simulation::Process;
using fenix_simulation::Time;
using fenix_simulation::world;

extern "C" {

// ------------------------------------------------------------------------------------------------------------------- memory

void* simulated_mmap(void* at, std::size_t bytes, int /*protection*/, int flags, int descriptor, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0) {
    void* memory = (flags & MAP_FIXED) != 0 ? at : fenix_simulation::self().take_memory(bytes, fenix_simulation::kPage);
    if (memory == nullptr) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
    fenix_simulation::clear_memory(static_cast<std::byte*>(memory), bytes);
    return memory;
  }
  auto* file = fenix_simulation::file_of(descriptor);
  if (file == nullptr || !file->memory) {
    errno = EBADF;
    return MAP_FAILED;
  }
  Process& process = fenix_simulation::self();
  file->memory->mappers.push_back(&process);
  void* const at_offset = file->memory->begin + offset;
  process.kernel->mapped.emplace(at_offset, file->memory);
  return at_offset;
}

int simulated_munmap(void* address, std::size_t /*bytes*/) {
  Process& process = fenix_simulation::self();
  if (fenix_simulation::Heap::has(address)) {
    process.heap.release(address);
    return 0;
  }
  const auto found = process.kernel->mapped.find(address);
  if (found == process.kernel->mapped.end()) return fenix_simulation::refuse(EINVAL);
  fenix_simulation::unmap(process, found->second);
  process.kernel->mapped.erase(found);
  return 0;
}

int simulated_mprotect(void* /*address*/, std::size_t /*bytes*/, int /*protection*/) { return 0; }
int simulated_madvise(void* /*address*/, std::size_t /*bytes*/, int /*advice*/) { return 0; }
// --------------------------------------------------------------------------------------------------------- who and where

ssize_t simulated_readlink(const char* /*name*/, char* text, std::size_t bytes) {
  const auto number = fenix_simulation::kFirstNamespace + static_cast<ino_t>(fenix_simulation::self().node);
  return std::snprintf(text, bytes, "pid:[%lu]", static_cast<unsigned long>(number));
}

// The code is in no library that is installed: there are no settings beside it.
int simulated_dladdr(const void* /*address*/, Dl_info* /*info*/) { return 0; }

int simulated_gethostname(char* text, std::size_t bytes) {
  std::snprintf(text, bytes, "node%d", fenix_simulation::self().node);
  return 0;
}

pid_t simulated_getpid() { return fenix_simulation::self().pid; }
pid_t simulated_getppid() { return 1; }

ssize_t simulated_getrandom(void* to, std::size_t bytes, unsigned /*flags*/) {
  for (std::size_t i = 0; i < bytes; ++i) {
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(world().draw(Kind::random, 256));
  }
  // Keys must differ even if all is harmless.
  const int number = fenix_simulation::self().number;
  const auto request = fenix_simulation::self().requests_of_bytes++;
  const std::uint64_t most = fenix_simulation::machine() != nullptr ? 1U << 20U : 4096;
  if (bytes >= 8) {
    const std::uint64_t own = fenix_simulation::mixed(request * most + static_cast<std::uint64_t>(number));
    for (std::size_t i = 0; i < 8; ++i)
      static_cast<unsigned char*>(to)[i] ^= static_cast<unsigned char>(own >> (8 * i));
  }
  return static_cast<ssize_t>(bytes);
}

char* simulated_getenv(const char* name) {
  auto& variables = fenix_simulation::self().environment;
  const auto found = variables.find(name);
  return found != variables.end() ? found->second.data() : nullptr;
}

int simulated_setenv(const char* name, const char* value, int overwrite) {
  auto& variables = fenix_simulation::self().environment;
  if (overwrite != 0 || variables.count(name) == 0) variables[name] = value;
  return 0;
}

int simulated_unsetenv(const char* name) {
  fenix_simulation::self().environment.erase(name);
  return 0;
}

char** simulated_environ = [] {
  static char* none[1] = {nullptr};
  return static_cast<char**>(none);
}();

int simulated_getrlimit(int /*resource*/, struct rlimit* limit) {
  *limit = {RLIM_INFINITY, RLIM_INFINITY};
  return 0;
}

// ------------------------------------------------------------------------------------------------------------------- time

int simulated_clock_gettime(clockid_t /*clock*/, timespec* time) {
  const Time now = world().time_here();
  time->tv_sec = static_cast<time_t>(now / 1'000'000'000);
  time->tv_nsec = static_cast<long>(now % 1'000'000'000);
  return 0;
}

// A loop that looks at nothing but the clock must not stand still.
std::int64_t simulated_steady_now() {
  constexpr unsigned kMostLooks = 4;
  auto* fiber = world().scheduler().present();
  if (fiber != nullptr && ++fiber->clock_looks > kMostLooks) world().idle();
  return static_cast<std::int64_t>(world().time_here());
}

std::int64_t simulated_system_now() {
  constexpr std::int64_t kBegin = 1'800'000'000'000'000'000;
  return kBegin + static_cast<std::int64_t>(world().now());
}

time_t simulated_time(time_t* time) {
  const auto now = static_cast<time_t>(simulated_system_now() / 1'000'000'000);
  if (time != nullptr) *time = now;
  return now;
}

int simulated_sched_yield() {
  world().idle();
  return 0;
}

int simulated_nanosleep(const timespec* time, timespec* /*left*/) {
  constexpr Time kLong = 1'000'000;
  const Time length = static_cast<Time>(time->tv_sec) * 1'000'000'000 + static_cast<Time>(time->tv_nsec);
  const auto* machine = fenix_simulation::machine();
  const Time late = machine != nullptr ? static_cast<Time>(machine->nap) : world().draw(Kind::nap, 60'000);
  if (length >= kLong) {
    world().sleep_until(world().now() + length + late);
  } else {
    world().idle(machine != nullptr ? length + late : length);
  }
  return 0;
}

// --------------------------------------------------------------------------------------------------------- signals, ends

int simulated_sigaction(int /*number*/, const struct sigaction* /*wanted*/, struct sigaction* before) {
  if (before != nullptr) std::memset(before, 0, sizeof *before);
  return 0;
}

int simulated_pthread_sigmask(int /*how*/, const sigset_t* /*wanted*/, sigset_t* /*before*/) { return 0; }
int simulated_pthread_atfork(void (*)(), void (*)(), void (*)()) { return 0; }

int simulated_raise(int number) {
  if (number == SIGKILL) world().kill(fenix_simulation::self(), "a signal to itself");
  return 0;
}

int simulated_kill(pid_t pid, int number) {
  Process* process = world().find(pid);
  if (process == nullptr || !process->alive) return fenix_simulation::refuse(ESRCH);
  if (number == SIGKILL) world().kill(*process, "a signal");
  return 0;
}

void simulated_exit(int status) {
  Process& process = fenix_simulation::self();
  if (status != 0)
    world().violate("process " + std::to_string(process.number) + " exits with " + std::to_string(status));
  world().end(process);
  world().scheduler().vanish();
}

void simulated_abort() {
  world().violate("process " + std::to_string(fenix_simulation::self().number) + " calls abort");
  std::abort();
}

int simulated_timer_create(clockid_t /*clock*/, struct sigevent* /*event*/, timer_t* /*timer*/) {
  return fenix_simulation::refuse(EAGAIN);
}
int simulated_timer_settime(timer_t, int, const struct itimerspec*, struct itimerspec*) { return 0; }
int simulated_timer_delete(timer_t) { return 0; }

// pidfd_open, pidfd_send_signal, futex, gettid, ioprio_set.
long simulated_syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  const long a = va_arg(rest, long);
  const long b = va_arg(rest, long);
  const long c = va_arg(rest, long);
  const long d = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_pidfd_open) {
    const Process* process = world().find(static_cast<pid_t>(a));
    return process != nullptr && process->alive ? a : fenix_simulation::refuse(ESRCH);
  }
  if (number == SYS_pidfd_send_signal) return simulated_kill(static_cast<pid_t>(a), static_cast<int>(b));
  if (number == SYS_gettid) return fenix_simulation::self().pid;
  if (number == SYS_ioprio_set) return 0;
  if (number == SYS_futex) {
    const auto* word = reinterpret_cast<const volatile std::uint32_t*>(a);
    if ((b & 0x7f) != FUTEX_WAIT) return 0;
    const auto* most = reinterpret_cast<const timespec*>(d);
    const Time length = most == nullptr
                            ? 1'000'000'000
                            : static_cast<Time>(most->tv_sec) * 1'000'000'000 + static_cast<Time>(most->tv_nsec);
    const Time end = world().now() + length;
    while (*word == static_cast<std::uint32_t>(c) && world().now() < end) {
      world().scheduler().present()->looked_at |= fenix_simulation::bit_of(reinterpret_cast<const void*>(a));
      world().idle(0);
    }
    return 0;
  }
  world().violate("not simulated: system call " + std::to_string(number), "simulation");
  return -1;
}

// ---------------------------------------------------------------------------------------------------- libraries, output

void simulation_refuses(const char* name) { world().violate(std::string("not simulated: ") + name, "simulation"); }

void* simulated_dlopen(const char* name, int /*mode*/) {
  static char fabric = 0;
  return name != nullptr && std::string_view(name).starts_with("libfabric") ? &fabric : nullptr;
}
void* simulated_dlvsym(void* /*library*/, const char* name, const char* /*version*/) {
  return fenix_simulation::find_in_libfabric(name);
}
void* simulated_dlsym(void* /*library*/, const char* /*name*/) { return nullptr; }
char* simulated_dlerror() {
  static char text[] = "the simulation has no libraries";
  return text;
}

// Streams of files: the state of simulated processes in /proc is a text, and there are no other files.
std::filebuf* simulated_filebuf_open(std::filebuf* buffer, const char* name, std::ios_base::openmode mode) {
  const auto found = fenix_simulation::look_up(name);
  if (found.process == nullptr || !found.is_stat) return nullptr;
  const std::string text = fenix_simulation::status_of(*found.process);
  const int file = memfd_create("simulated", 0);
  if (file < 0 || write(file, text.data(), text.size()) < 0) return nullptr;
  std::filebuf* opened = buffer->open("/proc/self/fd/" + std::to_string(file), mode);
  ::close(file);
  return opened;
}

void simulated_ifstream(std::ifstream* stream, const std::string* name, std::ios_base::openmode mode) {
  new (stream) std::ifstream;
  if (simulated_filebuf_open(stream->rdbuf(), name->c_str(), mode | std::ios_base::in) == nullptr) {
    stream->setstate(std::ios_base::failbit);
  }
}

// Folders are empty: an iterator without anything is at its end.
void simulated_directory_iterator(void* iterator, const void* /*path*/, int /*options*/, void* /*error*/) {
  std::memset(iterator, 0, sizeof(std::shared_ptr<int>));
}

unsigned simulated_random_device(void* /*device*/) {
  return static_cast<unsigned>(world().draw(Kind::random, 1U << 31U));
}

int simulated_setpriority(int /*which*/, unsigned /*who*/, int /*priority*/) { return 0; }
pid_t simulated_gettid() { return fenix_simulation::self().pid; }

int simulated_fprintf(FILE* /*file*/, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  world().note(3, [&] { return std::string("writes: ") + text; });
  return length;
}
}
