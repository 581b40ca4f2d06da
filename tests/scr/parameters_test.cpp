// SPDX-License-Identifier: BSD-3-Clause
// Parameters of libscr: where they are looked for, their form, and what they mean.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "scr/settings/config_line.hpp"
#include "scr/settings/parameters.hpp"
#include "scr/settings/settings.hpp"

namespace fs = std::filesystem;
using namespace scr_impl;

namespace {

/// Variables of the environment that go with the test, and a folder for files.
class ScrParameters : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "scr-parameters.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    set_variable("SCR_PREFIX", folder_.string());
  }
  void TearDown() override {
    for (const std::string& each : variables_) ::unsetenv(each.c_str());
    fs::remove_all(folder_);
  }

  void set_variable(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    variables_.push_back(name);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] Parameters parameters() const { return Parameters((folder_ / "system.conf").string()); }

  /// Parameters as ranks have them after SCR_Init.
  [[nodiscard]] static Parameters settled(const Parameters& parameters) {
    std::vector<std::string> complaints;
    Parameters settled("/nowhere");
    settled.use(parameters.read_all(complaints));
    return settled;
  }
  [[nodiscard]] static Settings settings(const Parameters& parameters, std::vector<std::string>* problems = nullptr) {
    std::vector<std::string> found;
    const Settings settings = settings_of(settled(parameters), found);
    if (problems != nullptr) *problems = found;
    return settings;
  }

  fs::path folder_;

 private:
  std::vector<std::string> variables_;
};

void set(Parameters& parameters, const std::string& text) {
  const auto line = parse_config_line(text);
  ASSERT_TRUE(line && !line->asked) << text;
  parameters.set(*line);
}

TEST_F(ScrParameters, OfTheEnvironmentComeBeforeThoseOfFilesAndOfTheProgram) {
  write(".scrconf", "# a comment\nSCR_B = user # another one\nscr_c=user\nSCR_PREFIX=/elsewhere\n");
  write("system.conf", "SCR_A=system\nSCR_B=system\nSCR_C=system\nSCR_D=system\nSCR_E=system\n");
  Parameters all = parameters();
  for (const char* name : {"SCR_A", "SCR_B", "SCR_C", "SCR_D"}) set(all, std::string(name) + "=program");
  set_variable("SCR_A", "environment");
  for (const Parameters& each : {all, settled(all)}) {
    EXPECT_EQ(each.get("SCR_A"), "environment");
    EXPECT_EQ(each.get("SCR_B"), "user");
    EXPECT_EQ(each.get("SCR_C"), "user");
    EXPECT_EQ(each.get("SCR_D"), "program");
    EXPECT_EQ(each.get("SCR_E"), "system");
    EXPECT_EQ(each.get("SCR_F"), std::nullopt);
    EXPECT_EQ(each.get("SCR_PREFIX"), folder_.string());
  }
}

TEST_F(ScrParameters, OfRankZeroCountOnOtherRanks) {
  set_variable("SCR_FLUSH", "2");
  const Parameters of_rank_zero = settled(parameters());
  set_variable("SCR_FLUSH", "3");
  set_variable("SCR_CACHE_SIZE", "4");
  EXPECT_EQ(of_rank_zero.get("SCR_FLUSH"), "2");
  EXPECT_EQ(of_rank_zero.get("SCR_CACHE_SIZE"), std::nullopt);
}

TEST_F(ScrParameters, AreExpandedByVariables) {
  set_variable("SCR_TEST_WORD", "word");
  set_variable("SCR_A", "/a/$SCR_TEST_WORD/b");
  write(".scrconf", "SCR_B=${SCR_TEST_WORD}_x$SCR_TEST_NONE.\nSTORE=/dev/$SCR_TEST_WORD GROUP=$SCR_TEST_WORD\n");
  const Parameters all = settled(parameters());
  EXPECT_EQ(all.get("SCR_A"), "/a/word/b");
  EXPECT_EQ(all.get("SCR_B"), "word_x.");
  EXPECT_EQ(all.get("STORE=/dev/word GROUP"), "word");
  EXPECT_EQ(expand_variables("$"), "$");
  EXPECT_EQ(expand_variables("a$$SCR_TEST_WORD-${SCR_TEST_WORD"), "a$word-${SCR_TEST_WORD");
  EXPECT_EQ(expand_variables("$-${}"), "$-${}");
}

TEST_F(ScrParameters, MayHaveBlanksAroundTheirSign) {
  Parameters all = parameters();
  set(all, "  STORE= /dev/shm/foo GROUP = NODE   COUNT =1 ");
  set(all, "CKPT=0 TYPE=XOR SET_SIZE = 16");
  set(all, "SCR_NOTE = \"with = and space\"");
  set(all, "SCR_X=1");
  set(all, "SCR_X=");
  EXPECT_EQ(all.get("STORE"), "/dev/shm/foo");
  EXPECT_EQ(all.get("STORE=/dev/shm/foo GROUP"), "NODE");
  EXPECT_EQ(all.get("STORE=/dev/shm/foo COUNT"), "1");
  EXPECT_EQ(all.get("CKPT=0 SET_SIZE"), "16");
  EXPECT_EQ(all.get("CKPT=1 SET_SIZE"), std::nullopt);
  EXPECT_EQ(all.get("SCR_NOTE"), "with = and space");
  EXPECT_EQ(all.get("SCR_X"), std::nullopt);
  EXPECT_EQ(parse_config_line(" CKPT = 0  TYPE ")->asked, "CKPT=0 TYPE");
  EXPECT_EQ(parse_config_line("SCR_X")->asked, "SCR_X");
  for (const char* const bad : {"", "  ", "=1", "SCR_X Y=1", "CKPT=0 TYPE=XOR SIZE", "SCR_X=1 2 3"}) {
    EXPECT_FALSE(parse_config_line(bad)) << bad;
  }
}

TEST_F(ScrParameters, InFilesThatCannotBeReadAreTold) {
  write(".scrconf", "SCR_A=1\nno sign\n\nSCR_B=2\n");
  std::vector<std::string> complaints;
  Parameters all("/nowhere");
  all.use(parameters().read_all(complaints));
  EXPECT_EQ(all.get("SCR_B"), "2");
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find("line 2"), std::string::npos);
  set_variable("SCR_CONF_FILE", (folder_ / "none").string());
  complaints.clear();
  (void)parameters().read_all(complaints);
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find("SCR_CONF_FILE"), std::string::npos);
}

TEST_F(ScrParameters, HaveTheDefaultsOfScr) {
  const Settings none = settings(parameters());
  EXPECT_TRUE(none.is_enabled && none.bypasses && none.fetches);
  EXPECT_FALSE(none.flush.in_background || none.purges_memory || none.purges_prefix || none.exits || none.drops_later);
  EXPECT_EQ(none.flush.every, 10);
  EXPECT_EQ(none.redundancy.scheme, Scheme::parity);
  EXPECT_EQ(none.prefix_size, 0);
  EXPECT_EQ(none.prefix, folder_);
}

TEST_F(ScrParameters, NameSchemesInAnyCase) {
  const std::vector<std::pair<std::string, Scheme>> all{{"single", Scheme::single},
                                                        {"Partner", Scheme::partner},
                                                        {"xor", Scheme::parity},
                                                        {"XOR", Scheme::parity},
                                                        {"rs", Scheme::reed_solomon}};
  for (const auto& [text, scheme] : all) {
    set_variable("SCR_COPY_TYPE", text);
    EXPECT_EQ(settings(parameters()).redundancy.scheme, scheme) << text;
  }
}

TEST_F(ScrParameters, OfTypeFileAreThoseOfADescriptor) {
  set_variable("SCR_COPY_TYPE", "file");
  std::vector<std::string> problems;
  (void)settings(parameters(), &problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("SCR_COPY_TYPE"), std::string::npos);
  write(".scrconf",
        "CKPT=0 INTERVAL=10 TYPE=SINGLE\nCKPT=1 INTERVAL=1 TYPE=Rs SET_SIZE=5 SET_FAILURES=3 BYPASS=0\nCKPT=2 "
        "ENABLED=0\n");
  const Settings found = settings(parameters(), &problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(found.redundancy.scheme, Scheme::reed_solomon);
  EXPECT_EQ(found.redundancy.set_size, 5);
  EXPECT_EQ(found.redundancy.set_failures, 3);
  EXPECT_FALSE(found.bypasses);
}

TEST_F(ScrParameters, ThatAreNoNumbersAreRefused) {
  set_variable("SCR_FLUSH", "often");
  set_variable("SCR_PREFIX_SIZE", "-1");
  std::vector<std::string> problems;
  (void)settings(parameters(), &problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_NE(problems[0].find("SCR_FLUSH"), std::string::npos);
  EXPECT_NE(problems[1].find("SCR_PREFIX_SIZE"), std::string::npos);
}

TEST_F(ScrParameters, WithoutEffectAreNamed) {
  set_variable("SCR_FLUSH", "3");
  set_variable("SCR_FLUSH_WIDTH", "3");
  set_variable("SCR_DISTRIBUTE", "1");
  set_variable("SCR_GLOBAL_RESTART", "1");
  EXPECT_EQ(ignored_parameters(settled(parameters()), settings(parameters())), "");
  set_variable("SCR_CACHE_BYPASS", "0");
  set_variable("SCR_FLUSHH", "1");
  write(".scrconf", "STORE=/dev/shm GROUP=NODE\n");
  EXPECT_EQ(ignored_parameters(settled(parameters()), settings(parameters())),
            "SCR_FLUSHH, SCR_GLOBAL_RESTART, STORE=/dev/shm");
}

TEST_F(ScrParameters, StandForVariablesOfFenix) {
  set_variable("SCR_CHECKPOINT_INTERVAL", "7");
  set_variable("SCR_CHECKPOINT_SECONDS", "0");
  set_variable("SCR_CACHE_PURGE", "1");
  set_variable("FENIX_STORE", "/own");
  set_environment(settled(parameters()), settings(parameters()), "/other");
  EXPECT_STREQ(std::getenv("FENIX_COMMIT_EVERY"), "7");
  EXPECT_EQ(std::getenv("FENIX_COMMIT_SECONDS"), nullptr);
  EXPECT_STREQ(std::getenv("FENIX_FETCH"), "off");
  EXPECT_STREQ(std::getenv("FENIX_STORE"), "/own");
  reset_environment();
  EXPECT_EQ(std::getenv("FENIX_COMMIT_EVERY"), nullptr);
  EXPECT_EQ(std::getenv("FENIX_FETCH"), nullptr);
  EXPECT_STREQ(std::getenv("FENIX_STORE"), "/own");
}

}  // namespace
