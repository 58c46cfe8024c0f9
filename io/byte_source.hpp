// SPDX-License-Identifier: Apache-2.0
//
// Bytes in pieces: a file or a memory block, unpacked on the way when it is gzip, xz or zstd (told by its first bytes).
// Memory stays at one piece whatever the file holds, so a small packed file cannot blow up: readers see a stream, and
// the stream ends with an error after `max_bytes`.
//
// The codec libraries are used directly. Boost.Iostreams' filters were tried first: its zstd filter takes a truncated
// file for a complete one, and its xz filter has a fixed memory limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace ebb {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next piece; empty at the end. Valid until the next call. Throws InputError (unreadable, corrupt, truncated,
  // over the limit), the message starting with the source's name.
  virtual std::string_view Next() = 0;
};

inline constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{16} << 30;

// Throws InputError where the file cannot be opened or is a folder.
[[nodiscard]] std::unique_ptr<ByteSource> OpenFile(const std::filesystem::path& path,
                                                   std::uint64_t max_bytes = kDefaultMaxBytes);
// `bytes` must outlive the source. `name` stands in messages.
[[nodiscard]] std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes, std::string name,
                                                     std::uint64_t max_bytes = kDefaultMaxBytes);

// All of it at once, for readers that need the whole text. Throws InputError past `limit` bytes.
[[nodiscard]] std::string ReadAll(ByteSource& source, const std::string& name, std::uint64_t limit);

}  // namespace ebb
