// SPDX-License-Identifier: BSD-3-Clause
// A provider of libfabric. Writes land in pieces, in any order, until their completion is told. Reads see parts. A target that is
// stopped is silent. A key that was withdrawn refuses, and takes other transfers of the connection with it. A dead process
// may have begun writes that still land.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cost.hpp"
#include "fabric.hpp"
#include "memory.hpp"
#include "tally.hpp"
#include "world.hpp"

namespace fenix_simulation {
namespace {

constexpr std::size_t kWord = 8;
constexpr Time kFastest = 700;
constexpr Time kSlow = 25'000;
constexpr Time kSlowest = 4'000'000;
constexpr Time kWhileStopped = 5'000'000;
constexpr std::size_t kLargest = 4096;  // bytes of a transfer: members have some more

struct Completion {
  void* context = nullptr;
  int error = 0;
};

/// All objects that a process has opened.
struct Endpoint {
  fid_fabric fabric{};
  fid_domain domain{};
  fid_av addresses{};
  fid_cq queue{};
  fid_ep endpoint{};
  Process* owner = nullptr;
  bool has_basic_keys = false;
  bool is_closed = false;
  std::vector<Pid> peers;
  std::deque<Completion> ended;
  std::uint64_t next_key = 1;
};

/// Memory that others may reach under a key.
struct Registration {
  fid_mr memory{};
  Endpoint* of = nullptr;
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool is_open = true;
};

struct Transfer {
  Endpoint* origin = nullptr;
  Process* target = nullptr;
  bool writes = false;
  std::vector<std::byte> data;
  std::byte* local = nullptr;
  std::uint64_t remote = 0;
  std::uint64_t key = 0;
  void* context = nullptr;
  std::size_t left = 0;
  bool is_over = false;
};

/// All that the network of a world has.
struct Network {
  std::map<std::pair<Pid, std::uint64_t>, Registration*> registrations;
  std::map<Process*, Endpoint*> endpoints;
  std::vector<std::weak_ptr<Transfer>> under_way;
};

Network* the_network = nullptr;

template <class Object>
Endpoint& endpoint_of(Object* object) {
  return *static_cast<Endpoint*>(object->fid.context);
}

void tell(Transfer& transfer, int error) {
  if (transfer.is_over) return;
  transfer.is_over = true;
  if (!transfer.origin->owner->alive || transfer.origin->is_closed) return;
  transfer.origin->ended.push_back({transfer.context, error});
  world().stir(*transfer.origin->owner);
}

// A target that refuses breaks the connection: what else is under way on it may fail, too.
void break_connection(const Transfer& refused) {
  for (const auto& each : the_network->under_way) {
    const auto other = each.lock();
    if (!other || other->is_over || other->origin != refused.origin || other->target != refused.target) continue;
    if (world().draw(Kind::race, 2) == 1) tell(*other, FI_EIO);
  }
}

std::byte* find_memory(const Transfer& transfer) {
  const auto found = the_network->registrations.find({transfer.target->pid, transfer.key});
  if (found == the_network->registrations.end() || !found->second->is_open) return nullptr;
  const Registration& registration = *found->second;
  const std::uint64_t begin = registration.of->has_basic_keys ? reinterpret_cast<std::uint64_t>(registration.begin) : 0;
  const std::size_t bytes = transfer.data.size();
  if (transfer.remote < begin || transfer.remote - begin + bytes > registration.bytes) return nullptr;
  return registration.begin + (transfer.remote - begin);
}

void land(const std::shared_ptr<Transfer>& transfer, std::size_t begin, std::size_t bytes) {
  World& here = world();
  if (!transfer->target->alive) return;
  if (transfer->target->stopped) {
    here.scheduler().at(here.now() + kWhileStopped, [=] { land(transfer, begin, bytes); });
    return;
  }
  if (!transfer->origin->owner->alive && here.draw(Kind::loss, 2) == 1) return;
  std::byte* memory = find_memory(*transfer);
  if (memory == nullptr) {
    if (!transfer->is_over) break_connection(*transfer);
    tell(*transfer, FI_EIO);
    return;
  }
  if (transfer->writes) {
    std::memcpy(memory + begin, transfer->data.data() + begin, bytes);
    here.stir(*transfer->target);
    stir_readers(memory + begin);
  } else if (transfer->origin->owner->alive && !transfer->is_over) {
    std::memcpy(transfer->local + begin, memory + begin, bytes);
  }
  if (--transfer->left > 0) return;
  here.scheduler().at(here.now() + here.draw(Kind::network, 1, kSlow), [transfer] {
    // The connection may break after all has been delivered.
    tell(*transfer, world().draw(Kind::race, 256) == 255 ? FI_EIO : 0);
  });
}

void begin(const std::shared_ptr<Transfer>& transfer) {
  World& here = world();
  const std::size_t bytes = transfer->data.size();
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t most = std::max<std::size_t>(1, (bytes - at) / kWord);
    const std::size_t piece =
        here.draw(Kind::tear, 3) == 0 ? bytes - at : std::min(bytes - at, kWord * (1 + here.draw(Kind::tear, most)));
    pieces.emplace_back(at, piece);
    at += piece;
  }
  transfer->left = pieces.size();
  for (const auto& [at, piece] : pieces) {
    constexpr Time kLate = 20'000'000;
    const bool is_late = here.surroundings().slow_network && here.draw(Kind::network, 2) == 1;
    const Time most = is_late ? kLate : here.draw(Kind::network, 32) == 31 ? kSlowest : kSlow;
    const Time drawn = here.draw(Kind::network, kFastest, most);
    const Time takes = machine() == nullptr
                           ? drawn
                           : machine()->access(transfer->origin->owner->node == transfer->target->node, piece);
    here.scheduler().at(here.time_here() + takes, [=, at = at, piece = piece] { land(transfer, at, piece); });
  }
}

ssize_t transfer(fid_ep* endpoint, const fi_msg_rma* message, bool writes) {
  Endpoint& own = endpoint_of(endpoint);
  world().step();
  if (world().draw(Kind::race, 32) == 31) return -FI_EAGAIN;
  auto made = std::make_shared<Transfer>();
  made->origin = &own;
  made->target = world().find(own.peers.at(message->addr));
  made->writes = writes;
  made->local = static_cast<std::byte*>(message->msg_iov[0].iov_base);
  const std::size_t bytes = message->msg_iov[0].iov_len;
  if (writes) {
    made->data.assign(made->local, made->local + bytes);
  } else {
    made->data.resize(bytes);
  }
  made->remote = message->rma_iov[0].addr;
  made->key = message->rma_iov[0].key;
  made->context = message->context;
  count_bytes(writes ? scaling::puts : scaling::gets, writes ? scaling::put_bytes : scaling::get_bytes, bytes);
  const auto number = made->target->number;
  world().note(made->key, [&] {
    return std::string(writes ? "puts " : "gets ") + std::to_string(bytes) + " bytes, memory of rank " +
           std::to_string(number);
  });
  if (World::knows_of(*own.owner, made->target->pid, world().now()) && world().draw(Kind::race, 2) == 1) return -FI_EIO;
  // With costs no connection breaks, and nobody asks what is under way.
  if (machine() == nullptr) {
    std::erase_if(the_network->under_way, [](const auto& each) { return each.expired(); });
    the_network->under_way.push_back(made);
  }
  begin(made);
  return 0;
}

ssize_t write_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t /*flags*/) {
  return transfer(endpoint, message, true);
}

ssize_t read_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t /*flags*/) {
  return transfer(endpoint, message, false);
}

// ---------------------------------------------------------------------------------------------------------- small calls

int close_object(fid* object) {
  if (object->fclass == FI_CLASS_MR) reinterpret_cast<Registration*>(object->context)->is_open = false;
  if (object->fclass == FI_CLASS_EP) static_cast<Endpoint*>(object->context)->is_closed = true;
  return 0;
}

int bind_object(fid* /*object*/, fid* /*other*/, std::uint64_t /*flags*/) { return 0; }
int control_object(fid* /*object*/, int /*command*/, void* /*argument*/) { return 0; }

int get_name(fid* object, void* name, std::size_t* length) {
  const Pid pid = static_cast<Endpoint*>(object->context)->owner->pid;
  const bool fits = *length >= sizeof pid;
  *length = sizeof pid;
  if (!fits) return -FI_ETOOSMALL;
  std::memcpy(name, &pid, sizeof pid);
  return 0;
}

int insert_address(fid_av* addresses, const void* name, std::size_t count, fi_addr_t* address, std::uint64_t /*flags*/,
                   void* /*context*/) {
  Endpoint& own = endpoint_of(addresses);
  for (std::size_t i = 0; i < count; ++i) {
    Pid pid = 0;
    std::memcpy(&pid, static_cast<const std::byte*>(name) + i * sizeof pid, sizeof pid);
    address[i] = own.peers.size();
    own.peers.push_back(pid);
  }
  return static_cast<int>(count);
}

int remove_address(fid_av* /*addresses*/, fi_addr_t* /*address*/, std::size_t /*count*/, std::uint64_t /*flags*/) {
  return 0;
}

ssize_t read_queue(fid_cq* queue, void* entries, std::size_t count) {
  Endpoint& own = endpoint_of(queue);
  world().pass_place();
  if (own.ended.empty()) return -FI_EAGAIN;
  if (own.ended.front().error != 0) return -FI_EAVAIL;
  ssize_t number = 0;
  auto* to = static_cast<fi_cq_entry*>(entries);
  while (number < static_cast<ssize_t>(count) && !own.ended.empty() && own.ended.front().error == 0) {
    to[number++].op_context = own.ended.front().context;
    own.ended.pop_front();
  }
  return number;
}

ssize_t read_error(fid_cq* queue, fi_cq_err_entry* entry, std::uint64_t /*flags*/) {
  Endpoint& own = endpoint_of(queue);
  if (own.ended.empty() || own.ended.front().error == 0) return -FI_EAGAIN;
  entry->op_context = own.ended.front().context;
  entry->err = own.ended.front().error;
  own.ended.pop_front();
  return 1;
}

extern fi_ops kObject;

int register_memory(fid* domain, const void* memory, std::size_t bytes, std::uint64_t /*access*/,
                    std::uint64_t /*offset*/, std::uint64_t wanted, std::uint64_t /*flags*/, fid_mr** made,
                    void* /*context*/) {
  Endpoint& own = *static_cast<Endpoint*>(domain->context);
  const Pid pid = own.owner->pid;
  auto& all = the_network->registrations;
  std::uint64_t key = wanted;
  if (own.has_basic_keys) {
    key = own.next_key;
    // A provider that chooses keys may give one again that was withdrawn.
    for (const auto& [where, registration] : all) {
      if (where.first == pid && !registration->is_open && world().draw(Kind::random, 8) == 7) key = where.second;
    }
    if (key == own.next_key) ++own.next_key;
  }
  const auto found = all.find({pid, key});
  if (found != all.end() && found->second->is_open) return -FI_ENOKEY;
  auto* registration = world().objects().make<Registration>();
  registration->of = &own;
  registration->begin = static_cast<std::byte*>(const_cast<void*>(memory));
  registration->bytes = bytes;
  registration->memory.fid = {FI_CLASS_MR, registration, &kObject};
  registration->memory.key = key;
  all[{pid, key}] = registration;
  *made = &registration->memory;
  return 0;
}

int open_addresses(fid_domain* domain, fi_av_attr* /*attributes*/, fid_av** made, void* /*context*/) {
  *made = &endpoint_of(domain).addresses;
  return 0;
}

int open_queue(fid_domain* domain, fi_cq_attr* /*attributes*/, fid_cq** made, void* /*context*/) {
  *made = &endpoint_of(domain).queue;
  return 0;
}

int open_endpoint(fid_domain* domain, fi_info* /*info*/, fid_ep** made, void* /*context*/) {
  *made = &endpoint_of(domain).endpoint;
  return 0;
}

int open_domain(fid_fabric* fabric, fi_info* /*info*/, fid_domain** made, void* /*context*/) {
  *made = &endpoint_of(fabric).domain;
  return 0;
}

// ---------------------------------------------------------------------------------------------------- tables of functions

fi_ops kObject{sizeof kObject, close_object, bind_object, control_object, nullptr, nullptr, nullptr};
fi_ops_fabric kFabric{};
fi_ops_domain kDomain{};
fi_ops_mr kMemory{};
fi_ops_av kAddresses{};
fi_ops_cq kQueue{};
fi_ops_cm kName{};
fi_ops_rma kTransfers{};

void fill_tables() {
  kFabric.domain = open_domain;
  kDomain.av_open = open_addresses;
  kDomain.cq_open = open_queue;
  kDomain.endpoint = open_endpoint;
  kMemory.reg = register_memory;
  kAddresses.insert = insert_address;
  kAddresses.remove = remove_address;
  kQueue.read = read_queue;
  kQueue.readerr = read_error;
  kName.getname = get_name;
  kTransfers.readmsg = read_message;
  kTransfers.writemsg = write_message;
}

int open_fabric(fi_fabric_attr* /*attributes*/, fid_fabric** made, void* /*context*/) {
  fill_tables();
  auto* own = world().objects().make<Endpoint>();
  own->owner = present_process();
  own->has_basic_keys = world().surroundings().basic_keys;
  own->fabric.fid = {FI_CLASS_FABRIC, own, &kObject};
  own->fabric.ops = &kFabric;
  own->domain.fid = {FI_CLASS_DOMAIN, own, &kObject};
  own->domain.ops = &kDomain;
  own->domain.mr = &kMemory;
  own->addresses.fid = {FI_CLASS_AV, own, &kObject};
  own->addresses.ops = &kAddresses;
  own->queue.fid = {FI_CLASS_CQ, own, &kObject};
  own->queue.ops = &kQueue;
  own->endpoint.fid = {FI_CLASS_EP, own, &kObject};
  own->endpoint.cm = &kName;
  own->endpoint.rma = &kTransfers;
  *made = &own->fabric;
  return 0;
}

// ------------------------------------------------------------------------------------------------- what the provider says

/// One block for an info and all that belongs to it.
struct InfoBlock {
  fi_info info;
  fi_tx_attr sends;
  fi_rx_attr receives;
  fi_ep_attr endpoint;
  fi_domain_attr domain;
  fi_fabric_attr fabric;
};

char kProvider[] = "simulated";

fi_info* make_info() {
  auto* block = static_cast<InfoBlock*>(std::calloc(1, sizeof(InfoBlock)));
  block->info.tx_attr = &block->sends;
  block->info.rx_attr = &block->receives;
  block->info.ep_attr = &block->endpoint;
  block->info.domain_attr = &block->domain;
  block->info.fabric_attr = &block->fabric;
  return &block->info;
}

int get_info(std::uint32_t /*version*/, const char* /*node*/, const char* /*service*/, std::uint64_t /*flags*/,
             const fi_info* /*hints*/, fi_info** found) {
  fi_info* info = make_info();
  info->fabric_attr->prov_name = kProvider;
  info->domain_attr->name = kProvider;
  info->domain_attr->mr_mode =
      world().surroundings().basic_keys ? FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY : 0;
  info->domain_attr->mr_key_size = 8;
  info->ep_attr->max_msg_size = kLargest;
  info->tx_attr->size = 256;
  *found = info;
  return 0;
}

void free_info(fi_info* info) { std::free(info); }

fi_info* duplicate_info(const fi_info* info) {
  fi_info* made = make_info();
  if (info == nullptr) return made;
  *made->tx_attr = *info->tx_attr;
  *made->ep_attr = *info->ep_attr;
  *made->domain_attr = *info->domain_attr;
  *made->fabric_attr = *info->fabric_attr;
  return made;
}

const char* text_of_error(int /*error*/) { return "an error of the simulated network"; }

}  // namespace

void begin_network() { the_network = new Network; }

void end_network() {
  delete the_network;
  the_network = nullptr;
}

void* find_in_libfabric(const std::string& name) {
  if (name == "fi_getinfo") return reinterpret_cast<void*>(get_info);
  if (name == "fi_freeinfo") return reinterpret_cast<void*>(free_info);
  if (name == "fi_dupinfo") return reinterpret_cast<void*>(duplicate_info);
  if (name == "fi_fabric") return reinterpret_cast<void*>(open_fabric);
  if (name == "fi_strerror") return reinterpret_cast<void*>(text_of_error);
  return nullptr;
}

}  // namespace fenix_simulation
