// SPDX-License-Identifier: Apache-2.0
//
// Where a boundary model should be refined: the places where a sequence or an LP point is over the budget, and sets of
// them to try.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

// Positions after `from`, not among `boundaries` (ascending), worst first: first executions that overflow, then those
// around reruns that do.
std::vector<std::int32_t> OverflowPlaces(const Instance& instance, std::span<const std::int32_t> sequence,
                                         const SequenceFacts& facts, std::int64_t budget, std::int32_t from,
                                         std::span<const std::int32_t> boundaries);

// Where the memory that a point implies is over the budget by more than `tolerance` of it, worst first.
std::vector<std::int32_t> ImpliedOverflow(const BoundaryModel& model, std::span<const double> x, std::int64_t budget,
                                          double tolerance, std::int32_t from);

// The pairs of ops that run again (by `x`, a 0/1 point) in a stage of reruns alone in which the sequence overflows, and
// whose order the model does not tell. Ascending.
std::vector<BoundaryModel::OpPair> UntoldPairs(const BoundaryModel& model, std::span<const double> x,
                                               std::span<const std::int32_t> sequence, const SequenceFacts& facts,
                                               std::int64_t budget);

// The first `count` of the places that are no boundaries and lie `spacing` apart.
std::vector<std::int32_t> SpreadPlaces(std::span<const std::int32_t> places, std::int32_t count, std::int32_t spacing,
                                       std::span<const std::int32_t> boundaries);

// Overflows name more places than a model can bear, and which of them carry the bound is hard to tell beforehand: on RL
// n = 250 at 0.8 the two worst after seven boundaries lead to 3.88 %, another one to 3.99 % in the same time. So the LP
// of each choice is to be solved (a fraction of a second beside trees of many). From the `count` worst: each alone,
// with the position before it, and the two worst together.
std::vector<std::vector<std::int32_t>> ProbeSets(std::span<const std::int32_t> places, std::int32_t count,
                                                 std::span<const std::int32_t> boundaries);

}  // namespace ebb
