#include "search/iterative_deepening.h"

namespace hstar {

DeepeningResult Deepening::run() {
  if (options_.threads > 1) return root_parallel(*this, options_.threads, control_);
  return run([this](int32_t bound) { return search_round(bound); });
}

DeepeningResult Deepening::run(const std::function<bool(int32_t)>& round) {
  constexpr int32_t kDeepest = 1000000;
  set_root();
  int32_t bound = result_.initial_h;
  while (bound != kInfinity) {
    if (bound < 0 || bound > kDeepest)
      throw InputError("the heuristic gives values of " + std::to_string(bound) + " moves; 0.." +
                       std::to_string(kDeepest) + " are allowed");
    result_.lower_bound = bound;
    if (bound > options_.greatest_bound) {
      result_.status = Status::kIncomplete;
      break;
    }
    result_.bound = bound;
    ++result_.rounds;
    next_bound_ = kInfinity;
    if (round(bound)) break;
    bound = next_bound_;
  }
  result_.counts.evaluated = result_.counts.generated + 1;
  return std::move(result_);
}

bool Deepening::out_of_budget() {
  constexpr uint64_t kNodesPerPoll = 8192;  // tenths of a millisecond; of milliseconds with a network
  constexpr uint32_t kWorkOfPoll = 500;     // microseconds: every call reads the clock
  Counts& counts = result_.counts;
  if (team_) {
    team_->generated += counts.generated - told_;
    told_ = counts.generated;
    poll_at_ = counts.generated + kNodesPerPoll;
    if (team_->generated >= team_->most) team_->stopped = true;
    return team_->stopped || team_->goal < place_;
  }
  counts.evaluated = counts.generated + 1;
  if (control_.poll(counts, result_.initial_h, kWorkOfPoll)) {
    result_.status = control_.status();
    return true;
  }
  poll_at_ = counts.generated + std::min(kNodesPerPoll, control_.limits().evaluations - counts.evaluated);
  return false;
}

}  // namespace hstar
