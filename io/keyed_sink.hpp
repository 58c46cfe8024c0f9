// SPDX-License-Identifier: Apache-2.0
//
// A JSON file by its table of top-level keys: which there are and which are lists. What does not fit the table is dealt
// with here, in the same words for every format: a key that comes twice, a list where a single value is wanted, a key
// that nobody knows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "io/json_stream.hpp"
#include "io/reader_common.hpp"

namespace ebb {

class KeyedSink : public JsonSink {
 public:
  enum class Form : std::uint8_t { kValue, kList, kEither };
  struct Key {
    std::string_view name;
    Form form;
  };
  // At most 32 keys. `what` is said of the whole file: "the graph"; empty: other keys are anybody's, without a warning.
  // All three must outlive the sink.
  KeyedSink(std::span<const Key> keys, std::string_view what, Warnings& warnings)
      : warnings_(warnings), keys_(keys), what_(what) {}

  void OnMember(std::string_view key, JsonView value) final;
  void OnArray(std::string_view key) final;
  void OnElement(std::string_view key, JsonView value) final;

  // The key's place in the table; -1 where it has none.
  [[nodiscard]] static int Find(std::span<const Key> keys, std::string_view key);

 protected:
  // The value of a single key, or one element of a list, in file order. Throws InputError.
  virtual void Take(std::string_view key, JsonView value) = 0;
  // Has the key been there, be it with an empty list?
  [[nodiscard]] bool Has(std::string_view key) const;

  Warnings& warnings_;

 private:
  bool Open(std::string_view key, int place);

  std::span<const Key> keys_;
  std::string_view what_;
  std::uint32_t seen_ = 0;
  bool skip_ = false;  // the elements of a list that nobody knows
};

}  // namespace ebb
