// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/gap_table_builder.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/base/int128.hpp"
#include "engine/base/status.hpp"

namespace ebb {

GapTableBuilder::GapTableBuilder(const Instance& in, const std::vector<std::int32_t>& root,
                                 std::vector<std::int32_t> row_op)
    : in_(in), root_(root) {
  Int128 sum = in.resident_bytes;
  for (std::int64_t b : in.bytes) sum += b;
  for (std::int64_t m : in.moment) sum += m < 0 ? -m : m;
  if (sum > (Int128{1} << 62)) throw InputError("sizes of all storages together do not fit into 62 bits");
  table_.row_op = std::move(row_op);
  stays_.assign(table_.num_rows() + 1, 0);
  spans_.assign(table_.num_rows() + 1, 0);
}

void GapTableBuilder::Add(const Gap& gap, std::vector<std::int32_t>& charges) {
  std::sort(charges.begin(), charges.end());
  charges.erase(std::unique(charges.begin(), charges.end()), charges.end());
  const auto once = std::find_if(charges.begin(), charges.end(), [&](std::int32_t op) { return !in_.may_repeat[op]; });
  std::vector<std::int64_t>& delta = once == charges.end() ? spans_ : stays_;
  delta[gap.begin] += gap.bytes;
  delta[gap.end] -= gap.bytes;
  if (once != charges.end()) {
    table_.pinned_gaps.push_back({gap, *once});
    return;
  }
  const auto begin = static_cast<std::int64_t>(charged_.size());
  charged_.insert(charged_.end(), charges.begin(), charges.end());
  drafts_.push_back({gap, begin, static_cast<std::int64_t>(charged_.size())});
}

// The storages of one op's inputs and outputs, each once, plus its moment.
std::int64_t GapTableBuilder::OwnBytes(std::size_t op) {
  scratch_.clear();
  for (std::int32_t v : in_.reads[op]) scratch_.push_back(root_[v]);
  for (std::int32_t v : in_.makes[op]) scratch_.push_back(root_[v]);
  std::sort(scratch_.begin(), scratch_.end());
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
  std::int64_t sum = in_.moment[op];
  for (std::int32_t r : scratch_) sum += in_.bytes[r];
  return sum;
}

// By begin into the places of each row, then each row's by themselves.
void GapTableBuilder::Sort(const StopSignal* stop) {
  std::vector<std::size_t> from(table_.num_rows() + 1, 0);
  for (const Draft& d : drafts_) ++from[static_cast<std::size_t>(d.gap.begin) + 1];
  std::partial_sum(from.begin(), from.end(), from.begin());
  std::vector<Draft> sorted(drafts_.size());
  {
    std::vector<std::size_t> next = from;
    for (const Draft& d : drafts_) sorted[next[static_cast<std::size_t>(d.gap.begin)]++] = d;
  }
  for (std::size_t row = 0; row < table_.num_rows(); ++row) {
    if (row % 4096 == 0) ThrowIfExpired(stop);
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(from[row]),
              sorted.begin() + static_cast<std::ptrdiff_t>(from[row + 1]), [](const Draft& a, const Draft& b) {
                return std::tie(a.gap.end, a.gap.value) < std::tie(b.gap.end, b.gap.value);
              });
  }
  drafts_ = std::move(sorted);
}

GapTable GapTableBuilder::Finish(const StopSignal* stop) {
  Sort(stop);
  table_.gaps.reserve(drafts_.size());
  table_.charges.Reserve(drafts_.size(), charged_.size());
  for (const Draft& d : drafts_) {
    table_.gaps.push_back(d.gap);
    for (std::int64_t i = d.charge_begin; i < d.charge_end; ++i) table_.charges.Push(charged_[i]);
    table_.charges.EndRow();
  }
  table_.pinned.resize(table_.num_rows());
  table_.resident.resize(table_.num_rows());
  std::int64_t stay = 0, span = 0;
  for (std::size_t row = 0; row < table_.num_rows(); ++row) {
    stay += stays_[row];
    span += spans_[row];
    table_.pinned[row] = in_.resident_bytes + stay + OwnBytes(static_cast<std::size_t>(table_.row_op[row]));
    table_.resident[row] = table_.pinned[row] + span;
  }
  return std::move(table_);
}

}  // namespace ebb
