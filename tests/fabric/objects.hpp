// SPDX-License-Identifier: BSD-3-Clause
// The objects of the provider. Each has the one of tcp that does the work ("core").
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <memory>

#include "registrations.hpp"
#include "wire.hpp"

namespace hostile {

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

struct Fabric : fid_fabric {
  fid_fabric* core = nullptr;
  Info info;  ///< of the core
};

struct Domain : fid_domain {
  fid_domain* core = nullptr;
  Fabric* fabric = nullptr;
  Registrations registrations;
  Wire wire;
};

struct Addresses : fid_av {
  fid_av* core = nullptr;
  Domain* domain = nullptr;
};

struct Queue : fid_cq {
  fid_cq* core = nullptr;
  Domain* domain = nullptr;
};

struct Endpoint : fid_ep {
  fid_ep* core = nullptr;
  Domain* domain = nullptr;
};

/// A registration as its user has it. Several have one core with a cache.
struct Memory : fid_mr {
  Domain* domain = nullptr;
  std::shared_ptr<Registration> registration;
  bool bound = false;
};

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context);
int open_memory(fid* domain, const void* buffer, size_t bytes, std::uint64_t access, std::uint64_t offset,
                std::uint64_t requested_key, std::uint64_t flags, fid_mr** memory, void* context);
int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context);
int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context);

}  // namespace hostile
