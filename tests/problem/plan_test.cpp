// SPDX-License-Identifier: Apache-2.0
// MakePlan and the validator against the tests' own judge (tests/oracle/judge.hpp) on random graphs and sequences, and
// each verdict of the validator provoked by one change to a plan that holds.
#include "engine/problem/plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/graph_builder.hpp"
#include "engine/problem/validator.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/op_spec.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

PlanRules Rules(OrderMode order, std::optional<std::int64_t> budget = {}, std::optional<std::int32_t> cap = {}) {
  PlanRules rules;
  rules.order = order;
  if (budget) rules.budget = Bytes(*budget);
  rules.max_executions = cap;
  return rules;
}

// `make` makes p, then `over` overwrites it with q.
void MakeAndOverwrite(GraphBuilder& b) {
  b.AddTensor("p", 1);
  b.AddTensor("q", 1);
  b.AddOp(Op("make", 0, {}, {"p"}));
  GraphBuilder::OpSpec over = Op("over", 0, {"p"}, {"q"});
  over.inplace = {{"p", "q"}};
  b.AddOp(over);
}

// x -> f -> a -> g -> b(view of a) -> h -> c; k reads a again; m overwrites c in place; out is kept.
Graph Sample() {
  GraphBuilder b;
  b.SetName("sample");
  b.AddTensor("x", 5);
  b.AddTensor("a", 8);
  b.AddTensor("b", 8, "a");
  b.AddTensor("c", 4);
  b.AddTensor("d", 2);
  b.AddTensor("e", 4);
  b.AddOp(Op("f", 1, {"x", ""}, {"a"}));
  b.AddOp(Op("g", 1, {"a"}, {"b"}));
  auto h = Op("h", 1, {"b"}, {"c"});
  h.recomputable = false;
  b.AddOp(h);
  auto k = Op("k", 1, {"a"}, {"d"});
  k.workspace = 3;
  b.AddOp(k);
  auto m = Op("m", 1, {"c", "d"}, {"e"});
  m.inplace = {{"c", "e"}};
  b.AddOp(m);
  b.AddGraphOutput("e");
  return b.Build();
}

std::vector<OpId> Ops(std::initializer_list<int> ids) {
  std::vector<OpId> out;
  for (const int i : ids) out.push_back(static_cast<OpId>(i));
  return out;
}

// A plan of such a graph that begins with the two; what they read is filled in.
Plan Overwritten(std::initializer_list<int> ops) {
  Plan plan;
  plan.executions = Ops(ops);
  plan.inputs.EndRow();
  plan.inputs.Push(0);
  plan.inputs.EndRow();
  return plan;
}

enum { kF, kG, kH, kK, kM };

}  // namespace

TEST_CASE("MakePlan and the judge agree on validity, duration and peak; the validator accepts exactly what holds") {
  Rng rng(Seed("plan"));
  int valid = 0, over = 0;
  for (int round = 0; round < 6000; ++round) {
    const Graph graph = RandomGraph(rng);
    std::vector<OpId> sequence = RandomSequence(graph, rng);
    if (Chance(rng, 20) && !sequence.empty())  // spoil it
      sequence[static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(sequence.size()) - 1))] =
          ToOpId(static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(graph.num_ops()) - 1)));
    CAPTURE(Describe(graph));
    std::string text;
    for (const OpId op : sequence) text += graph.op_name(op) + " ";
    CAPTURE(text);
    const JudgeAnswer judge = Judge(graph, sequence);
    SequenceFault fault{};
    const std::optional<Plan> plan = MakePlan(graph, sequence, &fault);
    REQUIRE_MESSAGE(plan.has_value() == judge.valid, judge.fault);
    if (!plan) {
      CHECK_FALSE(Describe(graph, fault).empty());
      continue;
    }
    ++valid;
    CHECK(plan->duration.count() == judge.duration);
    CHECK(plan->peak.count() == judge.peak);
    for (const OrderMode mode : {OrderMode::kFree, OrderMode::kFixed, OrderMode::kStaged}) {
      const ValidationResult v = Validate(graph, *plan, Rules(mode, judge.peak));
      CHECK_MESSAGE(v.ok() == JudgeOrder(graph, sequence, mode), v.text);
      const auto cap = static_cast<std::int32_t>(Draw(rng, 1, 3));
      CHECK(Validate(graph, *plan, Rules(mode, judge.peak, cap)).ok() == JudgeOrder(graph, sequence, mode, cap));
    }
    if (judge.peak > 0) {
      const ValidationResult v = Validate(graph, *plan, Rules(OrderMode::kFree, judge.peak - 1));
      CHECK(v.verdict == Verdict::kOverBudget);
      CHECK(v.bytes_needed.count() == judge.peak);
      CHECK(v.bytes_given.count() == judge.peak - 1);
      ++over;
    }
    // Every death is the earliest possible one: a position earlier is refused, one later costs nothing but room.
    for (std::size_t i = 0; i < plan->frees.size(); ++i) {
      Plan early = *plan;
      --early.frees[i].after;
      const ValidationResult v = Validate(graph, early, Rules(OrderMode::kFree));
      CHECK(v.verdict == Verdict::kBadFree);
    }
  }
  MESSAGE(valid << " plans");
  CHECK(valid > 2000);
  CHECK(over > 1000);
}

TEST_CASE("each verdict of the validator") {
  const Graph graph = Sample();
  const std::vector<OpId> sequence = Ops({kF, kG, kH, kF, kK, kM});
  const Plan good = MakePlan(graph, sequence).value();
  CHECK(good.duration.count() == 6);
  CHECK(good.peak.count() == 5 + 8 + 4 + 2 + 3);
  const PlanRules rules = Rules(OrderMode::kFixed, 22);
  REQUIRE_MESSAGE(Validate(graph, good, rules).ok(), Validate(graph, good, rules).text);

  const auto verdict = [&](const Plan& plan, const PlanRules& r) {
    const ValidationResult v = Validate(graph, plan, r);
    CHECK((v.ok() || !v.text.empty()));
    CHECK(v.text.find('\n') == std::string::npos);
    return v;
  };
  const auto with_inputs = [&](std::vector<std::vector<std::int32_t>> rows) {
    Plan p = good;
    p.inputs = {};
    for (const auto& row : rows) {
      for (const auto x : row) p.inputs.Push(x);
      p.inputs.EndRow();
    }
    return p;
  };
  const std::vector<std::vector<std::int32_t>> rows = {{-1, -2}, {0}, {1}, {-1, -2}, {3}, {2, 4}};

  SUBCASE("the inputs as they should be") { CHECK(verdict(with_inputs(rows), rules).ok()); }
  SUBCASE("unknown op") {
    Plan p = good;
    p.executions[2] = static_cast<OpId>(7);
    CHECK(verdict(p, rules).verdict == Verdict::kUnknownOp);
    p.executions[2] = OpId::kNone;
    const ValidationResult v = verdict(p, rules);
    CHECK(v.verdict == Verdict::kUnknownOp);
    CHECK(v.position == 2);
  }
  SUBCASE("op never runs") {
    Plan p = good;
    p.executions.back() = static_cast<OpId>(kK);
    const ValidationResult v = verdict(p, rules);
    CHECK(v.verdict == Verdict::kOpNeverRuns);
    CHECK(v.op == static_cast<OpId>(kM));
  }
  SUBCASE("runs again") {
    Plan p = good;
    p.executions[3] = static_cast<OpId>(kH);
    const ValidationResult v = verdict(p, rules);
    CHECK(v.verdict == Verdict::kRunsAgain);
    CHECK(v.position == 3);
  }
  SUBCASE("too many executions") {
    const ValidationResult v = verdict(good, Rules(OrderMode::kFixed, 22, 1));
    CHECK(v.verdict == Verdict::kTooManyExecutions);
    CHECK(v.position == 3);
    CHECK(v.op == static_cast<OpId>(kF));
  }
  SUBCASE("input count") {
    auto r = rows;
    r[5] = {2};
    const ValidationResult v = verdict(with_inputs(r), rules);
    CHECK(v.verdict == Verdict::kInputCount);
    CHECK(v.position == 5);
    r.pop_back();
    CHECK(verdict(with_inputs(r), rules).verdict == Verdict::kInputCount);
  }
  SUBCASE("wrong producer") {
    auto r = rows;
    r[4] = {0};  // an older execution of the maker
    const ValidationResult v = verdict(with_inputs(r), rules);
    CHECK(v.verdict == Verdict::kWrongProducer);
    CHECK(v.position == 4);
    r = rows;
    r[0] = {-1, -1};  // absent input
    CHECK(verdict(with_inputs(r), rules).verdict == Verdict::kWrongProducer);
    r = rows;
    r[0] = {-2, -2};
    CHECK(verdict(with_inputs(r), rules).verdict == Verdict::kWrongProducer);
    r = rows;
    r[1] = {100};
    CHECK(verdict(with_inputs(r), rules).verdict == Verdict::kWrongProducer);
  }
  SUBCASE("missing input: before it is made, and after it is overwritten") {
    Plan p = good;
    std::swap(p.executions[0], p.executions[1]);
    const ValidationResult v = verdict(p, Rules(OrderMode::kFree));
    CHECK(v.verdict != Verdict::kHolds);
    GraphBuilder b;
    b.AddTensor("r", 1);
    MakeAndOverwrite(b);
    b.AddOp(Op("read", 0, {"p"}, {"r"}));
    const Graph g = b.Build();
    Plan bad = Overwritten({0, 1, 2});
    bad.inputs.Push(0);
    bad.inputs.EndRow();
    bad.duration = Duration(0);
    bad.peak = Bytes(2);
    const ValidationResult w = Validate(g, bad, Rules(OrderMode::kFree));
    CHECK(w.verdict == Verdict::kMissingInput);
    CHECK(w.position == 2);
    SequenceFault fault{};
    CHECK_FALSE(MakePlan(g, Ops({0, 1, 2}), &fault));
    CHECK(fault.kind == SequenceFault::Kind::kMissingInput);
    CHECK(fault.position == 2);
    CHECK(MakePlan(g, Ops({0, 2, 1})));
    CHECK(MakePlan(g, Ops({0, 1, 0, 2})));
  }
  SUBCASE("missing view base: the base is no input of the op that makes the view") {
    GraphBuilder b;
    b.AddTensor("v", 0, "p");
    MakeAndOverwrite(b);
    b.AddOp(Op("view", 0, {}, {"v"}));
    const Graph g = b.Build();
    Plan bad = Overwritten({0, 1, 2});
    bad.inputs.EndRow();
    CHECK(Validate(g, bad, Rules(OrderMode::kFree)).verdict == Verdict::kMissingViewBase);
    CHECK(MakePlan(g, Ops({0, 2, 1})));
    CHECK_FALSE(MakePlan(g, Ops({0, 1, 2})));
  }
  SUBCASE("missing output") {
    GraphBuilder b;
    MakeAndOverwrite(b);
    b.AddGraphOutput("p");
    const Graph g = b.Build();
    SequenceFault fault{};
    CHECK_FALSE(MakePlan(g, Ops({0, 1}), &fault));
    CHECK(fault.kind == SequenceFault::Kind::kMissingOutput);
    const Plan ok = MakePlan(g, Ops({0, 1, 0})).value();
    CHECK(Validate(g, ok, Rules(OrderMode::kStaged)).ok());
    const Plan bad = Overwritten({0, 1});
    CHECK(Validate(g, bad, Rules(OrderMode::kFree)).verdict == Verdict::kMissingOutput);
  }
  SUBCASE("bad frees") {
    REQUIRE(good.frees.size() >= 2);
    Plan p = good;
    p.frees[0].tensor = static_cast<TensorId>(99);
    CHECK(verdict(p, rules).verdict == Verdict::kBadFree);
    p = good;
    p.frees[0].execution = 1;  // opens nothing: it makes a view
    CHECK(verdict(p, rules).verdict == Verdict::kBadFree);
    p = good;
    p.frees.push_back(p.frees[0]);
    CHECK(verdict(p, rules).verdict == Verdict::kBadFree);
    p = good;
    p.frees[0].after = 6;
    CHECK(verdict(p, rules).verdict == Verdict::kBadFree);
    p = good;
    p.frees[0].after = -1;
    CHECK(verdict(p, rules).verdict == Verdict::kBadFree);
    p = good;
    p.frees.push_back({5, 2, static_cast<TensorId>(3)});  // c's storage holds the kept e
    CHECK(verdict(p, rules).verdict == Verdict::kBadFree);
  }
  SUBCASE("a storage that dies later than it must, or never, takes room") {
    Plan p = good;
    for (auto& f : p.frees)
      if (f.execution == 0) f.after = 4;  // the first a lives on beside the second
    CHECK(verdict(p, rules).verdict == Verdict::kOverBudget);
    CHECK(verdict(p, Rules(OrderMode::kFixed)).verdict == Verdict::kWrongPeak);
    p.peak = Bytes(30);
    CHECK(verdict(p, Rules(OrderMode::kFixed)).ok());
  }
  SUBCASE("out of order") {
    const Plan p = MakePlan(graph, Ops({kF, kG, kK, kH, kM})).value();
    CHECK(verdict(p, Rules(OrderMode::kFree)).ok());
    const ValidationResult v = verdict(p, Rules(OrderMode::kFixed));
    CHECK(v.verdict == Verdict::kOutOfOrder);
    CHECK(v.position == 2);
  }
  SUBCASE("stage out of order") {
    const Plan twice = MakePlan(graph, Ops({kF, kG, kH, kF, kF, kK, kM})).value();
    CHECK(verdict(twice, Rules(OrderMode::kFixed)).ok());
    CHECK(verdict(twice, Rules(OrderMode::kStaged)).verdict == Verdict::kStageOutOfOrder);
    const Plan swapped = MakePlan(graph, Ops({kF, kG, kH, kK, kK, kF, kM})).value();
    const ValidationResult v = verdict(swapped, Rules(OrderMode::kStaged));
    CHECK(v.verdict == Verdict::kStageOutOfOrder);
    CHECK(v.position == 5);
    CHECK(verdict(swapped, Rules(OrderMode::kFixed)).ok());
  }
  SUBCASE("over budget, wrong duration, wrong peak") {
    const ValidationResult v = verdict(good, Rules(OrderMode::kFixed, 21));
    CHECK(v.verdict == Verdict::kOverBudget);
    CHECK(v.op == static_cast<OpId>(kK));
    CHECK(v.bytes_needed.count() == 22);
    CHECK(v.bytes_given.count() == 21);
    Plan p = good;
    p.duration = Duration(5);
    CHECK(verdict(p, rules).verdict == Verdict::kWrongDuration);
    p = good;
    p.peak = Bytes(21);
    CHECK(verdict(p, rules).verdict == Verdict::kWrongPeak);
    p.peak = Bytes(23);
    CHECK(verdict(p, rules).verdict == Verdict::kWrongPeak);
  }
}

TEST_CASE("a graph input stays for good, also when it is overwritten, and its room is not given twice") {
  GraphBuilder b;
  b.AddTensor("w", 7);
  b.AddTensor("wv", 0, "w");
  b.AddTensor("u", 7);
  b.AddTensor("r", 1);
  GraphBuilder::OpSpec read, over, last;
  read.name = "read";
  read.inputs = {"wv"};
  read.outputs = {"r"};
  over.name = "over";
  over.inputs = {"wv", "r"};
  over.outputs = {"u"};
  over.inplace = {{"wv", "u"}};
  last.name = "last";
  last.inputs = {"u"};
  b.AddOp(read);
  b.AddOp(over);
  b.AddOp(last);
  const Graph g = b.Build();
  const Plan plan = MakePlan(g, Ops({0, 1, 2})).value();
  CHECK(plan.peak.count() == 8);
  CHECK(Validate(g, plan, Rules(OrderMode::kStaged, 8)).ok());
  CHECK(plan.frees.size() == 1);                // r; the storage of w never dies
  CHECK_FALSE(MakePlan(g, Ops({0, 1, 1, 2})));  // wv holds nothing any more
}
