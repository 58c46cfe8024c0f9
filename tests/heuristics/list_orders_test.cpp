// SPDX-License-Identifier: Apache-2.0
// Orders by rule: valid on any graph, the beam at least as good as a beam of one, the least peak on tiny graphs mostly.
#include "heuristics/list_orders.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "heuristics/order_search.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

// Least peak of any order without repeats, by trying them all.
std::int64_t LeastPeak(const Instance& in) {
  std::vector<std::int32_t> order(in.num_ops);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::int64_t best = -1;
  do {
    const SequenceFacts facts = EvaluateSequence(in, order);
    if (facts.valid && (best < 0 || facts.peak < best)) best = facts.peak;
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

constexpr OrderRule kRules[] = {OrderRule::kDepthFirst, OrderRule::kBreadthFirst, OrderRule::kGreedy, OrderRule::kBeam,
                                OrderRule::kRandom};

TEST_CASE("any graph: a valid order of all ops, never below the least peak; a wide beam finds it on tiny graphs") {
  Rng rng(Seed("orders", 51));
  int found = 0, beam_best = 0, plain = 0;
  for (int round = 0; round < 300; ++round) {
    RandomGraphOptions options = round % 2 == 0 ? RandomGraphOptions{} : RandomGraphOptions::Plain();
    options.max_ops = 7;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    const std::int64_t least = LeastPeak(in);
    INFO(Describe(graph));
    for (const OrderRule rule : kRules) {
      WorkBudget work;
      const std::vector<std::int32_t> order = ListOrder(in, rule, 1, work);
      if (order.empty()) continue;
      const SequenceFacts facts = EvaluateSequence(in, order);
      REQUIRE(facts.valid);
      REQUIRE(order.size() == in.num_ops);
      REQUIRE(facts.peak >= least);
      ++found;
      if (rule == OrderRule::kBeam && in.plain) {
        ++plain;
        beam_best += facts.peak == least ? 1 : 0;
      }
    }
  }
  CHECK(found > 1000);
  // 64 states hold every set of done ops that matters on most graphs of seven ops.
  CHECK(beam_best == plain);
}

TEST_CASE("local search over orders: valid on any graph, its peak as claimed, the least peak of tiny graphs") {
  Rng rng(Seed("order search", 53));
  int least = 0, cases = 0;
  for (int round = 0; round < 200; ++round) {
    RandomGraphOptions options = round % 2 == 0 ? RandomGraphOptions{} : RandomGraphOptions::Plain();
    options.max_ops = round % 4 == 3 ? 40 : 7;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    WorkBudget none;
    const std::vector<std::int32_t> start = ListOrder(in, OrderRule::kBreadthFirst, 1, none);
    if (start.empty()) continue;
    INFO(Describe(graph));
    OrderSearch search(in, start, static_cast<std::uint64_t>(round));
    for (int step = 0; step < 3; ++step) {
      WorkBudget work(1'000'000);
      search.Run(work);
      const SequenceFacts facts = EvaluateSequence(in, search.best());
      REQUIRE(facts.valid);
      REQUIRE(search.best().size() == in.num_ops);
      REQUIRE(facts.peak == search.best_peak());
    }
    OrderSearch again(in, start, static_cast<std::uint64_t>(round));
    for (int step = 0; step < 3; ++step) {
      WorkBudget work(1'000'000);
      again.Run(work);
    }
    REQUIRE(again.best() == search.best());
    if (in.num_ops > 7) continue;
    ++cases;
    least += search.best_peak() == LeastPeak(in) ? 1 : 0;
  }
  CHECK(least == cases);
}

TEST_CASE("same seed, same random order; work that ends leaves the best so far or nothing") {
  Rng rng(Seed("orders again", 52));
  RandomGraphOptions options = RandomGraphOptions::Plain();
  options.min_ops = options.max_ops = 40;
  const Instance in = MakeInstance(RandomGraph(rng, options));
  WorkBudget one, two, little(1);
  CHECK(ListOrder(in, OrderRule::kRandom, 5, one) == ListOrder(in, OrderRule::kRandom, 5, two));
  CHECK(ListOrder(in, OrderRule::kBeam, 5, little).empty());
}

}  // namespace
}  // namespace ebb::test
