// SPDX-License-Identifier: Apache-2.0
// The kernel: walks of it are plans of the whole, run nothing else again, and end alike where they begin alike.
#include "portfolio/kernel.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "heuristics/annealing.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

std::set<std::int32_t> Again(const std::vector<std::int32_t>& plan) {
  std::set<std::int32_t> seen, again;
  for (const std::int32_t op : plan)
    if (!seen.insert(op).second) again.insert(op);
  return again;
}

std::vector<std::int32_t> WalkFrom(const Instance& in, std::int64_t budget, std::uint64_t seed,
                                   const std::vector<std::int32_t>& start) {
  AnnealingParams params;
  params.budget = budget;
  params.seed = seed;
  Annealing walk(in, params);
  walk.Start(start);
  WorkBudget work(1'000'000);
  walk.Run(work);
  return walk.has_plan() ? walk.best_sequence() : std::vector<std::int32_t>{};
}

TEST_CASE("kernel: what good plans run again, and nothing else") {
  Rng rng(Seed("kernel"));
  int narrowed_ops = 0, walked = 0;
  for (int round = 0; round < 60; ++round) {
    const RandomCase drawn = DrawCase(rng, PlainInTurn(round, 8, 16));
    if (!Scarce(drawn)) continue;
    const Instance& in = drawn.instance;
    const std::int64_t budget = drawn.budget;
    const auto seed = static_cast<std::uint64_t>(10 * round);
    const std::vector<std::int32_t> best = WalkFrom(in, budget, seed, in.order);
    if (best.empty()) continue;
    CAPTURE(round);
    Kernel kernel(in);
    std::set<std::int32_t> good = Again(best);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      const std::vector<std::int32_t> other = WalkFrom(in, budget, seed + i, in.order);
      if (other.empty()) continue;
      kernel.Note(other);
      good.merge(Again(other));
    }
    const Instance narrowed = kernel.Narrowed(best);
    for (std::size_t op = 0; op < in.num_ops; ++op) {
      CHECK((narrowed.may_repeat[op] != 0) == good.contains(static_cast<std::int32_t>(op)));
      narrowed_ops += narrowed.may_repeat[op] != in.may_repeat[op];
    }
    for (const bool anew : {false, true}) {
      const std::vector<std::int32_t>& start = anew ? in.order : best;
      const std::vector<std::int32_t> plan = WalkFrom(narrowed, budget, seed + 7, start);
      CHECK(plan == WalkFrom(narrowed, budget, seed + 7, start));
      if (plan.empty()) continue;
      ++walked;
      const SequenceFacts facts = EvaluateSequence(in, plan);
      CHECK(facts.valid);
      CHECK(facts.peak <= budget);
      if (!anew) CHECK(facts.duration <= EvaluateSequence(in, best).duration);
      const std::set<std::int32_t> again = Again(plan);
      CHECK(std::includes(good.begin(), good.end(), again.begin(), again.end()));
    }
  }
  CHECK(narrowed_ops > 0);
  CHECK(walked > 0);
}

TEST_CASE("kernel: only the last few plans count") {
  Rng rng(Seed("kernel"));
  const Graph graph = RandomGraph(rng, RandomGraphOptions::Plain());
  const Instance in = MakeInstance(graph);
  Kernel kernel(in);
  CHECK(kernel.plans() == 0);
  std::vector<std::int32_t> twice = in.order;
  twice.push_back(in.order.front());
  kernel.Note(twice);
  const auto op = static_cast<std::size_t>(in.order.front());
  CHECK(kernel.Narrowed(in.order).may_repeat[op] == in.may_repeat[op]);
  for (int i = 0; i < 100; ++i) kernel.Note(in.order);
  CHECK(kernel.plans() < 100);
  CHECK(kernel.Narrowed(in.order).may_repeat[op] == 0);
}

}  // namespace
}  // namespace ebb::test
