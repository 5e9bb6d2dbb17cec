#include "policy/goal_rules.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/errors.h"
#include "base/hash.h"

namespace hstar {
namespace {

constexpr int32_t kNone = -1;
constexpr int32_t kInfinite = std::numeric_limits<int32_t>::max() / 4;
constexpr int32_t kStepsWithoutGoal = 20'000;  // then the policy runs in circles
constexpr int kMostHelp = 16;                  // actions for another goal at one place
constexpr int32_t kMostNodes = 20'000;         // of one join: the best of what it has found by then is taken
constexpr int32_t kNodesAround = 20'000;       // of joins, to look at other goals before one is chosen

struct WordsHash {
  size_t operator()(const Words& words) const {
    return hash_words(reinterpret_cast<const uint32_t*>(words.data()), words.size());
  }
};

int32_t value(int32_t term, const Words& binding) { return term >= 0 ? binding[term] : ~term; }

// The atoms that hold, by predicate and by argument.
class LiftedState {
 public:
  explicit LiftedState(const RuleTask& task) : objects_(task.objects) {
    int32_t lists = 0;
    for (const int32_t arity : task.arities) {
      base_.push_back(lists);
      lists += 1 + arity * task.objects;
    }
    lists_.resize(lists);
    for (const Words& atom : task.init) set(number(atom), true);
  }

  // Atoms get their number when they are first asked for.
  int32_t number(const Words& atom) {
    const auto [at, added] = numbers_.try_emplace(atom, static_cast<int32_t>(atoms_.size()));
    if (added) {
      atoms_.push_back(atom);
      first_.push_back(static_cast<int32_t>(places_.size()));
      places_.resize(places_.size() + atom.size());
      holds_.push_back(0);
      reserved_.push_back(0);
    }
    return at->second;
  }
  int32_t find(const Words& atom) const {
    const auto at = numbers_.find(atom);
    return at == numbers_.end() ? kNone : at->second;
  }

  bool holds(int32_t atom) const { return holds_[atom] != 0; }
  bool holds(const Words& atom) const {
    const int32_t found = find(atom);
    return found != kNone && holds(found);
  }
  const Words& atom(int32_t number) const { return atoms_[number]; }
  const Words& all(int32_t predicate) const { return lists_[base_[predicate]]; }
  const Words& with(int32_t predicate, int32_t place, int32_t object) const {
    return lists_[list(predicate, place, object)];
  }

  void set(int32_t atom, bool holds) { set(atom, holds, false); }
  // Undoes the last change that is not undone yet: lists are in the order of before.
  void flip_back(int32_t atom) { set(atom, !holds(atom), true); }

  // How many goals keep an atom for themselves.
  void reserve(int32_t atom, int32_t change) { reserved_[atom] += change; }
  bool reserved(int32_t atom) const { return reserved_[atom] > 0; }

 private:
  int32_t list(int32_t predicate, int32_t place, int32_t object) const {
    return base_[predicate] + 1 + (place - 1) * objects_ + object;
  }

  void set(int32_t atom, bool holds, bool back) {
    if (this->holds(atom) == holds) return;
    holds_[atom] = holds;
    const Words& words = atoms_[atom];
    for (size_t i = 0; i < words.size(); ++i) {
      Words& members = lists_[i == 0 ? base_[words[0]] : list(words[0], static_cast<int32_t>(i), words[i])];
      int32_t& place = places_[first_[atom] + i];
      if (!holds) {
        const int32_t last = members.back();
        members[place] = last;
        places_[first_[last] + i] = place;
        members.pop_back();
        // `place` stays as it was, for `flip_back`, also if the atom was the last one.
      } else if (back && place < static_cast<int32_t>(members.size())) {
        const int32_t there = members[place];
        places_[first_[there] + i] = static_cast<int32_t>(members.size());
        members.push_back(there);
        members[place] = atom;
      } else {
        place = static_cast<int32_t>(members.size());
        members.push_back(atom);
      }
    }
  }

  int32_t objects_;
  std::unordered_map<Words, int32_t, WordsHash> numbers_;
  std::vector<Words> atoms_;
  Words first_, places_;  // per atom: where it stands in its lists
  std::vector<uint8_t> holds_;
  Words reserved_;
  Words base_;  // per predicate: its first list
  std::vector<Words> lists_;
};

// All bindings under which conditions hold. `Visit` gets each of them; `Prune` is asked after each extension
// whether it can be given up.
class Join {
 public:
  Join(const LiftedState& state, bool respect_reserved, int32_t most_nodes = kInfinite)
      : state_(state), respect_reserved_(respect_reserved), most_nodes_(most_nodes) {}

  // How many atoms it has looked at.
  int32_t nodes() const { return nodes_; }

  template <class Prune, class Visit>
  void run(const std::vector<Words>& conditions, Words& binding, const Prune& prune, const Visit& visit) {
    conditions_ = &conditions;
    used_.assign(conditions.size(), 0);
    extend(conditions.size(), binding, prune, visit);
  }
  // Only bindings under which one of the conditions is this atom, which holds.
  template <class Prune, class Visit>
  void run_with(int32_t atom, const std::vector<Words>& conditions, Words& binding, const Prune& prune,
                const Visit& visit) {
    conditions_ = &conditions;
    for (size_t i = 0; i < conditions.size(); ++i) {
      if (conditions[i][0] != state_.atom(atom)[0]) continue;
      used_.assign(conditions.size(), 0);
      used_[i] = 1;
      match(atom, i, conditions.size(), binding, prune, visit);
    }
  }

 private:
  template <class Prune, class Visit>
  void extend(size_t left, Words& binding, const Prune& prune, const Visit& visit) {
    if (prune()) return;
    if (left == 0) {
      visit();
      return;
    }
    keep_limits(1);
    size_t best = 0, fewest = std::numeric_limits<size_t>::max();
    const Words* candidates = nullptr;
    for (size_t i = 0; i < conditions_->size(); ++i) {
      if (used_[i]) continue;
      const Words& condition = (*conditions_)[i];
      const Words* list = &state_.all(condition[0]);
      for (size_t k = 1; k < condition.size(); ++k)
        if (const int32_t object = value(condition[k], binding); object != kNone)
          if (const Words& with = state_.with(condition[0], static_cast<int32_t>(k), object);
              with.size() < list->size())
            list = &with;
      if (list->empty()) return;
      if (list->size() < fewest) {
        fewest = list->size();
        best = i;
        candidates = list;
      }
    }
    used_[best] = 1;
    for (size_t at = 0; at < candidates->size() && nodes_ < most_nodes_; ++at)
      match((*candidates)[at], best, left, binding, prune, visit);
    used_[best] = 0;
  }

  // Extends the binding so that a condition is this atom, and goes on from there.
  template <class Prune, class Visit>
  void match(int32_t atom, size_t which, size_t left, Words& binding, const Prune& prune,
             const Visit& visit) {
    if (respect_reserved_ && state_.reserved(atom)) return;
    ++nodes_;
    const Words& condition = (*conditions_)[which];
    const Words& words = state_.atom(atom);
    size_t bound = 1;  // terms that agree
    const size_t trail = trail_.size();
    for (; bound < words.size(); ++bound) {
      const int32_t term = condition[bound], object = value(term, binding);
      if (object == words[bound]) continue;
      if (object != kNone) break;
      binding[term] = words[bound];
      trail_.push_back(term);
    }
    if (bound == words.size()) extend(left - 1, binding, prune, visit);
    for (; trail_.size() > trail; trail_.pop_back()) binding[trail_.back()] = kNone;
  }

  const LiftedState& state_;
  bool respect_reserved_;
  const std::vector<Words>* conditions_ = nullptr;
  std::vector<uint8_t> used_;
  Words trail_;
  int32_t most_nodes_, nodes_ = 0;
};

// Shortest paths of movements, by breadth-first search as far as it is asked for.
class Paths {
 public:
  Paths(const RuleTask& task, const LiftedState& state) : task_(task), state_(state) {
    std::vector<uint8_t> changes(task.arities.size(), 0);
    for (const RuleSchema& schema : task.schemas)
      for (const std::vector<Words>* effects : {&schema.adds, &schema.deletes})
        for (const Words& atom : *effects) changes[atom[0]] = 1;
    for (const RuleSchema& schema : task.schemas) {
      std::vector<Words> conditions;
      for (const Words& atom : schema.positive)
        if (!changes[atom[0]]) conditions.push_back(atom);
      static_.push_back(std::move(conditions));
    }
  }

  // The number of steps from the atom to that with the object `to` in its place.
  int32_t distance(int32_t movement, const Words& atom, int32_t to) {
    Tree& tree = tree_of(movement, atom);
    while (tree.distance[to] == kNone && tree.head < tree.queue.size()) {
      const int32_t from = tree.queue[tree.head++];
      for (const int32_t next : neighbours(*tree.graph, movement, atom, from)) {
        if (tree.distance[next] != kNone) continue;
        tree.distance[next] = tree.distance[from] + 1;
        tree.before[next] = from;
        tree.queue.push_back(next);
      }
    }
    return tree.distance[to] == kNone ? kInfinite : tree.distance[to];
  }
  // The first action of a shortest path, which there is.
  Words first_action(int32_t movement, const Words& atom, int32_t to) {
    distance(movement, atom, to);
    const Tree& tree = tree_of(movement, atom);
    while (tree.distance[to] > 1) to = tree.before[to];
    Words action;
    for_each_move(movement, atom, [&](int32_t schema, int32_t next, const Words& binding) {
      if (next != to || !action.empty()) return;
      action.assign(1, schema);
      action.insert(action.end(), binding.begin(), binding.end());
    });
    return action;
  }

 private:
  // Where one mover can go from each object, as far as that was asked for.
  struct Graph {
    std::vector<Words> neighbours;
    std::vector<uint8_t> known;
  };
  struct Tree {
    Graph* graph = nullptr;
    Words distance, before;  // by object
    Words queue;             // of objects
    size_t head = 0;
  };

  Tree& tree_of(int32_t movement, const Words& atom) {
    key_.assign(1, movement);
    key_.insert(key_.end(), atom.begin(), atom.end());
    Tree& tree = trees_[key_];
    if (tree.queue.empty()) {
      const int32_t place = task_.movements[movement].place, root = atom[place];
      key_[place + 1] = kNone;
      tree.graph = &graphs_[key_];
      tree.graph->neighbours.resize(task_.objects);
      tree.graph->known.resize(task_.objects);
      tree.distance.assign(task_.objects, kNone);
      tree.before.assign(task_.objects, kNone);
      tree.distance[root] = 0;
      tree.queue.push_back(root);
    }
    return tree;
  }

  const Words& neighbours(Graph& graph, int32_t movement, Words atom, int32_t from) {
    if (!graph.known[from]) {
      graph.known[from] = 1;
      atom[task_.movements[movement].place] = from;
      Words& found = graph.neighbours[from];
      for_each_move(movement, atom, [&](int32_t, int32_t next, const Words&) { found.push_back(next); });
    }
    return graph.neighbours[from];
  }

  template <class Visit>
  void for_each_move(int32_t movement, const Words& atom, const Visit& visit) {
    const RuleMovement& moves = task_.movements[movement];
    for (const int32_t number : moves.schemas) {
      const RuleSchema& schema = task_.schemas[number];
      Words binding(schema.candidates.size(), kNone);
      const Words& leaves = schema.deletes[0];
      bool fits = true;
      for (size_t i = 1; i < leaves.size() && fits; ++i) {
        if (leaves[i] >= 0 && binding[leaves[i]] == kNone) binding[leaves[i]] = atom[i];
        fits = value(leaves[i], binding) == atom[i];
      }
      if (!fits) continue;
      const auto arrive = [&] { visit(number, value(schema.adds[0][moves.place], binding), binding); };
      Join(state_, false)
          .run(static_[number], binding, [] { return false; }, [&] { complete(schema, binding, 0, arrive); });
    }
  }

  // Parameters that no condition binds stand for any object of their type.
  template <class Visit>
  static void complete(const RuleSchema& schema, Words& binding, size_t parameter, const Visit& visit) {
    if (parameter == binding.size()) {
      for (const Words& pair : schema.different)
        if (value(pair[0], binding) == value(pair[1], binding)) return;
      visit();
      return;
    }
    const Words& known = schema.candidates[parameter];
    if (binding[parameter] != kNone) {
      if (std::ranges::binary_search(known, binding[parameter]))
        complete(schema, binding, parameter + 1, visit);
      return;
    }
    for (const int32_t object : known) {
      binding[parameter] = object;
      complete(schema, binding, parameter + 1, visit);
    }
    binding[parameter] = kNone;
  }

  const RuleTask& task_;
  const LiftedState& state_;
  std::vector<std::vector<Words>> static_;  // per schema: conditions that never change
  std::unordered_map<Words, Tree, WordsHash> trees_;
  std::unordered_map<Words, Graph, WordsHash> graphs_;
  Words key_;
};

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

void RuleTask::check() const {
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
  for (const GoalRule& rule : rules) check_rule(task, rule);
  PolicyResult result;
  Control control(limits, observer, 1);
  control.run(result, [&] { Policy(task, rules, mixed, result).run(); });
  return result;
}

}  // namespace hstar
