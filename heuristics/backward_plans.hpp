// SPDX-License-Identifier: Apache-2.0
//
// Plans of the given order where memory is so scarce that nothing else finds one: first execution by first execution,
// with what is held kept as long as it fits; what an op reads and is not held is made again by a search backwards over
// wanted sets (heuristics/wanted_search.hpp), which decides nothing about drops; then what is held and not wanted goes
// where room is needed, what is dear to make again and soon read last. Where nothing may be in the way but bytes, and
// every op may run again, that never gets stuck: what a state holds is no hindrance, so with enough patience each op's
// inputs are had if they can be had at all.
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
  [[nodiscard]] int attempts() const { return attempt_; }  // ended
  [[nodiscard]] std::int32_t reached() const { return furthest_; }

 private:
  // Staged attempts end sooner, and their plans are often the shorter ones.
  [[nodiscard]] bool staged() const { return params_.staged || attempt_ % 2 == 0; }
  void Begin();
  [[nodiscard]] bool Next(WorkBudget& work);
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
  ValueWords held_, relevant_;
  std::vector<std::uint8_t> may_run_;
  std::vector<double> noise_;
  std::vector<std::int32_t> sequence_, plan_, stack_, stamp_;
  std::int32_t now_ = 0;
  std::int64_t duration_ = 0, plan_duration_ = 0;
};

}  // namespace ebb
