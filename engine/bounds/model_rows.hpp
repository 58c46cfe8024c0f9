// SPDX-License-Identifier: Apache-2.0
//
// All rows on demand of one boundary model.
#pragma once

#include <cstdint>
#include <span>

#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/moment_rows.hpp"
#include "engine/bounds/stage_cuts.hpp"

namespace ebb {

// The path cuts, moment rows and (where they are weak: not in staged order) stage cuts of one model.
class ModelRows : public RowSeparator {
 public:
  ModelRows(const BoundaryModel& model, std::int64_t budget, bool staged, bool moments)
      : path_(model), moment_(model, budget, staged), stage_(model, budget), staged_(staged), with_moments_(moments) {}
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override {
    path_.Separate(x, integral, root, out);
    if (!with_moments_) return;
    const std::size_t before = out.size();
    moment_.Separate(x, integral, root, out);
    if (out.size() == before && !staged_) stage_.Separate(x, integral, root, out);
  }

 private:
  PathCuts path_;
  MomentRows moment_;
  StageCuts stage_;
  bool staged_, with_moments_;
};

}  // namespace ebb
