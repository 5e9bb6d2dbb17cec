// A learned heuristic: a network over the atoms of a state, evaluated for all successors of a node as one
// batch.
//
// The first layer of a successor is that of its parent with the rows of the few atoms that changed added and
// subtracted. When more changes than holds (or without a parent) it is summed up afresh. Goal states are
// worth 0, whatever the network says; negative outputs count as 0. Values are rounded to the nearest unit,
// calibrated ones down.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimates/belief.h"
#include "heuristics/heuristic.h"
#include "network/network.h"

namespace hstar {

class LearnedHeuristic : public Heuristic {
 public:
  // `inputs`: per fact of the task (variables in order, then values) its row of the network, -1 for none. The
  // first output, in units of one operator's cost, is the value; it is kept in units of 1/scale.
  LearnedHeuristic(const PlanningSpace& space, std::shared_ptr<const Network> network,
                   std::vector<int32_t> inputs, std::string name, int32_t scale, bool incremental = true,
                   std::optional<Calibration> calibration = std::nullopt);

  std::string name() const override { return name_; }
  bool admissible() const override { return false; }
  bool consistent() const override { return false; }
  bool safe() const override { return true; }  // it never says dead end
  int32_t scale() const override { return scale_; }
  size_t grain() const override { return 256; }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;

 private:
  int32_t input(int32_t variable, Value value) const { return inputs_[ids_.offset(variable) + value]; }
  void refresh(const Value* values, float* accumulator) const;
  void update(const Value* parent, const Value* values, float* accumulator) const;
  int32_t changes(const Value* parent, const Value* values) const;

  const PlanningSpace& space_;
  FactIds ids_;
  std::shared_ptr<const Network> network_;
  std::vector<int32_t> inputs_;
  std::string name_;
  int32_t scale_;
  bool incremental_;
  std::optional<Calibration> calibration_;
  std::vector<float> parent_accumulator_;
  std::vector<float> accumulators_;
  std::vector<float> outputs_;
  Network::Scratch scratch_;
};

}  // namespace hstar
