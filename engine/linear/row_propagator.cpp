// SPDX-License-Identifier: Apache-2.0
#include "engine/linear/row_propagator.hpp"

#include <algorithm>
#include <cstdlib>

namespace ebb {

RowPropagator::RowPropagator(const IntegerRows& rows, std::size_t columns)
    : rows_(rows), lower_(columns, 0), upper_(columns, 1), uses_(columns) {
  TakeNewRows();
}

void RowPropagator::TakeNewRows() {
  for (std::size_t r = state_.size(); r < rows_.size(); ++r) {
    const auto columns = rows_.columns(r);
    const auto coefficients = rows_.coefficients(r);
    std::int64_t activity = 0, largest = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::size_t j = Slot(columns[k]);
      const std::int64_t c = coefficients[k];
      uses_[j].push_back({static_cast<std::int32_t>(r), c});
      activity += c * (c > 0 ? upper_[j] : lower_[j]);
      largest = std::max(largest, std::abs(c));
    }
    state_.push_back({activity - rows_.rhs(r), largest});
    queued_.push_back(1);
    queue_.push_back(static_cast<std::int32_t>(r));
  }
}

bool RowPropagator::Fix(std::int32_t column, std::int8_t value) {
  const std::size_t j = Slot(column);
  if (lower_[j] == upper_[j]) return lower_[j] == value;
  lower_[j] = upper_[j] = value;
  trail_.push_back(column);
  work_ += static_cast<std::int64_t>(uses_[j].size());
  for (const Use& use : uses_[j]) {
    if ((use.coefficient > 0) == (value == 1)) continue;  // still at its largest
    const std::size_t r = Slot(use.row);
    Row& row = state_[r];
    row.slack -= std::abs(use.coefficient);
    if (row.slack < 0) conflict_ = true;
    if (row.slack < row.largest && !queued_[r]) {
      queued_[r] = 1;
      queue_.push_back(use.row);
    }
  }
  return true;
}

bool RowPropagator::Propagate() {
  while (!queue_.empty() && !conflict_) {
    const std::size_t r = Slot(queue_.back());
    queue_.pop_back();
    queued_[r] = 0;
    if (state_[r].slack < 0) {
      conflict_ = true;
      break;
    }
    if (state_[r].slack >= state_[r].largest) continue;
    const auto columns = rows_.columns(r);
    const auto coefficients = rows_.coefficients(r);
    work_ += static_cast<std::int64_t>(columns.size());
    const std::int64_t slack = state_[r].slack;  // fixing towards the row's own side leaves it as it is
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::int64_t c = coefficients[k];
      if (std::abs(c) > slack && !IsFixed(columns[k])) Fix(columns[k], c > 0 ? 1 : 0);
    }
  }
  return !conflict_;
}

void RowPropagator::Undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const std::size_t j = Slot(trail_.back());
    trail_.pop_back();
    const bool one = lower_[j] == 1;
    lower_[j] = 0;
    upper_[j] = 1;
    for (const Use& use : uses_[j])
      if ((use.coefficient > 0) != one) state_[Slot(use.row)].slack += std::abs(use.coefficient);
  }
  for (const std::int32_t r : queue_) queued_[Slot(r)] = 0;
  queue_.clear();
  conflict_ = false;
}

}  // namespace ebb
