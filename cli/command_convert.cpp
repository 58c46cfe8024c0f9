// SPDX-License-Identifier: Apache-2.0
//
// ebbtide convert GRAPH -o GRAPH: any format in, the native one out.
#include <charconv>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"
#ifdef EBB_HAVE_ONNX
#include "io/onnx/onnx_reader.hpp"
#endif

namespace ebb::cli {
namespace {

struct Arguments {
  std::string graph, format, output, profile;
  CostModel costs;
  std::vector<std::string> dims;  // NAME=N
};

ReadGraphResult Read(const Arguments& a) {
#ifdef EBB_HAVE_ONNX
  if (a.format == "onnx" || (a.format.empty() && LooksLikeOnnx(a.graph))) {
    OnnxOptions options;
    options.costs = a.costs;
    for (const std::string& dim : a.dims) {
      const std::size_t at = dim.rfind('=');
      std::int64_t value = 0;
      const char* const end = dim.data() + dim.size();
      if (at == std::string::npos || at == 0 || std::from_chars(dim.data() + at + 1, end, value).ptr != end ||
          at + 1 == dim.size())
        throw CommandError(Exit::kUsage, "--dim " + dim + ": NAME=N is wanted");
      options.dims[dim.substr(0, at)] = value;
    }
    return ReadOnnx(std::filesystem::path(a.graph), options);
  }
#endif
  ReadOptions options;
  options.format = a.format;
  options.costs = a.costs;
  options.costs.profile = a.profile;
  return ReadGraph(std::filesystem::path(a.graph), options);
}

Exit RunConvert(const Arguments& a) {
  WantWritable(a.output);
  try {
    const ReadGraphResult read = Read(a);
    for (const std::string& warning : read.warnings) std::fprintf(stderr, "ebbtide: warning: %s\n", warning.c_str());
    if (a.output.empty() || a.output == "-") {
      WriteTextTo(GraphToJson(read.graph), a.output);
    } else {
      WriteGraph(read.graph, std::filesystem::path(a.output));
    }
    return Exit::kOk;
  } catch (const CommandError&) {
    throw;
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
#ifdef EBB_HAVE_ONNX
  command->add_option("--dim", a->dims, "ONNX: a symbolic dimension's value, NAME=N; may be repeated");
#endif
  return {command, [a] { return RunConvert(*a); }};
}

}  // namespace ebb::cli
