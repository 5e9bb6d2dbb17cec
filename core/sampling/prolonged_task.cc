// prolonged for planning tasks: full states, backward by regression.
//
// Why labels are exact: a state that no mutex excludes has only such successors, and a state with facts that
// the relaxation reaches from the start has only such successors, too; so ways to the goal never leave what
// is searched. hmax from the start is consistent backward: an operator adds its cost at most.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/errors.h"
#include "sampling/backward_astar.h"
#include "task/regression.h"

namespace hstar {
namespace {

constexpr int32_t kUnreached = std::numeric_limits<int32_t>::max();

// The least number of layers of the delete relaxation that reach each fact from a state: hmax with unit
// costs.
class FactLevels {
 public:
  FactLevels(const Task& task, const std::vector<Value>& start) {
    for (const Variable& variable : task.variables)
      levels_.emplace_back(static_cast<size_t>(variable.domain_size()), kUnreached);
    for (size_t v = 0; v < start.size(); ++v) levels_[v][start[v]] = 0;
    std::vector<char> applied(task.operators.size(), 0);
    for (int32_t level = 1;; ++level) {
      std::vector<Fact> reached;
      for (size_t i = 0; i < task.operators.size(); ++i) {
        const Operator& op = task.operators[i];
        if (applied[i] || std::ranges::any_of(op.preconditions, [&](const Fact& fact) {
              return at(fact.variable, fact.value) == kUnreached;
            }))
          continue;
        applied[i] = 1;
        for (const Effect& effect : op.effects) reached.push_back(effect.fact);
      }
      bool grown = false;
      for (const Fact& fact : reached) {
        int32_t& known = levels_[fact.variable][fact.value];
        grown |= known == kUnreached;
        known = std::min(known, level);
      }
      if (!grown) return;
    }
  }

  int32_t at(int32_t variable, Value value) const { return levels_[variable][value]; }
  int32_t of(const std::vector<Value>& values) const {
    int32_t greatest = 0;
    for (size_t v = 0; v < values.size(); ++v) greatest = std::max(greatest, levels_[v][values[v]]);
    return greatest;
  }

 private:
  std::vector<std::vector<int32_t>> levels_;  // by variable and value
};

class TaskSource {
 public:
  TaskSource(const PlanningSpace& space, const FactLevels& levels, bool blind)
      : space_(space), regression_(space), levels_(levels), blind_(blind), before_(regression_.empty()) {
    values_.resize(static_cast<size_t>(space.variables()));
    packed_.resize(space.words());
  }

  size_t words() const { return space_.words(); }

  template <class Visit>
  bool predecessors(const uint32_t* packed, const Visit& visit) {
    space_.packer().unpack(packed, values_.data());
    const PartialState state = regression_.state(values_.data());
    operators_.clear();
    regression_.applicable(state, operators_);
    for (const int32_t op : operators_) {
      before_ = state;
      regression_.apply(before_, op);
      if (!complete(before_, 0, visit)) return false;
    }
    return true;
  }

  // False if a limit ended it, or `visit`.
  template <class Visit>
  bool goals(Control& control, const Visit& visit) {
    control_ = &control;  // there may be many of them, and long ways to none
    const bool all = complete(regression_.goal(), 0, visit);
    control_ = nullptr;
    return all;
  }
  int32_t value(const std::vector<Value>& values) const { return blind_ ? 0 : levels_.of(values); }

 private:
  // All states that satisfy a partial one and that nothing excludes, by values of its open variables in turn.
  template <class Visit>
  bool complete(const PartialState& state, int32_t variable, const Visit& visit) {
    while (variable < space_.variables() && state[variable] != kUnset) {
      if (levels_.at(variable, state[variable]) == kUnreached) return true;
      ++variable;
    }
    if (variable == space_.variables()) {
      space_.packer().pack(state.values().data(), packed_.data());
      return visit(packed_.data(), [&] { return value(state.values()); });
    }
    const Value size = space_.task().variables[variable].domain_size();
    for (Value value = 0; value < size; ++value) {
      if (control_ && control_->poll({}, 0)) return false;
      if (levels_.at(variable, value) == kUnreached) continue;
      PartialState next = state;
      if (regression_.assign(next, {variable, value}) && !complete(next, variable + 1, visit)) return false;
    }
    return true;
  }

  const PlanningSpace& space_;
  const Regression regression_;
  const FactLevels& levels_;
  const bool blind_;
  Control* control_ = nullptr;
  std::vector<Value> values_;
  PartialState before_;
  std::vector<uint32_t> packed_;
  std::vector<int32_t> operators_;
};

}  // namespace

ProlongedLabels prolonged_task(const PlanningSpace& space, const std::vector<Value>& start,
                               const ProlongedOptions& options, const Limits& limits,
                               const Observer& observer) {
  ProlongedLabels labels;
  labels.goals = 0;
  labels.width = start.size();
  controlled(options, limits, observer, labels, [&](Control& control) {
    const FactLevels levels(space.task(), start);
    TaskSource source(space, levels, options.blind || std::isinf(options.k_pr));
    BackwardAStar search(source, control);
    const uint32_t first = search.number(space.packed(start.data()).data());
    const bool all = source.goals(control, [&](const uint32_t* goal, const auto& value) {
      if (++labels.goals > options.goals)
        throw UnsupportedError("prolonged: more than " + std::to_string(options.goals) +
                               " states satisfy the goal, which leaves variables open; raise goals, or "
                               "sample with fsm or nrsl");
      const uint32_t id = search.number(goal);
      if (id == search.kNone) return !control.stop(Status::kMemoryLimit);
      search.add_root(id, value());
      return true;
    });
    if (!all) {
      labels.status = control.status();
      return;
    }
    const auto write = [&](uint32_t id, std::vector<int32_t>& states, std::vector<double>& label) {
      const std::vector<Value> values = space.unpacked(search.state(id));
      states.insert(states.end(), values.begin(), values.end());
      label.push_back(search.g(id));
    };
    write_labels(search, first, options, control, labels, write);
  });
  return labels;
}

}  // namespace hstar
