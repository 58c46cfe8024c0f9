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
  std::string graph, format, output, profile;
  CostModel costs;
};

Exit RunConvert(const Arguments& a) {
  WantWritable(a.output);
  try {
    ReadOptions options;
    options.format = a.format;
    options.costs = a.costs;
    options.costs.profile = a.profile;
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
  CLI::Option_group* costs = command->add_option_group("durations", "for formats that carry none (HLO)");
  costs->add_option("--flops", a->costs.flops_per_second, "arithmetic operations a second")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  costs->add_option("--bandwidth", a->costs.bytes_per_second, "bytes moved a second")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  costs->add_option("--launch", a->costs.launch_ns, "nanoseconds that every op costs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  costs->add_option("--durations", a->profile, "JSON object: op name to nanoseconds, measured; overrides the rates");
  return {command, [a] { return RunConvert(*a); }};
}

}  // namespace ebb::cli
