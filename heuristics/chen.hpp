// SPDX-License-Identifier: Apache-2.0
//
// Sublinear memory by checkpoints: Chen, Xu, Zhang, Guestrin, "Training Deep Nets with Sublinear Memory Cost" (2016),
// sections 3 and 4.2. Forward, every k-th candidate is kept and what lies between is thrown away; backward, what an op
// misses is made again from the last checkpoints and then stays until its last use.
//
// Two choices of candidates, as in Checkmate's comparison (Jain et al., MLSys 2020, section 6.1): every forward value
// (linear), or the articulation points alone, here the values that are all that lives at some forward position, so that
// the ops before and after hang together by them only.
//
// Limits: it knows neither durations nor the budget; sqrt(n) gives one plan, the sweep over k a few. Forward and
// backward are told apart by the peak of the order (replay.hpp); a graph that is no training step has no good turn.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

enum class ChenCandidates { kAllForward, kArticulation };

// Forward values that may serve as checkpoints, by their makers' positions.
[[nodiscard]] std::vector<std::int32_t> ChenCandidateValues(const Instance& instance, ChenCandidates which);

// Keeps every k-th of the candidates. k = 0: floor(sqrt(number of candidates)). Empty where the given order itself
// needs repeats. Valid for the given order; the peak is whatever it is.
[[nodiscard]] std::vector<std::int32_t> ChenSequence(const Instance& instance, ChenCandidates which, std::size_t k = 0);

}  // namespace ebb
