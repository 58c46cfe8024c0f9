// SPDX-License-Identifier: Apache-2.0
// A random small graph with a budget and a cap: what tests against brute force ask.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "engine/problem/instance.hpp"
#include "tests/oracle/random_graph.hpp"

namespace ebb::test {

struct RandomCase {
  Graph graph;
  Instance instance;  // of the graph
  std::int64_t budget;
  std::int32_t cap;  // executions per op; 0: none

  // For the message of a failed test.
  [[nodiscard]] std::string Text() const {
    return Describe(graph) + "\nbudget " + std::to_string(budget) + ", cap " + std::to_string(cap);
  }
};

// `capped` in percent of the cases.
inline RandomCase DrawCase(Rng& rng, const RandomGraphOptions& options, int capped = 0) {
  Graph graph = RandomGraph(rng, options);
  const std::int64_t budget = RandomBudget(graph, rng);
  Instance instance = MakeInstance(graph);
  const bool any = capped > 0 && Chance(rng, capped);
  return {std::move(graph), std::move(instance), budget, static_cast<std::int32_t>(any ? Draw(rng, 1, 3) : 0)};
}

// Plain graphs in so many percent of the draws, graphs with every feature in the others.
inline RandomGraphOptions PlainOrNot(Rng& rng, int plain, int min_ops = 2) {
  RandomGraphOptions options = Chance(rng, plain) ? RandomGraphOptions::Plain() : RandomGraphOptions();
  options.min_ops = min_ops;
  return options;
}

// Too large for brute force, small enough for proofs.
inline RandomGraphOptions Middling(Rng& rng, int plain) {
  RandomGraphOptions options = PlainOrNot(rng, plain, 15);
  options.max_ops = 30;
  return options;
}

// Plain and not in turn; these keep up to three values.
inline RandomGraphOptions PlainInTurn(int round, int min_ops, int max_ops) {
  RandomGraphOptions options;
  options.kept = 3;
  if (round % 2 == 0) options = RandomGraphOptions::Plain();
  options.min_ops = min_ops;
  options.max_ops = max_ops;
  return options;
}

// Its own order is valid and needs more than the budget.
inline bool Scarce(const RandomCase& c) {
  const SequenceFacts given = EvaluateSequence(c.instance, c.instance.order);
  return given.valid && given.peak > c.budget;
}

// Plain and not in turn, and every third of up to forty ops.
inline RandomGraphOptions SmallAndLarge(int round) {
  RandomGraphOptions options = round % 2 == 0 ? RandomGraphOptions{} : RandomGraphOptions::Plain();
  options.max_ops = round % 3 == 0 ? 40 : 10;
  return options;
}

}  // namespace ebb::test
