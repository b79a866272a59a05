# SPDX-License-Identifier: Apache-2.0
"""benchmark/profiles/waits.py: whose kernel is whose, and what is left out."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

PROFILES = pathlib.Path(__file__).resolve().parents[2] / "benchmark" / "profiles"
sys.path.insert(0, str(PROFILES))
sys.dont_write_bytecode = True
import waits  # noqa: E402  (found through the path above)

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
HEADER = [
    "ID", "Kernel Name", "Stream", waits.TIME, waits.MEMORY, waits.ISSUED, waits.WARPS, waits.REGISTERS,
    STALL.format("long_scoreboard"), STALL.format("lg_throttle"), STALL.format("tex_throttle"), STALL.format("selected")
]
UNITS = ["", "", "", "ns", "%", "%", "%", "register/thread", "inst", "inst", "inst", "inst"]


def line(cells):
    return ",".join(f'"{c}"' for c in cells)


def kernel(number, name, stream, ns, long_scoreboard=4.0):
    return line([number, f"void x::{name}<int, (long)2>(a, b)", stream, ns, 80.4, 20, 50, 64, long_scoreboard, 1, 1.5, 9])


class WaitsTest(unittest.TestCase):

    def read(self, *lines):
        return waits.read(["==PROF== Connected", *lines])

    def test_streams_tell_whose_kernel_is_whose(self):
        # The program prints a name when its call has ended, before the table or in the middle of it.
        found = self.read("sum, of floats", line(HEADER), line(UNITS), kernel(0, "tile_kernel", 13, "1,500.0"),
                          kernel(1, "lanes_kernel", 7, "2000"), kernel(2, "warps_kernel", 7, "3000"), "segments/4")
        self.assertEqual([(k.call, k.name, k.us) for k in found],
                         [("sum, of floats", "tile_kernel", 1.5), ("segments/4", "lanes_kernel", 2.0),
                          ("segments/4", "warps_kernel", 3.0)])

    def test_waits_of_one_kind_are_added_and_the_longest_is_first(self):
        found, = self.read("a", line(HEADER), line(UNITS), kernel(0, "tile_kernel", 13, 1500))
        self.assertEqual(found.waits, [(4.0, "memory"), (2.5, "memory's queue")])

    def test_short_kernels_are_left_out_and_calls_named_once(self):
        found = self.read("a", line(HEADER), line(UNITS), kernel(0, "lanes_kernel", 7, 20000),
                          kernel(1, "warps_kernel", 7, 2000), kernel(2, "blocks_kernel", 7, 900))
        self.assertEqual([cells[:3] for cells in waits.lines_of(found)],
                         [["a", "`lanes_kernel`", "20.0"], ["", "`warps_kernel`", "2.0"]])
        self.assertIn("| a | `lanes_kernel` | 20.0 | 80 | 20 | 50 | 64 | memory 4.0, memory's queue 2.5 |",
                      waits.markdown(found, "an H100"))

    def test_what_it_cannot_read_is_named(self):
        with self.assertRaisesRegex(ValueError, "2 names of calls, but kernels in 1 streams"):
            self.read("a", "b", line(HEADER), line(UNITS), kernel(0, "tile_kernel", 13, 1500))
        with self.assertRaisesRegex(ValueError, "no column gpu__dram"):
            self.read("a", line([h for h in HEADER if h != waits.MEMORY]), line(UNITS))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "profiles.csv"
            path.write_text("==ERROR== no GPU\n", "utf-8")
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                self.assertEqual(waits.main([str(path)]), 2)
            self.assertIn("no table", err.getvalue())


if __name__ == "__main__":
    unittest.main()
