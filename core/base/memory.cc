#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace hstar {
namespace {

size_t recorded_peak() {
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

}  // namespace hstar
