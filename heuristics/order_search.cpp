// SPDX-License-Identifier: Apache-2.0
#include "heuristics/order_search.hpp"

#include <algorithm>
#include <cmath>

#include "heuristics/list_schedule.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

OrderSearch::OrderSearch(const Instance& in, std::span<const std::int32_t> start, std::uint64_t seed)
    : in_(in), random_(seed), waits_(WaitsFor(in)), wakes_(waits_.Transpose<std::int32_t>(in.num_ops, At)) {
  std::vector<std::int32_t> root(in.num_values);
  kept_.assign(in.num_values, 0);
  for (std::size_t v = 0; v < in.num_values; ++v) {
    std::int32_t r = static_cast<std::int32_t>(v);
    while (in.carrier[At(r)] >= 0) r = in.carrier[At(r)];
    root[v] = r;
    if (in.kept[v]) kept_[At(r)] = 1;
  }
  made_.assign(in.num_ops, 0);
  std::vector<std::int32_t> row;
  double bytes = 0;
  std::int64_t sized = 0;
  for (std::size_t o = 0; o < in.num_ops; ++o) {
    row.clear();
    for (const std::int32_t v : in.reads[o]) row.push_back(root[At(v)]);
    for (const std::int32_t v : in.makes[o]) {
      row.push_back(root[At(v)]);
      made_[o] += in.bytes[At(v)];
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::int32_t s : row)
      if (in.bytes[At(s)] > 0) touches_.Push(s);
    touches_.EndRow();
    bytes += static_cast<double>(made_[o]);
    sized += made_[o] > 0 ? 1 : 0;
  }
  users_ = touches_.Transpose<std::int32_t>(in.num_values, At);
  scale_ = sized > 0 ? bytes / static_cast<double>(sized) : 1.0;
  place_.assign(in.num_ops, 0);
  mark_.assign(in.num_ops, 0);
  last_.assign(in.num_values, -1);
  cycle_length_ = std::clamp<std::int64_t>(200 * static_cast<std::int64_t>(in.num_ops), 20'000, 2'000'000);
  Load(start);
  best_.assign(start.begin(), start.end());
  best_peak_ = in_.resident_bytes + (moment_.empty() ? 0 : *std::max_element(moment_.begin(), moment_.end()));
  target_ = best_peak_ - in_.resident_bytes - 1;
  excess_ = 0;
  for (std::int32_t p = 0; p < static_cast<std::int32_t>(at_.size()); ++p) excess_ += Over(p);
}

void OrderSearch::Load(std::span<const std::int32_t> order) {
  at_.assign(order.begin(), order.end());
  for (std::size_t p = 0; p < at_.size(); ++p) place_[At(at_[p])] = static_cast<std::int32_t>(p);
  freed_.assign(in_.num_ops, 0);
  after_.assign(at_.size(), 0);
  moment_.assign(at_.size(), 0);
  for (std::size_t s = 0; s < in_.num_values; ++s) {
    if (users_[s].empty()) continue;
    last_[s] = LastOf(static_cast<std::int32_t>(s));
    if (!kept_[s]) freed_[At(last_[s])] += in_.bytes[s];
  }
  if (!at_.empty()) excess_ = Walk(0, static_cast<std::int32_t>(at_.size()) - 1);
}

std::int32_t OrderSearch::LastOf(std::int32_t storage) const {
  std::int32_t last = -1;
  for (const std::int32_t u : users_[At(storage)])
    if (last < 0 || place_[At(u)] > place_[At(last)]) last = u;
  return last;
}

double OrderSearch::Over(std::int32_t position) const {
  const std::int64_t m = moment_[At(position)];
  return m > target_ ? static_cast<double>(m - target_) : 0.0;
}

double OrderSearch::Walk(std::int32_t low, std::int32_t high) {
  std::int64_t now = low > 0 ? after_[At(low - 1)] : 0;
  double sum = 0;
  for (std::int32_t p = low; p <= high; ++p) {
    const auto op = At(at_[At(p)]);
    now += made_[op];
    moment_[At(p)] = now + in_.moment[op];
    now -= freed_[op];
    after_[At(p)] = now;
    sum += Over(p);
  }
  spent_ += 3 * (high - low + 1);
  return sum;
}

void OrderSearch::Place(std::int32_t low, std::int32_t high, std::span<const std::int32_t> ops) {
  for (std::int32_t p = low; p <= high; ++p) {
    const std::int32_t op = ops[At(p - low)];
    at_[At(p)] = op;
    place_[At(op)] = p;
  }
}

// Mostly where the profile is over the target.
std::int32_t OrderSearch::PickPosition() {
  const auto n = static_cast<std::int64_t>(at_.size());
  std::int32_t p = random_.Below32(n);
  if (random_.Chance(0.5)) return p;
  for (int tries = 0; tries < 20 && Over(p) <= 0; ++tries) p = random_.Below32(n);
  // Not only what runs there, but what runs around it: it decides what lies there.
  const std::int64_t q = p + (random_.Below(2) == 0 ? 1 : -1) * (random_.LogUniform(n) - 1);
  return q < 0 || q >= n ? p : static_cast<std::int32_t>(q);
}

// The op at `from` goes to `to`, with what hangs on it in between.
bool OrderSearch::Arrange(std::int32_t from, std::int32_t to) {
  group_.clear(), rest_.clear();
  const bool later = to > from;
  const std::int32_t step = later ? 1 : -1;
  const Csr<std::int32_t>& ties = later ? waits_ : wakes_;
  for (std::int32_t p = from; p != to + step; p += step) {
    const std::int32_t op = at_[At(p)];
    bool tied = p == from;
    for (const std::int32_t o : ties[At(op)]) {
      spent_ += 1;
      if (mark_[At(o)]) tied = true;
    }
    if (tied) mark_[At(op)] = 1;
    (tied ? group_ : rest_).push_back(op);
  }
  for (const std::int32_t op : group_) mark_[At(op)] = 0;
  if (rest_.empty()) return false;
  const std::int32_t low = std::min(from, to), high = std::max(from, to);
  old_.assign(at_.begin() + low, at_.begin() + high + 1);
  rest_.insert(rest_.end(), group_.begin(), group_.end());
  if (!later) std::reverse(rest_.begin(), rest_.end());
  Place(low, high, rest_);
  changed_.clear();
  for (const std::int32_t op : group_)
    for (const std::int32_t s : touches_[At(op)]) {
      const std::int32_t last = LastOf(s), before = last_[At(s)];
      spent_ += static_cast<std::int64_t>(users_[At(s)].size());
      if (last == before) continue;
      changed_.emplace_back(s, before);
      last_[At(s)] = last;
      if (kept_[At(s)]) continue;
      freed_[At(before)] -= in_.bytes[At(s)];
      freed_[At(last)] += in_.bytes[At(s)];
    }
  return true;
}

bool OrderSearch::Step(double temperature) {
  ++moves_;
  spent_ += 60;
  const auto n = static_cast<std::int32_t>(at_.size());
  const std::int32_t from = PickPosition();
  const std::int64_t room = random_.Chance(0.9) ? std::min<std::int64_t>(n, 200) : std::min<std::int64_t>(n, 5000);
  const std::int64_t to = from + (random_.Below(2) == 0 ? 1 : -1) * random_.LogUniform(room);
  if (to < 0 || to >= n) return false;
  const std::int32_t low = std::min(from, static_cast<std::int32_t>(to));
  const std::int32_t high = std::max(from, static_cast<std::int32_t>(to));
  double before = 0;
  for (std::int32_t p = low; p <= high; ++p) before += Over(p);
  if (!Arrange(from, static_cast<std::int32_t>(to))) return false;
  const double after = Walk(low, high);
  if (after - before <= temperature * random_.Exponential()) {
    excess_ += after - before;
    return true;
  }
  for (std::size_t i = changed_.size(); i-- > 0;) {
    const auto [s, last] = changed_[i];
    if (!kept_[At(s)]) {
      freed_[At(last_[At(s)])] -= in_.bytes[At(s)];
      freed_[At(last)] += in_.bytes[At(s)];
    }
    last_[At(s)] = last;
  }
  Place(low, high, old_);
  static_cast<void>(Walk(low, high));
  return false;
}

void OrderSearch::NoteBest() {
  const std::int64_t peak = *std::max_element(moment_.begin(), moment_.end());
  if (peak > target_) return;
  best_ = at_;
  best_peak_ = in_.resident_bytes + peak;
  target_ = peak - 1;
  excess_ = 0;
  for (std::int32_t p = 0; p < static_cast<std::int32_t>(at_.size()); ++p) excess_ += Over(p);
  spent_ += 3 * static_cast<std::int64_t>(at_.size());
}

void OrderSearch::Offer(std::span<const std::int32_t> order) {
  const SequenceFacts facts = EvaluateSequence(in_, order);
  if (!facts.valid || order.size() != in_.num_ops || facts.peak >= best_peak_) return;
  best_.assign(order.begin(), order.end());
  best_peak_ = facts.peak;
  target_ = best_peak_ - in_.resident_bytes - 1;
  Load(order);
  cycle_moves_ = cycle_length_;  // a new cycle, cold
}

void OrderSearch::Run(WorkBudget& work) {
  // Hot ends of the cycles, in mean sizes; the cold end is a hundredth.
  static constexpr double kHot[] = {0.3, 1.0, 0.1, 3.0, 0.3, 1.0};
  if (at_.size() < 2) return;
  std::int64_t seen = spent_;
  while (!work.Exhausted()) {
    if (cycle_moves_ >= cycle_length_) {
      ++cycle_;
      cycle_moves_ = 0;
      cycle_length_ += cycle_length_ / 4;
      // Every other cycle goes on from the best, the others from where the walk is.
      if (cycle_ % 2 == 0) Load(best_);
    }
    const double done = static_cast<double>(cycle_moves_) / static_cast<double>(cycle_length_);
    const double temperature = scale_ * kHot[static_cast<std::size_t>(cycle_) % std::size(kHot)] * std::pow(0.01, done);
    for (int i = 0; i < 64; ++i) {
      ++cycle_moves_;
      if (Step(temperature) && excess_ < 0.5) NoteBest();
    }
    work.Spend(spent_ - seen);
    seen = spent_;
  }
}

}  // namespace ebb
