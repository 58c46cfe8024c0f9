// SPDX-License-Identifier: Apache-2.0
//
// Bound propagation of integer rows over 0/1 columns: a column is fixed where the row's largest possible activity
// without it falls below the right-hand side. Exact, incremental (activities follow the trail), rows may be appended
// at any time. Between LP solves it does for next to nothing what the simplex method would do pivot by pivot.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/linear/integer_rows.hpp"

namespace ebb {

class RowPropagator {
 public:
  RowPropagator(const IntegerRows& rows, std::size_t columns);

  // Takes in the rows appended to the data since the last call. Does not propagate them.
  void TakeNewRows();

  [[nodiscard]] bool IsFixed(std::int32_t column) const { return lower_[Slot(column)] == upper_[Slot(column)]; }
  [[nodiscard]] std::span<const std::int8_t> lower() const { return lower_; }
  [[nodiscard]] std::span<const std::int8_t> upper() const { return upper_; }

  // False where the column is already fixed the other way.
  bool Fix(std::int32_t column, std::int8_t value);
  // To the fixed point; false on a conflict (then the state must be undone before more is done with it).
  bool Propagate();

  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  [[nodiscard]] std::span<const std::int32_t> trail() const { return trail_; }
  void Undo(std::size_t mark);

  [[nodiscard]] std::int64_t work() const { return work_; }  // terms looked at so far

 private:
  struct Use {
    std::int32_t row;
    std::int64_t coefficient;
  };
  struct Row {
    std::int64_t slack;    // largest activity minus right-hand side
    std::int64_t largest;  // largest |coefficient|
  };
  static std::size_t Slot(std::int32_t i) { return static_cast<std::size_t>(i); }

  const IntegerRows& rows_;
  std::vector<std::int8_t> lower_, upper_;
  std::vector<std::vector<Use>> uses_;
  std::vector<Row> state_;  // by row
  std::vector<std::int32_t> trail_, queue_;
  std::vector<std::uint8_t> queued_;
  bool conflict_ = false;
  std::int64_t work_ = 0;
};

}  // namespace ebb
