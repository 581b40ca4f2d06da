// SPDX-License-Identifier: BSD-3-Clause
#include "scr/flushes.hpp"

#include "scr/kind.hpp"
#include "scr/stored.hpp"

namespace scr_impl {

void Flushes::forget() {
  kept_.reset();
  request_ = FENIX_REQUEST_NULL;
  flushing_.reset();
}

void Flushes::give_up(const std::string& name) {
  const bool is_kept = kept_ && kept_->head.name == name;
  // It must not be completed afterwards.
  if (is_kept || (flushing_ && flushing_->head.name == name)) (void)end_background();
  if (is_kept) kept_.reset();
}

bool Flushes::flush_if_due() {
  const PackageHead& head = kept_->head;
  // Files in their own places are of use when the store has the list of them.
  if (head.is_list) return flush(false);
  const auto every = static_cast<std::uint64_t>(job_.settings.flush_every);
  const bool is_due = is_output(head) || (every > 0 && job_.numbers.checkpoints % every == 0);
  return !is_due || flush(job_.settings.flushes_in_background);
}

bool Flushes::flush(bool in_background) {
  (void)end_background();
  if (!job_.is_formed || !kept_) return false;
  const PackageHead head = kept_->head;
  const std::string label = label_of(head.name);
  if (!head.is_list && !catalog_.record(head, kept_->files)) return false;
  const int code = in_background ? Fenix_Data_iflush(kGroup, kept_->time_stamp, label.c_str(), &request_)
                                 : Fenix_Data_flush(kGroup, kept_->time_stamp, label.c_str());
  if (code != FENIX_SUCCESS) {
    const std::string what = "flush of the checkpoint " + head.name;
    return code == FENIX_ERROR_STORE ? job_.refuse_together(what + ": " + Fenix_Error_message()) : job_.fail(what);
  }
  kept_->is_flushed = true;
  if (in_background) {
    flushing_ = *kept_;
    catalog_.free_current_later();
  } else {
    catalog_.free_current();
    catalog_.tidy(head);
  }
  return true;
}

bool Flushes::end_background() {
  if (!flushing_) return true;
  const PackageHead head = std::exchange(flushing_, std::nullopt)->head;
  // The part of one node may have failed.
  const bool is_written =
      agree(job_.comm, Fenix_Data_wait(std::exchange(request_, FENIX_REQUEST_NULL)) == FENIX_SUCCESS);
  if (!job_.is_formed) return is_written;
  if (is_written) {
    catalog_.free_current_if_due();
    catalog_.tidy(head);
    return true;
  }
  if (kept_ && kept_->head.id == head.id) kept_->is_flushed = false;
  return job_.refuse_together("the flush of the checkpoint " + head.name + " has failed: it is not in the store");
}

bool Flushes::has_ended() const {
  int state = FENIX_FLUSH_WRITING;
  const int code = Fenix_Data_flush_state(kGroup, flushing_->time_stamp, &state, nullptr);
  return code != FENIX_SUCCESS || state == FENIX_FLUSH_COMPLETE || state == FENIX_FLUSH_FAILED;
}

}  // namespace scr_impl
