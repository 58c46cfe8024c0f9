// SPDX-License-Identifier: Apache-2.0
//
// What ties the columns Y and D of told orders (boundary_model.hpp) to the reruns:
//
//   Y[a,b,k] <= C[a,k],  Y[a,b,k] <= C[b,k]
//   Y[a,b,k] <= S[v,k] + D[a,k]      b reads v of a: with v gone at a_k, a must run before b's last time too
//   no three ops in a circle, as far as the orders of all three pairs are told
//
// Rows on demand, since pairs are told while a program is searched.
#pragma once

#include <span>

#include "engine/bounds/boundary_model.hpp"

namespace ebb {

class ToldOrders : public RowSeparator {
 public:
  explicit ToldOrders(const BoundaryModel& model) : model_(model) {}
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override;

 private:
  const BoundaryModel& model_;
};

}  // namespace ebb
