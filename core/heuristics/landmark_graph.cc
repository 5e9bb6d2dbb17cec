#include "heuristics/landmark_graph.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace hstar {
namespace {

constexpr size_t kMaxDisjuncts = 4;

using Facts = std::vector<int32_t>;  // numbers of facts

class Discovery {
 public:
  Discovery(const PlanningSpace& space, const std::vector<Value>& initial, CostType type,
            Backchaining backchaining)
      : space_(space),
        relaxed_(space.task(), type),
        thorough_(backchaining == Backchaining::kThorough),
        facts_(relaxed_.facts),
        labels_(facts_),
        marks_(facts_, 0) {
    for (int32_t v = 0; v < space.variables(); ++v)
      for (Value value = 0; value < space.task().variables[v].domain_size(); ++value)
        fact_of_.push_back({v, value});
    std::vector<std::vector<int32_t>> users(facts_), achievers(facts_);
    for (int32_t op = 0; op < relaxed_.operators(); ++op) {
      for (const int32_t fact : relaxed_.preconditions[op]) users[fact].push_back(op);
      for (const int32_t fact : relaxed_.effects[op]) achievers[fact].push_back(op);
    }
    users_ = Rows(users);
    achievers_ = Rows(achievers);
    initial_.assign(facts_, 0);
    for (int32_t v = 0; v < space.variables(); ++v) initial_[relaxed_.ids({v, initial[v]})] = 1;
  }

  void run(LandmarkGraph& graph) {
    // 1. Labels: the landmarks of each fact.
    propagate();
    graph.solvable = std::ranges::all_of(relaxed_.goal, [&](int32_t fact) { return !labels_[fact].empty(); });
    if (!graph.solvable) return;
    // 2. Landmarks: single facts, and by backchaining from each the disjunctive ones.
    add_facts();
    for (size_t i = 0; i < nodes_.size(); ++i) backchain(i);
    drop_useless();
    // 3. The graph with all orders.
    for (const Node& node : nodes_) graph.landmarks.push_back(landmark(node));
    const size_t n = nodes_.size();
    graph.natural = graph.greedy = graph.reasonable = LandmarkSets(n);
    for (size_t i = 0; i < n; ++i) order_before(i, graph);
    order_reasonably(graph);
  }

 private:
  struct Node {
    Facts facts;
    std::vector<size_t> greedy_before;  // nodes
    bool initial;
    std::vector<int32_t> first_achievers;  // relaxed operators, unless it is initial
  };

  // Zhu and Givan: a label has the fact itself and what every way to make it true has passed, an operator's
  // the labels of its preconditions. Labels only shrink once they are there.
  void propagate() {
    std::vector<int32_t> missing(relaxed_.operators());
    std::vector<char> queued(relaxed_.operators(), 0);
    std::deque<int32_t> queue;
    const auto enqueue = [&](int32_t op) {
      if (missing[op] > 0 || queued[op]) return;
      queued[op] = 1;
      queue.push_back(op);
    };
    for (int32_t op = 0; op < relaxed_.operators(); ++op) {
      missing[op] = static_cast<int32_t>(relaxed_.preconditions[op].size());
      if (missing[op] == 0) enqueue(op);
    }
    const auto reach = [&](int32_t fact) {
      for (const int32_t op : users_[fact]) {
        --missing[op];
        enqueue(op);
      }
    };
    for (int32_t fact = 0; fact < facts_; ++fact) {
      if (!initial_[fact] || !relaxed_.relevant[fact]) continue;
      labels_[fact] = {fact};
      reach(fact);
    }
    Facts label;
    while (!queue.empty()) {
      const int32_t op = queue.front();
      queue.pop_front();
      queued[op] = 0;
      const uint64_t mark = collect(op, label);
      for (const int32_t fact : relaxed_.effects[op]) {
        if (initial_[fact]) continue;
        Facts& known = labels_[fact];
        if (known.empty()) {
          known = label;
          if (marks_[fact] != mark) known.push_back(fact);
          reach(fact);
        } else if (std::erase_if(known, [&](int32_t f) { return f != fact && marks_[f] != mark; }) > 0) {
          for (const int32_t user : users_[fact]) enqueue(user);
        }
      }
    }
    reachable_.resize(relaxed_.operators());
    for (int32_t op = 0; op < relaxed_.operators(); ++op) reachable_[op] = missing[op] == 0;
  }

  // The label of an operator, its facts marked by the number that is returned.
  uint64_t collect(int32_t op, Facts& label) {
    const uint64_t mark = ++mark_;
    label.clear();
    for (const int32_t precondition : relaxed_.preconditions[op]) {
      for (const int32_t fact : labels_[precondition]) {
        if (marks_[fact] == mark) continue;
        marks_[fact] = mark;
        label.push_back(fact);
      }
    }
    return mark;
  }

  void add_facts() {
    std::set<int32_t> found;
    for (const int32_t goal : relaxed_.goal) found.insert(labels_[goal].begin(), labels_[goal].end());
    node_of_.assign(facts_, kNone);
    for (const int32_t fact : found) add_node({fact}, initial_[fact]);
  }

  size_t add_node(Facts facts, bool initial) {
    for (const int32_t fact : facts) node_of_[fact] = nodes_.size();
    nodes_.push_back({std::move(facts), {}, initial, {}});
    return nodes_.size() - 1;
  }

  // Operators that may make a landmark true for the first time: those that do not need it themselves.
  std::vector<int32_t> first_achievers(const Facts& facts) const {
    std::set<int32_t> found;
    const auto among = [&](int32_t fact) { return std::ranges::find(facts, fact) != facts.end(); };
    // Labels say all about a single fact, but do not know of several of which each would do.
    const bool explore = thorough_ && facts.size() > 1;
    const std::vector<char> before = explore ? reachable_before(facts) : std::vector<char>();
    const std::vector<char>& possible = explore ? before : reachable_;
    for (const int32_t fact : facts)
      for (const int32_t op : achievers_[fact])
        if (possible[op] && std::ranges::none_of(relaxed_.preconditions[op], [&](int32_t precondition) {
              return std::ranges::any_of(labels_[precondition], among);
            }))
          found.insert(op);
    return {found.begin(), found.end()};
  }

  // Whether relaxed operators can be taken before any of these facts is true, none of which is initially.
  std::vector<char> reachable_before(const Facts& facts) const {
    std::vector<char> known = initial_, possible(relaxed_.operators(), 0);
    for (const int32_t fact : facts) known[fact] = 1;  // never true, so that nothing is told of it
    std::vector<int32_t> missing(relaxed_.operators()), queue;
    const auto take = [&](int32_t op) {
      possible[op] = 1;
      for (const int32_t fact : relaxed_.effects[op])
        if (!std::exchange(known[fact], 1)) queue.push_back(fact);
    };
    for (int32_t op = 0; op < relaxed_.operators(); ++op) {
      missing[op] = static_cast<int32_t>(
          std::ranges::count_if(relaxed_.preconditions[op], [&](int32_t fact) { return !initial_[fact]; }));
      if (missing[op] == 0) take(op);
    }
    while (!queue.empty()) {
      const int32_t fact = queue.back();
      queue.pop_back();
      for (const int32_t op : users_[fact])
        if (--missing[op] == 0) take(op);
    }
    return possible;
  }

  // Greedy-necessary orders to a landmark, and the disjunctive landmarks that they begin at.
  void backchain(size_t node) {
    if (nodes_[node].initial) return;
    const std::vector<int32_t> first = nodes_[node].first_achievers = first_achievers(nodes_[node].facts);
    std::map<int32_t, size_t> counts;             // per fact: first achievers that need it
    std::map<std::string, std::set<int32_t>> of;  // per predicate: facts
    std::map<std::string, size_t> having;         // per predicate: first achievers that need some
    for (const int32_t op : first)
      for (const int32_t fact : relaxed_.preconditions[op]) ++counts[fact];
    for (const int32_t op : first) {
      std::set<std::string> predicates;
      for (const int32_t fact : relaxed_.preconditions[op]) {
        if (thorough_ && counts[fact] == first.size()) continue;  // a landmark of its own
        const std::string name = predicate(fact);
        if (name.empty() || of[name].size() > kMaxDisjuncts) continue;
        of[name].insert(fact);
        predicates.insert(name);
      }
      for (const std::string& name : predicates) ++having[name];
    }
    for (const auto& [fact, count] : counts)
      if (count == first.size() && node_of_[fact] != kNone && nodes_[node_of_[fact]].facts.size() == 1)
        nodes_[node].greedy_before.push_back(node_of_[fact]);
    for (const auto& [name, facts] : of) {
      if (having[name] < first.size() || facts.size() < 2 || facts.size() > kMaxDisjuncts) continue;
      const Facts set(facts.begin(), facts.end());
      const size_t known = node_of_[set[0]];
      if (known != kNone && nodes_[known].facts == set) {
        nodes_[node].greedy_before.push_back(known);
      } else if (std::ranges::all_of(set, [&](int32_t f) { return node_of_[f] == kNone && !initial_[f]; })) {
        const size_t added = add_node(set, false);
        nodes_[node].greedy_before.push_back(added);
      }
    }
  }

  // Of "Atom at(ball1, rooma)": at. Empty for values that are no atom.
  std::string predicate(int32_t fact) const {
    const auto [variable, value] = fact_of_[fact];
    const std::string& name = space_.task().variables[variable].fact_names[value];
    return name.starts_with("Atom ") ? name.substr(0, name.find('(')) : std::string();
  }

  bool is_goal(const Node& node) const {
    return node.facts.size() == 1 && std::ranges::find(relaxed_.goal, node.facts[0]) != relaxed_.goal.end();
  }

  // What is true at the beginning and never required again says nothing.
  void drop_useless() {
    std::vector<char> useful(nodes_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      useful[i] |= !nodes_[i].initial || is_goal(nodes_[i]);
      for (const size_t before : nodes_[i].greedy_before) useful[before] = 1;
    }
    std::vector<size_t> number(nodes_.size(), kNone);
    std::vector<Node> kept;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!useful[i]) continue;
      number[i] = kept.size();
      kept.push_back(std::move(nodes_[i]));
    }
    for (Node& node : kept)
      for (size_t& before : node.greedy_before) before = number[before];
    nodes_.swap(kept);
    for (size_t& node : node_of_) node = node == kNone ? kNone : number[node];
  }

  Landmark landmark(const Node& node) const {
    Landmark result;
    Cost least = std::numeric_limits<Cost>::max();
    for (const int32_t fact : node.facts) {
      result.facts.push_back(fact_of_[fact]);
      result.derived |= space_.task().variables[fact_of_[fact].variable].derived();
      for (const int32_t op : achievers_[fact]) {
        least = std::min(least, relaxed_.costs[op]);
        result.achievers.push_back(relaxed_.sources[op]);
      }
    }
    for (const int32_t op : node.first_achievers) result.first_achievers.push_back(relaxed_.sources[op]);
    for (std::vector<int32_t>* ops : {&result.achievers, &result.first_achievers}) {
      std::ranges::sort(*ops);
      ops->erase(std::unique(ops->begin(), ops->end()), ops->end());
    }
    result.cost = result.achievers.empty() ? 1 : std::max(least, 1);
    result.goal = is_goal(node);
    result.initial = node.initial;
    return result;
  }

  void order_before(size_t i, LandmarkGraph& graph) {
    const Node& node = nodes_[i];
    if (node.initial) return;
    for (const size_t before : node.greedy_before) {
      graph.greedy.add(i, before);
      graph.natural.add(i, before);
    }
    // What is in the labels of all its facts was true before each of them.
    for (const int32_t fact : labels_[node.facts[0]]) {
      const size_t before = node_of_[fact];
      if (before == kNone || before == i || nodes_[before].facts.size() > 1) continue;
      const bool in_all = std::ranges::all_of(node.facts, [&](int32_t own) {
        return std::ranges::find(labels_[own], fact) != labels_[own].end();
      });
      if (in_all) graph.natural.add(i, before);
    }
  }

  // Reasonable orders (Richter and Westphal, JAIR 2010, section 4.2.3): A -> B if B is needed at the end or
  // when some C is made true, A has to be true by then, too, and making A true destroys B.
  void order_reasonably(LandmarkGraph& graph) {
    const size_t n = nodes_.size();
    std::vector<std::vector<Fact>> brings(n);
    for (size_t a = 0; a < n; ++a)
      if (nodes_[a].facts.size() == 1) brings[a] = brought(a);
    const auto interferes = [&](size_t a, size_t b) {
      const Fact fact = fact_of_[nodes_[b].facts[0]];
      return std::ranges::any_of(brings[a],
                                 [&](Fact other) { return space_.mutexes().are_mutex(other, fact); });
    };
    Acyclic acyclic(graph);
    for (size_t b = 0; b < n; ++b) {
      if (nodes_[b].facts.size() > 1) continue;
      std::vector<char> together(n, 0);  // landmarks that must be true at or before a time when B is
      for (size_t c = 0; c < n; ++c) {
        if (graph.landmarks[b].goal && graph.landmarks[c].goal) together[c] = 1;
        if (!graph.greedy.has(c, b)) continue;
        for (size_t a = 0; a < n; ++a) together[a] |= graph.natural.has(c, a);
      }
      for (size_t a = 0; a < n; ++a) {
        const bool candidate = together[a] && a != b && nodes_[a].facts.size() == 1;
        if (candidate && !graph.natural.has(b, a) && interferes(a, b) && acyclic.add(a, b))
          graph.reasonable.add(b, a);
      }
    }
  }

  // Facts that are true when A becomes true, or are true just before it does.
  std::vector<Fact> brought(size_t a) const {
    const int32_t fact = nodes_[a].facts[0];
    std::vector<Fact> shared;
    bool first = true;
    for (const int32_t op : achievers_[fact]) {
      if (!reachable_[op]) continue;
      const std::vector<Fact> after = holds_after(op);
      if (first)
        shared = after;
      else
        std::erase_if(shared, [&](Fact f) { return std::ranges::find(after, f) == after.end(); });
      first = false;
    }
    for (const size_t before : nodes_[a].greedy_before)
      if (nodes_[before].facts.size() == 1) shared.push_back(fact_of_[nodes_[before].facts[0]]);
    shared.push_back(fact_of_[fact]);
    return shared;
  }

  // What is true after a relaxed operator: its effects, and preconditions that it leaves alone.
  std::vector<Fact> holds_after(int32_t op) const {
    std::vector<Fact> result;
    for (const int32_t fact : relaxed_.effects[op]) result.push_back(fact_of_[fact]);
    const int32_t source = relaxed_.sources[op];
    if (source == -1) {
      for (const int32_t fact : relaxed_.preconditions[op]) result.push_back(fact_of_[fact]);
      return result;
    }
    const Operator& original = space_.task().operators[source];
    for (const Effect& effect : original.effects)
      if (effect.conditions.empty()) result.push_back(effect.fact);
    for (const Fact& fact : original.preconditions)
      if (std::ranges::none_of(original.effects,
                               [&](const Effect& effect) { return effect.fact.variable == fact.variable; }) &&
          !space_.task().variables[fact.variable].derived())
        result.push_back(fact);
    return result;
  }

  // Orders so far; refuses one that would close a cycle.
  class Acyclic {
   public:
    explicit Acyclic(const LandmarkGraph& graph) : after_(graph.landmarks.size()), seen_(after_.size(), 0) {
      for (size_t b = 0; b < after_.size(); ++b)
        for (size_t a = 0; a < after_.size(); ++a)
          if (graph.natural.has(b, a)) after_[a].push_back(b);
    }
    bool add(size_t a, size_t b) {
      if (reaches(b, a)) return false;
      after_[a].push_back(b);
      return true;
    }

   private:
    bool reaches(size_t from, size_t to) {
      std::ranges::fill(seen_, 0);
      std::vector<size_t> stack = {from};
      while (!stack.empty()) {
        const size_t node = stack.back();
        stack.pop_back();
        if (node == to) return true;
        for (const size_t next : after_[node])
          if (!std::exchange(seen_[next], 1)) stack.push_back(next);
      }
      return false;
    }
    std::vector<std::vector<size_t>> after_;
    std::vector<char> seen_;
  };

  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  const PlanningSpace& space_;
  const RelaxedTask relaxed_;
  const bool thorough_;
  const int32_t facts_;
  std::vector<Fact> fact_of_;    // per number
  Rows users_, achievers_;       // per fact: relaxed operators
  std::vector<char> initial_;    // per fact
  std::vector<char> reachable_;  // per relaxed operator
  std::vector<Facts> labels_;    // per fact; empty: not reachable
  std::vector<uint64_t> marks_;  // per fact
  uint64_t mark_ = 0;
  std::vector<size_t> node_of_;  // per fact: the landmark that has it
  std::vector<Node> nodes_;
};

}  // namespace

LandmarkGraph::LandmarkGraph(const PlanningSpace& space, const std::vector<Value>& initial, CostType type,
                             Backchaining backchaining) {
  Discovery(space, initial, type, backchaining).run(*this);
}

}  // namespace hstar
