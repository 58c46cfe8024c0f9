// SPDX-License-Identifier: Apache-2.0
//
// ebbtide convert GRAPH -o GRAPH: any format in, the native one out.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  std::string graph, format, output;
};

Exit RunConvert(const Arguments& a) {
  WantWritable(a.output);
  try {
    ReadOptions options;
    options.format = a.format;
    const ReadGraphResult read = ReadGraph(std::filesystem::path(a.graph), options);
    for (const std::string& warning : read.warnings) std::fprintf(stderr, "ebbtide: warning: %s\n", warning.c_str());
    if (a.output.empty() || a.output == "-") {
      WriteTextTo(GraphToJson(read.graph), a.output);
    } else {
      WriteGraph(read.graph, std::filesystem::path(a.output));
    }
    return Exit::kOk;
  } catch (const std::runtime_error& e) {
    throw CommandError(Exit::kInput, e.what());
  }
}

}  // namespace

AddedCommand AddConvert(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("convert", "read a graph in any known format, write it in the native one");
  command->add_option("graph", a->graph, "graph file")->required();
  command->add_option("-o,--output", a->output, "native graph file (.gz, .xz, .zst: packed); default: standard output");
  command->add_option("--format", a->format, "insist on this graph format");
  return {command, [a] { return RunConvert(*a); }};
}

}  // namespace ebb::cli
