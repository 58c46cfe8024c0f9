// SPDX-License-Identifier: Apache-2.0
// The exact search over states against brute force over the graph itself: same feasibility, same optimum, in every
// order, with and without a cap. Since one searches the Instance and the other the Graph, this also checks that
// flattening (free views, in-place outputs, graph inputs) keeps the optimum. EBB_TEST_ROUNDS makes it longer.
#include "heuristics/state_search.hpp"

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/graph_builder.hpp"
#include "engine/problem/plan.hpp"
#include "engine/problem/validator.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/op_spec.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

int Rounds(int usual) {
  const char* text = std::getenv("EBB_TEST_ROUNDS");
  return text != nullptr ? std::atoi(text) : usual;
}

int MaxOps() {  // EBB_TEST_OPS: larger graphs; brute force takes seconds from ten ops on
  const char* text = std::getenv("EBB_TEST_OPS");
  return text != nullptr ? std::atoi(text) : 7;
}

RandomGraphOptions SomeOptions(Rng& rng, int max_ops) {
  RandomGraphOptions options = PlainOrNot(rng, 25);
  options.max_ops = max_ops;
  if (Chance(rng, 30)) options.views = 60;
  if (Chance(rng, 30)) options.inplace = 50;
  if (Chance(rng, 50)) options.once = 0;
  if (Chance(rng, 20)) options.multi_output = 70;
  return options;
}

}  // namespace

TEST_CASE("state search finds what brute force finds") {
  Rng rng(Seed("state_search"));
  int feasible = 0, infeasible = 0, repeats = 0;
  const int rounds = Rounds(1000);
  for (int round = 0; round < rounds; ++round) {
    const RandomCase c = DrawCase(rng, SomeOptions(rng, MaxOps()), 30);
    const Graph& graph = c.graph;
    const Instance& instance = c.instance;
    const std::int64_t budget = c.budget;
    const std::int32_t cap = c.cap;
    INFO("round " << round << '\n' << c.Text());
    for (const OrderMode mode : {OrderMode::kFree, OrderMode::kFixed, OrderMode::kStaged}) {
      CAPTURE(ToString(mode));
      const OracleAnswer oracle = BruteForce(graph, budget, mode, cap);
      WorkBudget work;
      const StateSearchResult found = SearchStates(instance, budget, mode, cap, work);
      CHECK(work.spent() > 0);
      if (!oracle.feasible) {
        ++infeasible;
        CHECK(found.status == SolveStatus::kInfeasible);
        continue;
      }
      ++feasible;
      REQUIRE(found.status == SolveStatus::kOptimal);
      CHECK(found.duration == oracle.duration);
      CHECK(found.bound == oracle.duration);
      const SequenceFacts facts = EvaluateSequence(instance, found.sequence);
      CHECK(facts.valid);
      CHECK(facts.duration == found.duration);
      CHECK(facts.peak <= budget);
      if (found.sequence.size() > graph.num_ops()) ++repeats;
      const std::vector<OpId> expanded = Expand(graph, instance, found.sequence, mode == OrderMode::kStaged);
      const std::optional<Plan> plan = MakePlan(graph, expanded);
      REQUIRE(plan);
      PlanRules rules;
      rules.order = mode;
      rules.budget = Bytes(budget);
      if (cap > 0) rules.max_executions = cap;
      const ValidationResult verdict = Validate(graph, *plan, rules);
      CHECK_MESSAGE(verdict.ok(), verdict.text);
      // Only what is shorter than the optimum is sought: nothing.
      StateSearchOptions upper;
      upper.upper = oracle.duration;
      CHECK(SearchStates(instance, budget, mode, cap, work, upper).status == SolveStatus::kInfeasible);
      upper.upper = oracle.duration + 1;
      CHECK(SearchStates(instance, budget, mode, cap, work, upper).duration == oracle.duration);
    }
  }
  MESSAGE(feasible << " feasible, " << infeasible << " infeasible, " << repeats << " with repeats");
  CHECK(repeats > rounds / 20);
}

TEST_CASE("state search under a limit says unknown with a bound that holds, and the same work finds the same") {
  Rng rng(Seed("state_search_limits"));
  int unknown = 0;
  for (int round = 0; round < 200; ++round) {
    const RandomCase c = DrawCase(rng, SomeOptions(rng, 7));
    const Instance& instance = c.instance;
    const std::int64_t budget = c.budget;
    const OracleAnswer oracle = BruteForce(c.graph, budget, OrderMode::kFree);
    INFO(c.Text());
    const Ticks limit = Draw(rng, 500, 20000);
    WorkBudget work(limit), again(limit);
    const StateSearchResult found = SearchStates(instance, budget, OrderMode::kFree, 0, work);
    const StateSearchResult repeated = SearchStates(instance, budget, OrderMode::kFree, 0, again);
    CHECK(found.status == repeated.status);
    CHECK(found.sequence == repeated.sequence);
    CHECK(work.spent() == again.spent());
    if (found.status == SolveStatus::kUnknown) {
      ++unknown;
      if (oracle.feasible) CHECK(found.bound <= oracle.duration);
    } else {
      CHECK((found.status == SolveStatus::kOptimal) == oracle.feasible);
    }
  }
  CHECK(unknown > 10);
}

TEST_CASE("durations that leave 63 bits are no proof") {
  // One repeat would do, but then the sum does not fit any more.
  GraphBuilder b;
  const auto op = [&](const std::string& name, std::vector<std::string> in, std::int64_t size, std::int64_t duration) {
    AddOp(b, name, std::move(in), size, duration);
  };
  const std::int64_t big = std::int64_t{1} << 61;
  op("a", {}, 4, big);
  op("b", {"t_a"}, 3, big);
  op("c", {"t_b"}, 4, big);
  op("d", {"t_c"}, 1, big - 1);
  op("e", {"t_d", "t_a"}, 1, 0);
  const Instance instance = MakeInstance(b.Build());
  WorkBudget work;
  CHECK(SearchStates(instance, 12, OrderMode::kFree, 0, work).status == SolveStatus::kOptimal);
  const StateSearchResult found = SearchStates(instance, 8, OrderMode::kFree, 0, work);
  CHECK(found.status == SolveStatus::kUnknown);
  CHECK(SearchStates(instance, 6, OrderMode::kFree, 0, work).status == SolveStatus::kInfeasible);
}
