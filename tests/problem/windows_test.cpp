// SPDX-License-Identifier: Apache-2.0
//
// Windows of random sequences: each is an instance on which its own piece is valid, the profiles of the pieces are the
// whole's, and another solution of a window, put in its place, gives a valid sequence with the same memory outside.
#include "engine/problem/windows.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

// Drops repeats at random as long as the sequence stays valid.
std::vector<std::int32_t> Thinned(const Instance& in, std::vector<std::int32_t> sequence, Rng& rng) {
  for (int k = 0; k < 8; ++k) {
    std::vector<std::int32_t> less = sequence;
    less.erase(less.begin() + Draw(rng, 0, static_cast<std::int64_t>(less.size()) - 1));
    if (EvaluateSequence(in, less).valid && FollowsOrder(in, less, true, false)) sequence = std::move(less);
  }
  return sequence;
}

// The sequence with another solution of the window in its place.
std::vector<std::int32_t> PutBack(const std::vector<std::int32_t>& sequence, const Window& w,
                                  const std::vector<std::int32_t>& other) {
  std::vector<std::int32_t> changed(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(w.begin));
  for (const std::int32_t op : other)
    if (w.op[op] >= 0) changed.push_back(w.op[op]);
  changed.insert(changed.end(), sequence.begin() + static_cast<std::ptrdiff_t>(w.end), sequence.end());
  return changed;
}

TEST_CASE("windows are instances that fit back in") {
  Rng rng(Seed("windows"));
  int windows = 0, alone = 0, replaced = 0;
  for (int round = 0; round < 600; ++round) {
    CAPTURE(round);
    RandomGraphOptions options = RandomGraphOptions::Plain();
    options.min_ops = 6;
    options.max_ops = 24;
    options.multi_output = round % 2 == 0 ? 30 : 0;
    options.graph_inputs = 30;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    if (!in.plain) continue;
    // The given order with repeats wherever they are possible.
    std::vector<std::int32_t> sequence;
    for (std::size_t i = 0; i < in.num_ops; ++i) {
      if (i > 0 && Chance(rng, 40)) sequence.push_back(in.order[Draw(rng, 0, static_cast<std::int64_t>(i) - 1)]);
      sequence.push_back(in.order[i]);
    }
    const SequenceFacts whole = EvaluateSequence(in, sequence);
    if (!whole.valid) continue;
    const std::vector<std::int32_t> cuts = ChooseCuts(in, static_cast<std::size_t>(Draw(rng, 2, 8)));
    REQUIRE(std::is_sorted(cuts.begin(), cuts.end()));
    REQUIRE(cuts.front() == 0);
    REQUIRE(cuts.back() == static_cast<std::int32_t>(in.num_ops));
    const bool free_order = Chance(rng, 50);
    const std::vector<Window> pieces = ExtractWindows(in, sequence, cuts, free_order);
    REQUIRE(pieces.size() + 1 == cuts.size());
    std::size_t at = 0;
    for (const Window& w : pieces) {
      ++windows;
      CHECK(w.begin == at);
      at = w.end;
      if (w.instance.num_ops == 0) continue;
      ++alone;
      CHECK(SameInstance(w.instance, w.instance));
      const SequenceFacts part = EvaluateSequence(w.instance, w.sequence);
      REQUIRE(part.valid);
      CHECK(FollowsOrder(w.instance, w.sequence, true, false));
      const std::size_t entry = !w.op.empty() && w.op[0] < 0;
      REQUIRE(part.profile.size() == w.end - w.begin + entry);
      for (std::size_t k = entry; k < part.profile.size(); ++k)
        CHECK(part.profile[k] == whole.profile[w.begin + k - entry]);
      if (entry > 0 && w.begin > 0) CHECK(part.profile[0] <= whole.profile[w.begin - 1]);

      const std::vector<std::int32_t> other = Thinned(w.instance, w.sequence, rng);
      if (other == w.sequence) continue;
      ++replaced;
      const std::vector<std::int32_t> changed = PutBack(sequence, w, other);
      const std::size_t end = changed.size() - (sequence.size() - w.end);
      const SequenceFacts after = EvaluateSequence(in, changed);
      REQUIRE(after.valid);
      CHECK(FollowsOrder(in, changed, true, false));
      for (std::size_t k = 0; k < w.begin; ++k) CHECK(after.profile[k] <= whole.profile[k]);
      for (std::size_t k = end; k < changed.size(); ++k) CHECK(after.profile[k] == whole.profile[w.end + k - end]);
    }
    CHECK(at == sequence.size());
  }
  CHECK(windows > 500);
  CHECK(alone > 300);
  CHECK(replaced > 100);
}

TEST_CASE("windows of graphs with views and in-place ops fit back in, nearly always") {
  Rng rng(Seed("windows with views"));
  int alone = 0, not_plain = 0, replaced = 0, fits = 0;
  for (int round = 0; round < 1500; ++round) {
    CAPTURE(round);
    const Graph graph = RandomGraph(rng, OfOps(6, 24));
    const Instance in = MakeInstance(graph);
    std::vector<std::int32_t> sequence;
    for (std::size_t i = 0; i < in.num_ops; ++i) {
      if (i > 0 && Chance(rng, 20)) {
        sequence.push_back(in.order[Draw(rng, 0, static_cast<std::int64_t>(i) - 1)]);
        if (!in.may_repeat[sequence.back()]) sequence.pop_back();
      }
      sequence.push_back(in.order[i]);
    }
    const SequenceFacts whole = EvaluateSequence(in, sequence);
    if (!whole.valid) continue;
    const std::vector<std::int32_t> cuts = ChooseCuts(in, static_cast<std::size_t>(Draw(rng, 2, 8)));
    const bool free_order = Chance(rng, 50);
    for (const Window& w : ExtractWindows(in, sequence, cuts, free_order)) {
      if (w.instance.num_ops == 0) continue;
      ++alone;
      not_plain += !w.instance.plain;
      const SequenceFacts part = EvaluateSequence(w.instance, w.sequence);
      REQUIRE(part.valid);
      const std::size_t entry = !w.op.empty() && w.op[0] < 0;
      REQUIRE(part.profile.size() == w.end - w.begin + entry);
      for (std::size_t k = entry; k < part.profile.size(); ++k)
        CHECK(part.profile[k] == whole.profile[w.begin + k - entry]);
      const std::vector<std::int32_t> other = Thinned(w.instance, w.sequence, rng);
      if (other == w.sequence) continue;
      ++replaced;
      fits += EvaluateSequence(in, PutBack(sequence, w, other)).valid;
    }
  }
  CHECK(alone > 500);
  CHECK(not_plain > 100);
  CHECK(replaced > 50);
  CHECK(fits * 20 >= replaced * 19);
}

}  // namespace
}  // namespace ebb::test
