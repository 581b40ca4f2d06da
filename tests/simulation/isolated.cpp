// SPDX-License-Identifier: BSD-3-Clause
#include "isolated.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace fenix_simulation {

Verdict run_isolated(const Schedule& schedule) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  const pid_t pid = fork();
  if (pid == 0) {
    const Verdict verdict = run(schedule).verdict;
    const std::string text = verdict.promise + '\n' + verdict.text;
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 1024> piece{};
  for (ssize_t length = 0; (length = read(ends[0], piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(length));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) return {"crash", "signal " + std::to_string(WTERMSIG(status))};
  const std::size_t end = text.find('\n');
  return end == std::string::npos ? Verdict{} : Verdict{text.substr(0, end), text.substr(end + 1)};
}

}  // namespace fenix_simulation
