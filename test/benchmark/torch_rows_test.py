# SPDX-License-Identifier: Apache-2.0
"""benchmark/torch_rows.py as far as it goes without PyTorch: what it measures and what it writes."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

BENCHMARK = pathlib.Path(__file__).resolve().parents[2] / "benchmark"
sys.path.insert(0, str(BENCHMARK))
sys.dont_write_bytecode = True
import report  # noqa: E402  (found through the path above)
import torch_rows  # noqa: E402


class TorchRowsTest(unittest.TestCase):

    def shape(self, run_name):
        return next(s for s in torch_rows.shapes() if s.run_name == run_name)

    def test_bytes_are_items_and_results(self):
        self.assertEqual(self.shape("half_rows_batch_16/graph/torch/64").bytes, 16 * 64 * 2 + 16 * 4)
        self.assertEqual(self.shape("half_rows_1_gib/graph/torch/1024").bytes, (1 << 30) + (1 << 19) * 4)
        self.assertEqual(self.shape("columns/graph/torch/64").bytes, (4 << 30) + 64 * 4)
        self.assertEqual(self.shape("axis_middle/graph/torch/256").bytes, (4 << 30) + (4 << 30) // 1024)
        self.assertEqual(self.shape("segments_equal/graph/torch/4").bytes, (1 << 25) * 20)
        # Mean and variance in float; the program's are double, and extremes stand beside them.
        statistics = self.shape("statistics_equal/graph/torch-var-mean/64")
        self.assertEqual(statistics.bytes, (1 << 30) + (1 << 22) * 8)

    def test_launches_read_4_gib_or_are_32(self):
        for name, launches in {"half_rows_1_gib": 4, "half_rows_256_mib": 16, "half_rows_batch_1": 32,
                               "columns": 2}.items():
            self.assertEqual(self.shape(f"{name}/graph/torch/64").launches, launches, name)

    def test_shapes_are_the_programs(self):
        sources = "".join((BENCHMARK / name).read_text("utf-8") for name in (
            "forests/rows.cu", "forests/shapes.cpp", "forests/statistics.cu", "axes/columns.cu"))
        for shape in torch_rows.shapes():
            name = shape.name.rstrip("0123456789") if "_batch_" in shape.name else shape.name
            self.assertIn(f'"{name}"', sources)

    def test_entries_are_what_the_report_reads(self):
        shape = self.shape("half_rows_batch_16/graph/torch/64")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "torch.json"
            entries = [torch_rows.entry(shape, [3e-6, 1e-6, 2e-6, 2.5e-6, 9e-6])]
            path.write_text(json.dumps({"context": {}, "benchmarks": entries}), "utf-8")
            row, = report.load(path)[1]
        self.assertEqual((row.shape, row.mode, row.n), ("half_rows_batch_16", "graph", 64))
        self.assertAlmostEqual(row.contestants["torch"].median, 2.5e-6)
        self.assertAlmostEqual(row.bytes, shape.bytes)

    def test_without_pytorch_it_says_so(self):
        err = io.StringIO()
        with mock.patch.dict(sys.modules, {"torch": None}), contextlib.redirect_stderr(err):
            self.assertEqual(torch_rows.main(["--out", "nowhere.json"]), 2)
        self.assertEqual(err.getvalue().count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
