// SPDX-License-Identifier: Apache-2.0
#include "engine/linear/knapsack_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ebb {

namespace {

// The row as: sum weight * z <= capacity with z = x or 1 - x, weights > 0, fixed columns taken out.
struct Knapsack {
  std::vector<std::int32_t> column;
  std::vector<std::int64_t> weight;
  std::vector<double> z;
  std::vector<std::uint8_t> complemented;  // z = 1 - x
  std::int64_t capacity = 0;
};

Knapsack Normalize(const IntegerRows& data, std::size_t row, std::span<const double> x,
                   std::span<const std::int8_t> lower, std::span<const std::int8_t> upper) {
  Knapsack k;
  // sum c x >= b   <=>   sum (-c) x <= -b; a negative weight w on x is |w| on (1 - x) with the capacity raised by |w|.
  k.capacity = -data.rhs(row);
  const auto columns = data.columns(row);
  const auto coefficients = data.coefficients(row);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t j = static_cast<std::size_t>(columns[i]);
    const std::int64_t w = -coefficients[i];
    if (lower[j] == upper[j]) {
      k.capacity -= w * lower[j];
      continue;
    }
    k.column.push_back(columns[i]);
    k.weight.push_back(std::abs(w));
    k.complemented.push_back(w < 0);
    const double v = std::clamp(x[j], 0.0, 1.0);
    k.z.push_back(w < 0 ? 1.0 - v : v);
    if (w < 0) k.capacity += -w;
  }
  return k;
}

// Writes sum coefficient * z <= rhs as a row >=, if x violates it enough.
void Emit(const Knapsack& k, std::span<const std::int64_t> coefficient, std::int64_t rhs, double tolerance,
          IntegerRows& out) {
  double activity = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < coefficient.size(); ++i) {
    const double c = static_cast<double>(coefficient[i]);
    activity += c * k.z[i];
    norm += c * c;
  }
  if (activity - static_cast<double>(rhs) <= tolerance * std::sqrt(norm)) return;
  std::int64_t g = 0;
  for (const std::int64_t c : coefficient) g = std::gcd(g, c);
  if (g == 0) return;
  // sum c z <= floor(rhs / g): back to x, all signs turned.
  std::int64_t bound = rhs >= 0 ? rhs / g : -((-rhs + g - 1) / g);
  for (std::size_t i = 0; i < coefficient.size(); ++i) {
    const std::int64_t c = coefficient[i] / g;
    if (c == 0) continue;
    if (k.complemented[i]) {
      out.Term(k.column[i], c);
      bound -= c;
    } else {
      out.Term(k.column[i], -c);
    }
  }
  out.EndRow(-bound);
}

void SeparateCover(const Knapsack& k, double tolerance, IntegerRows& out) {
  const std::size_t n = k.weight.size();
  std::vector<std::int32_t> by(n);
  std::iota(by.begin(), by.end(), 0);
  // Cheapest violation per byte first.
  std::sort(by.begin(), by.end(), [&](std::int32_t a, std::int32_t b) {
    const double l = (1.0 - k.z[a]) * static_cast<double>(k.weight[b]);
    const double r = (1.0 - k.z[b]) * static_cast<double>(k.weight[a]);
    return l != r ? l < r : a < b;
  });
  std::vector<std::int32_t> cover;
  std::int64_t sum = 0;
  for (const std::int32_t i : by) {
    if (sum > k.capacity) break;
    if (k.z[i] <= 1e-9) break;
    cover.push_back(i);
    sum += k.weight[i];
  }
  if (sum <= k.capacity) return;
  // Minimal: drop what costs most violation while it stays a cover.
  std::sort(cover.begin(), cover.end(),
            [&](std::int32_t a, std::int32_t b) { return k.z[a] != k.z[b] ? k.z[a] < k.z[b] : a < b; });
  std::size_t kept = 0;
  for (const std::int32_t i : cover) {
    if (sum - k.weight[i] > k.capacity)
      sum -= k.weight[i];
    else
      cover[kept++] = i;
  }
  cover.resize(kept);
  std::sort(cover.begin(), cover.end(), [&](std::int32_t a, std::int32_t b) {
    return k.weight[a] != k.weight[b] ? k.weight[a] > k.weight[b] : a < b;
  });
  std::vector<std::int64_t> heaviest{0};  // heaviest[h]: the h heaviest of the cover together
  for (const std::int32_t i : cover) heaviest.push_back(heaviest.back() + k.weight[i]);
  std::vector<std::int64_t> coefficient(n, -1);
  for (const std::int32_t i : cover) coefficient[i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (coefficient[i] >= 0) continue;
    const auto above = std::upper_bound(heaviest.begin(), heaviest.end(), k.weight[i]);
    coefficient[i] = above - heaviest.begin() - 1;
  }
  Emit(k, coefficient, static_cast<std::int64_t>(cover.size()) - 1, tolerance, out);
}

// Sum weight * z <= capacity, in y = 1 - z where z is above a half: sum a y' >= b form and rounded.
void SeparateRounding(const Knapsack& k, double tolerance, IntegerRows& out) {
  const std::size_t n = k.weight.size();
  __extension__ using Wide = __int128;
  // sum over all of weight * d >= demand, d = 1 - z ("dropped"); those with d > 1/2 are turned back.
  std::int64_t demand = -k.capacity;
  std::vector<std::uint8_t> turned(n, 0);
  std::vector<std::int64_t> divisors;
  for (std::size_t i = 0; i < n; ++i) {
    demand += k.weight[i];
    if (k.z[i] > 1e-6 && k.z[i] < 1.0 - 1e-6) divisors.push_back(k.weight[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    turned[i] = k.z[i] < 0.5;
    if (turned[i]) demand -= k.weight[i];  // weight * (1 - z') : coefficient becomes negative
  }
  std::sort(divisors.begin(), divisors.end());
  divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
  if (divisors.size() > 12) divisors.erase(divisors.begin(), divisors.end() - 12);
  std::vector<std::int64_t> best, coefficient(n);
  std::int64_t best_rhs = 0;
  double best_efficacy = tolerance;
  for (const std::int64_t d : divisors) {
    for (const std::int64_t divisor : {d, d / 2, d / 4}) {
      if (divisor <= 1) continue;
      const auto floor_div = [&](std::int64_t a) { return a >= 0 ? a / divisor : -((-a + divisor - 1) / divisor); };
      const std::int64_t q = floor_div(demand), r = demand - q * divisor;
      if (r == 0) continue;
      // >= form: coefficient a -> r * floor(a / divisor) + min(a mod divisor, r); rhs -> r * (q + 1).
      double activity = 0.0, norm = 0.0;
      bool fits = true;
      const Wide rhs = static_cast<Wide>(r) * (q + 1);
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t a = turned[i] ? -k.weight[i] : k.weight[i];
        const std::int64_t f = floor_div(a), rest = a - f * divisor;
        const Wide c = static_cast<Wide>(r) * f + std::min(rest, r);
        if (c > (Wide{1} << 44) || c < -(Wide{1} << 44)) fits = false;
        coefficient[i] = static_cast<std::int64_t>(c);
        activity += static_cast<double>(c) * (turned[i] ? k.z[i] : 1.0 - k.z[i]);
        norm += static_cast<double>(c) * static_cast<double>(c);
      }
      if (!fits || rhs > (Wide{1} << 44) || rhs < -(Wide{1} << 44)) continue;
      const double efficacy = (static_cast<double>(rhs) - activity) / std::sqrt(norm + 1e-30);
      if (efficacy > best_efficacy) {
        best_efficacy = efficacy;
        best = coefficient;
        best_rhs = static_cast<std::int64_t>(rhs);
      }
    }
  }
  if (best.empty()) return;
  // sum c d' >= rhs, d' = z where turned, else 1 - z   <=>   sum over not turned c z - sum over turned c z <= ...
  for (std::size_t i = 0; i < n; ++i) {
    if (turned[i])
      best[i] = -best[i];
    else
      best_rhs -= best[i];
  }
  Emit(k, best, -best_rhs, tolerance, out);
}

}  // namespace

void SeparateKnapsack(const IntegerRows& data, std::size_t row, std::span<const double> x,
                      std::span<const std::int8_t> lower, std::span<const std::int8_t> upper, double tolerance,
                      IntegerRows& out) {
  const Knapsack k = Normalize(data, row, x, lower, upper);
  if (k.weight.size() < 2) return;
  std::int64_t total = 0;
  for (const std::int64_t w : k.weight) total += w;
  if (total <= k.capacity || k.capacity < 0) return;
  SeparateCover(k, tolerance, out);
  SeparateRounding(k, tolerance, out);
}

}  // namespace ebb
