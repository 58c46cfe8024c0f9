// SPDX-License-Identifier: Apache-2.0
//
// The facts of a graph (engine/problem/facts.hpp) as text for people and as JSON: what `ebbtide info` prints.
#pragma once

#include <string>
#include <vector>

#include "engine/problem/facts.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

// `format` and `warnings`: of the reader.
[[nodiscard]] std::string FactsToText(const Graph& graph, const GraphFacts& facts, const std::string& format);
// One object; stable key order. Bytes and durations are integers, ops and tensors are names.
[[nodiscard]] std::string FactsToJson(const Graph& graph, const GraphFacts& facts, const std::string& format,
                                      const std::vector<std::string>& warnings);

}  // namespace ebb
