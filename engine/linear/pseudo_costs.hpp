// SPDX-License-Identifier: Apache-2.0
//
// What fixing a column at 0 or 1 raised the LP's value by, per unit of the way there: the mean over what was seen, and
// over all columns for a column not seen yet (Achterberg, Koch, Martin, "Branching rules revisited", 2005). Columns
// that are alike (the same value at another boundary) lend each other what was seen: most strong branching is of
// columns seen for the first time, more than half of all pivots. RL n=250 at 0.8 with nine boundaries given: staged
// proved after 12.0e9 ticks instead of 13.5e9, fixed 4.055 instead of 4.024 % after 30e9.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ebb {

class PseudoCosts {
 public:
  // `group` by column: those of one group are alike, and one not seen yet is judged by them; empty: no groups.
  explicit PseudoCosts(std::size_t columns, std::span<const std::int32_t> group = {})
      : of_(columns), group_(group.begin(), group.end()) {
    std::int32_t groups = 0;
    for (const std::int32_t g : group_) groups = std::max(groups, g + 1);
    of_group_.resize(static_cast<std::size_t>(groups));
  }

  // The same for other columns: column j is `from[j]` of these, or none of them (-1). Group numbers are kept.
  [[nodiscard]] PseudoCosts Renamed(std::span<const std::int32_t> from, std::span<const std::int32_t> group) const {
    PseudoCosts renamed(from.size(), group);
    for (std::size_t j = 0; j < from.size(); ++j)
      if (from[j] >= 0) renamed.of_[j] = of_[static_cast<std::size_t>(from[j])];
    renamed.all_ = all_;
    std::copy_n(of_group_.begin(), std::min(of_group_.size(), renamed.of_group_.size()), renamed.of_group_.begin());
    return renamed;
  }

  // `side` 0: rounded down. The LP went up by `gain` over the way of `distance`.
  void Note(std::int32_t column, std::size_t side, double gain, double distance) {
    if (distance < 1e-6) return;
    const double unit = std::max(gain, 0.0) / distance;
    for (Mean* m : {&of_[static_cast<std::size_t>(column)].side[side], &all_.side[side]}) {
      m->sum += unit;
      ++m->count;
    }
    if (Mean* m = OfGroup(column, side)) {
      m->sum += unit;
      ++m->count;
    }
  }
  [[nodiscard]] double Predicted(std::int32_t column, std::size_t side, double distance) const {
    const Mean& own = of_[static_cast<std::size_t>(column)].side[side];
    const Mean* like = OfGroup(column, side);
    const Mean& m = own.count > 0 ? own : like != nullptr && like->count > 0 ? *like : all_.side[side];
    return m.count > 0 ? distance * m.sum / static_cast<double>(m.count) : distance;
  }
  // How often the less known side was seen, of the column itself and up to four times of others of its group.
  [[nodiscard]] std::int64_t Seen(std::int32_t column) const {
    const Pair& p = of_[static_cast<std::size_t>(column)];
    const std::int64_t own = std::min(p.side[0].count, p.side[1].count);
    if (group_.empty()) return own;
    return own + std::min({std::int64_t{4}, OfGroup(column, 0)->count, OfGroup(column, 1)->count});
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
  [[nodiscard]] const Mean* OfGroup(std::int32_t column, std::size_t side) const {
    if (group_.empty()) return nullptr;
    return &of_group_[static_cast<std::size_t>(group_[static_cast<std::size_t>(column)])].side[side];
  }
  [[nodiscard]] Mean* OfGroup(std::int32_t column, std::size_t side) {
    return const_cast<Mean*>(std::as_const(*this).OfGroup(column, side));
  }
  std::vector<Pair> of_;
  Pair all_;
  std::vector<std::int32_t> group_;
  std::vector<Pair> of_group_;
};

}  // namespace ebb
