// SPDX-License-Identifier: Apache-2.0
//
// ebbtide info GRAPH: a graph explained to its owner.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "io/facts_report.hpp"
#include "io/read_graph.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  std::string graph, format;
  bool json = false;
  std::size_t top = 10;
};

Exit RunInfo(const Arguments& a) {
  try {
    ReadOptions options;
    options.format = a.format;
    const ReadGraphResult read = ReadGraph(std::filesystem::path(a.graph), options);
    FactsOptions facts_options;
    facts_options.top = a.top;
    const GraphFacts facts = FindFacts(read.graph, facts_options);
    if (a.json) {
      WriteTextTo(FactsToJson(read.graph, facts, read.format, read.warnings), "");
      return Exit::kOk;
    }
    for (const std::string& warning : read.warnings) std::fprintf(stderr, "ebbtide: warning: %s\n", warning.c_str());
    WriteTextTo(FactsToText(read.graph, facts, read.format), "");
    return Exit::kOk;
  } catch (const CommandError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw CommandError(Exit::kInput, e.what());
  }
}

}  // namespace

AddedCommand AddInfo(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("info", "what can be said of a graph before any search");
  command->add_option("graph", a->graph, "graph file")->required();
  command->add_flag("--json", a->json, "as one JSON object");
  command->add_option("--top", a->top, "rows in each list")->check(CLI::Range(0, 100000))->capture_default_str();
  command->add_option("--format", a->format, "insist on this graph format");
  return {command, [a] { return RunInfo(*a); }};
}

}  // namespace ebb::cli
