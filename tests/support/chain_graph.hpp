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
// All names begin with `prefix`, so that several can stand in one graph.
inline void AddChain(GraphBuilder& b, const std::vector<std::int64_t>& bytes, const std::vector<std::int64_t>& time,
                     bool reads_before = false, const std::string& prefix = {}) {
  const int n = static_cast<int>(bytes.size());
  for (int i = 1; i <= n; ++i) {
    const std::string k = std::to_string(i);
    b.AddTensor(prefix + "x" + k, bytes[static_cast<std::size_t>(i - 1)]);
    GraphBuilder::OpSpec op;
    op.name = prefix + "f" + k;
    op.duration = time[static_cast<std::size_t>(i - 1)];
    if (i > 1) op.inputs = {prefix + "x" + std::to_string(i - 1)};
    op.outputs = {prefix + "x" + k};
    b.AddOp(std::move(op));
  }
  for (int i = n; i >= 1; --i) {
    const std::string k = std::to_string(i);
    b.AddTensor(prefix + "a" + k, 1);
    GraphBuilder::OpSpec op;
    op.name = prefix + "b" + k;
    op.duration = 1;
    op.inputs = {prefix + "x" + k};
    if (i < n) op.inputs.push_back(prefix + "a" + std::to_string(i + 1));
    if (reads_before && i > 1) op.inputs.push_back(prefix + "x" + std::to_string(i - 1));
    op.outputs = {prefix + "a" + k};
    b.AddOp(std::move(op));
  }
}

inline Graph Chain(const std::vector<std::int64_t>& bytes, const std::vector<std::int64_t>& time,
                   bool reads_before = false) {
  GraphBuilder b;
  AddChain(b, bytes, time, reads_before);
  return b.Build();
}

// Everything takes one byte and one unit of time.
inline Graph Chain(int n) {
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(n), 1);
  return Chain(ones, ones);
}

}  // namespace ebb::test
