// SPDX-License-Identifier: Apache-2.0
//
// How it works. Storages stay as long as there is room: nothing is dropped before its bytes are needed, and a value
// without a further use is simply the first to go (until then it may serve a repeat). Eviction takes the best ratio of
// gain to cost. Both fall as time goes on, since the next use comes nearer, so a heap with keys worked out at the
// storage's last use and corrected when they surface is exact.
//
// Repeats for one reader: the closure of what it misses, in rank order, which keeps the staged form. Values made on the
// way are pinned until the pending ops have read them and then are storages like any other; what the next readers need
// thus stays, unless something better is to go. (Dropping them at once, as naive rounding of the flow does, makes the
// same burst again for each reader: 45 % where the bound is 8.7 %.)
//
// What may not be made again (non-recomputable makers, overwritten inputs, or missing something of that kind) is never
// evicted while a reader, or a value that is missing and still wanted, depends on it.
//
// Dropped: cost / (size * distance) over classes of heaps with recursive repeats on the spot (the usual form of DTR's
// rule with known next uses). It threw away values that only repeats still needed: llama_7b at 0.7 of its peak 284 %
// where this has 1.4 %, densenet201 at 0.3 139 % and over the budget where this has 13.4 %.
//
// What runs next is here; what pays in eviction_worth.cpp, what may go in eviction_room.cpp.
#include "heuristics/eviction.hpp"

#include <algorithm>

#include "heuristics/evictor.hpp"

namespace ebb {
namespace eviction {

Evictor::Evictor(const Instance& in, const EvictionParams& params, WorkBudget& work)
    : in_(in),
      work_(work),
      room_(params.budget - in.resident_bytes),
      most_runs_(params.max_executions > 0 ? params.max_executions : kNever),
      most_executions_(kThrash * in.num_ops + 1000) {
  const std::span<const double> price = params.price;
  const std::size_t n = in.num_ops;
  earned_.assign(n + 2, 0.0);
  for (std::size_t t = 0; t < n; ++t) earned_[t + 1] = earned_[t] + (price.empty() ? 0.0 : price[t]);
  earned_[n + 1] = earned_[n];
  double total_bytes = 1, total_duration = 1;
  for (const std::int64_t b : in.bytes) total_bytes += static_cast<double>(b);
  for (const std::int64_t d : in.duration) total_duration += static_cast<double>(d);
  mean_duration_ = total_duration / static_cast<double>(n + 1);
  // Distance alone breaks ties between what the prices call equal, and decides where there are none.
  per_byte_row_ =
      1e-3 * mean_duration_ / (total_bytes / static_cast<double>(in.num_values + 1)) / static_cast<double>(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (!in.may_repeat[i] && Waits(i)) unremakeable_ = true;
    if (!in.consumes[i].empty()) unremakeable_ = true;
  }
  if (params.max_executions > 0) unremakeable_ = true;
  storage_of_.assign(in.num_values, kNone);
  next_in_storage_.assign(in.num_values, kNone);
  use_at_.assign(in.num_values, 0);
  wanted_.assign(in.num_values, 0);
  runs_.assign(n, 0);
  in_closure_.assign(n, 0);
  hung_.assign(unremakeable_ ? in.num_values : 0, 0);
}

EvictionResult Evictor::Run() {
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.maker[v] == kNone) Open(static_cast<std::int32_t>(v), 0);
  EvictionResult out;
  for (std::size_t i = 0; i < in_.num_ops; ++i)
    if (work_.Exhausted() || !ServeRow(in_.order[i])) return out;
  if (!ServeEnd()) return out;
  const SequenceFacts facts = EvaluateSequence(in_, sequence_);
  work_.Spend(static_cast<Ticks>(sequence_.size()) * 50);
  if (!facts.valid) return out;
  out.staged = FollowsOrder(in_, sequence_, true, true);
  out.sequence = std::move(sequence_);
  out.duration = facts.duration;
  out.peak = facts.peak;
  return out;
}

bool Evictor::Waits(std::size_t op) const {
  const std::int32_t next = in_.rank[op] + 1;
  for (const std::int32_t v : in_.makes[op]) {
    const auto i = static_cast<std::size_t>(v);
    if (in_.bytes[i] == 0 && in_.carrier[i] < 0) continue;  // is never evicted
    if (in_.kept[i]) return true;
    for (const std::int32_t r : in_.readers[i])
      if (RankOf(r) != next) return true;
  }
  return false;
}

bool Evictor::ServeRow(std::int32_t op) {
  RefreshHung();
  Want(op, 1);
  for (int round = 0; !Ready(op); ++round)
    if (round == kRounds || !RunClosure(in_.reads[static_cast<std::size_t>(op)])) return false;
  Execute(op);
  Want(op, -1);
  ++row_;
  OfferReads(op);
  OfferMakes(op);
  return true;
}

bool Evictor::ServeEnd() {
  std::vector<std::int32_t> kept;
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.kept[v]) {
      kept.push_back(static_cast<std::int32_t>(v));
      ++wanted_[v];
    }
  const auto missing = [&](std::int32_t v) { return storage_of_[static_cast<std::size_t>(v)] == kNone; };
  for (int round = 0; std::any_of(kept.begin(), kept.end(), missing); ++round)
    if (round == kRounds || !RunClosure(kept)) return false;
  return true;
}

bool Evictor::RunClosure(std::span<const std::int32_t> values) {
  closure_.clear();
  stack_.clear();
  const auto push = [&](std::int32_t v) {
    if (storage_of_[static_cast<std::size_t>(v)] == kNone) stack_.push_back(in_.maker[static_cast<std::size_t>(v)]);
  };
  for (const std::int32_t v : values) push(v);
  bool possible = true;
  while (!stack_.empty() && possible) {
    const std::int32_t m = stack_.back();
    stack_.pop_back();
    possible = m != kNone && MayRepeat(m) && runs_[static_cast<std::size_t>(m)] > 0 &&
               sequence_.size() + closure_.size() < most_executions_;
    if (!possible || in_closure_[static_cast<std::size_t>(m)]) continue;
    in_closure_[static_cast<std::size_t>(m)] = 1;
    closure_.push_back(m);
    work_.Spend(20);
    for (const std::int32_t v : in_.reads[static_cast<std::size_t>(m)]) push(v);
  }
  for (const std::int32_t m : closure_) in_closure_[static_cast<std::size_t>(m)] = 0;
  if (!possible) return false;
  std::sort(closure_.begin(), closure_.end(), [&](std::int32_t a, std::int32_t b) { return RankOf(a) < RankOf(b); });
  for (const std::int32_t m : closure_) Want(m, 1);
  for (const std::int32_t m : closure_) {
    const bool ready = Ready(m);
    if (ready) Execute(m);
    Want(m, -1);
    OfferReads(m);
    if (ready) OfferMakes(m);
  }
  return true;
}

void Evictor::Execute(std::int32_t op) {
  const auto i = static_cast<std::size_t>(op);
  std::int64_t wanted = in_.moment[i];
  for (const std::int32_t v : in_.makes[i]) {
    Leave(v);
    wanted += in_.bytes[static_cast<std::size_t>(v)];
  }
  MakeRoom(wanted);
  work_.Spend(40);
  sequence_.push_back(op);
  ++runs_[i];
  for (const std::int32_t v : in_.consumes[i])
    if (const std::int32_t s = storage_of_[static_cast<std::size_t>(v)]; s != kNone) Drop(s);
  for (const std::int32_t v : in_.makes[i]) {
    const std::int32_t carrier = in_.carrier[static_cast<std::size_t>(v)];
    if (carrier == kNone)
      Open(v, in_.bytes[static_cast<std::size_t>(v)]);
    else
      Join(v, storage_of_[static_cast<std::size_t>(carrier)]);
  }
}

}  // namespace eviction

std::vector<double> RemakeCosts(const Instance& instance, const GapTable& table, std::span<const double> price) {
  WorkBudget work;
  return eviction::Evictor(instance, {0, 0, price}, work).RemakeCosts(table);
}

EvictionResult Evict(const Instance& instance, const EvictionParams& params, WorkBudget& work) {
  return eviction::Evictor(instance, params, work).Run();
}

}  // namespace ebb
