// SPDX-License-Identifier: Apache-2.0
//
// Construction. The best gap by lazy evaluation (Minoux 1978): a heap of upper bounds; what surfaces is evaluated anew
// and taken where it is still near the best. Savings shrink as the excess does, so old values are upper bounds, but for
// inputs that another repeat holds by now. Two bounds: what dropping the value saves by itself (one look at the
// profile), then all that the repeat reads (a transaction).
//
// What the numbers said (layered, 10,000 ops at 0.9 and 0.8, 100,000 at 0.9, unless said; percent, processor s):
//   - One heap for the real budget: 1.82 in 0.05 s, 16.5 in 0.25 s, 3.25 in 3.4 s. The budget lowered in ten steps from
//     the peak, so that gaps over the highest rows are chosen first: 1.73, 11.5, 2.81; in fifteen: 1.75, 10.9, 2.76.
//   - A step ends when nine tenths of its excess are gone: the rest is cheaper as part of the next one (three quarters,
//     ten steps: 11.5 at 0.8, a twentieth left 11.1 in more time). Run to its end each step looks at every gap of the
//     graph (13 million looks at 100,000 ops).
//   - Only the best 2 n gaps by their first bound go into the heap. With n / 4 of them 100,000 ops at 0.8 have used
//     them all up at 0.85 of the peak, with 12.6 % there; 2 n: 6 % there and a plan. n / 4 until they are used up
//     once, 2 n from then on: 25.4 % on the last step, where it is 17.3 with 2 n all the time.
//   - Bounds lowered by what a gap's repeat was last found to lose to what it holds (remembered from step to step):
//     half of the looks, but what is taken is worse (10,000 at 0.8: 14.2; with room for an error of 4: 11.4, no
//     sooner).
//   - Taking what is within a factor of 0.5 to 0.95 of the best bound: all the same.
//   - Afterwards a few repeats taken out and what is over the budget then covered anew, with noise in the ratios (ruin
//     and recreate): 300 rounds in 5 s without a gain at 0.9, 11.38 to 11.31 at 0.8, where local search gets to 11.2.
//   - The real budget at once with recursion for whatever a repeat misses (eviction): no plan.
#include "heuristics/gap_drops.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace ebb {
namespace {

constexpr std::int32_t kNone = SequenceState::kNone;
constexpr int kLevels = 15;
constexpr int kRest = 10;            // a level ends when all but this part of its excess is gone
constexpr double kNearly = 0.8;      // of the best bound is good enough
constexpr double kHeld = 0.9;        // of a gap's bound is not lost to what its repeat holds
constexpr std::size_t kCascade = 3;  // inputs made again with a repeat

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

GapDrops::GapDrops(const Instance& in, const GapDropsParams& params)
    : in_(in), params_(params), state_(in, params.budget) {
  double sum = 0;
  for (const std::int64_t d : in.duration) sum += static_cast<double>(d);
  small_ = 1e-3 * std::max(1.0, sum) / static_cast<double>(in.num_ops + 1);
}

void GapDrops::Charge(WorkBudget& work) {
  const std::int64_t now = state_.work();
  work.Spend(2 * (now - seen_) + 100);
  seen_ = now;
}

bool GapDrops::MayRun(std::int32_t op) const {
  return op >= 0 && in_.may_repeat[At(op)] != 0 &&
         (params_.max_executions == 0 || state_.executions_of(op) < params_.max_executions);
}

bool GapDrops::Run(WorkBudget& work) {
  if (phase_ == Phase::kBegin) {
    work.Spend(static_cast<Ticks>(in_.reads.items().size()) * 20);
    if (!EvaluateSequence(in_, in_.order).valid) phase_ = Phase::kDone;
    if (phase_ == Phase::kDone) return false;
    state_.Load(in_.order);
    peak_ = state_.Peak();
    level_ = 1;
    BeginLevel();
    Charge(work);
  }
  while (!work.Exhausted()) {
    if (phase_ == Phase::kLevel && state_.excess() > enough_ && !heap_.empty()) {
      Next();
    } else if (phase_ == Phase::kLevel) {
      EndLevel();
      work.Spend(static_cast<Ticks>(in_.reads.items().size()) * 10);
    } else if (phase_ == Phase::kPrune && !prune_.empty()) {
      Prune();
    } else {
      if (phase_ == Phase::kPrune) Save();
      phase_ = Phase::kDone;
      return false;
    }
    Charge(work);
  }
  return phase_ != Phase::kDone;
}

// ---- construction

void GapDrops::BeginLevel() {
  phase_ = Phase::kLevel;
  state_.SetBudget(peak_ - (peak_ - params_.budget) / kLevels * level_);
  if (level_ >= kLevels) state_.SetBudget(params_.budget);
  const std::int64_t start = state_.excess();
  enough_ = level_ < kLevels ? start / kRest : start / 16;
  commits_before_ = commits_;
  heap_ = {};
  if (start > 0) heap_ = std::priority_queue<Drop>({}, Collect());
}

void GapDrops::EndLevel() {
  if (level_ >= kLevels) {
    if (state_.excess() == 0) {
      BeginPruning();
      return;
    }
    if (commits_ == commits_before_) {
      phase_ = Phase::kDone;
      return;
    }
  } else {
    ++level_;
  }
  if (state_.executions() > 3 * static_cast<std::int64_t>(in_.num_ops) + 1000) {
    phase_ = Phase::kDone;  // nothing good comes of it
    return;
  }
  BeginLevel();
}

// The best gaps over events that are over the budget.
std::vector<GapDrops::Drop> GapDrops::Collect() {
  std::vector<Drop> all;
  const std::int64_t most_over = state_.Peak() - state_.budget();
  std::vector<std::int32_t> last(in_.num_values, kNone), since(in_.num_values, 0);
  std::int32_t over = 0;
  const auto use = [&](std::int32_t v, std::int32_t event) {
    const std::int32_t maker = in_.maker[At(v)];
    if (last[At(v)] == kNone || over <= since[At(v)] || in_.bytes[At(v)] == 0 || !MayRun(maker)) return;
    const double saved =
        static_cast<double>(std::min(in_.bytes[At(v)], most_over)) * static_cast<double>(over - since[At(v)]);
    all.push_back({saved / Cost(in_.duration[At(maker)]), v, last[At(v)], event});
  };
  for (std::int32_t x = state_.Next(state_.Begin()); x != state_.End(); x = state_.Next(x)) {
    const std::int32_t op = state_.op(x);
    for (const std::int32_t v : in_.reads[At(op)]) use(v, x);
    over += state_.Over(x);
    const auto note = [&](std::int32_t v) {
      last[At(v)] = x;
      since[At(v)] = over;
    };
    for (const std::int32_t v : in_.reads[At(op)]) note(v);
    for (const std::int32_t v : in_.makes[At(op)]) note(v);
  }
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.kept[v]) use(static_cast<std::int32_t>(v), state_.End());
  const std::size_t most = 40'000 + 2 * in_.num_ops;
  if (all.size() > most) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                     [](const Drop& a, const Drop& b) { return b < a; });
    all.resize(most);
  }
  return all;
}

// Before event `before`, in the staged form.
std::int32_t GapDrops::Insert(std::int32_t op, std::int32_t before) {
  const std::int32_t place = state_.PlaceInStage(op, before);
  return place == kNone ? kNone : state_.Insert(op, place);
}

// Opens a transaction that makes `op` again for the reader, with `also_` before it.
bool GapDrops::Open(std::int32_t op, std::int32_t reader) {
  inserted_.clear();
  for (const std::int32_t w : also_) {
    inserted_.push_back(Insert(w, reader));
    if (inserted_.back() == kNone) return false;
  }
  inserted_.push_back(Insert(op, reader));
  return inserted_.back() != kNone && state_.violations() == 0;
}

// Of the open transaction.
double GapDrops::Ratio(std::int64_t duration) {
  return static_cast<double>(state_.excess() - state_.ExcessAfter()) / Cost(duration);
}

// The ratio of making `op` again for the reader; above zero the transaction stays open.
double GapDrops::Evaluate(std::int32_t op, std::int32_t reader, double bound) {
  also_.clear();
  missing_.clear();
  for (const std::int32_t v : in_.reads[At(op)]) {
    const std::int32_t maker = in_.maker[At(v)];
    if (!MayRun(maker)) continue;
    const std::int32_t server = state_.ServerOf(v, reader);
    if (server == kNone) return 0;
    const std::int32_t end = state_.EndOf(server, state_.OutputIndex(v));
    if (!state_.Before(end, reader)) continue;
    missing_.emplace_back(static_cast<double>(in_.bytes[At(v)]) *
                              static_cast<double>(state_.slot(reader) - state_.slot(end)) /
                              Cost(in_.duration[At(maker)]),
                          maker);
  }
  std::int64_t duration = in_.duration[At(op)];
  double best = Open(op, reader) ? Ratio(duration) : 0;
  bool open = true;
  std::sort(missing_.begin(), missing_.end(), std::greater<>());
  for (std::size_t i = 0; i < missing_.size() && i < kCascade && best < kHeld * bound; ++i) {
    const std::int32_t w = missing_[i].second;
    if (w == op || std::find(also_.begin(), also_.end(), w) != also_.end()) continue;
    state_.Rollback();
    also_.push_back(w);
    std::sort(also_.begin(), also_.end(),
              [&](std::int32_t a, std::int32_t b) { return in_.rank[At(a)] < in_.rank[At(b)]; });
    const double ratio = Open(op, reader) ? Ratio(duration + in_.duration[At(w)]) : 0;
    open = ratio > best;
    if (!open) {
      std::erase(also_, w);
      break;
    }
    best = ratio;
    duration += in_.duration[At(w)];
  }
  if (!open && best > 0) {
    state_.Rollback();
    if (!Open(op, reader)) best = 0;
  }
  if (best <= 0) state_.Rollback();
  return best;
}

// The last event before `event` that needs the storage that a read of the value there is served from, or made it.
std::int32_t GapDrops::PreviousUse(std::int32_t v, std::int32_t event) const {
  std::int32_t best = state_.ServerOf(v, event);
  for (const std::int32_t r : in_.readers[At(v)])
    for (std::int32_t y = state_.LastOf(r); y != kNone; y = state_.PreviousOf(y))
      if (state_.Before(y, event)) {
        if (best == kNone || state_.Before(best, y)) best = y;
        break;
      }
  return best;
}

double GapDrops::Bound(std::int32_t v, std::int32_t after, std::int32_t reader) {
  return static_cast<double>(state_.SavedBy(after, reader, in_.bytes[At(v)])) /
         Cost(in_.duration[At(in_.maker[At(v)])]);
}

void GapDrops::Next() {
  Drop g = heap_.top();
  heap_.pop();
  const std::int32_t op = in_.maker[At(g.value)];
  if (!MayRun(op) || !state_.Alive(g.after) || !state_.Alive(g.reader)) return;
  const double wanted = heap_.empty() ? 0 : kNearly * heap_.top().key;
  const double bound = Bound(g.value, g.after, g.reader);
  if (bound <= 0) return;
  g.key = bound;
  if (g.key < wanted) {
    heap_.push(g);
    return;
  }
  const double ratio = Evaluate(op, g.reader, bound);
  if (ratio <= 0) return;
  g.key = ratio;
  if (g.key < wanted) {
    state_.Rollback();
    heap_.push(g);
    return;
  }
  state_.Commit();
  ++commits_;
  // What the repeats read has new gaps before them.
  for (const std::int32_t x : inserted_)
    for (const std::int32_t v : in_.reads[At(state_.op(x))]) {
      if (in_.bytes[At(v)] == 0 || !MayRun(in_.maker[At(v)])) continue;
      const std::int32_t p = PreviousUse(v, x);
      if (p == kNone) continue;
      if (const double key = Bound(v, p, x); key > 0) heap_.push({key, v, p, x});
    }
}

void GapDrops::BeginPruning() {
  Save();
  phase_ = Phase::kPrune;
  prune_ = state_.repeats();
  std::sort(prune_.begin(), prune_.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int64_t x = in_.duration[At(state_.op(a))], y = in_.duration[At(state_.op(b))];
    return x < y || (x == y && a < b);
  });
}

// Looks at one repeat.
void GapDrops::Prune() {
  const std::int32_t x = prune_.back();
  prune_.pop_back();
  if (state_.Erase(x) && state_.violations() == 0 && state_.ExcessAfter(0) <= 0)
    state_.Commit();
  else
    state_.Rollback();
}

void GapDrops::Save() {
  best_ = state_.Sequence();
  best_duration_ = state_.duration();
}

}  // namespace ebb
