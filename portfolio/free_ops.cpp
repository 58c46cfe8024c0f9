// SPDX-License-Identifier: Apache-2.0
#include "portfolio/free_ops.hpp"

#include <algorithm>

namespace ebb {
namespace {

constexpr std::int64_t kWidest = 3000;  // places of a window
constexpr double kLeastLevel = 5;
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// Ops that run again in a stretch of places.
std::vector<std::int32_t> Again(const PlanView& view, std::int64_t low, std::int64_t high) {
  std::vector<std::int32_t> ops;
  for (const std::int32_t place : view.repeats())
    if (place >= low && place < high) ops.push_back(view.sequence()[At(place)]);
  return ops;
}

void Append(std::vector<std::int32_t>& to, const std::vector<std::int32_t>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void FreeOps::DrawKind(double others) {
  double best = others, total = 0;
  for (const Facts& k : kinds_) best = std::max(best, k.success.rate());
  const auto weight = [&](const Facts& k) { return WeightOfRate(k.success.rate(), best); };
  for (const Facts& k : kinds_) total += weight(k);
  double at = random_.Unit() * total;
  for (kind_ = kHot; kind_ < kKinds; ++kind_) {
    at -= weight(kinds_[kind_]);
    if (at < 0) return;
  }
  kind_ = kHot;
}

std::size_t FreeOps::RandomRepeat(const PlanView& view) {
  return At(view.repeats()[At(random_.Below32(std::ssize(view.repeats())))]);
}

// Where little room is left.
std::size_t FreeOps::TightPlace(const PlanView& view) {
  for (int i = 0; i < 30; ++i) {
    const auto place = static_cast<std::size_t>(random_.Below(std::ssize(view.sequence())));
    if (view.room(place) <= tight_) return place;
  }
  return RandomRepeat(view);
}

std::int64_t FreeOps::SizeOf(std::int32_t op) const {
  std::int64_t bytes = 0;
  for (const std::int32_t v : in_.makes[At(op)]) bytes += in_.bytes[At(v)];
  return bytes;
}

// A random `count` of the ops.
void FreeOps::Free(std::vector<std::int32_t> ops, std::size_t count) {
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  for (std::size_t i = 0; i < ops.size() && i < count; ++i) {
    std::swap(ops[i], ops[i + static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(ops.size() - i)))]);
    SetFree(ops[i]);
  }
}

// With the ops that make views of what it makes.
void FreeOps::SetFree(std::int32_t op) {
  if (free_[At(op)]) return;
  free_[At(op)] = 1;
  if (in_.plain) return;
  for (const std::int32_t v : in_.makes[At(op)])
    for (const std::int32_t reader : in_.readers[At(v)])
      for (const std::int32_t w : in_.makes[At(reader)])
        if (in_.carrier[At(w)] == v) SetFree(reader);
}

void FreeOps::Choose(const PlanView& view, double others) {
  DrawKind(others);
  const auto count = static_cast<std::size_t>(kinds_[kind_].level);
  const std::int64_t length = std::ssize(view.sequence());
  const std::size_t centre = random_.Chance(0.5) ? TightPlace(view) : RandomRepeat(view);
  free_.assign(in_.num_ops, 0);
  begin_ = 1;
  end_ = length;
  if (length > kWidest) {
    begin_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(centre) - random_.Below(kWidest), 1, length - 1);
    end_ = std::min(length, begin_ + kWidest);
  }
  if (kind_ == kHot)
    Hot(view, centre, count);
  else if (kind_ == kClosure)
    Closure(view, count);
  else
    Size(view, centre, count);
}

void FreeOps::Hot(const PlanView& view, std::size_t centre, std::size_t count) {
  const auto half = static_cast<std::int64_t>(2 * count);
  const auto at = static_cast<std::int64_t>(centre);
  std::vector<std::int32_t> ops = Again(view, at - half, at + half);
  Append(ops, view.MakersAcross(centre));
  Free(std::move(ops), count);
}

// From one op that runs again over reads to others that do, and now and then to one that does not.
void FreeOps::Closure(const PlanView& view, std::size_t count) {
  std::vector<std::uint8_t> again(in_.num_ops, 0);
  for (const std::int32_t op : Again(view, begin_, end_)) again[At(op)] = 1;
  std::vector<std::int32_t> found{view.sequence()[RandomRepeat(view)]};
  free_[At(found[0])] = 1;
  const auto visit = [&](std::int32_t op) {
    if (op < 0 || free_[At(op)] || found.size() >= count || !view.Freeable(op)) return;
    if (!random_.Chance(again[At(op)] ? 0.9 : 0.3)) return;
    SetFree(op);
    found.push_back(op);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::int32_t op = found[i];
    for (const std::int32_t v : in_.reads[At(op)]) visit(in_.maker[At(v)]);
    for (const std::int32_t v : in_.makes[At(op)])
      for (const std::int32_t reader : in_.readers[At(v)]) visit(reader);
  }
}

void FreeOps::Size(const PlanView& view, std::size_t centre, std::size_t count) {
  std::vector<std::int32_t> ops = Again(view, begin_, end_);
  Append(ops, view.MakersAcross(centre));
  if (ops.empty()) return;
  const std::int64_t size = SizeOf(ops[At(random_.Below32(std::ssize(ops)))]);
  std::erase_if(ops, [&](std::int32_t op) { return SizeOf(op) / 2 > size || size / 2 > SizeOf(op); });
  Free(std::move(ops), count);
}

void FreeOps::Solved(bool to_the_end, Ticks work, Ticks limit) {
  double& level = kinds_[kind_].level;
  if (to_the_end && work < limit / 2)
    level = std::min(level * (work < limit / 20 ? 1.25 : 1.1), static_cast<double>(in_.num_ops));
  if (!to_the_end) level = std::max(level * 0.9, kLeastLevel);
}

}  // namespace ebb
