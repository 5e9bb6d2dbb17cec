// How long loops let themselves be interrupted: they call a Poll often, it calls a function about 50 times a
// second, and that function throws to end the work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace hstar {

class Poll {
 public:
  explicit Poll(std::function<void()> check = {}) : check_(std::move(check)) {}

  // `work` is a rough count of microseconds since the last call.
  void operator()(uint32_t work = 1) {
    pending_ += work;
    if (pending_ < kWorkPerClockRead || !check_) return;
    pending_ = 0;
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(20)) return;
    last_ = now;
    check_();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint32_t kWorkPerClockRead = 500;

  std::function<void()> check_;
  uint32_t pending_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace hstar
