// The mistakes the core reports. bindings/ turns them into the classes of hstar.errors, in one table.
#pragma once

#include <stdexcept>
#include <string>

namespace hstar {

// Something handed in is wrong. `line` is 1-based, 0 where there is none.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message, long line = 0) : std::runtime_error(message), line(line) {}
  long line;
};

// A part cannot handle what the task needs; the message says what to use instead.
class UnsupportedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hstar
