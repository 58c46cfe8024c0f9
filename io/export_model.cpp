// SPDX-License-Identifier: Apache-2.0
#include "io/export_model.hpp"

#include <algorithm>

#include "engine/base/budget_spec.hpp"
#include "engine/base/quoted.hpp"
#include "engine/base/status.hpp"
#include "engine/problem/plan.hpp"

namespace ebb {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

[[noreturn]] void Unknown(const std::string& what) {
  throw InputError("export: " + what + ", which these models do not know");
}

}  // namespace

SingleOutputGraph MakeSingleOutputGraph(const Graph& graph, std::string_view budget) {
  SingleOutputGraph g;
  const std::size_t n = graph.num_ops();
  std::vector<std::int32_t> rank(n);
  for (std::size_t p = 0; p < n; ++p) rank[Index(graph.order()[p])] = static_cast<std::int32_t>(p);
  for (const OpId op : graph.order()) {
    const std::string who = "op " + Quoted(graph.op_name(op));
    if (graph.outputs(op).size() != 1) Unknown(who + " has " + std::to_string(graph.outputs(op).size()) + " outputs");
    if (graph.workspace(op).count() > 0) Unknown(who + " has workspace");
    if (!graph.inplace(op).empty()) Unknown(who + " works in place");
    if (!graph.recomputable(op)) Unknown(who + " may run once only");
    const TensorId out = graph.outputs(op)[0];
    if (graph.view_of(out) != TensorId::kNone) Unknown(who + " makes a view");
    g.name.push_back(graph.op_name(op));
    g.size.push_back(graph.size(out).count());
    g.duration.push_back(graph.duration(op).count());
    std::vector<std::int32_t>& reads = g.reads.emplace_back();
    for (const TensorId t : graph.inputs(op))
      if (t != TensorId::kNone && graph.maker(t) != OpId::kNone) reads.push_back(rank[Index(graph.maker(t))]);
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  }
  // What is kept to the end is read by an op of no size that comes last.
  std::vector<std::int32_t> kept;
  for (const TensorId t : graph.graph_outputs())
    if (graph.maker(t) != OpId::kNone) kept.push_back(rank[Index(graph.maker(t))]);
  if (!kept.empty()) {
    std::sort(kept.begin(), kept.end());
    g.name.push_back("(end)");
    g.size.push_back(0);
    g.duration.push_back(0);
    g.reads.push_back(std::move(kept));
  }
  g.readers.resize(g.name.size());
  for (std::size_t v = 0; v < g.name.size(); ++v)
    for (const std::int32_t u : g.reads[v]) g.readers[At(u)].push_back(static_cast<std::int32_t>(v));
  const std::optional<Plan> given = MakePlan(graph, graph.order());
  if (!given) throw InternalError("export: the order of a graph without in-place ops is no plan");
  g.budget = ParseBudget(budget).Resolve(given->peak).count() - graph.input_bytes().count();
  if (g.budget < 0)
    throw InputError("export: the graph's inputs alone need " + std::to_string(graph.input_bytes().count()) +
                     " bytes, more than the budget");
  return g;
}

}  // namespace ebb
