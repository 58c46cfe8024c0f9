// SPDX-License-Identifier: Apache-2.0
#include "engine/problem/stretches.hpp"

#include <algorithm>
#include <numeric>

namespace ebb {

std::vector<Stretch> IndependentStretches(const Instance& in) {
  const auto n = static_cast<std::int32_t>(in.num_ops);
  // Last position at which anything made at a position is needed. Overwritten graph inputs are there from the start.
  std::vector<std::int32_t> reach(in.num_ops, 0);
  for (std::size_t v = 0; v < in.num_values; ++v) {
    std::int32_t last = in.kept[v] ? n : -1;
    if (!in.readers[v].empty()) last = std::max(last, in.rank[in.readers[v].back()]);
    std::int32_t first = in.maker[v] >= 0 ? in.rank[in.maker[v]] : last;
    if (in.maker[v] < 0)
      for (std::int32_t r : in.readers[v]) first = std::min(first, in.rank[r]);
    if (first >= 0 && first < n) reach[first] = std::max(reach[first], last);
  }
  std::vector<Stretch> out;
  std::int32_t begin = 0, far = 0;
  for (std::int32_t p = 0; p < n; ++p) {
    far = std::max(far, reach[p]);
    if (far <= p || p + 1 == n) {
      out.push_back({begin, p + 1});
      begin = p + 1;
    }
  }
  return out;
}

Instance TakeStretch(const Instance& in, const Stretch& s) {
  Instance out;
  out.num_ops = static_cast<std::size_t>(s.end - s.begin);
  out.resident_bytes = in.resident_bytes;
  out.plain = in.plain;
  std::vector<std::int32_t> local(in.num_values, -1);
  const auto add = [&](std::int32_t v, std::int32_t maker) {
    local[v] = static_cast<std::int32_t>(out.num_values++);
    out.maker.push_back(maker);
    out.bytes.push_back(in.bytes[v]);
    out.kept.push_back(in.kept[v]);
    out.tensor.push_back(in.tensor[v]);
    out.carrier.push_back(in.carrier[v] >= 0 ? local[in.carrier[v]] : -1);
  };
  for (std::int32_t p = s.begin; p < s.end; ++p)
    for (std::int32_t v : in.reads[in.order[p]])
      if (in.maker[v] < 0 && local[v] < 0) add(v, -1);
  for (std::int32_t p = s.begin; p < s.end; ++p)
    for (std::int32_t v : in.makes[in.order[p]]) add(v, p - s.begin);
  const auto copy = [&](const Csr<std::int32_t>& from, std::int32_t op, Csr<std::int32_t>& to) {
    for (std::int32_t v : from[op]) to.Push(local[v]);
    to.EndRow();
  };
  for (std::int32_t p = s.begin; p < s.end; ++p) {
    const std::int32_t op = in.order[p];
    out.duration.push_back(in.duration[op]);
    out.base_duration += in.duration[op];
    out.moment.push_back(in.moment[op]);
    out.may_repeat.push_back(in.may_repeat[op]);
    out.view_op.push_back(in.view_op[op]);
    copy(in.reads, op, out.reads);
    copy(in.makes, op, out.makes);
    copy(in.consumes, op, out.consumes);
  }
  // Positions are the ops, so rows of readers come out ascending by rank.
  out.readers =
      out.reads.Transpose<std::int32_t>(out.num_values, [](std::int32_t v) { return static_cast<std::size_t>(v); });
  out.order.resize(out.num_ops);
  std::iota(out.order.begin(), out.order.end(), 0);
  out.rank = out.order;
  return out;
}

}  // namespace ebb
