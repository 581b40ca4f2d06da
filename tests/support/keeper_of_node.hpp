// SPDX-License-Identifier: BSD-3-Clause
// The keeper of a node, run in a thread, and ranks that offer memory to it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/simd/slot_hashes.hpp"
#include "keeper/client/client.hpp"
#include "keeper/keeper.hpp"
#include "store/posix_file_system.hpp"

namespace fenix_test {

using KeptBytes = std::vector<std::byte>;
using fenix_impl::DatasetPlan;
using fenix_impl::FlushOutcome;
using fenix_impl::Hello;
using fenix_impl::Keeper;
using fenix_impl::KeeperClient;
using fenix_impl::KeeperCode;
using fenix_impl::Listener;
using fenix_impl::MemberOffer;
using fenix_impl::PosixFileSystem;
using fenix_impl::RankOffer;
using fenix_impl::SharedFile;
using fenix_impl::StoreError;
using fenix_impl::StoreFile;

/// A file system that can be made slow, full, or hung.
class TroubledFileSystem : public PosixFileSystem {
 public:
  struct Trouble {
    std::atomic<int> error{0};  ///< of creating files, or 0
    std::atomic<bool> hangs{false};
  };
  explicit TroubledFileSystem(Trouble& trouble) : trouble_(trouble) {}

  std::unique_ptr<StoreFile> create(const std::string& path, Use use) override {
    while (trouble_.hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (trouble_.error != 0) throw StoreError(trouble_.error, "creation", path);
    return PosixFileSystem::create(path, use);
  }

 private:
  Trouble& trouble_;
};

/// Shared memory of a rank.
struct RankMemory {
  explicit RankMemory(const KeptBytes& bytes, bool sealed = true)
      : file(std::make_shared<fenix_impl::Descriptor>(::memfd_create("fenix-test", MFD_CLOEXEC | MFD_ALLOW_SEALING))) {
    EXPECT_EQ(::pwrite(file->get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    if (sealed && ::fcntl(file->get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) throw std::runtime_error("no seals");
  }
  SharedFile file;
};

inline KeptBytes some_bytes(std::size_t size, unsigned seed) {
  KeptBytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * 2654435761U >> 13U) ^ seed);
  return bytes;
}

constexpr std::size_t kKeptSize = (std::size_t{2} << 20U) + 777;
constexpr std::int32_t kOffered = 3;
constexpr std::chrono::seconds kKeeperLimit{10};

inline RankOffer offer_of(int rank, const KeptBytes& bytes) {
  MemberOffer member{kOffered, 1, 0, fenix_impl::IntervalSet(0, bytes.size()), {}};
  member.hashes.resize(fenix_impl::hash_blocks(bytes.size()));
  fenix_impl::make_table(bytes, member.found, 1, member.hashes);
  return {rank, some_bytes(100, static_cast<unsigned>(rank)), {member}};
}

inline DatasetPlan plan_for(std::uint32_t run, int time_stamp, std::vector<std::uint32_t> writers) {
  DatasetPlan plan;
  plan.name = {7, time_stamp, run, 1};
  plan.epoch = static_cast<std::uint64_t>(time_stamp) + 1;
  plan.members = {{kOffered, 1, {}}};
  plan.writers = std::move(writers);
  return plan;
}

inline FlushOutcome outcome_of(KeeperClient& client, std::uint64_t flush) {
  for (int i = 0; i < 10000; ++i) {
    if (auto outcome = client.flushes().outcome(flush)) return *outcome;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {KeeperCode::failed, "no outcome"};
}

/// A rank, and what it offers to the keeper.
struct OfferingRank {
  OfferingRank(KeeperClient& client, const KeptBytes& bytes, int rank = 0, bool sealed = true)
      : keeper(client), memory(bytes, sealed), offer(offer_of(rank, bytes)) {}

  [[nodiscard]] std::uint64_t begin_flush(const DatasetPlan& plan) const {
    return keeper.flushes().flush(plan, offer, std::span(&memory.file, 1));
  }
  [[nodiscard]] FlushOutcome flush(const DatasetPlan& plan) const { return outcome_of(keeper, begin_flush(plan)); }
  void keep(const DatasetPlan& plan) const { keeper.flushes().keep(plan, offer, std::span(&memory.file, 1)); }

  KeeperClient& keeper;
  RankMemory memory;
  RankOffer offer;
};

class KeeperOfNode : public testing::Test {
 protected:
  KeeperOfNode() {
    std::string folder = std::filesystem::temp_directory_path() / "fenix-keeper-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = folder;
    hello_ = {root_, 0, 1, 0, 0};
    start();
  }
  ~KeeperOfNode() override {
    trouble_.hangs = false;
    clients_.clear();
    if (thread_.joinable()) thread_.join();
    std::filesystem::remove_all(root_);
  }

  // Clients find it by the name that they would give it themselves.
  void start() {
    fenix_impl::KeeperConnection names("", hello_);
    Listener listener = fenix_impl::listen_at(names.socket_name());
    ASSERT_TRUE(listener);
    thread_ = std::thread([this, listener = std::move(listener)]() mutable {
      Keeper keeper(std::make_unique<TroubledFileSystem>(trouble_), std::move(listener));
      keeper_ = &keeper;
      ended_well_ = keeper.run();
    });
  }

  KeeperClient& client() {
    clients_.push_back(std::make_unique<KeeperClient>("/nonexistent", hello_));
    return *clients_.back();
  }

  std::string root_;
  Hello hello_;
  TroubledFileSystem::Trouble trouble_;
  std::vector<std::unique_ptr<KeeperClient>> clients_;
  std::thread thread_;
  std::atomic<bool> ended_well_{false};
  std::atomic<Keeper*> keeper_{nullptr};
  KeeperClient::Check nothing_ = [] {};
};

}  // namespace fenix_test
