"""The normal distribution cut to [a, b] by its textbook formulas, with digits enough for all that cancels."""

from __future__ import annotations

import mpmath as mp

DIGITS = 50
Number = float | mp.mpf


class TruncatedNormal:
    """One distribution; bounds may be infinite."""

    def __init__(self, mu: Number, sigma: Number, a: Number, b: Number) -> None:
        self.mu, self.sigma, self.a, self.b = (mp.mpf(value) for value in (mu, sigma, a, b))
        self.mass = self._between(self.a, self.b)

    def mean(self) -> mp.mpf:
        return self.mu + self.sigma * (self._density(self.a) - self._density(self.b)) / self.mass

    def nll(self, x: Number) -> mp.mpf:
        return mp.log(self.sigma) + mp.log(self.mass) - mp.log(self._density(mp.mpf(x)))

    def cdf(self, x: Number) -> mp.mpf:
        return self._between(self.a, mp.mpf(x)) / self.mass

    def log_mass(self) -> mp.mpf:
        return mp.log(self.mass)

    def _density(self, x: mp.mpf) -> mp.mpf:
        """Of the standard normal distribution."""
        return mp.exp(-(((x - self.mu) / self.sigma) ** 2) / 2) / mp.sqrt(2 * mp.pi)

    def _between(self, a: mp.mpf, b: mp.mpf) -> mp.mpf:
        """The mass of a normal distribution: a difference in the tail that is nearer."""
        left, right = ((x - self.mu) / (self.sigma * mp.sqrt(2)) for x in (a, b))
        if left < 0 < right:
            return (mp.erf(right) - mp.erf(left)) / 2
        near, far = sorted((abs(left), abs(right)))
        return (mp.erfc(near) - mp.erfc(far)) / 2


def slope(function: object, x: float) -> mp.mpf:
    """The derivative of a function of one number, by a difference that is small against the digits."""
    assert callable(function)
    point, step = mp.mpf(x), mp.mpf(10) ** (-DIGITS // 3) * max(1, abs(mp.mpf(x)))
    return (function(point + step) - function(point - step)) / (2 * step)
