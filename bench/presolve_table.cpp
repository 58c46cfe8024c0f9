// SPDX-License-Identifier: Apache-2.0
//
// What presolve finds on graph files, one Markdown row each (docs/presolve.md):
//   presolve_table BUDGET SECONDS_PER_PLAN GRAPH...
// Budget as a share of the no-recompute peak. Besides the rules in use, those that were looked at: pairs of ops that
// could be merged exactly, and what the flow's reduced costs decide against the best of a short search's plans.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/problem/presolve.hpp"
#include "heuristics/annealing.hpp"
#include "heuristics/priced_plans.hpp"
#include "io/read_graph.hpp"

namespace {

using namespace ebb;

// a and b one behind the other, b the only reader of all that a makes, and reading nothing else.
struct Pairs {
  std::int64_t private_value = 0;  // the shape
  std::int64_t exact = 0;          // merging loses no plan: see docs/presolve.md
};

Pairs CountPairs(const Instance& in) {
  Pairs pairs;
  for (std::size_t r = 0; r + 1 < in.num_ops; ++r) {
    const auto a = static_cast<std::size_t>(in.order[r]), b = static_cast<std::size_t>(in.order[r + 1]);
    if (in.makes[a].size() != 1 || in.reads[b].size() != 1 || in.reads[b][0] != in.makes[a][0]) continue;
    const auto v = static_cast<std::size_t>(in.makes[a][0]);
    if (in.kept[v] || in.readers[v].size() != 1 || in.carrier[v] >= 0 || !in.consumes[b].empty()) continue;
    ++pairs.private_value;
    std::int64_t into = 0, out = 0;
    for (const std::int32_t u : in.reads[a]) into += in.bytes[static_cast<std::size_t>(u)];
    for (const std::int32_t w : in.makes[b]) out += in.bytes[static_cast<std::size_t>(w)];
    const std::int64_t between = in.bytes[v];
    const bool never_alone = between >= out;  // keeping b's outputs is no worse than keeping a's
    const bool later = into <= between && into + in.moment[a] <= out + in.moment[b];
    const bool earlier = out + in.moment[b] <= in.moment[a];
    pairs.exact += never_alone && (later || earlier) && into == 0;
  }
  return pairs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const double share = std::atof(argv[1]), seconds = std::atof(argv[2]);
  std::printf(
      "| graph | ops | may repeat | unread | free | heavy | passed on | private pairs | exact | plan %% | flow %% | "
      "gaps | gaps decided | ops decided |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int i = 3; i < argc; ++i) {
    const std::filesystem::path path(argv[i]);
    const ReadGraphResult read = ReadGraph(path, {});
    Instance in = MakeInstance(read.graph);
    const Pairs pairs = CountPairs(in);
    const PresolveCounts c = MarkOnceOps(in, OrderMode::kFixed);
    const SequenceFacts facts = EvaluateSequence(in, in.order);
    if (!facts.valid) continue;
    const auto budget = static_cast<std::int64_t>(share * static_cast<double>(facts.peak));
    const GapTable table = FixedOrderGaps(in);
    const GapCoverBound flow = SolveGapCover(in, table, budget);
    std::int64_t best = INT64_MAX;
    std::vector<std::int32_t> sequence;
    WorkBudget none;
    if (!flow.shortage)
      PlanByPrices(in, table, budget, flow, 2, 0, none, [&](const EvictionResult& r) {
        if (r.peak > budget || r.duration >= best) return;
        best = r.duration;
        sequence = r.sequence;
      });
    if (!sequence.empty() && seconds > 0) {
      AnnealingParams params;
      params.budget = budget;
      Annealing walk(in, params);
      walk.Start(sequence);
      WorkBudget work(static_cast<Ticks>(seconds * static_cast<double>(kTicksPerWork)));
      walk.Run(work);
      if (walk.has_plan()) best = std::min(best, walk.best_duration());
    }
    std::int64_t decided = 0, once = 0;
    if (best != INT64_MAX && !flow.shortage) {
      const Int128 value = EvaluatePrices(table, flow.costs, budget, flow.price, flow.price_scale);
      // Beyond this a plan is no better than the best one.
      const Int128 most = Int128{best - in.base_duration - table.forced_duration - 1} * flow.price_scale;
      const std::vector<Int128> sums = PriceSums(flow.price);
      std::vector<std::uint8_t> open(in.num_ops, 0);
      for (std::size_t g = 0; g < table.gaps.size(); ++g) {
        const Int128 reduced = ReducedCost(table, flow.costs, flow.price_scale, sums, g);
        if (value + std::max<Int128>(reduced, 0) > most) {
          ++decided;
        } else {
          for (const std::int32_t op : table.charges[g]) open[static_cast<std::size_t>(op)] = 1;
        }
      }
      for (std::size_t op = 0; op < in.num_ops; ++op)
        once += in.may_repeat[op] && !open[op] && value + Int128{in.duration[op]} * flow.price_scale > most;
    }
    const auto percent = [&](std::int64_t extra) {
      return 100.0 * static_cast<double>(extra) / static_cast<double>(in.base_duration);
    };
    const auto n = [](std::int64_t x) { return static_cast<long long>(x); };
    std::printf("| %s | %zu | %lld | %lld | %lld | %lld | %lld | %lld | %lld | %s | %.4f | %zu | %lld | %lld |\n",
                path.stem().c_str(), in.num_ops, n(c.ops), n(c.unread), n(c.free), n(c.heavy), n(c.passed_on),
                n(pairs.private_value), n(pairs.exact),
                best == INT64_MAX ? "none" : std::to_string(percent(best - in.base_duration)).c_str(),
                percent(flow.extra), table.gaps.size(), n(decided), n(once));
    std::fflush(stdout);
  }
  return 0;
}
