// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/carry_over.hpp"

#include <algorithm>
#include <utility>

namespace ebb {

namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

std::int32_t EndOf(const BoundaryModel& model, std::int32_t stage) {
  return stage + 1 < model.num_stages() ? model.positions()[At(stage) + 1]
                                        : static_cast<std::int32_t>(model.instance().num_ops);
}

}  // namespace

void CarriedFacts::Take(const BoundaryModel& model, const BinarySolver& search) {
  const auto lower = search.root_lower(), upper = search.root_upper();
  if (lower.empty()) return;
  stays_.clear();
  no_reruns_.clear();
  const auto columns = model.columns();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (lower[c] != upper[c]) continue;
    const std::int32_t from = model.positions()[At(columns[c].stage)];
    if (columns[c].kind == BoundaryModel::Kind::kStay)
      stays_.push_back({from, columns[c].item, lower[c]});
    else if (columns[c].rerun() && upper[c] == 0)
      no_reruns_.push_back({columns[c].item, from, EndOf(model, columns[c].stage)});
  }
}

void CarriedFacts::Give(const BoundaryModel& model, BinaryProgram& program) const {
  const auto positions = model.positions();
  for (const Stay& f : stays_) {
    const std::int32_t k = model.StageAt(f.position);
    if (k == model.num_stages() || positions[At(k)] != f.position) continue;
    if (const std::int32_t c = model.stay(k, f.value); c >= 0) program.lower[At(c)] = program.upper[At(c)] = f.fixed;
  }
  for (const NoRerun& f : no_reruns_)
    for (std::int32_t k = model.StageAt(f.from); k < model.num_stages() && EndOf(model, k) <= f.to; ++k)
      if (const std::int32_t c = model.rerun(k, f.op); c >= 0) program.upper[At(c)] = 0;
}

ColumnNames::ColumnNames(const BoundaryModel& model)
    : positions(model.positions().begin(), model.positions().end()),
      columns(model.columns().begin(), model.columns().end()) {}

CarriedRows::CarriedRows(const BoundaryModel& model, const BinarySolver& search) : names_(model) {
  const IntegerRows& rows = search.rows();
  const auto duals = search.root_duals();
  for (std::size_t r = model.program().rows.size(); r < rows.size(); ++r) {
    const auto of = rows.columns(r);
    // Cuts of memory rows, which hold no reruns, may rest on what is true below the cutoff of this search only.
    if (std::none_of(of.begin(), of.end(), [&](std::int32_t c) { return names_.columns[At(c)].rerun(); })) continue;
    for (std::size_t i = 0; i < of.size(); ++i) rows_.Term(of[i], rows.coefficients(r)[i]);
    rows_.EndRow(rows.rhs(r));
    binding_.push_back(r < duals.size() && duals[r] > 0.0);
  }
}

namespace {
// Stage of the names -> its first part in the finer model; one more at the end.
std::vector<std::int32_t> FirstParts(const ColumnNames& names, const BoundaryModel& fine) {
  std::vector<std::int32_t> first;
  for (const std::int32_t position : names.positions) first.push_back(fine.StageAt(position));
  first.push_back(fine.num_stages());
  return first;
}

// Where a column that no refinement divides is in the finer model.
std::int32_t WholeColumn(const BoundaryModel& fine, const BoundaryModel::Column& c, std::int32_t stage) {
  switch (c.kind) {
    case BoundaryModel::Kind::kStay: return fine.stay(stage, c.item);
    case BoundaryModel::Kind::kOrder:
      if (c.item < 0) return BoundaryModel::kAbsent;
      return fine.order(stage, c.item, c.other);
    case BoundaryModel::Kind::kEver: return fine.ever(c.item);
    case BoundaryModel::Kind::kTwice: return fine.twice(stage, c.item);
    default: return BoundaryModel::kAbsent;
  }
}
}  // namespace

PseudoCosts CarriedBranching::Give(const BoundaryModel& model) const {
  const std::vector<std::int32_t> first = FirstParts(names_, model);
  std::vector<std::int32_t> from(model.columns().size(), -1);
  for (std::size_t i = 0; i < names_.columns.size(); ++i) {
    const BoundaryModel::Column& c = names_.columns[i];
    const std::int32_t stage = first[At(c.stage)];
    if (!c.rerun()) {
      if (const std::int32_t j = WholeColumn(model, c, stage); j >= 0) from[At(j)] = static_cast<std::int32_t>(i);
      continue;
    }
    for (std::int32_t k = stage; k < first[At(c.stage) + 1]; ++k)
      if (const std::int32_t j = model.rerun(k, c.item); j >= 0) from[At(j)] = static_cast<std::int32_t>(i);
  }
  return learnt_.Renamed(from, model.program().group);
}

CarriedTree::CarriedTree(const BoundaryModel& model, std::vector<BranchAndBound::OpenNode> nodes, std::size_t most)
    : names_(model), nodes_(std::move(nodes)) {
  std::size_t size = 0;
  for (const BranchAndBound::OpenNode& node : nodes_) size += node.fixed.size();
  if (size <= most) return;
  BranchAndBound::OpenNode all;
  all.bound = nodes_.front().bound;
  for (const BranchAndBound::OpenNode& node : nodes_) all.bound = std::min(all.bound, node.bound);
  nodes_.assign(1, std::move(all));
}

std::vector<BranchAndBound::OpenNode> CarriedTree::Give(BoundaryModel& model) const {
  const std::vector<std::int32_t> first = FirstParts(names_, model);
  std::vector<BranchAndBound::OpenNode> given;
  for (const BranchAndBound::OpenNode& node : nodes_) {
    BranchAndBound::OpenNode& now = given.emplace_back();
    now.bound = node.bound;
    now.depth = node.depth;
    for (const auto& [column, value] : node.fixed) {
      const BoundaryModel::Column& c = names_.columns[At(column)];
      const std::int32_t from = first[At(c.stage)], to = first[At(c.stage) + 1];
      if (!c.rerun()) {
        if (c.kind == BoundaryModel::Kind::kOrder && c.item >= 0 && model.reruns_only(from))
          model.Tell(from, c.item, c.other);
        if (const std::int32_t j = WholeColumn(model, c, from); j >= 0) now.fixed.emplace_back(j, value);
      } else if (value == 0 || to == from + 1) {
        for (std::int32_t k = from; k < to; ++k)
          if (const std::int32_t j = model.rerun(k, c.item); j >= 0) now.fixed.emplace_back(j, value);
      }
    }
  }
  return given;
}

void CarriedRows::Give(const BoundaryModel& model, BinaryProgram& program) const {
  if (empty()) return;
  const std::vector<std::int32_t> first = FirstParts(names_, model);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    bool whole = true;
    for (std::size_t i = 0; i < rows_.columns(r).size() && whole; ++i) {
      const BoundaryModel::Column& c = names_.columns[At(rows_.columns(r)[i])];
      const std::int64_t coefficient = rows_.coefficients(r)[i];
      const std::int32_t from = first[At(c.stage)], to = first[At(c.stage) + 1];
      if (!c.rerun()) {
        const std::int32_t now = WholeColumn(model, c, from);
        whole = now >= 0;
        if (whole) program.rows.Term(now, coefficient);
        continue;
      }
      whole = coefficient > 0 || to == from + 1;
      for (std::int32_t k = from; k < to && whole; ++k)
        if (const std::int32_t now = model.rerun(k, c.item); now >= 0) program.rows.Term(now, coefficient);
    }
    if (!whole) {
      program.rows.DropOpenTerms();
      continue;
    }
    const std::int32_t row = program.rows.EndRow(rows_.rhs(r));
    if (!binding_[r]) program.lazy.push_back(row);
  }
}

}  // namespace ebb
