# SPDX-License-Identifier: Apache-2.0
"""benchmark/targets.py on small JSON files as the GPU benchmarks and torch_rows.py write them."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "benchmark")]
sys.dont_write_bytecode = True
import targets  # noqa: E402  (found through the path above)
from report_test import gpu_entry, host_entry  # noqa: E402


def entries():
    big = 1 << 30
    large = {"float_sum": 1000.0, "double_min": 2000.0, "struct16_sum": 4000.0}
    size = {"float_sum": 4, "double_min": 8, "struct16_sum": 16}
    share = {"float_sum": 0.99, "double_min": 0.98, "struct16_sum": 0.95}
    result = []
    for shape, us in large.items():
        bytes_ = size[shape] * big
        result += [gpu_entry(shape, "graph", "tilefold", big, bytes_, us),
                   gpu_entry(shape, "graph", "cub-3.0", big, bytes_,
                             us * (1.01 if shape == "float_sum" else 1.02)),
                   gpu_entry("read", "graph", "4-in-flight", bytes_ // 4, bytes_,
                             us * share[shape])]
    for n, us in {1 << 10: 4.0, 1 << 26: 1.0}.items():
        result += [gpu_entry("float_sum", "stream", "tilefold", n, 4 * n, 2.0),
                   gpu_entry("float_sum", "stream", "cub-3.0", n, 4 * n, us)]
    result += [gpu_entry("float_sum", "sync", "tilefold", 1000, 4000, 8.0),
               gpu_entry("float_sum", "sync", "thrust-3.0", 1000, 4000, 20.0),
               gpu_entry("read", "sync", "empty-kernel", 1000, 4000, 7.5)]
    result += [gpu_entry("float_polynomial", "graph", "tilefold", big, 4 * big, 1000.0),
               gpu_entry("float_polynomial", "graph", "other", big, 4 * big, 900.0)]
    for who, us in {"tilefold": 10.0, "cub-3.0": 9.9}.items():
        result.append(gpu_entry("warp_float_sum", "hot", who, 1 << 10, 4 << 10, us))
    return result


def forests():
    """As tilefold_segments_benchmark writes them: n is the items of a segment."""
    gib = 1 << 30
    result = []
    for n, us in {4: 1000.0, 16: 1000.0, 1024: 1050.0}.items():
        result += [gpu_entry("segments_equal", "graph", "tilefold", n, 4 * gib, us),
                   gpu_entry("segments_equal", "graph", "cub-3.0", n, 4 * gib, 2000.0),
                   gpu_entry("segments_equal", "graph", "read", n, 4 * gib, 960.0)]
    for n, share in {2: 0.71, 16: 0.8}.items():
        result += [gpu_entry("by_key", "graph", "tilefold", n, gib, 100.0),
                   gpu_entry("by_key", "graph", "read", n, gib, 100.0 * share)]
    for batch, us in {1: 2.0, 16: 4.0}.items():
        result.append(gpu_entry(f"half_rows_batch_{batch}", "graph", "tilefold", 64, 128 * batch, us))
        result.append(gpu_entry(f"half_rows_batch_{batch}", "graph", "cub-3.0", 64, 128 * batch, us / 2))
    result += [gpu_entry("thousand_equal", "graph", "tilefold", 1000, 4004000, 3.5),
               gpu_entry("thousand_equal", "graph", "cub-3.0", 1000, 4004000, 5.25),
               gpu_entry("thousand_csr", "hot", "tilefold", 1000, 4012008, 4.5)]
    for n, us in {64: 300.0, 1024: 210.0}.items():
        result += [gpu_entry("statistics_equal", "graph", "tilefold", n, gib, us),
                   gpu_entry("statistics_equal", "graph", "tilefold-sum", n, gib, 200.0)]
    result += [gpu_entry("any_of_early_hit", "graph", "tilefold", gib, 4 * gib, 50.0),
               gpu_entry("any_of_no_hit", "graph", "tilefold", gib, 4 * gib, 1000.0)]
    return result


def of_torch():
    return [gpu_entry(f"half_rows_batch_{batch}", "graph", "torch", 64, 128 * batch, us)
            for batch, us in {1: 3.0, 16: 3.8}.items()]


class TargetsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def text(self, causes=None, **files):
        arguments = []
        for name, benchmarks in (files or {"gpu": entries()}).items():
            path = self.folder / f"{name}.json"
            path.write_text(json.dumps({"context": {"device": f"GPU of {name}"}, "benchmarks": benchmarks}),
                            "utf-8")
            arguments.append(str(path))
        if causes:
            file = self.folder / "causes.json"
            file.write_text(json.dumps(causes), "utf-8")
            arguments += ["--causes", str(file)]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(targets.main(arguments), 0)
        return out.getvalue()

    def lines(self, **more):
        cells = [[c.strip() for c in line.strip("|").split("|")]
                 for line in self.text(**more).splitlines() if line.startswith("|")]
        return {line[0]: line[2:] for line in cells}

    def line(self, start, **more):
        return next(cells for name, cells in self.lines(**more).items() if name.startswith(start))

    def test_the_least_of_several_shapes_decides(self):
        self.assertEqual(self.line("float, double, int32"),
                         ["0.980 to 0.990 of the ceiling (least: double_min); 1.010 to 1.020 of the best "
                          "peer (least: float_sum)", "short"])

    def test_short_lines_say_so_or_why(self):
        self.assertEqual(self.line("structs"), ["0.950 of the ceiling; 1.020 of the best peer", "short"])
        name = next(t.line for t in targets.ONE_FOLD if t.line.startswith("structs"))
        self.assertEqual(self.line("structs", causes={name: "registers"})[1], "registers")

    def test_geometric_mean_of_a_sweep(self):
        self.assertEqual(self.line("the same, launched"), ["float_sum 1.000 (least 0.500 at 2^26)", "short"])

    def test_synchronous_calls_against_thrust_and_the_floor(self):
        measured, verdict = self.line("synchronous")
        self.assertEqual(measured, "0.400 of thrust; 1.067 of the floor")
        self.assertEqual(verdict, "reached")

    def test_what_was_not_measured_stays_visible(self):
        self.assertEqual(self.line("count, sum"), ["not in this run", "open"])
        self.assertEqual(self.line("equal segments of 4 floats"), ["not in this run", "open"])

    def test_without_the_peer_that_is_asked_for_nothing_is_reached(self):
        self.assertEqual(self.line("compute-heavy"), ["not in this run", "open"])

    def test_folds_in_kernels_have_peers_and_no_ceiling(self):
        self.assertEqual(self.line("warp_fold"), ["0.990 of the best peer", "short"])

    def test_every_length_of_segments_counts(self):
        measured, verdict = self.line("equal segments of 16", segments=forests())
        self.assertEqual(measured, "0.914 to 0.960 of the ceiling (least: segments_equal of 1024); "
                         "1.905 to 2.000 of the best peer (least: segments_equal of 1024)")
        self.assertEqual(verdict, "short")
        self.assertEqual(self.line("equal segments of 4 floats", segments=forests())[1], "reached")

    def test_every_length_of_runs_has_its_own_number(self):
        lines = self.lines(segments=forests())
        self.assertEqual(lines["reduce_by_key, int32 and float, runs of 2"],
                         ["0.710 of the ceiling", "reached"])
        self.assertEqual(lines["reduce_by_key, int32 and float, runs of 16"],
                         ["0.800 of the ceiling", "short"])
        self.assertEqual(lines["reduce_by_key, int32 and float, runs of 256"], ["not in this run", "open"])

    def test_peers_of_another_run_join_the_rows(self):
        line = "rows of 64 to 16384 halves into float, 1"
        self.assertEqual(self.line(line, segments=forests()), ["not in this run", "open"])
        self.assertEqual(self.line(line, segments=forests(), torch=of_torch()),
                         ["0.950 to 1.500 of torch (least: half_rows_batch_16 of 64)", "short"])

    def test_microseconds_of_a_call(self):
        self.assertEqual(self.line("1000 segments", segments=forests()),
                         ["thousand_csr, hot 4.50 us; thousand_equal, cold 3.50 us (cub-3.0 5.25)", "short"])

    def test_our_time_beside_another_of_ours(self):
        self.assertEqual(self.line("mean, variance, min, max by", segments=forests()),
                         ["1.050 to 1.500 of tilefold-sum (most: statistics_equal of 64)", "short"])
        self.assertEqual(self.line("any, a hit", reducers=forests()), ["0.050 of any_of_no_hit", "reached"])

    def test_exact_sums_beside_plain_ones_and_deposits_beside_atomics(self):
        exact = [gpu_entry("deposit_float", "graph", "tilefold", n, 1 << 27, us) for n, us in
                 ((1, 50.0), (1024, 300.0), (1 << 20, 900.0))]
        exact += [gpu_entry("deposit_float", "graph", "atomicAdd-float", n, 1 << 27, us) for n, us in
                  ((1, 100.0), (1024, 100.0), (1 << 20, 200.0))]
        exact += [gpu_entry("exact_by_key", "graph", "tilefold", 16, 1 << 31, 15.0),
                  gpu_entry("exact_by_key", "graph", "tilefold-plain", 16, 1 << 31, 10.0)]
        self.assertEqual(self.line("deposits of floats", exact=exact),
                         ["0.500 to 4.500 of atomicAdd-float (most: deposit_float of 1048576)", "short"])
        self.assertEqual(self.line("exact sums by segment", exact=exact),
                         ["1.500 of tilefold-plain", "reached"])

    def test_host_rows_stand_in_lines_of_their_own(self):
        big, gib = 1 << 26, 1 << 30
        host = [host_entry("fused_five", "tilefold", big, 4 * big, 2.0, 0),
                host_entry("fused_five", "sum", big, 4 * big, 2.5, 0),
                host_entry("columns", "tilefold", 64, gib, 2.0, 0),
                host_entry("columns", "read", 64, gib, 1.9, 0)]
        self.assertEqual(self.line("host: count", host=host), ["0.800 of sum", "reached"])
        self.assertEqual(self.line("host: equal", host=host), ["0.950 of the ceiling", "reached"])
        self.assertEqual(self.line("columns of 64", host=host), ["not in this run", "open"])
        self.assertNotIn("host.json", self.text(gpu=entries(), host=host).split("\n## ")[1])

    def test_sections_name_their_runs(self):
        text = self.text(gpu=entries(), forests=forests(), torch=of_torch())
        one, reducers, segments, _ = text.split("\n## ")[1:]
        self.assertIn("gpu.json: device GPU of gpu.", one)
        self.assertNotIn("forests.json", one)
        self.assertIn("gpu.json", reducers)
        self.assertIn("forests.json", reducers)
        self.assertIn("torch.json: device GPU of torch.", segments)
        self.assertNotIn("gpu.json", segments)

    def test_lines_are_told_apart(self):
        lines = [t.line for section in targets.SECTIONS.values() for t in section]
        self.assertEqual(len(lines), len(set(lines)))

    def test_causes_name_lines_that_there_are(self):
        causes = json.loads((HERE.parents[1] / "benchmark/results/causes.json").read_text("utf-8"))
        self.assertLessEqual(set(causes),
                             {t.line for section in targets.SECTIONS.values() for t in section})


if __name__ == "__main__":
    unittest.main()
