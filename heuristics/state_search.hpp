// SPDX-License-Identifier: Apache-2.0
//
// The optimum of a small graph, or the proof that there is none, by best-first search over states (state_space.hpp):
// exact for every order, feature and cap. Meant for graphs of up to twenty or thirty ops; larger ones run into the work
// or memory limit and give a lower bound.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/state_space.hpp"

namespace ebb {

struct StateSearchOptions {
  std::int64_t upper = std::numeric_limits<std::int64_t>::max();  // only plans shorter than this are looked for
  std::int64_t memory_bytes = std::int64_t{256} << 20;            // for the states
  // Told each state that is expanded, with what its executions took: where nothing was found these are the proof.
  std::function<void(const StateSpace&, const SearchState&, std::int64_t)> expanded;
};

struct StateSearchResult {
  // kOptimal: `sequence` is shortest (then fewest executions). kInfeasible: the whole space was searched and no plan
  // shorter than `upper` exists; without an upper, no plan at all. kUnknown: a limit was met; `bound` still holds.
  SolveStatus status = SolveStatus::kUnknown;
  std::vector<std::int32_t> sequence;  // ops of the instance
  std::int64_t duration = 0;
  std::int64_t bound = 0;   // no plan is shorter (kInfeasible with an upper: the upper)
  std::int64_t states = 0;  // reached
};

// `max_executions` per op, 0: no cap.
[[nodiscard]] StateSearchResult SearchStates(const Instance& instance, std::int64_t budget, OrderMode mode,
                                             std::int32_t max_executions, WorkBudget& work,
                                             const StateSearchOptions& options = {});

}  // namespace ebb
