// SPDX-License-Identifier: Apache-2.0
//
// The LP of a 0/1 program with far more rows and columns than it needs at one time. What is known stays in the rows of
// the program; in the LP are
//
//   rows      that were violated when somebody looked (AddViolated), until they are dropped for not binding;
//   columns   that were open when it was last rebuilt. An LP call costs by size even where it takes no pivot, and after
//             the root most columns are fixed: on RL n = 1000 at 0.9 (three boundaries) leaving them out took the proof
//             by branch and bound from 17.9 s to 2.0 s. Of these, one that no row of the LP has a term of and that
//             costs nothing to leave at its lower bound stays there, outside, until such a row comes ("unused"): on RL
//             n = 250 at 0.8 (nine boundaries, fixed order) 2,400 of 5,600, and twelve proofs in 38 to 43 s instead of
//             46 s.
//
// Known rows outside the LP are judged again only where one of their columns moved since (a quarter of all terms, on RL
// n = 250 at 0.8 with 40,000 rows; looking at all was an eighth of a long search's time).
//
// From outside it is an LP over all columns and rows: names are those of the program.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/linear/binary_solver.hpp"
#include "engine/linear/integer_rows.hpp"
#include "engine/linear/linear_program.hpp"

namespace ebb {

class RowLp {
 public:
  using Domain = std::span<const std::int8_t>;
  // By names, so that it outlives changes of the LP: the status of each column, and the rows whose slacks are not
  // basic. With the steepest edge weights of the columns in it, one after another, and of the rows whose slacks are in
  // it (a good deal to compute: six hundred or so).
  struct Basis {
    std::vector<std::uint8_t> columns;
    std::vector<float> norms;
    std::vector<std::pair<std::int32_t, std::uint8_t>> rows;
    std::vector<std::pair<std::int32_t, float>> slack_norms;
  };
  // What is looked for, and where.
  struct Look {
    RowSeparator* separator = nullptr;        // null: none
    std::span<const std::int32_t> knapsacks;  // rows to make cuts of
    Domain lower, upper;                      // the domain that cuts of them may rely on
    double min_efficacy = 0.02;
    bool integral = false, root = false;
    bool fresh = true;  // false: known rows only
  };

  // `cost` and `rows` must outlive this; rows may be appended to by others too.
  RowLp(const std::vector<std::int64_t>& cost, IntegerRows& rows, std::span<const std::int32_t> lazy);

  // `limit` on the whole cost, as LinearProgram::Solve.
  LpOutcome Solve(WorkBudget& work, double limit, std::int32_t iteration_limit = 1'000'000);
  // Of the last solve, by column of the program; the value with what the columns left out cost.
  [[nodiscard]] std::span<const double> x() const { return x_; }
  [[nodiscard]] double value() const { return lp_.objective() + outside_cost_; }
  // The LP's rows as rows of the program, and their duals (or a ray) beside them.
  [[nodiscard]] std::span<const std::int32_t> rows() const { return rows_; }
  [[nodiscard]] std::span<const double> duals() const { return lp_.duals(); }
  // Per row of the program, 0 where it is not in the LP.
  [[nodiscard]] std::vector<double> DualsByRow() const;
  [[nodiscard]] std::int64_t iterations() const { return iterations_before_ + lp_.iterations(); }

  // Bounds for the next solve. Columns left out must be fixed as they were.
  void SetDomain(Domain lower, Domain upper);
  void SetBound(std::int32_t column, std::int8_t lower, std::int8_t upper);

  // Adds the most violated of all rows and cuts at x to the LP; returns how many. Cuts become rows of the program.
  std::size_t AddViolated(std::span<const double> x, const Look& look, WorkBudget& work);
  [[nodiscard]] std::int64_t cuts() const { return cuts_made_; }
  // Drops rows that do not bind; the model's own ones too, or not. They come back when they are violated.
  void DropSlackRows(bool own_too);
  // The same, for those that have not been binding for `idle` calls of this.
  void AgeRows(std::int32_t idle);
  // Builds the LP anew with the columns open in this domain and the rows that bind now.
  void Rebuild(Domain lower, Domain upper);
  // Not left out by Rebuild; how many.
  [[nodiscard]] bool Has(std::int32_t column) const { return index_[static_cast<std::size_t>(column)] != kLeftOut; }
  [[nodiscard]] std::size_t num_columns() const { return num_columns_; }
  [[nodiscard]] std::size_t num_rows() const { return rows_.size(); }

  [[nodiscard]] Basis SaveBasis() const;
  void RestoreBasis(const Basis& basis);
  // While neither rows nor columns change.
  [[nodiscard]] LpBasis QuickBasis() const { return lp_.Basis(); }
  void SetQuickBasis(const LpBasis& basis) { lp_.SetBasis(basis); }

 private:
  static constexpr std::int32_t kLeftOut = -1, kUnused = -2;

  void Put(std::int32_t row);
  // The LP anew, with the open columns of these rows; the others are unused.
  void Begin(std::span<const std::int32_t> rows);
  void MoveUnused(std::size_t column, std::int8_t lower, std::int8_t upper);
  void Remove(std::span<const std::int32_t> lp_rows);
  void TakeNewRows();
  [[nodiscard]] bool InLp(std::size_t row) const { return row < in_lp_.size() && in_lp_[row] != 0; }

  const std::vector<std::int64_t>& cost_;
  IntegerRows& data_;
  LinearProgram lp_;
  std::vector<std::int32_t> rows_;  // LP row -> row
  std::vector<std::int32_t> idle_;  // LP row -> calls of AgeRows since it was binding
  std::vector<std::uint8_t> in_lp_;
  std::size_t own_rows_ = 0;                   // the first of rows_, which belong to the model itself
  std::vector<std::int32_t> columns_, index_;  // LP column -> column; column -> LP column, kLeftOut or kUnused
  std::vector<std::int32_t> unused_;           // some of them by now in the LP
  std::size_t num_columns_ = 0;
  std::vector<std::int8_t> lower_, upper_;  // by column, as the LP has them
  double outside_cost_ = 0.0;               // of columns left out and unused ones
  std::vector<double> x_;
  std::int64_t iterations_before_ = 0, cuts_made_ = 0;
  IntegerRows cuts_;
  // How much each row was violated when it was judged last, and whether a column of it moved since.
  std::vector<std::vector<std::int32_t>> uses_;  // column -> rows
  std::vector<double> judged_x_, violation_;
  std::vector<std::uint8_t> stale_;
  std::vector<std::int32_t> some_columns_;
  std::vector<std::int64_t> some_coefficients_;
  std::vector<std::uint8_t> row_status_;
  std::vector<float> row_norm_;
};

}  // namespace ebb
