// Networks of puzzles: what they see of states, and their values.
#include <variant>

#include "bindings/bindings.h"
#include "heuristics/puzzle_network.h"
#include "search/puzzles.h"

namespace hstar {
namespace {

using Values = std::vector<int>;
using Matrix = Array<float, 2>;
using Vector = Array<float, 1>;

template <class Space>
std::vector<typename Space::State> checked(const Space& space, const std::vector<Values>& states) {
  std::vector<typename Space::State> result;
  result.reserve(states.size());
  for (const Values& values : states) result.push_back(space.checked(values));
  return result;
}

// Inputs of any kind.
template <class Space>
struct PyInputs {
  AnyInputs<Space> inputs;
};

template <class Space>
RowsOf<float> array(const PyInputs<Space>& self, const std::vector<Values>& states) {
  const auto list = checked(space_of<Space>(self.inputs), states);
  return rows(scaled_inputs<Space>(self.inputs, list), list.size(), count_of<Space>(self.inputs));
}

template <class Space>
Column<int32_t> admissible(const PyInputs<Space>& self, const std::vector<Values>& states) {
  return column(admissible_inputs<Space>(self.inputs, checked(space_of<Space>(self.inputs), states)));
}

template <class Space>
PuzzleNetwork<Space> network(const PyInputs<Space>& inputs, const Matrix& hidden_weights,
                             const Vector& hidden_biases, const Matrix& output_weights,
                             const Vector& output_biases, const PuzzleBelief& belief) {
  PuzzleNetworkConfig config;
  static_cast<PuzzleBelief&>(config) = belief;
  config.inputs = hidden_weights.shape(0);
  config.width = hidden_weights.shape(1);
  config.outputs = output_weights.shape(1);
  config.hidden_weights = copied(hidden_weights);
  config.hidden_biases = copied(hidden_biases);
  config.output_weights = copied(output_weights);
  config.output_biases = copied(output_biases);
  return PuzzleNetwork<Space>(inputs.inputs, config);
}

template <class Space>
Column<int32_t> values(const PuzzleNetwork<Space>& network, const std::vector<Values>& states) {
  const auto list = checked(network.space(), states);
  return column(unlocked([&](Poll&) { return puzzle_values<Space>(network.space(), &network, list); }));
}

template <class Space>
void bind(nb::module_& module, const char* inputs_name, const char* network_name) {
  using Inputs = PyInputs<Space>;
  nb::class_<Inputs>(module, inputs_name, "What a network sees of a state.")
      .def_prop_ro("size", [](const Inputs& self) { return count_of<Space>(self.inputs); })
      .def("array", &array<Space>, "states"_a, "A row of numbers in 0..1 for each state.")
      .def("admissible", &admissible<Space>, "states"_a, "The greatest admissible number of each, in moves.");
  nb::class_<PuzzleNetwork<Space>>(module, network_name, "A network with one hidden layer.")
      .def("values", &values<Space>, "states"_a, "What a search has for these states.");
  module.def(
      "one_hot_inputs",
      [](const Space& space) {
        return Inputs{AnyInputs<Space>(std::in_place_index<0>,
                                       std::make_shared<const typename Parts<Space>::OneHot>(space))};
      },
      "space"_a, "Inputs by where pieces lie.");
  if constexpr (kHasDatabases<Space>)
    module.def(
        "database_inputs",
        [](const typename Parts<Space>::Databases& databases) {
          return Inputs{AnyInputs<Space>(std::in_place_index<1>,
                                         std::make_shared<const typename Parts<Space>::Inputs>(databases))};
        },
        "databases"_a, "Inputs by the costs of pattern databases.");
  module.def("puzzle_network", &network<Space>, "inputs"_a, "hidden_weights"_a, "hidden_biases"_a,
             "output_weights"_a, "output_biases"_a, "belief"_a,
             "A network with one hidden layer, as a heuristic of a puzzle.");
}

}  // namespace

void bind_puzzle_networks(nb::module_& module) {
  using Belief = PuzzleBelief;
  bind_struct<Belief>(module, "PuzzleBelief", "What is made of the outputs of a network of a puzzle.",
                      "scale", &Belief::scale, "lowest_rho", &Belief::lowest_rho, "highest_rho",
                      &Belief::highest_rho, "alpha", &Belief::alpha, "sure_below", &Belief::sure_below,
                      "shift", &Belief::shift, "factor", &Belief::factor, "floor_admissible",
                      &Belief::floor_admissible, "truncated", &Belief::truncated);
#define HSTAR_PUZZLE(Space) bind<Space>(module, #Space "Inputs", #Space "Network");
  HSTAR_PUZZLES(HSTAR_PUZZLE)
#undef HSTAR_PUZZLE
}

}  // namespace hstar
