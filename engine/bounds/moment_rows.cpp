// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/moment_rows.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb {

namespace {
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
constexpr double kLeastTold = 0.25;  // of both reruns, and of what the first leaves
}  // namespace

void MomentRows::Separate(std::span<const double> x, bool integral, bool /*root*/, IntegerRows& out) {
  const Instance& in = model_.instance();
  touched_.assign(in.num_values, 0);
  for (const BoundaryModel::Column& column : model_.columns()) {
    if (!column.rerun() || column.stage + 1 >= model_.num_stages()) continue;
    const std::int32_t c = model_.rerun(column.stage, column.item);
    if (x[At(c)] < 0.05) continue;
    SeparateOne(x, column.stage, column.item, integral ? 0.0 : 0.002, out);
  }
}

void MomentRows::SeparateOne(std::span<const double> x, std::int32_t k, std::int32_t op, double least,
                             IntegerRows& out) {
  const Instance& in = model_.instance();
  const std::int32_t from = model_.positions()[At(k)], to = model_.positions()[At(k) + 1];
  const bool in_order = staged_ && to == from + 1;
  const auto root_of = [&](std::int32_t v) {
    while (in.carrier[At(v)] >= 0) v = in.carrier[At(v)];
    return v;
  };
  std::vector<std::int32_t> touched;
  std::int64_t need = in.moment[At(op)] + in.resident_bytes;
  const auto touch = [&](std::int32_t v) {
    const std::int32_t r = root_of(v);
    if (touched_[At(r)]) return;
    touched_[At(r)] = 1;
    touched.push_back(r);
    need += in.bytes[At(r)];
  };
  for (const std::int32_t v : in.reads[At(op)]) touch(v);
  for (const std::int32_t v : in.makes[At(op)]) touch(v);
  const std::int32_t last = in.order[At(to)];
  std::int64_t aside = in.moment[At(last)] + in.resident_bytes;
  for (const std::int32_t v : in.makes[At(last)])
    if (in.carrier[At(v)] < 0) aside += in.bytes[At(v)];

  // Terms of the row sum coefficient * column <= rhs.
  std::map<std::int32_t, std::int64_t> terms;
  std::int64_t rhs = budget_ - aside, owed = 0;
  double lhs = 0.0;
  std::string note;
  const auto value_of = [&](std::int32_t column) { return column >= 0 ? x[At(column)] : 0.0; };
  // "Runs again in the stage, and the last time after o's last", as plus - minus; in a row it counts too much or too
  // little where the order is not told.
  struct After {
    std::int32_t plus = BoundaryModel::kAbsent, minus = BoundaryModel::kAbsent;
  };
  const auto after = [&](std::int32_t w, bool too_much) -> After {
    const std::int32_t again = model_.rerun(k, w);
    if (again < 0) return {};
    const bool higher = in.rank[At(w)] > in.rank[At(op)];
    if (in_order) return higher ? After{again} : After{};
    const std::int32_t y = model_.order(k, op, w);
    if (y >= 0) return higher ? After{again, y} : After{y};
    return too_much ? After{again} : After{};
  };
  const bool tells = teller_ != nullptr && to == from + 1 && x[At(model_.rerun(k, op))] > kLeastTold;
  const auto value_after = [&](const After& a) { return value_of(a.plus) - value_of(a.minus); };
  const auto add_after = [&](const After& a, std::int64_t bytes) {
    if (a.plus >= 0) terms[a.plus] += bytes;
    if (a.minus >= 0) terms[a.minus] -= bytes;
  };
  const auto count = [&](std::int32_t v) {
    if (in.bytes[At(v)] == 0 || touched_[At(v)] || in.maker[At(v)] < 0) return;
    const std::int32_t maker = in.maker[At(v)];
    if (in.rank[At(maker)] > from) return;
    const std::int32_t later = model_.stay(k + 1, v);
    if (tells && model_.rerun(k, maker) >= 0 && x[At(model_.rerun(k, maker))] > kLeastTold &&
        std::max(value_of(later), later == BoundaryModel::kAlways ? 1.0 : 0.0) > kLeastTold &&
        model_.order(k, op, maker) < 0)
      teller_->Tell(k, op, maker);
    const After again = after(maker, true);
    const double less = value_after(again);
    double best = (later == BoundaryModel::kAlways ? 1.0 : value_of(later)) - less;
    After reader;
    std::int32_t by = -1;
    if (to == from + 1)
      for (const std::int32_t w : in.readers[At(v)]) {
        if (in.rank[At(w)] > from || w == op) continue;
        const After reads = after(w, false);
        if (const double there = value_after(reads) - less; there > best + 0.2) {
          best = there;
          reader = reads;
          by = w;
        }
      }
    if (best < 0.01) return;
    if (by < 0 && later == BoundaryModel::kAbsent) return;  // the point breaks Y <= C; this row says nothing of it
    const std::int64_t bytes = in.bytes[At(v)];
    if (notes_ != nullptr) note += ' ' + std::to_string(v) + ' ' + std::to_string(by);
    if (by >= 0) {
      add_after(reader, bytes);
      owed += bytes;
    } else if (later == BoundaryModel::kAlways) {
      rhs -= bytes;
    } else {
      terms[later] += bytes;
    }
    add_after(again, -bytes);
    lhs += static_cast<double>(bytes) * (by < 0 && later == BoundaryModel::kAlways ? best - 1.0 : best);
  };
  for (const std::int32_t v : model_.useful(k)) count(v);
  for (const std::int32_t r : touched) touched_[At(r)] = 0;
  const std::int64_t extra = need - aside + owed;
  if (extra <= 0) return;
  const std::int32_t self = model_.rerun(k, op);
  rhs += owed;
  lhs += static_cast<double>(extra) * x[At(self)];
  if (lhs - static_cast<double>(rhs) <= least * static_cast<double>(extra)) return;
  terms[self] += extra;
  for (const auto& [column, coefficient] : terms)
    if (coefficient != 0) out.Term(column, -coefficient);
  if (notes_ != nullptr) {
    std::vector<std::pair<std::int32_t, std::int64_t>> row;
    for (const auto& [column, coefficient] : terms)
      if (coefficient != 0) row.emplace_back(column, -coefficient);
    notes_->Set(std::move(row), -rhs, "m " + std::to_string(k) + ' ' + std::to_string(op) + note);
  }
  out.EndRow(-rhs);
}

}  // namespace ebb
