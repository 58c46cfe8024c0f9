// SPDX-License-Identifier: Apache-2.0
#include "heuristics/replay.hpp"

#include <algorithm>

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::uint8_t> Remakeable(const Instance& in) {
  std::vector<std::uint8_t> out(in.num_values, 0), overwritten(in.num_values, 0), base(in.num_values, 0);
  for (std::size_t o = 0; o < in.num_ops; ++o)
    for (std::int32_t v : in.consumes[o])
      for (; v >= 0; v = in.carrier[At(v)]) overwritten[At(v)] = 1;
  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (in.carrier[v] < 0) continue;
    base[v] = base[At(in.carrier[v])] = 1;
    for (std::int32_t w = in.carrier[v]; w >= 0; w = in.carrier[At(w)])
      if (overwritten[At(w)]) overwritten[v] = 1;
  }
  for (const std::int32_t op : in.order) {
    const auto o = At(op);
    bool can = in.may_repeat[o] != 0 && in.consumes[o].empty();
    for (const std::int32_t u : in.reads[o]) can = can && (!overwritten[At(u)] || out[At(u)]);
    // A repeat makes all outputs anew, so they stand or fall together.
    for (const std::int32_t v : in.makes[o]) can = can && !base[At(v)];
    for (const std::int32_t v : in.makes[o]) out[At(v)] = can && !overwritten[At(v)] ? 1 : 0;
  }
  return out;
}

std::int32_t TurnPosition(const Instance& in) {
  if (in.num_ops == 0 || !EvaluateSequence(in, in.order).valid) return -1;
  std::vector<std::int64_t> across(in.num_ops + 1, 0);  // bytes held between a position and the next
  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (in.maker[v] < 0) continue;
    const std::int32_t made = in.rank[At(in.maker[v])];
    std::int32_t last = made;
    if (!in.readers[v].empty()) last = in.rank[At(in.readers[v].back())];
    if (in.kept[v]) last = static_cast<std::int32_t>(in.num_ops);
    across[At(made)] += in.bytes[v];
    across[At(last)] -= in.bytes[v];
  }
  for (std::size_t p = 1; p <= in.num_ops; ++p) across[p] += across[p - 1];
  return static_cast<std::int32_t>(std::max_element(across.begin(), across.end() - 1) - across.begin());
}

std::vector<std::int32_t> WithoutUseless(const Instance& in, const std::vector<std::int32_t>& sequence) {
  std::vector<std::uint8_t> first(sequence.size(), 0), seen(in.num_ops, 0), wanted(in.kept);
  for (std::size_t i = 0; i < sequence.size(); ++i)
    if (!seen[At(sequence[i])]) seen[At(sequence[i])] = first[i] = 1;
  std::vector<std::int32_t> out;
  for (std::size_t i = sequence.size(); i-- > 0;) {
    const auto op = At(sequence[i]);
    const auto makes = in.makes[op];
    if (!first[i] && std::none_of(makes.begin(), makes.end(), [&](std::int32_t v) { return wanted[At(v)] != 0; }))
      continue;
    for (const std::int32_t v : makes) wanted[At(v)] = 0;
    for (const std::int32_t v : in.reads[op]) wanted[At(v)] = 1;
    out.push_back(sequence[i]);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

Replay::Replay(const Instance& in)
    : in_(in), remakeable_(Remakeable(in)), present_(in.num_values, 0), in_closure_(in.num_ops, 0) {
  for (std::size_t v = 0; v < in.num_values; ++v) present_[v] = in.maker[v] < 0 ? 1 : 0;
}

void Replay::Want(std::int32_t value) {
  if (present_[At(value)]) return;
  const std::int32_t op = in_.maker[At(value)];
  if (op < 0 || in_closure_[At(op)]) return;
  in_closure_[At(op)] = 1;
  closure_.push_back(op);
}

std::vector<std::int32_t> Replay::TakeClosure() {
  for (std::size_t i = 0; i < closure_.size(); ++i)
    for (const std::int32_t v : in_.reads[At(closure_[i])]) Want(v);
  for (const std::int32_t op : closure_) in_closure_[At(op)] = 0;
  std::vector<std::int32_t> out = std::move(closure_);
  closure_.clear();
  std::sort(out.begin(), out.end(), [&](std::int32_t a, std::int32_t b) { return in_.rank[At(a)] < in_.rank[At(b)]; });
  return out;
}

std::vector<std::int32_t> Replay::Missing(std::int32_t op) {
  for (const std::int32_t v : in_.reads[At(op)]) Want(v);
  return TakeClosure();
}

void Replay::Execute(std::int32_t op) {
  sequence_.push_back(op);
  for (const std::int32_t v : in_.makes[At(op)]) present_[At(v)] = 1;
}

void Replay::Finish() {
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.kept[v]) Want(static_cast<std::int32_t>(v));
  for (const std::int32_t op : TakeClosure()) Execute(op);
}

}  // namespace ebb
