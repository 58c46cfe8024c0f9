// SPDX-License-Identifier: Apache-2.0
//
// What fixing a column at 0 or 1 raised the LP's value by, per unit of the way there: the mean over what was seen, and
// over all columns for a column not seen yet (Achterberg, Koch, Martin, "Branching rules revisited", 2005).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ebb {

class PseudoCosts {
 public:
  explicit PseudoCosts(std::size_t columns) : of_(columns) {}

  // `side` 0: rounded down. The LP went up by `gain` over the way of `distance`.
  void Note(std::int32_t column, std::size_t side, double gain, double distance) {
    if (distance < 1e-6) return;
    const double unit = std::max(gain, 0.0) / distance;
    for (Mean* m : {&of_[static_cast<std::size_t>(column)].side[side], &all_.side[side]}) {
      m->sum += unit;
      ++m->count;
    }
  }
  [[nodiscard]] double Predicted(std::int32_t column, std::size_t side, double distance) const {
    const Mean& own = of_[static_cast<std::size_t>(column)].side[side];
    const Mean& m = own.count > 0 ? own : all_.side[side];
    return m.count > 0 ? distance * m.sum / static_cast<double>(m.count) : distance;
  }
  // How often the less known side was seen.
  [[nodiscard]] std::int64_t Seen(std::int32_t column) const {
    const Pair& p = of_[static_cast<std::size_t>(column)];
    return std::min(p.side[0].count, p.side[1].count);
  }
  // Of two sides' gains, neither forgotten: `least` stands for none.
  [[nodiscard]] static double Score(double down, double up, double least) {
    return std::max(down, least) * std::max(up, least);
  }

 private:
  struct Mean {
    double sum = 0.0;
    std::int64_t count = 0;
  };
  struct Pair {
    Mean side[2];
  };
  std::vector<Pair> of_;
  Pair all_;
};

}  // namespace ebb
