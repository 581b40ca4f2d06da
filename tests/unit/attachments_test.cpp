// SPDX-License-Identifier: BSD-3-Clause
// Objects of members live as long as they are in use, and no longer.
#include "runtime/attachments.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace fenix_impl {
namespace {

using Kind = Attachments::Kind;

class AttachmentsTest : public testing::Test {
 protected:
  std::weak_ptr<int> add(const Attachments::Key& key) {
    auto object = std::make_shared<int>(0);
    attachments_.add(key, object);
    return object;
  }

  Attachments attachments_;
};

TEST_F(AttachmentsTest, TheNewestReplacesTheOthersWhenItIsInUse) {
  const auto first = add({1, 2, Kind::serializer});
  const auto second = add({1, 2, Kind::serializer});
  const auto other = add({1, 3, Kind::serializer});
  EXPECT_FALSE(first.expired());
  attachments_.keep_newest({1, 2, Kind::serializer});
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(second.expired());
  EXPECT_FALSE(other.expired());
}

TEST_F(AttachmentsTest, TheNewestGoesWhenItIsNot) {
  const auto first = add({1, 2, Kind::serializer});
  const auto second = add({1, 2, Kind::serializer});
  attachments_.drop_newest({1, 2, Kind::serializer});
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
  attachments_.drop_newest({1, 2, Kind::serializer});
  attachments_.drop_newest({1, 2, Kind::serializer});
  attachments_.keep_newest({1, 2, Kind::serializer});
  EXPECT_TRUE(first.expired());
}

TEST_F(AttachmentsTest, GoWithTheirKeyMemberOrGroup) {
  const auto serializer = add({1, 2, Kind::serializer});
  const auto staging = add({1, 2, Kind::staging});
  const auto neighbour = add({1, 3, Kind::loading});
  const auto stranger = add({2, 2, Kind::serializer});
  attachments_.drop({1, 2, Kind::staging});
  EXPECT_TRUE(staging.expired());
  EXPECT_FALSE(serializer.expired());
  attachments_.drop_member(1, 2);
  EXPECT_TRUE(serializer.expired());
  EXPECT_FALSE(neighbour.expired());
  attachments_.drop_group(1);
  EXPECT_TRUE(neighbour.expired());
  EXPECT_FALSE(stranger.expired());
  attachments_.clear();
  EXPECT_TRUE(stranger.expired());
}

// The destructor of one object may come back, as a serializer's captures might.
TEST_F(AttachmentsTest, AreDestroyedOutsideOfTheLock) {
  const Attachments::Key key{1, 2, Kind::serializer};
  const auto add_one_that_comes_back = [&] {
    attachments_.add(key, {new int(0), [this](int* object) {
                             attachments_.drop_group(99);
                             delete object;
                           }});
  };
  add_one_that_comes_back();
  add_one_that_comes_back();
  attachments_.keep_newest(key);
  attachments_.drop_newest(key);
  add_one_that_comes_back();
  attachments_.drop(key);
  add_one_that_comes_back();
  attachments_.drop_group(1);
  add_one_that_comes_back();
  attachments_.clear();
}

}  // namespace
}  // namespace fenix_impl
