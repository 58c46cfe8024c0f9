// SPDX-License-Identifier: Apache-2.0
//
// Bound propagation of the rows of a LinearModel, with explanations: pseudo-Boolean constraints whose slack (largest
// activity still possible minus the right-hand side) follows the trail. A column is forced where its coefficient
// exceeds the slack (the classical counter method: e.g. Chai and Kuehlmann 2003).
//
// A row that is a clause and stands in the model from the start is given to the SAT solver instead: its unit
// propagation is cheaper, and it may simplify. (RL n=250 at 0.8, five boundaries: 3.0 against 4.7 s, 167 against 220
// conflicts.) Cuts that come during the search stay here, since a clause that is unit on an old level would make the
// SAT solver backtrack.
//
// Explanation: of the terms that were lost before, the largest ones until the rest could not make up for it: few
// literals, which is what the learner wants. Explaining with all lost terms was tried on the boundary models and
// dropped: a memory row then gives clauses of hundreds of literals.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/engine.hpp"
#include "propagators/linear_model.hpp"

namespace ebb {

class LinearRows final : public core::Propagator {
 public:
  // `model` must outlive this. Its columns are complete, its rows may grow: see TakeNewRows.
  explicit LinearRows(const LinearModel& model);

  // Takes in rows appended since the last call; they propagate at the next run.
  void TakeNewRows(core::Engine& engine);

  void Attach(core::Engine& engine, core::PropId id) override;
  bool OnEvent(core::Engine& engine, std::int32_t data) override;
  [[nodiscard]] bool Propagate(core::Engine& engine) override;
  void OnBacktrack(core::Engine& engine, std::int32_t level) override;
  void Explain(core::Engine& engine, core::Lit lit, const core::LazyReason& reason, std::int32_t before,
               std::vector<core::Lit>& out) override;
  [[nodiscard]] bool Implies(const core::Engine& engine, std::uint16_t rule,
                             std::span<const core::Lit> clause) const override;

 private:
  struct Term {
    std::int64_t weight;  // > 0
    core::Lit lit;        // the row counts weight while this may be true
    std::int32_t column;
  };
  struct Use {
    std::int32_t row;
    std::int64_t weight;
  };
  struct Row {
    std::size_t begin, end;   // in terms_, heaviest first
    std::int64_t root_slack;  // with every column open
    std::int64_t slack;
    bool queued;
  };
  struct Done {
    std::int32_t data, level;
  };
  [[nodiscard]] bool IsClause(std::size_t row) const;
  void Shift(std::int32_t data, std::int64_t sign);
  void Queue(std::size_t row);
  // Appends what was lost before `before`, heaviest first, until `row` cannot spare `weight` any more.
  void Why(const core::Engine& engine, std::size_t row, core::Lit lit, std::int64_t weight, std::int32_t before,
           std::vector<core::Lit>& out) const;

  const LinearModel& model_;
  core::PropId id_ = core::PropId::kNone;
  std::vector<Term> terms_;
  std::vector<Row> rows_;
  std::size_t clauses_below_ = 0;        // of the rows before this one, the SAT solver has those that are clauses
  std::vector<std::vector<Use>> loses_;  // by 2 * column + value: rows that lose weight when the column takes it
  std::vector<std::int8_t> state_;       // by column, as told by events: -1 open
  std::vector<Done> log_;
  std::vector<std::size_t> queue_;
};

}  // namespace ebb
