// SPDX-License-Identifier: Apache-2.0
#include "io/byte_source.hpp"

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "engine/base/status.hpp"

namespace ebb {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;
// Tables an xz or zstd stream may ask for: enough for `xz -9` (65 MiB) and `zstd --ultra -22` (128 MiB), no more.
constexpr std::uint64_t kCodecMemory = std::uint64_t{256} << 20;

class RawFile final : public ByteSource {
 public:
  explicit RawFile(const std::filesystem::path& path) : name_(path.string()), buffer_(kPiece) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw InputError(name_ + ": cannot be opened: " + std::strerror(errno));
    struct stat info {};
    if (::fstat(fd_, &info) == 0 && S_ISDIR(info.st_mode)) {
      ::close(fd_);
      throw InputError(name_ + ": is a folder, a file is wanted");
    }
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() override { ::close(fd_); }

  std::string_view Next() override {
    for (;;) {
      const ssize_t got = ::read(fd_, buffer_.data(), buffer_.size());
      if (got >= 0) return {buffer_.data(), static_cast<std::size_t>(got)};
      if (errno != EINTR) throw InputError(name_ + ": cannot be read: " + std::strerror(errno));
    }
  }

 private:
  std::string name_;
  std::vector<char> buffer_;
  int fd_ = -1;
};

class RawMemory final : public ByteSource {
 public:
  explicit RawMemory(std::string_view bytes) : bytes_(bytes) {}
  std::string_view Next() override {
    const std::string_view piece = bytes_.substr(0, kPiece);
    bytes_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view bytes_;
};

// Puts back the piece that was looked at.
class Peeked final : public ByteSource {
 public:
  Peeked(std::unique_ptr<ByteSource> rest, std::string head) : rest_(std::move(rest)), head_(std::move(head)) {}
  std::string_view Next() override {
    if (!given_) {
      given_ = true;
      if (!head_.empty()) return head_;
    }
    return rest_->Next();
  }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string head_;
  bool given_ = false;
};

// What the three codecs have in common: packed pieces in, unpacked pieces out, an error when the packed data stops
// before its own end mark. Step() unpacks from in_ into the buffer, and returns the bytes it wrote.
class Unpacker : public ByteSource {
 public:
  Unpacker(std::unique_ptr<ByteSource> packed, std::string name, const char* codec)
      : packed_(std::move(packed)), name_(std::move(name)), codec_(codec), out_(kPiece) {}

  std::string_view Next() override {
    while (!over_) {
      if (in_.empty() && !input_ended_) {
        in_ = packed_->Next();
        input_ended_ = in_.empty();
      }
      const std::size_t before = in_.size();
      const std::size_t made = Step(out_.data(), out_.size());
      if (made > 0) return {out_.data(), made};
      if (!over_ && input_ended_ && in_.size() == before) Fail("is truncated");
    }
    return {};
  }

 protected:
  virtual std::size_t Step(char* out, std::size_t room) = 0;
  [[noreturn]] void Fail(const std::string& what) const {
    throw InputError(name_ + ": the " + codec_ + " data " + what);
  }

  std::string_view in_;
  bool input_ended_ = false;
  bool over_ = false;  // the packed data came to its proper end

 private:
  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  const char* codec_;
  std::vector<char> out_;
};

// Anything but zeros after the end of a stream must be another stream (gzip and zstd allow several in a file).
bool OnlyPadding(std::string_view in) { return in.find_first_not_of('\0') == std::string_view::npos; }

class Gzip final : public Unpacker {
 public:
  Gzip(std::unique_ptr<ByteSource> packed, std::string name) : Unpacker(std::move(packed), std::move(name), "gzip") {
    if (::inflateInit2(&z_, 15 + 16) != Z_OK) throw InternalError("zlib: cannot start");
  }
  ~Gzip() override { ::inflateEnd(&z_); }

 protected:
  std::size_t Step(char* out, std::size_t room) override {
    if (between_) {  // a member ended
      if (OnlyPadding(in_)) {
        in_ = {};
        over_ = input_ended_;
        return 0;
      }
      if (::inflateReset2(&z_, 15 + 16) != Z_OK) throw InternalError("zlib: cannot restart");
      between_ = false;
    }
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in_.data()));
    z_.avail_in = static_cast<uInt>(in_.size());
    z_.next_out = reinterpret_cast<Bytef*>(out);
    z_.avail_out = static_cast<uInt>(room);
    const int code = ::inflate(&z_, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) Fail("is corrupt");
    in_ = in_.substr(in_.size() - z_.avail_in);
    between_ = code == Z_STREAM_END;
    return room - z_.avail_out;
  }

 private:
  z_stream z_{};
  bool between_ = false;
};

class Xz final : public Unpacker {
 public:
  Xz(std::unique_ptr<ByteSource> packed, std::string name) : Unpacker(std::move(packed), std::move(name), "xz") {
    if (::lzma_stream_decoder(&z_, kCodecMemory, LZMA_CONCATENATED) != LZMA_OK)
      throw InternalError("liblzma: cannot start");
  }
  ~Xz() override { ::lzma_end(&z_); }

 protected:
  std::size_t Step(char* out, std::size_t room) override {
    z_.next_in = reinterpret_cast<const std::uint8_t*>(in_.data());
    z_.avail_in = in_.size();
    z_.next_out = reinterpret_cast<std::uint8_t*>(out);
    z_.avail_out = room;
    const lzma_ret code = ::lzma_code(&z_, input_ended_ ? LZMA_FINISH : LZMA_RUN);
    in_ = in_.substr(in_.size() - z_.avail_in);
    if (code == LZMA_STREAM_END)
      over_ = true;
    else if (code == LZMA_MEMLIMIT_ERROR)
      Fail("asks for more memory than is allowed");
    else if (code != LZMA_OK && code != LZMA_BUF_ERROR)
      Fail("is corrupt");
    return room - z_.avail_out;
  }

 private:
  lzma_stream z_ = LZMA_STREAM_INIT;
};

class Zstd final : public Unpacker {
 public:
  Zstd(std::unique_ptr<ByteSource> packed, std::string name)
      : Unpacker(std::move(packed), std::move(name), "zstd"), z_(::ZSTD_createDStream()) {
    if (z_ == nullptr) throw InternalError("zstd: cannot start");
    ::ZSTD_DCtx_setParameter(z_, ZSTD_d_windowLogMax, 27);  // 128 MiB
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() override { ::ZSTD_freeDStream(z_); }

 protected:
  std::size_t Step(char* out, std::size_t room) override {
    if (between_ && in_.empty()) {
      over_ = input_ended_;
      return 0;
    }
    ZSTD_inBuffer input{in_.data(), in_.size(), 0};
    ZSTD_outBuffer output{out, room, 0};
    const std::size_t code = ::ZSTD_decompressStream(z_, &output, &input);
    if (::ZSTD_isError(code) != 0) Fail(std::string("is corrupt (") + ::ZSTD_getErrorName(code) + ")");
    in_ = in_.substr(input.pos);
    between_ = code == 0;  // a frame ended and is flushed; another may follow
    return output.pos;
  }

 private:
  ZSTD_DStream* z_;
  bool between_ = false;
};

class Limited final : public ByteSource {
 public:
  Limited(std::unique_ptr<ByteSource> in, std::string name, std::uint64_t limit)
      : in_(std::move(in)), name_(std::move(name)), limit_(limit), left_(limit) {}
  std::string_view Next() override {
    const std::string_view piece = in_->Next();
    if (piece.size() > left_)
      throw InputError(name_ + ": holds more than " + std::to_string(limit_) + " bytes once unpacked");
    left_ -= piece.size();
    return piece;
  }

 private:
  std::unique_ptr<ByteSource> in_;
  std::string name_;
  std::uint64_t limit_, left_;
};

bool StartsWith(std::string_view bytes, std::string_view magic) { return bytes.substr(0, magic.size()) == magic; }

std::unique_ptr<ByteSource> Unpack(std::unique_ptr<ByteSource> raw, const std::string& name, std::uint64_t limit) {
  std::string head;
  while (head.size() < 6) {  // a pipe may hand over a few bytes at a time
    const std::string_view piece = raw->Next();
    if (piece.empty()) break;
    head.append(piece);
  }
  std::unique_ptr<ByteSource> source = std::make_unique<Peeked>(std::move(raw), head);
  using namespace std::string_view_literals;
  if (StartsWith(head, "\x1f\x8b"sv))
    source = std::make_unique<Gzip>(std::move(source), name);
  else if (StartsWith(head,
                      "\xfd"
                      "7zXZ\0"sv))
    source = std::make_unique<Xz>(std::move(source), name);
  else if (StartsWith(head, "\x28\xb5\x2f\xfd"sv))
    source = std::make_unique<Zstd>(std::move(source), name);
  return std::make_unique<Limited>(std::move(source), name, limit);
}

}  // namespace

std::unique_ptr<ByteSource> OpenFile(const std::filesystem::path& path, std::uint64_t max_bytes) {
  return Unpack(std::make_unique<RawFile>(path), path.string(), max_bytes);
}

std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes, std::string name, std::uint64_t max_bytes) {
  return Unpack(std::make_unique<RawMemory>(bytes), name, max_bytes);
}

std::string ReadAll(ByteSource& source, const std::string& name, std::uint64_t limit) {
  std::string text;
  for (std::string_view piece = source.Next(); !piece.empty(); piece = source.Next()) {
    if (piece.size() > limit - text.size())
      throw InputError(name + ": holds more than " + std::to_string(limit) + " bytes once unpacked");
    text.append(piece);
  }
  return text;
}

}  // namespace ebb
