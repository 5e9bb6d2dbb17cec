// The network with Gaussian weights, which learns in the arrays of PyTorch.
#include "network/wunn.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <tuple>
#include <vector>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "bindings/sampling_arrays.h"

namespace nb = nanobind;

namespace hstar {
namespace {

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<float, nb::c_contig, nb::device::cpu>;
using Arrays = std::vector<std::tuple<Values, Values, Values>>;  // values and the moments of Adam

std::array<Learned, Wunn::kArrays> learned(size_t inputs, size_t width, const Arrays& arrays) {
  const size_t sizes[] = {inputs * width, width, width, 1};
  if (arrays.size() != Wunn::kArrays) throw InputError("a wunn has 8 arrays of weights");
  std::array<Learned, Wunn::kArrays> found;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto& [values, first, second] = arrays[i];
    const size_t size = sizes[i / 2];
    if (values.size() != size || first.size() != size || second.size() != size) {
      throw InputError("weights of a wunn do not fit its inputs");
    }
    found[i] = {values.data(), first.data(), second.data(), size};
  }
  return found;
}

std::tuple<uint32_t, float, bool> fit(const Matrix& x, const Vector& y, size_t width, const Arrays& arrays,
                                      uint64_t steps_before, uint64_t seed, const WunnConfig& config) {
  if (x.shape(0) != y.shape(0) || x.shape(0) == 0) throw InputError("as many labels as states, at least one");
  if (config.batch == 0 || config.sweep_every == 0)
    throw InputError("batch and sweep_every must be at least 1");
  if (!(config.already_known > 0)) throw InputError("already_known must be above 0");
  Wunn network(x.shape(1), width, learned(x.shape(1), width, arrays), steps_before);
  const SparseRows rows(x.data(), x.shape(0), x.shape(1));
  const WunnFit found = unlocked([&](Poll& poll) {
    Random random(seed);
    return network.fit(rows, y.data(), config, random, poll);
  });
  return {found.steps, found.largest_variance, found.reached};
}

}  // namespace

void bind_wunn(nb::module_& module) {
  bind_struct<WunnConfig>(module, "WunnConfig", "How a wunn learns.")
      .def_rw("prior_variance", &WunnConfig::prior_variance)
      .def_rw("learning_rate", &WunnConfig::learning_rate)
      .def_rw("beta", &WunnConfig::beta)
      .def_rw("threshold", &WunnConfig::threshold)
      .def_rw("already_known", &WunnConfig::already_known)
      .def_rw("steps", &WunnConfig::steps)
      .def_rw("batch", &WunnConfig::batch)
      .def_rw("sweep_every", &WunnConfig::sweep_every)
      .def_rw("stop_early", &WunnConfig::stop_early);
  module.def("fit_wunn", &fit, nb::kw_only(), nb::arg("x"), nb::arg("y"), nb::arg("width"), nb::arg("arrays"),
             nb::arg("steps_before"), nb::arg("seed"), nb::arg("config"),
             "Learns in place, until the variance of each state is below the threshold or the steps are "
             "done: steps, the largest variance before the last ones, whether it came below.");
}

}  // namespace hstar
