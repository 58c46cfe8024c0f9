// SPDX-License-Identifier: Apache-2.0
//
// Plans for the given order where repeats on demand thrash: graphs with many reads an op. Starting from the given
// order, which is over the budget, one value after the other is dropped across one gap between two uses and made again
// for the second, the best ratio of bytes over the budget saved (summed over the events) to duration first. What the
// repeat reads is held for it, or made again too where that has the better ratio.
//
// Every step is judged exactly by SequenceState, so nothing explodes: eviction needs all inputs of what it makes again,
// and what those miss in turn; here a gap whose repeat would need much is simply dear.
//
// At the end repeats that are not needed after all go, the longest first.
//
// Staged plans of the given order, so plans of every order. Percent over the base, one thread (layered graphs of
// `ebbtide gen layered --seed 1`; before: all workers, 60 s, two threads; construction alone, its processor seconds):
//   ops       budget   before   construction
//   10,000    0.9      1.83     1.75    0.2 s
//   10,000    0.8      10.52    10.90   0.5 s
//   100,000   0.9      14.87    2.76    11 s
//   100,000   0.8      none     17.04   32 s
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/sequence_state.hpp"

namespace ebb {

struct GapDropsParams {
  std::int64_t budget = 0;          // bytes, with instance.resident_bytes
  std::int32_t max_executions = 0;  // per op; 0: any number
};

class GapDrops {
 public:
  // The instance must outlive it.
  GapDrops(const Instance& instance, const GapDropsParams& params);

  // Goes on until the budget is used up. False: nothing is left to do. What it finds does not depend on how the work
  // is divided.
  bool Run(WorkBudget& work);

  [[nodiscard]] bool has_plan() const { return !best_.empty(); }
  [[nodiscard]] std::int64_t best_duration() const { return best_duration_; }
  [[nodiscard]] const std::vector<std::int32_t>& best_sequence() const { return best_; }

 private:
  // A value to drop between two of its uses and to make again for the second.
  struct Drop {
    double key;  // bytes over the budget saved per duration, at most
    std::int32_t value;
    std::int32_t after, reader;  // events; other uses may have come in between
    bool operator<(const Drop& o) const { return key < o.key || (key == o.key && value > o.value); }
  };
  enum class Phase { kBegin, kLevel, kPrune, kDone };

  void Charge(WorkBudget& work);
  [[nodiscard]] bool MayRun(std::int32_t op) const;
  [[nodiscard]] double Cost(std::int64_t duration) const { return static_cast<double>(duration) + small_; }
  [[nodiscard]] std::vector<Drop> Collect();
  void BeginLevel();
  void EndLevel();
  [[nodiscard]] std::int32_t Insert(std::int32_t op, std::int32_t before);
  [[nodiscard]] bool Open(std::int32_t op, std::int32_t reader);
  [[nodiscard]] double Ratio(std::int64_t duration);
  [[nodiscard]] double Evaluate(std::int32_t op, std::int32_t reader, double bound);
  [[nodiscard]] std::int32_t PreviousUse(std::int32_t value, std::int32_t event) const;
  [[nodiscard]] double Bound(std::int32_t value, std::int32_t after, std::int32_t reader);
  void Next();
  void BeginPruning();
  void Prune();
  void Save();

  const Instance& in_;
  const GapDropsParams params_;
  SequenceState state_;
  Phase phase_ = Phase::kBegin;
  std::int64_t seen_ = 0;  // of state_.work()
  double small_ = 1;       // added to durations: ops that take no time are not free of charge altogether
  std::int64_t peak_ = 0;
  int level_ = 0;
  std::int64_t enough_ = 0, commits_ = 0, commits_before_ = 0;
  std::priority_queue<Drop> heap_;
  std::vector<std::int32_t> also_, inserted_;
  std::vector<std::pair<double, std::int32_t>> missing_;

  std::vector<std::int32_t> prune_;  // repeats still to be looked at, the longest last

  std::vector<std::int32_t> best_;
  std::int64_t best_duration_ = 0;
};

}  // namespace ebb
