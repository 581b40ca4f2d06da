// SPDX-License-Identifier: BSD-3-Clause
// Elements of any MPI type: packed as the type map says, and described such that another process builds the same type.
// The type maps here are computed without MPI's help, except the bounds of inner types.
#include "rma/element_type.hpp"
#include "support/stride.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "rma/type_description.hpp"

namespace fenix_impl {
namespace {

using Ints = std::vector<int>;
using Addresses = std::vector<MPI_Aint>;

// A type of MPI, and the places of its bytes in their order.
struct Mapped {
  std::shared_ptr<TypeHandle> handle;
  std::vector<std::ptrdiff_t> map;

  Mapped(MPI_Datatype type, bool owned) : handle(std::make_shared<TypeHandle>(type, owned)) {}
  [[nodiscard]] MPI_Datatype get() const { return handle->get(); }
  [[nodiscard]] MPI_Aint extent() const { return bounds_of(get()).extent; }
  // Appends a block of count inner types.
  void add(std::ptrdiff_t displacement, int count, const Mapped& inner) {
    const MPI_Aint extent = inner.extent();
    for (int number = 0; number < count; ++number) {
      for (const std::ptrdiff_t place : inner.map) map.push_back(displacement + number * extent + place);
    }
  }
};

Mapped made(MPI_Datatype type) { return {type, true}; }

Mapped named(MPI_Datatype type) {
  Mapped mapped(type, false);
  for (int place = 0; place < bounds_of(type).size; ++place) mapped.map.push_back(place);
  return mapped;
}

// A pair of a value and an int, with a hole between or after them.
Mapped pair(MPI_Datatype type, int first, int second_at) {
  Mapped mapped(type, false);
  for (int place = 0; place < first; ++place) mapped.map.push_back(place);
  for (int place = 0; place < 4; ++place) mapped.map.push_back(second_at + place);
  return mapped;
}

Mapped dup(const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(inner.get(), &type);
  Mapped mapped = made(type);
  mapped.map = inner.map;
  return mapped;
}

Mapped contiguous(int count, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, inner.get(), &type);
  Mapped mapped = made(type);
  mapped.add(0, count, inner);
  return mapped;
}

Mapped vector(int count, int length, int stride, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, inner.get(), &type);
  Mapped mapped = made(type);
  for (int block = 0; block < count; ++block) mapped.add(block * stride * inner.extent(), length, inner);
  return mapped;
}

Mapped hvector(int count, int length, MPI_Aint stride, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(count, length, stride, inner.get(), &type);
  Mapped mapped = made(type);
  for (int block = 0; block < count; ++block) mapped.add(block * stride, length, inner);
  return mapped;
}

Mapped indexed(const Ints& lengths, const Ints& places, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), inner.get(), &type);
  Mapped mapped = made(type);
  for (std::size_t i = 0; i < lengths.size(); ++i) mapped.add(places[i] * inner.extent(), lengths[i], inner);
  return mapped;
}

Mapped hindexed(const Ints& lengths, const Addresses& places, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), inner.get(), &type);
  Mapped mapped = made(type);
  for (std::size_t i = 0; i < lengths.size(); ++i) mapped.add(places[i], lengths[i], inner);
  return mapped;
}

Mapped indexed_block(int length, const Ints& places, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), length, places.data(), inner.get(), &type);
  Mapped mapped = made(type);
  for (const int place : places) mapped.add(place * inner.extent(), length, inner);
  return mapped;
}

Mapped hindexed_block(int length, const Addresses& places, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), length, places.data(), inner.get(), &type);
  Mapped mapped = made(type);
  for (const MPI_Aint place : places) mapped.add(place, length, inner);
  return mapped;
}

Mapped structure(const Ints& lengths, const Addresses& places, const std::vector<Mapped>& inner) {
  std::vector<MPI_Datatype> types;
  for (const Mapped& each : inner) types.push_back(each.get());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), places.data(), types.data(), &type);
  Mapped mapped = made(type);
  for (std::size_t i = 0; i < lengths.size(); ++i) mapped.add(places[i], lengths[i], inner[i]);
  return mapped;
}

Mapped resized(MPI_Aint lower, MPI_Aint extent, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(inner.get(), lower, extent, &type);
  Mapped mapped = made(type);
  mapped.map = inner.map;
  return mapped;
}

// Adds the elements of an array for which chosen says so in every dimension, in the array's order.
void add_chosen(Mapped& mapped, const Ints& whole, int order, const Mapped& inner,
                const std::function<bool(std::size_t dimension, int index)>& chosen) {
  int all = 1;
  for (const int size : whole) all *= size;
  for (int element = 0; element < all; ++element) {
    bool take = true;
    int rest = element;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const std::size_t dimension = order == MPI_ORDER_C ? whole.size() - 1 - i : i;
      take = take && chosen(dimension, rest % whole[dimension]);
      rest /= whole[dimension];
    }
    if (take) mapped.add(element * inner.extent(), 1, inner);
  }
}

Mapped subarray(const Ints& whole, const Ints& part, const Ints& start, int order, const Mapped& inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(static_cast<int>(whole.size()), whole.data(), part.data(), start.data(), order, inner.get(),
                           &type);
  Mapped mapped = made(type);
  add_chosen(mapped, whole, order, inner, [&](std::size_t dimension, int index) {
    return index >= start[dimension] && index < start[dimension] + part[dimension];
  });
  return mapped;
}

// With explicit arguments: block or cyclic, in blocks of that size.
Mapped darray(int rank, const Ints& whole, const Ints& kinds, const Ints& blocks, const Ints& processes, int order,
              const Mapped& inner) {
  int size = 1;
  for (const int number : processes) size *= number;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_darray(size, rank, static_cast<int>(whole.size()), whole.data(), kinds.data(), blocks.data(),
                         processes.data(), order, inner.get(), &type);
  Ints mine(whole.size());
  for (std::size_t dimension = whole.size(), rest = static_cast<std::size_t>(rank); dimension-- > 0;) {
    mine[dimension] = static_cast<int>(rest) % processes[dimension];
    rest /= static_cast<std::size_t>(processes[dimension]);
  }
  Mapped mapped = made(type);
  add_chosen(mapped, whole, order, inner, [&](std::size_t dimension, int index) {
    if (kinds[dimension] == MPI_DISTRIBUTE_NONE) return true;
    return index / blocks[dimension] % processes[dimension] == mine[dimension];
  });
  return mapped;
}

struct Case {
  std::string name;
  Mapped type;
};

std::vector<Case> cases() {
  const Mapped one = named(MPI_BYTE);
  const Mapped four = named(MPI_INT);
  const Mapped eight = named(MPI_DOUBLE);
  const Mapped particle = structure({1, 3, 2}, {0, 8, 40}, {four, eight, one});
  const Mapped swapped = structure({1, 1}, {4, 0}, {four, four});
  const Mapped strided = vector(3, 2, 4, four);
  const int c = MPI_ORDER_C;
  const int fortran = MPI_ORDER_FORTRAN;
  const int block = MPI_DISTRIBUTE_BLOCK;
  const int cyclic = MPI_DISTRIBUTE_CYCLIC;
  return {
      {"int", four},
      {"byte", one},
      {"long double", named(MPI_LONG_DOUBLE)},
      {"bool", named(MPI_CXX_BOOL)},
      {"complex", named(MPI_C_DOUBLE_COMPLEX)},
      {"short int", pair(MPI_SHORT_INT, 2, 4)},
      {"double int", pair(MPI_DOUBLE_INT, 8, 8)},
      {"long double int", pair(MPI_LONG_DOUBLE_INT, 16, 16)},
      {"dup", dup(four)},
      {"dup of dup", dup(dup(vector(2, 2, 5, four)))},
      {"contiguous", contiguous(5, eight)},
      {"contiguous of pairs", contiguous(3, pair(MPI_SHORT_INT, 2, 4))},
      {"vector", strided},
      {"vector without holes", vector(3, 4, 4, four)},
      {"vector backwards", vector(3, 2, -4, four)},
      {"vector of bytes backwards", vector(4, 1, -2, one)},
      {"hvector", hvector(3, 2, 13, four)},
      {"hvector backwards", hvector(3, 2, -17, four)},
      {"indexed", indexed({2, 0, 1, 3}, {5, 2, -3, 10}, four)},
      {"hindexed", hindexed({2, 1}, {9, -5}, four)},
      {"indexed block", indexed_block(2, {7, 0, 3}, four)},
      {"hindexed block", hindexed_block(2, {33, 1}, four)},
      {"hindexed block, out of order without holes", hindexed_block(1, {8, 0, 4}, four)},
      {"struct", particle},
      {"struct out of order", swapped},
      {"struct out of order, of bytes", structure({4, 4}, {4, 0}, {one, one})},
      {"struct after its beginning", structure({1, 1}, {16, 24}, {eight, one})},
      {"struct twice the same bytes and a hole", resized(0, 8, structure({1, 1}, {0, 0}, {four, four}))},
      {"subarray", subarray({4, 6}, {2, 3}, {1, 2}, c, four)},
      {"subarray, Fortran", subarray({4, 6, 3}, {2, 3, 2}, {1, 2, 0}, fortran, four)},
      {"subarray, one dimension", subarray({9}, {4}, {3}, c, strided)},
      {"subarray, all", subarray({4, 6}, {4, 6}, {0, 0}, c, four)},
      {"darray, block", darray(2, {6, 5}, {block, block}, {3, 3}, {2, 2}, c, four)},
      {"darray, cyclic", darray(1, {7, 5}, {cyclic, cyclic}, {2, 1}, {2, 2}, c, four)},
      {"darray, Fortran",
       darray(3, {7, 5, 2}, {cyclic, block, MPI_DISTRIBUTE_NONE}, {2, 3, 1}, {2, 2, 1}, fortran, one)},
      {"resized, hole behind", resized(0, 16, four)},
      {"resized, lower bound", resized(-8, 24, four)},
      {"resized, lower bound above", resized(4, 12, eight)},
      {"resized, backwards", resized(0, -8, four)},
      {"contiguous of complex with gaps", contiguous(3, resized(0, 24, named(MPI_C_DOUBLE_COMPLEX)))},
      {"contiguous of struct", contiguous(3, particle)},
      {"contiguous of out of order", contiguous(4, swapped)},
      {"vector of resized vector", vector(2, 2, 3, resized(-4, 60, strided))},
      {"struct of all kinds",
       structure({2, 1, 1}, {0, 200, 500}, {strided, dup(particle), subarray({3, 3}, {2, 2}, {1, 1}, c, swapped)})},
      {"indexed of hindexed of dup", indexed({1, 2}, {4, 0}, hindexed({1, 1}, {8, 0}, dup(eight)))},
  };
}

// A buffer around elements [0, count) of a type, with bytes to spare on both sides.
class Elements {
 public:
  Elements(const Mapped& type, std::size_t count) {
    const MPI_Aint extent = type.extent();
    for (std::size_t element = 0; element < count; ++element) {
      for (const std::ptrdiff_t place : type.map)
        places_.push_back(static_cast<std::ptrdiff_t>(element) * extent + place);
    }
    const auto [least, most] = std::minmax_element(places_.begin(), places_.end());
    before_ = kSpare - std::min<std::ptrdiff_t>(*least, 0);
    bytes_.resize(static_cast<std::size_t>(before_ + std::max<std::ptrdiff_t>(*most, 0) + kSpare));
  }
  void fill(std::mt19937_64& random) {
    for (std::byte& byte : bytes_) byte = static_cast<std::byte>(random());
  }
  std::byte* buffer() { return bytes_.data() + before_; }
  std::byte& operator[](std::size_t number) { return buffer()[places_[number]]; }
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  [[nodiscard]] const std::vector<std::byte>& all() const { return bytes_; }
  [[nodiscard]] bool overlap() const { return std::set(places_.begin(), places_.end()).size() < places_.size(); }
  // The bytes of the elements in the order of the type map.
  std::vector<std::byte> packed() {
    std::vector<std::byte> packed;
    for (const std::ptrdiff_t place : places_) packed.push_back(buffer()[place]);
    return packed;
  }

 private:
  static constexpr std::ptrdiff_t kSpare = 64;
  std::vector<std::ptrdiff_t> places_;
  std::vector<std::byte> bytes_;
  std::ptrdiff_t before_ = 0;
};

constexpr std::byte kGuard{0xa5};

void expect_packs(const ElementType& type, const Mapped& mapped, std::size_t first, std::size_t count) {
  std::mt19937_64 random(first * 100 + count);
  Elements elements(mapped, first + count);
  elements.fill(random);
  const std::size_t bytes = count * type.bytes();
  std::vector<std::byte> packed(bytes + 16, kGuard);
  type.pack(elements.buffer(), first, count, packed.data());
  auto expected = elements.packed();
  expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(first * type.bytes()));
  expected.resize(bytes + 16, kGuard);
  EXPECT_EQ(packed, expected);

  if (elements.overlap()) return;
  Elements target(mapped, first + count);
  target.fill(random);
  Elements wanted = target;
  for (std::size_t number = first * type.bytes(); number < elements.size(); ++number) wanted[number] = elements[number];
  type.unpack(packed.data(), first, count, target.buffer());
  EXPECT_EQ(target.all(), wanted.all());
}

void expect_is(const ElementType& type, const Mapped& mapped) {
  ASSERT_EQ(type.bytes(), mapped.map.size());
  EXPECT_EQ(bounds_of(type.handle()), bounds_of(mapped.get()));
  bool in_order = mapped.extent() == static_cast<MPI_Aint>(mapped.map.size()) && bounds_of(mapped.get()).lower == 0;
  for (std::size_t i = 0; i < mapped.map.size(); ++i) in_order = in_order && mapped.map[i] == static_cast<MPI_Aint>(i);
  EXPECT_EQ(type.contiguous(), in_order);
  for (const auto& [first, count] : {std::pair{0, 1}, {0, 7}, {3, 5}}) {
    expect_packs(type, mapped, static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  }
}

void expect_described(const Mapped& mapped) {
  MPI_Datatype committed = mapped.get();
  MPI_Type_commit(&committed);
  const ElementType type(committed);
  expect_is(type, mapped);
  const ElementType like = ElementType::from_description(type.description());
  expect_is(like, mapped);
  EXPECT_EQ(like.hash(), type.hash());
  // A type built from the description has the same description.
  EXPECT_EQ(ElementType(like.handle()).description(), type.description());
}

template <typename Call>
int code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.code();
  }
  return FENIX_SUCCESS;
}

int code_of_type(MPI_Datatype type) {
  return code_of([&] { const ElementType element(type); });
}

ElementType element(const Mapped& type) { return ElementType(committed_duplicate(type.get()).get()); }

// The lowest free number of a type in Open MPI: the same again if no type is left over.
int free_number() {
  const Mapped type = contiguous(1, named(MPI_INT));
  return MPI_Type_c2f(type.get());
}

TEST(ElementType, PacksWhatTheTypeMapSaysAndNothingElse) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    expect_described(each.type);
  }
}

// Blocks as long as can be, or of one element.
TEST(ElementType, DefaultDistributions) {
  const Mapped four = named(MPI_INT);
  for (int rank = 0; rank < 6; ++rank) {
    const Ints kinds{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    Mapped expected = darray(rank, {7, 5}, kinds, {3, 1}, {3, 2}, MPI_ORDER_C, four);
    const Ints whole{7, 5};
    const Ints defaults(2, MPI_DISTRIBUTE_DFLT_DARG);
    const Ints processes{3, 2};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(6, rank, 2, whole.data(), kinds.data(), defaults.data(), processes.data(), MPI_ORDER_C,
                           MPI_INT, &type);
    expected.handle = std::make_shared<TypeHandle>(type, true);
    expect_described(expected);
  }
}

// A random type of random types.
Mapped random_type(std::mt19937_64& random, int depth) {
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  if (depth == 0 || below(8) == 0) {
    const MPI_Datatype basic[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX};
    const int choice = below(7);
    return choice < 6 ? named(basic[choice]) : pair(MPI_SHORT_INT, 2, 4);
  }
  const Mapped inner = random_type(random, depth - 1);
  const int n = 1 + below(3);
  const auto some = [&](int least, int limit) {
    Ints numbers(static_cast<std::size_t>(n));
    for (int& number : numbers) number = least + below(limit);
    return numbers;
  };
  const auto places = [&] {
    Addresses addresses(static_cast<std::size_t>(n));
    for (MPI_Aint& address : addresses) address = below(400) - 100;
    return addresses;
  };
  switch (below(12)) {
    case 0:
      return dup(inner);
    case 1:
      return contiguous(n, inner);
    case 2:
      return vector(n, 1 + below(3), 2 * below(5) - 4, inner);
    case 3:
      return hvector(n, 1 + below(3), 3 * below(60) - 99, inner);
    case 4:
      return indexed(some(0, 3), some(-4, 12), inner);
    case 5:
      return hindexed(some(0, 3), places(), inner);
    case 6:
      return indexed_block(1 + below(3), some(-4, 12), inner);
    case 7:
      return hindexed_block(1 + below(3), places(), inner);
    case 8: {
      std::vector<Mapped> types;
      for (int i = 0; i < n; ++i) types.push_back(random_type(random, depth - 1));
      return structure(some(0, 3), places(), types);
    }
    case 9:
      return subarray({4, 5}, {1 + below(2), 1 + below(3)}, {below(3), below(3)}, below(2), inner);
    case 10:
      if (inner.map.empty()) return inner;  // MPI refuses to make one of it
      return darray(below(4), {4, 5}, {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, {1 + below(2), 3}, {2, 2},
                    below(2), inner);
    default:
      return resized(below(40) - 20, 1 + below(100), inner);
  }
}

TEST(ElementType, RandomTypes) {
  int tried = 0;
  const int each = fenix_test::stride(1, 4);
  for (unsigned seed = 0; seed < 600; seed += static_cast<unsigned>(each)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Mapped type = random_type(random, 4);
    if (type.map.empty() || type.map.size() > 2000) continue;
    ++tried;
    expect_described(type);
    if (HasFailure()) break;
  }
  EXPECT_GT(tried, 300 / each);
}

TEST(ElementType, HashesAreAlikeForTypesMadeAlikeOnly) {
  const auto first = cases();
  const auto second = cases();
  std::set<std::uint64_t> hashes;
  for (std::size_t i = 0; i < first.size(); ++i) {
    SCOPED_TRACE(first[i].name);
    const std::uint64_t hash = element(first[i].type).hash();
    EXPECT_EQ(element(second[i].type).hash(), hash);
    EXPECT_EQ(element(dup(first[i].type)).hash(), hash);
    EXPECT_TRUE(hashes.insert(hash).second || first[i].name == "dup");
  }
  EXPECT_NE(element(named(MPI_INT)).hash(), element(named(MPI_FLOAT)).hash());
  EXPECT_NE(element(contiguous(2, named(MPI_INT))).hash(), element(contiguous(3, named(MPI_INT))).hash());
}

TEST(ElementType, PlainBytes) {
  const ElementType none;
  EXPECT_EQ(none.bytes(), 0U);
  EXPECT_TRUE(none.description().empty());
  none.pack(nullptr, 0, 5, nullptr);
  EXPECT_EQ(ElementType::plain(0).bytes(), 0U);
  const ElementType plain = ElementType::plain(3);
  EXPECT_EQ(plain.bytes(), 3U);
  EXPECT_EQ(plain.handle(), MPI_DATATYPE_NULL);
  EXPECT_TRUE(plain.contiguous());
  Mapped three = contiguous(3, named(MPI_BYTE));
  expect_packs(plain, three, 0, 4);
  expect_packs(plain, three, 2, 3);
  const ElementType like = ElementType::from_description(plain.description());
  EXPECT_EQ(like.bytes(), 3U);
  EXPECT_EQ(like.handle(), MPI_DATATYPE_NULL);
  EXPECT_EQ(like.hash(), plain.hash());
  EXPECT_NE(ElementType::plain(4).hash(), plain.hash());
}

TEST(ElementType, BytesOfABuffer) {
  const ElementType words = ElementType::plain(4);
  EXPECT_EQ(words.buffer_bytes(0), 0U);
  EXPECT_EQ(words.buffer_bytes(10), 40U);
  EXPECT_EQ(words.buffer_bytes(~std::uint64_t{0}), std::nullopt);
  MPI_Datatype columns = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 3, MPI_INT, &columns);
  MPI_Type_commit(&columns);
  MPI_Datatype later = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(columns, 0, 64, &later);
  MPI_Type_commit(&later);
  MPI_Datatype before = MPI_DATATYPE_NULL;
  const int one = 1;
  const MPI_Aint place = -4;
  MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &before);
  MPI_Type_commit(&before);
  EXPECT_EQ(ElementType(columns).buffer_bytes(2), 80U);
  EXPECT_EQ(ElementType(later).buffer_bytes(2), 128U);
  EXPECT_EQ(ElementType(before).buffer_bytes(2), std::nullopt);
  for (MPI_Datatype* each : {&columns, &later, &before}) MPI_Type_free(each);
}

TEST(ElementType, NothingToPack) {
  const ElementType strided = element(vector(3, 2, 4, named(MPI_INT)));
  const ElementType dense = element(named(MPI_INT));
  for (const ElementType* type : {&strided, &dense}) {
    type->pack(nullptr, 0, 0, nullptr);
    type->unpack(nullptr, 0, 0, nullptr);
  }
}

TEST(ElementType, OutlivesTheTypeItWasMadeOf) {
  const Mapped expected = vector(3, 2, 4, structure({1, 1}, {0, 8}, {named(MPI_INT), named(MPI_DOUBLE)}));
  const int before = free_number();
  {
    Mapped type = vector(3, 2, 4, structure({1, 1}, {0, 8}, {named(MPI_INT), named(MPI_DOUBLE)}));
    MPI_Datatype committed = type.get();
    MPI_Type_commit(&committed);
    ElementType kept(committed);
    type = named(MPI_INT);
    // Other types take the places of what was freed.
    const Mapped others[] = {contiguous(3, named(MPI_INT)), resized(0, 99, named(MPI_INT)), dup(named(MPI_CHAR))};
    expect_is(kept, expected);
    const ElementType moved = std::move(kept);
    expect_is(moved, expected);
    expect_is(ElementType::from_description(moved.description()), expected);
  }
  EXPECT_EQ(free_number(), before);
}

TEST(ElementType, LeavesNoTypesBehind) {
  const auto all = cases();
  const int before = free_number();
  for (const Case& each : all) {
    SCOPED_TRACE(each.name);
    { const ElementType like = ElementType::from_description(element(each.type).description()); }
    EXPECT_EQ(free_number(), before);
  }
}

TEST(LargeElements, MoreThanTwoGiB) {
  constexpr std::size_t kCount = (std::size_t{1} << 20) + 1;
  constexpr std::size_t kBytes = 2048;
  constexpr std::size_t kExtent = 2500;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "too slow with sanitizers";
#endif
  if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < 8 * (1L << 30)) GTEST_SKIP() << "too little memory";
  const ElementType type = element(resized(0, kExtent, contiguous(kBytes, named(MPI_BYTE))));
  // Each element begins and ends with its number.
  const auto number_at = [](const std::vector<std::byte>& bytes, std::size_t place) {
    std::size_t number = 0;
    std::memcpy(&number, &bytes[place], sizeof(number));
    return number;
  };
  std::vector<std::byte> buffer(kExtent * kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    std::memcpy(&buffer[i * kExtent], &i, sizeof(i));
    std::memcpy(&buffer[i * kExtent + kBytes - sizeof(i)], &i, sizeof(i));
  }
  std::vector<std::byte> packed(kBytes * kCount);
  type.pack(buffer.data(), 0, kCount, packed.data());
  std::memset(buffer.data(), static_cast<int>(kGuard), buffer.size());
  type.unpack(packed.data(), 0, kCount, buffer.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    wrong += number_at(packed, i * kBytes) != i || number_at(packed, (i + 1) * kBytes - sizeof(i)) != i ? 1 : 0;
    wrong += number_at(buffer, i * kExtent) != i || number_at(buffer, i * kExtent + kBytes - sizeof(i)) != i ? 1 : 0;
    wrong += buffer[i * kExtent + kBytes] != kGuard || buffer[(i + 1) * kExtent - 1] != kGuard ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U);
}

// A vector of doubles, without the map of its bytes.
TypeHandle large_vector(int count, int length, int stride) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return {type, true};
}

TEST(ElementType, LargeElements) {
  MPI_Datatype dense = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(500 << 20, MPI_DOUBLE, &dense);
  const TypeHandle owned(dense, true);
  const ElementType large(committed_duplicate(dense).get());
  EXPECT_EQ(large.bytes(), 4000U << 20);
  EXPECT_TRUE(large.contiguous());
  EXPECT_EQ(code_of_type(large_vector(1 << 20, 512, 512).get()), FENIX_ERROR_INVALID_ARGUMENT);
  const ElementType strided(large_vector(1 << 20, 500, 501).get());
  EXPECT_EQ(strided.bytes(), 4000U << 20);
  EXPECT_FALSE(strided.contiguous());
}

TEST(ElementType, RefusesTypesThatAreOfNoUse) {
  EXPECT_EQ(code_of_type(MPI_DATATYPE_NULL), FENIX_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(code_of_type(contiguous(2, named(MPI_INT)).get()), FENIX_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(code_of_type(committed_duplicate(contiguous(0, named(MPI_INT)).get()).get()), FENIX_ERROR_INVALID_ARGUMENT);
  // Open MPI steps forward there.
  EXPECT_EQ(code_of_type(committed_duplicate(vector(4, 1, -1, named(MPI_BYTE)).get()).get()),
            FENIX_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(code_of_type(committed_duplicate(hvector(4, 1, -1, named(MPI_INT)).get()).get()),
            FENIX_ERROR_INVALID_ARGUMENT);
  const Mapped empty = structure({0}, {0}, {named(MPI_INT)});
  EXPECT_EQ(code_of_type(committed_duplicate(empty.get()).get()), FENIX_ERROR_INVALID_ARGUMENT);
}

Mapped nested(int depth) {
  Mapped type = named(MPI_INT);
  for (int i = 0; i < depth; ++i) type = contiguous(1, type);
  return type;
}

TEST(ElementType, NestingHasAnEnd) {
  EXPECT_EQ(code_of_type(committed_duplicate(nested(60).get()).get()), FENIX_SUCCESS);
  EXPECT_EQ(code_of_type(committed_duplicate(nested(100).get()).get()), FENIX_ERROR_INVALID_ARGUMENT);
  // Each level writes the one below twice: small for MPI, without end when written out.
  Mapped type = named(MPI_INT);
  for (int i = 0; i < 40; ++i) type = structure({1, 0}, {0, 0}, {type, type});
  EXPECT_EQ(code_of_type(committed_duplicate(type.get()).get()), FENIX_ERROR_INVALID_ARGUMENT);
}

// A type, or an error that says what is wrong. A type can be asked for everything.
bool survives(std::span<const std::byte> description) {
  try {
    const ElementType type = ElementType::from_description(description);
    EXPECT_GT(type.bytes(), 0U);
    EXPECT_EQ(type.description().size(), description.size());
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FENIX_ERROR_INTERN) << error.what();
    return false;
  }
}

TEST(Description, CutShortAnywhere) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    auto description = element(each.type).description();
    for (std::size_t length = 0; length < description.size(); ++length) {
      // In a place of its own: address sanitizer sees what reads beyond.
      const std::vector<std::byte> cut(description.begin(), description.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_FALSE(survives(cut)) << length;
    }
    description.push_back(std::byte{0});
    EXPECT_FALSE(survives(description));
  }
}

TEST(Description, AnyByteDamaged) {
  int refused = 0;
  int accepted = 0;
  const int before = free_number();
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const auto description = element(each.type).description();
    for (std::size_t place = 0; place < description.size(); ++place) {
      for (const unsigned flip : {0xffU, 0x01U, 0x02U, 0x10U, 0x80U, 0x7fU}) {
        auto damaged = description;
        damaged[place] ^= static_cast<std::byte>(flip);
        ++(survives(damaged) ? accepted : refused);
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 1000);
  EXPECT_EQ(free_number(), before);
}

// Replaces some of the description's numbers by ones that tend to hurt.
TEST(Description, NumbersThatHurt) {
  const std::int32_t bad[] = {
      0, 1, 2, 3, 5, -1, 64, 65535, 65536, 1 << 30, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
  std::mt19937_64 random(1);
  int accepted = 0;
  const int before = free_number();
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const auto description = element(each.type).description();
    for (int round = 0; round < 500; ++round) {
      auto damaged = description;
      for (std::uint64_t change = 0; change <= random() % 3; ++change) {
        const std::size_t place = random() % (damaged.size() / 4) * 4;
        std::memcpy(&damaged[place], &bad[random() % std::size(bad)], 4);
      }
      accepted += survives(damaged) ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_EQ(free_number(), before);
}

TEST(Description, RandomBytes) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(random() % 200);
    // Small numbers get further.
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 4 == 0 ? random() % 20 : 0);
    survives(bytes);
  }
}

// Open MPI multiplies count and block length of a contiguous hvector as ints, so this type has 256 KiB instead of 8 GiB.
TEST(Description, SizeThatMpiGetsWrong) {
  MPI_Datatype overflown = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(65538, 65536, 131072, MPI_SHORT, &overflown);
  const TypeHandle owned(overflown, true);
  EXPECT_EQ(code_of([&] { (void)build_type(describe_type(overflown)); }), FENIX_ERROR_INTERN);
  EXPECT_EQ(code_of_type(committed_duplicate(overflown).get()), FENIX_ERROR_INVALID_ARGUMENT);
}

std::vector<std::byte> words(const std::vector<std::int32_t>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

TEST(Description, BombsAreRefused) {
  // 10 blocks of 10 blocks of …, with gaps: each level makes MPI's list ten times as long.
  std::vector<std::int32_t> bomb;
  for (int level = 0; level < 20; ++level) {
    bomb.insert(bomb.end(), {MPI_COMBINER_INDEXED_BLOCK, 12, 0, 1, 10, 1, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18});
  }
  bomb.insert(bomb.end(), {MPI_COMBINER_NAMED, 1, 0, 0, MPI_Type_c2f(MPI_BYTE)});
  EXPECT_FALSE(survives(words(bomb)));
  std::vector<std::int32_t> deep;
  for (int level = 0; level < 1000000; ++level) deep.insert(deep.end(), {MPI_COMBINER_CONTIGUOUS, 1, 0, 1, 1});
  EXPECT_FALSE(survives(words(deep)));
  // Sizes whose product is 2^64 times 4.
  std::vector<std::int32_t> wide;
  for (int level = 0; level < 4; ++level) wide.insert(wide.end(), {MPI_COMBINER_CONTIGUOUS, 1, 0, 1, 1 << 16});
  wide.insert(wide.end(), {MPI_COMBINER_NAMED, 1, 0, 0, MPI_Type_c2f(MPI_INT)});
  EXPECT_FALSE(survives(words(wide)));
  // Handles of types that users have made are none of named types.
  const Mapped made = contiguous(2, named(MPI_INT));
  for (int handle = MPI_Type_c2f(made.get()); handle < 1000; ++handle) {
    EXPECT_FALSE(survives(words({MPI_COMBINER_NAMED, 1, 0, 0, handle})));
  }
}

class Mpi : public testing::Environment {
 public:
  // Errors stay fatal here: the code under test must not count on another handler.
  void SetUp() override {
    // A process that was not started by mpirun leaves its segment in /dev/shm behind: it needs none.
    setenv("OMPI_MCA_btl", "self", 1);
    MPI_Init(nullptr, nullptr);
  }
  void TearDown() override { MPI_Finalize(); }
};

}  // namespace
}  // namespace fenix_impl

// A process by itself: needs no mpirun.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new fenix_impl::Mpi);
  return RUN_ALL_TESTS();
}
