// A heuristic of a native puzzle (`incremental.h`) as best-first searches see it.
//
// A best-first search jumps between states, and nodes of such heuristics are too large to be kept with all of
// them: the node of an expanded state is made anew, those of its successors follow it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heuristics/heuristic.h"
#include "heuristics/incremental.h"
#include "spaces/puzzle_space.h"

namespace hstar {

struct PuzzleClaims {
  std::string name;
  bool admissible;
};

template <Puzzle Space, IncrementalHeuristic<Space> H>
class PuzzleValues final : public Heuristic {
 public:
  PuzzleValues(const PuzzleSpace<Space>& space, std::shared_ptr<const H> heuristic, PuzzleClaims claims)
      : space_(space), heuristic_(std::move(heuristic)), claims_(std::move(claims)) {}

  std::string name() const override { return claims_.name; }
  bool admissible() const override { return claims_.admissible; }
  bool consistent() const override { return claims_.admissible; }
  bool safe() const override { return true; }  // there are no dead ends
  size_t grain() const override { return 1024; }

  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    const Space& puzzle = space_.puzzle();
    if (const uint32_t* packed = batch.packed_parent()) {
      const typename Space::State parent = puzzle.unpack(packed);
      heuristic_->root(parent, parent_);
      for (size_t i = begin; i < end; ++i)
        h[i] = heuristic_->child(parent_, parent, static_cast<typename Space::Action>(batch.op(i)), child_);
    } else {
      for (size_t i = begin; i < end; ++i) h[i] = heuristic_->root(puzzle.unpack(batch.packed(i)), parent_);
    }
  }

 private:
  const PuzzleSpace<Space>& space_;
  std::shared_ptr<const H> heuristic_;
  PuzzleClaims claims_;
  typename H::Node parent_, child_;
};

}  // namespace hstar
