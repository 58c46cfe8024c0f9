// SPDX-License-Identifier: Apache-2.0
// Plan files: what is written reads back as the same plan; what does not belong to the graph is refused by name.
#include "io/plan_json.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "engine/base/status.hpp"
#include "engine/problem/fingerprint.hpp"
#include "io/atomic_file.hpp"
#include "io/read_graph.hpp"

namespace fs = std::filesystem;

namespace {

ebb::Graph Toy() {
  return ebb::ReadGraph(R"({"format": "ebbtide-graph", "version": 1, "name": "toy", "duration_unit": "ns",
    "tensors": [{"name": "x", "size": 8}, {"name": "a", "size": 8}, {"name": "b", "size": 8, "view_of": "a"}, {"name": "c", "size": 4}],
    "ops": [{"name": "f", "duration": 2, "inputs": ["x"], "outputs": ["a"]},
            {"name": "g", "duration": 3, "inputs": ["a", ""], "outputs": ["b", "c"]},
            {"name": "h", "duration": 4, "inputs": ["a", "c"], "outputs": []}], "outputs": ["b"]})",
                        "toy.json")
      .graph;
}

ebb::PlanFile ToyPlan(const ebb::Graph& g) {
  const std::vector<ebb::OpId> sequence = {ebb::ToOpId(0), ebb::ToOpId(1), ebb::ToOpId(0), ebb::ToOpId(1),
                                           ebb::ToOpId(2)};
  ebb::PlanFile file;
  file.plan = ebb::MakePlan(g, sequence).value();
  file.budget = ebb::Bytes(100);
  file.status = ebb::SolveStatus::kFeasible;
  file.lower_bound = ebb::Duration(9);
  return file;
}

std::string Refusal(const ebb::Graph& g, const std::string& text) {
  try {
    static_cast<void>(ebb::ReadPlan(g, text, "p.json"));
  } catch (const ebb::InputError& e) {
    return e.what();
  }
  return "";
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a plan survives, byte by byte") {
  const ebb::Graph g = Toy();
  ebb::PlanFile file = ToyPlan(g);
  const std::string text = ebb::PlanToJson(g, file);
  CHECK(text ==
        "{\"format\": \"ebbtide-plan\", \"version\": 1,\n"
        "\"graph\": {\"name\": \"toy\", \"fingerprint\": \"" +
            ebb::Fingerprint(g) +
            "\"},\n"
            "\"budget\": 100, \"order\": \"fixed\",\n"
            "\"status\": \"feasible\", \"duration\": 14, \"base_duration\": 9, \"peak\": " +
            std::to_string(file.plan.peak.count()) + ", \"lower_bound\": 9, \"gap\": 0.35714285714285715,\n" +
            text.substr(text.find("\"executions\"")));
  CHECK(text.find("{\"op\": \"g\", \"inputs\": [0, null]},\n{\"op\": \"f\", \"inputs\": [-1]}") != std::string::npos);
  file.offsets = {{-1, ebb::ToTensorId(0), ebb::Bytes(0)}, {0, ebb::ToTensorId(1), ebb::Bytes(8)}};
  for (const auto& variant : {text, ebb::PlanToJson(g, file)}) {
    const ebb::ReadPlanResult r = ebb::ReadPlan(g, variant, "p.json");
    CHECK(r.warnings.empty());
    CHECK(r.file.plan.executions == file.plan.executions);
    CHECK(r.file.plan.inputs.items() == file.plan.inputs.items());
    CHECK(r.file.plan.frees == file.plan.frees);
    CHECK(r.file.plan.duration == file.plan.duration);
    CHECK(r.file.plan.peak == file.plan.peak);
    CHECK(r.file.budget == file.budget);
    CHECK(r.file.lower_bound == file.lower_bound);
    CHECK(ebb::PlanToJson(g, r.file) == variant);
  }
  file.lower_bound.reset();
  file.budget.reset();
  file.status = ebb::SolveStatus::kOptimal;
  file.order = ebb::OrderMode::kFree;
  const ebb::ReadPlanResult r = ebb::ReadPlan(g, ebb::PlanToJson(g, file), "p.json");
  CHECK(!r.file.budget);
  CHECK(!r.file.lower_bound);
  CHECK(r.file.order == ebb::OrderMode::kFree);
  CHECK(r.file.status == ebb::SolveStatus::kOptimal);
}

TEST_CASE("plans that do not fit are refused by name") {
  const ebb::Graph g = Toy();
  const std::string text = ebb::PlanToJson(g, ToyPlan(g));
  REQUIRE(Refusal(g, text).empty());
  struct Case {
    std::string text;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {"", {"ends too early"}},
      {"{}", {"format"}},
      {text.substr(0, text.size() / 2), {"ends too early"}},
      {Replaced(text, "ebbtide-plan", "ebbtide-graph"), {"graph", "plan"}},
      {Replaced(text, "\"version\": 1", "\"version\": 2"), {"version 2"}},
      {Replaced(text, ebb::Fingerprint(g), "f3747d1a-0000"), {"another graph", "f3747d1a-0000"}},
      {Replaced(text, "\"fingerprint\"", "\"finger\""), {"which graph"}},
      {Replaced(text, "{\"op\": \"g\"", "{\"op\": \"zz\""), {"execution 1", "'zz'"}},
      {Replaced(text, "[0, null]", "[1, null]"), {"execution 1", "not earlier"}},
      {Replaced(text, "[0, null]", "[-2, null]"), {"execution 1", "-2"}},
      {Replaced(text, "[0, null]", "[0.5, null]"), {"execution 1", "0.5"}},
      {Replaced(text, "[0, null]", "[99999999999, null]"), {"execution 1", "99999999999"}},
      {Replaced(text, "\"after\": ", "\"after\": 99"), {"death 0"}},
      {Replaced(text, "\"frees\"", "\"freed\""), {"frees"}},
      {Replaced(text, "\"executions\"", "\"exec\""), {"executions"}},
      {Replaced(text, "\"tensor\": \"a\"", "\"tensor\": \"q\""), {"'q'"}},
      {Replaced(text, "\"order\": \"fixed\"", "\"order\": \"tidy\""), {"tidy"}},
      {Replaced(text, "\"status\": \"feasible\"", "\"status\": \"unknown\""), {"unknown"}},
      {Replaced(text, "\"base_duration\": 9", "\"base_duration\": 8"), {"base_duration", "8"}},
      {Replaced(text, "\"budget\": 100", "\"budget\": 1.5"), {"budget", "1.5"}},
      {Replaced(text, "\"budget\": 100", "\"budget\": 100, \"budget\": 100"), {"budget", "twice"}},
  };
  for (const Case& c : cases) {
    const std::string message = Refusal(g, c.text);
    CAPTURE(c.text);
    CAPTURE(message);
    CHECK(message.rfind("p.json:", 0) == 0);
    CHECK(message.find('\n') == std::string::npos);
    for (const std::string& word : c.words) CHECK(message.find(word) != std::string::npos);
  }
}

TEST_CASE("files are written whole or not at all") {
  const fs::path dir = fs::temp_directory_path() / ("ebb_io_plan_" + std::to_string(::getpid()));
  fs::create_directories(dir);
  const auto count = [&] { return std::distance(fs::directory_iterator(dir), fs::directory_iterator()); };
  const auto content = [](const fs::path& p) {
    std::ifstream in(p, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  };
  const fs::path target = dir / "plan.json";
  {
    ebb::AtomicFile file(target);
    file.Write("half");
    CHECK(!fs::exists(target));
  }
  CHECK(count() == 0);
  std::ofstream(target) << "old";
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  {
    ebb::AtomicFile file(target);
    file.Write("new ");
    file.Write("bytes");
    CHECK(content(target) == "old");
    file.Commit();
  }
  CHECK(content(target) == "new bytes");
  CHECK(fs::status(target).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(count() == 1);
  fs::create_symlink(target, dir / "link.json");
  {
    ebb::AtomicFile file(dir / "link.json");
    file.Write("through the link");
    file.Commit();
  }
  CHECK(fs::is_symlink(dir / "link.json"));
  CHECK(content(target) == "through the link");

  const fs::path absent = dir / "no" / "such" / "dir" / "p.json";
  const ebb::Graph g = Toy();
  CHECK_THROWS_WITH_AS(ebb::WritePlan(g, ToyPlan(g), absent), doctest::Contains(absent.c_str()), ebb::InputError);
  CHECK_THROWS_WITH_AS(ebb::WritePlan(g, ToyPlan(g), dir), doctest::Contains("folder"), ebb::InputError);
  CHECK_THROWS_AS(ebb::WritePlan(g, ToyPlan(g), ""), ebb::InputError);
  CHECK_THROWS_WITH_AS(ebb::WritePlan(g, ToyPlan(g), "/dev/full"), doctest::Contains("/dev/full"), ebb::InputError);
  ebb::WritePlan(g, ToyPlan(g), "/dev/null");
  ebb::WritePlan(g, ToyPlan(g), dir / "p.json.xz");
  CHECK(ebb::ReadPlan(g, dir / "p.json.xz").file.plan.executions.size() == 5);
  fs::remove_all(dir);
}
