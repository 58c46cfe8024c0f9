// SPDX-License-Identifier: Apache-2.0
//
// A plan that the validator has accepted, and the way to become one. Nothing else in the portfolio counts as a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/plan.hpp"
#include "portfolio/problem.hpp"

namespace ebb {

struct Incumbent {
  std::vector<std::int32_t> sequence;  // over the instance
  Plan plan;                           // over the graph
  const char* worker = "";             // who found it: a literal

  [[nodiscard]] std::int64_t duration() const { return plan.duration.count(); }
  [[nodiscard]] std::size_t executions() const { return plan.executions.size(); }
};
using IncumbentPtr = std::shared_ptr<const Incumbent>;

// The order among plans: duration, then executions, then peak.
[[nodiscard]] bool Better(const Incumbent& a, const Incumbent& b);

struct Judgement {
  IncumbentPtr incumbent;  // null: refused
  bool no_plan = false;    // plainly over the budget, the cap, or out of order: nobody's fault
  std::string why;         // refused by the validator: the reason, for people
};

// Expands a sequence of the instance, makes it a plan and asks the validator. For staged order, repeats that stand out
// of order inside a stage, or twice in it, are first put into order.
[[nodiscard]] Judgement Judge(const Problem& problem, std::span<const std::int32_t> sequence, const char* worker);

// Repeats between two first executions sorted by the graph's order and freed of doubles; first executions stay.
[[nodiscard]] std::vector<std::int32_t> SortStages(const Instance& instance, std::span<const std::int32_t> sequence);

}  // namespace ebb
