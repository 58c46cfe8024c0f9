// SPDX-License-Identifier: Apache-2.0
//
// Clp behind the interface. Clp's own scaling is off: rows come in scaled to a geometric mean near 1 (an exact power of
// two), which keeps rays and duals easy to carry back. Its perturbation is off too: taking it back after each solve
// costs more pivots than it saves (RL n = 250 at 0.8, six boundaries, 6 s of tree: bound 3.61 % without, 3.48 % with
// it after new rows, 3.52 % with it always). Work areas and factorization are kept from solve to solve, as Cbc does.
//
// Steepest edge weights outlive a solve (kept_steepest.hpp). Of its fixed cost QuickSimplex below spares a third: the
// bound of three models of nine boundaries after 8 s is 3.956, 3.881, 3.977 % instead of 3.861, 3.881, 3.973 %. (OSL's
// factorization is slower: 3.8 s instead of 3.4 s for as many pivots; dense parts make no difference.)
//
// Ticks: a pivot and a solve's fixed cost by size, and what weights were computed, set so that 1e9 are about a second:
// 0.9 to 1.2 s of processor time on the 0/1 programs of RL n = 250, 500, 1000 and ResNet50, up to 1.4 s where solves
// take few pivots (training step).
#include "engine/linear/linear_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#ifdef EBB_HAVE_CLP
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>

#include "engine/linear/kept_steepest.hpp"
#endif

namespace ebb {

#ifdef EBB_HAVE_CLP

namespace {

// Looks at the user's stop signal now and then.
class StopHandler : public ClpEventHandler {
 public:
  StopHandler() = default;
  StopHandler(const StopHandler&) = default;
  StopHandler& operator=(const StopHandler&) = default;
  ClpEventHandler* clone() const override { return new StopHandler(*this); }

  int event(Event which) override {
    if (which != endOfIteration && which != endOfFactorization) return -1;
    if (stop == nullptr || ++calls < every) return -1;
    calls = 0;
    return stop->Expired() ? 0 : -1;
  }

  const StopSignal* stop = nullptr;
  int calls = 0;
  int every = 16;
};

// Spares a solve what Clp does once more to be sure: the first of two looks at the starting point, and the
// factorization of the last basis where few pivots led to it (as Cbc does, there up to 20 of them).
class QuickSimplex : public ClpSimplex {
 public:
  QuickSimplex() {
    constexpr unsigned kKeepRay = 32, kNoCheck = 128, kOneLook = 512, kNoLastFactorization = 2048;
    setSpecialOptions(specialOptions() | kKeepRay | kNoCheck | kOneLook | kNoLastFactorization);
    dontFactorizePivots_ = 200;
  }
};

}  // namespace

struct LinearProgram::Impl {
  QuickSimplex clp;
  std::vector<double> norm;       // by column, then row
  double cost_scale = 1.0;        // clp cost = cost / cost_scale
  std::vector<double> row_scale;  // clp row = row / row_scale
  std::vector<double> duals;      // in the caller's units
  std::int64_t iterations = 0;
  bool fresh = true;     // rows changed since the last solve
  bool trivial = false;  // solved without rows, which Clp does not take
  std::vector<double> trivial_x;
  double trivial_objective = 0.0;

  // Rows waiting for the next solve, and columns that they may have terms of.
  std::vector<CoinBigIndex> start{0};
  std::vector<int> columns;
  std::vector<double> elements, lower;
  std::vector<double> new_cost, new_lower, new_upper;

  void Flush() {
    if (!new_cost.empty()) {
      const int count = static_cast<int>(new_cost.size()), first = clp.numberColumns();
      const std::vector<CoinBigIndex> none(new_cost.size() + 1, 0);
      clp.addColumns(count, new_lower.data(), new_upper.data(), new_cost.data(), none.data(), nullptr, nullptr);
      for (int j = first; j < first + count; ++j) clp.setColumnStatus(j, ClpSimplex::atLowerBound);
      norm.insert(norm.begin() + first, new_cost.size(), KeptSteepest::kUnknown);
      new_cost.clear();
      new_lower.clear();
      new_upper.clear();
      fresh = true;
    }
    if (lower.empty()) return;
    const std::vector<double> upper(lower.size(), COIN_DBL_MAX);
    clp.addRows(static_cast<int>(lower.size()), lower.data(), upper.data(), start.data(), columns.data(),
                elements.data());
    norm.resize(norm.size() + lower.size(), KeptSteepest::kUnknown);
    start.assign(1, 0);
    columns.clear();
    elements.clear();
    lower.clear();
    fresh = true;
  }
};

bool LinearProgram::Available() { return true; }

LinearProgram::LinearProgram(std::span<const std::int64_t> cost) : impl_(std::make_unique<Impl>()) {
  ClpSimplex& clp = impl_->clp;
  clp.setLogLevel(0);
  clp.scaling(0);
  const StopHandler handler;  // Clp keeps a copy
  clp.passInEventHandler(&handler);
  const int n = static_cast<int>(cost.size());
  clp.resize(0, n);
  clp.createStatus();
  double sum = 0.0;
  int count = 0;
  for (const std::int64_t c : cost) {
    if (c == 0) continue;
    sum += std::log2(std::abs(static_cast<double>(c)));
    ++count;
  }
  if (count > 0) impl_->cost_scale = std::exp2(std::round(sum / count));
  for (int j = 0; j < n; ++j) {
    clp.setObjectiveCoefficient(j, static_cast<double>(cost[static_cast<std::size_t>(j)]) / impl_->cost_scale);
    clp.setColumnBounds(j, 0.0, 1.0);
    clp.setColumnStatus(j, ClpSimplex::atLowerBound);
  }
  impl_->norm.assign(cost.size(), KeptSteepest::kUnknown);
  KeptSteepest steepest;
  clp.setDualRowPivotAlgorithm(steepest);
}

LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;

std::int32_t LinearProgram::num_columns() const {
  return impl_->clp.numberColumns() + static_cast<std::int32_t>(impl_->new_cost.size());
}
std::int32_t LinearProgram::num_rows() const {
  return impl_->clp.numberRows() + static_cast<std::int32_t>(impl_->lower.size());
}

void LinearProgram::AddColumn(std::int64_t cost, double lower, double upper) {
  impl_->new_cost.push_back(static_cast<double>(cost) / impl_->cost_scale);
  impl_->new_lower.push_back(lower);
  impl_->new_upper.push_back(upper);
}

void LinearProgram::AddRow(std::span<const std::int32_t> columns, std::span<const std::int64_t> coefficients,
                           std::int64_t rhs) {
  double sum = 0.0;
  for (const std::int64_t c : coefficients) sum += std::log2(std::abs(static_cast<double>(c)));
  const double scale = columns.empty() ? 1.0 : std::exp2(std::round(sum / static_cast<double>(columns.size())));
  impl_->row_scale.push_back(scale);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    impl_->columns.push_back(columns[i]);
    impl_->elements.push_back(static_cast<double>(coefficients[i]) / scale);
  }
  impl_->start.push_back(static_cast<CoinBigIndex>(impl_->columns.size()));
  impl_->lower.push_back(static_cast<double>(rhs) / scale);
}

void LinearProgram::RemoveRows(std::span<const std::int32_t> rows) {
  if (rows.empty()) return;
  impl_->Flush();
  impl_->clp.deleteRows(static_cast<int>(rows.size()), rows.data());
  std::vector<double>& scale = impl_->row_scale;
  std::vector<double>& norm = impl_->norm;
  const std::size_t n = static_cast<std::size_t>(impl_->clp.numberColumns());
  std::size_t out = 0, next = 0;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (next < rows.size() && static_cast<std::size_t>(rows[next]) == i) {
      ++next;
      continue;
    }
    norm[n + out] = norm[n + i];
    scale[out++] = scale[i];
  }
  scale.resize(out);
  norm.resize(n + out);
  impl_->fresh = true;
}

void LinearProgram::SetBounds(std::int32_t column, double lower, double upper) {
  if (column >= impl_->clp.numberColumns()) impl_->Flush();
  impl_->clp.setColumnBounds(column, lower, upper);
}

LpOutcome LinearProgram::Solve(WorkBudget& work, double objective_limit, std::int32_t iteration_limit) {
  Impl& s = *impl_;
  s.Flush();
  ClpSimplex& clp = s.clp;
  s.trivial = clp.numberRows() == 0;
  if (s.trivial) {
    s.trivial_x.clear();
    s.trivial_objective = 0.0;
    s.duals.clear();
    for (int j = 0; j < clp.numberColumns(); ++j) {
      const double c = clp.getObjCoefficients()[j];
      s.trivial_x.push_back(c >= 0.0 ? clp.getColLower()[j] : clp.getColUpper()[j]);
      s.trivial_objective += c * s.trivial_x.back();
    }
    return LpOutcome::kOptimal;
  }
  const Ticks per_iteration =
      4000 + 15 * static_cast<Ticks>(clp.numberRows()) + 7 * static_cast<Ticks>(clp.numberColumns());
  const Ticks affordable = work.left() / per_iteration;
  s.duals.resize(static_cast<std::size_t>(clp.numberRows()), 0.0);
  if (affordable <= 0) return LpOutcome::kLimit;
  auto* handler = static_cast<StopHandler*>(clp.eventHandler());
  handler->stop = work.stop_signal();
  clp.setMaximumIterations(static_cast<int>(std::min<Ticks>(affordable, iteration_limit)));
  clp.setDualObjectiveLimit(objective_limit / s.cost_scale);
  clp.setPerturbation(100);
  auto* steepest = static_cast<KeptSteepest*>(clp.dualRowPivot());
  steepest->norm = &s.norm;
  steepest->stop = work.stop_signal();
  steepest->found = 0;
  steepest->elements = 0;
  clp.dual(0, 1 + 2 + 4);
  steepest->Harvest(clp, s.norm);
  steepest->norm = nullptr;
  s.fresh = false;
  const int iterations = clp.numberIterations();
  s.iterations += iterations;
  work.Spend(per_iteration * (iterations + 16) + 100 * static_cast<Ticks>(steepest->found) +
             20 * static_cast<Ticks>(steepest->elements));

  const int rows = clp.numberRows();
  const auto take = [&](const double* y) {
    for (int i = 0; i < rows; ++i)
      s.duals[static_cast<std::size_t>(i)] = y[i] * s.cost_scale / s.row_scale[static_cast<std::size_t>(i)];
  };
  take(clp.dualRowSolution());
  switch (clp.status()) {
    case 0: return LpOutcome::kOptimal;
    case 1: {
      if (clp.secondaryStatus() == 1) return LpOutcome::kCutoff;
      double* ray = clp.infeasibilityRay();
      if (ray != nullptr) {
        take(ray);
        delete[] ray;
      }
      return LpOutcome::kInfeasible;
    }
    case 3:
    case 5: return LpOutcome::kLimit;
    default: return LpOutcome::kFailed;
  }
}

double LinearProgram::objective() const {
  return (impl_->trivial ? impl_->trivial_objective : impl_->clp.objectiveValue()) * impl_->cost_scale;
}
std::span<const double> LinearProgram::x() const {
  if (impl_->trivial) return impl_->trivial_x;
  return {impl_->clp.primalColumnSolution(), static_cast<std::size_t>(impl_->clp.numberColumns())};
}
std::span<const double> LinearProgram::duals() const { return impl_->duals; }
bool LinearProgram::RowIsBasic(std::int32_t row) const { return impl_->clp.getRowStatus(row) == ClpSimplex::basic; }
std::int64_t LinearProgram::iterations() const { return impl_->iterations; }

LpBasis LinearProgram::Basis() const {
  impl_->Flush();
  const unsigned char* status = impl_->clp.statusArray();
  const int n = impl_->clp.numberColumns();
  return {{status, status + n}, {status + n, status + n + impl_->clp.numberRows()}, impl_->norm};
}

void LinearProgram::SetBasis(const LpBasis& basis) {
  impl_->Flush();
  unsigned char* status = impl_->clp.statusArray();
  std::copy(basis.columns.begin(), basis.columns.end(), status);
  std::copy(basis.rows.begin(), basis.rows.end(), status + impl_->clp.numberColumns());
  std::fill(impl_->norm.begin(), impl_->norm.end(), KeptSteepest::kUnknown);
  std::copy(basis.norms.begin(), basis.norms.end(), impl_->norm.begin());
  impl_->clp.setWhatsChanged(impl_->clp.whatsChanged() & ~(2 | 512));  // the factorization is of another basis
}

#else  // no LP library

struct LinearProgram::Impl {
  std::int32_t columns = 0, rows = 0;
  std::vector<double> x, duals;
};

bool LinearProgram::Available() { return false; }
LinearProgram::LinearProgram(std::span<const std::int64_t> cost) : impl_(std::make_unique<Impl>()) {
  impl_->columns = static_cast<std::int32_t>(cost.size());
  impl_->x.resize(cost.size());
}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;
std::int32_t LinearProgram::num_columns() const { return impl_->columns; }
std::int32_t LinearProgram::num_rows() const { return impl_->rows; }
void LinearProgram::AddColumn(std::int64_t, double, double) {
  impl_->x.resize(static_cast<std::size_t>(++impl_->columns));
}
void LinearProgram::AddRow(std::span<const std::int32_t>, std::span<const std::int64_t>, std::int64_t) {
  impl_->duals.resize(static_cast<std::size_t>(++impl_->rows));
}
void LinearProgram::RemoveRows(std::span<const std::int32_t> rows) {
  impl_->rows -= static_cast<std::int32_t>(rows.size());
}
void LinearProgram::SetBounds(std::int32_t, double, double) {}
LpOutcome LinearProgram::Solve(WorkBudget&, double, std::int32_t) { return LpOutcome::kUnavailable; }
double LinearProgram::objective() const { return 0.0; }
std::span<const double> LinearProgram::x() const { return impl_->x; }
std::span<const double> LinearProgram::duals() const { return impl_->duals; }
bool LinearProgram::RowIsBasic(std::int32_t) const { return true; }
std::int64_t LinearProgram::iterations() const { return 0; }
LpBasis LinearProgram::Basis() const { return {}; }
void LinearProgram::SetBasis(const LpBasis&) {}

#endif

}  // namespace ebb
