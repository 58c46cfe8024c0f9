// SPDX-License-Identifier: Apache-2.0
#include "heuristics/live_sampler.hpp"

#include <algorithm>
#include <bit>

namespace ebb {

LiveSampler::LiveSampler(const Instance& in) {
  const auto n = static_cast<std::uint32_t>(in.num_ops + 1);
  while ((n >> shift_) >= static_cast<std::uint32_t>(kLeaves)) ++shift_;
  leaves_ = static_cast<std::int32_t>(std::bit_ceil((n >> shift_) + 1));

  // Calls f(node) for each node that makes up the value's lifetime.
  const auto each_node = [&](std::size_t v, auto f) {
    const std::int32_t maker = in.maker[v];
    if (maker < 0 || in.bytes[v] == 0 || in.may_repeat[static_cast<std::size_t>(maker)] == 0) return;
    const auto readers = in.readers[v];
    std::int32_t last = in.kept[v] != 0   ? static_cast<std::int32_t>(in.num_ops)
                        : readers.empty() ? -1
                                          : in.rank[static_cast<std::size_t>(readers.back())];
    const std::int32_t first = in.rank[static_cast<std::size_t>(maker)] + 1;
    if (last - first < 1) return;
    std::int32_t lo = (first >> shift_) + leaves_, hi = ((last - 1) >> shift_) + 1 + leaves_;
    for (; lo < hi; lo >>= 1, hi >>= 1) {
      if (lo & 1) f(static_cast<std::size_t>(lo++));
      if (hi & 1) f(static_cast<std::size_t>(--hi));
    }
  };
  begin_.assign(static_cast<std::size_t>(2 * leaves_) + 1, 0);
  for (std::size_t v = 0; v < in.num_values; ++v) each_node(v, [&](std::size_t node) { ++begin_[node + 1]; });
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  value_.resize(static_cast<std::size_t>(begin_.back()));
  std::vector<std::int32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t v = 0; v < in.num_values; ++v)
    each_node(v,
              [&](std::size_t node) { value_[static_cast<std::size_t>(next[node]++)] = static_cast<std::int32_t>(v); });
}

std::int32_t LiveSampler::Draw(std::int32_t rank, QuickRandom& random) const {
  const auto leaf = static_cast<std::size_t>((rank >> shift_) + leaves_);
  std::int32_t count = 0;
  for (std::size_t node = leaf; node > 0; node >>= 1) count += begin_[node + 1] - begin_[node];
  if (count == 0) return -1;
  std::int32_t at = random.Below32(count);
  for (std::size_t node = leaf;; node >>= 1) {
    const std::int32_t here = begin_[node + 1] - begin_[node];
    if (at < here) return value_[static_cast<std::size_t>(begin_[node] + at)];
    at -= here;
  }
}

}  // namespace ebb
