// SPDX-License-Identifier: Apache-2.0
#include "io/write_graph.hpp"

#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

namespace ebb {
namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 20;

void AppendTensors(std::string& out, const Graph& g, std::span<const TensorId> tensors) {
  out += '[';
  bool first = true;
  for (const TensorId t : tensors) {
    if (!first) out += ", ";
    first = false;
    AppendJsonString(out, t == TensorId::kNone ? std::string_view{} : std::string_view(g.tensor_name(t)));
  }
  out += ']';
}

void AppendOp(std::string& out, const Graph& g, OpId op) {
  out += "{\"name\": ";
  AppendJsonString(out, g.op_name(op));
  out += ", \"duration\": ";
  AppendInteger(out, g.duration(op).count());
  out += ", \"inputs\": ";
  AppendTensors(out, g, g.inputs(op));
  out += ", \"outputs\": ";
  AppendTensors(out, g, g.outputs(op));
  if (g.workspace(op).count() != 0) {
    out += ", \"workspace\": ";
    AppendInteger(out, g.workspace(op).count());
  }
  if (!g.recomputable(op)) out += ", \"recomputable\": false";
  if (!g.inplace(op).empty()) {
    out += ", \"inplace\": [";
    bool first = true;
    for (const InplacePair& p : g.inplace(op)) {
      if (!first) out += ", ";
      first = false;
      const TensorId pair[] = {p.input, p.output};
      AppendTensors(out, g, pair);
    }
    out += ']';
  }
  out += '}';
}

}  // namespace

void WriteGraph(const Graph& g, const std::function<void(std::string_view)>& sink) {
  std::string out = "{\"format\": \"ebbtide-graph\", \"version\": 1, \"name\": ";
  const auto flush = [&](std::size_t at) {
    if (out.size() < at) return;
    sink(out);
    out.clear();
  };
  AppendJsonString(out, g.name());
  if (!g.duration_unit().empty()) {
    out += ", \"duration_unit\": ";
    AppendJsonString(out, g.duration_unit());
  }
  out += ",\n\"tensors\": [";
  for (std::size_t i = 0; i < g.num_tensors(); ++i) {
    const TensorId t = ToTensorId(i);
    out += i == 0 ? "\n{\"name\": " : ",\n{\"name\": ";
    AppendJsonString(out, g.tensor_name(t));
    out += ", \"size\": ";
    AppendInteger(out, g.size(t).count());
    if (g.view_of(t) != TensorId::kNone) {
      out += ", \"view_of\": ";
      AppendJsonString(out, g.tensor_name(g.view_of(t)));
    }
    out += '}';
    flush(kFlushAt);
  }
  out += "],\n\"ops\": [";
  for (std::size_t i = 0; i < g.num_ops(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    AppendOp(out, g, ToOpId(i));
    flush(kFlushAt);
  }
  out += ']';
  const auto names = [&](const char* key, const auto& ids, const auto& name_of) {
    out += key;
    bool first = true;
    for (const auto id : ids) {
      out += first ? "\n" : ",\n";
      first = false;
      AppendJsonString(out, name_of(id));
      flush(kFlushAt);
    }
    out += ']';
  };
  if (!g.graph_outputs().empty())
    names(",\n\"outputs\": [", g.graph_outputs(), [&](TensorId t) { return std::string_view(g.tensor_name(t)); });
  if (g.order_was_given())
    names(",\n\"order\": [", g.order(), [&](OpId op) { return std::string_view(g.op_name(op)); });
  out += "}\n";
  flush(0);
}

std::string GraphToJson(const Graph& graph) {
  std::string text;
  WriteGraph(graph, [&](std::string_view piece) { text += piece; });
  return text;
}

void WriteGraph(const Graph& graph, const std::filesystem::path& path) {
  AtomicFile file(path);
  WriteGraph(graph, [&](std::string_view piece) { file.Write(piece); });
  file.Commit();
}

}  // namespace ebb
