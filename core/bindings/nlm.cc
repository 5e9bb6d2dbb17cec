// What the Neural Logic Machine computes in the arrays of PyTorch.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <span>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "bindings/sampling_arrays.h"
#include "network/nlm_extremes.h"

namespace nb = nanobind;

namespace hstar {
namespace {

using Tables = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Objects = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

TupleTable table_of(const Tables& table, const Result& result) {
  check(result.shape(0) == table.shape(0) && result.shape(2) == 2 * table.shape(2),
        "the result does not fit");
  return {table.data(), table.shape(0), table.shape(1), table.shape(2)};
}
template <class Array>
auto all(const Array& array) {
  return std::span(array.data(), array.size());
}

void of_tuples(const Tables& table, const std::optional<Integers>& row, const Objects& objects, size_t arity,
               bool exclude_self, const Result& result) {
  const TupleTable values = table_of(table, result);
  std::optional<std::span<const int32_t>> rows;
  if (row) rows = all(*row);
  unlocked([&](Poll& poll) {
    tuple_extremes(values, {all(objects), exclude_self}, arity, rows, all(result), poll);
    return true;
  });
}

void of_triples(const Tables& table, const Integers& types, const Codes& codes, const Integers& numbers,
                const Objects& objects, bool exclude_self, const Result& result) {
  const TupleTable values = table_of(table, result);
  check(codes.shape(0) == 3, "there are three codes for each type");
  unlocked([&](Poll& poll) {
    const TripleTypes triples{all(types), all(codes), all(numbers)};
    triple_extremes(values, {all(objects), exclude_self}, triples, all(result), poll);
    return true;
  });
}

}  // namespace

void bind_nlm(nb::module_& module) {
  module.def(
      "nlm_tuple_extremes", &of_tuples, nb::kw_only(), nb::arg("table"), nb::arg("row").none(),
      nb::arg("objects"), nb::arg("arity"), nb::arg("exclude_self"), nb::arg("result"),
      "Minima and maxima of the rows of tuples over their last object; see core/network/nlm_extremes.h.");
  module.def("nlm_triple_extremes", &of_triples, nb::kw_only(), nb::arg("table"), nb::arg("types"),
             nb::arg("codes"), nb::arg("numbers"), nb::arg("objects"), nb::arg("exclude_self"),
             nb::arg("result"), "The same of triples, by the types of their pairs.");
}

}  // namespace hstar
