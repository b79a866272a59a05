#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes reducer_golden.inc: what reducers of hard data must give, and how far off they may be.
#
#     make_reducer_golden.py > reducer_golden.inc
#     make_reducer_golden.py --check reducer_golden.inc     fails unless that is what it would write
#
# Plain Python, without the library. Values are computed exactly, in fractions, and what is no fraction
# (roots, exponentials, logarithms) in decimals of 80 digits. A bound is the one that the reducer's
# documentation states, for these very items: u is half a unit in the last place, d the depth of the
# tree, and one rounding of the value itself is added.

import math
from decimal import Decimal, getcontext
from fractions import Fraction

from make_golden import Numbers, double_item, float_item, write_or_check

getcontext().prec = 80
SIZES = [2, 3, 7, 8, 100, 1000, 4097]
U = Fraction(1, 2**53)
FLOAT_U = Fraction(1, 2**24)


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction) else x


def fraction(x):
    return Fraction(x)


def root(x):
    return fraction(decimal(x).sqrt())


def depth(x):
    return math.ceil(math.log2(len(x)))


# Items, which golden.hpp spells again in C++; each is a double (or float) exactly.

def uniform(r):
    """A multiple of 2^-30 in [-1, 1)."""
    return (r.next() - 2**30) * 2.0**-30


def near(offset, scale):
    """The sum is exact: both are multiples of the same power of two, few enough bits apart."""
    return lambda r: offset + scale * uniform(r)


def positive(r):
    return abs(double_item(r, 40))


# pairs of items that nearly cancel: x, y, -x, z...
class Cancelling:
    def __init__(self):
        self.last = None

    def __call__(self, r):
        if self.last is None:
            self.last = double_item(r, 30)
            return self.last
        x, self.last = -self.last * (1 - 2.0**-40), None
        return x


DATA = {
    'centred': lambda: near(0.0, 1.0),
    'offset': lambda: near(2.0**30, 1.0),  # huge offset, tiny variance
    'beyond': lambda: near(-(2.0**50), 128.0),
    'binades': lambda: lambda r: double_item(r, 30),
    'huge': lambda: lambda r: double_item(r, 10) * 2.0**1000,  # squares overflow
    'tiny': lambda: lambda r: double_item(r, 10) * 2.0**-1000,  # squares vanish
    'positive': lambda: positive,
    'logits': lambda: near(0.0, 8.0),
    'high_logits': lambda: near(2.0**20, 1024.0),  # exponentials overflow
    'low_logits': lambda: near(-(2.0**20), 2.0),  # exponentials vanish
    'cancelling': Cancelling,
    'floats': lambda: lambda r: float_item(r, 12),
    'float_logits': lambda: lambda r: float_item(r, 2),
}


def items_of(name, seed, n):
    numbers, make = Numbers(seed), DATA[name]()
    return [make(numbers) for _ in range(n)]


# Reducers: (value, bound), both fractions or decimals.

class Moments:
    def __init__(self, x):
        self.n = len(x)
        exact = [Fraction(v) for v in x]
        self.mean = sum(exact) / self.n
        self.size = sum(abs(v) for v in exact) / self.n
        d = [v - self.mean for v in exact]
        self.second = sum(v * v for v in d)
        self.third = sum(v * v * v for v in d)
        self.fourth = sum(v * v * v * v for v in d)
        self.condition = root(1 + self.mean**2 * self.n / self.second) if self.second else 0
        self.steps = (depth(x) + 4) * U
        self.relative = self.steps * (2 * self.condition + self.steps * self.condition**2)


def mean(x):
    m = Moments(x)
    return m.mean, (depth(x) + 2) * U * m.size


def variance(x):
    m = Moments(x)
    value = m.second / (m.n - 1)
    return value, (m.relative + 2 * U) * value


def deviation(x):
    m = Moments(x)
    value = root(m.second / m.n)
    return value, (m.relative + 3 * U) * value


def skewness(x):
    m = Moments(x)
    scale = m.second * root(m.second)
    sizes = root(root(m.fourth)**3) * root(root(Fraction(m.n)))  # of third powers
    return (root(Fraction(m.n)) * m.third / scale,
            30 * m.steps * m.condition * root(Fraction(m.n)) * sizes / scale)


def kurtosis(x):
    m = Moments(x)
    value = m.n * m.fourth / m.second**2
    return value - 3, 30 * m.steps * m.condition * (value + 3)


def l1(x):
    value = sum(abs(Fraction(v)) for v in x)
    return value, (depth(x) + 1) * U * value


def l2(x):
    value = root(sum(Fraction(v)**2 for v in x))
    return value, (Fraction(depth(x), 2) + 3) * U * value


def rms(x):
    value, bound = l2(x)
    scale = root(Fraction(len(x)))
    return value / scale, (bound + U * value) / scale


def geometric_mean(x):
    logs = [fraction(decimal(Fraction(v)).ln()) for v in x]
    value = fraction(decimal(sum(logs) / len(x)).exp())
    size = sum(abs(v) for v in logs) / len(x)
    return value, value * U * ((depth(x) + 4) * size + 3)


def harmonic_mean(x):
    value = len(x) / sum(1 / Fraction(v) for v in x)
    return value, (depth(x) + 3) * U * value


def logsumexp(x):
    top = max(x)
    total = sum(decimal(Fraction(v) - Fraction(top)).exp() for v in x)
    value = Fraction(top) + fraction(total.ln())
    return value, 4 * (depth(x) + 1) * U + U * abs(value)


def float_logsumexp(x):
    value, bound = logsumexp(x)
    return value, bound + Fraction(1, 2**24) + Fraction(depth(x) + 1, 2**29)


def compensated_sum(x, u=U):
    exact = [Fraction(v) for v in x]
    return sum(exact), u * abs(sum(exact)) + (depth(x) + 1)**2 * u**2 * sum(abs(v) for v in exact)


def compensated_float_sum(x):
    return compensated_sum(x, FLOAT_U)


def pair_moments(x, y):
    mx, my = Moments(x), Moments(y)
    xy = sum((Fraction(a) - mx.mean) * (Fraction(b) - my.mean) for a, b in zip(x, y))
    return mx, my, xy, root(mx.second * my.second), 4 * mx.steps * max(mx.condition, my.condition)


def covariance(x, y):
    mx, _, xy, scale, relative = pair_moments(x, y)
    return xy / (mx.n - 1), relative * scale / (mx.n - 1)


def correlation(x, y):
    _, _, xy, scale, relative = pair_moments(x, y)
    return xy / scale, relative + 4 * U


def weighted_mean(x, w):
    products = [Fraction(a) * Fraction(b) for a, b in zip(x, w)]
    total = sum(Fraction(b) for b in w)
    sizes = sum(abs(p) for p in products)
    return sum(products) / total, (2 * depth(x) + 4) * U * sizes / total


def dot_bounds(x, y):
    products = [Fraction(a) * Fraction(b) for a, b in zip(x, y)]
    return sum(products), sum(abs(p) for p in products)


def compensated_dot(x, y):
    value, sizes = dot_bounds(x, y)
    return value, U * abs(value) + (depth(x) + 2)**2 * U**2 * sizes


def cosine(x, y):
    value, sizes = dot_bounds(x, y)
    scale = root(sum(Fraction(v)**2 for v in x)) * root(sum(Fraction(v)**2 for v in y))
    return value / scale, (depth(x) + 4) * U * (sizes + abs(value)) / scale + 4 * U


CASES = [
    *((reducer, (data,)) for data in ('centred', 'offset', 'beyond', 'binades')
      for reducer in (mean, variance, deviation, skewness, kurtosis)),
    *((reducer, (data,)) for data in ('binades', 'huge', 'tiny') for reducer in (l1, l2, rms)),
    (geometric_mean, ('positive',)),
    (harmonic_mean, ('positive',)),
    *((logsumexp, (data,)) for data in ('logits', 'high_logits', 'low_logits')),
    *((float_logsumexp, (data,)) for data in ('floats', 'float_logits')),
    *((compensated_sum, (data,)) for data in ('binades', 'cancelling')),
    (compensated_float_sum, ('floats',)),
    *((reducer, data) for data in (('centred', 'offset'), ('offset', 'beyond'))
      for reducer in (covariance, correlation, compensated_dot, cosine)),
    (weighted_mean, ('binades', 'positive')),
    (weighted_mean, ('offset', 'positive')),
]


def nearest_double(x):
    return x.numerator / x.denominator  # Python rounds this division once


def golden_lines():
    yield '// SPDX-License-Identifier: Apache-2.0'
    yield '//'
    yield '// Written by make_reducer_golden.py: reducer, data of one range or two, number of items,'
    yield '// the value as the nearest double, and how far from it a result may be.'
    for reducer, data in CASES:
        ranges = [items_of(name, seed, max(SIZES)) for seed, name in enumerate(data, start=1)]
        second = data[1] if len(data) > 1 else ''
        for n in SIZES:
            value, bound = reducer(*(x[:n] for x in ranges))
            nearest = nearest_double(Fraction(value))
            bound += abs(Fraction(nearest) - value)
            # Rounded up; a subnormal result has an absolute error.
            limit = math.nextafter(nearest_double(Fraction(bound)), math.inf) + 5e-324
            yield (f'{{"{reducer.__name__}", "{data[0]}", "{second}", {n}, {nearest.hex()}, '
                   f'{limit.hex()}}},')


if __name__ == '__main__':
    write_or_check(golden_lines())
