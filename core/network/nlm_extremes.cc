#include "network/nlm_extremes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/errors.h"
#include "network/vectors.h"

namespace hstar {
namespace {

constexpr uint32_t kWorkOfRows = 10;  // of 128
constexpr size_t kMostVectors = 4;    // of minima, and as many of maxima: half of the registers

void check(bool fine, const char* message) {
  if (!fine) throw InputError(message);
}

// Numbers of tuples of so many objects; an InputError if there are more than `most`.
size_t num_tuples(const TupleStates& states, size_t arity, size_t most) {
  size_t sum = 0;
  for (const int64_t objects : states.objects) {
    size_t tuples = 1;
    for (size_t i = 0; i < arity; ++i) {
      check(objects >= 0 && (tuples == 0 || static_cast<size_t>(objects) <= most / tuples),
            "objects of states do not fit their tuples");
      tuples *= static_cast<size_t>(objects);
    }
    check(tuples <= most - sum, "objects of states do not fit their tuples");
    sum += tuples;
  }
  return sum;
}

void check_below(std::span<const int32_t> numbers, int32_t least, size_t bound, const char* message) {
  for (const int32_t number : numbers)
    check(number >= least && (number < 0 || static_cast<size_t>(number) < bound), message);
}

// Gathers the rows of one shorter tuple after another.
class Rows {
 public:
  Rows(const TupleTable& table, std::span<float> result, bool shared, Poll& poll)
      : table_(table),
        width_((table.parts * table.channels + kLanes - 1) / kLanes * kLanes),
        values_(table.values),
        result_(result.data()),
        tuples_(result.size() / std::max<size_t>(1, 2 * table.parts * table.channels)),
        low_(width_),
        high_(width_) {
    check(table.rows < std::numeric_limits<uint32_t>::max(), "too many rows");
    check(tuples_ < std::numeric_limits<uint32_t>::max(), "too many tuples");
    if (shared) last_.assign(table.rows, 0);
    if (table.parts > 1 || table.channels != width_) pack(poll);
  }

  // Before rows are added, at most so many.
  void start(size_t most) {
    if (rows_.size() < most + 1) rows_.resize(most + 1);
    count_ = 0;
  }
  void add(size_t row) { rows_[count_++] = static_cast<uint32_t>(row); }
  // Without a branch, which would often be mispredicted.
  void add_once(size_t row) {
    rows_[count_] = static_cast<uint32_t>(row);
    count_ += last_[row] != done_ + 1;
    last_[row] = done_ + 1;
  }

  void finish() {
    if (count_ == 0) {
      std::fill(low_.begin(), low_.end(), 1.0f);
      std::fill(high_.begin(), high_.end(), 0.0f);
    }
    for (size_t begin = 0; count_ > 0 && begin < width_; begin += kMostVectors * kLanes) {
      const size_t vectors = std::min(kMostVectors, (width_ - begin) / kLanes);
      with_rows<kMostVectors>(vectors, [&]<size_t kVectors>() { reduce<kVectors>(begin); });
    }
    const size_t channels = table_.channels;
    for (size_t part = 0; part < table_.parts; ++part) {
      float* to = result_ + (part * tuples_ + done_) * 2 * channels;
      std::memcpy(to, low_.data() + part * channels, channels * sizeof(float));
      std::memcpy(to + channels, high_.data() + part * channels, channels * sizeof(float));
    }
    ++done_;
  }

 private:
  // The parts beside each other, in whole vectors.
  void pack(Poll& poll) {
    packed_.reserve(table_.rows * width_);
    for (size_t row = 0; row < table_.rows; ++row) {
      for (size_t part = 0; part < table_.parts; ++part) {
        const float* from = table_.values + (part * table_.rows + row) * table_.channels;
        packed_.insert(packed_.end(), from, from + table_.channels);
      }
      packed_.resize((row + 1) * width_);
      if (row % 128 == 0) poll(kWorkOfRows);
    }
    values_ = packed_.data();
  }

  template <size_t kVectors>
  void reduce(size_t begin) {
    const float* values = values_ + begin;
    Floats low[kVectors], high[kVectors];
    for (size_t v = 0; v < kVectors; ++v)
      low[v] = high[v] = load<Floats>(values + rows_[0] * width_ + v * kLanes);
    for (size_t i = 1; i < count_; ++i) {
      const float* from = values + rows_[i] * width_;
      for (size_t v = 0; v < kVectors; ++v) {
        const auto x = load<Floats>(from + v * kLanes);
        low[v] = x < low[v] ? x : low[v];
        high[v] = x > high[v] ? x : high[v];
      }
    }
    for (size_t v = 0; v < kVectors; ++v) {
      store(low_.data() + begin + v * kLanes, low[v]);
      store(high_.data() + begin + v * kLanes, high[v]);
    }
  }

  const TupleTable& table_;
  size_t width_;  // of a row with all its parts, in whole vectors
  const float* values_;
  float* result_;
  size_t tuples_;
  std::vector<float> packed_, low_, high_;
  std::vector<uint32_t> rows_, last_;  // last_: 1 + the tuple that a row was added for
  size_t count_ = 0;
  uint32_t done_ = 0;
};

}  // namespace

void tuple_extremes(const TupleTable& table, const TupleStates& states, size_t arity,
                    std::optional<std::span<const int32_t>> row, std::span<float> result, Poll& poll) {
  check(arity >= 1 && arity <= 3, "tuples have 1 to 3 objects");
  const size_t tuples = row ? row->size() : table.rows;
  check(num_tuples(states, arity, tuples) == tuples, "objects of states do not fit their tuples");
  const size_t width = 2 * table.parts * table.channels;
  // With arity 1 there is a shorter tuple for a state without objects, too.
  const size_t shorter = num_tuples(states, arity - 1, std::max(tuples, states.objects.size()));
  check(result.size() == shorter * width, "the result does not fit");
  if (row) check_below(*row, 0, table.rows, "no such row");
  Rows rows(table, result, row.has_value(), poll);
  size_t begin = 0;
  for (const int64_t signed_objects : states.objects) {
    const auto n = static_cast<size_t>(signed_objects);
    const size_t heads = arity == 1 ? 1 : arity == 2 ? n : n * n;
    const bool exclude = states.exclude_self && arity > 1, none = exclude && n < arity;
    for (size_t head = 0; head < heads; ++head, begin += n) {
      const size_t one = arity == 1 ? 0 : head % n, other = arity == 3 ? head / n : one;
      rows.start(n);
      for (size_t k = 0; k < n && !none; ++k) {
        if (exclude && (k == one || k == other)) continue;
        if (row)
          rows.add_once(static_cast<size_t>((*row)[begin + k]));
        else
          rows.add(begin + k);
      }
      rows.finish();
      poll(static_cast<uint32_t>(std::min<size_t>(n / 100 + 1, 500)));
    }
  }
}

void triple_extremes(const TupleTable& table, const TupleStates& states, const TripleTypes& types,
                     std::span<float> result, Poll& poll) {
  const size_t pairs = types.of_pair.size(), num_types = types.codes.size() / 3;
  check(num_tuples(states, 2, pairs) == pairs, "objects of states do not fit their pairs");
  check(result.size() == pairs * 2 * table.parts * table.channels, "the result does not fit");
  if (pairs == 0) return;
  check(types.codes.size() == 3 * num_types, "there are three codes for each type");
  check_below(types.of_pair, 0, num_types, "no such type of pairs");
  check_below(types.codes, 0, types.numbers.size(), "no such place of a type of triples");
  size_t places = 1;
  for (size_t i = 0; i < 3; ++i) {
    const auto part = types.codes.subspan(i * num_types, num_types);
    places += static_cast<size_t>(*std::max_element(part.begin(), part.end()));
  }
  check(places <= types.numbers.size(), "no such place of a type of triples");
  check(table.rows > 0, "no such type of triples");
  check_below(types.numbers, -1, table.rows, "no such type of triples");

  std::vector<uint32_t> codes[3];
  Rows rows(table, result, true, poll);
  const int32_t* type = types.of_pair.data();
  for (const int64_t signed_objects : states.objects) {
    const auto n = static_cast<size_t>(signed_objects);
    for (size_t i = 0; i < 3; ++i) {
      const int32_t* code = types.codes.data() + i * num_types;
      codes[i].resize(n * n);
      for (size_t pair = 0; pair < n * n; ++pair) codes[i][pair] = static_cast<uint32_t>(code[type[pair]]);
    }
    type += n * n;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        const int32_t* numbers = types.numbers.data() + codes[0][i * n + j];
        const uint32_t *second = codes[1].data() + i * n, *third = codes[2].data() + j * n;
        rows.start(n);
        for (size_t k = 0; k < n && !(states.exclude_self && n < 3); ++k) {
          if (states.exclude_self && (k == i || k == j)) continue;
          rows.add_once(static_cast<size_t>(std::max(0, numbers[second[k] + third[k]])));
        }
        rows.finish();
      }
      poll(static_cast<uint32_t>(std::min<size_t>(n * n / 100, 500)));
    }
  }
}

}  // namespace hstar
