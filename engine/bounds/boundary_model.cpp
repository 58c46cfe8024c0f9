// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/boundary_model.hpp"

#include <algorithm>
#include <numeric>

namespace ebb {

namespace {
std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
}  // namespace

BoundaryModel::BoundaryModel(const Instance& instance, std::int64_t budget, std::vector<std::int32_t> positions,
                             std::span<const OpPair> pairs, std::int32_t spare, bool ever)
    : instance_(&instance), positions_(std::move(positions)) {
  weightless_.assign(instance.num_values, 0);
  for (std::size_t v = 0; v < instance.num_values; ++v) {
    const std::int32_t root = Root(static_cast<std::int32_t>(v));
    weightless_[v] = instance.bytes[At(root)] == 0 || instance.maker[At(root)] < 0 || instance.maker[v] < 0;
  }
  if (!instance.plain) FindNeeds();
  FindUseful();
  MakeColumns();
  MakeRows(budget);
  if (ever) MakeEver();
  MakeOrders(pairs, spare);
  // What is decided of a value or an op weighs much the same at neighbouring boundaries.
  const auto values = static_cast<std::int32_t>(instance.num_values), ops = static_cast<std::int32_t>(instance.num_ops);
  for (const Column& c : columns_) switch (c.kind) {
      case Kind::kStay: program_.group.push_back(c.item); break;
      case Kind::kRerun:
      case Kind::kTwice: program_.group.push_back(values + c.item); break;
      case Kind::kEver: program_.group.push_back(values + ops + c.item); break;
      case Kind::kOrder: program_.group.push_back(values + 2 * ops); break;
    }
}

std::int32_t BoundaryModel::Root(std::int32_t value) const {
  while (instance_->carrier[At(value)] >= 0) value = instance_->carrier[At(value)];
  return value;
}

void BoundaryModel::FindNeeds() {
  std::vector<std::int32_t> list;
  for (std::size_t op = 0; op < instance_->num_ops; ++op) {
    list.clear();
    for (std::int32_t v : instance_->reads[op])
      for (; v >= 0 && std::find(list.begin(), list.end(), v) == list.end(); v = instance_->carrier[At(v)])
        list.push_back(v);
    for (const std::int32_t v : list) needs_.Push(v);
    needs_.EndRow();
  }
  users_ = needs_.Transpose<std::int32_t>(instance_->num_values, At);
}

void BoundaryModel::FindUseful() {
  const Instance& in = *instance_;
  const std::int32_t stages = num_stages();
  next_read_.assign(At(stages) * in.num_values, stages);
  useful_.assign(At(stages), {});
  std::vector<std::uint8_t> is_useful(in.num_values, 0);
  std::vector<std::int32_t> list;
  const auto rank_of = [&](std::int32_t v) { return in.rank[At(in.maker[At(v)])]; };
  for (std::int32_t k = stages - 1; k >= 0; --k) {
    const std::int32_t from = positions_[At(k)];
    const std::int32_t to = k + 1 < stages ? positions_[At(k) + 1] : static_cast<std::int32_t>(in.num_ops) - 1;
    std::int32_t* next = next_read_.data() + At(k) * in.num_values;
    if (k + 1 < stages) std::copy(next + in.num_values, next + 2 * in.num_values, next);
    // What was useful later and is already made.
    std::vector<std::int32_t> stack;
    list.clear();
    const auto add = [&](std::int32_t v) {
      if (weightless(v) || rank_of(v) > from || is_useful[At(v)]) return;
      is_useful[At(v)] = 1;
      stack.push_back(v);
    };
    if (k + 1 < stages)
      for (const std::int32_t v : useful_[At(k) + 1]) add(v);
    for (std::int32_t p = from + 1; p <= to; ++p)
      for (const std::int32_t v : needs(At(in.order[At(p)]))) {
        if (weightless(v)) continue;
        next[v] = k;
        add(v);
      }
    if (k == stages - 1)
      for (std::size_t i = 0; i < in.num_values; ++i)
        for (auto v = static_cast<std::int32_t>(i); in.kept[i] && v >= 0 && !weightless(v); v = in.carrier[At(v)]) {
          next[v] = k;
          add(v);
        }
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      stack.pop_back();
      list.push_back(v);
      if (in.carrier[At(v)] >= 0) add(in.carrier[At(v)]);
      const std::size_t maker = At(in.maker[At(v)]);
      if (in.may_repeat[maker])
        for (const std::int32_t u : needs(maker)) add(u);
    }
    for (const std::int32_t v : list) is_useful[At(v)] = 0;
    std::sort(list.begin(), list.end(), [&](std::int32_t a, std::int32_t b) {
      return rank_of(a) != rank_of(b) ? rank_of(a) > rank_of(b) : a > b;
    });
    useful_[At(k)] = list;
  }
}

void BoundaryModel::MakeColumns() {
  const Instance& in = *instance_;
  const std::int32_t stages = num_stages();
  stay_.assign(At(stages) * in.num_values, kAbsent);
  rerun_.assign(At(stages) * in.num_ops, kAbsent);
  for (std::int32_t k = 0; k < stages; ++k) {
    const std::size_t op = At(in.order[At(positions_[At(k)])]);
    std::int32_t* stay = stay_.data() + At(k) * in.num_values;
    std::int32_t* rerun = rerun_.data() + At(k) * in.num_ops;
    // What op a_k reads and makes is there while it runs, and so is what carries it.
    const auto always = [&](std::int32_t v) {
      for (; v >= 0; v = in.carrier[At(v)]) stay[v] = kAlways;
    };
    for (const std::int32_t v : in.reads[op]) always(v);
    for (const std::int32_t v : in.makes[op]) always(v);
    for (const std::int32_t v : useful_[At(k)])
      if (Forced(k, v)) always(v);
    for (const std::int32_t v : useful_[At(k)]) {
      if (stay[v] == kAbsent) {
        stay[v] = static_cast<std::int32_t>(columns_.size());
        columns_.push_back({v, k, Kind::kStay});
        program_.cost.push_back(0);
      }
      const std::int32_t maker = in.maker[At(v)];
      if (in.may_repeat[At(maker)] && rerun[maker] == kAbsent) {
        rerun[maker] = static_cast<std::int32_t>(columns_.size());
        columns_.push_back({maker, k, Kind::kRerun});
        program_.cost.push_back(in.duration[At(maker)]);
      }
    }
  }
}

void BoundaryModel::MakeRows(std::int64_t budget) {
  const Instance& in = *instance_;
  const std::int32_t stages = num_stages();
  IntegerRows& rows = program_.rows;
  memory_row_.assign(At(stages), kAbsent);
  // + S[v,k] + C[maker(v),k]; false where the row holds anyway.
  const auto source = [&](std::int32_t k, std::int32_t v) {
    if (weightless(v) || stay(k, v) == kAlways) return false;
    if (stay(k, v) >= 0) rows.Term(stay(k, v), 1);
    if (const std::int32_t c = rerun(k, in.maker[At(v)]); c >= 0) rows.Term(c, 1);
    return true;
  };
  for (std::int32_t k = 0; k < stages; ++k) {
    // Memory.
    const std::size_t op = At(in.order[At(positions_[At(k)])]);
    std::int64_t room = budget - in.resident_bytes - in.moment[op];
    std::vector<std::int32_t> roots;
    for (const std::int32_t v : in.reads[op]) roots.push_back(Root(v));
    for (const std::int32_t v : in.makes[op]) roots.push_back(Root(v));
    for (const std::int32_t v : useful_[At(k)])
      if (Forced(k, v)) roots.push_back(Root(v));
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    for (const std::int32_t r : roots) room -= in.bytes[At(r)];
    if (room < 0) impossible_ = true;
    std::int64_t total = 0, divisor = 0;
    for (const std::int32_t v : useful_[At(k)]) {
      if (stay(k, v) < 0) continue;
      total += in.bytes[At(v)];
      divisor = std::gcd(divisor, in.bytes[At(v)]);
    }
    if (total > room && !impossible_) {
      for (const std::int32_t v : useful_[At(k)])
        if (stay(k, v) >= 0 && in.bytes[At(v)] > 0) rows.Term(stay(k, v), -(in.bytes[At(v)] / divisor));
      memory_row_[At(k)] = rows.EndRow(-(room / divisor));
      program_.knapsacks.push_back(memory_row_[At(k)]);
    }
    for (const std::int32_t v : useful_[At(k)]) {
      // Needs of first executions of this stage.
      if (next_read(k, v) == k && source(k, v)) rows.EndRow(1);
      if (stay(k, v) < 0) continue;
      // Its base.
      if (const std::int32_t base = in.carrier[At(v)]; base >= 0 && !weightless(base) && stay(k, base) != kAlways) {
        if (stay(k, base) >= 0) rows.Term(stay(k, base), 1);
        rows.Term(stay(k, v), -1);
        rows.EndRow(0);
      }
      // Where it comes from.
      if (k > 0 && in.rank[At(in.maker[At(v)])] <= positions_[At(k) - 1] && source(k - 1, v)) {
        rows.Term(stay(k, v), -1);
        rows.EndRow(0);
      }
    }
  }
  // (What op a_k reads is a read of stage k - 1: its source is seen to there.)
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].rerun()) continue;
    for (const std::int32_t u : needs(At(columns_[c].item))) {
      if (!source(columns_[c].stage, u)) continue;
      rows.Term(static_cast<std::int32_t>(c), -1);
      rows.EndRow(0);
    }
  }
}

std::int32_t BoundaryModel::StageAt(std::int32_t position) const {
  return static_cast<std::int32_t>(std::lower_bound(positions_.begin(), positions_.end(), position) -
                                   positions_.begin());
}

BoundaryModel::OpPair BoundaryModel::PairOf(std::int32_t stage, std::int32_t a, std::int32_t b) const {
  if (instance_->rank[At(a)] > instance_->rank[At(b)]) std::swap(a, b);
  return {positions_[At(stage)], a, b};
}

std::int32_t BoundaryModel::order(std::int32_t stage, std::int32_t a, std::int32_t b) const {
  if (orders_.empty()) return kAbsent;
  const auto it = orders_.find(PairOf(stage, a, b));
  return it == orders_.end() ? kAbsent : it->second;
}

std::int32_t BoundaryModel::twice(std::int32_t stage, std::int32_t op) const {
  const auto it = twice_.find({stage, op});
  return it == twice_.end() ? kAbsent : it->second;
}

bool BoundaryModel::Tell(std::int32_t stage, std::int32_t a, std::int32_t b) {
  if (At(spare_begin_) == columns_.size() || rerun(stage, a) < 0 || rerun(stage, b) < 0) return false;
  const OpPair pair = PairOf(stage, a, b);
  if (!orders_.emplace(pair, spare_begin_).second) return false;
  columns_[At(spare_begin_++)] = {pair.first, stage, Kind::kOrder, pair.second};
  return true;
}

void BoundaryModel::MakeEver() {
  ever_.assign(instance_->num_ops, kAbsent);
  IntegerRows& rows = program_.rows;
  std::vector<std::int32_t> stages;
  for (std::size_t op = 0; op < instance_->num_ops; ++op) {
    stages.clear();
    for (std::int32_t k = 0; k < num_stages(); ++k)
      if (const std::int32_t c = rerun(k, static_cast<std::int32_t>(op)); c >= 0) stages.push_back(c);
    if (stages.size() < 2) continue;
    const auto r = static_cast<std::int32_t>(columns_.size());
    ever_[op] = r;
    columns_.push_back({static_cast<std::int32_t>(op), 0, Kind::kEver});
    program_.cost.push_back(0);
    for (const std::int32_t c : stages) {
      rows.Term(r, 1);
      rows.Term(c, -1);
      rows.EndRow(0);
    }
    for (const std::int32_t c : stages) rows.Term(c, 1);
    rows.Term(r, -1);
    rows.EndRow(0);
  }
}

void BoundaryModel::MakeOrders(std::span<const OpPair> pairs, std::int32_t spare) {
  const Instance& in = *instance_;
  if (pairs.empty() && spare == 0) return;
  // Any rerun that another one of the stage may read of may have to be made twice.
  for (std::int32_t k = 0; k + 1 < num_stages(); ++k) {
    if (!reruns_only(k)) continue;
    for (std::size_t op = 0; op < in.num_ops; ++op) {
      if (rerun(k, static_cast<std::int32_t>(op)) < 0) continue;
      const auto may_read = [&](std::int32_t v) {
        const auto readers = in.readers[At(v)];
        return stay(k, v) != kAlways &&
               std::any_of(readers.begin(), readers.end(), [&](std::int32_t r) { return rerun(k, r) >= 0; });
      };
      const auto makes = in.makes[op];
      if (std::none_of(makes.begin(), makes.end(), may_read)) continue;
      twice_.emplace(std::pair(k, static_cast<std::int32_t>(op)), static_cast<std::int32_t>(columns_.size()));
      columns_.push_back({static_cast<std::int32_t>(op), k, Kind::kTwice});
      program_.cost.push_back(in.duration[op]);
    }
  }
  spare_begin_ = static_cast<std::int32_t>(columns_.size());
  const std::size_t all = columns_.size() + pairs.size() + At(spare);
  columns_.resize(all, {kAbsent, 0, Kind::kOrder});
  program_.cost.resize(all, 0);
  for (const OpPair& pair : pairs) {
    const std::int32_t k = StageAt(pair.position);
    if (reruns_only(k) && positions_[At(k)] == pair.position) Tell(k, pair.first, pair.second);
  }
}

void PathCuts::Separate(std::span<const double> x, bool integral, bool /*root*/, IntegerRows& out) {
  if (integral) return;  // implied at 0/1 points
  const Instance& in = model_.instance();
  const std::int32_t stages = model_.num_stages();
  constexpr double kLeast = 0.05;
  constexpr std::int32_t kFirst = -1, kStays = -2;
  need_.assign(in.num_ops, 0.0);
  through_.assign(in.num_ops, -1);
  next_.assign(in.num_values, kFirst);
  for (std::int32_t k = 0; k < stages; ++k) {
    const auto useful = model_.useful(k);
    for (std::int32_t b = k; b < stages; ++b) {
      for (const std::int32_t v : useful) need_[At(in.maker[At(v)])] = 0.0;
      for (const std::int32_t v : useful) {
        const std::int32_t stay = model_.stay(k, v);
        if (stay == BoundaryModel::kAlways) continue;
        double need = 0.0;
        if (model_.next_read(k, v) <= b) {
          need = 1.0;
          next_[At(v)] = kFirst;
        } else {
          if (b + 1 < stages) {
            const std::int32_t later = model_.stay(b + 1, v);
            if (later >= 0) {
              need = x[At(later)];
              next_[At(v)] = kStays;
            }
          }
          for (const std::int32_t reader : model_.users(At(v)))
            if (need_[At(reader)] > need + 1e-9 && in.rank[At(reader)] <= model_.positions()[At(k)]) {
              need = need_[At(reader)];
              next_[At(v)] = reader;
            }
        }
        if (stay >= 0) need -= x[At(stay)];
        const std::int32_t maker = in.maker[At(v)];
        if (need > need_[At(maker)] + 1e-9) {
          need_[At(maker)] = need;
          through_[At(maker)] = v;
        }
        if (need_[At(maker)] <= kLeast) continue;
      }
      std::int32_t last = -1;
      for (const std::int32_t v : useful) {
        const std::int32_t maker = in.maker[At(v)];
        if (maker == last || need_[At(maker)] <= kLeast) continue;
        last = maker;
        double reruns = 0.0;
        for (std::int32_t j = k; j <= b; ++j)
          if (const std::int32_t c = model_.rerun(j, maker); c >= 0) reruns += x[At(c)];
        if (need_[At(maker)] - reruns <= kLeast) continue;
        for (std::int32_t j = k; j <= b; ++j)
          if (const std::int32_t c = model_.rerun(j, maker); c >= 0) out.Term(c, 1);
        std::int64_t rhs = 1;
        for (std::int32_t op = maker;;) {
          const std::int32_t u = through_[At(op)];
          if (const std::int32_t s = model_.stay(k, u); s >= 0) out.Term(s, 1);
          if (next_[At(u)] == kStays) {
            out.Term(model_.stay(b + 1, u), -1);
            rhs = 0;
          }
          if (next_[At(u)] < 0) break;
          op = next_[At(u)];
        }
        out.EndRow(rhs);
      }
      for (const std::int32_t v : useful) need_[At(in.maker[At(v)])] = 0.0;
    }
  }
}

}  // namespace ebb
