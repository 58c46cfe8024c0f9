// SPDX-License-Identifier: Apache-2.0
//
// Linear rows over integer data: sum of coefficient * column >= rhs. The one form in which every row is kept, so that a
// dual vector, an integer point or a propagation can be judged exactly, whatever the LP library did in floating point.
// Rows are appended and never changed; a row's index is its name for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ebb {

class IntegerRows {
 public:
  [[nodiscard]] std::size_t size() const { return rhs_.size(); }
  [[nodiscard]] std::size_t num_terms() const { return columns_.size(); }
  [[nodiscard]] std::span<const std::int32_t> columns(std::size_t row) const {
    return {columns_.data() + begin_[row], begin_[row + 1] - begin_[row]};
  }
  [[nodiscard]] std::span<const std::int64_t> coefficients(std::size_t row) const {
    return {coefficients_.data() + begin_[row], begin_[row + 1] - begin_[row]};
  }
  [[nodiscard]] std::int64_t rhs(std::size_t row) const { return rhs_[row]; }

  // One row, term by term. A column may not stand twice in a row.
  void Term(std::int32_t column, std::int64_t coefficient) {
    columns_.push_back(column);
    coefficients_.push_back(coefficient);
  }
  std::int32_t EndRow(std::int64_t rhs) {
    rhs_.push_back(rhs);
    begin_.push_back(columns_.size());
    return static_cast<std::int32_t>(rhs_.size() - 1);
  }
  // Terms of the row that is being written.
  [[nodiscard]] std::size_t open_terms() const { return columns_.size() - begin_.back(); }
  void DropOpenTerms() {
    columns_.resize(begin_.back());
    coefficients_.resize(begin_.back());
  }

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<std::int32_t> columns_;
  std::vector<std::int64_t> coefficients_, rhs_;
};

}  // namespace ebb
