// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/decoded_point.hpp"

#include <algorithm>

#include "engine/bounds/boundary_places.hpp"
#include "engine/bounds/boundary_rounding.hpp"

namespace ebb {

std::optional<DecodedPoint> DecodePoint(const BoundaryModel& model, std::span<const double> x, BoundaryDecoder& decoder,
                                        const DecodeTerms& terms, bool places) {
  const Instance& in = model.instance();
  DecodedPoint point;
  point.sequence = decoder.Decode(model, x);
  if (point.sequence.empty()) return std::nullopt;
  const SequenceFacts facts = EvaluateSequence(in, point.sequence);
  if (!facts.valid) return std::nullopt;
  point.duration = facts.duration;
  point.peak = facts.peak;
  if (terms.from >= 0) {
    const auto at =
        std::find(point.sequence.begin(), point.sequence.end(), in.order[static_cast<std::size_t>(terms.from)]);
    const auto first = static_cast<std::size_t>(at - point.sequence.begin()) + 1;
    if (!BeginsAtEntry(in, terms.entry, std::span(point.sequence).subspan(first))) return std::nullopt;
    point.peak = in.resident_bytes;  // where `from` is the last execution nothing follows
    for (std::size_t i = first; i < facts.profile.size(); ++i) point.peak = std::max(point.peak, facts.profile[i]);
  }
  point.fits = point.peak <= terms.budget && FollowsOrder(in, point.sequence, true, terms.mode == OrderMode::kStaged);
  if (places) {
    point.overflow = OverflowPlaces(in, point.sequence, facts, terms.budget, terms.from, model.positions());
    point.untold = UntoldPairs(model, x, point.sequence, facts, terms.budget);
  }
  return point;
}

}  // namespace ebb
