// SPDX-License-Identifier: Apache-2.0
//
// The boundary relaxation's 0/1 programs searched by clause learning: what BoundarySolver::Params::search is given.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/linear/binary_solver.hpp"
#include "portfolio/problem.hpp"
#include "propagators/learning_solver.hpp"

namespace ebb {

inline BinarySolverFactory ByLearning(const Problem& problem) {
  return [seed = static_cast<std::int32_t>(problem.options->seed % 1'000'000)](
             BinaryProgram program, RowSeparator* separator) -> std::unique_ptr<BinarySolver> {
    LearningSolver::Params with;
    with.seed = seed;
    return std::make_unique<LearningSolver>(std::move(program), separator, with);
  };
}

}  // namespace ebb
