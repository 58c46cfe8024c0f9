// SPDX-License-Identifier: Apache-2.0
// Facts against the judge and brute force: the peak of the order, who adds up to it, a floor that no plan goes under.
#include "engine/problem/facts.hpp"

#include <string>

#include <doctest/doctest.h>

#include "engine/problem/graph_builder.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/op_spec.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

TEST_CASE("facts of random graphs hold") {
  Rng rng(Seed("facts"));
  int peaks = 0;
  for (int round = 0; round < 800; ++round) {
    RandomGraphOptions some;
    some.max_ops = round % 4 == 0 ? 5 : 20;
    const Graph graph = RandomGraph(rng, some);
    CAPTURE(Describe(graph));
    FactsOptions options;
    options.top = 1000;
    const GraphFacts facts = FindFacts(graph, options);
    const JudgeAnswer judge = Judge(graph, graph.order());
    CHECK(facts.runs == judge.valid);
    CHECK(facts.duration == graph.base_duration());
    CHECK(facts.gaps_total == static_cast<std::int64_t>(facts.gaps.size()));
    CHECK(facts.once_ops == static_cast<std::int64_t>(facts.once.size()));
    if (judge.valid) {
      ++peaks;
      CHECK(facts.peak.count() == judge.peak);
      CHECK(facts.floor <= facts.peak);
      Bytes sum = graph.workspace(facts.peak_op);
      for (const auto& h : facts.holders) {
        sum += h.bytes;
        CHECK(h.later_readers >= static_cast<std::int64_t>(h.readers.size()));
        if (h.role == GraphFacts::Role::kWaiting) CHECK(h.later_readers > 0);
        CHECK((h.maker == OpId::kNone) == (h.role == GraphFacts::Role::kGraphInput));
      }
      CHECK(sum == facts.peak);
      Bytes roles = facts.peak_op == OpId::kNone ? Bytes(0) : graph.workspace(facts.peak_op);
      for (const Bytes bytes : facts.role_bytes) roles += bytes;
      CHECK(roles == facts.peak);
      if (!facts.prices.empty())
        CHECK(facts.prices.back().bytes + facts.waiting_once_bytes == facts.bytes_of(GraphFacts::Role::kWaiting));
    }
    Bytes floor = graph.input_bytes() + (facts.floor_op == OpId::kNone ? Bytes(0) : graph.workspace(facts.floor_op));
    for (const GraphFacts::FloorPart& part : facts.floor_parts) floor += part.bytes;
    CHECK(floor == facts.floor);
    if (graph.num_ops() <= 5)
      if (const std::int64_t least = LeastBudget(graph, OrderMode::kFree); least >= 0)
        CHECK(facts.floor.count() <= least);
  }
  CHECK(peaks > 400);
}

TEST_CASE("what a small training step looks like") {
  GraphBuilder b;
  const auto op = [&](const std::string& name, std::vector<std::string> in, std::int64_t size) {
    AddOp(b, name, std::move(in), size, 2, name != "f2");
  };
  b.AddTensor("x", 3);
  op("f1", {"x"}, 10);
  op("f2", {"t_f1"}, 20);
  op("f3", {"t_f2"}, 5);
  op("b3", {"t_f3", "t_f2"}, 4);
  op("b2", {"t_b3", "t_f1"}, 4);
  b.AddGraphOutput("t_b2");
  const Graph g = b.Build();
  FactsOptions options;
  options.top = 2;
  const GraphFacts f = FindFacts(g, options);
  CHECK(f.ops == 5);
  CHECK(f.graph_inputs == 1);
  CHECK(f.bytes.count() == 46);
  CHECK(f.peak.count() == 3 + 10 + 20 + 5 + 4);
  CHECK(g.op_name(f.peak_op) == "b3");
  CHECK(f.holders_total == 5);
  REQUIRE(f.holders.size() == 2);
  CHECK(g.tensor_name(f.holders[0].tensor) == "t_f2");
  CHECK(f.holders[0].role == GraphFacts::Role::kOpInput);
  CHECK(g.tensor_name(f.holders[1].tensor) == "t_f1");
  CHECK(f.holders[1].role == GraphFacts::Role::kWaiting);
  CHECK(f.bytes_of(GraphFacts::Role::kWaiting).count() == 10);
  CHECK(f.bytes_of(GraphFacts::Role::kOpInput).count() == 25);
  REQUIRE(f.prices.size() == 4);
  for (const GraphFacts::Price& price : f.prices) {  // f1 alone
    CHECK(price.bytes.count() == 10);
    CHECK(price.duration.count() == 2);
  }
  CHECK(f.waiting_once_bytes.count() == 0);
  CHECK(f.floor.count() == 3 + 10 + 20);
  REQUIRE(f.floor_parts.size() == 2);
  CHECK(g.tensor_name(f.floor_parts[0].tensor) == "t_f2");
  CHECK(f.floor_parts[0].role == GraphFacts::Role::kOpOutput);
  CHECK(f.floor_parts[1].role == GraphFacts::Role::kOpInput);
  CHECK(g.op_name(f.floor_op) == "f2");
  CHECK(f.gaps_total == 1);
  CHECK(g.tensor_name(f.gaps[0].tensor) ==
        "t_f1");  // 10 bytes over two executions: as much as 20 over one, and earlier
  CHECK(f.gaps[0].length == 2);
  CHECK(f.gaps[0].can_rerun);
  REQUIRE(f.once.size() == 1);
  CHECK(f.once[0].at_peak);
  CHECK(f.once_bytes.count() == 20);
}

TEST_CASE("equal layers are found, forward and backward, and not where they differ") {
  const auto build = [](int layers, bool equal) {
    GraphBuilder b;
    const auto op = [&](const std::string& name, std::vector<std::string> in, std::int64_t size,
                        std::int64_t duration) { AddOp(b, name, std::move(in), size, duration); };
    std::string x = "t_in";
    op("in", {}, 8, 1);
    std::vector<std::string> ins;
    for (int l = 0; l < layers; ++l) {
      const std::string n = std::to_string(l);
      ins.push_back(x);
      op("norm" + n, {x}, 8, 2);
      op("up" + n, {"t_norm" + n}, 32, 10 + (equal ? 0 : l));
      op("down" + n, {"t_up" + n}, 8, 11);
      op("add" + n, {x, "t_down" + n}, 8, 1);
      x = "t_add" + n;
    }
    std::string g = "t_loss";
    op("loss", {x}, 8, 1);
    for (int l = layers; l-- > 0;) {
      const std::string n = std::to_string(l);
      op("bdown" + n, {g, "t_up" + n}, 32, 12);
      op("bup" + n, {"t_bdown" + n, "t_norm" + n}, 8, 13);
      op("bnorm" + n, {g, "t_bup" + n, ins[static_cast<std::size_t>(l)]}, 8, 3);
      g = "t_bnorm" + n;
    }
    return b.Build();
  };
  const GraphFacts f = FindFacts(build(7, true));
  REQUIRE(f.blocks.size() == 2);
  CHECK(f.blocks[0].begin == 1);
  CHECK(f.blocks[0].period == 4);
  CHECK(f.blocks[0].count == 7);
  CHECK(f.blocks[0].duration.count() == 24);
  CHECK(f.blocks[0].bytes.count() == 56);
  CHECK(f.blocks[1].begin == 30);
  CHECK(f.blocks[1].period == 3);
  CHECK(f.blocks[1].count == 7);
  CHECK(f.blocks_ops == 49);
  for (const GraphFacts::Blocks& b : FindFacts(build(7, false)).blocks) CHECK(b.begin >= 30);
}
