// SPDX-License-Identifier: Apache-2.0
//
// ebbtide sweep GRAPH: the trade-off curve in one call. From the largest budget to the smallest, each solve starts from
// its neighbour's plan; at the end plans are handed up and bounds down, so that the curve is monotone by construction.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/graph_input.hpp"
#include "cli/handles.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/solver_flags.hpp"
#include "cli/trade_off.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  GraphInput graph;
  std::string csv, json, svg;
  std::vector<std::string> budgets;
  int points = 0;
  bool quiet = false;
  SolverFlags flags;
};

// The budgets to ask for, as texts for the option.
std::vector<std::string> Budgets(const Arguments& a, const ebb_graph* graph) {
  if (!a.budgets.empty()) return a.budgets;
  const std::int64_t low = ebb_graph_memory_floor(graph), high = ebb_graph_base_peak(graph);
  if (high < 0) throw CommandError(Exit::kUsage, "--points: the graph's order has no peak of its own; give --budgets");
  std::vector<std::string> out;
  const int n = a.points > 0 ? a.points : 10;
  for (int i = 0; i < n; ++i) {
    const double share = n == 1 ? 1 : static_cast<double>(i) / (n - 1);
    const double bytes = static_cast<double>(low) + share * static_cast<double>(high - low);
    out.push_back(std::to_string(std::clamp(static_cast<std::int64_t>(std::llround(bytes)), low, high)));
  }
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Exit RunSweep(const Arguments& a) {
  for (const std::string* path : {&a.csv, &a.json, &a.svg}) WantWritable(*path);
  const Handle<ebb_solver> solver = Own(ebb_solver_new());
  a.flags.Apply(solver.get());
  const Handle<ebb_graph> graph = a.graph.Open().graph;

  struct Solved {
    CurvePoint point;
    Handle<ebb_plan> plan;
  };
  Curve curve;
  curve.graph = ebb_graph_name(graph.get());
  curve.base_duration = ebb_graph_base_duration(graph.get());
  curve.base_peak = ebb_graph_base_peak(graph.get());

  // Resolved budgets first, so that the largest can go first: a solve without time resolves and answers the easy ones.
  std::vector<Solved> todo;
  const InterruptGuard guard(solver.get());
  const std::string limit = ebb_solver_get(solver.get(), "time-limit");
  for (const std::string& text : Budgets(a, graph.get())) {
    if (ebb_solver_set(solver.get(), "budget", text.c_str()) != EBB_OK)
      throw CommandError(Exit::kUsage, std::string("--budgets: ") + ebb_solver_error(solver.get()));
    Solved s;
    s.plan = Own(ebb_plan_new());
    Want(ebb_solver_set(solver.get(), "time-limit", "0"), solver.get());
    Want(ebb_solver_solve(solver.get(), graph.get(), s.plan.get()), solver.get());
    s.point.budget = ebb_plan_budget(s.plan.get());
    todo.push_back(std::move(s));
  }
  std::sort(todo.begin(), todo.end(), [](const Solved& x, const Solved& y) { return x.point.budget > y.point.budget; });
  Want(ebb_solver_set(solver.get(), "time-limit", limit.c_str()), solver.get());

  const ebb_plan* neighbour = nullptr;
  bool hopeless = false;
  for (Solved& s : todo) {
    const ebb_status quick = ebb_plan_status(s.plan.get());
    if (quick != EBB_STATUS_OPTIMAL && quick != EBB_STATUS_INFEASIBLE && !hopeless && !guard.interrupted()) {
      const auto start = std::chrono::steady_clock::now();
      Want(ebb_solver_set(solver.get(), "budget", std::to_string(s.point.budget).c_str()), solver.get());
      Want(ebb_solver_hint(solver.get(), neighbour), solver.get());
      Want(ebb_solver_solve(solver.get(), graph.get(), s.plan.get()), solver.get());
      s.point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    const ebb_plan* p = s.plan.get();
    s.point.status = ebb_plan_status(p);
    s.point.lower_bound = ebb_plan_lower_bound(p);
    s.point.duration = ebb_plan_duration(p);
    s.point.peak = ebb_plan_peak(p);
    s.point.executions = s.point.duration < 0 ? -1 : ebb_plan_num_executions(p);
    if (s.point.duration >= 0) neighbour = p;
    hopeless |= s.point.status == EBB_STATUS_INFEASIBLE;  // and so are all smaller ones
    if (hopeless) s.point.status = EBB_STATUS_INFEASIBLE;
    if (!a.quiet) {
      const std::string what = s.point.duration < 0 ? ""
                                                    : " +" + Overhead(s.point.duration, curve.base_duration) +
                                                          " %, gap " + Fixed(100 * ebb_plan_gap(p), 4) + " %";
      std::fprintf(stderr, "ebbtide: budget %s: %s%s, %.1f s\n", ReadableBytes(s.point.budget).c_str(),
                   ebb_status_name(s.point.status), what.c_str(), s.point.seconds);
    }
  }
  std::reverse(todo.begin(), todo.end());
  for (const Solved& s : todo) curve.points.push_back(s.point);
  MakeMonotone(curve);

  if (!a.json.empty()) WriteTextTo(CurveJson(curve), a.json);
  if (!a.svg.empty()) WriteTextTo(CurveSvg(curve), a.svg);
  if (!a.csv.empty() || (a.json.empty() && a.svg.empty())) WriteTextTo(CurveCsv(curve), a.csv);
  return Exit::kOk;
}

}  // namespace

AddedCommand AddSweep(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("sweep", "the trade-off curve of time against memory");
  a->graph.AddTo(*command);
  auto* budgets = command->add_option("--budgets", a->budgets, "budgets, separated by commas, as for solve")
                      ->delimiter(',')
                      ->allow_extra_args(false);
  command->add_option("--points", a->points, "this many budgets from the floor to the no-recompute peak (default 10)")
      ->check(CLI::Range(1, 10000))
      ->excludes(budgets);
  command->add_option("--csv", a->csv, "table; default: standard output");
  command->add_option("--json", a->json, "JSON file");
  command->add_option("--svg", a->svg, "picture");
  command->add_flag("--quiet", a->quiet, "no progress on standard error");
  a->flags.AddTo(*command, {"budget"});
  command->footer("time-limit and work-limit are for each budget.");
  return {command, [a] { return RunSweep(*a); }};
}

}  // namespace ebb::cli
