// SPDX-License-Identifier: Apache-2.0
//
// Gaps for plans in any order. The ops along one path of the graph run for the first time in that order whatever the
// plan, and each other op is known to come after some op of the path and before a later one:
//
//   path     p0 ------ p1 ------ p2 ------ p3          rows: first executions of p0 .. p3
//   u reads       u somewhere here, say                "after p1, before p3"
//
// A storage whose maker surely ran before row i and that a read surely after row i still needs is resident at i or made
// again in between: a gap of the same kind as in fixed order, so that all cover bounds work on this table too. Two gaps
// of one storage are told apart by a read that surely lies between them.
//
// Graphs that are nearly a path lose little: ResNet50 keeps the bound of its given order whole, llama_7b too, resnet152
// 6.914 of 6.924 % at 0.5, vit_l_16 4.973 of 5.000 %. Layered random graphs lose nearly all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/gaps.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

// The path of most weight (per op, >= 0) of each connected part of the graph, first op first. Near-linear.
[[nodiscard]] std::vector<std::vector<std::int32_t>> HeaviestPaths(const Instance& instance,
                                                                   std::span<const std::int64_t> weight);

// `paths`: ops, each an ancestor of the next; one path at most of each connected part. Their rows stand one after the
// other: parts share no op, so their bounds add up. Near-linear. Never `impossible`, nothing forced; a floor() above
// the budget proves that no order has a plan. Throws InputError where bytes could leave 63 bits.
[[nodiscard]] GapTable FreeOrderGaps(const Instance& instance, std::span<const std::vector<std::int32_t>> paths,
                                     const StopSignal* stop = nullptr);

// The table of the paths that promise most for this budget, out of a few: by number of ops, and by bytes over the
// budget in the given order. Judged by the flow's bound. Throws Interrupted where the work's stop signal says so.
// `fixed`: FixedOrderGaps of the instance, where it is there already.
[[nodiscard]] GapTable BestFreeOrderGaps(const Instance& instance, std::int64_t budget, WorkBudget* work = nullptr,
                                         const GapTable* fixed = nullptr);

}  // namespace ebb
