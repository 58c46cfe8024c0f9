// SPDX-License-Identifier: Apache-2.0
//
// Forward chains with their backward pass: x1 .. xn, then the adjoints an .. a1; a_i reads x_i and a_(i+1). The graph
// that the literature's closed forms are about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/problem/graph_builder.hpp"

namespace ebb::test {

// x_i takes bytes[i - 1] and time[i - 1]; every adjoint one byte and one unit of time. reads_before: a_i reads x_(i-1)
// too.
inline Graph Chain(const std::vector<std::int64_t>& bytes, const std::vector<std::int64_t>& time,
                   bool reads_before = false) {
  const int n = static_cast<int>(bytes.size());
  GraphBuilder b;
  for (int i = 1; i <= n; ++i) {
    const std::string k = std::to_string(i);
    b.AddTensor("x" + k, bytes[static_cast<std::size_t>(i - 1)]);
    GraphBuilder::OpSpec op;
    op.name = "f" + k;
    op.duration = time[static_cast<std::size_t>(i - 1)];
    if (i > 1) op.inputs = {"x" + std::to_string(i - 1)};
    op.outputs = {"x" + k};
    b.AddOp(std::move(op));
  }
  for (int i = n; i >= 1; --i) {
    const std::string k = std::to_string(i);
    b.AddTensor("a" + k, 1);
    GraphBuilder::OpSpec op;
    op.name = "b" + k;
    op.duration = 1;
    op.inputs = {"x" + k};
    if (i < n) op.inputs.push_back("a" + std::to_string(i + 1));
    if (reads_before && i > 1) op.inputs.push_back("x" + std::to_string(i - 1));
    op.outputs = {"a" + k};
    b.AddOp(std::move(op));
  }
  return b.Build();
}

// Everything takes one byte and one unit of time.
inline Graph Chain(int n) {
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(n), 1);
  return Chain(ones, ones);
}

}  // namespace ebb::test
