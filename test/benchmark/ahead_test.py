# SPDX-License-Identifier: Apache-2.0
"""benchmark/ahead.py on small JSON files as the benchmark programs write them."""
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
import ahead  # noqa: E402  (found through the path above)
from report_test import gpu_entry, host_entry  # noqa: E402

GIB = 1 << 30


def gpu_entries():
    def row(shape, n, mode="graph", **times):
        return [gpu_entry(shape, mode, who.replace("_", "-"), n, GIB, us) for who, us in times.items()]
    return [
        *row("segments_constant", 4, tilefold=100.0, tilefold_bound=90.0, cub_bound=95.0, read=85.0),
        *row("segments_constant", 16, tilefold=100.0, cub_bound=95.0, read=90.0),
        *row("statistics_equal", 64, tilefold=113.0, tilefold_sum=100.0, read=95.0),
        *row("statistics_equal", 1024, tilefold=117.0, tilefold_sum=100.0, read=95.0),
        *row("by_key_of_a_million", 16, "hot", tilefold=14.0, cub=7.0, read=1.0),
        *row("int8_to_int32_sum_off_by_1", GIB, tilefold=100.0, read=99.0),
        *row("int8_to_int32_sum_off_by_5", GIB, tilefold=100.0, read=93.0),
    ]


def host_entries(openmp):
    times = {"tilefold": 10.0, "openmp": openmp, "read": 9.0}
    return [host_entry("csr_constant", who, 4, GIB, 1e3 * us, 0) for who, us in times.items()]


class Ahead(unittest.TestCase):
    def page(self, *more):
        with tempfile.TemporaryDirectory() as folder:
            def file(name, entries):
                path = pathlib.Path(folder) / name
                path.write_text(json.dumps({"context": {"device": "D"}, "benchmarks": entries}), encoding="utf-8")
                return str(path)
            causes = pathlib.Path(folder) / "causes.json"
            causes.write_text(json.dumps({"offsets, constant, 16": "held by that"}), encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = ahead.main([file("gpu.json", gpu_entries()), file("host.json", host_entries(12.0)),
                                   "--native", file("native.json", host_entries(8.0)),
                                   "--causes", str(causes), *more])
            self.assertEqual(code, 0)
            return {line.split(" | ")[0][2:]: line for line in out.getvalue().splitlines()
                    if line.startswith(("| ", "- ["))}

    def test_a_promise_counts_where_it_is_faster(self):
        line = self.page()["offsets, constant, 4"]
        self.assertIn("| 100.00 | 90.00 | 0.944 | cub-bound 95.00 | 1.056 | yes |", line)

    def test_what_falls_short_has_its_cause_or_no(self):
        page = self.page()
        self.assertTrue(page["offsets, constant, 16"].endswith("| [1] |"))
        self.assertEqual(page["[1] held by that"], "- [1] held by that")
        self.assertTrue(page["four statistics by segment, equal, 64"].endswith("| yes |"))
        self.assertTrue(page["four statistics by segment, equal, 1024"].endswith("| no |"))

    def test_microseconds_do_not_ask_for_the_peer(self):
        self.assertTrue(self.page()["by key, 10^6 keys"].endswith("| 0.500 | yes |"))

    def test_of_many_shapes_the_worst_is_told(self):
        self.assertIn("| 0.930 |", self.page()["bytes, misaligned sums"])

    def test_rivals_for_the_machine_have_their_column(self):
        line = self.page()["host: offsets, constant 4"]
        self.assertIn("| openmp 12.00 | 1.200 | openmp 8.00 | yes |", line)

    def test_a_row_without_figures_stays(self):
        self.assertTrue(self.page()["one of 32M and 4M of 8"].endswith("| not measured |"))

    def test_causes_name_rows_that_there_are(self):
        path = HERE.parents[1] / "benchmark" / "results" / "ahead_causes.json"
        lines = [row.line for row in [*ahead.GPU, *ahead.HOST]]
        for name in json.loads(path.read_text(encoding="utf-8")):
            self.assertTrue(any(line.startswith(name) for line in lines), name)

    def test_a_file_that_is_none(self):
        with contextlib.redirect_stderr(io.StringIO()) as told:
            self.assertEqual(ahead.main(["/nowhere.json"]), 2)
        self.assertIn("ahead.py", told.getvalue())


if __name__ == "__main__":
    unittest.main()
