// Packs the values of a state into 32-bit words, each variable into as few bits as its domain needs and
// never across two words.
#pragma once

#include <cstdint>
#include <vector>

#include "task/task.h"

namespace hstar {

class StatePacker {
 public:
  explicit StatePacker(const Task& task);

  size_t words() const { return words_; }

  Value get(const uint32_t* packed, int32_t variable) const {
    const Field& field = fields_[variable];
    return static_cast<Value>(packed[field.word] >> field.shift & field.mask);
  }
  void set(uint32_t* packed, int32_t variable, Value value) const {
    const Field& field = fields_[variable];
    packed[field.word] = (packed[field.word] & ~(field.mask << field.shift)) | static_cast<uint32_t>(value)
                                                                                   << field.shift;
  }
  void pack(const Value* values, uint32_t* packed) const;
  void unpack(const uint32_t* packed, Value* values) const {
    for (const Field& field : fields_)
      *values++ = static_cast<Value>(packed[field.word] >> field.shift & field.mask);
  }

  // Several assignments or tests at once, merged by word.
  struct Patch {
    uint32_t word;
    uint32_t mask;
    uint32_t bits;
  };
  // A later fact of the same variable overrides an earlier one.
  std::vector<Patch> patches(const std::vector<Fact>& facts) const;

 private:
  struct Field {
    uint32_t word;
    uint32_t shift;
    uint32_t mask;
  };
  std::vector<Field> fields_;
  size_t words_ = 0;
};

}  // namespace hstar
