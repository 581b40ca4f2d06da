// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <charconv>
#include <climits>
#include <stdexcept>

namespace heat2d {

const char* const kHelp =
    R"(usage: mpirun --with-ft ulfm -n RANKS heat2d [options]

Heat that spreads on a plate with fixed edges and three heaters that move. The job goes on when ranks are killed.

  --size WxH      cells of the plate (default 1201x803)
  --steps N       time steps (default 8000)
  --interval N    steps from one checkpoint to the next (default 20)
  --spares N      ranks held in reserve, out of RANKS (default 2)
  --then HOW      when no spare is left: end, shrink (fewer ranks share the plate) or spawn (new processes); default end
  --depth N       checkpoints kept besides the newest (default 0)
  --files DIR     plain MPI, without recovery: a death ends the job. Checkpoints are files in DIR, and the next job goes
                  on from them. Without spares, and under mpirun without --with-ft
  --out DIR       where pictures and process ids go (default heat2d-out)
  --final FILE    write the final field there, as doubles, row by row
  --no-pictures   write no pictures
  --pace NS       a step takes at least NS nanoseconds for each cell of the rank, as on a slower core (default 0)
  --progress      print "step N/STEPS" a hundred times
  --help          print this text

Files in DIR: death-N.png (what was restored after the N-th failure), final.png; pids/rank-N and pids/process-N, the
process ids of rank N of the computation and of rank N of MPI_COMM_WORLD; work/PID, the number of cells that this process
has computed, as 8 bytes. A script that kills a process can write the time, in seconds of the epoch, to DIR/kills/PID:
heat2d then prints the time until the failure was noticed.

Exit status of the processes: 0 done, 1 error, 2 wrong usage, 3 more ranks died than there were spares. That of
mpirun --with-ft ulfm does not tell: look for the line "done".
)";

namespace {

int to_int(const std::string& name, const std::string& text, int minimum) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < minimum) {
    throw std::invalid_argument(name + " wants a number from " + std::to_string(minimum) + ", not \"" + text + "\"");
  }
  return value;
}

void set_size(Options& options, const std::string& text) {
  const auto cross = text.find('x');
  if (cross == std::string::npos) throw std::invalid_argument("--size wants WxH, not \"" + text + "\"");
  options.width = to_int("--size", text.substr(0, cross), 1);
  options.height = to_int("--size", text.substr(cross + 1), 1);
  // MPI counts cells in int, and one rank may have all cells, with a frame.
  if ((options.width + 2LL) * (options.height + 2LL) > INT_MAX) {
    throw std::invalid_argument("--size is too large: " + text);
  }
}

Then to_then(const std::string& text) {
  if (text == "end") return Then::kEnd;
  if (text == "shrink") return Then::kShrink;
  if (text == "spawn") return Then::kSpawn;
  throw std::invalid_argument("--then wants end, shrink or spawn, not \"" + text + "\"");
}

bool set_flag(Options& options, const std::string& name) {
  if (name == "--progress") return options.progress = true;
  if (name == "--help") return options.help = true;
  if (name == "--no-pictures") return !(options.pictures = false);
  return false;
}

void set_value(Options& options, const std::string& name, const std::string& text) {
  if (name == "--size") {
    set_size(options, text);
  } else if (name == "--steps") {
    options.steps = to_int(name, text, 0);
  } else if (name == "--interval") {
    options.interval = to_int(name, text, 1);
  } else if (name == "--spares") {
    options.spares = to_int(name, text, 0);
  } else if (name == "--then") {
    options.then = to_then(text);
  } else if (name == "--files") {
    options.files = text;
  } else if (name == "--pace") {
    options.pace = to_int(name, text, 0);
  } else if (name == "--depth") {
    options.depth = to_int(name, text, 0);
  } else if (name == "--out") {
    options.out = text;
  } else if (name == "--final") {
    options.final_file = text;
  } else {
    throw std::invalid_argument("unknown option \"" + name + "\"; --help lists them");
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (set_flag(options, name)) continue;
    if (i + 1 == argc) throw std::invalid_argument("unknown option, or no value after \"" + name + "\"");
    set_value(options, name, argv[++i]);
  }
  if (!options.files.empty()) options.spares = 0;
  return options;
}

}  // namespace heat2d
