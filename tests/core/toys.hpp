// SPDX-License-Identifier: Apache-2.0
// Small constraints for the tests of the engine: each with its explanations and a naive checker that enumerates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/core/engine.hpp"

namespace ebb::core::test {

// What a clause says by leaving it out: the region where all its literals are false.
struct Region {
  std::vector<std::int64_t> lo, hi;  // by integer variable
  std::vector<Value> lits;           // by SAT variable
  bool empty = false;

  Region(const Engine& e, std::span<const Lit> clause) : lits(e.num_sat_vars(), Value::kOpen) {
    lits[e.True().var()] = Value::kTrue;
    for (std::size_t i = 0; i < e.ints().size(); ++i) {
      lo.push_back(e.ints().root_lo(static_cast<IntVar>(i)));
      hi.push_back(e.ints().root_hi(static_cast<IntVar>(i)));
    }
    for (const Lit l : clause) {
      lits[l.var()] = l.positive() ? Value::kFalse : Value::kTrue;
      const IntVars::Bound b = e.ints().Meaning(~l);
      if (b.var == IntVar::kNone) continue;
      auto& bound = b.side == IntVars::Side::kLower ? lo[Index(b.var)] : hi[Index(b.var)];
      bound = b.side == IntVars::Side::kLower ? std::max(bound, b.value) : std::min(bound, b.value);
      if (lo[Index(b.var)] > hi[Index(b.var)]) empty = true;
    }
    if (lits[1] == Value::kFalse) empty = true;
  }
  bool MayBe(Lit l, Value v) const {
    const Value now = l.positive() ? lits[l.var()] : Negate(lits[l.var()]);
    return now == Value::kOpen || now == v;
  }
};

// b -> x + d <= y
class Difference final : public Propagator {
  static constexpr std::string_view kRules[] = {"up", "down", "off"};

 public:
  Difference(Lit b, IntVar x, std::int64_t d, IntVar y, bool lazy)
      : Propagator("difference", kRules, Priority::kLinear), b_(b), x_(x), y_(y), d_(d), lazy_(lazy) {}
  void Attach(Engine& e, PropId id) override {
    id_ = id;
    e.Watch(b_, id, 0);
    e.WatchLower(x_, id, 0);
    e.WatchUpper(y_, id, 0);
  }
  bool Propagate(Engine& e) override {
    if (e.IsFalse(b_)) return true;
    std::vector<Lit> why;
    if (e.lb(x_) + d_ > e.ub(y_)) {
      e.WhyGeq(x_, e.ub(y_) - d_ + 1, kNow, why);
      e.WhyLeq(y_, e.ub(y_), kNow, why);
      return e.Infer(id_, 2, ~b_, why);
    }
    if (!e.IsTrue(b_)) return true;
    if (lazy_) {
      if (e.lb(x_) + d_ > e.lb(y_) && !e.Infer(id_, e.Geq(y_, e.lb(x_) + d_), {0, e.lb(x_), 0})) return false;
      return e.ub(y_) - d_ >= e.ub(x_) || e.Infer(id_, e.Leq(x_, e.ub(y_) - d_), {1, e.ub(y_), 0});
    }
    if (e.lb(x_) + d_ > e.lb(y_)) {
      why.assign(1, b_);
      why.push_back(e.Geq(x_, e.lb(x_)));
      if (!e.Infer(id_, 0, e.Geq(y_, e.lb(x_) + d_), why)) return false;
    }
    if (e.ub(y_) - d_ < e.ub(x_)) {
      why.assign(1, b_);
      why.push_back(e.Leq(y_, e.ub(y_)));
      if (!e.Infer(id_, 1, e.Leq(x_, e.ub(y_) - d_), why)) return false;
    }
    return true;
  }
  void Explain(Engine& e, Lit, const LazyReason& r, std::int32_t before, std::vector<Lit>& out) override {
    out.push_back(b_);
    if (r.rule == 0)
      e.WhyGeq(x_, r.a, before, out);
    else
      e.WhyLeq(y_, r.a, before, out);
  }
  bool Implies(const Engine& e, std::uint16_t, std::span<const Lit> clause) const override {
    const Region r(e, clause);
    if (r.empty) return true;
    // The region must have no point: b on, and some x, y apart enough.
    if (r.MayBe(b_, Value::kFalse)) return false;
    return r.lo[Index(x_)] + d_ > r.hi[Index(y_)];
  }

 private:
  PropId id_ = PropId::kNone;
  Lit b_;
  IntVar x_, y_;
  std::int64_t d_;
  bool lazy_;
};

// At most k of the literals, counted incrementally.
class AtMost final : public Propagator {
  static constexpr std::string_view kRules[] = {"full"};

 public:
  AtMost(std::vector<Lit> lits, std::int64_t k)
      : Propagator("at most k", kRules, Priority::kLinear), lits_(std::move(lits)), k_(k) {}
  void Attach(Engine& e, PropId id) override {
    id_ = id;
    count_ = e.NewCell(0);
    for (std::size_t i = 0; i < lits_.size(); ++i) {
      if (e.IsTrue(lits_[i])) e.Set(count_, e.Get(count_) + 1);
      e.Watch(lits_[i], id, static_cast<std::int32_t>(i));
    }
  }
  bool OnEvent(Engine& e, std::int32_t) override {
    e.Set(count_, e.Get(count_) + 1);
    return e.Get(count_) >= k_;
  }
  bool Propagate(Engine& e) override {
    if (e.Get(count_) > k_) {
      std::vector<Lit> why;
      for (const Lit l : lits_)
        if (e.IsTrue(l) && static_cast<std::int64_t>(why.size()) <= k_) why.push_back(l);
      return e.Conflict(id_, 0, why);
    }
    if (e.Get(count_) < k_) return true;
    for (const Lit l : lits_)
      if (e.IsOpen(l) && !e.Infer(id_, ~l, {})) return false;
    return true;
  }
  void Explain(Engine& e, Lit lit, const LazyReason&, std::int32_t before, std::vector<Lit>& out) override {
    for (const Lit l : lits_)
      if (l != ~lit && e.WasTrue(l, before) && static_cast<std::int64_t>(out.size()) < k_) out.push_back(l);
  }
  bool Implies(const Engine& e, std::uint16_t, std::span<const Lit> clause) const override {
    const Region r(e, clause);
    return r.empty || std::count_if(lits_.begin(), lits_.end(), [&](Lit l) { return !r.MayBe(l, Value::kFalse); }) > k_;
  }

 private:
  PropId id_ = PropId::kNone;
  std::vector<Lit> lits_;
  std::int64_t k_;
  CellId count_{};
};

// sum a_i x_i <= c, lazily explained by the bounds at the time.
class LinearLeq final : public Propagator {
  static constexpr std::string_view kRules[] = {"bound"};

 public:
  LinearLeq(std::vector<IntVar> x, std::vector<std::int64_t> a, std::int64_t c)
      : Propagator("linear", kRules, Priority::kLinear), x_(std::move(x)), a_(std::move(a)), c_(c) {}
  void Attach(Engine& e, PropId id) override {
    id_ = id;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (a_[i] > 0) e.WatchLower(x_[i], id, 0);
      if (a_[i] < 0) e.WatchUpper(x_[i], id, 0);
    }
  }
  bool Propagate(Engine& e) override {
    std::int64_t least = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) least += Least(e, i);
    if (least > c_) {
      std::vector<Lit> why;
      Why(e, x_.size(), kNow, why);
      return e.Conflict(id_, 0, why);
    }
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const std::int64_t room = c_ - (least - Least(e, i));
      if (a_[i] > 0) {
        const std::int64_t most = FloorDiv(room, a_[i]);
        if (most < e.ub(x_[i]) && !e.Infer(id_, e.Leq(x_[i], most), {0, static_cast<std::int64_t>(i), 0})) return false;
      } else if (a_[i] < 0) {
        const std::int64_t most = -FloorDiv(room, -a_[i]);
        if (most > e.lb(x_[i]) && !e.Infer(id_, e.Geq(x_[i], most), {0, static_cast<std::int64_t>(i), 0})) return false;
      }
    }
    return true;
  }
  void Explain(Engine& e, Lit, const LazyReason& r, std::int32_t before, std::vector<Lit>& out) override {
    Why(e, static_cast<std::size_t>(r.a), before, out);
  }
  bool Implies(const Engine& e, std::uint16_t, std::span<const Lit> clause) const override {
    const Region r(e, clause);
    if (r.empty) return true;
    std::int64_t least = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) least += a_[i] * (a_[i] > 0 ? r.lo[Index(x_[i])] : r.hi[Index(x_[i])]);
    return least > c_;
  }
  static std::int64_t FloorDiv(std::int64_t p, std::int64_t q) { return p / q - (p % q != 0 && (p < 0) != (q < 0)); }

 private:
  std::int64_t Least(const Engine& e, std::size_t i) const { return a_[i] * (a_[i] > 0 ? e.lb(x_[i]) : e.ub(x_[i])); }
  void Why(Engine& e, std::size_t but, std::int32_t before, std::vector<Lit>& out) const {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (i == but) continue;
      if (a_[i] > 0)
        e.WhyGeq(x_[i], e.LbAt(x_[i], before), before, out);
      else
        e.WhyLeq(x_[i], e.UbAt(x_[i], before), before, out);
    }
  }
  PropId id_ = PropId::kNone;
  std::vector<IntVar> x_;
  std::vector<std::int64_t> a_;
  std::int64_t c_;
};

}  // namespace ebb::core::test
