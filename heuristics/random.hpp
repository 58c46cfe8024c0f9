// SPDX-License-Identifier: Apache-2.0
//
// Random draws for inner loops: Boost's Mersenne twister with draws by multiply and shift (Lemire 2019, without the
// rejection: the bias is below 2^-32 here and the price of a division is not). The same everywhere.
#pragma once

#include <cmath>
#include <cstdint>

#include <boost/random/mersenne_twister.hpp>

namespace ebb {

__extension__ using Wide = unsigned __int128;

class QuickRandom {
 public:
  explicit QuickRandom(std::uint64_t seed) : engine_(seed) {}
  // 0 <= result < bound; bound >= 1.
  [[nodiscard]] std::int64_t Below(std::int64_t bound) {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>((static_cast<Wide>(engine_()) * static_cast<std::uint64_t>(bound)) >> 64));
  }
  [[nodiscard]] std::int32_t Below32(std::int64_t bound) { return static_cast<std::int32_t>(Below(bound)); }
  // 0 <= result < 1
  [[nodiscard]] double Unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  [[nodiscard]] bool Chance(double probability) { return Unit() < probability; }
  // Exponential with mean 1.
  [[nodiscard]] double Exponential() { return -std::log(1.0 - Unit()); }
  // 1 <= result <= bound, its logarithm spread evenly: all scales alike.
  [[nodiscard]] std::int64_t LogUniform(std::int64_t bound) {
    const auto x = static_cast<std::int64_t>(std::exp(Unit() * std::log(static_cast<double>(bound) + 1.0)));
    return x < 1 ? 1 : x > bound ? bound : x;
  }

 private:
  boost::random::mt19937_64 engine_;
};

}  // namespace ebb
