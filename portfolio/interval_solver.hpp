// SPDX-License-Identifier: Apache-2.0
//
// The retention-interval model of the paper (Bartan, Li, Teague, Lott, Dilkina, "Moccasin: efficient tensor
// rematerialization for neural networks", ICML 2023) in the learning engine, for staged order: complete, so what it
// proves it proves of plans themselves, in-stage moments included.
//
//   time axis   stage s ends with the first execution of rank s; event (s, r) is rank r inside stage s:
//               position s (s + 1) / 2 + r. One stage more, without a first execution, stands at the end, for what
//               must be there then. A rerun may only start at its op's events: sparse domains.
//   intervals   op o has copies 0, 1, ...; copy 0 is its first execution, the others may be absent. A copy has one
//   start
//               and for each value that it makes an end: the last read that it serves
//   coverage    a present copy that reads u has a supplier: a present copy of u's maker that started before it and
//   whose
//               interval of u has not ended; one literal for each such pair
//   chain       copies follow each other, an interval ends before the next copy starts
//   memory      cumulative over all intervals, and the op's own moment while it runs
//   objective   durations of the copies that are present
//
// Any number of reruns. With c copies, the literal extra[o] says "o runs more often than that": then o serves everybody
// for nothing but its (c + 1)th duration. The search holds for any number of copies; only where a solution uses
// extra[o] the op gets one copy more and the model is built again. So "no better plan" never depends on the number of
// copies.
//
// Beside the clauses stands the LP of the boundary relaxation at the worst few positions: its columns are literals of
// the same engine ("some interval of v lies across a_k", "a copy of o starts in stage k"), tied to the intervals in the
// direction that a relaxation needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "propagators/cumulative_memory.hpp"

namespace ebb {

class IntervalSolver {
 public:
  enum class State {
    kPlan,    // a better plan: plan(); call again to go on
    kLimit,   // the budget is used up
    kProved,  // nothing beats the incumbent; without one: no plan fits
  };
  struct Params {
    CumulativeMemory::Explanation explanation = CumulativeMemory::Explanation::kPointwise;
    bool relaxation = true;           // the LP beside the clauses
    std::int32_t boundaries = 6;      // of the LP
    std::int32_t max_executions = 0;  // per op; 0: any number
    std::int32_t seed = 0;
  };

  // Plain instances (nothing carried, nothing consumed) whose time axis is of a size that pays.
  [[nodiscard]] static bool Fits(const Instance& instance);

  // `budget` as the user's, graph inputs included. The instance must outlive this.
  IntervalSolver(const Instance& instance, std::int64_t budget, const Params& params);
  ~IntervalSolver();
  IntervalSolver(const IntervalSolver&) = delete;
  IntervalSolver& operator=(const IntervalSolver&) = delete;

  // A plan of this duration is known: only better ones matter.
  void SetIncumbent(std::int64_t duration);
  State Step(WorkBudget& work);

  [[nodiscard]] std::optional<std::int64_t> incumbent() const { return incumbent_; }
  [[nodiscard]] std::span<const std::int32_t> plan() const { return plan_; }
  [[nodiscard]] std::int64_t conflicts() const;
  [[nodiscard]] std::int32_t models() const { return models_; }

 private:
  struct Model;
  void Build();

  const Instance& instance_;
  std::int64_t capacity_;  // budget without graph inputs
  std::int64_t budget_;
  Params params_;
  std::optional<std::int64_t> incumbent_;
  std::vector<std::int32_t> copies_;       // per op
  std::vector<std::int32_t> last_useful_;  // per op: the last stage in which a rerun can be of use; -1: none
  std::vector<std::int32_t> positions_;    // boundaries of the LP
  std::unique_ptr<Model> model_;
  std::vector<std::int32_t> plan_;
  std::int32_t models_ = 0;
  bool proved_ = false;
};

}  // namespace ebb
