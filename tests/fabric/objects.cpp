// SPDX-License-Identifier: BSD-3-Clause
#include "objects.hpp"

#include <rdma/fi_errno.h>

#include <atomic>
#include <span>
#include <utility>

#include "modes.hpp"

namespace hostile {
namespace {

template <class Object>
Object& as(fid* object) {
  return *reinterpret_cast<Object*>(object);
}

// Closes the core's object, and then this one.
template <class Object>
int close(fid* object) {
  Object& own = as<Object>(object);
  const int result = fi_close(&own.core->fid);
  delete &own;
  return result;
}

template <class Object>
fi_ops* ops_of() {
  static fi_ops ops{.size = sizeof(fi_ops),
                    .close = close<Object>,
                    .bind = nullptr,
                    .control = nullptr,
                    .ops_open = nullptr,
                    .tostr = nullptr,
                    .ops_set = nullptr};
  return &ops;
}

template <class Object>
Object* made(std::size_t kind, fi_ops* ops = ops_of<Object>()) {
  auto* object = new Object;
  object->fid.fclass = kind;
  object->fid.ops = ops;
  return object;
}

// ------------------------------------------------------------------------------------------------------------ addresses

int insert(fid_av* own, const void* names, size_t count, fi_addr_t* addresses, std::uint64_t flags, void* context) {
  return fi_av_insert(as<Addresses>(&own->fid).core, names, count, addresses, flags, context);
}

int remove(fid_av* own, fi_addr_t* addresses, size_t count, std::uint64_t flags) {
  auto& all = as<Addresses>(&own->fid);
  for (size_t i = 0; i < count; ++i) all.domain->wire.forget(addresses[i]);
  return fi_av_remove(all.core, addresses, count, flags);
}

int open_addresses(fid_domain* domain, fi_av_attr* attributes, fid_av** addresses, void* context) {
  static fi_ops_av ops{};
  ops.size = sizeof ops;
  ops.insert = insert;
  ops.remove = remove;
  auto& of = as<Domain>(&domain->fid);
  fid_av* core = nullptr;
  const int result = fi_av_open(of.core, attributes, &core, context);
  if (result != 0) return result;
  auto* own = made<Addresses>(FI_CLASS_AV);
  own->ops = &ops;
  own->core = core;
  own->domain = &of;
  *addresses = own;
  return 0;
}

// --------------------------------------------------------------------------------------------------------------- memory

int close_memory(fid* object) {
  auto& memory = as<Memory>(object);
  memory.domain->registrations.remove(std::move(memory.registration));
  delete &memory;
  return 0;
}

int bind_memory(fid* object, fid*, std::uint64_t) {
  as<Memory>(object).bound = true;
  return 0;
}

int control_memory(fid* object, int command, void*) {
  auto& memory = as<Memory>(object);
  if (command != FI_ENABLE || !memory.bound) return -FI_EINVAL;
  memory.key = memory.registration->key;
  return 0;
}

// ---------------------------------------------------------------------------------------------------------------- queue

ssize_t read(fid_cq* queue, void* entries, size_t count) {
  return as<Queue>(&queue->fid).domain->wire.read({static_cast<fi_cq_entry*>(entries), count});
}

ssize_t read_error(fid_cq* queue, fi_cq_err_entry* entry, std::uint64_t) {
  return as<Queue>(&queue->fid).domain->wire.read_error(*entry);
}

// ------------------------------------------------------------------------------------------------------------- endpoint

ssize_t post(fid_ep* endpoint, const fi_msg_rma* message, bool writes) {
  Domain& domain = *as<Endpoint>(&endpoint->fid).domain;
  // A user that has to give a descriptor gives that of the memory.
  if (modes().basic) {
    const auto* memory = static_cast<const Memory*>(message->desc != nullptr ? message->desc[0] : nullptr);
    const iovec& local = *message->msg_iov;
    if (memory == nullptr || memory->domain != &domain ||
        !domain.registrations.cover(local.iov_base, local.iov_len, writes ? FI_WRITE : FI_READ))
      return -FI_EINVAL;
  }
  static std::atomic<bool> has_failed = false;
  if (modes().shaky && writes && !has_failed.exchange(true)) return -FI_ECONNREFUSED;
  return domain.wire.post(writes, *message);
}

ssize_t write_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t) {
  return post(endpoint, message, true);
}

ssize_t read_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t) {
  return post(endpoint, message, false);
}

int name_of(fid_t endpoint, void* name, size_t* bytes) {
  return fi_getname(&as<Endpoint>(endpoint).core->fid, name, bytes);
}

int bind_endpoint(fid* object, fid* other, std::uint64_t flags) {
  fid* core = other->fclass == FI_CLASS_AV ? &as<Addresses>(other).core->fid : &as<Queue>(other).core->fid;
  return fi_ep_bind(as<Endpoint>(object).core, core, flags);
}

int control_endpoint(fid* object, int command, void*) {
  return command == FI_ENABLE ? fi_enable(as<Endpoint>(object).core) : -FI_ENOSYS;
}

int close_endpoint(fid* object) {
  as<Endpoint>(object).domain->wire.stop();
  return close<Endpoint>(object);
}

}  // namespace

int open_memory(fid* domain, const void* buffer, size_t bytes, std::uint64_t access, std::uint64_t,
                std::uint64_t requested_key, std::uint64_t, fid_mr** memory, void*) {
  static fi_ops ops{.size = sizeof(fi_ops),
                    .close = close_memory,
                    .bind = bind_memory,
                    .control = control_memory,
                    .ops_open = nullptr,
                    .tostr = nullptr,
                    .ops_set = nullptr};
  auto& of = as<Domain>(domain);
  std::shared_ptr<Registration> registration;
  const std::span<std::byte> bytes_of(static_cast<std::byte*>(const_cast<void*>(buffer)), bytes);
  const int result = of.registrations.add(of.core, bytes_of, access, requested_key, registration);
  if (result != 0) return result;
  auto* own = made<Memory>(FI_CLASS_MR, &ops);
  own->domain = &of;
  own->key = modes().endpoint ? FI_KEY_NOTAVAIL : registration->key;
  own->mem_desc = own;
  own->registration = std::move(registration);
  *memory = own;
  return 0;
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context) {
  static fi_ops_cq ops{};
  ops.size = sizeof ops;
  ops.read = read;
  ops.readerr = read_error;
  auto& of = as<Domain>(&domain->fid);
  fid_cq* core = nullptr;
  const int result = fi_cq_open(of.core, attributes, &core, context);
  if (result != 0) return result;
  of.wire.use(core);
  auto* own = made<Queue>(FI_CLASS_CQ);
  own->ops = &ops;
  own->core = core;
  own->domain = &of;
  *queue = own;
  return 0;
}

int open_endpoint(fid_domain* domain, fi_info*, fid_ep** endpoint, void* context) {
  static fi_ops ops{.size = sizeof(fi_ops),
                    .close = close_endpoint,
                    .bind = bind_endpoint,
                    .control = control_endpoint,
                    .ops_open = nullptr,
                    .tostr = nullptr,
                    .ops_set = nullptr};
  static fi_ops_cm names{};
  names.size = sizeof names;
  names.getname = name_of;
  static fi_ops_rma transfers{};
  transfers.size = sizeof transfers;
  transfers.writemsg = write_message;
  transfers.readmsg = read_message;
  auto& of = as<Domain>(&domain->fid);
  fid_ep* core = nullptr;
  const int result = fi_endpoint(of.core, of.fabric->info.get(), &core, context);
  if (result != 0) return result;
  of.wire.use(core);
  auto* own = made<Endpoint>(FI_CLASS_EP, &ops);
  own->cm = &names;
  own->rma = &transfers;
  own->core = core;
  own->domain = &of;
  *endpoint = own;
  return 0;
}

namespace {

// The registrations go before the core's domain.
int close_domain(fid* object) {
  auto& domain = as<Domain>(object);
  fid_domain* core = domain.core;
  delete &domain;
  return fi_close(&core->fid);
}

}  // namespace

int open_domain(fid_fabric* fabric, fi_info*, fid_domain** domain, void* context) {
  static fi_ops ops{.size = sizeof(fi_ops),
                    .close = close_domain,
                    .bind = nullptr,
                    .control = nullptr,
                    .ops_open = nullptr,
                    .tostr = nullptr,
                    .ops_set = nullptr};
  static fi_ops_domain objects{};
  objects.size = sizeof objects;
  objects.av_open = open_addresses;
  objects.cq_open = open_queue;
  objects.endpoint = open_endpoint;
  static fi_ops_mr memories{};
  memories.size = sizeof memories;
  memories.reg = open_memory;
  auto& of = as<Fabric>(&fabric->fid);
  fid_domain* core = nullptr;
  const int result = fi_domain(of.core, of.info.get(), &core, context);
  if (result != 0) return result;
  auto* own = made<Domain>(FI_CLASS_DOMAIN, &ops);
  own->ops = &objects;
  own->mr = &memories;
  own->core = core;
  own->fabric = &of;
  *domain = own;
  return 0;
}

}  // namespace hostile
