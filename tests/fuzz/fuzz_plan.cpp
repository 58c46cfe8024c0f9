// SPDX-License-Identifier: Apache-2.0
// Plans for one small graph, the toy of the format's description: a plan that is read is written the same, and the
// validator has an opinion of it whatever it says.
#include <optional>

#include "engine/problem/validator.hpp"
#include "io/plan_json.hpp"
#include "tests/fuzz/graph_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ebb;
  static const Graph graph = ReadGraph(
                                 R"({"format": "ebbtide-graph", "version": 1, "name": "toy",
          "tensors": [{"name": "x", "size": 8}, {"name": "a", "size": 8}, {"name": "b", "size": 8, "view_of": "a"}, {"name": "c", "size": 4}],
          "ops": [{"name": "f", "duration": 2, "inputs": ["x"], "outputs": ["a"]},
                  {"name": "g", "duration": 3, "inputs": ["a", ""], "outputs": ["b", "c"]},
                  {"name": "h", "duration": 4, "inputs": ["a", "c"], "outputs": []}], "outputs": ["b"]})",
                                 "toy")
                                 .graph;
  try {
    const ReadPlanResult r = ReadPlan(graph, std::string_view(reinterpret_cast<const char*>(data), size), "input");
    for (const std::string& w : r.warnings) fuzz::CheckMessage(w, "input");
    const std::string text = PlanToJson(graph, r.file);
    if (PlanToJson(graph, ReadPlan(graph, text, "again").file) != text)
      fuzz::Fault("another plan after writing and reading", text);
    static_cast<void>(Validate(graph, r.file.plan, PlanRules{r.file.order, r.file.budget, std::nullopt}));
  } catch (const InputError& e) {
    fuzz::CheckMessage(e.what(), "input");
  }
  return 0;
}
