// All native puzzles, and the parts of each: a further one is a line of the list and a struct here.
//
//   Named        its heuristics by name, which are admissible and consistent
//   Distance     one of them that is 0 in the goal alone, for networks over pieces and for prolonged search
//   OneHot       inputs of networks by where pieces lie
//   Databases    its pattern databases, and Inputs by their costs; NoDatabases where there are none
#pragma once

#include <type_traits>

#include "heuristics/additive_databases.h"
#include "heuristics/block_databases.h"
#include "heuristics/database_inputs.h"
#include "heuristics/gap.h"
#include "heuristics/manhattan.h"
#include "heuristics/misplaced.h"
#include "heuristics/one_hot_inputs.h"
#include "spaces/topspin.h"

#define HSTAR_PUZZLES(apply) apply(Tiles) apply(Pancake) apply(Blocks) apply(TopSpin)

namespace hstar {

template <class... Heuristics>
struct List {};
struct NoDatabases {};

template <class Space>
struct Parts;
template <>
struct Parts<Tiles> {
  using Distance = Manhattan;
  using Named = List<Manhattan, MisplacedTiles, BlindPuzzle<Tiles>>;
  using OneHot = OneHotTiles;
  using Databases = AdditiveDatabases<Tiles>;
  using Inputs = TilesDatabaseInputs;
};
template <>
struct Parts<Pancake> {
  using Distance = Gap;
  using Named = List<Gap, BlindPuzzle<Pancake>>;
  using OneHot = OneHotPlaces<Pancake, Gap>;
  using Databases = AdditiveDatabases<Pancake>;
  using Inputs = PancakeDatabaseInputs;
};
template <>
struct Parts<Blocks> {
  using Distance = MisplacedBlocks;
  using Named = List<MisplacedBlocks, BlindPuzzle<Blocks>>;
  using OneHot = OneHotBlocks;
  using Databases = BlockDatabases;
  using Inputs = BlockDatabaseInputs;
};
template <>
struct Parts<TopSpin> {
  using Distance = RingGap;
  using Named = List<RingGap, BlindPuzzle<TopSpin>>;
  using OneHot = OneHotPlaces<TopSpin, RingGap>;
  using Databases = NoDatabases;
  using Inputs = OneHot;
};

template <class Space>
constexpr bool kHasDatabases = !std::is_same_v<typename Parts<Space>::Databases, NoDatabases>;

}  // namespace hstar
