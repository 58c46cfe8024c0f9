// SPDX-License-Identifier: Apache-2.0
#include "portfolio/proof_states.hpp"

#include <algorithm>
#include <ostream>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "engine/bounds/memory_floor.hpp"
#include "engine/bounds/storage_roots.hpp"
#include "heuristics/state_search.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kMostStates = 50'000;  // the checker looks at a few thousand a second
constexpr std::size_t kMostSets = 50'000;

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

bool WriteForwardStates(const Instance& in, std::int64_t budget, OrderMode order, std::int32_t max_executions,
                        std::optional<std::int64_t> duration, WorkBudget& work, std::ostream& out) {
  StateSearchOptions options;
  if (duration) options.upper = *duration;
  std::int64_t states = 0;
  WorkBudget own(work.left(), work.stop_signal());
  options.expanded = [&](const StateSpace& space, const SearchState& state, std::int64_t cost) {
    if (++states > kMostStates) {
      own.Spend(own.left());
      return;
    }
    const auto ran = [&](std::size_t op) { return ((state.executed[op / 64] >> (op % 64)) & 1) != 0; };
    out << "s " << cost << ' ' << state.last_repeat;
    for (std::size_t op = 0; op < in.num_ops; ++op)
      if (ran(op)) out << " o " << op << ' ' << (state.repeats.empty() ? 1 : state.repeats[op] + 1);
    space.ForEachHeld(state, [&](std::int32_t v, std::int32_t storage) { out << " t " << v << ' ' << storage; });
    out << '\n';
  };
  const StateSearchResult result = SearchStates(in, budget, order, max_executions, own, options);
  work.Spend(own.spent());
  return result.status == SolveStatus::kInfeasible && states <= kMostStates;
}

bool WriteBackwardSets(const Instance& in, std::int64_t budget, WorkBudget& work, std::ostream& out) {
  const MemoryFloor floor = ComputeFloor(in, kDefaultPebblingTicks, budget, work.stop_signal());
  if (floor.bytes <= budget) return false;
  using Set = std::vector<std::int32_t>;  // values, ascending
  const std::vector<std::int32_t> root = StorageRoots(in);
  const auto counts = [&](std::int32_t v) { return in.maker[At(v)] >= 0 && in.bytes[At(root[At(v)])] > 0; };
  const auto sorted = [](Set& set) {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  };
  const auto moment = [&](const Set& held, std::int32_t op) {
    Set all;
    const auto add = [&](std::int32_t v) { all.push_back(root[At(v)]); };
    for (const std::int32_t v : held) add(v);
    for (const std::int32_t v : in.reads[At(op)]) add(v);
    for (const std::int32_t v : in.makes[At(op)]) add(v);
    sorted(all);
    std::int64_t bytes = in.resident_bytes + in.moment[At(op)];
    for (const std::int32_t r : all) bytes += in.bytes[At(r)];
    return bytes;
  };
  out << "pebbles " << floor.op << '\n';
  if (floor.op >= 0 && moment({}, floor.op) > budget) return true;
  Set first;
  if (floor.op < 0) {
    for (std::size_t v = 0; v < in.num_values; ++v)
      if (in.kept[v]) first.push_back(static_cast<std::int32_t>(v));
  } else {
    first.assign(in.reads[At(floor.op)].begin(), in.reads[At(floor.op)].end());
  }
  std::erase_if(first, [&](std::int32_t v) { return !counts(v); });
  sorted(first);
  boost::unordered_flat_set<Set, boost::hash<Set>> seen{first};
  std::vector<Set> open{first};
  while (!open.empty()) {
    const Set held = std::move(open.back());
    open.pop_back();
    if (held.empty() || seen.size() > kMostSets || work.Exhausted()) return false;
    out << 'p';
    for (const std::int32_t v : held) out << ' ' << v;
    out << '\n';
    Set makers;
    for (const std::int32_t v : held) makers.push_back(in.maker[At(v)]);
    sorted(makers);
    for (const std::int32_t op : makers) {
      const auto consumes = in.consumes[At(op)];
      work.Spend(static_cast<Ticks>(64 + 8 * held.size()));
      if (std::any_of(consumes.begin(), consumes.end(),
                      [&](std::int32_t v) { return std::binary_search(held.begin(), held.end(), v); }) ||
          moment(held, op) > budget)
        continue;
      Set earlier;
      for (const std::int32_t v : held)
        if (in.maker[At(v)] != op) earlier.push_back(v);
      for (const std::int32_t v : in.reads[At(op)])
        if (counts(v)) earlier.push_back(v);
      sorted(earlier);
      if (seen.insert(earlier).second) open.push_back(std::move(earlier));
    }
  }
  return true;
}

}  // namespace ebb
