// SPDX-License-Identifier: Apache-2.0
// Reading, writing and reading again changes nothing: numbers, relations, order, fingerprint.
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include "engine/base/status.hpp"
#include "engine/problem/fingerprint.hpp"
#include "engine/problem/plan.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"
#include "tests/support/shared_dir.hpp"

namespace fs = std::filesystem;

namespace {

ebb::Graph Read(const std::string& text) { return ebb::ReadGraph(text, "g.json").graph; }

const char* const kEverything =
    R"({"version": 1, "order": ["h", "f", "g", "v"], "format": "ebbtide-graph", "name": "t\"\u00e9",
  "duration_unit": "ns", "outputs": ["d", "v"],
  "ops": [{"name": "f", "duration": 9223372036854775000, "inputs": ["x", "", "x"], "outputs": ["a", "b"], "workspace": 7},
          {"name": "g", "duration": 0, "inputs": ["a"], "outputs": ["d"], "inplace": [["a", "d"]]},
          {"name": "h", "duration": 5, "inputs": [], "outputs": ["e"], "recomputable": false},
          {"name": "v", "duration": 1, "inputs": ["b"], "outputs": ["v"]}],
  "tensors": [{"name": "x", "size": 3}, {"name": "a", "size": 9}, {"name": "b", "size": 0}, {"name": "d", "size": 9},
              {"name": "e", "size": 1}, {"name": "v", "size": 2, "view_of": "b"}]})";

struct TempDir {
  fs::path path = fs::temp_directory_path() / ("ebb_io_round_trip_" + std::to_string(::getpid()));
  TempDir() { fs::create_directories(path); }
  ~TempDir() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("every feature survives") {
  const ebb::Graph g = Read(kEverything);
  CHECK(g.name() == "t\"\u00e9");
  CHECK(g.duration_unit() == "ns");
  CHECK(g.duration(ebb::ToOpId(0)).count() == 9223372036854775000);
  CHECK(g.inputs(ebb::ToOpId(0)).size() == 3);
  CHECK(g.inputs(ebb::ToOpId(0))[1] == ebb::TensorId::kNone);
  CHECK(g.order_was_given());
  const std::string text = ebb::GraphToJson(g);
  const ebb::Graph again = Read(text);
  CHECK(ebb::GraphToJson(again) == text);
  CHECK(ebb::Fingerprint(again) == ebb::Fingerprint(g));
  CHECK(again.duration_unit() == "ns");
}

TEST_CASE("fingerprints tell graphs apart, not files") {
  const std::string base =
      R"({"tensors": [{"name": "a", "size": 1}], "ops": [{"name": "f", "duration": 1, "inputs": [], "outputs": ["a"]}])";
  const std::string f = ebb::Fingerprint(Read(base + "}"));
  CHECK(f.size() == 36);
  CHECK(ebb::Fingerprint(Read(base + R"(, "name": "other", "order": ["f"]})")) == f);
  CHECK(ebb::Fingerprint(Read(base + R"(, "outputs": ["a"]})")) != f);
  CHECK(ebb::Fingerprint(Read(R"({"nodes": [{"id": "f", "cost_ram": 1, "cost_cpu": 1}], "links": []})")) !=
        f);  // tensor is called f
  // Stable across versions and machines: plans on disk depend on it.
  CHECK(f == "8ef3f88f-d217-5d45-9162-fc1b5b0519b0");
}

TEST_CASE("packed files") {
  const TempDir dir;
  const ebb::Graph g = Read(kEverything);
  for (const char* name : {"g.json", "g.json.gz", "g.json.xz", "g.json.zst"}) {
    CAPTURE(name);
    const fs::path path = dir.path / name;
    ebb::WriteGraph(g, path);
    CHECK(ebb::Fingerprint(ebb::ReadGraph(path).graph) == ebb::Fingerprint(g));
    std::ifstream in(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    if (std::string(name) == "g.json") continue;
    CHECK(bytes.front() != '{');
    for (std::size_t cut = 6; cut < bytes.size(); ++cut)
      CHECK_THROWS_AS(static_cast<void>(ebb::ReadGraph(std::string_view(bytes).substr(0, cut), "cut")),
                      ebb::InputError);
    for (std::size_t at = 0; at < bytes.size();
         ++at) {  // either an error or, where the byte does not matter, the same graph
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ 0x55);
      std::string got = ebb::Fingerprint(g);
      try {
        got = ebb::Fingerprint(ebb::ReadGraph(broken, "broken").graph);
      } catch (const ebb::InputError&) {
      }
      CHECK(got == ebb::Fingerprint(g));
    }
    // Streams one after the other count as one.
    CHECK_THROWS_WITH_AS(static_cast<void>(ebb::ReadGraph(bytes + bytes, "double")), doctest::Contains("follows"),
                         ebb::InputError);
    CHECK_THROWS_AS(static_cast<void>(ebb::ReadGraph(bytes + "rubbish", "tail")), ebb::InputError);
  }
}

TEST_CASE("node-link in all spellings") {
  const ebb::Graph a = Read(R"({"directed": true, "multigraph": false, "graph": {"name": "n", "order": [1, 0, 2]},
    "nodes": [{"out_cost": 5, "duration": 2, "name": 0}, {"out_cost": 6, "duration": 3}, {"out_cost": 7, "duration": 4}],
    "links": [{"0": 0, "1": 2}, {"0": 1, "1": 2}, {"0": 1, "1": 2}]})");
  const ebb::Graph b =
      Read(R"({"links": [{"source": "0", "target": 2}, {"target": "2", "source": 1}], "graph": [["order", ["1", 0, 2]]],
    "nodes": [{"id": 0, "cost_ram": 5, "cost_cpu": 2}, {"id": "1", "cost_ram": 6.0, "cost_cpu": 3}, {"id": 2, "cost_ram": 7, "cost_cpu": 4}]})");
  const ebb::Graph c = Read(
      R"({"edges": [{"source": 0, "target": 2}, {"target": 2, "source": 1}], "name": "n", "graph": [["order", [1, 0, 2]]],
    "nodes": [{"id": 0, "cost_ram": 5, "cost_cpu": 2, "out_cost": 5}, {"id": 1, "out_cost": 6, "cost_ram": 1, "cost_cpu": 3}, {"id": 2, "cost_ram": 7, "cost_cpu": 4}]})");
  CHECK(ebb::GraphToJson(a) == ebb::GraphToJson(Read(ebb::GraphToJson(a))));
  CHECK(ebb::Fingerprint(a) == ebb::Fingerprint(b));
  CHECK(ebb::Fingerprint(a) == ebb::Fingerprint(c));
  CHECK(a.inputs(ebb::ToOpId(2)).size() == 2);
  CHECK(a.base_duration().count() == 9);
}

TEST_CASE("unknown keys are warnings") {
  const ebb::ReadGraphResult r = ebb::ReadGraph(
      R"({"format": "ebbtide-graph", "version": 1, "colour": 1, "shapes": [1, 2], "tensors": [{"name": "a", "size": 1, "dtype": "f32"},
     {"name": "b", "size": 1, "dtype": "f32"}], "ops": []})",
      "g.json");
  CHECK(r.warnings == std::vector<std::string>{"g.json: unknown key 'colour' in the graph is ignored",
                                               "g.json: unknown key 'shapes' in the graph is ignored",
                                               "g.json: unknown key 'dtype' in tensors is ignored"});
  CHECK(r.format == "native");
}

TEST_CASE("the paper's graphs and the torch graphs convert without a change") {
  const auto shared = ebb::test::SharedDir();
  if (!shared) return;
  for (const char* folder : {"moccasin", "torch"})
    for (const auto& entry : fs::directory_iterator(*shared / "graphs" / folder)) {
      CAPTURE(entry.path().string());
      const ebb::ReadGraphResult r = ebb::ReadGraph(entry.path());
      CHECK(r.warnings.empty());
      const ebb::Graph again = Read(ebb::GraphToJson(r.graph));
      CHECK(ebb::Fingerprint(again) == ebb::Fingerprint(r.graph));
      const auto before = ebb::MakePlan(r.graph, r.graph.order()), after = ebb::MakePlan(again, again.order());
      REQUIRE(before);
      REQUIRE(after);
      CHECK(before->peak == after->peak);
      CHECK(before->duration == after->duration);
    }
}
