// SPDX-License-Identifier: Apache-2.0
//
// First plans for the given order: eviction guided by the prices of the gap cover, the prices then worked out anew with
// costs that foresee what each repeat needs, and so on. Takes milliseconds per thousand ops.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/eviction.hpp"

namespace ebb {

// The plan that next uses alone lead to: before the flow has been solved.
void PlanWithoutPrices(const Instance& instance, std::int64_t budget, std::int32_t max_executions, WorkBudget& work,
                       const std::function<void(const EvictionResult&)>& report);

// Plans by the prices, one after the other: whoever has better ones by then may stop. Deterministic.
class PricedPlans {
 public:
  // `rounds` of repricing, 0: only the plans of the prices themselves, without another flow. `bound` is SolveGapCover's
  // answer for the same table and budget. All three must outlive this.
  PricedPlans(const Instance& instance, const GapTable& table, std::int64_t budget, const GapCoverBound& bound,
              int rounds, std::int32_t max_executions);

  // One plan more; `report` is also told sequences that are over the budget (starts for a search). False: that was all.
  bool Step(WorkBudget& work, const std::function<void(const EvictionResult&)>& report);

 private:
  void Reprice(WorkBudget& work);

  const Instance& in_;
  const GapTable& table_;
  const std::int64_t budget_;
  const GapCoverBound& bound_;
  const int rounds_;
  const std::int32_t max_executions_;
  std::vector<double> price_;  // by position
  std::vector<double> cost_;   // by gap
  int step_ = 0;
};

// All of them.
void PlanByPrices(const Instance& instance, const GapTable& table, std::int64_t budget, const GapCoverBound& bound,
                  int rounds, std::int32_t max_executions, WorkBudget& work,
                  const std::function<void(const EvictionResult&)>& report);

}  // namespace ebb
