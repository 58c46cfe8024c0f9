// SPDX-License-Identifier: Apache-2.0
//
// Why the linear relaxation may say what it says: snapshots of dual vectors, the fixings that suffice, and the naive
// check.
#include <algorithm>
#include <cmath>

#include "propagators/linear_relaxation.hpp"

namespace ebb {

using core::Engine;
using core::Lit;

namespace {

// Rounded as ExactDualBound rounds them. ray_sign 0: not a ray.
std::vector<std::pair<std::int32_t, ExactDualBound::Wide>> ScaledDuals(std::span<const std::int32_t> rows,
                                                                       std::span<const double> duals, double ray_sign) {
  double factor = std::ldexp(1.0, ExactDualBound::kShift), largest = 0.0;
  if (ray_sign == 0.0) {
    ray_sign = 1.0;
  } else {
    for (const double y : duals) largest = std::max(largest, ray_sign * y);
    factor *= std::ldexp(1.0, 8 - std::ilogb(largest));
  }
  std::vector<std::pair<std::int32_t, ExactDualBound::Wide>> scaled;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (ray_sign * duals[i] * factor >= 1.0)
      scaled.emplace_back(rows[i], static_cast<ExactDualBound::Wide>(ray_sign * duals[i] * factor));
  return scaled;
}

}  // namespace

LinearRelaxation::Snapshot LinearRelaxation::TakeSnapshot(const Engine& engine, bool ray) const {
  Snapshot s;
  s.level = engine.level();
  s.most = engine.ub(total_);
  s.base = exact_.scaled();
  s.ray = ray;
  if (KeepsDuals()) s.duals = ScaledDuals(lp_.rows(), lp_.duals(), ray ? ray_sign_ : 0.0);
  const auto reduced = exact_.reduced();
  for (std::size_t j = 0; j < reduced.size(); ++j) {
    const Wide d = reduced[j];
    if (d == 0) continue;
    s.reduced.emplace_back(static_cast<std::int32_t>(j), d);
    // From the bound over the present box to that over the whole one.
    if (d > 0 && lower_[j] == 1) s.base -= d;
    if (d < 0 && upper_[j] == 0) s.base += d;
  }
  return s;
}

void LinearRelaxation::Why(const Engine& engine, const Snapshot& s, Wide target, Wide given, Lit but,
                           std::int32_t before, std::vector<Lit>& out) const {
  struct Fixing {
    Lit lit;
    Wide gain;
    std::int32_t position;
  };
  std::vector<Fixing> fixings;
  Wide value = s.base + given;
  for (const auto& [column, d] : s.reduced) {
    const Lit one = model_.column[static_cast<std::size_t>(column)];
    const Lit lit = d > 0 ? one : ~one;
    if (lit == but || lit == ~but || !engine.WasTrue(lit, before)) continue;
    const Wide gain = d > 0 ? d : -d;
    value += gain;
    fixings.push_back({lit, gain, engine.PositionOf(lit)});
  }
  std::sort(fixings.begin(), fixings.end(), [](const Fixing& a, const Fixing& b) { return a.position > b.position; });
  for (const Fixing& f : fixings) {
    if (value - f.gain > target)
      value -= f.gain;
    else
      out.push_back(f.lit);
  }
}

void LinearRelaxation::Explain(Engine& engine, Lit lit, const core::LazyReason& reason, std::int32_t before,
                               std::vector<Lit>& out) {
  const Snapshot& s = snapshots_[static_cast<std::size_t>(reason.a)];
  const std::int64_t cost = LargestCost(s.most);
  Wide given = 0;
  for (const auto& [column, d] : s.reduced)
    if (model_.column[static_cast<std::size_t>(column)] == ~lit ||
        model_.column[static_cast<std::size_t>(column)] == lit)
      given = d > 0 ? d : -d;
  Why(engine, s, static_cast<Wide>(cost) << ExactDualBound::kShift, given, lit, before, out);
  engine.WhyLeq(total_, cost + step_ - 1, before, out);
  engine.budget().Spend(10 * static_cast<Ticks>(s.reduced.size()));
  if (KeepsDuals()) checked_ = s;
}

bool LinearRelaxation::KeepsDuals() const {
#ifdef EBB_CHECK
  return true;
#else
  return params_.keep_duals;
#endif
}

void LinearRelaxation::Witness(std::uint16_t, std::string& out) const {
  out += checked_.ray ? " 1" : " 0";
  for (const auto& [row, y] : checked_.duals) {
    out += ' ' + std::to_string(row) + ' ';
    std::string digits;  // y > 0
    for (Wide left = y; left > 0; left /= 10)
      digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
    out += digits;
  }
}

// The rows weighed with the duals are one row; over the box where the clause is false it must exclude everything within
// the bound on the total. Naive: the weighed row is built term by term.
bool LinearRelaxation::Implies(const Engine& engine, std::uint16_t, std::span<const Lit> clause) const {
  const Snapshot& s = checked_;
  std::vector<Wide> left(model_.column.size());
  for (std::size_t j = 0; j < left.size(); ++j)
    left[j] = s.ray ? Wide{0} : static_cast<Wide>(model_.cost[j]) << ExactDualBound::kShift;
  Wide least = 0;
  for (const auto& [row, y] : s.duals) {
    const auto r = static_cast<std::size_t>(row);
    least += y * model_.rows.rhs(r);
    for (std::size_t k = 0; k < model_.rows.columns(r).size(); ++k)
      left[static_cast<std::size_t>(model_.rows.columns(r)[k])] -= y * model_.rows.coefficients(r)[k];
  }
  std::vector<std::uint8_t> is_false(2 * engine.num_sat_vars(), 0);
  std::int64_t most = engine.ints().root_hi(total_);
  for (const Lit lit : clause) {
    is_false[lit.index()] = 1;
    const auto bound = engine.ints().Meaning(~lit);
    if (bound.var == total_ && bound.side == core::IntVars::Side::kUpper) most = std::min(most, bound.value);
  }
  for (std::size_t j = 0; j < left.size(); ++j) {
    const bool zero = is_false[model_.column[j].index()] != 0, one = is_false[(~model_.column[j]).index()] != 0;
    least += one ? left[j] : zero ? Wide{0} : std::min(left[j], Wide{0});
  }
  if (s.ray) return least > 0;
  return least > static_cast<Wide>(LargestCost(most)) << ExactDualBound::kShift;
}

}  // namespace ebb
