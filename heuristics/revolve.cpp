// SPDX-License-Identifier: Apache-2.0
#include "heuristics/revolve.hpp"

#include <algorithm>
#include <limits>

#include "engine/base/int128.hpp"
#include "heuristics/chen.hpp"
#include "heuristics/replay.hpp"

namespace ebb {
namespace {

constexpr std::int32_t kMostSegments = 512;
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

class Sweep {
 public:
  Sweep(const Instance& in, const RevolveParams& params)
      : in_(in),
        params_(params),
        begins_(ForwardSegments(in, params.cuts_only, kMostSegments)),
        replay_(in),
        keep_(in.num_values, 0) {
    const std::int32_t turn = TurnPosition(in);
    segment_.assign(in.num_values, -1);
    last_segment_.assign(in.num_values, -1);
    for (std::size_t v = 0; v < in.num_values; ++v) {
      if (in.maker[v] < 0 || in.rank[At(in.maker[v])] > turn) continue;
      segment_[v] = last_segment_[v] = SegmentOf(in.rank[At(in.maker[v])]);
      for (const std::int32_t r : in.readers[v])
        if (in.rank[At(r)] <= turn) last_segment_[v] = std::max(last_segment_[v], SegmentOf(in.rank[At(r)]));
    }
    turn_ = turn;
  }

  std::vector<std::int32_t> Run(std::size_t most) {
    for (std::int32_t p = 0; p < static_cast<std::int32_t>(in_.num_ops); ++p) {
      const std::int32_t op = in_.order[At(p)];
      const std::vector<std::int32_t> missing = replay_.Missing(op);
      if (replay_.sequence().size() + missing.size() > most) return {};
      for (const std::int32_t m : missing) replay_.Execute(m);
      replay_.Execute(op);
      if (p == turn_) {
        const auto last = static_cast<std::int32_t>(begins_.size()) - 1;
        Place(last, last + 1);
        Forget(p, true);
      } else if (p > turn_ && !missing.empty()) {
        std::int32_t top = 0;
        for (const std::int32_t v : in_.reads[At(op)])
          if (in_.maker[At(v)] >= 0 &&
              std::binary_search(missing.begin(), missing.end(), in_.maker[At(v)], ByRank{in_}))
            top = std::max(top, segment_[At(v)]);
        // What comes back is the segment's end, or all of it with the state before it.
        Place(top, params_.keep_entry ? top + 1 : top + 2);
        Forget(p, params_.keep_entry);
      }
    }
    replay_.Finish();
    if (replay_.sequence().size() > most) return {};
    return replay_.Take();
  }

 private:
  struct ByRank {
    const Instance& in;
    bool operator()(std::int32_t a, std::int32_t b) const { return in.rank[At(a)] < in.rank[At(b)]; }
  };

  [[nodiscard]] std::int32_t SegmentOf(std::int32_t position) const {
    return static_cast<std::int32_t>(std::upper_bound(begins_.begin(), begins_.end(), position) - begins_.begin()) - 1;
  }

  // Segment `top` is made (again) and then the state end - 1 is turned at: the snapshots up to `top` stay, the rest
  // follows the rule for the chain up to `end`.
  void Place(std::int32_t top, std::int32_t end) {
    top_ = top;
    while (snapshots_.back() > top) snapshots_.pop_back();
    std::int64_t left = params_.snapshots - static_cast<std::int64_t>(snapshots_.size()) + 1;
    while (left >= 2 && end - snapshots_.back() >= 2) {
      const std::int64_t next = snapshots_.back() + RevolveSplit(end - snapshots_.back(), left);
      snapshots_.push_back(static_cast<std::int32_t>(next));
      --left;
    }
  }

  // Forward values stay where they are part of a snapshot, of the segment at hand, or of the state before it.
  void Forget(std::int32_t position, bool keep_entry) {
    std::fill(keep_.begin(), keep_.end(), 0);
    for (const std::int32_t v : in_.reads[At(in_.order[At(position)])]) keep_[At(v)] = 1;
    for (std::size_t v = 0; v < in_.num_values; ++v) {
      if (segment_[v] < 0 || keep_[v]) continue;
      bool keep = segment_[v] == top_;
      if (keep_entry) keep = keep || (segment_[v] < top_ && last_segment_[v] >= top_);
      // Lies across the cut before some snapshot's segment?
      const auto after = std::upper_bound(snapshots_.begin(), snapshots_.end(), segment_[v]);
      keep = keep || (after != snapshots_.end() && *after <= last_segment_[v]);
      if (!keep) replay_.Drop(static_cast<std::int32_t>(v));
    }
  }

  const Instance& in_;
  const RevolveParams params_;
  const std::vector<std::int32_t> begins_;
  Replay replay_;
  std::int32_t turn_ = -1, top_ = 0;
  std::vector<std::int32_t> segment_, last_segment_;  // of a forward value: made in, last read forward in
  std::vector<std::int32_t> snapshots_{0};            // segments before which the state is kept, ascending
  std::vector<std::uint8_t> keep_;
};

}  // namespace

std::vector<std::int32_t> ForwardSegments(const Instance& in, bool cuts_only, std::size_t most) {
  const std::int32_t forward = TurnPosition(in) + 1;
  std::vector<std::int32_t> begins;
  if (cuts_only) {
    // A value that is alone between its maker and the next op ends a segment there.
    for (const std::int32_t v : ChenCandidateValues(in, ChenCandidates::kArticulation)) {
      const std::int32_t p = in.rank[At(in.maker[At(v)])] + 1;
      if (p < forward) begins.push_back(p);
    }
  } else {
    for (std::int32_t p = 1; p < forward; ++p) begins.push_back(p);
  }
  std::vector<std::int32_t> out{0};
  const std::size_t lump = begins.size() / most + 1;
  for (std::size_t i = lump - 1; i < begins.size(); i += lump) out.push_back(begins[i]);
  return out;
}

std::int64_t RevolveSteps(std::int64_t steps, std::int64_t snapshots) {
  // C(s + r, s) for r = 0, 1, ...; sum of the C(s + i, s) for i < r is C(s + r, s + 1).
  Int128 reach = 1, below = 0;
  std::int64_t r = 0;
  while (reach < steps) {
    below += reach;
    ++r;
    reach = reach * (snapshots + r) / r;
  }
  const Int128 total = static_cast<Int128>(r) * steps - below;
  return total > kHuge ? kHuge : static_cast<std::int64_t>(total);
}

std::int64_t RevolveSplit(std::int64_t steps, std::int64_t snapshots) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max(), at = 1;
  for (std::int64_t m = 1; m < steps; ++m) {
    const std::int64_t cost = m + RevolveSteps(steps - m, snapshots - 1) + RevolveSteps(m, snapshots);
    if (cost < best) best = cost, at = m;
  }
  return at;
}

std::size_t RevolveSegments(const Instance& in, bool cuts_only) {
  return ForwardSegments(in, cuts_only, kMostSegments).size();
}

std::vector<std::int32_t> RevolveSequence(const Instance& in, const RevolveParams& params,
                                          std::size_t most_executions) {
  if (TurnPosition(in) < 0) return {};
  return Sweep(in, params).Run(most_executions);
}

}  // namespace ebb
