// SPDX-License-Identifier: Apache-2.0
// The oracle is checked against itself: its sequences against the judge, its optimum against a plainer enumeration of
// all sequences up to a length, and its orders against each other.
#include "tests/oracle/brute_force.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/graph_builder.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

// The best of all sequences of at most `length` executions, one by one.
std::optional<std::int64_t> BestByEnumeration(const Graph& graph, std::int64_t budget, OrderMode mode, std::int32_t cap,
                                              std::size_t length) {
  std::optional<std::int64_t> best;
  std::vector<OpId> sequence;
  const auto visit = [&](const auto& self) -> void {
    if (const JudgeAnswer j = Judge(graph, sequence);
        j.valid && j.peak <= budget && JudgeOrder(graph, sequence, mode, cap))
      best = std::min(best.value_or(j.duration), j.duration);
    if (sequence.size() == length) return;
    for (std::size_t i = 0; i < graph.num_ops(); ++i) {
      sequence.push_back(ToOpId(i));
      self(self);
      sequence.pop_back();
    }
  };
  visit(visit);
  return best;
}

}  // namespace

TEST_CASE("brute force: what it finds is a plan, and free <= fixed <= staged") {
  Rng rng(Seed("brute_force"));
  int feasible = 0, infeasible = 0, recomputes = 0;
  for (int round = 0; round < 400; ++round) {
    const Graph graph = RandomGraph(rng);
    const std::int64_t budget = RandomBudget(graph, rng);
    const auto cap = static_cast<std::int32_t>(Draw(rng, 0, 3));
    std::int64_t previous = 0;
    bool may_be_feasible = true;
    CAPTURE(Describe(graph));
    CAPTURE(budget);
    CAPTURE(cap);
    for (const OrderMode mode : {OrderMode::kFree, OrderMode::kFixed, OrderMode::kStaged}) {
      const OracleAnswer a = BruteForce(graph, budget, mode, cap);
      (a.feasible ? feasible : infeasible)++;
      if (!a.feasible) {
        may_be_feasible = false;
        continue;
      }
      CHECK(may_be_feasible);
      CHECK(a.duration >= previous);
      previous = a.duration;
      const JudgeAnswer j = Judge(graph, a.sequence);
      CHECK_MESSAGE(j.valid, j.fault);
      CHECK(j.duration == a.duration);
      CHECK(j.peak <= budget);
      CHECK(JudgeOrder(graph, a.sequence, mode, cap));
      if (a.sequence.size() > graph.num_ops()) ++recomputes;
    }
  }
  MESSAGE(feasible << " feasible, " << infeasible << " infeasible, " << recomputes << " with recomputation");
  CHECK(feasible > 100);
  CHECK(infeasible > 100);
  CHECK(recomputes > 30);
}

TEST_CASE("brute force: nothing beats it among all short sequences") {
  Rng rng(Seed("brute_force_enumeration"));
  RandomGraphOptions options;
  options.max_ops = 4;
  for (int round = 0; round < 150; ++round) {
    const Graph graph = RandomGraph(rng, options);
    const std::int64_t budget = RandomBudget(graph, rng);
    const auto cap = static_cast<std::int32_t>(Draw(rng, 0, 2));
    const std::size_t length = graph.num_ops() == 2 ? 8 : graph.num_ops() == 3 ? 7 : 6;
    CAPTURE(Describe(graph));
    CAPTURE(budget);
    CAPTURE(cap);
    for (const OrderMode mode : {OrderMode::kFree, OrderMode::kFixed, OrderMode::kStaged}) {
      const OracleAnswer a = BruteForce(graph, budget, mode, cap);
      const auto best = BestByEnumeration(graph, budget, mode, cap, length);
      if (best) {
        CHECK(a.feasible);
        CHECK(a.duration <= *best);
        if (a.sequence.size() <= length) CHECK(a.duration == *best);
      } else if (a.feasible) {
        CHECK(a.sequence.size() > length);
      }
    }
  }
}
