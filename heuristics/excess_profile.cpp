// SPDX-License-Identifier: Apache-2.0
#include "heuristics/excess_profile.hpp"

#include <algorithm>
#include <bit>

// The three loops over numbers are compiled twice, once for AVX2 (whose 64-bit compare they live on). Not under
// sanitizers: their run-time is not up yet when the dynamic linker picks the version.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define EBB_VECTOR_CLONES
#endif
#endif
#ifndef EBB_VECTOR_CLONES
#define EBB_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#else
#define EBB_VECTOR_CLONES
#endif

namespace ebb {
namespace {

constexpr std::int64_t kNothing = std::int64_t{1} << 61;  // below: none at or under zero; above: none over it

struct Summary {
  std::int64_t over, excess, below, above;
};

EBB_VECTOR_CLONES Summary Summarize(const std::int64_t* value, std::int64_t offset) {
  std::int64_t over = 0, excess = 0, below = -kNothing, above = kNothing;
  for (int i = 0; i < ExcessProfile::kBlock; ++i) {
    const std::int64_t v = value[i] + offset;
    over += v > 0 ? 1 : 0;
    excess += v > 0 ? v : 0;
    const std::int64_t low = v > 0 ? -kNothing : v;
    const std::int64_t high = v > 0 ? v : kNothing;
    below = low > below ? low : below;
    above = high < above ? high : above;
  }
  return {over, excess, below, above};
}

// Sum of (v + offset + delta)+ - (v + offset)+.
EBB_VECTOR_CLONES std::int64_t Difference(const std::int64_t* value, std::int32_t count, std::int64_t offset,
                                          std::int64_t delta) {
  std::int64_t sum = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int64_t v = value[i] + offset;
    const std::int64_t w = v + delta;
    sum += (w > 0 ? w : 0) - (v > 0 ? v : 0);
  }
  return sum;
}

EBB_VECTOR_CLONES void AddAll(std::int64_t* value, std::int32_t count, std::int64_t delta) {
  for (std::int32_t i = 0; i < count; ++i) value[i] += delta;
}

}  // namespace

void ExcessProfile::Reset(std::int32_t blocks, std::int64_t value) {
  blocks_ = std::max(blocks, 1);
  value_.assign(static_cast<std::size_t>(slots()), value);
  levels_.clear();
  total_ = 0;
  std::int32_t nodes = blocks_, shift = std::countr_zero(static_cast<std::uint32_t>(kBlock));
  for (std::int64_t count = kBlock;; count *= kFan) {
    Level level;
    level.shift = shift;
    const auto size = static_cast<std::size_t>(nodes);
    level.add.assign(size, 0);
    level.over.assign(size, value > 0 ? count : 0);
    level.excess.assign(size, value > 0 ? value * count : 0);
    level.below.assign(size, value > 0 ? -kNothing : value);
    level.above.assign(size, value > 0 ? value : kNothing);
    levels_.push_back(std::move(level));
    if (nodes <= kFan) break;
    nodes = (nodes + kFan - 1) / kFan;
    shift += std::countr_zero(static_cast<std::uint32_t>(kFan));
  }
  for (std::size_t l = 1; l < levels_.size(); ++l)
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(levels_[l].add.size()); ++i) Combine(l, i);
  for (const std::int64_t e : levels_.back().excess) total_ += e;
}

std::int64_t ExcessProfile::Value(std::int32_t slot) const {
  std::int64_t v = value_[static_cast<std::size_t>(slot)];
  for (const Level& level : levels_) v += level.add[static_cast<std::size_t>(slot >> level.shift)];
  return v;
}

void ExcessProfile::Push(std::size_t l, std::int32_t node) {
  const std::int64_t add = levels_[l].add[static_cast<std::size_t>(node)];
  if (add == 0) return;
  levels_[l].add[static_cast<std::size_t>(node)] = 0;
  Level& down = levels_[l - 1];
  const auto begin = static_cast<std::size_t>(node) * kFan;
  const std::size_t end = std::min(begin + kFan, down.add.size());
  for (std::size_t c = begin; c < end; ++c) {
    down.add[c] += add;
    down.excess[c] += down.over[c] * add;
    down.below[c] += add;
    down.above[c] += add;
  }
  work_ += 8;
}

void ExcessProfile::Combine(std::size_t l, std::int32_t node) {
  const Level& down = levels_[l - 1];
  const auto begin = static_cast<std::size_t>(node) * kFan;
  const std::size_t end = std::min(begin + kFan, down.add.size());
  std::int64_t over = 0, excess = 0, below = -kNothing * 2, above = kNothing * 2 - 1;
  for (std::size_t c = begin; c < end; ++c) {
    over += down.over[c];
    excess += down.excess[c];
    below = std::max(below, down.below[c]);
    above = std::min(above, down.above[c]);
  }
  Level& level = levels_[l];
  const auto i = static_cast<std::size_t>(node);
  level.over[i] = over;
  level.excess[i] = excess;
  level.below[i] = below;
  level.above[i] = above;
  work_ += 8;
}

void ExcessProfile::Rebuild(std::int32_t block) {
  Level& level = levels_[0];
  const auto i = static_cast<std::size_t>(block);
  const Summary s = Summarize(value_.data() + i * kBlock, level.add[i]);
  level.over[i] = s.over;
  level.excess[i] = s.excess;
  level.below[i] = s.below;
  level.above[i] = s.above;
  work_ += 30;
}

void ExcessProfile::AddTo(std::size_t l, std::int32_t node, std::int32_t first, std::int32_t last, std::int64_t delta) {
  Level& level = levels_[l];
  const auto i = static_cast<std::size_t>(node);
  const std::int32_t begin = node << level.shift;
  const std::int32_t end = begin + (std::int32_t{1} << level.shift);
  ++work_;
  if (first <= begin && last >= end - 1) {
    const bool quiet = delta > 0 ? level.below[i] + delta <= 0 : level.above[i] + delta > 0;
    if (quiet || l == 0) {
      level.add[i] += delta;
      if (quiet) {
        level.excess[i] += level.over[i] * delta;
        level.below[i] += delta;
        level.above[i] += delta;
      } else {
        Rebuild(node);
      }
      return;
    }
  } else if (l == 0) {
    const std::int32_t from = std::max(first, begin), to = std::min(last + 1, end);
    AddAll(value_.data() + from, to - from, delta);
    Rebuild(node);
    return;
  }
  Push(l, node);
  const std::int32_t down = levels_[l - 1].shift;
  const std::int32_t from = std::max(first, begin) >> down;
  const std::int32_t to = std::min({last, end - 1, slots() - 1}) >> down;
  for (std::int32_t c = from; c <= to; ++c) AddTo(l - 1, c, first, last, delta);
  Combine(l, node);
}

void ExcessProfile::Add(std::int32_t first, std::int32_t last, std::int64_t delta) {
  if (delta == 0 || first > last) return;
  const std::size_t top = levels_.size() - 1;
  const std::int32_t shift = levels_[top].shift;
  for (std::int32_t node = first >> shift; node <= last >> shift; ++node) {
    total_ -= levels_[top].excess[static_cast<std::size_t>(node)];
    AddTo(top, node, first, last, delta);
    total_ += levels_[top].excess[static_cast<std::size_t>(node)];
  }
}

std::int64_t ExcessProfile::DeltaOf(std::size_t l, std::int32_t node, std::int32_t first, std::int32_t last,
                                    std::int64_t delta, std::int64_t pending, std::int64_t enough) const {
  const Level& level = levels_[l];
  const auto i = static_cast<std::size_t>(node);
  const std::int64_t over = level.over[i];
  ++work_;
  if (delta > 0) {
    if (level.below[i] + pending + delta <= 0) {
      if (over == 0) return 0;
      const std::int32_t begin = node << level.shift;
      if (first <= begin && last >= begin + (std::int32_t{1} << level.shift) - 1) return over * delta;
    }
  } else {
    if (over == 0) return 0;
    if (level.above[i] + pending + delta > 0) {
      const std::int32_t begin = node << level.shift;
      if (first <= begin && last >= begin + (std::int32_t{1} << level.shift) - 1) return over * delta;
    }
  }
  pending += level.add[i];
  const std::int32_t begin = node << level.shift;
  const std::int32_t end = std::min(begin + (std::int32_t{1} << level.shift), slots());
  const std::int32_t from = std::max(first, begin), to = std::min(last, end - 1);
  if (l == 0) {
    work_ += 5 + (to - from) / 4;
    return Difference(value_.data() + from, to - from + 1, pending, delta);
  }
  const std::int32_t down = levels_[l - 1].shift;
  std::int64_t sum = 0;
  for (std::int32_t c = from >> down; c <= to >> down && sum <= enough; ++c)
    sum += DeltaOf(l - 1, c, first, last, delta, pending, enough - sum);
  return sum;
}

std::int64_t ExcessProfile::Delta(std::int32_t first, std::int32_t last, std::int64_t delta,
                                  std::int64_t enough) const {
  if (delta == 0 || first > last) return 0;
  if (delta < 0) enough = std::numeric_limits<std::int64_t>::max() / 2;  // sums only go down
  const std::size_t top = levels_.size() - 1;
  const std::int32_t shift = levels_[top].shift;
  std::int64_t sum = 0;
  for (std::int32_t node = first >> shift; node <= last >> shift && sum <= enough; ++node)
    sum += DeltaOf(top, node, first, last, delta, 0, enough - sum);
  return sum;
}

std::int32_t ExcessProfile::FindExcess(std::int64_t target) const {
  std::size_t l = levels_.size() - 1;
  std::size_t begin = 0, end = levels_[l].excess.size();
  std::int64_t pending = 0;
  for (;;) {
    const Level& level = levels_[l];
    std::size_t c = begin;
    for (; c + 1 < end; ++c) {
      const std::int64_t here = level.excess[c] + level.over[c] * pending;
      if (target < here) break;
      target -= here;
    }
    pending += level.add[c];
    work_ += 4;
    if (l == 0) {
      std::size_t slot = c * kBlock, found = slot;
      for (const std::size_t stop = slot + kBlock; slot < stop; ++slot) {
        const std::int64_t v = value_[slot] + pending;
        if (v <= 0) continue;
        found = slot;
        if (target < v) break;
        target -= v;
      }
      work_ += 20;
      return static_cast<std::int32_t>(found);
    }
    --l;
    begin = c * kFan;
    end = std::min(begin + kFan, levels_[l].excess.size());
  }
}

std::int64_t ExcessProfile::Max() const {
  if (total_ == 0) {  // nothing above zero: the top nodes know
    const std::vector<std::int64_t>& below = levels_.back().below;
    return *std::max_element(below.begin(), below.end());
  }
  std::int64_t best = -kNothing * 2;
  for (std::int32_t b = 0; b < blocks_; ++b) {
    std::int64_t pending = 0;
    for (const Level& level : levels_) pending += level.add[static_cast<std::size_t>((b * kBlock) >> level.shift)];
    const std::int64_t* v = value_.data() + static_cast<std::size_t>(b) * kBlock;
    best = std::max(best, *std::max_element(v, v + kBlock) + pending);
  }
  return best;
}

std::int64_t* ExcessProfile::Open(std::int32_t block) {
  for (std::size_t l = levels_.size() - 1; l > 0; --l) Push(l, (block * kBlock) >> levels_[l].shift);
  std::int64_t* value = value_.data() + static_cast<std::size_t>(block) * kBlock;
  std::int64_t& add = levels_[0].add[static_cast<std::size_t>(block)];
  if (add != 0) AddAll(value, kBlock, add);
  add = 0;
  return value;
}

void ExcessProfile::Close(std::int32_t block) {
  Rebuild(block);
  const auto top = levels_.size() - 1;
  if (top == 0) {
    total_ = 0;
    for (const std::int64_t e : levels_[0].excess) total_ += e;
    return;
  }
  for (std::size_t l = 1; l <= top; ++l) {
    const auto node = (block * kBlock) >> levels_[l].shift;
    if (l == top) total_ -= levels_[l].excess[static_cast<std::size_t>(node)];
    Combine(l, node);
    if (l == top) total_ += levels_[l].excess[static_cast<std::size_t>(node)];
  }
}

}  // namespace ebb
