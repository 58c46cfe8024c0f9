// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/model_search.hpp"

#include <utility>

namespace ebb {

namespace {
constexpr std::int32_t kSpare = 1500;  // orders that a search may tell
// RL n=250 at 0.8, fixed, four models of eight to nine boundaries, ceiling 4.2606 %, one lane from nothing. After 30e9
// ticks 4.14, 4.08, 4.08 % and a solution after 27e9; thorough down to a depth of 3 4.09, 4.12, 4.07 % and 27e9, of 5
// 4.13, 4.13, 4.10 % and 21e9, of 7 4.16, 4.15, 4.07 % and 22e9. The first two are proved after 54e9 and not in 100e9
// (4.176 %), so after 63e9 and 66e9. But in every step of a climb it costs more than it brings (two threads, two runs:
// proved after 142 s and not in 150 s).
constexpr std::int32_t kThoroughDepth = 7;
constexpr std::int32_t kRootRoundsLater = 6;  // where a tree goes on its root is but a basis for its nodes' LPs
}  // namespace

bool TellsOrders(const Instance& instance, const ModelTerms& terms) {
  return terms.told_orders && terms.mode == OrderMode::kFixed && instance.plain;
}

void ModelSearch::SetModel(const Instance& instance, const ModelTerms& terms, std::span<const std::int32_t> positions,
                           std::span<const BoundaryModel::OpPair> pairs, bool cut_stages) {
  DropSearch();
  separator.reset();
  const bool tells = TellsOrders(instance, terms);
  model = std::make_unique<BoundaryModel>(instance, terms.budget,
                                          std::vector<std::int32_t>(positions.begin(), positions.end()), pairs,
                                          tells ? kSpare : 0, terms.ever);
  separator = std::make_unique<ModelRows>(*model, terms.budget, terms.mode == OrderMode::kStaged, terms.moment_rows,
                                          cut_stages, tells ? model.get() : nullptr);
}

void ModelSearch::DropSearch() {
  tree = nullptr;
  search.reset();
}

BinaryProgram ModelSearch::Program(const CarriedFacts& facts, const CarriedRows& rows) const {
  BinaryProgram program = model->program();
  program.lower.assign(program.cost.size(), 0);
  program.upper.assign(program.cost.size(), 1);
  facts.Give(*model, program);
  const std::size_t own_rows = program.rows.size();
  rows.Give(*model, program);
  // Rows of the form C <= S + C are many and few bind.
  std::vector<std::uint8_t> memory(program.rows.size(), 0);
  for (const std::int32_t r : program.knapsacks) memory[static_cast<std::size_t>(r)] = 1;
  for (std::size_t r = 0; r < own_rows; ++r)
    if (!memory[r] && program.rows.rhs(r) == 0) program.lazy.push_back(static_cast<std::int32_t>(r));
  return program;
}

void ModelSearch::SetTree(BinaryProgram program, std::vector<BranchAndBound::OpenNode> nodes, bool thorough) {
  BranchAndBound::Params p;
  p.keep_open = p.patient_dives = true;
  if (thorough) p.thorough_depth = kThoroughDepth;
  if (!nodes.empty()) {
    p.dive = false;
    p.root_rounds = kRootRoundsLater;
  }
  auto made = std::make_unique<BranchAndBound>(std::move(program), separator.get(), p);
  made->Adopt(std::move(nodes));
  tree = made.get();
  search = std::move(made);
}

}  // namespace ebb
