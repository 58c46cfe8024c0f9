// SPDX-License-Identifier: Apache-2.0
//
// A solution that is known beforehand, held against everything that the search says (the idea: CaDiCaL's "solution"
// checks). A clause with a reason must leave the known solution in; where it rests on the incumbent, the literal of
// that bound is in it, and makes it true. What the SAT solver learned must leave it in too, until a unit clause about
// the total has excluded it: from then on learned clauses may, reasons still may not.
//
// Values are told once the model is made; what came before is kept and judged then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/engine.hpp"

namespace ebb::core {

class KnownSolution final : public ClauseListener {
 public:
  void Attach(Engine& engine);  // which must outlive this
  void Set(Lit lit, bool value);
  void Set(IntVar x, std::int64_t value);
  // All values are told; `total` is the variable whose upper bound carries the incumbent. Throws InternalError, here or
  // in the search (Engine::Solve), where a clause excludes it.
  void Begin(IntVar total);
  [[nodiscard]] std::int64_t judged() const { return judged_; }

  void OnClause(PropId propagator, std::uint16_t rule, std::span<const Lit> clause) override;
  [[nodiscard]] bool WantsLearned() const override { return true; }
  void OnLearned(std::span<const Lit> clause) override;

 private:
  struct Kept {
    PropId propagator;
    std::uint16_t rule;
    std::vector<Lit> clause;
  };
  [[nodiscard]] bool IsTrue(Lit lit) const;
  [[nodiscard]] bool Holds(std::span<const Lit> clause) const;
  void Judge(PropId propagator, std::uint16_t rule, std::span<const Lit> clause);

  Engine* engine_ = nullptr;
  IntVar total_ = IntVar::kNone;
  std::vector<Value> lits_;  // by SAT variable; kOpen: whatever suits
  std::vector<std::int64_t> ints_;
  std::vector<Kept> kept_;
  std::int64_t judged_ = 0;
  bool begun_ = false, excluded_ = false;
};

}  // namespace ebb::core
