// SPDX-License-Identifier: BSD-3-Clause
// Serializers that are C++ callables, and streams over the files of stage_begin and load_begin. The runtime owns both,
// because the C interface knows only their addresses.
#include <fenix.hpp>

#include <memory>
#include <utility>

#include "api/cxx/cxx_throw.hpp"
#include "api/cxx/file_stream.hpp"
#include "runtime/entry.hpp"

using namespace fenix_impl;

namespace fenix::data {
namespace {

using Kind = Attachments::Kind;

bool is_empty(const SerializeFunc& serializer) {
  return std::visit([](const auto& function) { return !function; }, serializer);
}

void call(const SerializeFunc& serializer, FILE* file, int direction, void* buffer, MPI_Count offset, MPI_Count count) {
  if (const auto* plain = std::get_if<SerializeFileFunc>(&serializer)) {
    (*plain)(file, direction, buffer, offset, count);
    return;
  }
  FileStream wrapped(file);
  std::get<SerializeStreamFunc>(serializer)(wrapped.stream(), direction, buffer, offset, count);
}

extern "C" void fenix_call_serializer(FILE* file, int direction, void* buffer, MPI_Count offset, MPI_Count count,
                                      void* ctx) {
  // The caller takes care of what it throws.
  call(*static_cast<const SerializeFunc*>(ctx), file, direction, buffer, offset, count);
}

/// Keeps a copy of a serializer and passes it to the C interface with call(function, ctx). It is kept before the call, because a
/// failure may interrupt the call after the C interface has stored the address.
template <class Call>
int keep_while(int group_id, int member_id, const SerializeFunc& serializer, Call&& call) {
  Attachments& kept = runtime().attachments();
  const Attachments::Key key{group_id, member_id, Kind::serializer};
  if (is_empty(serializer)) {
    const int code = call(nullptr, nullptr);
    if (code >= FENIX_SUCCESS) kept.drop(key);
    return thrown(code);
  }
  void* ctx = nullptr;
  {
    auto owned = std::make_shared<SerializeFunc>(serializer);
    ctx = owned.get();
    kept.add(key, std::move(owned));
  }
  const int code = call(fenix_call_serializer, ctx);
  if (code >= FENIX_SUCCESS) kept.keep_newest(key);
  if (code < FENIX_SUCCESS && code != FENIX_ERROR_CANCELLED) kept.drop_newest(key);
  return thrown(code);
}

/// Opens a stream over the file of a call that has succeeded.
std::iostream* open_stream(const Attachments::Key& key, FILE* file) {
  auto opened = std::make_shared<FileStream>(file);
  std::iostream* stream = &opened->stream();
  runtime().attachments().drop(key);
  runtime().attachments().add(key, std::move(opened));
  return stream;
}

}  // namespace

int member_create(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                  const SerializeFunc& serializer) {
  return keep_while(group_id, member_id, serializer, [&](Fenix_Serialize_file_fn_c function, void* ctx) {
    return Fenix_Data_member_fcreate_c(group_id, member_id, buffer, count, datatype, function, ctx);
  });
}

int member_define(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                  const SerializeFunc& serializer) {
  return keep_while(group_id, member_id, serializer, [&](Fenix_Serialize_file_fn_c function, void* ctx) {
    return Fenix_Data_member_fdefine_c(group_id, member_id, buffer, count, datatype, function, ctx);
  });
}

int member_stage_begin(int group_id, int member_id, std::iostream** stream) {
  FILE* file = nullptr;
  const int code = thrown(Fenix_Data_member_stage_begin(group_id, member_id, stream == nullptr ? nullptr : &file));
  if (code >= FENIX_SUCCESS) *stream = open_stream({group_id, member_id, Kind::staging}, file);
  return code;
}

int member_stage_end(int group_id, int member_id) {
  const int code = Fenix_Data_member_stage_end(group_id, member_id);
  runtime().attachments().drop({group_id, member_id, Kind::staging});
  return thrown(code);
}

int member_load_begin(int group_id, int member_id, std::iostream** stream, int time_stamp, DataSubset& data_found) {
  FILE* file = nullptr;
  const int code = member_load_begin(group_id, member_id, stream == nullptr ? nullptr : &file, time_stamp, data_found);
  if (code >= FENIX_SUCCESS) *stream = open_stream({group_id, member_id, Kind::loading}, file);
  return code;
}

int member_load_end(int group_id, int member_id) {
  const int code = Fenix_Data_member_load_end(group_id, member_id);
  runtime().attachments().drop({group_id, member_id, Kind::loading});
  return thrown(code);
}

}  // namespace fenix::data
