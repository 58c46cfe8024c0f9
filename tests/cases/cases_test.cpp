// SPDX-License-Identifier: Apache-2.0
// Every check of every case file (here, and in the shared folder where there is one) through the C interface: the
// listed answer has to be found and proved, and the plan has to hold.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "ebbtide/ebbtide.h"
#include "io/read_graph.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/support/shared_dir.hpp"

namespace json = boost::json;
using namespace ebb;
using namespace ebb::test;

namespace {

void RunCase(const std::filesystem::path& path, int& checks) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const json::object made = json::parse(text.str()).as_object();
  const std::string bytes = json::serialize(made.at("graph"));
  const Graph graph = ReadGraph(bytes, path.filename().string()).graph;
  const std::unique_ptr<ebb_graph, void (*)(ebb_graph*)> handle(ebb_graph_new(), ebb_graph_free);
  REQUIRE(ebb_graph_read_memory(handle.get(), bytes.data(), bytes.size(), nullptr) == EBB_OK);
  for (const json::value& item : made.at("checks").as_array()) {
    const json::object& check = item.as_object();
    const std::int64_t budget = check.at("budget").to_number<std::int64_t>();
    const std::string order(check.at("order").as_string());
    CAPTURE(path.filename().string());
    CAPTURE(budget);
    CAPTURE(order);
    ++checks;
    const std::unique_ptr<ebb_solver, void (*)(ebb_solver*)> solver(ebb_solver_new(), ebb_solver_free);
    const std::unique_ptr<ebb_plan, void (*)(ebb_plan*)> plan(ebb_plan_new(), ebb_plan_free);
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"budget", std::to_string(budget)},
                                      {"order", order},
                                      {"threads", checks % 4 == 0 ? "2" : "1"},
                                      {"time-limit", "60"}})
      REQUIRE_MESSAGE(ebb_solver_set(solver.get(), name, value.c_str()) == EBB_OK, ebb_solver_error(solver.get()));
    REQUIRE_MESSAGE(ebb_solver_solve(solver.get(), handle.get(), plan.get()) == EBB_OK, ebb_solver_error(solver.get()));
    CHECK(std::string(ebb_status_name(ebb_plan_status(plan.get()))) == std::string(check.at("status").as_string()));
    if (check.at("status").as_string() == "infeasible") {
      CHECK(ebb_plan_num_executions(plan.get()) <= 0);
      continue;
    }
    CHECK(ebb_plan_duration(plan.get()) == check.at("duration").to_number<std::int64_t>());
    CHECK(ebb_plan_lower_bound(plan.get()) == ebb_plan_duration(plan.get()));
    std::vector<OpId> sequence;
    for (std::int64_t i = 0; i < ebb_plan_num_executions(plan.get()); ++i)
      sequence.push_back(ToOpId(static_cast<std::size_t>(ebb_plan_op(plan.get(), i))));
    const JudgeAnswer judge = Judge(graph, sequence);
    REQUIRE_MESSAGE(judge.valid, judge.fault);
    CHECK(judge.duration == ebb_plan_duration(plan.get()));
    CHECK(judge.peak == ebb_plan_peak(plan.get()));
    CHECK(judge.peak <= budget);
    const OrderMode mode = order == "free"     ? OrderMode::kFree
                           : order == "staged" ? OrderMode::kStaged
                                               : OrderMode::kFixed;
    CHECK(JudgeOrder(graph, sequence, mode));
  }
}

int RunFolder(const std::filesystem::path& folder, int& checks) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) RunCase(path, checks);
  return static_cast<int>(files.size());
}

}  // namespace

TEST_CASE("our own cases") {
  int checks = 0;
  const int files = RunFolder(std::filesystem::path(EBB_SOURCE_DIR) / "tests" / "cases", checks);
  MESSAGE(files << " files, " << checks << " checks");
  CHECK(files >= 30);
}

TEST_CASE("the shared cases") {
  const auto shared = SharedDir();
  if (!shared) return;
  int checks = 0;
  const int files = RunFolder(*shared / "cases", checks);
  MESSAGE(files << " files, " << checks << " checks");
}
