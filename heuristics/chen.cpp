// SPDX-License-Identifier: Apache-2.0
#include "heuristics/chen.hpp"

#include <algorithm>
#include <cmath>

#include "heuristics/replay.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::int32_t> ChenCandidateValues(const Instance& in, ChenCandidates which) {
  const std::int32_t turn = TurnPosition(in);
  std::vector<std::int32_t> out;
  // Values that cross from position p to p + 1 on the way forward: their number, and the sum of their ids, which is the
  // id where there is one.
  std::vector<std::int64_t> crossing(At(turn + 2), 0), ids(At(turn + 2), 0);
  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (in.maker[v] < 0) continue;
    const std::int32_t made = in.rank[At(in.maker[v])];
    std::int32_t last = made;
    for (const std::int32_t r : in.readers[v])
      if (in.rank[At(r)] <= turn) last = std::max(last, in.rank[At(r)]);
    if (made > turn || last == made) continue;
    crossing[At(made)] += 1, crossing[At(last)] -= 1;
    ids[At(made)] += static_cast<std::int64_t>(v), ids[At(last)] -= static_cast<std::int64_t>(v);
  }
  for (std::int32_t p = 0; p <= turn; ++p) {
    if (p > 0) crossing[At(p)] += crossing[At(p - 1)], ids[At(p)] += ids[At(p - 1)];
    if (which == ChenCandidates::kAllForward) {
      for (const std::int32_t v : in.makes[At(in.order[At(p)])]) out.push_back(v);
    } else if (crossing[At(p)] == 1) {
      const auto v = static_cast<std::int32_t>(ids[At(p)]);
      if (out.empty() || out.back() != v) out.push_back(v);
    }
  }
  return out;
}

std::vector<std::int32_t> ChenSequence(const Instance& in, ChenCandidates which, std::size_t k) {
  const std::int32_t turn = TurnPosition(in);
  if (turn < 0) return {};
  const std::vector<std::int32_t> candidates = ChenCandidateValues(in, which);
  if (k == 0) k = static_cast<std::size_t>(std::sqrt(static_cast<double>(candidates.size())));
  k = std::max<std::size_t>(k, 1);
  std::vector<std::uint8_t> checkpoint(in.num_values, 0);
  for (std::size_t i = k - 1; i < candidates.size(); i += k) checkpoint[At(candidates[i])] = 1;
  Replay replay(in);
  for (std::int32_t p = 0; p < static_cast<std::int32_t>(in.num_ops); ++p) {
    const std::int32_t op = in.order[At(p)];
    for (const std::int32_t m : replay.Missing(op)) replay.Execute(m);
    replay.Execute(op);
    if (p != turn) continue;
    // What the turn itself works on is not dropped to be made again at once.
    std::vector<std::uint8_t> at_turn(in.num_values, 0);
    for (const std::int32_t v : in.reads[At(op)]) at_turn[At(v)] = 1;
    for (const std::int32_t v : in.makes[At(op)]) at_turn[At(v)] = 1;
    for (std::size_t v = 0; v < in.num_values; ++v)
      if (!checkpoint[v] && !at_turn[v]) replay.Drop(static_cast<std::int32_t>(v));
  }
  replay.Finish();
  return replay.Take();
}

}  // namespace ebb
