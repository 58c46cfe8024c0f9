// SPDX-License-Identifier: Apache-2.0
#include "heuristics/state_space.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ebb {
namespace {

template <class Fn>
void ForEachBit(const std::vector<StateWord>& words, Fn fn) {
  for (std::size_t w = 0; w < words.size(); ++w)
    for (StateWord bits = words[w]; bits != 0; bits &= bits - 1)
      fn(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

std::size_t StateSpace::WordsHash::operator()(const std::vector<StateWord>& words) const {
  StateWord h = 0x9e3779b97f4a7c15ULL;
  for (const StateWord w : words) {
    h ^= w;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  return static_cast<std::size_t>(h);
}

StateSpace::StateSpace(const Instance& instance, std::int64_t budget, OrderMode mode, std::int32_t max_executions)
    : in_(instance), room_(budget - instance.resident_bytes), mode_(mode), cap_(max_executions) {
  op_words_ = (in_.num_ops + 63) / 64;
  value_words_ = (in_.num_values + 63) / 64;
  tied_index_.assign(in_.num_values, -1);
  storage_bytes_.assign(in_.num_values, 0);
  is_consumed_.assign(in_.num_values, 0);
  for (std::size_t v = 0; v < in_.num_values; ++v) {
    if (in_.carrier[v] < 0) continue;
    tied_index_[v] = 0;
    tied_index_[static_cast<std::size_t>(in_.carrier[v])] = 0;
  }
  for (std::size_t v = 0; v < in_.num_values; ++v) {
    if (tied_index_[v] == 0) {
      tied_index_[v] = static_cast<std::int32_t>(tied_.size());
      tied_.push_back(static_cast<std::int32_t>(v));
    }
    std::size_t root = v;
    while (in_.carrier[root] >= 0) root = static_cast<std::size_t>(in_.carrier[root]);
    storage_bytes_[v] = in_.bytes[root];
  }
  for (std::size_t op = 0; op < in_.num_ops; ++op)
    for (const std::int32_t v : in_.consumes[op]) is_consumed_[static_cast<std::size_t>(v)] = 1;
  supported_ = tied_.size() < kDead && in_.num_ops < 4096 && cap_ < 255;
  const std::size_t tail = tied_.size() + (cap_ > 0 ? in_.num_ops : 0) + (mode_ == OrderMode::kStaged ? 4 : 0);
  packed_words_ = op_words_ + value_words_ + (tail + 7) / 8;
  need_.assign(in_.num_ops, 0);
}

SearchState StateSpace::Start() const {
  SearchState s;
  s.executed.assign(op_words_, 0);
  s.alive.assign(value_words_, 0);
  s.storage.assign(tied_.size(), kDead);
  if (cap_ > 0) s.repeats.assign(in_.num_ops, 0);
  for (std::size_t v = 0; v < in_.num_values; ++v) {
    if (in_.maker[v] >= 0) continue;
    Set(s.alive, v);
    if (tied_index_[v] >= 0)
      s.storage[static_cast<std::size_t>(tied_index_[v])] = static_cast<std::uint8_t>(tied_index_[v]);
  }
  return s;
}

void StateSpace::Pack(const SearchState& s, StateWord* out) const {
  std::copy(s.executed.begin(), s.executed.end(), out);
  std::copy(s.alive.begin(), s.alive.end(), out + op_words_);
  const std::size_t tail = op_words_ + value_words_;
  std::fill(out + tail, out + packed_words_, 0);
  if (tail == packed_words_) return;
  auto* bytes = reinterpret_cast<unsigned char*>(out + tail);
  if (!s.storage.empty()) std::memcpy(bytes, s.storage.data(), s.storage.size());
  bytes += s.storage.size();
  if (!s.repeats.empty()) std::memcpy(bytes, s.repeats.data(), s.repeats.size());
  bytes += s.repeats.size();
  if (mode_ == OrderMode::kStaged) std::memcpy(bytes, &s.last_repeat, 4);
}

void StateSpace::Unpack(const StateWord* in, SearchState& s) const {
  s.executed.assign(in, in + op_words_);
  s.alive.assign(in + op_words_, in + op_words_ + value_words_);
  const auto* bytes = reinterpret_cast<const unsigned char*>(in + op_words_ + value_words_);
  s.storage.assign(bytes, bytes + tied_.size());
  bytes += tied_.size();
  if (cap_ > 0) {
    s.repeats.assign(bytes, bytes + in_.num_ops);
    bytes += in_.num_ops;
  }
  s.last_repeat = -1;
  if (mode_ == OrderMode::kStaged) std::memcpy(&s.last_repeat, bytes, 4);
}

bool StateSpace::Covers(const StateWord* a, const StateWord* b) const {
  for (std::size_t w = 0; w < value_words_; ++w)
    if ((b[w] & ~a[w]) != 0) return false;
  if (op_words_ + value_words_ == packed_words_) return true;
  const auto* x = reinterpret_cast<const unsigned char*>(a + value_words_);
  const auto* y = reinterpret_cast<const unsigned char*>(b + value_words_);
  // What b holds must lie in equal storages in a. (Other names in them do no harm.)
  for (std::size_t i = 0; i < tied_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (y[i] != kDead && y[j] != kDead && (y[i] == y[j]) != (x[i] == x[j])) return false;
  x += tied_.size();
  y += tied_.size();
  if (cap_ > 0) {
    for (std::size_t i = 0; i < in_.num_ops; ++i)
      if (x[i] > y[i]) return false;
    x += in_.num_ops;
    y += in_.num_ops;
  }
  if (mode_ == OrderMode::kStaged) {
    std::int32_t p = 0, q = 0;
    std::memcpy(&p, x, 4);
    std::memcpy(&q, y, 4);
    if (p > q) return false;
  }
  return true;
}

std::int64_t StateSpace::TakeTicks() { return std::exchange(ticks_, 0); }

bool StateSpace::IsGoal(const SearchState& s) const {
  for (std::size_t op = 0; op < in_.num_ops; ++op)
    if (!Test(s.executed, op)) return false;
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.kept[v] && !Test(s.alive, v)) return false;
  return true;
}

bool StateSpace::MayRun(const SearchState& s, std::size_t op) const {
  if (Test(s.executed, op)) {
    if (!in_.may_repeat[op]) return false;
    if (cap_ > 0 && s.repeats[op] + 1 >= cap_) return false;
    if (mode_ == OrderMode::kStaged && in_.rank[op] <= s.last_repeat) return false;
  }
  for (const std::int32_t v : in_.reads[op])
    if (!Test(s.alive, static_cast<std::size_t>(v))) return false;
  return true;
}

bool StateSpace::SameStorage(const SearchState& s, std::size_t value, std::size_t other) const {
  if (value == other) return true;
  const std::int32_t i = tied_index_[value], j = tied_index_[other];
  return i >= 0 && j >= 0 && s.storage[static_cast<std::size_t>(i)] == s.storage[static_cast<std::size_t>(j)];
}

bool StateSpace::SharesStorage(const SearchState& s, std::size_t value) const {
  if (tied_index_[value] < 0) return false;
  const std::uint8_t label = s.storage[static_cast<std::size_t>(tied_index_[value])];
  return std::count(s.storage.begin(), s.storage.end(), label) > 1;
}

// A repeat changes something only if it brings back a value that matters, or moves one out of a storage that it shares
// (so that an overwriting op or a drop then hits only one of the two), or into the one its carrier is in now.
bool StateSpace::RepeatUseful(const SearchState& s, std::size_t op) const {
  const auto it = relevant_.find(s.executed);
  for (const std::int32_t value : in_.makes[op]) {
    const auto v = static_cast<std::size_t>(value);
    if (!Test(s.alive, v)) {
      if (it == relevant_.end() || Test(it->second, v)) return true;
      continue;
    }
    if (in_.plain) continue;
    if (SharesStorage(s, v)) return true;
    const std::int32_t c = in_.carrier[v];
    if (c >= 0 && Test(s.alive, static_cast<std::size_t>(c)) && !SameStorage(s, v, static_cast<std::size_t>(c)))
      return true;
  }
  return false;
}

bool StateSpace::LeavesNothing(const SearchState& s, std::size_t op) {
  if (!in_.consumes[op].empty()) return false;
  bool nothing = true;
  for (const std::int32_t v : in_.makes[op])
    if (storage_bytes_[static_cast<std::size_t>(v)] > 0 || is_consumed_[static_cast<std::size_t>(v)] ||
        tied_index_[static_cast<std::size_t>(v)] >= 0)
      nothing = false;
  if (nothing) return true;
  std::vector<StateWord> after = s.executed;
  Set(after, op);
  const std::vector<StateWord>& relevant = Relevant(after);
  for (const std::int32_t v : in_.makes[op])
    if (Test(relevant, static_cast<std::size_t>(v))) return false;
  return true;
}

void StateSpace::Kill(SearchState& s, std::size_t value) const {
  Clear(s.alive, value);
  if (tied_index_[value] >= 0) s.storage[static_cast<std::size_t>(tied_index_[value])] = kDead;
}

void StateSpace::KillStorage(SearchState& s, std::size_t value) const {
  if (tied_index_[value] < 0) {
    Clear(s.alive, value);
    return;
  }
  const std::uint8_t label = s.storage[static_cast<std::size_t>(tied_index_[value])];
  if (label == kDead) return;
  for (std::size_t i = 0; i < tied_.size(); ++i)
    if (s.storage[i] == label) Kill(s, static_cast<std::size_t>(tied_[i]));
}

void StateSpace::Canonicalize(SearchState& s) const {
  // label -> first place with it, in order of places
  std::uint8_t first[256];
  std::memset(first, kDead, sizeof first);
  for (std::size_t i = 0; i < s.storage.size(); ++i) {
    if (s.storage[i] == kDead) continue;
    std::uint8_t& f = first[s.storage[i]];
    if (f == kDead) f = static_cast<std::uint8_t>(i);
    s.storage[i] = f;
  }
}

bool StateSpace::Prepare(const SearchState& s, std::size_t op) {
  base_ = s;
  std::int64_t resident = in_.moment[op];
  for (const std::int32_t v : in_.makes[op]) {
    if (Test(base_.alive, static_cast<std::size_t>(v))) Kill(base_, static_cast<std::size_t>(v));
    resident += in_.bytes[static_cast<std::size_t>(v)];
  }
  if (!tied_.empty()) Canonicalize(base_);
  droppable_.clear();
  ForEachBit(base_.alive, [&](std::size_t v) {
    const std::int32_t place = tied_index_[v];
    if (place >= 0 && base_.storage[static_cast<std::size_t>(place)] != place) return;  // counted with its first name
    resident += storage_bytes_[v];
    if (storage_bytes_[v] > 0) droppable_.push_back({storage_bytes_[v], static_cast<std::int32_t>(v)});
  });
  ticks_ += 40 + 4 * static_cast<std::int64_t>(droppable_.size() + in_.num_values / 16);
  over_ = resident - room_;
  if (over_ <= 0) return true;
  std::erase_if(droppable_, [&](const Droppable& d) {
    for (const std::int32_t v : in_.reads[op])
      if (SameStorage(base_, static_cast<std::size_t>(d.value), static_cast<std::size_t>(v))) return true;
    return false;
  });
  std::sort(droppable_.begin(), droppable_.end(), [](const Droppable& a, const Droppable& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.value < b.value;
  });
  suffix_.assign(droppable_.size(), 0);
  std::int64_t sum = 0;
  for (std::size_t i = droppable_.size(); i-- > 0;) suffix_[i] = sum += droppable_[i].bytes;
  return sum >= over_;
}

void StateSpace::Finish(SearchState& s, std::size_t op) {
  for (const std::int32_t v : in_.consumes[op]) KillStorage(s, static_cast<std::size_t>(v));
  for (const std::int32_t value : in_.makes[op]) {
    const auto v = static_cast<std::size_t>(value);
    Set(s.alive, v);
    if (tied_index_[v] < 0) continue;
    const auto place = static_cast<std::size_t>(tied_index_[v]);
    if (const std::int32_t c = in_.carrier[v]; c >= 0) {
      s.storage[place] = s.storage[static_cast<std::size_t>(tied_index_[static_cast<std::size_t>(c)])];
      continue;
    }
    // A new storage. Nobody else has its label: Prepare took the old name out and renumbered.
    s.storage[place] = static_cast<std::uint8_t>(place);
  }
  if (Test(s.executed, op)) {
    if (cap_ > 0) ++s.repeats[op];
    if (mode_ == OrderMode::kStaged) s.last_repeat = in_.rank[op];
  } else {
    Set(s.executed, op);
    s.last_repeat = -1;
  }
  const std::vector<StateWord>& relevant = Relevant(s.executed);
  if (tied_.empty()) {
    for (std::size_t w = 0; w < value_words_; ++w) s.alive[w] &= relevant[w];
  } else {
    ForEachBit(s.alive, [&](std::size_t v) {
      if (!Test(relevant, v)) Kill(s, v);
    });
    Canonicalize(s);
  }
  ticks_ += 20 + 2 * static_cast<std::int64_t>(packed_words_);
}

const std::vector<StateWord>& StateSpace::Relevant(const std::vector<StateWord>& executed) {
  if (const auto it = relevant_.find(executed); it != relevant_.end()) return it->second;
  std::vector<StateWord> relevant(value_words_, 0);
  std::vector<std::uint8_t> active(in_.num_ops, 0);  // ops that may run in the future for some use
  stack_.clear();
  const auto activate = [&](std::size_t op) {
    if (active[op]) return;
    active[op] = 1;
    stack_.push_back(static_cast<std::int32_t>(op));
  };
  const auto mark = [&](std::size_t v) {
    if (Test(relevant, v)) return;
    Set(relevant, v);
    if (in_.maker[v] >= 0 && in_.may_repeat[static_cast<std::size_t>(in_.maker[v])])
      activate(static_cast<std::size_t>(in_.maker[v]));
  };
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.kept[v]) mark(v);
  for (std::size_t op = 0; op < in_.num_ops; ++op)
    if (!Test(executed, op)) activate(op);
  while (!stack_.empty()) {
    const auto op = static_cast<std::size_t>(stack_.back());
    stack_.pop_back();
    for (const std::int32_t v : in_.reads[op]) mark(static_cast<std::size_t>(v));
  }
  ticks_ += 4 * static_cast<std::int64_t>(in_.num_ops + in_.reads.size());
  return relevant_.emplace(executed, std::move(relevant)).first->second;
}

StateSpace::Remaining StateSpace::LowerBound(const SearchState& s) {
  Remaining left;
  std::fill(need_.begin(), need_.end(), 0);
  stack_.clear();
  const auto need_value = [&](std::size_t v) {
    if (Test(s.alive, v)) return;
    const std::int32_t maker = in_.maker[v];
    if (maker < 0) {
      left.possible = false;
      return;
    }
    const auto m = static_cast<std::size_t>(maker);
    if (!Test(s.executed, m) || need_[m]) return;
    if (!in_.may_repeat[m] || (cap_ > 0 && s.repeats[m] + 1 >= cap_)) {
      left.possible = false;
      return;
    }
    need_[m] = 1;
    left.overflow |= __builtin_add_overflow(left.duration, in_.duration[m], &left.duration);
    ++left.executions;
    stack_.push_back(maker);
  };
  for (std::size_t op = 0; op < in_.num_ops; ++op) {
    if (Test(s.executed, op)) continue;
    left.duration += in_.duration[op];
    ++left.executions;
    for (const std::int32_t v : in_.reads[op]) need_value(static_cast<std::size_t>(v));
  }
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (in_.kept[v]) need_value(v);
  while (!stack_.empty() && left.possible) {
    const auto op = static_cast<std::size_t>(stack_.back());
    stack_.pop_back();
    for (const std::int32_t v : in_.reads[op]) need_value(static_cast<std::size_t>(v));
  }
  ticks_ += 2 * static_cast<std::int64_t>(in_.num_ops + in_.num_values);
  return left;
}

}  // namespace ebb
