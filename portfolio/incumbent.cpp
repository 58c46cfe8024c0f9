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

Judgement Judge(const Problem& problem, std::span<const std::int32_t> sequence, const char* worker) {
  auto found = std::make_shared<Incumbent>();
  found->worker = worker;
  found->sequence.assign(sequence.begin(), sequence.end());
  const bool staged = problem.order == OrderMode::kStaged;
  if (staged && !FollowsOrder(problem.instance, sequence, true, true)) {
    found->sequence = SortStages(problem.instance, sequence);
  }
  const std::vector<OpId> ops = Expand(*problem.graph, problem.instance, found->sequence, staged);
  SequenceFault fault;
  std::optional<Plan> plan = MakePlan(*problem.graph, ops, &fault);
  if (!plan) return {nullptr, Describe(*problem.graph, fault)};
  const ValidationResult verdict = Validate(*problem.graph, *plan, problem.rules());
  if (!verdict.ok()) return {nullptr, verdict.text};
  found->plan = std::move(*plan);
  return {std::move(found), {}};
}

}  // namespace ebb
