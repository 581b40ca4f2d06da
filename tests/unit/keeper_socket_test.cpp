// SPDX-License-Identifier: BSD-3-Clause
// The folder for sockets of keepers: another user can neither take nor block what is in it. As root, folders of another user are tried.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "keeper/socket_folder.hpp"

namespace fenix_test {
namespace {

using namespace fenix_impl;

class SocketFolder : public testing::Test {
 protected:
  SocketFolder() {
    std::string folder = std::filesystem::temp_directory_path() / "fenix-sockets-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = folder;
    places_ = {root_ + "/first", root_ + "/second"};
    for (const std::string& place : places_) {
      std::filesystem::create_directory(place);
      EXPECT_EQ(::chmod(place.c_str(), 01777), 0);
    }
  }
  ~SocketFolder() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string usual(std::size_t place = 0) const {
    return places_.at(place) + "/fenix-keeper-" + std::to_string(::geteuid());
  }
  /// Has another user take a name. Skips the test if this is not root.
  void give_away(const std::string& path) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make folders of other users";
    constexpr uid_t kOtherUser = 65534;
    std::filesystem::create_directory(path);
    ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
    ASSERT_EQ(::chown(path.c_str(), kOtherUser, kOtherUser), 0);
  }

  std::string root_;
  std::array<std::string, 2> places_;
};

TEST_F(SocketFolder, OnlyItsUserCanEnter) {
  EXPECT_FALSE(find_socket_folder(places_));
  for (const mode_t mask : {0000U, 0077U, 0777U}) {
    const mode_t before = ::umask(mask);
    const std::string made = make_socket_folder(places_);
    ::umask(before);
    EXPECT_EQ(made, usual());
    EXPECT_EQ(find_socket_folder(places_), made);
    struct stat status {};
    ASSERT_EQ(::stat(made.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
    std::filesystem::remove(made);
  }
}

TEST_F(SocketFolder, AnotherUserCannotTakeOrBlockIt) {
  give_away(usual());
  if (IsSkipped()) return;
  // The names that can be guessed, and a link to a folder where others may write.
  for (int number = 1; number < 40; ++number) give_away(usual() + "." + std::to_string(number));
  std::filesystem::create_directory_symlink(places_[1], usual() + ".40");
  EXPECT_FALSE(find_socket_folder(places_));
  const std::string made = make_socket_folder(places_);
  EXPECT_EQ(make_socket_folder(places_), made);
  EXPECT_EQ(find_socket_folder(places_), made);
  // Also when the other user goes away.
  std::filesystem::remove(usual());
  EXPECT_EQ(find_socket_folder(places_), made);
  EXPECT_EQ(make_socket_folder(places_), made);
}

TEST_F(SocketFolder, OneThatOthersMayEnterIsNotUsed) {
  std::filesystem::create_directory(usual());
  ASSERT_EQ(::chmod(usual().c_str(), 0750), 0);
  EXPECT_FALSE(find_socket_folder(places_));
  EXPECT_EQ(make_socket_folder(places_), usual() + ".1");
}

TEST_F(SocketFolder, APlaceWhereOthersMayRenameIsNotUsed) {
  std::filesystem::create_directory(usual());
  ASSERT_EQ(::chmod(usual().c_str(), 0700), 0);
  ASSERT_EQ(::chmod(places_[0].c_str(), 0777), 0);
  EXPECT_FALSE(find_socket_folder(places_));
  EXPECT_EQ(make_socket_folder(places_), usual(1));
  ASSERT_EQ(::chmod(places_[1].c_str(), 0777), 0);
  EXPECT_THROW((void)make_socket_folder(places_), std::system_error);
}

TEST_F(SocketFolder, ANameHasOneUserAndIsFreeWithItsDeath) {
  const std::string path = make_socket_folder(places_) + "/name";
  {
    const Descriptor lock = lock_name(path);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(lock_name(path));
    EXPECT_TRUE(lock_name(path + "2"));
  }
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A socket stays when its process is killed.
    const Descriptor lock = lock_name(path);
    std::ofstream(path) << "";
    ::_exit(lock ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(lock_name(path));
  // The last one takes away what the dead have left.
  const Descriptor lock = lock_name(path + "3");
  remove_name(path + "3");
  EXPECT_FALSE(std::filesystem::exists(usual()));
}

TEST_F(SocketFolder, ALockThatIsGoneIsNone) {
  const std::string path = make_socket_folder(places_) + "/name";
  const Descriptor first = lock_name(path);
  remove_name(path);
  (void)make_socket_folder(places_);
  EXPECT_TRUE(lock_name(path));
}

}  // namespace
}  // namespace fenix_test
