// SPDX-License-Identifier: Apache-2.0
//
// Shares of work for several ways of doing the same: by what each gained lately for its own work, and for each a
// little, so that its time is noticed when it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"

namespace ebb {

class WayChoice {
 public:
  explicit WayChoice(std::size_t ways) : ways_(ways) {}

  // Of the ways that make sense now (`sensible` per way; the first always does), the one that had least for its share.
  // One that made none for a while makes up for nothing.
  [[nodiscard]] std::size_t Next(std::span<const std::uint8_t> sensible);
  void Book(std::size_t way, double gain, Ticks work);

 private:
  struct Way {
    double gain = 0, work = 0;  // fading
    double had = 0;             // work for each unit of share
    [[nodiscard]] double Rate() const;
  };
  std::vector<Way> ways_;
};

}  // namespace ebb
