// SPDX-License-Identifier: Apache-2.0
//
// The state of an eviction (eviction.cpp): what may go, what pays and what runs next all read it. Of no use elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "heuristics/eviction.hpp"

namespace ebb::eviction {

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
  Evictor(const Instance& in, const EvictionParams& params, WorkBudget& work);

  EvictionResult Run();

  // Before anything has run: nothing is missing, so only the prices decide what stays.
  std::vector<double> RemakeCosts(const GapTable& table);

 private:
  // Does anything the op makes have to wait in memory for longer than until the next row?
  [[nodiscard]] bool Waits(std::size_t op) const;

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
  std::int32_t NextWanted(std::int32_t v, int depth, int& visits);
  std::int32_t NextWanted(const Storage& st);

  // What making v again at about row q takes: its op, and having the op's inputs there.
  double RemakeCost(std::int32_t v, std::int32_t q, int depth);
  // What having u at row q takes beyond what the prices have planned for it: nothing where it stays over q anyway; else
  // the cheaper of holding it and making it again.
  double AccessCost(std::int32_t u, std::int32_t q, int depth);
  double Key(const Storage& st);

  // ---- what may go
  [[nodiscard]] bool MayRepeat(std::int32_t op) const {
    return in_.may_repeat[static_cast<std::size_t>(op)] && runs_[static_cast<std::size_t>(op)] < most_runs_;
  }
  // Can v be made again from what is there, once storage `gone` is not?
  bool CanRemake(std::int32_t v, std::int32_t gone, int& visits);
  // v is missing and wanted, or something that is wanted hangs on it: so does it on what v's maker reads. Marks stay
  // until the next refresh, so hung_ may say yes where it was true a while ago. (A forward search for each question,
  // with a limit, took the time of everything else, and with the limit met nothing of a finished microbatch could go.)
  void MarkNeeded(std::int32_t v);
  void NoteMissing(std::int32_t v);
  void RefreshHung();
  bool MayGo(std::int32_t s);

  // Makes room for `wanted` more bytes as far as anything may go.
  void MakeRoom(std::int64_t wanted);
  void Unpark() {
    Offer(parked_.top().storage);
    parked_.pop();
  }
  void DropUntil(std::int64_t wanted);

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
  bool ServeRow(std::int32_t op);

  // What the end wants and misses.
  bool ServeEnd();

  // Makes the missing ones of `values`, with all that they miss in turn. False where that is impossible. An op that
  // takes over a storage may leave a later one short; that one is left out, and the caller goes round again.
  bool RunClosure(std::span<const std::int32_t> values);

  void Execute(std::int32_t op);

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

}  // namespace ebb::eviction
