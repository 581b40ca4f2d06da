// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/quick_messages.hpp"

#include "mpi/logged.hpp"
#include "mpi/persistent.hpp"
#include "mpi/real.hpp"
#include "recovery/partner.hpp"

namespace fenix_impl {
namespace {

/// Messages that libfenix allows to be counted here.
struct Allowed {
  unsigned generation = 0;
  RecentPartners<QuickSend> sends;
  RecentPartners<QuickReceive> receives;

  void update(const PersistServices& libfenix) {
    const unsigned latest = libfenix.quick_generation->load(std::memory_order_acquire);
    if (latest == generation) return;
    forget();
    generation = latest;
  }
  void forget() {
    sends.forget();
    receives.forget();
  }
};

Allowed& allowed() {
  static auto* instance = new Allowed;
  return *instance;
}

template <class Quick, class Ask>
Quick look_up(RecentPartners<Quick>& known, const Partner& partner, const Ask& ask) {
  if (const Quick* const found = known.find(partner)) return *found;
  Quick quick;
  ask(partner.rank, partner.tag, partner.name, partner.channel, &quick);
  if (quick.is_allowed) known.note(partner, quick);
  return quick;
}

}  // namespace

QuickSend quick_send(int dest, int tag, MPI_Comm comm) {
  if (calls_may_overlap()) return {};
  const PersistServices& libfenix = *persist_services();
  allowed().update(libfenix);
  return look_up(allowed().sends, {comm, channel_of(comm), dest, tag}, libfenix.allow_send);
}

QuickReceive quick_receive(int source, int tag, MPI_Comm comm) {
  if (calls_may_overlap()) return {};
  const PersistServices& libfenix = *persist_services();
  allowed().update(libfenix);
  return look_up(allowed().receives, {comm, channel_of(comm), source, tag}, libfenix.allow_receive);
}

unsigned quick_generation() { return persist_services()->quick_generation->load(std::memory_order_acquire); }

void forget_quick_messages() { allowed().forget(); }

}  // namespace fenix_impl
