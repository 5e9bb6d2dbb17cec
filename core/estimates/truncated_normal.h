// The normal distribution cut off below a: its mean and its quantiles, wherever mu is.
//
// With cut = (a - mu) / sigma, Q the upper tail of the standard normal and phi its density, all is made of
//
//   excess(cut) = lambda - cut,   lambda = phi(cut) / Q(cut) = sqrt(2 / pi) / erfcx(cut / sqrt(2))
//
// Mean: a + sigma excess. Quantile for p: a + sigma s where Q(cut + s) = (1 - p) Q(cut), by Newton's
// method on the logarithm. There Q = phi / lambda, so that of cut^2 / 2 only s (cut + s / 2) is left and
// no large number is taken from another. Below cut = 0, where nearly nothing is cut off, it starts from mu.
//
// Invariant: for sigma > 0, finite, and any mu and a that are numbers (a = -infinity cuts nothing) no result
// is NaN or below a. Their distance from a is exact to 1e-12, that of a quantile to 1e-9 or, where this is
// more, to 1e-14 sigma.
#pragma once

namespace hstar {

// What the mean of a standard normal, cut off below cut, is above cut.
double hazard_excess(double cut);

double truncated_mean(double mu, double sigma, double a);

// The value that is exceeded with probability 1 - p, for 0 < p < 1.
double truncated_quantile(double mu, double sigma, double a, double p);

// The same of the standard normal.
double normal_quantile(double p);

}  // namespace hstar
