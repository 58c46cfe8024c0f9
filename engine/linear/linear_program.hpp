// SPDX-License-Identifier: Apache-2.0
//
// The one door to an LP library (Clp, where the build found it): minimise cost * x, rows sum a x >= b, l <= x <= u.
// Rows may be added and dropped between solves, bounds changed; each solve goes on from the last basis with the dual
// simplex. Data are integers; rows and costs are scaled by powers of two on their way in, and duals on their way out,
// so that byte counts and nanoseconds stand beside 0/1 rows.
//
// What comes out is floating point and proves nothing: see exact_dual_bound.hpp. Without Clp the class is still there
// and every Solve says kUnavailable. No state outside the object; not thread-safe; the library prints nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"

namespace ebb {

enum class LpOutcome {
  kOptimal,
  kInfeasible,   // duals() holds a ray that may prove it
  kCutoff,       // the dual objective passed the limit
  kLimit,        // iterations, ticks or the stop signal; duals() may still be used as a (weaker) bound
  kFailed,       // the library gave up
  kUnavailable,  // built without an LP library
};

// A basis by row and column: what is needed to start warm somewhere else. 1: basic, 3: at the lower bound (a row whose
// slack is not basic has one of 0, 2, 3, 5).
struct LpBasis {
  std::vector<std::uint8_t> columns, rows;
  std::vector<double> norms;  // dual steepest edge weights by column, then row; -1: not known, as all that are left out
};

class LinearProgram {
 public:
  static bool Available();

  explicit LinearProgram(std::span<const std::int64_t> cost);  // columns with bounds [0, 1]
  ~LinearProgram();
  LinearProgram(LinearProgram&&) noexcept;
  LinearProgram& operator=(LinearProgram&&) noexcept;

  [[nodiscard]] std::int32_t num_columns() const;
  [[nodiscard]] std::int32_t num_rows() const;

  void AddColumn(std::int64_t cost, double lower, double upper);  // the last one; in no row yet
  void AddRow(std::span<const std::int32_t> columns, std::span<const std::int64_t> coefficients, std::int64_t rhs);
  void RemoveRows(std::span<const std::int32_t> rows);  // ascending; later rows move up
  void SetBounds(std::int32_t column, double lower, double upper);

  // Spends ticks by iterations and size. `objective_limit` in units of the cost: the dual simplex may stop once past
  // it.
  LpOutcome Solve(WorkBudget& work, double objective_limit, std::int32_t iteration_limit = 1'000'000);

  [[nodiscard]] double objective() const;
  [[nodiscard]] std::span<const double> x() const;
  // Per row, in cost units per unit of the integer row. After kInfeasible: a ray, up to its sign.
  [[nodiscard]] std::span<const double> duals() const;
  [[nodiscard]] bool RowIsBasic(std::int32_t row) const;  // its slack is basic: the row does not bind
  [[nodiscard]] std::int64_t iterations() const;          // in total

  [[nodiscard]] LpBasis Basis() const;
  void SetBasis(const LpBasis& basis);  // sizes as now

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb
