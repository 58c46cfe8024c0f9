// SPDX-License-Identifier: Apache-2.0
// Generated graphs: right size, an order that needs no repeat, the same bytes for the same seed, other bytes for
// another, features where asked for and none where plain.
#include "io/generate.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "engine/base/status.hpp"
#include "engine/problem/fingerprint.hpp"
#include "engine/problem/instance.hpp"
#include "engine/problem/plan.hpp"
#include "engine/problem/validator.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"

using namespace ebb;

namespace {

bool UsesFeatures(const Graph& g) {
  for (std::size_t i = 0; i < g.num_ops(); ++i) {
    const OpId op = ToOpId(i);
    if (g.outputs(op).size() != 1 || !g.inplace(op).empty() || !g.recomputable(op) || g.workspace(op).count() != 0)
      return true;
  }
  for (std::size_t t = 0; t < g.num_tensors(); ++t)
    if (g.view_of(ToTensorId(t)) != TensorId::kNone || g.maker(ToTensorId(t)) == OpId::kNone) return true;
  return !g.graph_outputs().empty();
}

}  // namespace

TEST_CASE("every kind, plain and with features") {
  for (const GeneratorInfo& info : Generators())
    for (const bool plain : {false, true}) {
      CAPTURE(info.kind);
      CAPTURE(plain);
      GenerateSpec spec;
      spec.ops = 200;
      spec.layers = 4;
      spec.microbatches = 3;
      spec.plain = plain;
      const Graph graph = Generate(info.kind, spec);
      CHECK(graph.num_ops() >= 8);
      const std::string json = GraphToJson(graph);
      CHECK(json == GraphToJson(Generate(info.kind, spec)));
      GenerateSpec other = spec;
      other.seed = 2;
      CHECK(json != GraphToJson(Generate(info.kind, other)));
      if (info.kind != "layered") CHECK(UsesFeatures(graph) == !plain);
      SequenceFault fault{};
      const std::optional<Plan> plan = MakePlan(graph, graph.order(), &fault);
      REQUIRE_MESSAGE(plan, Describe(graph, fault));
      PlanRules rules;
      rules.order = OrderMode::kStaged;
      rules.budget = plan->peak;
      CHECK(Validate(graph, *plan, rules).ok());
      for (std::size_t i = 0; i < graph.num_ops(); ++i) CHECK(Index(graph.order()[i]) == i);  // file order
    }
}

TEST_CASE("layered graphs are of the paper's shape") {
  GenerateSpec spec;
  spec.ops = 1000;
  const Graph g = Generate("layered", spec);
  CHECK(g.num_ops() == 1000);
  std::size_t edges = 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < g.num_ops(); ++i) {
    edges += g.inputs(ToOpId(i)).size();
    bytes += g.size(g.outputs(ToOpId(i))[0]).count();
    CHECK((i == 0) == g.inputs(ToOpId(i)).empty());
  }
  CHECK(edges > 4000);  // the paper's file: 5875
  CHECK(edges < 8000);
  CHECK(bytes / 1000 > 1700);
  CHECK(bytes / 1000 < 2500);
}

TEST_CASE("edges of the ranges") {
  GenerateSpec spec;
  for (const std::int64_t n : {1, 2, 3, 4, 5}) {
    spec.ops = spec.layers = n;
    for (const GeneratorInfo& info : Generators())
      for (const bool plain : {false, true}) {
        spec.plain = plain;
        const Graph g = Generate(info.kind, spec);
        CHECK(g.num_ops() >= 1);
        CHECK(MakePlan(g, g.order()));
      }
  }
  const auto refused = [](const char* kind, const GenerateSpec& s) {
    CHECK_THROWS_AS((void)Generate(kind, s), InputError);
  };
  spec = {};
  spec.ops = 0;
  refused("layered", spec);
  spec = {};
  spec.layers = -1;
  refused("chain", spec);
  spec = {};
  spec.layers = 17;
  refused("unet", spec);
  spec = {};
  spec.density = 1.5;
  refused("layered", spec);
  refused("tower", {});
}

TEST_CASE("seed 0 gives equal layers") {
  GenerateSpec spec;
  spec.seed = 0;
  spec.layers = 5;
  const Graph g = Generate("chain", spec);
  for (std::size_t i = 0; i < 5; ++i) CHECK(g.duration(ToOpId(i)) == g.duration(ToOpId(0)));
}

TEST_CASE("the examples are what the commands in their README make") {
  const auto check = [](const char* file, const char* kind, const GenerateSpec& spec) {
    CAPTURE(file);
    const std::filesystem::path path = std::filesystem::path(EBB_SOURCE_DIR) / "examples" / file;
    CHECK(Fingerprint(ReadGraph(path).graph) == Fingerprint(Generate(kind, spec)));
  };
  GenerateSpec spec;
  spec.layers = 4;
  check("training_step.json", "transformer", spec);
  check("unet.json", "unet", spec);
  spec.layers = 20;
  spec.plain = true;
  check("chain.json", "chain", spec);
  spec = {};
  spec.seed = 3;
  check("layered.json", "layered", spec);
}
