#include "bindings/callback.h"

#include <cmath>

#include "bindings/bindings.h"

namespace hstar {

StatesFunction::~StatesFunction() {
  nb::gil_scoped_acquire acquire;
  function_.reset();
}

void StatesFunction::call(StateBatch& batch, size_t begin, size_t end, size_t columns, double* answer) const {
  const size_t n = end - begin, width = batch.space().width();
  const Value* values = batch.values(begin);
  nb::gil_scoped_acquire acquire;
  // A copy: the function may keep the array, the search reuses the memory.
  const RowsOf<Value> states = rows(std::vector<Value>(values, values + n * width), n, width);
  nb::object numpy = nb::module_::import_("numpy");
  nb::object answer_of_states;
  try {
    answer_of_states = function_(states);
  } catch (const nb::python_error&) {
    // A limit that ran out below the function comes as an exception of Python.
    if (const Control* control = Control::active(); control && control->stopped()) throw Stopped();
    throw;
  }
  nb::object returned = numpy.attr("ascontiguousarray")(answer_of_states, "dtype"_a = "float64");
  nb::ndarray<const double, nb::c_contig, nb::device::cpu> array;
  const bool fits = nb::try_cast(returned, array) && array.ndim() == (columns ? 2 : 1) &&
                    array.shape(0) == n && (!columns || array.shape(1) == columns);
  if (!fits) {
    const std::string count = std::to_string(n), numbers = std::to_string(columns);
    throw InputError(title_ + " must return " + (columns < 2 ? "one number" : numbers + " numbers") +
                     " for each of its " + count + " states, as an array of shape (" + count + "," +
                     (columns ? " " + numbers : "") + ")");
  }
  std::copy_n(array.data(), array.size(), answer);
}

void CallbackHeuristic::evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) {
  if (begin == end) return;
  values_.resize(std::max(values_.size(), end - begin));
  function_.call(batch, begin, end, 0, values_.data());
  for (size_t i = begin; i < end; ++i) {
    const double value = values_[i - begin];
    if (std::isnan(value)) throw InputError(function_.title() + " returned NaN");
    const double units = std::max(value, 0.0) * scale();
    const double scaled = admissible() ? std::floor(units + 1e-9) : std::round(units);
    h[i] = std::isinf(value) && value > 0 ? kDeadEnd : static_cast<Cost>(std::min<double>(scaled, kMaxCost));
  }
}

}  // namespace hstar
