// SPDX-License-Identifier: Apache-2.0
//
// For how long nobody has found a better plan: what proofs beside local search take of its lanes grows with that.
#pragma once

#include <cstddef>

#include "engine/base/work_budget.hpp"
#include "portfolio/board.hpp"

namespace ebb {

class Barren {
 public:
  // Local search has a unit of 2 million ticks for each op: 1000 ops take four times as long to come to good plans as
  // 250. (RL n=1000 at 0.8, staged, 300 s, where proofs had nearly all after 12e9 ticks: 2.6020 %, known 2.5899 %.)
  explicit Barren(std::size_t num_ops) : unit_(kUnit * static_cast<double>(num_ops)) {}

  void Note(const Exchange& exchange) {
    clock_ = exchange.clock();
    if (exchange.known().best == last_) return;
    last_ = exchange.known().best;
    since_ = clock_;
  }
  // Of the lane's work since the best plan came.
  [[nodiscard]] double units() const { return static_cast<double>(clock_ - since_) / unit_; }

 private:
  static constexpr double kUnit = 2e6;

  double unit_;
  IncumbentPtr last_;
  Ticks clock_ = 0, since_ = 0;
};

}  // namespace ebb
