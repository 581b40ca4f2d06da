// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fabric/endpoint.hpp"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <array>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint32_t kApiVersion = FI_VERSION(1, 14);

// Rules for the registration of memory that this path can follow.
constexpr int kKnownModes = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

// Without FI_ATOMIC, which is not used, tcp moves nothing at a target that does not call it, whatever it says.
constexpr std::uint64_t kCapabilities = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_ATOMIC;

// shm: a process that is killed may leave a lock held, and then all others wait for ever. net: moves nothing at a
// target that does not call it, in spite of saying so.
bool can_be_trusted(std::string_view provider) {
  constexpr std::array<std::string_view, 2> kUnfit{"shm", "net"};
  return std::none_of(kUnfit.begin(), kUnfit.end(), [&](std::string_view name) {
    return provider == name || provider.starts_with(std::string(name) + ";");
  });
}

/// Tells if FENIX_FABRIC_MR_MODE, which is for tests, names a rule to keep even if the provider can do without. Rules are
/// basic (virtual addresses, keys of the provider and memory that is there, which tcp does on demand) and local (memory of
/// own transfers is registered, too).
bool is_forced(std::string_view mode) {
  return environment::text("FENIX_FABRIC_MR_MODE").find(mode) != std::string::npos;
}

constexpr int kBasic = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
// FI_MR_BASIC, whose name is deprecated in libfabric 2: asked for as the three bits above, tcp does without them.
constexpr int kBasicOnDemand = 1 << 0;

}  // namespace

FabricEndpoint::FabricEndpoint() {
  const auto info = find_provider();
  open(*info);
  log().info("fabric: provider {}, domain {}, mr_mode {:#x}", provider_, info->domain_attr->name, mr_mode_);
}

void FabricEndpoint::check(int result, const char* call) const {
  if (result == 0) return;
  throw Error(FENIX_ERROR_GROUP_CREATE,
              std::string("there is no fabric path: ") + call + ": " + library_.text_of(result));
}

FabricEndpoint::Info FabricEndpoint::find_provider() const {
  const Info hints(library_.dupinfo(nullptr), library_.freeinfo);
  if (!hints) throw Error(out_of_memory());
  hints->caps = kCapabilities;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = is_forced("basic") ? kBasicOnDemand : kKnownModes;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  fi_info* found = nullptr;
  check(library_.getinfo(kApiVersion, nullptr, nullptr, 0, hints.get(), &found), "fi_getinfo");
  const Info all(found, library_.freeinfo);
  for (const fi_info* each = all.get(); each != nullptr; each = each->next) {
    if (!can_be_trusted(each->fabric_attr->prov_name)) continue;
    Info chosen(library_.dupinfo(each), library_.freeinfo);
    if (!chosen) throw Error(out_of_memory());
    return chosen;
  }
  throw Error(FENIX_ERROR_GROUP_CREATE, "there is no fabric path: libfabric has no provider for it but shm and net");
}

void FabricEndpoint::open(fi_info& info) {
  const auto own = [](auto* object, auto& owner) { owner.reset(object); };
  provider_ = info.fabric_attr->prov_name;
  mr_mode_ = info.domain_attr->mr_mode == kBasicOnDemand ? kBasic : info.domain_attr->mr_mode;
  if (is_forced("local")) mr_mode_ |= FI_MR_LOCAL;
  largest_transfer_ = info.ep_attr->max_msg_size;
  const std::size_t key_bits = 8 * std::min(info.domain_attr->mr_key_size, sizeof(std::uint64_t));
  key_mask_ = key_bits < 64 ? (std::uint64_t{1} << key_bits) - 1 : ~std::uint64_t{0};

  fid_fabric* fabric = nullptr;
  check(library_.fabric(info.fabric_attr, &fabric, nullptr), "fi_fabric");
  own(fabric, fabric_);
  fid_domain* domain = nullptr;
  check(fi_domain(fabric, &info, &domain, nullptr), "fi_domain");
  own(domain, domain_);
  fi_av_attr address_attributes{};
  address_attributes.type = FI_AV_TABLE;
  fid_av* addresses = nullptr;
  check(fi_av_open(domain, &address_attributes, &addresses, nullptr), "fi_av_open");
  own(addresses, addresses_);
  fi_cq_attr queue_attributes{};
  queue_attributes.format = FI_CQ_FORMAT_CONTEXT;
  queue_attributes.wait_obj = FI_WAIT_NONE;
  queue_attributes.size = info.tx_attr->size;
  fid_cq* completions = nullptr;
  check(fi_cq_open(domain, &queue_attributes, &completions, nullptr), "fi_cq_open");
  own(completions, completions_);
  fid_ep* endpoint = nullptr;
  check(fi_endpoint(domain, &info, &endpoint, nullptr), "fi_endpoint");
  own(endpoint, endpoint_);
  check(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
  check(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(fi_enable(endpoint), "fi_enable");

  std::size_t length = 0;
  (void)fi_getname(&endpoint->fid, nullptr, &length);
  name_.resize(length);
  check(fi_getname(&endpoint->fid, name_.data(), &length), "fi_getname");
}

void FabricEndpoint::close() noexcept {
  endpoint_.reset();
  completions_.reset();
  addresses_.reset();
}

}  // namespace fenix_impl
