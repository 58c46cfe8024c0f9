// SPDX-License-Identifier: Apache-2.0
// Independent stretches: the optimum of the whole is the sum of theirs, and any piece fits as before.
#include "engine/problem/stretches.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "heuristics/state_search.hpp"
#include "portfolio/solve.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/chain_graph.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

TEST_CASE("stretches: they cover the order, and the optimum is the sum of theirs") {
  Rng rng(Seed("stretches"));
  int apart = 0, with_repeats = 0;
  for (int round = 0; round < 1500; ++round) {
    RandomGraphOptions options;
    options.max_ops = 9;
    options.kept = 3;
    if (round % 2 == 0) options = RandomGraphOptions::Plain();
    const Graph graph = RandomGraph(rng, options);
    const std::int64_t budget = RandomBudget(graph, rng);
    CAPTURE(Describe(graph));
    CAPTURE(budget);
    const Instance in = MakeInstance(graph);
    const std::vector<Stretch> stretches = IndependentStretches(in);
    std::int32_t position = 0;
    for (const Stretch& s : stretches) {
      CHECK(s.begin == position);
      CHECK(s.end > s.begin);
      position = s.end;
    }
    CHECK(position == static_cast<std::int32_t>(in.num_ops));
    if (stretches.size() < 2) continue;
    ++apart;
    const SequenceFacts facts = EvaluateSequence(in, in.order);
    for (const OrderMode mode : {OrderMode::kFixed, OrderMode::kStaged}) {
      WorkBudget work;
      const StateSearchResult whole = SearchStates(in, budget, mode, 0, work);
      std::int64_t sum = 0;
      bool all = true;
      for (const Stretch& s : stretches) {
        const Instance piece = TakeStretch(in, s);
        const SequenceFacts own = EvaluateSequence(piece, piece.order);
        if (facts.valid) {
          REQUIRE(own.valid);
          CHECK(std::equal(own.profile.begin(), own.profile.end(), facts.profile.begin() + s.begin));
        }
        const StateSearchResult part = SearchStates(piece, budget, mode, 0, work);
        all &= part.status == SolveStatus::kOptimal;
        sum += part.duration;
      }
      CHECK(all == (whole.status == SolveStatus::kOptimal));
      if (!all) continue;
      CHECK(sum == whole.duration);
      with_repeats += whole.duration > in.base_duration;
    }
  }
  MESSAGE(apart << " graphs fall apart, " << with_repeats << " optima with repeats");
  CHECK(apart > 100);
  CHECK(with_repeats > 10);
}

TEST_CASE("stretches: lanes divide them, and their proofs add up") {
  Rng rng(Seed("stretches on lanes"));
  GraphBuilder builder;
  std::int64_t least = 0;
  constexpr std::int64_t kBudget = 60;
  std::vector<std::int64_t> bytes, time;
  for (int c = 0; c < 7; ++c) {
    if (c != 4) {  // the fourth is the third again
      bytes.clear();
      time.clear();
      for (int i = 0; i < 8; ++i) {
        bytes.push_back(Draw(rng, 10, 14));
        time.push_back(Draw(rng, 1, 9));
      }
    }
    AddChain(builder, bytes, time, false, "c" + std::to_string(c));
    WorkBudget work;
    const StateSearchResult alone = SearchStates(MakeInstance(Chain(bytes, time)), kBudget, OrderMode::kFixed, 0, work);
    REQUIRE(alone.status == SolveStatus::kOptimal);
    least += alone.duration;
  }
  const Graph graph = builder.Build();
  Options options;
  options.Set("budget", std::to_string(kBudget));
  options.Set("work-limit", "3");
  options.method = Method::kRelax;  // stretches and nothing else
  for (const char* threads : {"1", "2", "3", "8"}) {
    CAPTURE(threads);
    options.Set("threads", threads);
    StopSignal stop;
    const Answer answer = Solve(graph, options, {}, stop, {});
    CHECK(answer.status == SolveStatus::kOptimal);
    CHECK(answer.lower_bound == least);
  }
}
