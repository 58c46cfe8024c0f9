// SPDX-License-Identifier: Apache-2.0
//
// Which value's storage each value lives in: itself, or the end of its chain of carriers.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

// With path compression: views may nest by the hundred thousand.
[[nodiscard]] inline std::vector<std::int32_t> StorageRoots(const Instance& in) {
  std::vector<std::int32_t> root(in.num_values, -1);
  std::vector<std::int32_t> path;
  for (std::size_t v = 0; v < in.num_values; ++v) {
    auto w = static_cast<std::int32_t>(v);
    for (; root[w] < 0 && in.carrier[w] >= 0; w = in.carrier[w]) path.push_back(w);
    if (root[w] < 0) root[w] = w;
    for (std::int32_t p : path) root[p] = root[w];
    path.clear();
  }
  return root;
}

}  // namespace ebb
