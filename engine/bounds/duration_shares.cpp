// SPDX-License-Identifier: Apache-2.0
//
// One rerun of an op with several outputs (or of a view's maker) may let several storages be dropped at the same time,
// so their gaps have to share its duration wherever their windows overlap: share = duration * weight / (largest sum of
// weights at once inside the gap's own window). At every moment the shares then sum to at most the duration, and reruns
// in disjoint windows are different reruns, so the costs of any set of dropped gaps add up to no more than they cost.
#include <algorithm>
#include <bit>

#include "engine/base/int128.hpp"
#include "engine/bounds/gaps.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kShareScale = 1024;  // a share is rounded down to 1/1024 of a unit of duration

// Largest value of ranges of a fixed array, O(1) after O(n log n).
class RangeMax {
 public:
  explicit RangeMax(const std::vector<Int128>& values) : levels_{values} {
    for (std::size_t half = 1; 2 * half <= values.size(); half *= 2) {
      const std::vector<Int128>& below = levels_.back();
      std::vector<Int128> level(values.size() - 2 * half + 1);
      for (std::size_t i = 0; i < level.size(); ++i) level[i] = std::max(below[i], below[i + half]);
      levels_.push_back(std::move(level));
    }
  }
  [[nodiscard]] Int128 Max(std::size_t begin, std::size_t end) const {
    const auto k = static_cast<std::size_t>(std::bit_width(end - begin) - 1);
    return std::max(levels_[k][begin], levels_[k][end - (std::size_t{1} << k)]);
  }

 private:
  std::vector<std::vector<Int128>> levels_;
};

struct OpCharge {
  std::int32_t op, gap;
  std::size_t item;  // of GapTable::charges
};

}  // namespace

GapCosts ShareDurations(const Instance& in, const GapTable& table, std::span<const std::int64_t> weight) {
  std::vector<OpCharge> charges;
  charges.reserve(table.charges.size());
  for (std::size_t g = 0; g < table.gaps.size(); ++g)
    for (std::size_t k = 0; k < table.charges[g].size(); ++k)
      charges.push_back({table.charges[g][k], static_cast<std::int32_t>(g), table.charges.begin(g) + k});
  // gaps are ascending by begin already
  std::stable_sort(charges.begin(), charges.end(), [](const OpCharge& a, const OpCharge& b) { return a.op < b.op; });
  std::vector<ForcedRerun> forced = table.forced;
  std::sort(forced.begin(), forced.end(), [](const ForcedRerun& a, const ForcedRerun& b) { return a.op < b.op; });

  // Which ops have overlapping charges; only then is there anything to share.
  struct Group {
    std::size_t begin, end, forced_begin, forced_end;
    bool shared;
  };
  std::vector<Group> groups;
  bool any_shared = false;
  std::size_t f = 0;
  Int128 total = 0;
  for (std::size_t i = 0; i < charges.size();) {
    Group group{i, i, 0, 0, false};
    const std::int32_t op = charges[i].op;
    std::int32_t reach = 0;
    for (; i < charges.size() && charges[i].op == op; ++i) {
      const Gap& gap = table.gaps[charges[i].gap];
      group.shared |= gap.begin < reach;
      reach = std::max(reach, gap.until);
      total += in.duration[op];
    }
    group.end = i;
    while (f < forced.size() && forced[f].op < op) ++f;
    group.forced_begin = f;
    while (f < forced.size() && forced[f].op == op) ++f;
    group.forced_end = f;
    any_shared |= group.shared;
    groups.push_back(group);
  }

  GapCosts out;
  out.shared = any_shared;
  out.scale = any_shared && total < (Int128{1} << 50) ? kShareScale : 1;
  out.cost.assign(table.gaps.size(), 0);
  // The scaled sum stays below 2^60, so that prices and reduced costs have room; a bound may always charge less.
  out.share.assign(table.charges.size(), 0);
  const auto add = [&](const OpCharge& charge, Int128 share) {
    std::int64_t& cost = out.cost[charge.gap];
    share = std::min<Int128>(share, (Int128{1} << 60) - cost);
    cost += static_cast<std::int64_t>(share);
    out.share[charge.item] = static_cast<std::int64_t>(share);
  };
  for (const Group& group : groups) {
    const std::int64_t duration = in.duration[charges[group.begin].op];
    const auto is_forced = [&](const Gap& gap) {
      for (std::size_t k = group.forced_begin; k < group.forced_end; ++k)
        if (gap.begin <= forced[k].end && forced[k].begin <= gap.until) return true;
      return false;
    };
    if (!group.shared) {
      for (std::size_t i = group.begin; i < group.end; ++i)
        if (!is_forced(table.gaps[charges[i].gap])) add(charges[i], Int128{duration} * out.scale);
      continue;
    }
    const auto weight_of = [&](std::int32_t gap) {
      return weight.empty() ? table.gaps[gap].bytes : std::max<std::int64_t>(weight[gap], 0);
    };
    std::vector<std::int32_t> points;
    for (std::size_t i = group.begin; i < group.end; ++i) {
      points.push_back(table.gaps[charges[i].gap].begin);
      points.push_back(table.gaps[charges[i].gap].until);
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    const auto point = [&](std::int32_t row) {
      return static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), row) - points.begin());
    };
    std::vector<Int128> sum(points.size(), 0);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const Gap& gap = table.gaps[charges[i].gap];
      sum[point(gap.begin)] += weight_of(charges[i].gap);
      sum[point(gap.until)] -= weight_of(charges[i].gap);
    }
    for (std::size_t i = 1; i < sum.size(); ++i) sum[i] += sum[i - 1];
    const RangeMax most(sum);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const Gap& gap = table.gaps[charges[i].gap];
      const Int128 at_once = most.Max(point(gap.begin), point(gap.until));
      if (at_once == 0 || is_forced(gap)) continue;
      // duration * scale * weight can pass 127 bits only where weights are near 2^62: halve both sides
      Int128 w = weight_of(charges[i].gap), whole = at_once;
      while (w > (Int128{1} << 62) / out.scale) {
        w /= 2;
        whole = (whole + 1) / 2;
      }
      add(charges[i], Int128{duration} * out.scale * w / whole);
    }
  }
  return out;
}

}  // namespace ebb
