#include "pddl/translate.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string_view>

#include "bindings/bindings.h"
#include "bindings/observer.h"

namespace nb = nanobind;

namespace hstar {
namespace {

// The exit codes of hstar.spaces.translate for a translator that ran out of memory or time.
constexpr int kOutOfMemory = 20, kOutOfTime = 21;

[[noreturn]] void raise_pddl(const pddl::PddlError& error) {
  nb::object type = nb::module_::import_("hstar.errors").attr("PDDLError");
  nb::object raised = type(error.what(), nb::arg("file") = error.file, nb::arg("line") = error.line,
                           nb::arg("column") = error.column);
  PyErr_SetObject(type.ptr(), raised.ptr());
  throw nb::python_error();
}

[[noreturn]] void raise_limit(const pddl::LimitError& error, const std::string& problem) {
  if (error.status == Status::kInterrupted) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  const bool time = error.status == Status::kTimeLimit;
  nb::object type = nb::module_::import_("hstar.errors").attr("TranslatorLimitError");
  const std::string message =
      problem + ": the translation ran out of " + (time ? "time" : "memory") + ": " + error.what();
  nb::object raised = type(message, nb::arg("exit_code") = time ? kOutOfTime : kOutOfMemory);
  PyErr_SetObject(type.ptr(), raised.ptr());
  throw nb::python_error();
}

std::pair<PyTask, pddl::TranslateReport> translate(std::pair<nb::bytes, nb::bytes> texts,
                                                   std::pair<std::string, std::string> files, bool unit_cost,
                                                   bool keep_unimportant, std::optional<double> time_limit,
                                                   std::optional<size_t> memory_limit, nb::object progress) {
  const std::string_view domain(texts.first.c_str(), texts.first.size());
  const std::string_view problem(texts.second.c_str(), texts.second.size());
  PythonObserver observer(std::move(progress));
  pddl::TranslateOptions options;
  options.keep_unimportant = keep_unimportant;
  if (time_limit) options.limits.time_s = *time_limit;
  if (memory_limit) options.limits.memory_bytes = *memory_limit;
  options.observer = [&observer](const Progress& record) { return observer(record); };
  pddl::TranslateReport report;
  try {
    nb::gil_scoped_release release;
    Task task = pddl::translate({files.first, domain}, {files.second, problem}, options, report);
    if (unit_cost)
      for (Operator& op : task.operators) op.cost = 1;
    auto space = std::make_shared<const PlanningSpace>(std::move(task));
    return {PyTask{space, space->initial_state()}, std::move(report)};
  } catch (const pddl::PddlError& error) {
    raise_pddl(error);
  } catch (const pddl::LimitError& error) {
    observer.rethrow();
    raise_limit(error, files.second);
  }
}

}  // namespace

void bind_translate(nb::module_& module) {
  using pddl::TranslateReport;
  nb::class_<TranslateReport>(module, "TranslateReport",
                              "Seconds of each phase of a translation, and warnings.")
      .def_ro("parse", &TranslateReport::parse)
      .def_ro("join", &TranslateReport::join)
      .def_ro("invariants", &TranslateReport::invariants)
      .def_ro("variables", &TranslateReport::variables)
      .def_ro("encode", &TranslateReport::encode)
      .def_ro("simplify", &TranslateReport::simplify)
      .def_ro("warnings", &TranslateReport::warnings);
  module.def(
      "translate", &translate, nb::arg("texts"), nb::arg("files"), nb::arg("unit_cost") = false,
      nb::arg("keep_unimportant") = false, nb::arg("time_limit") = nb::none(),
      nb::arg("memory_limit") = nb::none(), nb::arg("progress") = nb::none(),
      "The task of two PDDL texts, domain and problem; their file names are for errors. Limits are in "
      "seconds and in bytes of the process; `progress` is called with facts as `evaluated` and operators "
      "as `generated`.");
}

}  // namespace hstar
