// SPDX-License-Identifier: Apache-2.0
//
// Blocks of ops that repeat along the graph's order, as the layers of a network do.
#pragma once

#include <vector>

#include "engine/problem/facts.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

// Runs of at least two equal blocks, one after the other, without overlaps, by position. Greedy: the run that covers
// most ops first.
[[nodiscard]] std::vector<GraphFacts::Blocks> FindRepeatedBlocks(const Graph& graph);

}  // namespace ebb
