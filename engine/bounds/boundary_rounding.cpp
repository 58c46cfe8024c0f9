// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/boundary_rounding.hpp"

#include <algorithm>

namespace ebb {

void FillUp(const BoundaryModel& model, std::span<const double> x, std::vector<double>& rounded) {
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  const IntegerRows& rows = model.program().rows;
  std::vector<std::size_t> order;
  for (std::int32_t k = 0; k < model.num_stages(); ++k) {
    const std::int32_t row = model.memory_row(k);
    if (row < 0) {
      for (const std::int32_t v : model.useful(k))
        if (const std::int32_t c = model.stay(k, v); c >= 0) rounded[at(c)] = 1.0;
      continue;
    }
    const auto columns = rows.columns(at(row));
    const auto sizes = rows.coefficients(at(row));  // negative
    std::int64_t room = -rows.rhs(at(row));
    order.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (rounded[at(columns[i])] > 0.5)
        room += sizes[i];
      else if (x[at(columns[i])] > 0.001)
        order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double xa = x[at(columns[a])], xb = x[at(columns[b])];
      return xa != xb ? xa > xb : a < b;
    });
    for (const std::size_t i : order) {
      if (room + sizes[i] < 0) continue;
      room += sizes[i];
      rounded[at(columns[i])] = 1.0;
    }
  }
}

bool BeginsAtEntry(const Instance& instance, std::span<const std::uint8_t> entry,
                   std::span<const std::int32_t> sequence) {
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::uint8_t> there(entry.begin(), entry.end());
  for (const std::int32_t op : sequence) {
    for (const std::int32_t v : instance.reads[at(op)])
      if (!there[at(v)]) return false;
    for (const std::int32_t v : instance.makes[at(op)]) there[at(v)] = 1;
  }
  for (std::size_t v = 0; v < instance.num_values; ++v)
    if (instance.kept[v] && !there[v]) return false;
  return true;
}

}  // namespace ebb
