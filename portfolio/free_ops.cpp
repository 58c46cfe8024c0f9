// SPDX-License-Identifier: Apache-2.0
#include "portfolio/free_ops.hpp"

#include <algorithm>
#include <utility>

namespace ebb {
namespace {

constexpr std::int64_t kWidest = 3000;  // places of a window
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

class Chooser {
 public:
  Chooser(const Instance& in, std::int64_t budget, const PlanView& plan, QuickRandom& random)
      : in_(in), budget_(budget), plan_(plan), random_(random) {}

  FreeOps Choose(FreeKind kind, std::size_t count) {
    out_.free.assign(in_.num_ops, 0);
    const std::int64_t length = std::ssize(plan_.sequence());
    const std::size_t centre = random_.Chance(0.5) ? TightPlace() : RandomRepeat();
    out_.begin = 1;
    out_.end = length;
    if (length > kWidest) {
      out_.begin = std::clamp<std::int64_t>(static_cast<std::int64_t>(centre) - random_.Below(kWidest), 1, length - 1);
      out_.end = std::min(length, out_.begin + kWidest);
    }
    switch (kind) {
      case FreeKind::kHot: {
        const auto half = static_cast<std::int64_t>(2 * count);
        const auto at = static_cast<std::int64_t>(centre);
        std::vector<std::int32_t> ops = Again(at - half, at + half);
        Append(ops, plan_.MakersAcross(centre));
        Free(std::move(ops), count);
        break;
      }
      case FreeKind::kClosure: {
        // From one op that runs again over reads to others that do, and now and then to one that does not.
        std::vector<std::uint8_t> again(in_.num_ops, 0);
        for (const std::int32_t op : Again(out_.begin, out_.end)) again[At(op)] = 1;
        std::vector<std::int32_t> found{plan_.sequence()[RandomRepeat()]};
        SetFree(found[0]);
        const auto visit = [&](std::int32_t op) {
          if (op < 0 || out_.free[At(op)] || found.size() >= count || !plan_.Freeable(op)) return;
          if (!random_.Chance(again[At(op)] ? 0.9 : 0.3)) return;
          SetFree(op);
          found.push_back(op);
        };
        for (std::size_t i = 0; i < found.size(); ++i) {
          for (const std::int32_t v : in_.reads[At(found[i])]) visit(in_.maker[At(v)]);
          for (const std::int32_t v : in_.makes[At(found[i])])
            for (const std::int32_t reader : in_.readers[At(v)]) visit(reader);
        }
        break;
      }
      case FreeKind::kSize: {
        std::vector<std::int32_t> ops = Again(out_.begin, out_.end);
        Append(ops, plan_.MakersAcross(centre));
        if (ops.empty()) break;
        const std::int64_t size = SizeOf(ops[At(random_.Below32(std::ssize(ops)))]);
        std::erase_if(ops, [&](std::int32_t op) { return SizeOf(op) / 2 > size || size / 2 > SizeOf(op); });
        Free(std::move(ops), count);
        break;
      }
    }
    return std::move(out_);
  }

 private:
  std::size_t RandomRepeat() { return At(plan_.repeats()[At(random_.Below32(std::ssize(plan_.repeats())))]); }
  // Where little room is left.
  std::size_t TightPlace() {
    const std::int64_t room = budget_ / 50;
    for (int i = 0; i < 30; ++i) {
      const auto place = static_cast<std::size_t>(random_.Below(std::ssize(plan_.sequence())));
      if (plan_.room(place) <= room) return place;
    }
    return RandomRepeat();
  }
  [[nodiscard]] std::int64_t SizeOf(std::int32_t op) const {
    std::int64_t bytes = 0;
    for (const std::int32_t v : in_.makes[At(op)]) bytes += in_.bytes[At(v)];
    return bytes;
  }
  // A random `count` of the ops.
  void Free(std::vector<std::int32_t> ops, std::size_t count) {
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    for (std::size_t i = 0; i < ops.size() && i < count; ++i) {
      std::swap(ops[i], ops[i + static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(ops.size() - i)))]);
      SetFree(ops[i]);
    }
  }
  // With the ops that make views of what it makes.
  void SetFree(std::int32_t op) {
    if (out_.free[At(op)]) return;
    out_.free[At(op)] = 1;
    ++out_.count;
    if (in_.plain) return;
    for (const std::int32_t v : in_.makes[At(op)])
      for (const std::int32_t reader : in_.readers[At(v)])
        for (const std::int32_t w : in_.makes[At(reader)])
          if (in_.carrier[At(w)] == v) SetFree(reader);
  }
  // Ops that run again in a stretch of places.
  [[nodiscard]] std::vector<std::int32_t> Again(std::int64_t low, std::int64_t high) const {
    std::vector<std::int32_t> ops;
    for (const std::int32_t place : plan_.repeats())
      if (place >= low && place < high) ops.push_back(plan_.sequence()[At(place)]);
    return ops;
  }
  static void Append(std::vector<std::int32_t>& to, const std::vector<std::int32_t>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  const Instance& in_;
  const std::int64_t budget_;
  const PlanView& plan_;
  QuickRandom& random_;
  FreeOps out_;
};

}  // namespace

FreeOps ChooseFreeOps(const Instance& instance, std::int64_t budget, const PlanView& plan, FreeKind kind,
                      std::size_t count, QuickRandom& random) {
  return Chooser(instance, budget, plan, random).Choose(kind, count);
}

}  // namespace ebb
