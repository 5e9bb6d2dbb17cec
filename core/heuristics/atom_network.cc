// A network over the atoms of a state, evaluated for all successors of a node as one batch.
//
// The first layer of a successor is that of its parent with the rows of the few atoms that changed added and
// subtracted. When more changes than holds (or without a parent) it is summed up afresh. What the outputs
// mean is for an estimate to say (heuristics/believed.h).
#include "base/errors.h"
#include "heuristics/raw_model.h"

namespace hstar {
namespace {

class AtomNetwork : public RawModel {
 public:
  AtomNetwork(const PlanningSpace& space, std::shared_ptr<const Network> network, std::vector<int32_t> inputs,
              bool incremental)
      : space_(space),
        ids_(space.task()),
        network_(std::move(network)),
        inputs_(std::move(inputs)),
        incremental_(incremental) {
    if (inputs_.size() != static_cast<size_t>(ids_.size()))
      throw InputError("the network's inputs are for " + std::to_string(inputs_.size()) +
                       " facts, the task has " + std::to_string(ids_.size()));
    for (const int32_t row : inputs_)
      if (row < -1 || row >= static_cast<int32_t>(network_->atoms()))
        throw InputError("the network has no input " + std::to_string(row));
  }

  size_t outputs() const override { return network_->outputs(); }
  bool safe() const override { return true; }  // it never says dead end
  size_t grain() const override { return 256; }

  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override {
    if (begin == end) return;
    const Value* parent = incremental_ ? batch.parent() : nullptr;
    if (parent) {
      parent_accumulator_.resize(network_->stride());
      refresh(parent, parent_accumulator_.data());
    }
    network_.run(end - begin, raw, [&](size_t i, float* accumulator) {
      const Value* values = batch.values(begin + i);
      // An update touches two rows a change, a refresh at most one a variable.
      if (parent && 2 * changes(parent, values) < space_.variables())
        update(parent, values, accumulator);
      else
        refresh(values, accumulator);
    });
  }

 private:
  int32_t input(int32_t variable, Value value) const { return inputs_[ids_.offset(variable) + value]; }
  void refresh(const Value* values, float* accumulator) const {
    network_->clear(accumulator);
    for (int32_t v = 0; v < space_.variables(); ++v)
      if (const int32_t row = input(v, values[v]); row != -1) network_->add(accumulator, row);
  }
  int32_t changes(const Value* parent, const Value* values) const {
    int32_t count = 0;
    for (int32_t v = 0; v < space_.variables(); ++v) count += parent[v] != values[v];
    return count;
  }
  void update(const Value* parent, const Value* values, float* accumulator) const {
    std::ranges::copy(parent_accumulator_, accumulator);
    for (int32_t v = 0; v < space_.variables(); ++v) {
      if (parent[v] == values[v]) continue;
      if (const int32_t row = input(v, parent[v]); row != -1) network_->subtract(accumulator, row);
      if (const int32_t row = input(v, values[v]); row != -1) network_->add(accumulator, row);
    }
  }

  const PlanningSpace& space_;
  FactIds ids_;
  BatchNetwork network_;
  std::vector<int32_t> inputs_;
  bool incremental_;
  std::vector<float> parent_accumulator_;
};

}  // namespace

std::unique_ptr<RawModel> atom_network(const PlanningSpace& space, std::shared_ptr<const Network> network,
                                       std::vector<int32_t> inputs, bool incremental) {
  return std::make_unique<AtomNetwork>(space, std::move(network), std::move(inputs), incremental);
}

}  // namespace hstar
