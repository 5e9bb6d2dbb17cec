// The module hstar._core: verbs and arrays, the interpreter lock released while the core works.
#include <cstdlib>

#include "bindings/bindings.h"
#include "pddl/source.h"

using hstar::set_error;
namespace nb = nanobind;
using namespace nb::literals;

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
          set_error("InputError", error.what(),
                    "line"_a = error.line > 0 ? nb::cast(error.line) : nb::none());
        } catch (const hstar::UnsupportedError& error) {
          set_error("UnsupportedError", error.what());
        } catch (const hstar::pddl::PddlError& error) {
          set_error("PDDLError", error.what(), "file"_a = error.file, "line"_a = error.line,
                    "column"_a = error.column);
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
