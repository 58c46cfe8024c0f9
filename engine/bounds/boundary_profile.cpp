// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/boundary_profile.hpp"

#include <algorithm>

namespace ebb {

std::vector<double> ImpliedProfile(const BoundaryModel& model, std::span<const double> x) {
  const Instance& in = model.instance();
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  const std::int32_t n = static_cast<std::int32_t>(in.num_ops), stages = model.num_stages();
  std::vector<double> change(in.num_ops + 1, 0.0), profile(in.num_ops, 0.0);
  const auto root_of = [&](std::int32_t v) {
    while (in.carrier[at(v)] >= 0) v = in.carrier[at(v)];
    return v;
  };
  const auto add = [&](std::int32_t from, std::int32_t to, double bytes) {  // [from, to)
    if (from >= to || bytes <= 0.0) return;
    change[at(from)] += bytes;
    change[at(to)] -= bytes;
  };
  const auto staying = [&](std::int32_t k, std::int32_t v) {
    if (k < 0) return 1.0;
    if (k >= stages) return in.kept[at(v)] ? 1.0 : 0.0;
    const std::int32_t s = model.stay(k, v);
    return s == BoundaryModel::kAlways ? 1.0 : s >= 0 ? std::clamp(x[at(s)], 0.0, 1.0) : 0.0;
  };
  std::vector<std::int32_t> last_read(in.num_values, -1);  // in the stage, by root
  std::vector<std::int32_t> made, old;
  for (std::int32_t k = -1; k < stages; ++k) {
    const std::int32_t from = k < 0 ? -1 : model.positions()[at(k)];
    const std::int32_t to = k + 1 < stages ? model.positions()[at(k) + 1] : n - 1;
    made.clear();
    for (std::int32_t p = from + 1; p <= to; ++p) {
      const std::size_t op = at(in.order[at(p)]);
      for (const std::int32_t v : in.reads[op]) last_read[at(root_of(v))] = p;
      for (const std::int32_t v : in.makes[op])
        if (in.carrier[at(v)] < 0) made.push_back(v);
    }
    // Positions from + 1 .. to, the boundary at the end (if any) included.
    for (const std::int32_t v : made) {
      if (in.bytes[at(v)] == 0) continue;
      const std::int32_t birth = in.rank[at(in.maker[at(v)])];
      const std::int32_t read = std::max(last_read[at(v)], birth);
      const double bytes = static_cast<double>(in.bytes[at(v)]);
      add(birth, read + 1, bytes);
      add(read + 1, to + 1, bytes * staying(k + 1, v));
    }
    if (k >= 0) {
      for (std::size_t i = 0; i < in.num_values; ++i) {
        const std::int32_t v = static_cast<std::int32_t>(i);
        if (in.carrier[i] >= 0 || in.bytes[i] == 0 || in.maker[i] < 0 || in.rank[at(in.maker[i])] > from) continue;
        const double bytes = static_cast<double>(in.bytes[i]), here = staying(k, v), there = staying(k + 1, v);
        const std::int32_t read = std::max(last_read[i], from);
        add(from + 1, read + 1, bytes * here);
        add(read + 1, to + 1, bytes * std::min(here, there));
      }
    }
    // What an op reads is there in full while it runs.
    for (std::int32_t p = from + 1; p <= to; ++p) {
      if (k < 0) continue;
      for (const std::int32_t v : in.reads[at(in.order[at(p)])]) {
        const std::int32_t r = root_of(v);
        if (in.maker[at(r)] < 0 || in.rank[at(in.maker[at(r)])] > from) continue;
        const double missing = static_cast<double>(in.bytes[at(r)]) * (1.0 - staying(k, r));
        add(p, p + 1, missing);
      }
    }
    for (const std::int32_t v : made) last_read[at(v)] = -1;
    for (std::int32_t p = from + 1; p <= to; ++p)
      for (const std::int32_t v : in.reads[at(in.order[at(p)])]) last_read[at(root_of(v))] = -1;
  }
  double resident = static_cast<double>(in.resident_bytes);
  for (std::int32_t p = 0; p < n; ++p) {
    resident += change[at(p)];
    profile[at(p)] = resident + static_cast<double>(in.moment[at(in.order[at(p)])]);
  }
  return profile;
}

}  // namespace ebb
