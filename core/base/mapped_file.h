// A file as read-only memory: pages are read when first touched, and shared by processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace hstar {

class MappedFile {
 public:
  // Throws an InputError that names the file.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  const uint8_t* data_;
  size_t size_;
};

}  // namespace hstar
