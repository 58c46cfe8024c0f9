// SPDX-License-Identifier: Apache-2.0
//
// The workers there are. Each is one technique behind the Worker interface; what the technique is, is told where it
// lives (heuristics/, engine/bounds/, propagators/).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "heuristics/list_orders.hpp"
#include "portfolio/problem.hpp"
#include "portfolio/worker.hpp"

namespace ebb {

// Local search over sequences (heuristics/annealing.hpp). Starts from the best plan known, else from the user's hint,
// else from the given order; takes over better plans from elsewhere. `index` tells the annealing workers of one solve
// apart: seeds and temperatures follow from it.
[[nodiscard]] std::unique_ptr<Worker> MakeAnnealWorker(const Problem& problem, int index);

// The gap cover (engine/bounds/gap_cover_*.hpp): for fixed and staged order a bound, or the proof that a position of
// the given order cannot be met; for any order the plans that its prices lead to (heuristics/priced_plans.hpp).
[[nodiscard]] std::unique_ptr<Worker> MakeGapCoverWorker(const Problem& problem);

// A first plan by dropping one gap after the other (heuristics/gap_drops.hpp); large graphs.
[[nodiscard]] bool DropsFit(const Problem& problem);
[[nodiscard]] std::unique_ptr<Worker> MakeDropsWorker(const Problem& problem);

// A first plan by searching backwards for what each op reads (heuristics/backward_plans.hpp); scarce memory.
[[nodiscard]] bool BackwardFits(const Instance& instance);
[[nodiscard]] std::unique_ptr<Worker> MakeBackwardWorker(const Problem& problem);

// The boundary relaxation (engine/bounds/boundary_solver.hpp), by branch and bound and by clause learning, with a cold
// local search from what it decodes; fixed and staged order.
[[nodiscard]] std::unique_ptr<Worker> MakeRelaxWorker(const Problem& problem, bool climbs);
// The bound in steps on a lane of its own, beside local search; then the other one need not. Its long trees are
// searched together with so many helpers on other lanes, by number.
[[nodiscard]] std::unique_ptr<Worker> MakeClimbingWorker(const Problem& problem, std::size_t helpers);
[[nodiscard]] std::unique_ptr<Worker> MakeClimbingHelper(const Problem& problem, std::size_t number);

// Fixed and staged order where the given order falls apart into several stretches that are over the budget: the
// boundary relaxation and local search of each stretch by itself, in place of one relaxation of the whole. One for each
// lane; they divide the stretches. None: it does not fall apart.
struct StretchesWorkers {
  std::vector<std::unique_ptr<Worker>> lanes;
  std::size_t largest = 0;  // ops of a stretch
};
[[nodiscard]] StretchesWorkers MakeStretchesWorkers(const Problem& problem, int lanes);

// Large graphs window by window, with everything that works on small ones. One for each lane; they divide the windows.
[[nodiscard]] bool WindowsFit(const Problem& problem);
[[nodiscard]] std::unique_ptr<Worker> MakeWindowsWorker(const Problem& problem, int lane, int lanes);

// Parts of the best plan solved anew by the boundary relaxation, up to a size where a pass over the plan costs too
// much. `index` tells those of one solve apart.
[[nodiscard]] bool NeighbourhoodFits(const Problem& problem);
[[nodiscard]] std::unique_ptr<Worker> MakeNeighbourhoodWorker(const Problem& problem, int index);

// The complete retention-interval model in the learning engine (portfolio/interval_solver.hpp): every order and
// feature, small graphs.
[[nodiscard]] bool IntervalsFit(const Problem& problem);
[[nodiscard]] std::unique_ptr<Worker> MakeIntervalsWorker(const Problem& problem);

// The exact search over states (heuristics/state_search.hpp), for small graphs.
[[nodiscard]] bool StateSearchFits(const Problem& problem);
[[nodiscard]] std::unique_ptr<Worker> MakeStateSearchWorker(const Problem& problem);

// The methods of the literature that need no search (docs/methods.md), one of them by itself.
[[nodiscard]] bool IsClassic(Method method);
// Those that choose an order, without repeats.
[[nodiscard]] std::optional<OrderRule> OrderRuleOf(Method method);
[[nodiscard]] std::unique_ptr<Worker> MakeClassicWorker(const Problem& problem);

}  // namespace ebb
