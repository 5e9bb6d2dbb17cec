// A heuristic that is a Python function: gets a batch of states as an array, returns an array.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "heuristics/heuristic.h"

namespace hstar {

class CallbackHeuristic : public Heuristic {
 public:
  // Values are kept in units of 1/scale.
  CallbackHeuristic(nanobind::object function, std::string name, int32_t scale)
      : function_(std::move(function)), name_(std::move(name)), scale_(scale) {}
  ~CallbackHeuristic() override;

  std::string name() const override { return name_; }
  bool admissible() const override { return false; }
  bool consistent() const override { return false; }
  bool safe() const override { return false; }
  int32_t scale() const override { return scale_; }
  size_t grain() const override { return size_t{1} << 30; }  // the whole batch in one call
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;

 private:
  nanobind::object function_;
  std::string name_;
  int32_t scale_;
};

}  // namespace hstar
