// SPDX-License-Identifier: Apache-2.0
//
// The canonical text is a list of length-prefixed strings and numbers in a prefix code (zigzag, seven bits a byte), so
// that no two graphs share one. It is hashed in blocks, and the block's digests are hashed: Boost's public UUID
// interface wants a whole buffer.
#include "engine/problem/fingerprint.hpp"

#include <cstdint>
#include <string_view>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace ebb {
namespace {

class Hasher {
 public:
  void Number(std::int64_t value) {
    auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);  // small for -1 too
    for (; bits >= 128; bits >>= 7) block_ += static_cast<char>(bits | 128);
    block_ += static_cast<char>(bits);
    if (block_.size() >= kBlock) Flush();
  }
  void Name(std::string_view name) {
    Number(static_cast<std::int64_t>(name.size()));
    block_ += name;
  }
  std::string Finish() {
    Flush();
    return boost::uuids::to_string(digest_);
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  void Flush() {
    block_.append(digest_.begin(), digest_.end());  // chains the blocks
    digest_ = boost::uuids::name_generator_sha1(kNamespace)(block_);
    block_.clear();
  }
  static constexpr boost::uuids::uuid kNamespace = {{0xb3, 0xa4, 0xb5, 0xb6, 0x6f, 0x0e, 0x5c, 0x1d,  //
                                                     0x9a, 0x53, 0x65, 0x62, 0x62, 0x74, 0x69, 0xde}};
  boost::uuids::uuid digest_ = kNamespace;
  std::string block_;
};

}  // namespace

std::string Fingerprint(const Graph& g) {
  Hasher h;
  const auto tensor = [](TensorId t) { return static_cast<std::int64_t>(static_cast<std::int32_t>(t)); };
  h.Number(1);  // version of this layout
  h.Number(static_cast<std::int64_t>(g.num_tensors()));
  for (std::size_t i = 0; i < g.num_tensors(); ++i) {
    const TensorId t = ToTensorId(i);
    h.Name(g.tensor_name(t));
    h.Number(g.size(t).count());
    h.Number(tensor(g.view_of(t)));
  }
  h.Number(static_cast<std::int64_t>(g.num_ops()));
  for (std::size_t i = 0; i < g.num_ops(); ++i) {
    const OpId op = ToOpId(i);
    h.Name(g.op_name(op));
    h.Number(g.duration(op).count());
    h.Number(g.workspace(op).count());
    h.Number(g.recomputable(op) ? 1 : 0);
    h.Number(static_cast<std::int64_t>(g.inputs(op).size()));
    for (const TensorId t : g.inputs(op)) h.Number(tensor(t));
    h.Number(static_cast<std::int64_t>(g.outputs(op).size()));
    for (const TensorId t : g.outputs(op)) h.Number(tensor(t));
    h.Number(static_cast<std::int64_t>(g.inplace(op).size()));
    for (const InplacePair& p : g.inplace(op)) {
      h.Number(tensor(p.input));
      h.Number(tensor(p.output));
    }
  }
  h.Number(static_cast<std::int64_t>(g.graph_outputs().size()));
  for (const TensorId t : g.graph_outputs()) h.Number(tensor(t));
  for (const OpId op : g.order()) h.Number(static_cast<std::int64_t>(static_cast<std::int32_t>(op)));
  return h.Finish();
}

}  // namespace ebb
