// SPDX-License-Identifier: Apache-2.0
//
// The workers there are. Each is one technique behind the Worker interface; what the technique is, is told where it
// lives (heuristics/, engine/bounds/, propagators/).
#pragma once

#include <memory>

#include "portfolio/problem.hpp"
#include "portfolio/worker.hpp"

namespace ebb {

// The gap cover (engine/bounds/gap_cover_*.hpp): for fixed and staged order a bound, or the proof that a position of the
// given order cannot be met; for any order the plans that its prices lead to (heuristics/priced_plans.hpp).
[[nodiscard]] std::unique_ptr<Worker> MakeGapCoverWorker(const Problem& problem);

// The exact search over states (heuristics/state_search.hpp), for small graphs.
[[nodiscard]] bool StateSearchFits(const Problem& problem);
[[nodiscard]] std::unique_ptr<Worker> MakeStateSearchWorker(const Problem& problem);

}  // namespace ebb
