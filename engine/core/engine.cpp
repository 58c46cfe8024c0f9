// SPDX-License-Identifier: Apache-2.0
//
// The model, the trail and the inference half of the engine; engine_search.cpp holds the half that talks to the SAT
// solver.
#include "engine/core/engine.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/base/status.hpp"

namespace ebb::core {

Engine::Engine(std::int32_t seed, std::FILE* derived) : sat_(MakeCadicalBackend(*this, seed, derived)) {
  values_.resize(1, Value::kOpen);  // variable 0 does not exist
  position_.resize(1, -1);
  fixed_.resize(1, Value::kOpen);
  lit_watches_.resize(2);
  const Lit one = NewLit();
  assert(one == True());
  AddClause({one});
}

Engine::~Engine() = default;

std::size_t Engine::NewSatVar() {
  if (explaining_) throw InternalError("a propagator made a literal while explaining");
  const std::size_t var = values_.size();
  values_.push_back(Value::kOpen);
  position_.push_back(-1);
  fixed_.push_back(Value::kOpen);
  lit_watches_.resize(2 * var + 2);
  ++statistics_.literals;
  sat_->Observe(var);
  return var;
}

Lit Engine::NewLit() { return Lit::Of(static_cast<std::int32_t>(NewSatVar())); }

IntVar Engine::NewInt(std::int64_t lo, std::int64_t hi) {
  const IntVar x = ints_.AddRange(lo, hi);
  bound_watches_.resize(2 * ints_.size());
  return x;
}

IntVar Engine::NewSparseInt(std::vector<std::int64_t> values) {
  const IntVar x = ints_.AddSparse(std::move(values));
  bound_watches_.resize(2 * ints_.size());
  return x;
}

PropId Engine::Add(std::unique_ptr<Propagator> propagator) {
  assert(!solving_);
  DispatchEvents();  // what is true already is seen by Attach, not told as an event
  const PropId id = static_cast<PropId>(propagators_.size());
  propagators_.push_back({std::move(propagator)});
  propagators_.back().code->Attach(*this, id);
  Schedule(id);
  return id;
}

void Engine::AddClause(std::span<const Lit> clause) { AddInferredClause(PropId::kNone, 0, clause); }

void Engine::AddInferredClause(PropId p, std::uint16_t rule, std::span<const Lit> clause) {
  ++statistics_.clauses;
  CheckClause(p, rule, clause);
  if (solving_)
    clauses_out_.emplace_back(clause.begin(), clause.end());
  else
    sat_->AddClause(clause);
}

Lit Engine::Geq(IntVar x, std::int64_t v) {
  v = ints_.Ceil(x, v);
  if (v <= ints_.root_lo(x)) return True();
  if (v > ints_.root_hi(x)) return ~True();
  if (const Lit lit = ints_.Find(x, v); !lit.none()) return lit;
  const Lit lit = NewLit();
  ints_.Insert(x, v, lit);
  if (ints_.lb(x) >= v)
    Relink(lit);
  else if (ints_.ub(x) < v)
    Relink(~lit);
  if (!solving_) {
    // Between searches the chain costs nothing to tell; during one, a clause that is unit would make the SAT solver
    // backtrack, so there links are told as reasons when they are used.
    const auto lits = ints_.literals(x);
    const auto at =
        std::lower_bound(lits.begin(), lits.end(), v, [](const auto& l, std::int64_t w) { return l.value < w; });
    if (at != lits.begin()) AddClause({~lit, std::prev(at)->lit});
    if (std::next(at) != lits.end()) AddClause({~std::next(at)->lit, lit});
  }
  return lit;
}

// --- Watches and cells
// -------------------------------------------------------------------------------------------------

void Engine::Watch(Lit lit, PropId p, std::int32_t data) { lit_watches_[lit.index()].push_back({p, data}); }
void Engine::WatchLower(IntVar x, PropId p, std::int32_t data) { bound_watches_[2 * Index(x)].push_back({p, data}); }
void Engine::WatchUpper(IntVar x, PropId p, std::int32_t data) {
  bound_watches_[2 * Index(x) + 1].push_back({p, data});
}

void Engine::Schedule(PropId p) {
  Registered& r = propagators_[Index(p)];
  if (r.queued) return;
  r.queued = true;
  queue_[static_cast<std::size_t>(r.code->priority())].push_back(p);
}

CellId Engine::NewCell(std::int64_t value) {
  cells_.push_back(value);
  return static_cast<CellId>(cells_.size() - 1);
}

void Engine::Set(CellId cell, std::int64_t value) {
  std::int64_t& now = cells_[static_cast<std::size_t>(cell)];
  if (now == value) return;
  if (!level_marks_.empty()) cell_log_.emplace_back(cell, now);
  now = value;
}

// --- The trail
// ---------------------------------------------------------------------------------------------------------

void Engine::Assign(Lit lit, const Reason& reason, std::int32_t handed_level, bool late) {
  assert(IsOpen(lit));
  const auto position = static_cast<std::int32_t>(trail_.size());
  TrailEntry entry;
  entry.lit = lit;
  entry.handed_level = handed_level;
  entry.late = late;
  entry.reason = reason;
  trail_.push_back(entry);
  values_[lit.var()] = lit.positive() ? Value::kTrue : Value::kFalse;
  position_[lit.var()] = position;
  const IntVars::Bound bound = ints_.Meaning(lit);
  if (bound.var == IntVar::kNone) return;
  const std::int64_t old_bound = bound.side == IntVars::Side::kLower ? ints_.lb(bound.var) : ints_.ub(bound.var);
  if (ints_.Tighten(bound, lit, position) < 0) return;
  trail_.back().moved_bound = true;
  LinkNeighbours(bound, old_bound, lit);
}

// E1: the literals between the old and the new bound follow.
void Engine::LinkNeighbours(const IntVars::Bound& bound, std::int64_t old_bound, Lit cause) {
  const auto lits = ints_.literals(bound.var);
  const auto from = [&](std::int64_t v) {
    return std::lower_bound(lits.begin(), lits.end(), v, [](const auto& l, std::int64_t w) { return l.value < w; });
  };
  Reason link;
  link.kind = Reason::Kind::kLink;
  link.a = cause.number();
  if (bound.side == IntVars::Side::kLower) {
    for (auto it = from(old_bound + 1); it != lits.end() && it->value <= bound.value; ++it)
      if (IsOpen(it->lit)) Assign(it->lit, link, -1);
  } else {
    for (auto it = from(bound.value + 1); it != lits.end() && it->value <= old_bound; ++it)
      if (IsOpen(it->lit)) Assign(~it->lit, link, -1);
  }
}

// A literal made after the bounds had decided it is assigned on the present level, although it holds on an older one:
// where backtracking pops it and the bounds still decide it, it comes back.
void Engine::Relink(Lit lit) {
  const IntVars::Bound bound = ints_.Meaning(lit);
  const bool lower = bound.side == IntVars::Side::kLower;
  if (!IsOpen(lit) || (lower ? ints_.lb(bound.var) < bound.value : ints_.ub(bound.var) > bound.value)) return;
  Reason link;
  link.kind = Reason::Kind::kLink;
  const Lit cause = ints_.Why(bound.var, bound.side, bound.value, kNow);
  link.a = cause.number();
  Assign(lit, link, -1, true);
}

void Engine::DispatchEvents() {
  while (next_event_ < trail_.size()) {
    const Lit lit = trail_[next_event_].lit;
    const bool moved = trail_[next_event_].moved_bound;
    ++next_event_;
    for (const WatchEntry& w : lit_watches_[lit.index()])
      if (propagators_[Index(w.propagator)].code->OnEvent(*this, w.data)) Schedule(w.propagator);
    if (!moved) continue;
    const IntVars::Bound bound = ints_.Meaning(lit);
    for (const WatchEntry& w : bound_watches_[2 * Index(bound.var) + (bound.side == IntVars::Side::kLower ? 0 : 1)])
      if (propagators_[Index(w.propagator)].code->OnEvent(*this, w.data)) Schedule(w.propagator);
  }
}

void Engine::Backtrack(std::int32_t to) {
  if (to >= level()) return;
  const std::size_t keep = level_marks_[static_cast<std::size_t>(to)];
  std::vector<Lit> relink, refix;
  for (std::size_t i = trail_.size(); i-- > keep;) {
    const TrailEntry& e = trail_[i];
    values_[e.lit.var()] = Value::kOpen;
    position_[e.lit.var()] = -1;
    if (e.late) relink.push_back(e.lit);
    if (fixed_[e.lit.var()] != Value::kOpen)
      refix.push_back(fixed_[e.lit.var()] == Value::kTrue ? Lit::Of(static_cast<std::int32_t>(e.lit.var()))
                                                          : ~Lit::Of(static_cast<std::int32_t>(e.lit.var())));
    if (e.reason.kind == Reason::Kind::kEager) arena_.resize(static_cast<std::size_t>(e.reason.a));
  }
  trail_.resize(keep);
  ints_.Undo(static_cast<std::int32_t>(keep));
  level_marks_.resize(static_cast<std::size_t>(to));
  next_event_ = std::min(next_event_, keep);
  next_to_hand_ = std::min(next_to_hand_, keep);
  std::erase_if(handed_late_, [&](std::size_t i) {
    if (i >= keep) return true;
    if (trail_[i].handed_level <= to) return false;
    trail_[i].handed_level = -1;  // the SAT solver forgot it
    next_to_hand_ = std::min(next_to_hand_, i);
    return true;
  });
  const std::size_t cells = cell_marks_[static_cast<std::size_t>(to)];
  while (cell_log_.size() > cells) {
    cells_[static_cast<std::size_t>(cell_log_.back().first)] = cell_log_.back().second;
    cell_log_.pop_back();
  }
  cell_marks_.resize(static_cast<std::size_t>(to));
  conflict_ = conflict_waits_ = false;
  split_ = Lit();
  for (const PropId p : backtrack_watchers_) propagators_[Index(p)].code->OnBacktrack(*this, to);
  std::erase_if(contrary_, [&](const Contrary& c) { return c.level > to; });
  const std::vector<Contrary> still = std::exchange(contrary_, {});
  for (const Lit lit : refix)
    if (IsOpen(lit)) Assign(lit, {}, to);
  for (const Contrary& c : still) {
    if (IsOpen(c.lit))
      Assign(c.lit, {}, to);
    else if (IsFalse(c.lit))
      contrary_.push_back(c);
  }
  for (const Lit lit : relink) Relink(lit);
}

// --- Inference
// ---------------------------------------------------------------------------------------------------------

bool Engine::Infer(PropId p, std::uint16_t rule, Lit lit, std::span<const Lit> because) {
  if (IsTrue(lit)) return true;
  if (IsFalse(lit)) {
    std::vector<Lit> all(because.begin(), because.end());
    all.push_back(~lit);
    return Conflict(p, rule, all);
  }
  Reason reason;
  reason.kind = Reason::Kind::kEager;
  reason.propagator = p;
  reason.rule = rule;
  reason.a = static_cast<std::int64_t>(arena_.size());
  for (const Lit b : because)
    if (b != True()) arena_.push_back(b);
  reason.b = static_cast<std::int32_t>(arena_.size() - static_cast<std::size_t>(reason.a));
  ++statistics_.propagations;
  Assign(lit, reason, -1);
#ifdef EBB_CHECK
  ReasonOf(lit);
#endif
  return true;
}

bool Engine::Infer(PropId p, Lit lit, const LazyReason& lazy) {
  if (IsTrue(lit)) return true;
  if (IsFalse(lit)) {
    std::vector<Lit> all;
    explaining_ = true;
    propagators_[Index(p)].code->Explain(*this, lit, lazy, kNow, all);
    explaining_ = false;
    all.push_back(~lit);
    return Conflict(p, lazy.rule, all);
  }
  Reason reason;
  reason.kind = Reason::Kind::kLazy;
  reason.propagator = p;
  reason.rule = lazy.rule;
  reason.a = lazy.a;
  reason.b = lazy.b;
  ++statistics_.propagations;
  Assign(lit, reason, -1);
#ifdef EBB_CHECK
  ReasonOf(lit);
#endif
  return true;
}

bool Engine::Conflict(PropId p, std::uint16_t rule, std::span<const Lit> because) {
  std::vector<Lit> clause;
  for (const Lit b : because) {
    assert(IsTrue(b));
    if (b != True()) clause.push_back(~b);
  }
  CheckClause(p, rule, clause);
  conflict_ = conflict_waits_ = true;
  conflict_clause_ = std::move(clause);
  return false;
}

void Engine::WhyGeq(IntVar x, std::int64_t v, std::int32_t before, std::vector<Lit>& out) const {
  const Lit lit = ints_.Why(x, IntVars::Side::kLower, v, before);
  if (!lit.none()) out.push_back(lit);
}

void Engine::WhyLeq(IntVar x, std::int64_t v, std::int32_t before, std::vector<Lit>& out) const {
  const Lit lit = ints_.Why(x, IntVars::Side::kUpper, v, before);
  if (!lit.none()) out.push_back(lit);
}

}  // namespace ebb::core
