// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/boundary_places.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "engine/bounds/boundary_profile.hpp"

namespace ebb {

namespace {
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
bool Has(std::span<const std::int32_t> boundaries, std::int32_t position) {
  return std::binary_search(boundaries.begin(), boundaries.end(), position);
}
}  // namespace

std::vector<std::int32_t> OverflowPlaces(const Instance& instance, std::span<const std::int32_t> sequence,
                                         const SequenceFacts& facts, std::int64_t budget, std::int32_t from,
                                         std::span<const std::int32_t> boundaries) {
  struct Place {
    std::int64_t over;
    std::int32_t position;
  };
  std::vector<Place> first, around;
  std::vector<std::uint8_t> seen(instance.num_ops, 0);
  std::int32_t next = 0;  // position of the next first execution
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::size_t op = At(sequence[i]);
    const bool is_first = !seen[op];
    seen[op] = 1;
    const std::int64_t over = facts.profile[i] - budget;
    if (over > 0 && next > from) {
      if (is_first)
        first.push_back({over, next});
      else {
        if (next < static_cast<std::int32_t>(instance.num_ops)) around.push_back({over, next});
        if (next > 0) around.push_back({over, next - 1});  // (`from` is a boundary)
      }
    }
    if (is_first) ++next;
  }
  const auto worse = [](const Place& a, const Place& b) {
    return a.over != b.over ? a.over > b.over : a.position < b.position;
  };
  std::sort(first.begin(), first.end(), worse);
  std::sort(around.begin(), around.end(), worse);
  std::vector<std::int32_t> places;
  for (const auto& list : {first, around})
    for (const Place& p : list)
      if (!Has(boundaries, p.position)) places.push_back(p.position);
  return places;
}

std::vector<std::int32_t> ImpliedOverflow(const BoundaryModel& model, std::span<const double> x, std::int64_t budget,
                                          double tolerance, std::int32_t from) {
  const std::vector<double> profile = ImpliedProfile(model, x);
  std::vector<std::int32_t> places;
  const double limit = static_cast<double>(budget) * (1.0 + tolerance) + 0.5;
  for (auto p = At(from + 1); p < profile.size(); ++p)
    if (profile[p] > limit && !Has(model.positions(), static_cast<std::int32_t>(p)))
      places.push_back(static_cast<std::int32_t>(p));
  std::sort(places.begin(), places.end(), [&](std::int32_t a, std::int32_t b) {
    return profile[At(a)] != profile[At(b)] ? profile[At(a)] > profile[At(b)] : a < b;
  });
  return places;
}

std::vector<BoundaryModel::OpPair> UntoldPairs(const BoundaryModel& model, std::span<const double> x,
                                               std::span<const std::int32_t> sequence, const SequenceFacts& facts,
                                               std::int64_t budget) {
  const Instance& in = model.instance();
  std::vector<BoundaryModel::OpPair> pairs;
  std::vector<std::uint8_t> seen(in.num_ops, 0);
  std::vector<std::int32_t> ops;
  std::int32_t next = 0, done = -1;  // position of the next first execution; of the one after the last stage seen to
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::size_t op = At(sequence[i]);
    if (!std::exchange(seen[op], 1)) {
      ++next;
      continue;
    }
    if (facts.profile[i] <= budget || next == done || !Has(model.positions(), next) ||
        !Has(model.positions(), next - 1))
      continue;
    done = next;
    const std::int32_t k = model.StageAt(next - 1);
    ops.clear();
    for (std::int32_t p = 0; p < next; ++p)
      if (const std::int32_t c = model.rerun(k, in.order[At(p)]); c >= 0 && x[At(c)] > 0.5)
        ops.push_back(in.order[At(p)]);
    for (std::size_t a = 0; a < ops.size(); ++a)
      for (std::size_t b = a + 1; b < ops.size(); ++b)
        if (model.order(k, ops[a], ops[b]) < 0) pairs.push_back({next - 1, ops[a], ops[b]});
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<std::int32_t> SpreadPlaces(std::span<const std::int32_t> places, std::int32_t count, std::int32_t spacing,
                                       std::span<const std::int32_t> boundaries) {
  std::vector<std::int32_t> spread;
  for (const std::int32_t p : places) {
    if (static_cast<std::int32_t>(spread.size()) >= count) break;
    const bool near = std::any_of(spread.begin(), spread.end(), [&](auto q) { return std::abs(q - p) < spacing; });
    if (!Has(boundaries, p) && !near) spread.push_back(p);
  }
  return spread;
}

std::vector<std::vector<std::int32_t>> ProbeSets(std::span<const std::int32_t> places, std::int32_t count,
                                                 std::span<const std::int32_t> boundaries) {
  std::vector<std::int32_t> tops;
  for (const std::int32_t p : places) {
    if (static_cast<std::int32_t>(tops.size()) >= count) break;
    if (!Has(boundaries, p) && std::find(tops.begin(), tops.end(), p) == tops.end()) tops.push_back(p);
  }
  std::vector<std::vector<std::int32_t>> sets;
  const auto propose = [&](std::vector<std::int32_t> set) {
    std::sort(set.begin(), set.end());
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(std::move(set));
  };
  for (const std::int32_t p : tops) {
    propose({p});
    // With the position before it, the stage between holds one first execution: moment rows bite there.
    if (p > 0 && !Has(boundaries, p - 1)) propose({p - 1, p});
  }
  if (tops.size() > 1) propose({tops[0], tops[1]});
  return sets;
}

}  // namespace ebb
