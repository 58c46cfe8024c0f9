// SPDX-License-Identifier: Apache-2.0
//
// Tandem repeats over the order. Each op gets a token for what it is by itself (duration, workspace, sizes of inputs
// and outputs, ...); likely periods are the distances at which the same three tokens in a row were last seen; for each
// of the most frequent ones a scan finds the stretches where position i and i + period agree in token and wiring.
//
// Wiring: an input agrees if it comes from the same distance, or if in both places it comes from before the block.
// (A backward layer reads its forward layer from a distance that grows from block to block.) What comes from before the
// block depends on where blocks begin, so a stretch is cut into blocks from its first op on, and checked once more.
//
// Tried and dropped: suffix arrays over tokens with relative wiring. They find every repeat, but relative wiring hides
// the backward pass, and without wiring there is nothing that the scan does not find on the graphs at hand.
#include "engine/problem/repeated_blocks.hpp"

#include <algorithm>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace ebb {
namespace {

constexpr std::size_t kPeriods = 24;  // candidates that are scanned
constexpr std::int64_t kFewOps = 6;   // in a series of fewer, equality says nothing (two views in a row)

std::uint64_t Mix(std::uint64_t h, std::uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdULL;
  return h ^ (h >> 32);
}

class BlockFinder {
 public:
  explicit BlockFinder(const Graph& g) : g_(g), n_(static_cast<std::int64_t>(g.num_ops())) {}

  std::vector<GraphFacts::Blocks> Run() {
    if (n_ < 2) return {};
    rank_.assign(g_.num_ops(), 0);
    for (std::int64_t i = 0; i < n_; ++i) rank_[Index(At(i))] = i;
    MakeTokens();
    for (const std::int64_t p : LikelyPeriods()) ScanPeriod(p);
    return Choose();
  }

 private:
  OpId At(std::int64_t position) const { return g_.order()[static_cast<std::size_t>(position)]; }
  std::uint64_t Token(std::int64_t position) const { return tokens_[static_cast<std::size_t>(position)]; }

  void MakeTokens() {
    tokens_.reserve(g_.num_ops());
    for (std::int64_t i = 0; i < n_; ++i) {
      const OpId op = At(i);
      std::uint64_t h = Mix(static_cast<std::uint64_t>(g_.duration(op).count()),
                            static_cast<std::uint64_t>(g_.workspace(op).count()));
      h = Mix(h, (g_.recomputable(op) ? 1 : 2) + 4 * g_.inplace(op).size());
      const auto add = [&](TensorId t) {
        if (t == TensorId::kNone) {
          h = Mix(h, 3);
          return;
        }
        h = Mix(h, static_cast<std::uint64_t>(g_.storage_bytes(t).count()));
        h = Mix(h, (g_.view_of(t) != TensorId::kNone ? 1 : 0) + (g_.maker(t) == OpId::kNone ? 2 : 0) +
                       (g_.is_graph_output(t) ? 4 : 0));
      };
      for (const TensorId t : g_.inputs(op)) add(t);
      h = Mix(h, 7);
      for (const TensorId t : g_.outputs(op)) add(t);
      tokens_.push_back(h);
    }
  }

  std::vector<std::int64_t> LikelyPeriods() const {
    boost::unordered_flat_map<std::uint64_t, std::int64_t> last;
    boost::unordered_flat_map<std::int64_t, std::int64_t> votes;
    for (std::int64_t i = 0; i + 2 < n_; ++i) {
      const std::uint64_t gram = Mix(Mix(Token(i), Token(i + 1)), Token(i + 2));
      const auto [it, fresh] = last.emplace(gram, i);
      if (!fresh) ++votes[i - std::exchange(it->second, i)];
    }
    for (std::int64_t i = 0; i + 1 < n_; ++i)
      if (Token(i) == Token(i + 1)) ++votes[1];
    std::vector<std::pair<std::int64_t, std::int64_t>> ranked;  // {-votes, period}
    for (const auto& [period, count] : votes) ranked.emplace_back(-count, period);
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::int64_t> out;
    for (const auto& [count, period] : ranked) {
      if (out.size() == kPeriods) break;
      out.push_back(period);
    }
    return out;
  }

  // Do the op at `a` and the one at `a + period` agree, when the first one's block begins at `begin`?
  bool Agree(std::int64_t a, std::int64_t period, std::int64_t begin) const {
    if (Token(a) != Token(a + period)) return false;
    const auto x = g_.inputs(At(a)), y = g_.inputs(At(a + period));
    if (x.size() != y.size()) return false;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k] == TensorId::kNone || y[k] == TensorId::kNone) continue;  // both, by their tokens
      const OpId m = g_.maker(x[k]), q = g_.maker(y[k]);
      if (m == OpId::kNone || q == OpId::kNone) continue;  // both
      const std::int64_t from = rank_[Index(m)], to = rank_[Index(q)];
      const bool inside_x = from >= begin, inside_y = to >= begin + period;
      if (inside_x != inside_y) return false;
      if (inside_x && to - from != period) return false;
      if (inside_x && OutputIndex(m, x[k]) != OutputIndex(q, y[k])) return false;
    }
    return true;
  }
  std::size_t OutputIndex(OpId op, TensorId t) const {
    const auto outputs = g_.outputs(op);
    return static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), t) - outputs.begin());
  }

  void ScanPeriod(std::int64_t period) {
    std::int64_t i = 0;
    while (i + period < n_) {
      if (Token(i) != Token(i + period)) {
        ++i;
        continue;
      }
      std::int64_t end = i;  // tokens agree on [i, end)
      while (end + period < n_ && Token(end) == Token(end + period)) ++end;
      if (end - i >= period) CutBlocks(i, end, period);
      i = end;
    }
  }

  // Blocks from the first offset at which the wiring agrees, too.
  void CutBlocks(std::int64_t from, std::int64_t end, std::int64_t period) {
    std::int64_t begin = from;
    std::int64_t wasted = 0;
    while (begin + period <= end && wasted < 64) {
      std::int64_t count = 1;
      for (std::int64_t block = begin; block + period <= end; block += period) {
        bool equal = true;
        for (std::int64_t i = block; i < block + period && equal; ++i) equal = Agree(i, period, block);
        if (!equal) break;
        ++count;
      }
      if (count > 1) {
        GraphFacts::Blocks found;
        found.begin = begin;
        found.period = period;
        found.count = count;
        found_.push_back(found);
        begin += period * count;
        wasted = 0;
      } else {
        ++begin;
        ++wasted;
      }
    }
  }

  std::vector<GraphFacts::Blocks> Choose() {
    std::sort(found_.begin(), found_.end(), [](const GraphFacts::Blocks& a, const GraphFacts::Blocks& b) {
      const std::int64_t x = a.period * a.count, y = b.period * b.count;
      if (x != y) return x > y;
      return a.period != b.period ? a.period < b.period : a.begin < b.begin;
    });
    std::vector<std::uint8_t> covered(static_cast<std::size_t>(n_), 0);
    std::vector<GraphFacts::Blocks> chosen;
    for (GraphFacts::Blocks& b : found_) {
      if (b.period * b.count < kFewOps) continue;
      const auto begin = covered.begin() + b.begin, end = begin + b.period * b.count;
      if (std::find(begin, end, 1) != end) continue;
      std::fill(begin, end, 1);
      for (std::int64_t i = b.begin; i < b.begin + b.period; ++i) {
        b.duration += g_.duration(At(i));
        for (const TensorId t : g_.outputs(At(i)))
          if (g_.storage_root(t) == t) b.bytes += g_.size(t);
      }
      chosen.push_back(b);
    }
    std::sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return chosen;
  }

  const Graph& g_;
  const std::int64_t n_;
  std::vector<std::int64_t> rank_;
  std::vector<std::uint64_t> tokens_;
  std::vector<GraphFacts::Blocks> found_;
};

}  // namespace

std::vector<GraphFacts::Blocks> FindRepeatedBlocks(const Graph& graph) { return BlockFinder(graph).Run(); }

}  // namespace ebb
