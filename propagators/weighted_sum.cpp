// SPDX-License-Identifier: Apache-2.0
#include "propagators/weighted_sum.hpp"

#include <algorithm>

namespace ebb {

using core::Engine;
using core::Lit;

namespace {
constexpr std::string_view kRules[] = {"total", "no room"};
}

WeightedSum::WeightedSum(std::vector<Term> terms, std::int64_t constant, core::IntVar total)
    : Propagator("weighted sum", kRules, core::Priority::kLinear),
      terms_(std::move(terms)),
      constant_(constant),
      total_(total) {
  std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.weight > b.weight; });
}

void WeightedSum::Attach(Engine& engine, core::PropId id) {
  id_ = id;
  sum_ = engine.NewCell(constant_);
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (engine.IsTrue(terms_[i].lit)) engine.Set(sum_, engine.Get(sum_) + terms_[i].weight);
    engine.Watch(terms_[i].lit, id, static_cast<std::int32_t>(i));
  }
  engine.WatchUpper(total_, id, -1);
}

bool WeightedSum::OnEvent(Engine& engine, std::int32_t data) {
  if (data >= 0) engine.Set(sum_, engine.Get(sum_) + terms_[static_cast<std::size_t>(data)].weight);
  const std::int64_t room = engine.ub(total_) - engine.Get(sum_);
  return !terms_.empty() && room < terms_.front().weight;
}

bool WeightedSum::Raise(Engine& engine) {
  const std::int64_t sum = engine.Get(sum_);
  return sum <= engine.lb(total_) || engine.Infer(id_, engine.Geq(total_, sum), {0, sum, 0});
}

bool WeightedSum::Propagate(Engine& engine) {
  const std::int64_t sum = engine.Get(sum_);
  const std::int64_t room = engine.ub(total_) - sum;
  if (room < 0) {
    std::vector<Lit> why;
    Why(engine, engine.ub(total_), Lit(), core::kNow, why);
    engine.WhyLeq(total_, engine.ub(total_), core::kNow, why);
    return engine.Conflict(id_, 1, why);
  }
  for (const Term& t : terms_) {
    if (t.weight <= room) break;
    engine.budget().Spend(4);
    if (engine.IsOpen(t.lit) && !engine.Infer(id_, ~t.lit, {1, engine.ub(total_), 0})) return false;
  }
  return true;
}

void WeightedSum::Why(const Engine& engine, std::int64_t target, Lit but, std::int32_t before,
                      std::vector<Lit>& out) const {
  std::int64_t sum = constant_;
  for (const Term& t : terms_) {
    if (sum > target) break;
    if (t.lit == but || !engine.WasTrue(t.lit, before)) continue;
    sum += t.weight;
    out.push_back(t.lit);
  }
}

void WeightedSum::Explain(Engine& engine, Lit lit, const core::LazyReason& reason, std::int32_t before,
                          std::vector<Lit>& out) {
  if (reason.rule == 0) {
    Why(engine, reason.a - 1, Lit(), before, out);
    return;
  }
  std::int64_t weight = 0;
  for (const Term& t : terms_)
    if (t.lit == ~lit) weight = t.weight;
  Why(engine, reason.a - weight, ~lit, before, out);
  engine.WhyLeq(total_, reason.a, before, out);
}

bool WeightedSum::FinalCheck(Engine& engine) {
  if (engine.Get(sum_) <= engine.lb(total_)) return true;
  static_cast<void>(Raise(engine));
  return false;
}

bool WeightedSum::Implies(const Engine& engine, std::uint16_t, std::span<const Lit> clause) const {
  std::int64_t sum = constant_, most = engine.ints().root_hi(total_);
  for (const Lit lit : clause) {
    const auto bound = engine.ints().Meaning(~lit);
    if (bound.var == total_ && bound.side == core::IntVars::Side::kUpper) most = std::min(most, bound.value);
  }
  for (const Term& t : terms_)
    if (std::find(clause.begin(), clause.end(), ~t.lit) != clause.end()) sum += t.weight;
  return sum > most;
}

}  // namespace ebb
