// SPDX-License-Identifier: Apache-2.0
//
// The packing side of the codecs in byte_source.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace ebb {

class Packer {
 public:
  using Out = std::function<void(std::string_view)>;
  virtual ~Packer() = default;
  virtual void Write(std::string_view bytes, const Out& out) = 0;
  virtual void Finish(const Out& out) = 0;
};

// By the ending of the file's name: .gz, .xz, .zst; nothing for all others. The packed bytes depend on the library's
// version, not on the time.
[[nodiscard]] std::unique_ptr<Packer> PackerFor(std::string_view file_name);

}  // namespace ebb
