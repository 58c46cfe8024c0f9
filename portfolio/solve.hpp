// SPDX-License-Identifier: Apache-2.0
//
// The whole solve: from a graph and options to an answer.
#pragma once

#include <optional>
#include <span>

#include "engine/base/log.hpp"
#include "engine/base/options.hpp"
#include "engine/base/work_budget.hpp"
#include "portfolio/board.hpp"

namespace ebb {

struct Answer {
  SolveStatus status = SolveStatus::kUnknown;
  OrderMode order = OrderMode::kFixed;
  Bytes budget;
  std::int32_t max_executions = 0;  // per op; 0: any number
  std::int64_t base_duration = 0;
  std::int64_t lower_bound = 0;  // no plan of this order is shorter
  std::int64_t peak_bound = 0;   // minimise = peak: no plan within the duration limit has a lower peak; else 0
  std::optional<Plan> plan;      // kFeasible, kOptimal
  Infeasibility reason;          // kInfeasible; kUnknown: the text alone
};

// `hint`: executions of a plan to start from, may be empty. `stop`: cancels; its deadline is set here from the options.
// `sink` may be empty. Throws OptionError (no budget), InputError (hint), InternalError, std::bad_alloc.
// `flows`: what an earlier solve of the same graph left; kept up to date. It is looked at only where there is a hint.
[[nodiscard]] Answer Solve(const Graph& graph, const Options& options, std::span<const OpId> hint, StopSignal& stop,
                           LogSink sink, FlowMemory* flows = nullptr);

}  // namespace ebb
