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
  fs::path target, aside;  // aside: its name until the rename, empty where it has none (yet)
  bool direct = false;     // written directly
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
  [[nodiscard]] fs::path Folder() const { return target.has_parent_path() ? target.parent_path() : fs::path("."); }

  // A file in the target's folder that has no name yet: whoever is killed while writing it leaves nothing behind.
  // False: not here (some file systems cannot, and /proc is needed to name it).
  bool OpenNameless() {
#ifdef O_TMPFILE
    if (::access("/proc/self/fd", X_OK) == 0) fd = ::open(Folder().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
    return fd >= 0;
  }
  // Makes names beside the target until one is free; `make` is false, with errno set, where one is not.
  template <class Make>
  void NameAside(Make make) {
    for (int attempt = 0;; ++attempt) {
      aside = target;
      aside += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      if (make()) return;
      if (errno == EEXIST && attempt < 1000) continue;
      aside.clear();
      Fail("cannot be written");
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
    f.direct = true;
    return;
  }
  if (exists && ::access(f.target.c_str(), W_OK) != 0) f.Fail("cannot be written");  // a rename would not ask
  if (!f.OpenNameless()) {
    f.NameAside([&] {
      f.fd = ::open(f.aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return f.fd >= 0;
    });
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
  if (f.direct) {
    const int code = ::close(std::exchange(f.fd, -1));
    if (code != 0) f.Fail("cannot be written");
    return;
  }
  if (::fsync(f.fd) != 0) f.Fail("cannot be written");
  if (f.aside.empty()) {
    const std::string self = "/proc/self/fd/" + std::to_string(f.fd);
    f.NameAside([&] { return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, f.aside.c_str(), AT_SYMLINK_FOLLOW) == 0; });
  }
  const int code = ::close(std::exchange(f.fd, -1));
  if (code != 0) f.Fail("cannot be written");
  if (::rename(f.aside.c_str(), f.target.c_str()) != 0) f.Fail("cannot be written");
  f.aside.clear();
  // The rename itself is on the disk once the folder is. Where that cannot be asked for, the file is whole all the
  // same.
  const int dir = ::open(f.Folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    ::fsync(dir);
    ::close(dir);
  }
}

}  // namespace ebb
