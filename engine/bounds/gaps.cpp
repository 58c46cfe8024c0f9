// SPDX-License-Identifier: Apache-2.0
//
// A view's maker reads its base (Instance), so the reads are all there is. Uses are gathered in one sweep over the
// order, per storage root, so they come out sorted. Forced reruns: a direct read of a value after an op took over its
// storage. Reads of views after that may still be served by an older storage, so they force nothing.
#include "engine/bounds/gaps.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/base/int128.hpp"
#include "engine/base/status.hpp"
#include "engine/bounds/gap_table_builder.hpp"
#include "engine/bounds/storage_roots.hpp"

namespace ebb {
namespace {

constexpr std::int32_t kLookEvery = 4096;  // at the clock

struct Use {
  std::int32_t row;
  std::int32_t value;  // read (or taken as the base of a view): this value of the root's group
  bool consumes;       // its storage is taken over here
};

// Leaves of each op only reruns with disjoint windows, a largest set of them (earliest end first).
std::int64_t KeepDisjoint(const Instance& in, std::vector<ForcedRerun>& forced) {
  std::sort(forced.begin(), forced.end(), [](const ForcedRerun& a, const ForcedRerun& b) {
    return std::tie(a.op, a.end, a.begin, a.value) < std::tie(b.op, b.end, b.begin, b.value);
  });
  Int128 sum = 0;
  std::int32_t op = -1, end = 0;
  std::erase_if(forced, [&](const ForcedRerun& f) {
    if (f.op == op && f.begin < end) return true;
    op = f.op;
    end = f.end;
    sum += in.duration[op];
    return false;
  });
  if (sum > (Int128{1} << 62)) throw InputError("durations do not fit into 62 bits");
  return static_cast<std::int64_t>(sum);
}

}  // namespace

std::int64_t GapTable::peak() const {
  return resident.empty() ? 0 : *std::max_element(resident.begin(), resident.end());
}

std::int32_t GapTable::floor_row() const {
  if (pinned.empty()) return -1;
  return static_cast<std::int32_t>(std::max_element(pinned.begin(), pinned.end()) - pinned.begin());
}

std::int64_t GapTable::floor() const { return pinned.empty() ? 0 : pinned[floor_row()]; }

GapTable FixedOrderGaps(const Instance& in, const StopSignal* stop) {
  const std::vector<std::int32_t> root = StorageRoots(in);
  const auto n = static_cast<std::int32_t>(in.num_ops);

  std::vector<std::int64_t> first_use(in.num_values + 1, 0);
  for (std::size_t op = 0; op < in.num_ops; ++op) {
    for (std::int32_t v : in.reads[op]) ++first_use[root[v] + 1];
  }
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.kept[v]) ++first_use[root[v] + 1];
  std::partial_sum(first_use.begin(), first_use.end(), first_use.begin());
  std::vector<Use> uses(static_cast<std::size_t>(first_use.back()));
  std::vector<std::int64_t> next(first_use.begin(), first_use.end() - 1);
  for (std::int32_t row = 0; row < n; ++row) {
    if (row % kLookEvery == 0) ThrowIfExpired(stop);
    const auto op = static_cast<std::size_t>(in.order[row]);
    const auto eaten = in.consumes[op];
    for (std::int32_t v : in.reads[op])
      uses[next[root[v]]++] = {row, v, v == root[v] && std::find(eaten.begin(), eaten.end(), v) != eaten.end()};
  }
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.kept[v]) uses[next[root[v]]++] = {n, static_cast<std::int32_t>(v), false};

  GapTableBuilder builder(in, root, in.order);
  std::vector<ForcedRerun> forced;
  std::optional<std::int32_t> impossible;
  std::vector<std::int32_t> charged;
  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (v % kLookEvery == 0) ThrowIfExpired(stop);
    if (in.carrier[v] >= 0 || first_use[v] == first_use[v + 1]) continue;
    const std::int32_t maker = in.maker[v];
    std::int32_t last = maker < 0 ? -1 : in.rank[maker];
    std::int32_t eaten_at = -1;
    for (std::int64_t u = first_use[v]; u < first_use[v + 1];) {
      const std::int32_t row = uses[u].row;
      bool direct = false, eats = false;
      charged.clear();
      for (; u < first_use[v + 1] && uses[u].row == row; ++u) {
        direct |= uses[u].value == static_cast<std::int32_t>(v);
        eats |= uses[u].consumes;
        std::int32_t views = 0;  // charging some of the makers is valid too
        for (std::int32_t w = uses[u].value; in.carrier[w] >= 0 && views < GapTableBuilder::kMaxViews;
             w = in.carrier[w], ++views)
          charged.push_back(in.maker[w]);
      }
      const bool made_again = eaten_at >= 0 && direct;
      if (made_again) {
        if (maker < 0 || !in.may_repeat[maker]) {
          if (!impossible) impossible = static_cast<std::int32_t>(v);
        } else {
          forced.push_back({maker, eaten_at, row, static_cast<std::int32_t>(v)});
        }
      }
      if (in.bytes[v] > 0 && maker >= 0 && row > last + 1 && !(made_again && eaten_at == last)) {
        charged.push_back(maker);
        builder.Add({static_cast<std::int32_t>(v), last + 1, row, row < n ? in.order[row] : -1, in.bytes[v], row},
                    charged);
      }
      if (made_again) eaten_at = -1;
      if (eats) eaten_at = row;
      last = std::max(last, row);
    }
  }
  GapTable table = builder.Finish(stop);
  table.forced = std::move(forced);
  table.forced_duration = KeepDisjoint(in, table.forced);
  table.impossible = impossible;
  return table;
}

std::int64_t DurationGcd(const Instance& in) {
  std::int64_t g = 0;
  for (std::size_t op = 0; op < in.num_ops; ++op)
    if (in.may_repeat[op]) g = std::gcd(g, in.duration[op]);
  return g;
}

}  // namespace ebb
