// What a network of a puzzle sees of a state: whole numbers that follow moves, as `incremental.h` has it for
// values. Each input divided by its divisor lies in 0..1.
//
// A network keeps weighted sums of its inputs. A move adds rows to them: the first rows are the weights of
// single inputs, further ones are combinations that a move changes at once and that are added up beforehand.
//
// An `Inputs` has, besides `Space` and a `Node` for each level of a search:
//   size(), divisor(input)               how many there are, and their scale
//   raw(state, put)                      put(input, value) for all that are not 0
//   root(state, node)
//   child(parent, before, action, child, sums)   sums.add(row), sums.subtract(row), sums.add(row, times)
//   rows(), compose(row, put)            put(input, times) for the parts of a row
//   is_goal(node), admissible(node)      the latter is a number that never exceeds the cost
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "heuristics/database_inputs.h"
#include "heuristics/one_hot_inputs.h"
#include "spaces/blocks.h"
#include "spaces/pancake.h"
#include "spaces/tiles.h"

namespace hstar {

// The kinds of each puzzle.
template <class Space>
struct InputsOf;
template <>
struct InputsOf<Tiles> {
  using OneHot = OneHotTiles;
  using Databases = TilesDatabaseInputs;
};
template <>
struct InputsOf<Pancake> {
  using OneHot = OneHotPancake;
  using Databases = PancakeDatabaseInputs;
};
template <>
struct InputsOf<Blocks> {
  using OneHot = OneHotBlocks;
  using Databases = BlockDatabaseInputs;
};

template <class Space>
using AnyInputs = std::variant<std::shared_ptr<const typename InputsOf<Space>::OneHot>,
                               std::shared_ptr<const typename InputsOf<Space>::Databases>>;

// Of any kind, by states; defined for Tiles, Pancake and Blocks.
template <class Space>
const Space& space_of(const AnyInputs<Space>& inputs);
template <class Space>
size_t count_of(const AnyInputs<Space>& inputs);
template <class Space>
std::vector<float> scaled_inputs(
    const AnyInputs<Space>& inputs,
    const std::vector<typename Space::State>& states);  // in 0..1, state by state
template <class Space>
std::vector<int32_t> admissible_inputs(const AnyInputs<Space>& inputs,
                                       const std::vector<typename Space::State>& states);

}  // namespace hstar
