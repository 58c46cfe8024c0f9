// SPDX-License-Identifier: Apache-2.0
//
// A lazy-clause-generation engine: integer variables and Booleans over a SAT solver, propagators that explain what they
// infer, and nothing about what is modelled. Conflict analysis, learning and restarts are the SAT solver's; bounds,
// propagation, explanations and (where a Brancher has an opinion) decisions are the engine's.
//
//      propagators --Infer--> trail --hand over--> SAT solver --OnAssigned/OnBacktrack--> trail --events--> propagators
//
// Invariants
//  E1  A literal that exists for an integer variable is assigned exactly when the bounds on the trail decide it.
//  E2  Reasons name literals that stand earlier on the trail.
//  E3  What is on the trail is handed to the SAT solver in order, so E2 holds there too.
//  E4  No literal is made while a reason is being asked for (CaDiCaL keeps references into its variable tables).
//
// Everything a clause depends on is a literal in it: whoever uses the incumbent's value or a budget puts a bound
// literal of a variable (or an assumption literal) into the reason, so that every clause is true for good.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/core/int_vars.hpp"
#include "engine/core/literal.hpp"
#include "engine/core/propagator.hpp"
#include "engine/core/sat_backend.hpp"
#include "engine/core/trail.hpp"

namespace ebb::core {

struct EngineStatistics {
  std::int64_t conflicts = 0, decisions = 0, propagations = 0, lazy_reasons = 0, clauses = 0, literals = 0;
};

// Hears every clause that reaches the SAT solver from outside: problem clauses (propagator none) and inferences; and,
// where it says so, what the SAT solver learned from them. For proof logs and known-solution checks.
class ClauseListener {
 public:
  virtual ~ClauseListener() = default;
  virtual void OnClause(PropId propagator, std::uint16_t rule, std::span<const Lit> clause) = 0;
  [[nodiscard]] virtual bool WantsLearned() const { return false; }
  virtual void OnLearned(std::span<const Lit> clause) { (void)clause; }
};

// A reversible number of a propagator: Engine::NewCell.
enum class CellId : std::int32_t {};

class Engine final : private SatClient {
 public:
  // `derived`: see MakeCadicalBackend.
  explicit Engine(std::int32_t seed = 0, std::FILE* derived = nullptr);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // --- The model -----------------------------------------------------------------------------------------------------
  [[nodiscard]] Lit True() const { return Lit::Of(1); }
  [[nodiscard]] Lit NewLit();
  [[nodiscard]] IntVar NewInt(std::int64_t lo, std::int64_t hi);
  [[nodiscard]] IntVar NewSparseInt(std::vector<std::int64_t> values);
  PropId Add(std::unique_ptr<Propagator> propagator);  // between searches
  // True in every solution. During a search it reaches the SAT solver with the next propagation.
  void AddClause(std::span<const Lit> clause);
  void AddClause(std::initializer_list<Lit> clause) { AddClause(std::span(clause.begin(), clause.size())); }
  void SetBrancher(Brancher* brancher) { brancher_ = brancher; }                  // not owned; may be null
  void AddListener(ClauseListener* listener) { listeners_.push_back(listener); }  // not owned
  void Prefer(Lit lit) { sat_->SetPhase(lit); }  // the value to try first; between searches

  // [x >= v] and [x <= v]: makes the literal where there is none yet. Not while explaining.
  [[nodiscard]] Lit Geq(IntVar x, std::int64_t v);
  [[nodiscard]] Lit Leq(IntVar x, std::int64_t v) { return ~Geq(x, v + 1); }

  // --- The present state ---------------------------------------------------------------------------------------------
  [[nodiscard]] Value value(Lit lit) const { return lit.positive() ? values_[lit.var()] : Negate(values_[lit.var()]); }
  [[nodiscard]] bool IsTrue(Lit lit) const { return value(lit) == Value::kTrue; }
  [[nodiscard]] bool IsFalse(Lit lit) const { return value(lit) == Value::kFalse; }
  [[nodiscard]] bool IsOpen(Lit lit) const { return value(lit) == Value::kOpen; }
  // True, and so before trail position `before`.
  [[nodiscard]] bool WasTrue(Lit lit, std::int32_t before) const {
    return IsTrue(lit) && position_[lit.var()] < before;
  }
  [[nodiscard]] std::int32_t PositionOf(Lit lit) const { return position_[lit.var()]; }  // -1: open
  [[nodiscard]] std::int64_t lb(IntVar x) const { return ints_.lb(x); }
  [[nodiscard]] std::int64_t ub(IntVar x) const { return ints_.ub(x); }
  [[nodiscard]] bool fixed(IntVar x) const { return lb(x) == ub(x); }
  [[nodiscard]] const IntVars& ints() const { return ints_; }
  [[nodiscard]] std::int32_t level() const { return static_cast<std::int32_t>(level_marks_.size()); }
  [[nodiscard]] std::int32_t trail_size() const { return static_cast<std::int32_t>(trail_.size()); }
  [[nodiscard]] std::size_t num_sat_vars() const { return values_.size(); }

  // --- For propagators -----------------------------------------------------------------------------------------------
  void Watch(Lit lit, PropId p, std::int32_t data);  // when it becomes true
  void WatchLower(IntVar x, PropId p, std::int32_t data);
  void WatchUpper(IntVar x, PropId p, std::int32_t data);
  void WatchBacktrack(PropId p) { backtrack_watchers_.push_back(p); }
  void Schedule(PropId p);

  // `lit` follows from `because` (all true). True where the search may go on: it was true already or is now.
  [[nodiscard]] bool Infer(PropId p, std::uint16_t rule, Lit lit, std::span<const Lit> because);
  [[nodiscard]] bool Infer(PropId p, std::uint16_t rule, Lit lit, std::initializer_list<Lit> because) {
    return Infer(p, rule, lit, std::span(because.begin(), because.size()));
  }
  [[nodiscard]] bool Infer(PropId p, Lit lit, const LazyReason& reason);
  // `because` (all true) cannot all hold. Always false.
  [[nodiscard]] bool Conflict(PropId p, std::uint16_t rule, std::span<const Lit> because);
  // A clause that a propagator knows to hold in every solution, whatever the state.
  void AddInferredClause(PropId p, std::uint16_t rule, std::span<const Lit> clause);

  // Appends an existing literal that said x >= v (x <= v) before that trail position; nothing where the domain says so.
  void WhyGeq(IntVar x, std::int64_t v, std::int32_t before, std::vector<Lit>& out) const;
  void WhyLeq(IntVar x, std::int64_t v, std::int32_t before, std::vector<Lit>& out) const;
  [[nodiscard]] std::int64_t LbAt(IntVar x, std::int32_t before) const {
    return ints_.BoundAt(x, IntVars::Side::kLower, before);
  }
  [[nodiscard]] std::int64_t UbAt(IntVar x, std::int32_t before) const {
    return ints_.BoundAt(x, IntVars::Side::kUpper, before);
  }

  [[nodiscard]] CellId NewCell(std::int64_t value);
  [[nodiscard]] std::int64_t Get(CellId cell) const { return cells_[static_cast<std::size_t>(cell)]; }
  void Set(CellId cell, std::int64_t value);

  [[nodiscard]] WorkBudget& budget() { return *budget_; }

  // --- Search --------------------------------------------------------------------------------------------------------
  // Ends at a solution (kSat), a proof that there is none under the assumptions (kUnsat), or when the budget or the
  // conflict limit (< 0: none) is used up. Leaves the engine at the root. Throws InternalError on a failed self check.
  [[nodiscard]] SatResult Solve(std::span<const Lit> assumptions, WorkBudget& budget, std::int64_t conflict_limit = -1);
  [[nodiscard]] bool Failed(Lit assumption) { return sat_->Failed(assumption); }  // after kUnsat
  [[nodiscard]] bool SolutionValue(Lit lit) const { return (solution_[lit.var()] == Value::kTrue) == lit.positive(); }
  [[nodiscard]] std::int64_t SolutionValue(IntVar x) const { return int_solution_[Index(x)]; }
  [[nodiscard]] const EngineStatistics& statistics() const { return statistics_; }
  [[nodiscard]] Propagator& propagator(PropId p) { return *propagators_[Index(p)].code; }
  void FlushDerived() { sat_->FlushDerived(); }

 private:
  struct WatchEntry {
    PropId propagator;
    std::int32_t data;
  };
  struct Registered {
    std::unique_ptr<Propagator> code;
    bool queued = false;
  };
  struct Contrary {
    Lit lit;
    std::int32_t level;
  };

  // SatClient
  void OnAssigned(Lit lit) override;
  void OnFixed(Lit lit) override;
  void OnNewLevel() override;
  void OnBacktrack(std::int32_t level) override;
  Lit NextPropagation() override;
  std::span<const Lit> ReasonOf(Lit lit) override;
  bool HasClause() override;
  std::span<const Lit> NextClause() override;
  Lit Decide() override;
  bool AcceptModel() override;
  bool StopNow() override { return stop_ || budget_->Exhausted(); }
  void OnLearned(std::int32_t) override { ++statistics_.conflicts; }
  bool WantsLearned() override;
  void OnLearnedClause(std::span<const Lit> clause) override;

  std::size_t NewSatVar();
  void Assign(Lit lit, const Reason& reason, std::int32_t handed_level, bool late = false);
  void LinkNeighbours(const IntVars::Bound& bound, std::int64_t old_bound, Lit cause);
  void Relink(Lit lit);
  void DispatchEvents();
  void Backtrack(std::int32_t level);
  Lit NextToHand();
  void NoteLate(std::size_t trail_index);
  bool RunOne(std::size_t first_heavy);
  Lit Propagate();
  bool SplitUnfixed();
  void TellContrary();
  bool CheckModel();
  void Explain(Lit lit, std::vector<Lit>& clause);
  void CheckClause(PropId p, std::uint16_t rule, std::span<const Lit> clause);
  void Fail(std::exception_ptr why);

  IntVars ints_;
  std::vector<Value> values_;           // by SAT variable
  std::vector<std::int32_t> position_;  // by SAT variable: index on the trail
  std::vector<Value> fixed_;            // by SAT variable: what the SAT solver holds for good
  std::vector<TrailEntry> trail_;
  std::vector<std::size_t> level_marks_;  // trail size when level i + 1 began
  std::vector<Lit> arena_;                // eager reasons, in trail order
  std::size_t next_event_ = 0, next_to_hand_ = 0;
  std::vector<std::size_t> handed_late_;  // trail entries that were handed at a level above their own
  std::vector<Contrary> contrary_;        // told by the SAT solver against what is true here

  std::vector<Registered> propagators_;
  std::vector<PropId> queue_[kPriorities];
  std::size_t queue_head_[kPriorities] = {};
  std::vector<std::vector<WatchEntry>> lit_watches_;    // by literal index
  std::vector<std::vector<WatchEntry>> bound_watches_;  // by 2 * variable + side
  std::vector<PropId> backtrack_watchers_;

  std::vector<std::int64_t> cells_;
  std::vector<std::pair<CellId, std::int64_t>> cell_log_;
  std::vector<std::size_t> cell_marks_;

  bool conflict_ = false;  // a conflict clause waits or was handed over; until the next backtrack
  bool conflict_waits_ = false;
  std::vector<Lit> conflict_clause_;
  std::vector<std::vector<Lit>> clauses_out_;  // waiting for the SAT solver
  std::vector<Lit> clause_now_, reason_now_;
  Lit split_;  // the next decision, after a variable was found open in a full assignment
  bool solving_ = false, accepted_ = false, stop_ = false, explaining_ = false;

  Brancher* brancher_ = nullptr;
  std::vector<ClauseListener*> listeners_;
  WorkBudget idle_budget_;
  WorkBudget* budget_ = &idle_budget_;
  std::vector<Value> solution_;
  std::vector<std::int64_t> int_solution_;
  EngineStatistics statistics_;
  std::exception_ptr failure_;
  std::unique_ptr<SatBackend> sat_;
};

}  // namespace ebb::core
