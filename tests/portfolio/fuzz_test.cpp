// SPDX-License-Identifier: Apache-2.0
// The whole product through its C interface against brute force, on random small graphs with all features: every order,
// caps, fractions of budgets, hints, threads, and every on/off option drawn at random, so that each technique has to
// stand without the others. Whatever it may do: a plan holds (the tests' own judge), "optimal" is the optimum, a bound
// is a bound, and "infeasible" is said only where there is no plan. EBB_TEST_ROUNDS makes it longer.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "ebbtide/ebbtide.h"
#include "engine/problem/instance.hpp"
#include "heuristics/state_search.hpp"
#include "io/write_graph.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

struct Free {
  void operator()(ebb_graph* g) const { ebb_graph_free(g); }
  void operator()(ebb_solver* s) const { ebb_solver_free(s); }
  void operator()(ebb_plan* p) const { ebb_plan_free(p); }
};
using GraphPtr = std::unique_ptr<ebb_graph, Free>;
using SolverPtr = std::unique_ptr<ebb_solver, Free>;
using PlanPtr = std::unique_ptr<ebb_plan, Free>;

int Rounds(int usual) {
  const char* text = std::getenv("EBB_TEST_ROUNDS");
  return text != nullptr ? std::atoi(text) : usual;
}

std::vector<OpId> Sequence(const ebb_plan* plan) {
  std::vector<OpId> out;
  for (std::int64_t i = 0; i < ebb_plan_num_executions(plan); ++i)
    out.push_back(ToOpId(static_cast<std::size_t>(ebb_plan_op(plan, i))));
  return out;
}

constexpr const char* kOrders[] = {"fixed", "staged", "free"};

// One of the choices that the option's table lists; those that choose an order only where it is free.
std::string DrawMethod(Rng& rng, OrderMode mode) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < ebb_num_options(); ++i) {
    if (std::strcmp(ebb_option_name(i), "method") != 0) continue;
    std::stringstream text(ebb_option_choices(i));
    for (std::string one; std::getline(text, one, '|');)
      if (mode == OrderMode::kFree || one.rfind("order-", 0) != 0) all.push_back(one);
  }
  REQUIRE_FALSE(all.empty());
  return all[static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(all.size()) - 1))];
}

struct Tally {
  int solves = 0, optimal = 0, feasible = 0, infeasible = 0, unknown = 0;
};

// Brute force where the graph is tiny, else the exact search over states (which brute force has checked).
OracleAnswer Oracle(const Graph& graph, std::int64_t budget, OrderMode mode, std::int32_t cap) {
  if (graph.num_ops() <= 7) return BruteForce(graph, budget, mode, cap);
  WorkBudget work;
  const Instance instance = MakeInstance(graph);
  const StateSearchResult found = SearchStates(instance, budget, mode, cap, work);
  OracleAnswer answer;
  answer.feasible = found.status == SolveStatus::kOptimal;
  answer.duration = found.duration;
  REQUIRE(found.status != SolveStatus::kUnknown);
  return answer;
}

void SolveOnce(const Graph& graph, ebb_graph* handle, Rng& rng, bool full, Tally& tally) {
  const std::int64_t budget = RandomBudget(graph, rng);
  const auto mode = static_cast<OrderMode>(Draw(rng, 0, 2));
  const auto cap = static_cast<std::int32_t>(Chance(rng, 75) ? 0 : Draw(rng, 1, 3));
  const OracleAnswer oracle = Oracle(graph, budget, mode, cap);
  const SolverPtr solver(ebb_solver_new());
  const PlanPtr plan(ebb_plan_new());
  std::string options;
  std::vector<std::pair<std::string, std::string>> settings;
  bool counted = false;
  const auto set = [&](const std::string& name, const std::string& value) {
    options += "--" + name + " " + value + " ";
    settings.emplace_back(name, value);
    REQUIRE_MESSAGE(ebb_solver_set(solver.get(), name.c_str(), value.c_str()) == EBB_OK,
                    ebb_solver_error(solver.get()));
  };
  set("budget", std::to_string(budget));
  set("order", kOrders[static_cast<int>(mode)]);
  set("threads", Chance(rng, 80) ? "1" : "2");
  set("seed", std::to_string(Draw(rng, 0, 1000)));
  if (cap > 0) set("max-executions", std::to_string(cap));
  if (full) {
    set("time-limit", "20");
  } else {
    counted = Chance(rng, 50);
    counted ? set("work-limit", "0.02") : set("time-limit", "0.05");
    if (Chance(rng, 30)) set("method", DrawMethod(rng, mode));
    for (std::size_t i = 0; i < ebb_num_options(); ++i) {
      if (std::strcmp(ebb_option_type(i), "switch") != 0) continue;
      const bool is_state_search = std::strcmp(ebb_option_name(i), "state-search") == 0;
      set(ebb_option_name(i), Chance(rng, is_state_search ? 20 : 70) ? "on" : "off");
    }
  }
  CAPTURE(Describe(graph));
  CAPTURE(options);
  CAPTURE(oracle.feasible);
  CAPTURE(oracle.duration);
  const ebb_code code = ebb_solver_solve(solver.get(), handle, plan.get());
  REQUIRE_MESSAGE(code == EBB_OK, ebb_solver_error(solver.get()));
  const ebb_status status = ebb_plan_status(plan.get());
  CAPTURE(ebb_status_name(status));
  ++tally.solves;
  if (full) {
    CHECK(status == (oracle.feasible ? EBB_STATUS_OPTIMAL : EBB_STATUS_INFEASIBLE));
  }
  if (status == EBB_STATUS_INFEASIBLE) {
    ++tally.infeasible;
    CHECK_FALSE(oracle.feasible);
    CHECK(std::strlen(ebb_plan_reason(plan.get())) > 0);
    return;
  }
  const std::int64_t bound = ebb_plan_lower_bound(plan.get());
  if (oracle.feasible) CHECK(bound <= oracle.duration);
  if (status == EBB_STATUS_UNKNOWN) {
    ++tally.unknown;
    CHECK(ebb_plan_duration(plan.get()) == -1);
    return;
  }
  REQUIRE(oracle.feasible);
  ++(status == EBB_STATUS_OPTIMAL ? tally.optimal : tally.feasible);
  const std::vector<OpId> sequence = Sequence(plan.get());
  const JudgeAnswer judge = Judge(graph, sequence);
  REQUIRE_MESSAGE(judge.valid, judge.fault);
  CHECK(judge.duration == ebb_plan_duration(plan.get()));
  CHECK(judge.peak == ebb_plan_peak(plan.get()));
  CHECK(judge.peak <= budget);
  CHECK(JudgeOrder(graph, sequence, mode, cap));
  CHECK(judge.duration >= oracle.duration);
  CHECK(ebb_plan_base_duration(plan.get()) == graph.base_duration().count());
  if (status == EBB_STATUS_OPTIMAL) {
    CHECK(judge.duration == oracle.duration);
    CHECK(bound == oracle.duration);
  } else {
    CHECK(bound < judge.duration);
  }
  CHECK(ebb_plan_check(plan.get()) == EBB_OK);

  // The plan as a hint for the same question: never lost, even where nothing searches. And with counted work alone the
  // same question gives the same bytes.
  const auto ask_again = [&](bool hint) {
    PlanPtr again(ebb_plan_new());
    const SolverPtr second(ebb_solver_new());
    for (const auto& [name, value] : settings) {
      if (hint && name == "time-limit") continue;
      REQUIRE(ebb_solver_set(second.get(), name.c_str(), value.c_str()) == EBB_OK);
    }
    if (hint) {
      for (const char* off : {"anneal", "gap-cover", "relax", "state-search"})
        REQUIRE(ebb_solver_set(second.get(), off, "off") == EBB_OK);
      REQUIRE(ebb_solver_set(second.get(), "work-limit", "0.001") == EBB_OK);
      REQUIRE(ebb_solver_hint(second.get(), plan.get()) == EBB_OK);
    }
    REQUIRE_MESSAGE(ebb_solver_solve(second.get(), handle, again.get()) == EBB_OK, ebb_solver_error(second.get()));
    return again;
  };
  if (Chance(rng, 20)) {
    const PlanPtr again = ask_again(true);
    CHECK(ebb_plan_duration(again.get()) >= oracle.duration);
    CHECK(ebb_plan_duration(again.get()) <= judge.duration);
    CHECK(ebb_plan_check(again.get()) == EBB_OK);
  }
  if (counted && Chance(rng, 30)) {
    const PlanPtr again = ask_again(false);
    const char *first_text = nullptr, *second_text = nullptr;
    std::size_t first_size = 0, second_size = 0;
    REQUIRE(ebb_plan_write_memory(plan.get(), &first_text, &first_size) == EBB_OK);
    REQUIRE(ebb_plan_write_memory(again.get(), &second_text, &second_size) == EBB_OK);
    CHECK(std::string(first_text, first_size) == std::string(second_text, second_size));
  }
}

void Hunt(const char* name, bool full, int min_ops, int max_ops, int rounds) {
  Rng rng(Seed(name));
  Tally tally;
  for (int round = 0; round < rounds; ++round) {
    RandomGraphOptions options = Chance(rng, 30) ? RandomGraphOptions::Plain() : RandomGraphOptions();
    options.min_ops = min_ops;
    if (Chance(rng, 8)) {  // near the end of 63 bits
      options.max_size = std::int64_t{1} << 56;
      options.max_duration = std::int64_t{1} << 57;
    }
    options.max_ops = max_ops;
    if (Chance(rng, 25)) options.cuts = 25;
    if (Chance(rng, 40)) options.once = 0;
    if (Chance(rng, 30)) options.views = 60;
    if (Chance(rng, 30)) options.inplace = 50;
    const Graph graph = RandomGraph(rng, options);
    CAPTURE(round);
    const std::string json = GraphToJson(graph);
    const GraphPtr handle(ebb_graph_new());
    REQUIRE_MESSAGE(ebb_graph_read_memory(handle.get(), json.data(), json.size(), nullptr) == EBB_OK,
                    ebb_graph_error(handle.get()));
    for (int k = 0; k < 2; ++k) SolveOnce(graph, handle.get(), rng, full, tally);
  }
  MESSAGE(tally.solves << " solves: " << tally.optimal << " optimal, " << tally.feasible << " feasible, "
                       << tally.infeasible << " infeasible, " << tally.unknown << " unknown");
}

}  // namespace

TEST_CASE("the whole product proves every small graph") { Hunt("fuzz_full", true, 2, 7, Rounds(250)); }

TEST_CASE("each technique alone never says what is not so") { Hunt("fuzz_parts", false, 2, 7, Rounds(80)); }

TEST_CASE("nor on graphs of twice the size") { Hunt("fuzz_parts_larger", false, 9, 16, Rounds(50)); }
