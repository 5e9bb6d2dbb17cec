// A user's own state space in the native searches: two Python functions of arrays of packed states.
//
// A packed state is a row of 32-bit words; what it means is up to Python (spaces/own.py): the state itself,
// where it is a row of an array, or the number of a Python object. Both functions are called for the states
// of one expansion or one batch. What they raise ends the search and reaches its caller.
#include "bindings/bindings.h"

namespace hstar {
namespace {

struct OwnSpaceOptions {
  size_t words = 1;
  Cost unit = 1;
  size_t batch = 1;
};

class OwnSpace final : public SearchSpace {
 public:
  OwnSpace(nb::object expand, nb::object goals, const OwnSpaceOptions& options)
      : expand_(std::move(expand)), goals_(std::move(goals)), options_(options) {}
  OwnSpace(const OwnSpace&) = delete;
  ~OwnSpace() override {
    nb::gil_scoped_acquire acquire;
    expand_.reset();
    goals_.reset();
  }

  size_t words() const override { return options_.words; }
  size_t width() const override { return options_.words; }
  Cost unit() const override { return options_.unit; }
  size_t batch() const override { return options_.batch; }
  void pack(const Value* values, uint32_t* packed) const override {
    std::transform(values, values + words(), packed, [](Value v) { return static_cast<uint32_t>(v); });
  }
  void unpack(const uint32_t* packed, Value* values) const override {
    std::transform(packed, packed + words(), values, [](uint32_t w) { return static_cast<Value>(w); });
  }

  void expand(const uint32_t* packed, size_t n, Expansion& expansion) const override {
    nb::gil_scoped_acquire acquire;
    const auto [states, costs, ends] =
        nb::cast<std::tuple<Array<uint32_t, 2>, Array<int32_t, 1>, Array<int32_t, 1>>>(
            expand_(copy_of(packed, n)));
    const size_t m = states.shape(0);
    check(states.shape(1) == words() && costs.size() == m && ends.size() == n,
          "arrays of successors do not fit together");
    expansion.clear();
    expansion.states.assign(states.data(), states.data() + m * words());
    expansion.costs.assign(costs.data(), costs.data() + m);
    expansion.operators.resize(m);
    uint32_t begin = 0;
    for (size_t i = 0; i < n; ++i) {  // a step is named by its place among the successors of its state
      const auto end = static_cast<uint32_t>(ends.data()[i]);
      check(end >= begin && end <= m, "arrays of successors do not fit together");
      for (uint32_t k = begin; k < end; ++k) expansion.operators[k] = static_cast<int32_t>(k - begin);
      expansion.ends.push_back(end);
      begin = end;
    }
    check(begin == m, "arrays of successors do not fit together");
  }

  void goals(const uint32_t* packed, size_t n, char* is_goal) const override {
    nb::gil_scoped_acquire acquire;
    const auto flags = nb::cast<Array<bool, 1>>(goals_(copy_of(packed, n)));
    check(flags.size() == n, "there must be a goal flag for each state");
    std::copy_n(flags.data(), n, is_goal);
  }

 private:
  // A copy: Python may keep the array, the search reuses the memory.
  RowsOf<uint32_t> copy_of(const uint32_t* packed, size_t n) const {
    return rows(std::vector<uint32_t>(packed, packed + n * words()), n, words());
  }

  nb::object expand_, goals_;
  OwnSpaceOptions options_;
};

}  // namespace

void bind_own_space(nb::module_& module) {
  module.def(
      "own_problem",
      [](nb::object expand, nb::object goals, std::vector<uint32_t> start, Cost unit, size_t batch) {
        const OwnSpaceOptions options{start.size(), unit, batch};
        check(!start.empty() && unit > 0 && batch > 0, "words, unit and batch must be positive");
        return PyProblem(std::make_shared<const OwnSpace>(expand, goals, options), std::move(start));
      },
      "expand"_a, "goals"_a, "start"_a, "unit"_a, "batch"_a,
      "A space of two functions of packed states, uint32 (n, words): `expand` gives the successors (m, "
      "words), "
      "their costs (m,) and for each state the number of successors up to its last (n,), both int32; `goals` "
      "gives flags (n,).");
}

}  // namespace hstar
