// SPDX-License-Identifier: Apache-2.0
//
// The law: does this plan hold for this graph, this budget and this order? Naive, quadratic where that is plainer, and
// sharing no code with MakePlan, the Instance or any search. No plan counts before this has accepted it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/status.hpp"
#include "engine/base/units.hpp"
#include "engine/problem/graph.hpp"
#include "engine/problem/plan.hpp"

namespace ebb {

enum class Verdict {
  kHolds,
  kUnknownOp,  // an execution names an op that the graph does not have
  kOpNeverRuns,
  kRunsAgain,          // an op with recomputable = false runs twice
  kTooManyExecutions,  // over max_executions
  kInputCount,         // an execution names more or fewer producers than its op has inputs
  kWrongProducer,      // not the latest earlier execution of the maker, or a wrong -1 / null
  kMissingInput,       // an input's storage is dead, overwritten or was never made
  kMissingViewBase,    // a view is made while its base is not there
  kMissingOutput,      // a graph output is not resident at the end
  kBadFree,            // a death that names no storage, comes before a use, twice, or not at all
  kOutOfOrder,         // first executions do not follow the order asked for (fixed, staged)
  kStageOutOfOrder,    // repeats between two first executions do not follow the graph's order (staged)
  kOverBudget,
  kWrongDuration,  // plan.duration is not the sum
  kWrongPeak,      // plan.peak is not the peak
};

struct ValidationResult {
  Verdict verdict = Verdict::kHolds;
  std::int32_t position = -1;  // execution at fault, where there is one
  OpId op = OpId::kNone;
  TensorId tensor = TensorId::kNone;
  Bytes bytes_needed, bytes_given;  // kOverBudget, kWrongPeak
  std::string text;                 // one line for people
  [[nodiscard]] bool ok() const { return verdict == Verdict::kHolds; }
};

struct PlanRules {
  OrderMode order = OrderMode::kFixed;
  std::optional<Bytes> budget;                 // none: any peak
  std::optional<std::int32_t> max_executions;  // per op; none: any number
};

[[nodiscard]] ValidationResult Validate(const Graph& graph, const Plan& plan, const PlanRules& rules);

}  // namespace ebb
