// SPDX-License-Identifier: Apache-2.0
//
// From a point of the boundary relaxation to a sequence. What stays resident across the boundaries is taken from the
// point (fractions above a half count as staying); what runs again follows from need, from the last stage to the first:
//
//   - an op runs again as late as it can: just before the first execution or rerun of its stage that reads it;
//   - what only a later stage needs is made just before the boundary, since it has to lie across it;
//   - once made again, a value is kept for all its readers of the stage (a burst of recomputed values that is thrown
//     away and made again for the next reader costs several times the bound: 45 % for 8.7 % in the study).
//
// The sequence is valid, in the given order and in staged form (at most once a stage, by rank). It may be over the
// budget: the relaxation does not look between its boundaries. Local search repairs and polishes it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/boundary_solver.hpp"

namespace ebb {

class Decoder : public BoundaryDecoder {
 public:
  [[nodiscard]] std::vector<std::int32_t> Decode(const BoundaryModel& model, std::span<const double> x) override;
};

}  // namespace ebb
