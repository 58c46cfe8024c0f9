// SPDX-License-Identifier: Apache-2.0
//
// The optimum of a tiny graph by exhaustive search, straight from the model and sharing nothing with the solvers, the
// validator or the Instance.
//
// Why it is exhaustive. A plan is a sequence of executions, and what the rest of a sequence may do depends only on
//   - which ops have run (and, under a cap, how often; in staged form, the rank of the last repeat of this stage), and
//   - which tensor names are bound to which live storages: two states whose bindings differ only in the numbering of
//     the storages allow the same continuations at the same cost.
// So Dijkstra's search over such states by (duration, executions) sees every plan up to that equivalence. A storage may
// be dropped between any two executions, so a drop is a step of no cost, tried for every live storage; a plan's own
// profile is met by dropping each storage right after its last use. The one short cut: drops are only tried in states
// where some execution that is allowed does not fit, since any other drop can be put off until then. Storages of graph
// inputs are never dropped. The number of states is finite and steps are never cheaper than (0, 0), so the search ends.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/problem/graph.hpp"

namespace ebb::test {

struct OracleAnswer {
  bool feasible = false;
  std::int64_t duration = 0;
  std::vector<OpId> sequence;  // shortest duration, then fewest executions
};

// max_executions per op; 0: unlimited. Meant for up to nine ops or so.
[[nodiscard]] OracleAnswer BruteForce(const Graph& graph, std::int64_t budget, OrderMode mode,
                                      std::int32_t max_executions = 0);

// The least budget that has a plan, by bisection over BruteForce; -1 where no budget has one.
[[nodiscard]] std::int64_t LeastBudget(const Graph& graph, OrderMode mode, std::int32_t max_executions = 0);

}  // namespace ebb::test
