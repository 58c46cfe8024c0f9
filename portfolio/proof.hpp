// SPDX-License-Identifier: Apache-2.0
//
// A bound proved once more, and written down for somebody else to check (docs/proof_format.md). How a bound was found
// in the first place does not matter: with it as the cutoff one search of the learning engine has to end without a
// solution, and its log is the proof. Two models are tried:
//
//   boundaries   the boundary relaxation (engine/bounds/boundary_model.hpp) at the boundaries that BoundarySolver
//                refines to, path cuts as its only cuts; fixed and staged order, every feature, large graphs too
//   intervals    the complete interval model (portfolio/interval_solver.hpp), where the first leaves a gap
//
// Tried and dropped: logging the portfolio's own searches as they run. Most of what they do belongs to models that are
// thrown away; with the bound known the proof is made in a fraction of the time, and nothing slows down without one.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "engine/base/status.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

struct ProofClaim {
  OrderMode order = OrderMode::kFixed;
  std::int64_t budget = 0;    // bytes, graph inputs included
  std::int64_t duration = 0;  // no plan is shorter than this
};

// The proof's text; empty where none was found within the budget.
[[nodiscard]] std::string MakeProof(const Graph& graph, const ProofClaim& claim, WorkBudget& work);

}  // namespace ebb
