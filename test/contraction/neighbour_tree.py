# SPDX-License-Identifier: Apache-2.0
#
# What some lines of host_bits.cpp must say, without the library and without a compiler: its numbers,
# its functions and the tree, in Python's doubles. A sum, difference or product of floats is that of
# doubles rounded once more, which is the float operation itself: a double has twice a float's digits
# and two more.
import math
import struct

MASK = 2**64 - 1


def fold(op, x):
    while len(x) > 1:
        pairs = [op(a, b) for a, b in zip(x[0::2], x[1::2])]
        x = pairs + ([x[-1]] if len(x) % 2 else [])
    return x[0]


class Real:
    """A type of numbers: how it is rounded and printed, and its items."""

    def __init__(self, letter):
        self.letter, self.single = letter, letter == "f"

    def rounded(self, x):
        try:
            return single(x) if self.single else x
        except OverflowError:
            return math.copysign(math.inf, x)

    def bits(self, x):
        return struct.pack("<" + self.letter, x)[::-1].hex()

    def add(self, a, b):
        return self.rounded(a + b)

    def subtract(self, a, b):
        return self.rounded(a - b)

    def multiply(self, a, b):
        return self.rounded(a * b)

    def times(self, x, factor):
        return self.multiply(x, single(factor))

    def shift(self, x):
        return self.add(x, single(0.3))

    def mixed(self, seed, n, spread=12):
        state = seed

        def draw():
            nonlocal state
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            return state >> 33

        items = []
        for _ in range(n):
            sign = draw() & 1
            high = draw()
            significand = high << 31 | draw()
            exponent = draw() % (2 * spread + 1) - spread
            if self.single:
                bits = sign << 31 | (127 + exponent) << 23 | significand >> 39
                items.append(struct.unpack("<f", struct.pack("<I", bits))[0])
            else:
                bits = sign << 63 | (1023 + exponent) << 52 | significand >> 10
                items.append(struct.unpack("<d", struct.pack("<Q", bits))[0])
        return items

    def near_one(self, seed, n):
        return [self.add(1.0, self.multiply(x, 2.0**-12)) for x in self.mixed(seed, n, 0)]


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def lines_of_type(name, real, n):
    """(name of the line, bits) for n items."""
    add, multiply, subtract, shift = real.add, real.multiply, real.subtract, real.shift
    scale = lambda v: real.times(v, 3.3)
    start = single(0.7)

    x = real.mixed(1, n)
    ones = real.near_one(2, n)
    sum_or_product = lambda a, b: add(a, b) if a < 1 else multiply(a, b)
    yield f"{name}.plus", real.bits(fold(add, x))
    yield f"{name}.sum", real.bits(fold(add, x))
    yield f"{name}.difference", real.bits(fold(subtract, x))
    yield f"{name}.multiplies", real.bits(fold(multiply, ones))
    yield f"{name}.sum_or_product", real.bits(fold(sum_or_product, ones))
    yield f"{name}.sum.init", real.bits(add(scale(x[0]), fold(add, x)))
    yield f"{name}.planted_leak", real.bits(fold(lambda a, b: add(real.times(a, 0.7), b), x))

    x, y = real.mixed(5, n), real.mixed(6, n)
    scaled = [scale(v) for v in x]
    products = [multiply(a, b) for a, b in zip(x, y)]
    yield f"{name}.f.plus.scale", real.bits(add(start, fold(add, scaled)))
    yield f"{name}.f.difference.square", real.bits(subtract(start, fold(subtract, [multiply(v, v) for v in x])))
    yield f"{name}.computed.sum", real.bits(fold(add, scaled))
    yield f"{name}.computed.shift", real.bits(add(start, fold(add, [shift(v) for v in scaled])))
    yield f"{name}.inner_product", real.bits(add(start, fold(add, products)))
    yield f"{name}.two.sum.product", real.bits(add(start, fold(add, products)))
    yield f"{name}.two.computed.sum", real.bits(add(start, fold(add, [add(a, b) for a, b in zip(scaled, y)])))
    yield f"{name}.output", real.bits(shift(scale(fold(add, y))))

    x, ones = real.mixed(14, n), real.near_one(15, n)
    yield f"{name}.own.shift_sum", real.bits(fold(add, [shift(v) for v in x]))
    yield f"{name}.own.shift_sum.f", real.bits(fold(add, [shift(scale(v)) for v in x]))
    yield f"{name}.own.square_sum", real.bits(fold(add, [multiply(v, v) for v in x]))
    yield f"{name}.own.product_shift", real.bits(shift(fold(multiply, ones)))
    yield f"{name}.own.init", real.bits(shift(multiply(single(0.3), fold(multiply, ones))))

    # Pairs: the issue of products that an operator passes through.
    x = real.mixed(16, n, 1)
    pairs = [(scale(v), real.times(v, 4.3)) for v in x]
    pass_through = lambda a, b: (b[0], add(add(a[1], b[1]), a[0]))
    product_last = lambda a, b: (multiply(a[1], b[1]), add(a[0], b[0]))
    text = lambda pair: real.bits(pair[1]) + real.bits(pair[0])
    yield f"{name}x2.pass_through", text(pass_through(pairs[0], fold(pass_through, pairs)))
    yield f"{name}x2.product_last", text(product_last(pairs[0], fold(product_last, pairs)))
    yield f"{name}x2.total", real.bits(fold(add, [add(a, b) for a, b in pairs]))
    yield f"{name}x2.shift_each", text(fold(pass_through, [(shift(a), shift(b)) for a, b in pairs]))


def expected_lines(sizes):
    """{(name, n): bits}"""
    return {(line, n): bits
            for name, letter in (("float", "f"), ("double", "d"))
            for n in sizes
            for line, bits in lines_of_type(name, Real(letter), n)}
