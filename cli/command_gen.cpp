// SPDX-License-Identifier: Apache-2.0
//
// ebbtide gen KIND -o GRAPH: made-up graphs. One subcommand a kind, with the flags that the kind reads.
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "io/generate.hpp"

namespace ebb::cli {
namespace {

struct Arguments {
  std::string output;
  GenerateSpec spec;
};

bool Reads(std::string_view list, std::string_view member) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    if (word == member) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

Exit RunGen(const std::string& kind, const Arguments& a) {
  WantWritable(a.output);
  const auto generate = [&] {
    try {
      return Generate(kind, a.spec);
    } catch (const std::runtime_error& e) {
      throw CommandError(Exit::kUsage, kind + ": " + e.what());
    }
  };
  WriteGraphTo(generate(), a.output);
  return Exit::kOk;
}

}  // namespace

AddedCommand AddGen(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("gen", "make up a graph; same numbers, same graph");
  command->require_subcommand(1);
  std::vector<CLI::App*> kinds;
  for (const GeneratorInfo& info : Generators()) {
    CLI::App* kind = command->add_subcommand(std::string(info.kind), std::string(info.help));
    kinds.push_back(kind);
    const auto number = [&](std::string_view name, auto& member, const char* help) {
      if (Reads(info.reads, name)) kind->add_option("--" + std::string(name), member, help)->capture_default_str();
    };
    number("ops", a->spec.ops, "ops");
    number("layers", a->spec.layers, "layers, or levels");
    number("microbatches", a->spec.microbatches, "microbatches");
    number("width", a->spec.width, "a layer has 2 * width * sqrt(ops) ops on average");
    number("variability", a->spec.variability, "layer sizes vary by this share, up and down");
    number("density", a->spec.density, "chance of an edge between two ops of neighbouring layers");
    number("skip", a->spec.skip, "share of all edges that skip layers");
    number("seed", a->spec.seed, "seed");
    if (Reads(info.reads, "plain"))
      kind->add_flag("--plain", a->spec.plain, "one output an op: no views, in-place ops, parameters, kept outputs");
    kind->add_option("-o,--output", a->output, "graph file (.gz, .xz, .zst: packed); default: standard output");
  }
  return {command, [a, kinds] {
            for (const CLI::App* kind : kinds)
              if (kind->parsed()) return RunGen(kind->get_name(), *a);
            throw CommandError(Exit::kUsage, "gen: no kind given");
          }};
}

}  // namespace ebb::cli
