// SPDX-License-Identifier: Apache-2.0
//
// A file that is either written whole or not at all: the bytes go to a file without a name in the target's folder
// (where the file system has no such thing, to one beside the target), are flushed to the disk, and a rename is the
// last step. Whoever looks at the target sees the old file or the new one, and who is killed leaves nothing behind.
// Targets that are no regular files (a terminal, a pipe, /dev/null) are written directly.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace ebb {

class AtomicFile {
 public:
  // Opens at once, so that a target that cannot be written is known before the work starts. A name that ends in .gz,
  // .xz or .zst gets its bytes packed. Throws InputError with the full path and the reason.
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();  // without Commit: nothing is left behind
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;

  void Write(std::string_view bytes);  // throws InputError (a full disk, say)
  void Commit();                       // throws InputError; afterwards the target is there

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb
