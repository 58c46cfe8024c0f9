// SPDX-License-Identifier: Apache-2.0
//
// The end of a transaction: what its changes of lifetimes would do to the profile (read only), writing them, or taking
// the bindings back. The stretches are first summed up into disjoint segments, so that each block of the profile is
// looked at once.
#include <algorithm>
#include <limits>

#include "heuristics/sequence_state.hpp"

namespace ebb {

void SequenceState::BuildSegments() {
  if (segments_fresh_) return;
  segments_fresh_ = true;
  borders_.clear();
  for (const Stretch& s : stretches_) {
    borders_.emplace_back(slot(s.after) + 1, s.bytes);
    borders_.emplace_back(slot(s.to) + 1, -s.bytes);
  }
  for (const Point& p : points_) {
    borders_.emplace_back(slot(p.node), p.bytes);
    borders_.emplace_back(slot(p.node) + 1, -p.bytes);
  }
  const std::size_t count = borders_.size();
  if (count <= 24) {
    for (std::size_t i = 1; i < count; ++i) {
      const auto b = borders_[i];
      std::size_t j = i;
      for (; j > 0 && borders_[j - 1].first > b.first; --j) borders_[j] = borders_[j - 1];
      borders_[j] = b;
    }
  } else {
    std::sort(borders_.begin(), borders_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  segments_.clear();
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < count;) {
    const std::int32_t s = borders_[i].first;
    for (; i < count && borders_[i].first == s; ++i) bytes += borders_[i].second;
    if (bytes != 0 && i < count) segments_.push_back({s, borders_[i].first - 1, bytes});
  }
  work_ += 4 * static_cast<std::int64_t>(count) + 5;
}

std::int64_t SequenceState::ExcessAfter(std::int64_t enough) {
  BuildSegments();
  std::int64_t sum = profile_.total();
  // What is saved first: then it can only go up.
  for (const Segment& s : segments_)
    if (s.bytes < 0) sum += profile_.Delta(s.first, s.last, s.bytes);
  for (const Segment& s : segments_)
    if (s.bytes > 0 && sum <= enough) sum += profile_.Delta(s.first, s.last, s.bytes, enough - sum);
  return sum;
}

void SequenceState::Commit() {
  BuildSegments();
  for (const Segment& s : segments_) profile_.Add(s.first, s.last, s.bytes);
  if (marked_) NoteCommit();
  for (const Change& c : log_) {
    if (c.kind == Change::kInsert && N(c.node).alive) {
      N(c.node).written = true;
    } else if (c.kind == Change::kErase) {
      TakeFromSlot(c.node);
      if (marked_ && N(c.node).written)
        N(c.node).written = false;  // kept for the way back
      else
        FreeNode(c.node);
    }
  }
  log_.clear();
  stretches_.clear();
  points_.clear();
  segments_fresh_ = false;
#ifdef EBB_CHECK
  CheckAgainstNaive();
#endif
}

void SequenceState::Rollback() {
  for (std::size_t i = log_.size(); i-- > 0;) {
    const Change c = log_[i];
    const auto o = static_cast<std::size_t>(N(c.node).op);
    switch (c.kind) {
      case Change::kInsert:
        Unlink(c.node);
        TakeFromSlot(c.node);
        FreeNode(c.node);
        AddDuration(-ops_[o].duration);
        --executions_;
        break;
      case Change::kErase:
        Link(c.node, PreviousOf(c.node), NextOf(c.node));
        N(c.node).alive = true;
        AddDuration(ops_[o].duration);
        ++executions_;
        break;
      case Change::kEnd: EndRef(c.node, static_cast<std::size_t>(c.index)) = c.before; break;
      case Change::kBad:
        violations_ += c.before - bad_[static_cast<std::size_t>(c.index)];
        bad_[static_cast<std::size_t>(c.index)] = static_cast<std::uint8_t>(c.before);
        break;
    }
  }
  log_.clear();
  stretches_.clear();
  points_.clear();
  segments_fresh_ = false;
}

}  // namespace ebb
