// SPDX-License-Identifier: Apache-2.0
#include "portfolio/neighbourhood.hpp"

#include <algorithm>

namespace ebb {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int32_t kWanted = -2;  // local_op_: in, but without a number yet
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

PlanView::PlanView(const Instance& instance, std::vector<std::int32_t> sequence, std::int64_t budget)
    : in_(instance), sequence_(std::move(sequence)) {
  const SequenceFacts facts = EvaluateSequence(in_, sequence_);
  duration_ = facts.duration;
  room_.reserve(sequence_.size());
  for (const std::int64_t bytes : facts.profile) room_.push_back(budget - bytes);
  first_.assign(in_.num_ops, kNone);
  previous_.assign(sequence_.size(), kNone);
  std::vector<std::int32_t> last(in_.num_ops, kNone);
  for (std::size_t i = 0; i < sequence_.size(); ++i) {
    const std::size_t op = At(sequence_[i]);
    if (first_[op] == kNone) {
      first_[op] = static_cast<std::int32_t>(i);
    } else {
      repeats_.push_back(static_cast<std::int32_t>(i));
      previous_[i] = last[op];
    }
    last[op] = static_cast<std::int32_t>(i);
  }
  FindStorages();
  local_op_.assign(in_.num_ops, kNone);
  local_value_.assign(in_.num_values, kNone);
}

void PlanView::FindStorages() {
  std::vector<std::int32_t> current(in_.num_values, kNone);
  for (std::size_t i = 0; i < sequence_.size(); ++i) {
    const auto place = static_cast<std::int32_t>(i);
    const std::size_t op = At(sequence_[i]);
    for (const std::int32_t v : in_.reads[op])
      if (current[At(v)] != kNone) storages_[At(current[At(v)])].last = place;
    for (const std::int32_t v : in_.makes[op]) {
      const std::int32_t carrier = in_.carrier[At(v)];
      const std::int32_t on = carrier >= 0 ? current[At(carrier)] : kNone;
      current[At(v)] = static_cast<std::int32_t>(storages_.size());
      storages_.push_back({v, place, place, on});
    }
  }
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.kept[v] && current[v] != kNone)
      storages_[At(current[v])].last = static_cast<std::int32_t>(sequence_.size());
  for (std::size_t k = storages_.size(); k-- > 0;)
    if (const std::int32_t on = storages_[k].on; on != kNone)
      storages_[At(on)].last = std::max(storages_[At(on)].last, storages_[k].last);
}

std::vector<std::int32_t> PlanView::MakersAcross(std::size_t i) const {
  std::vector<std::int32_t> out;
  for (const Storage& s : storages_) {
    if (s.born >= static_cast<std::int32_t>(i)) break;
    if (s.last > static_cast<std::int32_t>(i) && (in_.bytes[At(s.value)] > 0 || in_.carrier[At(s.value)] >= 0) &&
        Freeable(in_.maker[At(s.value)]))
      out.push_back(in_.maker[At(s.value)]);
  }
  return out;
}

// In the small instance an op reads one and the same version of a value, however often it runs. Where a repeat reads
// another one now, made again by an op that stays, its op is not free.
void PlanView::KeepUnfree(std::size_t begin, std::size_t end, std::vector<std::uint8_t>& free) const {
  for (std::size_t op = 0; op < in_.num_ops; ++op)
    if (free[op] != 0 && !Freeable(static_cast<std::int32_t>(op))) free[op] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    // Per value: how often it was made in the window so far, by ops that are not free.
    std::vector<std::int32_t> version(in_.num_values, 0);
    std::vector<std::vector<std::int32_t>> read(in_.num_ops);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t op = At(sequence_[i]);
      if (free[op] != 0) {
        std::vector<std::int32_t> now;
        for (const std::int32_t v : in_.reads[op]) now.push_back(version[At(v)]);
        if (previous_[i] == kNone) {
          read[op] = std::move(now);
        } else {
          if (read[op].empty()) read[op].assign(in_.reads[op].size(), 0);
          if (now != read[op]) {
            free[op] = 0;
            changed = true;
          }
        }
      } else {
        for (const std::int32_t v : in_.makes[op]) ++version[At(v)];
      }
    }
  }
}

Neighbourhood PlanView::Cut(std::size_t begin_place, std::size_t end_place, std::span<const std::uint8_t> free) {
  Neighbourhood cut;
  cut.begin = begin_place;
  cut.end = end_place;
  const auto begin = static_cast<std::int32_t>(cut.begin), end = static_cast<std::int32_t>(cut.end);
  std::vector<std::uint8_t> freed(free.begin(), free.end());
  KeepUnfree(cut.begin, cut.end, freed);
  const auto is_free = [&](std::int32_t op) { return freed[At(op)] != 0; };
  const auto is_dropped = [&](std::size_t i) { return previous_[i] != kNone && is_free(sequence_[i]); };

  // Ops from before the window.
  std::vector<std::int32_t> entry, across;  // values
  for (const Storage& s : storages_) {
    if (s.born >= end) break;
    if (s.last >= begin && s.born < begin) entry.push_back(s.value);
    if (s.last >= end) across.push_back(s.value);
  }
  std::vector<std::int32_t> before;
  const auto want = [&](std::int32_t op) {
    if (local_op_[At(op)] != kNone || first_[At(op)] >= begin) return;
    local_op_[At(op)] = kWanted;
    before.push_back(op);
  };
  const auto want_maker = [&](std::int32_t v) {
    for (; v >= 0; v = in_.carrier[At(v)])
      if (in_.maker[At(v)] >= 0) want(in_.maker[At(v)]);
  };
  for (std::size_t i = cut.begin; i < cut.end; ++i)
    if (!is_dropped(i))
      for (const std::int32_t v : in_.reads[At(sequence_[i])]) want_maker(v);
  for (std::size_t op = 0; op < in_.num_ops; ++op)
    if (is_free(static_cast<std::int32_t>(op))) want(static_cast<std::int32_t>(op));
  for (const std::int32_t v : entry)
    if (in_.maker[At(v)] >= 0)
      for (const std::int32_t reader : in_.readers[At(v)])
        if (is_free(reader) && first_[At(reader)] < end) {
          want_maker(v);
          break;
        }
  std::sort(before.begin(), before.end(),
            [&](std::int32_t a, std::int32_t b) { return first_[At(a)] < first_[At(b)]; });

  // The instance.
  Instance& sub = cut.instance;
  sub.plain = in_.plain;
  sub.resident_bytes = in_.resident_bytes;
  std::vector<std::int32_t> values;  // with a local number
  const auto add_value = [&](std::int32_t v, std::int32_t maker) {
    if (local_value_[At(v)] == kNone) values.push_back(v);
    const std::int32_t carrier = in_.carrier[At(v)] >= 0 ? local_value_[At(in_.carrier[At(v)])] : kNone;
    local_value_[At(v)] = static_cast<std::int32_t>(sub.num_values++);
    sub.maker.push_back(maker);
    sub.bytes.push_back(in_.bytes[At(v)]);
    sub.kept.push_back(0);
    sub.tensor.push_back(in_.tensor[At(v)]);
    sub.carrier.push_back(carrier);
  };
  // `reads`: what it reads counts. Returns whether all of it is there.
  const auto add_op = [&](std::int32_t op, bool reads, bool may_repeat) {
    const auto number = static_cast<std::int32_t>(sub.num_ops++);
    cut.op.push_back(op);
    bool whole = true;
    if (reads) {
      for (const std::int32_t v : in_.reads[At(op)]) {
        if (in_.maker[At(v)] < 0 && local_value_[At(v)] == kNone) add_value(v, kNone);
        if (local_value_[At(v)] == kNone) {
          whole = false;
        } else {
          sub.reads.Push(local_value_[At(v)]);
        }
      }
      for (const std::int32_t v : in_.consumes[At(op)])
        if (local_value_[At(v)] != kNone) sub.consumes.Push(local_value_[At(v)]);
    }
    if (op != kNone)
      for (const std::int32_t v : in_.makes[At(op)]) {
        add_value(v, number);
        sub.makes.Push(local_value_[At(v)]);
      }
    sub.reads.EndRow();
    sub.consumes.EndRow();
    sub.makes.EndRow();
    sub.duration.push_back(op == kNone ? 0 : in_.duration[At(op)]);
    sub.base_duration += sub.duration.back();
    sub.moment.push_back(op == kNone ? 0 : in_.moment[At(op)]);
    sub.view_op.push_back(op == kNone ? 0 : in_.view_op[At(op)]);
    sub.may_repeat.push_back(may_repeat && whole ? 1 : 0);
    cut.free_ops += sub.may_repeat.back();
    sub.order.push_back(number);
  };
  for (const std::int32_t op : before) add_op(op, is_free(op), is_free(op));
  cut.gate = static_cast<std::int32_t>(sub.num_ops);
  add_op(kNone, false, false);
  cut.entry.assign(sub.num_values, 0);
  for (const std::int32_t v : entry)
    if (local_value_[At(v)] != kNone) cut.entry[At(local_value_[At(v)])] = 1;
  for (std::size_t w = 0; w < sub.num_values; ++w)  // what has no bytes is always there
    if (sub.maker[w] < 0 || (sub.carrier[w] < 0 && sub.bytes[w] == 0)) cut.entry[w] = 1;
  std::int64_t dropped = 0;
  for (std::size_t i = cut.begin; i < cut.end; ++i) {
    const std::int32_t op = sequence_[i];
    if (is_dropped(i))
      dropped += in_.duration[At(op)];
    else
      add_op(op, true, is_free(op));
  }
  cut.entry.resize(sub.num_values, 1);
  for (const std::int32_t v : across) {
    if (local_value_[At(v)] != kNone)
      sub.kept[At(local_value_[At(v)])] = 1;
    else
      sub.resident_bytes += in_.bytes[At(v)];
  }
  sub.rank = sub.order;
  sub.readers =
      sub.reads.Transpose<std::int32_t>(sub.num_values, [](std::int32_t v) { return static_cast<std::size_t>(v); });
  cut.duration = sub.base_duration + dropped;
  for (const std::int32_t op : before) local_op_[At(op)] = kNone;
  for (const std::int32_t v : values) local_value_[At(v)] = kNone;
  return cut;
}

std::vector<std::int32_t> PlanView::With(const Neighbourhood& cut, std::span<const std::int32_t> sequence) const {
  std::vector<std::int32_t> out(sequence_.begin(), sequence_.begin() + static_cast<std::ptrdiff_t>(cut.begin));
  const auto gate = std::find(sequence.begin(), sequence.end(), cut.gate);
  for (auto it = gate + 1; it != sequence.end(); ++it) out.push_back(cut.op[At(*it)]);
  out.insert(out.end(), sequence_.begin() + static_cast<std::ptrdiff_t>(cut.end), sequence_.end());
  return out;
}

}  // namespace ebb
