// SPDX-License-Identifier: Apache-2.0
//
// What one solve leaves to the next one of the same graph at another budget: the gaps, which no budget changes, and the
// flow's rows and shares of durations, which are a good start for a neighbouring budget. The bound is the same as from
// the start, only sooner. Used where the user goes on from an earlier plan (a hint), as `sweep` does.
//
// Processor seconds of ten flows, 0.95 to 0.5 of the peak, each from nothing / each from the last one: training step of
// 92,240 ops 0.087 / 0.067, transformer with views of 55,489 ops 0.119 / 0.081, llama_70b 0.077 / 0.026, layered graph
// of 10,000 ops 0.201 / 0.088 (its gaps, each time, 0.013).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gaps.hpp"

namespace ebb {

struct FlowMemory {
  std::shared_ptr<const void> graph;      // whose: alive as long as this is
  std::vector<std::uint8_t> may_repeat;   // what the gaps were made with
  std::shared_ptr<const GapTable> table;  // null: nothing is known yet
  GapCoverBound flow;
};

}  // namespace ebb
