// Where movements lead: graphs over objects under static conditions, made as far as they are asked for.
// Places that a guard does not hold of are passed by; then paths are those of one state.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "policy/lifted_state.h"

namespace hstar::policy {

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
    const int32_t guard = task_.movements[movement].guard;
    while (tree.distance[to] == kNone && tree.head < tree.queue.size()) {
      const int32_t from = tree.queue[tree.head++];
      for (const int32_t next : neighbours(*tree.graph, movement, atom, from)) {
        if (tree.distance[next] != kNone || (guard != kNone && !state_.holds({guard, next}))) continue;
        tree.distance[next] = tree.distance[from] + 1;
        tree.before[next] = from;
        tree.queue.push_back(next);
      }
    }
    return tree.distance[to] == kNone ? kInfinite : tree.distance[to];
  }
  // After a change of the state.
  void forget_guarded() { guarded_.clear(); }
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
    Tree& tree = (task_.movements[movement].guard == kNone ? trees_ : guarded_)[key_];
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
  std::vector<std::vector<Words>> static_;                        // per schema: conditions that never change
  std::unordered_map<Words, Tree, HashNumbers> trees_, guarded_;  // of any state, and of this one
  std::unordered_map<Words, Graph, HashNumbers> graphs_;
  Words key_;
};

}  // namespace hstar::policy
