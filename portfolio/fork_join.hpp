// SPDX-License-Identifier: Apache-2.0
//
// One function for what the portfolio asks of TBB: run n jobs at the same time and wait for all of them. It also tells
// the thread sanitizer what happens before what: TBB's library is not instrumented, so its own synchronization of fork
// and join is invisible, and every job would look like a race with its caller.
#pragma once

#include <cstddef>
#include <new>
#include <stdexcept>
#include <typeinfo>

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#if defined(__SANITIZE_THREAD__)
#define EBB_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EBB_TSAN 1
#endif
#endif

#ifdef EBB_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace ebb {

/// What one side published before Release is seen by the other after Acquire (nothing outside the thread sanitizer:
/// TBB orders these points already).
struct ForkJoinOrder {
#ifdef EBB_TSAN
  static void* Tag(bool join) {
    static const char tags[2] = {0, 0};
    return const_cast<char*>(&tags[join]);
  }
  static void Acquire(bool join) { __tsan_acquire(Tag(join)); }
  static void Release(bool join) { __tsan_release(Tag(join)); }
#else
  static void Acquire(bool) {}
  static void Release(bool) {}
#endif
};

/// One forked job. It is copied into TBB's memory, and only that copy may be published: hence the constructor.
template <class Job>
class Forked {
 public:
  Forked(const Job& job, std::size_t i) : job_(&job), i_(i) {}
  Forked(const Forked& other) : job_(other.job_), i_(other.i_) { ForkJoinOrder::Release(false); }
  Forked& operator=(const Forked&) = delete;

  void operator()() const {
    ForkJoinOrder::Acquire(false);
    (*job_)(i_);
    ForkJoinOrder::Release(true);
  }

 private:
  const Job* job_;
  std::size_t i_;
};

/// Runs job(0) ... job(n-1) in the arena, job(0) on the caller's thread, and returns when all are done. n >= 1. The
/// first exception of a job is thrown again here (TBB). Where no thread can be had, for want of memory, TBB throws a
/// plain std::runtime_error (none of ours is plain): std::bad_alloc to everybody else.
template <class Job>
void ForkJoin(tbb::task_arena& arena, std::size_t n, const Job& job) {
  try {
    arena.execute([&] {
      tbb::task_group group;
      for (std::size_t i = 1; i < n; ++i) group.run(Forked<Job>(job, i));
      group.run_and_wait([&job] { job(std::size_t{0}); });
      ForkJoinOrder::Acquire(true);
    });
  } catch (const std::runtime_error& e) {
    if (typeid(e) == typeid(std::runtime_error)) throw std::bad_alloc();
    throw;
  }
}

}  // namespace ebb
