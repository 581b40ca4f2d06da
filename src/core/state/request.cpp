// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/request.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <system_error>

#include "base/fault.hpp"
#include "base/signals_blocked.hpp"

namespace fenix_impl {
namespace {

// Where all cores compute, the application goes first: the work of this thread can wait until the application waits for
// it.
void step_back() {
  constexpr int kNice = 10;
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
}

void fail(Request& request, const char* text) {
  try {
    request.fail(Error(FENIX_ERROR_INTERN, text));
  } catch (const std::bad_alloc&) {
    request.fail(out_of_memory());
  }
}

}  // namespace

RequestWorker::~RequestWorker() {
  cancel();
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RequestWorker::submit(std::shared_ptr<Request> request, Work work) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    start();
  }
  jobs_.push_back({std::move(request), std::move(work)});
  changed_.notify_all();
}

void RequestWorker::start() {
  const SignalsBlocked blocked;
  try {
    if (fault_fails("request.thread")) throw std::system_error(EAGAIN, std::generic_category());
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw Error(FENIX_ERROR_NO_MEMORY, std::string("a thread for asynchronous stores: ") + error.what());
  }
}

void RequestWorker::cancel() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  for (const Job& job : jobs_) job.request->end(Request::State::cancelled);
  jobs_.clear();
  changed_.wait(lock, [&] { return !busy_; });
  stop_ = false;
}

void RequestWorker::run() {
  step_back();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return quit_ || !jobs_.empty(); });
    if (quit_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    work_off(job);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void RequestWorker::work_off(const Job& job) {
  try {
    job.work(stop_);
    job.request->end(stop_ ? Request::State::cancelled : Request::State::done);
  } catch (const Error& error) {
    if (stop_) {
      job.request->end(Request::State::cancelled);
    } else {
      job.request->fail(error);
    }
  } catch (const std::bad_alloc&) {
    job.request->fail(out_of_memory());
  } catch (const std::exception& error) {
    fail(*job.request, error.what());
  } catch (...) {
    // Nothing may be thrown out of the thread: that would end the application.
    fail(*job.request, "an asynchronous store was cut short");
  }
}

}  // namespace fenix_impl
