// SPDX-License-Identifier: Apache-2.0
//
// ebbtide info GRAPH: a graph explained to its owner.
#include <cmath>
#include <memory>

#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/graph_input.hpp"
#include "cli/output.hpp"
#include "io/facts_report.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  GraphInput graph;
  bool json = false;
  std::size_t top = 10;
};

Exit RunInfo(const Arguments& a) {
  const ReadGraphResult read = a.graph.Read();
  FactsOptions options;
  options.top = a.top;
  const GraphFacts facts = FindFacts(read.graph, options);
  if (!a.json) PrintWarnings(read.warnings);  // JSON has them inside
  WriteTextTo(
      a.json ? FactsToJson(read.graph, facts, read.format, read.warnings) : FactsToText(read.graph, facts, read.format),
      "");
  if (!a.json && facts.runs && facts.floor < facts.peak) {  // a budget to begin with, halfway between the two
    const std::int64_t middle = facts.floor.count() + (facts.peak.count() - facts.floor.count()) / 2;
    const double share = static_cast<double>(middle) / static_cast<double>(facts.peak.count());
    WriteTextTo("\nNext: ebbtide solve " + a.graph.path() + " --budget " +
                    (share < 0.95 ? Fixed(std::ceil(100 * share) / 100, 2) : std::to_string(middle)) +
                    " -o plan.json\n",
                "");
  }
  return Exit::kOk;
}

}  // namespace

AddedCommand AddInfo(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("info", "what can be said of a graph before any search");
  a->graph.AddTo(*command);
  command->add_flag("--json", a->json, "as one JSON object");
  command->add_option("--top", a->top, "rows in each list")->check(CLI::Range(0, 100000))->capture_default_str();
  return {command, [a] { return RunInfo(*a); }};
}

}  // namespace ebb::cli
