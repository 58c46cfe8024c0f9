// SPDX-License-Identifier: Apache-2.0
//
// Dynamic tensor rematerialization: Kirisame et al., "Dynamic Tensor Rematerialization" (ICLR 2021), as a simulation.
// An online system: it meets the ops one by one in the given order and does not know what comes. Where an op's outputs
// do not fit, the resident storage of least score is evicted, again and again; where an op misses an input, its maker
// runs again first, recursively, with the inputs found so far locked. A value is released, and evicted eagerly, when
// the program has no more use for it. Scores, with c the duration of the maker, m the bytes, s the time since the last
// access (in executed duration; an access counts from when it is asked for, a repeat of the maker is none), after
// section 4.1 and appendix C.2:
//   kFull     (c + sum of c over e*) / (m s), e* = evicted storages that it would need or that would need it, through
//             evicted ones alone
//   kClass    the same with e* by union-find: an evicted storage joins its evicted neighbours' class; made again, its
//             cost leaves the class, but the class is never split
//   kLocal    c / (m s)
//   kLru      1 / s
//   kLargest  1 / m
//   kMsps     (c + sum of c over what must run again to have it back) / m
//
// A storage goes with all its views and costs what they cost together. An op that works in place is the paper's
// mutation: its output can be had again by making its input again, for it to overwrite; the old version counts as
// evicted. The paper's own simulator copies there, so both versions may stay: on a graph whose mutations are written as
// copies this simulation has its figures to two digits (docs/methods.md). When accesses counted from the end of the op,
// repeats counted as accesses, and inputs that were there were locked in turn with the missing ones being made, unet at half
// the memory took 21 % longer (the authors' simulator: 15.9), and so it was on most graphs with little room.
//
// Limits: of the paper's method (no look-ahead: thrashes on tight budgets) and of this form of it: a storage is never
// evicted where an op that makes it or a view of it runs once only, or reads what was overwritten for good; where one
// output of an op is made again, the others are made anew, too.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

enum class DtrRule { kFull, kClass, kLocal, kLru, kLargest, kMsps };

struct DtrParams {
  std::int64_t budget = 0;  // bytes, with the instance's resident_bytes
  DtrRule rule = DtrRule::kClass;
  std::size_t most_executions = 0;  // gives up past this many; 0: any number
};

// Valid for the given order and within the budget; empty where the simulated system runs out of memory, gives up, or
// the given order needs repeats itself.
[[nodiscard]] std::vector<std::int32_t> DtrSequence(const Instance& instance, const DtrParams& params,
                                                    WorkBudget& work);

}  // namespace ebb
