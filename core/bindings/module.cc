// The module hstar._core: verbs and arrays, the interpreter lock released while the core works.
#include <cstdlib>

#include "bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Raised in Python as the class of hstar.errors; a line number becomes a keyword there.
void raise_as(const char* name, const std::string& message, long line) {
  nb::object errors = nb::module_::import_("hstar.errors");
  nb::object type = errors.attr(name);
  nb::object error = line > 0 ? type(message, "line"_a = line) : type(message);
  PyErr_SetObject(type.ptr(), error.ptr());
}

}  // namespace

NB_MODULE(_core, module) {
  // What an error's traceback still holds at exit is no leak that a user should read about.
  nb::set_leak_warnings(std::getenv("HSTAR_DEBUG") != nullptr);
#ifdef HSTAR_NEEDS_V3
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma")) {
    throw nb::import_error(
        "hstar was built for x86-64-v3 (AVX2, BMI2, FMA: processors from 2013 on), which this machine "
        "is not; rebuild it with: pip install --no-binary hstar hstar "
        "--config-settings=cmake.define.HSTAR_OLD_CPU=ON");
  }
#endif
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void*) {
        try {
          std::rethrow_exception(pointer);
        } catch (const hstar::InputError& error) {
          raise_as("InputError", error.what(), error.line);
        } catch (const hstar::UnsupportedError& error) {
          raise_as("UnsupportedError", error.what(), 0);
        }
      },
      nullptr);
  hstar::bind_task(module);
  hstar::bind_translate(module);
  hstar::bind_heuristics(module);
  hstar::bind_features(module);
  hstar::bind_networks(module);
  hstar::bind_models(module);
  hstar::bind_sampling(module);
  hstar::bind_search(module);
  hstar::bind_own_space(module);
  hstar::bind_policy(module);
  hstar::bind_grids(module);
  hstar::bind_puzzles(module);
  hstar::bind_puzzle_networks(module);
}
