// SPDX-License-Identifier: Apache-2.0
//
// First plans for the given order: eviction guided by the prices of the gap cover, the prices then worked out anew with
// costs that foresee what each repeat needs, and so on. Takes milliseconds per thousand ops.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/base/work_budget.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/eviction.hpp"

namespace ebb {

// The plan that next uses alone lead to: before the flow has been solved.
void PlanWithoutPrices(const Instance& instance, std::int64_t budget, std::int32_t max_executions, WorkBudget& work,
                       const std::function<void(const EvictionResult&)>& report);

// `rounds` of repricing, 0: only the plans of the prices themselves, without another flow.
// Calls `report` with every sequence found, also with those that are over the budget (starts for a search). `bound` is
// SolveGapCover's answer for the same table and budget. Deterministic.
void PlanByPrices(const Instance& instance, const GapTable& table, std::int64_t budget, const GapCoverBound& bound,
                  int rounds, std::int32_t max_executions, WorkBudget& work,
                  const std::function<void(const EvictionResult&)>& report);

}  // namespace ebb
