// SPDX-License-Identifier: Apache-2.0
#include "portfolio/time_axis.hpp"

#include <algorithm>

namespace ebb {
namespace {
std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

TimeAxis::TimeAxis(const Instance& in, OrderMode order, std::span<const std::int32_t> copies,
                   std::span<const std::int32_t> last_useful)
    : instance_(in), order_(order), last_useful_(last_useful.begin(), last_useful.end()) {
  const auto n = static_cast<std::int64_t>(in.num_ops);
  if (order == OrderMode::kFree) {
    before_.assign(in.num_ops, 0);
    after_.assign(in.num_ops, 0);
    for (const std::int32_t op : in.order)
      for (const std::int32_t v : in.reads[At(op)])
        if (in.maker[At(v)] >= 0) before_[At(op)] = std::max(before_[At(op)], before_[At(in.maker[At(v)])] + 1);
    for (std::size_t r = in.num_ops; r-- > 0;)
      for (const std::int32_t v : in.reads[At(in.order[r])])
        if (in.maker[At(v)] >= 0)
          after_[At(in.maker[At(v)])] = std::max(after_[At(in.maker[At(v)])], after_[At(in.order[r])] + 1);
    for (const std::int32_t c : copies) end_ += c;
    return;
  }
  begin_.push_back(0);
  for (std::int64_t s = 0; s <= n; ++s) {
    std::int64_t slots = 0;
    if (order == OrderMode::kStaged) {
      slots = s;
    } else {
      for (std::int64_t r = 0; r < s; ++r) {
        const auto op = At(in.order[At(r)]);
        if (last_useful_[op] >= s) slots += copies[op] - 1;
      }
    }
    begin_.push_back(begin_.back() + slots + 1);
  }
  end_ = begin_.back() - 1;
}

std::int64_t TimeAxis::StageOf(std::int64_t position) const {
  return std::upper_bound(begin_.begin(), begin_.end(), position) - begin_.begin() - 1;
}

TimeAxis::Positions TimeAxis::Starts(std::int32_t op, std::int32_t copy) const {
  const auto range = [](std::int64_t from, std::int64_t to) {
    return from > to ? Positions{} : Positions{{from, to}, true};
  };
  // A later copy comes after the earlier ones, and something after it reads it; the earliest first of all.
  if (order_ == OrderMode::kFree) return range(before_[At(op)] + copy, end_ - 1 - (copy == 0 ? after_[At(op)] : 0));
  const std::int64_t r = instance_.rank[At(op)], last = last_useful_[At(op)];
  if (copy == 0) return range(First(r), First(r));
  // First executions in between are no place for others, but whoever stood there could stand in the slot before.
  if (order_ == OrderMode::kFixed)
    return last < 0 ? Positions{} : range(begin_[At(r) + 1], std::min(First(last), end_ - 1));
  Positions starts;
  for (std::int64_t s = r + copy; s <= last; ++s) starts.values.push_back(begin_[At(s)] + r);
  return starts;
}

std::int64_t TimeAxis::Rerun(std::int64_t stage, std::int64_t i, std::int32_t op) const {
  return begin_[At(stage)] + (order_ == OrderMode::kStaged ? instance_.rank[At(op)] : i);
}

bool TimeAxis::More(std::int32_t op, std::int32_t times) const {
  if (order_ == OrderMode::kStaged) return instance_.rank[At(op)] + times <= last_useful_[At(op)];
  return last_useful_[At(op)] >= 0;
}

std::vector<std::int32_t> LastUsefulStages(const Instance& in, OrderMode order, std::span<const std::uint8_t> matters) {
  std::vector<std::int32_t> out(in.num_ops, -1);
  if (order == OrderMode::kFree) {
    for (std::size_t op = 0; op < in.num_ops; ++op)
      for (const std::int32_t v : in.makes[op])
        if (in.may_repeat[op] && matters[At(v)] && (in.kept[At(v)] || !in.readers[At(v)].empty())) out[op] = 0;
    return out;
  }
  // From the last op to the first: a rerun is of use until the last first execution that depends on it.
  for (std::size_t r = in.num_ops; r-- > 0;) {
    const auto op = At(in.order[r]);
    std::int32_t last = -1;
    for (const std::int32_t v : in.makes[op]) {
      if (!matters[At(v)]) continue;
      if (in.kept[At(v)]) last = static_cast<std::int32_t>(in.num_ops);  // the stage after the last first execution
      for (const std::int32_t reader : in.readers[At(v)]) {
        last = std::max(last, in.rank[At(reader)]);
        if (in.may_repeat[At(reader)]) last = std::max(last, out[At(reader)]);
      }
    }
    out[op] = in.may_repeat[op] && last > in.rank[op] ? last : -1;
  }
  return out;
}

}  // namespace ebb
