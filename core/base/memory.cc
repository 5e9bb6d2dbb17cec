#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace hstar {

size_t resident_memory() {
  long total = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    const int read = std::fscanf(file, "%ld %ld", &total, &resident);
    std::fclose(file);
    if (read == 2) return static_cast<size_t>(resident) * sysconf(_SC_PAGESIZE);
  }
  return peak_memory();
}

size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<size_t>(usage.ru_maxrss);
#else
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
#endif
}

}  // namespace hstar
