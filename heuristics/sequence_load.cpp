// SPDX-License-Identifier: Apache-2.0
//
// Whole sequences into a SequenceState and out of it, and the check against a state built anew.
#include <algorithm>
#include <string>

#include "engine/base/status.hpp"
#include "heuristics/sequence_state.hpp"

namespace ebb {
namespace {
constexpr std::int32_t kBlock = ExcessProfile::kBlock;
constexpr std::int64_t kHole = ExcessProfile::kHole;
}  // namespace

void SequenceState::Load(std::span<const std::int32_t> sequence) {
  const std::size_t n = instance_.num_ops;
  nodes_.clear();
  ends_.clear();
  bad_.clear();
  repeats_.clear();
  log_.clear();
  stretches_.clear();
  points_.clear();
  segments_fresh_ = false;
  marked_ = false;
  journal_.clear();
  for (OpState& o : ops_) {
    o.first = o.last = o.free = kNone;
    o.count = 0;
  }
  duration_ = executions_ = 0;
  violations_ = 0;

  std::vector<std::int32_t> row;
  row.reserve(sequence.size() + 2);
  begin_ = NewNode(static_cast<std::int32_t>(n));
  row.push_back(begin_);
  for (const std::int32_t o : sequence) row.push_back(NewNode(o));
  end_ = NewNode(static_cast<std::int32_t>(n) + 1);
  row.push_back(end_);

  const auto blocks = static_cast<std::int32_t>((row.size() * 5 / 3 + kBlock) / kBlock);
  profile_.Reset(blocks, instance_.resident_bytes - budget_ - kHole);
  occupied_.assign(static_cast<std::size_t>(blocks), 0);
  node_at_.assign(static_cast<std::size_t>(profile_.slots()), kNone);
  const auto slots = static_cast<std::int64_t>(profile_.slots());
  const auto m = static_cast<std::int64_t>(row.size());
  for (std::int64_t j = 0; j < m; ++j) {
    const std::int32_t x = row[static_cast<std::size_t>(j)];
    PutInSlot(x, static_cast<std::int32_t>(j * slots / m));
    N(x).alive = true;
    Link(x, LastOf(N(x).op), kNone);
  }
  // Ends by one sweep from the back: the latest server of each value is the first met.
  std::vector<std::int32_t> last_use(instance_.num_values, kNone);
  for (std::size_t v = 0; v < instance_.num_values; ++v)
    if (instance_.kept[v]) last_use[v] = end_;
  for (auto j = static_cast<std::size_t>(m); j-- > 0;) {
    const std::int32_t x = row[j];
    const std::int32_t o = N(x).op;
    for (std::size_t k = Makes(o).size(); k-- > 0;) {  // views come after their base
      const auto i = static_cast<std::size_t>(Makes(o)[k]);
      const std::int32_t e = last_use[i] == kNone ? x : last_use[i];
      EndRef(x, k) = e;
      last_use[i] = kNone;
      const std::int32_t w = plain_ ? kNone : instance_.carrier[i];
      if (w >= 0) {
        std::int32_t& use = last_use[static_cast<std::size_t>(w)];
        if (use == kNone || slot(use) < slot(e)) use = e;
      }
    }
    if (o < static_cast<std::int32_t>(n))
      for (const std::int32_t v : instance_.reads[static_cast<std::size_t>(o)]) {
        std::int32_t& use = last_use[static_cast<std::size_t>(v)];
        if (use == kNone) use = x;
      }
  }
  // The profile in one pass: differences, then block by block.
  std::vector<std::int64_t> change(static_cast<std::size_t>(slots) + 1, 0);
  for (const std::int32_t x : row) {
    const std::int32_t o = N(x).op;
    if (o >= static_cast<std::int32_t>(n)) continue;
    const auto s = static_cast<std::size_t>(slot(x));
    std::size_t k = 0;
    std::int64_t outputs = 0;
    for (const std::int32_t v : Makes(o)) {
      const std::int64_t b = instance_.bytes[static_cast<std::size_t>(v)];
      outputs += b;
      change[static_cast<std::size_t>(slot(EndOf(x, k++))) + 1] -= b;
    }
    change[s] += outputs;
    N(x).written = true;
    duration_ += instance_.duration[static_cast<std::size_t>(o)];
    ++executions_;
  }
  std::int64_t across = instance_.resident_bytes - budget_;
  for (std::int32_t b = 0; b < blocks; ++b) {
    std::int64_t* value = profile_.Open(b);
    for (std::int32_t i = 0; i < kBlock; ++i) {
      const std::int32_t s = b * kBlock + i;
      across += change[static_cast<std::size_t>(s)];
      const std::int32_t x = node_at_[static_cast<std::size_t>(s)];
      const bool event = x != kNone && N(x).written;
      value[i] = across + (event ? instance_.moment[static_cast<std::size_t>(N(x).op)] : -kHole);
    }
    profile_.Close(b);
  }
  if (!plain_)
    for (const std::int32_t x : row)
      for (std::size_t k = 0; k < Makes(N(x).op).size(); ++k) RecheckConsumers(x, k);
  log_.clear();
  work_ += 60 * m;
}

std::vector<std::int32_t> SequenceState::Sequence() const {
  std::vector<std::int32_t> out;
  out.reserve(static_cast<std::size_t>(executions_));
  for (const std::int32_t x : node_at_)
    if (x != kNone && N(x).alive && x != begin_ && x != end_) out.push_back(N(x).op);
  work_ += 3 * profile_.slots();
  return out;
}

void SequenceState::SetBudget(std::int64_t budget) {
  profile_.Add(0, profile_.slots() - 1, budget_ - budget);
  budget_ = budget;
}

void SequenceState::CheckAgainstNaive() const {
  const std::vector<std::int32_t> sequence = Sequence();
  const SequenceFacts facts = EvaluateSequence(instance_, sequence);
  const auto fail = [](const std::string& what) { throw InternalError("sequence state: " + what); };
  if (facts.valid != (violations_ == 0)) fail("validity differs");
  if (!facts.valid) return;
  if (facts.duration != duration_) fail("duration differs");
  if (static_cast<std::int64_t>(sequence.size()) != executions_) fail("number of executions differs");
  std::int64_t excess = 0;
  std::size_t position = 0;
  for (std::int32_t x = Next(begin_); x != end_; x = Next(x), ++position) {
    excess += std::max<std::int64_t>(0, facts.profile[position] - budget_);
    if (profile_.Value(slot(x)) + budget_ != facts.profile[position])
      fail("resident bytes differ at position " + std::to_string(position));
  }
  if (excess != profile_.total()) fail("excess differs");
}

}  // namespace ebb
