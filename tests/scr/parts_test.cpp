// SPDX-License-Identifier: BSD-3-Clause
// The parts of libscr that need no ranks: packages, names, the index, private folders.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <vector>

#include "scr/cache.hpp"
#include "scr/file_copy.hpp"
#include "scr/index.hpp"
#include "scr/package.hpp"
#include "scr/patience.hpp"
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
  EXPECT_TRUE(pack(file, {7, 3, 1, false, 99, 0, 0, "a name"}, files));
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
  EXPECT_EQ(head->created, 99U);
  EXPECT_FALSE(head->is_list);
  EXPECT_EQ(head->name, "a name");
  EXPECT_FALSE(unpack_list(bytes));
  Cache cache;
  cache.set_bases({folder.path / "missing", folder.path});
  ASSERT_TRUE(cache.open());
  ASSERT_TRUE(unpack(bytes, cache));
  EXPECT_EQ(text_of(cache.find("a/file")), "first");
  EXPECT_EQ(status_of_file(cache.find("a/file"))->mode, 0700U);
  EXPECT_EQ(status_of_file(cache.find("b/file"))->size, 0U);
  EXPECT_EQ(cache.find("elsewhere/file"), fs::path());  // it could be either
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

TEST(Prefix, FilesAreWrittenAndRemoved) {
  const Folder folder;
  write(folder.path / "one", "first");
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path / "p"));
  write(folder.path / "p/own", "own");
  EXPECT_EQ(prefix.publish({{"a/b/file", folder.path / "one"}}), std::nullopt);
  EXPECT_EQ(text_of(folder.path / "p/a/b/file"), "first");
  EXPECT_EQ(prefix.publish({{"own/file", folder.path / "one"}}), "own/file");
  EXPECT_TRUE(prefix.remove({"a/b/file", "../one", (folder.path / "one").string(), "none"}));
  EXPECT_FALSE(fs::exists(folder.path / "p/a"));
  EXPECT_EQ(text_of(folder.path / "p/own"), "own");
  EXPECT_EQ(text_of(folder.path / "one"), "first");
}

TEST(Prefix, FilesAreNotWrittenThroughOthers) {
  const Folder folder;
  write(folder.path / "one", "first");
  write(folder.path / "two", "second");
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path / "p"));
  const std::string other = "d/a.scr-fenix.tmp";
  EXPECT_EQ(prefix.publish({{other, folder.path / "one"}, {"d/a", folder.path / "two"}}), std::nullopt);
  EXPECT_EQ(text_of(folder.path / "p" / other), "first");
  EXPECT_EQ(text_of(folder.path / "p/d/a"), "second");
  EXPECT_FALSE(is_unfinished_name("a.scr-fenix.tmp"));
  EXPECT_TRUE(is_unfinished_name(".a.scr-fenix.tmp"));
}

TEST(Prefix, NamesMayBeAsLongAsTheFileSystemAllows) {
  const Folder folder;
  write(folder.path / "one", "first");
  write(folder.path / "two", "second");
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path / "p"));
  const std::string name(254, 'n');
  EXPECT_EQ(prefix.publish({{name + "1", folder.path / "one"}, {name + "2", folder.path / "two"}}), std::nullopt);
  EXPECT_EQ(text_of(folder.path / "p" / (name + "1")), "first");
  EXPECT_EQ(text_of(folder.path / "p" / (name + "2")), "second");
}

TEST(Prefix, FilesThatCannotBeRemovedAreTold) {
  const Folder folder;
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path / "p"));
  EXPECT_TRUE(prefix.remove({"none", "none/file"}));
  if (::geteuid() != 0) return;
  fs::permissions(folder.path, fs::perms::all);
  fs::create_directories(folder.path / "p/a");
  write(folder.path / "p/a/file", "x");
  ASSERT_EQ(::seteuid(65534), 0);
  EXPECT_FALSE(prefix.remove({"a/file", "none"}));
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(fs::exists(folder.path / "p/a/file"));
  EXPECT_TRUE(prefix.remove({"a/file"}));
  EXPECT_FALSE(fs::exists(folder.path / "p/a"));
}

TEST(Prefix, LinksAreNotFollowedWhereFilesAreRemoved) {
  const Folder folder;
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path / "p"));
  fs::create_directories(folder.path / "elsewhere/empty");
  write(folder.path / "elsewhere/file", "first");
  fs::create_directory_symlink(folder.path / "elsewhere", folder.path / "p/link");
  fs::create_symlink(folder.path / "elsewhere/file", folder.path / "p/file");
  EXPECT_TRUE(prefix.remove({"link/file", "link/empty/none", "file", ""}));
  EXPECT_EQ(text_of(folder.path / "elsewhere/file"), "first");
  EXPECT_TRUE(fs::exists(folder.path / "elsewhere/empty"));
  EXPECT_TRUE(fs::is_symlink(folder.path / "p/link"));
  EXPECT_FALSE(fs::is_symlink(folder.path / "p/file"));
}

TEST(PrivateFiles, HaveTheirModesWhateverTheUmask) {
  const Folder folder;
  const auto mode_of = [&](const char* name) { return fs::status(folder.path / name).permissions(); };
  for (const mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const mode_t before = ::umask(mask);
    const bool is_written = write_durably(folder.path / "a/b/file", "text");
    ::umask(before);
    EXPECT_TRUE(is_written);
    EXPECT_EQ(mode_of("a/b/file"), fs::perms::owner_read | fs::perms::owner_write);
    for (const char* const each : {"a", "a/b"}) EXPECT_EQ(mode_of(each), fs::perms::owner_all) << each;
    EXPECT_EQ(read_own_file(folder.path / "a/b/file"), "text");
    fs::remove_all(folder.path / "a");
  }
  fs::create_directory(folder.path / "open");
  fs::permissions(folder.path / "open", fs::perms::all);
  EXPECT_TRUE(make_private_folder(folder.path / "open"));
  EXPECT_EQ(mode_of("open"), fs::perms::owner_all);
  fs::create_directory_symlink(folder.path / "open", folder.path / "link");
  EXPECT_FALSE(make_private_folder(folder.path / "link"));
  write(folder.path / "plain", "");
  EXPECT_FALSE(make_private_folder(folder.path / "plain"));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((folder.path / "open").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(make_private_folder(folder.path / "open"));
}

TEST(FileSeal, TellsBytesApart) {
  const Folder folder;
  write(folder.path / "a/one", "first");
  EXPECT_FALSE(seal_file(folder.path / "a/one", true));
  fs::create_directories(folder.path / "a/b");
  write(folder.path / "a/b/one", "first");
  const auto first = seal_file(folder.path / "a/b/one", true);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size, 5U);
  EXPECT_EQ(seal_file(folder.path / "a/b/one", false)->hash, first->hash);
  write(folder.path / "a/b/one", "First");
  EXPECT_NE(seal_file(folder.path / "a/b/one", false)->hash, first->hash);
  EXPECT_TRUE(sync_folders(folder.path / "a/b", folder.path));
  EXPECT_FALSE(sync_folders(folder.path / "a/none", folder.path));
}

TEST(Package, AListIsReadAsItWas) {
  const Folder folder;
  const fs::path to = folder.path / "package";
  std::FILE* const file = std::fopen(to.c_str(), "wb");
  ASSERT_TRUE(pack_list(file, {7, 3, 1, true, 99, 0, 0, "a name"}, {{"a/file", {5, 77}, true}, {"shared", {}, false}}));
  std::fclose(file);
  const std::string text = text_of(to);
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_TRUE(read_head(bytes)->is_list);
  const auto files = unpack_list(bytes);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].name, "a/file");
  EXPECT_EQ((*files)[0].seal.size, 5U);
  EXPECT_EQ((*files)[0].seal.hash, 77U);
  EXPECT_TRUE((*files)[0].is_own);
  EXPECT_FALSE((*files)[1].is_own);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(unpack_list(bytes.first(size))) << size;
  Cache cache;
  cache.set_bases({folder.path});
  ASSERT_TRUE(cache.open());
  EXPECT_FALSE(unpack(bytes, cache));
}

TEST(Index, HasWhatWasPut) {
  const Folder folder;
  Index index;
  index.set_folder(folder.path / "index");
  EXPECT_TRUE(index.all()->empty());
  EXPECT_FALSE(index.get("a b"));
  ASSERT_TRUE(index.put({3, 2, 1, 55, 4, false, "a b", {"x/y", "z"}}));
  ASSERT_TRUE(index.put({4, 3, 3, 66, 4, true, "c", {}}));
  const auto found = index.get("a b");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 3U);
  EXPECT_EQ(found->count, 2U);
  EXPECT_EQ(found->flags, 1U);
  EXPECT_EQ(found->created, 55U);
  EXPECT_EQ(found->ranks, 4);
  EXPECT_FALSE(found->has_failed);
  EXPECT_EQ(found->files, (std::vector<std::string>{"x/y", "z"}));
  EXPECT_TRUE(index.with_label("c")->has_failed);
  ASSERT_EQ(index.all()->size(), 2U);
  EXPECT_EQ(index.all()->at(0).name, "c");
  // A name that a file has in other libraries while it is written is one like others.
  ASSERT_TRUE(index.put({5, 4, 1, 77, 4, false, "c.scr-fenix.tmp", {}}));
  ASSERT_TRUE(index.put({4, 3, 3, 66, 4, true, "c", {}}));
  EXPECT_TRUE(index.get("c.scr-fenix.tmp"));
  EXPECT_TRUE(index.remove("c.scr-fenix.tmp"));
  // A file without the form of an entry is passed over.
  write(folder.path / "index" / "damaged", "scr dataset 1");
  EXPECT_EQ(index.all()->size(), 2U);
  EXPECT_FALSE(index.lacks("c"));
  EXPECT_TRUE(index.remove("c"));
  EXPECT_TRUE(index.lacks("c"));
  EXPECT_TRUE(index.remove("c"));
  EXPECT_EQ(index.all()->size(), 1U);
}

TEST(Index, HasNoEntriesOfOthers) {
  const Folder folder;
  Index index;
  index.set_folder(folder.path / "index");
  ASSERT_TRUE(index.put({1, 1, 1, 1, 1, false, "a", {"x"}}));
  ASSERT_TRUE(index.put({2, 2, 1, 1, 1, false, "b", {"x"}}));
  fs::rename(folder.path / "index/b", folder.path / "b");
  fs::create_symlink(folder.path / "b", folder.path / "index/b");
  EXPECT_FALSE(index.get("b"));
  ASSERT_EQ(::mkfifo((folder.path / "index/c").c_str(), 0600), 0);
  EXPECT_EQ(index.all()->size(), 1U);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((folder.path / "index/a").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(index.get("a"));
  EXPECT_TRUE(index.all()->empty());
}

// Where the list cannot be read, it does not count as empty.
TEST(Index, ThatCannotBeReadIsNoEmptyOne) {
  const Folder folder;
  Index index;
  index.set_folder(folder.path / "none");
  ASSERT_TRUE(index.all());
  EXPECT_TRUE(index.all()->empty());
  fs::create_symlink("loop", folder.path / "loop");
  index.set_folder(folder.path / "loop");
  EXPECT_FALSE(index.all());
}

// P11: a file system that hangs is one that opens a pipe nobody reads.
TEST(Index, WaitsForFilesForAWhileOnly) {
  const Folder folder;
  Index index;
  index.set_folder(folder.path / "index");
  ASSERT_TRUE(index.put({1, 1, 1, 1, 1, false, "a", {}}));
  const fs::path pipe = folder.path / "index/.b.scr-fenix.tmp";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Prefix prefix;
  ASSERT_TRUE(prefix.open(folder.path));
  const std::string below = folder.path / "file";
  ::setenv("FENIX_FLUSH_TIMEOUT", "300ms", 1);
  EXPECT_EQ(patience(), std::chrono::milliseconds(300));
  EXPECT_FALSE(index.put({2, 2, 1, 1, 1, false, "b", {}}));
  // As long as it hangs, nothing else is begun.
  EXPECT_FALSE(index.get("a"));
  EXPECT_FALSE(index.all());
  EXPECT_FALSE(index.lacks("none"));
  EXPECT_FALSE(index.remove("a"));
  EXPECT_FALSE(prefix.relative(below.c_str()));
  EXPECT_FALSE(Prefix().open(folder.path));
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  for (int i = 0; i < 1000 && is_stuck(); ++i) ::usleep(10'000);
  ::close(reader);
  ::unsetenv("FENIX_FLUSH_TIMEOUT");
  EXPECT_TRUE(index.get("a"));
  EXPECT_EQ(prefix.relative(below.c_str()), "file");
  EXPECT_EQ(patience(), std::chrono::seconds(60));
}

TEST(Cache, LeavesFilesInTheirOwnPlaces) {
  const Folder folder;
  Cache cache;
  cache.open_in_place(folder.path);
  const fs::path file = cache.add("a/b/file");
  EXPECT_EQ(file, folder.path / "a/b/file");
  EXPECT_EQ(cache.add("a/b/file"), file);
  EXPECT_EQ(cache.files().size(), 1U);
  EXPECT_EQ(cache.find("file"), file);
  write(file, "x");
  cache.clear();
  EXPECT_EQ(text_of(file), "x");
  EXPECT_FALSE(cache.is_in_place());
}

// Wrong bytes would be worse than none.
TEST(Cache, GivesNoOtherFileThanTheOneThatIsMeant) {
  const Folder folder;
  Cache cache;
  cache.open_in_place(folder.path);
  const fs::path file = cache.add("grid/part");
  EXPECT_EQ(cache.find("part"), file);
  EXPECT_EQ(cache.find("fluid/part"), "");
  EXPECT_EQ(cache.find("id/part"), "");
  (void)cache.add("wall/part");
  EXPECT_EQ(cache.find("part"), "");
  EXPECT_EQ(cache.find("grid/part"), file);
  cache.set_bases({folder.path});
  ASSERT_TRUE(cache.open());
  const fs::path copy = cache.add("grid/part");
  EXPECT_EQ(cache.find("other/part"), copy);
  (void)cache.add("wall/part");
  EXPECT_EQ(cache.find("other/part"), "");
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
