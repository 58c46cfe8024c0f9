// SPDX-License-Identifier: Apache-2.0
//
// Walking, bindings, Insert and Erase. Beside it: slots (sequence_slots.cpp), loading (sequence_load.cpp), storages
// that several values share (sequence_sharing.cpp), transactions (sequence_commit.cpp), the way back
// (sequence_journal.cpp).
//
// Chosen against: plain arrays with memmove and a range-add over the whole stretch (the study's prototype: 0.15 million
// moves a second at n = 1000; here 2.6); indices within chunks that shift with every insertion (holes make them rare);
// writing the profile and taking it back on refusal (nine moves of ten are refused); a journal of commits to get back
// to the best state (copies on leaving it cost less than noting every commit).
#include "heuristics/sequence_state.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "engine/base/status.hpp"

namespace ebb {
namespace {
constexpr std::int32_t kBlock = ExcessProfile::kBlock;
constexpr std::int64_t kHole = ExcessProfile::kHole;
}  // namespace

SequenceState::SequenceState(const Instance& instance, std::int64_t budget)
    : instance_(instance), budget_(budget), plain_(instance.plain) {
  const std::size_t n = instance.num_ops;
  values_.resize(instance.num_values);
  for (std::size_t v = 0; v < instance.num_values; ++v) {
    values_[v].bytes = instance.bytes[v];
    values_[v].kept = instance.kept[v] != 0;
    values_[v].maker = instance.maker[v] >= 0 ? instance.maker[v] : static_cast<std::int32_t>(n);
    if (instance.maker[v] >= 0) continue;
    values_[v].index = static_cast<std::uint32_t>(input_values_.size()) & 0x7fffffffU;
    input_values_.push_back(static_cast<std::int32_t>(v));
  }
  ops_.resize(n + 2);
  for (std::size_t o = 0; o < n; ++o) {
    ops_[o].own_bytes = instance.moment[o];
    ops_[o].duration = instance.duration[o];
    std::uint32_t k = 0;
    for (const std::int32_t v : instance.makes[o]) {
      ops_[o].own_bytes += instance.bytes[static_cast<std::size_t>(v)];
      values_[static_cast<std::size_t>(v)].index = k++ & 0x7fffffffU;
    }
  }
  if (!plain_) {
    Csr<std::int32_t> carriers;
    for (std::size_t v = 0; v < instance.num_values; ++v) {
      if (instance.carrier[v] >= 0) carriers.Push(instance.carrier[v]);
      carriers.EndRow();
    }
    const auto index = [](std::int32_t i) { return static_cast<std::size_t>(i); };
    carried_ = carriers.Transpose<std::int32_t>(instance.num_values, index);
    consumers_ = instance.consumes.Transpose<std::int32_t>(instance.num_values, index);
    watched_.assign(instance.num_values, 0);
    for (std::size_t v = 0; v < instance.num_values; ++v)
      if (!consumers_[v].empty())
        for (auto w = static_cast<std::int32_t>(v); w >= 0; w = instance.carrier[static_cast<std::size_t>(w)])
          watched_[static_cast<std::size_t>(w)] = 1;
  }
}

std::span<const std::int32_t> SequenceState::Makes(std::int32_t op) const {
  if (op == static_cast<std::int32_t>(instance_.num_ops)) return input_values_;
  if (op > static_cast<std::int32_t>(instance_.num_ops)) return {};
  return instance_.makes[static_cast<std::size_t>(op)];
}

// ---- slots ------------------------------------------------------------------------------------------------------

std::int32_t SequenceState::NewNode(std::int32_t op) {
  const auto o = static_cast<std::size_t>(op);
  std::int32_t x = ops_[o].free;
  if (x != kNone) {
    ops_[o].free = N(x).next;
    return x;
  }
  x = static_cast<std::int32_t>(nodes_.size());
  nodes_.emplace_back();
  N(x).op = op;
  N(x).end = x;
  const std::size_t outputs = Makes(op).size();
  if (outputs > 1 || !plain_) {
    N(x).ends = static_cast<std::int32_t>(ends_.size());
    ends_.resize(ends_.size() + outputs, x);
    if (!plain_) bad_.resize(ends_.size(), 0);
  }
  return x;
}

void SequenceState::FreeNode(std::int32_t node) {
  std::int32_t& head = ops_[static_cast<std::size_t>(N(node).op)].free;
  N(node).next = head;
  N(node).alive = N(node).written = false;
  head = node;
}

std::int32_t SequenceState::EventAt(std::int32_t slot) const {
  auto b = static_cast<std::size_t>(slot / kBlock);
  std::uint64_t mask = occupied_[b] & (~std::uint64_t{0} << (slot % kBlock));
  for (;;) {
    while (mask != 0) {
      const std::int32_t x = node_at_[b * kBlock + static_cast<std::size_t>(std::countr_zero(mask))];
      if (N(x).alive) return x;
      mask &= mask - 1;
    }
    if (++b == occupied_.size()) return end_;
    mask = occupied_[b];
  }
}

std::int32_t SequenceState::PlaceInStage(std::int32_t op, std::int32_t before) const {
  const auto rank_of = [&](std::int32_t x) { return instance_.rank[static_cast<std::size_t>(x)]; };
  const std::int32_t rank = rank_of(op);
  for (;;) {
    const std::int32_t p = Previous(before);
    if (p == begin_ || !IsRepeat(p)) break;
    const std::int32_t other = rank_of(this->op(p));
    if (other == rank) return kNone;
    if (other < rank) break;
    before = p;
  }
  // and nothing smaller may follow in the stage
  for (std::int32_t q = before; q != end_ && IsRepeat(q); q = Next(q)) {
    const std::int32_t other = rank_of(this->op(q));
    if (other == rank) return kNone;
    if (other > rank) break;
    before = Next(q);
  }
  return before;
}

std::int32_t SequenceState::Next(std::int32_t node) const {
  const std::int32_t s = slot(node) + 1;
  return s >= profile_.slots() ? end_ : EventAt(s);
}

std::int32_t SequenceState::Previous(std::int32_t node) const {
  const std::int32_t s = slot(node) - 1;
  if (s < 0) return begin_;
  auto b = static_cast<std::size_t>(s / kBlock);
  std::uint64_t mask = occupied_[b] & (~std::uint64_t{0} >> (kBlock - 1 - s % kBlock));
  for (;;) {
    while (mask != 0) {
      const auto bit = static_cast<std::size_t>(kBlock - 1 - std::countl_zero(mask));
      const std::int32_t x = node_at_[b * kBlock + bit];
      if (N(x).alive) return x;
      mask &= ~(std::uint64_t{1} << bit);
    }
    if (b-- == 0) return begin_;
    mask = occupied_[b];
  }
}

// ---- bindings ---------------------------------------------------------------------------------------------------

void SequenceState::AddRepeat(std::int32_t node) {
  N(node).repeat = static_cast<std::int32_t>(repeats_.size());
  repeats_.push_back(node);
}

void SequenceState::RemoveRepeat(std::int32_t node) {
  const auto i = static_cast<std::size_t>(N(node).repeat);
  repeats_[i] = repeats_.back();
  N(repeats_[i]).repeat = static_cast<std::int32_t>(i);
  repeats_.pop_back();
  N(node).repeat = kNone;
}

void SequenceState::Link(std::int32_t node, std::int32_t prev, std::int32_t next) {
  Node& x = N(node);
  const auto o = static_cast<std::size_t>(x.op);
  x.prev = prev;
  x.next = next;
  (prev == kNone ? ops_[o].first : N(prev).next) = node;
  (next == kNone ? ops_[o].last : N(next).prev) = node;
  ++ops_[o].count;
  if (prev != kNone)
    AddRepeat(node);
  else if (next != kNone)
    AddRepeat(next);
}

// Leaves the node's own links as they are, so that Link can put it back.
void SequenceState::Unlink(std::int32_t node) {
  const Node& x = N(node);
  const auto o = static_cast<std::size_t>(x.op);
  (x.prev == kNone ? ops_[o].first : N(x.prev).next) = x.next;
  (x.next == kNone ? ops_[o].last : N(x.next).prev) = x.prev;
  --ops_[o].count;
  if (x.prev != kNone)
    RemoveRepeat(node);
  else if (x.next != kNone)
    RemoveRepeat(x.next);
}

std::int32_t SequenceState::ServerOf(std::int32_t value, std::int32_t before) const {
  const std::int32_t s = slot(before);
  std::int32_t x = LastOf(MakerOf(value));
  while (x != kNone && slot(x) >= s) x = PreviousOf(x);
  return x;
}

std::int32_t SequenceState::LastUse(std::int32_t node, std::size_t k) const {
  const Node& x = N(node);
  const auto v = static_cast<std::size_t>(Makes(x.op)[k]);
  std::int32_t best = node, best_slot = x.slot;
  if (x.next == kNone && values_[v].kept) return end_;
  const std::int32_t limit = x.next == kNone ? profile_.slots() : slot(x.next);
  const auto readers = instance_.readers[v];
  work_ += 2 + 2 * static_cast<std::int64_t>(readers.size());
  for (const std::int32_t r : readers) {
    std::int32_t y = LastOf(r);
    while (y != kNone && slot(y) >= limit) y = PreviousOf(y);
    if (y != kNone && slot(y) > best_slot) {
      best = y;
      best_slot = slot(y);
    }
  }
  if (plain_) return best;
  for (const std::int32_t c : carried_[v]) {
    std::int32_t y = LastOf(MakerOf(c));
    while (y != kNone && slot(y) >= limit) y = PreviousOf(y);
    for (; y != kNone && slot(y) >= x.slot; y = PreviousOf(y)) {
      const std::int32_t e = EndOf(y, OutputIndex(c));
      if (slot(e) > best_slot) {
        best = e;
        best_slot = slot(e);
      }
    }
  }
  return best;
}

std::int32_t SequenceState::NextUse(std::int32_t server, std::int32_t value, std::int32_t after) const {
  const std::int32_t from = slot(after);
  const std::int32_t limit = NextOf(server) == kNone ? profile_.slots() : slot(NextOf(server));
  std::int32_t best = kNone, best_slot = limit;
  const auto readers = instance_.readers[static_cast<std::size_t>(value)];
  work_ += 2 + 2 * static_cast<std::int64_t>(readers.size());
  for (const std::int32_t r : readers)
    for (std::int32_t y = LastOf(r); y != kNone && slot(y) > from; y = PreviousOf(y))
      if (slot(y) < best_slot) {
        best = y;
        best_slot = slot(y);
      }
  if (best == kNone && NextOf(server) == kNone && values_[static_cast<std::size_t>(value)].kept) return end_;
  return best;
}

bool SequenceState::Unused(std::int32_t node) const {
  const std::size_t outputs = Makes(N(node).op).size();
  for (std::size_t k = 0; k < outputs; ++k)
    if (EndOf(node, k) != node) return false;
  return true;
}

void SequenceState::SetEnd(std::int32_t node, std::size_t k, std::int32_t end) {
  const std::int32_t old = EndOf(node, k);
  const std::int32_t value = Makes(N(node).op)[k];
  if (old != end) {
    log_.push_back({Change::kEnd, node, static_cast<std::int32_t>(k), old});
    EndRef(node, k) = end;
    const std::int64_t bytes = values_[static_cast<std::size_t>(value)].bytes;
    if (bytes != 0) {
      if (slot(old) < slot(end))
        stretches_.push_back({old, end, bytes});
      else
        stretches_.push_back({end, old, -bytes});
    }
  }
  if (plain_) return;
  RecheckConsumers(node, k);
  if (old != end) CarrierEndMoved(node, value, old, end);
}

std::int32_t SequenceState::Insert(std::int32_t op, std::int32_t before) { return InsertNode(NewNode(op), before); }

std::int32_t SequenceState::InsertNode(std::int32_t x, std::int32_t before) {
  const auto o = static_cast<std::size_t>(N(x).op);
  Place(x, before);
  const std::int32_t here = slot(x);
  std::int32_t next = kNone, prev = ops_[o].last;
  while (prev != kNone && slot(prev) > here) {
    next = prev;
    prev = PreviousOf(prev);
  }
  Link(x, prev, next);
  N(x).alive = true;
  N(x).written = false;
  segments_fresh_ = false;
  log_.push_back({Change::kInsert, x, 0, 0});
  points_.push_back({x, ops_[o].own_bytes + kHole});
  AddDuration(ops_[o].duration);
  ++executions_;
  work_ += 20;

  const auto makes = instance_.makes[o];
  for (std::size_t k = 0; k < makes.size(); ++k) {
    EndRef(x, k) = x;
    if (!plain_) bad_[static_cast<std::size_t>(N(x).ends) + k] = 0;
  }
  for (const std::int32_t v : instance_.reads[o]) {
    const std::int32_t server = ServerOf(v, x);
    if (server == kNone) return kNone;
    const std::size_t k = OutputIndex(v);
    if (slot(EndOf(server, k)) < here)
      SetEnd(server, k, x);
    else if (!plain_)
      RecheckConsumers(server, k);
    work_ += 3;
  }
  for (std::size_t k = 0; k < makes.size(); ++k) {
    if (prev == kNone) {
      SetEnd(x, k, LastUse(x, k));
    } else if (plain_) {
      const std::int32_t e = EndOf(prev, k);
      if (slot(e) > here) {
        SetEnd(prev, k, LastUse(prev, k));
        SetEnd(x, k, e);
      }
    } else if (slot(EndOf(prev, k)) > here) {
      // what `prev` carried before x stays with it
      SetEnd(prev, k, LastUse(prev, k));
      SetEnd(x, k, LastUse(x, k));
    }
  }
  return x;
}

bool SequenceState::Erase(std::int32_t node) {
  const auto o = static_cast<std::size_t>(N(node).op);
  const std::int32_t prev = PreviousOf(node);
  const auto makes = instance_.makes[o];
  if (prev == kNone && (NextOf(node) == kNone || !Unused(node))) return false;
  segments_fresh_ = false;
  AddDuration(-ops_[o].duration);
  --executions_;
  log_.push_back({Change::kErase, node, 0, 0});
  points_.push_back({node, -(ops_[o].own_bytes + kHole)});
  work_ += 20;
  // its outputs' ends go back to itself first: whatever they pinned is let go while it is still linked
  std::int32_t ends[8];
  std::vector<std::int32_t> more;
  if (makes.size() > 8) more.resize(makes.size());
  std::int32_t* old = makes.size() > 8 ? more.data() : ends;
  for (std::size_t k = 0; k < makes.size(); ++k) {
    old[k] = EndOf(node, k);
    if (!plain_ || old[k] != node) SetEnd(node, k, node);
  }
  // Only now: the end of a view moves its base's, which is looked at again then.
  if (!plain_)
    for (std::size_t k = 0; k < makes.size(); ++k) NoteBad(node, k, false);
  Unlink(node);
  N(node).alive = false;
  for (const std::int32_t v : instance_.reads[o]) {
    const std::int32_t server = ServerOf(v, node);
    const std::size_t k = OutputIndex(v);
    if (EndOf(server, k) == node)
      SetEnd(server, k, LastUse(server, k));
    else if (!plain_)
      RecheckConsumers(server, k);
    work_ += 3;
  }
  if (prev != kNone)
    for (std::size_t k = 0; k < makes.size(); ++k) {
      if (plain_) {
        if (old[k] != node) SetEnd(prev, k, old[k]);
      } else {
        SetEnd(prev, k, LastUse(prev, k));
      }
    }
  return true;
}

}  // namespace ebb
