// SPDX-License-Identifier: BSD-3-Clause
// The page "Wrong arguments" of the site, from the rows, and what has to hold for all of them.
#include "table.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace bad_input {
namespace {

/// The name of a code; NULL if it is none that rows have.
const char* name_of(int code) {
  static const std::map<int, const char*> names{
#define FENIX_NAME(code) {code, #code}
      FENIX_NAME(FENIX_ERROR_UNINITIALIZED),
      FENIX_NAME(FENIX_ERROR_CALLBACK_NOT_REGISTERED),
      FENIX_NAME(FENIX_ERROR_GROUP_CREATE),
      FENIX_NAME(FENIX_ERROR_MEMBER_EXISTS),
      FENIX_NAME(FENIX_ERROR_INVALID_GROUPID),
      FENIX_NAME(FENIX_ERROR_INVALID_MEMBERID),
      FENIX_NAME(FENIX_ERROR_INVALID_LOGIC_CALL),
      FENIX_NAME(FENIX_ERROR_INVALID_POLICY_NAME),
      FENIX_NAME(FENIX_ERROR_INVALID_TIMESTAMP),
      FENIX_NAME(FENIX_ERROR_INVALID_TIMESTART),
      FENIX_NAME(FENIX_ERROR_INVALID_DEPTH),
      FENIX_NAME(FENIX_ERROR_INVALID_ATTRIBUTE_NAME),
      FENIX_NAME(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE),
      FENIX_NAME(FENIX_ERROR_INVALID_POSITION),
      FENIX_NAME(FENIX_ERROR_DATA_WAIT),
      FENIX_NAME(FENIX_ERROR_SUBSET_NUM_BLOCKS),
      FENIX_NAME(FENIX_ERROR_SUBSET_START_OFFSET),
      FENIX_NAME(FENIX_ERROR_SUBSET_END_OFFSET),
      FENIX_NAME(FENIX_ERROR_SUBSET_STRIDE),
      FENIX_NAME(FENIX_ERROR_NODATA_FOUND),
      FENIX_NAME(FENIX_ERROR_INVALID_SETTING_NAME),
      FENIX_NAME(FENIX_ERROR_INVALID_SETTING_OPTION),
      FENIX_NAME(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE),
      FENIX_NAME(FENIX_ERROR_INVALID_ARGUMENT),
      FENIX_NAME(FENIX_ERROR_INVALID_POLICY_VALUE),
      FENIX_NAME(FENIX_ERROR_BUFFER_TOO_SMALL),
      FENIX_NAME(FENIX_ERROR_MISMATCH),
      FENIX_NAME(FENIX_ERROR_NO_MEMORY),
      FENIX_NAME(FENIX_ERROR_TIMEOUT),
      FENIX_NAME(FENIX_ERROR_STORE),
      FENIX_NAME(FENIX_ERROR_MEMBER_STAGING),
      FENIX_NAME(FENIX_ERROR_MEMBER_LOADING),
#undef FENIX_NAME
  };
  const auto found = names.find(code);
  return found == names.end() ? nullptr : found->second;
}

const char* word_for(Told told) {
  switch (told) {
    case Told::here:
      return "this rank";
    case Told::all:
      return "all";
    case Told::same:
    case Told::differs:
      break;
  }
  return "all alike";
}

constexpr const char* kHead =
    R"(# Wrong arguments

What each function says to each wrong argument: the code that it returns, and what the text of `Fenix_Error_message()`
names. This page is for programmers who have got a code and look for its cause. Each line is a test: the program
[tests/mpi/bad_input](../tests/mpi/bad_input) makes these calls, and prints this page.

After each call, the test looks at what is stored: the same snapshots, the latest of them byte for byte, what had been
stored and not yet committed; and then stores, commits and restores.

"Told" says who gets the error:

- *this rank*: it is found without the other ranks. Other ranks with right arguments go on.
- *all*: all ranks, also if one rank only is wrong. Then the text of the others begins with the number of that rank.
- *all alike*: the argument has to be the same on all ranks. They all get this error.

Functions that may be called at any time have no line "before Fenix_Init": `Fenix_Initialized`, `Fenix_Finalized`,
`Fenix_set_option`, `Fenix_get_option`, `Fenix_get_role`, `Fenix_Error_message`, and those of subsets.
)";

}  // namespace

void print_table(const Rows& rows) {
  std::fputs(kHead, stdout);
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (std::find(names.begin(), names.end(), row.function) == names.end()) names.push_back(row.function);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::printf("\n## %s\n\n| Wrong argument | Code | The text names | Told |\n|---|---|---|---|\n", name.c_str());
    for (const Row& row : rows) {
      if (row.function != name) continue;
      const char* code = name_of(row.code);
      std::printf("| %s | `%s` | `%s` | %s |\n", row.argument.c_str(), code == nullptr ? "?" : code, row.named.c_str(),
                  word_for(row.told));
    }
  }
}

bool is_good(const Rows& rows) {
  bool good = true;
  std::set<std::string> seen;
  for (const Row& row : rows) {
    if (!seen.insert(row.function + ": " + row.argument).second) {
      std::fprintf(stderr, "two rows are called %s: %s\n", row.function.c_str(), row.argument.c_str());
      good = false;
    }
    if (name_of(row.code) == nullptr) {
      std::fprintf(stderr, "%s: %s: code %d has no name in table.cpp\n", row.function.c_str(), row.argument.c_str(),
                   row.code);
      good = false;
    }
  }
  for (const Function& function : functions()) {
    const bool has_row =
        std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.function == function.name; });
    // There is nothing that could be wrong with these.
    if (has_row || function.name == "Fenix_get_role" || function.name == "Fenix_Error_message") continue;
    std::fprintf(stderr, "%s has no row\n", function.name.c_str());
    good = false;
  }
  return good;
}

}  // namespace bad_input
