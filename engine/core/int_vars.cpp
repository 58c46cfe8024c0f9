// SPDX-License-Identifier: Apache-2.0
#include "engine/core/int_vars.hpp"

#include <algorithm>
#include <cassert>

namespace ebb::core {

IntVar IntVars::AddRange(std::int64_t lo, std::int64_t hi) {
  assert(lo <= hi);
  Var v;
  v.lo = v.bound[0] = lo;
  v.hi = v.bound[1] = hi;
  vars_.push_back(std::move(v));
  return static_cast<IntVar>(vars_.size() - 1);
}

IntVar IntVars::AddSparse(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  assert(!values.empty());
  const IntVar x = AddRange(values.front(), values.back());
  const bool dense = values.back() - values.front() + 1 == static_cast<std::int64_t>(values.size());
  if (!dense) vars_.back().domain = std::move(values);
  return x;
}

std::int64_t IntVars::Ceil(IntVar x, std::int64_t v) const {
  const Var& var = vars_[Index(x)];
  if (v <= var.lo) return var.lo;
  if (v > var.hi) return var.hi + 1;
  if (var.domain.empty()) return v;
  return *std::lower_bound(var.domain.begin(), var.domain.end(), v);
}

std::int64_t IntVars::Floor(IntVar x, std::int64_t v) const {
  const Var& var = vars_[Index(x)];
  if (v >= var.hi) return var.hi;
  if (v < var.lo) return var.lo - 1;
  if (var.domain.empty()) return v;
  return *std::prev(std::upper_bound(var.domain.begin(), var.domain.end(), v));
}

Lit IntVars::Find(IntVar x, std::int64_t value) const {
  const auto& lits = vars_[Index(x)].lits;
  const auto it =
      std::lower_bound(lits.begin(), lits.end(), value, [](const OrderLit& l, std::int64_t v) { return l.value < v; });
  return it != lits.end() && it->value == value ? it->lit : Lit();
}

void IntVars::Insert(IntVar x, std::int64_t value, Lit lit) {
  auto& lits = vars_[Index(x)].lits;
  const auto it =
      std::lower_bound(lits.begin(), lits.end(), value, [](const OrderLit& l, std::int64_t v) { return l.value < v; });
  assert(lit.positive() && (it == lits.end() || it->value != value));
  lits.insert(it, {value, lit});
  if (owner_.size() <= lit.var()) owner_.resize(lit.var() + 1);
  owner_[lit.var()] = {x, value};
}

IntVars::Bound IntVars::Meaning(Lit lit) const {
  const Owner o = owner(lit.var());
  if (o.var == IntVar::kNone) return {};
  if (lit.positive()) return {o.var, Side::kLower, o.value};
  return {o.var, Side::kUpper, Floor(o.var, o.value - 1)};
}

std::int32_t IntVars::Tighten(const Bound& bound, Lit lit, std::int32_t position) {
  Var& var = vars_[Index(bound.var)];
  const std::size_t s = At(bound.side);
  if (s == 0 ? bound.value <= var.bound[0] : bound.value >= var.bound[1]) return -1;
  events_.push_back({bound.var, bound.side, position, var.last_event[s], bound.value, var.bound[s], lit});
  var.bound[s] = bound.value;
  var.last_event[s] = static_cast<std::int32_t>(events_.size()) - 1;
  return var.last_event[s];
}

void IntVars::Undo(std::int32_t position) {
  while (!events_.empty() && events_.back().position >= position) {
    const Event& e = events_.back();
    Var& var = vars_[Index(e.var)];
    var.bound[At(e.side)] = e.old_value;
    var.last_event[At(e.side)] = e.previous;
    events_.pop_back();
  }
}

Lit IntVars::Why(IntVar x, Side side, std::int64_t v, std::int32_t before) const {
  const Var& var = vars_[Index(x)];
  if (side == Side::kLower ? v <= var.lo : v >= var.hi) return {};
  Lit found;
  for (std::int32_t e = var.last_event[At(side)]; e >= 0; e = events_[static_cast<std::size_t>(e)].previous) {
    const Event& event = events_[static_cast<std::size_t>(e)];
    if (event.position >= before) continue;
    if (side == Side::kLower ? event.value < v : event.value > v) break;
    found = event.lit;
  }
  assert(!found.none());
  return found;
}

std::int64_t IntVars::BoundAt(IntVar x, Side side, std::int32_t before) const {
  const Var& var = vars_[Index(x)];
  for (std::int32_t e = var.last_event[At(side)]; e >= 0; e = events_[static_cast<std::size_t>(e)].previous)
    if (events_[static_cast<std::size_t>(e)].position < before) return events_[static_cast<std::size_t>(e)].value;
  return side == Side::kLower ? var.lo : var.hi;
}

}  // namespace ebb::core
