// What may end a translation from outside: time, memory, an interrupt.
#pragma once

#include <limits>
#include <stdexcept>
#include <string>

#include "base/control.h"

namespace hstar::pddl {

// A limit ran out, or somebody wants to stop; the message says how far the translation was.
class LimitError : public std::runtime_error {
 public:
  LimitError(Status status, const std::string& message) : std::runtime_error(message), status(status) {}
  Status status;
};

// Counts what there is so far: `evaluated` of the progress are facts, `generated` operators.
class Watch {
 public:
  Watch(const Limits& limits, Observer observer) : control_(limits, std::move(observer), 1) {
    if (control_.stopped_at_start()) stop(control_.status());
  }

  // `work` is a rough count of tenths of a microsecond since the last call.
  void operator()(uint32_t work = 1) {
    pending_ += work;
    if (pending_ < kWorkPerPoll) return;
    pending_ = 0;
    if (control_.poll(counts_, std::numeric_limits<int32_t>::max(), kWorkPerPoll)) stop(control_.status());
  }
  void add_fact() { ++counts_.evaluated; }
  void add_operator() { ++counts_.generated; }

  [[noreturn]] void stop(Status status) const {
    throw LimitError(status, std::to_string(counts_.evaluated) + " facts and " +
                                 std::to_string(counts_.generated) + " operators so far");
  }

 private:
  static constexpr uint32_t kWorkPerPoll = 10'000;

  Control control_;
  Counts counts_;
  uint32_t pending_ = 0;
};

}  // namespace hstar::pddl
