// SPDX-License-Identifier: Apache-2.0
#include "engine/problem/windows.hpp"

#include <algorithm>
#include <limits>

#include <boost/container_hash/hash.hpp>

namespace ebb {
namespace {

constexpr std::int32_t kNone = -1;

// Bytes that lie over each cut position of the given order when nothing runs twice, and whether any value does.
struct Crossing {
  std::vector<std::int64_t> bytes;  // over the cut before rank r
  std::vector<std::int32_t> values;
};

Crossing CrossingOf(const Instance& in) {
  const std::size_t n = in.num_ops;
  Crossing c{std::vector<std::int64_t>(n + 2, 0), std::vector<std::int32_t>(n + 2, 0)};
  std::vector<std::size_t> until(in.num_values, 0);
  for (std::size_t v = 0; v < in.num_values; ++v) {
    std::size_t last = 0;
    if (!in.readers[v].empty()) last = static_cast<std::size_t>(in.rank[in.readers[v].back()]) + 1;
    if (in.kept[v]) last = n + 1;
    for (std::size_t w = v;; w = static_cast<std::size_t>(in.carrier[w])) {
      until[w] = std::max(until[w], last);
      if (in.carrier[w] == kNone) break;
    }
  }
  for (std::size_t v = 0; v < in.num_values; ++v) {
    const std::size_t born = in.maker[v] == kNone ? 0 : static_cast<std::size_t>(in.rank[in.maker[v]]) + 1;
    if (until[v] <= born) continue;
    c.bytes[born] += in.bytes[v];
    c.bytes[until[v]] -= in.bytes[v];
    ++c.values[born];
    --c.values[until[v]];
  }
  for (std::size_t r = 1; r < n + 2; ++r) {
    c.bytes[r] += c.bytes[r - 1];
    c.values[r] += c.values[r - 1];
  }
  return c;
}

}  // namespace

std::vector<std::int32_t> ChooseCuts(const Instance& in, std::size_t target) {
  const std::size_t n = in.num_ops;
  const Crossing c = CrossingOf(in);
  std::vector<std::int32_t> cuts{0};
  for (std::size_t at = 0; n - at > target + target / 2;) {
    // The least crossing between half and one and a half times the target; the first of equals.
    std::size_t best = at + target / 2 + 1;
    for (std::size_t r = best; r <= at + target + target / 2; ++r)
      if (c.bytes[r] < c.bytes[best] || (c.bytes[r] == c.bytes[best] && c.values[r] < c.values[best])) best = r;
    cuts.push_back(static_cast<std::int32_t>(best));
    at = best;
  }
  cuts.push_back(static_cast<std::int32_t>(n));
  return cuts;
}

namespace {

// One version of a value in the sequence.
struct Version {
  std::int32_t value;
  std::int32_t born;   // position; -1: there from the start
  std::int32_t read;   // last reading position; end of the sequence for what is kept
  std::int32_t last;   // the same of it and of all that lives in its storage
  std::int32_t owner;  // the version whose storage it lives in: itself, or another one's
};

// A value that lies in memory where a window begins; its storage's value where that is another.
struct Entered {
  bool carried;  // those that carry come first
  std::int32_t value, carrier;
  auto operator<=>(const Entered&) const = default;
};

class Extractor {
 public:
  Extractor(const Instance& in, std::span<const std::int32_t> sequence, std::span<const std::int32_t> cuts,
            bool free_order)
      : in_(in), sequence_(sequence), free_order_(free_order) {
    FindVersions();
    FindPositions(cuts);
  }

  std::vector<Window> Run() {
    std::vector<Window> out;
    place_.assign(in_.num_values, kNone);
    op_place_.assign(in_.num_ops, kNone);
    current_.assign(in_.num_values, kNone);
    wanted_.assign(versions_.size(), 0);
    entered_.assign(in_.num_values, 0);
    std::vector<std::int32_t> live;  // versions that lie over the window's beginning
    std::size_t next = 0;            // first version not yet born
    for (; next < versions_.size() && versions_[next].born < 0; ++next) {
      live.push_back(static_cast<std::int32_t>(next));
      current_[versions_[next].value] = static_cast<std::int32_t>(next);
    }
    for (std::size_t w = 0; w + 1 < position_.size(); ++w) {
      const auto begin = static_cast<std::int32_t>(position_[w]), end = static_cast<std::int32_t>(position_[w + 1]);
      const std::size_t first = next;
      while (next < versions_.size() && versions_[next].born < end) ++next;
      out.push_back(Extract(begin, end, live, first, next));
      std::erase_if(live, [&](std::int32_t k) { return versions_[k].last < end; });
      for (std::size_t k = first; k < next; ++k) {
        current_[versions_[k].value] = static_cast<std::int32_t>(k);
        if (versions_[k].last >= end) live.push_back(static_cast<std::int32_t>(k));
      }
    }
    return out;
  }

 private:
  void FindVersions() {
    std::vector<std::int32_t> current(in_.num_values, kNone);
    const auto n = static_cast<std::int32_t>(sequence_.size());
    const auto make = [&](std::int32_t v, std::int32_t pos) {
      const auto k = static_cast<std::int32_t>(versions_.size());
      const std::int32_t carrier = in_.carrier[v];
      current[v] = k;
      versions_.push_back({v, pos, pos, pos, carrier == kNone ? k : versions_[current[carrier]].owner});
    };
    const auto use = [&](std::int32_t v, std::int32_t pos) {
      Version& x = versions_[current[v]];
      x.read = x.last = pos;
      versions_[x.owner].last = pos;
    };
    for (std::size_t v = 0; v < in_.num_values; ++v)
      if (in_.maker[v] == kNone) make(static_cast<std::int32_t>(v), -1);
    for (std::int32_t pos = 0; pos < n; ++pos) {
      const auto op = static_cast<std::size_t>(sequence_[pos]);
      for (const std::int32_t v : in_.reads[op]) use(v, pos);
      for (const std::int32_t v : in_.makes[op]) make(v, pos);
    }
    for (std::size_t v = 0; v < in_.num_values; ++v)
      if (in_.kept[v]) use(static_cast<std::int32_t>(v), n);
  }

  // Cut ranks -> positions: a window ends with the first execution of the rank before the cut.
  void FindPositions(std::span<const std::int32_t> cuts) {
    std::vector<std::uint8_t> seen(in_.num_ops, 0);
    std::int32_t rank = 0;
    std::size_t cut = 1;
    position_.push_back(0);
    for (std::size_t pos = 0; pos < sequence_.size(); ++pos) {
      if (seen[sequence_[pos]]) continue;
      seen[sequence_[pos]] = 1;
      ++rank;
      if (cut + 1 < cuts.size() && rank == cuts[cut]) {
        position_.push_back(pos + 1);
        ++cut;
      }
    }
    position_.push_back(sequence_.size());
  }

  Window Extract(std::int32_t begin, std::int32_t end, const std::vector<std::int32_t>& live, std::size_t first,
                 std::size_t last) {
    Window w;
    std::vector<Entered> entry;      // what lies there at the beginning and has to do with what is read in here
    std::vector<std::int32_t> kept;  // values read after it
    std::int64_t constant = 0;
    w.begin = static_cast<std::size_t>(begin);
    w.end = static_cast<std::size_t>(end);
    // Which values are read in here?
    touched_.clear();
    const auto mark = [&](std::int32_t v) {
      if (place_[v] != kNone) return;
      place_[v] = kRead;
      touched_.push_back(v);
    };
    for (std::int32_t pos = begin; pos < end; ++pos)
      for (const std::int32_t v : in_.reads[sequence_[pos]]) mark(v);
    bool alone = true;
    // What lives in one storage comes in together.
    for (const std::int32_t k : live) wanted_[versions_[k].owner] |= place_[versions_[k].value] != kNone;
    for (const bool carried : {false, true})  // who carries before what is carried
      for (const std::int32_t k : live) {
        const Version& x = versions_[k];
        if ((x.owner != k) != carried) continue;
        if (!wanted_[x.owner]) {
          constant += in_.bytes[x.value];
          continue;
        }
        // An old storage that only old views hold cannot be told from the newest one.
        alone = alone && current_[x.value] == k;
        entry.push_back({carried, x.value, carried ? versions_[x.owner].value : kNone});
        if (x.read >= end) kept.push_back(x.value);
      }
    for (const std::int32_t k : live) wanted_[versions_[k].owner] = 0;
    std::sort(entry.begin(), entry.end());
    for (const Entered& e : entry) entered_[e.value] = 1;
    for (std::size_t k = first; k < last; ++k) {
      const Version& x = versions_[k];
      if (x.read >= end) kept.push_back(x.value);
      // A value that both lies there at the beginning and is made again has two makers: not one instance.
      alone = alone && !entered_[x.value];
    }
    for (const Entered& e : entry) entered_[e.value] = 0;
    std::sort(kept.begin(), kept.end());
    if (alone) Build(w, entry, kept, constant);
    for (const std::int32_t v : touched_) place_[v] = kNone;
    return w;
  }

  void Build(Window& w, const std::vector<Entered>& entry, const std::vector<std::int32_t>& kept,
             std::int64_t constant) {
    Instance& sub = w.instance;
    const auto add_value = [&](std::int32_t v, std::int32_t maker, std::int32_t carrier) {
      if (place_[v] == kNone) touched_.push_back(v);
      place_[v] = static_cast<std::int32_t>(sub.num_values++);
      sub.maker.push_back(maker);
      sub.bytes.push_back(in_.bytes[v]);
      sub.carrier.push_back(carrier == kNone ? kNone : place_[carrier]);
      sub.plain = sub.plain && carrier == kNone;
      sub.kept.push_back(std::binary_search(kept.begin(), kept.end(), v));
      sub.tensor.push_back(in_.tensor[v]);
      return place_[v];
    };
    const auto add_op = [&](std::int32_t op) {
      w.op.push_back(op);
      sub.order.push_back(static_cast<std::int32_t>(sub.num_ops));
      sub.rank.push_back(static_cast<std::int32_t>(sub.num_ops));
      sub.duration.push_back(op == kNone ? 0 : in_.duration[op]);
      sub.moment.push_back(op == kNone ? 0 : in_.moment[op]);
      sub.may_repeat.push_back(op == kNone ? 0 : in_.may_repeat[op]);
      sub.view_op.push_back(op == kNone ? 0 : in_.view_op[op]);
      sub.base_duration += sub.duration.back();
      return static_cast<std::int32_t>(sub.num_ops++);
    };
    sub.resident_bytes = in_.resident_bytes + constant;
    std::int32_t gate = kNone;  // a value without bytes that every op reads
    if (!entry.empty()) {
      const std::int32_t e = add_op(kNone);
      sub.reads.EndRow();
      for (const Entered& x : entry) sub.makes.Push(add_value(x.value, e, x.carrier));
      if (free_order_) {
        gate = static_cast<std::int32_t>(sub.num_values++);
        sub.maker.push_back(e);
        sub.bytes.push_back(0);
        sub.carrier.push_back(kNone);
        sub.kept.push_back(0);
        sub.tensor.push_back(TensorId::kNone);
        sub.makes.Push(gate);
      }
      sub.makes.EndRow();
      sub.consumes.EndRow();
      w.sequence.push_back(e);
    }
    std::vector<std::int32_t> ops;
    for (std::size_t pos = w.begin; pos < w.end; ++pos) {
      const std::int32_t op = sequence_[pos];
      if (op_place_[op] == kNone) {
        op_place_[op] = add_op(op);
        ops.push_back(op);
        for (const std::int32_t v : in_.reads[op]) sub.reads.Push(place_[v]);
        if (gate != kNone) sub.reads.Push(gate);
        sub.reads.EndRow();
        for (const std::int32_t v : in_.makes[op]) sub.makes.Push(add_value(v, op_place_[op], in_.carrier[v]));
        sub.makes.EndRow();
        for (const std::int32_t v : in_.consumes[op]) sub.consumes.Push(place_[v]);
        sub.consumes.EndRow();
        sub.plain = sub.plain && in_.consumes[op].empty();
      }
      w.sequence.push_back(op_place_[op]);
    }
    for (const std::int32_t op : ops) op_place_[op] = kNone;
    sub.readers =
        sub.reads.Transpose<std::int32_t>(sub.num_values, [](std::int32_t v) { return static_cast<std::size_t>(v); });
  }

  static constexpr std::int32_t kRead = std::numeric_limits<std::int32_t>::max();

  const Instance& in_;
  std::span<const std::int32_t> sequence_;
  bool free_order_;
  std::vector<Version> versions_;
  std::vector<std::int32_t> current_;  // value -> its newest version where the window begins
  std::vector<std::uint8_t> wanted_;   // version: something in its storage is read in the window
  std::vector<std::uint8_t> entered_;  // value
  std::vector<std::size_t> position_;
  std::vector<std::int32_t> place_;     // value -> value of the window; kRead while only known to be read
  std::vector<std::int32_t> op_place_;  // op -> op of the window
  std::vector<std::int32_t> touched_;
};

}  // namespace

std::vector<Window> ExtractWindows(const Instance& in, std::span<const std::int32_t> sequence,
                                   std::span<const std::int32_t> cuts, bool free_order) {
  return Extractor(in, sequence, cuts, free_order).Run();
}

bool SameInstance(const Instance& a, const Instance& b) {
  const auto same_rows = [](const Csr<std::int32_t>& x, const Csr<std::int32_t>& y) {
    if (x.rows() != y.rows() || x.items() != y.items()) return false;
    for (std::size_t r = 0; r < x.rows(); ++r)
      if (x[r].size() != y[r].size()) return false;
    return true;
  };
  return a.duration == b.duration && a.moment == b.moment && a.may_repeat == b.may_repeat && a.view_op == b.view_op &&
         a.maker == b.maker && a.bytes == b.bytes && a.carrier == b.carrier && a.kept == b.kept && a.order == b.order &&
         a.resident_bytes == b.resident_bytes && same_rows(a.reads, b.reads) && same_rows(a.makes, b.makes) &&
         same_rows(a.consumes, b.consumes);
}

std::uint64_t InstanceHash(const Instance& in) {
  std::size_t hash = in.num_ops;
  boost::hash_range(hash, in.duration.begin(), in.duration.end());
  boost::hash_range(hash, in.bytes.begin(), in.bytes.end());
  boost::hash_range(hash, in.moment.begin(), in.moment.end());
  boost::hash_range(hash, in.reads.items().begin(), in.reads.items().end());
  boost::hash_combine(hash, in.resident_bytes);
  return hash;
}

}  // namespace ebb
