// What the binding files share: what Python holds of the core, arrays, structs of options, and work without
// the interpreter lock. bindings/ is the only place that knows Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.h"
#include "base/errors.h"
#include "base/named.h"
#include "base/poll.h"
#include "heuristics/heuristic.h"
#include "network/network.h"
#include "task/planning_space.h"

namespace hstar {

namespace nb = nanobind;
using namespace nb::literals;

// A task as Python sees it: a compiled space, shared by all tasks that differ only in the initial state.
struct PyTask {
  std::shared_ptr<const PlanningSpace> space;
  std::vector<Value> initial;  // derived variables evaluated
};

// Any state space with a start; a task is one, too.
struct PyProblem {
  std::shared_ptr<const SearchSpace> space;
  std::vector<uint32_t> start;  // packed

  PyProblem(std::shared_ptr<const SearchSpace> space, std::vector<uint32_t> start)
      : space(std::move(space)), start(std::move(start)) {}
  explicit PyProblem(const PyTask& task)
      : space(task.space), start(task.space->packed(task.initial.data())) {}
};

// A heuristic together with the space that it refers to.
struct PyHeuristic {
  std::shared_ptr<const SearchSpace> space;  // first, so that the space outlives the heuristic
  std::unique_ptr<Heuristic> heuristic;      // empty once another has taken it over

  Heuristic& get() const {
    if (!heuristic) throw InputError("this heuristic is part of another now");
    return *heuristic;
  }
};

// Several heuristics may use it.
struct PyNetwork {
  std::shared_ptr<const Network> network;
};

inline void check(bool fine, std::string_view message) {
  if (!fine) throw InputError(std::string(message));
}

// Sets an error of hstar.errors, made of these arguments, as Python's.
template <class... Arguments>
void set_error(const char* name, Arguments&&... arguments) {
  nb::object type = nb::module_::import_("hstar.errors").attr(name);
  nb::object error = type(std::forward<Arguments>(arguments)...);
  PyErr_SetObject(type.ptr(), error.ptr());
}

// Arrays from Python, as views.
template <class T, int kDimensions>
using Array = nb::ndarray<const T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;
using ValueRows = Array<Value, 2>;

template <class AnyArray>
auto view(const AnyArray& array) {
  return std::span(array.data(), array.size());
}
template <class AnyArray>
auto copied(const AnyArray& array) {
  return std::vector(array.data(), array.data() + array.size());
}

// Arrays for Python, which take their memory over.
template <class T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using RowsOf = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

template <class T>
nb::capsule keep(std::vector<T>*& moved, std::vector<T>&& data) {
  moved = new std::vector<T>(std::move(data));
  moved->reserve(1);  // an empty array has an address, too
  return nb::capsule(moved, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
}
template <class T>
Column<T> column(std::vector<T>&& data) {
  std::vector<T>* moved;
  nb::capsule owner = keep(moved, std::move(data));
  return Column<T>(moved->data(), {moved->size()}, owner);
}
template <class T>
RowsOf<T> rows(std::vector<T>&& data, size_t n, size_t width) {
  std::vector<T>* moved;
  nb::capsule owner = keep(moved, std::move(data));
  return RowsOf<T>(moved->data(), {n, width}, owner);
}

// The values, checked against the task, with derived variables evaluated.
std::vector<Value> checked_state(const PyTask& task, const std::vector<Value>& values);

// A batch of states, each checked by the space.
inline StateBatch checked_batch(const SearchSpace& space, const ValueRows& states) {
  check(states.shape(1) == space.width(),
        "a state has " + std::to_string(space.width()) + " values, not " + std::to_string(states.shape(1)));
  StateBatch batch(space);
  std::vector<uint32_t> packed(space.words());
  for (size_t i = 0; i < states.shape(0); ++i) {
    space.pack(states.data() + i * space.width(), packed.data());
    batch.push(packed.data());
  }
  return batch;
}

// Of evaluating a slice of states, or one slow state: the clock is read each time.
constexpr uint32_t kWorkOfSlice = 500;

// The result of `work` done without the interpreter lock. Ctrl-C and other signal handlers end it with their
// exception.
template <class Work>
auto unlocked(Work&& work) {
  nb::gil_scoped_release release;
  Poll poll([] {
    keep_limits(kWorkOfSlice);  // of the search that a heuristic in Python is part of
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  return work(poll);
}

// What a running search tells Python: progress, and whether somebody wants it to stop. Ctrl-C becomes an
// interrupt of the search; any other exception of a signal handler or of the progress function is passed on
// once the search has ended.
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
  PythonObserver observer(std::move(progress));
  auto result = [&] {
    nb::gil_scoped_release release;
    return work([&observer](const Progress& record) { return observer(record); });
  }();
  observer.rethrow();
  return result;
}

// Names and members in turn: what Python may read.
template <class Class, class Member, class... Rest>
Class& readable(Class&& made, const char* name, Member member, Rest... rest) {
  made.def_ro(name, member);
  if constexpr (sizeof...(rest) > 0) readable(made, rest...);
  return made;
}

// What all searches tell of how they ended.
template <class Result>
nb::class_<Result> bind_outcome(nb::module_& module, const char* name, const char* doc) {
  return nb::class_<Result>(module, name, doc)
      .def_prop_ro("status", [](const Result& r) { return status_name(r.status); })
      .def_prop_ro("expanded", [](const Result& r) { return r.counts.expanded; })
      .def_prop_ro("evaluated", [](const Result& r) { return r.counts.evaluated; })
      .def_prop_ro("generated", [](const Result& r) { return r.counts.generated; })
      .def_prop_ro("reopened", [](const Result& r) { return r.counts.reopened; })
      .def_ro("search_time", &Result::search_time_s)
      .def_ro("cpu_time", &Result::cpu_time_s);
}

// A struct of options with the names and members of its fields in turn: `Name(field=value, ...)` in Python,
// every field with its default. Those that are named are set as by assignment, so that mistakes are found in
// one place.
template <class Struct, class... Fields>
nb::class_<Struct> bind_struct(nb::module_& module, const char* name, const char* doc, Fields... fields) {
  nb::class_<Struct> made(module, name, doc);
  made.def(
      "__init__",
      [](nb::handle self, const nb::kwargs& values) {
        new (nb::inst_ptr<Struct>(self)) Struct();
        nb::inst_mark_ready(self);
        for (const auto& [field, value] : values) nb::setattr(self, field, value);
      },
      nb::sig("def __init__(self, **fields: object) -> None"));
  const auto bind = [&made](const auto& self, const char* field, auto member, auto... rest) -> void {
    made.def_rw(field, member);
    if constexpr (sizeof...(rest) > 0) self(self, rest...);
  };
  if constexpr (sizeof...(fields) > 0) bind(bind, fields...);
  return made;
}

// A choice by its name, and a field of a struct that has one.
template <class T>
using Choices = std::vector<std::pair<const char*, T>>;
template <class T>
T named(const std::string& what, const std::string& name, const Choices<T>& known) {
  return find_named(what, name, known, &std::pair<const char*, T>::first).second;
}

template <class Struct, class T>
void bind_choice(nb::class_<Struct>& made, const char* name, T Struct::* field, const char* what,
                 const Choices<T>& known) {
  made.def_prop_rw(
      name,
      [=](const Struct& self) {
        return std::ranges::find(known, self.*field, &std::pair<const char*, T>::second)->first;
      },
      [=](Struct& self, const std::string& chosen) { self.*field = named(what, chosen, known); });
}

// A Python object that something in the core refers to.
inline std::shared_ptr<const void> kept(nb::object object) {
  return {new nb::object(std::move(object)), [](const nb::object* owned) {
            nb::gil_scoped_acquire acquire;
            delete owned;
          }};
}

// Regression, and so most sampling, has its limits.
inline void check_support(const PyTask& task, const std::string& sampler) {
  const Task& plain = task.space->task();
  const char* why = plain.has_axioms()                ? "axioms"
                    : plain.has_conditional_effects() ? "conditional effects"
                                                      : nullptr;
  if (why)
    throw UnsupportedError(sampler + " samples by regression, which does not support " + why +
                           "; use the sampler 'forward' or, on small tasks, 'exact'");
}

void bind_features(nb::module_& module);
void bind_grids(nb::module_& module);
void bind_heuristics(nb::module_& module);
void bind_models(nb::module_& module);
void bind_networks(nb::module_& module);
void bind_own_space(nb::module_& module);
void bind_policy(nb::module_& module);
void bind_puzzle_networks(nb::module_& module);
void bind_puzzles(nb::module_& module);
void bind_sampling(nb::module_& module);
void bind_search(nb::module_& module);
void bind_task(nb::module_& module);
void bind_translate(nb::module_& module);

}  // namespace hstar
