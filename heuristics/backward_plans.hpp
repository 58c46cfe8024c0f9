// SPDX-License-Identifier: Apache-2.0
//
// Plans of the given order where memory is so scarce that nothing else finds one: first execution by first execution,
// with what is held kept as long as it fits; what an op reads and is not held is made again by a search backwards over
// wanted sets (heuristics/wanted_search.hpp), which decides nothing about drops; then what is held and not wanted goes
// where room is needed, what is dear to make again and soon read last. Where nothing may be in the way but bytes, and
// every op may run again, that never gets stuck: what a state holds is no hindrance, so with enough patience each op's
// inputs are had if they can be had at all.
//
// Where that fails, what is held is given up and the op's inputs are had from nothing. Whether they can is a question
// to each op by itself: fixed order is no hindrance, since everything that an op descends from has run before and may
// run again. So where no op is for once only, a budget is met in fixed order if and only if it is in free order, and
// the least of them is the largest of the ops' own. RL n=100: 25,050 bytes, n=250: 87,600 bytes; both are what
// ComputeFloor says.
//
// By attempts: the first takes short ways, the next look longer or go straight for any way; the values' worth is
// disturbed by chance from the second on.
//
// Plain instances; no cap on executions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/random.hpp"
#include "heuristics/wanted_search.hpp"

namespace ebb {

struct BackwardPlansParams {
  std::int64_t budget = 0;  // bytes, with instance.resident_bytes
  bool staged = false;
  std::uint64_t seed = 1;
};

class BackwardPlans {
 public:
  // The instance must outlive it.
  BackwardPlans(const Instance& instance, const BackwardPlansParams& params);

  // One op after the other until the work is used up or an attempt ends. True: there is a new plan in sequence().
  bool Run(WorkBudget& work);

  [[nodiscard]] const std::vector<std::int32_t>& sequence() const { return plan_; }
  [[nodiscard]] std::int64_t duration() const { return plan_duration_; }
  // The op whose inputs cannot be had from nothing, however the ops are run: there is no plan in any order. -2: not
  // found to be so; -1: the kept values cannot.
  [[nodiscard]] std::int32_t impossible() const { return impossible_; }
  [[nodiscard]] int attempts() const { return attempt_; }  // ended
  [[nodiscard]] std::int32_t reached() const { return furthest_; }

 private:
  static constexpr std::int32_t kUnknown = -2;  // -1 is nothing
  // Staged attempts end sooner, and their plans are often the shorter ones.
  [[nodiscard]] bool staged() const { return params_.staged || attempt_ % 2 == 0; }
  void Begin();
  [[nodiscard]] bool Next(WorkBudget& work);
  // What the op at this position reads; at the end: the kept values.
  [[nodiscard]] ValueWords Needs(std::int32_t position) const;
  // Of the values; with what the op at this position takes beside them.
  [[nodiscard]] std::int64_t BytesOf(std::span<const std::uint64_t> set) const;
  [[nodiscard]] std::int64_t BytesAt(std::int32_t position, const ValueWords& wanted) const;
  // Finds ways from nothing for the ops up to this position.
  void FromNothing(std::int64_t states, WorkBudget& work);
  // Runs what the op at this position needs from nothing; false: no way is known that leaves the pinned values alone.
  [[nodiscard]] bool StartOver(const ValueWords& pinned);
  [[nodiscard]] ValueWords Relevant() const;
  void Execute(std::int32_t op, std::span<const std::uint64_t> wanted);
  [[nodiscard]] double Worth(std::int32_t value);

  const Instance& in_;
  const BackwardPlansParams params_;
  WantedSearch search_;
  QuickRandom random_;
  int attempt_ = 0;
  std::int32_t position_ = -1;  // -1: an attempt has to begin
  std::int32_t furthest_ = 0;
  std::int32_t impossible_ = -2;
  std::vector<std::int32_t> ready_;  // position -> place in the library of what is read there; kUnknown
  ValueWords held_, relevant_;
  std::vector<std::uint8_t> may_run_;
  std::vector<double> noise_;
  std::vector<std::int32_t> sequence_, plan_, stack_, stamp_;
  std::int32_t now_ = 0;
  std::int64_t duration_ = 0, plan_duration_ = 0;
};

}  // namespace ebb
