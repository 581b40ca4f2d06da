// SPDX-License-Identifier: BSD-3-Clause
// A provider of libfabric for tests, as libfabric loads it: libverbs-fi.so in a folder of FI_PROVIDER_PATH. It does by tcp
// what it is asked for, and all that fabric(7) allows, and some things that are not allowed, to its users: see modes.hpp.
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

#include <cstdlib>
#include <cstring>

#include "modes.hpp"
#include "objects.hpp"

namespace hostile {
namespace {

constexpr std::uint32_t kApi = FI_VERSION(1, 14);
// Under a name that libfabric knows: others come after tcp. FI_PROVIDER has to name both, or tcp would be gone for this one, too.
constexpr const char* kName = "verbs";
constexpr std::uint32_t kNewest = FI_VERSION(900, 0);  // newer than the real one, which is left out then

// FI_MR_BASIC: tcp has virtual addresses and keys of its own then.
constexpr int kBasic = 1 << 0;

// tcp, asked as the library asks for providers.
Info core_info() {
  const Info hints(fi_allocinfo());
  hints->caps = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_ATOMIC;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (modes().basic) hints->domain_attr->mr_mode = kBasic;
  hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
  fi_info* found = nullptr;
  return Info(fi_getinfo(kApi, nullptr, nullptr, 0, hints.get(), &found) == 0 ? found : nullptr);
}

int mr_mode() {
  int mode = 0;
  if (modes().basic) mode |= FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_LOCAL;
  if (modes().chooses_keys()) mode |= FI_MR_PROV_KEY;
  if (modes().endpoint) mode |= FI_MR_ENDPOINT | FI_MR_ALLOCATED;
  return mode;
}

int getinfo(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info* hints, fi_info** info) {
  if (hints != nullptr && hints->fabric_attr != nullptr && hints->fabric_attr->prov_name != nullptr &&
      std::strcmp(hints->fabric_attr->prov_name, kName) != 0)
    return -FI_ENODATA;
  // Other providers would put themselves on top.
  if (hints != nullptr && hints->ep_attr != nullptr && hints->ep_attr->type != FI_EP_RDM) return -FI_ENODATA;
  Info core = core_info();
  if (!core) return -FI_ENODATA;
  fi_info* own = fi_dupinfo(core.get());
  if (own == nullptr) return -FI_ENOMEM;
  std::free(own->fabric_attr->prov_name);
  own->fabric_attr->prov_name = nullptr;  // libfabric puts it there
  own->domain_attr->mr_mode = mr_mode();
  *info = own;
  return 0;
}

int close_fabric(fid* object) {
  auto& fabric = *reinterpret_cast<Fabric*>(object);
  const int result = fi_close(&fabric.core->fid);
  delete &fabric;
  return result;
}

int open_fabric(fi_fabric_attr*, fid_fabric** fabric, void* context) {
  static fi_ops ops{.size = sizeof(fi_ops),
                    .close = close_fabric,
                    .bind = nullptr,
                    .control = nullptr,
                    .ops_open = nullptr,
                    .tostr = nullptr,
                    .ops_set = nullptr};
  static fi_ops_fabric domains{};
  domains.size = sizeof domains;
  domains.domain = open_domain;
  auto own = std::make_unique<Fabric>();
  own->info = core_info();
  if (!own->info) return -FI_ENODATA;
  const int result = fi_fabric(own->info->fabric_attr, &own->core, context);
  if (result != 0) return result;
  own->fid.fclass = FI_CLASS_FABRIC;
  own->fid.ops = &ops;
  own->ops = &domains;
  own->api_version = kApi;
  *fabric = own.release();
  return 0;
}

}  // namespace
}  // namespace hostile

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  static fi_provider provider{.version = hostile::kNewest,
                              .fi_version = hostile::kApi,
                              .context = {},
                              .name = hostile::kName,
                              .getinfo = hostile::getinfo,
                              .fabric = hostile::open_fabric,
                              .cleanup = [] {}};
  (void)hostile::modes();
  return &provider;
}
