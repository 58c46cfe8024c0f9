// SPDX-License-Identifier: Apache-2.0
//
// ebb_graph_...: reading, building by calls, looking at.
#include <filesystem>
#include <string_view>

#include "engine/bounds/memory_floor.hpp"
#include "engine/problem/graph_builder.hpp"
#include "engine/problem/instance.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"
#include "portfolio/api_types.hpp"

namespace ebb {

std::int64_t GraphData::BasePeak() const {
  std::call_once(once_, [this] {
    const std::optional<Plan> plan = MakePlan(graph, graph.order());
    base_peak_ = plan ? plan->peak.count() : -1;
  });
  return base_peak_;
}

namespace {

void WantDraft(const ebb_graph* g) {
  if (g->data) throw OptionError("the graph is finished: it cannot be changed");
}

const GraphData& WantData(const ebb_graph* g) {
  if (!g->data) throw OptionError("the graph is not finished");
  return *g->data;
}

GraphDraft::Op& DraftOp(ebb_graph* g, std::int64_t op) {
  WantDraft(g);
  if (op < 0 || op >= static_cast<std::int64_t>(g->draft.ops.size()))
    throw OptionError("no op " + std::to_string(op) + " yet");
  return g->draft.ops[static_cast<std::size_t>(op)];
}

void WantTensor(const ebb_graph* g, std::int64_t tensor) {
  if (tensor < 0 || tensor >= static_cast<std::int64_t>(g->draft.tensors.size()))
    throw OptionError("no tensor " + std::to_string(tensor) + " yet");
}

void Take(ebb_graph* g, ReadGraphResult read) {
  auto data = std::make_shared<GraphData>(std::move(read.graph));
  data->format = std::move(read.format);
  data->warnings = std::move(read.warnings);
  g->data = std::move(data);
}

Graph BuildDraft(const GraphDraft& draft) {
  using Name = GraphBuilder::TensorName;
  GraphBuilder builder;
  builder.SetName(draft.name);
  builder.SetDurationUnit(draft.duration_unit);
  std::vector<Name> names;
  for (const GraphDraft::Tensor& t : draft.tensors) {
    names.push_back(builder.Mention(t.name));
    builder.AddTensor(names.back(), t.bytes, t.view_of < 0 ? Name::kNone : names[static_cast<std::size_t>(t.view_of)]);
  }
  const auto name = [&](std::int64_t t) { return t < 0 ? Name::kNone : names[static_cast<std::size_t>(t)]; };
  GraphBuilder::OpRow row;
  for (const GraphDraft::Op& op : draft.ops) {
    row.name = op.name;
    row.duration = op.duration;
    row.workspace = op.workspace;
    row.recomputable = op.recomputable;
    row.inputs.clear();
    row.outputs.clear();
    row.inplace.clear();
    for (std::int64_t t : op.inputs) row.inputs.push_back(name(t));
    for (std::int64_t t : op.outputs) row.outputs.push_back(name(t));
    for (const auto& [in, out] : op.inplace) row.inplace.emplace_back(name(in), name(out));
    builder.AddOp(row);
  }
  for (std::int64_t t : draft.outputs) builder.AddGraphOutput(name(t));
  if (draft.has_order) {
    builder.BeginOrder();
    for (std::int64_t op : draft.order) builder.AddToOrder(draft.ops[static_cast<std::size_t>(op)].name);
  }
  return builder.Build();
}

template <class Size>
bool In(std::int64_t index, Size size) {
  return index >= 0 && index < static_cast<std::int64_t>(size);
}

}  // namespace
}  // namespace ebb

using ebb::Guard;

extern "C" {

ebb_graph* ebb_graph_new(void) { return new (std::nothrow) ebb_graph; }
void ebb_graph_free(ebb_graph* graph) { delete graph; }
const char* ebb_graph_error(const ebb_graph* graph) { return graph == nullptr ? "null handle" : graph->error.c_str(); }

ebb_code ebb_graph_read_file(ebb_graph* graph, const char* path, const char* format) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    if (path == nullptr) throw ebb::OptionError("no path");
    ebb::ReadOptions options;
    if (format != nullptr) options.format = format;
    ebb::Take(graph, ebb::ReadGraph(std::filesystem::path(path), options));
  });
}

ebb_code ebb_graph_read_memory(ebb_graph* graph, const void* data, size_t size, const char* format) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    if (data == nullptr && size > 0) throw ebb::OptionError("no data");
    ebb::ReadOptions options;
    if (format != nullptr) options.format = format;
    ebb::Take(graph, ebb::ReadGraph(std::string_view(static_cast<const char*>(data), size), "memory", options));
  });
}

ebb_code ebb_graph_set_name(ebb_graph* graph, const char* name) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    graph->draft.name = name == nullptr ? "" : name;
  });
}

ebb_code ebb_graph_set_duration_unit(ebb_graph* graph, const char* unit) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    graph->draft.duration_unit = unit == nullptr ? "" : unit;
  });
}

ebb_code ebb_graph_add_tensor(ebb_graph* graph, const char* name, int64_t bytes, int64_t view_of, int64_t* tensor) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    auto& tensors = graph->draft.tensors;
    if (view_of != -1) ebb::WantTensor(graph, view_of);
    const std::string made_up = name == nullptr ? "t" + std::to_string(tensors.size()) : name;
    if (bytes < 0) throw ebb::InputError("tensor '" + made_up + "': negative size " + std::to_string(bytes));
    tensors.push_back({made_up, bytes, view_of});
    if (tensor != nullptr) *tensor = static_cast<int64_t>(tensors.size()) - 1;
  });
}

ebb_code ebb_graph_add_op(ebb_graph* graph, const char* name, int64_t duration, int64_t* op) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    auto& ops = graph->draft.ops;
    ebb::GraphDraft::Op made;
    made.name = name == nullptr ? "op" + std::to_string(ops.size()) : name;
    if (duration < 0) throw ebb::InputError("op '" + made.name + "': negative duration " + std::to_string(duration));
    made.duration = duration;
    ops.push_back(std::move(made));
    if (op != nullptr) *op = static_cast<int64_t>(ops.size()) - 1;
  });
}

ebb_code ebb_graph_op_reads(ebb_graph* graph, int64_t op, int64_t tensor) {
  return Guard(graph, [&] {
    auto& draft = ebb::DraftOp(graph, op);
    if (tensor != -1) ebb::WantTensor(graph, tensor);
    draft.inputs.push_back(tensor);
  });
}

ebb_code ebb_graph_op_makes(ebb_graph* graph, int64_t op, int64_t tensor) {
  return Guard(graph, [&] {
    auto& draft = ebb::DraftOp(graph, op);
    ebb::WantTensor(graph, tensor);
    draft.outputs.push_back(tensor);
  });
}

ebb_code ebb_graph_op_overwrites(ebb_graph* graph, int64_t op, int64_t input, int64_t output) {
  return Guard(graph, [&] {
    auto& draft = ebb::DraftOp(graph, op);
    ebb::WantTensor(graph, input);
    ebb::WantTensor(graph, output);
    draft.inplace.emplace_back(input, output);
  });
}

ebb_code ebb_graph_op_set_workspace(ebb_graph* graph, int64_t op, int64_t bytes) {
  return Guard(graph, [&] {
    auto& draft = ebb::DraftOp(graph, op);
    if (bytes < 0) throw ebb::InputError("op '" + draft.name + "': negative workspace " + std::to_string(bytes));
    draft.workspace = bytes;
  });
}

ebb_code ebb_graph_op_set_recomputable(ebb_graph* graph, int64_t op, int recomputable) {
  return Guard(graph, [&] { ebb::DraftOp(graph, op).recomputable = recomputable != 0; });
}

ebb_code ebb_graph_add_output(ebb_graph* graph, int64_t tensor) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    ebb::WantTensor(graph, tensor);
    graph->draft.outputs.push_back(tensor);
  });
}

ebb_code ebb_graph_set_order(ebb_graph* graph, const int64_t* ops, size_t count) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    if (ops == nullptr && count > 0) throw ebb::OptionError("no ops");
    std::vector<std::int64_t> order;
    for (size_t i = 0; i < count; ++i) {
      static_cast<void>(ebb::DraftOp(graph, ops[i]));
      order.push_back(ops[i]);
    }
    graph->draft.order = std::move(order);
    graph->draft.has_order = true;
  });
}

ebb_code ebb_graph_finish(ebb_graph* graph) {
  return Guard(graph, [&] {
    ebb::WantDraft(graph);
    graph->data = std::make_shared<ebb::GraphData>(ebb::BuildDraft(std::exchange(graph->draft, {})));
  });
}

const char* ebb_graph_name(const ebb_graph* g) { return g && g->data ? g->data->graph.name().c_str() : ""; }
const char* ebb_graph_format(const ebb_graph* g) { return g && g->data ? g->data->format.c_str() : ""; }
size_t ebb_graph_num_warnings(const ebb_graph* g) { return g && g->data ? g->data->warnings.size() : 0; }
const char* ebb_graph_warning(const ebb_graph* g, size_t index) {
  return index < ebb_graph_num_warnings(g) ? g->data->warnings[index].c_str() : "";
}
int64_t ebb_graph_num_ops(const ebb_graph* g) {
  return g && g->data ? static_cast<int64_t>(g->data->graph.num_ops()) : 0;
}
int64_t ebb_graph_num_tensors(const ebb_graph* g) {
  return g && g->data ? static_cast<int64_t>(g->data->graph.num_tensors()) : 0;
}
const char* ebb_graph_op_name(const ebb_graph* g, int64_t op) {
  return ebb::In(op, ebb_graph_num_ops(g)) ? g->data->graph.op_name(static_cast<ebb::OpId>(op)).c_str() : "";
}
const char* ebb_graph_tensor_name(const ebb_graph* g, int64_t t) {
  return ebb::In(t, ebb_graph_num_tensors(g)) ? g->data->graph.tensor_name(static_cast<ebb::TensorId>(t)).c_str() : "";
}
int64_t ebb_graph_op_duration(const ebb_graph* g, int64_t op) {
  return ebb::In(op, ebb_graph_num_ops(g)) ? g->data->graph.duration(static_cast<ebb::OpId>(op)).count() : -1;
}
int64_t ebb_graph_tensor_bytes(const ebb_graph* g, int64_t t) {
  return ebb::In(t, ebb_graph_num_tensors(g)) ? g->data->graph.storage_bytes(static_cast<ebb::TensorId>(t)).count()
                                              : -1;
}
int64_t ebb_graph_find_op(const ebb_graph* g, const char* name) {
  if (name == nullptr) return -1;
  for (int64_t i = 0; i < ebb_graph_num_ops(g); ++i)
    if (g->data->graph.op_name(static_cast<ebb::OpId>(i)) == name) return i;
  return -1;
}
int64_t ebb_graph_find_tensor(const ebb_graph* g, const char* name) {
  if (name == nullptr) return -1;
  for (int64_t i = 0; i < ebb_graph_num_tensors(g); ++i)
    if (g->data->graph.tensor_name(static_cast<ebb::TensorId>(i)) == name) return i;
  return -1;
}
int64_t ebb_graph_base_duration(const ebb_graph* g) {
  return g && g->data ? g->data->graph.base_duration().count() : -1;
}
int64_t ebb_graph_base_peak(const ebb_graph* g) {
  if (g == nullptr || !g->data) return -1;
  try {
    return g->data->BasePeak();
  } catch (...) {
    return -1;
  }
}
int64_t ebb_graph_memory_floor(const ebb_graph* g) {
  if (g == nullptr || !g->data) return -1;
  try {
    return ebb::ComputeFloor(ebb::MakeInstance(g->data->graph)).bytes;
  } catch (...) {
    return -1;
  }
}
ebb_code ebb_graph_write_file(ebb_graph* graph, const char* path) {
  return Guard(graph, [&] {
    const ebb::GraphData& data = ebb::WantData(graph);
    if (path == nullptr) throw ebb::OptionError("no path");
    ebb::WriteGraph(data.graph, std::filesystem::path(path));
  });
}

}  // extern "C"
