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
import zipfile
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
        path = self.file("b.bin", b"".join(struct.pack("<f", x)[2:] for x in items))
        self.check(self.stats(path, "--raw", "bfloat16"), items, (3,))
        code, out, err = run("stats", "--raw", "f4", self.root)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("is a directory; name the raw files", err)

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


    def test_measured_data(self):
        data = pathlib.Path("/usr/share/matplotlib/mpl-data/sample_data")
        if not (data / "jacksboro_fault_dem.npz").exists():
            self.skipTest("python-matplotlib-data is not installed")
        for archive in ("jacksboro_fault_dem", "topobathy"):
            with zipfile.ZipFile(data / (archive + ".npz")) as files:
                files.extractall(self.root)
        code, out, err = run("stats", "--json", self.root)
        self.assertEqual((code, err), (0, ""))
        found = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([os.path.basename(f["file"]) for f in found],
                         [n + ".npy" for n in "dx dy elevation latitude longitude topo xmax xmin ymax ymin".split()])
        for f in found:
            data = pathlib.Path(f["file"]).read_bytes()
            code = {"int16": "i2", "float32": "f4", "float64": "f8"}[f["dtype"]]
            start = 10 + struct.unpack_from("<H", data, 8)[0]
            items = struct.unpack(f"<{f['count']}{CODES[code]}", data[start:])
            self.check(f, items, f["shape"])


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
            self.assertTrue(b["from"] < b["to"] or i == last or not isinstance(b["from"], float), (code, b))  # no [1, 1)
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
                      [1.0, 1.0 + 2**-50, 1.0 + 2**-51],
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
        return self.reduced_all(op, [path], *words)[0]

    def reduced_all(self, op, paths, *words):
        code, out, err = run("reduce", "--json", "--repeats", 1, "--op", op, *words, *paths)
        self.assertEqual((code, err), (0, ""), op)
        return [json.loads(line) for line in out.splitlines()]

    def expect(self, op, path, expected, *words):
        got = self.reduced(op, path, *words)["value"]
        self.assertEqual(got, expected, (op, path))

    def exact_results(self, items):
        """(op, options) and the value to get."""
        n, low, high = len(items), min(items), max(items)
        at_low, at_high = items.index(low), items.index(high)
        yield ("count",), n
        yield ("any",), any(items)
        yield ("all",), all(items)
        yield ("none",), not any(items)
        yield ("logical_xor",), sum(map(bool, items)) % 2 == 1
        yield ("first",), items[0]
        yield ("last",), items[-1]
        yield ("linf",), max(map(abs, items))
        for suffix in ("", "_number"):
            yield ("minmax" + suffix,), {"min": low, "max": high}
            yield ("arg_min" + suffix,), {"value": low, "index": at_low}
            yield ("arg_max" + suffix,), {"value": high, "index": at_high}
            yield ("arg_minmax" + suffix,), {"min": low, "min_index": at_low, "max": high, "max_index": at_high}
            for op, sign in (("top_k", -1), ("bottom_k", 1)):
                order = sorted(range(n), key=lambda i: (sign * items[i], i))
                for k in (1, 5, 8, 9, 32):
                    yield ((op + suffix, "--k", k), {"values": [items[i] for i in order[:k]], "indices": order[:k]})

    def near_results(self, items):
        """op, and the value or values to get nearly, to how much."""
        exact = [Fraction(x) for x in items]
        n, high = len(items), max(items)
        mean = sum(exact) / n
        m2, m3, m4 = (sum((x - mean) ** p for x in exact) / n for p in (2, 3, 4))
        squares, variance = sum(x * x for x in exact), m2 * n / (n - 1)
        yield "mean", mean, 1e-13
        yield "variance", variance, 1e-13
        yield "population_variance", m2, 1e-13
        yield "standard_deviation", root(variance), 1e-13
        yield "sd", root(variance), 1e-13
        yield "population_standard_deviation", root(m2), 1e-13
        yield "mean_variance", {"mean": mean, "variance": variance}, 1e-13
        yield "l1", sum(map(abs, exact)), 1e-13
        yield "l2", root(squares), 1e-13
        yield "rms", root(squares / n), 1e-13
        yield "skewness", m3 / (m2 * root(m2)), 1e-10
        yield "kurtosis", m4 / m2 ** 2 - 3, 1e-10
        shifted = math.fsum(math.exp(x - high) for x in items)
        yield "logsumexp", high + math.log(shifted), 1e-12
        yield "softmax_pair", {"max": high, "sum": shifted}, 1e-12
        if min(items) > 0:
            yield "geometric_mean", math.exp(math.fsum(map(math.log, items)) / n), 1e-12
            yield "harmonic_mean", n / sum(1 / x for x in exact), 1e-13

    def test_every_name(self):
        rng = random.Random(12)
        exact, near = {}, {}
        for code in CODES:
            draw = {"b": lambda: rng.random() < 0.7, "u": lambda: rng.randrange(1, 201),
                    "i": lambda: rng.randrange(-100, 120), "f": lambda: rng.uniform(0.01, 90)}[code[0]]
            items = rounded(code, [draw() for _ in range(1234)])
            path = self.file(code + ".npy", npy(code, items))
            for words, value in self.exact_results(items):
                exact.setdefault(words, []).append((path, value))
            for op, value, tolerance in self.near_results(items):
                near.setdefault((op, tolerance), []).append((path, value))
        for (op, *words), wanted in exact.items():
            found = self.reduced_all(op, [path for path, value in wanted], *words)
            self.assertEqual([f["value"] for f in found], [value for path, value in wanted], (op, words))
        for (op, tolerance), wanted in near.items():
            for found, (path, value) in zip(self.reduced_all(op, [path for path, value in wanted]), wanted, strict=True):
                got = found["value"] if isinstance(value, dict) else {"": found["value"]}
                for name, x in (value if isinstance(value, dict) else {"": value}).items():
                    self.assertTrue(math.isclose(got[name], float(x), rel_tol=tolerance), (op, path, got, float(x)))

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

    def test_exact_reducers_round_once(self):
        rng = random.Random(14)
        for code in ("f2", "f4", "f8", "i4", "i8", "u8"):
            if code[0] == "f":
                top = {"f2": 6, "f4": 60, "f8": 400}[code]
                items = rounded(code, [rng.gauss(0, 1) * 2.0 ** rng.randrange(-top, top) for _ in range(3000)])
                items += [-x for x in items[:2900]]  # most cancels
                rng.shuffle(items)
            else:
                top = 2 ** (8 * int(code[1]) - 1)
                items = [rng.randrange(0 if code[0] == "u" else -top, top) for _ in range(3000)]
            path = self.file("a.npy", npy(code, items))
            real = sum(map(Fraction, items))
            squares = sum(Fraction(x) ** 2 for x in items)
            self.expect("exact_sum", path, float(real))
            self.expect("exact_mean", path, float(real / len(items)))
            self.expect("exact_sum_of_squares", path, float(squares))
            # The double whose halfway neighbours have squares on either side.
            root = self.reduced("exact_l2", path)["value"]
            below, above = (Fraction(math.nextafter(root, to)) + Fraction(root) for to in (0, math.inf))
            self.assertTrue(below**2 <= 4 * squares <= above**2, (code, root))
        path = self.file("a.npy", npy("f8", [1e300, 1.0, -1e300, INF]))
        self.expect("exact_sum", path, "inf")
        self.assertEqual(run("reduce", "--op", "exact_mean", self.file("e.npy", npy("f8", [])))[0], 2)

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
