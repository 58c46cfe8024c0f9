// SPDX-License-Identifier: Apache-2.0
// The dynamic program over chains of blocks: against exhaustive search on small uneven chains, revolve's optimum on
// even ones, and validity of what it makes of any graph.
#include "heuristics/rotor.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <tuple>

#include <doctest/doctest.h>

#include "heuristics/replay.hpp"
#include "heuristics/revolve.hpp"
#include "heuristics/rotor_chain.hpp"
#include "heuristics/state_search.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/chain_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<RotorBlock> RandomChain(Rng& rng, std::int64_t n) {
  std::vector<RotorBlock> blocks(At(n));
  for (std::int64_t j = 0; j < n; ++j) {
    RotorBlock& b = blocks[At(j)];
    b.time = Draw(rng, 1, 6);
    b.output = Draw(rng, 1, 4);
    b.peak = b.output + Draw(rng, 0, 2);
    b.gradient = j + 1 < n ? Draw(rng, 1, 4) : 0;
    const std::int64_t before = j > 0 ? blocks[At(j - 1)].gradient : 0;
    for (std::int64_t i = Draw(rng, 1, 2); i > 0; --i) {
      RotorOption o;
      o.forward_time = b.time;
      o.backward_time = Draw(rng, 1, 6);
      o.saved = Draw(rng, 0, 4);
      o.holds_output = Chance(rng, 50);
      o.reads_input = Chance(rng, 50);
      o.forward_peak = o.saved + b.output + Draw(rng, 0, 2);
      o.backward_peak = o.saved + (o.holds_output ? b.output : 0) + b.gradient + before + Draw(rng, 0, 2);
      b.options.push_back(o);
    }
  }
  return blocks;
}

// What lies in memory between two steps: how far the backward pass is, and by block its output (0 none, 1 just made,
// 2 kept) and the option by which it saved (-1: not).
struct State {
  std::int64_t next;  // backward
  std::vector<std::int8_t> output, saved;
  auto operator<=>(const State&) const = default;
};

// Shortest persistent schedule within m bytes, by Dijkstra's search over all states. `persistent`: an output that was
// used and kept stays until its reader's backward run, or until its reader saves what makes it needless. Else anything
// may be forgotten at any time, which is the optimum of the model.
std::int64_t Exhaustive(const std::vector<RotorBlock>& blocks, std::int64_t m, bool persistent) {
  const auto n = static_cast<std::int64_t>(blocks.size());
  std::map<State, std::int64_t> best;
  using Entry = std::pair<std::int64_t, State>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto reach = [&](State s, std::int64_t time) {
    const auto [at, fresh] = best.try_emplace(s, time);
    if (!fresh && at->second <= time) return;
    at->second = time;
    queue.push({time, std::move(s)});
  };
  reach({n - 1, std::vector<std::int8_t>(At(n), 0), std::vector<std::int8_t>(At(n), -1)}, 0);
  while (!queue.empty()) {
    const auto [time, state] = queue.top();
    const State& s = state;  // clang 14 captures no structured binding
    queue.pop();
    if (best[s] < time) continue;
    if (s.next < 0) return time;
    // Held as part of what its block saved?
    const auto part = [&](std::int64_t j) {
      return s.saved[At(j)] >= 0 && blocks[At(j)].options[At(s.saved[At(j)])].holds_output;
    };
    std::int64_t resident = blocks[At(s.next)].gradient;
    for (std::int64_t j = 0; j < n; ++j) {
      if (s.output[At(j)] != 0 || part(j)) resident += blocks[At(j)].output;
      if (s.saved[At(j)] >= 0) resident += blocks[At(j)].options[At(s.saved[At(j)])].saved;
    }
    if (!persistent)
      for (std::int64_t j = 0; j < n; ++j) {
        State t = s;
        if (s.output[At(j)] != 0) t.output[At(j)] = 0, reach(t, time);
        t = s;
        if (s.saved[At(j)] >= 0) t.saved[At(j)] = -1, reach(t, time);
      }
    for (std::int64_t j = 0; j <= s.next; ++j) {
      const RotorBlock& b = blocks[At(j)];
      const bool has_input = j == 0 || s.output[At(j - 1)] != 0 || part(j - 1);
      if (!has_input || s.saved[At(j)] >= 0) continue;
      // Forward without saving; the last block's output is nothing to anyone.
      if (s.output[At(j)] == 0 && resident + b.peak <= m && j + 1 < n) {
        State t = s;
        t.output[At(j)] = 1;
        if (j > 0 && t.output[At(j - 1)] == 1) {
          t.output[At(j - 1)] = 0;
          reach(t, time + b.time);
          t.output[At(j - 1)] = 2;
        }
        reach(t, time + b.time);
      }
      for (std::size_t i = 0; i < b.options.size(); ++i) {
        const RotorOption& o = b.options[i];
        if (resident + o.forward_peak - (s.output[At(j)] != 0 ? b.output : 0) > m) continue;
        if (s.output[At(j)] != 0) continue;  // its output is there: to make it again in front of it helps nobody
        State t = s;
        t.saved[At(j)] = static_cast<std::int8_t>(i);
        if (!o.holds_output && j + 1 < n && j < s.next) t.output[At(j)] = 1;
        if (j > 0 && t.output[At(j - 1)] != 0) {
          t.output[At(j - 1)] = 2;
          reach(t, time + o.forward_time);
          if (!o.reads_input) t.output[At(j - 1)] = 0, reach(t, time + o.forward_time);
        } else {
          reach(t, time + o.forward_time);
        }
      }
    }
    const std::int64_t d = s.next;
    if (s.saved[At(d)] < 0) continue;
    const RotorOption& o = blocks[At(d)].options[At(s.saved[At(d)])];
    if (o.reads_input && d > 0 && s.output[At(d - 1)] == 0 && !part(d - 1)) continue;
    const std::int64_t mine = blocks[At(d)].gradient + o.saved + (o.holds_output ? blocks[At(d)].output : 0);
    if (resident - mine + o.backward_peak > m) continue;
    State t = s;
    t.saved[At(d)] = -1;
    t.output[At(d)] = 0;
    if (d > 0) t.output[At(d - 1)] = 0;
    --t.next;
    reach(t, time + o.backward_time);
  }
  return RotorTable::kNever;
}

TEST_CASE("small uneven chains: the optimum among persistent schedules, for every budget") {
  Rng rng(Seed("rotor chains", 41));
  int equal = 0, cells = 0;
  for (int round = 0; round < 150; ++round) {
    const std::vector<RotorBlock> blocks = RandomChain(rng, Draw(rng, 1, 4));
    WorkBudget work;
    const auto table = RotorTable::Make(blocks, 1, 40, work);
    REQUIRE(table);
    std::int64_t last = -1;
    for (std::int32_t m = 0; m <= 40; ++m) {
      const std::int64_t time = table->Time(m);
      const std::int64_t wanted = Exhaustive(blocks, m, true);
      INFO("round " << round << " blocks " << blocks.size() << " m " << m);
      REQUIRE(time == wanted);
      const std::int64_t any = Exhaustive(blocks, m, false);
      REQUIRE(any <= time);
      equal += any == time ? 1 : 0;
      ++cells;
      if (time == last && time < RotorTable::kNever && m > 30) break;
      last = time;
    }
  }
  MESSAGE("persistent is optimal at " << equal << " of " << cells << " budgets");
}

TEST_CASE("slots that are larger than a byte promise no memory that is not there") {
  Rng rng(Seed("rotor slots", 42));
  for (int round = 0; round < 200; ++round) {
    const std::vector<RotorBlock> blocks = RandomChain(rng, Draw(rng, 1, 6));
    WorkBudget work;
    const auto exact = RotorTable::Make(blocks, 1, 60, work), coarse = RotorTable::Make(blocks, 4, 15, work);
    REQUIRE(exact);
    REQUIRE(coarse);
    for (std::int32_t m = 0; m <= 15; ++m) CHECK(coarse->Time(m) >= exact->Time(4 * m));
  }
}

// The shortest of the chain's schedules whose true peak is within the budget, over all of the table's budgets.
std::int64_t BestWithin(const Instance& in, std::int64_t budget, bool cuts_only) {
  const BlockChain chain = MakeBlockChain(in, cuts_only, 1000);
  WorkBudget work;
  const auto table = RotorTable::Make(chain.blocks, 1, static_cast<std::int32_t>(chain.bytes), work);
  std::int64_t best = -1;
  for (std::int32_t m = 0; m <= table->slots(); ++m) {
    if (table->Time(m) >= RotorTable::kNever) continue;
    const std::vector<std::int32_t> sequence = BlockChainSequence(in, chain, table->Schedule(m));
    const SequenceFacts facts = EvaluateSequence(in, sequence);
    REQUIRE(facts.valid);
    REQUIRE(FollowsOrder(in, sequence, true, false));
    if (facts.peak <= budget && (best < 0 || facts.duration < best)) best = facts.duration;
  }
  return best;
}

TEST_CASE("even chains: revolve's binomial count, with a table budget that is the true peak") {
  for (int n = 2; n <= 24; ++n) {
    const Instance in = MakeInstance(Chain(n));
    const BlockChain chain = MakeBlockChain(in, true, 1000);
    REQUIRE(chain.blocks.size() == At(n));
    WorkBudget work;
    const auto table = RotorTable::Make(chain.blocks, 1, n + 3, work);
    REQUIRE(table);
    for (int s = 1; s < n; ++s) {
      INFO("n " << n << " s " << s);
      // t(n, s) repeats beyond the n + 1 of the formula, which counts the adjoints.
      CHECK(table->Time(s + 2) == n + 1 + RevolveSteps(n, s));
      const std::vector<std::int32_t> sequence = BlockChainSequence(in, chain, table->Schedule(s + 2));
      const SequenceFacts facts = EvaluateSequence(in, sequence);
      REQUIRE(facts.valid);
      CHECK(facts.peak <= s + 2);
      CHECK(facts.duration == n + 1 + RevolveSteps(n, s));
      if (s == 1) CHECK(facts.duration == 2 * n + (n - 1) * (n - 2) / 2);
    }
  }
}

TEST_CASE("uneven chains of ops: never better than the optimum, and mostly it where a backward op reads one state") {
  // Where it reads two, the optimum may keep the later one and make the earlier one again between two backward runs; a
  // persistent schedule runs both again.
  Rng rng(Seed("rotor ops", 43));
  int equal[2] = {0, 0}, cases[2] = {0, 0};
  for (int round = 0; round < 40; ++round) {
    const std::int64_t n = Draw(rng, 3, 6);
    std::vector<std::int64_t> bytes, time;
    for (std::int64_t i = 0; i < n; ++i) bytes.push_back(Draw(rng, 1, 5)), time.push_back(Draw(rng, 1, 9));
    const Instance in = MakeInstance(Chain(bytes, time, round % 2 == 1));
    const std::int64_t peak = EvaluateSequence(in, in.order).peak;
    for (std::int64_t budget = peak / 2; budget <= peak; ++budget) {
      WorkBudget work(2'000'000'000);
      const StateSearchResult best = SearchStates(in, budget, OrderMode::kFixed, 0, work);
      const std::int64_t ours = BestWithin(in, budget, true);
      INFO("round " << round << " n " << n << " budget " << budget);
      if (best.status == SolveStatus::kInfeasible) REQUIRE(ours < 0);
      if (best.status != SolveStatus::kOptimal) continue;
      ++cases[round % 2];
      if (ours >= 0) REQUIRE(ours >= best.duration);
      equal[round % 2] += ours == best.duration ? 1 : 0;
    }
  }
  MESSAGE("optimal at " << equal[0] << " of " << cases[0] << " budgets, " << equal[1] << " of " << cases[1]
                        << " where two states are read");
  CHECK(equal[0] * 10 >= cases[0] * 9);
}

TEST_CASE("any graph: a sequence in the given order, of no more ops than the schedule") {
  Rng rng(Seed("rotor graphs", 44));
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const Graph graph = RandomGraph(rng, SmallAndLarge(round));
    const Instance in = MakeInstance(graph);
    const bool valid = EvaluateSequence(in, in.order).valid;
    INFO(Describe(graph));
    for (const bool cuts : {false, true})
      for (const std::size_t most : {3, 100}) {
        const BlockChain chain = MakeBlockChain(in, cuts, most);
        REQUIRE(chain.blocks.empty() == !valid);
        if (!valid) continue;
        WorkBudget work;
        const auto table = RotorTable::Make(chain.blocks, 2, 60, work);
        REQUIRE(table);
        for (std::int32_t m = 0; m <= 60; ++m) {
          if (table->Time(m) >= RotorTable::kNever) continue;
          const std::vector<std::int32_t> sequence = BlockChainSequence(in, chain, table->Schedule(m));
          REQUIRE(EvaluateSequence(in, sequence).valid);
          REQUIRE(FollowsOrder(in, sequence, true, false));
          ++found;
        }
      }
  }
  CHECK(found > 1000);
}

}  // namespace
}  // namespace ebb::test
