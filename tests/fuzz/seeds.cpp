// SPDX-License-Identifier: BSD-3-Clause
// Writes the inputs that fuzzing begins with, each as its real encoder makes it: fuzz_seeds <corpus>
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "base/simd/slot_hashes.hpp"
#include "checkpoint/line_record.hpp"
#include "core/member/member_codec.hpp"
#include "fuzz/support.hpp"
#include "fuzz/two_ranks.hpp"
#include "keeper/message.hpp"
#include "keeper/offer.hpp"
#include "messages/journal/contribution.hpp"
#include "messages/journal/ring.hpp"
#include "recovery/groups/rejoin/kept_group.hpp"
#include "rma/type_description.hpp"
#include "store/halt.hpp"
#include "store/manifest.hpp"
#include "store/part.hpp"
#include "store/plan.hpp"
#include "store/sealed_file.hpp"

using namespace fenix_impl;

namespace {

std::filesystem::path corpus;

void write(const std::string& target, const std::string& name, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(corpus / target);
  std::ofstream file(corpus / target / ("seed-" + name), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A version of a member whose elements are all 0.
MemberVersion version(std::int32_t id, std::uint32_t slot, const IntervalSet& found) {
  MemberVersion it{id, slot, fuzz::TwoRanks::kElementBytes, found.end(), {1}, 0, found};
  const fuzz::Bytes data(it.bytes());
  std::vector<std::uint64_t> table(hash_blocks(data.size()));
  for (std::size_t block = 0; block < table.size(); ++block) {
    table[block] = hash_of_block(data, block, found, it.element_bytes);
  }
  it.hash = hash_of_table(table, data.size());
  return it;
}

IntervalSet pieces(std::uint64_t count) {
  IntervalSet set;
  for (std::uint64_t i = 0; i < count; ++i) set.append({10 * i, 10 * i + 3 + i});
  return set;
}

fuzz::Bytes written(const Record& record) {
  fuzz::Bytes bytes(record_bytes(record));
  (void)encode(record, bytes);
  const std::uint64_t seal = record_seal(record.epoch);
  std::memcpy(bytes.data(), &seal, sizeof seal);
  return bytes;
}

Record record(int owner, std::uint64_t epoch, std::vector<MemberVersion> members) {
  return {{epoch}, {1}, static_cast<std::int32_t>(epoch) + 3, 0, owner, {1}, false, std::move(members)};
}

void write_records() {
  write("record", "empty", written(record(0, 1, {})));
  write("record", "one", written(record(1, 2, {version(1, 2, IntervalSet(0, 64))})));
  write("record", "pieces",
        written(record(1, 3, {version(1, 0, pieces(2)), version(7, 1, {}), version(2, 1, pieces(5))})));
  write("record", "large", written(record(0, 9, {version(1, 0, IntervalSet(0, 40000))})));
  Record deleted = record(1, 4, {});
  deleted.deleted = true;
  write("record", "deleted", written(deleted));
}

void write_logs() {
  for (std::uint8_t policy = 0; policy < 2; ++policy) {
    fuzz::Bytes bytes{std::byte{policy}};
    const auto append = [&](std::uint8_t where, const fuzz::Bytes& record) {
      const auto length = static_cast<std::uint16_t>(record.size());
      bytes.push_back(std::byte{where});
      bytes.insert(bytes.end(), {std::byte(length & 0xff), std::byte(length >> 8)});
      bytes.insert(bytes.end(), record.begin(), record.end());
    };
    for (std::uint8_t rank = 0; rank < 2; ++rank) {
      for (std::uint8_t epoch = 1; epoch < 3; ++epoch) {
        const auto entry = static_cast<std::uint8_t>(epoch << 2);
        const auto own = written(record(rank, epoch, {version(1, epoch, pieces(epoch))}));
        append(static_cast<std::uint8_t>(entry | rank), own);
        append(static_cast<std::uint8_t>(entry | 2 | (1 - rank)), own);
      }
    }
    write("log", policy == 0 ? "copies" : "parity", bytes);
  }
}

// A file of a full log: two messages and a third that is cut short.
void write_spilled() {
  fuzz::Bytes bytes;
  const auto append = [&bytes](const auto& value) {
    const auto added = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), added.begin(), added.end());
  };
  for (std::uint64_t number = 1; number < 4; ++number) {
    EntryHead head;
    head.signature = {7, 5, 1};
    head.number = number;
    head.bytes = 40 * number;
    append(std::uint8_t{1});
    append(head);
    append(static_cast<std::uint8_t>(head.bytes));
    bytes.resize(bytes.size() + (number < 3 ? head.bytes : 10), std::byte{9});
  }
  write("spill", "three", bytes);
}

// The target that is looked for comes first.
void write_contributions() {
  const auto write_for = [](const char* name, const BlockTarget& target) {
    const auto block = [](const BlockTarget& of, std::size_t bytes) {
      return BlockToStore{of, bytes, [bytes](std::byte* to) { std::fill_n(to, bytes, std::byte{7}); }};
    };
    const std::array<BlockToStore, 4> blocks{block({1, 0}, 9), block({2, 0}, 0), block({2, 1}, 100), block({}, 5)};
    fuzz::Bytes bytes(sizeof target + contribution_bytes(blocks));
    std::memcpy(bytes.data(), &target, sizeof target);
    write_contribution(blocks, std::span(bytes).subspan(sizeof target));
    write("contribution", name, bytes);
  };
  write_for("first", {1, 0});
  write_for("label", {2, 1});
  write_for("every", {});
  write_for("none", {4, 0});
}

// A ring as a journal leaves it, and stores that go on from there.
void write_rings() {
  constexpr std::size_t kUnits = 200;
  const auto write_ring = [](const std::string& name, std::initializer_list<std::size_t> sizes, std::uint32_t depth) {
    Ring ring(kUnits * journal_format::kUnit);
    struct Put {
      std::uint16_t unit;
      EntryHead head;
    };
    std::vector<Put> puts;
    const auto put = [&](EntryHead head) {
      head.sequence = ring.next_sequence();
      puts.push_back({static_cast<std::uint16_t>(ring.head() / journal_format::kUnit), head});
      ring.note({head, ring.head()});
    };
    for (const std::size_t size : sizes) {
      const Signature signature{size % 3, static_cast<std::int32_t>(size % 2), 0};
      for (Ring::Step step = Ring::Step::move; step != Ring::Step::place && step != Ring::Step::none;) {
        step = ring.next_step(signature, depth, size);
        EntryHead head;
        if (step == Ring::Step::jump) {
          head.kind = EntryKind::jump;
        } else {
          head.bytes = size;
          head.signature = signature;
          head.number = ring.next_number();
          head.depth = depth;
        }
        if (step == Ring::Step::move) head = ring.oldest().head;
        if (step != Ring::Step::none) put(head);
      }
    }
    fuzz::Bytes bytes;
    const auto append = [&bytes](const auto& value) {
      const auto added = std::as_bytes(std::span(&value, 1));
      bytes.insert(bytes.end(), added.begin(), added.end());
    };
    append(static_cast<std::uint16_t>(kUnits - 1));
    append(ring.start());
    append(static_cast<std::uint8_t>(puts.size()));
    for (const Put& each : puts) {
      append(each.unit);
      append(std::uint8_t{1});
      append(each.head);
    }
    for (const int more : {0, 1, 0, 70, 0, 1, 1, 4, 200, 0, 2, 0, 1, 0, 1}) append(static_cast<std::uint8_t>(more));
    write("journal", name, bytes);
  };
  write_ring("empty", {}, 1);
  write_ring("few", {3, 100, 64}, 1);
  write_ring("replaced", {3, 100, 3, 100, 3, 64, 3, 100, 3, 3, 100, 3, 3, 3, 3, 3, 3, 3}, 1);
  write_ring("deep", {3, 4, 9, 100, 3, 70, 3, 4, 100, 9, 15, 3, 21, 27, 33, 3, 3}, 3);
}

void write_keeper() {
  const Hello hello{"/scratch/me", 100, 60, 3, 5};
  const Search search{4, "calm", {"4.1.2.3"}, 5};
  const Reading reading{"4.1.2.3", 1, 2, 1U << 20U, 100, 64};
  const std::vector<Listed> list{{"4.1.2.3", "calm", 1, 0}};
  write("keeper", "hello", encode(Message{KeeperOp::hello, 0, KeeperCode::done, "", encode_body(hello)}));
  write("keeper", "search", encode(Message{KeeperOp::find, 7, KeeperCode::failed, "why", encode_body(search)}));
  write("keeper", "reading", encode_body(reading));
  write("keeper", "list", encode_body(list));
  RankOffer offer{3, std::vector<std::byte>(80), {{-2, 8, 4096, IntervalSet(1, 40), {17}}, {5, 1, 0, {}, {}}}};
  offer.members[0].found.append({50, 60});
  write("keeper", "offer", encode(offer));
  const std::string text = text_of({3, 4, 5, 6, "enough"});
  write("keeper", "halt", std::as_bytes(std::span(text)));
}

// Bodies of files: the target seals them.
void write_store() {
  const DatasetName name{7, 3, 2, 1};
  const auto body = [](const std::vector<std::byte>& file) {
    return std::span(file).subspan(store_format::kHeadBytes);
  };
  DatasetPlan plan{name, "calm", 4, {0, 1, 1, 0, 1, 1, 0, 1}, {{5, 8, fuzz::Bytes(3)}, {6, 1, {}}}, {0, 1, 0}};
  write("store", "plan", body(encode(plan)));
  write("store", "plan-whole", encode(plan));
  const Extent large{5, 8192, Extent::kPiece + 1, {1, 2}};
  const StoredPart part{1, 2, 1 << 21U, {{1, fuzz::Bytes(80), {{6, 0, 100, {3}}, large}}, {4, {}, {}}}};
  write("store", "part", body(encode(name, part)));
  write("store", "part-whole", encode(name, part));
  const Manifest manifest{{{100, 5, 4096}, {200, 6, 8192}}};
  write("store", "manifest", body(encode(name, manifest)));
  const std::string text = name.text();
  write("store", "name", std::as_bytes(std::span(text)));
}

// Peers that say the same as rank 0, in all that they are asked.
void write_rejoins() {
  constexpr std::size_t kLong = 1500;
  for (std::uint8_t kind = 0; kind < 4; ++kind) {
    fuzz::Bytes bytes(kLong);
    bytes[0] = std::byte{kind};
    write("rejoin", std::to_string(kind), bytes);
  }
}

// A group without a team, whose own number is -1.
void write_lines() {
  for (int events = 0; events < 3; ++events) {
    LineRecord record;
    record.ranks = 3;
    record.sent = {{{1, 0, 1, 2, 0}, 1, 0, 4}};
    record.received = {{{1, 2, 0, 0, 0}, 2, 0, 7}};
    record.is_whole = events > 0;
    record.late = {{{1, 2, 0, 0, 0}, 8, {std::byte{1}, std::byte{2}}}};
    for (int i = 0; i < events; ++i) {
      record.trace.note_sent({1, 0, 1, 2, 0});
      record.trace.note_delivered({1, 2, 0, 0, 0}, 8);
      record.trace.note_outcome(DeterminantKind::test, {});
      record.trace.note_outcome(DeterminantKind::test, std::array{1});
      record.trace.note_match(3, 1, 2);
    }
    write("line", std::to_string(events), record.encode(4096).value());
  }
}

void write_kept_groups() {
  constexpr std::int32_t kRank = -1;
  for (const int members : {0, 1, 3}) {
    Group group({5, 2, 1, {Policy::Kind::parity, 1, 3, 1}});
    group.recovery().describe({{2}, 3}, {});
    for (int id = 0; id < members; ++id) {
      const MemberInfo info{id, id == 1, {1}, std::make_shared<const ElementType>(ElementType::plain(8))};
      const SlotLayout layout(2, 80, 48);
      group.members().adopt(info, {{kRank, 10}, {2, 7}}, layout.slots(), kRank);
      group.find(id)->memory.replace(Region(layout.end()), layout);
    }
    auto bytes = describe_group(group, 3);
    bytes.insert(bytes.begin(), static_cast<std::byte>(members + 1));
    write("kept_group", std::to_string(members), bytes);
  }
}

class Types {
 public:
  void describe(const std::string& name, MPI_Datatype type) {
    write("type", name, describe_type(type));
    MPI_Type_commit(&type);
    members_.push_back({static_cast<std::int32_t>(members_.size()),
                        name.size() % 2 == 0,
                        {members_.size()},
                        std::make_shared<const ElementType>(type)});
    write("members", name, encode_members(std::span(&members_.back(), 1)));
  }

  void write_all() {
    describe("double", MPI_DOUBLE);
    describe("pair", MPI_DOUBLE_INT);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, MPI_INT, &type);
    describe("contiguous", type);
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &vector);
    describe("vector", vector);
    MPI_Type_create_hvector(2, 3, 40, MPI_SHORT, &type);
    describe("hvector", type);
    const std::array<int, 3> lengths{1, 2, 1};
    const std::array<int, 3> places{5, 0, 9};
    const std::array<MPI_Aint, 3> far{0, 128, -64};
    MPI_Type_indexed(3, lengths.data(), places.data(), MPI_FLOAT, &type);
    describe("indexed", type);
    MPI_Type_create_hindexed(3, lengths.data(), far.data(), vector, &type);
    describe("hindexed", type);
    MPI_Type_create_indexed_block(3, 2, places.data(), MPI_CHAR, &type);
    describe("indexed_block", type);
    MPI_Type_create_hindexed_block(3, 2, far.data(), MPI_INT, &type);
    describe("hindexed_block", type);
    const std::array<MPI_Datatype, 3> inner{vector, MPI_INT, MPI_CHAR};
    MPI_Type_create_struct(3, lengths.data(), far.data(), inner.data(), &type);
    describe("struct", type);
    MPI_Type_create_resized(MPI_INT, -4, 32, &type);
    describe("resized", type);
    const std::array<int, 2> whole{6, 4};
    const std::array<int, 2> part{2, 3};
    const std::array<int, 2> start{1, 1};
    MPI_Type_create_subarray(2, whole.data(), part.data(), start.data(), MPI_ORDER_C, MPI_INT, &type);
    describe("subarray", type);
    const std::array<int, 2> how{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    const std::array<int, 2> arguments{MPI_DISTRIBUTE_DFLT_DARG, 1};
    const std::array<int, 2> processes{2, 2};
    MPI_Type_create_darray(4, 1, 2, whole.data(), how.data(), arguments.data(), processes.data(), MPI_ORDER_FORTRAN,
                           MPI_INT, &type);
    describe("darray", type);
    members_.push_back({7, true, {3}, std::make_shared<const ElementType>(ElementType::plain(12))});
    write("members", "all", encode_members(members_));
  }

 private:
  std::vector<MemberInfo> members_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fuzz_seeds <corpus>\n";
    return 2;
  }
  corpus = argv[1];
  fuzz::start_mpi();
  write_records();
  write_logs();
  write_spilled();
  write_store();
  write_keeper();
  write_rejoins();
  write_kept_groups();
  write_lines();
  write_contributions();
  write_rings();
  Types().write_all();
  return 0;
}
