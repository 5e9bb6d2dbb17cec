// The state space of a planning task, compiled for searching: packed states, applicable operators,
// successors, goal test. One instance serves any number of searches, threads and initial states.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rows.h"
#include "spaces/search_space.h"
#include "task/axiom_evaluator.h"
#include "task/mutexes.h"
#include "task/state_packer.h"
#include "task/successor_generator.h"
#include "task/task.h"

namespace hstar {

class PlanningSpace final : public SearchSpace {
 public:
  explicit PlanningSpace(Task task);

  const Task& task() const { return task_; }
  const StatePacker& packer() const { return packer_; }
  size_t words() const override { return packer_.words(); }
  size_t width() const override { return task_.variables.size(); }
  void pack(const Value* values, uint32_t* packed) const override;  // derived variables are computed
  void unpack(const uint32_t* packed, Value* values) const override { packer_.unpack(packed, values); }
  void expand(const uint32_t* packed, size_t n, Expansion& expansion) const override;
  void goals(const uint32_t* packed, size_t n, char* is_goal) const override;
  Cost apply(const uint32_t* packed, int32_t op, uint32_t* result, Expansion& expansion) const override;
  void operators_of(const uint32_t* packed, Expansion& expansion) const override;
  size_t operators() const override { return task_.operators.size(); }
  int32_t variables() const { return static_cast<int32_t>(task_.variables.size()); }
  Cost cost(int32_t op) const { return costs_[op]; }

  const Mutexes& mutexes() const { return mutexes_; }

  // A whole state, derived variables among its values, and back.
  std::vector<uint32_t> packed(const Value* values) const {
    std::vector<uint32_t> result(words());
    packer_.pack(values, result.data());
    return result;
  }
  std::vector<Value> unpacked(const uint32_t* packed) const {
    std::vector<Value> values(width());
    packer_.unpack(packed, values.data());
    return values;
  }

  // The initial state with its derived variables evaluated.
  std::vector<Value> initial_state() const;

  void applicable(const Value* values, std::vector<int32_t>& operators) const {
    successors_.generate(values, operators);
  }

  // Writes the successor of (packed, values) by the applicable operator `op` to `result`.
  void apply(const uint32_t* packed, const Value* values, int32_t op, uint32_t* result) const {
    for (size_t i = 0; i < words(); ++i) result[i] = packed[i];
    for (const StatePacker::Patch& patch : patches_[op])
      result[patch.word] = (result[patch.word] & ~patch.mask) | patch.bits;
    if (has_complex_) apply_complex(values, op, result);
  }

  bool is_goal(const uint32_t* packed) const {
    for (const StatePacker::Patch& patch : goal_)
      if ((packed[patch.word] & patch.mask) != patch.bits) return false;
    return true;
  }

 private:
  void apply_complex(const Value* values, int32_t op, uint32_t* result) const;

  Task task_;
  StatePacker packer_;
  SuccessorGenerator successors_;
  AxiomEvaluator axioms_;
  Mutexes mutexes_;
  std::vector<Cost> costs_;
  RowsOfType<StatePacker::Patch> patches_;  // per operator: its effects, if none has a condition
  std::vector<StatePacker::Patch> goal_;
  std::vector<char> conditional_;  // per operator: some effect has a condition
  bool has_complex_ = false;       // conditional effects or axioms anywhere
};

}  // namespace hstar
