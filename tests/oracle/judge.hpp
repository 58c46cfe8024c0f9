// SPDX-License-Identifier: Apache-2.0
//
// The model's words on a bare sequence of ops, written down once more for the tests: nothing here comes from MakePlan,
// the validator or the Instance, which are checked against it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/base/status.hpp"
#include "engine/problem/graph.hpp"

namespace ebb::test {

struct JudgeAnswer {
  bool valid = false;
  bool served = false;  // every execution finds its inputs; what is at fault is the end at most
  std::string fault;    // where not valid
  std::int64_t duration = 0;
  std::int64_t peak = 0;
};

[[nodiscard]] JudgeAnswer Judge(const Graph& graph, std::span<const OpId> sequence);

// Does the sequence follow the order asked for, and hold the cap (0: none) on executions per op?
[[nodiscard]] bool JudgeOrder(const Graph& graph, std::span<const OpId> sequence, OrderMode mode,
                              std::int32_t max_executions = 0);

}  // namespace ebb::test
