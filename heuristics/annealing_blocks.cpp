// SPDX-License-Identifier: Apache-2.0
//
// Moves of several repeats at once, for what single ones do not reach. A gate of a recurrent cell is dear to make again
// alone (its two products first), and so are the two others; all three together cost hardly more than one. A view
// keeps its base, so dropping either alone frees nothing. And a chain of repeats that goes must go as a whole: each
// link alone would make its input live long.
//
//   split block     a value across an event is dropped, as by a split. All inputs that are gone by its next reader are
//                   made again as well, and then everything that lies across the event and can be had from these
//                   repeats for its own duration alone: each for its own next reader.
//   erase block     a repeat goes, with the repeats that read it, and then those that only they read
//   replace block   the second, then the first somewhere in the stretch that the repeat had freed
//
// In every other cycle, and only where there are views. TDI after two units of work, two to four seeds: unroll_gan-512
// at 0.5 of DTR's peak 3.71 and 3.71 (without 3.74 and 3.75; bound 3.66), inceptionv4-64 at 0.2 on average 23.1 (23.3),
// unet, resnet152, vit_l_16 the same. In all cycles lstm-128 at 0.3 lost: 12.41 and 12.35 where it has 12.10 and 12.15
// without.
#include <algorithm>

#include "heuristics/annealing.hpp"

namespace ebb {
namespace {
constexpr std::int32_t kNone = SequenceState::kNone;
constexpr std::size_t kLargestBlock = 48;
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
}  // namespace

std::int32_t Annealing::EventToRelieve() {
  const std::int32_t x = HotEvent();
  return x == kNone ? RandomEvent() : x;
}

bool Annealing::SplitBlock(std::int32_t event) {
  const Across across = DrawAcross(event);
  if (across.value == kNone || !PlanBlock(across, event)) return false;
  std::sort(leaves_.begin(), leaves_.end(), [&](const Leaf& a, const Leaf& b) {
    const std::int32_t x = state_.slot(a.use), y = state_.slot(b.use);
    return x < y || (x == y && in_.rank[At(a.op)] < in_.rank[At(b.op)]);
  });
  return std::all_of(leaves_.begin(), leaves_.end(), [&](const Leaf& leaf) {
    return planned_[At(leaf.op)] != counts_.moves || InsertPlanned(leaf.op, leaf.use);
  });
}

// Which ops are to run again; false where that is too dear.
bool Annealing::PlanBlock(const Across& across, std::int32_t event) {
  static constexpr double kReach[] = {0.5, 0.8, 1.0, 1.0};
  if (planned_.empty()) planned_.assign(in_.num_ops, 0);
  reach_ = kReach[random_.Below(4)];
  block_.clear();
  leaves_.clear();
  const std::int32_t op = in_.maker[At(across.value)];
  planned_[At(op)] = counts_.moves;
  block_.push_back(op);
  leaves_.push_back({op, across.use});
  block_duration_ = DurationWith(op);
  PlanInputs(op, across.use, event);
  for (std::size_t i = 0; i < block_.size() && block_.size() < kLargestBlock && block_duration_ <= dearest_; ++i)
    PlanReaders(block_[i], event);
  return block_duration_ <= dearest_;
}

// What `op` reads and does not find at `use`. What it makes a view of is made again even if it lies there: it is to go.
void Annealing::PlanInputs(std::int32_t op, std::int32_t use, std::int32_t event) {
  for (const std::int32_t v : in_.reads[At(op)]) {
    const std::int32_t maker = in_.maker[At(v)];
    if (maker < 0 || planned_[At(maker)] == counts_.moves || !MayRun(maker)) continue;
    const std::int32_t server = state_.ServerOf(v, use);
    if (server == kNone) continue;
    if (!state_.Before(state_.EndOf(server, state_.OutputIndex(v)), use)) {
      if (in_.plain || !state_.Before(server, event)) continue;
      bool viewed = false;
      for (const std::int32_t w : in_.makes[At(op)]) viewed = viewed || in_.carrier[At(w)] == v;
      if (!viewed) continue;
    }
    if (block_.size() >= kLargestBlock || block_duration_ > dearest_) return;
    planned_[At(maker)] = counts_.moves;
    block_.push_back(maker);
    block_duration_ += static_cast<double>(in_.duration[At(maker)]);
    PlanInputs(maker, use, event);
  }
}

// What lies across the event, is read later, and was made from what `op` makes: where everything else that it takes is
// there as well.
void Annealing::PlanReaders(std::int32_t op, std::int32_t event) {
  for (const std::int32_t made : in_.makes[At(op)]) {
    for (const std::int32_t reader : in_.readers[At(made)]) {
      if (planned_[At(reader)] == counts_.moves || !MayRun(reader)) continue;
      std::int32_t use = kNone;
      for (const std::int32_t v : in_.makes[At(reader)]) {
        const std::int32_t server = state_.ServerOf(v, event);
        if (server == kNone || !state_.Before(event, state_.EndOf(server, state_.OutputIndex(v)))) continue;
        const std::int32_t next = state_.NextUse(server, v, event);
        if (next != kNone && (use == kNone || state_.Before(next, use))) use = next;
      }
      if (use == kNone) continue;
      const auto reads = in_.reads[At(reader)];
      const bool ready = std::all_of(reads.begin(), reads.end(), [&](std::int32_t v) {
        const std::int32_t maker = in_.maker[At(v)];
        if (maker < 0 || planned_[At(maker)] == counts_.moves) return true;
        const std::int32_t server = state_.ServerOf(v, use);
        return server != kNone && !state_.Before(state_.EndOf(server, state_.OutputIndex(v)), use);
      });
      if (!ready || !random_.Chance(reach_)) continue;
      if (block_.size() >= kLargestBlock) return;
      planned_[At(reader)] = counts_.moves;
      block_.push_back(reader);
      leaves_.push_back({reader, use});
      block_duration_ += static_cast<double>(in_.duration[At(reader)]);
    }
  }
}

bool Annealing::InsertPlanned(std::int32_t op, std::int32_t before) {
  planned_[At(op)] = -1;
  for (const std::int32_t v : in_.reads[At(op)]) {
    const std::int32_t maker = in_.maker[At(v)];
    if (maker >= 0 && planned_[At(maker)] == counts_.moves && !InsertPlanned(maker, before)) return false;
  }
  return InsertOne(op, before) != kNone;
}

bool Annealing::EraseBlock(std::int32_t node) {
  if (budget_of_move_-- <= 0) return true;
  std::int32_t readers[16];
  int count = 0;
  for (const std::int32_t v : in_.makes[At(state_.op(node))]) {
    std::int32_t y = state_.NextUse(node, v, node);
    for (; y != kNone && y != state_.End() && count < 16; y = state_.NextUse(node, v, y))
      if (state_.IsRepeat(y)) readers[count++] = y;
  }
  for (int i = 0; i < count; ++i)
    if (state_.Alive(readers[i]) && state_.IsRepeat(readers[i]) && !EraseBlock(readers[i])) return false;
  return !state_.Alive(node) || !state_.IsRepeat(node) || EraseWithOrphans(node);
}

bool Annealing::ReplaceBlock() {
  const std::int32_t x = RandomRepeat();
  if (x == kNone) return false;
  const std::int32_t lo = state_.slot(state_.PreviousOf(x)), hi = state_.slot(x);
  if (!EraseBlock(x)) return false;
  return SplitBlock(state_.EventAt(lo + 1 + random_.Below32(std::max(1, hi - lo - 1))));
}

}  // namespace ebb
