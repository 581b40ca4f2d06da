// SPDX-License-Identifier: BSD-3-Clause
// A file in which a log of messages goes on, as another rank or an earlier process has left it. Any bytes may be there: what is read lies in the
// file, and a successor that goes on with it loses nothing that can be read.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/support.hpp"
#include "messages/journal/log_spill.hpp"
#include "messages/journal/spill_reader.hpp"

using namespace fenix_impl;
using journal_format::kHeadBytes;
using journal_format::kUnit;

namespace {

const Signature kFlow{7, 5, 1};
constexpr std::uint64_t kMost = std::uint64_t{8} << 20;

struct Folder {
  std::string name = (std::filesystem::temp_directory_path() / "fenix-fuzz-spill-XXXXXX").string();
  Folder() { fuzz::require(::mkdtemp(name.data()) != nullptr, "a folder can be made"); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(name); }
};

/// Bytes of a file behind its head. Heads are sealed, as otherwise hardly any would count.
fuzz::Bytes content_of(fuzz::Input& input) {
  fuzz::Bytes bytes(kHeadBytes);
  while (!input.empty() && bytes.size() < (std::size_t{1} << 16)) {
    const auto kind = input.take<std::uint8_t>();
    auto head = input.take<EntryHead>();
    if ((kind & 1U) != 0) {
      head.version = journal_format::kVersion;
      head.kind = EntryKind::message;
      head.seal = seal_of(head, bytes.size());
    }
    const auto added = std::as_bytes(std::span(&head, 1));
    bytes.insert(bytes.end(), added.begin(), added.end());
    const auto payload = input.some(input.take<std::uint8_t>());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    if (!input.empty()) bytes.resize((bytes.size() + kUnit - 1) / kUnit * kUnit);
  }
  return bytes;
}

void check_reader(const std::string& folder, const SpillPlace& place, std::size_t size) {
  SpillReader reader(folder, place, [](const Signature&) { return true; });
  (void)reader.look();
  for (const Spilled& each : reader.all()) {
    fuzz::require(each.file != place.first || each.entry.payload() + each.entry.head.bytes <= size,
                  "an entry lies in the file");
    fuzz::Bytes payload(each.entry.head.bytes);
    (void)reader.read(each, payload);
    fuzz::require(reader.find(each.entry.head.signature, each.entry.head.number).has_value(), "what is there is found");
  }
}

/// A message that a successor adds can be read.
void check_successor(const std::string& folder, const SpillPlace& place) {
  LogSpill successor({folder, kMost}, place.slot);
  if (!successor.take_over(place)) return;
  (void)successor.numbers();
  const fuzz::Bytes payload(100, std::byte{3});
  EntryHead head;
  head.signature = kFlow;
  head.number = std::uint64_t{1} << 40;
  head.bytes = payload.size();
  head.hash = hash_bytes(payload);
  const LogSpill::Item item{head, payload};
  if (!successor.append(std::span(&item, 1))) return;
  SpillReader reader(folder, successor.place(), [](const Signature& each) { return each == kFlow; });
  fuzz::require(reader.look(), "the files of a successor are whole");
  const auto found = reader.find(kFlow, head.number);
  fuzz::Bytes read(payload.size());
  fuzz::require(found && reader.read(*found, read) && read == payload, "a message of a successor is read");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  fuzz::Input input(data, size);
  fuzz::Bytes bytes = content_of(input);
  LogSpill writer({folder.name, kMost}, 3);
  writer.show();
  SpillPlace place = writer.place();
  const std::string path = spill_file_path(folder.name, place, place.last);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kHeadBytes);
    file.write(reinterpret_cast<const char*>(bytes.data()) + kHeadBytes,
               static_cast<std::streamsize>(bytes.size() - kHeadBytes));
  }
  check_reader(folder.name, place, bytes.size());
  check_successor(folder.name, place);
  // The head may be damaged, too.
  if (size >= kHeadBytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), kHeadBytes);
    file.close();
    check_reader(folder.name, place, bytes.size());
  }
  remove_spill_files(folder.name, place);
  return 0;
}
