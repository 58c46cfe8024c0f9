// SPDX-License-Identifier: Apache-2.0
//
// All rows on demand of one boundary model.
#pragma once

#include <cstdint>
#include <span>

#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/moment_rows.hpp"
#include "engine/bounds/stage_cuts.hpp"
#include "engine/bounds/told_orders.hpp"

namespace ebb {

// The path cuts, moment rows and where wanted stage cuts of one model.
class ModelRows : public RowSeparator {
 public:
  ModelRows(const BoundaryModel& model, std::int64_t budget, bool staged, bool moments, bool stages,
            BoundaryModel* teller = nullptr)
      : path_(model),
        orders_(model),
        moment_(model, budget, staged, teller),
        stage_(model, budget),
        with_moments_(moments),
        with_stages_(stages) {}
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override {
    path_.Separate(x, integral, root, out);
    const std::size_t before = out.size();
    orders_.Separate(x, integral, root, out);
    if (with_moments_) moment_.Separate(x, integral, root, out);
    if (with_stages_ && out.size() == before) stage_.Separate(x, integral, root, out);
  }

 private:
  PathCuts path_;
  ToldOrders orders_;
  MomentRows moment_;
  StageCuts stage_;
  bool with_moments_, with_stages_;
};

}  // namespace ebb
