// SPDX-License-Identifier: Apache-2.0
//
// A 0/1 program with rows on demand, solved by clause learning over its linear relaxation: the same problem and the
// same interface as BranchAndBound, another way through. Measured against it (RL n=1000 at 0.9, boundaries 621, 718,
// 736, cutoff 0.69 %): 67 conflicts and 0.43e9 ticks, where the tree has no end after 348 nodes and 1e9. More:
// bench/engine, docs/engine.md.
//
// The lower bound between the root's and the proof comes from probing: "is there a solution below t?" with t between
// the bound and the incumbent, as an assumption and with a limit on the conflicts. A no raises the bound, a yes is a
// better solution, and a don't-know moves t towards the bound. What is learned under one t holds under all (the bound
// literal stands in the clauses). Where bound and incumbent are within 1/32 of the wanted cost, everything is asked for
// at once: halving on proved the same thing again and again (RL n=250 at 0.8, nine boundaries: 4.2558 of 4.2606 % after
// 60 s, and proved after 29 s without).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/core/engine.hpp"
#include "engine/core/known_solution.hpp"
#include "engine/core/proof_log.hpp"
#include "engine/linear/binary_solver.hpp"
#include "engine/linear/row_notes.hpp"
#include "propagators/linear_relaxation.hpp"
#include "propagators/relaxation_brancher.hpp"

namespace ebb {

class LearningSolver final : public BinarySolver {
 public:
  struct Params {
    LinearRelaxation::Params relaxation;
    RelaxationBrancher::Params branching;
    std::int64_t probe_conflicts = 300;  // >= 1: the first limit of a probe; a quarter more with each failure
    // Where probing begins: this many halvings of the gap above the bound; 0: with everything below the cutoff. A tight
    // target makes reduced costs fix much: RL n=250 at 0.8 with five boundaries and a cutoff of 4.26 % (optimum 3.10 %)
    // took 8.4 s from 0, 1.6, 1.4 and 1.7 s from 2, 3 and 4 (the tree 2.4 s); where the cutoff is near, from 0 is as
    // good (RL n=1000 at 0.9, 0.70 %, optimum 0.68 %: 0.7 against 1.0 s, the tree 1.7 s).
    std::int32_t first_halvings = 3;
    std::int32_t seed = 0;
    core::ProofLog* proof = nullptr;  // written if not null; must outlive the solver
    std::vector<std::string> names;   // of the columns, for the proof
    const RowNotes* notes = nullptr;  // of rows to come, for the proof; may be null
    std::vector<std::int8_t> known;   // a point that no inference may exclude; empty: none. For tests
  };

  // `separator` may be null; it must outlive this.
  LearningSolver(BinaryProgram program, RowSeparator* separator, const Params& params);
  ~LearningSolver() override;
  LearningSolver(const LearningSolver&) = delete;
  LearningSolver& operator=(const LearningSolver&) = delete;

  // Rounded up to a multiple of the costs' common divisor.
  void SetCutoff(std::int64_t cutoff) override;
  [[nodiscard]] std::int64_t cutoff() const override { return cutoff_; }

  // Goes on until something is to be told. Between calls only what was learned is kept, not the place in the search: a
  // budget should pay for some hundred LPs.
  State Step(WorkBudget& work) override;

  [[nodiscard]] std::int64_t lower_bound() const override { return floor_; }
  [[nodiscard]] bool has_solution() const override { return !solution_.empty(); }
  [[nodiscard]] std::span<const std::int8_t> solution() const override { return solution_; }
  [[nodiscard]] std::int64_t solution_cost() const override { return solution_cost_; }
  [[nodiscard]] std::span<const std::int8_t> root_lower() const override { return root_lower_; }
  [[nodiscard]] std::span<const std::int8_t> root_upper() const override { return root_upper_; }
  // When the root was left the first time.
  [[nodiscard]] std::span<const double> root_x() const override { return relaxation_->root_x(); }
  [[nodiscard]] std::span<const double> root_duals() const override { return relaxation_->root_duals(); }
  [[nodiscard]] const IntegerRows& rows() const override { return model_.rows; }
  [[nodiscard]] std::int64_t nodes() const override { return statistics().conflicts; }
  [[nodiscard]] std::int64_t lp_iterations() const override { return relaxation_->lp().iterations(); }
  [[nodiscard]] const core::EngineStatistics& statistics() const { return engine_.statistics(); }
  [[nodiscard]] const LinearRelaxation::Counters& counters() const { return relaxation_->counters(); }

 private:
  void ReadRoot();
  [[nodiscard]] std::int64_t Target(std::int32_t halvings) const;

  core::Engine engine_;
  core::KnownSolution known_;
  LinearModel model_;
  core::IntVar total_ = core::IntVar::kNone;
  LinearRelaxation* relaxation_ = nullptr;  // the engine's
  std::unique_ptr<RelaxationBrancher> brancher_;
  std::int64_t step_ = 0;  // every cost is a multiple of it
  std::int64_t cutoff_, floor_ = 0;
  std::int64_t conflict_limit_, probed_ = 0;  // conflicts of the present probe so far
  std::int32_t halvings_ = 0;                 // the present target: this many halvings of the gap above the bound
  std::vector<std::int8_t> solution_, root_lower_, root_upper_;
  std::int64_t solution_cost_;
  bool finished_ = false;
};

}  // namespace ebb
