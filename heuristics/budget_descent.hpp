// SPDX-License-Identifier: Apache-2.0
//
// A first plan where the budget is so tight that a walk from the given order freezes over it: the plan of a larger
// budget, made to fit a smaller one, again and again.
//
// Each stage is a walk of its own (annealing.hpp) from the last stage's plan, at a budget nearer to the one asked for
// by 0.3 of the way; within 1.5 % of it, at that. It has up to four cycles, the later ones much hotter: they often end
// in a wreck that runs for ten times the duration, but that is over at the next stage. A stage that fails is done again
// half way back; after the second one the descent begins anew with other seeds.
//
// Measured (RL n=250 at 0.7, fixed order, 12 seeds, at most 3e9 ticks; plans found / ticks in the middle): as it is 11 /
// 0.7e9, mostly within 25 % where the walk from the given order has one plan in five. Two cycles a stage: 9 / 2.5e9;
// half of the way a stage, two cycles: 6; one cycle a stage: 1 at most, whatever the steps. From such a plan, wreck or
// not, a walk reaches 14.1 to 18 % in 0.2e9 ticks (best known 14.095 %), each its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/annealing.hpp"

namespace ebb {

class BudgetDescent {
 public:
  // `params` as for a walk: budget, order, seed and max_executions count. The instance must outlive this.
  BudgetDescent(const Instance& instance, const AnnealingParams& params) : in_(instance), params_(params) {}

  // Where every descent begins; valid for the instance and the order mode.
  void Start(std::span<const std::int32_t> sequence);
  // Goes on where it stopped, until it has a plan or the budget is used up. Deterministic in ticks.
  void Run(WorkBudget& work);

  [[nodiscard]] bool has_plan() const { return !plan_.empty(); }
  [[nodiscard]] const std::vector<std::int32_t>& plan() const { return plan_; }
  [[nodiscard]] std::int64_t descents() const { return descents_; }  // begun so far

 private:
  void Begin();
  void Approach();
  void BeginStage();
  void EndStage();

  const Instance& in_;
  const AnnealingParams params_;
  std::vector<std::int32_t> start_, from_, plan_;
  std::int64_t start_peak_ = 0;
  std::int64_t good_ = 0, aim_ = 0;  // budgets: of the last plan, of the stage
  std::int64_t descents_ = 0, stages_ = 0;
  int failed_ = 0;
  std::optional<Annealing> stage_;
};

}  // namespace ebb
