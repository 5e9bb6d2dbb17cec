// What a running search tells Python: progress, and whether somebody wants it to stop.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/control.h"

namespace hstar {

namespace nb = nanobind;

// Ctrl-C becomes an interrupt of the search; any other exception of a signal handler or of the progress
// function is passed on once the search has ended.
class PythonObserver {
 public:
  explicit PythonObserver(nb::object function) : function_(std::move(function)) {}

  template <class Record>
  bool operator()(const Record& record) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) return stop();
    if (function_.is_none()) return true;
    try {
      function_(record);
    } catch (nb::python_error& error) {
      error.restore();
      return stop();
    }
    return true;
  }
  void rethrow() {
    if (pending_) throw nb::python_error(std::move(*pending_));
  }

 private:
  bool stop() {
    nb::python_error error;  // takes what is set
    if (!error.matches(PyExc_KeyboardInterrupt)) pending_.emplace(std::move(error));
    return false;
  }
  nb::object function_;
  std::optional<nb::python_error> pending_;
};

// The result of `work`, called with an observer and without the interpreter lock.
template <class Work>
auto observed(nb::object progress, const Work& work) {
  auto observer = std::make_shared<PythonObserver>(std::move(progress));
  auto result = [&] {
    nb::gil_scoped_release release;
    return work([observer](const Progress& record) { return (*observer)(record); });
  }();
  observer->rethrow();
  return result;
}

}  // namespace hstar
