#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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

}  // namespace hstar
