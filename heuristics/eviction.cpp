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
// Over four hundred lines, because what may go, what pays and what runs next all read the same state of the moment.
#include "heuristics/eviction.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace ebb {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

struct Storage {
  std::int64_t bytes = 0;
  std::int32_t first_value = kNone;  // values living in it, chained by next_in_storage_
  bool alive = true;
  std::uint8_t refusals = 0;  // how often it could not go
};

// A storage that could not go, and when to ask again. Asked for at every execution such storages took all the time: a
// transformer with dropout, 54,000 ops: no plan in 100 s.
struct Parked {
  std::int32_t until, storage;
  bool operator<(const Parked& o) const { return until > o.until || (until == o.until && storage > o.storage); }
};

struct Candidate {
  double key;
  std::int32_t storage;
  bool operator<(const Candidate& o) const { return key < o.key || (key == o.key && storage > o.storage); }
};

class Evictor {
 public:
  Evictor(const Instance& in, const EvictionParams& params, WorkBudget& work)
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

  EvictionResult Run() {
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

  // Before anything has run: nothing is missing, so only the prices decide what stays.
  std::vector<double> RemakeCosts(const GapTable& table) {
    std::vector<double> costs;
    costs.reserve(table.gaps.size());
    for (const Gap& g : table.gaps) {
      const auto q = g.reader == kNone ? static_cast<std::int32_t>(in_.num_ops) : RankOf(g.reader);
      costs.push_back(RemakeCost(g.value, q, kCostDepth));
    }
    return costs;
  }

 private:
  // Does anything the op makes have to wait in memory for longer than until the next row?
  [[nodiscard]] bool Waits(std::size_t op) const {
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

  // ---- uses
  // The next row at which a first execution reads the value; num_ops for the end; kNever.
  std::int32_t NextUse(std::int32_t v) {
    const auto i = static_cast<std::size_t>(v);
    const auto readers = in_.readers[i];
    std::int32_t& at = use_at_[i];
    while (at < static_cast<std::int32_t>(readers.size()) && RankOf(readers[static_cast<std::size_t>(at)]) < row_) ++at;
    if (at < static_cast<std::int32_t>(readers.size())) return RankOf(readers[static_cast<std::size_t>(at)]);
    return in_.kept[i] ? static_cast<std::int32_t>(in_.num_ops) : kNever;
  }
  [[nodiscard]] std::int32_t RankOf(std::int32_t op) const { return in_.rank[static_cast<std::size_t>(op)]; }

  // ---- storages
  void Open(std::int32_t v, std::int64_t bytes) {
    Leave(v);
    storages_.push_back({bytes, kNone, true, 0});
    resident_ += bytes;
    Join(v, static_cast<std::int32_t>(storages_.size()) - 1);
  }
  void Join(std::int32_t v, std::int32_t s) {
    Storage& st = storages_[static_cast<std::size_t>(s)];
    next_in_storage_[static_cast<std::size_t>(v)] = st.first_value;
    st.first_value = v;
    storage_of_[static_cast<std::size_t>(v)] = s;
  }
  // The value's name goes elsewhere; a storage without names is gone.
  void Leave(std::int32_t v) {
    std::int32_t& s = storage_of_[static_cast<std::size_t>(v)];
    if (s == kNone) return;
    Storage& st = storages_[static_cast<std::size_t>(s)];
    std::int32_t* link = &st.first_value;
    while (*link != v) link = &next_in_storage_[static_cast<std::size_t>(*link)];
    *link = next_in_storage_[static_cast<std::size_t>(v)];
    if (st.first_value == kNone && st.alive) {
      st.alive = false;
      resident_ -= st.bytes;
    }
    s = kNone;
  }
  void Drop(std::int32_t s) {
    Storage& st = storages_[static_cast<std::size_t>(s)];
    const std::int32_t first = st.first_value;
    for (std::int32_t v = first; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)])
      storage_of_[static_cast<std::size_t>(v)] = kNone;
    for (std::int32_t v = first; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)]) NoteMissing(v);
    st.first_value = kNone;
    st.alive = false;
    resident_ -= st.bytes;
  }
  void Offer(std::int32_t s) {
    Storage& st = storages_[static_cast<std::size_t>(s)];
    if (st.alive && st.bytes > 0) heap_.push({Key(st), s});
  }

  // ---- what pays
  [[nodiscard]] double Earned(std::int32_t from, std::int32_t to) const {
    return from >= to ? 0.0 : earned_[static_cast<std::size_t>(to)] - earned_[static_cast<std::size_t>(from)];
  }
  // The next row at which the value is wanted: by its next reader, or by the repeat of an op that reads it, made for
  // something that is missing and wanted. The second counts as well as the first: a value that only repeats still need
  // must not be thrown away as dead (llama_7b: 206 % instead of a few).
  std::int32_t NextWanted(std::int32_t v, int depth, int& visits) {
    std::int32_t next = NextUse(v);
    if (depth == 0) return next;
    for (const std::int32_t op : in_.readers[static_cast<std::size_t>(v)]) {
      if (runs_[static_cast<std::size_t>(op)] == 0) break;  // by rank: those behind it have not run either
      if (!MayRepeat(op)) continue;
      for (const std::int32_t w : in_.makes[static_cast<std::size_t>(op)]) {
        if (storage_of_[static_cast<std::size_t>(w)] != kNone) continue;
        if (--visits < 0) return next;
        next = std::min(next, NextWanted(w, depth - 1, visits));
      }
    }
    return next;
  }
  std::int32_t NextWanted(const Storage& st) {
    std::int32_t next = kNever;
    for (std::int32_t v = st.first_value; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)]) {
      int visits = kWantedVisits;
      next = std::min(next, NextWanted(v, kWantedDepth, visits));
      work_.Spend(2 + 2 * (kWantedVisits - visits));
    }
    return next;
  }

  // What making v again at about row q takes: its op, and having the op's inputs there.
  double RemakeCost(std::int32_t v, std::int32_t q, int depth) {
    const std::int32_t op = in_.maker[static_cast<std::size_t>(v)];
    if (op == kNone) return std::numeric_limits<double>::infinity();
    double cost = static_cast<double>(in_.duration[static_cast<std::size_t>(op)]);
    work_.Spend(4);
    if (depth > 0)
      for (const std::int32_t u : in_.reads[static_cast<std::size_t>(op)]) cost += AccessCost(u, q, depth - 1);
    return cost;
  }
  // What having u at row q takes beyond what the prices have planned for it: nothing where it stays over q anyway; else
  // the cheaper of holding it and making it again.
  double AccessCost(std::int32_t u, std::int32_t q, int depth) {
    const auto i = static_cast<std::size_t>(u);
    if (in_.maker[i] == kNone) return 0.0;
    const auto readers = in_.readers[i];
    const auto after = std::lower_bound(readers.begin(), readers.end(), q,
                                        [&](std::int32_t op, std::int32_t row) { return RankOf(op) < row; });
    if (after != readers.end() && RankOf(*after) == q) return 0.0;
    const std::int32_t next = after != readers.end() ? RankOf(*after)
                              : in_.kept[i]          ? static_cast<std::int32_t>(in_.num_ops)
                                                     : kNever;
    const std::int32_t before = after == readers.begin() ? RankOf(in_.maker[i]) : RankOf(*(after - 1));
    const double bytes = static_cast<double>(in_.bytes[i]);
    const bool missing = storage_of_[i] == kNone && before < row_;
    const double own = static_cast<double>(in_.duration[static_cast<std::size_t>(in_.maker[i])]);
    if (next != kNever) {
      if (!missing && bytes * Earned(before + 1, next) <= own) return 0.0;  // the prices keep it
      return std::min(missing ? own + bytes * Earned(q, next) : bytes * Earned(q, next), RemakeCost(u, q, depth));
    }
    const double again = RemakeCost(u, q, depth);
    return missing ? again : std::min(again, bytes * Earned(std::max(before, row_) + 1, q));
  }
  double Key(const Storage& st) {
    const std::int32_t q = NextWanted(st);
    if (q == kNever) return std::numeric_limits<double>::infinity();
    const double bytes = static_cast<double>(st.bytes);
    const double gain = bytes * Earned(row_ + 1, q) + bytes * per_byte_row_ * static_cast<double>(q - row_);
    double cost = 1e-3 * mean_duration_;
    for (std::int32_t v = st.first_value; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)])
      cost += RemakeCost(v, q, kCostDepth);
    return gain / cost;
  }

  // ---- what may go
  [[nodiscard]] bool MayRepeat(std::int32_t op) const {
    return in_.may_repeat[static_cast<std::size_t>(op)] && runs_[static_cast<std::size_t>(op)] < most_runs_;
  }
  // Can v be made again from what is there, once storage `gone` is not?
  bool CanRemake(std::int32_t v, std::int32_t gone, int& visits) {
    if (--visits < 0) return false;
    const std::int32_t op = in_.maker[static_cast<std::size_t>(v)];
    if (op == kNone || !MayRepeat(op)) return false;
    for (const std::int32_t u : in_.reads[static_cast<std::size_t>(op)]) {
      const std::int32_t s = storage_of_[static_cast<std::size_t>(u)];
      if ((s == kNone || s == gone) && !CanRemake(u, gone, visits)) return false;
    }
    return true;
  }
  // v is missing and wanted, or something that is wanted hangs on it: so does it on what v's maker reads. Marks stay
  // until the next refresh, so hung_ may say yes where it was true a while ago. (A forward search for each question,
  // with a limit, took the time of everything else, and with the limit met nothing of a finished microbatch could go.)
  void MarkNeeded(std::int32_t v) {
    stack_of_values_.assign(1, v);
    while (!stack_of_values_.empty()) {
      const std::int32_t maker = in_.maker[static_cast<std::size_t>(stack_of_values_.back())];
      stack_of_values_.pop_back();
      if (maker == kNone) continue;
      for (const std::int32_t u : in_.reads[static_cast<std::size_t>(maker)]) {
        if (hung_[static_cast<std::size_t>(u)]) continue;
        hung_[static_cast<std::size_t>(u)] = 1;
        work_.Spend(4);
        if (storage_of_[static_cast<std::size_t>(u)] == kNone) stack_of_values_.push_back(u);
      }
    }
  }
  void NoteMissing(std::int32_t v) {
    if (unremakeable_ && (hung_[static_cast<std::size_t>(v)] || NextUse(v) != kNever)) MarkNeeded(v);
  }
  void RefreshHung() {
    if (!unremakeable_ || row_ < refresh_at_) return;
    refresh_at_ = row_ + std::max<std::int32_t>(64, static_cast<std::int32_t>(in_.num_ops / 128));
    std::fill(hung_.begin(), hung_.end(), 0);
    work_.Spend(static_cast<Ticks>(in_.num_values));
    for (std::size_t v = 0; v < in_.num_values; ++v) {
      const std::int32_t maker = in_.maker[v];
      if (maker == kNone || runs_[static_cast<std::size_t>(maker)] == 0 || storage_of_[v] != kNone) continue;
      if (NextUse(static_cast<std::int32_t>(v)) != kNever) MarkNeeded(static_cast<std::int32_t>(v));
    }
  }
  bool MayGo(std::int32_t s) {
    if (!unremakeable_) return true;
    Storage& st = storages_[static_cast<std::size_t>(s)];
    for (std::int32_t v = st.first_value; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)]) {
      int visits = kVisits;
      const bool can = CanRemake(v, s, visits);
      work_.Spend(kVisits - visits);
      if (can) continue;
      if (NextUse(v) != kNever) return false;
      if (hung_[static_cast<std::size_t>(v)]) return false;
    }
    return true;
  }

  // Makes room for `wanted` more bytes as far as anything may go.
  void MakeRoom(std::int64_t wanted) {
    while (!parked_.empty() && parked_.top().until <= row_) Unpark();
    DropUntil(wanted);
    if (resident_ + wanted <= room_ || parked_.empty() || row_ < desperate_at_) return;
    while (!parked_.empty()) Unpark();
    const std::int64_t before = resident_;
    DropUntil(wanted);
    patience_ = resident_ < before ? 1 : std::min(2 * patience_, 1024);
    desperate_at_ = row_ + patience_;
  }
  void Unpark() {
    Offer(parked_.top().storage);
    parked_.pop();
  }
  void DropUntil(std::int64_t wanted) {
    set_aside_.clear();
    while (resident_ + wanted > room_ && !heap_.empty()) {
      const Candidate top = heap_.top();
      heap_.pop();
      work_.Spend(20);
      Storage& st = storages_[static_cast<std::size_t>(top.storage)];
      if (!st.alive) continue;
      if (IsPinned(st)) {
        set_aside_.push_back(top);
        continue;
      }
      const double key = Key(st);
      if (!heap_.empty() && key < heap_.top().key) {
        heap_.push({key, top.storage});
        continue;
      }
      if (!MayGo(top.storage)) {
        parked_.push({row_ + (8 << std::min(static_cast<int>(st.refusals), 8)), top.storage});
        st.refusals = static_cast<std::uint8_t>(std::min(st.refusals + 1, 200));
        continue;
      }
      Drop(top.storage);
    }
    for (const Candidate& c : set_aside_) heap_.push(c);
  }

  // ---- running
  // wanted_[v]: pending ops of this serving that read v. What they read stays.
  [[nodiscard]] bool IsPinned(const Storage& st) const {
    for (std::int32_t v = st.first_value; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)])
      if (wanted_[static_cast<std::size_t>(v)] > 0) return true;
    return false;
  }
  void Want(std::int32_t op, std::int32_t by) {
    for (const std::int32_t v : in_.reads[static_cast<std::size_t>(op)]) wanted_[static_cast<std::size_t>(v)] += by;
  }
  void OfferReads(std::int32_t op) {
    for (const std::int32_t v : in_.reads[static_cast<std::size_t>(op)])
      if (const std::int32_t s = storage_of_[static_cast<std::size_t>(v)]; s != kNone) Offer(s);
  }
  void OfferMakes(std::int32_t op) {
    for (const std::int32_t v : in_.makes[static_cast<std::size_t>(op)])
      if (const std::int32_t s = storage_of_[static_cast<std::size_t>(v)]; s != kNone) Offer(s);
  }
  [[nodiscard]] bool Ready(std::int32_t op) const {
    const auto reads = in_.reads[static_cast<std::size_t>(op)];
    return std::all_of(reads.begin(), reads.end(),
                       [&](std::int32_t v) { return storage_of_[static_cast<std::size_t>(v)] != kNone; });
  }

  // The first execution of the row's op, after what it misses.
  bool ServeRow(std::int32_t op) {
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

  // What the end wants and misses.
  bool ServeEnd() {
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

  // Makes the missing ones of `values`, with all that they miss in turn. False where that is impossible. An op that
  // takes over a storage may leave a later one short; that one is left out, and the caller goes round again.
  bool RunClosure(std::span<const std::int32_t> values) {
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

  void Execute(std::int32_t op) {
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

  // On layered graphs with little room each repeat throws out what the next one needs; nothing good comes of that.
  static constexpr std::size_t kThrash = 5;
  static constexpr int kCostDepth = 3;
  static constexpr int kWantedDepth = 3;
  static constexpr int kWantedVisits = 24;
  static constexpr int kVisits = 256;
  static constexpr int kRounds = 64;

  const Instance& in_;
  WorkBudget& work_;
  std::int64_t room_;
  std::int32_t most_runs_;
  std::size_t most_executions_;
  std::int64_t resident_ = 0;
  double mean_duration_ = 1, per_byte_row_ = 0;
  bool unremakeable_ = false;  // some value cannot be made again, or not always
  std::int32_t row_ = 0;
  std::vector<double> earned_;  // prefix sums of prices
  std::vector<Storage> storages_;
  std::vector<std::int32_t> storage_of_, next_in_storage_, use_at_, runs_;
  std::vector<std::uint8_t> in_closure_;
  std::vector<std::int32_t> closure_, stack_, sequence_, wanted_;
  std::vector<std::uint8_t> hung_;  // per value, where unremakeable_: something missing and wanted may hang on it
  std::vector<std::int32_t> stack_of_values_;
  std::int32_t refresh_at_ = 0;
  std::vector<Candidate> set_aside_;
  std::priority_queue<Parked> parked_;
  std::int32_t desperate_at_ = 0, patience_ = 1;  // rows until all parked ones are asked again for want of others
  std::priority_queue<Candidate> heap_;
};

}  // namespace

std::vector<double> RemakeCosts(const Instance& instance, const GapTable& table, std::span<const double> price) {
  WorkBudget work;
  return Evictor(instance, {0, 0, price}, work).RemakeCosts(table);
}

EvictionResult Evict(const Instance& instance, const EvictionParams& params, WorkBudget& work) {
  return Evictor(instance, params, work).Run();
}

}  // namespace ebb
