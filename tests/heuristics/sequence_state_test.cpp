// SPDX-License-Identifier: Apache-2.0
// The incremental sequence against the naive evaluation: after every transaction, committed or taken back.
#include "heuristics/sequence_state.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

// Random inserts and erases; what the state refuses must not be a plan, what it takes must agree with the naive view.
void Exercise(const Instance& in, std::int64_t budget, Rng& rng, int steps, std::size_t max_length) {
  if (!EvaluateSequence(in, in.order).valid) return;
  SequenceState state(in, budget);
  state.Load(in.order);
  state.CheckAgainstNaive();
  std::vector<std::int32_t> marked;  // empty: no mark
  for (int step = 0; step < steps; ++step) {
    if (Chance(rng, 8)) {
      if (!marked.empty() && Chance(rng, 60)) {
        state.ReturnToMark();
        REQUIRE(state.AtMark());
        REQUIRE(state.Sequence() == marked);
        REQUIRE_NOTHROW(state.CheckAgainstNaive());
      }
      if (Chance(rng, 80)) {
        state.Mark();
        marked = state.Sequence();
      } else {
        state.Unmark();
        marked.clear();
      }
    }
    const std::vector<std::int32_t> before = state.Sequence();
    const std::int64_t excess_before = state.excess();
    bool possible = true;
    for (std::int64_t parts = Draw(rng, 1, 4); possible && parts > 0; --parts) {
      const auto& repeats = state.repeats();
      const bool long_row = static_cast<std::size_t>(state.executions()) > max_length;
      if (!repeats.empty() && Chance(rng, long_row ? 90 : 45)) {
        const auto i = static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(repeats.size()) - 1));
        possible = state.Erase(repeats[i]);
      } else {
        const auto op = static_cast<std::int32_t>(Draw(rng, 0, static_cast<std::int64_t>(in.num_ops) - 1));
        if (!in.may_repeat[static_cast<std::size_t>(op)]) continue;
        std::int32_t at = state.EventAt(static_cast<std::int32_t>(Draw(rng, 0, state.slots() - 1)));
        if (at == state.Begin()) at = state.Next(at);
        possible = state.Insert(op, at) != SequenceState::kNone;
        // moving: the first of two executions goes where nobody needs it
        const std::int32_t first = state.FirstOf(op);
        if (possible && Chance(rng, 30) && state.Unused(first) && state.executions_of(op) > 1)
          possible = state.Erase(first);
      }
    }
    if (possible && state.violations() != 0) REQUIRE(!EvaluateSequence(in, state.Sequence()).valid);
    if (!possible || state.violations() != 0) {
      state.Rollback();
      REQUIRE(state.Sequence() == before);
      REQUIRE(state.excess() == excess_before);
      continue;
    }
    const std::int64_t after = state.ExcessAfter();
    const std::int64_t enough = state.excess() + Draw(rng, -3, 12);
    const std::int64_t about = state.ExcessAfter(enough);
    if (after <= enough)
      REQUIRE(about == after);
    else
      REQUIRE(about > enough);
    if (Chance(rng, 60)) {
      state.Commit();
      REQUIRE(state.excess() == after);
    } else {
      state.Rollback();
      REQUIRE(state.Sequence() == before);
      REQUIRE(state.excess() == excess_before);
    }
    REQUIRE_NOTHROW(state.CheckAgainstNaive());
    if (step % 16 == 0) {
      // a state loaded anew knows the same
      SequenceState fresh(in, budget);
      fresh.Load(state.Sequence());
      fresh.CheckAgainstNaive();
      REQUIRE(fresh.excess() == state.excess());
      REQUIRE(fresh.violations() == 0);
      REQUIRE(fresh.repeats().size() == state.repeats().size());
    }
  }
}

TEST_CASE("incremental sequence equals the naive one, all features") {
  Rng rng(Seed("sequence_state features", 11));
  for (int round = 0; round < 600; ++round) {
    RandomGraphOptions options;
    options.max_ops = round % 3 == 0 ? 25 : 9;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    INFO(Describe(graph));
    Exercise(in, RandomBudget(graph, rng), rng, 60, in.num_ops * 3);
  }
}

TEST_CASE("incremental sequence equals the naive one, plain graphs and many blocks") {
  Rng rng(Seed("sequence_state plain", 12));
  for (int round = 0; round < 40; ++round) {
    RandomGraphOptions options = RandomGraphOptions::Plain();
    options.min_ops = 40;
    options.max_ops = 400;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    REQUIRE(in.plain);
    Exercise(in, RandomBudget(graph, rng), rng, 300, in.num_ops * (round % 4 == 0 ? 8 : 2));
  }
}

TEST_CASE("a new budget shifts the whole profile") {
  Rng rng(Seed("sequence_state budget", 13));
  for (int round = 0; round < 50; ++round) {
    const Graph graph = RandomGraph(rng, RandomGraphOptions::Plain());
    const Instance in = MakeInstance(graph);
    SequenceState state(in, RandomBudget(graph, rng));
    state.Load(in.order);
    state.SetBudget(RandomBudget(graph, rng));
    state.CheckAgainstNaive();
    CHECK(state.Peak() == EvaluateSequence(in, in.order).peak);
  }
}

}  // namespace
}  // namespace ebb::test
