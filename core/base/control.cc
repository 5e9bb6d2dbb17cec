#include "base/control.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hstar {
namespace {

// The kernel's other counter, ru_maxrss, survives exec: it would have what the program held that started this
// one.
size_t recorded_peak() {
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    size_t kilobytes = 0;
    char line[256];
    while (!kilobytes && std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "VmHWM: %zu kB", &kilobytes) != 1) kilobytes = 0;
    std::fclose(file);
    if (kilobytes) return kilobytes * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<size_t>(usage.ru_maxrss);
#else
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
#endif
}

}  // namespace

size_t resident_memory() {
  long total = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    const int read = std::fscanf(file, "%ld %ld", &total, &resident);
    std::fclose(file);
    if (read == 2) return static_cast<size_t>(resident) * sysconf(_SC_PAGESIZE);
  }
  return recorded_peak();
}

// The kernel updates the two counters at different times: the peak is never below what is held now.
size_t peak_memory() { return std::max(recorded_peak(), resident_memory()); }

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const char* status_name(Status status) {
  static constexpr const char* kNames[] = {"solved",          "unsolvable",   "incomplete",
                                           "time_limit",      "memory_limit", "evaluation_limit",
                                           "expansion_limit", "interrupted"};
  return kNames[static_cast<size_t>(status)];
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
  const double now = elapsed_s();
  const double spent = now - last_read_s_;
  if (spent > kClockInterval)
    budget_ = std::max(1u, static_cast<uint32_t>(std::min(pending_, budget_) * kClockInterval / spent));
  else
    budget_ = std::min(2 * budget_, kMostWorkPerClockRead);
  last_read_s_ = now;
  pending_ = 0;
  counts_ = counts;
  best_h_ = best_h;
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
