// The definitions of `puzzles.h`, included by the file of each puzzle: they take long to compile, since the
// search is a template over space and heuristic.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "base/named.h"
#include "heuristics/incremental_network.h"
#include "search/puzzles.h"

namespace hstar {

// A heuristic that follows moves (`incremental.h`). A best-first search jumps between states, and nodes of
// such heuristics are too large to be kept with all of them: the node of an expanded state is made anew,
// those of its successors follow it.
template <Puzzle Space, IncrementalHeuristic<Space> H>
class PuzzleValues final : public PuzzleHeuristic<Space> {
 public:
  PuzzleValues(const PuzzleSpace<Space>& space, std::shared_ptr<const H> heuristic, std::string name,
               bool admissible)
      : PuzzleHeuristic<Space>({std::move(name), admissible, /*consistent=*/admissible, /*safe=*/true}),
        space_(space),
        heuristic_(std::move(heuristic)) {}

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

  std::unique_ptr<Deepening> deepening(const typename Space::State& start, const DeepeningOptions& options,
                                       Control& control) const override {
    return std::make_unique<IterativeDeepening<Space, H>>(space_.puzzle(), *heuristic_, start, options,
                                                          control);
  }

 private:
  const PuzzleSpace<Space>& space_;
  std::shared_ptr<const H> heuristic_;
  typename H::Node parent_, child_;
};

// Calls `work` with each type of a list.
template <class Work, class... Types>
void for_each_type(List<Types...>, const Work& work) {
  (work(std::type_identity<Types>{}), ...);
}

template <Puzzle Space>
std::vector<Claims> puzzle_heuristics() {
  std::vector<Claims> result;
  for_each_type(typename Parts<Space>::Named{},
                [&]<class H>(std::type_identity<H>) { result.push_back({H::kName, true, true, true}); });
  return result;
}

template <Puzzle Space>
std::unique_ptr<PuzzleHeuristic<Space>> puzzle_heuristic(const PuzzleSpace<Space>& space,
                                                         const HeuristicChoice<Space>& choice,
                                                         std::shared_ptr<const void> owner) {
  std::unique_ptr<PuzzleHeuristic<Space>> result;
  const auto by_name = [&](const std::string& name) {
    find_named("heuristic", name, puzzle_heuristics<Space>(), &Claims::name);
    for_each_type(typename Parts<Space>::Named{}, [&]<class H>(std::type_identity<H>) {
      if (name != H::kName) return;
      result = std::make_unique<PuzzleValues<Space, H>>(space, std::make_shared<const H>(space.puzzle()),
                                                        name, true);
    });
  };
  const auto fit = [&](const std::string& what, const Space& of, const char* does_not_fit) {
    if (of.name() != space.puzzle().name())
      throw InputError(what + of.name() + does_not_fit + space.puzzle().name());
  };
  const auto chosen = [&]<class Chosen>(const Chosen& one) {
    if constexpr (std::is_same_v<Chosen, std::string>) {
      by_name(one);
    } else if constexpr (std::is_same_v<Chosen, const PuzzleNetwork<Space>*>) {
      fit("a network for ", one->space(), " does not fit ");
      result = one->heuristic(space);
    } else {
      fit("databases for ", one->space(), " do not fit ");
      using H = std::remove_cvref_t<decltype(*one)>;
      result = std::make_unique<PuzzleValues<Space, H>>(space, std::shared_ptr<const H>(owner, one),
                                                        "databases", true);
    }
  };
  std::visit(chosen, choice);
  return result;
}

template <Puzzle Space>
PuzzleNetwork<Space>::PuzzleNetwork(const AnyInputs<Space>& inputs, const PuzzleNetworkConfig& config)
    : space_(space_of<Space>(inputs)) {
  const auto of_inputs = [&]<class Inputs>(const std::shared_ptr<const Inputs>& one) {
    std::vector<float> divisors;
    for (size_t input = 0; input < one->size(); ++input) divisors.push_back(one->divisor(input));
    FixedNetwork fixed(config, divisors);
    const auto of_kind = [&]<size_t kVectors, bool kBounded>() {
      using H = IncrementalNetwork<Inputs, kVectors, kBounded>;
      make_ = [part = std::make_shared<const H>(one, std::move(fixed))](const PuzzleSpace<Space>& space) {
        return std::make_unique<PuzzleValues<Space, H>>(space, part, "network", false);
      };
    };
    // Widths in vectors that searches are compiled for; a network has the next larger one.
    const auto of_width = [&]<bool kBounded>() {
      const size_t vectors = fixed.padded / kLanes;
      if (vectors <= 1)
        of_kind.template operator()<1, kBounded>();
      else if (vectors <= 3)
        of_kind.template operator()<3, kBounded>();
      else
        of_kind.template operator()<FixedNetwork::kWidest / kLanes, kBounded>();
    };
    if (fixed.bounded)
      of_width.template operator()<true>();
    else
      of_width.template operator()<false>();
  };
  std::visit(of_inputs, inputs);
}

#define HSTAR_PUZZLE(Space)                                                 \
  template class PuzzleNetwork<Space>;                                      \
  template std::vector<Claims> puzzle_heuristics<Space>();                  \
  template std::unique_ptr<PuzzleHeuristic<Space>> puzzle_heuristic<Space>( \
      const PuzzleSpace<Space>&, const HeuristicChoice<Space>&, std::shared_ptr<const void>);

}  // namespace hstar
