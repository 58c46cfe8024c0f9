// SPDX-License-Identifier: Apache-2.0
//
// A bound, or that there is no plan, proved once more, and written down for somebody else to check
// (docs/proof_format.md). How it was found in the first place does not matter. Tried, in turn and with more and more
// work:
//
//   floor        no plan at all: sets of values of which none can be there first (proof_states.hpp), or something that
//                the given order wants after it was overwritten
//   boundaries   one search of the learning engine over the boundary relaxation (engine/bounds/boundary_model.hpp) at
//                the boundaries that BoundarySolver refines to, with path cuts and moment rows, the bound as its
//                cutoff; fixed and staged order, large graphs too
//   states       the states that exact search goes through, up to 40 ops
//   intervals    one search over the complete interval model (portfolio/interval_solver.hpp)
//
// Tried and dropped: logging the portfolio's own searches as they run. Most of what they do belongs to models that are
// thrown away; with the bound known the proof is made in a fraction of the time, and nothing slows down without one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/status.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

struct ProofClaim {
  OrderMode order = OrderMode::kFixed;
  std::int64_t budget = 0;               // bytes, graph inputs included
  std::optional<std::int64_t> duration;  // no plan is shorter than this; none: there is no plan
  std::int32_t max_executions = 0;       // per op; 0: any number
};

// What is tried; for tests.
struct ProofKinds {
  bool floor = true, boundaries = true, states = true, intervals = true;
};

// The proof's text; empty where none was found within the budget.
[[nodiscard]] std::string MakeProof(const Graph& graph, const ProofClaim& claim, WorkBudget& work,
                                    const ProofKinds& kinds = {});

}  // namespace ebb
