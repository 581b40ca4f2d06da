// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/construction_codec.hpp"

namespace fenix_impl {
namespace {

using Words = std::vector<std::int64_t>;

template <class Number>
void put_list(Words& words, const std::vector<Number>& list) {
  words.push_back(static_cast<std::int64_t>(list.size()));
  words.insert(words.end(), list.begin(), list.end());
}

template <class Number>
void get_list(const Words& words, std::size_t& at, std::vector<Number>& list) {
  list.resize(static_cast<std::size_t>(words.at(at++)));
  for (Number& number : list) number = static_cast<Number>(words.at(at++));
}

}  // namespace

void encode(const Derived& derived, Words& words) {
  const Construction& construction = derived.construction;
  words.push_back(static_cast<std::int64_t>(derived.slot.id));
  words.push_back(static_cast<std::int64_t>(derived.slot.parent));
  words.push_back(derived.served.is_over ? 1 : 0);
  words.push_back(static_cast<std::int64_t>(derived.served.lives.size()));
  for (const Life& life : derived.served.lives) {
    for (const std::uint64_t number : {life.id, life.parent, life.site, life.order}) {
      words.push_back(static_cast<std::int64_t>(number));
    }
  }
  words.push_back(static_cast<std::int64_t>(construction.constructor));
  put_list(words, construction.callers);
  words.push_back(static_cast<std::int64_t>(construction.parts.size()));
  for (const auto& part : construction.parts) put_list(words, part);
  words.push_back(construction.topology.kind);
  put_list(words, construction.topology.numbers);
}

std::size_t decode(const Words& words, std::size_t at, Derived& derived) {
  Construction& construction = derived.construction;
  derived.slot.id = static_cast<std::uint64_t>(words.at(at++));
  derived.slot.parent = static_cast<std::uint64_t>(words.at(at++));
  derived.served.is_over = words.at(at++) != 0;
  derived.served.lives.resize(static_cast<std::size_t>(words.at(at++)));
  for (Life& life : derived.served.lives) {
    for (std::uint64_t* number : {&life.id, &life.parent, &life.site, &life.order}) {
      *number = static_cast<std::uint64_t>(words.at(at++));
    }
  }
  construction.constructor = static_cast<Constructor>(words.at(at++));
  get_list(words, at, construction.callers);
  construction.parts.resize(static_cast<std::size_t>(words.at(at++)));
  for (auto& part : construction.parts) get_list(words, at, part);
  construction.topology.kind = words.at(at++);
  get_list(words, at, construction.topology.numbers);
  return at;
}

}  // namespace fenix_impl
