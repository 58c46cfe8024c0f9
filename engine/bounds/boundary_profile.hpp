// SPDX-License-Identifier: Apache-2.0
//
// What a point of the boundary relaxation, fractional or not, says about memory between the boundaries: for each
// position of a first execution the bytes that must lie there if nothing runs again earlier than it has to. Where that
// is over the budget, a boundary is missing. Only a guide, no bound: a rerun may stand later than assumed.
//
//   within stage k, value v made by a_k:     S[v,k] up to its last read in the stage, min(S[v,k], S[v,k+1]) after it
//   v made in stage k:                       1 up to its last read in the stage, S[v,k+1] after it
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"

namespace ebb {

// Per position, with resident_bytes.
[[nodiscard]] std::vector<double> ImpliedProfile(const BoundaryModel& model, std::span<const double> x);

}  // namespace ebb
