#include "network/network.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "bindings/sampling_arrays.h"

namespace nb = nanobind;

namespace hstar {
namespace {

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const float> view(const Matrix& matrix) { return {matrix.data(), matrix.size()}; }
std::span<const float> view(const Vector& vector) { return {vector.data(), vector.size()}; }

PyNetwork make(Matrix rows, Vector bias, std::vector<std::vector<nb::object>> blocks, Matrix head,
               Vector head_bias, bool output_relu, const std::string& precision) {
  const bool int16 = precision == DenseInt16::kPrecision;
  if (!int16 && precision != Dense::kPrecision)
    throw InputError("a network computes in float32 or int16, not in '" + precision + "'");
  std::vector<Network::Block> list;
  for (const std::vector<nb::object>& block : blocks) {
    if (block.size() != 2 && block.size() != 4)
      throw InputError("a block has weights and bias of one layer, or of two if it is residual");
    const auto layer = [&](size_t i) -> Network::Layer {
      const auto weights = nb::cast<Matrix>(block[i]);
      const auto bias = nb::cast<Vector>(block[i + 1]);
      if (int16) return DenseInt16(view(weights), view(bias));
      return Dense(view(weights), view(bias));
    };
    list.push_back({layer(0), std::nullopt});
    if (block.size() == 4) list.back().second = layer(2);
  }
  return {std::make_shared<const Network>(view(rows), view(bias), std::move(list),
                                          Dense(view(head), view(head_bias)), output_relu)};
}

// Outputs for rows of zeros and ones, one a state.
RowsOf<float> run(const PyNetwork& self,
                  nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> inputs,
                  bool reference) {
  const Network& network = *self.network;
  const size_t n = inputs.shape(0), atoms = network.atoms();
  if (inputs.shape(1) != atoms)
    throw InputError("the network has " + std::to_string(atoms) + " inputs, not " +
                     std::to_string(inputs.shape(1)));
  std::vector<float> out(n * network.outputs());
  {
    nb::gil_scoped_release release;
    constexpr size_t kChunk = 256;
    Network::Scratch scratch;
    std::vector<float> accumulators(std::min(n, kChunk) * network.stride());
    for (size_t begin = 0; begin < n; begin += kChunk) {
      const size_t chunk = std::min(kChunk, n - begin);
      for (size_t i = 0; i < chunk; ++i) {
        float* accumulator = &accumulators[i * network.stride()];
        network.clear(accumulator);
        const uint8_t* row = inputs.data() + (begin + i) * atoms;
        for (size_t a = 0; a < atoms; ++a)
          if (row[a]) network.add(accumulator, static_cast<int32_t>(a));
      }
      float* target = out.data() + begin * network.outputs();
      if (reference)
        network.reference(accumulators.data(), chunk, target, scratch);
      else
        network.run(accumulators.data(), chunk, target, scratch);
    }
  }
  return rows(std::move(out), n, network.outputs());
}

}  // namespace

void bind_network(nb::module_& module) {
  module.def(
      "precisions",
      [] { return std::vector{std::string(Dense::kPrecision), std::string(DenseInt16::kPrecision)}; },
      "How the layers of a network may compute; the first is the usual one.");
  nb::class_<PyNetwork>(module, "Network", "A feed-forward or residual network over atoms.")
      .def_static(
          "make", &make, nb::arg("rows"), nb::arg("bias"), nb::arg("blocks"), nb::arg("head"),
          nb::arg("head_bias"), nb::arg("output_relu"), nb::arg("precision") = std::string(Dense::kPrecision),
          "rows: (atoms, width); blocks: (W, b) or, residual, (W1, b1, W2, b2), weights (outputs, inputs).")
      .def_prop_ro("atoms", [](const PyNetwork& self) { return self.network->atoms(); })
      .def_prop_ro("outputs", [](const PyNetwork& self) { return self.network->outputs(); })
      .def("run", &run, nb::arg("inputs"), nb::arg("reference") = false,
           "Outputs for rows of zeros and ones (uint8); `reference`: in plain scalar code.");
}

}  // namespace hstar
