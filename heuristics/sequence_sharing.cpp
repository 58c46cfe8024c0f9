// SPDX-License-Identifier: Apache-2.0
//
// Instances with views and in-place ops: a storage lives while any value in it is read, and nobody may use it after an
// op took it over. Never called for plain instances.
#include "heuristics/sequence_state.hpp"

namespace ebb {

// The execution whose storage for `carrier` a value made by `node` lives in.
std::int32_t SequenceState::OwnerOf(std::int32_t carrier, std::int32_t node) const {
  return MakerOf(carrier) == N(node).op ? node : ServerOf(carrier, node);
}

// A carried value's end moved: so may the end of the storage it lives in.
void SequenceState::CarrierEndMoved(std::int32_t node, std::int32_t value, std::int32_t from, std::int32_t to) {
  const std::int32_t w = instance_.carrier[static_cast<std::size_t>(value)];
  if (w < 0) return;
  const std::int32_t owner = OwnerOf(w, node);
  if (owner == kNone) return;
  const std::size_t k = OutputIndex(w);
  const std::int32_t end = EndOf(owner, k);
  if (slot(to) > slot(end))
    SetEnd(owner, k, to);
  else if (end == from)
    SetEnd(owner, k, LastUse(owner, k));
}

bool SequenceState::UsedAfterConsumption(std::int32_t node, std::int32_t value, std::int32_t end) const {
  const auto v = static_cast<std::size_t>(value);
  const std::int32_t from = slot(node);
  const std::int32_t limit = NextOf(node) == kNone ? profile_.slots() : slot(NextOf(node));
  for (const std::int32_t m : consumers_[v])
    for (std::int32_t y = LastOf(m); y != kNone && slot(y) > from; y = PreviousOf(y))
      if (slot(y) < limit && y != end) return true;
  for (const std::int32_t c : carried_[v]) {
    if (!watched_[static_cast<std::size_t>(c)]) continue;
    for (std::int32_t y = LastOf(MakerOf(c)); y != kNone && slot(y) >= from; y = PreviousOf(y))
      if (slot(y) < limit && UsedAfterConsumption(y, c, end)) return true;
  }
  return false;
}

void SequenceState::NoteBad(std::int32_t node, std::size_t k, bool bad) {
  const auto i = static_cast<std::size_t>(N(node).ends) + k;
  if ((bad_[i] != 0) == bad) return;
  log_.push_back({Change::kBad, node, static_cast<std::int32_t>(i), bad_[i]});
  bad_[i] = bad ? 1 : 0;
  violations_ += bad ? 1 : -1;
}

void SequenceState::RecheckConsumers(std::int32_t node, std::size_t k) {
  std::int32_t value = Makes(N(node).op)[k];
  if (!watched_[static_cast<std::size_t>(value)]) return;
  // the storage's owner answers for all that it carries
  while (instance_.carrier[static_cast<std::size_t>(value)] >= 0) {
    value = instance_.carrier[static_cast<std::size_t>(value)];
    node = OwnerOf(value, node);
    if (node == kNone) return;
    k = OutputIndex(value);
  }
  NoteBad(node, k, UsedAfterConsumption(node, value, EndOf(node, k)));
}

}  // namespace ebb
