// SPDX-License-Identifier: Apache-2.0
#include "io/packer.hpp"

#include <limits>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "engine/base/status.hpp"

namespace ebb {
namespace {

constexpr std::size_t kRoom = std::size_t{1} << 16;

class GzipPacker final : public Packer {
 public:
  GzipPacker() {
    if (::deflateInit2(&z_, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw InternalError("zlib: cannot start");
  }
  ~GzipPacker() override { ::deflateEnd(&z_); }
  void Write(std::string_view bytes, const Out& out) override {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max() / 2;
    for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < kMost ? bytes.size() : kMost))
      Run(bytes.substr(0, kMost), Z_NO_FLUSH, out);
  }
  void Finish(const Out& out) override { Run({}, Z_FINISH, out); }

 private:
  void Run(std::string_view bytes, int flush, const Out& out) {
    char room[kRoom];
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z_.avail_in = static_cast<uInt>(bytes.size());
    do {
      z_.next_out = reinterpret_cast<Bytef*>(room);
      z_.avail_out = kRoom;
      if (::deflate(&z_, flush) == Z_STREAM_ERROR) throw InternalError("zlib: cannot pack");
      out({room, kRoom - z_.avail_out});
    } while (z_.avail_out == 0);
  }
  z_stream z_{};
};

class XzPacker final : public Packer {
 public:
  XzPacker() {
    if (::lzma_easy_encoder(&z_, 6, LZMA_CHECK_CRC64) != LZMA_OK) throw InternalError("liblzma: cannot start");
  }
  ~XzPacker() override { ::lzma_end(&z_); }
  void Write(std::string_view bytes, const Out& out) override { Run(bytes, LZMA_RUN, out); }
  void Finish(const Out& out) override { Run({}, LZMA_FINISH, out); }

 private:
  void Run(std::string_view bytes, lzma_action action, const Out& out) {
    char room[kRoom];
    z_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    z_.avail_in = bytes.size();
    for (;;) {
      z_.next_out = reinterpret_cast<std::uint8_t*>(room);
      z_.avail_out = kRoom;
      const lzma_ret code = ::lzma_code(&z_, action);
      if (code != LZMA_OK && code != LZMA_STREAM_END) throw InternalError("liblzma: cannot pack");
      out({room, kRoom - z_.avail_out});
      if (code == LZMA_STREAM_END || (action == LZMA_RUN && z_.avail_in == 0 && z_.avail_out != 0)) return;
    }
  }
  lzma_stream z_ = LZMA_STREAM_INIT;
};

class ZstdPacker final : public Packer {
 public:
  ZstdPacker() : z_(::ZSTD_createCCtx()) {
    if (z_ == nullptr) throw InternalError("zstd: cannot start");
    ::ZSTD_CCtx_setParameter(z_, ZSTD_c_compressionLevel, 9);
    ::ZSTD_CCtx_setParameter(z_, ZSTD_c_checksumFlag, 1);
  }
  ZstdPacker(const ZstdPacker&) = delete;
  ZstdPacker& operator=(const ZstdPacker&) = delete;
  ~ZstdPacker() override { ::ZSTD_freeCCtx(z_); }
  void Write(std::string_view bytes, const Out& out) override { Run(bytes, ZSTD_e_continue, out); }
  void Finish(const Out& out) override { Run({}, ZSTD_e_end, out); }

 private:
  void Run(std::string_view bytes, ZSTD_EndDirective mode, const Out& out) {
    char room[kRoom];
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer output{room, kRoom, 0};
      const std::size_t left = ::ZSTD_compressStream2(z_, &output, &input, mode);
      if (::ZSTD_isError(left) != 0) throw InternalError("zstd: cannot pack");
      out({room, output.pos});
      if (mode == ZSTD_e_end ? left == 0 : input.pos == input.size) return;
    }
  }
  ZSTD_CCtx* z_;
};

bool EndsWith(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending;
}

}  // namespace

std::unique_ptr<Packer> PackerFor(std::string_view file_name) {
  if (EndsWith(file_name, ".gz")) return std::make_unique<GzipPacker>();
  if (EndsWith(file_name, ".xz")) return std::make_unique<XzPacker>();
  if (EndsWith(file_name, ".zst")) return std::make_unique<ZstdPacker>();
  return nullptr;
}

}  // namespace ebb
