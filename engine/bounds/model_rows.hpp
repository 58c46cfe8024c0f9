// SPDX-License-Identifier: Apache-2.0
//
// All rows on demand of one boundary model.
#pragma once

#include <cstdint>
#include <span>

#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/moment_rows.hpp"

namespace ebb {

// The path cuts and the moment rows of one model.
class ModelRows : public RowSeparator {
 public:
  ModelRows(const BoundaryModel& model, std::int64_t budget, bool staged, bool moments)
      : path_(model), moment_(model, budget, staged), with_moments_(moments) {}
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override {
    path_.Separate(x, integral, root, out);
    if (with_moments_) moment_.Separate(x, integral, root, out);
  }

 private:
  PathCuts path_;
  MomentRows moment_;
  bool with_moments_;
};

}  // namespace ebb
