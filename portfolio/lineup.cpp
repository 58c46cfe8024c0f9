// SPDX-License-Identifier: Apache-2.0
#include "portfolio/lineup.hpp"

#include "engine/bounds/memory_floor.hpp"
#include "heuristics/list_schedule.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

// A relaxation of more ops than this takes too long by itself.
constexpr std::size_t kLongStretch = 20'000;

// Any order: is the budget below what some op, or the graph's end, needs?
std::optional<Infeasibility> BelowFloor(const Problem& problem, const StopSignal& stop) {
  const MemoryFloor floor = ComputeFloor(problem.instance, kDefaultPebblingTicks, problem.budget.count(), &stop);
  if (floor.bytes <= problem.budget.count()) return std::nullopt;
  Infeasibility why;
  why.bytes_needed = floor.bytes;
  why.bytes_given = problem.budget.count();
  std::string who = "the graph's outputs and inputs need ";
  if (floor.op >= 0) {
    why.op = ToOpId(static_cast<std::size_t>(floor.op));
    who = "op '" + problem.graph->op_name(why.op) + "' needs ";
  }
  why.text = who + std::to_string(floor.bytes) + " bytes";
  if (floor.kind == MemoryFloor::Kind::kLastInput && floor.last >= 0)
    why.text += " (when op '" + problem.graph->op_name(ToOpId(static_cast<std::size_t>(floor.last))) +
                "' makes the last of its inputs)";
  if (floor.kind == MemoryFloor::Kind::kPebbling) why.text += " (to make all its inputs)";
  why.text += ", the budget gives " + std::to_string(why.bytes_given);
  return why;
}

}  // namespace

void AnswerAtOnce(Board& board) {
  const Problem& problem = board.problem();
  Exchange exchange(board);
  if (problem.given.peak <= problem.budget) {
    exchange.Offer(problem.instance.order, "given order");
  } else if (auto why = BelowFloor(problem, board.stop())) {
    exchange.ProveInfeasible(std::move(*why));
  } else if (problem.max_executions == 1 && problem.order != OrderMode::kFree && problem.given.peak != Bytes::Max()) {
    Infeasibility only;  // the given order is the only sequence
    only.bytes_needed = problem.given.peak.count();
    only.bytes_given = problem.budget.count();
    only.text = "the order itself, each op once, needs " + std::to_string(only.bytes_needed) +
                " bytes, the budget gives " + std::to_string(only.bytes_given);
    exchange.ProveInfeasible(std::move(only));
  } else {
    if (!problem.hint.empty()) exchange.Offer(problem.hint, "hint");
    // Where the order is free another order alone may fit.
    if (problem.order == OrderMode::kFree) {
      for (const ListRule rule : {ListRule::kLeastMemory, ListRule::kDepthFirst}) {
        if (!exchange.known().closed()) exchange.Offer(ListSchedule(problem.instance, rule), "list schedule");
      }
    }
  }
  exchange.Flush();
}

std::vector<std::vector<WorkerSlot>> LineUp(const Problem& problem, int lanes) {
  const Options& o = *problem.options;
  std::vector<std::vector<WorkerSlot>> out(static_cast<std::size_t>(lanes));
  // Bounds and proofs go to the last lane: with two lanes the first is the local search's own.
  auto& proofs = out.back();
  if (IsClassic(o.method)) {
    proofs.push_back({MakeClassicWorker(problem), 1});
    return out;
  }
  const bool all = o.method == Method::kAuto;
  if ((all || o.method == Method::kExact) && o.state_search && StateSearchFits(problem))
    proofs.push_back({MakeStateSearchWorker(problem), 1});
  // The complete model last: what the relaxation proves it proves much sooner (RL n=100 at 0.8, fixed: 0.13 against
  // 0.59 s).
  if ((all || o.method == Method::kExact) && o.intervals && IntervalsFit(problem) && problem.may_recompute())
    proofs.push_back(
        {MakeIntervalsWorker(problem), 1, all && o.relax && problem.order != OrderMode::kFree ? 3e8 : 0.0});
  if (o.gap_cover) proofs.push_back({MakeGapCoverWorker(problem), 0.5});
  // Until it has a plan the others of its lane have little to do.
  if (all && o.drops && DropsFit(problem) && problem.may_recompute())
    out.front().push_back({MakeDropsWorker(problem), 8});
  if (all && o.backward && BackwardFits(problem.instance) && !problem.max_executions)
    out.front().push_back({MakeBackwardWorker(problem), 3});
  const bool relax = problem.order != OrderMode::kFree && problem.may_recompute() && o.relax;
  std::size_t stretch = problem.instance.num_ops;  // the largest
  if ((all || o.method == Method::kRelax) && relax) {
    // Beside a lane of local search the other is nearly all for proofs.
    const double share = lanes > 1 ? 6.0 : 3.0;
    StretchesWorkers stretches = MakeStretchesWorkers(problem, lanes);
    if (stretches.lanes.empty()) {
      const bool apart = all && lanes > 1 && o.climb;
      proofs.push_back({MakeRelaxWorker(problem, !apart), share});
      if (apart) {
        const std::size_t helpers = out.size() - 1;
        out.front().push_back({MakeClimbingWorker(problem, helpers), 1});
        for (std::size_t i = 0; i < helpers; ++i) out[i + 1].push_back({MakeClimbingHelper(problem, i), share});
      }
    }
    for (std::size_t i = 0; i < stretches.lanes.size(); ++i) {
      const bool last = i + 1 == stretches.lanes.size();
      out[i].push_back({std::move(stretches.lanes[i]), last ? share : share / 2});
      stretch = stretches.largest;
    }
  }
  // Stretches are windows that also prove, so there is no need of others unless they are long.
  if (all && o.windows && WindowsFit(problem) && problem.may_recompute() && stretch > kLongStretch) {
    const int with = stretch < problem.instance.num_ops ? lanes - 1 : lanes;
    for (int i = 0; i < with; ++i)
      out[static_cast<std::size_t>(i)].push_back(
          {MakeWindowsWorker(problem, i, with), problem.instance.plain ? 2.0 : 1.0});
  }
  if (all && o.neighbourhood && NeighbourhoodFits(problem) && problem.may_recompute()) {
    for (int i = 0; i < std::max(1, lanes - 1); ++i)
      out[static_cast<std::size_t>(i)].push_back({MakeNeighbourhoodWorker(problem, i), 0.5});
  }
  if (o.anneal && (all || o.method == Method::kAnneal)) {
    for (int i = 0; i < lanes; ++i) {
      auto& lane = out[static_cast<std::size_t>(i)];
      // A hint is nearer to a good plan than anything that the others begin with.
      const bool first = i == 0 && !problem.hint.empty();
      lane.insert(first ? lane.begin() : lane.end(), WorkerSlot{MakeAnnealWorker(problem, i), 1});
    }
  }
  return out;
}

}  // namespace ebb
