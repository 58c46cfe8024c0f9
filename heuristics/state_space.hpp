// SPDX-License-Identifier: Apache-2.0
//
// The states between two executions, for exact search on small graphs (state_search.hpp): which ops have run, which
// values are there and which of them share a storage, and what a cap or a staged order needs to remember.
//
// Two rules keep the space small without losing an optimum:
//
//  S1 nothing is dropped before it must be. What is there is never in the way except for its bytes, so drops happen
//  only
//     just before an execution that does not fit, and then a set of storages that is minimal by inclusion.
//  S2 what cannot matter any more is forgotten: a value matters under the executed ops E if it is kept, if a reader has
//     not run, or if a reader may run again and makes a value that matters.
//
// And one of order: in free order an op that leaves nothing behind that takes room (a sink, a free view) runs as soon
// as it fits, since a later first execution of it could be left out of any continuation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/status.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

using StateWord = std::uint64_t;

// A state as words: executed ops, values there, and, where the instance needs them, bytes for storages, runs and the
// last repeat's rank. Equal states have equal words.
struct SearchState {
  std::vector<StateWord> executed, alive;
  std::vector<std::uint8_t> storage;  // per tied value: the first tied value in the same storage; kDead
  std::vector<std::uint8_t> repeats;  // per op, under a cap
  std::int32_t last_repeat = -1;      // staged: rank of the latest repeat in this stage
};

class StateSpace {
 public:
  // `max_executions` 0: no cap.
  StateSpace(const Instance& instance, std::int64_t budget, OrderMode mode, std::int32_t max_executions);

  struct WordsHash {
    std::size_t operator()(const std::vector<StateWord>& words) const;
  };

  // False where the instance is too large for the packed form; then nothing else may be called.
  [[nodiscard]] bool supported() const { return supported_; }
  [[nodiscard]] std::size_t packed_words() const { return packed_words_; }
  [[nodiscard]] std::size_t executed_words() const { return op_words_; }

  [[nodiscard]] SearchState Start() const;
  void Pack(const SearchState& state, StateWord* out) const;
  void Unpack(const StateWord* in, SearchState& state) const;
  [[nodiscard]] bool IsGoal(const SearchState& state) const;

  // Values that are there: visit(value, a value that names its storage).
  template <class Visit>
  void ForEachHeld(const SearchState& state, Visit visit) const {
    for (std::size_t v = 0; v < in_.num_values; ++v) {
      if (!Test(state.alive, v)) continue;
      const std::int32_t place = tied_index_[v];
      visit(static_cast<std::int32_t>(v),
            place < 0 ? static_cast<std::int32_t>(v) : tied_[state.storage[static_cast<std::size_t>(place)]]);
    }
  }

  // What every continuation must still pay: first executions left, and the ops that must run again because a value that
  // is needed is gone. `possible` false: some needed value can never be made again.
  struct Remaining {
    bool possible = true;
    bool overflow = false;  // the duration leaves 63 bits
    std::int64_t duration = 0;
    std::int32_t executions = 0;
  };
  [[nodiscard]] Remaining LowerBound(const SearchState& state);

  // Every useful next state: visit(op, state). Returns early when visit returns false.
  template <class Visit>
  void Successors(const SearchState& state, Visit visit);

  // Is everything that `b` allows allowed by `a` at no higher cost? Both packed, with the same executed ops, which are
  // left out: the pointers are to the words after executed_words().
  [[nodiscard]] bool Covers(const StateWord* a, const StateWord* b) const;

  // Work done since the last call, in ticks.
  [[nodiscard]] std::int64_t TakeTicks();

 private:
  static constexpr std::uint8_t kDead = 255;
  static bool Test(const std::vector<StateWord>& bits, std::size_t i) { return (bits[i / 64] >> (i % 64)) & 1; }
  static void Set(std::vector<StateWord>& bits, std::size_t i) { bits[i / 64] |= StateWord{1} << (i % 64); }
  static void Clear(std::vector<StateWord>& bits, std::size_t i) { bits[i / 64] &= ~(StateWord{1} << (i % 64)); }

  [[nodiscard]] bool MayRun(const SearchState& s, std::size_t op) const;
  [[nodiscard]] bool RepeatUseful(const SearchState& s, std::size_t op) const;
  [[nodiscard]] bool LeavesNothing(const SearchState& s, std::size_t op);
  [[nodiscard]] bool SharesStorage(const SearchState& s, std::size_t value) const;
  // Is `other` (alive) in the same storage as `value` (alive)?
  [[nodiscard]] bool SameStorage(const SearchState& s, std::size_t value, std::size_t other) const;
  void Kill(SearchState& s, std::size_t value) const;         // one name
  void KillStorage(SearchState& s, std::size_t value) const;  // all names in its storage
  void Canonicalize(SearchState& s) const;

  // Prepares an execution of op: names it replaces are gone, and over_ is what does not fit. False where it never fits.
  bool Prepare(const SearchState& s, std::size_t op);
  void Finish(SearchState& s, std::size_t op);
  const std::vector<StateWord>& Relevant(const std::vector<StateWord>& executed);

  const Instance& in_;
  const std::int64_t room_;  // budget less graph inputs
  const OrderMode mode_;
  const std::int32_t cap_;
  bool supported_ = true;
  std::size_t op_words_ = 0, value_words_ = 0, packed_words_ = 0;
  std::vector<std::int32_t> tied_index_;     // value -> place in SearchState::storage; -1: a storage of its own always
  std::vector<std::int32_t> tied_;           // place -> value
  std::vector<std::int64_t> storage_bytes_;  // of the storage a value lives in
  std::vector<std::uint8_t> is_consumed_;    // some op overwrites it

  boost::unordered_flat_map<std::vector<StateWord>, std::vector<StateWord>, WordsHash> relevant_;

  // Scratch of Successors.
  SearchState base_, next_;
  std::int64_t over_ = 0;
  struct Droppable {
    std::int64_t bytes;
    std::int32_t value;
  };
  std::vector<Droppable> droppable_;
  std::vector<std::int64_t> suffix_;  // droppable bytes from here on
  std::vector<std::int32_t> chosen_;
  std::vector<std::uint8_t> need_;  // LowerBound: op must run again
  std::vector<std::int32_t> stack_;
  std::int64_t ticks_ = 0;
};

template <class Visit>
void StateSpace::Successors(const SearchState& state, Visit visit) {
  // A candidate: all minimal sets of drops that make it fit, in a fixed order.
  const auto expand = [&](std::size_t op) -> bool {
    if (!Prepare(state, op)) return true;
    if (over_ <= 0) {
      next_ = base_;
      Finish(next_, op);
      return visit(static_cast<std::int32_t>(op), next_);
    }
    // Depth first over droppable_ in descending order of bytes: a set that reaches over_ with its last, smallest member
    // is minimal, and every minimal set is met so.
    chosen_.clear();
    std::size_t at = 0;
    std::int64_t freed = 0;
    for (;;) {
      ticks_ += 4;
      if (at < droppable_.size() && freed + suffix_[at] >= over_) {
        chosen_.push_back(static_cast<std::int32_t>(at));
        freed += droppable_[at].bytes;
        ++at;
        if (freed < over_) continue;
        next_ = base_;
        for (const std::int32_t c : chosen_)
          KillStorage(next_, static_cast<std::size_t>(droppable_[static_cast<std::size_t>(c)].value));
        Finish(next_, op);
        if (!visit(static_cast<std::int32_t>(op), next_)) return false;
      } else if (chosen_.empty()) {
        return true;
      }
      const auto last = static_cast<std::size_t>(chosen_.back());
      chosen_.pop_back();
      freed -= droppable_[last].bytes;
      at = last + 1;
    }
  };

  if (mode_ == OrderMode::kFree) {
    for (std::size_t op = 0; op < in_.num_ops; ++op) {
      if (Test(state.executed, op) || !MayRun(state, op) || !LeavesNothing(state, op)) continue;
      if (!Prepare(state, op) || over_ > 0) continue;
      expand(op);
      return;
    }
    for (std::size_t op = 0; op < in_.num_ops; ++op)
      if (!Test(state.executed, op) && MayRun(state, op) && !expand(op)) return;
  } else {
    for (const std::int32_t op : in_.order) {
      if (Test(state.executed, static_cast<std::size_t>(op))) continue;
      if (MayRun(state, static_cast<std::size_t>(op)) && !expand(static_cast<std::size_t>(op))) return;
      break;
    }
  }
  for (std::size_t op = 0; op < in_.num_ops; ++op)
    if (Test(state.executed, op) && MayRun(state, op) && RepeatUseful(state, op) && !expand(op)) return;
}

}  // namespace ebb
