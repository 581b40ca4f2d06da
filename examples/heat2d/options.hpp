// SPDX-License-Identifier: BSD-3-Clause
//
// Options of the command line.
#ifndef HEAT2D_OPTIONS_HPP
#define HEAT2D_OPTIONS_HPP

#include <string>

namespace heat2d {

/// What happens when a rank dies and no spare is left.
enum class Then { kEnd, kShrink, kSpawn };

struct Options {
  int width = 1201;  // a prime number on purpose: no number of columns divides it
  int height = 803;
  int steps = 8000;
  int interval = 20;
  int spares = 2;
  Then then = Then::kEnd;
  int depth = 0;
  std::string files;  // folder of checkpoint files; empty: checkpoints are in memory, and deaths are repaired
  std::string out = "heat2d-out";
  std::string final_file;
  bool pictures = true;
  int pace = 0;  // ns
  bool progress = false;
  bool help = false;
};

/// Reads the command line. Throws std::invalid_argument with a text for the user.
Options parse_options(int argc, char** argv);

extern const char* const kHelp;

}  // namespace heat2d

#endif
