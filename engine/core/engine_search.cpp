// SPDX-License-Identifier: Apache-2.0
//
// The engine as the SAT solver's client: what is told, what is handed over, reasons, decisions, complete assignments.
#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/base/status.hpp"
#include "engine/core/engine.hpp"

namespace ebb::core {
namespace {
constexpr Ticks kTicksPerLiteral = 60;  // what the SAT solver's and the engine's bookkeeping cost for one, in the mean
constexpr Ticks kTicksPerRun = 100;     // waking a propagator
}  // namespace

void Engine::Fail(std::exception_ptr why) {
  if (!failure_) failure_ = std::move(why);
  stop_ = true;
}

// --- Told by the SAT solver
// --------------------------------------------------------------------------------------------

void Engine::OnAssigned(Lit lit) {
  budget_->Spend(kTicksPerLiteral);
  switch (value(lit)) {
    case Value::kOpen: Assign(lit, {}, level()); break;
    case Value::kTrue: {
      const auto i = static_cast<std::size_t>(position_[lit.var()]);
      if (trail_[i].handed_level >= 0) break;
      trail_[i].handed_level = level();
      NoteLate(i);
      break;
    }
    case Value::kFalse: contrary_.push_back({lit, level()}); break;
  }
}

void Engine::OnFixed(Lit lit) {
  fixed_[lit.var()] = lit.positive() ? Value::kTrue : Value::kFalse;
  OnAssigned(lit);
}

void Engine::OnNewLevel() {
  DispatchEvents();  // events must be seen on the level where they are true
  level_marks_.push_back(trail_.size());
  cell_marks_.push_back(cell_log_.size());
}

void Engine::OnBacktrack(std::int32_t to) { Backtrack(to); }

// A literal that the SAT solver came to have on a level above its own here: backtracking between the two takes it away
// there only.
void Engine::NoteLate(std::size_t trail_index) {
  if (!level_marks_.empty() && trail_index < level_marks_.back()) handed_late_.push_back(trail_index);
}

// --- Propagation
// -------------------------------------------------------------------------------------------------------

Lit Engine::NextToHand() {
  while (next_to_hand_ < trail_.size()) {
    TrailEntry& e = trail_[next_to_hand_];
    const std::size_t i = next_to_hand_++;
    if (e.handed_level >= 0) continue;
    e.handed_level = level();
    NoteLate(i);
    return e.lit;
  }
  return {};
}

// Runs the most urgent propagator among the priorities below `end`. False: none is waiting.
bool Engine::RunOne(std::size_t end) {
  for (std::size_t q = 0; q < end; ++q) {
    if (queue_head_[q] == queue_[q].size()) continue;
    const PropId p = queue_[q][queue_head_[q]++];
    if (queue_head_[q] == queue_[q].size()) {
      queue_[q].clear();
      queue_head_[q] = 0;
    }
    Registered& r = propagators_[Index(p)];
    r.queued = false;
    budget_->Spend(kTicksPerRun);
    if (!r.code->Propagate(*this)) {
      assert(conflict_);
      Schedule(p);  // it may have stopped half way
    }
    return true;
  }
  return false;
}

Lit Engine::Propagate() {
  for (;;) {
    DispatchEvents();
    // Cheap propagators run to their fixpoint before anything is handed over, heavy ones only when the SAT solver has
    // nothing more to say.
    if (!conflict_ && contrary_.empty() && RunOne(static_cast<std::size_t>(Priority::kGlobal))) continue;
    if (const Lit lit = NextToHand(); !lit.none()) return lit;
    if (conflict_ || !contrary_.empty() || !RunOne(kPriorities)) return {};
  }
}

Lit Engine::NextPropagation() {
  if (stop_ || budget_->Exhausted()) return {};
  try {
    return Propagate();
  } catch (...) {
    Fail(std::current_exception());
    return {};
  }
}

// --- Clauses and reasons
// -----------------------------------------------------------------------------------------------

// Appends lit and the negation of what made it true.
void Engine::Explain(Lit lit, std::vector<Lit>& clause) {
  const std::int32_t position = position_[lit.var()];
  if (position < 0) throw InternalError("the reason of an unassigned literal was asked for");
  const Reason reason = trail_[static_cast<std::size_t>(position)].reason;
  clause.push_back(lit);
  switch (reason.kind) {
    case Reason::Kind::kSat: throw InternalError("the reason of a literal was asked for that the engine did not infer");
    case Reason::Kind::kLink: {
      const Lit cause = Lit::Of(static_cast<std::int32_t>(reason.a));
      if (!cause.none()) clause.push_back(~cause);
      break;
    }
    case Reason::Kind::kEager:
      for (std::int32_t i = 0; i < reason.b; ++i)
        clause.push_back(~arena_[static_cast<std::size_t>(reason.a) + static_cast<std::size_t>(i)]);
      break;
    case Reason::Kind::kLazy: {
      std::vector<Lit> because;
      explaining_ = true;
      propagators_[Index(reason.propagator)].code->Explain(*this, lit, {reason.rule, reason.a, reason.b}, position,
                                                           because);
      explaining_ = false;
      ++statistics_.lazy_reasons;
      for (const Lit b : because)
        if (b != True()) clause.push_back(~b);
      break;
    }
  }
#ifdef EBB_CHECK
  for (std::size_t i = 1; i < clause.size(); ++i)
    if (!WasTrue(~clause[i], position)) throw InternalError("E2: a reason names a literal that was not true before");
#endif
  budget_->Spend(static_cast<Ticks>(clause.size()) * 10);
  CheckClause(reason.propagator, reason.rule, clause);
}

void Engine::CheckClause([[maybe_unused]] PropId p, [[maybe_unused]] std::uint16_t rule, std::span<const Lit> clause) {
#ifdef EBB_CHECK
  if (p != PropId::kNone && !propagators_[Index(p)].code->Implies(*this, rule, clause)) {
    const Propagator& code = *propagators_[Index(p)].code;
    Fail(std::make_exception_ptr(InternalError("checker: rule " + std::string(code.Rules()[rule]) + " of " +
                                               std::string(code.Name()) + " gave a clause that does not follow")));
  }
#endif
  try {
    for (ClauseListener* listener : listeners_) listener->OnClause(p, rule, clause);
  } catch (...) {
    Fail(std::current_exception());
  }
}

bool Engine::WantsLearned() {
  return std::any_of(listeners_.begin(), listeners_.end(), [](const auto* l) { return l->WantsLearned(); });
}

void Engine::OnLearnedClause(std::span<const Lit> clause) {
  try {
    for (ClauseListener* listener : listeners_) listener->OnLearned(clause);
  } catch (...) {
    Fail(std::current_exception());
  }
}

std::span<const Lit> Engine::ReasonOf(Lit lit) {
  reason_now_.clear();
  try {
    Explain(lit, reason_now_);
  } catch (...) {
    explaining_ = false;
    Fail(std::current_exception());  // the search ends and its answer is thrown away
    reason_now_.assign(1, lit);
  }
  return reason_now_;
}

bool Engine::HasClause() { return conflict_waits_ || !clauses_out_.empty(); }

std::span<const Lit> Engine::NextClause() {
  if (conflict_waits_) {
    conflict_waits_ = false;
    clause_now_ = std::move(conflict_clause_);
    ++statistics_.clauses;
  } else {
    clause_now_ = std::move(clauses_out_.front());
    clauses_out_.erase(clauses_out_.begin());
  }
  budget_->Spend(static_cast<Ticks>(clause_now_.size()) * 10);
  return clause_now_;
}

// --- Decisions and complete assignments
// --------------------------------------------------------------------------------

Lit Engine::Decide() {
  if (stop_) return {};
  ++statistics_.decisions;
  budget_->Spend(kTicksPerLiteral);
  try {
    if (!split_.none()) {
      const Lit lit = std::exchange(split_, Lit());
      if (IsOpen(lit)) return lit;
    }
    if (brancher_ == nullptr || conflict_ || !contrary_.empty()) return {};
    return brancher_->Next(*this);
  } catch (...) {
    Fail(std::current_exception());
    return {};
  }
}

// Takes the first variable without a value and makes the literal that splits off its smallest one.
bool Engine::SplitUnfixed() {
  for (std::size_t i = 0; i < ints_.size(); ++i) {
    const IntVar x = static_cast<IntVar>(i);
    if (fixed(x)) continue;
    split_ = Leq(x, lb(x));
    return true;
  }
  return false;
}

// The SAT solver took a value that the engine had excluded without handing that over: it had no occasion to ask while
// it was offered a conflict clause for a complete assignment, made that clause unit, and would offer the same
// assignment for ever. Of what stands on the engine's trail against it the first has a reason that is false on both
// sides.
void Engine::TellContrary() {
  Lit first;
  for (const Contrary& c : contrary_) {
    const std::int32_t position = position_[c.lit.var()];
    if (position < 0 || trail_[static_cast<std::size_t>(position)].reason.kind == Reason::Kind::kSat) continue;
    if (first.none() || position < position_[first.var()]) first = ~c.lit;
  }
  if (first.none()) return;
  const std::span<const Lit> reason = ReasonOf(first);
  clauses_out_.emplace_back(reason.begin(), reason.end());
}

// All literals that the SAT solver knows are assigned. False: there is something new to tell it.
bool Engine::CheckModel() {
  for (;;) {
    DispatchEvents();
    if (!contrary_.empty()) TellContrary();
    if (conflict_ || !contrary_.empty()) return false;
    if (!RunOne(kPriorities)) break;
  }
  if (!clauses_out_.empty()) return false;
  const std::size_t before = trail_.size();
  for (Registered& r : propagators_)
    if (!r.code->FinalCheck(*this)) return false;
  return trail_.size() == before && clauses_out_.empty() && !conflict_ && !SplitUnfixed();
}

bool Engine::AcceptModel() {
  try {
    if (!stop_ && CheckModel()) {
      solution_ = values_;
      int_solution_.resize(ints_.size());
      for (std::size_t i = 0; i < ints_.size(); ++i) int_solution_[i] = lb(static_cast<IntVar>(i));
      accepted_ = true;
      return true;
    }
  } catch (...) {
    Fail(std::current_exception());
  }
  // Some clause must follow a refusal, even where the news is a new literal: a tautology is read and ignored.
  if (!HasClause()) clauses_out_.push_back({True(), ~True()});
  return false;
}

SatResult Engine::Solve(std::span<const Lit> assumptions, WorkBudget& budget, std::int64_t conflict_limit) {
  budget_ = &budget;
  solving_ = true;
  accepted_ = stop_ = false;
  SatResult result = sat_->Solve(assumptions, conflict_limit);
  solving_ = false;
  Backtrack(0);
  budget_ = &idle_budget_;
  if (failure_) std::rethrow_exception(failure_);
  if (result == SatResult::kSat && !accepted_) result = SatResult::kUnknown;
  for (const std::vector<Lit>& clause : std::exchange(clauses_out_, {})) sat_->AddClause(clause);
  return result;
}

}  // namespace ebb::core
