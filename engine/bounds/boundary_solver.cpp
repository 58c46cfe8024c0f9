// SPDX-License-Identifier: Apache-2.0
//
// One machine of phases (model built, its root, its tree, probes of the next) over one state, which its parts would all
// share: hence more than 400 lines.
#include "engine/bounds/boundary_solver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/bounds/bound_steps.hpp"
#include "engine/bounds/boundary_places.hpp"
#include "engine/bounds/boundary_rounding.hpp"
#include "engine/bounds/carry_over.hpp"
#include "engine/bounds/model_search.hpp"
#include "engine/bounds/tree_sharing.hpp"

namespace ebb {

namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
constexpr Ticks kLongTree = 5'000'000'000;  // in steps: after such a one the next boundary is worth probes
constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();

}  // namespace

struct BoundarySolver::Impl {
  Impl(const Instance& in, std::int64_t budget_in, OrderMode mode_in, BoundaryDecoder* decoder_in,
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

  const Instance& instance;
  std::int64_t budget;
  OrderMode mode;
  BoundaryDecoder* decoder;
  Params params;
  const ModelTerms terms;

  std::vector<std::int32_t> positions;
  std::int64_t floor = 0;              // total duration
  std::int64_t incumbent = kInfinity;  // total duration
  bool done = false, infeasible = false;
  enum class Phase { kBuild, kRoot, kTree, kProbe } phase = Phase::kBuild;
  bool tree_wanted = false;
  std::int32_t lp_rounds = 0;
  std::vector<Candidate> candidates;
  Progress progress;
  std::vector<std::int32_t> overflow;         // positions wanted next, worst first
  std::vector<BoundaryModel::OpPair> pairs;   // whose order is told; ascending
  std::vector<BoundaryModel::OpPair> untold;  // and should be, by the last solution
  bool cut_stages = false;

  ModelSearch now;
  std::unique_ptr<BoundaryModel>& model = now.model;
  std::unique_ptr<BinarySolver>& search = now.search;
  BranchAndBound*& tree = now.tree;
  Ticks tree_spent = 0, tree_limit = 0;

  // ---- in steps: Params::climb --------------------------------------------------------------------------------------
  BoundSteps steps{params.steps, instance.base_duration};
  std::int32_t models_at_ceiling = 0;                             // built before this ceiling was set
  std::vector<std::shared_ptr<const CarriedTree>> carried_trees;  // nodes for the next tree
  TreeSharing sharing;
  CarriedFacts lasting_facts;  // true below the incumbent, not only below the ceiling
  [[nodiscard]] std::int64_t Limit() const { return std::min(incumbent, steps.ceiling()); }
  // Nothing is below Limit().
  void NothingThere() {
    if (Limit() == kInfinity) infeasible = true;
    if (Limit() != kInfinity) floor = std::max(floor, Limit());
    if (infeasible || floor >= incumbent) {
      done = true;
      return;
    }
    steps.Raise(floor, incumbent, progress.models > models_at_ceiling + 1);
    models_at_ceiling = progress.models;
    carried_facts = lasting_facts;
    carried_trees.clear();
    sharing.Forget();
    carried_rows = TakeRows();
    tree_wanted = true;
    phase = Phase::kBuild;
  }
  void LowerCeiling() {
    steps.Lower(floor, incumbent);
    search->SetCutoff(Limit() - instance.base_duration);
  }

  CarriedFacts carried_facts;
  CarriedRows carried_rows, best_rows;  // the latter of the best probe so far
  void TakeFacts() {
    if (!params.carry_fixings || search == nullptr || search->facts_below_own()) return;
    carried_facts.Take(*model, *search);
    if (steps.ceiling() >= incumbent) lasting_facts = carried_facts;
  }
  CarriedRows TakeRows() const {
    return params.carry_rows && search != nullptr ? CarriedRows(*model, *search) : CarriedRows();
  }

  // ---- one model ----------------------------------------------------------------------------------------------------
  void Build(bool root_only) {
    if (!root_only && params.climb) steps.Begin(floor, incumbent);
    if (model != nullptr)
      for (const auto& [pair, column] : model->orders()) AddPair(pair);
    now.SetModel(instance, terms, positions, pairs, cut_stages);
    if (model->impossible()) {
      infeasible = done = true;
      return;
    }
    BinaryProgram program = now.Program(carried_facts, carried_rows);
    if (params.from >= 0)
      for (std::size_t v = 0; v < instance.num_values; ++v)
        if (const std::int32_t c = model->stay(0, static_cast<std::int32_t>(v)); c >= 0 && !params.entry[v])
          program.upper[At(c)] = 0;
    if (!root_only && params.search) {
      search = params.search(std::move(program), now.separator.get());
    } else if (!root_only && params.climb) {
      std::vector<BranchAndBound::OpenNode> nodes;
      for (const auto& carried : std::exchange(carried_trees, {}))
        for (BranchAndBound::OpenNode& node : carried->Give(*model)) nodes.push_back(std::move(node));
      now.SetTree(std::move(program), std::move(nodes));
    } else {
      BranchAndBound::Params p;
      p.root_only = root_only;
      search = std::make_unique<BranchAndBound>(std::move(program), now.separator.get(), p);
    }
    if (Limit() != kInfinity) search->SetCutoff(Limit() - instance.base_duration);
    ++progress.models;
    progress.columns = model->columns().size();
    progress.rows = model->program().rows.size();
    tree_spent = 0;
  }

  void RaiseFloor() {
    std::int64_t relaxed = std::min(search->lower_bound(), search->cutoff());
    if (tree != nullptr) relaxed = std::min(relaxed, sharing.bound());
    if (relaxed > 0 && relaxed < kInfinity) floor = std::max(floor, instance.base_duration + relaxed);
    if (floor > incumbent) floor = incumbent;
    progress.nodes = search->nodes();
    progress.lp_iterations = search->lp_iterations();
    progress.rows = search->rows().size();
  }

  // A fractional point is decoded in three ways: with what is nearly whole staying, with as much of the rest as fits
  // the boundaries' memory besides (largest fraction first), and with all above a half. The last may be over the
  // budget; it is the nearest to the bound and comes last, for local search to start from.
  void TryRoundings(std::span<const double> x) {
    std::vector<double> rounded(x.size());
    for (std::size_t c = 0; c < x.size(); ++c) rounded[c] = x[c] >= 0.999 ? 1.0 : 0.0;
    TryDecode(rounded, false, true);
    FillUp(*model, x, rounded);
    TryDecode(rounded, false, true);
    for (std::size_t c = 0; c < x.size(); ++c) rounded[c] = x[c] >= 0.5 ? 1.0 : 0.0;
    TryDecode(rounded, false);
  }

  // Decodes and measures; collects where the sequence overflows. What does not fit is worth keeping too (local search
  // mends it), but not where it comes from dropping too much.
  void TryDecode(std::span<const double> x, bool collect, bool only_better = false) {
    if (decoder == nullptr) return;
    auto point = DecodePoint(*model, x, *decoder, {budget, mode, params.from, params.entry}, collect);
    if (point) Take(std::move(*point), collect, only_better);
  }
  void Take(DecodedPoint point, bool collect, bool only_better) {
    if (collect) {
      overflow = std::exchange(point.overflow, {});
      untold = std::exchange(point.untold, {});
    }
    if (only_better && (!point.fits || point.duration >= incumbent)) return;
    if (point.fits && point.duration < incumbent) {
      incumbent = point.duration;
      if (search != nullptr) search->SetCutoff(incumbent - instance.base_duration);
    }
    candidates.push_back(std::move(point));
  }

  // Adds up to `count` of the wanted positions; false where there is none.
  bool Refine(std::int32_t count, std::int32_t spacing) {
    if (static_cast<std::int32_t>(positions.size()) >= params.max_boundaries ||
        model->columns().size() > params.max_columns)
      return false;
    const std::vector<std::int32_t> added = SpreadPlaces(overflow, count, spacing, positions);
    if (added.empty()) return false;
    positions.insert(positions.end(), added.begin(), added.end());
    std::sort(positions.begin(), positions.end());
    overflow.clear();
    return true;
  }

  void AddPair(const BoundaryModel::OpPair& pair) {
    const auto at = std::lower_bound(pairs.begin(), pairs.end(), pair);
    if (at == pairs.end() || *at != pair) pairs.insert(at, pair);
  }

  // What no boundary refutes: reruns in one stage of reruns alone. First their order is made part of the model, then
  // what even that leaves is cut off.
  bool RefineStages() {
    if (!TellsOrders(instance, terms)) return false;
    if (!untold.empty() && model->columns().size() <= params.max_columns) {
      for (const BoundaryModel::OpPair& pair : untold) AddPair(pair);
      untold.clear();
      return true;
    }
    return !std::exchange(cut_stages, true);
  }

  // The model has a solution so cheap that little of the gap to the incumbent is left for its bound to rise by.
  bool SpentForce() const {
    if (overflow.empty() || !search->has_solution()) return false;
    const std::int64_t bound = std::max(search->lower_bound(), floor - instance.base_duration);
    if (search->solution_cost() <= bound) return true;
    return incumbent != kInfinity && search->solution_cost() - bound < (incumbent - instance.base_duration - bound) / 4;
  }

  // Leaves the tree for a finer model, if there is one; else gives it more time.
  void NextTree() {
    const bool long_tree = tree_spent > kLongTree;
    tree_spent = 0;
    tree_limit = static_cast<Ticks>(static_cast<double>(tree_limit) * params.tree_growth);
    search->SetDiving(false);
    TakeFacts();
    carried_rows = TakeRows();
    // Where the relaxation has hardly a gap left, the first places can be added unseen. In a large model each costs
    // time and the right one counts (RL n=250 at 0.8: after eight boundaries 240 leads to the proof, the worst
    // overflow, 241, to 3.87 % and no further), so there the LPs choose.
    std::shared_ptr<const CarriedTree> nodes;
    if (tree != nullptr) nodes = std::make_shared<CarriedTree>(*model, tree->OpenNodes());
    if (params.probes == 0 || (params.climb && !long_tree) || (SpentForce() && positions.size() < 6)) {
      if (Refine(params.climb ? 1 : params.per_tree, 1) || RefineStages()) phase = Phase::kBuild;
    } else if (BeginProbes()) {
      phase = Phase::kProbe;
    } else if (RefineStages()) {
      phase = Phase::kBuild;
    }
    if (phase == Phase::kTree || nodes == nullptr) return;
    carried_trees.push_back(std::move(nodes));
    sharing.CallBack();
  }

  // ---- together with helpers ----------------------------------------------------------------------------------------
  void ReadHelpers() {
    for (HandOver& handed : sharing.Read()) {
      if (phase == Phase::kTree && tree != nullptr)
        tree->Adopt(handed.tree->Give(*model));
      else
        carried_trees.push_back(std::move(handed.tree));
      if (handed.solution == nullptr || handed.solution->sequence.empty()) continue;
      const bool refines = phase == Phase::kTree;
      Take(*handed.solution, refines, false);
      if (!refines) continue;
      NextTree();
      // Nothing that a boundary or an order would refute: it is for the owner to see to, with all nodes.
      alone = phase == Phase::kTree;
      if (alone) sharing.CallBack();
    }
  }
  bool alone = false;
  void GiveToHelpers() {
    if (done || alone || steps.since_raised() < params.share_after || phase != Phase::kTree || tree == nullptr) return;
    for (int helper = sharing.Idle(); helper >= 0; helper = sharing.Idle()) {
      if (tree->num_open() < params.share_least) return;
      std::vector<BranchAndBound::OpenNode> half = tree->GiveHalf();
      if (half.empty()) return;
      std::int64_t bound = kInfinity;
      for (const BranchAndBound::OpenNode& node : half) bound = std::min(bound, node.bound);
      auto packet = std::make_shared<TreePacket>();
      packet->model = progress.models;
      packet->positions = positions;
      for (const auto& [pair, column] : model->orders()) packet->pairs.push_back(pair);
      packet->cut_stages = cut_stages;
      packet->facts.Take(*model, *search);
      packet->rows = CarriedRows(*model, *search);
      packet->tree = CarriedTree(*model, std::move(half));
      sharing.Give(helper, std::move(packet), bound);
    }
  }
  [[nodiscard]] bool Waiting() const {
    return !done && phase == Phase::kTree && tree != nullptr && tree->num_open() == 0 && sharing.any_out();
  }

  // ---- which boundaries next ----------------------------------------------------------------------------------------
  std::vector<std::vector<std::int32_t>> probes;
  std::size_t next_probe = 0, best_probe = 0;
  std::int64_t best_probe_bound = 0;
  std::vector<std::int32_t> base_positions;

  bool BeginProbes() {
    if (static_cast<std::int32_t>(positions.size()) >= params.max_boundaries ||
        model->columns().size() > params.max_columns)
      return false;
    probes = ProbeSets(overflow, params.probes, positions);
    overflow.clear();
    base_positions = positions;
    next_probe = best_probe = 0;
    best_probe_bound = -1;
    best_rows = {};
    if (probes.empty()) return false;
    search.reset();
    return true;
  }

  // (Facts are remembered from trees only: a probe's search is cut short.)
  void SetProbe(std::size_t index) {
    positions = base_positions;
    positions.insert(positions.end(), probes[index].begin(), probes[index].end());
    std::sort(positions.begin(), positions.end());
  }

  bool Step(WorkBudget& work);
};

bool BoundarySolver::Impl::Step(WorkBudget& work) {
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
      if (bound > best_probe_bound) {
        best_probe_bound = bound;
        best_probe = next_probe;
        best_rows = TakeRows();
      }
      ++next_probe;
      search.reset();
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
          if (steps.OutOfPatience()) LowerCeiling();
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
        if (!search->has_solution()) {
          if (tree != nullptr && sharing.any_out()) {
            sharing.AskHalf();
            return false;
          }
          NothingThere();
          continue;
        }
        // The relaxation's optimum did not become a plan: where does it overflow?
        NextTree();
        if (phase == Phase::kTree) {
          done = true;
          return true;
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
  else if (impl_->Limit() != kInfinity)
    impl_->sharing.SetCutoff(impl_->Limit() - impl_->instance.base_duration);
  impl_->GiveToHelpers();
  return finished;
}
bool BoundarySolver::waiting() const { return impl_->Waiting(); }
std::int64_t BoundarySolver::lower_bound() const { return impl_->floor; }
bool BoundarySolver::proved() const { return impl_->incumbent != kInfinity && impl_->floor >= impl_->incumbent; }
bool BoundarySolver::infeasible() const { return impl_->infeasible; }
std::vector<BoundarySolver::Candidate> BoundarySolver::TakeCandidates() { return std::exchange(impl_->candidates, {}); }
std::span<const std::int32_t> BoundarySolver::positions() const { return impl_->positions; }
const BoundarySolver::Progress& BoundarySolver::progress() const { return impl_->progress; }

}  // namespace ebb
