// SPDX-License-Identifier: Apache-2.0
#include "heuristics/rotor_chain.hpp"

#include <algorithm>
#include <utility>

#include "engine/base/int128.hpp"
#include "heuristics/replay.hpp"
#include "heuristics/revolve.hpp"

namespace ebb {
namespace {

constexpr std::size_t kAllSubsets = 3;    // values of a block up to which every subset is an option
constexpr std::size_t kMostOptions = 12;  // else so many

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

class Builder {
 public:
  Builder(const Instance& in, bool cuts_only, std::size_t most_blocks) : in_(in), droppable_(Remakeable(in)) {
    const std::int32_t turn = TurnPosition(in);
    if (turn < 0) return;
    for (std::size_t v = 0; v < in.num_values; ++v)
      if (in.kept[v]) droppable_[v] = 0;
    chain_.forward = ForwardSegments(in, cuts_only, most_blocks);
    chain_.forward.push_back(turn + 1);
    const auto n = static_cast<std::int32_t>(chain_.forward.size()) - 1;
    block_.assign(in.num_values, -1);
    last_.assign(in.num_values, -1);
    forward_last_.assign(in.num_values, -1);
    std::vector<std::int32_t> latest(At(n), turn);  // last backward reader of a value of the block
    for (std::size_t v = 0; v < in.num_values; ++v) {
      if (in.maker[v] < 0) continue;
      const std::int32_t made = in.rank[At(in.maker[v])];
      last_[v] = in.readers[v].empty() ? made : in.rank[At(in.readers[v].back())];
      if (made > turn) continue;
      block_[v] = BlockOf(made);
      forward_last_[v] = made;
      for (const std::int32_t r : in.readers[v])
        if (in.rank[At(r)] <= turn) forward_last_[v] = std::max(forward_last_[v], in.rank[At(r)]);
      if (droppable_[v]) latest[At(block_[v])] = std::max(latest[At(block_[v])], last_[v]);
    }
    // Block j's backward run begins after the last reader of the blocks after it, and ends with its own.
    chain_.backward.assign(At(n), turn + 1);
    for (std::int32_t j = n - 2; j >= 0; --j)
      chain_.backward[At(j)] = std::max(chain_.backward[At(j + 1)], latest[At(j + 1)] + 1);
    present_.assign(in.num_values, 1);
    use_.assign(in.num_values, -1);
    in_closure_.assign(in.num_ops, 0);
    chain_.blocks.resize(At(n));
    chain_.dropped.resize(At(n));
    parts_.resize(At(n));
    gradients_to_ = turn + 1;
    for (std::int32_t j = 0; j < n; ++j) AddForward(j);
    for (std::int32_t j = n - 1; j >= 0; --j) AddOptions(j);
    std::int64_t most = 0;  // of what comes and goes
    for (const RotorBlock& block : chain_.blocks) {
      chain_.bytes += block.options[0].saved + block.output;
      most = std::max({most, block.peak, block.options[0].forward_peak, block.gradient});
      for (const RotorOption& o : block.options) most = std::max(most, o.backward_peak);
    }
    chain_.bytes += 2 * most;
  }

  BlockChain Take() { return std::move(chain_); }

 private:
  [[nodiscard]] std::int32_t BlockOf(std::int32_t position) const {
    const auto at = std::upper_bound(chain_.forward.begin(), chain_.forward.end(), position);
    return static_cast<std::int32_t>(at - chain_.forward.begin()) - 1;
  }
  [[nodiscard]] std::int32_t BackwardEnd(std::int32_t j) const {
    return j > 0 ? chain_.backward[At(j - 1)] : static_cast<std::int32_t>(in_.num_ops);
  }
  [[nodiscard]] bool Counts(std::int32_t v) const { return block_[At(v)] < 0 || droppable_[At(v)]; }

  // Largest resident value while `ops` run, each value dying after its last use among them, or not where it `survives`.
  template <class Survives>
  std::int64_t Peak(const std::vector<std::int32_t>& ops, const std::vector<std::int32_t>& at_start,
                    const Survives& survives) {
    const auto end = static_cast<std::int32_t>(ops.size());
    touched_.clear();
    const auto use = [&](std::int32_t v, std::int32_t i) {
      if (use_[At(v)] < 0) touched_.push_back(v);
      use_[At(v)] = std::max(use_[At(v)], i);
    };
    for (const std::int32_t v : at_start) use(v, survives(v) ? end : 0);
    for (std::int32_t i = 0; i < end; ++i) {
      for (const std::int32_t v : in_.makes[At(ops[At(i)])]) use(v, survives(v) ? end : i);
      for (const std::int32_t v : in_.reads[At(ops[At(i)])]) use(v, i);
    }
    std::int64_t now = 0, peak = 0;
    alive_.assign(at_start.begin(), at_start.end());
    std::sort(alive_.begin(), alive_.end());
    for (const std::int32_t v : alive_) now += in_.bytes[At(v)];
    peak = now;
    for (std::int32_t i = 0; i < end; ++i) {
      const std::int32_t op = ops[At(i)];
      for (const std::int32_t v : in_.makes[At(op)])
        if (Counts(v) && !std::binary_search(alive_.begin(), alive_.end(), v)) {
          now += in_.bytes[At(v)];
          alive_.insert(std::lower_bound(alive_.begin(), alive_.end(), v), v);
        }
      peak = std::max(peak, now + in_.moment[At(op)]);
      const auto dies = [&](std::int32_t v) {
        if (use_[At(v)] > i) return false;
        now -= in_.bytes[At(v)];
        return true;
      };
      alive_.erase(std::remove_if(alive_.begin(), alive_.end(), dies), alive_.end());
    }
    for (const std::int32_t v : touched_) use_[At(v)] = -1;
    return peak;
  }

  struct Part {
    std::vector<std::int32_t> ops;      // forward
    std::vector<std::int32_t> own;      // values made in the block that may be thrown away
    std::vector<std::int32_t> saved;    // those of them that the backward run reads
    std::vector<std::uint8_t> crosses;  // by place in own: goes on to the next block
  };

  void AddForward(std::int32_t j) {
    const std::int32_t end = chain_.forward[At(j + 1)];
    RotorBlock& block = chain_.blocks[At(j)];
    Part& part = parts_[At(j)];
    std::erase_if(passing_, [&](std::int32_t v) { return forward_last_[At(v)] < end; });
    for (std::int32_t p = chain_.forward[At(j)]; p < end; ++p) {
      const std::int32_t op = in_.order[At(p)];
      part.ops.push_back(op);
      bool again = false;
      for (const std::int32_t v : in_.makes[At(op)]) {
        if (!droppable_[At(v)]) continue;
        again = true;
        part.own.push_back(v);
        part.crosses.push_back(Crosses(v, j) ? 1 : 0);
        if (Crosses(v, j)) passing_.push_back(v);
        if (last_[At(v)] >= chain_.backward[At(j)]) part.saved.push_back(v);
      }
      if (again) block.time += in_.duration[At(op)];
    }
    // What passes through is part of the output as well.
    for (const std::int32_t v : passing_) block.output += in_.bytes[At(v)];
    block.peak = Peak(part.ops, {}, [&](std::int32_t v) { return Crosses(v, j); });
  }
  [[nodiscard]] bool Crosses(std::int32_t v, std::int32_t j) const {
    return block_[At(v)] == j && forward_last_[At(v)] >= chain_.forward[At(j + 1)];
  }

  void AddOptions(std::int32_t j) {
    // Backward values that wait for this run.
    const std::int32_t begin = chain_.backward[At(j)];
    for (; gradients_to_ < begin; ++gradients_to_)
      for (const std::int32_t v : in_.makes[At(in_.order[At(gradients_to_)])])
        if (!in_.kept[At(v)]) waiting_.push_back(v);
    std::erase_if(waiting_, [&](std::int32_t v) { return last_[At(v)] < begin; });
    RotorBlock& block = chain_.blocks[At(j)];
    for (const std::int32_t v : waiting_) block.gradient += in_.bytes[At(v)];

    std::vector<std::int32_t> saved = parts_[At(j)].saved;
    const std::size_t n = saved.size();
    if (n <= kAllSubsets) {
      for (std::size_t mask = 0; mask < (std::size_t{1} << n); ++mask) {
        std::vector<std::int32_t> drop;
        for (std::size_t i = 0; i < n; ++i)
          if ((mask >> i & 1) != 0) drop.push_back(saved[i]);
        AddOption(j, std::move(drop));
      }
      return;
    }
    // Most bytes for their op's duration first.
    std::stable_sort(saved.begin(), saved.end(), [&](std::int32_t a, std::int32_t b) {
      const auto worth = [&](std::int32_t v, std::int32_t other) {
        return static_cast<Int128>(in_.bytes[At(v)]) * (in_.duration[At(in_.maker[At(other)])] + Int128{1});
      };
      return worth(a, b) > worth(b, a);
    });
    for (std::size_t i = 0; i < kMostOptions; ++i) {
      const std::size_t k = i * n / (kMostOptions - 1);
      AddOption(j, {saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(k)});
    }
  }

  void AddOption(std::int32_t j, std::vector<std::int32_t> drop) {
    const Part& part = parts_[At(j)];
    RotorOption o;
    for (const std::int32_t v : part.own) present_[At(v)] = 0;
    for (const std::int32_t v : part.saved) present_[At(v)] = 1;
    for (const std::int32_t v : drop) present_[At(v)] = 0;
    const auto stays = [&](std::int32_t v) { return block_[At(v)] == j && saved_now_[At(v)] != 0; };
    std::vector<std::int32_t> start = waiting_;
    saved_now_.resize(in_.num_values, 0);
    for (const std::int32_t v : part.saved) {
      if (!present_[At(v)]) continue;
      saved_now_[At(v)] = 1;
      start.push_back(v);
      if (Crosses(v, j)) {
        o.holds_output = true;
      } else {
        o.saved += in_.bytes[At(v)];
      }
    }
    o.forward_time = chain_.blocks[At(j)].time;
    o.forward_peak = Peak(part.ops, {}, [&](std::int32_t v) { return Crosses(v, j) || stays(v); });
    for (const std::int32_t v : part.saved) saved_now_[At(v)] = 0;

    std::vector<std::int32_t> ops;
    const std::int32_t end = BackwardEnd(j);
    for (std::int32_t p = chain_.backward[At(j)]; p < end; ++p) Close(in_.order[At(p)], ops);
    for (const std::int32_t op : ops) {
      o.backward_time += in_.duration[At(op)];
      for (const std::int32_t v : in_.reads[At(op)]) o.reads_input = o.reads_input || BeforeBlock(v, j);
    }
    o.backward_peak = Peak(
        ops, start, [&](std::int32_t v) { return block_[At(v)] < 0 && (in_.kept[At(v)] != 0 || last_[At(v)] >= end); });
    for (const std::int32_t v : part.own) present_[At(v)] = 1;
    chain_.blocks[At(j)].options.push_back(o);
    chain_.dropped[At(j)].push_back(std::move(drop));
  }
  [[nodiscard]] bool BeforeBlock(std::int32_t v, std::int32_t j) const {
    return block_[At(v)] >= 0 && block_[At(v)] < j && droppable_[At(v)] != 0;
  }

  // Appends the op and, before it, what it misses, by rank.
  void Close(std::int32_t op, std::vector<std::int32_t>& ops) {
    std::vector<std::int32_t> closure{op};
    for (std::size_t i = 0; i < closure.size(); ++i)
      for (const std::int32_t v : in_.reads[At(closure[i])]) {
        const std::int32_t maker = in_.maker[At(v)];
        if (present_[At(v)] || maker < 0 || in_closure_[At(maker)]) continue;
        in_closure_[At(maker)] = 1;
        closure.push_back(maker);
      }
    std::sort(closure.begin(), closure.end(),
              [&](std::int32_t a, std::int32_t b) { return in_.rank[At(a)] < in_.rank[At(b)]; });
    for (const std::int32_t o : closure) {
      in_closure_[At(o)] = 0;
      for (const std::int32_t v : in_.makes[At(o)]) present_[At(v)] = 1;
      ops.push_back(o);
    }
  }

  const Instance& in_;
  std::vector<std::uint8_t> droppable_;
  BlockChain chain_;
  std::vector<Part> parts_;
  std::vector<std::int32_t> block_, last_,
      forward_last_;  // by value: made in (-1: no forward value), last read, forward
  std::vector<std::int32_t> passing_, waiting_, touched_, alive_, use_;
  std::vector<std::uint8_t> present_, in_closure_, saved_now_;
  std::int32_t gradients_to_ = 0;  // backward positions before it have been looked at
};

}  // namespace

BlockChain MakeBlockChain(const Instance& in, bool cuts_only, std::size_t most_blocks) {
  return Builder(in, cuts_only, most_blocks).Take();
}

std::vector<std::int32_t> BlockChainSequence(const Instance& in, const BlockChain& chain,
                                             std::span<const RotorStep> schedule) {
  if (chain.blocks.empty() || schedule.empty()) return {};
  const auto n = static_cast<std::int32_t>(chain.blocks.size());
  std::vector<std::uint8_t> may_drop = Remakeable(in);
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.kept[v]) may_drop[v] = 0;
  std::vector<std::uint8_t> ran(in.num_ops, 0);
  Replay replay(in);
  const auto run = [&](std::int32_t op) {
    for (const std::int32_t m : replay.Missing(op)) replay.Execute(m);
    replay.Execute(op);
    ran[At(op)] = 1;
  };
  for (const RotorStep& step : schedule) {
    const std::int32_t j = step.block;
    if (step.kind == RotorStep::Kind::kBackward) {
      for (const std::int32_t v : chain.dropped[At(j)][At(step.option)]) replay.Drop(v);
      const std::int32_t end = j > 0 ? chain.backward[At(j - 1)] : static_cast<std::int32_t>(in.num_ops);
      for (std::int32_t p = chain.backward[At(j)]; p < end; ++p) run(in.order[At(p)]);
      continue;
    }
    const std::int32_t begin = chain.forward[At(j)], end = chain.forward[At(j + 1)];
    for (std::int32_t p = begin; p < end; ++p) {
      const std::int32_t op = in.order[At(p)];
      const auto makes = in.makes[At(op)];
      if (!ran[At(op)] || std::any_of(makes.begin(), makes.end(), [&](std::int32_t v) { return may_drop[At(v)] != 0; }))
        run(op);
    }
    // What is neither handed on nor saved is forgotten.
    for (std::int32_t p = begin; p < end; ++p)
      for (const std::int32_t v : in.makes[At(in.order[At(p)])]) {
        if (!may_drop[At(v)]) continue;
        bool keep = step.kind == RotorStep::Kind::kSave && std::find(chain.dropped[At(j)][At(step.option)].begin(),
                                                                     chain.dropped[At(j)][At(step.option)].end(),
                                                                     v) == chain.dropped[At(j)][At(step.option)].end();
        for (const std::int32_t r : in.readers[At(v)])
          keep = keep || (in.rank[At(r)] >= end && in.rank[At(r)] < chain.forward[At(n)]);
        if (!keep) replay.Drop(v);
      }
  }
  replay.Finish();
  return WithoutUseless(in, replay.Take());
}

}  // namespace ebb
