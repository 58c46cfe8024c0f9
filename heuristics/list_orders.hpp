// SPDX-License-Identifier: Apache-2.0
//
// Orders that keep the peak low, each op once: the rules that Gagrani et al., "Neural Topological Ordering for
// Computation Graphs" (NeurIPS 2022, section 5), compare with.
//   kDepthFirst    the op that became ready last (list_schedule.hpp)
//   kBreadthFirst  the op that became ready first
//   kGreedy        the op that adds least to what is resident
//   kBeam          all of these ways at once: the kBeamWidth best sets of done ops of each size, by the peak so far,
//   then
//                  by what is resident
//   kRandom        the best of kRandomOrders random orders, each ready op equally likely
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

enum class OrderRule { kDepthFirst, kBreadthFirst, kGreedy, kBeam, kRandom };

inline constexpr std::size_t kBeamWidth = 64;
inline constexpr int kRandomOrders = 100;

// A valid sequence; empty where the work ends first (kRandom: then the best so far) or no order without repeats exists.
[[nodiscard]] std::vector<std::int32_t> ListOrder(const Instance& instance, OrderRule rule, std::uint64_t seed,
                                                  WorkBudget& work);

}  // namespace ebb
