// SPDX-License-Identifier: Apache-2.0
// The partitioner's dump: what is taken from it, what is assumed, and that the assumptions are said.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/base/status.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"

namespace {

std::string Node(const std::string& name, int index, const std::string& target, const std::string& shape,
                 const std::string& inputs, const std::string& more = "") {
  return "\"" + name + "\": {\"index\": " + std::to_string(index) + ", \"name\": \"" + name +
         "\", \"is_recomputable_candidate\": " + (more.empty() ? "false" : "true") + ", \"target\": \"" + target +
         "\", \"shape\": \"" + shape + "\", \"input_arguments\": [" + inputs +
         "], \"stack_trace\": \"File \\\"m.py\\\", line 3\"" +
         (more.empty() ? "" : ", \"recomputable_candidate_info\": {" + more + "}") + "}";
}

std::string Dump(const std::string& nodes, const std::string& more = "") {
  return R"({"Joint Graph Size": 9, "Joint Graph Edges": {"Total": 1, "Edges": [["a", "b"]]}, "Joint Graph Node Information": {)" +
         nodes +
         R"(}, "Recomputable Banned Nodes Order": ["mul"], "Expected Runtime": 3.5, "Knapsack Saved Nodes": [0], "Knapsack Recomputed Nodes": [],
      "Knapsack Input Memories": [0.25], "Knapsack Input Runtimes": [10], "Min Cut Solution Saved Values": ["mul"])" +
         more + "}";
}

const std::string kNodes =
    Node("primals_1", 0, "primals_1", "torch.Size([8, 4])", "") + "," +
    Node("full", 1, "aten.full.default", "torch.Size([])", "") + "," +
    Node("mul", 2, "aten.mul.Tensor", "torch.Size([8, 4])", "\"primals_1\", \"full\"",
         R"("recomputable_node_idx": 0, "memory": 0.25, "runtime": 640, "is_saved": true)") +
    "," + Node("view", 3, "aten.view.default", "torch.Size([32])", "\"mul\"") + "," +
    Node("native_dropout", 4, "aten.native_dropout.default", "[]", "\"view\"") + "," +
    Node("getitem", 5, "<built-in function getitem>", "torch.Size([32])", "\"native_dropout\"") + "," +
    Node("getitem_1", 6, "<built-in function getitem>", "torch.Size([s0, 2])", "\"native_dropout\"") + "," +
    Node("output", 7, "output", "[]", "\"getitem\", \"getitem_1\"");

std::string Refusal(const std::string& text) {
  try {
    static_cast<void>(ebb::ReadGraph(text, "d.json"));
  } catch (const ebb::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a dump with absolute sizes") {
  const ebb::ReadGraphResult r = ebb::ReadGraph(Dump(kNodes, R"(, "Absolute Memories": [64])"), "d.json");
  CHECK(r.format == "torch");
  CHECK(r.warnings ==
        std::vector<std::string>{
            "d.json: sizes of 6 of 8 nodes are assumed: elements of the shape times 2 bytes",
            "d.json: durations of 2 ops are assumed: in proportion to their bytes, as the candidates' are; known views "
            "take none",
            "d.json: 1 known view functions share their first input's storage; in-place updates are not in the dump",
            "d.json: symbolic sizes count as 4096"});
  CHECK(ebb::GraphToJson(r.graph) == R"({"format": "ebbtide-graph", "version": 1, "name": "",
"tensors": [
{"name": "primals_1", "size": 64},
{"name": "full", "size": 2},
{"name": "mul", "size": 64},
{"name": "view", "size": 64, "view_of": "mul"},
{"name": "native_dropout", "size": 0},
{"name": "getitem", "size": 64},
{"name": "getitem_1", "size": 16384}],
"ops": [
{"name": "full", "duration": 20, "inputs": [], "outputs": ["full"]},
{"name": "mul", "duration": 640, "inputs": ["primals_1", "full"], "outputs": ["mul"]},
{"name": "view", "duration": 0, "inputs": ["mul"], "outputs": ["view"]},
{"name": "native_dropout", "duration": 164480, "inputs": ["view"], "outputs": ["native_dropout", "getitem", "getitem_1"], "recomputable": false}],
"outputs": [
"getitem",
"getitem_1"]}
)");
}

TEST_CASE("an older dump has fractions for sizes") {
  const ebb::ReadGraphResult r = ebb::ReadGraph(Dump(kNodes), "d.json");
  CHECK(r.graph.size(ebb::ToTensorId(2)).count() == 128);  // 4 bytes an element for want of better
}

TEST_CASE("broken dumps") {
  struct Case {
    std::string text;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {R"({"Joint Graph Size": 9})", {"Node Information"}},
      {R"({"Joint Graph Node Information": []})", {"array"}},
      {R"({"Joint Graph Node Information": {"a": 3}})", {"'a'"}},
      {R"({"Joint Graph Node Information": {"a": {"index": 1}}})", {"'a'", "target"}},
      {Dump(Node("a", 0, "aten.mul", "[]", "\"b\"")), {"'a'", "'b'"}},
      {Dump(Node("a", 0, "aten.mul", "[]", "") + "," + Node("a", 1, "aten.mul", "[]", "")), {"'a'"}},
      {Dump(Node("a", 0, "aten.mul", "torch.Size([99999999999, 99999999999])", "")), {"elements"}},
      {Dump(Node("a", 0, "aten.mul", "[]", "", R"("memory": -1)")), {"'a'", "-1"}},
      {Dump(Node("a", 0, "aten.mul", "[]", "", R"("runtime": 1e300)")), {"'a'", "10^15"}},
      {Dump(Node("a", 0, "aten.mul", "[]", "", R"("memory": "x")")), {"'a'", "'x'"}},
      {Dump(Node("a", 0, "aten.mul", "[]", "\"a\"")), {"cycle"}},
      {Dump(kNodes, R"(, "Absolute Memories": [-3])"), {"-3"}},
      {Dump(kNodes, R"(, "Absolute Memories": 3)"), {"array"}},
  };
  for (const Case& c : cases) {
    const std::string message = Refusal(c.text);
    CAPTURE(c.text);
    CAPTURE(message);
    CHECK(message.rfind("d.json:", 0) == 0);
    for (const std::string& word : c.words) CHECK(message.find(word) != std::string::npos);
  }
}
