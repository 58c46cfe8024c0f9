// SPDX-License-Identifier: Apache-2.0
//
// Random small graphs with every feature of the model, for tests against brute force: several outputs or none, views
// (chains, of graph inputs, of an output of the same op, as graph outputs, with and without a duration), in-place
// outputs (chains, over graph inputs, over views), workspace, ops that may run once only, sizes and durations of zero,
// kept outputs, absent and repeated inputs, given orders. Same seed, same graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "engine/problem/graph.hpp"

namespace ebb::test {

using Rng = boost::random::mt19937_64;

// A number in [low, high].
inline std::int64_t Draw(Rng& rng, std::int64_t low, std::int64_t high) {
  return boost::random::uniform_int_distribution<std::int64_t>(low, high)(rng);
}
inline bool Chance(Rng& rng, int percent) { return Draw(rng, 1, 100) <= percent; }

struct RandomGraphOptions {
  int min_ops = 2;
  int max_ops = 7;
  // Each feature in percent of the places where it could stand.
  int views = 25;
  int inplace = 20;
  int workspace = 20;
  int once = 12;  // recomputable = false
  int zero_size = 10;
  int zero_duration = 20;
  int kept = 15;          // tensors listed as graph outputs
  int graph_inputs = 50;  // chance of having any
  int absent = 5;
  int given_order = 30;
  int multi_output = 30;
  int cuts = 0;  // places in the order that no value crosses
  std::int64_t max_size = 9;
  std::int64_t max_duration = 9;
  // Only what a plain graph has: own storages, one output an op, everything recomputable.
  static RandomGraphOptions Plain() {
    RandomGraphOptions o;
    o.views = o.inplace = o.workspace = o.once = o.absent = o.multi_output = o.graph_inputs = 0;
    return o;
  }
};

// Every feature, so many ops.
inline RandomGraphOptions OfOps(int least, int most) {
  RandomGraphOptions o;
  o.min_ops = least;
  o.max_ops = most;
  return o;
}

// Draws until the builder accepts (a draw may hold an in-place contradiction).
[[nodiscard]] Graph RandomGraph(Rng& rng, const RandomGraphOptions& options = {});

// A budget near where things change: between just under the largest single need and just over the no-recompute peak.
[[nodiscard]] std::int64_t RandomBudget(const Graph& graph, Rng& rng);

// A random sequence in which every execution finds its inputs, with repeats; often but not always all ops run.
[[nodiscard]] std::vector<OpId> RandomSequence(const Graph& graph, Rng& rng, std::size_t max_length = 24);

// The graph as text, for the message of a failed test.
[[nodiscard]] std::string Describe(const Graph& graph);

}  // namespace ebb::test
