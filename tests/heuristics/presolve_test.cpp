// SPDX-License-Identifier: Apache-2.0
// Ops marked as running once: the optimum stays what brute force finds on the graph itself, in every order, under every
// cap; each rule has an instance where it works, and one that is just outside of it.
#include "engine/problem/presolve.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/graph_builder.hpp"
#include "heuristics/state_search.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

struct Step {
  std::string name;
  std::int64_t size;
  std::vector<std::string> inputs;
};

// One output an op, named like it; durations of 1.
Instance Make(const std::vector<Step>& steps, const std::vector<std::string>& kept = {}) {
  GraphBuilder b;
  for (const Step& s : steps) {
    GraphBuilder::OpSpec op;
    op.name = s.name;
    op.duration = 1;
    op.inputs = s.inputs;
    op.outputs = {s.name};
    b.AddTensor(s.name, s.size);
    b.AddOp(std::move(op));
  }
  for (const std::string& k : kept) b.AddGraphOutput(k);
  return MakeInstance(b.Build());
}

std::string Marks(Instance in, OrderMode mode) {
  MarkOnceOps(in, mode);
  std::string out;
  for (const std::uint8_t may : in.may_repeat) out += may != 0 ? 'r' : '1';
  return out;
}

}  // namespace

TEST_CASE("the optimum is what it was") {
  Rng rng(Seed("presolve", 5));
  const char* more = std::getenv("EBB_TEST_ROUNDS");
  const int rounds = more != nullptr ? std::atoi(more) : 3000;
  PresolveCounts sum;
  std::int64_t solved = 0;
  for (int round = 0; round < rounds; ++round) {
    RandomGraphOptions options = PlainOrNot(rng, 60);
    if (Chance(rng, 50)) options.zero_size = 40;
    if (Chance(rng, 30)) options.once = 50;
    if (Chance(rng, 50)) options.kept = 3;
    options.max_ops = 6;
    const RandomCase c = DrawCase(rng, options, 30);
    INFO("round " << round << '\n' << c.Text());
    for (const OrderMode mode : {OrderMode::kFree, OrderMode::kFixed, OrderMode::kStaged}) {
      CAPTURE(ToString(mode));
      Instance instance = c.instance;
      const PresolveCounts counts = MarkOnceOps(instance, mode);
      sum.ops += counts.ops;
      sum.unread += counts.unread;
      sum.free += counts.free;
      sum.heavy += counts.heavy;
      sum.passed_on += counts.passed_on;
      if (counts.removed() == 0) continue;
      ++solved;
      const OracleAnswer oracle = BruteForce(c.graph, c.budget, mode, c.cap);
      WorkBudget work;
      const StateSearchResult found = SearchStates(instance, c.budget, mode, c.cap, work);
      REQUIRE((found.status == SolveStatus::kOptimal) == oracle.feasible);
      if (oracle.feasible) REQUIRE(found.duration == oracle.duration);
    }
  }
  MESSAGE("ops " << sum.ops << ": unread " << sum.unread << ", free " << sum.free << ", heavy " << sum.heavy
                 << ", passed on " << sum.passed_on << "; " << solved << " solved twice");
  if (rounds < 100) return;
  CHECK(sum.unread > 0);
  CHECK(sum.free > 0);
  CHECK(sum.heavy > 0);
  CHECK(sum.passed_on > 0);
}

TEST_CASE("unread, and kept") {
  CHECK(Marks(Make({{"a", 5, {}}, {"b", 5, {"a"}}, {"c", 5, {"a"}}}), OrderMode::kStaged) == "r11");
  CHECK(Marks(Make({{"a", 5, {}}, {"b", 5, {"a"}}, {"c", 5, {"a"}}}, {"b"}), OrderMode::kStaged) == "rr1");
}

TEST_CASE("free: no bytes, nothing to gain") {
  CHECK(Marks(Make({{"a", 0, {}}, {"b", 5, {"a"}}, {"c", 5, {"a", "b"}}}), OrderMode::kStaged) == "1r1");
}

TEST_CASE("passed on: a backward pass collapses") {
  const std::vector<Step> steps = {
      {"f", 5, {}}, {"g", 5, {"f"}}, {"x", 5, {"g"}}, {"y", 5, {"x", "f"}}, {"z", 5, {"y", "g"}}};
  CHECK(Marks(Make(steps), OrderMode::kFixed) == "rr111");
  CHECK(Marks(Make(steps), OrderMode::kStaged) == "rrrr1");
  // a reader further on: only where the order is free
  const std::vector<Step> apart = {
      {"f", 5, {}}, {"g", 5, {"f"}}, {"x", 5, {"g"}}, {"w", 5, {}}, {"y", 5, {"x", "f", "g"}}};
  CHECK(Marks(Make(apart), OrderMode::kFixed) == "rrr11");
  CHECK(Marks(Make(apart), OrderMode::kFree) == "rr111");
}

TEST_CASE("heavy: a private input by an op that runs once") {
  // s is once by being free of nothing: its size makes it matter, so it is told by the graph
  GraphBuilder b;
  const auto add = [&](const char* name, std::int64_t size, std::vector<std::string> inputs, bool again) {
    GraphBuilder::OpSpec op;
    op.name = name;
    op.duration = 1;
    op.inputs = std::move(inputs);
    op.outputs = {name};
    op.recomputable = again;
    b.AddTensor(name, size);
    b.AddOp(std::move(op));
  };
  add("dropout", 6, {}, false);
  add("small", 6, {"dropout"}, true);
  add("noise", 6, {}, false);
  add("large", 7, {"noise"}, true);
  add("end", 1, {"small", "large"}, true);
  add("more", 1, {"small", "large", "end"}, true);
  CHECK(Marks(MakeInstance(b.Build()), OrderMode::kStaged) == "111rr1");
}
