// SPDX-License-Identifier: Apache-2.0
#include "io/atomic_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/status.hpp"
#include "io/packer.hpp"

namespace ebb {
namespace fs = std::filesystem;

struct AtomicFile::Impl {
  std::string shown;       // the path as given, for messages
  fs::path target, aside;  // aside empty: written directly
  int fd = -1;
  std::unique_ptr<Packer> packer;

  [[noreturn]] void Fail(const char* what) const {
    throw InputError(shown + ": " + what + ": " + std::strerror(errno));
  }
  void Raw(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) Fail("cannot be written");
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  ~Impl() {
    if (fd >= 0) ::close(fd);
    if (!aside.empty()) ::unlink(aside.c_str());
  }
};

AtomicFile::AtomicFile(const fs::path& target) : impl_(std::make_unique<Impl>()) {
  Impl& f = *impl_;
  f.shown = target.string();
  f.target = target;
  if (target.empty()) throw InputError("the name of the file to write is empty");
  std::error_code ec;
  if (fs::is_symlink(f.target, ec)) {  // write through a link, not over it
    const fs::path real = fs::canonical(f.target, ec);
    if (!ec) f.target = real;
  }
  f.packer = PackerFor(f.target.filename().string());

  struct stat info {};
  const bool exists = ::stat(f.target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) throw InputError(f.shown + ": cannot be written: it is a folder");
  if (exists && !S_ISREG(info.st_mode)) {
    f.fd = ::open(f.target.c_str(), O_WRONLY | O_CLOEXEC);
    if (f.fd < 0) f.Fail("cannot be written");
    return;
  }
  if (exists && ::access(f.target.c_str(), W_OK) != 0) f.Fail("cannot be written");  // a rename would not ask
  for (int attempt = 0; f.fd < 0; ++attempt) {
    f.aside = f.target;
    f.aside += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    f.fd = ::open(f.aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f.fd < 0 && (errno != EEXIST || attempt == 1000)) {
      f.aside.clear();
      f.Fail("cannot be written");
    }
  }
  if (exists && ::fchmod(f.fd, info.st_mode & 07777) != 0) f.Fail("cannot be written");
}

AtomicFile::~AtomicFile() = default;
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;

void AtomicFile::Write(std::string_view bytes) {
  const Impl& f = *impl_;
  if (f.packer != nullptr)
    f.packer->Write(bytes, [&](std::string_view packed) { f.Raw(packed); });
  else
    f.Raw(bytes);
}

void AtomicFile::Commit() {
  Impl& f = *impl_;
  if (f.packer != nullptr) f.packer->Finish([&](std::string_view packed) { f.Raw(packed); });
  if (f.aside.empty()) {
    const int code = ::close(std::exchange(f.fd, -1));
    if (code != 0) f.Fail("cannot be written");
    return;
  }
  if (::fsync(f.fd) != 0) f.Fail("cannot be written");
  const int code = ::close(std::exchange(f.fd, -1));
  if (code != 0) f.Fail("cannot be written");
  if (::rename(f.aside.c_str(), f.target.c_str()) != 0) f.Fail("cannot be written");
  f.aside.clear();
  // The rename itself is on the disk once the folder is. Where that cannot be asked for, the file is whole all the
  // same.
  const fs::path folder = f.target.has_parent_path() ? f.target.parent_path() : fs::path(".");
  const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    ::fsync(dir);
    ::close(dir);
  }
}

}  // namespace ebb
