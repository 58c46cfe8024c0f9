// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/random_graph.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/problem/graph_builder.hpp"
#include "tests/oracle/judge.hpp"

namespace ebb::test {
namespace {

Graph DrawGraph(Rng& rng, const RandomGraphOptions& o) {
  struct Made {
    std::string name;
    int op;  // -1: graph input
    bool overwritten = false;
  };
  GraphBuilder builder;
  builder.SetName("random");
  std::vector<Made> tensors;
  const auto size = [&] { return Chance(rng, o.zero_size) ? 0 : Draw(rng, 1, o.max_size); };
  // How often a tensor is read at all, and how far back readers look, differ from graph to graph.
  const int fan_in = static_cast<int>(Draw(rng, 1, 3));
  const bool local = Chance(rng, 40);

  if (Chance(rng, o.graph_inputs)) {
    const auto count = Draw(rng, 1, 3);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string name = "in" + std::to_string(i);
      if (!tensors.empty() && Chance(rng, o.views)) {
        builder.AddTensor(name, size(), tensors[static_cast<std::size_t>(Draw(rng, 0, i - 1))].name);
      } else {
        builder.AddTensor(name, size());
      }
      tensors.push_back({name, -1});
    }
  }
  const auto num_ops = static_cast<int>(Draw(rng, o.min_ops, o.max_ops));
  std::vector<GraphBuilder::OpSpec> ops;
  int next_tensor = 0;
  std::int64_t first_readable = 0;
  for (int i = 0; i < num_ops; ++i) {
    if (Chance(rng, o.cuts)) first_readable = static_cast<std::int64_t>(tensors.size());
    GraphBuilder::OpSpec op;
    op.name = "op" + std::to_string(i);
    op.duration = Chance(rng, o.zero_duration) ? 0 : Draw(rng, 1, o.max_duration);
    op.workspace = Chance(rng, o.workspace) ? Draw(rng, 1, o.max_size) : 0;
    op.recomputable = !Chance(rng, o.once);
    std::vector<std::size_t> read;
    if (static_cast<std::int64_t>(tensors.size()) > first_readable) {
      const auto reads = Draw(rng, Chance(rng, 85) ? 1 : 0, fan_in);
      for (std::int64_t k = 0; k < reads; ++k) {
        const auto last = static_cast<std::int64_t>(tensors.size()) - 1;
        const auto t = static_cast<std::size_t>(Draw(rng, local ? std::max<std::int64_t>(first_readable, last - 3) : first_readable, last));
        // Readers of an overwritten value are the interesting case, but all of them being so is not.
        if (tensors[t].overwritten && Chance(rng, 60)) continue;
        op.inputs.push_back(tensors[t].name);
        read.push_back(t);
      }
    }
    if (Chance(rng, o.absent)) op.inputs.push_back("");
    std::int64_t outputs = Chance(rng, 5) ? 0 : 1;
    if (Chance(rng, o.multi_output)) outputs = Draw(rng, 1, 3);
    std::vector<std::size_t> taken;
    std::vector<std::string> own;
    bool only_views = true;
    for (std::int64_t k = 0; k < outputs; ++k) {
      const std::string name = "t" + std::to_string(next_tensor++);
      if (Chance(rng, o.views) && (!read.empty() || !own.empty())) {
        const auto pick = Draw(rng, 0, static_cast<std::int64_t>(read.size() + own.size()) - 1);
        const auto p = static_cast<std::size_t>(pick);
        builder.AddTensor(name, size(), p < read.size() ? tensors[read[p]].name : own[p - read.size()]);
      } else {
        only_views = false;
        builder.AddTensor(name, size());
        if (!read.empty() && Chance(rng, o.inplace)) {
          const auto t = read[static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(read.size()) - 1))];
          if (std::find(taken.begin(), taken.end(), t) == taken.end()) {
            taken.push_back(t);
            op.inplace.emplace_back(tensors[t].name, name);
            tensors[t].overwritten = true;
          }
        }
      }
      own.push_back(name);
      op.outputs.push_back(name);
    }
    if (only_views && outputs > 0 && Chance(rng, 70)) {  // the usual view: free
      op.duration = 0;
      op.workspace = 0;
    }
    for (const std::string& name : own) tensors.push_back({name, i});
    ops.push_back(op);
  }
  // File order need not be topological.
  std::vector<std::string> order;
  for (const auto& op : ops) order.push_back(op.name);
  if (Chance(rng, o.given_order)) builder.SetOrder(order);
  if (Chance(rng, 50))
    for (std::size_t i = ops.size(); i > 1; --i)
      std::swap(ops[i - 1], ops[static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(i) - 1))]);
  for (auto& op : ops) builder.AddOp(std::move(op));
  for (const Made& t : tensors)
    if (Chance(rng, o.kept)) builder.AddGraphOutput(t.name);
  return builder.Build();
}

}  // namespace

Graph RandomGraph(Rng& rng, const RandomGraphOptions& options) {
  for (;;) {
    try {
      return DrawGraph(rng, options);
    } catch (const InputError&) {
      // A contradiction (say a value read after it is overwritten for good): draw again.
    }
  }
}

std::int64_t RandomBudget(const Graph& graph, Rng& rng) {
  std::int64_t floor = 0;  // of any single execution
  for (std::size_t i = 0; i < graph.num_ops(); ++i) {
    const OpId op = ToOpId(i);
    std::int64_t need = graph.workspace(op).count() + graph.input_bytes().count();
    std::set<TensorId> roots;
    const auto add = [&](TensorId t) {
      if (t == TensorId::kNone) return;
      const TensorId root = graph.storage_root(t);
      if (graph.maker(root) != OpId::kNone && roots.insert(root).second) need += graph.size(root).count();
    };
    for (const TensorId t : graph.inputs(op)) add(t);
    for (const TensorId t : graph.outputs(op)) add(t);
    floor = std::max(floor, need);
  }
  floor = std::max(floor, graph.input_bytes().count());
  std::int64_t peak = floor;
  if (const JudgeAnswer base = Judge(graph, graph.order()); base.valid) {
    peak = base.peak;
  } else {
    for (std::size_t t = 0; t < graph.num_tensors(); ++t) peak += graph.size(ToTensorId(t)).count();
  }
  return Draw(rng, std::max<std::int64_t>(0, std::min(floor - 1, peak)), peak + (Chance(rng, 20) ? 1 : 0));
}

std::vector<OpId> RandomSequence(const Graph& graph, Rng& rng, std::size_t max_length) {
  std::vector<OpId> sequence;
  std::size_t missing = graph.num_ops();
  std::vector<bool> ran(graph.num_ops(), false);
  const bool by_order = Chance(rng, 50);  // else whatever can run
  std::size_t next = 0;
  int failures = 0;
  while (missing > 0 && sequence.size() < max_length && failures < 200) {
    OpId op = ToOpId(static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(graph.num_ops()) - 1)));
    if (by_order && Chance(rng, 60)) op = graph.order()[next];
    if (by_order && !ran[Index(op)] && op != graph.order()[next]) continue;
    sequence.push_back(op);
    if (!Judge(graph, sequence).served) {
      sequence.pop_back();
      ++failures;
      continue;
    }
    if (!ran[Index(op)]) {
      ran[Index(op)] = true;
      --missing;
      while (next + 1 < graph.num_ops() && ran[Index(graph.order()[next])]) ++next;
    }
  }
  return sequence;
}

std::string Describe(const Graph& graph) {
  std::ostringstream out;
  const auto name = [&](TensorId t) { return t == TensorId::kNone ? std::string("\"\"") : graph.tensor_name(t); };
  for (std::size_t i = 0; i < graph.num_tensors(); ++i) {
    const TensorId t = ToTensorId(i);
    out << "tensor " << name(t) << " size " << graph.size(t).count();
    if (graph.view_of(t) != TensorId::kNone) out << " view of " << name(graph.view_of(t));
    if (graph.maker(t) == OpId::kNone) out << " (graph input)";
    if (graph.is_graph_output(t)) out << " (kept)";
    out << '\n';
  }
  for (std::size_t i = 0; i < graph.num_ops(); ++i) {
    const OpId op = ToOpId(i);
    out << "op " << graph.op_name(op) << " duration " << graph.duration(op).count();
    if (graph.workspace(op).count() != 0) out << " workspace " << graph.workspace(op).count();
    if (!graph.recomputable(op)) out << " once";
    out << " [";
    for (const TensorId t : graph.inputs(op)) out << ' ' << name(t);
    out << " ] -> [";
    for (const TensorId t : graph.outputs(op)) out << ' ' << name(t);
    out << " ]";
    for (const InplacePair& p : graph.inplace(op)) out << ' ' << name(p.output) << " in place of " << name(p.input);
    out << '\n';
  }
  out << "order";
  for (const OpId op : graph.order()) out << ' ' << graph.op_name(op);
  out << (graph.order_was_given() ? " (given)\n" : "\n");
  return out.str();
}

}  // namespace ebb::test
