// SPDX-License-Identifier: Apache-2.0
//
// The walk: cycles, temperatures, the weight, windows, and what is accepted. Its moves: annealing_moves.cpp.
//
// What the numbers said (one thread of a loaded machine, CPU seconds, RL = the paper's layered graphs, TDI in percent):
//  - Refusing before evaluating. The threshold of a move is drawn first; even if it took the whole penalty away it
//  could
//    cost no more than that plus weight * excess. Splits beyond that stop while their cascade is being built. RL
//    n=1000: from 0.8 to 2.6 million moves a second, n=500: 0.87 to 3.1.
//  - Temperatures. RL n=100 at 0.64, free: from 10 mean durations a plan of 6.6319 in 0.02 to 0.2 s, from 3 with the
//    adaptive weight or from 1 none at all: the weight grows to its limit and the walk freezes over the budget. So
//    without a plan each cycle starts anew, from the start sequence and the base weight, hotter and hotter, every other
//    one with the weight held: n=100 at 0.62 fixed 12.2297 and n=250 at 0.7 fixed 14.1, where none was known. Going on
//    from the frozen walk: never.
//  - RL n=250 at 0.7, free: hot 10 gives 0.5662 in 0.7 s, hot 1 and 3 mostly stop at 2.6687.
//  - Training steps want it cold: 92,240 ops at 0.5 after 3 s from 0.864: hot 1 0.8638, 0.02 0.8486, 0.005 0.8251.
//  - Windows. 92,240 ops: walking all over 0.36 million moves a second (cache misses), in windows 1.0. 20 moves an
//  event
//    are enough: 150 and more only wait (2,306 ops, window 1,000: 0.8997 after 50, 0.917 after 300, 0.931 after 1,000).
//    Windows of 20,000 events: 0.906 against 0.8745 for up to 4,096.
//  - Saving every new best at once: a third of the time at 92,240 ops; now only when the walk leaves it.
#include "heuristics/annealing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ebb {
namespace {
constexpr int kBatch = 64;
constexpr std::int64_t kRoamEvents = 1024, kRoamMoves = 8192;
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
}  // namespace

Annealing::Annealing(const Instance& instance, const AnnealingParams& params)
    : in_(instance), params_(params), state_(instance, params.budget), live_(instance), random_(params.seed) {
  double sum = 0, bytes = 0;
  std::int64_t timed = 0, sized = 0;
  for (const std::int64_t d : in_.duration) {
    sum += static_cast<double>(d);
    timed += d > 0;
  }
  for (const std::int64_t b : in_.bytes) {
    bytes += static_cast<double>(b);
    sized += b > 0;
  }
  mean_duration_ = timed > 0 ? sum / static_cast<double>(timed) : 1.0;
  mean_bytes_ = sized > 0 ? bytes / static_cast<double>(sized) : 1.0;
  base_weight_ = weight_ = params_.weight * mean_duration_ / mean_bytes_;
  per_execution_ = 1e-3 * params_.cold * mean_duration_;
  cycle_length_ = params_.cycle > 0
                      ? params_.cycle
                      : std::clamp<std::int64_t>(300 * static_cast<std::int64_t>(in_.num_ops), 20'000, 3'000'000);
}

void Annealing::Start(std::span<const std::int32_t> sequence) {
  start_.assign(sequence.begin(), sequence.end());
  state_.Load(sequence);
  started_ = true;
  NoteBest();
  polish_ = has_plan() && state_.executions() > static_cast<std::int64_t>(in_.num_ops);
  BeginCycle();
}

void Annealing::Offer(std::span<const std::int32_t> sequence) {
  const SequenceFacts facts = EvaluateSequence(in_, sequence);
  if (!facts.valid || facts.peak > params_.budget) return;
  const auto executions = static_cast<std::int64_t>(sequence.size());
  if (has_plan() &&
      (facts.duration > best_duration_ || (facts.duration == best_duration_ && executions >= best_executions_)))
    return;
  // A great step forward: no use in finishing the present cycle.
  const double before = static_cast<double>(best_duration_ - in_.base_duration);
  if (!has_plan() || static_cast<double>(facts.duration - in_.base_duration) < 0.95 * before) cycle_moves_ = length_;
  best_.assign(sequence.begin(), sequence.end());
  best_duration_ = facts.duration;
  best_executions_ = executions;
  best_peak_ = facts.peak;
  offered_ = true;
  unsaved_ = pending_ = false;
}

void Annealing::BeginCycle() {
  // The last, longest cycles count most; walks of odd and even seeds are never at the same temperature for long.
  static constexpr double kHot[2][6] = {{1.0, 10.0, 1.0, 3.0, 0.3, 1.0}, {0.1, 3.0, 1.0, 10.0, 0.03, 1.0}};
  static constexpr double kFirstHot[] = {1.0, 10.0, 3.0, 30.0, 10.0, 10.0};  // while there is no plan
  static constexpr double kWindowHot[] = {0.005, 0.01, 0.002, 0.02};
  cycle_moves_ = 0;
  blocks_ = !in_.plain && random_.Chance(0.5) ? params_.blocks : 0;
  const bool large = params_.window > 0 || (params_.window == 0 && in_.num_ops >= kWindowFrom);
  windowed_ = large && has_plan() && params_.goal == AnnealingParams::Goal::kDuration && !state_.repeats().empty();
  if (windowed_) {
    state_.Mark();
    OpenWindow();
    hot_ = params_.hot > 0 ? params_.hot : kWindowHot[random_.Below(4)];
  } else {
    const auto turn = static_cast<std::size_t>(counts_.cycles % 6);
    hot_ = params_.hot > 0 ? params_.hot : has_plan() ? kHot[params_.seed % 2][turn] : kFirstHot[turn];
    length_ = cycle_length_;
    if (polish_ && has_plan() && params_.hot <= 0) {
      // Good plans from elsewhere (a decoded relaxation) are lost above 0.05 and gain at 0.02 to 0.03.
      hot_ = 0.03;
      length_ = std::clamp<std::int64_t>(150 * static_cast<std::int64_t>(in_.num_ops), 10'000, 1'000'000);
    }
    if (!has_plan()) weight_ = base_weight_;  // a walk that froze over the budget must thaw
  }
  if (!windowed_) state_.Unmark();
  local_ = windowed_ || in_.num_ops >= kWindowFrom;
  if (local_ && !windowed_) Roam();
  polish_ = false;
  temperature_ = hot_ * mean_duration_;
}

// Around a repeat: that is where something can be gained.
void Annealing::OpenWindow() {
  const std::int64_t most = params_.window > 0 ? params_.window : 4096;
  const std::int64_t least = std::min<std::int64_t>(most, 256);
  const std::int64_t events = std::max(least, random_.LogUniform(most));
  const auto& repeats = state_.repeats();
  Settle(state_.slot(repeats[At(random_.Below32(static_cast<std::int64_t>(repeats.size())))]), events);
  length_ = std::max<std::int64_t>(20 * events, 5'000);
}

// A walk over a large sequence stays a while in one place, so that what it reads is in the cache, and then goes
// elsewhere: anywhere, to a repeat, or to where memory is short.
void Annealing::Roam() {
  const auto& repeats = state_.repeats();
  const std::int64_t kind = random_.Below(3);
  std::int32_t centre = random_.Below32(state_.slots());
  if (kind == 0 && !repeats.empty())
    centre = state_.slot(repeats[At(random_.Below32(static_cast<std::int64_t>(repeats.size())))]);
  if (kind == 1 && state_.excess() > 0) centre = state_.slot(state_.FindExcess(random_.Below(state_.excess())));
  Settle(centre, kRoamEvents);
  roam_at_ = cycle_moves_ + kRoamMoves;
}

void Annealing::Settle(std::int32_t centre, std::int64_t events) {
  const std::int64_t width =
      std::max<std::int64_t>(1, events * state_.slots() / std::max<std::int64_t>(1, state_.executions()));
  const std::int64_t low = centre - random_.Below(width);
  slots_then_ = state_.slots();
  low_ = static_cast<std::int32_t>(std::max<std::int64_t>(0, low));
  high_ = static_cast<std::int32_t>(std::min<std::int64_t>(slots_then_, low + width));
  window_repeats_.clear();
  for (std::int32_t x = state_.EventAt(low_); x != state_.End() && state_.slot(x) < high_; x = state_.Next(x))
    if (state_.IsRepeat(x)) window_repeats_.push_back(x);
}

bool Annealing::BetterThanBest() const {
  if (state_.excess() != 0) return false;
  return !has_plan() || state_.duration() < best_duration_ ||
         (state_.duration() == best_duration_ && state_.executions() < best_executions_);
}

void Annealing::SaveBest() {
  best_ = state_.Sequence();
  best_duration_ = state_.duration();
  best_executions_ = state_.executions();
  best_peak_ = state_.Peak();
  saved_at_ = counts_.moves;
  unsaved_ = pending_ = false;
}

// After a commit. Copying costs a pass: on large graphs it waits until the walk is about to leave (Step), and is not
// done more often than the moves in between pay for.
void Annealing::NoteBest() {
  if (params_.goal == AnnealingParams::Goal::kPeak) {
    if (state_.excess() != 0) return;
    SaveBest();
    state_.SetBudget(best_peak_ - 1);
    return;
  }
  if (state_.marked()) {
    if (!BetterThanBest()) return;
    best_duration_ = state_.duration();
    best_executions_ = state_.executions();
    pending_ = true;
    state_.Mark();
    return;
  }
  unsaved_ = BetterThanBest();
  if (unsaved_ && (!has_plan() || in_.num_ops <= 512)) SaveBest();
}

void Annealing::Run(WorkBudget& work) {
  if (!started_) return;
  std::int64_t seen = state_.work();
  while (!work.Exhausted()) {
    for (int i = 0; i < kBatch; ++i) Step();
    Adapt();
    const std::int64_t now = state_.work();
    work.Spend(2 * (now - seen) + kBatch * 150);
    seen = now;
  }
  if (unsaved_) SaveBest();
  if (pending_) {
    // Someone wants to see the best sequence: the cycle ends here, a copy is made.
    EndCycle();
    SaveBest();
  }
  work.Spend(state_.work() - seen);
}

void Annealing::EndCycle() {
  ++counts_.cycles;
  if (unsaved_) SaveBest();
  if (!windowed_ && length_ == cycle_length_)
    cycle_length_ = static_cast<std::int64_t>(static_cast<double>(cycle_length_) * params_.growth);
  // Back to the best, unless this is it or as good.
  const bool level = has_plan() && state_.excess() == 0 && state_.duration() == best_duration_;
  if (state_.marked() && !offered_) {
    if (!level || (pending_ && state_.executions() != best_executions_)) state_.ReturnToMark();
  } else if (has_plan()) {
    if (offered_ || !(windowed_ && level)) state_.Load(best_);
    polish_ = offered_;
    offered_ = false;
  } else if (!has_plan()) {
    state_.Load(start_);  // where it froze over the budget is no place to go on from
  }
  BeginCycle();
}

void Annealing::Adapt() {
  cycle_moves_ += kBatch;
  if (cycle_moves_ >= length_) {
    EndCycle();
    return;
  }
  if (local_ && !windowed_ && cycle_moves_ >= roam_at_) Roam();
  if (local_ && slots_then_ != state_.slots()) {
    const auto scale = static_cast<double>(state_.slots()) / slots_then_;
    slots_then_ = state_.slots();
    low_ = static_cast<std::int32_t>(low_ * scale);
    high_ = std::min(slots_then_, static_cast<std::int32_t>(high_ * scale) + 1);
  }
  const double done = static_cast<double>(cycle_moves_) / static_cast<double>(length_);
  const double cold = windowed_ ? hot_ * 0.25 : std::min(params_.cold, hot_ * 0.25);
  temperature_ = mean_duration_ * hot_ * std::pow(cold / hot_, done);
  if (!params_.fixed_weight && (has_plan() || counts_.cycles % 2 == 0)) {
    weight_ *= state_.excess() == 0 ? 0.97 : 1.03;
    weight_ = std::clamp(weight_, base_weight_ / 50, base_weight_ * (has_plan() ? 50 : 4));
  }
}

void Annealing::Step() {
  ++counts_.moves;
  Move move;
  const double r = random_.Unit();
  const bool repeats = !state_.repeats().empty();
  const bool free = params_.order == OrderMode::kFree;
  const bool over = state_.excess() > 0;
  if (free && r < 0.4)
    move = r < 0.3 ? kMoveFirst : kDragFirst;
  else {
    const double q = free ? (r - 0.4) / 0.6 : r;
    if (blocks_ > 0 && random_.Unit() < blocks_)
      move = !repeats || q < 0.4 ? kSplitBlock : q < 0.7 ? kEraseBlock : kReplaceBlock;
    else if (!repeats)
      move = over && q < 0.7 ? kSplitHot : kSplitReader;
    else if (q < 0.25)
      move = over ? kSplitHot : kSplitReader;
    else if (q < 0.4)
      move = kSplitReader;
    else if (q < 0.6)
      move = kErase;
    else if (q < 0.8)
      move = kShift;
    else
      move = kReplace;
  }
  ++counts_.tried[move];
  const std::int64_t duration = state_.duration(), executions = state_.executions();
  // At best the move takes the whole penalty away: what it may cost then, and not more, is known beforehand.
  const double limit = temperature_ * random_.Exponential();
  const double allowance = limit + weight_ * static_cast<double>(state_.excess());
  dearest_ = params_.goal == AnnealingParams::Goal::kPeak ? std::numeric_limits<double>::infinity()
                                                          : static_cast<double>(duration) + allowance;
  if (!Propose(move) || !state_.changed() || state_.violations() != 0) {
    state_.Rollback();
    return;
  }
  const double base =
      params_.goal == AnnealingParams::Goal::kPeak ? 0.0 : static_cast<double>(state_.duration() - duration);
  const double easy = base + per_execution_ * static_cast<double>(state_.executions() - executions);
  if (easy > allowance) {
    state_.Rollback();
    return;
  }
  // Above this much the move is refused, whatever else.
  const double most = weight_ > 0 ? (limit - easy) / weight_ : kLongest;
  const std::int64_t enough = most >= kLongest - static_cast<double>(state_.excess())
                                  ? std::numeric_limits<std::int64_t>::max()
                                  : state_.excess() + static_cast<std::int64_t>(std::floor(most)) + 1;
  const std::int64_t excess = state_.ExcessAfter(enough) - state_.excess();
  if (easy + weight_ * static_cast<double>(excess) > limit) {
    state_.Rollback();
    return;
  }
  if (unsaved_ && (easy > 0 || excess > 0)) {
    unsaved_ = false;
    if (counts_.moves - saved_at_ > static_cast<std::int64_t>(in_.num_ops / 16)) {
      state_.Rollback();  // the copy is of the state without the move, which is given up
      SaveBest();
      return;
    }
  }
  state_.Commit();
  if (local_)
    for (const std::int32_t x : inserted_)
      if (state_.Alive(x) && state_.slot(x) >= low_ && state_.slot(x) < high_) window_repeats_.push_back(x);
  ++counts_.accepted;
  ++counts_.taken[move];
  NoteBest();
}

}  // namespace ebb
