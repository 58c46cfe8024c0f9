// SPDX-License-Identifier: Apache-2.0
#include "portfolio/kernel.hpp"

#include <utility>

namespace ebb {
namespace {
constexpr std::size_t kPlans = 5;
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
}  // namespace

std::vector<std::int32_t> Kernel::Again(std::span<const std::int32_t> sequence) const {
  std::vector<std::uint8_t> seen(in_.num_ops, 0);
  std::vector<std::int32_t> again;
  for (const std::int32_t op : sequence)
    if (std::exchange(seen[At(op)], 1) != 0) again.push_back(op);
  return again;
}

void Kernel::Note(std::span<const std::int32_t> sequence) {
  plans_.push_back(Again(sequence));
  if (plans_.size() > kPlans) plans_.pop_front();
}

Instance Kernel::Narrowed(std::span<const std::int32_t> best) const {
  std::vector<std::uint8_t> may(in_.num_ops, 0);
  for (const std::int32_t op : Again(best)) may[At(op)] = 1;
  for (const auto& plan : plans_)
    for (const std::int32_t op : plan) may[At(op)] = 1;
  Instance narrowed = in_;
  for (std::size_t op = 0; op < in_.num_ops; ++op)
    if (may[op] == 0) narrowed.may_repeat[op] = 0;
  return narrowed;
}

}  // namespace ebb
