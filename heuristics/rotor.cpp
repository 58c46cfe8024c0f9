// SPDX-License-Identifier: Apache-2.0
#include "heuristics/rotor.hpp"

#include <algorithm>
#include <utility>

namespace ebb {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::int32_t RotorTable::Slots(std::int64_t bytes) const {
  // More than all slots is more than all slots, however much.
  const std::int64_t n = bytes / unit_ + (bytes % unit_ != 0 ? 1 : 0);
  return static_cast<std::int32_t>(std::min<std::int64_t>(n, 2 * std::int64_t{slots_} + 2));
}

// Stretches by length, so that the table is filled in the order of its memory.
std::size_t RotorTable::Index(std::int32_t s, std::int32_t t) const {
  const auto n = static_cast<std::int64_t>(blocks_.size());
  const std::int64_t shorter = t - s;
  return At((shorter * n - shorter * (shorter - 1) / 2 + s) * (std::int64_t{slots_} + 1));
}

std::int64_t RotorTable::Get(Input input, std::int32_t s, std::int32_t t, std::int64_t m) const {
  if (m < 0) return kNever;
  return (input == Input::kHeld ? held_ : own_)[Index(s, t) + At(m)];
}

RotorTable::Choice RotorTable::Best(Input input, std::int32_t s, std::int32_t t, std::int32_t m) const {
  Choice best;
  const auto offer = [&](std::int64_t time, Choice::Kind kind, std::int32_t which) {
    if (time < best.time) best = {time, kind, which};
  };
  const RotorBlock& block = blocks_[At(s)];
  const std::int64_t gradient = blocks_[At(t)].gradient;
  const std::int64_t own = input == Input::kOwn && s > 0 ? blocks_[At(s - 1)].output : 0;
  for (std::size_t i = 0; i < block.options.size(); ++i) {
    const RotorOption& o = block.options[i];
    const std::int64_t stays = o.reads_input ? own : 0;
    if (gradient + own + o.forward_peak > m || stays + o.backward_peak > m) continue;
    std::int64_t rest = 0;
    if (s < t) {
      rest = o.holds_output ? Get(Input::kHeld, s + 1, t, m - stays - o.saved - block.output)
                            : Get(Input::kOwn, s + 1, t, m - stays - o.saved);
      if (rest >= kNever) continue;
    }
    offer(o.forward_time + rest + o.backward_time, Choice::Kind::kOption, static_cast<std::int32_t>(i));
  }
  for (std::int32_t r = s + 1; r <= t; ++r) {
    if (gradient + own + need_[At(s)][At(r - 1 - s)] > m) break;
    const std::int64_t right = Get(Input::kOwn, r, t, m - own);
    if (right >= kNever) continue;
    const std::int64_t left = Get(input, s, r - 1, m);
    if (left >= kNever) continue;
    offer(before_[At(r)] - before_[At(s)] + right + left, Choice::Kind::kSplit, r);
  }
  return best;
}

std::optional<RotorTable> RotorTable::Make(std::vector<RotorBlock> blocks, std::int64_t unit, std::int32_t slots,
                                           WorkBudget& work) {
  RotorTable table;
  table.unit_ = unit;
  table.slots_ = slots;
  table.blocks_ = std::move(blocks);
  table.before_.push_back(0);
  for (RotorBlock& b : table.blocks_) {
    table.before_.push_back(table.before_.back() + b.time);
    for (std::int64_t* bytes : {&b.peak, &b.output, &b.gradient}) *bytes = table.Slots(*bytes);
    for (RotorOption& o : b.options)
      for (std::int64_t* bytes : {&o.saved, &o.forward_peak, &o.backward_peak}) *bytes = table.Slots(*bytes);
  }
  const auto n = static_cast<std::int32_t>(table.blocks_.size());
  table.need_.resize(At(n));
  for (std::int32_t s = 0; s < n; ++s) {
    std::int64_t need = 0;
    for (std::int32_t r = s; r < n; ++r) {
      need = std::max(need, table.blocks_[At(r)].peak + (r > s ? table.blocks_[At(r - 1)].output : 0));
      table.need_[At(s)].push_back(need);
    }
  }
  const std::size_t cells = At(std::int64_t{n} * (n + 1) / 2) * At(std::int64_t{slots} + 1);
  table.held_.assign(cells, kNever);
  table.own_.assign(cells, kNever);
  for (std::int32_t length = 0; length < n; ++length)
    for (std::int32_t s = 0; s + length < n; ++s) {
      const std::int32_t t = s + length;
      const std::size_t at = table.Index(s, t);
      for (std::int32_t m = 0; m <= slots; ++m) {
        table.held_[at + At(m)] = table.Best(Input::kHeld, s, t, m).time;
        table.own_[at + At(m)] = table.Best(Input::kOwn, s, t, m).time;
      }
      work.Spend(std::int64_t{slots} * (6 * (length + 1) + 8 * std::int64_t(table.blocks_[At(s)].options.size())));
      if (work.Exhausted()) return std::nullopt;
    }
  return table;
}

std::int64_t RotorTable::Time(std::int32_t m) const {
  if (blocks_.empty()) return 0;
  return Get(Input::kOwn, 0, static_cast<std::int32_t>(blocks_.size()) - 1, m);
}

std::vector<RotorStep> RotorTable::Schedule(std::int32_t m) const {
  std::vector<RotorStep> steps;
  if (blocks_.empty()) return steps;
  // What is left to be written, the next on top: a stretch, or the backward run of a block (to_do.option >= 0).
  struct ToDo {
    Input input;
    std::int32_t s, t, m, option;
  };
  std::vector<ToDo> stack{{Input::kOwn, 0, static_cast<std::int32_t>(blocks_.size()) - 1, m, -1}};
  while (!stack.empty()) {
    ToDo now = stack.back();
    stack.pop_back();
    if (now.option >= 0) {
      steps.push_back({RotorStep::Kind::kBackward, now.s, now.option});
      continue;
    }
    const Choice choice = Best(now.input, now.s, now.t, now.m);
    const RotorBlock& block = blocks_[At(now.s)];
    const std::int64_t own = now.input == Input::kOwn && now.s > 0 ? blocks_[At(now.s - 1)].output : 0;
    switch (choice.kind) {
      case Choice::Kind::kNone: return {};
      case Choice::Kind::kOption: {
        const RotorOption& o = block.options[At(choice.which)];
        steps.push_back({RotorStep::Kind::kSave, now.s, choice.which});
        stack.push_back({now.input, now.s, now.s, 0, choice.which});
        if (now.s == now.t) break;
        const std::int64_t left = now.m - (o.reads_input ? own : 0) - o.saved - (o.holds_output ? block.output : 0);
        stack.push_back(
            {o.holds_output ? Input::kHeld : Input::kOwn, now.s + 1, now.t, static_cast<std::int32_t>(left), -1});
        break;
      }
      case Choice::Kind::kSplit:
        for (std::int32_t j = now.s; j < choice.which; ++j) steps.push_back({RotorStep::Kind::kForward, j, -1});
        stack.push_back({now.input, now.s, choice.which - 1, now.m, -1});
        stack.push_back({Input::kOwn, choice.which, now.t, static_cast<std::int32_t>(now.m - own), -1});
        break;
    }
  }
  return steps;
}

}  // namespace ebb
