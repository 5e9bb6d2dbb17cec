// Networks over atoms for the search, and what two other networks compute in the arrays of PyTorch: the
// Neural Logic Machine, and the network with Gaussian weights.
#include "bindings/bindings.h"
#include "network/nlm_extremes.h"
#include "network/wunn.h"

namespace hstar {
namespace {

using Matrix = Array<float, 2>;
using Vector = Array<float, 1>;
using Blocks = std::vector<std::vector<nb::object>>;

PyNetwork make(const Matrix& rows, const Vector& bias, const Blocks& blocks, const Matrix& head,
               const Vector& head_bias, bool output_relu, const std::string& precision) {
  const bool int16 = precision == DenseInt16::kPrecision;
  check(int16 || precision == Dense::kPrecision,
        "a network computes in float32 or int16, not in '" + precision + "'");
  std::vector<Network::Block> list;
  for (const std::vector<nb::object>& block : blocks) {
    check(block.size() == 2 || block.size() == 4,
          "a block has weights and bias of one layer, or of two if it is residual");
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
RowsOf<float> run(const PyNetwork& self, const Array<uint8_t, 2>& inputs, bool reference) {
  const Network& network = *self.network;
  const size_t n = inputs.shape(0), atoms = network.atoms();
  check(inputs.shape(1) == atoms,
        "the network has " + std::to_string(atoms) + " inputs, not " + std::to_string(inputs.shape(1)));
  std::vector<float> out(n * network.outputs());
  unlocked([&](Poll&) {
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
      const auto method = reference ? &Network::reference : &Network::run;
      (network.*method)(accumulators.data(), chunk, out.data() + begin * network.outputs(), scratch);
    }
  });
  return rows(std::move(out), n, network.outputs());
}

using Tables = Array<float, 3>;
using Objects = Array<int64_t, 1>;
using Extremes = nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

TupleTable table_of(const Tables& table, const Extremes& result) {
  check(result.shape(0) == table.shape(0) && result.shape(2) == 2 * table.shape(2),
        "the result does not fit");
  return {table.data(), table.shape(0), table.shape(1), table.shape(2)};
}

void of_tuples(const Tables& table, const std::optional<Array<int32_t, 1>>& row, const Objects& objects,
               size_t arity, bool exclude_self, const Extremes& result) {
  const TupleTable values = table_of(table, result);
  std::optional<std::span<const int32_t>> rows;
  if (row) rows = view(*row);
  unlocked([&](Poll& poll) {
    tuple_extremes(values, {view(objects), exclude_self}, arity, rows, view(result), poll);
  });
}

void of_triples(const Tables& table, const Array<int32_t, 1>& types, const Array<int32_t, 2>& codes,
                const Array<int32_t, 1>& numbers, const Objects& objects, bool exclude_self,
                const Extremes& result) {
  const TupleTable values = table_of(table, result);
  check(codes.shape(0) == 3, "there are three codes for each type");
  unlocked([&](Poll& poll) {
    const TripleTypes triples{view(types), view(codes), view(numbers)};
    triple_extremes(values, {view(objects), exclude_self}, triples, view(result), poll);
  });
}

using Values = nb::ndarray<float, nb::c_contig, nb::device::cpu>;
using Arrays = std::vector<std::tuple<Values, Values, Values>>;  // values and the moments of Adam

std::array<Learned, WunnWeights::kArrays> learned(size_t inputs, size_t width, const Arrays& arrays) {
  const size_t sizes[] = {inputs * width, width, width, 1};
  check(arrays.size() == WunnWeights::kArrays, "a wunn has 8 arrays of weights");
  std::array<Learned, WunnWeights::kArrays> found;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto& [values, first, second] = arrays[i];
    const size_t size = sizes[i / 2];
    check(values.size() == size && first.size() == size && second.size() == size,
          "weights of a wunn do not fit its inputs");
    found[i] = {values.data(), first.data(), second.data(), size};
  }
  return found;
}

std::tuple<uint32_t, float, bool> fit(const Matrix& x, const Vector& y, size_t width, const Arrays& arrays,
                                      uint64_t steps_before, uint64_t seed, const WunnConfig& config) {
  check(x.shape(0) == y.shape(0) && x.shape(0) > 0, "as many labels as states, at least one");
  check(config.batch > 0 && config.sweep_every > 0, "batch and sweep_every must be at least 1");
  check(config.already_known > 0, "already_known must be above 0");
  const WunnWeights weights{x.shape(1), width, learned(x.shape(1), width, arrays), steps_before};
  const SparseRows rows = sparse_rows(x.data(), x.shape(0), x.shape(1));
  const WunnFit found = unlocked([&](Poll& poll) {
    Random random(seed);
    return fit_wunn(weights, rows, y.data(), config, random, poll);
  });
  return {found.steps, found.largest_variance, found.reached};
}

}  // namespace

void bind_networks(nb::module_& module) {
  module.def(
      "precisions",
      [] { return std::vector{std::string(Dense::kPrecision), std::string(DenseInt16::kPrecision)}; },
      "How the layers of a network may compute; the first is the usual one.");
  nb::class_<PyNetwork>(module, "Network", "A feed-forward or residual network over atoms.")
      .def_static(
          "make", &make, "rows"_a, "bias"_a, "blocks"_a, "head"_a, "head_bias"_a, "output_relu"_a,
          "precision"_a = std::string(Dense::kPrecision),
          "rows: (atoms, width); blocks: (W, b) or, residual, (W1, b1, W2, b2), weights (outputs, inputs).")
      .def_prop_ro("atoms", [](const PyNetwork& self) { return self.network->atoms(); })
      .def_prop_ro("outputs", [](const PyNetwork& self) { return self.network->outputs(); })
      .def("run", &run, "inputs"_a, "reference"_a = false,
           "Outputs for rows of zeros and ones (uint8); `reference`: in plain scalar code.");
  module.def(
      "nlm_tuple_extremes", &of_tuples, nb::kw_only(), "table"_a, "row"_a.none(), "objects"_a, "arity"_a,
      "exclude_self"_a, "result"_a,
      "Minima and maxima of the rows of tuples over their last object; see core/network/nlm_extremes.h.");
  module.def("nlm_triple_extremes", &of_triples, nb::kw_only(), "table"_a, "types"_a, "codes"_a, "numbers"_a,
             "objects"_a, "exclude_self"_a, "result"_a, "The same of triples, by the types of their pairs.");
  using W = WunnConfig;
  bind_struct<W>(module, "WunnConfig", "How a wunn learns.", "prior_variance", &W::prior_variance,
                 "learning_rate", &W::learning_rate, "beta", &W::beta, "threshold", &W::threshold,
                 "already_known", &W::already_known, "steps", &W::steps, "batch", &W::batch, "sweep_every",
                 &W::sweep_every, "stop_early", &W::stop_early);
  module.def("fit_wunn", &fit, nb::kw_only(), "x"_a, "y"_a, "width"_a, "arrays"_a, "steps_before"_a, "seed"_a,
             "config"_a,
             "Learns in place, until the variance of each state is below the threshold or the steps are "
             "done: steps, the largest variance before the last ones, whether it came below.");
}

}  // namespace hstar
