// SPDX-License-Identifier: Apache-2.0
#include "cli/trade_off.hpp"

#include <algorithm>
#include <tuple>

#include "cli/format.hpp"

namespace ebb::cli {
namespace {

void TakePlan(CurvePoint& to, const CurvePoint& from) {
  to.duration = from.duration;
  to.peak = from.peak;
  to.executions = from.executions;
}

bool BetterPlan(const CurvePoint& a, const CurvePoint& b) {
  return std::tuple(a.duration, a.executions, a.peak) < std::tuple(b.duration, b.executions, b.peak);
}

double OverheadOf(const Curve& c, std::int64_t duration) {
  return c.base_duration == 0 ? 0 : 100.0 * (static_cast<double>(duration) / static_cast<double>(c.base_duration) - 1);
}

double ShareOf(const Curve& c, std::int64_t bytes) {
  return c.base_peak <= 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(c.base_peak);
}

}  // namespace

void MakeMonotone(Curve& curve) {
  auto& p = curve.points;
  // Upward: the plan of a smaller budget, where it is better.
  for (std::size_t i = 1; i < p.size(); ++i)
    if (p[i - 1].duration >= 0 && (p[i].duration < 0 || BetterPlan(p[i - 1], p[i]))) TakePlan(p[i], p[i - 1]);
  // Downward: the plan of a larger budget, where it fits and is no worse; bounds; infeasibility.
  for (std::size_t i = p.size(); i-- > 1;) {
    CurvePoint& low = p[i - 1];
    const CurvePoint& high = p[i];
    if (high.duration >= 0 && high.peak <= low.budget && (low.duration < 0 || BetterPlan(high, low)))
      TakePlan(low, high);
    low.lower_bound = std::max(low.lower_bound, high.lower_bound);
    if (high.status == EBB_STATUS_INFEASIBLE) low.status = EBB_STATUS_INFEASIBLE;
  }
  for (CurvePoint& point : p) {
    if (point.status == EBB_STATUS_INFEASIBLE) continue;
    point.status = point.duration < 0                    ? EBB_STATUS_UNKNOWN
                   : point.lower_bound >= point.duration ? EBB_STATUS_OPTIMAL
                                                         : EBB_STATUS_FEASIBLE;
  }
}

std::string CurveCsv(const Curve& curve) {
  std::string out =
      "budget,budget_share,status,duration,overhead_percent,peak,executions,lower_bound,bound_percent,seconds\n";
  for (const CurvePoint& p : curve.points) {
    const bool plan = p.duration >= 0;
    out += std::to_string(p.budget) + "," + Fixed(ShareOf(curve, p.budget), 6) + "," + ebb_status_name(p.status) + ",";
    out += plan ? std::to_string(p.duration) + "," + Fixed(OverheadOf(curve, p.duration), 4) + "," +
                      std::to_string(p.peak) + "," + std::to_string(p.executions)
                : ",,,";
    out += "," + std::to_string(p.lower_bound) + "," + Fixed(OverheadOf(curve, p.lower_bound), 4) + "," +
           Fixed(p.seconds, 2) + "\n";
  }
  return out;
}

std::string CurveJson(const Curve& curve) {
  std::string out = "{\"graph\": " + JsonText(curve.graph) +
                    ", \"base_duration\": " + std::to_string(curve.base_duration) +
                    ", \"base_peak\": " + std::to_string(curve.base_peak) + ",\n\"points\": [";
  bool first = true;
  for (const CurvePoint& p : curve.points) {
    out += first ? "\n" : ",\n";
    first = false;
    out += "{\"budget\": " + std::to_string(p.budget) + ", \"status\": \"" + ebb_status_name(p.status) + "\"";
    if (p.duration >= 0)
      out += ", \"duration\": " + std::to_string(p.duration) + ", \"peak\": " + std::to_string(p.peak) +
             ", \"executions\": " + std::to_string(p.executions);
    out += ", \"lower_bound\": " + std::to_string(p.lower_bound) + ", \"seconds\": " + Fixed(p.seconds, 2) + "}";
  }
  return out + "\n]}\n";
}

std::string CurveSvg(const Curve& curve) {
  constexpr double kWidth = 700, kHeight = 400, kLeft = 70, kRight = 20, kTop = 40, kBottom = 50;
  const double w = kWidth - kLeft - kRight, h = kHeight - kTop - kBottom;
  double top = 0, low = 1, high = 0;
  for (const CurvePoint& p : curve.points) {
    low = std::min(low, ShareOf(curve, p.budget));
    high = std::max(high, ShareOf(curve, p.budget));
    top = std::max(top, OverheadOf(curve, std::max(p.duration, p.duration < 0 ? 0 : p.lower_bound)));
  }
  if (top <= 0) top = 1;
  if (high <= low) high = low + 1e-6;
  const auto x = [&](double share) { return kLeft + w * (share - low) / (high - low); };
  const auto y = [&](double percent) { return kTop + h * (1 - percent / (1.05 * top)); };
  const auto text = [](double tx, double ty, const char* anchor, const std::string& what) {
    return "<text x=\"" + Fixed(tx, 1) + "\" y=\"" + Fixed(ty, 1) + "\" text-anchor=\"" + anchor + "\">" +
           XmlText(what) + "</text>\n";
  };
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"700\" height=\"400\" viewBox=\"0 0 700 400\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  std::string plans, bounds, dots;
  for (const CurvePoint& p : curve.points) {
    if (p.status == EBB_STATUS_INFEASIBLE) continue;
    const double px = x(ShareOf(curve, p.budget));
    const double bound = std::min(OverheadOf(curve, p.lower_bound), 1.05 * top);
    bounds += (bounds.empty() ? "M" : " L") + Fixed(px, 1) + " " + Fixed(y(bound), 1);
    if (p.duration < 0) continue;
    const double py = y(OverheadOf(curve, p.duration));
    plans += (plans.empty() ? "M" : " L") + Fixed(px, 1) + " " + Fixed(py, 1);
    dots += "<circle cx=\"" + Fixed(px, 1) + "\" cy=\"" + Fixed(py, 1) + "\" r=\"3\" fill=\"" +
            (p.status == EBB_STATUS_OPTIMAL ? "#1e8449" : "#2471a3") + "\"/>\n";
  }
  if (!bounds.empty())
    out += "<path d=\"" + bounds + "\" fill=\"none\" stroke=\"#999999\" stroke-dasharray=\"5 4\"/>\n";
  if (!plans.empty()) out += "<path d=\"" + plans + "\" fill=\"none\" stroke=\"#2471a3\" stroke-width=\"1.5\"/>\n";
  out += dots;
  out += "<path d=\"M" + Fixed(kLeft, 1) + " " + Fixed(kTop, 1) + " V" + Fixed(kTop + h, 1) + " H" +
         Fixed(kLeft + w, 1) + "\" fill=\"none\" stroke=\"#333333\"/>\n";
  for (int i = 0; i <= 4; ++i) {
    const double percent = top * i / 4, share = low + (high - low) * i / 4;
    out += text(kLeft - 6, y(percent) + 4, "end", Fixed(percent, 2) + " %");
    out += text(x(share), kTop + h + 18, "middle", Fixed(share, 3));
  }
  out += text(kLeft, kTop - 20, "start",
              curve.graph + ": time above the base against the budget (green: proved optimal; dashed: bound)");
  out += text(kLeft + w / 2, kHeight - 10, "middle",
              "budget, as a share of the no-recompute peak of " + ReadableBytes(curve.base_peak));
  return out + "</svg>\n";
}

}  // namespace ebb::cli
