// SPDX-License-Identifier: BSD-3-Clause
#include "services/mpi_entry.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/of_thread.hpp"
#include "interposition/job_end.hpp"
#include "recovery/process/comm_functions.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {

constinit thread_local MessageTypes::Latest MessageTypes::latest_;

namespace {

/// Counts types of the program that have ended: a handle may be that of another type afterwards.
constinit std::atomic<unsigned> ended_types{0};

/// Descriptions of types that the program has made. MPI tells of the end of a type by an attribute: its handle may become that of another one.
class MadeTypes {
 public:
  /// Returns null if there is none.
  [[nodiscard]] const ElementType* find(MPI_Datatype type) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(type);
    return found != known_.end() ? found->second.get() : nullptr;
  }
  /// Keeps a description. Returns null if MPI does not take the attribute.
  [[nodiscard]] const ElementType* keep(MPI_Datatype type, std::unique_ptr<ElementType> described) {
    const std::lock_guard lock(mutex_);
    ended_.clear();
    const bool has_keyval = keyval_ != MPI_KEYVAL_INVALID ||
                            MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval_, this) == MPI_SUCCESS;
    if (!has_keyval || MPI_Type_set_attr(type, keyval_, this) != MPI_SUCCESS) return nullptr;
    return (known_[type] = std::move(described)).get();
  }

 private:
  // A description has a type of its own, and MPI is in the middle of freeing one.
  static int forget(MPI_Datatype type, int /*keyval*/, void* /*value*/, void* all) {
    auto& self = *static_cast<MadeTypes*>(all);
    ended_types.fetch_add(1, std::memory_order_acq_rel);
    const std::lock_guard lock(self.mutex_);
    const auto found = self.known_.find(type);
    if (found == self.known_.end()) return MPI_SUCCESS;
    self.ended_.push_back(std::move(found->second));
    self.known_.erase(found);
    return MPI_SUCCESS;
  }

  std::mutex mutex_;
  int keyval_ = MPI_KEYVAL_INVALID;
  std::unordered_map<MPI_Datatype, std::unique_ptr<ElementType>> known_;
  std::vector<std::unique_ptr<ElementType>> ended_;
};

// Never destroyed: MPI may free types when the process ends.
MadeTypes& made_types() {
  static auto* instance = new MadeTypes;
  return *instance;
}

/// Returns descriptions of types that MPI has by itself.
std::unordered_map<MPI_Datatype, ElementType>& named_types() {
  auto& named = of_thread<std::unordered_map<MPI_Datatype, ElementType>>();
  return named;
}

}  // namespace

const ElementType* MessageTypes::known(MPI_Datatype type) {
  const unsigned ended = ended_types.load(std::memory_order_acquire);
  if (latest_.type == type && latest_.ended == ended && latest_.elements != nullptr) return latest_.elements;
  const auto named = named_types().find(type);
  const ElementType* const found = named != named_types().end() ? &named->second : made_types().find(type);
  if (found != nullptr) latest_ = {type, found, ended};
  return found;
}

const ElementType& MessageTypes::of(MPI_Datatype type) {
  if (const ElementType* const found = known(type)) return *found;
  const auto known_here = made_.find(type);
  if (known_here != made_.end()) return known_here->second;
  if (type == MPI_DATATYPE_NULL) throw MpiError(MPI_ERR_TYPE, "datatype is MPI_DATATYPE_NULL");
  static const ElementType no_bytes;
  MPI_Count bytes = 0;
  check_mpi(MPI_Type_size_x(type, &bytes), "MPI_Type_size_x");
  if (bytes == 0) return no_bytes;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  check_mpi(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  try {
    if (combiner == MPI_COMBINER_NAMED)
      return named_types().emplace(type, ElementType::without_handle(type)).first->second;
    if (const ElementType* const kept =
            made_types().keep(type, std::make_unique<ElementType>(ElementType::without_handle(type))))
      return *kept;
    return made_.emplace(type, ElementType::without_handle(type)).first->second;
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    throw MpiError(MPI_ERR_TYPE, std::string("datatype: ") + error.what());
  }
}

void check_buffer(const void* buffer, int count, MPI_Datatype type) {
  if (count < 0) throw MpiError(MPI_ERR_COUNT, "count " + std::to_string(count) + " is negative");
  if (buffer != nullptr || count == 0 || type == MPI_DATATYPE_NULL) return;
  // MPI_BOTTOM is NULL in Open MPI: displacements are addresses then, and none of them is 0.
  MPI_Count bytes = 0;
  MPI_Count first = 0;
  MPI_Count extent = 0;
  check_mpi(MPI_Type_size_x(type, &bytes), "MPI_Type_size_x");
  check_mpi(MPI_Type_get_true_extent_x(type, &first, &extent), "MPI_Type_get_true_extent_x");
  if (bytes != 0 && first == 0) throw MpiError(MPI_ERR_BUFFER, "buffer is NULL");
}

void check_rank(MPI_Comm now, int rank, const char* name) {
  const int size = size_of(now);
  if (rank >= 0 && rank < size) return;
  throw MpiError(MPI_ERR_RANK,
                 std::string(name) + " " + std::to_string(rank) + " is not in [0, " + std::to_string(size) + ")");
}

void unpack_part(const ElementType& elements, std::span<const std::byte> bytes, std::int64_t first, void* buffer) {
  if (bytes.empty()) return;
  const auto start = static_cast<std::uint64_t>(first);
  const std::uint64_t whole = bytes.size() / elements.bytes();
  elements.unpack(bytes.data(), start, whole, buffer);
  const auto rest = bytes.subspan(whole * elements.bytes());
  if (rest.empty()) return;
  std::vector<std::byte> last(elements.bytes());
  elements.pack(buffer, start + whole, 1, last.data());
  std::copy(rest.begin(), rest.end(), last.begin());
  elements.unpack(last.data(), start + whole, 1, buffer);
}

void set_status(MPI_Status* status, int source, int tag, std::uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->MPI_ERROR = MPI_SUCCESS;
  MPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  MPI_Status_set_cancelled(status, 0);
}

void end_job(const char* why) { abort_job(JobEnd::differs, rank_in(runtime().process().comms().resilient()), why); }

void tell_outcome(const std::optional<std::vector<int>>& forced, int room, int* count, int* outcome) {
  *count = forced ? static_cast<int>(forced->size()) : PersistServices::kFree;
  if (!forced) return;
  if (*count > room) end_job("a process does not do what was done before: it has fewer requests");
  std::copy(forced->begin(), forced->end(), outcome);
}

void tell_match(int forced_source, int forced_tag, int* source, int* tag) {
  const bool suits = forced_tag == kTagOfCancelled || ((*source == MPI_ANY_SOURCE || *source == forced_source) &&
                                                       (*tag == MPI_ANY_TAG || *tag == forced_tag));
  if (!suits) end_job("a process does not do what was done before: it receives from another rank or tag");
  *source = forced_source;
  *tag = forced_tag;
}

int class_of(const Error& error) {
  switch (error.code()) {
    case FENIX_ERROR_NO_MEMORY:
      return MPI_ERR_NO_MEM;
    case FENIX_ERROR_INVALID_ARGUMENT:
      return MPI_ERR_ARG;
    case FENIX_ERROR_INTERN:
      return MPI_ERR_INTERN;
    default:
      return MPI_ERR_OTHER;
  }
}

}  // namespace fenix_impl
