// SPDX-License-Identifier: Apache-2.0
#include "engine/core/known_solution.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/status.hpp"

namespace ebb::core {

void KnownSolution::Attach(Engine& engine) {
  engine_ = &engine;
  engine.AddListener(this);
}

void KnownSolution::Set(Lit lit, bool value) {
  if (lits_.size() <= lit.var()) lits_.resize(lit.var() + 1, Value::kOpen);
  lits_[lit.var()] = value == lit.positive() ? Value::kTrue : Value::kFalse;
}

void KnownSolution::Set(IntVar x, std::int64_t value) {
  if (ints_.size() <= Index(x)) ints_.resize(Index(x) + 1, 0);
  ints_[Index(x)] = value;
}

void KnownSolution::Begin(IntVar total) {
  total_ = total;
  begun_ = true;
  Set(engine_->True(), true);
  ints_.resize(engine_->ints().size(), 0);
  for (const Kept& k : std::exchange(kept_, {})) Judge(k.propagator, k.rule, k.clause);
}

bool KnownSolution::IsTrue(Lit lit) const {
  const IntVars::Owner owner = engine_->ints().owner(lit.var());
  if (owner.var != IntVar::kNone) return (ints_[Index(owner.var)] >= owner.value) == lit.positive();
  const Value value = lit.var() < lits_.size() ? lits_[lit.var()] : Value::kOpen;
  return value == Value::kOpen || (value == Value::kTrue) == lit.positive();
}

bool KnownSolution::Holds(std::span<const Lit> clause) const {
  return std::any_of(clause.begin(), clause.end(), [&](Lit lit) { return IsTrue(lit); });
}

void KnownSolution::Judge(PropId propagator, std::uint16_t rule, std::span<const Lit> clause) {
  ++judged_;
  if (Holds(clause)) return;
  const IntVar about = clause.size() == 1 ? engine_->ints().owner(clause[0].var()).var : IntVar::kNone;
  if (propagator == PropId::kNone && about != IntVar::kNone && about == total_) {
    excluded_ = true;  // only better ones are wanted from now on
    return;
  }
  std::string who = "the model";
  if (propagator != PropId::kNone) {
    const Propagator& code = engine_->propagator(propagator);
    who = "rule " + std::string(code.Rules()[rule]) + " of " + std::string(code.Name());
  }
  std::string text;
  for (const Lit lit : clause) text += ' ' + std::to_string(lit.number());
  throw InternalError("known solution: " + who + " gave a clause that excludes it:" + text);
}

void KnownSolution::OnClause(PropId propagator, std::uint16_t rule, std::span<const Lit> clause) {
  // A total below its least value is the constant false.
  if (begun_ && propagator == PropId::kNone && clause.size() == 1 && clause[0] == ~engine_->True())
    excluded_ = true;
  else if (begun_)
    Judge(propagator, rule, clause);
  else
    kept_.push_back({propagator, rule, {clause.begin(), clause.end()}});
}

void KnownSolution::OnLearned(std::span<const Lit> clause) {
  if (!begun_ || excluded_) return;
  ++judged_;
  if (!Holds(clause)) throw InternalError("known solution: the SAT solver learned a clause that excludes it");
}

}  // namespace ebb::core
