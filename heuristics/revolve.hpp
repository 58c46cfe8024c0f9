// SPDX-License-Identifier: Apache-2.0
//
// Binomial checkpointing: Griewank, Walther, "Algorithm 799: Revolve" (ACM TOMS 2000). For a chain of l steps with s
// snapshots (the start is one) the fewest forward steps are t(l, s) = r l - C(s + r, s + 1), with the one r for which
// C(s + r - 1, s) < l <= C(s + r, s).
//
// On the chain x1 .. xn with adjoints that read x_i, unit bytes and a budget of s + 2, the sequence made here has
// n + 1 + t(n, s) executions: the last two states are held over the turn, so the last step's adjoint costs nothing.
// With s = 1 that is 2n + (n-1)(n-2)/2.
//
// The lift to a general graph: the forward part of the given order (up to its peak, replay.hpp) is cut into segments;
// the state at a cut is what lives across it and is read later on the way forward; a step is a segment, a snapshot
// keeps a state. Cuts either at every position (Checkmate's linearized form) or only where one value crosses (its
// articulation-point form). A backward op that misses values lets the ops that it needs run again from the last
// snapshot, with new ones where the binomial rule puts them.
//
// Limits: counts steps and snapshots, not durations and bytes, so "optimal" holds for even chains only. More than
// kMostSegments segments are put together evenly.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

// t(l, s); l >= 1, s >= 1. As a double where it matters not: saturates at 2^62.
[[nodiscard]] std::int64_t RevolveSteps(std::int64_t steps, std::int64_t snapshots);
// The place of the next snapshot: steps to advance from the present one, 1 <= m < steps; needs snapshots >= 2.
[[nodiscard]] std::int64_t RevolveSplit(std::int64_t steps, std::int64_t snapshots);

struct RevolveParams {
  std::int64_t snapshots = 1;  // the start counts as one
  bool cuts_only = false;      // segments end only where one value crosses
  bool keep_entry = false;     // the state before a segment is kept while its backward ops run
};

// The forward part of the given order in segments: their first positions, ascending from 0. Neighbours are put together
// evenly so that there are about `most`.
[[nodiscard]] std::vector<std::int32_t> ForwardSegments(const Instance& instance, bool cuts_only, std::size_t most);
// Number of segments that the forward part has.
[[nodiscard]] std::size_t RevolveSegments(const Instance& instance, bool cuts_only);
// Valid for the given order; empty where that needs repeats itself, or past `most_executions`.
[[nodiscard]] std::vector<std::int32_t> RevolveSequence(const Instance& instance, const RevolveParams& params,
                                                        std::size_t most_executions);

}  // namespace ebb
