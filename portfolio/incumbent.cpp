// SPDX-License-Identifier: Apache-2.0
#include "portfolio/incumbent.hpp"

#include <algorithm>
#include <tuple>

namespace ebb {

bool Better(const Incumbent& a, const Incumbent& b) {
  return std::tuple(a.plan.duration, a.executions(), a.plan.peak) <
         std::tuple(b.plan.duration, b.executions(), b.plan.peak);
}

std::vector<std::int32_t> SortStages(const Instance& instance, std::span<const std::int32_t> sequence) {
  std::vector<std::int32_t> out;
  out.reserve(sequence.size());
  std::vector<std::uint8_t> seen(instance.num_ops, 0);
  std::size_t stage = 0;  // where the current run of repeats begins in `out`
  const auto close = [&] {
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(stage), out.end(),
              [&](std::int32_t a, std::int32_t b) { return instance.rank[a] < instance.rank[b]; });
    out.erase(std::unique(out.begin() + static_cast<std::ptrdiff_t>(stage), out.end()), out.end());
  };
  for (std::int32_t op : sequence) {
    if (seen[op]) {
      out.push_back(op);
      continue;
    }
    seen[op] = 1;
    close();
    out.push_back(op);
    stage = out.size();
  }
  close();
  return out;
}

namespace {

bool OverCap(const Problem& problem, std::span<const std::int32_t> sequence) {
  if (!problem.max_executions) return false;
  std::vector<std::int32_t> runs(problem.instance.num_ops, 0);
  return std::any_of(sequence.begin(), sequence.end(),
                     [&](std::int32_t op) { return ++runs[op] > *problem.max_executions; });
}

}  // namespace

Judgement Judge(const Problem& problem, std::span<const std::int32_t> sequence, const char* worker) {
  auto found = std::make_shared<Incumbent>();
  found->worker = worker;
  found->sequence.assign(sequence.begin(), sequence.end());
  const bool staged = problem.order == OrderMode::kStaged;
  if (staged && !FollowsOrder(problem.instance, sequence, true, true)) {
    found->sequence = SortStages(problem.instance, sequence);
  }
  const SequenceFacts facts = EvaluateSequence(problem.instance, found->sequence);
  if (!facts.valid || facts.peak > problem.budget.count() || OverCap(problem, found->sequence) ||
      !FollowsOrder(problem.instance, found->sequence, problem.order != OrderMode::kFree, staged)) {
    return {nullptr, true, {}};
  }
  const std::vector<OpId> ops = Expand(*problem.graph, problem.instance, found->sequence, staged);
  SequenceFault fault;
  std::optional<Plan> plan = MakePlan(*problem.graph, ops, &fault);
  if (!plan) return {nullptr, false, Describe(*problem.graph, fault)};
  const ValidationResult verdict = Validate(*problem.graph, *plan, problem.rules());
  // Free views count for the cap too, and Expand may have had to repeat one.
  if (verdict.verdict == Verdict::kTooManyExecutions) return {nullptr, true, {}};
  if (!verdict.ok()) return {nullptr, false, verdict.text};
  found->plan = std::move(*plan);
  return {std::move(found), false, {}};
}

}  // namespace ebb
