// SPDX-License-Identifier: Apache-2.0
//
// The reference evaluation of a sequence over an Instance: what every incremental structure is checked against.
#include <algorithm>
#include <limits>

#include "engine/problem/instance.hpp"

namespace ebb {

SequenceFacts EvaluateSequence(const Instance& in, std::span<const std::int32_t> sequence) {
  constexpr std::int32_t kNone = -1;
  constexpr std::int32_t kForever = std::numeric_limits<std::int32_t>::max();
  struct Storage {
    std::int32_t from, last_use, consumed_at;
    std::int64_t bytes;
  };
  SequenceFacts facts;
  std::vector<Storage> storages;
  std::vector<std::int32_t> storage_of(in.num_values, kNone);  // value -> storage of its latest instance
  std::vector<std::int32_t> runs(in.num_ops, 0);
  const auto open = [&](std::int32_t v, std::int32_t pos, std::int64_t bytes) {
    storage_of[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(storages.size());
    storages.push_back({pos, pos, kForever, bytes});
  };
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.maker[v] == kNone) open(static_cast<std::int32_t>(v), 0, 0);
  const auto fail = [&](std::size_t pos, std::int32_t value) {
    facts.fault_position = static_cast<std::int32_t>(pos);
    facts.fault_value = value;
    return facts;
  };

  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const auto pos = static_cast<std::int32_t>(i);
    const auto op = static_cast<std::size_t>(sequence[i]);
    if (++runs[op] > 1 && !in.may_repeat[op]) return fail(i, kNone);
    for (const std::int32_t v : in.reads[op]) {
      const std::int32_t s = storage_of[static_cast<std::size_t>(v)];
      if (s == kNone || storages[static_cast<std::size_t>(s)].consumed_at < pos) return fail(i, v);
      storages[static_cast<std::size_t>(s)].last_use = pos;
    }
    for (const std::int32_t v : in.consumes[op])
      storages[static_cast<std::size_t>(storage_of[static_cast<std::size_t>(v)])].consumed_at = pos;
    for (const std::int32_t v : in.makes[op]) {
      const std::int32_t carrier = in.carrier[static_cast<std::size_t>(v)];
      if (carrier == kNone)
        open(v, pos, in.bytes[static_cast<std::size_t>(v)]);
      else
        storage_of[static_cast<std::size_t>(v)] = storage_of[static_cast<std::size_t>(carrier)];
    }
    facts.duration += in.duration[op];
  }
  for (std::size_t op = 0; op < in.num_ops; ++op)
    if (runs[op] == 0) return fail(sequence.size(), kNone);
  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (!in.kept[v]) continue;
    Storage& s = storages[static_cast<std::size_t>(storage_of[v])];
    if (s.consumed_at != kForever) return fail(sequence.size(), static_cast<std::int32_t>(v));
    s.last_use = kForever;
  }

  std::vector<std::int64_t> change(sequence.size() + 1, 0);
  for (const Storage& s : storages) {
    change[static_cast<std::size_t>(s.from)] += s.bytes;
    if (s.last_use != kForever) change[static_cast<std::size_t>(s.last_use) + 1] -= s.bytes;
  }
  std::int64_t resident = facts.peak = in.resident_bytes;
  facts.profile.reserve(sequence.size());
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    resident += change[i];
    const std::int64_t moment = resident + in.moment[static_cast<std::size_t>(sequence[i])];
    facts.profile.push_back(moment);
    if (moment > facts.peak || facts.peak_position < 0) {
      facts.peak = std::max(facts.peak, moment);
      facts.peak_position = static_cast<std::int32_t>(i);
    }
  }
  facts.valid = true;
  return facts;
}

bool FollowsOrder(const Instance& in, std::span<const std::int32_t> sequence, bool fixed, bool staged) {
  if (!fixed && !staged) return true;
  std::vector<std::uint8_t> seen(in.num_ops, 0);
  std::size_t next = 0;
  std::int32_t last_repeat = -1;
  for (const std::int32_t op : sequence) {
    const auto i = static_cast<std::size_t>(op);
    if (!seen[i]) {
      seen[i] = 1;
      if (in.order[next] != op) return false;
      ++next;
      last_repeat = -1;
    } else {
      if (staged && in.rank[i] <= last_repeat) return false;
      last_repeat = in.rank[i];
    }
  }
  return true;
}

}  // namespace ebb
