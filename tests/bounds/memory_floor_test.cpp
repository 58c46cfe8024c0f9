// SPDX-License-Identifier: Apache-2.0
// Floors against the true least feasible budget of small graphs.
#include "engine/bounds/memory_floor.hpp"

#include <doctest/doctest.h>

#include "engine/bounds/gaps.hpp"
#include "engine/problem/graph_builder.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/op_spec.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

TEST_CASE("memory floor: never above the least feasible budget") {
  Rng rng(Seed("memory_floor"));
  int exact = 0, above_single = 0, rounds = 0;
  for (int round = 0; round < 1500; ++round) {
    RandomGraphOptions options;
    options.max_ops = 6;
    if (round % 3 == 0) options = RandomGraphOptions::Plain();
    const Graph graph = RandomGraph(rng, options);
    CAPTURE(Describe(graph));
    const Instance in = MakeInstance(graph);
    const std::int64_t least = LeastBudget(graph, OrderMode::kFree);
    const std::int64_t fixed = LeastBudget(graph, OrderMode::kFixed);
    const MemoryFloor quick = ComputeFloor(in, 0);
    const MemoryFloor floor = ComputeFloor(in);
    CHECK(quick.bytes <= floor.bytes);
    if (fixed >= 0) CHECK(FixedOrderGaps(in).floor() <= fixed);
    if (least < 0) continue;
    CHECK(floor.bytes <= least);
    // the same question asked about one budget
    CHECK(ComputeFloor(in, kDefaultPebblingTicks, least).bytes <= least);
    if (floor.bytes > 0) CHECK(ComputeFloor(in, kDefaultPebblingTicks, floor.bytes - 1).bytes > floor.bytes - 1);
    ++rounds;
    exact += floor.bytes == least;
    above_single += floor.kind != MemoryFloor::Kind::kSingleOp;
  }
  MESSAGE(exact << " of " << rounds << " exact, " << above_single << " by more than a single op");
  CHECK(exact * 2 > rounds);
  CHECK(above_single > 20);
}

TEST_CASE("memory floor: names the op") {
  GraphBuilder b;
  b.AddTensor("a", 7);
  b.AddTensor("b", 6);
  b.AddTensor("c", 1);
  b.AddOp(Op("A", 1, {}, {"a"}));
  b.AddOp(Op("B", 1, {"a"}, {"b"}, 4));
  b.AddOp(Op("C", 1, {"b"}, {"c"}));
  const Graph graph = b.Build();
  const Instance in = MakeInstance(graph);
  const MemoryFloor floor = ComputeFloor(in);
  CHECK(floor.bytes == 17);
  CHECK(floor.kind == MemoryFloor::Kind::kSingleOp);
  CHECK(floor.op == 1);
}

TEST_CASE("memory floor: the last input is made beside the others") {
  GraphBuilder b;
  for (const char* name : {"p", "q", "u", "v", "z"}) b.AddTensor(name, name[0] == 'z' ? 1 : 10);
  b.AddOp(Op("P", 1, {}, {"p"}));
  b.AddOp(Op("U", 1, {"p"}, {"u"}));
  b.AddOp(Op("Q", 1, {}, {"q"}));
  b.AddOp(Op("V", 1, {"q"}, {"v"}));
  b.AddOp(Op("Z", 1, {"u", "v"}, {"z"}));
  const Graph graph = b.Build();
  const MemoryFloor floor = ComputeFloor(MakeInstance(graph));
  CHECK(floor.bytes == 30);
  CHECK(floor.kind == MemoryFloor::Kind::kLastInput);
  CHECK(floor.op == 4);
  CHECK(LeastBudget(graph, OrderMode::kFree) == 30);
}
