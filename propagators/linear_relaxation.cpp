// SPDX-License-Identifier: Apache-2.0
#include "propagators/linear_relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ebb {

using core::Engine;
using core::Lit;

namespace {
constexpr std::string_view kRules[] = {"dual conflict", "reduced cost", "dual bound"};
constexpr double kIntegral = 1e-6;
constexpr std::int32_t kIdle = 10;  // solves after which a cut that does not bind leaves the LP
constexpr std::uint16_t kConflict = 0, kFixing = 1;
}  // namespace

LinearRelaxation::LinearRelaxation(LinearModel& model, LinearRows* rows, RowSeparator* separator, core::IntVar total,
                                   std::vector<std::int32_t> knapsacks, std::vector<std::int32_t> lazy,
                                   const Params& params)
    : Propagator("linear relaxation", kRules, core::Priority::kHeavy),
      model_(model),
      rows_(rows),
      separator_(separator),
      total_(total),
      knapsacks_(std::move(knapsacks)),
      params_(params),
      lp_(model.cost, model.rows, lazy) {
  for (const std::int64_t c : model.cost) step_ = std::gcd(step_, c);
  if (step_ == 0) step_ = 1;
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
  if (!lp_.Has(data / 2)) --open_outside_;
  if (engine.level() == 0)
    root_lower_[j] = root_upper_[j] = value;
  else
    log_.emplace_back(data / 2, engine.level());
  // A fixing that the LP's point obeys leaves it optimal.
  if (current_ && std::abs(x_[j] - value) > kIntegral) current_ = false;
  return !current_;
}

void LinearRelaxation::OnBacktrack(Engine& engine, std::int32_t level) {
  while (!log_.empty() && log_.back().second > level) {
    const auto j = static_cast<std::size_t>(log_.back().first);
    lower_[j] = 0;
    upper_[j] = 1;
    if (!lp_.Has(log_.back().first)) {
      ++open_outside_;
      refixed_ = false;
    }
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
             : static_cast<double>(LargestCost(most)) + 0.5 * static_cast<double>(step_);
}

std::size_t LinearRelaxation::Separate(Engine& engine, bool integral, bool root) {
  RowLp::Look look;
  look.separator = separator_;
  if (params_.knapsack_cuts) look.knapsacks = knapsacks_;
  look.lower = root_lower_;
  look.upper = root_upper_;
  look.min_efficacy = params_.min_efficacy;
  look.integral = integral;
  look.root = root;
  const std::size_t found = lp_.AddViolated(x_, look, engine.budget());
  counters_.cuts = lp_.cuts();
  if (rows_ != nullptr && found > 0) rows_->TakeNewRows(engine);
  return found;
}

// --- Propagation
// -------------------------------------------------------------------------------------------------------

// The LP holds the columns that were open when the assumptions had been seen to. Back below that level, what they fixed
// is fixed again by the duals of then, which is cheaper than an LP over all columns; where that is not enough there is
// no way around one.
bool LinearRelaxation::CoverOpen(Engine& engine) {
  if (open_outside_ == 0) return true;
  if (!refixed_ && root_snapshot_ && root_snapshot_->most == engine.ub(total_)) {
    refixed_ = true;
    if (!Refix(engine)) return false;
    if (open_outside_ == 0) return true;
  }
  std::vector<std::int8_t> lower = lower_, upper = upper_;
  for (const auto& [column, level] : log_) {
    if (level <= root_level_) continue;
    lower[static_cast<std::size_t>(column)] = 0;
    upper[static_cast<std::size_t>(column)] = 1;
  }
  lp_.Rebuild(lower, upper);
  open_outside_ = 0;
  ++counters_.rebuilds;
  return true;
}

bool LinearRelaxation::Refix(Engine& engine) {
  const Snapshot& s = *root_snapshot_;
  Wide value = s.base;
  for (const auto& [column, d] : s.reduced) {
    const auto j = static_cast<std::size_t>(column);
    if (d > 0 && lower_[j] == 1) value += d;
    if (d < 0 && upper_[j] == 0) value -= d;
  }
  const Wide room = (static_cast<Wide>(LargestCost(s.most)) << ExactDualBound::kShift) - value;
  const auto index = static_cast<std::int64_t>(snapshots_.size());
  snapshots_.push_back(s);
  snapshots_.back().level = engine.level();
  for (const auto& [column, d] : s.reduced) {
    if (IsFixed(static_cast<std::size_t>(column)) || (d > 0 ? d : -d) <= room) continue;
    const Lit one = model_.column[static_cast<std::size_t>(column)];
    if (!engine.Infer(id_, d > 0 ? ~one : one, {kFixing, index, 0})) return false;
  }
  return true;
}

bool LinearRelaxation::Propagate(Engine& engine) {
  if (current_) return true;
  // Before the assumptions are made again only a better incumbent has something new to say.
  if (engine.level() < root_level_) {
    if (root_most_ == engine.ub(total_)) return true;
    root_most_ = engine.ub(total_);
  }
  if (!CoverOpen(engine)) return false;
  const bool root = engine.level() <= root_level_;
  const std::int32_t max_rounds = root ? params_.root_rounds : params_.node_rounds;
  std::int32_t stalled = 0;
  double last = -1e300;
  for (std::int32_t round = 0;;) {
    if (engine.budget().Exhausted()) return true;
    lp_.SetDomain(lower_, upper_);
    ++counters_.solves;
    const LpOutcome outcome = lp_.Solve(engine.budget(), Limit(engine));
    engine.budget().Spend(static_cast<Ticks>(2 * model_.rows.num_terms()));
    current_ = false;
    solved_level_ = engine.level();
    if (outcome == LpOutcome::kOptimal) {
      x_.assign(lp_.x().begin(), lp_.x().end());
      value_ = lp_.value();
      current_ = true;
    }
    if (!Judge(engine, outcome)) return false;
    if (outcome != LpOutcome::kOptimal) return true;
    lp_.AgeRows(kIdle);
    const bool integral =
        std::all_of(x_.begin(), x_.end(), [](double v) { return v <= kIntegral || v >= 1.0 - kIntegral; });
    if (!integral) {
      if (round >= max_rounds) return Finish(engine, root);
      const double limit = Limit(engine);
      const double scale = limit > 1e99 ? std::abs(value_) : limit - value_;
      stalled = value_ - last < 0.003 * scale ? stalled + 1 : 0;
      last = value_;
      if (stalled >= (root ? 6 : 1) && round > 0) return Finish(engine, root);
      ++round;
    }
    if (Separate(engine, integral, root) == 0) return Finish(engine, root);
  }
}

// The LP has said all it can here.
bool LinearRelaxation::Finish(const Engine& engine, bool root) {
  if (root && root_x_.empty()) {
    root_x_ = x_;
    root_duals_ = lp_.DualsByRow();
  }
  if (root && engine.level() == root_level_) {
    std::size_t open = 0;
    for (std::size_t j = 0; j < lower_.size(); ++j)
      open += lower_[j] != upper_[j] && lp_.Has(static_cast<std::int32_t>(j));
    if (5 * open < 4 * lp_.num_columns()) {
      lp_.Rebuild(lower_, upper_);
      open_outside_ = 0;
      ++counters_.rebuilds;
    }
  }
  return true;
}

bool LinearRelaxation::EvaluateRay() {
  for (const double sign : {1.0, -1.0})
    if (exact_.Evaluate(model_.rows, lp_.rows(), lp_.duals(), model_.cost, lower_, upper_, true, sign) &&
        exact_.scaled() > 0) {
      ray_sign_ = sign;
      return true;
    }
  return false;
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
  if (!exact_.Evaluate(model_.rows, lp_.rows(), lp_.duals(), model_.cost, lower_, upper_)) return true;
  const std::int64_t most = engine.ub(total_);
  const Wide target = static_cast<Wide>(LargestCost(most)) << ExactDualBound::kShift;
  if (engine.level() <= root_level_) root_bound_ = std::max(root_bound_, exact_.RoundedUp(step_));
  if (exact_.scaled() > target) {
    ++counters_.conflicts;
    std::vector<Lit> why;
    checked_ = TakeSnapshot(engine, false);
    Why(engine, checked_, target, 0, Lit(), core::kNow, why);
    engine.WhyLeq(total_, LargestCost(most) + step_ - 1, core::kNow, why);
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
  if (engine.level() == root_level_) root_snapshot_ = snapshots_.back();
  for (const Lit lit : fix)
    if (!engine.Infer(id_, lit, {kFixing, index, 0})) return false;
  return true;
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
