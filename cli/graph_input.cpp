// SPDX-License-Identifier: Apache-2.0
#include "cli/graph_input.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "io/write_graph.hpp"
#ifdef EBB_HAVE_ONNX
#include "io/onnx/onnx_reader.hpp"
#endif

namespace ebb::cli {

void GraphInput::AddTo(CLI::App& command) {
  std::string formats;
  for (const std::string& name : GraphFormats()) formats += (formats.empty() ? "" : ", ") + name;
#ifdef EBB_HAVE_ONNX
  formats += ", onnx";
#endif
  command.add_option("graph", path_, "graph file; its format is told by its content")->required()->type_name("FILE");
  command.add_option("--format", format_, "insist on a graph format: " + formats)->type_name("NAME");
  const char* const group = "Graphs without durations (HLO text, ONNX): flops and bytes at these rates";
  const auto number = [&](const char* flag, std::int64_t& member, const char* help, const CLI::Validator& check) {
    cost_options_.push_back(command.add_option(flag, member, help)->check(check)->capture_default_str()->group(group));
  };
  number("--flops", costs_.flops_per_second, "arithmetic operations a second", CLI::PositiveNumber);
  number("--bandwidth", costs_.bytes_per_second, "bytes moved a second", CLI::PositiveNumber);
  number("--launch", costs_.launch_ns, "nanoseconds that every op costs", CLI::NonNegativeNumber);
  cost_options_.push_back(
      command.add_option("--durations", profile_, "JSON object: op name to nanoseconds, measured; overrides the rates")
          ->type_name("FILE")
          ->group(group));
#ifdef EBB_HAVE_ONNX
  command.add_option("--dim", dims_, "ONNX: a symbolic dimension's value, NAME=N; may be repeated")
      ->allow_extra_args(false)  // one value after each --dim, so that the graph may follow
      ->type_name("NAME=N")
      ->group(group);
#endif
}

std::string GraphInput::GivenCosts() const {
  for (const CLI::Option* option : cost_options_)
    if (option->count() > 0) return option->get_name();
  return {};
}

bool GraphInput::IsOnnx() const {
#ifdef EBB_HAVE_ONNX
  return format_ == "onnx" || (format_.empty() && LooksLikeOnnx(path_));
#else
  return false;
#endif
}

ReadGraphResult GraphInput::ReadFile() const {
  CostModel costs = costs_;
  costs.profile = profile_;
#ifdef EBB_HAVE_ONNX
  if (IsOnnx()) {
    OnnxOptions options;
    options.costs = costs;
    for (const std::string& dim : dims_) {
      const std::size_t at = dim.rfind('=');
      std::int64_t value = 0;
      const char* const end = dim.data() + dim.size();
      if (at == std::string::npos || at == 0 || at + 1 == dim.size() ||
          std::from_chars(dim.data() + at + 1, end, value) != std::from_chars_result{end, std::errc()})
        throw CommandError(Exit::kUsage, "--dim " + dim + ": NAME=N is wanted, as in batch=32");
      options.dims[dim.substr(0, at)] = value;
    }
    return ReadOnnx(std::filesystem::path(path_), options);
  }
  if (!dims_.empty()) throw CommandError(Exit::kUsage, "--dim: " + path_ + " is no ONNX model");
#endif
  ReadOptions options;
  options.format = format_;
  options.costs = costs;
  return ReadGraph(std::filesystem::path(path_), options);
}

ReadGraphResult GraphInput::Read() const {
  try {
    ReadGraphResult read = ReadFile();
    if (const std::string flag = GivenCosts(); !flag.empty() && read.format != "hlo" && read.format != "onnx")
      throw CommandError(Exit::kUsage,
                         flag + ": " + path_ + " carries durations of its own (format " + read.format + ")");
    return read;
  } catch (const CommandError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw CommandError(Exit::kInput, e.what());
  }
}

GraphInput::Opened GraphInput::Open() const {
  Opened out;
  if (GivenCosts().empty() && dims_.empty() && !IsOnnx()) {
    out.graph = ReadGraphFile(path_, format_);
    for (std::size_t i = 0; i < ebb_graph_num_warnings(out.graph.get()); ++i)
      out.warnings.emplace_back(ebb_graph_warning(out.graph.get(), i));
    return out;
  }
  ReadGraphResult read = Read();
  const std::string text = GraphToJson(read.graph);
  out.graph = Own(ebb_graph_new());
  Want(ebb_graph_read_memory(out.graph.get(), text.data(), text.size(), "native"), out.graph.get());
  out.warnings = std::move(read.warnings);
  return out;
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "ebbtide: warning: %s\n", warning.c_str());
}

}  // namespace ebb::cli
