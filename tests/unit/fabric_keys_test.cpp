// SPDX-License-Identifier: BSD-3-Clause
// Keys that a provider of the network chooses, and uses again: none is given out twice.
#include "rma/fabric/keys.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

/// A provider that gives the lowest key that no registration has now.
class Provider {
 public:
  explicit Provider(std::uint64_t keys) : keys_(keys) {}

  std::shared_ptr<const std::uint64_t> register_memory() {
    std::uint64_t key = 0;
    while (used_.count(key) != 0) ++key;
    key %= keys_;
    used_.insert(key);
    return {new std::uint64_t(key), [this](const std::uint64_t* gone) {
              used_.erase(*gone);
              delete gone;
            }};
  }
  [[nodiscard]] std::size_t used() const { return used_.size(); }

 private:
  std::uint64_t keys_;
  std::set<std::uint64_t> used_;
};

TEST(FabricKeys, NoneIsGivenOutTwice) {
  Provider provider(1'000'000);
  FabricKeys keys;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 50; ++i) {
    // The registration ends at once, so the provider would give its key to the next one.
    const auto registration =
        keys.take_new([&] { return provider.register_memory(); }, [](const auto& r) { return *r; });
    EXPECT_TRUE(seen.insert(*registration).second) << *registration;
    EXPECT_EQ(provider.used(), 1U) << "registrations under old keys have ended";
  }
  EXPECT_EQ(provider.used(), 0U);
}

TEST(FabricKeys, IsAnErrorIfTheProviderHasNoneLeft) {
  Provider provider(3);
  FabricKeys keys;
  const auto take = [&] {
    return keys.take_new([&] { return provider.register_memory(); }, [](const auto& r) { return *r; });
  };
  for (int i = 0; i < 3; ++i) (void)take();
  try {
    (void)take();
    FAIL() << "a key was given out twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FENIX_ERROR_NO_MEMORY);
  }
  EXPECT_EQ(provider.used(), 0U);
}

}  // namespace
}  // namespace fenix_impl
