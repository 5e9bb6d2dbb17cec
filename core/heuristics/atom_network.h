// A network over the atoms of a state, evaluated for all successors of a node as one batch.
//
// The first layer of a successor is that of its parent with the rows of the few atoms that changed added and
// subtracted. When more changes than holds (or without a parent) it is summed up afresh. What the outputs
// mean is for an estimate to say (heuristics/believed.h).
#pragma once

#include <memory>
#include <vector>

#include "heuristics/raw_model.h"
#include "network/network.h"
#include "task/planning_space.h"

namespace hstar {

class AtomNetwork : public RawModel {
 public:
  // `inputs`: per fact of the task (variables in order, then values) its row of the network, -1 for none.
  AtomNetwork(const PlanningSpace& space, std::shared_ptr<const Network> network, std::vector<int32_t> inputs,
              bool incremental = true);

  size_t outputs() const override { return network_->outputs(); }
  bool safe() const override { return true; }  // it never says dead end
  size_t grain() const override { return 256; }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override;

 private:
  int32_t input(int32_t variable, Value value) const { return inputs_[ids_.offset(variable) + value]; }
  void refresh(const Value* values, float* accumulator) const;
  void update(const Value* parent, const Value* values, float* accumulator) const;
  int32_t changes(const Value* parent, const Value* values) const;

  const PlanningSpace& space_;
  FactIds ids_;
  std::shared_ptr<const Network> network_;
  std::vector<int32_t> inputs_;
  bool incremental_;
  std::vector<float> parent_accumulator_;
  std::vector<float> accumulators_;
  std::vector<float> outputs_;
  Network::Scratch scratch_;
};

}  // namespace hstar
