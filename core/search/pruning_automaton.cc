#include "search/pruning_automaton.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace hstar {
namespace {

using Word = std::vector<uint8_t>;

// Sequences are looked at by length as long as one more move gives no more than this many.
constexpr size_t kMostWords = 30000;

// The blank on a grid without end, and what it has moved. `low` and `high` bound where it has been: whatever
// stays in these bounds can be followed wherever this can.
class FreeTiles {
 public:
  static constexpr int kReach = 10;  // the longest sequence that is looked at
  struct State {
    std::string cells;
    std::array<int, 2> place{}, low{}, high{};
  };

  State start() const {
    State state;
    state.place = state.low = state.high = {kReach, kReach};
    for (int cell = 0; cell < kWidth * kWidth; ++cell) {
      state.cells.push_back(static_cast<char>(cell % kWidth));
      state.cells.push_back(static_cast<char>(cell / kWidth));
    }
    return state;
  }
  void apply(State& state, uint8_t direction) const {
    static constexpr int kSteps[4][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};
    const size_t from = offset(state.place);
    for (size_t axis = 0; axis < 2; ++axis) {
      state.place[axis] += kSteps[direction][axis];
      state.low[axis] = std::min(state.low[axis], state.place[axis]);
      state.high[axis] = std::max(state.high[axis], state.place[axis]);
    }
    const size_t to = offset(state.place);
    std::swap(state.cells[from], state.cells[to]);
    std::swap(state.cells[from + 1], state.cells[to + 1]);
  }
  // Whether `a` can be followed wherever `b` can.
  bool fits(const State& a, const State& b) const {
    for (size_t axis = 0; axis < 2; ++axis)
      if (a.low[axis] < b.low[axis] || a.high[axis] > b.high[axis]) return false;
    return true;
  }
  const std::string& key(const State& state) const { return state.cells; }

 private:
  static constexpr int kWidth = 2 * kReach + 1;
  static size_t offset(const std::array<int, 2>& place) {
    return 2 * static_cast<size_t>(place[0] * kWidth + place[1]);
  }
};

// A puzzle each of whose moves is possible in every state, and moves places whatever lies there.
template <class Space>
class FreePlaces {
 public:
  static constexpr int kReach = 4;
  using State = typename Space::State;

  explicit FreePlaces(const Space& space) : space_(space) {}
  State start() const { return space_.goal(); }
  void apply(State& state, uint8_t move) const { space_.apply(state, move); }
  bool fits(const State&, const State&) const { return true; }
  std::string key(const State& state) const {
    const auto& pieces = state.*Space::kPieces;
    return {pieces.begin(), pieces.begin() + space_.size()};
  }

 private:
  const Space& space_;
};

// The shortest pruned sequences, found breadth first; `moves` in the order of the space.
template <class Free>
std::vector<Word> pruned_words(const Free& space, const std::vector<uint8_t>& moves) {
  using State = typename Free::State;
  std::map<std::string, std::vector<State>> first;  // by key: those that nothing earlier replaces
  std::vector<std::pair<Word, State>> frontier{{{}, space.start()}};
  first[space.key(frontier[0].second)].push_back(frontier[0].second);
  std::vector<Word> pruned;
  for (int length = 1; length <= Free::kReach && frontier.size() * moves.size() <= kMostWords; ++length) {
    std::vector<std::pair<Word, State>> next;
    for (const auto& [word, state] : frontier) {
      for (const uint8_t move : moves) {
        Word longer = word;
        longer.push_back(move);
        const bool contains = std::any_of(pruned.begin(), pruned.end(), [&](const Word& one) {
          return one.size() < longer.size() && std::equal(one.rbegin(), one.rend(), longer.rbegin());
        });
        if (contains) continue;
        State after = state;
        space.apply(after, move);
        std::vector<State>& same = first[space.key(after)];
        if (std::any_of(same.begin(), same.end(), [&](const State& s) { return space.fits(s, after); })) {
          pruned.push_back(longer);
        } else {
          same.push_back(after);
          next.emplace_back(std::move(longer), std::move(after));
        }
      }
    }
    frontier = std::move(next);
  }
  return pruned;
}

}  // namespace

PruningAutomaton::Shared PruningAutomaton::of(const Tiles&) {
  // Boards of all sizes have the same moves, and finding the sequences takes some hundredths of a second.
  static const Shared all(new PruningAutomaton(Tiles::kDirections, pruned_words(FreeTiles(), {0, 1, 2, 3})));
  return all;
}

template <class Space>
PruningAutomaton::Shared PruningAutomaton::of_places(const Space& space) {
  typename Space::Buffer buffer;
  const auto actions = space.actions(space.goal(), buffer);
  const std::vector<uint8_t> moves(actions.begin(), actions.end());
  const std::vector<Word> pruned = pruned_words(FreePlaces<Space>(space), moves);
  return Shared(new PruningAutomaton(static_cast<size_t>(space.size()) + 1, pruned));
}
PruningAutomaton::Shared PruningAutomaton::of(const Pancake& space) { return of_places(space); }
PruningAutomaton::Shared PruningAutomaton::of(const TopSpin& space) { return of_places(space); }

// The automaton of Aho and Corasick (1975): a state is the longest end of the sequence that begins a word.
PruningAutomaton::PruningAutomaton(size_t actions, const std::vector<Word>& pruned) : actions_(actions) {
  constexpr int32_t kNone = -2;
  next_.assign(actions_, kNone);
  for (const Word& word : pruned) {
    int32_t state = 0;
    for (size_t i = 0; i < word.size(); ++i) {
      const size_t slot = static_cast<size_t>(state) * actions_ + word[i];
      if (i + 1 == word.size()) {
        next_[slot] = kPruned;  // no word is the beginning of another
      } else {
        if (next_[slot] == kNone) {
          next_[slot] = static_cast<int32_t>(states());
          next_.resize(next_.size() + actions_, kNone);
        }
        state = next_[slot];
      }
    }
  }
  // Breadth first, so that the shorter end of a sequence is complete before the sequence itself.
  std::vector<int32_t> shorter(states(), 0);
  std::vector<int32_t> order{0};
  for (size_t i = 0; i < order.size(); ++i) {
    const int32_t state = order[i];
    for (size_t action = 0; action < actions_; ++action) {
      int32_t& slot = next_[static_cast<size_t>(state) * actions_ + action];
      const int32_t otherwise = state == 0 ? 0 : next(shorter[state], action);
      if (slot == kNone) {
        slot = otherwise;
      } else if (slot != kPruned) {
        shorter[slot] = otherwise;
        order.push_back(slot);
      }
    }
  }
}

}  // namespace hstar
