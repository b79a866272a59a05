# SPDX-License-Identifier: Apache-2.0
"""The figures that stand in several pages (docs/figures.csv): each page has the same, rounded to the decimals that it
shows, and the number of GPU tests is that of the evidence.

    python3 figures_test.py ROOT
"""
import csv
import pathlib
import re
import sys
import unittest
from decimal import ROUND_HALF_UP, Decimal

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1]


def shows(line, value):
    """Whether a number of the line is the value, rounded to as many decimals."""
    numbers = re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3}\b)", "", line))
    return any(Decimal(value).quantize(Decimal(one), ROUND_HALF_UP) == Decimal(one) for one in numbers
               if "." in one or "." not in value)


class Figures(unittest.TestCase):
    def test_pages_agree(self):
        with (ROOT / "docs/figures.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 20)
        for row in rows:
            with self.subTest(row["figure"], page=row["page"]):
                lines = [line for line in (ROOT / row["page"]).read_text().splitlines() if row["row"] in line]
                self.assertEqual(len(lines), 1, f"lines with {row['row']!r}")
                self.assertTrue(shows(lines[0], row["value"]), f"{row['value']} is not in: {lines[0]}")

    def test_a_figure_has_one_value(self):
        with (ROOT / "docs/figures.csv").open() as file:
            pairs = {(row["figure"], row["value"]) for row in csv.DictReader(file)}
        self.assertEqual(len(pairs), len({figure for figure, _ in pairs}))

    def test_a_wrong_figure_is_found(self):
        self.assertTrue(shows("| sum | 100.5% | CUB | 1.03 |", "1.025"))
        self.assertFalse(shows("| sum | 100.5% | CUB | 1.04 |", "1.025"))
        self.assertFalse(shows("| rows of 2 | 0.3 |", "2.01"))

    def test_the_number_of_gpu_tests_is_that_of_the_evidence(self):
        with (ROOT / "docs/figures.csv").open() as file:
            value = next(row["value"] for row in csv.DictReader(file) if row["figure"] == "tests on GPUs")
        self.assertIn(value, (ROOT / "test/gpu_verified.txt").read_text(), "test/gpu_verified.txt has another number")


if __name__ == "__main__":
    unittest.main()
