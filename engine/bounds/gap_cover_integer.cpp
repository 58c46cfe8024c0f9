// SPDX-License-Identifier: Apache-2.0
//
// The program starts with the rows that the flow rests on; others are made when a point violates them. Coefficients are
// cut to the row's demand. Rows are a thousand columns long in real models, so their number decides the time: RL n=1000
// at 0.8 took 5.8 s with all rows, 4.7 s with those without a price kept out of the LP until violated, 1.1 s now.
//
// Alone, to the end (one thread, busy machine): ResNet50 at 0.9 / 0.8: 0.1085 / 0.2786 % in 0.001 / 0.002 s; FCN8
// 0.0294 / 0.1361 %, MobileNet 0.1635 / 0.3702 % in 0.01 s: all optimal. SegNet at 0.5 from 9.47 to 40.660 %. RL n=1000
// at 0.8 only from 0.7823 to 0.7871 %: on layered graphs the bound is elsewhere (boundary relaxation).
#include "engine/bounds/gap_cover_integer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/bounds/binding_rows.hpp"
#include "engine/linear/branch_and_bound.hpp"
#include "engine/linear/knapsack_cuts.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kNoCutoff = std::numeric_limits<std::int64_t>::max() / 4;

// Memory rows of one part, made when a point violates them: of the rows between two present ones the one that misses
// most bytes, and its knapsack cuts.
class RowMaker final : public RowSeparator {
 public:
  struct Column {
    std::int32_t begin, end;  // in terms of the part's rows
    std::int64_t bytes;
  };
  RowMaker(std::vector<Column> columns, std::vector<std::int64_t> demand, std::size_t num_columns)
      : columns_(std::move(columns)),
        demand_(std::move(demand)),
        lower_(num_columns, 0),
        upper_(num_columns, 1),
        present_(demand_.size(), 0) {}

  void Make(std::size_t row, IntegerRows& out) {
    present_[row] = 1;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].begin <= static_cast<std::int32_t>(row) && static_cast<std::int32_t>(row) < columns_[c].end)
        out.Term(static_cast<std::int32_t>(c), std::min(columns_[c].bytes, demand_[row]));
    out.EndRow(demand_[row]);
  }

  void Separate(std::span<const double> x, bool integral, bool, IntegerRows& out) override {
    std::vector<double> change(demand_.size() + 1, 0.0);
    std::vector<std::int64_t> exact(integral ? demand_.size() + 1 : 0, 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (integral && x[c] > 0.5) {
        exact[columns_[c].begin] += columns_[c].bytes;
        exact[columns_[c].end] -= columns_[c].bytes;
      }
      change[columns_[c].begin] += x[c] * static_cast<double>(columns_[c].bytes);
      change[columns_[c].end] -= x[c] * static_cast<double>(columns_[c].bytes);
    }
    double freed = 0.0, most = 0.0;
    std::int64_t exactly = 0;
    std::ptrdiff_t at = -1;
    std::vector<std::size_t> wanted;
    const auto flush = [&] {
      if (at >= 0) wanted.push_back(static_cast<std::size_t>(at));
      at = -1;
      most = 0.0;
    };
    for (std::size_t r = 0; r < demand_.size(); ++r) {
      freed += change[r];
      double missing = (static_cast<double>(demand_[r]) - freed) / static_cast<double>(demand_[r]);
      if (integral) {
        exactly += exact[r];
        missing = exactly < demand_[r] ? static_cast<double>(demand_[r] - exactly) : 0.0;
      }
      if (present_[r])
        flush();
      else if (missing > (integral ? 0.0 : 1e-4) && missing > most) {
        most = missing;
        at = static_cast<std::ptrdiff_t>(r);
      }
    }
    flush();
    for (const std::size_t r : wanted) {
      made_rows_.push_back(made_.size());
      Make(r, made_);
      Copy(made_.size() - 1, out);
    }
    if (integral) return;
    for (const std::size_t r : made_rows_) SeparateKnapsack(made_, r, x, lower_, upper_, 0.02, out);
  }

 private:
  void Copy(std::size_t row, IntegerRows& out) const {
    for (std::size_t k = 0; k < made_.columns(row).size(); ++k)
      out.Term(made_.columns(row)[k], made_.coefficients(row)[k]);
    out.EndRow(made_.rhs(row));
  }

  std::vector<Column> columns_;  // the first columns of the program
  std::vector<std::int64_t> demand_;
  std::vector<std::int8_t> lower_, upper_;
  std::vector<std::uint8_t> present_;
  IntegerRows made_;
  std::vector<std::size_t> made_rows_;
};

// One independent stretch of the time line.
struct Part {
  std::vector<std::int32_t> gaps;  // column -> gap, for the first columns; the rest are reruns of shared ops
  std::unique_ptr<RowMaker> maker;
  std::int64_t paid = 0;   // for gaps that are dropped in any case
  std::int64_t least = 0;  // proved, with `paid`
  std::unique_ptr<BranchAndBound> search;
  bool finished = false;
};

}  // namespace

struct GapCoverInteger::Impl {
  const Instance& in;
  const GapTable& table;
  const GapCoverBound& flow;
  std::int64_t budget;
  std::int64_t cutoff;  // of the sum over parts (without forced reruns)
  std::int64_t proved;
  std::vector<Part> parts;
  std::vector<std::uint8_t> dropped, always;
  bool have_cover = false;

  enum class Fate : std::uint8_t { kOpen, kKept, kDropped };
  std::vector<Fate> fate;
  std::vector<std::uint8_t> is_shared;  // per op: its charges overlap

  Impl(const Instance& instance, const GapTable& gap_table, const GapCoverBound& bound, std::int64_t bytes,
       std::optional<std::int64_t> limit)
      : in(instance), table(gap_table), flow(bound), budget(bytes), proved(bound.extra) {
    cutoff = limit ? *limit - table.forced_duration : kNoCutoff;
    FixByReducedCost();
    FindShared();
    const std::vector<std::int32_t> rows = BindingRows(table, budget);
    Split(rows);
    UpdateProved();
  }

  void FixByReducedCost() {
    fate.assign(table.gaps.size(), Fate::kOpen);
    if (cutoff >= kNoCutoff) return;
    const std::vector<Int128> sums = PriceSums(flow.price);
    const Int128 value = EvaluatePrices(table, flow.costs, budget, flow.price, flow.price_scale);
    const std::int64_t gcd = DurationGcd(in);
    for (std::size_t g = 0; g < table.gaps.size(); ++g) {
      const Int128 reduced = ReducedCost(table, flow.costs, flow.price_scale, sums, g);
      const Int128 with = value + (reduced > 0 ? reduced : -reduced);
      if (RoundUpExtra(gcd, table, with, flow.price_scale) - table.forced_duration >= cutoff)
        fate[g] = reduced > 0 ? Fate::kKept : Fate::kDropped;
    }
  }

  [[nodiscard]] bool ForcedOver(std::int32_t op, const Gap& gap) const {
    for (const ForcedRerun& f : table.forced)
      if (f.op == op && gap.begin <= f.end && f.begin <= gap.until) return true;
    return false;
  }

  void FindShared() {
    is_shared.assign(in.num_ops, 0);
    std::vector<std::int32_t> reach(in.num_ops, 0);
    for (std::size_t g = 0; g < table.gaps.size(); ++g)
      for (std::int32_t op : table.charges[g]) {
        is_shared[op] |= table.gaps[g].begin < reach[op];
        reach[op] = std::max(reach[op], table.gaps[g].until);
      }
  }

  void Split(const std::vector<std::int32_t>& rows) {
    if (rows.empty()) return;
    const auto n = static_cast<std::int32_t>(rows.size());
    std::vector<std::int32_t> at_or_after = RowsAtOrAfter(rows, table.num_rows());
    // joined[i]: kept rows i - 1 and i belong together, through a gap or through overlapping gaps of a shared op
    std::vector<std::int32_t> delta(rows.size() + 2, 0);
    std::vector<std::int32_t> first(in.num_ops, -1), reach(in.num_ops, -1);
    const auto join = [&](std::int32_t begin, std::int32_t end) {
      if (end - begin < 2) return;
      ++delta[begin + 1];
      --delta[end];
    };
    for (std::size_t g = 0; g < table.gaps.size(); ++g) {
      if (fate[g] == Fate::kKept) continue;
      const Gap& gap = table.gaps[g];
      const std::int32_t begin = at_or_after[gap.begin], end = at_or_after[gap.end];
      join(begin, end);
      for (std::int32_t op : table.charges[g]) {
        if (!is_shared[op]) continue;
        if (gap.begin < reach[op]) {
          join(first[op], std::max(end, at_or_after[reach[op]]));
        } else {
          first[op] = begin;
        }
        reach[op] = std::max(reach[op], gap.until);
      }
    }
    std::vector<std::int32_t> part_of(rows.size());
    std::int32_t over = 0, count = 0;
    for (std::int32_t i = 0; i < n; ++i) {
      over += delta[i];
      if (i > 0 && over == 0) ++count;
      part_of[i] = count;
    }
    ++count;
    std::vector<std::vector<std::int32_t>> gaps(static_cast<std::size_t>(count));
    std::vector<std::vector<std::int32_t>> part_rows(static_cast<std::size_t>(count));
    for (std::int32_t i = 0; i < n; ++i) part_rows[part_of[i]].push_back(rows[i]);
    always.assign(table.gaps.size(), 0);
    for (std::size_t g = 0; g < table.gaps.size(); ++g) {
      const std::int32_t begin = at_or_after[table.gaps[g].begin];
      if (begin == at_or_after[table.gaps[g].end] || fate[g] == Fate::kKept) continue;
      always[g] = fate[g] == Fate::kDropped;
      gaps[part_of[begin]].push_back(static_cast<std::int32_t>(g));
    }
    for (std::int32_t p = 0; p < count; ++p) parts.push_back(Build(part_rows[p], gaps[p]));
  }

  Part Build(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& gaps) {
    Part part;
    BinaryProgram program;
    std::vector<std::int32_t> column(gaps.size(), -1);
    std::vector<std::pair<std::int32_t, std::int32_t>> shared;  // op, index into gaps
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const std::int32_t g = gaps[i];
      std::int64_t cost = 0;
      for (std::int32_t op : table.charges[g]) {
        if (ForcedOver(op, table.gaps[g])) continue;
        if (is_shared[op])
          shared.emplace_back(op, static_cast<std::int32_t>(i));
        else
          cost += in.duration[op];
      }
      if (fate[g] == Fate::kDropped) {
        part.paid += cost;
        continue;
      }
      column[i] = static_cast<std::int32_t>(program.cost.size());
      program.cost.push_back(cost);
      part.gaps.push_back(g);
    }
    const std::vector<std::int32_t> at_or_after = RowsAtOrAfter(rows, table.num_rows());
    std::vector<std::int64_t> demand(rows.size() + 1, 0);  // less what is dropped in any case
    std::vector<RowMaker::Column> spans;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const Gap& gap = table.gaps[gaps[i]];
      const std::int32_t begin = at_or_after[gap.begin], end = at_or_after[gap.end];
      if (column[i] >= 0) {
        spans.push_back({begin, end, gap.bytes});
      } else {
        demand[begin] -= gap.bytes;
        demand[end] += gap.bytes;
      }
    }
    std::partial_sum(demand.begin(), demand.end(), demand.begin());
    demand.pop_back();
    std::vector<std::int32_t> hot;  // rows that still miss something
    for (std::size_t r = 0; r < rows.size(); ++r) {
      demand[r] += table.resident[rows[r]] - budget;
      if (demand[r] > 0) hot.push_back(static_cast<std::int32_t>(r));
    }
    const std::vector<std::int32_t> at_hot = RowsAtOrAfter(hot, rows.size());
    for (RowMaker::Column& c : spans) {
      c.begin = at_hot[c.begin];
      c.end = at_hot[c.end];
    }
    std::vector<std::int64_t> hot_demand;
    for (const std::int32_t r : hot) hot_demand.push_back(demand[r]);
    // A shared op: one column per stretch between ends of its gaps; a dropped gap needs one of those inside it.
    std::stable_sort(shared.begin(), shared.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < shared.size();) {
      const std::size_t group = i;
      const std::int32_t op = shared[i].first;
      std::vector<std::int32_t> points;
      for (; i < shared.size() && shared[i].first == op; ++i) {
        points.push_back(table.gaps[gaps[shared[i].second]].begin);
        points.push_back(table.gaps[gaps[shared[i].second]].until);
      }
      std::sort(points.begin(), points.end());
      points.erase(std::unique(points.begin(), points.end()), points.end());
      const auto base = static_cast<std::int32_t>(program.cost.size());
      for (std::size_t k = 0; k + 1 < points.size(); ++k) program.cost.push_back(in.duration[op]);
      for (std::size_t k = group; k < i; ++k) {
        const std::int32_t which = shared[k].second;
        const Gap& gap = table.gaps[gaps[which]];
        if (column[which] >= 0) program.rows.Term(column[which], -1);
        for (std::size_t s = 0; s + 1 < points.size(); ++s)
          if (gap.begin <= points[s] && points[s + 1] <= gap.until)
            program.rows.Term(base + static_cast<std::int32_t>(s), 1);
        program.rows.EndRow(column[which] >= 0 ? 0 : 1);
      }
    }
    part.maker = std::make_unique<RowMaker>(std::move(spans), std::move(hot_demand), program.cost.size());
    for (std::size_t h = 0; h < hot.size(); ++h) {
      if (!std::binary_search(flow.rows.begin(), flow.rows.end(), rows[hot[h]])) continue;
      part.maker->Make(h, program.rows);
      program.knapsacks.push_back(static_cast<std::int32_t>(program.rows.size()) - 1);
    }
    part.least = part.paid;
    if (program.rows.size() == 0 && hot.empty()) {
      part.finished = true;
      return part;
    }
    part.search = std::make_unique<BranchAndBound>(std::move(program), part.maker.get(), BranchAndBound::Params{});
    return part;
  }

  [[nodiscard]] std::int64_t SumLeast() const {
    Int128 sum = 0;
    for (const Part& p : parts) sum += p.least;
    return static_cast<std::int64_t>(std::min<Int128>(sum, kNoCutoff));
  }

  void UpdateProved() {
    const std::int64_t sum = std::min(SumLeast(), cutoff);
    proved = std::max(proved, RoundUpExtra(in, table, sum, 1));
  }

  bool Step(WorkBudget& work) {
    bool all = true;
    for (Part& p : parts) {
      if (p.finished) continue;
      // What the others take at least is not there for this part.
      if (cutoff < kNoCutoff) p.search->SetCutoff(cutoff - (SumLeast() - p.least) - p.paid);
      while (!p.finished && !work.Exhausted()) {
        const BranchAndBound::State state = p.search->Step(work);
        if (state == BranchAndBound::State::kFinished) p.finished = true;
        if (state == BranchAndBound::State::kLimit) break;
      }
      p.least = std::max(p.least, p.paid + std::min(p.search->lower_bound(), p.search->cutoff()));
      UpdateProved();
      all &= p.finished;
    }
    TakeCover();
    return all || proved >= cutoff + table.forced_duration;
  }

  void TakeCover() {
    for (const Part& p : parts)
      if (p.search && !p.search->has_solution()) return;
    have_cover = true;
    dropped = always;
    dropped.resize(table.gaps.size(), 0);
    for (const Part& p : parts)
      if (p.search)
        for (std::size_t c = 0; c < p.gaps.size(); ++c) dropped[p.gaps[c]] = p.search->solution()[c] != 0;
  }
};

GapCoverInteger::GapCoverInteger(const Instance& instance, const GapTable& table, const GapCoverBound& flow,
                                 std::int64_t budget, std::optional<std::int64_t> cutoff)
    : impl_(std::make_unique<Impl>(instance, table, flow, budget, cutoff)) {}
GapCoverInteger::~GapCoverInteger() = default;

void GapCoverInteger::SetCutoff(std::int64_t cutoff) {
  impl_->cutoff = std::min(impl_->cutoff, cutoff - impl_->table.forced_duration);
  impl_->UpdateProved();
}
bool GapCoverInteger::Step(WorkBudget& work) { return impl_->Step(work); }
std::int64_t GapCoverInteger::extra() const { return impl_->proved; }
std::span<const std::uint8_t> GapCoverInteger::dropped() const {
  return impl_->have_cover ? std::span<const std::uint8_t>(impl_->dropped) : std::span<const std::uint8_t>();
}
std::size_t GapCoverInteger::num_columns() const {
  std::size_t sum = 0;
  for (const Part& p : impl_->parts) sum += p.gaps.size();
  return sum;
}

}  // namespace ebb
