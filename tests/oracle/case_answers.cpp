// SPDX-License-Identifier: Apache-2.0
// case_answers CASE.json > FILLED.json: takes {"id", "fault", "graph"} and adds "checks", found by brute force: for
// each order the budget just too small, the least that will do, and every larger one at which the duration falls. This
// is how the files of tests/cases were made.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "engine/problem/graph.hpp"
#include "io/read_graph.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/judge.hpp"

namespace json = boost::json;
using namespace ebb;
using namespace ebb::test;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: case_answers CASE.json\n", stderr);
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  json::object made = json::parse(text.str()).as_object();
  const Graph graph = ReadGraph(json::serialize(made.at("graph")), "case").graph;
  json::array checks;
  constexpr const char* kNames[] = {"fixed", "staged", "free"};
  for (const OrderMode mode : {OrderMode::kFree, OrderMode::kFixed, OrderMode::kStaged}) {
    std::int64_t last = -1;
    const auto add = [&](std::int64_t budget) {
      if (std::exchange(last, budget) == budget) return;
      const OracleAnswer a = BruteForce(graph, budget, mode);
      json::object check{{"budget", budget},
                         {"order", kNames[static_cast<int>(mode)]},
                         {"status", a.feasible ? "optimal" : "infeasible"}};
      if (a.feasible) check["duration"] = a.duration;
      checks.push_back(check);
    };
    const std::int64_t least = LeastBudget(graph, mode);
    if (least < 0) {
      add(std::int64_t{1} << 40);
      continue;
    }
    if (least > 0) add(least - 1);
    // From `least` up to the budget that gives one execution each, by bisection on the duration.
    std::int64_t at = least;
    add(at);
    for (;;) {
      const std::int64_t now = BruteForce(graph, at, mode).duration;
      if (now == graph.base_duration().count()) break;
      std::int64_t low = at, high = at + std::max<std::int64_t>(1, at / 64);
      while (BruteForce(graph, high, mode).duration == now && high < (std::int64_t{1} << 60))
        high = at + 2 * (high - at);
      if (BruteForce(graph, high, mode).duration == now) break;  // the order itself needs repeats
      while (low + 1 < high) {
        const std::int64_t middle = low + (high - low) / 2;
        (BruteForce(graph, middle, mode).duration == now ? low : high) = middle;
      }
      add(low);
      add(high);
      at = high;
    }
  }
  made["checks"] = checks;
  std::printf("%s\n", json::serialize(made).c_str());
  return 0;
}
