// SPDX-License-Identifier: Apache-2.0
//
// ebbtide check GRAPH PLAN: does the plan hold? Asked of the validator, through the API.
#include <cstdint>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/graph_input.hpp"
#include "cli/handles.hpp"
#include "cli/output.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  GraphInput graph;
  std::string plan;
};

Exit RunCheck(const Arguments& a) {
  const Handle<ebb_graph> graph = a.graph.Open().graph;
  const Handle<ebb_plan> plan = ReadPlanFile(graph.get(), a.plan);
  if (ebb_plan_check(plan.get()) != EBB_OK)
    throw CommandError(Exit::kInput, a.plan + ": " + ebb_plan_verdict(plan.get()) + ": " + ebb_plan_error(plan.get()));
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::int64_t duration = ebb_plan_duration(plan.get());
  WriteTextTo("holds: duration " + number(duration) + " (+" + Overhead(duration, ebb_plan_base_duration(plan.get())) +
                  " %), peak " + number(ebb_plan_peak(plan.get())) + " of " + number(ebb_plan_budget(plan.get())) +
                  " bytes, " + number(ebb_plan_num_executions(plan.get())) + " executions of " +
                  number(ebb_graph_num_ops(graph.get())) + " ops\n",
              "");
  return Exit::kOk;
}

}  // namespace

AddedCommand AddCheck(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("check", "judge a plan: order, budget, every read, every death, the sums");
  a->graph.AddTo(*command);
  command->add_option("plan", a->plan, "plan file")->required()->type_name("FILE");
  return {command, [a] { return RunCheck(*a); }};
}

}  // namespace ebb::cli
