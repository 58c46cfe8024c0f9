// SPDX-License-Identifier: Apache-2.0
//
// ebbtide solve GRAPH --budget B: the main job. The flags for the search are the API's table of options.
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/graph_input.hpp"
#include "cli/handles.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/profile_svg.hpp"
#include "cli/progress.hpp"
#include "cli/solver_flags.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  GraphInput graph;
  std::string hint, plan, profile, certificate, proof;
  LogFormat log = LogFormat::kText;
  SolverFlags flags;
};

Exit RunSolve(const Arguments& a) {
  const auto since = [begun = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  const Handle<ebb_solver> solver = Own(ebb_solver_new());
  a.flags.Apply(solver.get());
  if (!a.certificate.empty() && std::string_view(ebb_solver_get(solver.get(), "order")) == "free")
    throw CommandError(Exit::kUsage, "--certificate: there is one for --order fixed and staged only");
  if (!a.flags.Given("budget") && std::string_view(ebb_solver_get(solver.get(), "minimise")) != "peak")
    throw CommandError(
        Exit::kUsage,
        "--budget is wanted: bytes (8GiB) or, with a decimal point, a share of the peak that the order has "
        "as it is (0.8)");
  WantWritable(a.plan);
  WantWritable(a.profile);
  WantWritable(a.certificate);
  WantWritable(a.proof);

  const auto [graph, warnings] = a.graph.Open();
  ProgressPrinter printer(a.log, ebb_graph_base_duration(graph.get()));
  printer.Loaded(ebb_graph_num_ops(graph.get()), since());
  for (const std::string& warning : warnings) printer.Note("warning: " + warning);
  if (!a.hint.empty()) {
    const Handle<ebb_plan> hint = ReadPlanFile(graph.get(), a.hint);
    Want(ebb_solver_hint(solver.get(), hint.get()), solver.get());
  }
  Want(ebb_solver_on_progress(solver.get(), ProgressPrinter::Callback, &printer), solver.get());

  const Handle<ebb_plan> plan = Own(ebb_plan_new());
  const double start = since();
  bool interrupted = false;
  {
    const InterruptGuard guard(solver.get());
    Want(ebb_solver_solve(solver.get(), graph.get(), plan.get()), solver.get());
    interrupted = guard.interrupted();
  }
  const double seconds = since() - start;
  const auto write_proof = [&] {
    if (!a.proof.empty())
      Want(ebb_plan_write_proof(plan.get(), a.proof.c_str(), std::stod(ebb_solver_get(solver.get(), "time-limit"))),
           plan.get());
  };
  const ebb_status status = ebb_plan_status(plan.get());
  if (status == EBB_STATUS_OPTIMAL || status == EBB_STATUS_FEASIBLE) {
    WritePlanTo(plan.get(), a.plan);
    if (!a.profile.empty()) WriteTextTo(ProfileSvg(graph.get(), plan.get()), a.profile);
    if (!a.certificate.empty()) Want(ebb_plan_write_certificate(plan.get(), a.certificate.c_str()), plan.get());
    printer.Summary(plan.get(), seconds, interrupted);
    write_proof();
    return Exit::kOk;
  }
  printer.Summary(plan.get(), seconds, interrupted);
  const bool infeasible = status == EBB_STATUS_INFEASIBLE;
  if (infeasible) write_proof();
  if (!a.certificate.empty() && !infeasible)
    Want(ebb_plan_write_certificate(plan.get(), a.certificate.c_str()), plan.get());
  throw CommandError(infeasible ? Exit::kInfeasible : Exit::kNoPlan,
                     (infeasible ? "infeasible: " : "unknown: ") + std::string(ebb_plan_reason(plan.get())));
}

}  // namespace

AddedCommand AddSolve(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("solve", "find a shortest plan that fits the memory budget");
  a->flags.AddTo(*command);
  a->graph.AddTo(*command);
  command->add_option("-o,--output", a->plan, "plan file (.gz, .xz, .zst: packed); default: standard output")
      ->type_name("FILE");
  command->add_option("--hint", a->hint, "plan file of this graph to start from")->type_name("FILE");
  command
      ->add_option("--certificate", a->certificate,
                   "why no plan in the given order beats the gap-cover bound (docs/certificate.md)")
      ->type_name("FILE");
  command
      ->add_option(
          "--proof", a->proof,
          "a proof of the lower bound, or that there is no plan, step by step (docs/proof_format.md), made after the "
          "search within its time limit once more")
      ->type_name("FILE");
  command->add_option("--profile", a->profile, "memory profile of the plan, as an SVG picture")->type_name("FILE");
  const std::map<std::string, LogFormat> formats = {
      {"text", LogFormat::kText}, {"jsonl", LogFormat::kJsonLines}, {"none", LogFormat::kNone}};
  command->add_option("--log-format", a->log, "progress on standard error: text, jsonl or none")
      ->transform(CLI::CheckedTransformer(formats).description("text|jsonl|none"));
  command->footer(
      "ebbtide solve step.json --budget 0.8 -o plan.json    80 % of the memory that the order needs as it is\n"
      "ebbtide solve step.json --budget 16GiB --time-limit 300 --threads 8 --profile memory.svg > plan.json\n\n"
      "Exit codes: 0 a plan was written, 2 usage, 3 bad input, 4 proved infeasible, 5 no plan within the limits,\n"
      "1 internal error. The first Ctrl-C hands over the best plan so far.");
  return {command, [a] { return RunSolve(*a); }};
}

}  // namespace ebb::cli
