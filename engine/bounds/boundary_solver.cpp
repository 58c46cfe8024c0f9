// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/boundary_solver.hpp"

#include <algorithm>
#include <utility>

#include "engine/bounds/boundary_places.hpp"
#include "engine/bounds/boundary_solver_impl.hpp"

namespace ebb {

BoundarySolver::Impl::Impl(const Instance& in, std::int64_t budget_in, OrderMode mode_in, BoundaryDecoder* decoder_in,
                           const Params& params_in)
    : instance(in),
      budget(budget_in),
      mode(mode_in),
      decoder(decoder_in),
      params(params_in),
      terms{budget, mode, params.moment_rows, params.told_orders && params.from < 0, params.climb},
      sharing(params.climb ? params.desk : nullptr) {
  SequenceFacts facts = EvaluateSequence(in, in.order);
  floor = in.base_duration;
  tree_limit = params.tree_ticks;
  if (params.from >= 0) {
    positions.push_back(params.from);
    const auto first = facts.profile.begin() + std::min<std::ptrdiff_t>(params.from + 1, std::ssize(facts.profile));
    const auto peak = std::max_element(first, facts.profile.end());
    if (peak != facts.profile.end() && *peak > budget)
      positions.push_back(static_cast<std::int32_t>(peak - facts.profile.begin()));
    return;
  }
  if (facts.valid && facts.peak <= budget) {
    done = true;
    incumbent = in.base_duration;
    return;
  }
  if (!facts.valid) {
    // In the given order something is overwritten that is read later: a rerun is needed at any budget. The
    // relaxation does not see that; look at the profile that it does see.
    Instance plain = in;
    plain.consumes = Csr<std::int32_t>();
    for (std::size_t op = 0; op < in.num_ops; ++op) plain.consumes.EndRow();
    facts = EvaluateSequence(plain, in.order);
    if (facts.peak <= budget) {
      done = true;
      return;
    }
  }
  positions.push_back(facts.peak_position);
}

void BoundarySolver::Impl::NothingThere() {
  if (Limit() == kInfinity) infeasible = true;
  if (Limit() != kInfinity) floor = std::max(floor, Limit());
  if (infeasible || floor >= incumbent) {
    done = true;
    return;
  }
  steps.Raise(floor, incumbent, progress.models > models_at_ceiling + 1);
  models_at_ceiling = progress.models;
  floor_at_ceiling = floor;
  carried_facts = lasting_facts;
  carried_trees.clear();
  sharing.Forget();
  alone = false;
  carried_rows = TakeRows();
  TakeBranching();
  tree_wanted = true;
  phase = Phase::kBuild;
}

void BoundarySolver::Impl::LowerCeiling() {
  steps.Lower(floor, incumbent);
  floor_at_ceiling = floor;
  search->SetCutoff(Limit() - instance.base_duration);
  alone = false;
}

void BoundarySolver::Impl::TakeFacts() {
  if (!params.carry_fixings || search == nullptr || search->facts_below_own()) return;
  carried_facts.Take(*model, *search);
  if (steps.ceiling() >= incumbent) lasting_facts = carried_facts;
}

bool BoundarySolver::Impl::Step(WorkBudget& work) {
  waits = false;
  for (;;) {
    if (done) return true;
    if (incumbent <= floor) {
      done = true;
      return true;
    }
    if (work.Exhausted()) return false;
    if (phase == Phase::kProbe) {
      if (search == nullptr) {
        if (next_probe == probes.size() || probes.size() == 1) {
          SetProbe(best_probe);
          if (!best_rows.empty()) carried_rows = std::exchange(best_rows, {});
          phase = Phase::kBuild;
          continue;
        }
        SetProbe(next_probe);
        Build(true);
        work.Spend(100 * static_cast<Ticks>(progress.rows + progress.columns + instance.num_ops));
        if (done) return true;
      }
      const BinarySolver::State state = search->Step(work);
      RaiseFloor();
      if (state == BinarySolver::State::kLimit) return false;
      if (state == BinarySolver::State::kFinished && !search->has_solution()) {
        NothingThere();
        continue;
      }
      const std::int64_t bound = std::min(search->lower_bound(), search->cutoff());
      // A second boundary at once has to pay, by a twentieth of what is left: it slows every node.
      const std::int64_t left = search->cutoff() - best_probe_bound;
      if (bound > best_probe_bound + (probes[next_probe].size() > 1 && best_probe_bound > 0 ? left / 20 : 0)) {
        best_probe_bound = bound;
        best_probe = next_probe;
        best_rows = TakeRows();
      }
      ++next_probe;
      now.DropSearch();
      continue;
    }
    if (phase == Phase::kBuild) {
      Build(!tree_wanted);
      work.Spend(100 * static_cast<Ticks>(progress.rows + progress.columns + instance.num_ops));
      phase = tree_wanted ? Phase::kTree : Phase::kRoot;
      progress.in_tree = tree_wanted;
      continue;
    }
    const Ticks before = work.spent();
    const BranchAndBound::State state = search->Step(work);
    tree_spent += work.spent() - before;
    RaiseFloor();
    steps.Spend(work.spent() - before);
    if (phase == Phase::kRoot) {
      switch (state) {
        case BranchAndBound::State::kLimit: return false;
        case BranchAndBound::State::kFinished:
          if (!search->has_solution()) {
            NothingThere();
            continue;
          }
          [[fallthrough]];
        case BranchAndBound::State::kSolution:
        case BranchAndBound::State::kRootDone: {
          std::vector<double> x;
          if (state == BranchAndBound::State::kRootDone)
            x.assign(search->root_x().begin(), search->root_x().end());
          else
            x.assign(search->solution().begin(), search->solution().end());
          TakeFacts();
          carried_rows = TakeRows();
          TryRoundings(x);
          overflow = ImpliedOverflow(*model, x, budget, params.tolerance, params.from);
          work.Spend(20 * static_cast<Ticks>(instance.num_values * positions.size() + instance.num_ops));
          ++lp_rounds;
          if (lp_rounds < params.max_lp_rounds &&
              Refine(params.per_round, static_cast<std::int32_t>(instance.num_ops / 50 + 2))) {
            phase = Phase::kBuild;
            return false;
          }
          tree_wanted = true;
          phase = Phase::kBuild;
          return false;
        }
      }
    }
    // The tree.
    switch (state) {
      case BranchAndBound::State::kLimit: {
        if (params.climb) {
          if (steps.OutOfPatience(floor, incumbent)) LowerCeiling();
          return false;
        }
        if (tree_spent < tree_limit && !SpentForce()) return false;
        // A tree that does not close is left for a finer model; where to refine is told by a solution, so it dives for
        // one first. (Refining by what the fractional points imply was tried: on RL n = 250 at 0.8 it takes eleven
        // boundaries to no bound above 3.59 %, where eight found by solutions reach 3.99 % in the same time.)
        if (overflow.empty()) {
          search->SetDiving(true);
          if (tree_spent < 2 * tree_limit) return false;
        }
        NextTree();
        return false;
      }
      case BranchAndBound::State::kSolution: {
        const std::vector<double> x(search->solution().begin(), search->solution().end());
        TryDecode(x, true);
        if ((params.climb || tree_spent >= tree_limit || SpentForce()) && !overflow.empty()) NextTree();
        return false;
      }
      case BranchAndBound::State::kRootDone: continue;
      case BranchAndBound::State::kFinished: {
        if (!HasPoint()) {
          if (tree != nullptr && sharing.any_out()) {
            sharing.AskHalf();
            waits = true;
            return false;
          }
          NothingThere();
          continue;
        }
        // The relaxation's optimum did not become a plan: where does it overflow?
        if (!alone || !sharing.any_out()) NextTree();
        if (phase == Phase::kTree) {
          // All that is cheaper has to come back first.
          waits = sharing.any_out();
          done = !waits;
          return done;
        }
        continue;
      }
    }
  }
}

BoundarySolver::BoundarySolver(const Instance& instance, std::int64_t budget, OrderMode mode, BoundaryDecoder* decoder,
                               const Params& params)
    : impl_(std::make_unique<Impl>(instance, budget, mode, decoder, params)) {}
BoundarySolver::~BoundarySolver() = default;
void BoundarySolver::SetIncumbent(std::int64_t duration) {
  if (duration >= impl_->incumbent) return;
  impl_->incumbent = duration;
  if (impl_->search != nullptr) impl_->search->SetCutoff(duration - impl_->instance.base_duration);
}
bool BoundarySolver::Step(WorkBudget& work) {
  impl_->ReadHelpers();
  const bool finished = impl_->Step(work);
  if (finished)
    impl_->sharing.Forget();
  else if (impl_->Limit() != Impl::kInfinity)
    impl_->sharing.SetCutoff(impl_->Limit() - impl_->instance.base_duration);
  impl_->GiveToHelpers();
  return finished;
}
bool BoundarySolver::waiting() const { return impl_->waits; }
std::int64_t BoundarySolver::lower_bound() const { return impl_->floor; }
bool BoundarySolver::proved() const { return impl_->incumbent != Impl::kInfinity && impl_->floor >= impl_->incumbent; }
bool BoundarySolver::infeasible() const { return impl_->infeasible; }
std::vector<BoundarySolver::Candidate> BoundarySolver::TakeCandidates() { return std::exchange(impl_->candidates, {}); }
std::span<const std::int32_t> BoundarySolver::positions() const { return impl_->positions; }
const BoundarySolver::Progress& BoundarySolver::progress() const { return impl_->progress; }

}  // namespace ebb
