// SPDX-License-Identifier: BSD-3-Clause
// The functions of <scr.h>. No exception leaves them.
#include <scr.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "scr/session.hpp"
#include "scr/settings/config_line.hpp"

using scr_impl::session;
using scr_impl::Session;

namespace {

template <class Call>
int code_of(Call&& call) {
  try {
    return call() ? SCR_SUCCESS : SCR_FAILURE;
  } catch (const std::exception& error) {
    try {
      (void)scr_impl::refuse(error.what());
    } catch (...) {
      // There is no memory even for the reason.
      return SCR_FAILURE;
    }
    return SCR_FAILURE;
  }
}

}  // namespace

extern "C" {

int SCR_Init(void) {
  return code_of([] { return session().begin(nullptr); });
}

int SCR_Init_comm(MPI_Comm* repaired) {
  return code_of([=] { return repaired != nullptr && session().begin(repaired); });
}

int SCR_Finalize(void) {
  return code_of([] { return session().end(); });
}

char* SCR_Get_version(void) {
  static char version[] = SCR_VERSION;
  return version;
}

const char* SCR_Config(const char* config) {
  const char* answer = nullptr;
  (void)code_of([&] {
    if (config == nullptr) return false;
    auto& parameters = session().parameters();
    const auto line = scr_impl::parse_config_line(config);
    if (!line) return scr_impl::refuse(std::string("SCR_Config: not of the form NAME=VALUE: ") + config);
    if (line->asked) {
      const auto value = parameters.get(*line->asked);
      // The caller frees it.
      if (value) answer = ::strdup(value->c_str());
      return true;
    }
    if (session().state() != Session::State::before)
      return scr_impl::refuse(std::string("SCR_Config was called after SCR_Init: ") + config);
    parameters.set(*line);
    return true;
  });
  return answer;
}

const char* SCR_Configf(const char* format, ...) {
  if (format == nullptr) return nullptr;
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  const char* answer = nullptr;
  (void)code_of([&] {
    if (length < 0) return false;
    std::vector<char> text(static_cast<std::size_t>(length) + 1);
    std::vsnprintf(text.data(), text.size(), format, again);
    answer = SCR_Config(text.data());
    return true;
  });
  va_end(again);
  return answer;
}

int SCR_Should_exit(int* flag) {
  return code_of([=] { return session().should_exit(flag); });
}

int SCR_Route_file(const char* name, char* file) {
  return code_of([=] { return session().route(name, file); });
}

int SCR_Have_restart(int* flag, char* name) {
  return code_of([=] { return session().have_restart(flag, name); });
}

int SCR_Start_restart(char* name) {
  return code_of([=] { return session().start_restart(name); });
}

int SCR_Complete_restart(int valid) {
  return code_of([=] { return session().complete_restart(valid != 0); });
}

int SCR_Need_checkpoint(int* flag) {
  return code_of([=] { return session().need_checkpoint(flag); });
}

int SCR_Start_output(const char* name, int flags) {
  return code_of([=] { return session().start_output(name, flags, Session::State::output); });
}

int SCR_Complete_output(int valid) {
  return code_of([=] { return session().complete_output(valid != 0, Session::State::output); });
}

int SCR_Start_checkpoint(void) {
  return code_of([] { return session().start_output(nullptr, SCR_FLAG_CHECKPOINT, Session::State::checkpoint); });
}

int SCR_Complete_checkpoint(int valid) {
  return code_of([=] { return session().complete_output(valid != 0, Session::State::checkpoint); });
}

int SCR_Current(const char* name) {
  return code_of([=] { return session().set_current(name); });
}

int SCR_Drop(const char* name) {
  return code_of([=] { return session().remove(name, true); });
}

int SCR_Delete(const char* name) {
  return code_of([=] { return session().remove(name, false); });
}

}  // extern "C"
