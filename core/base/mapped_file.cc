#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/errors.h"

namespace hstar {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const auto fail = [&] { throw InputError(path + ": cannot read: " + std::strerror(errno)); };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail();
  struct stat status{};
  const bool known = fstat(file, &status) == 0;
  const auto size = static_cast<size_t>(status.st_size);
  void* data = known && size > 0 ? mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  close(file);  // the mapping stays
  if (!known || data == MAP_FAILED) fail();
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const uint8_t*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace hstar
