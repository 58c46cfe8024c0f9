// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/certificate.hpp"

#include <algorithm>

namespace ebb {

GapCoverCertificate MakeCertificate(const Graph& graph, const Instance& in, const GapTable& table,
                                    const GapCoverBound& bound, std::int64_t budget) {
  GapCoverCertificate out;
  out.budget = Bytes(budget);
  out.base_duration = graph.base_duration();
  out.bound = Duration(in.base_duration + bound.extra);
  out.cost_scale = bound.costs.scale;
  out.price_scale = bound.price_scale;
  const auto op_at = [&](std::int32_t row) {
    return row < static_cast<std::int32_t>(table.num_rows()) ? static_cast<OpId>(table.row_op[row]) : OpId::kNone;
  };
  for (std::size_t r = 0; r < table.num_rows(); ++r)
    if (bound.price[r] > 0) out.rows.push_back({op_at(static_cast<std::int32_t>(r)), bound.price[r]});

  const std::vector<Int128> sums = PriceSums(bound.price);
  const auto priced = [&](const Gap& g) { return sums[g.end] > sums[g.begin]; };
  const auto claim = [&](const Gap& g) {
    GapCoverCertificate::Claim c;
    c.tensor = in.tensor[g.value];
    c.after = op_at(g.begin - 1);
    c.before = op_at(g.end);
    return c;
  };
  for (std::size_t g = 0; g < table.gaps.size(); ++g) {
    if (!priced(table.gaps[g])) continue;
    GapCoverCertificate::Claim c = claim(table.gaps[g]);
    const auto ops = table.charges[g];
    for (std::size_t k = 0; k < ops.size(); ++k)
      c.charges.push_back({static_cast<OpId>(ops[k]), bound.costs.share[table.charges.begin(g) + k]});
    out.claims.push_back(std::move(c));
  }
  for (const PinnedGap& p : table.pinned_gaps) {
    if (!priced(p.gap)) continue;
    GapCoverCertificate::Claim c = claim(p.gap);
    c.pinned_by = static_cast<OpId>(p.op);
    out.claims.push_back(std::move(c));
  }
  for (const ForcedRerun& f : table.forced)
    out.forced.push_back({static_cast<OpId>(f.op), in.tensor[f.value], op_at(f.begin), op_at(f.end)});
  return out;
}

}  // namespace ebb
