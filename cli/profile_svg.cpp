// SPDX-License-Identifier: Apache-2.0
//
// Long plans are drawn as columns, each the largest value of its executions, so that a peak is never lost and the file
// stays small.
#include "cli/profile_svg.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cli/format.hpp"

namespace ebb::cli {
namespace {

constexpr double kWidth = 900, kHeight = 320, kLeft = 80, kRight = 20, kTop = 40, kBottom = 40;
constexpr std::size_t kMaxColumns = 1500;

std::string Line(double x1, double y1, double x2, double y2, const char* style) {
  return "<line x1=\"" + Fixed(x1, 2) + "\" y1=\"" + Fixed(y1, 2) + "\" x2=\"" + Fixed(x2, 2) + "\" y2=\"" +
         Fixed(y2, 2) + "\" " + style + "/>\n";
}

std::string Text(double x, double y, const std::string& anchor, const std::string& text) {
  return "<text x=\"" + Fixed(x, 2) + "\" y=\"" + Fixed(y, 2) + "\" text-anchor=\"" + anchor + "\">" + XmlText(text) +
         "</text>\n";
}

}  // namespace

std::string ProfileSvg(const ebb_graph* graph, const ebb_plan* plan) {
  const std::int64_t n = ebb_plan_num_executions(plan);
  const std::int64_t budget = ebb_plan_budget(plan), peak = ebb_plan_peak(plan);
  const std::size_t columns =
      std::min<std::size_t>(kMaxColumns, static_cast<std::size_t>(std::max<std::int64_t>(n, 1)));
  std::vector<std::int64_t> bytes(columns, 0);
  std::vector<std::uint8_t> repeats(columns, 0), seen(static_cast<std::size_t>(ebb_graph_num_ops(graph)), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto column =
        static_cast<std::size_t>(static_cast<double>(i) / static_cast<double>(n) * static_cast<double>(columns));
    bytes[column] = std::max(bytes[column], ebb_plan_resident(plan, i));
    std::uint8_t& again = seen[static_cast<std::size_t>(ebb_plan_op(plan, i))];
    repeats[column] |= again;
    again = 1;
  }
  const std::int64_t base_peak = ebb_graph_base_peak(graph);
  // A budget far above the peak would flatten the picture.
  const bool show_budget = budget <= 2 * std::max(base_peak, peak);
  const double top = static_cast<double>(std::max({peak, show_budget ? budget : 0, base_peak, std::int64_t{1}})) * 1.04;
  const double w = kWidth - kLeft - kRight, h = kHeight - kTop - kBottom;
  const auto x = [&](double column) { return kLeft + w * column / static_cast<double>(columns); };
  const auto y = [&](double value) { return kTop + h * (1 - value / top); };

  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + Fixed(kWidth, 0) + "\" height=\"" +
                    Fixed(kHeight, 0) + "\" viewBox=\"0 0 " + Fixed(kWidth, 0) + " " + Fixed(kHeight, 0) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  out += "<path fill=\"#7fb3d5\" d=\"M" + Fixed(kLeft, 2) + " " + Fixed(kTop + h, 2);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::string level = Fixed(y(static_cast<double>(bytes[c])), 2);
    out += " L" + Fixed(x(static_cast<double>(c)), 2) + " " + level + " L" + Fixed(x(static_cast<double>(c + 1)), 2) +
           " " + level;
  }
  out += " L" + Fixed(kLeft + w, 2) + " " + Fixed(kTop + h, 2) + " Z\"/>\n";
  for (std::size_t c = 0; c < columns; ++c)
    if (repeats[c])
      out += "<rect x=\"" + Fixed(x(static_cast<double>(c)), 2) + "\" y=\"" + Fixed(kTop + h + 2, 2) + "\" width=\"" +
             Fixed(std::max(0.6, w / static_cast<double>(columns)), 2) + "\" height=\"8\" fill=\"#c0392b\"/>\n";
  const auto mark = [&](std::int64_t value, const std::string& what, const char* style, const std::string& anchor) {
    const double level = y(static_cast<double>(value));
    out += Line(kLeft, level, kLeft + w, level, style);
    out += Text(anchor == "end" ? kLeft + w : kLeft + 4, level - 4, anchor, what + " " + ReadableBytes(value));
  };
  if (show_budget) mark(budget, "budget", "stroke=\"#c0392b\" stroke-width=\"1.5\"", "end");
  if (base_peak > peak) mark(base_peak, "nothing run twice:", "stroke=\"#666666\" stroke-dasharray=\"5 4\"", "start");
  out += Line(kLeft, kTop, kLeft, kTop + h, "stroke=\"#333333\"");
  out += Line(kLeft, kTop + h, kLeft + w, kTop + h, "stroke=\"#333333\"");
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double value = top / 1.04 * share;
    out += Text(kLeft - 6, y(value) + 4, "end", ReadableBytes(static_cast<std::int64_t>(value)));
  }
  out += Text(kLeft, kTop - 22, "start",
              std::string(ebb_graph_name(graph)) + ": " + std::to_string(n) + " executions of " +
                  std::to_string(ebb_graph_num_ops(graph)) + " ops, peak " + ReadableBytes(peak) + ", duration +" +
                  Overhead(ebb_plan_duration(plan), ebb_plan_base_duration(plan)) + " %");
  out += Text(kLeft, kHeight - 10, "start", "executions, in their order (red: an op runs again)");
  return out + "</svg>\n";
}

}  // namespace ebb::cli
