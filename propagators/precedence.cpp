// SPDX-License-Identifier: Apache-2.0
#include "propagators/precedence.hpp"

#include <algorithm>

namespace ebb {

using core::Engine;
using core::Lit;

namespace {
constexpr std::string_view kRules[] = {"later", "earlier", "off"};
constexpr std::uint16_t kLater = 0, kEarlier = 1, kOff = 2;
}  // namespace

Precedence::Precedence(Lit lit, core::IntVar x, std::int64_t d, core::IntVar y)
    : Propagator("precedence", kRules, core::Priority::kBinary), lit_(lit), x_(x), y_(y), d_(d) {}

void Precedence::Attach(Engine& engine, core::PropId id) {
  id_ = id;
  engine.Watch(lit_, id, 0);
  engine.WatchLower(x_, id, 0);
  engine.WatchUpper(y_, id, 0);
}

bool Precedence::OnEvent(Engine& engine, std::int32_t) {
  return !engine.IsFalse(lit_) && (engine.lb(x_) + d_ > engine.lb(y_) || engine.ub(y_) - d_ < engine.ub(x_));
}

bool Precedence::Propagate(Engine& engine) {
  if (engine.IsFalse(lit_)) return true;
  if (engine.lb(x_) + d_ > engine.ub(y_)) {
    // Any split of the gap between the two bounds explains it; y's own bound is the one that others share.
    return engine.Infer(id_, ~lit_, {kOff, engine.ub(y_), 0});
  }
  if (!engine.IsTrue(lit_)) return true;
  if (engine.lb(x_) + d_ > engine.lb(y_) &&
      !engine.Infer(id_, engine.Geq(y_, engine.lb(x_) + d_), {kLater, engine.lb(x_), 0}))
    return false;
  return engine.ub(y_) - d_ >= engine.ub(x_) ||
         engine.Infer(id_, engine.Leq(x_, engine.ub(y_) - d_), {kEarlier, engine.ub(y_), 0});
}

void Precedence::Explain(Engine& engine, Lit, const core::LazyReason& reason, std::int32_t before,
                         std::vector<Lit>& out) {
  if (reason.rule != kOff) out.push_back(lit_);
  if (reason.rule == kLater) engine.WhyGeq(x_, reason.a, before, out);
  if (reason.rule == kEarlier) engine.WhyLeq(y_, reason.a, before, out);
  if (reason.rule == kOff) {
    engine.WhyLeq(y_, reason.a, before, out);
    engine.WhyGeq(x_, reason.a - d_ + 1, before, out);
  }
}

void Precedence::Witness(std::uint16_t, std::string& out) const {
  out += ' ' + std::to_string(lit_.number()) + ' ' + std::to_string(core::Index(x_)) + ' ' + std::to_string(d_) + ' ' +
         std::to_string(core::Index(y_));
}

bool Precedence::Implies(const Engine& engine, std::uint16_t, std::span<const Lit> clause) const {
  // Where the clause is false, lit holds and x + d > y for all x and y.
  std::int64_t least = engine.ints().root_lo(x_), most = engine.ints().root_hi(y_);
  bool on = lit_ == engine.True();
  for (const Lit lit : clause) {
    on = on || lit == ~lit_;
    const auto bound = engine.ints().Meaning(~lit);
    if (bound.var == x_ && bound.side == core::IntVars::Side::kLower) least = std::max(least, bound.value);
    if (bound.var == y_ && bound.side == core::IntVars::Side::kUpper) most = std::min(most, bound.value);
  }
  return on && least + d_ > most;
}

}  // namespace ebb
