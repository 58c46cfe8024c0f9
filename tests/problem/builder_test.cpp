// SPDX-License-Identifier: Apache-2.0
// What the builder refuses: each thing that the model forbids, in one line that names the culprits; and what it takes.
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/base/status.hpp"
#include "engine/problem/graph_builder.hpp"

using namespace ebb;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

GraphBuilder::OpSpec Op(std::string name, std::vector<std::string> in, std::vector<std::string> out, Pairs inplace = {},
                        bool once = false) {
  GraphBuilder::OpSpec op;
  op.name = std::move(name);
  op.duration = 1;
  op.inputs = std::move(in);
  op.outputs = std::move(out);
  op.inplace = std::move(inplace);
  op.recomputable = !once;
  return op;
}

// Building must fail with one line that holds all of `words`.
void Refused(const std::function<void(GraphBuilder&)>& fill, const std::vector<std::string>& words) {
  GraphBuilder b;
  try {
    fill(b);
    (void)b.Build();
    FAIL("was built");
  } catch (const InputError& e) {
    const std::string text = e.what();
    CAPTURE(text);
    CHECK(text.find('\n') == std::string::npos);
    for (const std::string& word : words) {
      CAPTURE(word);
      CHECK(text.find(word) != std::string::npos);
    }
  }
}

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("names") {
  Refused([](GraphBuilder& b) { b.AddTensor("", 1); }, {"empty name"});
  Refused([](GraphBuilder& b) { b.AddOp(Op("", {}, {})); }, {"empty name"});
  Refused([](GraphBuilder& b) { b.AddTensor("twin", 1), b.AddTensor("twin", 1); }, {"'twin'", "twice"});
  Refused([](GraphBuilder& b) { b.AddOp(Op("twin", {}, {})), b.AddOp(Op("twin", {}, {})); }, {"'twin'", "twice"});
  Refused([](GraphBuilder& b) { b.AddOp(Op("f", {"ghost"}, {})); }, {"'f'", "input", "'ghost'"});
  Refused([](GraphBuilder& b) { b.AddOp(Op("f", {}, {"ghost"})); }, {"'f'", "output", "'ghost'"});
  Refused([](GraphBuilder& b) { b.AddGraphOutput("ghost"); }, {"output", "'ghost'"});
  Refused([](GraphBuilder& b) { b.AddTensor("v", 0, "ghost"); }, {"'v'", "'ghost'"});
  Refused(
      [](GraphBuilder& b) {
        b.AddTensor("t", 1);
        b.AddOp(Op("f", {}, {"t"}));
        b.AddOp(Op("g", {}, {"t"}));
      },
      {"'t'", "two makers", "'f'", "'g'"});
  Refused(
      [](GraphBuilder& b) {
        b.AddTensor("t", 1);
        b.AddOp(Op("f", {}, {"t", "t"}));
      },
      {"'f'", "'t'", "twice"});
}

TEST_CASE("numbers") {
  Refused([](GraphBuilder& b) { b.AddTensor("t", -1); }, {"'t'", "-1"});
  Refused(
      [](GraphBuilder& b) {
        auto op = Op("f", {}, {});
        op.duration = -2;
        b.AddOp(op);
      },
      {"'f'", "duration", "-2"});
  Refused(
      [](GraphBuilder& b) {
        auto op = Op("f", {}, {});
        op.workspace = -3;
        b.AddOp(op);
      },
      {"'f'", "workspace", "-3"});
  Refused([](GraphBuilder& b) { b.AddTensor("s", kMax), b.AddTensor("t", 1); }, {"overflow", "'t'"});
  Refused(
      [](GraphBuilder& b) {
        b.AddTensor("s", kMax);
        auto op = Op("f", {}, {});
        op.workspace = 1;
        b.AddOp(op);
      },
      {"overflow", "'f'"});
  Refused(
      [](GraphBuilder& b) {
        auto op = Op("f", {}, {});
        op.duration = kMax;
        b.AddOp(op);
        b.AddOp(Op("g", {}, {}));
      },
      {"overflow", "'g'"});
  GraphBuilder most;
  most.AddTensor("t", kMax);
  most.AddOp(Op("f", {}, {"t"}));
  CHECK(most.Build().size(ToTensorId(0)).count() == kMax);
}

TEST_CASE("cycles and orders") {
  const auto ring = [](GraphBuilder& b) {
    for (const char* t : {"x", "y", "z"}) b.AddTensor(t, 1);
    b.AddOp(Op("f", {"z"}, {"x"}));
    b.AddOp(Op("g", {"x"}, {"y"}));
    b.AddOp(Op("h", {"y"}, {"z"}));
  };
  Refused(ring, {"cycle", "'f'", "'g'", "'h'", "->"});
  Refused(
      [](GraphBuilder& b) {
        b.AddTensor("x", 1);
        b.AddOp(Op("f", {"x"}, {"x"}));
      },
      {"cycle", "'f'"});
  const auto line = [](GraphBuilder& b, std::vector<std::string> order) {
    b.AddTensor("x", 1);
    b.AddOp(Op("f", {}, {"x"}));
    b.AddOp(Op("g", {"x"}, {}));
    b.SetOrder(std::move(order));
  };
  Refused([&](GraphBuilder& b) { line(b, {"g", "f"}); }, {"order", "'g'", "'f'"});
  Refused([&](GraphBuilder& b) { line(b, {"f"}); }, {"order", "'g'", "missing"});
  Refused([&](GraphBuilder& b) { line(b, {"f", "f"}); }, {"order", "'f'", "twice"});
  Refused([&](GraphBuilder& b) { line(b, {"f", "g", "h"}); }, {"order", "'h'"});
  GraphBuilder stable;  // without an order: the first in the file that can run
  for (const char* t : {"x", "y"}) stable.AddTensor(t, 1);
  stable.AddOp(Op("late", {"x"}, {}));
  stable.AddOp(Op("first", {}, {"x"}));
  stable.AddOp(Op("other", {}, {"y"}));
  const Graph g = stable.Build();
  CHECK(g.op_name(g.order()[0]) == "first");
  CHECK(g.op_name(g.order()[1]) == "late");
  CHECK(g.op_name(g.order()[2]) == "other");
  CHECK_FALSE(g.order_was_given());
}

TEST_CASE("names may be used before they are declared: indices follow the declarations") {
  GraphBuilder late;
  late.SetOrder({"f", "g"});  // ops that nobody knows yet, in another order than theirs
  late.AddOp(Op("g", {"y", "", "x"}, {"z", "v"}, {{"y", "z"}}));
  late.AddOp(Op("f", {"x"}, {"y"}));
  late.AddGraphOutput("v");
  late.AddGraphOutput("z");
  late.AddGraphOutput("v");
  late.AddTensor("v", 0, "x");
  late.AddTensor("z", 2);
  late.AddTensor("x", 3);
  late.AddTensor("y", 4);
  const Graph g = late.Build();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < g.num_tensors(); ++i) names.push_back(g.tensor_name(ToTensorId(i)));
  CHECK(names == std::vector<std::string>{"v", "z", "x", "y"});
  CHECK(g.op_name(OpId(0)) == "g");
  const auto ids = [](std::span<const TensorId> s) { return std::vector<TensorId>(s.begin(), s.end()); };
  CHECK(ids(g.inputs(OpId(0))) == std::vector<TensorId>{TensorId(3), TensorId::kNone, TensorId(2)});
  CHECK(ids(g.outputs(OpId(0))) == std::vector<TensorId>{TensorId(1), TensorId(0)});
  CHECK(g.inplace(OpId(0)).front().input == TensorId(3));
  CHECK(g.inplace(OpId(0)).front().output == TensorId(1));
  CHECK(g.view_of(TensorId(0)) == TensorId(2));
  CHECK(ids(g.graph_outputs()) == std::vector<TensorId>{TensorId(0), TensorId(1)});
  CHECK(g.order().front() == OpId(1));
}

TEST_CASE("views") {
  Refused([](GraphBuilder& b) { b.AddTensor("v", 0, "v"); }, {"'v'", "itself"});
  Refused([](GraphBuilder& b) { b.AddTensor("v", 0, "w"), b.AddTensor("w", 0, "v"); }, {"ring", "'v'", "'w'"});
  Refused(
      [](GraphBuilder& b) {
        b.AddTensor("a", 1);
        b.AddTensor("v", 0, "a");
        b.AddOp(Op("f", {}, {"a"}));
      },
      {"'v'", "'a'"});  // nobody makes a view of what an op makes
}

TEST_CASE("in place") {
  const auto tensors = [](GraphBuilder& b) {
    for (const char* t : {"a", "b", "c", "d"}) b.AddTensor(t, 1);
  };
  Refused(
      [&](GraphBuilder& b) {
        tensors(b);
        b.AddOp(Op("f", {"a"}, {"b"}, {{"c", "b"}}));
      },
      {"'f'", "'c'", "not an input"});
  Refused(
      [&](GraphBuilder& b) {
        tensors(b);
        b.AddOp(Op("f", {"a"}, {"b"}, {{"a", "c"}}));
      },
      {"'f'", "'c'", "not an output"});
  Refused(
      [&](GraphBuilder& b) {
        tensors(b);
        b.AddOp(Op("f", {"a"}, {"b", "c"}, {{"a", "b"}, {"a", "c"}}));
      },
      {"'f'", "'a'"});
  Refused(
      [&](GraphBuilder& b) {
        tensors(b);
        b.AddOp(Op("f", {"a", "c"}, {"b"}, {{"a", "b"}, {"c", "b"}}));
      },
      {"'f'", "'b'", "two"});
  Refused(
      [&](GraphBuilder& b) {
        tensors(b);
        b.AddTensor("v", 0, "a");
        b.AddOp(Op("f", {"a"}, {"v"}, {{"a", "v"}}));
      },
      {"'f'", "'v'", "view"});
  Refused(
      [&](GraphBuilder& b) {
        tensors(b);
        b.AddTensor("v", 0, "a");
        b.AddOp(Op("f", {"a"}, {"b", "v"}, {{"a", "b"}}));
      },
      {"'f'", "'v'", "overwrites"});
  SUBCASE("contradictions that no order can satisfy") {
    Refused(  // a graph input, read by what needs its overwriter
        [&](GraphBuilder& b) {
          tensors(b);
          b.AddOp(Op("over", {"a"}, {"b"}, {{"a", "b"}}));
          b.AddOp(Op("late", {"a", "b"}, {"c"}));
        },
        {"no order", "'over'", "'late'"});
    Refused(  // two overwriters of one graph input
        [&](GraphBuilder& b) {
          tensors(b);
          b.AddOp(Op("one", {"a"}, {"b"}, {{"a", "b"}}));
          b.AddOp(Op("two", {"a"}, {"c"}, {{"a", "c"}}));
        },
        {"no order", "'one'", "'two'"});
    Refused(  // a kept graph input
        [&](GraphBuilder& b) {
          tensors(b);
          b.AddOp(Op("over", {"a"}, {"b"}, {{"a", "b"}}));
          b.AddGraphOutput("a");
        },
        {"no order", "'over'", "'a'"});
    Refused(  // a kept view of it
        [&](GraphBuilder& b) {
          tensors(b);
          b.AddTensor("v", 0, "a");
          b.AddOp(Op("over", {"a"}, {"b"}, {{"a", "b"}}));
          b.AddGraphOutput("v");
        },
        {"no order", "'over'", "'v'"});
    Refused(  // what may be made only once
        [&](GraphBuilder& b) {
          tensors(b);
          b.AddOp(Op("make", {}, {"a"}, {}, true));
          b.AddOp(Op("over", {"a"}, {"b"}, {{"a", "b"}}));
          b.AddOp(Op("late", {"a", "b"}, {"c"}));
        },
        {"no order", "'over'", "'late'"});
  }
  SUBCASE("what can be made again is no contradiction") {
    GraphBuilder b;
    tensors(b);
    b.AddOp(Op("make", {}, {"a"}));
    b.AddOp(Op("over", {"a"}, {"b"}, {{"a", "b"}}));
    b.AddOp(Op("late", {"a", "b"}, {"c"}));
    b.AddGraphOutput("a");
    const Graph g = b.Build();
    CHECK(g.storage_root(ToTensorId(1)) == ToTensorId(0));
    CHECK(g.overwrites(ToTensorId(1)) == ToTensorId(0));
  }
  SUBCASE("readers come before the overwriter in the default order") {
    GraphBuilder b;
    tensors(b);
    b.AddOp(Op("over", {"a"}, {"b"}, {{"a", "b"}}));
    b.AddOp(Op("read", {"a"}, {"c"}));
    const Graph g = b.Build();
    CHECK(g.op_name(g.order()[0]) == "read");
  }
}
