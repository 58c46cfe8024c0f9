// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/stage_cuts.hpp"

#include <algorithm>
#include <bit>

namespace ebb {

namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
using Words = std::vector<std::uint64_t>;

bool Has(const Words& set, std::size_t i) { return (set[i / 64] >> (i % 64)) & 1; }
void Put(Words& set, std::size_t i) { set[i / 64] |= std::uint64_t{1} << (i % 64); }
void Take(Words& set, std::size_t i) { set[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
bool Within(const Words& a, const Words& b) {
  for (std::size_t w = 0; w < a.size(); ++w)
    if ((a[w] & ~b[w]) != 0) return false;
  return true;
}
bool Meet(const Words& a, const Words& b) {
  for (std::size_t w = 0; w < a.size(); ++w)
    if ((a[w] & b[w]) != 0) return true;
  return false;
}

constexpr std::size_t kMostSets = 300;
constexpr std::int64_t kSearchEffort = 50'000, kStageEffort = 1'500'000;  // set operations

}  // namespace

void StageCuts::Separate(std::span<const double> x, bool integral, bool /*root*/, IntegerRows& out) {
  if (!integral || !model_.instance().plain) return;
  for (std::int32_t k = 0; k + 1 < model_.num_stages(); ++k)
    if (model_.reruns_only(k)) Cut(x, k, out);
}

void StageCuts::Load(std::span<const double> x, std::int32_t k) {
  const Instance& in = model_.instance();
  stage_ = {};
  std::vector<std::int32_t> index(in.num_values, -1);
  for (const std::int32_t v : model_.useful(k)) {
    index[At(v)] = static_cast<std::int32_t>(stage_.values.size());
    stage_.values.push_back(v);
    stage_.bytes.push_back(in.bytes[At(v)]);
  }
  const Words none((stage_.values.size() + 63) / 64, 0);
  stage_.there = none;
  std::vector<std::uint8_t> seen(in.num_ops, 0);
  for (std::size_t i = 0; i < stage_.values.size(); ++i) {
    const std::int32_t v = stage_.values[i], stay = model_.stay(k, v);
    if (stay == BoundaryModel::kAlways || (stay >= 0 && x[At(stay)] > 0.5)) Put(stage_.there, i);
    const std::size_t op = At(in.maker[At(v)]);
    if (seen[op] || !in.may_repeat[op]) continue;
    seen[op] = 1;
    Rerun r;
    r.column = model_.rerun(k, in.maker[At(v)]);
    if (r.column < 0) continue;
    r.allowed = x[At(r.column)] > 0.5;
    r.makes = r.reads = none;
    r.besides = in.moment[op];
    for (const std::int32_t u : in.makes[op])
      if (index[At(u)] >= 0)
        Put(r.makes, At(index[At(u)]));
      else
        r.besides += in.bytes[At(u)];
    for (const std::int32_t u : in.reads[op])
      if (index[At(u)] >= 0) Put(r.reads, At(index[At(u)]));
    stage_.reruns.push_back(std::move(r));
  }
}

StageCuts::Answer StageCuts::Search(const Words& wanted) {
  const std::int64_t room = budget_ - model_.instance().resident_bytes;
  std::int64_t effort = kSearchEffort;
  sets_.assign(1, wanted);
  blocked_.assign(stage_.reruns.size(), 0);
  if (Within(wanted, stage_.there)) return Answer::kFits;
  Words all(wanted.size()), next(wanted.size());
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    for (std::size_t o = 0; o < stage_.reruns.size(); ++o) {
      const Rerun& r = stage_.reruns[o];
      if (!Meet(r.makes, sets_[i])) continue;
      std::int64_t bytes = r.besides;
      for (std::size_t w = 0; w < all.size(); ++w) {
        all[w] = sets_[i][w] | r.makes[w] | r.reads[w];
        next[w] = (sets_[i][w] & ~r.makes[w]) | r.reads[w];
        for (std::uint64_t rest = all[w]; rest != 0; rest &= rest - 1)
          bytes += stage_.bytes[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
      }
      effort -= 10;
      if (bytes > room) continue;
      if (!r.allowed) {
        blocked_[o] = 1;
        continue;
      }
      if (Within(next, stage_.there)) return Answer::kFits;
      effort -= static_cast<std::int64_t>(sets_.size());
      if (std::any_of(sets_.begin(), sets_.end(), [&](const Words& s) { return Within(s, next); })) continue;
      sets_.push_back(next);
      if (sets_.size() > kMostSets || effort < 0) {
        effort_ -= kSearchEffort;
        return Answer::kUnknown;
      }
    }
  }
  effort_ -= kSearchEffort - effort;
  return Answer::kNever;
}

void StageCuts::Cut(std::span<const double> x, std::int32_t k, IntegerRows& out) {
  Load(x, k);
  effort_ = kStageEffort;
  // What is wanted at the end: for certain, or because the point says so.
  Words wanted(stage_.there.size(), 0);
  std::vector<std::size_t> optional;
  for (std::size_t i = 0; i < stage_.values.size(); ++i) {
    const std::int32_t stay = model_.stay(k + 1, stage_.values[i]);
    if (stay >= 0 && x[At(stay)] > 0.5) optional.push_back(i);
    if (stay == BoundaryModel::kAlways || (stay >= 0 && x[At(stay)] > 0.5)) Put(wanted, i);
  }
  if (Search(wanted) != Answer::kNever) return;
  std::stable_sort(optional.begin(), optional.end(),
                   [&](std::size_t a, std::size_t b) { return stage_.bytes[a] < stage_.bytes[b]; });
  std::vector<std::size_t> left;
  for (const std::size_t i : optional) {
    Words fewer = wanted;
    Take(fewer, i);
    if (effort_ > 0 && Search(fewer) == Answer::kNever)
      wanted = fewer;
    else
      left.push_back(i);
  }
  std::vector<std::uint8_t> refused(stage_.reruns.size(), 0);
  for (;;) {
    if (Search(wanted) != Answer::kNever) return;  // (found before, with the same effort)
    std::size_t next = 0;
    if (effort_ <= 0) break;
    while (next < refused.size() && (!blocked_[next] || refused[next])) ++next;
    if (next == refused.size()) break;
    stage_.reruns[next].allowed = true;
    if (Search(wanted) == Answer::kNever) continue;
    stage_.reruns[next].allowed = false;
    refused[next] = 1;
  }
  // A value that is not there out of each set.
  std::vector<Words> open = sets_;
  std::vector<std::size_t> chosen;
  while (!open.empty()) {
    std::vector<std::int32_t> hits(stage_.values.size(), 0);
    for (const Words& set : open)
      for (std::size_t i = 0; i < hits.size(); ++i)
        if (Has(set, i) && !Has(stage_.there, i)) ++hits[i];
    const auto best = static_cast<std::size_t>(std::max_element(hits.begin(), hits.end()) - hits.begin());
    chosen.push_back(best);
    std::erase_if(open, [&](const Words& set) { return Has(set, best); });
  }
  for (const std::size_t i : chosen) {
    const std::int32_t stay = model_.stay(k, stage_.values[i]);
    out.Term(stay, 1);
  }
  for (std::size_t o = 0; o < stage_.reruns.size(); ++o)
    if (blocked_[o]) out.Term(stage_.reruns[o].column, 1);
  for (const std::size_t i : left) out.Term(model_.stay(k + 1, stage_.values[i]), -1);
  if (out.open_terms() > 0) out.EndRow(1 - static_cast<std::int64_t>(left.size()));
}

}  // namespace ebb
