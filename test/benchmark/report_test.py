# SPDX-License-Identifier: Apache-2.0
"""benchmark/report.py on small JSON files as both benchmark programs write them. Needs no matplotlib:
where it draws, a stand-in takes notes."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmark"))
sys.dont_write_bytecode = True
import report  # noqa: E402  (found through the path above)


def gpu_entry(shape, mode, who, n, bytes_, us, low=None, high=None):
    name = f"{shape}/{mode}/{who}/{n}/iterations:5/manual_time"
    return {
        "name": name, "run_name": name, "run_type": "iteration", "repetitions": 15,
        "repetition_index": 7, "threads": 1, "iterations": 5, "real_time": us, "cpu_time": 1.0,
        "time_unit": "us", "bytes_per_second": bytes_ / us * 1e6, "lower_quartile": low or us,
        "upper_quartile": high or us
    }


def host_entry(shape, who, n, bytes_, ns, index, **more):
    name = f"{shape}/{who}/{n}/real_time"
    return {
        "name": name, "run_name": name, "run_type": "iteration", "repetitions": 3,
        "repetition_index": index, "threads": 1, "iterations": 100, "real_time": ns, "cpu_time": ns,
        "time_unit": "ns", "bytes_per_second": bytes_ / ns * 1e9, **more
    }


def gpu_file():
    big, small = 1 << 28, 1 << 12
    return [
        gpu_entry("float_sum", "graph", "tilefold", big, 4 * big, 200.0, 199.0, 203.0),
        gpu_entry("float_sum", "graph", "cub-3.0", big, 4 * big, 240.0),
        gpu_entry("float_sum", "graph", "cub-3.5", big, 4 * big, 210.0),
        gpu_entry("float_sum", "graph", "tilefold", small, 4 * small, 2.0),
        gpu_entry("float_sum", "graph", "cub-3.0", small, 4 * small, 1.0),
        gpu_entry("float_sum", "graph", "tilefold", 1 << 14, 4 << 14, 2.0),
        gpu_entry("float_sum", "graph", "cub-3.0", 1 << 14, 4 << 14, 4.0),
        gpu_entry("read", "graph", "4-in-flight", big, 4 * big, 190.0),
        gpu_entry("read", "graph", "8-in-flight", big, 4 * big, 180.0),
        gpu_entry("half_sum", "graph", "tilefold", 2 * big, 4 * big, 200.0),
        gpu_entry("float_sum", "sync", "tilefold", 1000, 4000, 8.0),
        gpu_entry("float_sum", "sync", "tilefold-no-executor", 1000, 4000, 6.0),
        gpu_entry("float_sum", "sync", "thrust-3.0", 1000, 4000, 20.0),
        gpu_entry("float_sum", "sync", "tilefold", 10**6, 4 * 10**6, 10.0),
        gpu_entry("float_sum", "sync", "thrust-3.0", 10**6, 4 * 10**6, 25.0),
        gpu_entry("read", "sync", "empty-kernel", 1000, 4000, 6.0),
    ]


def ladder_file():
    """Repetitions come in any order, and a rung may not take every n."""
    big, small = 1 << 26, 1 << 11
    times = {"cub-3.0": 61.0, "tilefold": 60.0, "10_teaching_naive": 400.0, "02_interleaved": 500.0}
    entries = [gpu_entry("ladder_float_sum", "graph", who, n, 4 * n, us if n == big else us / 10)
               for n in (big, small) for who, us in times.items()]
    entries.append(gpu_entry("ladder_float_sum", "graph", "09_in_place", small, 4 * small, 4.0))
    return entries + [gpu_entry("read", "graph", "4-in-flight", big, 4 * big, 50.0)]


def segments_file():
    """The ceiling is a contestant among others."""
    return [gpu_entry("segments_equal", "graph", who, n, 1 << 30, us)
            for n in (16, 64) for who, us in {"tilefold": 200.0, "cub": 900.0, "read": 180.0}.items()]


def host_file():
    n = 1 << 20
    entries = [host_entry("double_sum", "tilefold", n, 8 * n, t, i)
               for i, t in enumerate([100e3, 110e3, 90e3])]
    entries += [host_entry("double_sum", "tbb", n, 8 * n, t, i)
                for i, t in enumerate([210e3, 200e3, 190e3])]
    entries.append(host_entry("double_sum", "std", n, 8 * n, 1.0, 0, error_occurred=True))
    mean = host_entry("double_sum", "tilefold", n, 8 * n, 5.0, 0)
    return entries + [{**mean, "run_type": "aggregate", "aggregate_name": "mean"}]


class ReportTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, entries):
        path = self.folder / "results.json"
        context = {"date": "2025-01-31", "device": "Some GPU", "host_name": "secret", "num_cpus": 2}
        path.write_text(json.dumps({"context": context, "benchmarks": entries}), encoding="utf-8")
        return str(path)

    def run_report(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = report.main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def cells(self, text, shape, n):
        """The cells of the first line for a shape and n."""
        for line in text.splitlines():
            found = [cell.strip() for cell in line.strip("|").split("|")]
            if found[:2] == [shape, n]:
                return found
        self.fail(f"no line for {shape} at {n} in\n{text}")

    def test_a_contestant_named_read_is_the_ceiling(self):
        _, text, _ = self.run_report(self.write(segments_file()), "--all")
        cells = self.cells(text, "segments_equal, graph", "2^6")
        self.assertEqual(cells[4:8], ["90.0%", "cub", "900.00", "4.500"])

    def test_memory_elsewhere_has_a_ceiling_of_its_own(self):
        n = 1 << 24
        entries = [gpu_entry(shape, "graph", who, n, 4 * n, us) for shape, who, us in
                   [("float_sum_pinned", "tilefold", 1000.0), ("read_pinned", "4-in-flight", 900.0),
                    ("float_sum", "tilefold", 20.0), ("read", "4-in-flight", 18.0)]]
        _, text, _ = self.run_report(self.write(entries))
        self.assertEqual(self.cells(text, "float_sum_pinned, graph", "2^24")[4], "90.0%")
        self.assertEqual(self.cells(text, "float_sum, graph", "2^24")[4], "90.0%")
        self.assertNotIn("read_pinned", text)

    def test_bytes_agree_although_files_round(self):
        n = 1 << 30
        entries = [gpu_entry("float_sum", "graph", "tilefold", n, 4 * n, 952.176005),
                   gpu_entry("read", "graph", "4-in-flight", n, 4 * n, 932.888001)]
        for entry in entries:
            entry["bytes_per_second"] = float(f"{entry['bytes_per_second']:.9g}")
        _, text, _ = self.run_report(self.write(entries))
        self.assertEqual(self.cells(text, "float_sum, graph", "2^30")[4], "98.0%")

    def test_line_of_a_large_input(self):
        code, text, _ = self.run_report(self.write(gpu_file()))
        self.assertEqual(code, 0)
        # 2^30 bytes in 200 us; the fastest read takes 180, the faster cub 210; quartiles 4 us apart.
        self.assertEqual(
            self.cells(text, "float_sum, graph", "2^28"),
            ["float_sum, graph", "2^28", "200.00", "5368.7", "90.0%", "cub-3.5", "210.00", "1.050",
             "2.0%", "0.0%"])

    def test_ceiling_is_found_by_bytes_and_a_peer_may_be_missing(self):
        _, text, _ = self.run_report(self.write(gpu_file()))
        cells = self.cells(text, "half_sum, graph", "2^29")
        self.assertEqual(cells[4:8], ["90.0%", "", "", ""])

    def test_synchronous_calls_are_all_shown_against_the_peers_and_the_empty_kernel(self):
        _, text, _ = self.run_report(self.write(gpu_file()))
        cells = self.cells(text, "float_sum, sync", "1000")
        self.assertEqual(cells[4:8], ["75.0%", "thrust-3.0", "20.00", "2.500"])
        self.assertEqual(self.cells(text, "float_sum, sync", "1000000")[7], "2.500")

    def test_all_sizes_only_on_demand(self):
        path = self.write(gpu_file())
        self.assertNotIn("| 2^12 | 2.00 |", self.run_report(path)[1])
        self.assertIn("| 2^12 | 2.00 |", self.run_report(path, "--all")[1])

    def test_geometric_mean_and_worst_leave_out_n_beyond_2_26(self):
        _, text, _ = self.run_report(self.write(gpu_file()))
        self.assertEqual(self.cells(text, "float_sum, graph", "2"),
                         ["float_sum, graph", "2", "1.000", "0.500", "2^12"])

    def test_ladder_table_climbs_from_the_first_rung_to_the_peers(self):
        _, text, _ = self.run_report(self.write(gpu_file() + ladder_file()))
        table = text[text.index("## The ladder"):].splitlines()
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table if "|" in line]
        self.assertEqual(lines[0], ["ladder_float_sum", "2^11", "2^26", "of ceiling"])
        self.assertEqual([line[0] for line in lines[2:]],
                         ["02_interleaved", "09_in_place", "10_teaching_naive", "tilefold", "cub-3.0"])
        self.assertEqual(lines[2], ["02_interleaved", "0.2", "536.9", "10.0%"])
        self.assertEqual(lines[3], ["09_in_place", "2.0", "", ""])
        self.assertEqual(lines[5], ["tilefold", "1.4", "4473.9", "83.3%"])

    def test_no_ladder_no_table(self):
        self.assertNotIn("## The ladder", self.run_report(self.write(gpu_file()))[1])

    def compare(self, before, after):
        paths = []
        for name, entries in {"before": before, "after": after}.items():
            path = self.folder / f"{name}.json"
            context = {"device": f"GPU {name}", "host_name": "secret"}
            path.write_text(json.dumps({"context": context, "benchmarks": entries}), encoding="utf-8")
            paths.append(str(path))
        return self.run_report("--compare", *paths)

    def run_of(self, big, small, cub=50.0, read=40.0):
        """Of one shape: our times, quartiles 2% apart at the small n and 0.4% at the large one."""
        return [gpu_entry("float_sum", "graph", "tilefold", 1 << 26, 4 << 26, big, 0.998 * big, 1.002 * big),
                gpu_entry("float_sum", "graph", "tilefold", 1 << 12, 4 << 12, small, 0.99 * small,
                          1.01 * small),
                gpu_entry("float_sum", "graph", "cub-3.0", 1 << 26, 4 << 26, cub),
                gpu_entry("read", "graph", "4-in-flight", 1 << 26, 4 << 26, read)]

    def test_a_run_compared_with_itself_has_moved_nothing(self):
        code, text, _ = self.compare(self.run_of(60.0, 2.0), self.run_of(60.0, 2.0))
        self.assertEqual(code, 0)
        self.assertIn("Before: device GPU before.", text)
        self.assertNotIn("secret", text)
        self.assertNotIn("| float_sum", text)
        self.assertEqual(
            text.splitlines()[-1],
            "4 compared, 2 of them ours: 0 slower by more than 1% (0 beyond both spreads), 0 faster (0); on "
            "average ours changed by +0.00%, all others by +0.00%; 0 only before, 0 only after.")

    def test_what_moved_by_more_than_one_percent_is_told_with_both_spreads(self):
        code, text, _ = self.compare(self.run_of(60.0, 2.0), self.run_of(60.9, 2.03))
        self.assertEqual(code, 1)
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
                 if line.startswith("| float_sum")]
        self.assertEqual(lines, [
            ["float_sum, graph", "2^26", "tilefold", "60.00", "60.90", "+1.5%", "0.4%", "0.4%", "yes"],
            ["float_sum, graph", "2^12", "tilefold", "2.00", "2.03", "+1.5%", "2.0%", "2.0%", ""]])
        self.assertIn("2 slower by more than 1% (1 beyond both spreads), 0 faster (0)", text)
        self.assertIn("ours changed by +1.50%", text)

    def test_less_than_one_percent_within_or_beyond_the_spread_is_not_told(self):
        code, text, _ = self.compare(self.run_of(60.0, 2.0), self.run_of(60.5, 2.01))
        self.assertEqual(code, 0)
        self.assertNotIn("| float_sum", text)
        self.assertIn("ours changed by +0.67%", text)

    def test_slower_within_the_spread_and_faster_rows_are_no_harm(self):
        code, text, _ = self.compare(self.run_of(60.0, 2.0), self.run_of(50.0, 2.03))
        self.assertEqual(code, 0)
        self.assertIn("1 slower by more than 1% (0 beyond both spreads), 1 faster (1)", text)
        # The worst comes first.
        moved = [line for line in text.splitlines() if line.startswith("| float_sum")]
        self.assertIn("+1.5%", moved[0])
        self.assertIn("-16.7%", moved[1])

    def test_the_wider_of_both_spreads_counts(self):
        def run(us, half):
            return [gpu_entry("float_sum", "graph", "tilefold", 4096, 16384, us, us - half, us + half)]

        for first, second in ((0.01, 0.2), (0.2, 0.01)):
            code, text, _ = self.compare(run(10.0, first), run(10.3, second))
            self.assertEqual(code, 0)
            self.assertIn("1 slower by more than 1% (0 beyond both spreads)", text)
        self.assertEqual(self.compare(run(10.0, 0.1), run(10.3, 0.1))[0], 1)

    def test_peers_and_reads_tell_of_the_machine_and_do_no_harm(self):
        code, text, _ = self.compare(self.run_of(60.0, 2.0), self.run_of(60.0, 2.0, cub=55.0, read=44.0))
        self.assertEqual(code, 0)
        self.assertIn("| float_sum, graph | 2^26 | cub-3.0 | 50.00 | 55.00 | +10.0% |", text)
        self.assertIn("| read, graph | 2^26 | 4-in-flight | 40.00 | 44.00 | +10.0% |", text)
        self.assertIn("ours changed by +0.00%, all others by +10.00%", text)

    def test_what_only_one_file_has_is_counted(self):
        new = gpu_entry("half_sum", "graph", "tilefold", 1 << 12, 2 << 12, 1.0)
        code, text, _ = self.compare(self.run_of(60.0, 2.0), [*self.run_of(60.0, 2.0)[:3], new])
        self.assertEqual(code, 0)
        self.assertIn("3 compared", text)
        self.assertIn("1 only before, 1 only after", text)

    def test_the_host_s_repetitions_are_compared(self):
        slow = [{**e, "real_time": 2 * e["real_time"]} for e in host_file()]
        code, text, _ = self.compare(host_file(), slow)
        self.assertEqual(code, 1)
        self.assertIn("| double_sum | 2^20 | tilefold | 100.00 | 200.00 | +100.0% | 20.0% | 20.0% | yes |", text)

    def test_an_unreadable_file_of_two_is_named(self):
        path = self.write(gpu_file())
        code, out, err = self.run_report("--compare", path, str(self.folder / "none.json"))
        self.assertEqual((code, out, err.count("\n")), (2, "", 1))
        self.assertIn("none.json", err)

    def test_context_is_told_but_not_the_machine(self):
        _, text, _ = self.run_report(self.write(gpu_file()))
        self.assertIn("date 2025-01-31, device Some GPU.", text)
        self.assertNotIn("secret", text)

    def test_host_file_with_every_repetition(self):
        _, text, _ = self.run_report(self.write(host_file()))
        self.assertEqual(
            self.cells(text, "double_sum", "2^20"),
            ["double_sum", "2^20", "100.00", "83.9", "", "tbb", "200.00", "2.000", "20.0%", "10.0%"])

    def test_quartiles_of_many_repetitions(self):
        times = report.Times([10.0, 1.0, 9.0, 10.0, 11.0, 12.0, 10.0, 50.0])
        self.assertEqual(times.median, 10.0)
        self.assertAlmostEqual(times.spread, 0.1)

    def test_bad_files_get_one_line_and_code_2(self):
        entry = gpu_file()[0]
        bad = {"no.json": None, "text.json": "not json", "list.json": "[]",
               "empty.json": '{"context": {}, "benchmarks": []}',
               "name.json": json.dumps({"context": {}, "benchmarks": [{**entry, "run_name": "x/y"}]}),
               "unit.json": json.dumps({"context": {}, "benchmarks": [{**entry, "time_unit": "h"}]})}
        for name, text in bad.items():
            path = self.folder / name
            if text is not None:
                path.write_text(text, encoding="utf-8")
            code, out, err = self.run_report(str(path))
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), name)
            self.assertIn(name, err)

    def test_tables_without_matplotlib(self):
        stem = self.folder / "new" / "gpu"
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            code, out, err = self.run_report(self.write(gpu_file()), "--out", str(stem))
        self.assertEqual((code, out), (0, ""))
        self.assertIn("no plots without matplotlib", err)
        self.assertTrue(pathlib.Path(f"{stem}.md").read_text("utf-8").startswith("# tilefold against its peers: gpu\n"))

    def test_pages_have_titles_of_their_own(self):
        stem = self.folder / "gpu"
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            self.run_report(self.write(gpu_file()), "--out", str(stem), "--title", "One fold on an H200")
        self.assertTrue(pathlib.Path(f"{stem}.md").read_text("utf-8").startswith("# One fold on an H200\n"))

    def drawn(self, entries):
        """The stem and, by the end of their files' names, the panels of the figures."""
        figures = []

        def subplots(lines, columns, **_):
            figure, grid = mock.MagicMock(), [[mock.MagicMock() for _ in range(columns)]
                                              for _ in range(lines)]
            figures.append((figure, grid))
            return figure, grid

        pyplot = mock.MagicMock(subplots=subplots)
        stem = str(self.folder / "gpu")
        with mock.patch.dict(sys.modules, {"matplotlib": mock.MagicMock(pyplot=pyplot)}):
            self.run_report(self.write(entries), "--out", stem)
        return {figure.savefig.call_args[0][0].removeprefix(stem): grid for figure, grid in figures}

    def test_plots(self):
        rounds = [gpu_entry("block_256_float_sum", "hot", "tilefold", n, 4 * n, 2.0) for n in (1 << 10, 1 << 16)]
        figures = self.drawn(gpu_file() + rounds)
        self.assertEqual(len(figures["_latency.png"][0]), 1)
        self.assertEqual(list(figures), ["_bandwidth.png", "_latency.png"])
        bandwidth, latency = ({call.kwargs.get("label"): call.args for call in
                               grid[0][0].plot.call_args_list} for grid in figures.values())
        self.assertEqual(set(bandwidth), {"tilefold", "cub-3.0", "cub-3.5", "plain read"})
        self.assertEqual(bandwidth["tilefold"][0], [1 << 12, 1 << 14, 1 << 28])
        self.assertAlmostEqual(bandwidth["tilefold"][1][2], 5368.70912)
        self.assertEqual(latency["cub-3.0"][0], [1 << 12, 1 << 14])
        for got, expected in zip(latency["cub-3.0"][1], [1.0, 4.0]):
            self.assertAlmostEqual(got, expected)

    def test_panels_say_what_n_is_where_it_is_no_number_of_items(self):
        entries = [gpu_entry(shape, "graph", "tilefold", n, 1 << 30, 300.0)
                   for shape in ("exact_sum_float_binades", "float_sum") for n in (1, 250)]
        axes = {grid.set_title.call_args[0][0]: grid for grid in self.drawn(entries)["_bandwidth.png"][0]}
        self.assertEqual(axes["exact_sum_float_binades"].set_xlabel.call_args[0], ("binades",))
        axes["float_sum"].set_xlabel.assert_not_called()

    def test_figures_go_by_bytes_where_n_is_the_length_of_a_segment(self):
        gib, small = 1 << 30, 1 << 20
        large = [gpu_entry("segments_equal", "graph", "tilefold", n, gib, 300.0) for n in (4, 16)]
        batch = [gpu_entry("rows_batch_1", "graph", "tilefold", n, small, 3.0) for n in (4, 16, 64)]
        figures = self.drawn(large + batch)
        lengths = {name: grid[0][0].plot.call_args_list[0].args[0] for name, grid in figures.items()}
        self.assertEqual(lengths, {"_bandwidth.png": [4, 16], "_latency.png": [4, 16, 64]})
        self.assertEqual([len(grid[0]) for grid in figures.values()], [1, 1])

    def test_ladder_plot_has_a_bar_a_rung_and_stays_out_of_the_other_plots(self):
        figures = self.drawn(ladder_file())
        self.assertEqual(list(figures), ["_ladder.png"])
        small, big = figures["_ladder.png"][0]
        self.assertEqual([call.args[0] for call in small.barh.call_args_list], [0, 1, 2, 3, 4])
        # The second rung of five takes no large n.
        places, lengths = zip(*(call.args for call in big.barh.call_args_list))
        self.assertEqual(places, (0, 2, 3, 4))
        self.assertAlmostEqual(lengths[2], 4473.9, places=1)
        self.assertAlmostEqual(big.axvline.call_args[0][0], 5368.7, places=1)
        small.axvline.assert_not_called()


if __name__ == "__main__":
    unittest.main()
