// SPDX-License-Identifier: Apache-2.0
//
// What is asked, resolved: the graph, the solvers' view of it, the order, the budget in bytes. Immutable during a solve
// and shared by all workers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/options.hpp"
#include "engine/problem/graph.hpp"
#include "engine/problem/instance.hpp"
#include "engine/problem/plan.hpp"
#include "engine/problem/presolve.hpp"
#include "engine/problem/validator.hpp"

namespace ebb {

struct FlowMemory;

struct Problem {
  const Graph* graph = nullptr;
  const Options* options = nullptr;
  Instance instance;
  OrderMode order = OrderMode::kFixed;
  Bytes budget;
  std::optional<std::int32_t> max_executions;
  // One execution of each op, in the graph's order. Where that is no plan (a value is read after it was overwritten, so
  // the order needs repeats) it is empty and its peak Bytes::Max().
  Plan given;
  PresolveCounts presolved;  // what is marked in the instance
  std::int64_t hint_duration = 0;
  std::vector<std::int32_t> hint;  // the user's start, for the instance; empty: none. Valid, whatever its peak

  FlowMemory* flows = nullptr;  // of an earlier solve of this graph, for the next one; null: none is wanted

  [[nodiscard]] PlanRules rules() const { return {order, budget, max_executions}; }
  // May an op run again at all?
  [[nodiscard]] bool may_recompute() const { return !max_executions || *max_executions > 1; }
};

// Resolves the options against the graph. `hint`: executions of the user's plan, may be empty. Throws OptionError where
// no budget is set, InputError where the hint is no sequence of this graph.
[[nodiscard]] Problem MakeProblem(const Graph& graph, const Options& options, std::span<const OpId> hint);

}  // namespace ebb
