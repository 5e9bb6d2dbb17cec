#include "sampling/fsm.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/errors.h"
#include "base/hash.h"
#include "task/state_registry.h"

namespace hstar {
namespace {

// Steps 1 and 2.
class Sampling {
 public:
  Sampling(const Regression& regression, const FsmConfig& config, int32_t length, Random& random, Poll& poll)
      : regression_(regression),
        space_(regression.space()),
        limit_(length),
        random_(random),
        poll_(poll),
        wanted_(config.states - static_cast<size_t>(std::llround(config.random_share * config.states))) {
    if (wanted_ == 0) return;
    add(regression.goal(), 0);
    breadth_first(std::min(wanted_, static_cast<size_t>(std::llround(config.bfs_share * config.states))));
    roll_out();
    repeat();
  }
  PartialSamples take() { return std::move(samples_); }

 private:
  // Breadth-first until no node's new predecessors fit into `room` any more.
  void breadth_first(size_t room) {
    std::vector<int32_t> operators;
    for (uint32_t node = 0; node < samples_.states.size(); ++node) {
      const PartialState state = regression_.state(samples_.states[node].data());
      operators.clear();
      regression_.applicable(state, operators);
      const size_t before = samples_.states.size();
      const auto fits = [&] { return samples_.states.size() <= room; };
      for (const int32_t op : operators) {
        poll_(5);
        PartialState predecessor = state;
        regression_.apply(predecessor, op);
        add(predecessor, samples_.label[node] + 1, /*repeats=*/false);
        if (!fits()) break;
      }
      if (fits()) continue;
      while (samples_.states.size() > before) remove_last();
      leaves_.push_back(node);
    }
    breadth_ = static_cast<uint32_t>(samples_.states.size());
    // Step 1 labels goal states by their depth until here, as predecessors count from there.
    for (uint32_t node = 0; node < breadth_; ++node) {
      poll_();
      depth_.push_back(samples_.label[node]);
      if (is_goal(node)) samples_.label[node] = 0;
    }
  }

  void roll_out() {
    std::vector<uint32_t> last_seen(breadth_, 0);  // per partial state: the last rollout that has it
    uint32_t rollout = 0;
    for (bool progress = true; progress && samples_.label.size() < wanted_;) {
      progress = false;
      random_.shuffle(leaves_);
      for (const uint32_t leaf : leaves_) {
        ++rollout;
        PartialState state = regression_.state(samples_.states[leaf].data());
        for (int32_t depth = depth_[leaf] + 1; depth <= limit_ && samples_.label.size() < wanted_; ++depth) {
          poll_(10);
          if (!step(state, depth, rollout, last_seen)) break;
          progress = true;
        }
      }
    }
  }

  // Goes to a random predecessor that is new to the rollout and not of the breadth-first part.
  bool step(PartialState& state, int32_t depth, uint32_t rollout, std::vector<uint32_t>& last_seen) {
    const auto accept = [&](int32_t op) {
      PartialState predecessor = state;
      regression_.apply(predecessor, op);
      PackedPartial packed = space_.pack(predecessor.values());
      const auto known = numbers_.find(packed);
      if (known != numbers_.end() && (known->second < breadth_ || last_seen[known->second] == rollout))
        return false;
      const uint32_t number = add(predecessor, depth);
      last_seen.resize(samples_.states.size(), 0);
      last_seen[number] = rollout;
      if (is_goal(number)) samples_.label.back() = 0;
      state = std::move(predecessor);
      return true;
    };
    constexpr int kTries = 8;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const int32_t op = regression_.draw(state, random_);
      if (op == -1) return false;
      if (accept(op)) return true;
    }
    std::vector<int32_t> operators;
    regression_.applicable(state, operators);
    random_.shuffle(operators);
    return std::ranges::any_of(operators, accept);
  }

  // Fills up with samples there are already.
  void repeat() {
    const size_t n = samples_.label.size();
    while (samples_.label.size() < wanted_) {
      poll_();
      const size_t i = samples_.label.size() % n;
      samples_.state.push_back(samples_.state[i]);
      samples_.label.push_back(samples_.label[i]);
    }
  }

  // Enters a sample; of one whose partial state is known only the number is returned unless repeats count.
  uint32_t add(const PartialState& state, int32_t label, bool repeats = true) {
    const auto next = static_cast<uint32_t>(samples_.states.size());
    const auto [entry, is_new] = numbers_.try_emplace(space_.pack(state.values()), next);
    if (is_new) samples_.states.push_back(state.values());
    if (is_new || repeats) {
      samples_.state.push_back(entry->second);
      samples_.label.push_back(label);
    }
    return entry->second;
  }
  void remove_last() {
    numbers_.erase(space_.pack(samples_.states.back()));
    samples_.states.pop_back();
    samples_.state.pop_back();
    samples_.label.pop_back();
  }
  bool is_goal(uint32_t number) const { return holds(space_.task().goal, samples_.states[number].data()); }

  const Regression& regression_;
  PartialSpace space_;
  int32_t limit_;
  Random& random_;
  Poll& poll_;
  size_t wanted_;
  PartialSamples samples_;
  std::unordered_map<PackedPartial, uint32_t, HashNumbers> numbers_;
  std::vector<uint32_t> leaves_;
  std::vector<int32_t> depth_;  // of the breadth-first part
  uint32_t breadth_ = 0;        // its size
};

// SAI on complete states.
void merge_labels(Samples& samples, Poll& poll) {
  StateRegistry states(samples.words * sizeof(BitWord) / sizeof(uint32_t));
  std::vector<StateId> number;
  std::vector<int32_t> least;  // by state, as the next
  std::vector<uint8_t> bound;
  for (size_t i = 0; i < samples.size(); ++i) {
    poll();
    const auto* packed = reinterpret_cast<const uint32_t*>(samples.states.data() + i * samples.words);
    const auto [state, is_new] = states.insert(packed, states.hash(packed));
    number.push_back(state);
    if (is_new) {
      least.push_back(samples.label[i]);
      bound.push_back(samples.bound[i]);
    } else if (samples.label[i] <= least[state]) {
      bound[state] = samples.bound[i] | (samples.label[i] == least[state] && bound[state]);
      least[state] = samples.label[i];
    }
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    samples.label[i] = least[number[i]];
    samples.bound[i] = bound[number[i]];
  }
}

}  // namespace

PartialSamples sample_partial(const Regression& regression, const Atoms& atoms, const FsmConfig& config,
                              Random& random, Poll& poll) {
  const int32_t length =
      config.length > 0 ? config.length : adaptive_length(regression.space().task(), atoms);
  return Sampling(regression, config, length, random, poll).take();
}

void improve(PartialSamples& samples, const PartialSpace& space, const FsmConfig& config, Poll& poll) {
  std::vector<int32_t> least(samples.states.size(), kUnbounded);
  std::vector<int32_t> greatest(samples.states.size(), 0);
  for (size_t i = 0; i < samples.label.size(); ++i) {
    poll();
    const uint32_t state = samples.state[i];
    least[state] = std::min(least[state], samples.label[i]);
    greatest[state] = std::max(greatest[state], samples.label[i]);
  }
  std::vector<int32_t> bounds(least.size(), kUnbounded);
  if (config.sui) {
    bounds = successor_bounds(space, samples.states, least, config.sai ? least : greatest, poll);
  }
  for (size_t i = 0; i < samples.label.size(); ++i) {
    poll();
    const uint32_t state = samples.state[i];
    if (config.sai) samples.label[i] = least[state];
    samples.label[i] = std::min(samples.label[i], bounds[state]);
  }
}

Samples sample_fsm(const Regression& regression, const Atoms& atoms, const FsmConfig& config, Random& random,
                   Poll& poll) {
  const PartialSpace space(regression.space());
  const Completion completion(regression, atoms);
  const std::vector<Fact>& goal = regression.space().task().goal;
  Samples result;
  result.words = atoms.words();
  const auto push = [&](const std::vector<Value>& values, int32_t label, bool bound) {
    const bool at_goal = holds(goal, values.data());
    atoms.encode(values.data(), result.add_state());
    result.label.push_back(at_goal ? 0 : label);
    result.bound.push_back(at_goal || bound);
  };

  // 1. to 4.
  PartialSamples partial = sample_partial(regression, atoms, config, random, poll);
  improve(partial, space, config, poll);
  // 5. Completion.
  std::vector<char> hopeless(partial.states.size(), 0);
  int32_t highest = 0;
  for (size_t i = 0; i < partial.label.size(); ++i) {
    poll(5);
    const uint32_t state = partial.state[i];
    if (hopeless[state]) continue;
    std::vector<Value> values = partial.states[state];
    hopeless[state] = !completion.by_variables(values, random);
    if (hopeless[state]) continue;
    push(values, partial.label[i], true);
    highest = std::max(highest, partial.label[i]);
  }
  // 6. Random states.
  for (size_t i = partial.label.size(); i < config.states; ++i) {
    poll(5);
    std::vector<Value> values = regression.empty().values();
    if (!completion.by_variables(values, random)) break;
    push(values, highest + 1, false);
  }
  if (result.label.empty())
    throw UnsupportedError(
        "fsm: no completion without mutex facts was found; use nrsl with completion 'atoms'");
  if (config.sai) merge_labels(result, poll);
  return result;
}

}  // namespace hstar
