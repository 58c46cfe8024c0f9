// SPDX-License-Identifier: Apache-2.0
//
// Stretches of a sequence as instances of their own, so that whatever solves an instance can improve a part of a plan
// of any size, and so that equal blocks (layers, microbatches) are seen to be equal and solved once.
//
//   sequence:  ... | f g a h k a m ... p | ...        a window runs from one first execution to another
//   entry      values that lie in memory where the window begins and are read in it, or live in one storage with such a
//              one: made by one op of the window's own, which runs first, once, and takes no time
//   kept       values whose last version in the window is read after it
//   constant   bytes that lie across the window and are not read in it: added to resident_bytes
//
// A repeat of an op from before the window is an op of the window, whose first run there keeps its place in line. Any
// sequence of the window's instance that fits the budget can stand in the window's place; with views or in-place ops
// nearly any: where a value is made again under a view that outlives the window, two storages may go on where one did.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

// Ranks at which to cut the given order: where little lies in memory, about `target` ops apart. Ascending, begins with
// 0 and ends with num_ops.
[[nodiscard]] std::vector<std::int32_t> ChooseCuts(const Instance& instance, std::size_t target);

struct Window {
  Instance instance;                   // empty (num_ops = 0) where the stretch cannot stand alone
  std::vector<std::int32_t> op;        // instance op -> op of the whole; -1: the entry op, which is then op 0
  std::vector<std::int32_t> sequence;  // the stretch, over the window's instance
  std::size_t begin = 0, end = 0;      // positions in the whole sequence
};

// The pieces between the cuts (ranks). Needs a valid sequence in the given order. Linear.
// `free_order`: every op of a window waits for the entry op, which a free order needs.
[[nodiscard]] std::vector<Window> ExtractWindows(const Instance& instance, std::span<const std::int32_t> sequence,
                                                 std::span<const std::int32_t> cuts, bool free_order);

// Equal but for names: a solution of one is a solution of the other.
[[nodiscard]] bool SameInstance(const Instance& a, const Instance& b);
// Equal for the same instance; for sorting them into classes.
[[nodiscard]] std::uint64_t InstanceHash(const Instance& instance);

}  // namespace ebb
