# SPDX-License-Identifier: Apache-2.0
#
# The tool's statistics and reducers against Python's exact arithmetic: fractions for whatever is
# rounded, with the error bounds that the library's headers state, and equality for the rest.
# `python3 stats_test.py TOOL`; files are written by this script, from the format's description.
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

TOOL = sys.argv.pop(1)
NAN, INF = math.nan, math.inf
U = Fraction(1, 2**53)
CODES = {"b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
         "f2": "e", "f4": "f", "f8": "d"}


def run(*words, environment=None):
    env = dict(os.environ, CUDA_VISIBLE_DEVICES="", **(environment or {}))
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, env=env, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def npy(code, items, shape=None, order="<", fortran=False):
    """Items are given in C order."""
    shape = (len(items),) if shape is None else shape
    if fortran:
        strides = [math.prod(shape[axis + 1:]) for axis in range(len(shape))]
        places = [0]
        for axis in range(len(shape)):  # the first axis runs fastest
            places = [p + i * strides[axis] for i in range(shape[axis]) for p in places]
        items = [items[p] for p in places]
    head = f"{{'descr': '{order}{code}', 'fortran_order': {fortran}, 'shape': {tuple(shape)!r}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = struct.pack(f"{order}{len(items)}{CODES[code]}", *items)
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + data


def rounded(code, items):
    """The items as the type holds them."""
    data = struct.pack(f"<{len(items)}{CODES[code]}", *items)
    return list(struct.unpack(f"<{len(items)}{CODES[code]}", data))


def number(x):
    return float(x) if x in ("nan", "inf", "-inf") else x


def is_nan(x):
    return isinstance(x, float) and math.isnan(x)


def sort_key(x):
    return (x, math.copysign(1, x) > 0) if isinstance(x, float) else x


def same(a, b):
    return is_nan(a) and is_nan(b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def root(x):
    """Of a fraction, to about 2^-100 of it."""
    scale = 1 << (2 * max(0, 120 + x.denominator.bit_length() - x.numerator.bit_length()) + 200)
    return Fraction(math.isqrt(x.numerator * scale // x.denominator), math.isqrt(scale))


def levels(n):
    return max(1, (n - 1).bit_length())


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.directory.name)
        self.addCleanup(self.directory.cleanup)

    def file(self, name, data):
        (self.root / name).write_bytes(data)
        return str(self.root / name)

    def stats(self, path, *words):
        code, out, err = run("stats", "--json", *words, path)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def near(self, got, exact, bound, what=""):
        self.assertLessEqual(abs(Fraction(got) - exact), bound, (what, got, float(exact), float(bound)))

    def check(self, found, items, shape):
        """Statistics of finite items and NaN."""
        numbers = [x for x in items if not is_nan(x)]
        self.assertEqual((found["count"], found["missing"]), (len(items), len(items) - len(numbers)))
        self.assertEqual(found["shape"], list(shape))
        if not numbers:
            self.assertNotIn("mean", found)
            return
        exact = [Fraction(x) for x in numbers]
        n, d = len(exact), levels(len(items))
        total, size = sum(exact), sum(map(abs, exact))
        if isinstance(numbers[0], float):
            self.near(found["sum"], total, d * U * size, "sum")
        else:
            self.assertEqual(int(found["sum"]), total)
        self.near(found["mean"], total / n, (d + 2) * U * size / n, "mean")
        self.near(found["l1"], size, (d + 2) * U * size, "l1")
        length = root(sum(x * x for x in exact))
        self.near(found["l2"], length, (d + 4) * U * length, "l2")
        if n == 1:
            self.assertEqual(found["sd"], "nan")
        else:
            variance = sum((x - total / n) ** 2 for x in exact) / (n - 1)
            deviation = root(variance)
            condition = root(1 + (total / n) ** 2 / variance) if variance else 1
            self.near(found["sd"], deviation, (2 * d + 4) * U * condition * deviation, "sd")
        for name, best in (("min", min(numbers, key=sort_key)), ("max", max(numbers, key=sort_key))):
            index = next(i for i, x in enumerate(items) if same(x, best))
            place = []
            for extent in reversed(shape):
                index, i = divmod(index, extent)
                place.insert(0, i)
            index = next(i for i, x in enumerate(items) if same(x, best))
            self.assertTrue(same(found[name], best), (name, found[name], best))
            self.assertEqual((found[name + "_index"], found[name + "_position"]), (index, place))
        self.assertEqual(found["linf"], max(map(abs, numbers)))


class Stats(Files):
    def test_every_type_order_and_layout(self):
        rng = random.Random(7)
        shape = (5, 1, 7, 9)
        for code in CODES:
            bits = 8 * int(code[1])
            draw = {"b": lambda: rng.random() < 0.5, "u": lambda: rng.getrandbits(bits),
                    "i": lambda: rng.getrandbits(bits) - 2 ** (bits - 1),
                    "f": lambda: rng.choice((-1, 1)) * 2.0 ** rng.uniform(-7, 9)}[code[0]]
            items = rounded(code, [draw() for _ in range(math.prod(shape))])
            outcomes = []
            for order in "<>":
                for fortran in (False, True):
                    path = self.file("a.npy", npy(code, items, shape, order, fortran))
                    found = self.stats(path)
                    self.check(found, items, shape)
                    self.assertEqual(found["bytes"], len(items) * bits // 8)
                    outcomes.append({k: v for k, v in found.items() if k != "notes"})
            self.assertTrue(all(o == outcomes[0] for o in outcomes), code)

    def test_extreme_integers(self):
        for code, items in (("i8", [-2**63, 2**63 - 1, -2**63, -2**63]), ("u8", [2**64 - 1] * 5), ("i8", [2**62] * 2),
                            ("u8", [2**63, 2**63 - 1]), ("i1", [-128] * 300), ("u2", [65535] * 70000)):
            self.check(self.stats(self.file("a.npy", npy(code, items))), items, (len(items),))

    def test_missing_values(self):
        rng = random.Random(8)
        for n in (1, 2, 3, 31, 32, 33, 1000, 4097, 70001):
            items = [rng.gauss(0, 1e3) for _ in range(n)]
            for where in ({0}, {n // 2}, {n - 1}, set(range(0, n, 3)), set(range(n)), set(range(n // 2)), set()):
                kept = [NAN if i in where else x for i, x in enumerate(items)]
                if n > 5000 and len(where) != n // 2:
                    continue
                self.check(self.stats(self.file("a.npy", npy("f8", kept))), kept, (n,))

    def test_huge_offset_and_tiny_variance(self):
        rng = random.Random(9)
        for offset in (1e6, 1e12, -2.0**50):
            items = [offset + rng.randrange(9) * 2.0**-3 for _ in range(5000)]
            self.check(self.stats(self.file("a.npy", npy("f8", items))), items, (5000,))
        items = [0.1] * 3000
        found = self.stats(self.file("a.npy", npy("f8", items)))
        self.assertLess(found["sd"], 1e-15)

    def test_magnitudes_whose_squares_leave_the_range(self):
        for items in ([1e200, -1e300, 1e-300], [1e-200, 2e-200, 5e-324], [1e154] * 1000):
            found = self.stats(self.file("a.npy", npy("f8", items)))
            length = root(sum(Fraction(x) ** 2 for x in items))
            self.near(found["l2"], length, 20 * U * length)

    def test_zeros_and_infinities(self):
        found = self.stats(self.file("a.npy", npy("f4", [0.0, -0.0, NAN, 0.0, -0.0])))
        self.assertEqual((found["min_index"], found["max_index"], found["missing"]), (1, 0, 1))
        self.assertEqual(math.copysign(1, found["min"]), -1)
        found = self.stats(self.file("a.npy", npy("f2", [1.0, INF, NAN, INF])))
        self.assertEqual([found[k] for k in ("sum", "mean", "sd", "max", "l1", "l2", "linf")],
                         ["inf", "inf", "nan", "inf", "inf", "inf", "inf"])
        self.assertEqual((found["min"], found["min_index"], found["max_index"]), (1, 0, 1))
        found = self.stats(self.file("a.npy", npy("f8", [INF, 2.0, -INF])))
        self.assertEqual([found[k] for k in ("sum", "mean", "sd", "min", "max", "linf")],
                         ["nan", "nan", "nan", "-inf", "inf", "inf"])
        self.assertEqual((found["min_index"], found["max_index"]), (2, 0))

    def test_empty_arrays_and_rank_0(self):
        for shape in ((0,), (0, 4), (3, 0, 2)):
            found = self.stats(self.file("a.npy", npy("f8", [], shape)))
            self.assertEqual((found["count"], found["missing"], found["shape"]), (0, 0, list(shape)))
            self.assertNotIn("mean", found)
        found = self.stats(self.file("a.npy", npy("i4", [7], ())))
        self.check(found, [7], ())
        self.assertEqual(found["min_position"], [])
        self.check(self.stats(self.file("a.npy", npy("f4", [NAN], ()))), [NAN], ())

    def test_raw_binary(self):
        items = [3.5, -2.0, 8.25]
        path = self.file("a.bin", b"12345" + struct.pack(">3d", *items))
        self.check(self.stats(path, "--raw", ">f8", "--offset", 5), items, (3,))

    def test_text(self):
        path = self.file("a.npy", npy("f8", [1.0, NAN, -3.0, 2.0, 8.0, 0.0], (2, 3)))
        code, out, err = run("stats", path)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.splitlines(), [
            path + ": 2 x 3 = 6 items of float64, 48 bytes", "  count       6", "  missing     1", "  sum         8",
            "  mean        1.6", "  sd          4.03732584763727", "  min         -3 at [0, 2] = item 2",
            "  max         8 at [1, 1] = item 4", "  l1          14", "  l2          8.831760866327848",
            "  linf        8"])

    def test_several_files_in_the_order_given(self):
        rng = random.Random(10)
        directory = self.root / "many"
        directory.mkdir()
        shapes = {}
        for i in range(12):
            n = rng.choice((1, 100, 30000, 200000))
            code = rng.choice(("f4", "f8", "i4", "u1"))
            items = [rng.randrange(100) for _ in range(n)]
            shapes[f"{i:02}.npy"] = n
            (directory / f"{i:02}.npy").write_bytes(npy(code, items))
        (directory / "notes.txt").write_text("not an array")
        (directory / "below").mkdir()
        expected = None
        for jobs in (1, 2, 3, 50):
            for threads in (0, 1, 2):
                code, out, err = run("stats", "--json", "--bins", 7, "--jobs", jobs, "--threads", threads, directory,
                                     directory / "03.npy")
                self.assertEqual((code, err), (0, ""))
                expected = expected or out
                self.assertEqual(out, expected, (jobs, threads))
        found = [json.loads(line) for line in expected.splitlines()]
        self.assertEqual([os.path.basename(f["file"]) for f in found], sorted(shapes) + ["03.npy"])
        for f in found:
            self.assertEqual(f["count"], shapes[os.path.basename(f["file"])])

    def test_trouble_with_one_file_leaves_the_others(self):
        good = self.file("good.npy", npy("i4", [1, 2, 4]))
        cut = self.file("cut.npy", npy("i4", [1, 2, 4])[:-3])
        junk = self.file("junk.npy", b"hello")
        zipped = self.file("a.npz", b"PK\3\4 and so on")
        pairs = self.file("c.npy", npy("f8", [1.0, 2.0]).replace(b"<f8", b"<c8"))
        empty = self.root / "empty"
        empty.mkdir()
        code, out, err = run("stats", "--json", "--jobs", 3, cut, good, junk, zipped, pairs, empty,
                             self.root / "missing.npy", good)
        self.assertEqual(code, 2)
        self.assertEqual([json.loads(line)["sum"] for line in out.splitlines()], [7, 7])
        errors = err.splitlines()
        self.assertEqual(len(errors), 6, err)
        for line, file, what in zip(errors, (cut, junk, zipped, pairs, empty, "missing.npy"), (
                "truncated", "is not a .npy file", "zip archive", "not of complex64", "directory without a .npy file",
                "cannot open")):
            self.assertIn(str(file), line)
            self.assertIn(what, line)

    def test_options_that_make_no_sense(self):
        good = self.file("good.npy", npy("i4", [1, 2, 4]))
        for words, what in ((["--bins", "0"], "0"), (["--jobs", "0"], "0"), (["--on", "tpu"], "unknown executor"),
                            (["--offset", "4"], "--raw"), (["--on", "cuda"], "--on cuda: ")):
            code, out, err = run("stats", *words, good)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1), (words, err))
            self.assertIn(what, err)
        self.assertEqual(run("stats")[0], 2)

    def test_progress_only_if_asked_without_a_terminal(self):
        path = self.file("a.npy", npy("u1", [1] * 300000))
        self.assertIn("reading", run("stats", "--progress", path)[2])
        self.assertEqual(run("stats", "--progress", path)[1], run("stats", path)[1])


class Histograms(Files):
    def bins(self, code, items, count, *words):
        found = self.stats(self.file("a.npy", npy(code, items)), "--bins", count, *words)
        drawn = found["histogram"]
        total = sum(b["count"] for b in drawn["bins"])
        self.assertEqual(total + drawn["minus_infinity"] + drawn["plus_infinity"], found["count"] - found["missing"])
        last = len(drawn["bins"]) - 1
        for i, b in enumerate(drawn["bins"]):
            inside = [x for x in items if b["from"] <= x and (x < b["to"] or (x == b["to"] and (
                i == last or not isinstance(x, float))))]
            self.assertEqual(b["count"], len(inside), (code, b))
        return drawn

    def test_counts_are_those_of_the_ranges(self):
        rng = random.Random(11)
        for bins in (1, 2, 7, 20, 1000):
            self.bins("f8", [rng.gauss(0, 1) for _ in range(3000)], bins)
            self.bins("f4", rounded("f4", [rng.uniform(1e6, 1e6 + 1) for _ in range(3000)]), bins)
            self.bins("i2", [rng.randrange(-30000, 30000) for _ in range(3000)], bins)
            self.bins("u1", [rng.randrange(256) for _ in range(70000)], bins)

    def test_hard_ranges(self):
        greatest = sys.float_info.max
        for items in ([-greatest, greatest, 0.0], [5e-324, 0.0, 1e-323], [1.0, math.nextafter(1, 2)], [2.5] * 9,
                      [NAN, 1.0, NAN, 2.0]):
            self.bins("f8", items, 10)
        self.bins("i8", [-2**63, 2**63 - 1, 0, 5], 10)
        self.bins("u8", [0, 2**64 - 1, 2**63], 3)
        drawn = self.bins("i4", [3, 5, 5, 4], 20)
        self.assertEqual([(b["from"], b["to"], b["count"]) for b in drawn["bins"]], [(3, 3, 1), (4, 4, 1), (5, 5, 2)])
        self.assertEqual(len(self.bins("b1", [True, False, True], 20)["bins"]), 2)
        drawn = self.bins("f8", [INF, -INF, INF, 1.0, 3.0, NAN], 4)
        self.assertEqual((drawn["minus_infinity"], drawn["plus_infinity"]), (1, 2))
        self.assertEqual((drawn["bins"][0]["from"], drawn["bins"][-1]["to"]), (1, 3))
        self.assertEqual(self.bins("f8", [INF, NAN], 4)["bins"], [])

    def test_drawing(self):
        items = [math.sin(i) for i in range(4000)] + [INF]
        path = self.file("a.npy", npy("f8", items))
        for columns in ("60", "100"):
            for words, cell in ((["--ascii"], "#"), ([], "█")):
                env = {"COLUMNS": columns, "LC_ALL": "C.UTF-8"}
                out = run("stats", "--histogram", *words, path, environment=env)[1]
                rows = out.splitlines()[11:]
                self.assertEqual(len(rows), 21)  # the usual 20, and the infinity
                self.assertIn(max(map(len, rows)), (int(columns) - 1, int(columns)))
                self.assertTrue(all(cell in row for row in rows[:1]), rows)
                self.assertTrue(rows[-1].startswith("  inf "), rows[-1])
                self.assertEqual(out.isascii(), cell == "#")
        self.assertTrue(run("stats", "--histogram", path, environment={"LC_ALL": "C"})[1].isascii())
        self.assertNotIn("#", run("stats", "--ascii", path)[1])


class Reducers(Files):
    def reduced(self, op, path, *words):
        code, out, err = run("reduce", "--json", "--repeats", 1, "--op", op, *words, path)
        self.assertEqual((code, err), (0, ""), op)
        return json.loads(out)

    def expect(self, op, path, expected, *words):
        got = self.reduced(op, path, *words)["value"]
        self.assertEqual(got, expected, (op, path))

    def expect_near(self, op, path, expected, tolerance=1e-13):
        got = self.reduced(op, path)["value"]
        self.assertTrue(math.isclose(got, expected, rel_tol=tolerance), (op, path, got, expected))

    def check_real(self, path, items, span):
        """Finite items without NaN, of a type whose magnitudes are in `span`."""
        exact = [Fraction(x) for x in items]
        n = len(items)
        low, high = min(items), max(items)
        at_low, at_high = items.index(low), items.index(high)
        self.expect("count", path, n)
        for op, value in (("any", any(items)), ("all", all(items)), ("none", not any(items)),
                          ("logical_xor", sum(map(bool, items)) % 2 == 1), ("first", items[0]), ("last", items[-1]),
                          ("linf", max(map(abs, items)))):
            self.expect(op, path, value)
        for suffix in ("", "_number"):
            self.expect("minmax" + suffix, path, {"min": low, "max": high})
            self.expect("arg_min" + suffix, path, {"value": low, "index": at_low})
            self.expect("arg_max" + suffix, path, {"value": high, "index": at_high})
            self.expect("arg_minmax" + suffix, path,
                        {"min": low, "min_index": at_low, "max": high, "max_index": at_high})
            for op, sign in (("top_k", -1), ("bottom_k", 1)):
                order = sorted(range(n), key=lambda i: (sign * items[i], i))
                for k in (1, 5, 8, 9, 32):
                    self.expect(op + suffix, path,
                                {"values": [items[i] for i in order[:k]], "indices": order[:k]}, "--k", k)
        mean = sum(exact) / n
        m2, m3, m4 = (sum((x - mean) ** p for x in exact) for p in (2, 3, 4))
        near = {"mean": mean, "variance": m2 / (n - 1), "population_variance": m2 / n,
                "standard_deviation": root(m2 / (n - 1)), "sd": root(m2 / (n - 1)),
                "population_sd": root(m2 / n), "l1": sum(map(abs, exact)), "l2": root(sum(x * x for x in exact)),
                "rms": root(sum(x * x for x in exact) / n)}
        for op, value in near.items():
            self.expect_near(op, path, float(value))
        self.expect_near("skewness", path, float(m3 / n / (m2 / n * root(m2 / n))), 1e-10)
        self.expect_near("kurtosis", path, float(m4 / n / (m2 / n) ** 2 - 3), 1e-10)
        pair = self.reduced("mean_variance", path)["value"]
        self.assertTrue(math.isclose(pair["mean"], mean, rel_tol=1e-13))
        self.assertTrue(math.isclose(pair["variance"], m2 / (n - 1), rel_tol=1e-13))
        shifted = math.fsum(math.exp(x - high) for x in items)
        self.expect_near("logsumexp", path, high + math.log(shifted), 1e-12)
        pair = self.reduced("softmax_pair", path)["value"]
        self.assertEqual(pair["max"], high)
        self.assertTrue(math.isclose(pair["sum"], shifted, rel_tol=1e-12))
        if low > 0:
            self.expect_near("geometric_mean", path, math.exp(math.fsum(map(math.log, items)) / n), 1e-12)
            self.expect_near("harmonic_mean", path, float(n / sum(1 / x for x in exact)))

    def test_every_name(self):
        rng = random.Random(12)
        for code in CODES:
            bits = 8 * int(code[1])
            draw = {"b": lambda: rng.random() < 0.7, "u": lambda: rng.randrange(1, 201),
                    "i": lambda: rng.randrange(-100, 120), "f": lambda: rng.uniform(0.01, 90)}[code[0]]
            items = rounded(code, [draw() for _ in range(1234)])
            self.check_real(self.file("a.npy", npy(code, items)), items, bits)

    def test_values_of_64_bits_and_signed_floats(self):
        big = [2**64 - 1, 2**64 - 2, 2**63, 5]
        path = self.file("a.npy", npy("u8", big))
        self.expect("arg_max", path, {"value": 2**64 - 1, "index": 0})
        self.expect("bottom_k", path, {"values": [5, 2**63, 2**64 - 2, 2**64 - 1], "indices": [3, 2, 1, 0]})
        least = self.file("b.npy", npy("i8", [-2**63, 3]))
        self.expect("linf", least, 2**63)
        self.assertEqual(self.reduced("linf", least)["accumulator"], "uint64")
        self.expect("compensated_sum", self.file("c.npy", npy("f8", [1e100, 1.0, -1e100])), 1)
        self.expect("compensated_sum", self.file("c.npy", npy("f4", [2.0**24, 1.0, 1.0])), 2**24 + 2)
        self.assertEqual(self.reduced("compensated_sum", self.file("h.npy", npy("f2", [1.0])))["accumulator"], "float32")

    def test_nan(self):
        for where in (0, 500, 999):
            items = [float(i % 97) for i in range(1000)]
            items[where] = NAN
            path = self.file("a.npy", npy("f4", items))
            self.expect("arg_min", path, {"value": "nan", "index": where})
            self.expect("arg_max", path, {"value": "nan", "index": where})
            self.expect("minmax", path, {"min": "nan", "max": "nan"})
            self.assertEqual(self.reduced("arg_max_number", path)["value"]["value"], 96)
            self.expect("minmax_number", path, {"min": 0, "max": 96})
            self.assertEqual(self.reduced("top_k", path)["value"]["indices"][0], where)
            self.assertEqual(self.reduced("top_k_number", path)["value"]["values"][0], 96)
            for op in ("mean", "sd", "l1", "l2", "linf", "rms", "logsumexp", "skewness"):
                self.expect(op, path, "nan")
        path = self.file("a.npy", npy("f8", [0.0, -0.0]))
        self.assertEqual(self.reduced("arg_min", path)["value"]["index"], 1)
        self.assertEqual(self.reduced("arg_max", path)["value"]["index"], 0)

    def test_means_are_those_of_stats(self):
        rng = random.Random(13)
        for code in ("f2", "f4", "f8", "i4", "u8"):
            items = [rng.randrange(1000) for _ in range(7777)]
            path = self.file("a.npy", npy(code, items))
            stats = self.stats(path)
            for op in ("mean", "sd", "l1", "l2", "linf"):
                self.expect(op, path, stats[op])
        items = [rng.gauss(0, 1) for _ in range(7777)]
        path = self.file("a.npy", npy("f8", items))
        self.expect("sum", path, self.stats(path)["sum"])

    def test_empty(self):
        path = self.file("e.npy", npy("f8", []))
        for op, value in (("count", 0), ("any", False), ("all", True), ("none", True), ("logical_xor", False), ("l1", 0),
                          ("l2", 0), ("linf", 0), ("logsumexp", "-inf"), ("softmax_pair", {"max": "-inf", "sum": 0}),
                          ("compensated_sum", -0.0)):
            self.expect(op, path, value)
        for op in ("first", "minmax", "arg_min", "mean", "sd", "rms", "top_k", "kurtosis", "geometric_mean"):
            code, out, err = run("reduce", "--op", op, path)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("has no value for an empty array", err)

    def test_names(self):
        path = self.file("a.npy", npy("i4", [1, 2]))
        for name, meant in (("minn", "min"), ("varience", "variance"), ("argmax", "arg_max"), ("stdev", None)):
            code, out, err = run("reduce", "--op", name, path)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))
            self.assertIn(f"unknown op '{name}'", err)
            self.assertIn("logsumexp, softmax_pair", err)
            if meant:
                self.assertIn(f"did you mean '{meant}'?", err)
        self.assertNotIn("did you mean", run("reduce", "--op", "quux", path)[2])
        listed = run("reduce", "--op", "list")
        self.assertEqual((listed[0], listed[2]), (0, ""))
        names = [line.split()[0] for line in listed[1].splitlines()]
        self.assertTrue(all(len(line.split()) > 1 for line in listed[1].splitlines()))
        help_text = run("reduce", "--help")[1]
        for name in names:
            self.assertIn(f"  {name} ", help_text)
            if name not in ("compensated_sum",):
                self.assertEqual(run("reduce", "--op", name, path)[0], 0, name)
        code, out, err = run("reduce", "--op", "compensated_sum", path)
        self.assertIn("op 'compensated_sum' is not defined for int32, only for floating types", err)
        code, out, err = run("reduce", "--op", "mean", "--check", path)
        self.assertIn("--check", err)
        self.assertEqual(run("reduce", "--op", "top_k", "--k", 33, path)[0], 2)
        code, out, err = run("reduce", "--op", "arg_max", path)
        self.assertEqual(out.splitlines()[1:6], ["  op          arg_max", "  value       2  (int32)",
                                                 "              bits 0x00000002", "  index       1  (int64)",
                                                 "              bits 0x0000000000000001"])


if __name__ == "__main__":
    unittest.main()
