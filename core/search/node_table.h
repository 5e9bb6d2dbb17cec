// What a best-first search knows about each registered state, 16 bytes a state, and the way back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/segmented.h"
#include "task/state_registry.h"
#include "task/task.h"

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

class NodeTable {
 public:
  Node& operator[](StateId id) { return nodes_[id]; }
  void push(const Node& node) { nodes_.push_back(node); }
  size_t bytes() const { return nodes_.bytes(); }

  // The operators from the root to `id`.
  std::vector<int32_t> path(StateId id) const {
    std::vector<int32_t> operators;
    for (; nodes_[id].op() != kNoOperator; id = nodes_[id].parent)
      operators.push_back(static_cast<int32_t>(nodes_[id].op()));
    std::ranges::reverse(operators);
    return operators;
  }

 private:
  Segmented<Node> nodes_;
};

}  // namespace hstar
