// SPDX-License-Identifier: Apache-2.0
#include "heuristics/wanted_search.hpp"

#include <algorithm>
#include <bit>

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

bool Has(const std::uint64_t* set, std::size_t i) { return ((set[i / 64] >> (i % 64)) & 1) != 0; }

void Put(ValueWords& set, std::size_t i) { set[i / 64] |= std::uint64_t{1} << (i % 64); }

constexpr std::size_t kMostWords = std::size_t{32} << 20;  // of all sets

// Fewer of them that are wanted count among sets that are equally near.
bool Later(const auto& a, const auto& b) {
  if (a.estimate != b.estimate) return a.estimate > b.estimate;
  if (a.bytes != b.bytes) return a.bytes > b.bytes;
  return a.id < b.id;
}

}  // namespace

WantedSearch::WantedSearch(const Instance& instance, std::int64_t budget)
    : in_(instance),
      room_(budget - instance.resident_bytes),
      words_(std::max<std::size_t>(1, (instance.num_values + 63) / 64)) {
  reads_.assign(in_.num_ops, ValueWords(words_, 0));
  makes_ = reads_;
  for (std::size_t op = 0; op < in_.num_ops; ++op) {
    for (const std::int32_t v : in_.reads[op]) Put(reads_[op], At(v));
    for (const std::int32_t v : in_.makes[op]) Put(makes_[op], At(v));
  }
  small_ =
      static_cast<double>(in_.base_duration) / (1000.0 * static_cast<double>(std::max<std::size_t>(1, in_.num_ops))) +
      1e-9;
  stamp_.assign(in_.num_ops, 0);
  holding_.resize(in_.num_values);
}

std::int32_t WantedSearch::InLibrary(const std::uint64_t* set) {
  const std::vector<std::int32_t>* few = nullptr;
  for (std::size_t w = 0; w < words_; ++w)
    for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
      const auto& list = holding_[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
      if (few == nullptr || list.size() < few->size()) few = &list;
    }
  if (few == nullptr) return -1;
  ticks_ += static_cast<std::int64_t>(few->size() * 4);
  for (std::size_t i = few->size(); i-- > 0;) {
    const ValueWords& known = library_[At((*few)[i])].set;
    bool within = true;
    for (std::size_t w = 0; within && w < words_; ++w) within = (set[w] & ~known[w]) == 0;
    if (within) return (*few)[i];
  }
  return -1;
}

std::int32_t WantedSearch::AddStep(ValueWords set, std::int32_t op, std::int32_t previous) {
  const auto place = static_cast<std::int32_t>(library_.size());
  for (std::size_t w = 0; w < words_; ++w)
    for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1)
      holding_[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))].push_back(place);
  library_.push_back({std::move(set), op, previous});
  return place;
}

std::int32_t WantedSearch::Learn(const ValueWords& wanted, std::int32_t op) {
  std::int32_t place = begins_in_;
  for (std::size_t i = 0; i < reruns_.size(); ++i) {
    // After the execution all it made and read is there, with what was wanted beside.
    ValueWords set(wanted_at(i).begin(), wanted_at(i).end());
    const ValueWords& made = makes_[At(reruns_[i])];
    for (std::size_t w = 0; w < words_; ++w) set[w] |= made[w];
    place = AddStep(std::move(set), reruns_[i], place);
  }
  const std::int32_t had = place;
  if (op >= 0) {
    ValueWords set = wanted;
    for (std::size_t w = 0; w < words_; ++w) set[w] |= makes_[At(op)][w];
    AddStep(std::move(set), op, had);
  }
  return had;
}

std::int32_t WantedSearch::FindOrAdd(const std::uint64_t* words, std::int32_t limit) {
  const auto hash = [&](const std::uint64_t* w, std::int32_t l) {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(l);
    for (std::size_t i = 0; i < words_; ++i) {
      h ^= w[i];
      h *= 0xff51afd7ed558ccdULL;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  };
  ticks_ += static_cast<std::int64_t>(4 * words_) + 20;
  if (nodes_.size() * 2 >= table_.size()) {
    table_.assign(std::max<std::size_t>(1024, table_.size() * 2), -1);
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      std::size_t at = hash(arena_.data() + id * words_, limits_[id]) & (table_.size() - 1);
      while (table_[at] >= 0) at = (at + 1) & (table_.size() - 1);
      table_[at] = static_cast<std::int32_t>(id);
    }
    ticks_ += static_cast<std::int64_t>(nodes_.size() * (4 * words_ + 20));
  }
  std::size_t at = hash(words, limit) & (table_.size() - 1);
  for (; table_[at] >= 0; at = (at + 1) & (table_.size() - 1)) {
    const std::size_t id = At(table_[at]);
    if (limits_[id] == limit && std::equal(words, words + words_, arena_.data() + id * words_)) return table_[at];
  }
  table_[at] = static_cast<std::int32_t>(nodes_.size());
  arena_.insert(arena_.end(), words, words + words_);
  limits_.push_back(limit);
  nodes_.push_back({std::numeric_limits<double>::infinity(), -1, -1, false});
  return table_[at];
}

// What must run at least until the set is there: the makers of what is not held, and of their inputs, and so on.
WantedSearch::Guide WantedSearch::Look(const std::uint64_t* wanted, const WantedQuestion& question,
                                       std::span<const std::uint8_t> may_run) {
  Guide guide{0, 0, 0, true};
  if (question.from_library) {  // nothing is held, and all may run
    std::fill(union_.begin(), union_.end(), 0);
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t rest = wanted[w]; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        guide.bytes += in_.bytes[v];
        const auto& behind = ancestors_[At(in_.maker[v])];
        for (std::size_t i = 0; i < union_.size(); ++i) union_[i] |= behind[i];
        ticks_ += static_cast<std::int64_t>(union_.size()) + 2;
      }
    for (const std::uint64_t word : union_) guide.ops += std::popcount(word);
    return guide;
  }
  ++now_;
  stack_.clear();
  const auto need = [&](std::int32_t v) {
    const std::int32_t op = in_.maker[At(v)];
    if (op < 0 || !may_run[At(op)]) {
      guide.possible = false;
    } else if (stamp_[At(op)] != now_) {
      stamp_[At(op)] = now_;
      stack_.push_back(op);
    }
  };
  for (std::size_t w = 0; w < words_; ++w)
    for (std::uint64_t rest = wanted[w]; rest != 0; rest &= rest - 1) {
      const std::size_t v = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
      guide.bytes += in_.bytes[v];
      if (!Has(question.held.data(), v)) need(static_cast<std::int32_t>(v));
    }
  while (!stack_.empty() && guide.possible) {
    const std::size_t op = At(stack_.back());
    stack_.pop_back();
    ++guide.ops;
    guide.cost += static_cast<double>(in_.duration[op]) + small_;
    ticks_ += 4 + static_cast<std::int64_t>(in_.reads[op].size()) * 3;
    for (const std::int32_t v : in_.reads[op])
      if (!Has(question.held.data(), At(v))) need(v);
  }
  return guide;
}

void WantedSearch::Reach(const std::uint64_t* wanted, std::int32_t limit, Node node, const WantedQuestion& question,
                         std::span<const std::uint8_t> may_run) {
  const std::int32_t id = FindOrAdd(wanted, limit);
  Node& known = nodes_[At(id)];
  if (known.done <= node.done || (known.expanded && question.by_number)) return;
  const Guide guide = Look(arena_.data() + At(id) * words_, question, may_run);
  known = node;
  if (!guide.possible) return;
  const double left = question.by_number
                          ? 10.0 * guide.ops + static_cast<double>(guide.bytes) /
                                                   static_cast<double>(std::max<std::int64_t>(1, room_)) * 10.0
                          : node.done + question.weight * guide.cost;
  queue_.push_back({left, node.done, guide.bytes, id});
  std::push_heap(queue_.begin(), queue_.end(), [](const Entry& a, const Entry& b) { return Later(a, b); });
  ticks_ += 60;
}

WantedSearch::Answer WantedSearch::Find(const WantedQuestion& question, std::span<const std::uint8_t> may_run,
                                        WorkBudget& work) {
  if (question.from_library && ancestors_.empty()) {
    union_.assign((in_.num_ops + 63) / 64, 0);
    ancestors_.assign(in_.num_ops, union_);
    for (const std::int32_t op : in_.order) {
      ancestors_[At(op)][At(op) / 64] |= std::uint64_t{1} << (op % 64);
      for (const std::int32_t v : in_.reads[At(op)])
        for (std::size_t i = 0; i < union_.size(); ++i) ancestors_[At(op)][i] |= ancestors_[At(in_.maker[At(v)])][i];
    }
    ticks_ += static_cast<std::int64_t>(in_.reads.items().size() * union_.size());
  }
  reruns_.clear();
  path_.clear();
  arena_.clear();
  limits_.clear();
  nodes_.clear();
  queue_.clear();
  table_.assign(1024, -1);
  ticks_ += 1000;
  constexpr std::int32_t kAny = std::numeric_limits<std::int32_t>::max();
  Reach(question.wanted.data(), kAny, Node{0, -1, -1, false}, question, may_run);
  ValueWords set(words_), next(words_);
  std::vector<std::int32_t> makers;
  for (std::int64_t looked = 0; !queue_.empty(); ++looked) {
    work.Spend(ticks_);
    ticks_ = 0;
    if (looked >= question.most || arena_.size() > kMostWords || work.Exhausted()) return Answer::kUnknown;
    const Entry top = queue_.front();
    std::pop_heap(queue_.begin(), queue_.end(), [](const Entry& a, const Entry& b) { return Later(a, b); });
    queue_.pop_back();
    if (nodes_[At(top.id)].expanded || nodes_[At(top.id)].done != top.done) continue;
    nodes_[At(top.id)].expanded = true;
    std::copy_n(arena_.data() + At(top.id) * words_, words_, set.data());
    bool there = true;
    for (std::size_t w = 0; w < words_; ++w) there = there && (set[w] & ~question.held[w]) == 0;
    begins_in_ = there || !question.from_library ? -1 : InLibrary(set.data());
    if (there || begins_in_ >= 0) {
      for (std::int32_t id = top.id; nodes_[At(id)].next >= 0; id = nodes_[At(id)].next) {
        reruns_.push_back(nodes_[At(id)].op);
        path_.push_back(id);
      }
      return Answer::kFound;
    }
    const std::int32_t limit = limits_[At(top.id)];
    makers.clear();
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
        const std::int32_t op = in_.maker[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
        if (op >= 0 && may_run[At(op)] && in_.rank[At(op)] < limit) makers.push_back(op);
      }
    std::sort(makers.begin(), makers.end());
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
    // Where an op reads nothing but what is wanted anyway, less is wanted before it than after: no other way is better.
    const auto reads_within = [&](std::int32_t op) {
      for (std::size_t w = 0; w < words_; ++w)
        if ((reads_[At(op)][w] & ~set[w]) != 0) return false;
      return true;
    };
    const auto beside = [&](std::int32_t op) {
      std::int64_t bytes = top.bytes + in_.moment[At(op)];
      for (std::size_t w = 0; w < words_; ++w)
        for (std::uint64_t rest = makes_[At(op)][w] & ~set[w]; rest != 0; rest &= rest - 1)
          bytes += in_.bytes[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
      return bytes;
    };
    if (question.by_number && !question.staged) {
      ticks_ += static_cast<std::int64_t>(makers.size() * (words_ + 4));
      const auto less = std::find_if(makers.begin(), makers.end(),
                                     [&](std::int32_t op) { return reads_within(op) && beside(op) <= room_; });
      if (less != makers.end()) makers.assign(1, *less);
    }
    for (const std::int32_t op : makers) {
      std::int64_t bytes = top.bytes + in_.moment[At(op)];
      for (std::size_t w = 0; w < words_; ++w) {
        for (std::uint64_t rest = (makes_[At(op)][w] | reads_[At(op)][w]) & ~set[w]; rest != 0; rest &= rest - 1)
          bytes += in_.bytes[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
        next[w] = (set[w] & ~makes_[At(op)][w]) | reads_[At(op)][w];
      }
      ticks_ += static_cast<std::int64_t>(4 * words_) + 20;
      if (bytes > room_) continue;
      Reach(next.data(), question.staged ? in_.rank[At(op)] : kAny,
            Node{top.done + static_cast<double>(in_.duration[At(op)]) + small_, top.id, op, false}, question, may_run);
    }
  }
  work.Spend(ticks_);
  return Answer::kNever;
}

}  // namespace ebb
