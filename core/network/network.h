// Feed-forward and residual networks over the atoms of a state, run without Python.
//
// Input is the set of atoms that hold, so the first layer is a sum of rows, one an atom (an accumulator, as
// in NNUE, Nasu 2018): the row of each atom that an action adds or deletes is added or subtracted instead of
// multiplying a long vector of zeros and ones. All further layers are dense and run on a whole batch.
//
//   a = bias + sum of rows;  x = relu(a);  then for each block
//     plain:    x = relu(W x + b)
//     residual: x = relu(x + W2 relu(W1 x + b1) + b2)
//   output = head x + bias, with a ReLU if `output_relu`
//
// The layers of blocks compute in float32 or int16: what they read has passed a ReLU, which int16 relies on.
// The first layer and the head, a small part of the work, are always in float32.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "network/dense.h"
#include "network/dense_int16.h"

namespace hstar {

class Network {
 public:
  using Layer = std::variant<Dense, DenseInt16>;
  struct Block {
    Layer first;
    std::optional<Layer> second;  // residual if given
  };

  // `rows` is (atoms, width) row-major, `bias` the bias of the first layer.
  Network(std::span<const float> rows, std::span<const float> bias, std::vector<Block> blocks, Dense head,
          bool output_relu);

  size_t atoms() const { return atoms_; }
  size_t stride() const { return stride_; }
  size_t outputs() const { return head_.outputs(); }

  // The weights of the first layer, (atoms, stride).
  std::span<const float> rows() const { return rows_; }

  // Accumulators: rows of stride() floats.
  void clear(float* accumulator) const;
  void add(float* accumulator, int32_t atom) const;
  void subtract(float* accumulator, int32_t atom) const;

  // Memory that a caller keeps between runs, so that one network serves several searches.
  struct Scratch {
    std::vector<float> layer[2];  // input and output of a block take turns
    std::vector<float> inner;     // between the two layers of a residual block
    DenseInt16::Rows rows;        // input of a layer in int16
  };
  // The outputs for n accumulators, which are used up: outputs() numbers a row.
  void run(float* accumulators, size_t n, float* out, Scratch& scratch) const;
  // The same in scalar code.
  void reference(float* accumulators, size_t n, float* out, Scratch& scratch) const;

 private:
  template <class Apply>
  void forward(float* x, size_t n, float* out, Scratch& scratch, const Apply& apply) const;

  size_t atoms_;
  size_t stride_;
  std::vector<float> rows_;  // padded
  std::vector<float> bias_;
  std::vector<Block> blocks_;
  Dense head_;
  bool output_relu_;
};

}  // namespace hstar
