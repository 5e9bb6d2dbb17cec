// Networks of puzzles: what they see of states, and their values.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "heuristics/puzzle_network.h"
#include "search/puzzles.h"

namespace nb = nanobind;

namespace hstar {
namespace {

using Values = std::vector<int>;
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array>
std::vector<float> copied(const Array& array) {
  return {array.data(), array.data() + array.size()};
}

// An array for Python that owns its numbers.
template <class Number, class... Sizes>
nb::ndarray<nb::numpy, Number> owned(std::vector<Number> numbers, Sizes... sizes) {
  auto* kept = new std::vector<Number>(std::move(numbers));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
  return nb::ndarray<nb::numpy, Number>(kept->data(), {sizes...}, owner);
}

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
nb::ndarray<nb::numpy, float> array(const PyInputs<Space>& self, const std::vector<Values>& states) {
  const auto list = checked(space_of<Space>(self.inputs), states);
  return owned(scaled_inputs<Space>(self.inputs, list), list.size(), count_of<Space>(self.inputs));
}

template <class Space>
nb::ndarray<nb::numpy, int32_t> admissible(const PyInputs<Space>& self, const std::vector<Values>& states) {
  const auto list = checked(space_of<Space>(self.inputs), states);
  return owned(admissible_inputs<Space>(self.inputs, list), list.size());
}

template <class Space>
void make(PuzzleNetwork<Space>* place, const PyInputs<Space>& inputs, const Matrix& hidden_weights,
          const Vector& hidden_biases, const Matrix& output_weights, const Vector& output_biases,
          double scale, double lowest_rho, double highest_rho, std::optional<double> alpha,
          std::optional<double> sure_below, double shift, double factor, bool floor_admissible,
          bool truncated) {
  PuzzleNetworkConfig config;
  config.inputs = hidden_weights.shape(0);
  config.width = hidden_weights.shape(1);
  config.outputs = output_weights.shape(1);
  config.hidden_weights = copied(hidden_weights);
  config.hidden_biases = copied(hidden_biases);
  config.output_weights = copied(output_weights);
  config.output_biases = copied(output_biases);
  config.scale = scale;
  config.lowest_rho = lowest_rho;
  config.highest_rho = highest_rho;
  config.alpha = alpha;
  if (sure_below) config.sure_below = *sure_below;
  config.shift = shift;
  config.factor = factor;
  config.floor_admissible = floor_admissible;
  config.truncated = truncated;
  new (place) PuzzleNetwork<Space>(inputs.inputs, config);
}

template <class Space>
nb::ndarray<nb::numpy, int32_t> values(const PuzzleNetwork<Space>& network,
                                       const std::vector<Values>& states) {
  const auto list = checked(network.space(), states);
  nb::gil_scoped_release release;
  std::vector<int32_t> numbers = puzzle_values<Space>(network.space(), &network, list);
  nb::gil_scoped_acquire acquire;
  return owned(std::move(numbers), list.size());
}

template <class Space, class Databases>
void bind(nb::module_& module, const char* inputs_name, const char* network_name) {
  using Inputs = PyInputs<Space>;
  using OneHot = typename InputsOf<Space>::OneHot;
  using WithDatabases = typename InputsOf<Space>::Databases;
  nb::class_<Inputs>(module, inputs_name, "What a network sees of a state.")
      .def_static(
          "one_hot", [](const Space& space) { return Inputs{std::make_shared<const OneHot>(space)}; },
          nb::arg("space"))
      .def_static(
          "databases", [](const Databases& d) { return Inputs{std::make_shared<const WithDatabases>(d)}; },
          nb::arg("databases"))
      .def_prop_ro("size", [](const Inputs& self) { return count_of<Space>(self.inputs); })
      .def("array", &array<Space>, nb::arg("states"), "A row of numbers in 0..1 for each state.")
      .def("admissible", &admissible<Space>, nb::arg("states"),
           "The greatest admissible number of each, in moves.");
  nb::class_<PuzzleNetwork<Space>>(module, network_name, "A network with one hidden layer.")
      .def("__init__", &make<Space>, nb::arg("inputs"), nb::arg("hidden_weights"), nb::arg("hidden_biases"),
           nb::arg("output_weights"), nb::arg("output_biases"), nb::kw_only(), nb::arg("scale"),
           nb::arg("lowest_rho"), nb::arg("highest_rho"), nb::arg("alpha").none(),
           nb::arg("sure_below").none(), nb::arg("shift"), nb::arg("factor"), nb::arg("floor_admissible"),
           nb::arg("truncated"))
      .def("values", &values<Space>, nb::arg("states"), "What a search has for these states.");
}

}  // namespace

void bind_puzzle_networks(nb::module_& module) {
  bind<Tiles, AdditiveDatabases<Tiles>>(module, "TilesInputs", "TilesNetwork");
  bind<Pancake, AdditiveDatabases<Pancake>>(module, "PancakeInputs", "PancakeNetwork");
  bind<Blocks, BlockDatabases>(module, "BlocksInputs", "BlocksNetwork");
}

}  // namespace hstar
