// SPDX-License-Identifier: Apache-2.0
//
// CaDiCaL behind SatBackend: the only file that includes its header. EBB_CADICAL_MAJOR (told by CMake from programs
// that link) chooses between the signatures of 1.7 and 2.x. The guards, each for a behaviour that was seen:
//
//  * notify_backtrack may name a level at or above the present one (1.7.4's vivification): ignored.
//  * 1.7 tells fixed literals apart and does not tell them again after backtracking; 2.x tells them once, at the level
//    where they were found. Both become OnFixed where known, and the engine keeps such literals itself.
//  * chrono = 0: with out-of-order assignments a late external clause would not propagate on its true level.
//  * The solver prints unless told not to; its constructor reads CADICAL_* from the environment, which can at most
//    change tracing, since all options that matter are set here.
//  * Variables that the engine knows are frozen, so elimination, blocked clauses and the like never apply: switched
//  off,
//    they only cost time. Vivification is off too: in 1.7.4 it runs unannounced levels.
//  * Proofs go through trace_proof, which both versions have (tracers as objects are 2.x only); clauses from outside
//    are inputs there and are not written.
#include <climits>

#include <cadical.hpp>

#include "engine/core/sat_backend.hpp"

namespace ebb::core {
namespace {

class CadicalBackend final : public SatBackend,
                             private CaDiCaL::ExternalPropagator,
                             private CaDiCaL::Terminator,
                             private CaDiCaL::Learner {
 public:
  CadicalBackend(SatClient& client, std::int32_t seed, std::FILE* derived) : client_(client) {
    solver_.set("quiet", 1);
    solver_.set("seed", seed < 0 ? 0 : seed);
    for (const char* off : {"chrono", "lucky", "walk", "elim", "block", "cover", "condition", "vivify", "compact"})
      solver_.set(off, 0);
    if (derived != nullptr) {
      solver_.set("binary", 0);
      solver_.trace_proof(derived, "derived");
    }
    solver_.connect_external_propagator(this);
    solver_.connect_terminator(this);
    solver_.connect_learner(this);
  }
  ~CadicalBackend() override {
    solver_.disconnect_learner();
    solver_.disconnect_terminator();
    solver_.disconnect_external_propagator();
  }
  CadicalBackend(const CadicalBackend&) = delete;
  CadicalBackend& operator=(const CadicalBackend&) = delete;

  void Observe(std::size_t var) override { solver_.add_observed_var(static_cast<int>(var)); }

  void AddClause(std::span<const Lit> clause) override {
    for (const Lit lit : clause) solver_.add(lit.number());
    solver_.add(0);
  }

  void SetPhase(Lit lit) override { solver_.phase(lit.number()); }

  SatResult Solve(std::span<const Lit> assumptions, std::int64_t conflict_limit) override {
    for (const Lit lit : assumptions) solver_.assume(lit.number());
    if (conflict_limit >= 0 && conflict_limit < INT_MAX) solver_.limit("conflicts", static_cast<int>(conflict_limit));
    const int answer = solver_.solve();
    return answer == 10 ? SatResult::kSat : answer == 20 ? SatResult::kUnsat : SatResult::kUnknown;
  }

  bool Failed(Lit assumption) override { return solver_.failed(assumption.number()); }
  void FlushDerived() override { solver_.flush_proof_trace(); }

 private:
#if EBB_CADICAL_MAJOR == 1
  void notify_assignment(int lit, bool fixed) override {
    if (fixed)
      client_.OnFixed(Lit::Of(lit));
    else
      client_.OnAssigned(Lit::Of(lit));
  }
  bool cb_has_external_clause() override { return HasClause(); }
#else
  void notify_assignment(const std::vector<int>& lits) override {
    for (const int lit : lits) {
      if (level_ == 0)
        client_.OnFixed(Lit::Of(lit));
      else
        client_.OnAssigned(Lit::Of(lit));
    }
  }
  bool cb_has_external_clause(bool& forgettable) override {
    forgettable = false;
    return HasClause();
  }
#endif
  void notify_new_decision_level() override {
    ++level_;
    client_.OnNewLevel();
  }
  void notify_backtrack(std::size_t level) override {
    if (level >= level_) return;
    level_ = level;
    client_.OnBacktrack(static_cast<std::int32_t>(level));
  }
  int cb_decide() override { return client_.Decide().number(); }
  int cb_propagate() override { return client_.NextPropagation().number(); }
  int cb_add_reason_clause_lit(int lit) override {
    if (!streaming_) Start(client_.ReasonOf(Lit::Of(lit)));
    return Stream();
  }
  int cb_add_external_clause_lit() override {
    if (!streaming_) Start(client_.NextClause());
    return Stream();
  }
  bool cb_check_found_model(const std::vector<int>&) override { return client_.AcceptModel(); }

  bool HasClause() { return client_.HasClause(); }

  bool terminate() override { return client_.StopNow(); }
  bool learning(int size) override {
    client_.OnLearned(size);
    return client_.WantsLearned();
  }
  void learn(int lit) override {
    if (lit != 0) {
      learned_.push_back(Lit::Of(lit));
      return;
    }
    client_.OnLearnedClause(learned_);
    learned_.clear();
  }

  void Start(std::span<const Lit> clause) {
    clause_ = clause;
    next_ = 0;
    streaming_ = true;
  }
  int Stream() {
    if (next_ < clause_.size()) return clause_[next_++].number();
    streaming_ = false;
    return 0;
  }

  SatClient& client_;
  std::size_t level_ = 0;
  std::span<const Lit> clause_;
  std::size_t next_ = 0;
  bool streaming_ = false;
  std::vector<Lit> learned_;
  CaDiCaL::Solver solver_;
};

}  // namespace

std::unique_ptr<SatBackend> MakeCadicalBackend(SatClient& client, std::int32_t seed, std::FILE* derived) {
  return std::make_unique<CadicalBackend>(client, seed, derived);
}

}  // namespace ebb::core
