// SPDX-License-Identifier: Apache-2.0
#include "engine/problem/presolve.hpp"

#include <algorithm>

namespace ebb {
namespace {

class Marker {
 public:
  Marker(Instance& in, OrderMode order) : in_(in), order_(order) {
    entangled_.assign(in.num_values, 0);
    for (const std::int32_t v : in.consumes.items()) entangled_[v] = 1;
    for (std::size_t v = 0; v < in.num_values; ++v)
      if (in.carrier[v] >= 0) entangled_[v] = entangled_[in.carrier[v]] = 1;
  }

  PresolveCounts Run() {
    for (const std::uint8_t may : in_.may_repeat) counts_.ops += may;
    bool changed = true;
    while (changed) {
      ++counts_.rounds;
      changed = false;
      // What readers allow runs from the end to the beginning, what makers allow the other way.
      for (std::size_t r = in_.num_ops; r-- > 0;) changed |= Try(r, false);
      for (std::size_t r = 0; r < in_.num_ops; ++r) changed |= Try(r, true);
    }
    return counts_;
  }

 private:
  bool Try(std::size_t rank, bool by_inputs) {
    const auto op = static_cast<std::size_t>(in_.order[rank]);
    if (in_.may_repeat[op] == 0) return false;
    const auto makes = in_.makes[op];
    if (std::any_of(makes.begin(), makes.end(), [&](std::int32_t v) { return entangled_[v] != 0; })) return false;
    std::int64_t* count = nullptr;
    if (by_inputs) {
      if (Heavy(op)) count = &counts_.heavy;
    } else if (Unread(op)) {
      count = &counts_.unread;
    } else if (std::all_of(makes.begin(), makes.end(), [&](std::int32_t v) { return in_.bytes[v] == 0; })) {
      count = &counts_.free;
    } else if (PassedOn(op, rank)) {
      count = &counts_.passed_on;
    }
    if (count == nullptr) return false;
    ++*count;
    in_.may_repeat[op] = 0;
    return true;
  }

  [[nodiscard]] bool Unread(std::size_t op) const {
    const auto makes = in_.makes[op];
    return std::all_of(makes.begin(), makes.end(),
                       [&](std::int32_t v) { return in_.readers[v].empty() && in_.kept[v] == 0; });
  }

  [[nodiscard]] bool PassedOn(std::size_t op, std::size_t rank) const {
    if (order_ == OrderMode::kStaged) return false;
    std::int32_t reader = -1;
    for (const std::int32_t v : in_.makes[op]) {
      if (in_.kept[v] != 0) return false;
      for (const std::int32_t r : in_.readers[v]) {
        if (reader >= 0 && r != reader) return false;
        reader = r;
      }
    }
    if (reader < 0 || in_.may_repeat[static_cast<std::size_t>(reader)] != 0) return false;
    return order_ == OrderMode::kFree ||
           in_.rank[static_cast<std::size_t>(reader)] == static_cast<std::int32_t>(rank) + 1;
  }

  [[nodiscard]] bool Heavy(std::size_t op) const {
    // Sums of bytes fit 63 bits: the graph was checked for that.
    std::int64_t held = 0, made = 0;
    for (const std::int32_t v : in_.reads[op]) {
      const std::int32_t maker = in_.maker[v];
      if (maker < 0 || in_.may_repeat[static_cast<std::size_t>(maker)] != 0) continue;
      if (entangled_[v] != 0 || in_.kept[v] != 0 || in_.readers[v].size() != 1) continue;
      held += in_.bytes[v];
    }
    for (const std::int32_t v : in_.makes[op]) made += in_.bytes[v];
    return held >= made;
  }

  Instance& in_;
  const OrderMode order_;
  std::vector<std::uint8_t> entangled_;
  PresolveCounts counts_;
};

}  // namespace

std::string Describe(const PresolveCounts& c) {
  return std::to_string(c.unread) + " unread, " + std::to_string(c.free) + " free, " + std::to_string(c.heavy) +
         " heavy, " + std::to_string(c.passed_on) + " passed on";
}

PresolveCounts MarkOnceOps(Instance& instance, OrderMode order) { return Marker(instance, order).Run(); }

}  // namespace ebb
