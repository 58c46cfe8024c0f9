// SPDX-License-Identifier: Apache-2.0
//
// The model read the other way: the least peak subject to a duration limit (options minimise = peak, duration-limit).
#pragma once

#include <span>

#include "portfolio/solve.hpp"

namespace ebb {

// Bisection over budgets with the solver for the least duration: a budget is met by a plan that is short enough, or
// excluded by a proof (infeasible, or a lower bound above the limit), or left undecided within its share of the time;
// undecided ones are tried again with more. `peak_bound` of the answer holds what was proved; a budget in the options
// is an upper limit. With a work limit every try gets a fixed share of it, so that the answer repeats.
[[nodiscard]] Answer SolveLeastPeak(const Graph& graph, const Options& options, std::span<const OpId> hint,
                                    StopSignal& stop, LogSink sink);

}  // namespace ebb
