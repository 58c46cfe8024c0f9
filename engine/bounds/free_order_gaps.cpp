// SPDX-License-Identifier: Apache-2.0
//
// Times are even numbers at the rows (2i: the first execution of p_i) and odd ones between them. An op off the path
// that comes after p_{i-1} and before p_i has the time 2i - 1 exactly; one with more room has a range and never tells
// two gaps apart, it only makes the last gap of a storage reach further.
#include "engine/bounds/free_order_gaps.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gap_table_builder.hpp"
#include "engine/bounds/storage_roots.hpp"

namespace ebb {
namespace {

// Union-find with path halving over ops and the values they read.
class Parts {
 public:
  explicit Parts(const Instance& in) : parent_(in.num_ops) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (std::size_t op = 0; op < in.num_ops; ++op)
      for (std::int32_t v : in.reads[op])
        if (in.maker[v] >= 0) parent_[Find(static_cast<std::int32_t>(op))] = Find(in.maker[v]);
  }
  std::int32_t Find(std::int32_t op) {
    while (parent_[op] != op) op = parent_[op] = parent_[parent_[op]];
    return op;
  }

 private:
  std::vector<std::int32_t> parent_;
};

// Rows of all paths, and between which of them each op runs for the first time: after row `low` (or at it), before row
// `high` (or at it). Rows of its part's path are [first, last).
struct TimeLines {
  std::vector<std::int32_t> row_op;
  std::vector<std::int32_t> low, high, first, last;  // per op; low = first - 1: before all, high = last: after all
};

TimeLines Lines(const Instance& in, std::span<const std::vector<std::int32_t>> paths) {
  TimeLines t;
  Parts parts(in);
  std::vector<std::int32_t> at(in.num_ops, -1), first(in.num_ops, 0), last(in.num_ops, 0);
  for (const std::vector<std::int32_t>& path : paths) {
    if (path.empty()) continue;
    first[parts.Find(path[0])] = static_cast<std::int32_t>(t.row_op.size());
    for (std::int32_t op : path) {
      at[op] = static_cast<std::int32_t>(t.row_op.size());
      t.row_op.push_back(op);
    }
    last[parts.Find(path[0])] = static_cast<std::int32_t>(t.row_op.size());
  }
  t.first.resize(in.num_ops);
  t.last.resize(in.num_ops);
  for (std::size_t op = 0; op < in.num_ops; ++op) {
    t.first[op] = first[parts.Find(static_cast<std::int32_t>(op))];
    t.last[op] = last[parts.Find(static_cast<std::int32_t>(op))];
    t.low.push_back(t.first[op] - 1);
    t.high.push_back(t.last[op]);
  }
  for (std::int32_t op : in.order) {
    for (std::int32_t v : in.reads[op])
      if (in.maker[v] >= 0) t.low[op] = std::max(t.low[op], t.low[in.maker[v]]);
    if (at[op] >= 0) t.low[op] = at[op];
  }
  for (std::size_t i = in.order.size(); i-- > 0;) {
    const std::int32_t op = in.order[i];
    if (at[op] >= 0) t.high[op] = at[op];
    for (std::int32_t v : in.reads[op])
      if (in.maker[v] >= 0) t.high[in.maker[v]] = std::min(t.high[in.maker[v]], t.high[op]);
  }
  return t;
}

struct Read {
  std::int32_t low, high;  // rows; equal: on the path
  std::int32_t reader;     // -1: the end
  std::int32_t value;
  [[nodiscard]] std::int32_t time() const { return low + high; }
  [[nodiscard]] bool exact() const { return high - low <= 1; }
};

}  // namespace

std::vector<std::vector<std::int32_t>> HeaviestPaths(const Instance& in, std::span<const std::int64_t> weight) {
  Parts connected(in);
  std::vector<Int128> best(in.num_ops, 0);
  std::vector<std::int32_t> from(in.num_ops, -1);
  for (std::int32_t op : in.order) {
    for (std::int32_t v : in.reads[op]) {
      const std::int32_t m = in.maker[v];
      if (m < 0 || m == op) continue;
      if (from[op] < 0 || best[m] > best[from[op]]) from[op] = m;
    }
    best[op] = weight[op] + (from[op] < 0 ? 0 : best[from[op]]);
  }
  std::vector<std::int32_t> last(in.num_ops, -1), parts;  // parts in the order of their first ops
  for (std::int32_t op : in.order) {
    std::int32_t& l = last[connected.Find(op)];
    if (l < 0) parts.push_back(connected.Find(op));
    if (l < 0 || best[op] > best[l]) l = op;
  }
  std::vector<std::vector<std::int32_t>> paths;
  for (std::int32_t part : parts) {
    paths.emplace_back();
    for (std::int32_t op = last[part]; op >= 0; op = from[op]) paths.back().push_back(op);
    std::reverse(paths.back().begin(), paths.back().end());
  }
  return paths;
}

GapTable FreeOrderGaps(const Instance& in, std::span<const std::vector<std::int32_t>> paths, const StopSignal* stop) {
  const std::vector<std::int32_t> root = StorageRoots(in);
  TimeLines times = Lines(in, paths);

  std::vector<std::vector<std::int32_t>> group(in.num_values);  // root -> values carried by it, itself first
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.carrier[v] < 0) group[v].push_back(static_cast<std::int32_t>(v));
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.carrier[v] >= 0) group[root[v]].push_back(static_cast<std::int32_t>(v));

  GapTableBuilder builder(in, root, std::move(times.row_op));
  std::vector<Read> reads;
  std::vector<std::int32_t> charged;
  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (v % 4096 == 0) ThrowIfExpired(stop);
    const std::int32_t maker = in.maker[v];
    if (group[v].empty() || maker < 0 || in.bytes[v] == 0) continue;
    reads.clear();
    for (std::int32_t w : group[v]) {
      for (std::int32_t r : in.readers[w]) reads.push_back({times.low[r], times.high[r], r, w});
      if (in.kept[w]) reads.push_back({times.last[maker] - 1, times.last[maker], -1, w});
    }
    // Rows from the maker on: the first row that surely comes after it.
    const bool maker_on_path = times.low[maker] == times.high[maker];
    std::int32_t begin = times.high[maker] + (maker_on_path ? 1 : 0);
    const auto add = [&](std::int32_t end, std::int32_t until, std::span<const Read> by) {
      if (end <= begin) return;
      charged.assign(1, maker);
      std::int32_t views = 0;
      for (const Read& r : by)
        for (std::int32_t w = r.value; in.carrier[w] >= 0 && views < GapTableBuilder::kMaxViews;
             w = in.carrier[w], ++views) {
          // a rerun only where the view was surely made before
          const std::int32_t m = in.maker[w];
          if (times.high[m] < begin || (times.high[m] == begin && times.low[m] != begin)) charged.push_back(m);
        }
      builder.Add({static_cast<std::int32_t>(v), begin, end, by.front().reader, in.bytes[v], until}, charged);
    };
    // Exact reads in time, those at one time together where they are on the path (one op reads several names there).
    std::sort(reads.begin(), reads.end(), [](const Read& a, const Read& b) {
      return std::tuple(!a.exact(), a.time(), a.reader, a.value) < std::tuple(!b.exact(), b.time(), b.reader, b.value);
    });
    std::size_t i = 0;
    while (i < reads.size() && reads[i].exact()) {
      std::size_t j = i + 1;
      while (j < reads.size() && reads[j].exact() && reads[j].reader == reads[i].reader) ++j;
      const Read& r = reads[i];
      // on the path: up to the row before it; between two rows: up to the earlier one
      const std::int32_t end = r.low == r.high ? r.low : r.low + 1;
      add(end, end, std::span<const Read>(reads).subspan(i, j - i));
      begin = std::max(begin, r.low == r.high ? r.low + 1 : r.high);
      i = j;
    }
    // What is left is surely needed up to the latest `low`.
    const Read* latest = nullptr;
    for (; i < reads.size(); ++i)
      if (latest == nullptr || reads[i].low > latest->low ||
          (reads[i].low == latest->low && reads[i].high < latest->high))
        latest = &reads[i];
    if (latest != nullptr) add(latest->low + 1, latest->high, std::span<const Read>(latest, 1));
  }
  return builder.Finish(stop);
}

GapTable BestFreeOrderGaps(const Instance& in, std::int64_t budget, WorkBudget* work, const GapTable* fixed) {
  const StopSignal* const stop = work != nullptr ? work->stop_signal() : nullptr;
  std::vector<std::int64_t> weight(in.num_ops, 1);
  GapTable by_length = FreeOrderGaps(in, HeaviestPaths(in, weight), stop);
  ThrowIfExpired(stop);
  const GapTable made = fixed != nullptr ? GapTable() : FixedOrderGaps(in, stop);
  const std::vector<std::int64_t>& resident = fixed != nullptr ? fixed->resident : made.resident;
  for (std::size_t row = 0; row < in.num_ops; ++row)
    weight[in.order[row]] = std::max<std::int64_t>(0, resident[row] - budget) + 1;
  GapTable by_bytes = FreeOrderGaps(in, HeaviestPaths(in, weight), stop);
  if (work != nullptr) {
    const std::size_t all = made.gaps.size() + by_length.gaps.size() + by_bytes.gaps.size();
    work->Spend(static_cast<Ticks>(all) * 300 + static_cast<Ticks>(in.num_ops) * 1000);
  }
  if (by_length.floor() > budget) return by_length;
  if (by_bytes.floor() > budget) return by_bytes;
  const bool longer =
      SolveGapCover(in, by_length, budget, 0, work).extra > SolveGapCover(in, by_bytes, budget, 0, work).extra;
  return longer ? std::move(by_length) : std::move(by_bytes);
}

}  // namespace ebb
