// SPDX-License-Identifier: BSD-3-Clause
#include "scr/flushes.hpp"

#include <algorithm>

#include "scr/kind.hpp"
#include "scr/stored.hpp"

namespace scr_impl {

void Flushes::forget() {
  kept_.clear();
  request_ = FENIX_REQUEST_NULL;
  flushing_.reset();
}

void Flushes::keep(Kept kept) {
  const long oldest = kept.time_stamp - std::max(job_.settings.cache_size, 1L);
  kept_.push_back(std::move(kept));
  std::erase_if(kept_, [oldest](const Kept& each) { return each.time_stamp <= oldest; });
}

void Flushes::want_none() {
  for (Kept& each : kept_) each.is_flushed = true;
}

void Flushes::forget_refused(const PackageHead& head) {
  std::erase_if(kept_, [&](const Kept& each) { return each.head.id == head.id && each.head.created == head.created; });
}

void Flushes::give_up(const std::string& name) {
  const auto is_it = [&name](const Kept& each) { return each.head.name == name; };
  // It must not be completed afterwards.
  if (std::any_of(kept_.begin(), kept_.end(), is_it) || (flushing_ && is_it(*flushing_))) (void)end_background();
  std::erase_if(kept_, is_it);
}

bool Flushes::flush_if_due() {
  const PackageHead& head = kept_.back().head;
  // Files in their own places are of use when the store has the list of them.
  if (head.is_list) return flush(false);
  const auto every = static_cast<std::uint64_t>(job_.settings.flush.every);
  const bool is_due = is_output(head) || (every > 0 && job_.numbers.checkpoints % every == 0);
  return !is_due || flush(job_.settings.flush.in_background);
}

bool Flushes::flush(bool in_background) {
  (void)end_background();
  if (!job_.is_formed || kept_.empty()) return false;
  Kept& kept = kept_.back();
  const PackageHead head = kept.head;
  const std::string label = label_of(head.name);
  if (!head.is_list && !catalog_.record(head, kept.files)) return false;
  const int code = in_background ? Fenix_Data_iflush(kGroup, kept.time_stamp, label.c_str(), &request_)
                                 : Fenix_Data_flush(kGroup, kept.time_stamp, label.c_str());
  if (code != FENIX_SUCCESS) {
    const std::string what = "flush of the checkpoint " + head.name;
    return code == FENIX_ERROR_STORE ? job_.refuse_together(what + ": " + Fenix_Error_message()) : job_.fail(what);
  }
  kept.is_flushed = true;
  if (in_background) {
    flushing_ = kept;
    catalog_.free_current_later();
  } else {
    catalog_.free_current();
    catalog_.tidy(head, kept.files);
  }
  return true;
}

bool Flushes::end_background() {
  if (!flushing_) return true;
  const Kept ended = *std::exchange(flushing_, std::nullopt);
  const PackageHead& head = ended.head;
  // The part of one node may have failed.
  const bool is_written =
      agree(job_.comm, Fenix_Data_wait(std::exchange(request_, FENIX_REQUEST_NULL)) == FENIX_SUCCESS);
  if (!job_.is_formed) return is_written;
  if (is_written) {
    catalog_.free_current_if_due();
    catalog_.tidy(head, ended.files);
    return true;
  }
  for (Kept& each : kept_) {
    if (each.head.id == head.id) each.is_flushed = false;
  }
  return job_.refuse_together("the flush of the checkpoint " + head.name + " has failed: it is not in the store");
}

bool Flushes::has_ended() const {
  int state = FENIX_FLUSH_WRITING;
  const int code = Fenix_Data_flush_state(kGroup, flushing_->time_stamp, &state, nullptr);
  return code != FENIX_SUCCESS || state == FENIX_FLUSH_COMPLETE || state == FENIX_FLUSH_FAILED;
}

}  // namespace scr_impl
