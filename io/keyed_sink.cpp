// SPDX-License-Identifier: Apache-2.0
#include "io/keyed_sink.hpp"

#include <string>

#include "engine/base/status.hpp"

namespace ebb {

int KeyedSink::Find(std::span<const Key> keys, std::string_view key) {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i].name == key) return static_cast<int>(i);
  return -1;
}

bool KeyedSink::Has(std::string_view key) const {
  const int place = Find(keys_, key);
  return place >= 0 && (seen_ >> place & 1U) != 0;
}

bool KeyedSink::Open(std::string_view key, int place) {
  skip_ = place < 0;
  if (skip_) {
    if (!what_.empty()) warnings_.UnknownKey(key, what_);
    return false;
  }
  const std::uint32_t bit = std::uint32_t{1} << place;
  if ((seen_ & bit) != 0) throw InputError("the key " + Quoted(key) + " comes twice");
  seen_ |= bit;
  return true;
}

void KeyedSink::OnMember(std::string_view key, JsonView value) {
  const int place = Find(keys_, key);
  if (!Open(key, place)) return;
  if (keys_[static_cast<std::size_t>(place)].form == Form::kList)
    throw InputError(Quoted(key) + " is " + Describe(value) + ", an array is wanted");
  Take(key, value);
}

void KeyedSink::OnArray(std::string_view key) {
  const int place = Find(keys_, key);
  if (!Open(key, place)) return;
  if (keys_[static_cast<std::size_t>(place)].form == Form::kValue)
    throw InputError(Quoted(key) + " is an array, a single value is wanted");
}

void KeyedSink::OnElement(std::string_view key, JsonView value) {
  if (!skip_) Take(key, value);
}

}  // namespace ebb
