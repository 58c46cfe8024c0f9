// SPDX-License-Identifier: Apache-2.0
//
// ebbtide export GRAPH --budget B --model M -o FILE: other systems' models of the same problem, for another solver.
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/commands.hpp"
#include "cli/graph_input.hpp"
#include "cli/output.hpp"
#include "io/export_model.hpp"

namespace ebb::cli {
namespace {

enum class Model { kCheckmate, kMoccasin };

struct Arguments {
  GraphInput graph;
  std::string budget, output;
  Model model = Model::kCheckmate;
  std::int64_t intervals = 2;
};

Exit RunExport(const Arguments& a) {
  WantWritable(a.output);
  const ReadGraphResult read = a.graph.Read();
  PrintWarnings(read.warnings);
  try {
    const SingleOutputGraph graph = MakeSingleOutputGraph(read.graph, a.budget);
    const bool checkmate = a.model == Model::kCheckmate;
    WriteTextTo(checkmate ? CheckmateMps(graph) : MoccasinJson(graph, a.intervals), a.output);
    const ModelSize size = checkmate ? CheckmateSize(graph) : MoccasinSize(graph, a.intervals);
    std::fprintf(stderr, "ebbtide: %lld variables, %lld constraints\n", static_cast<long long>(size.variables),
                 static_cast<long long>(size.constraints));
    return Exit::kOk;
  } catch (const CommandError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw CommandError(Exit::kInput, e.what());
  }
}

}  // namespace

AddedCommand AddExport(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("export", "write another system's model of the problem, for another solver");
  a->graph.AddTo(*command);
  command->add_option("--budget", a->budget, "memory budget, as for solve")->required();
  const std::map<std::string, Model> models = {{"checkmate", Model::kCheckmate}, {"moccasin", Model::kMoccasin}};
  command
      ->add_option("--model", a->model,
                   "checkmate: mixed-integer program, free MPS; moccasin: retention intervals, JSON (docs/models.md)")
      ->transform(CLI::CheckedTransformer(models).description("checkmate|moccasin"))
      ->required();
  command->add_option("--intervals", a->intervals, "moccasin: retention intervals an op, the paper's C")
      ->capture_default_str();
  command->add_option("-o,--output", a->output, "model file; default: standard output");
  return {command, [a] { return RunExport(*a); }};
}

}  // namespace ebb::cli
