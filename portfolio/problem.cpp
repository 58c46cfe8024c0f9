// SPDX-License-Identifier: Apache-2.0
#include "portfolio/problem.hpp"

#include <string>

namespace ebb {

Problem MakeProblem(const Graph& graph, const Options& options, std::span<const OpId> hint) {
  if (options.budget.kind == BudgetSpec::Kind::kNone) throw OptionError("budget: not set");
  Problem p;
  p.graph = &graph;
  p.options = &options;
  p.order = options.order;
  if (options.max_executions > 0) p.max_executions = static_cast<std::int32_t>(options.max_executions);

  SequenceFault fault;
  std::optional<Plan> given = MakePlan(graph, graph.order(), &fault);
  if (given) {
    p.given = std::move(*given);
  } else {
    p.given.peak = Bytes::Max();
    if (options.budget.kind == BudgetSpec::Kind::kFraction) {
      throw OptionError("budget '" + options.budget.text + "': the graph's order needs repeats (" +
                        Describe(graph, fault) + "), so it has no peak to take a fraction of; give bytes");
    }
  }
  p.budget = options.budget.Resolve(p.given.peak);
  p.instance = MakeInstance(graph);

  if (!hint.empty()) {
    if (!MakePlan(graph, hint, &fault)) throw InputError("hint: " + Describe(graph, fault));
    p.hint = Collapse(graph, p.instance, hint);
    for (const std::int32_t op : p.hint) p.hint_duration += p.instance.duration[static_cast<std::size_t>(op)];
  }
  if (options.presolve && options.method < Method::kKeep) {
    std::vector<std::uint8_t> before = p.instance.may_repeat;
    p.presolved = MarkOnceOps(p.instance, p.order);
    if (!p.hint.empty() && !EvaluateSequence(p.instance, p.hint).valid) {  // it repeats what is marked
      p.instance.may_repeat = std::move(before);
      p.presolved = {};
    }
  }
  return p;
}

}  // namespace ebb
