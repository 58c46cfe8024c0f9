// SPDX-License-Identifier: Apache-2.0
#include "propagators/linear_relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/linear/knapsack_cuts.hpp"

namespace ebb {

using core::Engine;
using core::Lit;

namespace {
constexpr double kIntegral = 1e-6;
constexpr std::uint16_t kConflict = 0, kFixing = 1, kBound = 2;

// `value` counts in multiples of step: the largest cost that total <= most still allows.
std::int64_t LargestCost(std::int64_t most, std::int64_t step) { return most - ((most % step) + step) % step; }

#ifdef EBB_CHECK
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
#endif
}  // namespace

LinearRelaxation::LinearRelaxation(LinearModel& model, LinearRows* rows, RowSeparator* separator, core::IntVar total,
                                   std::vector<std::int32_t> knapsacks, std::vector<std::int32_t> lazy,
                                   const Params& params)
    : model_(model),
      rows_(rows),
      separator_(separator),
      total_(total),
      knapsacks_(std::move(knapsacks)),
      params_(params),
      lp_(model.cost) {
  for (const std::int64_t c : model.cost) step_ = std::gcd(step_, c);
  if (step_ == 0) step_ = 1;
  in_lp_.assign(model.rows.size(), 0);
  std::vector<std::uint8_t> is_lazy(model.rows.size(), 0);
  for (const std::int32_t r : lazy) is_lazy[static_cast<std::size_t>(r)] = 1;
  for (std::size_t r = 0; r < model.rows.size(); ++r)
    if (!is_lazy[r]) PutInLp(static_cast<std::int32_t>(r));
  base_rows_ = lp_rows_.size();
}

std::span<const std::string_view> LinearRelaxation::Rules() const {
  static constexpr std::string_view kRules[] = {"dual conflict", "reduced cost", "dual bound"};
  return kRules;
}

void LinearRelaxation::Attach(Engine& engine, core::PropId id) {
  id_ = id;
  const std::size_t n = model_.column.size();
  lower_.assign(n, 0);
  upper_.assign(n, 1);
  root_lower_ = lower_;
  root_upper_ = upper_;
  for (std::size_t j = 0; j < n; ++j) {
    const Lit lit = model_.column[j];
    const auto data = static_cast<std::int32_t>(2 * j);
    engine.Watch(~lit, id, data);
    engine.Watch(lit, id, data + 1);
    if (!engine.IsOpen(lit)) OnEvent(engine, data + (engine.IsTrue(lit) ? 1 : 0));
  }
  engine.WatchUpper(total_, id, -1);
  engine.WatchBacktrack(id);
}

bool LinearRelaxation::OnEvent(Engine& engine, std::int32_t data) {
  if (data < 0) {  // a better incumbent: more to fix
    current_ = false;
    return true;
  }
  const auto j = static_cast<std::size_t>(data / 2);
  const auto value = static_cast<std::int8_t>(data % 2);
  lower_[j] = upper_[j] = value;
  if (engine.level() == 0)
    root_lower_[j] = root_upper_[j] = value;
  else
    log_.emplace_back(data / 2, engine.level());
  changed_.push_back(data / 2);
  // A fixing that the LP's point obeys leaves it optimal.
  if (current_ && std::abs(x_[j] - value) > kIntegral) current_ = false;
  return !current_;
}

void LinearRelaxation::OnBacktrack(Engine& engine, std::int32_t level) {
  while (!log_.empty() && log_.back().second > level) {
    const auto j = static_cast<std::size_t>(log_.back().first);
    lower_[j] = 0;
    upper_[j] = 1;
    changed_.push_back(log_.back().first);
    log_.pop_back();
  }
  while (!snapshots_.empty() && snapshots_.back().level > level) snapshots_.pop_back();
  if (solved_level_ > level) {
    current_ = false;
    solved_level_ = level;
    engine.Schedule(id_);
  }
}

double LinearRelaxation::Limit(const Engine& engine) const {
  const std::int64_t most = engine.ub(total_);
  return most >= engine.ints().root_hi(total_)
             ? 1e100
             : static_cast<double>(LargestCost(most, step_)) + 0.5 * static_cast<double>(step_);
}

// --- The LP's rows and bounds
// ------------------------------------------------------------------------------------------

void LinearRelaxation::PutInLp(std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  if (r >= in_lp_.size()) in_lp_.resize(r + 1, 0);
  in_lp_[r] = 1;
  lp_rows_.push_back(row);
  idle_.push_back(0);
  lp_.AddRow(model_.rows.columns(r), model_.rows.coefficients(r), model_.rows.rhs(r));
}

void LinearRelaxation::SyncBounds() {
  for (const std::int32_t column : changed_)
    lp_.SetBounds(column, lower_[static_cast<std::size_t>(column)], upper_[static_cast<std::size_t>(column)]);
  changed_.clear();
}

// Cuts that have not been binding for long leave the LP; as rows they stay, and come back when violated.
void LinearRelaxation::AgeRows() {
  constexpr std::int32_t kIdle = 30;
  std::vector<std::int32_t> drop;
  for (std::size_t i = base_rows_; i < lp_rows_.size(); ++i) {
    idle_[i] = lp_.RowIsBasic(static_cast<std::int32_t>(i)) ? idle_[i] + 1 : 0;
    if (idle_[i] > kIdle) drop.push_back(static_cast<std::int32_t>(i));
  }
  if (drop.size() < 50 || 3 * drop.size() < lp_rows_.size() - base_rows_) return;
  lp_.RemoveRows(drop);
  std::size_t out = 0, next = 0;
  for (std::size_t i = 0; i < lp_rows_.size(); ++i) {
    if (next < drop.size() && static_cast<std::size_t>(drop[next]) == i) {
      in_lp_[static_cast<std::size_t>(lp_rows_[i])] = 0;
      ++next;
      continue;
    }
    lp_rows_[out] = lp_rows_[i];
    idle_[out++] = idle_[i];
  }
  lp_rows_.resize(out);
  idle_.resize(out);
}

std::size_t LinearRelaxation::Separate(Engine& engine, bool integral, bool root) {
  struct Found {
    double efficacy;
    std::int32_t row;  // >= 0: a row of the model; < 0: ~index into cuts_
  };
  std::vector<Found> found;
  const double threshold = integral ? 1e-9 : params_.min_efficacy;
  const auto look = [&](const IntegerRows& rows, std::size_t r, std::int32_t name) {
    const auto columns = rows.columns(r);
    const auto coefficients = rows.coefficients(r);
    double activity = 0.0, norm = 1e-30;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto a = static_cast<double>(coefficients[k]);
      activity += a * x_[static_cast<std::size_t>(columns[k])];
      norm += a * a;
    }
    const double violation = (static_cast<double>(rows.rhs(r)) - activity) / std::sqrt(norm);
    if (violation > threshold) found.push_back({violation, name});
  };
  std::int64_t terms = 0;
  for (std::size_t r = 0; r < model_.rows.size(); ++r) {
    if (in_lp_[r]) continue;
    terms += static_cast<std::int64_t>(model_.rows.columns(r).size());
    look(model_.rows, r, static_cast<std::int32_t>(r));
  }
  cuts_ = IntegerRows();
  if (separator_ != nullptr) separator_->Separate(x_, integral, root, cuts_);
  if (params_.knapsack_cuts && !integral)
    for (const std::int32_t k : knapsacks_)
      SeparateKnapsack(model_.rows, static_cast<std::size_t>(k), x_, root_lower_, root_upper_, params_.min_efficacy,
                       cuts_);
  for (std::size_t c = 0; c < cuts_.size(); ++c) look(cuts_, c, ~static_cast<std::int32_t>(c));
  engine.budget().Spend(4 * (terms + static_cast<std::int64_t>(cuts_.num_terms())) + 1000);
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.efficacy != b.efficacy ? a.efficacy > b.efficacy : a.row > b.row;
  });
  const std::size_t limit = root ? std::max<std::size_t>(100, model_.cost.size() / 4) : 50;
  if (found.size() > limit) found.resize(limit);
  for (const Found& f : found) {
    std::int32_t row = f.row;
    if (row < 0) {
      const auto c = static_cast<std::size_t>(~row);
      for (std::size_t k = 0; k < cuts_.columns(c).size(); ++k)
        model_.rows.Term(cuts_.columns(c)[k], cuts_.coefficients(c)[k]);
      row = model_.rows.EndRow(cuts_.rhs(c));
      ++counters_.cuts;
    }
    PutInLp(row);
  }
  in_lp_.resize(model_.rows.size(), 0);
  if (rows_ != nullptr && !found.empty()) rows_->TakeNewRows(engine);
  return found.size();
}

// --- Propagation
// -------------------------------------------------------------------------------------------------------

bool LinearRelaxation::Propagate(Engine& engine) {
  if (current_) return true;
  const bool root = engine.level() <= root_level_;
  const std::int32_t max_rounds = root ? params_.root_rounds : params_.node_rounds;
  std::int32_t stalled = 0;
  double last = -1e300;
  for (std::int32_t round = 0;;) {
    if (engine.budget().Exhausted()) return true;
    SyncBounds();
    ++counters_.solves;
    const LpOutcome outcome = lp_.Solve(engine.budget(), Limit(engine));
    engine.budget().Spend(static_cast<Ticks>(2 * model_.rows.num_terms()));
    current_ = false;
    solved_level_ = engine.level();
    if (outcome == LpOutcome::kOptimal) {
      x_.assign(lp_.x().begin(), lp_.x().end());
      value_ = lp_.objective();
      current_ = true;
    }
    if (!Judge(engine, outcome)) return false;
    if (outcome != LpOutcome::kOptimal) return true;
    AgeRows();
    const bool integral =
        std::all_of(x_.begin(), x_.end(), [](double v) { return v <= kIntegral || v >= 1.0 - kIntegral; });
    if (!integral) {
      if (round >= max_rounds) return Finish(root);
      const double limit = Limit(engine);
      const double scale = limit > 1e99 ? std::abs(value_) : limit - value_;
      stalled = value_ - last < 0.003 * scale ? stalled + 1 : 0;
      last = value_;
      if (stalled >= (root ? 6 : 1) && round > 0) return Finish(root);
      ++round;
    }
    if (Separate(engine, integral, root) == 0) return Finish(root);
  }
}

// The LP has said all it can here.
bool LinearRelaxation::Finish(bool root) {
  if (root && root_x_.empty()) {
    root_x_ = x_;
    root_duals_.assign(model_.rows.size(), 0.0);
    for (std::size_t i = 0; i < lp_rows_.size() && i < lp_.duals().size(); ++i)
      root_duals_[static_cast<std::size_t>(lp_rows_[i])] = lp_.duals()[i];
  }
  return true;
}

bool LinearRelaxation::EvaluateRay() {
  for (const double sign : {1.0, -1.0})
    if (exact_.Evaluate(model_.rows, lp_rows_, lp_.duals(), model_.cost, lower_, upper_, true, sign) &&
        exact_.scaled() > 0) {
      ray_sign_ = sign;
      return true;
    }
  return false;
}

LinearRelaxation::Snapshot LinearRelaxation::TakeSnapshot(const Engine& engine, bool ray) const {
  Snapshot s;
  s.level = engine.level();
  s.most = engine.ub(total_);
  s.base = exact_.scaled();
  s.ray = ray;
#ifdef EBB_CHECK
  s.duals = ScaledDuals(lp_rows_, lp_.duals(), ray ? ray_sign_ : 0.0);
#endif
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

bool LinearRelaxation::Judge(Engine& engine, LpOutcome outcome) {
  if (outcome == LpOutcome::kFailed || outcome == LpOutcome::kUnavailable) return true;
  if (outcome == LpOutcome::kInfeasible) {
    if (!EvaluateRay()) {
      ++counters_.exact_failures;
      return true;
    }
    ++counters_.conflicts;
    std::vector<Lit> why;
    checked_ = TakeSnapshot(engine, true);
    Why(engine, checked_, 0, 0, Lit(), core::kNow, why);
    static_cast<void>(engine.Conflict(id_, kConflict, why));
    return false;
  }
  if (!exact_.Evaluate(model_.rows, lp_rows_, lp_.duals(), model_.cost, lower_, upper_)) return true;
  const std::int64_t most = engine.ub(total_);
  const Wide target = static_cast<Wide>(LargestCost(most, step_)) << ExactDualBound::kShift;
  if (engine.level() <= root_level_) root_bound_ = std::max(root_bound_, exact_.RoundedUp(step_));
  if (exact_.scaled() > target) {
    ++counters_.conflicts;
    std::vector<Lit> why;
    checked_ = TakeSnapshot(engine, false);
    Why(engine, checked_, target, 0, Lit(), core::kNow, why);
    engine.WhyLeq(total_, LargestCost(most, step_) + step_ - 1, core::kNow, why);
    static_cast<void>(engine.Conflict(id_, kConflict, why));
    return false;
  }
  if (outcome == LpOutcome::kCutoff) ++counters_.exact_failures;
  return FixByReducedCost(engine, target);
}

bool LinearRelaxation::FixByReducedCost(Engine& engine, Wide target) {
  if (!params_.reduced_cost_fixing || engine.ub(total_) >= engine.ints().root_hi(total_)) return true;
  const Wide room = target - exact_.scaled();
  const auto reduced = exact_.reduced();
  std::vector<Lit> fix;
  for (std::size_t j = 0; j < reduced.size(); ++j) {
    if (lower_[j] == upper_[j]) continue;
    if (reduced[j] > room) fix.push_back(~model_.column[j]);
    if (-reduced[j] > room) fix.push_back(model_.column[j]);
  }
  if (fix.empty()) return true;
  counters_.fixed += static_cast<std::int64_t>(fix.size());
  const auto index = static_cast<std::int64_t>(snapshots_.size());
  snapshots_.push_back(TakeSnapshot(engine, false));
  for (const Lit lit : fix)
    if (!engine.Infer(id_, lit, {kFixing, index, 0})) return false;
  return true;
}

// --- Reasons
// -----------------------------------------------------------------------------------------------------------

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
  const std::int64_t cost = LargestCost(s.most, step_);
  Wide given = 0;
  for (const auto& [column, d] : s.reduced)
    if (model_.column[static_cast<std::size_t>(column)] == ~lit ||
        model_.column[static_cast<std::size_t>(column)] == lit)
      given = d > 0 ? d : -d;
  Why(engine, s, static_cast<Wide>(cost) << ExactDualBound::kShift, given, lit, before, out);
  engine.WhyLeq(total_, cost + step_ - 1, before, out);
  engine.budget().Spend(10 * static_cast<Ticks>(s.reduced.size()));
#ifdef EBB_CHECK
  checked_ = s;
#endif
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
  return least > static_cast<Wide>(LargestCost(most, step_)) << ExactDualBound::kShift;
}

bool LinearRelaxation::FinalCheck(Engine& engine) {
  const std::size_t n = model_.column.size();
  x_.resize(n);
  for (std::size_t j = 0; j < n; ++j) x_[j] = engine.IsTrue(model_.column[j]) ? 1.0 : 0.0;
  current_ = false;
  // The rows in the LP are propagated (LinearRows); what only the separator knows comes in now.
  if (Separate(engine, true, false) > 0) {
    engine.Schedule(id_);
    return false;
  }
  return true;
}

}  // namespace ebb
