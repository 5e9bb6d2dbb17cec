#include "base/control.h"

#include <time.h>

#include <cmath>
#include <utility>

#include "base/memory.h"

namespace hstar {

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const char* status_name(Status status) {
  switch (status) {
    case Status::kSolved:
      return "solved";
    case Status::kUnsolvable:
      return "unsolvable";
    case Status::kIncomplete:
      return "incomplete";
    case Status::kTimeLimit:
      return "time_limit";
    case Status::kMemoryLimit:
      return "memory_limit";
    case Status::kEvaluationLimit:
      return "evaluation_limit";
    case Status::kExpansionLimit:
      return "expansion_limit";
    case Status::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

Control::Control(const Limits& limits, Observer observer, int32_t h_scale)
    : limits_(limits),
      observer_(std::move(observer)),
      h_scale_(h_scale),
      start_(std::chrono::steady_clock::now()),
      cpu_start_s_(thread_cpu_s()) {}

double Control::cpu_s() const { return thread_cpu_s() - cpu_start_s_; }

double Control::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Control::allows(size_t extra_bytes) const {
  if (limits_.memory_bytes == std::numeric_limits<size_t>::max()) return true;
  return resident_memory() + extra_bytes <= limits_.memory_bytes;
}

bool Control::read_clock(const Counts& counts, int32_t best_h) {
  pending_ = 0;
  const double now = elapsed_s();
  if (now >= limits_.time_s) return stop(Status::kTimeLimit);
  // A system call, so asked only where there is such a limit.
  if (limits_.cpu_time_s < std::numeric_limits<double>::infinity() && cpu_s() >= limits_.cpu_time_s)
    return stop(Status::kTimeLimit);
  if (now >= next_memory_s_) {
    next_memory_s_ = now + kMemoryInterval;
    if (!allows(0)) return stop(Status::kMemoryLimit);
  }
  if (now < next_observation_s_) return false;
  next_observation_s_ = now + kObserverInterval;
  const bool known = best_h != std::numeric_limits<int32_t>::max();
  const double best = known ? static_cast<double>(best_h) / h_scale_ : std::nan("");
  const size_t memory = resident_memory();
  if (observer_ && !observer_(Progress{counts, best, now, memory})) return stop(Status::kInterrupted);
  return false;
}

}  // namespace hstar
