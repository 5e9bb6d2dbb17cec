// Additive pattern databases as a heuristic: costs of the patterns of a set are added, the greatest sum of
// several sets counts. Admissible, since the patterns of a set have no piece in common.
//
// A node has the index of every database; a move changes those of the pieces that it moves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/errors.h"
#include "heuristics/incremental.h"
#include "heuristics/pattern_database.h"

namespace hstar {

template <Puzzle Space>
class AdditiveDatabases {
 public:
  using Database = std::shared_ptr<const PatternDatabase>;
  using Sets = DatabaseSets;
  static constexpr size_t kMostDatabases = 20;
  struct Node {
    std::array<uint32_t, kMostDatabases> index;
  };

  // Throws an InputError if a set has a piece twice, a database is for another space, or there are too many.
  AdditiveDatabases(const Space& space, Sets sets)
      : space_(space), pieces_(static_cast<size_t>(space.size())), sets_(std::move(sets)) {
    if (sets_.size() > kMostDatabases)
      throw InputError("there are at most " + std::to_string(kMostDatabases) + " databases");
    for (const std::vector<Database>& set : sets_) {
      std::vector<Part> parts(pieces_);
      for (const Database& database : set) {
        if (tables_.size() == kMostDatabases)
          throw InputError("there are at most " + std::to_string(kMostDatabases) + " databases");
        database->check_space(space.name());
        for (size_t i = 0; i < database->pattern.size(); ++i) {
          Part& part = parts.at(static_cast<size_t>(database->pattern[i]));
          if (part.step != 0)
            throw InputError("piece " + std::to_string(database->pattern[i]) +
                             " is in two patterns of a set, whose costs cannot be added");
          part = {static_cast<uint32_t>(tables_.size()), database->step[i]};
        }
        tables_.push_back(database->cost.data());
      }
      ends_.push_back(tables_.size());
      for (size_t piece = 0; piece < pieces_; ++piece) parts_.push_back(parts[piece]);
    }
  }

  const Space& space() const { return space_; }
  const Sets& sets() const { return sets_; }

  int32_t root(const typename Space::State& state, Node& node) const {
    node.index.fill(0);
    for (size_t place = 0; place < pieces_; ++place)
      shift(node, (state.*Space::kPieces)[place], static_cast<int>(place));
    return value(node);
  }
  int32_t child(const Node& parent, const typename Space::State& before, typename Space::Action action,
                Node& child) const {
    child = parent;
    space_.for_moved(before, action, [&](int piece, int from, int to) { shift(child, piece, to - from); });
    return value(child);
  }

  // The same for those who want every cost. `follow` changes a copy of the parent's node, and calls `changed`
  // with the number of each database whose index is another one.
  int32_t cost(const Node& node, size_t database) const { return tables_[database][node.index[database]]; }
  template <class Changed>
  void follow(const typename Space::State& before, typename Space::Action action, Node& node,
              const Changed& changed) const {
    if constexpr (std::is_same_v<Space, Tiles>) {
      space_.for_moved(before, action, [&](int piece, int from, int to) {
        for (size_t i = static_cast<size_t>(piece); i < parts_.size(); i += pieces_) {
          if (parts_[i].step == 0) continue;  // in no database of the set
          node.index[parts_[i].database] += parts_[i].step * static_cast<uint32_t>(to - from);
          changed(size_t{parts_[i].database});
        }
      });
    } else {
      const Node parent = node;
      space_.for_moved(before, action, [&](int piece, int from, int to) { shift(node, piece, to - from); });
      for (size_t i = 0; i < tables_.size(); ++i)
        if (node.index[i] != parent.index[i]) changed(i);
    }
  }

 private:
  // A piece of a set: its database, and how far the index goes when it moves one place; 0 without a database.
  struct Part {
    uint32_t database = 0;
    uint32_t step = 0;
  };

  void shift(Node& node, int piece, int places) const {
    for (size_t i = static_cast<size_t>(piece); i < parts_.size(); i += pieces_)
      node.index[parts_[i].database] += parts_[i].step * static_cast<uint32_t>(places);
  }
  int32_t value(const Node& node) const {
    int32_t greatest = 0;
    size_t i = 0;
    for (const size_t end : ends_) {
      int32_t sum = 0;
      for (; i < end; ++i) sum += tables_[i][node.index[i]];
      greatest = std::max(greatest, sum);
    }
    return greatest;
  }

  Space space_;
  size_t pieces_;
  Sets sets_;
  std::vector<Part> parts_;             // by set and piece
  std::vector<const uint8_t*> tables_;  // all databases, set by set
  std::vector<size_t> ends_;            // of each set among them
};

}  // namespace hstar
