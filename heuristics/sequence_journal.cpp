// SPDX-License-Identifier: Apache-2.0
//
// The way back to a marked state. A commit is noted as what it inserted and what it erased, with the event that stood
// after each erased one; taken back, erased events return to their places from left to right (so that each finds the
// one after it), and inserted ones go in the reverse order of their coming, readers before what they read. Both halves
// are one transaction, as every move is, so bindings and profile come back exactly; only the order of repeats() and the
// holes between the slots may differ. Erased nodes keep their numbers until the next mark: later notes name them.
//
// Why not a copy of the marked sequence: loading one takes a pass over the graph, 5 ms at 100,000 ops, where a cycle of
// the annealing in a window takes 3.
#include <algorithm>

#include "engine/base/status.hpp"
#include "heuristics/sequence_state.hpp"

namespace ebb {

void SequenceState::ForgetJournal() {
  for (const Noted& n : journal_)
    if (n.node != kNone && n.next != kNone)
      FreeNode(n.node);  // erased, once each: nothing brings it back but the way back
  journal_.clear();
}

void SequenceState::Mark() {
  ForgetJournal();
  marked_ = true;
}

void SequenceState::Unmark() {
  ForgetJournal();
  marked_ = false;
}

// In Commit, before slots are given up.
void SequenceState::NoteCommit() {
  const std::size_t first = journal_.size();
  for (const Change& c : log_) {
    const Node& x = N(c.node);
    if (c.kind == Change::kErase && x.written) journal_.push_back({c.node, Next(c.node)});
  }
  std::sort(journal_.begin() + static_cast<std::ptrdiff_t>(first), journal_.end(),
            [&](const Noted& a, const Noted& b) { return slot(a.node) < slot(b.node); });
  for (const Change& c : log_)
    if (c.kind == Change::kInsert && N(c.node).alive) journal_.push_back({c.node, kNone});
  if (journal_.size() > first) journal_.push_back({kNone, kNone});
}

void SequenceState::ReturnToMark() {
  marked_ = false;  // what follows is not noted
  while (!journal_.empty()) {
    journal_.pop_back();  // the end of a commit
    std::size_t first = journal_.size();
    while (first > 0 && journal_[first - 1].node != kNone) --first;
    for (std::size_t i = first; i < journal_.size(); ++i)
      if (journal_[i].next != kNone && InsertNode(journal_[i].node, journal_[i].next) == kNone)
        throw InternalError("sequence journal: an erased event cannot return");
    for (std::size_t i = journal_.size(); i-- > first;)
      if (journal_[i].next == kNone && !Erase(journal_[i].node))
        throw InternalError("sequence journal: an inserted event cannot go");
    Commit();
    journal_.resize(first);
  }
  marked_ = true;
}

}  // namespace ebb
