// SUI, the successor improvement of Bettker, Minini, Pereira and Ritt (JAIR 80, 2024), over partial states.
//
// There is an arc from s to t if an operator all of whose preconditions s names leads from s to a partial
// state that contains t. Labels are lowered to h(s) = min(h(s), h(t) + 1) until nothing changes.
//
// Arcs that cannot lower a label are never looked at: no label falls below the number of steps that the goals
// missing in the partial state take at least.
//
// Invariant: labels that bound h* of all states of a partial state from above still do.
#include <algorithm>
#include <numeric>

#include "sampling/fact_trie.h"
#include "sampling/fsm.h"

namespace hstar {
namespace {

// Arcs are collected for as many states as this many allow: all of them for any but giant sample sets, which
// are worked off block by block until no block changes.
constexpr size_t kArcsPerBlock = size_t{1} << 27;

// Per state a number that its label never falls below: goals it does not name, by the most that an operator
// achieves. Labels start at no less than 1 where a goal is missing, or they would be wrong already.
std::vector<int32_t> lower_bounds(const Task& task, const std::vector<std::vector<Value>>& states,
                                  const std::vector<int32_t>& labels) {
  std::vector<Value> goal(task.variables.size(), kUnset);
  for (const Fact& fact : task.goal) goal[fact.variable] = fact.value;
  int32_t most = 1;
  for (const Operator& op : task.operators) {
    most = std::max(most, static_cast<int32_t>(std::ranges::count_if(op.effects, [&](const Effect& effect) {
                      return goal[effect.fact.variable] == effect.fact.value;
                    })));
  }
  std::vector<int32_t> result;
  for (size_t s = 0; s < states.size(); ++s) {
    int32_t missing = 0;
    for (const Fact& fact : task.goal) missing += states[s][fact.variable] != fact.value;
    result.push_back(std::min((missing + most - 1) / most, labels[s]));
  }
  return result;
}

class Improvement {
 public:
  Improvement(const PartialSpace& space, const std::vector<std::vector<Value>>& states,
              const std::vector<int32_t>& labels, const std::vector<int32_t>& ceilings, Poll& poll)
      : space_(space),
        states_(states),
        ceilings_(ceilings),
        poll_(poll),
        trie_(space.task(), states, lower_bounds(space.task(), states, labels)),
        h_(labels),
        bounds_(states.size(), kUnbounded),
        order_(states.size()) {
    // Low labels first: what they gain is passed on in the same sweep.
    std::iota(order_.begin(), order_.end(), 0u);
    std::ranges::stable_sort(order_, {}, [&](uint32_t s) { return labels[s]; });
  }

  std::vector<int32_t> run() {
    bool whole = false;
    for (bool changed = true; changed && !whole;) {
      changed = false;
      for (size_t first = 0, last = 0; first < order_.size(); first = last) {
        targets_.clear();
        begin_ = {0};
        for (last = first; last < order_.size() && targets_.size() < kArcsPerBlock; ++last) {
          changed |= collect(order_[last]);
          begin_.push_back(targets_.size());
        }
        whole = first == 0 && last == order_.size();
        while (sweep(first, last)) changed = true;
      }
    }
    return bounds_;
  }

 private:
  // Appends the targets of a state that may lower its label, without repeats; lowers the label by them.
  bool collect(uint32_t state) {
    const size_t first = targets_.size();
    int32_t& bound = bounds_[state];
    const auto limit_now = [&] { return std::min(ceilings_[state], bound) - 1; };
    int32_t limit = limit_now();
    if (limit <= 0) return false;
    const auto found = [&](uint32_t target) {
      if (target == state) return;
      targets_.push_back(target);
      if (h_[target] + 1 >= bound) return;
      bound = h_[target] + 1;
      limit = limit_now();
    };
    values_ = states_[state];
    operators_.clear();
    space_.applicable(values_, operators_);
    for (const int32_t op : operators_) {
      poll_(2);
      before_.clear();
      for (const Effect& effect : space_.task().operators[op].effects) {
        before_.push_back({effect.fact.variable, values_[effect.fact.variable]});
        values_[effect.fact.variable] = effect.fact.value;
      }
      trie_.subsets(values_.data(), limit, found);
      for (size_t i = before_.size(); i-- > 0;) values_[before_[i].variable] = before_[i].value;
    }
    const auto begin = targets_.begin() + first;
    std::sort(begin, targets_.end());
    targets_.erase(std::unique(begin, targets_.end()), targets_.end());
    return lower(state);
  }

  // One pass over the collected arcs; whether a label changed.
  bool sweep(size_t first, size_t last) {
    bool changed = false;
    for (size_t i = first; i < last; ++i) {
      int32_t& bound = bounds_[order_[i]];
      for (size_t arc = begin_[i - first]; arc < begin_[i - first + 1]; ++arc)
        bound = std::min(bound, h_[targets_[arc]] + 1);
      changed |= lower(order_[i]);
      poll_();
    }
    return changed;
  }

  bool lower(uint32_t state) {
    if (bounds_[state] >= h_[state]) return false;
    h_[state] = bounds_[state];
    return true;
  }

  const PartialSpace& space_;
  const std::vector<std::vector<Value>>& states_;
  const std::vector<int32_t>& ceilings_;
  Poll& poll_;
  FactTrie trie_;
  std::vector<int32_t> h_;
  std::vector<int32_t> bounds_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> targets_;  // of a block of states, one after the other
  std::vector<size_t> begin_;
  std::vector<int32_t> operators_;
  std::vector<Value> values_;
  std::vector<Fact> before_;
};

}  // namespace

std::vector<int32_t> successor_bounds(const PartialSpace& space,
                                      const std::vector<std::vector<Value>>& states,
                                      const std::vector<int32_t>& labels,
                                      const std::vector<int32_t>& ceilings, Poll& poll) {
  return Improvement(space, states, labels, ceilings, poll).run();
}

}  // namespace hstar
