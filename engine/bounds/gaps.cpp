// SPDX-License-Identifier: Apache-2.0
//
// A view's maker reads its base (Instance), so the reads are all there is. Uses are gathered in one sweep over the
// order, per storage root, so they come out sorted. Forced reruns: a direct read of a value after an op took over its
// storage. Reads of views after that may still be served by an older storage, so they force nothing.
#include "engine/bounds/gaps.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/base/int128.hpp"
#include "engine/base/status.hpp"
#include "engine/bounds/storage_roots.hpp"

namespace ebb {
namespace {

constexpr std::int32_t kMaxViews = 16;  // of a chain of nested views are charged, so that no chain makes this quadratic

struct Use {
  std::int32_t row;
  std::int32_t value;  // read (or taken as the base of a view): this value of the root's group
  bool consumes;       // its storage is taken over here
};

void CheckSum(const Instance& in) {
  Int128 sum = in.resident_bytes;
  for (std::int64_t b : in.bytes) sum += b;
  for (std::int64_t m : in.moment) sum += m < 0 ? -m : m;
  if (sum > (Int128{1} << 62)) throw InputError("sizes of all storages together do not fit into 62 bits");
}

// The storages of one op's inputs and outputs, each once, plus its moment.
std::int64_t OwnBytes(const Instance& in, const std::vector<std::int32_t>& root, std::size_t op,
                      std::vector<std::int32_t>& scratch) {
  scratch.clear();
  for (std::int32_t v : in.reads[op]) scratch.push_back(root[v]);
  for (std::int32_t v : in.makes[op]) scratch.push_back(root[v]);
  std::sort(scratch.begin(), scratch.end());
  scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
  std::int64_t sum = in.moment[op];
  for (std::int32_t r : scratch) sum += in.bytes[r];
  return sum;
}

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

GapTable FixedOrderGaps(const Instance& in) {
  CheckSum(in);
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
    const auto op = static_cast<std::size_t>(in.order[row]);
    const auto eaten = in.consumes[op];
    for (std::int32_t v : in.reads[op])
      uses[next[root[v]]++] = {row, v, v == root[v] && std::find(eaten.begin(), eaten.end(), v) != eaten.end()};
  }
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.kept[v]) uses[next[root[v]]++] = {n, static_cast<std::int32_t>(v), false};

  GapTable t;
  t.row_op = in.order;
  t.pinned.resize(in.num_ops);
  std::vector<std::int64_t> stays(in.num_ops + 1, 0), spans(in.num_ops + 1, 0);  // differences of neighbouring rows
  std::vector<std::int32_t> scratch;
  struct Draft {
    Gap gap;
    std::int64_t charge_begin, charge_end;
  };
  std::vector<Draft> drafts;
  std::vector<std::int32_t> charged;

  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (in.carrier[v] >= 0 || first_use[v] == first_use[v + 1]) continue;
    const std::int32_t maker = in.maker[v];
    std::int32_t last = maker < 0 ? -1 : in.rank[maker];
    std::int32_t eaten_at = -1;
    for (std::int64_t u = first_use[v]; u < first_use[v + 1];) {
      const std::int32_t row = uses[u].row;
      bool direct = false, eats = false;
      scratch.clear();
      for (; u < first_use[v + 1] && uses[u].row == row; ++u) {
        direct |= uses[u].value == static_cast<std::int32_t>(v);
        eats |= uses[u].consumes;
        std::int32_t views = 0;  // charging some of the makers is valid too
        for (std::int32_t w = uses[u].value; in.carrier[w] >= 0 && views < kMaxViews; w = in.carrier[w], ++views)
          scratch.push_back(in.maker[w]);
      }
      const bool made_again = eaten_at >= 0 && direct;
      if (made_again) {
        if (maker < 0 || !in.may_repeat[maker]) {
          if (!t.impossible) t.impossible = static_cast<std::int32_t>(v);
        } else {
          t.forced.push_back({maker, eaten_at, row, static_cast<std::int32_t>(v)});
        }
      }
      if (in.bytes[v] > 0 && maker >= 0 && row > last + 1 && !(made_again && eaten_at == last)) {
        scratch.push_back(maker);
        std::sort(scratch.begin(), scratch.end());
        scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
        const auto once =
            std::find_if(scratch.begin(), scratch.end(), [&](std::int32_t op) { return !in.may_repeat[op]; });
        const Gap gap{static_cast<std::int32_t>(v), last + 1, row, row < n ? in.order[row] : -1, in.bytes[v]};
        std::vector<std::int64_t>& delta = once == scratch.end() ? spans : stays;
        delta[gap.begin] += gap.bytes;
        delta[gap.end] -= gap.bytes;
        if (once == scratch.end()) {
          const auto begin = static_cast<std::int64_t>(charged.size());
          charged.insert(charged.end(), scratch.begin(), scratch.end());
          drafts.push_back({gap, begin, static_cast<std::int64_t>(charged.size())});
        } else {
          t.pinned_gaps.push_back({gap, *once});
        }
      }
      if (made_again) eaten_at = -1;
      if (eats) eaten_at = row;
      last = std::max(last, row);
    }
  }
  std::sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) {
    return std::tie(a.gap.begin, a.gap.end, a.gap.value) < std::tie(b.gap.begin, b.gap.end, b.gap.value);
  });
  t.gaps.reserve(drafts.size());
  t.charges.Reserve(drafts.size(), charged.size());
  for (const Draft& d : drafts) {
    t.gaps.push_back(d.gap);
    for (std::int64_t i = d.charge_begin; i < d.charge_end; ++i) t.charges.Push(charged[i]);
    t.charges.EndRow();
  }
  t.forced_duration = KeepDisjoint(in, t.forced);
  t.resident.resize(in.num_ops);
  std::int64_t stay = 0, span = 0;
  for (std::int32_t row = 0; row < n; ++row) {
    stay += stays[row];
    span += spans[row];
    t.pinned[row] = in.resident_bytes + stay + OwnBytes(in, root, static_cast<std::size_t>(in.order[row]), scratch);
    t.resident[row] = t.pinned[row] + span;
  }
  return t;
}

std::int64_t DurationGcd(const Instance& in) {
  std::int64_t g = 0;
  for (std::size_t op = 0; op < in.num_ops; ++op)
    if (in.may_repeat[op]) g = std::gcd(g, in.duration[op]);
  return g;
}

}  // namespace ebb
