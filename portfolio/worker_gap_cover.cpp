// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "engine/bounds/free_order_gaps.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gap_cover_integer.hpp"
#include "engine/bounds/gaps.hpp"
#include "heuristics/priced_plans.hpp"
#include "portfolio/flow_memory.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class GapCoverWorker : public Worker {
 public:
  explicit GapCoverWorker(const Problem& problem) : problem_(problem) {}

  const char* name() const override { return "gap cover"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (integer_) return Prove(budget, exchange);
    if (!plans_) return Solve(budget, exchange);
    // Before all but the first of the plans: it takes less than they do, and somebody may wait for a bound.
    if (!binding() && !any_order_) return BoundAnyOrder(budget, exchange);
    if (Plan(budget, exchange)) return true;
    return Next(budget, exchange);
  }

 private:
  static constexpr int kRepricings = 2;
  static constexpr std::size_t kManyOps = 20000;  // from here on a flow takes its time, and local search gains more

  // In free order a plan in the given order is a plan, and no more.
  bool binding() const { return problem_.order != OrderMode::kFree; }

  void Offer(const EvictionResult& r, Exchange& exchange) {
    if (r.peak > problem_.budget.count()) return;
    best_ = std::min(best_, r.duration);
    if (exchange.Interesting(r.duration, r.sequence.size())) exchange.Offer(r.sequence, name());
  }

  // One step does all this: the flow takes seconds for a million ops, and whoever waits for a first plan waits for it.
  // False: all is said.
  bool Solve(WorkBudget& budget, Exchange& exchange) {
    const Instance& in = problem_.instance;
    // A turn's ticks are no reason to leave a plan half made.
    WorkBudget work(std::numeric_limits<Ticks>::max(), budget.stop_signal());
    // Between two passes over a million ops somebody may want an end.
    const auto ended = [&] { return budget.stop_signal() != nullptr && budget.stop_signal()->Expired(); };
    PlanWithoutPrices(in, problem_.budget.count(), problem_.max_executions.value_or(0), work,
                      [&](const EvictionResult& r) { Offer(r, exchange); });
    if (ended()) return false;
    const GapCoverBound* near = nullptr;
    FlowMemory* const flows = problem_.flows;
    if (flows != nullptr && flows->table && !problem_.hint.empty() && flows->may_repeat == in.may_repeat) {
      table_ = flows->table;
      near = &flows->flow;
    } else {
      table_ = std::make_shared<const GapTable>(FixedOrderGaps(in, budget.stop_signal()));
    }
    budget.Spend(static_cast<Ticks>(table_->gaps.size()) * 300 + static_cast<Ticks>(table_->num_rows()) * 1000);
    if (table_->impossible) {
      if (!binding()) return Next(budget, exchange);
      Infeasibility why;
      const auto value = static_cast<std::size_t>(*table_->impossible);
      if (in.maker[value] >= 0) {
        why.op = ToOpId(static_cast<std::size_t>(in.maker[value]));
        why.text =
            "in the given order op '" + problem_.graph->op_name(why.op) + "' would have to run twice, but may not";
      } else {
        why.text = "in the given order graph input '" + problem_.graph->tensor_name(in.tensor[value]) +
                   "' is read after it was overwritten";
      }
      exchange.ProveInfeasible(std::move(why));
      return false;
    }
    if (ended()) return false;
    flow_ = SolveGapCover(in, *table_, problem_.budget.count(), 2, &work, near);
    if (flow_.shortage) {
      if (!binding()) return Next(budget, exchange);
      Infeasibility why;
      why.op = ToOpId(static_cast<std::size_t>(table_->row_op[flow_.shortage->row]));
      why.bytes_needed = flow_.shortage->needed;
      why.bytes_given = flow_.shortage->given;
      why.text = "at its place in the given order op '" + problem_.graph->op_name(why.op) + "' needs " +
                 std::to_string(why.bytes_needed) + " bytes, the budget gives " + std::to_string(why.bytes_given);
      exchange.ProveInfeasible(std::move(why));
      return false;
    }
    if (flows != nullptr) *flows = {flows->graph, in.may_repeat, table_, flow_};
    if (binding()) exchange.RaiseBound(in.base_duration + flow_.extra, name());
    plans_.emplace(in, *table_, problem_.budget.count(), flow_, in.num_ops <= kManyOps ? kRepricings : 0,
                   problem_.max_executions.value_or(0));
    budget.Spend(work.spent());
    return !ended();
  }

  // One plan more, after the first two unless the others have better ones: local search is soon beyond what prices
  // alone lead to, and all of them take as long as its first second (RL n=1000 at 0.8 with 0.2 units of work: 93.6 %
  // where they were all made before anybody else's turn, 2.7 % with none of them).
  bool Plan(WorkBudget& budget, Exchange& exchange) {
    const IncumbentPtr& known = exchange.known().best;
    if (made_ >= 2 && known && known->duration() < best_) return false;
    ++made_;
    WorkBudget work(std::numeric_limits<Ticks>::max(), budget.stop_signal());
    const bool more = plans_->Step(work, [&](const EvictionResult& r) { Offer(r, exchange); });
    budget.Spend(work.spent());
    return more;
  }

  // The plans are made. False: all is said.
  bool Next(WorkBudget& budget, Exchange& exchange) {
    if (!binding()) {
      if (!any_order_ && !BoundAnyOrder(budget, exchange)) return false;
      table_ = any_order_;
      flow_ = std::move(any_order_flow_);
    }
    return problem_.options->gap_cover_integer && Begin(exchange);
  }

  // Free order: the bound, from paths through the graph. False: all is said.
  bool BoundAnyOrder(WorkBudget& budget, Exchange& exchange) {
    const Instance& in = problem_.instance;
    WorkBudget work(std::numeric_limits<Ticks>::max(), budget.stop_signal());
    any_order_ = std::make_shared<const GapTable>(
        BestFreeOrderGaps(in, problem_.budget.count(), &work, table_ ? &*table_ : nullptr));
    any_order_flow_ = SolveGapCover(in, *any_order_, problem_.budget.count(), 2, &work);
    budget.Spend(work.spent());
    if (const auto& shortage = any_order_flow_.shortage) {
      Infeasibility why;
      why.op = ToOpId(static_cast<std::size_t>(any_order_->row_op[shortage->row]));
      why.bytes_needed = shortage->needed;
      why.bytes_given = shortage->given;
      why.text = "when op '" + problem_.graph->op_name(why.op) + "' first runs, " + std::to_string(why.bytes_needed) +
                 " bytes are needed in any order, the budget gives " + std::to_string(why.bytes_given);
      exchange.ProveInfeasible(std::move(why));
      return false;
    }
    exchange.RaiseBound(in.base_duration + any_order_flow_.extra, name());
    return true;
  }

  std::optional<std::int64_t> Cutoff(const Exchange& exchange) const {
    const IncumbentPtr& best = exchange.known().best;
    if (!best) return std::nullopt;
    return best->duration() - problem_.instance.base_duration;
  }

  bool Begin(Exchange& exchange) {
    cutoff_ = Cutoff(exchange);
    integer_ = std::make_unique<GapCoverInteger>(problem_.instance, *table_, flow_, problem_.budget.count(), cutoff_);
    return true;
  }

  bool Prove(WorkBudget& budget, Exchange& exchange) {
    if (const auto cutoff = Cutoff(exchange); cutoff && (!cutoff_ || *cutoff < *cutoff_)) {
      cutoff_ = cutoff;
      integer_->SetCutoff(*cutoff);
    }
    const bool done = integer_->Step(budget);
    std::int64_t extra = integer_->extra();
    if (cutoff_) extra = std::min(extra, *cutoff_);
    exchange.RaiseBound(problem_.instance.base_duration + extra, "0/1 gap cover");
    return !done;
  }

  const Problem& problem_;
  std::shared_ptr<const GapTable> table_;
  GapCoverBound flow_;
  std::shared_ptr<const GapTable> any_order_;  // free order: the table that its bound stands on
  GapCoverBound any_order_flow_;
  std::optional<PricedPlans> plans_;  // once the flow is solved
  int made_ = 0;
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();  // duration of the best plan made here
  std::optional<std::int64_t> cutoff_;  // additional duration of the best plan that the 0/1 cover was told
  std::unique_ptr<GapCoverInteger> integer_;
};

}  // namespace

std::unique_ptr<Worker> MakeGapCoverWorker(const Problem& problem) { return std::make_unique<GapCoverWorker>(problem); }

}  // namespace ebb
