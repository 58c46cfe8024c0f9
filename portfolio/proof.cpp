// SPDX-License-Identifier: Apache-2.0
#include "portfolio/proof.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/boundary_solver.hpp"
#include "engine/bounds/gaps.hpp"
#include "engine/bounds/moment_rows.hpp"
#include "engine/core/proof_log.hpp"
#include "engine/problem/fingerprint.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/decode.hpp"
#include "io/json_text.hpp"
#include "portfolio/interval_solver.hpp"
#include "portfolio/proof_states.hpp"
#include "propagators/learning_solver.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMostOpsOfStates = 40;

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// What is claimed, and what the numbers of ops and tensors stand for.
void WriteHead(const Graph& graph, const Instance& instance, const ProofClaim& claim, std::ostream& out) {
  out << "ebbtide-proof 1\n";
  out << "graph " << Fingerprint(graph) << '\n';
  out << "order " << ToString(claim.order) << '\n';
  out << "budget " << claim.budget << '\n';
  if (claim.max_executions != 0) out << "cap " << claim.max_executions << '\n';
  std::string name;
  const auto named = [&name](const std::string& text) -> const std::string& {
    name.clear();
    AppendJsonString(name, text);
    return name;
  };
  for (std::size_t i = 0; i < graph.num_ops(); ++i) out << "op " << i << ' ' << named(graph.op_name(ToOpId(i))) << '\n';
  for (std::size_t v = 0; v < instance.num_values; ++v)
    out << "tensor " << v << ' ' << named(graph.tensor_name(instance.tensor[v])) << '\n';
  if (claim.order != OrderMode::kFree && !graph.order_was_given()) {
    out << "sequence";
    for (const std::int32_t op : instance.order) out << ' ' << op;
    out << '\n';
  }
}

void WriteBoundaries(std::span<const std::int32_t> positions, const Instance& instance, std::ostream& out) {
  for (std::size_t k = 0; k < positions.size(); ++k)
    out << "boundary " << k << ' ' << instance.order[At(positions[k])] << '\n';
}

std::vector<std::string> ColumnNames(const BoundaryModel& model) {
  std::vector<std::string> names;
  for (const BoundaryModel::Column& c : model.columns())
    names.push_back((c.rerun() ? "rerun " : "stay ") + std::to_string(c.item) + ' ' + std::to_string(c.stage));
  return names;
}

// The rows of the boundary relaxation that come in on demand, moment rows with a note of what they count.
class LoggedRows : public RowSeparator {
 public:
  LoggedRows(const BoundaryModel& model, std::int64_t budget, bool staged, bool moments)
      : path_(model), moment_(model, budget, staged), moments_(moments) {
    moment_.SetNotes(&notes_);
  }
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override {
    path_.Separate(x, integral, root, out);
    if (moments_) moment_.Separate(x, integral, root, out);
  }
  [[nodiscard]] const RowNotes& notes() const { return notes_; }

 private:
  RowNotes notes_;
  PathCuts path_;
  MomentRows moment_;
  bool moments_;
};

// What became of a try: kLimit may come to something with more work.
enum class Outcome { kProof, kLimit, kNever };

struct Try {
  const Graph& graph;
  const Instance& instance;
  const ProofClaim& claim;
  std::string proof;  // with kProof

  void Begin(std::ostream& out) const { WriteHead(graph, instance, claim, out); }
  Outcome End(std::ostringstream& out) {
    out << "claim " << (claim.duration ? std::to_string(*claim.duration) : "none") << '\n';
    proof = std::move(out).str();
    return Outcome::kProof;
  }
  Outcome ByFloor(WorkBudget& work);
  Outcome ByOrder();
  Outcome ByBoundaries(WorkBudget& work, bool moment_rows);
  Outcome ByStates(WorkBudget& work);
  Outcome ByIntervals(WorkBudget& work);
};

Outcome Try::ByFloor(WorkBudget& work) {
  std::ostringstream out;
  Begin(out);
  return WriteBackwardSets(instance, claim.budget, work, out) ? End(out) : Outcome::kNever;
}

// What was overwritten, or may not run twice, is wanted once more.
Outcome Try::ByOrder() {
  const std::optional<std::int32_t> value = FixedOrderGaps(instance).impossible;
  if (!value) return Outcome::kNever;
  std::ostringstream out;
  Begin(out);
  out << "gone " << *value << '\n';
  return End(out);
}

Outcome Try::ByBoundaries(WorkBudget& work, bool moment_rows) {
  Decoder decoder;
  BoundarySolver::Params params;
  params.moment_rows = moment_rows;
  BoundarySolver solver(instance, claim.budget, claim.order, &decoder, params);
  if (claim.duration) solver.SetIncumbent(*claim.duration);
  bool ended = false;
  while (!ended && !solver.proved() && !solver.infeasible()) {
    if (work.Exhausted()) return Outcome::kLimit;
    ended = solver.Step(work);
    static_cast<void>(solver.TakeCandidates());
  }
  if (!(claim.duration ? solver.proved() : solver.infeasible()) || solver.positions().empty()) return Outcome::kNever;
  const BoundaryModel model(instance, claim.budget, {solver.positions().begin(), solver.positions().end()});
  std::ostringstream out;
  Begin(out);
  WriteBoundaries(model.positions(), instance, out);
  if (model.impossible()) {
    out << "full\n";
    return End(out);
  }
  LoggedRows cuts(model, claim.budget, claim.order == OrderMode::kStaged, moment_rows);
  core::ProofLog log(out);
  LearningSolver::Params with;
  with.proof = &log;
  with.names = ColumnNames(model);
  with.notes = &cuts.notes();
  with.probe_conflicts = INT32_MAX;
  with.first_halvings = 0;
  LearningSolver search(model.program(), &cuts, with);
  if (claim.duration) search.SetCutoff(*claim.duration - instance.base_duration);
  const BinarySolver::State state = search.Step(work);
  if (state == BinarySolver::State::kLimit) return Outcome::kLimit;
  if (state != BinarySolver::State::kFinished || (!claim.duration && search.has_solution())) return Outcome::kNever;
  log.Finish();
  return End(out);
}

Outcome Try::ByStates(WorkBudget& work) {
  if (instance.num_ops > kMostOpsOfStates) return Outcome::kNever;
  std::ostringstream out;
  Begin(out);
  if (WriteForwardStates(instance, claim.budget, claim.order, claim.max_executions, claim.duration, work, out))
    return End(out);
  return work.Exhausted() ? Outcome::kLimit : Outcome::kNever;
}

// The first search finds how many copies it takes and proves; the second does it again with the log.
Outcome Try::ByIntervals(WorkBudget& work) {
  if (!IntervalSolver::Fits(instance, claim.order)) return Outcome::kNever;
  IntervalParams params;
  params.max_executions = claim.max_executions;
  IntervalSolver solver(instance, claim.order, claim.budget, params);
  if (claim.duration) solver.SetIncumbent(*claim.duration);
  const IntervalSolver::State found = solver.Step(work);
  if (found != IntervalSolver::State::kProved)
    return found == IntervalSolver::State::kLimit ? Outcome::kLimit : Outcome::kNever;
  if (solver.copies().empty()) return Outcome::kNever;
  std::ostringstream out;
  Begin(out);
  for (std::size_t op = 0; op < instance.num_ops; ++op) out << "copies " << op << ' ' << solver.copies()[op] << '\n';
  WriteBoundaries(solver.positions(), instance, out);
  core::ProofLog log(out);
  params.proof = &log;
  IntervalModel model(instance, claim.order, claim.budget, solver.copies(), solver.positions(), params);
  if (claim.duration) {
    const std::int64_t most = *claim.duration - 1 - instance.base_duration;
    model.engine().AddClause({model.engine().Leq(model.total(), most)});
  }
  const core::SatResult result = model.engine().Solve({}, work);
  if (result != core::SatResult::kUnsat) return result == core::SatResult::kUnknown ? Outcome::kLimit : Outcome::kNever;
  log.Finish();
  return End(out);
}

}  // namespace

std::string MakeProof(const Graph& graph, const ProofClaim& claim, WorkBudget& work, const ProofKinds& kinds) {
  const Instance instance = MakeInstance(graph);
  Try attempt{graph, instance, claim, {}};
  if (claim.duration && *claim.duration <= instance.base_duration) {  // each op runs once
    std::ostringstream out;
    attempt.Begin(out);
    out << "claim " << instance.base_duration << '\n';
    return std::move(out).str();
  }
  const bool fixed = claim.order != OrderMode::kFree;
  if (!claim.duration && kinds.floor && attempt.ByFloor(work) == Outcome::kProof) return attempt.proof;
  if (!claim.duration && kinds.floor && fixed && attempt.ByOrder() == Outcome::kProof) return attempt.proof;
  // Each in turn, with more and more work, until all have said that it comes to nothing.
  bool boundaries = kinds.boundaries && fixed, moments = boundaries, states = kinds.states, intervals = kinds.intervals;
  for (Ticks limit = 300'000'000; !work.Exhausted() && (boundaries || moments || states || intervals); limit *= 3) {
    const auto one = [&](bool& open, auto run) {
      if (!open || work.Exhausted()) return false;
      WorkBudget part(std::min(limit, work.left()), work.stop_signal());
      const Outcome outcome = run(part);
      work.Spend(part.spent());
      open = outcome == Outcome::kLimit;
      return outcome == Outcome::kProof;
    };
    if (one(boundaries, [&](WorkBudget& part) { return attempt.ByBoundaries(part, false); }) ||
        one(moments, [&](WorkBudget& part) { return attempt.ByBoundaries(part, true); }) ||
        one(states, [&](WorkBudget& part) { return attempt.ByStates(part); }) ||
        one(intervals, [&](WorkBudget& part) { return attempt.ByIntervals(part); }))
      return attempt.proof;
  }
  return {};
}

}  // namespace ebb
