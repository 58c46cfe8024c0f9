// SPDX-License-Identifier: Apache-2.0
//
// A training step as the chain of blocks that rotor.hpp solves, and the way back to a sequence.
//
// The forward part of the given order (up to its peak, replay.hpp) is cut into blocks as in revolve.hpp: where one
// value crosses, or everywhere. A block's output is what crosses to the next. Its backward run is the stretch of
// backward ops that ends with the last reader of anything made in this block or a later one, so backward runs follow
// each other from the last block to the first whatever the graph. A block's options (Rockmate's, made by a rule in
// place of its integer program): all that its backward run reads is saved, or the k values that free most bytes for
// their op's duration are thrown away and made again in the backward run; all subsets where there are few values.
//
// Limits: what can never be thrown away, and gradients kept to the end, are in no block's bytes; values that cross
// several cuts count at each. So the table's budget is a parameter to be swept, and each plan's true peak measured.
// Past `most_blocks` blocks neighbours are put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/problem/instance.hpp"
#include "heuristics/rotor.hpp"

namespace ebb {

struct BlockChain {
  std::vector<RotorBlock> blocks;
  std::vector<std::int32_t> forward;  // block -> first position; one more: the end of the forward part
  std::vector<std::int32_t>
      backward;  // block -> first position of its backward run; it ends where the block before's begins
  std::vector<std::vector<std::vector<std::int32_t>>> dropped;  // block, option -> values thrown away
  std::int64_t bytes = 0;                                       // enough for every schedule, in the chain's own count
};

// No blocks where the given order itself needs repeats.
[[nodiscard]] BlockChain MakeBlockChain(const Instance& instance, bool cuts_only, std::size_t most_blocks);

// Valid for the given order; the peak is whatever it is.
[[nodiscard]] std::vector<std::int32_t> BlockChainSequence(const Instance& instance, const BlockChain& chain,
                                                           std::span<const RotorStep> schedule);

}  // namespace ebb
