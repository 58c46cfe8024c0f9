// SPDX-License-Identifier: Apache-2.0
//
// Who works: the answers that need no search, and the workers of each lane.
#pragma once

#include <vector>

#include "portfolio/board.hpp"
#include "portfolio/problem.hpp"
#include "portfolio/worker.hpp"

namespace ebb {

// What needs no search, straight onto the board: the given order where it fits, a proof that nothing fits, the user's
// hint where it fits.
void AnswerAtOnce(Board& board);

// The workers of each of `lanes` lanes, as the options ask. Lanes differ in what they hold and in their seeds.
[[nodiscard]] std::vector<std::vector<WorkerSlot>> LineUp(const Problem& problem, int lanes);

}  // namespace ebb
