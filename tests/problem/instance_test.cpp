// SPDX-License-Identifier: Apache-2.0
// The Instance says the same as the graph: Collapse and Expand lose nothing (duration equal, peak never higher, order
// and caps kept) on random sequences over random graphs with all features. That the two have the same optimum is
// checked where the exact search over the Instance is (tests/heuristics/state_search_test.cpp).
#include "engine/problem/instance.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/plan.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

std::string Names(const Graph& graph, std::span<const OpId> sequence) {
  std::string text;
  for (const OpId op : sequence) text += graph.op_name(op) + " ";
  return text;
}
std::string Names(const Graph& graph, std::span<const std::int32_t> sequence) {
  std::string text;
  for (const std::int32_t op : sequence) text += graph.op_name(static_cast<OpId>(op)) + " ";
  return text;
}

std::int32_t MostRuns(std::span<const OpId> sequence) {
  std::int32_t most = 0;
  for (const OpId op : sequence)
    most = std::max(most, static_cast<std::int32_t>(std::count(sequence.begin(), sequence.end(), op)));
  return most;
}

// Could one repeat be left out?
bool HasIdleRepeat(const Graph& graph, const std::vector<OpId>& sequence, std::int64_t peak) {
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    std::vector<OpId> without = sequence;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (const JudgeAnswer j = Judge(graph, without); j.valid && j.peak <= peak) return true;
  }
  return false;
}

// The instance's sequence as a sequence for the graph keeps all promises of instance.hpp.
void CheckExpand(const Graph& graph, const Instance& instance, const std::vector<std::int32_t>& sequence) {
  const SequenceFacts facts = EvaluateSequence(instance, sequence);
  if (!facts.valid) return;
  std::int32_t most = 1;
  for (const std::int32_t op : sequence)
    most = std::max(most, static_cast<std::int32_t>(std::count(sequence.begin(), sequence.end(), op)));
  CAPTURE(Names(graph, sequence));
  for (const bool staged : {false, true}) {
    if (staged && !FollowsOrder(instance, sequence, true, true)) continue;
    const std::vector<OpId> expanded = Expand(graph, instance, sequence, staged);
    CAPTURE(Names(graph, expanded));
    const JudgeAnswer judge = Judge(graph, expanded);
    REQUIRE_MESSAGE(judge.valid, judge.fault);
    CHECK(judge.duration == facts.duration);
    CHECK(judge.peak <= facts.peak);
    CHECK(MostRuns(expanded) <= most);
    if (FollowsOrder(instance, sequence, true, false)) CHECK(JudgeOrder(graph, expanded, OrderMode::kFixed));
    if (staged) CHECK(JudgeOrder(graph, expanded, OrderMode::kStaged));
  }
}

}  // namespace

TEST_CASE("collapse and expand: same duration, no higher peak, same order") {
  Rng rng(Seed("instance"));
  int valid = 0, staged = 0;
  for (int round = 0; round < 8000; ++round) {
    RandomGraphOptions options;
    if (Chance(rng, 50)) options.views = 60;
    if (Chance(rng, 30)) options.inplace = 50;
    if (Chance(rng, 50)) options.once = 0;
    const Graph graph = RandomGraph(rng, options);
    const Instance instance = MakeInstance(graph);
    CAPTURE(Describe(graph));
    const std::vector<OpId> sequence = RandomSequence(graph, rng);
    const JudgeAnswer judge = Judge(graph, sequence);
    if (!judge.valid) continue;
    ++valid;
    CAPTURE(Names(graph, sequence));
    std::vector<std::int32_t> collapsed = Collapse(graph, instance, sequence);
    const SequenceFacts facts = EvaluateSequence(instance, collapsed);
    REQUIRE(facts.valid);
    CHECK(facts.duration == judge.duration);
    // A repeat that is good for nothing may cost room there and not here (a costly view keeps the old storage).
    CHECK((facts.peak <= judge.peak || HasIdleRepeat(graph, sequence, judge.peak)));
    CHECK(facts.profile.size() == collapsed.size());
    const bool fixed = JudgeOrder(graph, sequence, OrderMode::kFixed);
    CHECK(FollowsOrder(instance, collapsed, true, false) == fixed);
    if (fixed && JudgeOrder(graph, sequence, OrderMode::kStaged)) {
      CHECK(FollowsOrder(instance, collapsed, true, true));
      ++staged;
    }
    CheckExpand(graph, instance, collapsed);
    // Other sequences nearby.
    for (int k = 0; k < 6; ++k) {
      std::vector<std::int32_t> other = collapsed;
      const auto at = [&](std::int64_t less) { return Draw(rng, 0, static_cast<std::int64_t>(other.size()) - less); };
      switch (Draw(rng, 0, 2)) {
        case 0:
          other.insert(other.begin() + at(0),
                       static_cast<std::int32_t>(Draw(rng, 0, static_cast<std::int64_t>(graph.num_ops()) - 1)));
          break;
        case 1: std::swap(other[static_cast<std::size_t>(at(1))], other[static_cast<std::size_t>(at(1))]); break;
        default: other.erase(other.begin() + at(1)); break;
      }
      CheckExpand(graph, instance, other);
    }
  }
  MESSAGE(valid << " sequences, " << staged << " staged");
  CHECK(valid > 3000);
  CHECK(staged > 500);
}
