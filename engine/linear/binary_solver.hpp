// SPDX-License-Identifier: Apache-2.0
//
// A 0/1 program whose rows may be made lazily, and what every way to solve one looks like from outside: branch and
// bound (BranchAndBound, here) or clause learning (LearningSolver, propagators/). Whoever needs one takes a factory, so
// that the bounds' layer knows nothing of the engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/linear/integer_rows.hpp"

namespace ebb {

struct BinaryProgram {
  std::vector<std::int64_t> cost;  // minimised, any sign
  IntegerRows rows;
  std::vector<std::int32_t> knapsacks;    // rows worth cover and rounding cuts (memory rows)
  std::vector<std::int32_t> lazy;         // rows kept out of the LP until violated
  std::vector<std::int32_t> group;        // columns that are alike to branch on; empty: none
  std::vector<std::int8_t> lower, upper;  // empty: 0 and 1 everywhere
};

// Cuts and lazy rows on demand.
class RowSeparator {
 public:
  virtual ~RowSeparator() = default;
  // Appends rows that x violates and that every wanted integer point obeys. `integral`: x is a 0/1 point that obeys all
  // rows so far; when nothing comes back it counts as a solution. `root`: rows are wanted generously.
  virtual void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) = 0;
};

class BinarySolver {
 public:
  enum class State {
    kSolution,  // a better solution was found: see solution(); call again to go on
    kLimit,     // the budget is used up
    kFinished,  // nothing below cutoff() is left
    kRootDone,  // only where the search was asked to stop at the root
  };
  virtual ~BinarySolver() = default;

  // Only solutions of cost < cutoff are looked for from now on. Never raised.
  virtual void SetCutoff(std::int64_t cutoff) = 0;
  [[nodiscard]] virtual std::int64_t cutoff() const = 0;
  // While on, a tree search goes down to leaves: solutions early, bounds later. A hint.
  virtual void SetDiving(bool /*on*/) {}
  virtual State Step(WorkBudget& work) = 0;

  // Valid at any time: no solution costs less than min(this, cutoff()). Monotone.
  [[nodiscard]] virtual std::int64_t lower_bound() const = 0;
  [[nodiscard]] virtual bool has_solution() const = 0;
  [[nodiscard]] virtual std::span<const std::int8_t> solution() const = 0;
  [[nodiscard]] virtual std::int64_t solution_cost() const = 0;

  // Columns that are the same in every solution below the cutoff (below the best solution, where `facts_below_own`).
  [[nodiscard]] virtual bool facts_below_own() const { return has_solution(); }
  [[nodiscard]] virtual std::span<const std::int8_t> root_lower() const = 0;
  [[nodiscard]] virtual std::span<const std::int8_t> root_upper() const = 0;
  // The LP's point when the root was left (empty before), and per row of rows() its dual (0 for rows not in the LP).
  [[nodiscard]] virtual std::span<const double> root_x() const = 0;
  [[nodiscard]] virtual std::span<const double> root_duals() const = 0;
  [[nodiscard]] virtual const IntegerRows& rows() const = 0;

  [[nodiscard]] virtual std::int64_t nodes() const = 0;  // of the tree, or conflicts
  [[nodiscard]] virtual std::int64_t lp_iterations() const = 0;
};

// `separator` may be null; it must outlive what is made.
using BinarySolverFactory =
    std::function<std::unique_ptr<BinarySolver>(BinaryProgram program, RowSeparator* separator)>;

}  // namespace ebb
