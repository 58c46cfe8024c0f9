// SPDX-License-Identifier: Apache-2.0
//
// The moves of the annealing:
//   split      a value resident across an event over the budget is dropped there and made again for its next reader;
//              inputs that would have to live longer for it are made again too, at random (the cascade)
//   erase      a repeat goes, and the repeats that only it read
//   shift      a repeat elsewhere between the execution before it and its first reader
//   replace    erase, then split something else across the stretch that the repeat had freed
//   move       free order: a first execution elsewhere in its window; `drag` takes inputs along that only it reads
//
// What the numbers said (as in annealing.cpp):
//  - Where to look for something to drop: makers at distances of all scales before the event (log-uniform) and readers
//    after it. Uniform over all ops alone: RL n=1000 at 0.8 2.752, n=500 3.160 to 3.181; with log-uniform 2.686 and
//    3.105 in the same 4 s. Readers for half of the tries: no better (2.81, 2.96), for a third: 2.70.
#include <algorithm>

#include "heuristics/annealing.hpp"

namespace ebb {
namespace {
constexpr std::int32_t kNone = SequenceState::kNone;
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
}  // namespace

bool Annealing::Propose(Move move) {
  budget_of_move_ = 12;
  inserted_.clear();
  switch (move) {
    case kSplitHot: return SplitHot();
    case kSplitReader: return SplitReader();
    case kErase: {
      const std::int32_t x = RandomRepeat();
      return x != kNone && EraseWithOrphans(x);
    }
    case kShift: return Shift();
    case kReplace: return Replace();
    case kMoveFirst: return MoveFirst(false);
    case kDragFirst: return MoveFirst(true);
    case kSplitBlock: return SplitBlock(EventToRelieve());
    case kEraseBlock: {
      const std::int32_t x = RandomRepeat();
      return x != kNone && EraseBlock(x);
    }
    case kReplaceBlock: return ReplaceBlock();
    case kMoves: break;
  }
  return false;
}

bool Annealing::MayRun(std::int32_t op) const {
  return in_.may_repeat[At(op)] != 0 &&
         (params_.max_executions == 0 || state_.executions_of(op) < params_.max_executions);
}

std::int32_t Annealing::RandomEvent() {
  const std::int32_t low = local_ ? low_ : 0, high = local_ ? high_ : state_.slots();
  const std::int32_t x = state_.EventAt(low + random_.Below32(high - low));
  return x == state_.Begin() ? state_.Next(x) : x;
}

std::int32_t Annealing::RandomRepeat() {
  if (!local_) {
    const auto& repeats = state_.repeats();
    return repeats.empty() ? kNone : repeats[At(random_.Below32(static_cast<std::int64_t>(repeats.size())))];
  }
  while (!window_repeats_.empty()) {
    const std::int32_t i = random_.Below32(static_cast<std::int64_t>(window_repeats_.size()));
    const std::int32_t x = window_repeats_[At(i)];
    if (state_.Alive(x) && state_.IsRepeat(x)) return x;
    window_repeats_[At(i)] = window_repeats_.back();
    window_repeats_.pop_back();
  }
  return kNone;
}

// As a double: the sum of durations near 2^63 would overflow.
double Annealing::DurationWith(std::int32_t op) const {
  return static_cast<double>(state_.duration()) + static_cast<double>(in_.duration[At(op)]);
}

// One execution of `op` before event `before`; in staged order it goes to its place by rank within that stage.
std::int32_t Annealing::InsertOne(std::int32_t op, std::int32_t before) {
  if (DurationWith(op) > kLongest) return kNone;
  if (params_.order == OrderMode::kStaged) {
    before = state_.PlaceInStage(op, before);
    if (before == kNone) return kNone;
  }
  const std::int32_t x = state_.Insert(op, before);
  if (local_ && x != kNone) inserted_.push_back(x);
  return x;
}

// An execution of `op` before `before`; an input that would have to live longer for it may be made again as well.
bool Annealing::InsertWithInputs(std::int32_t op, std::int32_t before) {
  if (!MayRun(op)) return false;
  if (DurationWith(op) > dearest_) return false;
  --budget_of_move_;
  if (cascade_ > 0 && budget_of_move_ > 0) {
    for (const std::int32_t v : in_.reads[At(op)]) {
      const std::int32_t maker = in_.maker[At(v)];
      if (maker < 0 || !MayRun(maker)) continue;
      const std::int32_t server = state_.ServerOf(v, before);
      if (server == kNone) return false;
      if (!state_.Before(state_.EndOf(server, state_.OutputIndex(v)), before)) continue;
      if (budget_of_move_ > 0 && random_.Chance(cascade_) && !InsertWithInputs(maker, before)) return false;
    }
  }
  return InsertOne(op, before) != kNone;
}

void DrawCascade(QuickRandom& random, double& cascade) {
  static constexpr double kLevels[] = {0.0, 0.0, 0.3, 0.6, 1.0, 1.0};
  cascade = kLevels[random.Below(6)];
}

// One over the budget; kNone where none is found.
std::int32_t Annealing::HotEvent() {
  if (state_.excess() == 0) return kNone;
  if (!local_ || windowed_) return state_.FindExcess(random_.Below(state_.excess()));
  for (int tries = 0; tries < 6; ++tries) {
    const std::int32_t x = RandomEvent();
    if (state_.Over(x)) return x;
  }
  return kNone;
}

bool Annealing::SplitHot() {
  const std::int32_t x = HotEvent();
  return x == kNone ? SplitReader() : SplitAt(x);
}

// About where an event stands in the given order: the rank of the next first execution nearby.
std::int32_t Annealing::RankAt(std::int32_t event) const {
  for (int i = 0; i < 16 && event != state_.End() && state_.IsRepeat(event); ++i) event = state_.Next(event);
  return event == state_.End() ? static_cast<std::int32_t>(in_.num_ops) : in_.rank[At(state_.op(event))];
}

// Something that is resident across `event`, is not read there and may be made again for its next reader. No value:
// none was found.
Annealing::Across Annealing::DrawAcross(std::int32_t event) {
  constexpr Across kNothing{kNone, kNone, kNone};
  if (event == state_.Begin() || event == state_.End()) return kNothing;
  const std::int32_t here = state_.slot(event), rank = RankAt(event);
  for (int tries = 0; tries < 12; ++tries) {
    std::int32_t v;
    if (tries % 3 == 0) {
      // one that lies there in the given order
      v = live_.Draw(rank, random_);
      if (v < 0) continue;
    } else if (tries % 3 == 2) {
      // by a reader after the event
      const std::int32_t room = state_.slots() - here - 1;
      if (room < 1) continue;
      const std::int32_t x = state_.EventAt(here + static_cast<std::int32_t>(random_.LogUniform(room)));
      if (x == state_.End()) continue;
      const auto reads = in_.reads[At(state_.op(x))];
      if (reads.empty()) continue;
      v = reads[static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(reads.size())))];
    } else {
      // by a maker before it
      if (here < 2) continue;
      const std::int32_t x = state_.EventAt(here - static_cast<std::int32_t>(random_.LogUniform(here)));
      if (x == state_.Begin() || x == state_.End()) continue;
      const auto makes = in_.makes[At(state_.op(x))];
      if (makes.empty()) continue;
      v = makes[makes.size() == 1 ? 0
                                  : static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(makes.size())))];
    }
    const std::int32_t op = in_.maker[At(v)];
    if (op < 0 || !MayRun(op)) continue;
    const std::int32_t server = state_.ServerOf(v, event);
    if (server == kNone || !state_.Before(event, state_.EndOf(server, state_.OutputIndex(v)))) continue;
    const auto reads = in_.reads[At(state_.op(event))];
    if (std::find(reads.begin(), reads.end(), v) != reads.end()) continue;
    const std::int32_t use = state_.NextUse(server, v, event);
    if (use == kNone) continue;
    return {v, server, use};
  }
  return kNothing;
}

// Drops something that is resident across `event` and makes it again for its next reader.
bool Annealing::SplitAt(std::int32_t event) {
  const Across across = DrawAcross(event);
  if (across.value == kNone) return false;
  DrawCascade(random_, cascade_);
  return InsertWithInputs(in_.maker[At(across.value)], across.use);
}

bool Annealing::SplitReader() {
  const std::int32_t reader = RandomEvent();
  if (reader == state_.End()) return false;
  const auto reads = in_.reads[At(state_.op(reader))];
  if (reads.empty()) return false;
  const std::int32_t v = reads[static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(reads.size())))];
  const std::int32_t op = in_.maker[At(v)];
  if (op < 0 || !MayRun(op)) return false;
  DrawCascade(random_, cascade_);
  return InsertWithInputs(op, reader);
}

bool Annealing::EraseWithOrphans(std::int32_t node) {
  const std::int32_t op = state_.op(node);
  std::int32_t servers[16];
  int count = 0;
  for (const std::int32_t v : in_.reads[At(op)]) {
    if (count == 16) break;
    const std::int32_t s = state_.ServerOf(v, node);
    if (s != kNone && s != state_.Begin() && state_.IsRepeat(s)) servers[count++] = s;
  }
  if (!state_.Erase(node)) return false;
  for (int i = 0; i < count; ++i) {
    // one of them may have gone already with another
    const std::int32_t s = servers[i];
    if (state_.Alive(s) && state_.IsRepeat(s) && state_.Unused(s) && !EraseWithOrphans(s)) return false;
  }
  return true;
}

// The first event that needs anything of what the execution made.
std::int32_t Annealing::FirstUse(std::int32_t node) const {
  std::int32_t best = state_.NextOf(node) == kNone ? state_.End() : state_.NextOf(node);
  for (const std::int32_t v : in_.makes[At(state_.op(node))]) {
    const std::int32_t use = state_.NextUse(node, v, node);
    if (use != kNone && state_.Before(use, best)) best = use;
  }
  return best;
}

// A repeat goes elsewhere between the execution before it and its first reader.
bool Annealing::Shift() {
  const std::int32_t x = RandomRepeat();
  if (x == kNone) return false;
  const std::int32_t use = FirstUse(x);
  std::int32_t target;
  const double r = random_.Unit();
  if (r < 0.3) {
    target = use;
  } else if (r < 0.8) {
    const std::int64_t d = random_.LogUniform(64);
    const std::int64_t s = state_.slot(x) + (random_.Below(2) == 0 ? -d : d + 1);
    if (s <= state_.slot(state_.PreviousOf(x)) || s > state_.slot(use)) return false;
    target = state_.EventAt(static_cast<std::int32_t>(s));
  } else {
    const std::int32_t lo = state_.slot(state_.PreviousOf(x)) + 1;
    target = state_.EventAt(lo + random_.Below32(state_.slot(use) - lo + 1));
  }
  if (target == x || state_.Next(x) == target) return false;
  return InsertOne(state_.op(x), target) != kNone && EraseWithOrphans(x);
}

// A repeat goes; something else that is resident where it saved memory is dropped instead.
bool Annealing::Replace() {
  const std::int32_t x = RandomRepeat();
  if (x == kNone) return false;
  const std::int32_t lo = state_.slot(state_.PreviousOf(x)), hi = state_.slot(x);
  if (!EraseWithOrphans(x)) return false;
  const std::int32_t event = state_.EventAt(lo + 1 + random_.Below32(std::max(1, hi - lo - 1)));
  return SplitAt(event);
}

// Free order: a first execution goes elsewhere between its inputs and its first reader. With `drag` the inputs that
// only it needs come along.
bool Annealing::MoveFirst(bool drag) {
  const std::int32_t x = RandomEvent();
  if (x == state_.End() || state_.IsRepeat(x)) return false;
  const std::int32_t op = state_.op(x);
  std::int32_t lo = 0;
  for (const std::int32_t v : in_.reads[At(op)]) {
    const std::int32_t maker = in_.maker[At(v)];
    if (maker >= 0) lo = std::max(lo, state_.slot(state_.FirstOf(maker)));
  }
  const std::int32_t use = FirstUse(x);
  const std::int32_t hi = state_.slot(use), here = state_.slot(x);
  std::int32_t target;
  const double r = random_.Unit();
  if (r < 0.15) {
    target = use;
  } else if (r < 0.3) {
    target = state_.EventAt(lo + 1);
  } else {
    const bool later = random_.Below(2) == 0;
    const std::int32_t room = later ? hi - here : here - lo;
    if (room <= 1) return false;
    const auto d = static_cast<std::int32_t>(r < 0.8 ? random_.LogUniform(room) : 1 + random_.Below(room));
    const std::int32_t s = later ? here + d : here - d;
    if (s <= lo || s > hi) return false;
    target = state_.EventAt(s);
  }
  if (target == x || state_.Next(x) == target) return false;
  const bool later = state_.Before(x, target);
  const std::int32_t y = state_.Insert(op, target);
  if (y == kNone || !state_.Erase(x)) return false;
  if (!drag) return true;
  std::int32_t at = y;
  for (const std::int32_t v : in_.reads[At(op)]) {
    if (budget_of_move_-- <= 0) break;
    const std::int32_t maker = in_.maker[At(v)];
    if (maker < 0 || state_.executions_of(maker) != 1) continue;
    const std::int32_t s = state_.FirstOf(maker);
    if (!later) continue;
    if (FirstUse(s) != y || state_.Next(s) == at) continue;
    const std::int32_t moved = state_.Insert(maker, at);
    if (moved == kNone || !state_.Erase(s)) return false;
    at = moved;
  }
  return true;
}

}  // namespace ebb
