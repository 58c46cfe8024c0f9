// SPDX-License-Identifier: Apache-2.0
//
// The row of slots with holes in which the events of a SequenceState stand: how a new event finds its place, and how
// the row is spread out where it has become too full.
#include <algorithm>
#include <bit>

#include "heuristics/sequence_state.hpp"

namespace ebb {
namespace {
constexpr std::int32_t kBlock = ExcessProfile::kBlock;
constexpr std::int64_t kHole = ExcessProfile::kHole;
}  // namespace

// Gives `node` a slot just before event `before`; erased events that still hold a slot stand before it.
void SequenceState::Place(std::int32_t node, std::int32_t before) {
  for (;;) {
    const std::int32_t sb = slot(before);
    const auto b = static_cast<std::size_t>(sb / kBlock);
    const std::uint64_t mask = occupied_[b];
    const int bit = sb % kBlock;
    const std::uint64_t lower = bit == 0 ? 0 : mask & (~std::uint64_t{0} >> (kBlock - bit));
    if (bit > 0 && (lower >> (bit - 1) & 1) == 0) {
      // holes before it in the same block: the middle of them
      const int from = lower == 0 ? 0 : kBlock - std::countl_zero(lower);
      PutInSlot(node, static_cast<std::int32_t>(b) * kBlock + (from + bit) / 2);
      return;
    }
    if (mask != ~std::uint64_t{0}) {
      const std::uint64_t holes = ~mask;
      const std::uint64_t right = bit == kBlock - 1 ? 0 : holes & (~std::uint64_t{0} << (bit + 1));
      const std::uint64_t left = bit == 0 ? 0 : holes & (~std::uint64_t{0} >> (kBlock - bit));
      const int r = right == 0 ? kBlock * 2 : std::countr_zero(right);
      const int l = left == 0 ? -kBlock * 2 : kBlock - 1 - std::countl_zero(left);
      std::int64_t* value = profile_.Open(static_cast<std::int32_t>(b));
      const std::int64_t across = value[bit] - OwnBytes(before);  // OwnBytes has kHole where `before` is an event
      const std::int32_t base = static_cast<std::int32_t>(b) * kBlock;
      int gap = bit;
      if (r - bit <= bit - l) {
        for (int i = r; i > bit; --i) {
          value[i] = value[i - 1];
          PutInSlot(node_at_[static_cast<std::size_t>(base + i - 1)], base + i);
        }
      } else {
        gap = bit - 1;
        for (int i = l; i < gap; ++i) {
          value[i] = value[i + 1];
          PutInSlot(node_at_[static_cast<std::size_t>(base + i + 1)], base + i);
        }
      }
      value[gap] = across;  // the block's sums stand: only holes changed
      PutInSlot(node, base + gap);
      segments_fresh_ = false;
      work_ += 10;
      return;
    }
    SpreadOut(static_cast<std::int32_t>(b));
  }
}

// Spreads the events of the smallest window of blocks around `block` that has room evenly over it.
void SequenceState::SpreadOut(std::int32_t block) {
  segments_fresh_ = false;
  const std::int32_t blocks = profile_.blocks();
  for (std::int32_t width = 2;; width *= 2) {
    const std::int32_t from = std::min(block / width * width, std::max(0, blocks - width));
    const std::int32_t to = std::min(from + width, blocks);
    std::int32_t events = 0;
    for (std::int32_t b = from; b < to; ++b) events += std::popcount(occupied_[static_cast<std::size_t>(b)]);
    // room: a window of two may be nine tenths full, the whole row three quarters
    const double limit = 0.75 + 0.15 * (1.0 - static_cast<double>(to - from) / static_cast<double>(blocks));
    if (events <= limit * (to - from) * kBlock) {
      std::vector<std::int32_t> row;
      row.reserve(static_cast<std::size_t>(events));
      for (std::int32_t s = from * kBlock; s < to * kBlock; ++s)
        if (node_at_[static_cast<std::size_t>(s)] != kNone) row.push_back(node_at_[static_cast<std::size_t>(s)]);
      Distribute(row, from * kBlock, (to - from) * kBlock);
      return;
    }
    if (to - from >= blocks) break;
  }
  Grow();
}

void SequenceState::Distribute(std::span<const std::int32_t> nodes, std::int32_t first_slot, std::int32_t slots) {
  const std::int32_t b0 = first_slot / kBlock, b1 = (first_slot + slots) / kBlock;
  std::vector<std::int64_t> number(nodes.size());
  for (std::int32_t b = b0; b < b1; ++b) (void)profile_.Open(b);
  for (std::size_t j = 0; j < nodes.size(); ++j) number[j] = profile_.Value(slot(nodes[j]));
  std::int64_t tail = profile_.Value(first_slot + slots - 1);  // what is resident across the window's end
  if (node_at_[static_cast<std::size_t>(first_slot + slots - 1)] != kNone) {
    const std::int32_t s = first_slot + slots;
    if (s >= profile_.slots()) {
      tail = instance_.resident_bytes - budget_ - kHole;
    } else {
      tail = profile_.Value(s);
      const std::int32_t x = node_at_[static_cast<std::size_t>(s)];
      if (x != kNone) tail -= OwnBytes(x);
    }
  }
  for (std::int32_t b = b0; b < b1; ++b) occupied_[static_cast<std::size_t>(b)] = 0;
  std::fill(node_at_.begin() + first_slot, node_at_.begin() + first_slot + slots, kNone);
  std::int32_t s = first_slot + slots - 1;
  for (std::size_t j = nodes.size(); j-- > 0;) {
    const auto target = first_slot + static_cast<std::int32_t>(static_cast<std::int64_t>(j) * slots /
                                                               static_cast<std::int64_t>(nodes.size()));
    for (; s > target; --s) profile_.Open(s / kBlock)[s % kBlock] = tail;
    profile_.Open(s / kBlock)[s % kBlock] = number[j];
    PutInSlot(nodes[j], s);
    tail = number[j] - OwnBytes(nodes[j]);
    --s;
  }
  for (; s >= first_slot; --s) profile_.Open(s / kBlock)[s % kBlock] = tail;
  for (std::int32_t b = b0; b < b1; ++b) profile_.Close(b);
  work_ += 6 * slots;
}

// Twice the slots: the row is three quarters full everywhere.
void SequenceState::Grow() {
  std::vector<std::int32_t> row;
  std::vector<std::int64_t> number;
  for (const std::int32_t x : node_at_)
    if (x != kNone) {
      row.push_back(x);
      number.push_back(profile_.Value(slot(x)));
    }
  const std::int32_t blocks = profile_.blocks() * 2;
  profile_.Reset(blocks, instance_.resident_bytes - budget_ - kHole);
  occupied_.assign(static_cast<std::size_t>(blocks), 0);
  node_at_.assign(static_cast<std::size_t>(profile_.slots()), kNone);
  std::int64_t tail = instance_.resident_bytes - budget_ - kHole;
  std::int64_t s = profile_.slots() - 1;
  for (std::size_t j = row.size(); j-- > 0;) {
    const std::int64_t target = static_cast<std::int64_t>(j) * profile_.slots() / static_cast<std::int64_t>(row.size());
    for (; s > target; --s) profile_.Open(static_cast<std::int32_t>(s / kBlock))[s % kBlock] = tail;
    profile_.Open(static_cast<std::int32_t>(s / kBlock))[s % kBlock] = number[j];
    PutInSlot(row[j], static_cast<std::int32_t>(s));
    tail = number[j] - OwnBytes(row[j]);
    --s;
  }
  for (std::int32_t b = 0; b < blocks; ++b) profile_.Close(b);
  segments_fresh_ = false;
  work_ += 10 * profile_.slots();
}

}  // namespace ebb
