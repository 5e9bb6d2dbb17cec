// A network with Gaussian weights (Blundell et al., ICML 2015) while it learns: one hidden layer of relu, one
// output, moments of the output in closed form.
//
//   hidden unit  z ~ N(m, v),  m = a mu + mu_b,  v = a^2 sigma^2 + sigma_b^2
//                sigma = max(1e-6, log(1 + exp(rho))), with the gradient as if there were no maximum
//   its relu     first and second moment f, g of a rectified Gaussian
//   output       mean f w + c,  variance g (w^2 + t^2) - f^2 w^2 + t_c^2
//   loss         mean over states of ((mean - y)^2 + variance) / 2,  plus beta KL(weights || N(0, prior))
//
// What hstar.models.wunn computes in PyTorch, with its gradient written out: for batches of a hundred states
// and twenty units a step of PyTorch is mostly overhead.
#pragma once

#include <array>
#include <cstdint>

#include "base/poll.h"
#include "base/random.h"
#include "base/rows.h"

namespace hstar {

// Inputs of states, without zeros.
struct SparseInput {
  uint32_t place;
  float value;
};
using SparseRows = RowsOfType<SparseInput>;
SparseRows sparse_rows(const float* dense, size_t rows, size_t columns);

// Numbers that are learned, with the moments of Adam (Kingma and Ba, ICLR 2015); the memory is the caller's.
struct Learned {
  float* values;
  float* first;
  float* second;
  size_t size;
};

struct WunnConfig {
  float prior_variance = 10;
  float learning_rate = 1e-2f;
  float beta = 0;           // weight of the prior
  float threshold = 0;      // variance below which a state is known
  float already_known = 0;  // weight of such a state in the draw of a batch; of others exp(sqrt(variance))
  uint32_t steps = 0;
  uint32_t batch = 100;
  uint32_t sweep_every = 50;  // steps between two looks at the variances of all states
  bool stop_early = true;
};

struct WunnFit {
  uint32_t steps;
  float largest_variance;  // before the last steps
  bool reached;
};

// The network. `arrays` are means and rho of hidden weights (inputs x width), of hidden biases, of output
// weights, of the output bias.
struct WunnWeights {
  static constexpr size_t kArrays = 8;
  size_t inputs, width;
  std::array<Learned, kArrays> arrays;
  uint64_t steps_before;
};

// Steps with mini-batches, unknown states before known ones, until all are known or there are enough. Throws
// an InputError if a variance is not finite, as it becomes by steps that are too large.
WunnFit fit_wunn(const WunnWeights& weights, const SparseRows& x, const float* y, const WunnConfig& config,
                 Random& random, Poll& poll);

}  // namespace hstar
