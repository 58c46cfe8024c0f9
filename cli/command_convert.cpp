// SPDX-License-Identifier: Apache-2.0
//
// ebbtide convert GRAPH -o GRAPH: any format in, the native one out.
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/graph_input.hpp"
#include "cli/output.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  GraphInput graph;
  std::string output;
};

Exit RunConvert(const Arguments& a) {
  WantWritable(a.output);
  const ReadGraphResult read = a.graph.Read();
  PrintWarnings(read.warnings);
  WriteGraphTo(read.graph, a.output);
  return Exit::kOk;
}

}  // namespace

AddedCommand AddConvert(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("convert", "read a graph in any known format, write it in the native one");
  a->graph.AddTo(*command);
  command->add_option("-o,--output", a->output, "native graph file (.gz, .xz, .zst: packed); default: standard output")
      ->type_name("FILE");
  return {command, [a] { return RunConvert(*a); }};
}

}  // namespace ebb::cli
