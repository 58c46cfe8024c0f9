// SPDX-License-Identifier: Apache-2.0
//
// What one kind of neighbourhood gained lately for its work, one by one, the last ones count most; and the weight that
// this gives it beside others.
#pragma once

#include <algorithm>

#include "engine/base/work_budget.hpp"

namespace ebb {

// `rate`: gains for work, `best` the best one's. Whoever gains nothing has a little, so that its time is noticed when
// it comes.
inline double WeightOfRate(double rate, double best) { return rate + 0.15 * best + 1e-12; }

class Success {
 public:
  [[nodiscard]] double rate() const { return rate_; }
  // A gain of 0 to 1.
  void Book(double gain, Ticks work) {
    rate_ = 0.9 * rate_ + 0.1 * gain / static_cast<double>(std::max<Ticks>(work, kLeastWork));
  }

 private:
  static constexpr Ticks kLeastWork = 5'000'000;
  double rate_ = 0;
};

}  // namespace ebb
