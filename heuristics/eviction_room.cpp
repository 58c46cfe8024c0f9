// SPDX-License-Identifier: Apache-2.0
//
// What may go without anything becoming impossible, and making room by what pays most of it.
#include <algorithm>

#include "heuristics/evictor.hpp"

namespace ebb::eviction {

bool Evictor::CanRemake(std::int32_t v, std::int32_t gone, int& visits) {
  if (--visits < 0) return false;
  const std::int32_t op = in_.maker[static_cast<std::size_t>(v)];
  if (op == kNone || !MayRepeat(op)) return false;
  for (const std::int32_t u : in_.reads[static_cast<std::size_t>(op)]) {
    const std::int32_t s = storage_of_[static_cast<std::size_t>(u)];
    if ((s == kNone || s == gone) && !CanRemake(u, gone, visits)) return false;
  }
  return true;
}

void Evictor::MarkNeeded(std::int32_t v) {
  stack_of_values_.assign(1, v);
  while (!stack_of_values_.empty()) {
    const std::int32_t maker = in_.maker[static_cast<std::size_t>(stack_of_values_.back())];
    stack_of_values_.pop_back();
    if (maker == kNone) continue;
    for (const std::int32_t u : in_.reads[static_cast<std::size_t>(maker)]) {
      if (hung_[static_cast<std::size_t>(u)]) continue;
      hung_[static_cast<std::size_t>(u)] = 1;
      work_.Spend(4);
      if (storage_of_[static_cast<std::size_t>(u)] == kNone) stack_of_values_.push_back(u);
    }
  }
}

void Evictor::NoteMissing(std::int32_t v) {
  if (unremakeable_ && (hung_[static_cast<std::size_t>(v)] || NextUse(v) != kNever)) MarkNeeded(v);
}

void Evictor::RefreshHung() {
  if (!unremakeable_ || row_ < refresh_at_) return;
  refresh_at_ = row_ + std::max<std::int32_t>(64, static_cast<std::int32_t>(in_.num_ops / 128));
  std::fill(hung_.begin(), hung_.end(), 0);
  work_.Spend(static_cast<Ticks>(in_.num_values));
  for (std::size_t v = 0; v < in_.num_values; ++v) {
    const std::int32_t maker = in_.maker[v];
    if (maker == kNone || runs_[static_cast<std::size_t>(maker)] == 0 || storage_of_[v] != kNone) continue;
    if (NextUse(static_cast<std::int32_t>(v)) != kNever) MarkNeeded(static_cast<std::int32_t>(v));
  }
}

bool Evictor::MayGo(std::int32_t s) {
  if (!unremakeable_) return true;
  Storage& st = storages_[static_cast<std::size_t>(s)];
  for (std::int32_t v = st.first_value; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)]) {
    int visits = kVisits;
    const bool can = CanRemake(v, s, visits);
    work_.Spend(kVisits - visits);
    if (can) continue;
    if (NextUse(v) != kNever) return false;
    if (hung_[static_cast<std::size_t>(v)]) return false;
  }
  return true;
}

void Evictor::MakeRoom(std::int64_t wanted) {
  while (!parked_.empty() && parked_.top().until <= row_) Unpark();
  DropUntil(wanted);
  if (resident_ + wanted <= room_ || parked_.empty() || row_ < desperate_at_) return;
  while (!parked_.empty()) Unpark();
  const std::int64_t before = resident_;
  DropUntil(wanted);
  patience_ = resident_ < before ? 1 : std::min(2 * patience_, 1024);
  desperate_at_ = row_ + patience_;
}

void Evictor::DropUntil(std::int64_t wanted) {
  set_aside_.clear();
  while (resident_ + wanted > room_ && !heap_.empty()) {
    const Candidate top = heap_.top();
    heap_.pop();
    work_.Spend(20);
    Storage& st = storages_[static_cast<std::size_t>(top.storage)];
    if (!st.alive) continue;
    if (IsPinned(st)) {
      set_aside_.push_back(top);
      continue;
    }
    const double key = Key(st);
    if (!heap_.empty() && key < heap_.top().key) {
      heap_.push({key, top.storage});
      continue;
    }
    if (!MayGo(top.storage)) {
      parked_.push({row_ + (8 << std::min(static_cast<int>(st.refusals), 8)), top.storage});
      st.refusals = static_cast<std::uint8_t>(std::min(st.refusals + 1, 200));
      continue;
    }
    Drop(top.storage);
  }
  for (const Candidate& c : set_aside_) heap_.push(c);
}

}  // namespace ebb::eviction
