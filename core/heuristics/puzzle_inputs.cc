#include "heuristics/puzzle_inputs.h"

namespace hstar {

template <class Space>
const Space& space_of(const AnyInputs<Space>& inputs) {
  return std::visit([](const auto& one) -> const Space& { return one->space(); }, inputs);
}

template <class Space>
size_t count_of(const AnyInputs<Space>& inputs) {
  return std::visit([](const auto& one) { return one->size(); }, inputs);
}

template <class Space>
std::vector<float> scaled_inputs(const AnyInputs<Space>& inputs,
                                 const std::vector<typename Space::State>& states) {
  const size_t size = count_of<Space>(inputs);
  std::vector<float> result(states.size() * size, 0);
  const auto fill = [&](const auto& one) {
    float* row = result.data();
    for (const typename Space::State& state : states) {
      one->raw(state, [&](size_t input, int32_t value) {
        row[input] = static_cast<float>(value) / one->divisor(input);
      });
      row += size;
    }
  };
  std::visit(fill, inputs);
  return result;
}

template <class Space>
std::vector<int32_t> admissible_inputs(const AnyInputs<Space>& inputs,
                                       const std::vector<typename Space::State>& states) {
  std::vector<int32_t> result;
  const auto fill = [&]<class Inputs>(const std::shared_ptr<const Inputs>& one) {
    typename Inputs::Node node;
    for (const typename Space::State& state : states) {
      one->root(state, node);
      result.push_back(one->admissible(node));
    }
  };
  std::visit(fill, inputs);
  return result;
}

#define HSTAR_PUZZLE(Space)                                                           \
  template const Space& space_of<Space>(const AnyInputs<Space>&);                     \
  template size_t count_of<Space>(const AnyInputs<Space>&);                           \
  template std::vector<float> scaled_inputs<Space>(const AnyInputs<Space>&,           \
                                                   const std::vector<Space::State>&); \
  template std::vector<int32_t> admissible_inputs<Space>(const AnyInputs<Space>&,     \
                                                         const std::vector<Space::State>&);
HSTAR_PUZZLE(Tiles)
HSTAR_PUZZLE(Pancake)
HSTAR_PUZZLE(Blocks)
#undef HSTAR_PUZZLE

}  // namespace hstar
