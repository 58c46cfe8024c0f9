// SPDX-License-Identifier: Apache-2.0
//
// A plan as a solution of the models that prove things about plans: what docs/proof_format.md says of plans, done. For
// the known-solution check (engine/core/known_solution.hpp), in the check preset and in the fuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/core/known_solution.hpp"
#include "engine/problem/instance.hpp"
#include "portfolio/interval_model.hpp"

namespace ebb {

// The columns of the boundary relaxation; the sequence is valid and in the given order.
[[nodiscard]] std::vector<std::int8_t> KnownColumns(const BoundaryModel& model, std::span<const std::int32_t> sequence);

// Every variable of the model; then known.Begin.
void TellKnownPlan(const IntervalModel& model, std::span<const std::int32_t> sequence, core::KnownSolution& known);

}  // namespace ebb
