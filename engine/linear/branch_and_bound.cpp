// SPDX-License-Identifier: Apache-2.0
#include "engine/linear/branch_and_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/linear/exact_dual_bound.hpp"
#include "engine/linear/knapsack_cuts.hpp"
#include "engine/linear/linear_program.hpp"
#include "engine/linear/row_propagator.hpp"

namespace ebb {

namespace {

constexpr double kIntegral = 1e-6;
constexpr std::uint8_t kBasic = 1, kAtLower = 3;  // as in LpBasis
constexpr double kPlungeShare = 0.25;             // of the gap
constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();

using Wide = ExactDualBound::Wide;

// A basis by names, so that it outlives changes of the LP's rows and columns: the status of each column, and the rows
// whose slacks are not basic.
struct SavedBasis {
  std::vector<std::uint8_t> columns;
  std::vector<std::pair<std::int32_t, std::uint8_t>> rows;
};

struct Node {
  std::vector<std::pair<std::int32_t, std::int8_t>> fixed;  // beyond the root's
  std::shared_ptr<const SavedBasis> basis;
  std::int64_t bound = 0;  // valid
  double estimate = 0.0;   // LP value of the parent
  std::int32_t depth = 0;
  std::int64_t serial = 0;
  // The branching that led here, for pseudo-costs.
  std::int32_t column = -1;
  std::int8_t direction = 0;
  double distance = 0.0, parent_value = 0.0;
};

struct PseudoCost {
  double sum[2] = {0.0, 0.0};
  std::int32_t count[2] = {0, 0};
};

}  // namespace

struct BranchAndBound::Impl {
  Impl(BinaryProgram program, RowSeparator* separator_in, const Params& params_in)
      : params(params_in),
        separator(separator_in),
        cost(std::move(program.cost)),
        rows(std::move(program.rows)),
        knapsacks(std::move(program.knapsacks)),
        lp(cost),
        propagator(rows, cost.size()),
        pseudo(cost.size()) {
    for (const std::int64_t c : cost) step = std::gcd(step, c);
    if (step == 0) step = 1;
    lp_column.resize(cost.size());
    std::iota(lp_column.begin(), lp_column.end(), 0);
    lp_index = lp_column;
    point.assign(cost.size(), 0.0);
    std::vector<std::uint8_t> is_lazy(rows.size(), 0);
    for (const std::int32_t r : program.lazy) is_lazy[static_cast<std::size_t>(r)] = 1;
    in_lp.assign(rows.size(), 0);
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (!is_lazy[r]) PutInLp(static_cast<std::int32_t>(r));
    base_lp_rows = lp_rows.size();
    for (std::size_t j = 0; j < program.lower.size(); ++j)
      if (program.lower[j] == program.upper[j] && !propagator.Fix(static_cast<std::int32_t>(j), program.lower[j]))
        root_conflict = true;
    lp_lower.assign(cost.size(), 0);
    lp_upper.assign(cost.size(), 1);
  }

  Params params;
  RowSeparator* separator;
  std::vector<std::int64_t> cost;
  IntegerRows rows;
  std::vector<std::int32_t> knapsacks;
  LinearProgram lp;
  RowPropagator propagator;
  std::vector<PseudoCost> pseudo;
  double pseudo_sum[2] = {0.0, 0.0};
  std::int64_t pseudo_count[2] = {0, 0};
  ExactDualBound exact;
  std::int64_t step = 0;

  std::vector<std::int32_t> lp_rows;  // LP row -> row
  std::vector<std::uint8_t> in_lp;
  std::size_t base_lp_rows = 0;                 // rows of the model itself, never purged
  std::vector<std::int8_t> lp_lower, lp_upper;  // by column
  // The LP holds only the columns that were open when it was last built.
  std::vector<std::int32_t> lp_column, lp_index;  // LP column -> column; column -> LP column or -1
  std::vector<double> point;                      // the LP's solution by column
  std::int32_t lp_version = 0;
  std::vector<std::int32_t> some_columns;
  std::vector<std::int64_t> some_coefficients;

  std::vector<Node> heap;  // by (bound, serial): least first
  bool root_done = false, root_conflict = false, started = false;
  bool has_current = false;
  Node current;  // being worked on, or next in the plunge
  std::int64_t serial = 0;
  bool diving = false;

  std::int64_t cutoff = kInfinity;
  std::int64_t floor = std::numeric_limits<std::int64_t>::min();  // best bound so far
  std::vector<std::int8_t> solution;
  std::int64_t solution_cost = kInfinity;
  std::vector<std::pair<std::int32_t, std::int8_t>> root_pending;  // found true at the root while deep in the tree
  std::vector<double> root_x, root_duals;
  std::vector<Wide> root_reduced;
  Wide root_value = 0;
  bool have_root_reduced = false;
  Counters counters;
  IntegerRows cuts;

  // ---- rows -------------------------------------------------------------------------------------------------------
  void PutInLp(std::int32_t row) {
    const std::size_t r = static_cast<std::size_t>(row);
    if (r >= in_lp.size()) in_lp.resize(r + 1, 0);
    in_lp[r] = 1;
    lp_rows.push_back(row);
    AddToLp(lp, r);
  }

  // The row over the LP's columns; the others are fixed for good and move to the right-hand side.
  void AddToLp(LinearProgram& program, std::size_t r) {
    const auto columns = rows.columns(r);
    const auto coefficients = rows.coefficients(r);
    some_columns.clear();
    some_coefficients.clear();
    std::int64_t rhs = rows.rhs(r);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::size_t j = static_cast<std::size_t>(columns[k]);
      if (lp_index[j] < 0) {
        rhs -= coefficients[k] * global_lower[j];
        continue;
      }
      some_columns.push_back(lp_index[j]);
      some_coefficients.push_back(coefficients[k]);
    }
    program.AddRow(some_columns, some_coefficients, rhs);
  }

  // A new LP of the open columns and the rows that bind now; the others come back when they are violated. An LP call
  // costs by size even where it takes no pivot, and after the root most columns are fixed: on RL n = 1000 at 0.9 (three
  // boundaries) this took the proof from 17.9 s to 2.0 s.
  void Compress() {
    std::vector<std::int32_t> keep;
    const LpBasis old = lp.Basis();
    LpBasis basis;
    std::vector<std::int32_t> open;
    for (const std::int32_t j : lp_column) {
      if (global_lower[static_cast<std::size_t>(j)] == global_upper[static_cast<std::size_t>(j)]) continue;
      open.push_back(j);
      basis.columns.push_back(old.columns[static_cast<std::size_t>(lp_index[static_cast<std::size_t>(j)])]);
    }
    for (std::size_t i = 0; i < lp_rows.size(); ++i) {
      if (lp.RowIsBasic(static_cast<std::int32_t>(i))) continue;
      bool any = false;
      for (const std::int32_t j : rows.columns(static_cast<std::size_t>(lp_rows[i])))
        any = any || global_lower[static_cast<std::size_t>(j)] != global_upper[static_cast<std::size_t>(j)];
      if (!any) continue;
      keep.push_back(lp_rows[i]);
      basis.rows.push_back(old.rows[i]);
    }
    std::vector<std::int64_t> open_cost;
    std::fill(lp_index.begin(), lp_index.end(), -1);
    for (std::size_t i = 0; i < open.size(); ++i) {
      lp_index[static_cast<std::size_t>(open[i])] = static_cast<std::int32_t>(i);
      open_cost.push_back(cost[static_cast<std::size_t>(open[i])]);
    }
    lp_column = std::move(open);
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (lp_index[j] < 0) point[j] = global_lower[j];
    iterations_before += lp.iterations();
    lp = LinearProgram(open_cost);
    std::fill(in_lp.begin(), in_lp.end(), std::uint8_t{0});
    lp_rows.clear();
    for (const std::int32_t r : keep) PutInLp(r);
    lp.SetBasis(basis);
    ++lp_version;
    base_lp_rows = 0;
    for (const std::int32_t j : lp_column) {
      lp_lower[static_cast<std::size_t>(j)] = 0;
      lp_upper[static_cast<std::size_t>(j)] = 1;
    }
    open_when_built = lp_column.size();
    rows_when_built = lp_rows.size();
  }
  // When the root is left, and again when a fifth of its columns is gone.
  bool Compressible() const { return lp_version == 0 || 5 * (cost.size() - root_mark) < 4 * open_when_built; }
  std::int64_t iterations_before = 0;
  std::size_t open_when_built = 0, rows_when_built = 0;

  std::shared_ptr<const SavedBasis> SaveBasis() const {
    auto saved = std::make_shared<SavedBasis>();
    const LpBasis basis = lp.Basis();
    saved->columns.assign(cost.size(), kAtLower);
    for (std::size_t i = 0; i < lp_column.size(); ++i)
      saved->columns[static_cast<std::size_t>(lp_column[i])] = basis.columns[i];
    for (std::size_t i = 0; i < lp_rows.size(); ++i)
      if (basis.rows[i] != kBasic) saved->rows.emplace_back(lp_rows[i], basis.rows[i]);
    return saved;
  }
  void RestoreBasis(const SavedBasis& saved) {
    for (const auto& [row, status] : saved.rows)
      if (!in_lp[static_cast<std::size_t>(row)]) PutInLp(row);
    LpBasis basis;
    for (const std::int32_t j : lp_column) basis.columns.push_back(saved.columns[static_cast<std::size_t>(j)]);
    row_status.assign(rows.size(), kBasic);
    for (const auto& [row, status] : saved.rows) row_status[static_cast<std::size_t>(row)] = status;
    for (const std::int32_t r : lp_rows) basis.rows.push_back(row_status[static_cast<std::size_t>(r)]);
    lp.SetBasis(basis);
  }
  std::vector<std::uint8_t> row_status;

  LpOutcome SolveLp(WorkBudget& work, std::int32_t iteration_limit = 1'000'000) {
    const LpOutcome outcome = lp.Solve(work, CutoffForLp(), iteration_limit);
    counters.lp_iterations = iterations_before + lp.iterations();
    const auto x = lp.x();
    for (std::size_t i = 0; i < lp_column.size(); ++i) point[static_cast<std::size_t>(lp_column[i])] = x[i];
    return outcome;
  }
  // The LP's value with what the columns left out of it cost.
  double LpValue() const {
    double value = lp.objective();
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (lp_index[j] < 0 && global_lower[j] == 1) value += static_cast<double>(cost[j]);
    return value;
  }
  double CutoffForLp() const {
    if (cutoff == kInfinity) return 1e100;
    double value = static_cast<double>(cutoff) - 0.5 * static_cast<double>(step);
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (lp_index[j] < 0 && global_lower[j] == 1) value -= static_cast<double>(cost[j]);
    return value;
  }

  // Drops rows that do not bind; they stay known and come back when they are violated.
  void PurgeRows(std::size_t keep_first) {
    std::vector<std::int32_t> drop;
    for (std::size_t i = keep_first; i < lp_rows.size(); ++i)
      if (lp.RowIsBasic(static_cast<std::int32_t>(i))) drop.push_back(static_cast<std::int32_t>(i));
    if (drop.size() < 16) return;
    lp.RemoveRows(drop);
    std::size_t out = 0, next = 0;
    for (std::size_t i = 0; i < lp_rows.size(); ++i) {
      if (next < drop.size() && static_cast<std::size_t>(drop[next]) == i) {
        in_lp[static_cast<std::size_t>(lp_rows[i])] = 0;
        ++next;
      } else {
        lp_rows[out++] = lp_rows[i];
      }
    }
    lp_rows.resize(out);
  }

  double Violation(std::size_t r, std::span<const double> x) const {
    const auto columns = rows.columns(r);
    const auto coefficients = rows.coefficients(r);
    double activity = 0.0, norm = 0.0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double c = static_cast<double>(coefficients[k]);
      activity += c * x[static_cast<std::size_t>(columns[k])];
      norm += c * c;
    }
    return (static_cast<double>(rows.rhs(r)) - activity) / std::sqrt(norm + 1e-30);
  }

  // Adds the best of what is violated to the LP; returns how many.
  std::size_t Separate(std::span<const double> x, bool integral, bool root, WorkBudget& work, bool fresh = true) {
    struct Found {
      double efficacy;
      std::int32_t row;  // >= 0: known row; < 0: ~index into cuts
    };
    std::vector<Found> found;
    const double threshold = integral ? 1e-9 : params.min_efficacy;
    std::int64_t terms = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (in_lp[r]) continue;
      terms += static_cast<std::int64_t>(rows.columns(r).size());
      const double v = Violation(r, x);
      if (v > threshold) found.push_back({v, static_cast<std::int32_t>(r)});
    }
    cuts = IntegerRows();
    if (fresh && separator != nullptr) separator->Separate(x, integral, root, cuts);
    if (fresh && params.knapsack_cuts && !integral)
      for (const std::int32_t k : knapsacks)
        SeparateKnapsack(rows, static_cast<std::size_t>(k), x, root_domain_lower(), root_domain_upper(),
                         params.min_efficacy, cuts);
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const auto columns = cuts.columns(c);
      const auto coefficients = cuts.coefficients(c);
      double activity = 0.0, norm = 0.0;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const double a = static_cast<double>(coefficients[k]);
        activity += a * x[static_cast<std::size_t>(columns[k])];
        norm += a * a;
      }
      const double v = (static_cast<double>(cuts.rhs(c)) - activity) / std::sqrt(norm + 1e-30);
      if (v > threshold) found.push_back({v, ~static_cast<std::int32_t>(c)});
    }
    work.Spend(4 * (terms + static_cast<std::int64_t>(cuts.num_terms())) + 1000);
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      return a.efficacy != b.efficacy ? a.efficacy > b.efficacy : a.row > b.row;
    });
    const std::size_t limit = root ? std::max<std::size_t>(100, cost.size() / 4) : 50;
    if (found.size() > limit) found.resize(limit);
    for (const Found& f : found) {
      std::int32_t row = f.row;
      if (row < 0) {
        const std::size_t c = static_cast<std::size_t>(~row);
        const auto columns = cuts.columns(c);
        const auto coefficients = cuts.coefficients(c);
        for (std::size_t k = 0; k < columns.size(); ++k) rows.Term(columns[k], coefficients[k]);
        row = rows.EndRow(cuts.rhs(c));
        ++counters.cuts;
      }
      PutInLp(row);
    }
    propagator.TakeNewRows();
    return found.size();
  }

  // The domain that holds in the whole tree. Trail up to root_mark.
  std::vector<std::int8_t> global_lower, global_upper;
  std::span<const std::int8_t> root_domain_lower() const { return global_lower; }
  std::span<const std::int8_t> root_domain_upper() const { return global_upper; }
  std::size_t root_mark = 0;

  // ---- domains ----------------------------------------------------------------------------------------------------
  // Back to the root and whatever became known there.
  bool ToRoot() {
    propagator.Undo(root_mark);
    propagator.TakeNewRows();
    for (const auto& [column, value] : root_pending)
      if (!propagator.Fix(column, value)) return false;
    root_pending.clear();
    if (!propagator.Propagate()) return false;
    root_mark = propagator.mark();
    counters.fixed_at_root = static_cast<std::int64_t>(root_mark);
    global_lower.assign(propagator.lower().begin(), propagator.lower().end());
    global_upper.assign(propagator.upper().begin(), propagator.upper().end());
    return true;
  }

  void SyncBounds() {
    const auto lower = propagator.lower();
    const auto upper = propagator.upper();
    for (std::size_t i = 0; i < lp_column.size(); ++i) {
      const std::size_t j = static_cast<std::size_t>(lp_column[i]);
      if (lp_lower[j] == lower[j] && lp_upper[j] == upper[j]) continue;
      lp_lower[j] = lower[j];
      lp_upper[j] = upper[j];
      lp.SetBounds(static_cast<std::int32_t>(i), lower[j], upper[j]);
    }
  }

  [[nodiscard]] bool Pruned(std::int64_t bound) const { return bound >= cutoff; }
  bool ExactBound() { return exact.Evaluate(rows, lp_rows, lp.duals(), cost, propagator.lower(), propagator.upper()); }
  bool ExactRay() {
    for (const double sign : {1.0, -1.0})
      if (exact.Evaluate(rows, lp_rows, lp.duals(), cost, propagator.lower(), propagator.upper(), true, sign) &&
          exact.scaled() > 0)
        return true;
    return false;
  }

  // Fixes what the reduced costs of the last exact bound allow. Returns false on a conflict (no solution here).
  // Counts what it fixed.
  bool FixByReducedCost(std::size_t& count) {
    count = 0;
    if (!params.reduced_cost_fixing || cutoff == kInfinity) return true;
    const Wide target = (static_cast<Wide>(cutoff - step)) << ExactDualBound::kShift;  // best cost still wanted
    const Wide room = target - exact.scaled();
    const auto reduced = exact.reduced();
    for (std::size_t j = 0; j < cost.size(); ++j) {
      const std::int32_t column = static_cast<std::int32_t>(j);
      if (propagator.IsFixed(column)) continue;
      const Wide d = reduced[j];
      if (d > room) {
        ++count;
        if (!propagator.Fix(column, 0)) return false;
      } else if (-d > room) {
        ++count;
        if (!propagator.Fix(column, 1)) return false;
      }
    }
    return propagator.Propagate();
  }

  void FixRootByReducedCost() {
    if (!have_root_reduced || cutoff == kInfinity || !params.reduced_cost_fixing) return;
    const Wide room = ((static_cast<Wide>(cutoff - step)) << ExactDualBound::kShift) - root_value;
    for (std::size_t j = 0; j < cost.size(); ++j) {
      if (global_lower[j] == global_upper[j]) continue;
      if (root_reduced[j] > room)
        root_pending.emplace_back(static_cast<std::int32_t>(j), std::int8_t{0});
      else if (-root_reduced[j] > room)
        root_pending.emplace_back(static_cast<std::int32_t>(j), std::int8_t{1});
    }
  }

  // ---- tree -------------------------------------------------------------------------------------------------------
  static bool Later(const Node& a, const Node& b) {
    return a.bound != b.bound         ? a.bound > b.bound
           : a.estimate != b.estimate ? a.estimate > b.estimate
                                      : a.serial < b.serial;
  }
  void Push(Node node) {
    node.serial = serial++;
    heap.push_back(std::move(node));
    std::push_heap(heap.begin(), heap.end(), Later);
  }

  void UpdateFloor() {
    std::int64_t best = cutoff;
    if (!heap.empty()) best = std::min(best, heap.front().bound);
    if (has_current) best = std::min(best, current.bound);
    floor = std::max(floor, best);
  }

  // An integer point that obeys every row, exactly?
  bool ExactlyFeasible(std::span<const std::int8_t> at) const {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto columns = rows.columns(r);
      const auto coefficients = rows.coefficients(r);
      std::int64_t activity = 0;
      for (std::size_t k = 0; k < columns.size(); ++k)
        activity += coefficients[k] * at[static_cast<std::size_t>(columns[k])];
      if (activity < rows.rhs(r)) return false;
    }
    return true;
  }
  std::int64_t CostOf(std::span<const std::int8_t> at) const {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < cost.size(); ++j) sum += cost[j] * at[j];
    return sum;
  }

  void NotePseudoCost(std::int32_t column, int direction, double gain, double distance) {
    if (distance < 1e-6) return;
    const double unit = std::max(gain, 0.0) / distance;
    PseudoCost& p = pseudo[static_cast<std::size_t>(column)];
    p.sum[direction] += unit;
    ++p.count[direction];
    pseudo_sum[direction] += unit;
    ++pseudo_count[direction];
  }
  double Predicted(std::size_t j, int direction, double distance) const {
    const PseudoCost& p = pseudo[j];
    if (p.count[direction] > 0) return distance * p.sum[direction] / p.count[direction];
    if (pseudo_count[direction] > 0)
      return distance * pseudo_sum[direction] / static_cast<double>(pseudo_count[direction]);
    return distance;
  }

  // The exact verdicts on the last LP with one column's bounds as strong branching set them.
  bool BoundWith(std::int32_t column, std::int8_t value) {
    SetTry(column, value);
    return exact.Evaluate(rows, lp_rows, lp.duals(), cost, try_lower, try_upper);
  }
  bool ProvedEmpty(std::int32_t column, std::int8_t value) {
    SetTry(column, value);
    for (const double sign : {1.0, -1.0})
      if (exact.Evaluate(rows, lp_rows, lp.duals(), cost, try_lower, try_upper, true, sign) && exact.scaled() > 0)
        return true;
    return false;
  }
  void SetTry(std::int32_t column, std::int8_t value) {
    try_lower.assign(propagator.lower().begin(), propagator.lower().end());
    try_upper.assign(propagator.upper().begin(), propagator.upper().end());
    try_lower[static_cast<std::size_t>(column)] = try_upper[static_cast<std::size_t>(column)] = value;
  }
  std::vector<std::int8_t> try_lower, try_upper;

  enum class Verdict { kPruned, kBranched, kPlunge, kLimit, kSolution, kRootDone };
  Verdict Process(WorkBudget& work);
  Verdict Branch(WorkBudget& work, double value);
  State Step(WorkBudget& work);
};

BranchAndBound::Impl::Verdict BranchAndBound::Impl::Process(WorkBudget& work) {
  const bool root = current.depth == 0;
  ++counters.nodes;
  if (!ToRoot()) return Verdict::kPruned;
  if (root_mark > 0 && root) current.fixed.clear();
  for (const auto& [column, value] : current.fixed)
    if (!propagator.Fix(column, value)) return Verdict::kPruned;
  if (!propagator.Propagate()) return Verdict::kPruned;
  work.Spend(static_cast<Ticks>(4 * cost.size()) + 8 * static_cast<Ticks>(propagator.trail().size()));
  if (current.basis != nullptr) {
    RestoreBasis(*current.basis);
  }
  const std::int32_t max_rounds = root ? params.root_rounds : params.node_rounds;
  std::int32_t round = 0, stalled = 0;
  double last_value = -1e300;
  std::int64_t best_exact = current.bound;
  for (;;) {
    if (work.Exhausted()) return Verdict::kLimit;
    SyncBounds();
    const LpOutcome outcome = SolveLp(work);
    work.Spend(static_cast<Ticks>(2 * rows.num_terms()));
    bool conflict = false, usable = outcome != LpOutcome::kFailed && outcome != LpOutcome::kUnavailable;
    if (outcome == LpOutcome::kInfeasible) {
      if (ExactRay()) return Verdict::kPruned;
      ++counters.exact_failures;
      usable = false;
    }
    if (usable && ExactBound()) {
      best_exact = std::max(best_exact, exact.RoundedUp(step));
      current.bound = best_exact;
      if (Pruned(best_exact)) return Verdict::kPruned;
      if (root && (!have_root_reduced || exact.scaled() > root_value)) {
        root_value = exact.scaled();
        root_reduced.assign(exact.reduced().begin(), exact.reduced().end());
        have_root_reduced = true;
      }
      if (outcome == LpOutcome::kLimit) return Verdict::kLimit;
      std::size_t count = 0;
      const std::size_t before = propagator.mark();
      conflict = !FixByReducedCost(count);
      if (conflict) return Verdict::kPruned;
      if (root && propagator.mark() > before) {
        root_mark = propagator.mark();
        global_lower.assign(propagator.lower().begin(), propagator.lower().end());
        global_upper.assign(propagator.upper().begin(), propagator.upper().end());
        counters.fixed_at_root = static_cast<std::int64_t>(root_mark);
      }
      // What propagation added may cut off the LP's point: solve again if so.
      bool cut_off = false;
      const auto trail = propagator.trail();
      const std::span<const double> x = point;
      for (std::size_t t = before; t < trail.size() && !cut_off; ++t) {
        const std::size_t j = static_cast<std::size_t>(trail[t]);
        cut_off = std::abs(x[j] - propagator.lower()[j]) > kIntegral;
      }
      if (cut_off) continue;
    }
    if (outcome == LpOutcome::kLimit) return Verdict::kLimit;
    if (outcome == LpOutcome::kCutoff) {  // the LP thinks it is past the cutoff; the integers do not agree
      ++counters.exact_failures;
      usable = false;
    }
    if (!usable) {
      // No LP to lean on: branch on any open column, or judge the single point that is left.
      std::int32_t open = -1;
      for (std::size_t j = 0; j < cost.size() && open < 0; ++j)
        if (!propagator.IsFixed(static_cast<std::int32_t>(j))) open = static_cast<std::int32_t>(j);
      if (open < 0) {
        const std::vector<std::int8_t> only(propagator.lower().begin(), propagator.lower().end());
        if (!ExactlyFeasible(only)) return Verdict::kPruned;
        std::vector<double> as_double(only.begin(), only.end());
        if (Separate(as_double, true, false, work) > 0) continue;
        const std::int64_t c = CostOf(only);
        if (c < cutoff) {
          solution = only;
          solution_cost = cutoff = c;
          ++counters.solutions;
          return Verdict::kSolution;
        }
        return Verdict::kPruned;
      }
      for (const std::int8_t value : {std::int8_t{1}, std::int8_t{0}}) {
        Node child;
        child.fixed.assign(current.fixed.begin(), current.fixed.end());
        child.fixed.emplace_back(open, value);
        child.bound = current.bound;
        child.depth = current.depth + 1;
        Push(std::move(child));
      }
      return Verdict::kBranched;
    }
    const double value = LpValue();
    const std::span<const double> x = point;
    if (current.column >= 0) {
      NotePseudoCost(current.column, current.direction, value - current.parent_value, current.distance);
      current.column = -1;
    }
    // Integral?
    std::size_t fractional = 0;
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (x[j] > kIntegral && x[j] < 1.0 - kIntegral) ++fractional;
    if (fractional == 0) {
      std::vector<std::int8_t> rounded(cost.size());
      for (std::size_t j = 0; j < cost.size(); ++j) rounded[j] = static_cast<std::int8_t>(std::lround(x[j]));
      const std::vector<double> as_double(rounded.begin(), rounded.end());
      if (Separate(as_double, true, root, work) > 0) continue;
      if (ExactlyFeasible(rounded)) {
        const std::int64_t c = CostOf(rounded);
        if (c < cutoff) {
          solution = std::move(rounded);
          solution_cost = cutoff = c;
          ++counters.solutions;
          FixRootByReducedCost();
          // The node stays: it may hold better ones, the LP's optimum being this point only up to its tolerances.
          return Verdict::kSolution;
        }
      } else {
        ++counters.exact_failures;
      }
      // Not exactly what the LP says: fall through to branching on something open.
    } else {
      const double gain = value - last_value;
      const double scale = cutoff == kInfinity ? std::abs(value) : static_cast<double>(cutoff) - value;
      stalled = gain < 0.003 * scale ? stalled + 1 : 0;
      last_value = value;
      // Rows that are known are always put back; new ones are looked for while that pays.
      const bool fresh = round < max_rounds && (stalled < (root ? 6 : 1) || round == 0);
      ++round;
      if (root && fresh && round % 8 == 0) PurgeRows(base_lp_rows);
      if (Separate(x, false, root, work, fresh) > 0) continue;
    }
    if (root) {
      root_x.assign(x.begin(), x.end());
      root_duals.assign(rows.size(), 0.0);
      for (std::size_t i = 0; i < lp_rows.size() && i < lp.duals().size(); ++i)
        root_duals[static_cast<std::size_t>(lp_rows[i])] = lp.duals()[i];
      root_done = true;
      if (params.root_only) return Verdict::kRootDone;
    }
    if (Compressible()) {
      Compress();
      continue;
    }
    return Branch(work, value);
  }
}

BranchAndBound::Impl::Verdict BranchAndBound::Impl::Branch(WorkBudget& work, double value) {
  struct Candidate {
    std::int32_t column;
    double x, score;
  };
  std::vector<Candidate> candidates;
  const std::vector<double> x = point;
  const double minimum = 1e-6 * std::max(1.0, std::abs(value));
  const auto score = [&](double down, double up) { return std::max(down, minimum) * std::max(up, minimum); };
  std::int32_t open = -1;
  for (std::size_t j = 0; j < cost.size(); ++j) {
    const std::int32_t column = static_cast<std::int32_t>(j);
    if (propagator.IsFixed(column)) continue;
    if (open < 0) open = column;
    if (x[j] <= kIntegral || x[j] >= 1.0 - kIntegral) continue;
    candidates.push_back({column, x[j], score(Predicted(j, 0, x[j]), Predicted(j, 1, 1.0 - x[j]))});
  }
  std::int32_t chosen = -1;
  double chosen_x = 0.5, gain_of[2] = {0.0, 0.0};
  std::int64_t bound_of[2] = {current.bound, current.bound};
  const LpBasis basis = lp.Basis();
  if (candidates.empty()) {
    chosen = open;                            // integral but not a solution: the LP's tolerances
    if (chosen < 0) return Verdict::kPruned;  // a single point, judged before
  } else {
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.score != b.score ? a.score > b.score : a.column < b.column;
    });
    double best = -1.0;
    std::int32_t tried = 0, without_gain = 0;
    for (const Candidate& c : candidates) {
      const std::size_t j = static_cast<std::size_t>(c.column);
      const PseudoCost& p = pseudo[j];
      double s = c.score;
      double gains[2] = {Predicted(j, 0, c.x), Predicted(j, 1, 1.0 - c.x)};
      std::int64_t bounds[2] = {current.bound, current.bound};
      if (std::min(p.count[0], p.count[1]) < params.reliability && tried < params.strong_candidates &&
          without_gain < 5 && !work.Exhausted()) {
        ++tried;
        ++counters.strong_branchings;
        for (const int direction : {0, 1}) {
          lp.SetBounds(lp_index[j], direction, direction);
          lp_lower[j] = lp_upper[j] = static_cast<std::int8_t>(direction);
          const LpOutcome outcome = SolveLp(work, params.strong_iterations);
          bool dead = false;
          if (outcome == LpOutcome::kInfeasible) {
            // Exact with the column's own bound set.
            dead = ProvedEmpty(c.column, static_cast<std::int8_t>(direction));
            gains[direction] = std::max(static_cast<double>(cutoff == kInfinity ? 0 : cutoff) - value, 0.0);
          } else if (outcome != LpOutcome::kFailed && outcome != LpOutcome::kUnavailable) {
            gains[direction] = std::max(LpValue() - value, 0.0);
            if (BoundWith(c.column, static_cast<std::int8_t>(direction))) {
              bounds[direction] = std::max(bounds[direction], exact.RoundedUp(step));
              dead = Pruned(bounds[direction]);
            }
            if (outcome == LpOutcome::kOptimal)
              NotePseudoCost(c.column, direction, gains[direction], direction == 0 ? c.x : 1.0 - c.x);
          }
          lp.SetBounds(lp_index[j], 0.0, 1.0);
          lp_lower[j] = 0;
          lp_upper[j] = 1;
          lp.SetBasis(basis);
          if (dead) {
            // Only the other side is left: take it and look at this node again.
            current.fixed.clear();
            const auto trail = propagator.trail();
            for (std::size_t t = root_mark; t < trail.size(); ++t)
              current.fixed.emplace_back(trail[t], propagator.lower()[static_cast<std::size_t>(trail[t])]);
            current.fixed.emplace_back(c.column, static_cast<std::int8_t>(1 - direction));
            if (current.depth == 0) root_pending.emplace_back(c.column, static_cast<std::int8_t>(1 - direction));
            current.basis = SaveBasis();
            Node again = std::move(current);
            again.column = -1;
            Push(std::move(again));
            return Verdict::kBranched;
          }
        }
        s = score(gains[0], gains[1]);
      }
      if (s > best * (1.0 + 1e-9)) {
        best = s;
        chosen = c.column;
        chosen_x = c.x;
        for (const int d : {0, 1}) {
          gain_of[d] = gains[d];
          bound_of[d] = bounds[d];
        }
        without_gain = 0;
      } else {
        ++without_gain;
      }
    }
  }
  Node child;
  const auto trail = propagator.trail();
  for (std::size_t t = root_mark; t < trail.size(); ++t)
    child.fixed.emplace_back(trail[t], propagator.lower()[static_cast<std::size_t>(trail[t])]);
  child.basis = SaveBasis();
  child.depth = current.depth + 1;
  child.column = chosen;
  // The cheaper child is gone into at once while it stays near the best bound: its LP is one bound change away, where a
  // node from the heap costs a few hundred pivots.
  const int first = gain_of[1] <= gain_of[0] ? 0 : 1;
  const double room = cutoff == kInfinity ? kPlungeShare * std::abs(value)
                                          : kPlungeShare * (static_cast<double>(cutoff) - static_cast<double>(floor));
  const bool plunge = value + gain_of[first] <= static_cast<double>(floor) + room || cutoff == kInfinity || diving;
  for (const int direction : {1 - first, first}) {
    Node next = child;
    next.fixed.emplace_back(chosen, static_cast<std::int8_t>(direction));
    next.bound = bound_of[direction];
    next.estimate = value + gain_of[direction];
    next.direction = static_cast<std::int8_t>(direction);
    next.parent_value = value;
    next.distance = direction == 0 ? chosen_x : 1.0 - chosen_x;
    if (direction == first && plunge) {
      current = std::move(next);
      return Verdict::kPlunge;
    }
    Push(std::move(next));
  }
  return Verdict::kBranched;
}

BranchAndBound::State BranchAndBound::Impl::Step(WorkBudget& work) {
  if (root_conflict) {
    heap.clear();
    has_current = false;
    UpdateFloor();
    return State::kFinished;
  }
  if (!started) {
    started = true;
    current = Node{};
    current.bound = floor;
    has_current = true;
  }
  for (;;) {
    if (work.Exhausted()) return State::kLimit;
    if (!has_current) {
      if (lp_version > 0 && 2 * lp_rows.size() > 3 * rows_when_built + 200) {
        PurgeRows(0);
        rows_when_built = std::max(rows_when_built, lp_rows.size());
      }
      if (heap.empty() || Pruned(heap.front().bound)) {
        heap.clear();
        UpdateFloor();
        return State::kFinished;
      }
      std::pop_heap(heap.begin(), heap.end(), Later);
      current = std::move(heap.back());
      heap.pop_back();
      has_current = true;
    }
    if (Pruned(current.bound)) {
      has_current = false;
      continue;
    }
    switch (Process(work)) {
      case Verdict::kPruned:
      case Verdict::kBranched: has_current = false; break;
      case Verdict::kPlunge: break;
      case Verdict::kLimit:
        current.basis = SaveBasis();
        UpdateFloor();
        return State::kLimit;
      case Verdict::kSolution: UpdateFloor(); return State::kSolution;
      case Verdict::kRootDone: UpdateFloor(); return State::kRootDone;
    }
    UpdateFloor();
  }
}

BranchAndBound::BranchAndBound(BinaryProgram program, RowSeparator* separator, const Params& params)
    : impl_(std::make_unique<Impl>(std::move(program), separator, params)) {}
BranchAndBound::~BranchAndBound() = default;

void BranchAndBound::SetCutoff(std::int64_t cutoff) {
  // Costs are multiples of step: below the cutoff is below the next multiple, which reduced cost fixing relies on.
  std::int64_t multiple = cutoff / impl_->step;
  if (multiple * impl_->step < cutoff) ++multiple;
  cutoff = multiple * impl_->step;
  if (cutoff >= impl_->cutoff) return;
  impl_->cutoff = cutoff;
  impl_->FixRootByReducedCost();
}
std::int64_t BranchAndBound::cutoff() const { return impl_->cutoff; }
void BranchAndBound::SetDiving(bool on) { impl_->diving = on; }
BranchAndBound::State BranchAndBound::Step(WorkBudget& work) { return impl_->Step(work); }
std::int64_t BranchAndBound::lower_bound() const { return impl_->floor; }
bool BranchAndBound::has_solution() const { return impl_->solution_cost != kInfinity; }
std::span<const std::int8_t> BranchAndBound::solution() const { return impl_->solution; }
std::int64_t BranchAndBound::solution_cost() const { return impl_->solution_cost; }
std::span<const std::int8_t> BranchAndBound::root_lower() const { return impl_->global_lower; }
std::span<const std::int8_t> BranchAndBound::root_upper() const { return impl_->global_upper; }
std::span<const double> BranchAndBound::root_x() const { return impl_->root_x; }
std::span<const double> BranchAndBound::node_x() const { return impl_->point; }
std::span<const double> BranchAndBound::root_duals() const { return impl_->root_duals; }
const IntegerRows& BranchAndBound::rows() const { return impl_->rows; }
const BranchAndBound::Counters& BranchAndBound::counters() const { return impl_->counters; }

}  // namespace ebb
