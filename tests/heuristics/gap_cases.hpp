// SPDX-License-Identifier: Apache-2.0
//
// What constructions over gaps are tested on: random graphs with every feature at three budgets, with the bound that no
// plan may beat; and what must hold of each sequence that they make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <doctest/doctest.h>

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gaps.hpp"
#include "engine/problem/plan.hpp"
#include "engine/problem/validator.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {

struct GapCase {
  const Graph& graph;
  const Instance& in;
  const GapTable& table;
  std::int64_t budget;
  const GapCoverBound& bound;
  std::int32_t cap;  // executions of an op; 0: any number
};

// f(GapCase) for 400 graphs of the seed `name` stands for.
template <class F>
void ForEachGapCase(const char* name, F f) {
  Rng rng(Seed(name));
  for (int k = 0; k < 400; ++k) {
    CAPTURE(k);
    RandomGraphOptions options;
    options.max_ops = 14;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    if (table.impossible) continue;
    for (const std::int64_t percent : {95, 80, 60}) {
      const std::int64_t budget = table.peak() * percent / 100;
      const GapCoverBound bound = SolveGapCover(in, table, budget);
      f(GapCase{graph, in, table, budget, bound, Chance(rng, 20) ? 2 : 0});
    }
  }
}

// A valid sequence of the given order, in the staged form where that is said, within the cap, and of this duration.
// Returns its peak.
inline std::int64_t CheckSequence(const GapCase& c, std::span<const std::int32_t> sequence, bool staged,
                                  std::int64_t duration) {
  const SequenceFacts facts = EvaluateSequence(c.in, sequence);
  REQUIRE(facts.valid);
  CHECK(facts.duration == duration);
  CHECK(FollowsOrder(c.in, sequence, true, staged));
  if (c.cap > 0)
    for (std::size_t op = 0; op < c.in.num_ops; ++op)
      CHECK(std::count(sequence.begin(), sequence.end(), static_cast<std::int32_t>(op)) <= c.cap);
  return facts.peak;
}

// One that fits: the validator takes it, and it does not beat the bound.
inline void CheckPlan(const GapCase& c, std::span<const std::int32_t> sequence, bool staged, std::int64_t duration) {
  CHECK(duration >= c.in.base_duration + c.bound.extra);
  const auto plan = MakePlan(c.graph, Expand(c.graph, c.in, sequence, staged));
  REQUIRE(plan);
  const ValidationResult verdict =
      Validate(c.graph, *plan, {staged ? OrderMode::kStaged : OrderMode::kFixed, Bytes(c.budget), {}});
  CHECK_MESSAGE(verdict.ok(), verdict.text);
}

}  // namespace ebb::test
