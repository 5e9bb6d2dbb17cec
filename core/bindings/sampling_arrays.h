// What the bindings of sampling share: arrays that own their memory, checks, and interruptible work without
// the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/poll.h"
#include "bindings/bindings.h"
#include "bindings/states.h"
#include "sampling/completion.h"
#include "sampling/fsm.h"
#include "sampling/preimage.h"

namespace hstar {

namespace nb = nanobind;

using BitRows = nb::ndarray<const BitWord, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using RowsOf = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// Arrays take their memory over.
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
// Ctrl-C and other signal handlers end the work with their exception.
inline Poll python_poll() {
  return Poll([] {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

// The result of `work` done without the interpreter lock.
template <class Work>
auto unlocked(Work&& work) {
  nb::gil_scoped_release release;
  Poll poll = python_poll();
  return work(poll);
}

// A choice by its name, and a field of a struct that has one.
template <class T>
using Choices = std::vector<std::pair<const char*, T>>;
template <class T>
T named(const std::string& what, const std::string& name, const Choices<T>& known) {
  std::string list;
  for (const auto& [key, value] : known) {
    if (name == key) return value;
    list += (list.empty() ? "" : ", ") + std::string(key);
  }
  throw InputError("unknown " + what + " '" + name + "' (known: " + list + ")");
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

inline void check(bool fine, const std::string& message) {
  if (!fine) throw InputError(message);
}
inline void check_share(const char* name, double share) {
  check(share >= 0 && share <= 1, std::string(name) + " must be in [0, 1]");
}
// Bounds the memory that a mistyped number asks for; 0 of a length means the adaptive limit.
inline void check_sizes(size_t states, int32_t length) {
  check(states >= 1 && states <= 1000000000, "states must be in 1..1000000000");
  check(length >= 0 && length <= 1000000, "length must be in 0..1000000 (0: adaptive)");
}

inline void check_support(const PyTask& task, const std::string& sampler) {
  const Task& plain = task.space->task();
  const char* why = plain.has_axioms()                ? "axioms"
                    : plain.has_conditional_effects() ? "conditional effects"
                                                      : nullptr;
  if (why)
    throw UnsupportedError(sampler + " samples by regression, which does not support " + why +
                           "; use 'exact' on small tasks");
}

// Rows of values in the domains of the variables; `partial` allows kUnset.
inline std::vector<std::vector<Value>> checked_rows(const PyTask& task, const ValueRows& array,
                                                    bool partial) {
  const std::vector<Variable>& variables = task.space->task().variables;
  check(array.shape(1) == variables.size(), "states of this task have " + std::to_string(variables.size()) +
                                                " values, not " + std::to_string(array.shape(1)));
  std::vector<std::vector<Value>> result;
  for (size_t i = 0; i < array.shape(0); ++i) {
    const Value* row = array.data() + i * variables.size();
    for (size_t v = 0; v < variables.size(); ++v)
      check((row[v] >= 0 && row[v] < variables[v].domain_size()) || (partial && row[v] == kUnset),
            "row " + std::to_string(i) + ": value " + std::to_string(row[v]) + " of " + variables[v].name +
                " is not in 0.." + std::to_string(variables[v].domain_size() - 1));
    result.emplace_back(row, row + variables.size());
  }
  return result;
}

inline RolloutChoice rollout_choice(const std::string& name) {
  return named<RolloutChoice>("rollout sampler", name,
                              {{"rsl", RolloutChoice::kUniform}, {"nrsl", RolloutChoice::kNovelty}});
}
inline const Choices<CompletionRule> kCompletions = {{"variables", CompletionRule::kVariables},
                                                     {"atoms", CompletionRule::kAtoms}};
inline int32_t rollout_length(const PyTask& task, const Atoms& atoms, int32_t length) {
  return length > 0 ? length : adaptive_length(task.space->task(), atoms);
}
inline void check_fsm(const PyTask& task, const FsmConfig& config) {
  check_support(task, "fsm");
  check_sizes(config.states, config.length);
  check_share("bfs_share", config.bfs_share);
  check_share("random_share", config.random_share);
}

}  // namespace hstar
