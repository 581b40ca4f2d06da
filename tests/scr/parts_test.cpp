// SPDX-License-Identifier: BSD-3-Clause
// The parts of libscr that need no ranks: packages, names, parameters, private folders.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <vector>

#include "scr/cache.hpp"
#include "scr/file_copy.hpp"
#include "scr/package.hpp"
#include "scr/parameters.hpp"
#include "scr/prefix.hpp"

namespace fs = std::filesystem;
using namespace scr_impl;

namespace {

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "scr-parts.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = fs::canonical(name);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path path;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::vector<std::byte> packed(const Folder& folder, const std::vector<CachedFile>& files) {
  const fs::path to = folder.path / "package";
  std::FILE* const file = std::fopen(to.c_str(), "wb");
  EXPECT_TRUE(pack(file, {7, 3, 1, 0, 0, "a name"}, files));
  std::fclose(file);
  const std::string text = text_of(to);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST(Package, IsUnpackedAsItWas) {
  const Folder folder;
  write(folder.path / "one", "first");
  write(folder.path / "two", "");
  fs::permissions(folder.path / "one", fs::perms::owner_all);
  auto bytes = packed(folder, {{"a/file", folder.path / "one"}, {"b/file", folder.path / "two"}});
  bytes.resize(bytes.size() + 9);  // what an earlier and longer one has left
  const auto head = read_head(bytes);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->id, 7U);
  EXPECT_EQ(head->count, 3U);
  EXPECT_EQ(head->name, "a name");
  Cache cache;
  cache.set_bases({folder.path / "missing", folder.path});
  ASSERT_TRUE(cache.open());
  ASSERT_TRUE(unpack(bytes, cache));
  EXPECT_EQ(text_of(cache.find("a/file")), "first");
  EXPECT_EQ(status_of_file(cache.find("a/file"))->mode, 0700U);
  EXPECT_EQ(status_of_file(cache.find("b/file"))->size, 0U);
  EXPECT_EQ(cache.find("elsewhere/file"), cache.find("a/file"));
  EXPECT_EQ(cache.find("other"), fs::path());
}

TEST(Package, ThatIsDamagedIsRefusedOrUnpackedInside) {
  const Folder folder;
  write(folder.path / "one", std::string(300, 'x'));
  const auto whole = packed(folder, {{"a/file", folder.path / "one"}, {"b", folder.path / "one"}});
  std::mt19937 chance(1);
  for (int i = 0; i < 2000; ++i) {
    auto bytes = whole;
    if (i % 2 == 0) bytes.resize(chance() % bytes.size());
    for (int flips = 0; !bytes.empty() && flips < 3; ++flips) {
      // Most of them in the numbers.
      const std::size_t at = chance() % 3 == 0 ? chance() % bytes.size()
                                               : (chance() % 2 == 0 ? chance() % 48 : kHeadBytes + chance() % 24);
      if (at < bytes.size()) bytes[at] ^= static_cast<std::byte>(1U << (chance() % 8));
    }
    Cache cache;
    cache.set_bases({folder.path});
    ASSERT_TRUE(cache.open());
    (void)unpack(bytes, cache);
    for (const CachedFile& each : cache.files()) {
      EXPECT_EQ(each.path.string().rfind(folder.path.string(), 0), 0U);
      EXPECT_EQ(each.path.lexically_normal(), each.path);
    }
  }
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& each : fs::directory_iterator(folder.path)) ++left;
  EXPECT_EQ(left, 2U);
}

TEST(Package, NamesThatLeaveThePrefixAreRefused) {
  const Folder folder;
  write(folder.path / "one", "first");
  for (const char* const name : {"../one", "a/../../one", "/one", "a/"}) {
    const auto bytes = packed(folder, {{name, folder.path / "one"}});
    Cache cache;
    cache.set_bases({folder.path});
    ASSERT_TRUE(cache.open());
    EXPECT_FALSE(unpack(bytes, cache)) << name;
  }
}

TEST(Labels, AreNamesOfDatasets) {
  EXPECT_EQ(label_of("ckpt.10_a-B"), "ckpt.10_a-B");
  for (const std::string& name : {std::string("a b"), std::string(), std::string("."), std::string(".."),
                                  std::string(1000, 'x'), std::string("../a"), std::string(101, 'x')}) {
    const std::string label = label_of(name);
    EXPECT_LT(label.size(), 128U);
    EXPECT_EQ(label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-"), std::string::npos) << label;
    EXPECT_NE(label.front(), '.');
    EXPECT_EQ(label_of(label), label);
  }
  EXPECT_NE(label_of("a b"), label_of("a/b"));
}

TEST(Prefix, KnowsWhatIsBelow) {
  const Folder folder;
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path / "a/b"));
  const std::string below = (folder.path / "a/b").string();
  EXPECT_EQ(prefix.relative((below + "/c/d").c_str()), "c/d");
  EXPECT_EQ(prefix.relative((below + "/c/../d").c_str()), "d");
  EXPECT_EQ(prefix.relative((below + "/../b/d").c_str()), "d");
  EXPECT_FALSE(prefix.relative((below + "/../d").c_str()));
  EXPECT_FALSE(prefix.relative((below + "x/d").c_str()));
  EXPECT_FALSE(prefix.relative((below + "/c/").c_str()));
  EXPECT_FALSE(prefix.relative((below + "/..").c_str()));
  EXPECT_FALSE(prefix.relative(below.c_str()));
  fs::create_directory_symlink(folder.path, folder.path / "a/b/out");
  EXPECT_FALSE(prefix.relative((below + "/out/d").c_str()));
}

TEST(Prefix, OutputsAreWrittenAndRemoved) {
  const Folder folder;
  write(folder.path / "one", "first");
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path / "p"));
  write(folder.path / "p/own", "own");
  ASSERT_TRUE(prefix.publish("out 1", 0, {{"a/b/file", folder.path / "one"}}));
  ASSERT_TRUE(prefix.publish("out 1", 1, {}));
  EXPECT_EQ(text_of(folder.path / "p/a/b/file"), "first");
  EXPECT_FALSE(prefix.publish("out 2", 0, {{"own/file", folder.path / "one"}}));
  EXPECT_FALSE(prefix.forget("out", false));
  EXPECT_TRUE(prefix.forget("out 1", false));
  EXPECT_FALSE(prefix.forget("out 1", false));
  EXPECT_FALSE(fs::exists(folder.path / "p/a"));
  EXPECT_EQ(text_of(folder.path / "p/own"), "own");
}

TEST(Cache, SweepsWhatTheDeadHaveLeft) {
  const Folder folder;
  const fs::path dead = folder.path / ("scr-fenix." + std::to_string(::geteuid()) + ".abcdef");
  const fs::path foreign = folder.path / "scr-fenix.99999999.abcdef";
  fs::create_directories(dead / "0");
  write(dead / "0/file", "x");
  fs::create_directories(foreign);
  Cache alive;
  alive.set_bases({folder.path});
  ASSERT_TRUE(alive.open());
  const fs::path file = alive.add("a/file");
  EXPECT_EQ(alive.add("a/file"), file);
  write(file, "y");
  Cache other;
  other.set_bases({folder.path});
  other.sweep();
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_EQ(text_of(file), "y");
  alive.clear();
  EXPECT_FALSE(fs::exists(file));
}
