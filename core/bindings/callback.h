// Python functions in the search: they get a batch of states as an array and return an array. One call a
// batch; what they raise ends the search and reaches its caller.
#pragma once

#include "bindings/bindings.h"
#include "heuristics/raw_model.h"

namespace hstar {

// A function, called with the interpreter lock, from threads that do not hold it.
class StatesFunction {
 public:
  // `title`: what it is, for messages.
  StatesFunction(nb::object function, std::string title)
      : function_(std::move(function)), title_(std::move(title)) {}
  StatesFunction(const StatesFunction&) = delete;
  ~StatesFunction();

  const std::string& title() const { return title_; }
  // The answer for states begin <= i < end, which must have the shape (end - begin,), or (end - begin,
  // columns) if there are any.
  void call(StateBatch& batch, size_t begin, size_t end, size_t columns, double* answer) const;

 private:
  nb::object function_;
  std::string title_;
};

// A heuristic: one number a state, infinity for dead ends.
class CallbackHeuristic : public Heuristic {
 public:
  // Values are kept in units of 1/scale.
  CallbackHeuristic(nb::object function, const std::string& name, int32_t scale, bool admissible)
      : Heuristic({name, admissible, /*consistent=*/false, /*safe=*/admissible}, scale),
        function_(std::move(function), "heuristic '" + name + "'") {}

  size_t grain() const override { return size_t{1} << 30; }  // the whole batch in one call
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;

 private:
  StatesFunction function_;
  std::vector<double> values_;  // scratch
};

// A model: several numbers a state.
class CallbackModel : public RawModel {
 public:
  CallbackModel(nb::object function, size_t outputs, const std::string& name)
      : function_(std::move(function), "model '" + name + "'"), outputs_(outputs) {}

  size_t outputs() const override { return outputs_; }
  bool safe() const override { return false; }
  size_t grain() const override { return kWholeBatch; }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override {
    function_.call(batch, begin, end, outputs_, raw);
  }

 private:
  StatesFunction function_;
  size_t outputs_;
};

}  // namespace hstar
