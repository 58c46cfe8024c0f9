// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/told_orders.hpp"

#include <iterator>
#include <utility>

namespace ebb {

namespace {
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
}  // namespace

void ToldOrders::Separate(std::span<const double> x, bool /*integral*/, bool /*root*/, IntegerRows& out) {
  const Instance& in = model_.instance();
  const auto value = [&](std::int32_t column) { return column >= 0 ? x[At(column)] : 0.0; };
  constexpr double kLeast = 1e-6;
  const auto& orders = model_.orders();
  for (auto it = orders.begin(); it != orders.end(); ++it) {
    const auto& [pair, y] = *it;
    const std::int32_t k = model_.columns()[At(y)].stage;
    for (const std::int32_t op : {pair.first, pair.second}) {
      const std::int32_t c = model_.rerun(k, op);
      if (value(y) <= value(c) + kLeast) continue;
      out.Term(c, 1);
      out.Term(y, -1);
      out.EndRow(0);
    }
    if (const std::int32_t d = model_.twice(k, pair.first); d >= 0)
      for (const std::int32_t v : in.reads[At(pair.second)]) {
        const std::int32_t s = model_.stay(k, v);
        if (in.maker[At(v)] != pair.first || s == BoundaryModel::kAlways) continue;
        if (value(y) <= value(s) + value(d) + kLeast) continue;
        if (s >= 0) out.Term(s, 1);
        out.Term(d, 1);
        out.Term(y, -1);
        out.EndRow(0);
      }
    // Ranks a < b < c.
    for (auto next = std::next(it); next != orders.end(); ++next) {
      if (next->first.position != pair.position || next->first.first != pair.first) break;
      auto [b, ab] = std::pair(pair.second, y);
      auto [c, ac] = std::pair(next->first.second, next->second);
      if (in.rank[At(b)] > in.rank[At(c)]) {
        std::swap(b, c);
        std::swap(ab, ac);
      }
      const std::int32_t bc = model_.order(k, b, c), again = model_.rerun(k, b);
      if (bc < 0) continue;
      // a, b, c, a: Y[a,c] <= Y[a,b] + Y[b,c] + 1 - C[b].
      if (value(ac) + value(again) > value(ab) + value(bc) + 1 + kLeast) {
        for (const std::int32_t column : {ab, bc}) out.Term(column, 1);
        for (const std::int32_t column : {ac, again}) out.Term(column, -1);
        out.EndRow(-1);
      }
      // a, c, b, a: Y[a,b] + Y[b,c] - 1 <= Y[a,c].
      if (value(ab) + value(bc) > value(ac) + 1 + kLeast) {
        out.Term(ac, 1);
        for (const std::int32_t column : {ab, bc}) out.Term(column, -1);
        out.EndRow(-1);
      }
    }
  }
}

}  // namespace ebb
