// SPDX-License-Identifier: Apache-2.0
#include "propagators/linear_rows.hpp"

#include <algorithm>

namespace ebb {

using core::Engine;
using core::Lit;

namespace {
constexpr std::string_view kRules[] = {"row"};
}

LinearRows::LinearRows(const LinearModel& model)
    : Propagator("linear rows", kRules, core::Priority::kLinear), model_(model) {}

void LinearRows::Attach(Engine& engine, core::PropId id) {
  id_ = id;
  const std::size_t n = model_.column.size();
  loses_.resize(2 * n);
  state_.assign(n, -1);
  for (std::size_t j = 0; j < n; ++j) {
    const Lit lit = model_.column[j];
    const auto data = static_cast<std::int32_t>(2 * j);
    engine.Watch(~lit, id, data);
    engine.Watch(lit, id, data + 1);
    if (!engine.IsOpen(lit)) state_[j] = engine.IsTrue(lit) ? 1 : 0;
  }
  engine.WatchBacktrack(id);
  std::vector<Lit> clause;
  for (std::size_t r = 0; r < model_.rows.size(); ++r) {
    if (!IsClause(r)) continue;
    clause.clear();
    for (std::size_t k = 0; k < model_.rows.columns(r).size(); ++k) {
      const Lit lit = model_.column[static_cast<std::size_t>(model_.rows.columns(r)[k])];
      clause.push_back(model_.rows.coefficients(r)[k] > 0 ? lit : ~lit);
    }
    engine.AddInferredClause(id_, 0, clause);
  }
  clauses_below_ = model_.rows.size();
  TakeNewRows(engine);
}

bool LinearRows::IsClause(std::size_t row) const {
  std::int64_t negative = 0;
  for (const std::int64_t a : model_.rows.coefficients(row)) {
    if (a != 1 && a != -1) return false;
    negative += a < 0 ? 1 : 0;
  }
  return model_.rows.rhs(row) == 1 - negative;
}

void LinearRows::TakeNewRows(Engine& engine) {
  for (std::size_t r = rows_.size(); r < model_.rows.size(); ++r) {
    const auto columns = model_.rows.columns(r);
    const auto coefficients = model_.rows.coefficients(r);
    Row row{terms_.size(), terms_.size(), -model_.rows.rhs(r), 0, false};
    if (r < clauses_below_ && IsClause(r)) {
      rows_.push_back(row);
      continue;
    }
    std::int64_t lost = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::int64_t a = coefficients[k];
      if (a == 0) continue;
      const auto j = static_cast<std::size_t>(columns[k]);
      const std::int8_t bad = a > 0 ? 0 : 1;
      const std::int64_t weight = a > 0 ? a : -a;
      terms_.push_back({weight, a > 0 ? model_.column[j] : ~model_.column[j], columns[k]});
      if (a > 0) row.root_slack += a;
      if (state_[j] == bad) lost += weight;
      loses_[2 * j + static_cast<std::size_t>(bad)].push_back({static_cast<std::int32_t>(r), weight});
    }
    row.end = terms_.size();
    row.slack = row.root_slack - lost;
    std::sort(terms_.begin() + static_cast<std::ptrdiff_t>(row.begin), terms_.end(), [](const Term& a, const Term& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.column < b.column;
    });
    rows_.push_back(row);
    Queue(r);
  }
  if (!queue_.empty()) engine.Schedule(id_);
}

void LinearRows::Queue(std::size_t r) {
  Row& row = rows_[r];
  const std::int64_t heaviest = row.begin == row.end ? 0 : terms_[row.begin].weight;
  if (row.queued || row.slack >= heaviest) return;
  row.queued = true;
  queue_.push_back(r);
}

void LinearRows::Shift(std::int32_t data, std::int64_t sign) {
  for (const Use& use : loses_[static_cast<std::size_t>(data)]) {
    const auto r = static_cast<std::size_t>(use.row);
    rows_[r].slack -= sign * use.weight;
    if (sign > 0) Queue(r);
  }
}

bool LinearRows::OnEvent(Engine& engine, std::int32_t data) {
  state_[static_cast<std::size_t>(data / 2)] = static_cast<std::int8_t>(data % 2);
  log_.push_back({data, engine.level()});
  Shift(data, 1);
  engine.budget().Spend(4 * static_cast<Ticks>(loses_[static_cast<std::size_t>(data)].size()));
  return !queue_.empty();
}

void LinearRows::OnBacktrack(Engine&, std::int32_t level) {
  while (!log_.empty() && log_.back().level > level) {
    Shift(log_.back().data, -1);
    state_[static_cast<std::size_t>(log_.back().data / 2)] = -1;
    log_.pop_back();
  }
}

bool LinearRows::Propagate(Engine& engine) {
  while (!queue_.empty()) {
    const std::size_t r = queue_.back();
    Row& row = rows_[r];
    if (row.slack < 0) {
      std::vector<Lit> why;
      Why(engine, r, Lit(), 0, core::kNow, why);
      return engine.Conflict(id_, 0, why);
    }
    std::size_t t = row.begin;
    for (; t < row.end && terms_[t].weight > row.slack; ++t) {
      if (engine.IsTrue(terms_[t].lit)) continue;
      if (engine.IsFalse(terms_[t].lit) && state_[static_cast<std::size_t>(terms_[t].column)] >= 0) continue;  // lost
      if (!engine.Infer(id_, terms_[t].lit, {0, static_cast<std::int64_t>(r), 0})) return false;
    }
    engine.budget().Spend(4 * static_cast<Ticks>(t - row.begin) + 10);
    row.queued = false;
    queue_.pop_back();
  }
  return true;
}

void LinearRows::Why(const Engine& engine, std::size_t r, Lit lit, std::int64_t weight, std::int32_t before,
                     std::vector<Lit>& out) const {
  std::int64_t slack = rows_[r].root_slack;
  for (std::size_t t = rows_[r].begin; t < rows_[r].end && slack >= std::max<std::int64_t>(weight, 0); ++t) {
    const Lit bad = ~terms_[t].lit;
    if (bad == ~lit || !engine.WasTrue(bad, before)) continue;
    slack -= terms_[t].weight;
    out.push_back(bad);
  }
}

void LinearRows::Explain(Engine& engine, Lit lit, const core::LazyReason& reason, std::int32_t before,
                         std::vector<Lit>& out) {
  const auto r = static_cast<std::size_t>(reason.a);
  std::int64_t weight = 0;
  for (std::size_t t = rows_[r].begin; t < rows_[r].end && weight == 0; ++t)
    if (terms_[t].lit == lit) weight = terms_[t].weight;
  Why(engine, r, lit, weight, before, out);
  engine.budget().Spend(3 * static_cast<Ticks>(rows_[r].end - rows_[r].begin));
}

// Some row alone cannot be satisfied where every literal of the clause is false.
bool LinearRows::Implies(const Engine&, std::uint16_t, std::span<const Lit> clause) const {
  for (std::size_t r = 0; r < model_.rows.size(); ++r) {
    std::int64_t most = 0;
    for (std::size_t k = 0; k < model_.rows.columns(r).size(); ++k) {
      const Lit lit = model_.column[static_cast<std::size_t>(model_.rows.columns(r)[k])];
      const std::int64_t a = model_.rows.coefficients(r)[k];
      const bool must_be_0 = std::find(clause.begin(), clause.end(), lit) != clause.end();
      const bool must_be_1 = std::find(clause.begin(), clause.end(), ~lit) != clause.end();
      most += must_be_1 ? a : must_be_0 ? 0 : std::max<std::int64_t>(a, 0);
    }
    if (most < model_.rows.rhs(r)) return true;
  }
  return false;
}

}  // namespace ebb
