# SPDX-License-Identifier: Apache-2.0
"""benchmark/targets.py on small JSON files as the GPU benchmark writes them."""
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
from report_test import gpu_entry  # noqa: E402


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
    return result


class TargetsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def lines(self, causes=None):
        path = self.folder / "results.json"
        path.write_text(json.dumps({"context": {"device": "Some GPU"}, "benchmarks": entries()}), "utf-8")
        arguments = [str(path)]
        if causes:
            file = self.folder / "causes.json"
            file.write_text(json.dumps(causes), "utf-8")
            arguments += ["--causes", str(file)]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(targets.main(arguments), 0)
        cells = [[c.strip() for c in line.strip("|").split("|")]
                 for line in out.getvalue().splitlines() if line.startswith("|")]
        return {line[0]: line[2:] for line in cells}

    def line(self, start, **more):
        return next(cells for name, cells in self.lines(**more).items() if name.startswith(start))

    def test_the_least_of_several_shapes_decides(self):
        self.assertEqual(self.line("float, double, int32"),
                         ["0.980 to 0.990 of the ceiling (least: double_min); 1.010 to 1.020 of the best "
                          "peer (least: float_sum)", "short"])

    def test_short_lines_say_so_or_why(self):
        self.assertEqual(self.line("structs"), ["0.950 of the ceiling; 1.020 of the best peer", "short"])
        name = next(t.line for t in targets.TARGETS if t.line.startswith("structs"))
        self.assertEqual(self.line("structs", causes={name: "registers"})[1], "registers")

    def test_geometric_mean_of_a_sweep(self):
        self.assertEqual(self.line("the same, launched"), ["float_sum 1.000 (least 0.500 at 2^26)", "short"])

    def test_synchronous_calls_against_thrust_and_the_floor(self):
        measured, verdict = self.line("synchronous")
        self.assertEqual(measured, "0.400 of thrust; 1.067 of the floor")
        self.assertEqual(verdict, "reached")

    def test_what_was_not_measured_is_not_reached(self):
        self.assertEqual(self.line("count, sum"), ["not in this run", "short"])

    def test_causes_name_lines_that_there_are(self):
        causes = json.loads((HERE.parents[1] / "benchmark/results/causes.json").read_text("utf-8"))
        self.assertLessEqual(set(causes), {target.line for target in targets.TARGETS})


if __name__ == "__main__":
    unittest.main()
