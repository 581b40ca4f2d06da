// SPDX-License-Identifier: BSD-3-Clause
#include "modes.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

namespace hostile {
namespace {

Modes read() {
  Modes modes;
  const std::map<std::string, bool Modes::*> switches{{"basic", &Modes::basic},
                                                      {"endpoint", &Modes::endpoint},
                                                      {"lowest", &Modes::lowest},
                                                      {"cache", &Modes::cache},
                                                      {"cache-always", &Modes::cache_always},
                                                      {"stale", &Modes::stale},
                                                      {"deaf", &Modes::deaf},
                                                      {"early", &Modes::early},
                                                      {"late", &Modes::late},
                                                      {"slow", &Modes::slow},
                                                      {"shaky", &Modes::shaky}};
  const char* words = std::getenv("FENIX_TEST_PROVIDER");
  std::istringstream list(words != nullptr ? words : "");
  for (std::string word; std::getline(list, word, ',');) {
    if (const auto found = switches.find(word); found != switches.end()) {
      modes.*found->second = true;
    } else if (word.starts_with("few=")) {
      modes.few = std::stoull(word.substr(4));
    } else if (word.starts_with("pinned=")) {
      modes.pinned = std::stoull(word.substr(7)) << 20;  // MiB
    } else {
      std::fprintf(stderr, "FENIX-TEST-FAIL FENIX_TEST_PROVIDER has an unknown word: %s\n", word.c_str());
      std::_Exit(3);
    }
  }
  const char* cached = std::getenv("FI_MR_CACHE_MAX_COUNT");
  if (cached != nullptr && std::string(cached) == "0") modes.cache = false;
  modes.cache = modes.cache || modes.cache_always;
  return modes;
}

}  // namespace

const Modes& modes() {
  static const Modes all = read();
  return all;
}

}  // namespace hostile
