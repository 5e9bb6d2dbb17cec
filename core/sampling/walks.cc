#include "sampling/walks.h"

#include "base/random.h"

namespace hstar {

std::vector<Value> random_walks(const PlanningSpace& space, const std::vector<Value>& start,
                                const WalkConfig& config, Poll& poll) {
  std::vector<Value> result;
  std::vector<int32_t> operators;
  std::vector<uint32_t> next(space.words());
  uint64_t stream = config.seed;
  for (size_t walk = 0; walk < config.walks; ++walk) {
    Random random(splitmix64(stream));
    std::vector<Value> values = start;
    std::vector<uint32_t> packed = space.packed(values.data());
    const auto choices = static_cast<uint32_t>(config.max_length - config.min_length) + 1;
    const int32_t length = config.min_length + static_cast<int32_t>(random.below(choices));
    for (int32_t step = 0; step < length; ++step) {
      poll();
      operators.clear();
      space.applicable(values.data(), operators);
      if (operators.empty()) break;
      const int32_t op = operators[random.below(static_cast<uint32_t>(operators.size()))];
      space.apply(packed.data(), values.data(), op, next.data());
      packed.swap(next);
      space.packer().unpack(packed.data(), values.data());
    }
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

}  // namespace hstar
