// What a best-first search knows about each registered state, 16 bytes a state, and the way back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/errors.h"
#include "base/segmented.h"
#include "search/search.h"

namespace hstar {

enum class NodeStatus : uint8_t { kNew, kOpen, kClosed, kDeadEnd };

constexpr uint32_t kNoOperator = (1u << 30) - 1;

class Node {
 public:
  Node() = default;
  Node(StateId parent, uint32_t op, Cost g) : parent(parent), g(g), h(0), op_(op), status_(0) {}

  uint32_t op() const { return op_; }  // kNoOperator: the root
  NodeStatus status() const { return static_cast<NodeStatus>(status_); }
  void set_op(uint32_t op) { op_ = op; }
  void set_status(NodeStatus status) { status_ = static_cast<uint32_t>(status); }

  StateId parent;
  Cost g;
  Cost h;

 private:
  uint32_t op_ : 30;
  uint32_t status_ : 2;
};
static_assert(sizeof(Node) == 16);

// The states that a search has seen, numbered, and the best known way to each. Heuristics that depend on
// paths are told of every step.
class SearchGraph {
 public:
  SearchGraph(const SearchContext& context, const Heuristics& heuristics)
      : control_(context.control),
        registry_(context.space.words()),
        paths_(heuristics, context.initial.data()) {}

  Node& operator[](StateId id) { return nodes_[id]; }
  const uint32_t* state(StateId id) const { return registry_[id]; }
  const StateRegistry& registry() const { return registry_; }

  StateId add_root(const uint32_t* packed) {
    nodes_.push_back({kNoState, kNoOperator, 0});
    return registry_.insert(packed, registry_.hash(packed)).first;
  }
  // Where a step leads at the cost g from the root, and whether the state is new. Throws std::bad_alloc if
  // the memory limit forbids another state.
  std::pair<StateId, bool> reach(StateId parent, int32_t op, Cost g, const uint32_t* packed, uint64_t hash) {
    if (const size_t more = registry_.bytes_if_full(); more && !control_.allows(more)) throw std::bad_alloc();
    const auto [id, is_new] = registry_.insert(packed, hash);
    paths_.follow({parent, op, id, is_new, packed});
    if (is_new) {
      if (g > kMaxCost) throw UnsupportedError("path costs above 2^29 are not supported");
      nodes_.push_back({parent, static_cast<uint32_t>(op), g});
    }
    return {id, is_new};
  }
  // Takes a cheaper way to a state that is no dead end; false if it is none.
  bool improve(StateId id, StateId parent, int32_t op, Cost g) {
    Node& node = nodes_[id];
    if (g >= node.g || node.status() == NodeStatus::kDeadEnd) return false;
    node.g = g;
    node.parent = parent;
    node.set_op(static_cast<uint32_t>(op));
    return true;
  }

  // The operators from the root to `id`.
  std::vector<int32_t> path(StateId id) const {
    std::vector<int32_t> operators;
    for (; nodes_[id].op() != kNoOperator; id = nodes_[id].parent)
      operators.push_back(static_cast<int32_t>(nodes_[id].op()));
    std::ranges::reverse(operators);
    return operators;
  }

  // At the end of a search; `open_bytes`: of its open lists.
  void report(SearchResult& result, size_t open_bytes) const {
    result.registered_states = registry_.size();
    result.state_bytes = registry_.bytes() + nodes_.bytes() + open_bytes;
  }

 private:
  const Control& control_;
  StateRegistry registry_;
  Segmented<Node> nodes_;
  PathListeners paths_;
};

// All successors of a few states in one buffer, hashed, and their places in the registry's index fetched
// ahead, so that the look-ups that follow seldom wait for memory.
class Successors {
 public:
  explicit Successors(const SearchSpace& space) : space_(space), words_(space.words()) {}

  void generate(const uint32_t* packed, size_t n, const StateRegistry& registry) {
    space_.expand(packed, n, expansion_);
    hashes_.resize(size());
    for (size_t i = 0; i < size(); ++i) {
      hashes_[i] = registry.hash(state(i));
      registry.prefetch(hashes_[i]);
    }
  }

  size_t size() const { return expansion_.size(); }
  size_t end(size_t parent) const { return expansion_.ends[parent]; }
  int32_t op(size_t i) const { return expansion_.operators[i]; }
  Cost cost(size_t i) const { return expansion_.costs[i]; }
  const uint32_t* state(size_t i) const { return &expansion_.states[i * words_]; }
  uint64_t hash(size_t i) const { return hashes_[i]; }

  // Whether each of them is a goal.
  void goals(std::vector<char>& flags) const {
    flags.resize(size());
    if (size() > 0) space_.goals(state(0), size(), flags.data());
  }

 private:
  const SearchSpace& space_;
  const size_t words_;
  Expansion expansion_;
  std::vector<uint64_t> hashes_;
};

// The operators that heuristics prefer in the state that is expanded.
class PreferredOperators {
 public:
  // Throws InputError if they are asked for and no heuristic has any.
  explicit PreferredOperators(const SearchContext& context) : used_(context.options.preferred) {
    if (!used_) return;
    if (std::ranges::none_of(context.heuristics, &Heuristic::has_preferred_operators))
      throw InputError("none of the heuristics has preferred operators; use ff");
    flags_.resize(context.space.operators(), 0);
  }
  bool has(int32_t op) const { return used_ && flags_[op]; }
  // The value of the only state of a batch, whose preferred operators are listed if there are any.
  Cost evaluate(Heuristic& heuristic, StateBatch& state) {
    if (used_ && heuristic.has_preferred_operators()) return heuristic.evaluate_preferred(state, 0, list_);
    Cost h;
    heuristic.evaluate(state, 0, 1, &h);
    return h;
  }
  void clear() {
    for (const int32_t op : list_) flags_[op] = 0;
    list_.clear();
  }
  void mark() {
    for (const int32_t op : list_) flags_[op] = 1;
  }

 private:
  const bool used_;
  std::vector<int32_t> list_;
  std::vector<char> flags_;  // per operator
};

// What the searches with a graph share.
class GraphSearch {
 protected:
  // `told` of the paths of the search.
  GraphSearch(const SearchContext& context, const Heuristics& told)
      : space_(context.space),
        heuristics_(context.heuristics),
        options_(context.options),
        control_(context.control),
        initial_(context.initial.data()),
        graph_(context, told) {}

  Counts& counts() { return result_.counts; }
  Status solved(StateId id) {
    result_.plan = graph_.path(id);
    return Status::kSolved;
  }

  const SearchSpace& space_;
  const Heuristics& heuristics_;
  const SearchOptions& options_;
  Control& control_;
  const uint32_t* const initial_;  // packed
  SearchGraph graph_;
  SearchResult result_;
};

}  // namespace hstar
