#include "policy/goal_rules.h"

#include <algorithm>
#include <compare>
#include <span>
#include <unordered_map>
#include <utility>

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
constexpr size_t kMostWays = 4;                // to achieve a subgoal that are tried
constexpr int32_t kMostSubgoals = 10'000;      // for one goal
constexpr int kMostAttempts = 8;               // to make all conditions of an instance hold at the same time

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

// An instance that would be applicable if these atoms held.
struct Nearly {
  int32_t cost = kInfinite;
  Words missing;

  std::pair<size_t, int32_t> key() const { return {missing.size(), cost}; }
};

class Policy {
 public:
  Policy(const RuleTask& task, const std::vector<GoalRule>& rules, const std::vector<GoalOrder>& orders,
         bool mixed, PolicyResult& result)
      : task_(task), rules_(rules), mixed_(mixed), result_(result), state_(task), paths_(task, state_) {
    for (const Words& goal : task.goals) goals_.push_back(state_.number(goal));
    for (size_t goal = 0; goal < goals_.size(); ++goal) goal_of_.insert({goals_[goal], goal});
    earlier_.resize(goals_.size());
    for (const auto [first, second] : orders) earlier_[second].push_back(first);
    split_conditions();
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
        bool done = chain(steps_left);
        protect_ = false;  // of goals that must be given up for a while
        done = done || chain(steps_left);
        if (done) {
          if (open_goals() < open) steps_left = kStepsWithoutGoal;
          continue;
        }
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

  // Conditions that can become subgoals: other rules achieve them, and the rest says what they are about.
  void split_conditions() {
    std::vector<uint8_t> achieved(task_.arities.size(), 0);
    for (const GoalRule& rule : rules_) achieved[rule.goal[0]] = 1;
    for (const GoalRule& rule : rules_) {
      std::vector<uint8_t> bound(rule.variables, 0);
      const auto unbound = [&](const Words& atom) {
        return std::count_if(atom.begin() + 1, atom.end(),
                             [&](int32_t term) { return term >= 0 && !bound[term]; });
      };
      std::vector<Words> given, rest = rule.conditions;
      const auto give = [&](size_t i) {
        given.push_back(rest[i]);
        for (size_t k = 1; k < rest[i].size(); ++k)
          if (rest[i][k] >= 0) bound[rest[i][k]] = 1;
        rest.erase(rest.begin() + static_cast<ptrdiff_t>(i));
      };
      for (size_t k = 1; k < rule.goal.size(); ++k)
        if (rule.goal[k] >= 0) bound[rule.goal[k]] = 1;
      for (size_t i = rest.size(); i-- > 0;)
        if (!achieved[rest[i][0]]) give(i);
      for (;;) {  // first what has most to do with what is known
        size_t best = rest.size();
        long most = -1;
        for (size_t i = 0; i < rest.size(); ++i)
          if (const auto known = static_cast<long>(rest[i].size()) - 1 - unbound(rest[i]);
              unbound(rest[i]) > 0 && known > most) {
            most = known;
            best = i;
          }
        if (best == rest.size()) break;
        give(best);
      }
      given_.push_back(std::move(given));
      subgoals_.push_back(std::move(rest));
    }
  }

  // A goal is settled if it holds and so do all that come before it; others may have to be undone.
  bool settle(size_t goal) {
    if (settled_[goal] == kUnknown) {
      settled_[goal] = kSettled;  // of goals that wait for each other, none waits
      bool fine = state_.holds(goals_[goal]);
      for (const int32_t first : earlier_[goal]) fine = settle(first) && fine;
      settled_[goal] = fine ? kSettled : kOpen;
    }
    return settled_[goal] == kSettled;
  }
  void settle_all() {
    if (!settled_.empty() && !stale_) return;
    stale_ = false;
    settled_.assign(goals_.size(), kUnknown);
    for (size_t goal = 0; goal < goals_.size(); ++goal) settle(goal);
  }
  // Whether it is its turn.
  bool ready(size_t goal) {
    settle_all();
    return !state_.holds(goals_[goal]) &&
           std::ranges::all_of(earlier_[goal], [&](int32_t first) { return settled_[first] == kSettled; });
  }

  // The open goal with the cheapest instance of the lowest rank, as far as is known: a goal is looked at
  // again when it seems the best one, and each in its turn. The number of goals if there is no instance at
  // all.
  size_t choose() {
    nodes_ = 0;
    for (size_t i = 0; i < goals_.size() && nodes_ < kNodesAround; ++i) {
      turn_ = (turn_ + 1) % goals_.size();
      if (ready(turn_)) look_at(turn_, true);
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
        if (ready(goal)) look_at(goal, respect);
      if (const size_t best = two_best().first; best != goals_.size() && known_[best].seen()) return best;
    }
    return goals_.size();
  }

  void look_at(size_t goal, bool respect) {
    release(goal);
    const Instance found = cheapest(goals_[goal], {.respect = respect});
    restore(goal);
    known_[goal] = found.rule == kNone ? Known{} : Known{rules_[found.rule].rank, found.cost};
  }

  std::pair<size_t, size_t> two_best() {
    size_t best = goals_.size(), second = best;
    for (size_t goal = 0; goal < goals_.size(); ++goal) {
      if (!ready(goal)) continue;
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
  Instance cheapest(int32_t atom, Wanted wanted) {
    Instance best;
    settle_all();
    const Words asked = state_.atom(atom);  // a copy: simulations may number new atoms
    const bool now = wanted.mover != kNone;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const GoalRule& rule = rules_[i];
      if (rule.goal[0] != asked[0]) continue;
      const auto limit = [&] {
        return rule.rank < wanted.rank ? kInfinite : rule.rank > wanted.rank ? 0 : wanted.cost;
      };
      if (acts_[i] >= limit()) continue;
      if (!bind_goal(rule, asked)) continue;
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

  // Whether the rule is for this atom; then its variables are bound.
  bool bind_goal(const GoalRule& rule, const Words& asked) {
    if (rule.goal[0] != asked[0]) return false;
    binding_.assign(rule.variables, kNone);
    for (size_t k = 1; k < asked.size(); ++k) {
      const int32_t term = rule.goal[k];
      if (term >= 0 && binding_[term] == kNone) binding_[term] = asked[k];
      if (value(term, binding_) != asked[k]) return false;
    }
    return true;
  }

  // What others keep is left to them if there is another way.
  Instance any_instance(int32_t atom) {
    const Instance found = cheapest(atom, {});
    return found.rule == kNone ? cheapest(atom, {.respect = false}) : found;
  }

  // Instances for an atom that lack the fewest subgoals, none of which is wanted already; the best one first.
  std::vector<Nearly> nearest(int32_t atom) {
    std::vector<Nearly> best;
    const Words asked = state_.atom(atom);
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (subgoals_[i].empty() || !bind_goal(rules_[i], asked)) continue;
      const auto prune = [] { return false; };
      const auto visit = [&] {
        Nearly found{cost_of(rules_[i], binding_, false), {}};
        if (found.cost >= kInfinite || std::ranges::find(binding_, kNone) != binding_.end()) return;
        for (const Words& condition : subgoals_[i])
          if (const int32_t number = state_.number(ground(condition, binding_)); !state_.holds(number))
            found.missing.push_back(number);
        const bool circular = std::ranges::any_of(
            found.missing, [&](int32_t one) { return std::ranges::find(wanted_, one) != wanted_.end(); });
        if (found.missing.empty() || circular) return;
        best.insert(std::ranges::upper_bound(best, found.key(), {}, &Nearly::key), found);
        if (best.size() > kMostWays) best.pop_back();
      };
      Join join(state_, false, kMostNodes);
      join.run(given_[i], binding_, prune, visit);
    }
    return best;
  }

  // Achieves a goal that lacks few subgoals; false if it cannot.
  bool chain(int32_t& steps_left) {
    std::vector<std::pair<std::pair<size_t, int32_t>, size_t>> ways;  // keys and goals
    for (size_t goal = 0; goal < goals_.size(); ++goal) {
      if (!ready(goal)) continue;
      wanted_.assign(1, goals_[goal]);
      if (std::vector<Nearly> found = nearest(goals_[goal]); !found.empty())
        ways.emplace_back(found[0].key(), goal);
    }
    wanted_.clear();
    std::ranges::sort(ways);
    for (size_t i = 0; i < std::min(ways.size(), kMostWays) && steps_left > 0; ++i) {
      subgoals_left_ = kMostSubgoals;
      seized_ = false;
      if (achieve(goals_[ways[i].second], steps_left) || seized_) return true;
    }
    return false;
  }

  // Makes an atom hold: by an instance that is applicable, else by one whose missing conditions are achieved
  // before. If a goal whose turn it is can be achieved at once on the way, that comes first, and then all is
  // considered anew.
  bool achieve(int32_t atom, int32_t& steps_left) {
    wanted_.push_back(atom);
    for (int attempts = 0; !state_.holds(atom) && attempts < kMostAttempts && steps_left > 0;) {
      // A goal that had to be given up for another stays so until that holds.
      seized_ = seized_ || (protect_ && seize(steps_left));
      if (seized_) break;
      if (const Instance found = any_instance(atom); found.rule != kNone) {
        if (!follow(goals_.size(), found, steps_left)) break;
        continue;
      }
      ++attempts;
      const std::vector<Nearly> ways = nearest(atom);
      if (std::ranges::none_of(
              ways, [&](const Nearly& way) { return complete(way.missing, steps_left) || seized_; }))
        break;
    }
    wanted_.pop_back();
    return state_.holds(atom);
  }

  bool complete(Words missing, int32_t& steps_left) {
    // What can be had at once comes last: the others may need it for themselves meanwhile.
    std::ranges::stable_partition(missing, [&](int32_t one) { return any_instance(one).rule == kNone; });
    return std::ranges::all_of(missing, [&](int32_t one) {
      return state_.holds(one) || (subgoals_left_-- > 0 && achieve(one, steps_left));
    });
  }

  // Achieves a goal that needs what the last action has added.
  bool seize(int32_t& steps_left) {
    const Words added = std::exchange(added_, {});
    for (const int32_t atom : added) {
      for (size_t goal = 0; goal < goals_.size(); ++goal) {
        if (!state_.holds(atom) || !ready(goal)) continue;
        const Instance found = cheapest(goals_[goal], {.mover = atom});
        if (found.rule != kNone && follow(goals_.size(), found, steps_left)) return true;
      }
    }
    return false;
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
        const RuleMovement& movement = task_.movements[step[1]];
        Words& atom = before_move(step, binding);
        const int32_t here = i == from && on_its_way != kNone ? on_its_way : state_.number(atom);
        if (!state_.holds(here)) return false;
        change(here, false);
        const int32_t left = state_.atom(here)[movement.place], to = value(step.back(), binding);
        atom[movement.place] = to;
        change(state_.number(atom), true);
        if (movement.guard == kNone || left == to) continue;
        const int32_t there = state_.number({movement.guard, to});
        if (!state_.holds(there)) return false;
        if (!movement.swaps) continue;
        change(there, false);
        change(state_.number({movement.guard, left}), true);
      }
    }
    return true;
  }

  bool applicable(const GoalRule& rule, const Words& binding) {
    bool fine = simulate(rule, binding);
    if (fine && protect_)  // an atom that changed an odd number of times and is gone was there before
      for (const int32_t atom : changed_)
        fine = fine && (state_.holds(atom) || !settled(atom) || odd(atom) == 0);
    undo();
    return fine;
  }
  bool settled(int32_t atom) const {
    const auto found = goal_of_.find(atom);
    return found != goal_of_.end() && settled_[found->second] == kSettled;
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
    added_.clear();
    for (const int32_t atom : changed_)
      if (state_.holds(atom)) added_.push_back(atom);
    changed_.clear();
    paths_.forget_guarded();
    stale_ = true;
    Words action{schema};
    action.insert(action.end(), arguments.begin(), arguments.end());
    result_.plan.push_back(std::move(action));
    ++result_.counts.expanded;
  }

  // Follows instances until the goal holds or none is left; false if the policy runs in circles.
  bool pursue(size_t goal, int32_t& steps_left) {
    while (!state_.holds(goals_[goal])) {
      release(goal);
      const Instance instance = any_instance(goals_[goal]);
      restore(goal);
      if (instance.rule == kNone || !follow(goal, instance, steps_left)) break;
      if (steps_left <= 0) return false;
    }
    forget(goal);
    return true;
  }

  // Carries an instance out, and helps others on the way; false if it came to nothing. The number of goals
  // stands for a subgoal, which keeps nothing for itself.
  bool follow(size_t goal, const Instance& instance, int32_t& steps_left) {
    const GoalRule& rule = rules_[instance.rule];
    for (size_t i = 0; i < rule.steps.size(); ++i) {
      const Words& step = rule.steps[i];
      if (goal < goals_.size()) reserve(goal, instance, i);
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
        if (help_others(goal, instance, i, here)) return true;              // there may be a better way now
        if (paths_.distance(step[1], atom, to) >= kInfinite) return i > 0;  // others are in the way
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
        for (int i = 0; i < kMostHelp && ready(goal); ++i)
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
    const int32_t atom = goals_[goal];
    const Instance instance = cheapest(atom, {.rank = rank + 1, .cost = 0, .mover = mover});
    // It must be worth it: less is left then than the goal costs otherwise.
    const bool useful =
        instance.rule != kNone && cheapest(atom, {.rank = rank, .cost = instance.cost}).rule == kNone;
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
  std::unordered_map<int32_t, size_t> goal_of_;
  std::vector<Words> earlier_;  // per goal: those that come before it
  enum Settled : uint8_t { kUnknown, kOpen, kSettled };
  std::vector<Settled> settled_;                      // per goal
  bool stale_ = true;                                 // `settled_`
  std::vector<std::vector<Words>> given_, subgoals_;  // per rule: its conditions
  bool seized_ = false;                               // a goal, by the way
  int32_t subgoals_left_ = 0;                         // for the goal at hand
  Words wanted_;                                      // by `achieve`, the goal first
  Words added_;                                       // by the last action
  std::vector<Words> reservations_;                   // per goal: atoms
  std::vector<Known> known_;                          // per goal
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
                movement.place >= 1 && movement.place <= arities[movement.predicate] &&
                movement.guard < static_cast<int32_t>(arities.size()) &&
                (movement.guard < 0 ? !movement.swaps : arities[movement.guard] == 1);
    for (const int32_t number : movement.schemas) {
      fine = fine && number >= 0 && number < static_cast<int32_t>(schemas.size());
      if (!fine) break;
      for (const std::vector<Words>* effects : {&schemas[number].adds, &schemas[number].deletes})
        fine = fine && effects->size() == (movement.swaps ? 2 : 1) && (*effects)[0][0] == movement.predicate;
    }
    if (!fine) throw InputError("goal rules: a movement is none");
  }
  for (const std::vector<Words>* atoms : {&init, &goals})
    for (const Words& atom : *atoms) check_atom(*this, atom, objects);
}

PolicyResult follow_goal_rules(const RuleTask& task, const std::vector<GoalRule>& rules,
                               const std::vector<GoalOrder>& orders, bool mixed, const Limits& limits,
                               const Observer& observer) {
  for (const GoalRule& rule : rules) policy::check_rule(task, rule);
  for (const auto [first, second] : orders)
    for (const int32_t goal : {first, second})
      if (goal < 0 || goal >= static_cast<int32_t>(task.goals.size()))
        throw InputError("goal rules: an order of goals that there are not");
  PolicyResult result;
  Control control(limits, observer, 1);
  control.run(result, [&] { policy::Policy(task, rules, orders, mixed, result).run(); });
  return result;
}

}  // namespace hstar
