// SPDX-License-Identifier: BSD-3-Clause
//
// A type is described by these fields, in this order:
//   int32 combiner, uint32 number of ints, uint32 number of addresses, uint32 number of types,
//   the ints (int32), the addresses (int64), the descriptions of the types.
// A named type has one int, its Fortran handle. Duplicates are left out.
#include "rma/type_description.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kLongest = std::size_t{16} << 20;
// Open MPI keeps a type as a list, in which an inner type may be repeated: nesting could make it grow without limit.
constexpr double kMostPieces = 1 << 22;
// Sizes and displacements are kept so small that no sum or product of them overflows inside MPI.
constexpr double kFarthest = 0x1p61;

using Header = std::array<std::uint32_t, 4>;

Error not_described(const std::string& why) {
  return {FENIX_ERROR_INVALID_ARGUMENT, "a datatype cannot be described: " + why};
}
Error no_description(const std::string& why) {
  return {FENIX_ERROR_INTERN, "the description of a datatype is damaged: " + why};
}

bool is_f90(int combiner) {
  return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

bool is_known(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
    case MPI_COMBINER_RESIZED:
      return true;
    default:
      return is_f90(combiner);
  }
}

struct Envelope {
  int ints = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope all;
  check_mpi(MPI_Type_get_envelope(type, &all.ints, &all.addresses, &all.types, &all.combiner), "MPI_Type_get_envelope");
  return all;
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  if (bytes.size() > kLongest - out.size()) throw not_described("it has too many parts");
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void describe(MPI_Datatype type, int depth, std::vector<std::byte>& out) {
  if (depth > kDeepest) throw not_described("it is nested too deeply");
  TypeContents contents = contents_of(type);
  if (contents.combiner == MPI_COMBINER_DUP) return describe(contents.types.at(0).get(), depth + 1, out);
  if (!is_known(contents.combiner)) throw not_described("combiner " + std::to_string(contents.combiner));
  if (contents.combiner == MPI_COMBINER_NAMED) contents.ints = {MPI_Type_c2f(type)};
  const Header header{static_cast<std::uint32_t>(contents.combiner), static_cast<std::uint32_t>(contents.ints.size()),
                      static_cast<std::uint32_t>(contents.addresses.size()),
                      static_cast<std::uint32_t>(contents.types.size())};
  append(out, std::as_bytes(std::span(header)));
  append(out, std::as_bytes(std::span(contents.ints)));
  append(out, std::as_bytes(std::span(contents.addresses)));
  for (const TypeHandle& inner : contents.types) describe(inner.get(), depth + 1, out);
}

// A type that was built, and how long MPI's list of its pieces can be at most.
struct Built {
  TypeHandle type;
  SharedLayout layout;
  double pieces = 1;
};

struct Node {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> ints;
  std::vector<MPI_Aint> addresses;
  std::vector<Built> types;

  [[nodiscard]] std::size_t number(std::size_t index) const { return static_cast<std::size_t>(ints.at(index)); }
  [[nodiscard]] std::span<const int> some(std::size_t first, std::size_t count) const {
    return std::span(ints).subspan(first, count);
  }
};

bool none_below(std::span<const int> numbers, int least) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int number) { return number >= least; });
}

// Are there as many ints, addresses and types as the combiner has?
bool numbers_fit(const Node& node) {
  const auto has = [&](std::size_t ints, std::size_t addresses, std::size_t types) {
    return node.ints.size() == ints && node.addresses.size() == addresses && node.types.size() == types;
  };
  if (node.combiner == MPI_COMBINER_RESIZED) return has(0, 2, 1);
  if (node.combiner == MPI_COMBINER_F90_INTEGER) return has(1, 0, 0);
  if (is_f90(node.combiner)) return has(2, 0, 0);
  if (node.ints.empty() || node.ints[0] < 0) return false;
  const std::size_t count = node.number(0);
  switch (node.combiner) {
    case MPI_COMBINER_NAMED:
      return has(1, 0, 0);
    case MPI_COMBINER_CONTIGUOUS:
      return has(1, 0, 1);
    case MPI_COMBINER_VECTOR:
      return has(3, 0, 1);
    case MPI_COMBINER_HVECTOR:
      return has(2, 1, 1);
    case MPI_COMBINER_INDEXED:
      return has(2 * count + 1, 0, 1);
    case MPI_COMBINER_HINDEXED:
      return has(count + 1, count, 1);
    case MPI_COMBINER_INDEXED_BLOCK:
      return has(count + 2, 0, 1);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return has(2, count, 1);
    case MPI_COMBINER_STRUCT:
      return has(count + 1, count, count);
    case MPI_COMBINER_SUBARRAY:
      return has(3 * count + 2, 0, 1);
    case MPI_COMBINER_DARRAY:
      return node.ints.size() > 2 && node.ints[2] >= 0 && has(4 * node.number(2) + 4, 0, 1);
    default:
      return false;
  }
}

bool is_order(int order) { return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN; }

bool subarray_fits(const Node& node) {
  const std::size_t dimensions = node.number(0);
  if (dimensions == 0 || !is_order(node.ints.back())) return false;
  for (std::size_t dimension = 1; dimension <= dimensions; ++dimension) {
    const int whole = node.ints[dimension];
    const int part = node.ints[dimension + dimensions];
    const int start = node.ints[dimension + 2 * dimensions];
    if (part < 1 || part > whole || start < 0 || start > whole - part) return false;
  }
  return true;
}

// Open MPI computes with these in ints.
bool share_fits(int whole, int distribution, int argument, int processes) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (whole < 1 || processes < 1 || std::int64_t{whole} + processes > most) return false;
  if (distribution == MPI_DISTRIBUTE_NONE) return processes == 1;
  if (distribution != MPI_DISTRIBUTE_BLOCK && distribution != MPI_DISTRIBUTE_CYCLIC) return false;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) return true;
  if (argument < 1) return false;
  const std::int64_t round = std::int64_t{argument} * processes;
  return round <= most && (distribution == MPI_DISTRIBUTE_CYCLIC || round >= whole);
}

bool darray_fits(const Node& node) {
  const std::size_t dimensions = node.number(2);
  const int size = node.ints[0];
  const int rank = node.ints[1];
  if (dimensions == 0 || rank < 0 || rank >= size || !is_order(node.ints.back())) return false;
  std::int64_t processes = 1;
  for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
    const auto at = [&](std::size_t row) { return node.ints[3 + row * dimensions + dimension]; };
    if (!share_fits(at(0), at(1), at(2), at(3))) return false;
    processes *= at(3);
    if (processes > size) return false;
  }
  return processes == size;
}

// Are the values such that MPI can make a type of them? It does not notice all that are not.
bool values_fit(const Node& node) {
  switch (node.combiner) {
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return node.ints[1] >= 0;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      return none_below(node.some(1, node.number(0)), 0);
    case MPI_COMBINER_SUBARRAY:
      return subarray_fits(node);
    case MPI_COMBINER_DARRAY:
      return darray_fits(node);
    default:
      return true;
  }
}

// How large a type becomes, before it is made. Limits are rough: doubles do not overflow.
class Growth {
 public:
  explicit Growth(const Built& inner) { of(inner); }
  Growth() = default;

  void of(const Built& inner) {
    const TypeBounds bounds = bounds_of(inner.type.get());
    size_ = static_cast<double>(bounds.size);
    extent_ = std::abs(static_cast<double>(bounds.extent));
    inner_reach_ = std::abs(static_cast<double>(bounds.lower)) + extent_ +
                   std::abs(static_cast<double>(bounds.true_lower)) + static_cast<double>(bounds.true_extent);
    // Open MPI gives some empty types the largest bounds there are.
    if (bounds.size == 0) inner_reach_ = 0;
    inner_pieces_ = inner.pieces;
  }
  // A block of inner types at a displacement in bytes.
  void add(double displacement, double count) {
    total_ += count * size_;
    pieces_ += inner_pieces_ + 4;
    reach_ = std::max(reach_, std::abs(displacement) + count * extent_ + inner_reach_);
  }
  void add_elements(double displacement, double count) { add(displacement * extent_, count); }
  void add_dimensions(std::size_t dimensions, double factor) {
    pieces_ = (pieces_ + 8) * std::pow(factor, static_cast<double>(dimensions)) + 8 * static_cast<double>(dimensions);
  }
  // Returns the number of pieces. Written such that it also throws if one is no number.
  [[nodiscard]] double check() const {
    if (!(total_ <= kFarthest && reach_ <= kFarthest)) throw no_description("it is too large");
    if (!(pieces_ <= kMostPieces)) throw no_description("it has too many parts");
    return pieces_;
  }

 private:
  double size_ = 0;
  double extent_ = 0;
  double inner_reach_ = 0;
  double inner_pieces_ = 0;
  double total_ = 0;
  double pieces_ = 1;
  double reach_ = 0;
};

double product(std::span<const int> numbers) {
  double all = 1;
  for (const int number : numbers) all *= number;
  return all;
}

void add_struct(const Node& node, Growth& growth) {
  for (std::size_t block = 0; block < node.types.size(); ++block) {
    growth.of(node.types[block]);
    growth.add(static_cast<double>(node.addresses[block]), node.ints[block + 1]);
  }
}

// INDEXED, HINDEXED, INDEXED_BLOCK, HINDEXED_BLOCK
void add_blocks(const Node& node, Growth& growth) {
  const std::size_t count = node.number(0);
  const bool alike = node.combiner == MPI_COMBINER_INDEXED_BLOCK || node.combiner == MPI_COMBINER_HINDEXED_BLOCK;
  for (std::size_t block = 0; block < count; ++block) {
    const double length = alike ? node.ints[1] : node.ints[1 + block];
    if (node.addresses.empty()) {
      growth.add_elements(node.ints[(alike ? 2 : 1 + count) + block], length);
    } else {
      growth.add(static_cast<double>(node.addresses[block]), length);
    }
  }
}

void add_array(const Node& node, Growth& growth) {
  const bool distributed = node.combiner == MPI_COMBINER_DARRAY;
  const std::size_t dimensions = node.number(distributed ? 2 : 0);
  growth.add(0, product(node.some(distributed ? 3 : 1, dimensions)));
  // A last block that is shorter repeats the inner type once more in each dimension.
  growth.add_dimensions(dimensions, distributed ? 2 : 1);
}

// Open MPI takes this stride, in bytes, for "none given", and goes forward.
bool steps_back_one_byte(const Node& node) {
  if (node.combiner == MPI_COMBINER_HVECTOR) return node.ints[0] > 1 && node.addresses[0] == -1;
  if (node.combiner != MPI_COMBINER_VECTOR || node.ints[0] < 2) return false;
  const MPI_Aint extent = bounds_of(node.types[0].type.get()).extent;
  return (extent == 1 && node.ints[2] == -1) || (extent == -1 && node.ints[2] == 1);
}

double pieces_of(const Node& node) {
  if (node.combiner == MPI_COMBINER_STRUCT) {
    Growth growth;
    add_struct(node, growth);
    return growth.check();
  }
  Growth growth(node.types.at(0));
  switch (node.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      growth.add(0, node.ints[0]);
      break;
    case MPI_COMBINER_VECTOR:
      growth.add_elements(static_cast<double>(node.ints[0]) * node.ints[2],
                          static_cast<double>(node.ints[0]) * node.ints[1]);
      break;
    case MPI_COMBINER_HVECTOR:
      growth.add(static_cast<double>(node.ints[0]) * static_cast<double>(node.addresses[0]),
                 static_cast<double>(node.ints[0]) * node.ints[1]);
      break;
    case MPI_COMBINER_RESIZED:
      growth.add(std::abs(static_cast<double>(node.addresses[0])) + std::abs(static_cast<double>(node.addresses[1])),
                 1);
      break;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
      add_array(node, growth);
      break;
    default:
      add_blocks(node, growth);
  }
  return growth.check();
}

Built basic(MPI_Datatype type) {
  const TypeBounds bounds = bounds_of(type);
  return {TypeHandle(type, false),
          named_layout(static_cast<std::uint64_t>(bounds.size), static_cast<std::uint64_t>(bounds.extent))};
}

Built named(int fortran_handle) {
  MPI_Datatype type = MPI_Type_f2c(fortran_handle);
  if (type == nullptr || type == MPI_DATATYPE_NULL || envelope_of(type).combiner != MPI_COMBINER_NAMED) {
    throw no_description("no named type has the handle " + std::to_string(fortran_handle));
  }
  return basic(type);
}

Built f90(const Node& node) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (node.combiner == MPI_COMBINER_F90_INTEGER) {
    check_mpi(MPI_Type_create_f90_integer(node.ints[0], &type), "MPI_Type_create_f90_integer");
  } else if (node.combiner == MPI_COMBINER_F90_REAL) {
    check_mpi(MPI_Type_create_f90_real(node.ints[0], node.ints[1], &type), "MPI_Type_create_f90_real");
  } else {
    check_mpi(MPI_Type_create_f90_complex(node.ints[0], node.ints[1], &type), "MPI_Type_create_f90_complex");
  }
  return basic(type);
}

// The call of MPI for all but structs, arrays and basic types.
int create_blocks(const Node& node, MPI_Datatype* made) {
  MPI_Datatype inner = node.types[0].type.get();
  const int* ints = node.ints.data();
  const MPI_Aint* addresses = node.addresses.data();
  switch (node.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      return MPI_Type_contiguous(ints[0], inner, made);
    case MPI_COMBINER_VECTOR:
      return MPI_Type_vector(ints[0], ints[1], ints[2], inner, made);
    case MPI_COMBINER_HVECTOR:
      return MPI_Type_create_hvector(ints[0], ints[1], addresses[0], inner, made);
    case MPI_COMBINER_INDEXED:
      return MPI_Type_indexed(ints[0], ints + 1, ints + 1 + ints[0], inner, made);
    case MPI_COMBINER_HINDEXED:
      return MPI_Type_create_hindexed(ints[0], ints + 1, addresses, inner, made);
    case MPI_COMBINER_INDEXED_BLOCK:
      return MPI_Type_create_indexed_block(ints[0], ints[1], ints + 2, inner, made);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return MPI_Type_create_hindexed_block(ints[0], ints[1], addresses, inner, made);
    default:
      return MPI_Type_create_resized(inner, addresses[0], addresses[1], made);
  }
}

int create_struct(const Node& node, MPI_Datatype* made) {
  std::vector<MPI_Datatype> types;
  for (const Built& inner : node.types) types.push_back(inner.type.get());
  return MPI_Type_create_struct(node.ints[0], node.ints.data() + 1, node.addresses.data(), types.data(), made);
}

int create_array(const Node& node, MPI_Datatype* made) {
  MPI_Datatype inner = node.types[0].type.get();
  const bool distributed = node.combiner == MPI_COMBINER_DARRAY;
  const int dimensions = node.ints[distributed ? 2 : 0];
  const int* first = node.ints.data() + (distributed ? 3 : 1);
  const auto row = [&](std::ptrdiff_t number) { return first + number * dimensions; };
  if (!distributed) return MPI_Type_create_subarray(dimensions, row(0), row(1), row(2), node.ints.back(), inner, made);
  return MPI_Type_create_darray(node.ints[0], node.ints[1], dimensions, row(0), row(1), row(2), row(3),
                                node.ints.back(), inner, made);
}

Built create(const Node& node) {
  if (!numbers_fit(node) || !values_fit(node)) throw no_description("its numbers do not fit together");
  if (node.combiner == MPI_COMBINER_NAMED) return named(node.ints[0]);
  if (is_f90(node.combiner)) return f90(node);
  if (steps_back_one_byte(node)) throw no_description("Open MPI cannot handle a stride of -1 byte");
  const double pieces = pieces_of(node);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (node.combiner == MPI_COMBINER_STRUCT) {
    check_mpi(create_struct(node, &type), "MPI_Type_create_struct");
  } else if (node.combiner == MPI_COMBINER_SUBARRAY || node.combiner == MPI_COMBINER_DARRAY) {
    check_mpi(create_array(node, &type), "making the type of an array");
  } else {
    check_mpi(create_blocks(node, &type), "making a datatype");
  }
  return {TypeHandle(type, true), nullptr, pieces};
}

std::uint64_t length(int number) { return static_cast<std::uint64_t>(number); }

// VECTOR, HVECTOR
void lay_out_vector(const Node& node, MPI_Aint extent, TypeLayout& layout) {
  if (node.ints[0] == 0 || node.ints[1] == 0) return;
  const auto block = std::make_shared<TypeLayout>();
  block->add(0, length(node.ints[1]), extent, node.types[0].layout);
  const MPI_Aint stride = node.combiner == MPI_COMBINER_VECTOR ? node.ints[2] * extent : node.addresses[0];
  layout.add(0, length(node.ints[0]), stride, block);
}

// INDEXED, HINDEXED, INDEXED_BLOCK, HINDEXED_BLOCK
void lay_out_blocks(const Node& node, MPI_Aint extent, TypeLayout& layout) {
  const std::size_t count = node.number(0);
  const bool alike = node.combiner == MPI_COMBINER_INDEXED_BLOCK || node.combiner == MPI_COMBINER_HINDEXED_BLOCK;
  for (std::size_t block = 0; block < count; ++block) {
    const MPI_Aint offset =
        node.addresses.empty() ? node.ints[(alike ? 2 : 1 + count) + block] * extent : node.addresses[block];
    layout.add(offset, length(node.ints[alike ? 1 : 1 + block]), extent, node.types[0].layout);
  }
}

void lay_out_struct(const Node& node, TypeLayout& layout) {
  for (std::size_t block = 0; block < node.types.size(); ++block) {
    const Built& inner = node.types[block];
    if (inner.layout->bytes() == 0) continue;
    layout.add(node.addresses[block], length(node.ints[block + 1]), bounds_of(inner.type.get()).extent, inner.layout);
  }
}

Chosen share(std::int64_t whole, int distribution, std::int64_t block, std::int64_t processes, std::int64_t process) {
  if (distribution == MPI_DISTRIBUTE_NONE) return {whole, 0, whole, whole, whole};
  const bool cyclic = distribution == MPI_DISTRIBUTE_CYCLIC;
  if (block == MPI_DISTRIBUTE_DFLT_DARG) block = cyclic ? 1 : (whole + processes - 1) / processes;
  const std::int64_t first = process * block;
  return {whole, first, block, block * processes, cyclic ? whole : std::min(whole, first + block)};
}

// SUBARRAY, DARRAY
SharedLayout array_of(const Node& node, MPI_Aint extent) {
  const bool distributed = node.combiner == MPI_COMBINER_DARRAY;
  const std::size_t count = node.number(distributed ? 2 : 0);
  std::vector<Chosen> dimensions(count);
  std::int64_t rank = distributed ? node.ints[1] : 0;
  for (std::size_t dimension = count; dimension-- > 0;) {
    const auto at = [&](std::size_t row) { return node.ints[(distributed ? 3 : 1) + row * count + dimension]; };
    if (distributed) {
      dimensions[dimension] = share(at(0), at(1), at(2), at(3), rank % at(3));
      rank /= at(3);
    } else {
      dimensions[dimension] = {at(0), at(2), at(1), at(0), at(2) + at(1)};
    }
  }
  if (node.ints.back() == MPI_ORDER_C) std::reverse(dimensions.begin(), dimensions.end());
  return array_layout(dimensions, extent, node.types[0].layout);
}

// For numbers that have been checked: nothing overflows.
SharedLayout lay_out(const Node& node) {
  auto layout = std::make_shared<TypeLayout>();
  if (node.combiner == MPI_COMBINER_STRUCT) {
    lay_out_struct(node, *layout);
    return layout;
  }
  const Built& inner = node.types[0];
  // Open MPI gives some empty types bounds without sense.
  if (inner.layout->bytes() == 0 || node.combiner == MPI_COMBINER_RESIZED) return inner.layout;
  const MPI_Aint extent = bounds_of(inner.type.get()).extent;
  switch (node.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      layout->add(0, length(node.ints[0]), extent, inner.layout);
      return layout;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      lay_out_vector(node, extent, *layout);
      return layout;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
      return array_of(node, extent);
    default:
      lay_out_blocks(node, extent, *layout);
      return layout;
  }
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  Built type(int depth) {
    if (depth > kDeepest) throw no_description("it is nested too deeply");
    Header header{};
    read(std::as_writable_bytes(std::span(header)));
    const std::uint64_t least = header[1] * sizeof(int) + header[2] * sizeof(MPI_Aint) + header[3] * sizeof(Header);
    if (rest_.size() < least) throw no_description("it ends early");
    Node node;
    node.combiner = static_cast<int>(header[0]);
    node.ints.resize(header[1]);
    node.addresses.resize(header[2]);
    read(std::as_writable_bytes(std::span(node.ints)));
    read(std::as_writable_bytes(std::span(node.addresses)));
    for (std::uint32_t inner = 0; inner < header[3]; ++inner) node.types.push_back(type(depth + 1));
    Built built = create(node);
    if (!built.layout) built.layout = lay_out(node);
    // Open MPI computes count * blocklength of a contiguous hvector as an int, which may overflow.
    if (built.layout->bytes() != static_cast<std::uint64_t>(bounds_of(built.type.get()).size)) {
      throw no_description("Open MPI gives it another size than its parts have");
    }
    return built;
  }

 private:
  void read(std::span<std::byte> out) {
    if (out.size() > rest_.size()) throw no_description("it ends early");
    std::copy_n(rest_.begin(), out.size(), out.begin());
    rest_ = rest_.subspan(out.size());
  }

  std::span<const std::byte> rest_;
};

}  // namespace

TypeHandle::~TypeHandle() {
  int finalized = 0;
  if (!owned_ || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;
  MPI_Type_free(&type_);
}

TypeBounds bounds_of(MPI_Datatype type) {
  TypeBounds all;
  check_mpi(MPI_Type_size_x(type, &all.size), "MPI_Type_size_x");
  check_mpi(MPI_Type_get_extent(type, &all.lower, &all.extent), "MPI_Type_get_extent");
  check_mpi(MPI_Type_get_true_extent(type, &all.true_lower, &all.true_extent), "MPI_Type_get_true_extent");
  return all;
}

TypeHandle committed_duplicate(MPI_Datatype type) {
  MPI_Datatype duplicate = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_dup(type, &duplicate), "MPI_Type_dup");
  TypeHandle handle(duplicate, true);
  check_mpi(MPI_Type_commit(&duplicate), "MPI_Type_commit");
  return handle;
}

TypeContents contents_of(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  TypeContents contents;
  contents.combiner = envelope.combiner;
  if (envelope.combiner == MPI_COMBINER_NAMED) return contents;
  contents.ints.resize(static_cast<std::size_t>(envelope.ints));
  contents.addresses.resize(static_cast<std::size_t>(envelope.addresses));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(envelope.types));
  check_mpi(MPI_Type_get_contents(type, envelope.ints, envelope.addresses, envelope.types, contents.ints.data(),
                                  contents.addresses.data(), types.data()),
            "MPI_Type_get_contents");
  for (MPI_Datatype inner : types) {
    const int combiner = envelope_of(inner).combiner;
    contents.types.emplace_back(inner, combiner != MPI_COMBINER_NAMED && !is_f90(combiner));
  }
  return contents;
}

std::vector<std::byte> describe_type(MPI_Datatype type) {
  const QuietTypes quiet;
  std::vector<std::byte> description;
  describe(type, 0, description);
  return description;
}

BuiltType build_type(std::span<const std::byte> description) try {
  const QuietTypes quiet;
  Reader reader(description);
  Built built = reader.type(0);
  if (!reader.at_end()) throw no_description("it goes on after its end");
  return {std::move(built.type), std::move(built.layout)};
} catch (const MpiError& error) {
  throw no_description(error.what());
}

}  // namespace fenix_impl
