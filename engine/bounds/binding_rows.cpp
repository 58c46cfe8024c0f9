// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/binding_rows.hpp"

#include <cstddef>

namespace ebb {

std::vector<std::int32_t> BindingRows(const GapTable& table, std::int64_t budget) {
  const std::size_t n = table.num_rows();
  std::vector<std::int32_t> begins(n + 1, 0), ends(n + 1, 0);
  for (const Gap& g : table.gaps) {
    ++begins[g.begin];
    ++ends[g.end];
  }
  struct Kept {
    std::int32_t row, begins, ends;  // gaps that begin / end between the kept row before and this one
  };
  std::vector<Kept> kept;
  std::int32_t more_begins = 0, more_ends = 0;
  for (std::size_t r = 0; r < n; ++r) {
    more_begins += begins[r];
    more_ends += ends[r];
    const std::int64_t demand = table.resident[r] - budget;
    if (demand <= 0) continue;
    bool implied = false;
    while (!kept.empty()) {
      const Kept top = kept.back();
      const std::int64_t before = table.resident[top.row] - budget;
      if (more_begins == 0 && demand >= before) {
        more_begins += top.begins;
        more_ends += top.ends;
        kept.pop_back();
      } else {
        implied = more_ends == 0 && before >= demand;
        break;
      }
    }
    if (implied) continue;
    kept.push_back({static_cast<std::int32_t>(r), more_begins, more_ends});
    more_begins = more_ends = 0;
  }
  std::vector<std::int32_t> rows(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) rows[i] = kept[i].row;
  return rows;
}

std::vector<std::int32_t> RowsAtOrAfter(std::span<const std::int32_t> rows, std::size_t num_rows) {
  std::vector<std::int32_t> at_or_after(num_rows + 1, static_cast<std::int32_t>(rows.size()));
  for (std::size_t i = rows.size(), r = num_rows; r-- > 0;) {
    if (i > 0 && rows[i - 1] == static_cast<std::int32_t>(r)) --i;
    at_or_after[r] = static_cast<std::int32_t>(i);
  }
  return at_or_after;
}

}  // namespace ebb
