// SPDX-License-Identifier: Apache-2.0
// An op for GraphBuilder in one line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/problem/graph_builder.hpp"

namespace ebb::test {

inline GraphBuilder::OpSpec Op(std::string name, std::int64_t duration, std::vector<std::string> inputs,
                               std::vector<std::string> outputs, std::int64_t workspace = 0) {
  GraphBuilder::OpSpec op;
  op.name = std::move(name);
  op.duration = duration;
  op.workspace = workspace;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  return op;
}

// An op that makes one tensor of its own, called t_ and its name.
inline void AddOp(GraphBuilder& builder, const std::string& name, std::vector<std::string> inputs, std::int64_t bytes,
                  std::int64_t duration, bool recomputable = true) {
  builder.AddTensor("t_" + name, bytes);
  GraphBuilder::OpSpec op = Op(name, duration, std::move(inputs), {"t_" + name});
  op.recomputable = recomputable;
  builder.AddOp(std::move(op));
}

}  // namespace ebb::test
