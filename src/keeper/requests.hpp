// SPDX-License-Identifier: BSD-3-Clause
// The requests to the store that are not writing data: a name, a search, a list, reading. Run in the keeper's reading thread.
#pragma once

#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "keeper/growth_watch.hpp"
#include "keeper/message.hpp"
#include "keeper/writes_under_way.hpp"
#include "store/dataset.hpp"
#include "store/store.hpp"

namespace fenix_impl {

class StoreRequests {
 public:
  /// under_way: what this keeper writes. quiet: time after which a dataset that does not grow is not being written by another one.
  StoreRequests(FileSystem& files, std::string root, WritesUnderWay& under_way, GrowthWatch::Clock::duration quiet)
      : files_(files), root_(std::move(root)), store_(files, root_), under_way_(under_way), growth_(quiet) {}

  /// Does what a request asks for. file: sent with the request. Returns the answer, and the file that goes with it, if any. Does not
  /// throw: what goes wrong is in the answer.
  Message run(const Message& request, const Descriptor& file, Descriptor& answer_file);

 private:
  Message handle(const Message& request, const Descriptor& file, Descriptor& answer_file);
  Message run_of(const Message& request);
  void make_root();
  void keep_root();
  Message about_dataset(const Message& request);
  Message halt(const Message& request);
  Message find(const Message& request, const Descriptor& file, Descriptor& answer_file);
  void note_beginning(const Search& search, const DatasetName& name);
  [[nodiscard]] bool is_being_written(const FoundDataset& found, const Search& search);
  /// Whether datasets that earlier runs have left may still grow.
  [[nodiscard]] bool may_grow(const FoundDataset& found, std::uint32_t run);
  void watch_other_groups(const Search& search);
  Message data_of(const Message& request, const Descriptor& file, Descriptor& answer_file);
  Message rank(const Message& request, Descriptor& answer_file);
  Message read(const Message& request, const Descriptor& file);
  Message verify(const Message& request);
  Message list(const Message& request, Descriptor& answer_file);
  /// Opens a rank's data, unless it is open.
  bool open(const DatasetName& name, std::int32_t rank);

  FileSystem& files_;
  std::string root_;
  Store store_;
  WritesUnderWay& under_way_;
  GrowthWatch growth_;
  std::uint32_t watches_for_ = 0;  ///< run for which the datasets of all groups are watched
  std::optional<DatasetName> open_name_;
  std::optional<Dataset> open_dataset_;
  std::optional<RankData> open_rank_;
};

}  // namespace fenix_impl
