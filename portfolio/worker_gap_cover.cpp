// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gaps.hpp"
#include "heuristics/priced_plans.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class GapCoverWorker : public Worker {
 public:
  explicit GapCoverWorker(const Problem& problem) : problem_(problem) {}

  const char* name() const override { return "gap cover"; }

  // One step does it all: the flow takes seconds for a million ops, and whoever waits for a first plan waits for it.
  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const Instance& in = problem_.instance;
    const bool binding = problem_.order != OrderMode::kFree;  // else: a plan in the given order is a plan, no more
    // A turn's ticks are no reason to leave a plan half made.
    WorkBudget work(std::numeric_limits<Ticks>::max(), budget.stop_signal());
    const auto offer = [&](const EvictionResult& r) {
      if (r.peak <= problem_.budget.count() && exchange.Interesting(r.duration, r.sequence.size()))
        exchange.Offer(r.sequence, name());
    };
    PlanWithoutPrices(in, problem_.budget.count(), work, offer);
    const GapTable table = FixedOrderGaps(in);
    // Ticks by size: the simplex does not count its own (measured: 1.3 s for 54k gaps).
    budget.Spend(static_cast<Ticks>(table.gaps.size()) * 2000 + static_cast<Ticks>(table.num_rows()) * 1000);
    if (table.impossible) {
      if (!binding) return false;
      Infeasibility why;
      const auto value = static_cast<std::size_t>(*table.impossible);
      if (in.maker[value] >= 0) {
        why.op = ToOpId(static_cast<std::size_t>(in.maker[value]));
        why.text = "in the given order op '" + problem_.graph->op_name(why.op) + "' would have to run twice, but may not";
      } else {
        why.text = "in the given order graph input '" + problem_.graph->tensor_name(in.tensor[value]) +
                   "' is read after it was overwritten";
      }
      exchange.ProveInfeasible(std::move(why));
      return false;
    }
    const GapCoverBound bound = SolveGapCover(in, table, problem_.budget.count());
    if (bound.shortage) {
      if (!binding) return false;
      Infeasibility why;
      why.op = ToOpId(static_cast<std::size_t>(table.row_op[bound.shortage->row]));
      why.bytes_needed = bound.shortage->needed;
      why.bytes_given = bound.shortage->given;
      why.text = "at its place in the given order op '" + problem_.graph->op_name(why.op) + "' needs " +
                 std::to_string(why.bytes_needed) + " bytes, the budget gives " + std::to_string(why.bytes_given);
      exchange.ProveInfeasible(std::move(why));
      return false;
    }
    if (binding) exchange.RaiseBound(in.base_duration + bound.extra, name());
    PlanByPrices(in, table, problem_.budget.count(), bound, in.num_ops <= kManyOps ? kRepricings : 0, work, offer);
    budget.Spend(work.spent());
    return false;
  }

 private:
  static constexpr int kRepricings = 2;
  static constexpr std::size_t kManyOps = 20000;  // from here on a flow takes its time, and local search gains more
  const Problem& problem_;
};

}  // namespace

std::unique_ptr<Worker> MakeGapCoverWorker(const Problem& problem) { return std::make_unique<GapCoverWorker>(problem); }

}  // namespace ebb
