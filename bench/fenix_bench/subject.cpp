// SPDX-License-Identifier: BSD-3-Clause
#include "subject.hpp"

#include <algorithm>
#include <cstring>

#include "policy.hpp"

namespace bench {

namespace {

std::int64_t value(int rank, std::int64_t step, std::size_t index) {
  return rank * 1'000'003LL + step * 1'000'033LL + static_cast<std::int64_t>(index);
}

void set_hashing([[maybe_unused]] int group, [[maybe_unused]] bool on) {
#ifdef FENIX_DATA_POLICY_REED_SOLOMON
  check(Fenix_Data_group_set_hashing(group, on ? 1 : 0), "Fenix_Data_group_set_hashing");
#endif
}

bool can_be_set([[maybe_unused]] const std::string& hashes) {
#ifdef FENIX_DATA_POLICY_REED_SOLOMON
  return true;
#else
  return hashes == "on";
#endif
}

}  // namespace

Subject::Subject(const Team& team, Case of, int group)
    : team_(team),
      of_(std::move(of)),
      group_(group),
      owned_(std::max<std::size_t>(1, (of_.bytes + 7) / 8), 1),
      data_(owned_),
      other_(data_.size(), 2) {
  of_.bytes = data_.size() * sizeof data_[0];
}

std::string Subject::create() {
  Policy policy = parse_policy(of_.policy).value();
  if (!can_be_set(of_.hashes)) return "hashes cannot be switched off in this version";
  const int code = Fenix_Data_group_create(group_, team_.comm(), 0, of_.depth, policy.name,
                                           policy.values.empty() ? nullptr : policy.values.data(), nullptr);
  if (code == FENIX_ERROR_INVALID_POLICY_NAME || code == FENIX_ERROR_INVALID_POLICY_VALUE) {
    return Fenix_Error_message();
  }
  check(code, "Fenix_Data_group_create");
  set_hashing(group_, of_.hashes == "on");
  set_mode();
  if (of_.mode == "allocated") {
    allocate();
    return "";
  }
  check(Fenix_Data_member_create_c(group_, kMember, data_.data(), static_cast<MPI_Count>(count()), MPI_INT64_T),
        "Fenix_Data_member_create_c");
  return "";
}

void Subject::take_up_group() {
  Policy policy = parse_policy(of_.policy).value();
  int flag = FENIX_SUCCESS;
  check(Fenix_Data_group_create(group_, team_.comm(), 0, of_.depth, policy.name,
                                policy.values.empty() ? nullptr : policy.values.data(), &flag),
        "Fenix_Data_group_create");
  check(flag, "flag of Fenix_Data_group_create");
}

void Subject::set_mode() const {
  if (of_.mode == "usual") return;
  check(Fenix_Data_group_set_in_place(group_, 1), "Fenix_Data_group_set_in_place");
}

// The buffer has its values after that.
void Subject::allocate() {
  std::int64_t* base = nullptr;
  check(Fenix_Data_member_allocate_c(group_, kMember, static_cast<MPI_Count>(count()), MPI_INT64_T, &base),
        "Fenix_Data_member_allocate_c");
  const std::span<std::int64_t> allocated(base, count());
  if (base != data_.data()) std::copy(data_.begin(), data_.end(), allocated.begin());
  data_ = allocated;
  owned_ = {};
}

void Subject::define_member() {
  if (of_.mode == "allocated") return allocate();
  check(Fenix_Data_member_define_c(group_, kMember, data_.data(), static_cast<MPI_Count>(count()), MPI_INT64_T),
        "Fenix_Data_member_define_c");
}

void Subject::drop() {
  check(Fenix_Data_barrier(group_), "Fenix_Data_barrier");
  check(Fenix_Data_group_delete(group_), "Fenix_Data_group_delete");
}

void Subject::fill(std::size_t first, std::size_t number) {
  const int rank = team_.rank();
  for (std::size_t i = first; i < first + number; ++i) data_[i] = value(rank, step_, i);
}

void Subject::compute() { compute(0, count()); }

void Subject::compute_to(std::int64_t* memory) const {
  const int rank = team_.rank();
  for (std::size_t i = 0; i < count(); ++i) memory[i] = value(rank, step_, i);
}

void Subject::compute(std::size_t first, std::size_t number) {
  ++step_;
  fill(first, number);
}

void Subject::change_blocks(int percent) {
  constexpr std::size_t kBlock = (std::size_t{128} << 10) / sizeof(std::int64_t);
  const std::size_t blocks = (count() + kBlock - 1) / kBlock;
  const std::size_t changed = (blocks * static_cast<std::size_t>(percent) + 99) / 100;
  for (std::size_t i = 0; i < changed; ++i) ++data_[(first_changed_ + i) % blocks * kBlock];
  first_changed_ = blocks > 0 ? (first_changed_ + changed) % blocks : 0;
}

void Subject::set_step(std::int64_t step) {
  step_ = step;
  fill(0, count());
}

double Subject::copy(int iterations, bool until_all) {
  const double start = seconds_now();
  for (int i = 0; i < iterations; ++i) {
    std::memcpy(other_.data(), data_.data(), of_.bytes);
    // Or the compiler keeps only the last one.
    asm volatile("" : : "r"(other_.data()), "r"(data_.data()) : "memory");
  }
  if (until_all) team_.barrier();
  return seconds_now() - start;
}

double Subject::exchange(int iterations) {
  const int half = team_.size() / 2;
  const int to = (team_.rank() + half) % team_.size();
  const int from = (team_.rank() + team_.size() - half) % team_.size();
  const int count = static_cast<int>(data_.size());
  const double start = seconds_now();
  for (int i = 0; i < iterations; ++i) {
    check(MPI_Sendrecv(data_.data(), count, MPI_INT64_T, to, 0, other_.data(), count, MPI_INT64_T, from, 0,
                       team_.comm(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  }
  return seconds_now() - start;
}

void Subject::store() const {
  check(Fenix_Data_member_store(group_, kMember, FENIX_DATA_SUBSET_FULL), "Fenix_Data_member_store");
}

void Subject::commit_barrier() const {
  check(Fenix_Data_commit_barrier(group_, FENIX_TIME_STAMP_IGNORE), "Fenix_Data_commit_barrier");
}

double Subject::restore() {
  const double start = seconds_now();
  check(Fenix_Data_member_restore_c(group_, kMember, other_.data(), static_cast<MPI_Count>(count()),
                                    FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
        "Fenix_Data_member_restore_c");
  return seconds_now() - start;
}

void Subject::compare() const {
  const auto [mine, restored] = std::mismatch(data_.begin(), data_.end(), other_.begin());
  if (mine == data_.end()) return;
  fail("element " + std::to_string(mine - data_.begin()) + " was restored as " + std::to_string(*restored) + ", not " +
       std::to_string(*mine));
}

void Subject::verify() {
  std::fill(other_.begin(), other_.end(), -1);
  static_cast<void>(restore());
  compare();
}

}  // namespace bench
