// SPDX-License-Identifier: Apache-2.0
//
// Which way to try next, by what each gained lately for its work: the ways share the work in proportion to that, none
// has less than a part of what the best has. Both gains and work fade, so a way that no longer gains gives its share
// back. Each way begins with a credit of gain and work, so that all are tried before any is judged. (Without it the way
// that gained first was nearly the only one: RL n=500 at 0.7, 16 of 17 neighbourhoods of one kind.) By work and not by
// draws, because tries differ a thousandfold in what they take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/base/work_budget.hpp"

namespace ebb {

class GainShares {
 public:
  explicit GainShares(std::size_t ways) : ways_(ways) {}

  // The way that is furthest behind its share.
  [[nodiscard]] std::size_t Next() const {
    double best = 0;
    for (const Way& w : ways_) best = std::max(best, w.Rate());
    const auto behind = [&](const Way& w) { return w.had / (w.Rate() + kLeast * best); };
    return static_cast<std::size_t>(
        std::min_element(ways_.begin(), ways_.end(),
                         [&](const Way& a, const Way& b) { return behind(a) < behind(b); }) -
        ways_.begin());
  }
  // A try has come to its end. `gain` in any unit, at most 1.
  void Book(std::size_t way, double gain, Ticks work) {
    const auto ticks = static_cast<double>(std::max<Ticks>(work, kLeastWork));
    const double keep = std::exp(-ticks / kMemory);
    for (Way& w : ways_) w.had *= keep;
    Way& w = ways_[way];
    w.had += ticks;
    w.gain = w.gain * keep + gain;
    w.ticks = w.ticks * keep + ticks;
  }
  [[nodiscard]] std::size_t ways() const { return ways_.size(); }
  [[nodiscard]] double Rate(std::size_t way) const { return ways_[way].Rate(); }

 private:
  static constexpr double kMemory = 3e8;  // ticks
  static constexpr Ticks kLeastWork = 1'000'000;
  static constexpr double kLeast = 0.1;  // of the best one's share
  static constexpr double kCreditGain = 0.05, kCreditTicks = 2e7;
  struct Way {
    double gain = kCreditGain, ticks = kCreditTicks;  // fading with its own work
    double had = 0;                                   // fading with all work
    [[nodiscard]] double Rate() const { return gain / std::max(ticks, kCreditTicks); }
  };
  std::vector<Way> ways_;
};

}  // namespace ebb
