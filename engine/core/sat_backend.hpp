// SPDX-License-Identifier: Apache-2.0
//
// The engine's view of a SAT solver with a propagator hooked into its search (IPASIR-UP: Fazekas, Niemetz, Preiner,
// Kirchweger, Szeider, Biere, "IPASIR-UP: user propagators for CDCL", SAT 2023). The two sides speak through these two
// small interfaces; only cadical_backend.cpp knows CaDiCaL and the differences between its versions.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/literal.hpp"

namespace ebb::core {

// What the SAT solver tells and asks while it searches. Called only within SatBackend::Solve (and OnFixed also within
// Observe). No call may throw.
class SatClient {
 public:
  virtual ~SatClient() = default;
  virtual void OnAssigned(Lit lit) = 0;  // at the present level
  virtual void OnFixed(Lit lit) = 0;     // true from now on whatever the level; may repeat
  virtual void OnNewLevel() = 0;
  virtual void OnBacktrack(std::int32_t level) = 0;  // strictly below the present level
  virtual Lit NextPropagation() = 0;                 // none: nothing to propagate
  // The clause that made NextPropagation's `lit` true; lit is in it.
  virtual std::span<const Lit> ReasonOf(Lit lit) = 0;
  virtual bool HasClause() = 0;  // another clause to add?
  virtual std::span<const Lit> NextClause() = 0;
  virtual Lit Decide() = 0;        // none: the SAT solver chooses
  virtual bool AcceptModel() = 0;  // all observed variables are assigned; false: HasClause is true next
  virtual bool StopNow() = 0;
  virtual void OnLearned(std::int32_t size) = 0;  // a conflict was analysed
  virtual bool WantsLearned() { return false; }   // the learned clause itself?
  virtual void OnLearnedClause(std::span<const Lit> clause) { (void)clause; }
};

enum class SatResult { kUnknown, kSat, kUnsat };

class SatBackend {
 public:
  virtual ~SatBackend() = default;
  virtual void Observe(std::size_t var) = 0;                // a fresh variable; also during the search
  virtual void AddClause(std::span<const Lit> clause) = 0;  // between searches
  virtual void SetPhase(Lit lit) = 0;                       // preferred value; between searches
  // `conflict_limit` < 0: none.
  virtual SatResult Solve(std::span<const Lit> assumptions, std::int64_t conflict_limit) = 0;
  virtual bool Failed(Lit assumption) = 0;  // after kUnsat: is it in the core?
  virtual void FlushDerived() = 0;
};

// `client` must outlive the backend. `derived` (may be null; not owned): there goes every clause that the solver
// derives by itself, a line of textual DRAT each, complete after FlushDerived. What the client told it is not in there.
[[nodiscard]] std::unique_ptr<SatBackend> MakeCadicalBackend(SatClient& client, std::int32_t seed,
                                                             std::FILE* derived = nullptr);

}  // namespace ebb::core
