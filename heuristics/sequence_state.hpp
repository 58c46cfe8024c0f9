// SPDX-License-Identifier: Apache-2.0
//
// A sequence of executions that the local search changes step by step, with the memory profile always at hand.
//
// Events. An event is one execution (node). Nodes sit in a row of slots with holes between them (a packed-memory array:
// Bender, Demaine, Farach-Colton 2000), so that "earlier" is one comparison of slots, and an insertion moves at most
// the few neighbours up to the next hole of its block; a full block is spread out over a window of blocks. The profile
// (excess_profile.hpp) has one number per slot: an event's resident bytes less the budget; a hole holds what is
// resident across it, kHole lower.
//
// Bindings. Every read is served by the latest earlier execution of the maker, so only "end" is kept: per execution and
// value the last event that needs the storage it opened. The executions of one op are a linked list in sequence order.
//
// Transactions. Insert and Erase change bindings at once, but note the changes of the profile as (after event a, up to
// event b, bytes) only; ExcessAfter() sums up what they would do without writing, Commit() writes, Rollback() takes the
// bindings back. Most moves of an annealing are refused, so reading is what must be cheap. An erased event keeps its
// slot until the commit: nothing ever has to find its way back.
//
// Way back. From Mark() on, commits are noted (sequence_journal.cpp); ReturnToMark() takes them back one by one, at the
// price of the moves, where loading the marked sequence anew would cost a pass over all of it.
//
// Rules kept by construction: every read is served (Insert and Erase say no otherwise). Rule kept by refusal:
// `violations()` counts storages used after an in-place op took them over; a transaction that leaves any must be
// rolled back (a state loaded without any stays without).
//
// Cost: Insert and Erase look at the readers of the values that change hands; the profile costs two blocks and a few
// nodes per changed stretch. Memory: about 100 bytes per execution with the holes.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/problem/instance.hpp"
#include "heuristics/excess_profile.hpp"

namespace ebb {

class SequenceState {
 public:
  static constexpr std::int32_t kNone = -1;

  // `budget` in bytes, with the instance's resident_bytes. The instance must outlive the state.
  SequenceState(const Instance& instance, std::int64_t budget);

  // Replaces the sequence; it must be valid (EvaluateSequence), its peak may be over the budget.
  void Load(std::span<const std::int32_t> sequence);
  [[nodiscard]] std::vector<std::int32_t> Sequence() const;
  void SetBudget(std::int64_t budget);
  [[nodiscard]] std::int64_t budget() const { return budget_; }

  // Facts about the state with the open transaction's executions.
  [[nodiscard]] std::int64_t duration() const { return duration_; }
  [[nodiscard]] std::int64_t executions() const { return executions_; }
  [[nodiscard]] std::int32_t executions_of(std::int32_t op) const { return ops_[static_cast<std::size_t>(op)].count; }
  [[nodiscard]] std::int32_t violations() const { return violations_; }
  // Bytes over the budget, summed over the events: of the committed state.
  [[nodiscard]] std::int64_t excess() const { return profile_.total(); }
  [[nodiscard]] std::int64_t Peak() const { return profile_.Max() + budget_; }

  // Walking. Begin() and End() are events of no op that stand before and after all others.
  [[nodiscard]] std::int32_t Begin() const { return begin_; }
  [[nodiscard]] std::int32_t End() const { return end_; }
  [[nodiscard]] std::int32_t Next(std::int32_t node) const;
  [[nodiscard]] std::int32_t Previous(std::int32_t node) const;
  [[nodiscard]] std::int32_t op(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].op; }
  [[nodiscard]] bool Before(std::int32_t a, std::int32_t b) const { return slot(a) < slot(b); }
  [[nodiscard]] std::int32_t slot(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].slot; }
  [[nodiscard]] std::int32_t slots() const { return profile_.slots(); }
  // The first live event at or after a slot (End() at the latest).
  [[nodiscard]] std::int32_t EventAt(std::int32_t slot) const;
  // The event in which the running sum of the excess passes `target` (0 <= target < excess()).
  [[nodiscard]] std::int32_t FindExcess(std::int64_t target) const { return EventAt(profile_.FindExcess(target)); }

  // By how much excess() would fall if `bytes` went from the events strictly between two.
  [[nodiscard]] std::int64_t SavedBy(std::int32_t after, std::int32_t before, std::int64_t bytes) const {
    const std::int32_t first = slot(after) + 1, last = slot(before) - 1;
    return first > last ? 0 : -profile_.Delta(first, last, -bytes);
  }
  // Is the event over the budget, in the committed state?
  [[nodiscard]] bool Over(std::int32_t node) const { return profile_.Value(slot(node)) > 0; }

  // Executions of one op in sequence order, and who else they touch.
  [[nodiscard]] std::int32_t FirstOf(std::int32_t op) const { return ops_[static_cast<std::size_t>(op)].first; }
  [[nodiscard]] std::int32_t LastOf(std::int32_t op) const { return ops_[static_cast<std::size_t>(op)].last; }
  [[nodiscard]] std::int32_t NextOf(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].next; }
  [[nodiscard]] std::int32_t PreviousOf(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].prev; }
  // False for an event erased in the open transaction.
  [[nodiscard]] bool Alive(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].alive; }
  [[nodiscard]] bool IsRepeat(std::int32_t node) const { return PreviousOf(node) != kNone; }
  // The execution that serves a read of `value` just before event `before`; kNone where there is none.
  [[nodiscard]] std::int32_t ServerOf(std::int32_t value, std::int32_t before) const;
  // The last event that needs what `node` made for its k-th output; `node` itself where nobody does.
  [[nodiscard]] std::int32_t EndOf(std::int32_t node, std::size_t k) const {
    const Node& x = nodes_[static_cast<std::size_t>(node)];
    return k == 0 ? x.end : ends_[static_cast<std::size_t>(x.ends) + k];
  }
  [[nodiscard]] std::size_t OutputIndex(std::int32_t value) const {
    return values_[static_cast<std::size_t>(value)].index;
  }
  [[nodiscard]] bool Unused(std::int32_t node) const;
  // The first event after `after` that needs `value` from the execution `server`; kNone where there is none.
  [[nodiscard]] std::int32_t NextUse(std::int32_t server, std::int32_t value, std::int32_t after) const;
  [[nodiscard]] const std::vector<std::int32_t>& repeats() const { return repeats_; }
  // The staged form, where repeats of one stage stand by rank: before which event of the stage of `before` a repeat of
  // `op` goes; kNone where the stage has one.
  [[nodiscard]] std::int32_t PlaceInStage(std::int32_t op, std::int32_t before) const;

  // One transaction at a time. Insert and Erase return false (kNone) where a read would be left unserved; then the
  // transaction must be rolled back.
  [[nodiscard]] std::int32_t Insert(std::int32_t op, std::int32_t before);
  [[nodiscard]] bool Erase(std::int32_t node);
  [[nodiscard]] bool changed() const { return !log_.empty(); }
  // excess() after a commit. Where that is above `enough` any number above it may be returned, which is known sooner.
  [[nodiscard]] std::int64_t ExcessAfter(std::int64_t enough = std::numeric_limits<std::int64_t>::max());
  void Commit();
  void Rollback();

  // Notes commits from here on; no open transaction. Nodes erased since then are not used again
  // until the next Mark.
  void Mark();
  [[nodiscard]] bool AtMark() const { return marked_ && journal_.empty(); }
  [[nodiscard]] bool marked() const { return marked_; }
  void ReturnToMark();
  // Notes nothing any more.
  void Unmark();

  // Throws InternalError where anything differs from a state built anew; linear. No open transaction.
  void CheckAgainstNaive() const;

  // Work done so far in ticks (engine/base/work_budget.hpp).
  [[nodiscard]] std::int64_t work() const { return work_ + profile_.work(); }

 private:
  // A move may insert before it erases: in between the sum may leave 63 bits, and then it wraps and comes back.
  void AddDuration(std::int64_t d) {
    duration_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(duration_) + static_cast<std::uint64_t>(d));
  }

  // What a move reads of an event, an op and a value lies together: on large graphs a move costs what its cache misses
  // cost.
  struct alignas(32) Node {
    std::int32_t op = kNone;
    std::int32_t slot = kNone;
    std::int32_t prev = kNone, next = kNone;  // executions of the same op
    std::int32_t end = kNone;                 // EndOf(node, 0)
    std::int32_t ends = 0;                    // where its outputs' ends and flags start
    std::int32_t repeat = kNone;              // place in repeats_
    bool alive = false;
    bool written = false;  // the profile knows it
  };
  struct alignas(32) OpState {
    std::int32_t first = kNone, last = kNone;  // executions
    std::int32_t count = 0;
    std::int32_t free = kNone;   // stack of unused nodes, linked by `next`
    std::int64_t own_bytes = 0;  // moment and all outputs
    std::int64_t duration = 0;
  };
  struct ValueFacts {
    std::int64_t bytes = 0;
    std::int32_t maker = kNone;  // num_ops for values without: Begin() makes them
    std::uint32_t index : 31 = 0;
    std::uint32_t kept : 1 = 0;
  };
  struct Change {  // of the open transaction
    enum Kind : std::uint8_t { kInsert, kErase, kEnd, kBad } kind;
    std::int32_t node;
    std::int32_t index, before;
  };
  struct Noted {  // of a commit; the last of each commit has node = kNone
    std::int32_t node;
    std::int32_t next;  // erased: the event that stood after it then; inserted: kNone
  };
  struct Stretch {  // after event `after`, up to event `to`
    std::int32_t after, to;
    std::int64_t bytes;
  };
  struct Point {
    std::int32_t node;
    std::int64_t bytes;
  };

  [[nodiscard]] Node& N(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Node& N(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] std::span<const std::int32_t> Makes(std::int32_t op) const;
  [[nodiscard]] std::int32_t MakerOf(std::int32_t value) const {
    return values_[static_cast<std::size_t>(value)].maker;
  }
  [[nodiscard]] std::int32_t& EndRef(std::int32_t node, std::size_t k) {
    return k == 0 ? N(node).end : ends_[static_cast<std::size_t>(N(node).ends) + k];
  }

  std::int32_t NewNode(std::int32_t op);
  [[nodiscard]] std::int32_t InsertNode(std::int32_t node, std::int32_t before);
  void NoteCommit();
  void ForgetJournal();
  void FreeNode(std::int32_t node);
  void Place(std::int32_t node, std::int32_t before);
  void SpreadOut(std::int32_t block);
  void Grow();
  void Distribute(std::span<const std::int32_t> nodes, std::int32_t first_slot, std::int32_t slots);
  void PutInSlot(std::int32_t node, std::int32_t slot) {
    N(node).slot = slot;
    node_at_[static_cast<std::size_t>(slot)] = node;
    occupied_[static_cast<std::size_t>(slot / ExcessProfile::kBlock)] |= std::uint64_t{1}
                                                                         << (slot % ExcessProfile::kBlock);
  }
  void TakeFromSlot(std::int32_t node) {
    const std::int32_t s = N(node).slot;
    node_at_[static_cast<std::size_t>(s)] = kNone;
    occupied_[static_cast<std::size_t>(s / ExcessProfile::kBlock)] &=
        ~(std::uint64_t{1} << (s % ExcessProfile::kBlock));
  }
  // What the event's own number holds above what is resident across its place, as far as the profile knows.
  [[nodiscard]] std::int64_t OwnBytes(std::int32_t node) const {
    const Node& x = N(node);
    return x.written && x.op < static_cast<std::int32_t>(instance_.num_ops)
               ? ops_[static_cast<std::size_t>(x.op)].own_bytes + ExcessProfile::kHole
               : 0;
  }

  void Link(std::int32_t node, std::int32_t prev, std::int32_t next);
  void Unlink(std::int32_t node);
  void AddRepeat(std::int32_t node);
  void RemoveRepeat(std::int32_t node);
  [[nodiscard]] std::int32_t LastUse(std::int32_t node, std::size_t k) const;
  void SetEnd(std::int32_t node, std::size_t k, std::int32_t end);
  [[nodiscard]] std::int32_t OwnerOf(std::int32_t carrier, std::int32_t node) const;
  void CarrierEndMoved(std::int32_t node, std::int32_t value, std::int32_t from, std::int32_t to);
  void RecheckConsumers(std::int32_t node, std::size_t k);
  [[nodiscard]] bool UsedAfterConsumption(std::int32_t node, std::int32_t value, std::int32_t end) const;
  void NoteBad(std::int32_t node, std::size_t k, bool bad);
  void BuildSegments();

  const Instance& instance_;
  std::int64_t budget_;  // with resident_bytes
  bool plain_;
  ExcessProfile profile_;
  std::vector<std::uint64_t> occupied_;  // per block, a bit a slot
  std::vector<std::int32_t> node_at_;    // slot -> node

  std::vector<Node> nodes_;
  std::vector<std::int32_t> ends_;  // from the second output on (the first place of each node is not used)
  std::vector<std::uint8_t> bad_;   // beside ends_: used after consumption; not for plain instances
  std::vector<OpState> ops_;
  std::vector<ValueFacts> values_;
  std::vector<std::int32_t> input_values_;  // values without maker: Begin() makes them
  Csr<std::int32_t> carried_;               // value -> values that live in its storage
  Csr<std::int32_t> consumers_;             // value -> ops that take its storage over
  std::vector<std::uint8_t> watched_;       // value: it or something it carries is consumed somewhere
  std::vector<std::int32_t> repeats_;
  std::int32_t begin_ = kNone, end_ = kNone;

  std::int64_t duration_ = 0, executions_ = 0;
  std::int32_t violations_ = 0;

  bool marked_ = false;
  std::vector<Noted> journal_;

  std::vector<Change> log_;
  std::vector<Stretch> stretches_;
  std::vector<Point> points_;
  struct Segment {
    std::int32_t first, last;
    std::int64_t bytes;
  };
  std::vector<Segment> segments_;
  std::vector<std::pair<std::int32_t, std::int64_t>> borders_;
  bool segments_fresh_ = false;
  mutable std::int64_t work_ = 0;
};

}  // namespace ebb
