#include "policy/goal_rules.h"

#include <algorithm>
#include <compare>
#include <span>
#include <unordered_map>

#include "base/errors.h"
#include "policy/lifted_state.h"
#include "policy/paths.h"

namespace hstar {
namespace policy {
namespace {

constexpr int32_t kStepsWithoutGoal = 20'000;  // then the policy runs in circles
constexpr int kMostHelp = 16;                  // actions for another goal at one place
constexpr int32_t kMostNodes = 20'000;         // of one join: the best of what it has found by then is taken
constexpr int32_t kNodesAround = 20'000;       // of joins, to look at other goals before one is chosen

// What the cheapest instance for a goal was when it was last looked at.
struct Known {
  int32_t rank = kInfinite, cost = kInfinite;

  auto operator<=>(const Known&) const = default;
  bool seen() const { return cost != kInfinite; }
};

struct Instance {
  int32_t rule = kNone, cost = kInfinite;
  Words binding;
};

class Policy {
 public:
  Policy(const RuleTask& task, const std::vector<GoalRule>& rules, bool mixed, PolicyResult& result)
      : task_(task), rules_(rules), mixed_(mixed), result_(result), state_(task), paths_(task, state_) {
    for (const Words& goal : task.goals) goals_.push_back(state_.number(goal));
    for (const int32_t goal : goals_) is_goal_.insert({goal, 1});
    reservations_.resize(goals_.size());
    known_.resize(goals_.size());
    for (const GoalRule& rule : rules) {
      acts_.push_back(static_cast<int32_t>(
          std::ranges::count_if(rule.steps, [](const Words& step) { return step[0] == 0; })));
      if (std::ranges::find(ranks_, rule.rank) == ranks_.end()) ranks_.push_back(rule.rank);
    }
    std::ranges::sort(ranks_);
  }

  void run() {
    int32_t losses = static_cast<int32_t>(2 * goals_.size());  // of goals that may be given up again
    int32_t steps_left = kStepsWithoutGoal;
    for (;;) {
      protect_ = true;
      const size_t open = open_goals();
      result_.open_goals = static_cast<int32_t>(open);
      if (open == 0) {
        result_.status = Status::kSolved;
        return;
      }
      size_t goal = choose();
      if (goal == goals_.size()) {
        protect_ = false;
        if (losses-- > 0) goal = choose();
      }
      if (goal == goals_.size() || steps_left-- <= 0 || !pursue(goal, steps_left)) break;
      if (open_goals() < open) steps_left = kStepsWithoutGoal;
    }
    result_.status = Status::kIncomplete;
  }

 private:
  size_t open_goals() const {
    return std::ranges::count_if(goals_, [&](int32_t goal) { return !state_.holds(goal); });
  }

  // The open goal with the cheapest instance of the lowest rank, as far as is known: a goal is looked at
  // again when it seems the best one, and each in its turn. The number of goals if there is no instance at
  // all.
  size_t choose() {
    nodes_ = 0;
    for (size_t i = 0; i < goals_.size() && nodes_ < kNodesAround; ++i) {
      turn_ = (turn_ + 1) % goals_.size();
      if (!state_.holds(goals_[turn_])) look_at(turn_, true);
    }
    for (;;) {
      const auto [best, second] = two_best();
      if (best == goals_.size() || !known_[best].seen()) break;
      const Known before = known_[best];
      look_at(best, true);
      if (known_[best] <= before || second == goals_.size() || known_[best] <= known_[second]) return best;
    }
    // Nothing that is known leads on.
    for (const bool respect : {true, false}) {
      for (size_t goal = 0; goal < goals_.size(); ++goal)
        if (!state_.holds(goals_[goal])) look_at(goal, respect);
      if (const size_t best = two_best().first; best != goals_.size() && known_[best].seen()) return best;
    }
    return goals_.size();
  }

  void look_at(size_t goal, bool respect) {
    release(goal);
    const Instance found = cheapest(goal, {.respect = respect});
    restore(goal);
    known_[goal] = found.rule == kNone ? Known{} : Known{rules_[found.rule].rank, found.cost};
  }

  std::pair<size_t, size_t> two_best() const {
    size_t best = goals_.size(), second = best;
    for (size_t goal = 0; goal < goals_.size(); ++goal) {
      if (state_.holds(goals_[goal])) continue;
      if (best == goals_.size() || known_[goal] < known_[best]) {
        second = best;
        best = goal;
      } else if (second == goals_.size() || known_[goal] < known_[second]) {
        second = goal;
      }
    }
    return {best, second};
  }

  // What an instance must be beside applicable: better than this, and with `mover` such that one of its
  // conditions is that atom, and its first action applies without a movement.
  struct Wanted {
    bool respect = true;  // what is reserved
    int32_t rank = kInfinite, cost = kInfinite;
    int32_t mover = kNone;
  };
  Instance cheapest(size_t goal, Wanted wanted) {
    Instance best;
    const Words asked = state_.atom(goals_[goal]);  // a copy: simulations may number new atoms
    const bool now = wanted.mover != kNone;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const GoalRule& rule = rules_[i];
      if (rule.goal[0] != asked[0]) continue;
      const auto limit = [&] {
        return rule.rank < wanted.rank ? kInfinite : rule.rank > wanted.rank ? 0 : wanted.cost;
      };
      if (acts_[i] >= limit()) continue;
      binding_.assign(rule.variables, kNone);
      bool fits = true;
      for (size_t k = 1; k < asked.size() && fits; ++k) {
        const int32_t term = rule.goal[k];
        if (term >= 0 && binding_[term] == kNone) binding_[term] = asked[k];
        fits = value(term, binding_) == asked[k];
      }
      if (!fits) continue;
      const auto prune = [&] { return cost_of(rule, binding_, now) >= limit(); };
      const auto visit = [&] {
        const int32_t found = cost_of(rule, binding_, now);
        if (std::ranges::find(binding_, kNone) != binding_.end() || !applicable(rule, binding_)) return;
        best = {static_cast<int32_t>(i), found, binding_};
        wanted.rank = rule.rank;
        wanted.cost = found;
      };
      Join join(state_, wanted.respect, kMostNodes);
      if (now)
        join.run_with(wanted.mover, rule.conditions, binding_, prune, visit);
      else
        join.run(rule.conditions, binding_, prune, visit);
      nodes_ += join.nodes();
    }
    return best;
  }

  // The atom before a movement, valid until the next call.
  Words& before_move(const Words& step, const Words& binding) {
    before_.assign(1, task_.movements[step[1]].predicate);
    for (size_t k = 2; k + 1 < step.size(); ++k) before_.push_back(value(step[k], binding));
    return before_;
  }
  Words arguments(const Words& step, const Words& binding) const {
    Words found;
    for (size_t k = 2; k < step.size(); ++k) found.push_back(value(step[k], binding));
    return found;
  }

  // Actions and movements whose ends are known.
  int32_t cost_of(const GoalRule& rule, const Words& binding, bool now) {
    int32_t cost = 0;
    bool first = true;
    for (const Words& step : rule.steps) {
      if (step[0] == 0) {
        ++cost;
        first = false;
        continue;
      }
      if (std::any_of(step.begin() + 2, step.end(),
                      [&](int32_t term) { return value(term, binding) == kNone; }))
        continue;
      const RuleMovement& movement = task_.movements[step[1]];
      const Words& before = before_move(step, binding);
      const int32_t to = value(step.back(), binding);
      if (before[movement.place] == to) continue;
      if (now && first) return kInfinite;
      cost += paths_.distance(step[1], before, to);
      if (cost >= kInfinite) return kInfinite;
    }
    return cost;
  }

  static Words ground(const Words& atom, const Words& binding) {
    Words words{atom[0]};
    for (size_t k = 1; k < atom.size(); ++k) words.push_back(value(atom[k], binding));
    return words;
  }

  bool preconditions_hold(const RuleSchema& schema, const Words& arguments) {
    for (size_t p = 0; p < arguments.size(); ++p)
      if (!std::ranges::binary_search(schema.candidates[p], arguments[p])) return false;
    for (const Words& pair : schema.different)
      if (value(pair[0], arguments) == value(pair[1], arguments)) return false;
    for (const Words& atom : schema.positive)
      if (!state_.holds(ground(atom, arguments))) return false;
    for (const Words& atom : schema.negative)
      if (state_.holds(ground(atom, arguments))) return false;
    return true;
  }

  void change(int32_t atom, bool holds) {
    if (state_.holds(atom) == holds) return;
    state_.set(atom, holds);
    changed_.push_back(atom);
  }
  void apply(const RuleSchema& schema, const Words& arguments) {
    for (const Words& atom : schema.deletes) change(state_.number(ground(atom, arguments)), false);
    for (const Words& atom : schema.adds) change(state_.number(ground(atom, arguments)), true);
  }
  void undo() {
    for (; !changed_.empty(); changed_.pop_back()) state_.flip_back(changed_.back());
  }

  // Carries the steps of an instance out, from one on, as long as they apply; movements in one go. What moves
  // in the first of them may be on its way already.
  bool simulate(const GoalRule& rule, const Words& binding, size_t from = 0, int32_t on_its_way = kNone) {
    for (size_t i = from; i < rule.steps.size(); ++i) {
      const Words& step = rule.steps[i];
      if (step[0] == 0) {
        const Words found = arguments(step, binding);
        const RuleSchema& schema = task_.schemas[step[1]];
        if (!preconditions_hold(schema, found)) return false;
        apply(schema, found);
      } else {
        Words& atom = before_move(step, binding);
        const int32_t here = i == from && on_its_way != kNone ? on_its_way : state_.number(atom);
        if (!state_.holds(here)) return false;
        change(here, false);
        atom[task_.movements[step[1]].place] = value(step.back(), binding);
        change(state_.number(atom), true);
      }
    }
    return true;
  }

  bool applicable(const GoalRule& rule, const Words& binding) {
    bool fine = simulate(rule, binding);
    if (fine && protect_)  // an atom that changed an odd number of times and is gone was there before
      for (const int32_t atom : changed_)
        fine = fine && (state_.holds(atom) || !is_goal_.contains(atom) || odd(atom) == 0);
    undo();
    return fine;
  }
  int odd(int32_t atom) const { return static_cast<int>(std::ranges::count(changed_, atom) % 2); }

  // The atoms that an instance uses up: gone at its end, with no other in their place that differs in one
  // argument.
  Words used_up(const Instance& instance, size_t from) {
    Words found;
    if (simulate(rules_[instance.rule], instance.binding, from)) {
      for (const int32_t gone : changed_) {
        if (state_.holds(gone) || !odd(gone) || std::ranges::find(found, gone) != found.end()) continue;
        const Words& words = state_.atom(gone);
        const bool replaced = std::ranges::any_of(changed_, [&](int32_t other) {
          const Words& there = state_.atom(other);
          if (!state_.holds(other) || !odd(other) || there[0] != words[0]) return false;
          int differences = 0;
          for (size_t k = 1; k < words.size(); ++k) differences += words[k] != there[k];
          return differences == 1;
        });
        if (!replaced) found.push_back(gone);
      }
    }
    undo();
    return found;
  }

  void release(size_t goal) {
    for (const int32_t atom : reservations_[goal]) state_.reserve(atom, -1);
  }
  void restore(size_t goal) {
    for (const int32_t atom : reservations_[goal]) state_.reserve(atom, 1);
  }
  void reserve(size_t goal, const Instance& instance, size_t from) {
    release(goal);
    reservations_[goal] = used_up(instance, from);
    restore(goal);
  }
  void forget(size_t goal) {
    release(goal);
    reservations_[goal].clear();
  }

  void commit(int32_t schema, const Words& arguments) {
    apply(task_.schemas[schema], arguments);
    changed_.clear();
    Words action{schema};
    action.insert(action.end(), arguments.begin(), arguments.end());
    result_.plan.push_back(std::move(action));
    ++result_.counts.expanded;
  }

  // Follows instances until the goal holds or none is left; false if the policy runs in circles.
  bool pursue(size_t goal, int32_t& steps_left) {
    while (!state_.holds(goals_[goal])) {
      release(goal);
      Instance instance = cheapest(goal, {});  // what others keep is left to them if there is another way
      if (instance.rule == kNone) instance = cheapest(goal, {.respect = false});
      restore(goal);
      if (instance.rule == kNone || !follow(goal, instance, steps_left)) break;
      if (steps_left <= 0) return false;
    }
    forget(goal);
    return true;
  }

  // Carries an instance out, and helps others on the way; false if it came to nothing.
  bool follow(size_t goal, const Instance& instance, int32_t& steps_left) {
    const GoalRule& rule = rules_[instance.rule];
    for (size_t i = 0; i < rule.steps.size(); ++i) {
      const Words& step = rule.steps[i];
      reserve(goal, instance, i);
      if (step[0] == 0) {
        const Words found = arguments(step, instance.binding);
        if (!preconditions_hold(task_.schemas[step[1]], found)) return i > 0;
        commit(step[1], found);
        --steps_left;
        continue;
      }
      const int32_t place = task_.movements[step[1]].place, to = value(step.back(), instance.binding);
      Words atom = before_move(step, instance.binding);
      while (atom[place] != to) {
        const int32_t here = state_.number(atom);
        if (!state_.holds(here) || steps_left-- <= 0) return i > 0;
        if (help_others(goal, instance, i, here)) return true;  // there may be a better way now
        const Words action = paths_.first_action(step[1], atom, to);
        const Words found(action.begin() + 1, action.end());
        if (!preconditions_hold(task_.schemas[action[0]], found)) return i > 0;
        commit(action[0], found);
        atom[place] = value(task_.schemas[action[0]].adds[0][place], found);
      }
    }
    return true;
  }

  // Actions for other goals that need what is about to move where it is now. The rest of the instance at hand
  // stays applicable. True if there was one.
  bool help_others(size_t current, const Instance& instance, size_t step, int32_t mover) {
    const int32_t last_rank = rules_[instance.rule].rank;
    bool helped = false;
    for (const int32_t rank : ranks_) {
      if (!mixed_ && rank > last_rank) break;
      for (size_t goal = 0; goal < goals_.size(); ++goal) {
        if (goal == current) continue;
        for (int i = 0; i < kMostHelp && !state_.holds(goals_[goal]); ++i)
          if (help(goal, rank, instance, step, mover))
            helped = true;
          else
            break;
        if (state_.holds(goals_[goal])) forget(goal);
      }
    }
    return helped;
  }

  bool help(size_t goal, int32_t rank, const Instance& at_hand, size_t step, int32_t mover) {
    release(goal);
    const Instance instance = cheapest(goal, {.rank = rank + 1, .cost = 0, .mover = mover});
    // It must be worth it: less is left then than the goal costs otherwise.
    const bool useful =
        instance.rule != kNone && cheapest(goal, {.rank = rank, .cost = instance.cost}).rule == kNone;
    restore(goal);
    if (!useful) return false;
    const std::vector<Words>& steps = rules_[instance.rule].steps;
    size_t first = 0;
    while (steps[first][0] != 0) ++first;
    const Words found = arguments(steps[first], instance.binding);
    const RuleSchema& schema = task_.schemas[steps[first][1]];
    if (!preconditions_hold(schema, found)) return false;
    apply(schema, found);
    // An action that changes nothing would be for an atom that another goal keeps.
    const bool fine = !changed_.empty() && simulate(rules_[at_hand.rule], at_hand.binding, step, mover);
    undo();
    if (!fine) return false;
    commit(steps[first][1], found);
    if (first + 1 < steps.size()) reserve(goal, instance, first + 1);
    return true;
  }

  const RuleTask& task_;
  const std::vector<GoalRule>& rules_;
  bool mixed_;
  PolicyResult& result_;
  LiftedState state_;
  Paths paths_;
  Words goals_;
  std::unordered_map<int32_t, uint8_t> is_goal_;
  std::vector<Words> reservations_;  // per goal: atoms
  std::vector<Known> known_;         // per goal
  size_t turn_ = 0;
  int32_t nodes_ = 0;    // of joins, since goals were looked at
  Words acts_;           // per rule: its actions that are no movements
  Words ranks_;          // of all rules, in order
  bool protect_ = true;  // goals that hold
  Words binding_, before_, changed_;
};

void check_atom(const RuleTask& task, const Words& atom, int32_t variables) {
  bool fine = !atom.empty() && atom[0] >= 0 && atom[0] < static_cast<int32_t>(task.arities.size()) &&
              static_cast<int32_t>(atom.size()) == task.arities[atom[0]] + 1;
  for (size_t k = 1; k < atom.size() && fine; ++k)
    fine = atom[k] >= 0 ? atom[k] < variables : ~atom[k] < task.objects;
  if (!fine) throw InputError("goal rules: an atom has a wrong predicate or term");
}

void check_terms(const RuleTask& task, std::span<const int32_t> terms, size_t number, int32_t variables) {
  bool fine = terms.size() == number;
  for (const int32_t term : terms) fine = fine && (term >= 0 ? term < variables : ~term < task.objects);
  if (!fine) throw InputError("goal rules: a step has wrong terms");
}

void check_rule(const RuleTask& task, const GoalRule& rule) {
  check_atom(task, rule.goal, rule.variables);
  for (const Words& atom : rule.conditions) check_atom(task, atom, rule.variables);
  for (const Words& step : rule.steps) {
    const size_t known = step.size() < 2 ? 0 : step[0] ? task.movements.size() : task.schemas.size();
    if (step.size() < 2 || step[1] < 0 || step[1] >= static_cast<int32_t>(known))
      throw InputError("goal rules: a step is neither an action nor a movement");
    const size_t terms = step[0] ? task.arities[task.movements[step[1]].predicate] + 1
                                 : task.schemas[step[1]].candidates.size();
    check_terms(task, std::span(step).subspan(2), terms, rule.variables);
  }
}

}  // namespace
}  // namespace policy

void RuleTask::check() const {
  using policy::check_atom, policy::check_terms;
  for (const RuleSchema& schema : schemas) {
    const auto variables = static_cast<int32_t>(schema.candidates.size());
    for (const std::vector<Words>* atoms :
         {&schema.positive, &schema.negative, &schema.adds, &schema.deletes})
      for (const Words& atom : *atoms) check_atom(*this, atom, variables);
    for (const Words& pair : schema.different) check_terms(*this, pair, 2, variables);
    for (const Words& known : schema.candidates)
      if (!std::ranges::is_sorted(known) ||
          (!known.empty() && (known.front() < 0 || known.back() >= objects)))
        throw InputError("goal rules: a parameter stands for a wrong object");
  }
  for (const RuleMovement& movement : movements) {
    bool fine = movement.predicate >= 0 && movement.predicate < static_cast<int32_t>(arities.size()) &&
                movement.place >= 1 && movement.place <= arities[movement.predicate];
    for (const int32_t number : movement.schemas) {
      fine = fine && number >= 0 && number < static_cast<int32_t>(schemas.size());
      if (!fine) break;
      for (const std::vector<Words>* effects : {&schemas[number].adds, &schemas[number].deletes})
        fine = fine && effects->size() == 1 && (*effects)[0][0] == movement.predicate;
    }
    if (!fine) throw InputError("goal rules: a movement is none");
  }
  for (const std::vector<Words>* atoms : {&init, &goals})
    for (const Words& atom : *atoms) check_atom(*this, atom, objects);
}

PolicyResult follow_goal_rules(const RuleTask& task, const std::vector<GoalRule>& rules, bool mixed,
                               const Limits& limits, const Observer& observer) {
  for (const GoalRule& rule : rules) policy::check_rule(task, rule);
  PolicyResult result;
  Control control(limits, observer, 1);
  control.run(result, [&] { policy::Policy(task, rules, mixed, result).run(); });
  return result;
}

}  // namespace hstar
