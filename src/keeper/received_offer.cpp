// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/received_offer.hpp"

#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "keeper/local_socket.hpp"

namespace fenix_impl {

ReceivedOffer read_offer(const Message& request, std::vector<Descriptor> files, std::vector<Descriptor> regions) {
  const auto offered = decode_body<Offered>(request.body);
  const auto name = offered ? DatasetName::parse(offered->name) : std::nullopt;
  const bool is_in_file = offered && offered->content.empty();
  if (!name || (is_in_file && files.empty())) throw std::runtime_error("a request is damaged");
  const auto in_file = is_in_file ? read_memory_file(files.front()) : std::vector<std::byte>();
  const auto content = is_in_file ? std::span(in_file) : std::as_bytes(std::span(offered->content));
  if (offered->plan_bytes > content.size()) throw std::runtime_error("a request is damaged");
  auto plan = decode_plan(*name, content.first(offered->plan_bytes));
  auto offer = decode_offer(content.subspan(offered->plan_bytes));
  if (!plan || !offer) throw std::runtime_error("a plan or an offer is damaged");
  std::move(files.begin() + (is_in_file ? 1 : 0), files.end(), std::back_inserter(regions));
  return {std::move(*plan), offered->writer, std::move(*offer), std::move(regions)};
}

}  // namespace fenix_impl
