// SPDX-License-Identifier: Apache-2.0
#include "portfolio/proof.hpp"

#include <sstream>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/boundary_solver.hpp"
#include "engine/core/proof_log.hpp"
#include "engine/problem/fingerprint.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/decode.hpp"
#include "io/json_text.hpp"
#include "portfolio/interval_solver.hpp"
#include "propagators/learning_solver.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// What is claimed, and what the numbers of ops and tensors stand for.
void WriteHead(const Graph& graph, const Instance& instance, const ProofClaim& claim, std::ostream& out) {
  out << "ebbtide-proof 1\n";
  out << "graph " << Fingerprint(graph) << '\n';
  out << "order " << ToString(claim.order) << '\n';
  out << "budget " << claim.budget << '\n';
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

void WriteBoundaries(const BoundaryModel& model, std::ostream& out) {
  for (std::int32_t k = 0; k < model.num_stages(); ++k)
    out << "boundary " << k << ' ' << model.instance().order[At(model.positions()[At(k)])] << '\n';
}

std::vector<std::string> ColumnNames(const BoundaryModel& model) {
  std::vector<std::string> names;
  for (const BoundaryModel::Column& c : model.columns())
    names.push_back((c.rerun ? "rerun " : "stay ") + std::to_string(c.item) + ' ' + std::to_string(c.stage));
  return names;
}

std::string ByBoundaries(const Graph& graph, const Instance& instance, const ProofClaim& claim, WorkBudget& work) {
  Decoder decoder;
  BoundarySolver::Params params;
  params.moment_rows = false;
  BoundarySolver solver(instance, claim.budget, claim.order, &decoder, params);
  solver.SetIncumbent(claim.duration);
  while (!solver.proved() && !solver.infeasible()) {
    if (work.Exhausted() || solver.Step(work)) break;
    static_cast<void>(solver.TakeCandidates());
  }
  if (!solver.proved() || solver.positions().empty()) return {};
  const BoundaryModel model(instance, claim.budget, {solver.positions().begin(), solver.positions().end()});
  PathCuts cuts(model);
  std::ostringstream out;
  WriteHead(graph, instance, claim, out);
  WriteBoundaries(model, out);
  core::ProofLog log(out);
  LearningSolver::Params with;
  with.proof = &log;
  with.names = ColumnNames(model);
  with.probe_conflicts = INT32_MAX;
  with.first_halvings = 0;
  LearningSolver search(model.program(), &cuts, with);
  search.SetCutoff(claim.duration - instance.base_duration);
  if (search.Step(work) != BinarySolver::State::kFinished) return {};
  log.Finish();
  out << "claim " << claim.duration << '\n';
  return std::move(out).str();
}

// The first search finds how many copies it takes and proves; the second does it again with the log.
std::string ByIntervals(const Graph& graph, const Instance& instance, const ProofClaim& claim, WorkBudget& work) {
  bool has_views = false;
  for (std::size_t t = 0; t < graph.num_tensors(); ++t) has_views |= graph.view_of(ToTensorId(t)) != TensorId::kNone;
  if (!instance.plain || has_views || !IntervalSolver::Fits(instance, claim.order)) return {};
  IntervalSolver solver(instance, claim.order, claim.budget, {});
  solver.SetIncumbent(claim.duration);
  if (solver.Step(work) != IntervalSolver::State::kProved) return {};
  std::ostringstream out;
  WriteHead(graph, instance, claim, out);
  for (std::size_t op = 0; op < instance.num_ops; ++op) out << "copies " << op << ' ' << solver.copies()[op] << '\n';
  for (std::size_t k = 0; k < solver.positions().size(); ++k)
    out << "boundary " << k << ' ' << instance.order[At(solver.positions()[k])] << '\n';
  core::ProofLog log(out);
  IntervalParams params;
  params.proof = &log;
  IntervalModel model(instance, claim.order, claim.budget, solver.copies(), solver.positions(), params);
  const std::int64_t most = claim.duration - 1 - instance.base_duration;
  model.engine().AddClause({model.engine().Leq(model.total(), most)});
  if (model.engine().Solve({}, work) != core::SatResult::kUnsat) return {};
  log.Finish();
  out << "claim " << claim.duration << '\n';
  return std::move(out).str();
}

}  // namespace

std::string MakeProof(const Graph& graph, const ProofClaim& claim, WorkBudget& work) {
  const Instance instance = MakeInstance(graph);
  if (claim.duration <= instance.base_duration) {  // each op runs once
    std::ostringstream out;
    WriteHead(graph, instance, claim, out);
    out << "claim " << instance.base_duration << '\n';
    return std::move(out).str();
  }
  std::string proof;
  if (claim.order != OrderMode::kFree) proof = ByBoundaries(graph, instance, claim, work);
  return proof.empty() ? ByIntervals(graph, instance, claim, work) : proof;
}

}  // namespace ebb
