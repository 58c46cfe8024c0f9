// SPDX-License-Identifier: Apache-2.0
//
// Proofs by listing states (docs/proof_format.md, "States"), for graphs that are small or whose budget is far too
// small.
//
//   forwards    the states that the exact search over states (heuristics/state_search.hpp) went on from
//   backwards   the sets of values of the pebbling floor (engine/bounds/memory_floor.hpp): none of them can be there
//               first, and one of them must be there
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "engine/base/status.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

// No plan is shorter than `duration`; none: there is no plan. False: no proof within the limits; what was written then
// is of no use.
[[nodiscard]] bool WriteForwardStates(const Instance& instance, std::int64_t budget, OrderMode order,
                                      std::int32_t max_executions, std::optional<std::int64_t> duration,
                                      WorkBudget& work, std::ostream& out);
// There is no plan in any order.
[[nodiscard]] bool WriteBackwardSets(const Instance& instance, std::int64_t budget, WorkBudget& work,
                                     std::ostream& out);

}  // namespace ebb
