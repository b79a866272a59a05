#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of what a benchmark program wrote as JSON, or what changed between two such files.

    report.py gpu.json --all --out STEM
    report.py --compare before.json after.json

Needs Python 3.9 and nothing else for the tables; the plots need matplotlib and are left out, with a
word on stderr, where it is missing. Times are medians over a contestant's repetitions.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import sys
from dataclasses import dataclass, field

OURS = "tilefold"
CEILING = "read"  # the shape whose contestants only read, or the contestant of another shape that does
PLACES = ("managed", "pinned")  # other than the GPU's memory: read there as well
ROUNDS = ("warp_", "block_")  # shapes of folds in kernels, where bytes and n mean little: not drawn
SMALL = 8 << 20  # bytes up to which the time matters rather than the bandwidth
N_IS = {r".*_binades": "binades", r"deposit_.*": "accumulators"}  # where a shape's n is no number of items
LADDER = "ladder_"  # shapes whose contestants are the classic kernels, numbered, and all of us
NO_PART_OF_THE_NAME = re.compile(r"(real_time|manual_time|process_time|[a-z_]+:.*)$")
# Of Google Benchmark's own context: tells of the machine's place, not of its speed.
PRIVATE = {"host_name", "executable"}
TIMES = ("real_time", "lower_quartile", "upper_quartile")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass
class Times:
    """Of one contestant at one n, in seconds."""
    all: list = field(default_factory=list)
    bytes: float = 0.0

    @property
    def median(self):
        return statistics.median(self.all)

    @property
    def spread(self):
        """From the first to the third quartile, as a share of the median."""
        ordered = sorted(self.all)
        outer = len(ordered) // 4
        return (ordered[-1 - outer] - ordered[outer]) / self.median


@dataclass
class Row:
    """All contestants in one shape and mode at one n."""
    shape: str
    mode: str
    n: int
    contestants: dict = field(default_factory=dict)
    ceiling: float = None  # seconds

    @property
    def bytes(self):
        return next(iter(self.contestants.values())).bytes

    def rounded_bytes(self):
        """What rows of as many bytes have in common: files give times and rates in nine digits."""
        return float(f"{self.bytes:.6g}")

    def best_peer(self):
        peers = {who: t for who, t in self.contestants.items() if not who.startswith(OURS)}
        return min(peers, key=lambda who: peers[who].median, default=None)

    def ratio(self):
        """The best peer's time in units of ours: above 1 we are faster."""
        peer = self.best_peer()
        if peer is None or OURS not in self.contestants:
            return None
        return self.contestants[peer].median / self.contestants[OURS].median


def split_name(name):
    """shape, mode, contestant, n of a run's name; the host's names have no mode."""
    parts = [p for p in name.split("/") if not NO_PART_OF_THE_NAME.match(p)]
    if len(parts) == 3:
        parts.insert(1, "host")
    if len(parts) != 4 or not parts[3].isdigit():
        raise ValueError(f"'{name}' is not shape/[mode/]contestant/n")
    return parts[0], parts[1], parts[2], int(parts[3])


def add_entry(rows, entry):
    """Takes one repetition, or the median one with the quartiles as counters."""
    shape, mode, who, n = split_name(entry.get("run_name", entry["name"]))
    unit = SECONDS[entry["time_unit"]]
    row = rows.setdefault((shape, mode, n), Row(shape, mode, n))
    times = row.contestants.setdefault(who, Times())
    times.all += [entry[k] * unit for k in TIMES if k in entry]
    times.bytes = entry["bytes_per_second"] * entry["real_time"] * unit


def place_of(shape):
    """Where the items of a shape lie, if it names a place of its own."""
    return next((place for place in PLACES if shape.endswith("_" + place)), "")


def attach_ceilings(rows):
    """Moves the plain reads out of the rows, and the fastest for as many bytes into them."""
    fastest = {}
    reads = {CEILING, *(f"{CEILING}_{place}" for place in PLACES)}
    for row in [r for r in rows if r.shape in reads]:
        key = (place_of(row.shape), row.mode, row.rounded_bytes())
        fastest[key] = min([t.median for t in row.contestants.values()] + [fastest.get(key, math.inf)])
    kept = [r for r in rows if r.shape not in reads]
    for row in kept:
        # A shape of its own may have brought its ceiling along.
        own = row.contestants.pop(CEILING, None)
        key = (place_of(row.shape), row.mode, row.rounded_bytes())
        row.ceiling = own.median if own else fastest.get(key)
    return kept


def read_rows(path):
    """The context and the rows of a JSON file, plain reads being rows like others."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    rows = {}
    for entry in data["benchmarks"]:
        if entry.get("run_type", "iteration") == "iteration" and not entry.get("error_occurred"):
            add_entry(rows, entry)
    if not rows:
        raise ValueError("it holds no measurements")
    return data["context"], sorted_rows(rows.values())


def load(path):
    """The context and the rows of a JSON file, rows in the order of their shapes in the file."""
    context, rows = read_rows(path)
    return context, attach_ceilings(rows)


def sorted_rows(rows):
    """Repetitions may come in any order: by name, mode and n, sums of floats first."""
    first = ["float_sum", "double_sum"]
    rank = {shape: i for i, shape in enumerate(first)}
    return sorted(rows, key=lambda r: (rank.get(r.shape, len(first)), r.shape, r.mode, r.n))


# ---- tables


def power(n):
    exponent = n.bit_length() - 1
    return f"2^{exponent}" if n == 1 << exponent else str(n)


def fixed(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def percent(value):
    return "" if value is None else f"{100 * value:.1f}%"


def table(header, lines):
    rule = ["---"] + ["--:"] * (len(header) - 1)
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [header, rule, *lines])


def row_cells(row):
    ours = row.contestants.get(OURS)
    peer = row.best_peer()
    if ours is None:
        return None
    return [
        title_of(row), power(row.n), fixed(ours.median * 1e6, 2), fixed(row.bytes / ours.median / 1e9, 1),
        percent(row.ceiling and row.ceiling / ours.median), peer or "",
        fixed(peer and row.contestants[peer].median * 1e6, 2), fixed(row.ratio(), 3),
        percent(ours.spread), percent(peer and row.contestants[peer].spread)
    ]


def row_table(rows):
    header = ["shape", "n", "us", "GB/s", "of ceiling", "best peer", "peer us", "ratio", "spread",
              "peer spread"]
    return table(header, [cells for cells in map(row_cells, rows) if cells])


def largest(rows):
    """Of every shape and mode the row of the largest n; of synchronous calls all."""
    last = {(r.shape, r.mode): r for r in rows}
    return [r for r in rows if r.mode == "sync" or last[r.shape, r.mode] is r]


def ratio_table(rows, most_items):
    groups = {}
    for row in rows:
        if row.ratio() is not None and row.n <= most_items:
            groups.setdefault((row.shape, row.mode), []).append(row)
    lines = []
    for (shape, mode), members in groups.items():
        worst = min(members, key=Row.ratio)
        mean = statistics.geometric_mean(r.ratio() for r in members)
        name = shape if mode == "host" else f"{shape}, {mode}"
        lines.append([name, str(len(members)), fixed(mean, 3), fixed(worst.ratio(), 3), power(worst.n)])
    return table(["shape", "sizes", "geometric mean", "worst", "at n"], lines)


def is_ladder(row):
    return row.shape.startswith(LADDER)


def ladders(rows):
    """The rows of each ladder by its name, n ascending."""
    result = {}
    for row in filter(is_ladder, rows):
        result.setdefault(row.shape, []).append(row)
    return result


def rungs(rows):
    """The contestants of a ladder from the first rung up: the numbered ones, ours, then the peers."""
    names = {who for row in rows for who in row.contestants}
    return sorted(names, key=lambda who: (not who[0].isdigit(), not who.startswith(OURS), who))


def rung_cells(who, rows):
    """GB/s at each n, and the share of the ceiling at the last; blank where it cannot take n."""
    times = [row.contestants.get(who) for row in rows]
    last = rows[-1].ceiling and times[-1] and rows[-1].ceiling / times[-1].median
    return [who, *(fixed(t and gigabytes(row, t), 1) for row, t in zip(rows, times)), percent(last)]


def ladder_tables(rows):
    parts = []
    for shape, members in ladders(rows).items():
        header = [shape, *(power(row.n) for row in members), "of ceiling"]
        parts.append("## The ladder: GB/s of every classic kernel at each n\n")
        parts.append(table(header, [rung_cells(who, members) for who in rungs(members)]))
    return parts


def facts(context):
    return ", ".join(f"{k} {v}" for k, v in context.items() if isinstance(v, str) and k not in PRIVATE)


def title_of(row):
    return row.shape if row.mode == "host" else f"{row.shape}, {row.mode}"


def markdown(context, rows, everything, title):
    return "\n".join([
        f"# {title}\n",
        facts(context) + ".\n",
        "Ratio: the best peer's time divided by tilefold's, so above 1 tilefold is faster. Ceiling: the "
        "fastest kernel that only reads as many bytes, started the same way; for synchronous calls an "
        "empty kernel and the wait for it. Spread: the middle half of the repetitions, of the median.\n",
        "## " + ("All sizes" if everything else "The largest inputs, and synchronous calls") + "\n",
        row_table(rows if everything else largest(rows)),
        "## Ratio over all n up to 2^26\n",
        ratio_table(rows, 1 << 26),
        *ladder_tables(rows),
    ])


# ---- what changed between two files

MOVED = 0.01  # a time that changes by more is told


@dataclass
class Change:
    """One contestant at one n in two runs."""
    row: Row
    who: str
    before: Times
    after: Times

    @property
    def share(self):
        """Above 0 it became slower."""
        return self.after.median / self.before.median - 1

    @property
    def moved(self):
        return abs(self.share) > MOVED

    @property
    def ours(self):
        return self.who.startswith(OURS)

    @property
    def beyond_spreads(self):
        return abs(self.share) > max(self.before.spread, self.after.spread)

    def cells(self):
        return [
            title_of(self.row), power(self.row.n), self.who, fixed(self.before.median * 1e6, 2),
            fixed(self.after.median * 1e6, 2), f"{100 * self.share:+.1f}%", percent(self.before.spread),
            percent(self.after.spread), "yes" if self.beyond_spreads else ""
        ]


def changes(before, after):
    """Of all contestants that both runs measured, and how many only one of them did."""
    first, second = ({(r.shape, r.mode, r.n, who): (r, t) for r in rows for who, t in r.contestants.items()}
                     for rows in (before, after))
    both = [Change(row, key[3], times, second[key][1]) for key, (row, times) in first.items()
            if key in second]
    return both, len(first.keys() - second.keys()), len(second.keys() - first.keys())


def summary(found, lost, added):
    """One line; what peers and plain reads did says how far the machine itself changed."""
    ours = [c for c in found if c.ours]
    slower = [c for c in ours if c.moved and c.share > 0]
    faster = [c for c in ours if c.moved and c.share < 0]
    others = [1 + c.share for c in found if not c.ours]
    control = f", all others by {100 * (statistics.geometric_mean(others) - 1):+.2f}%" if others else ""
    mean = statistics.geometric_mean([1 + c.share for c in ours]) - 1 if ours else 0.0
    return (f"{len(found)} compared, {len(ours)} of them ours: {len(slower)} slower by more than "
            f"{100 * MOVED:.0f}% ({sum(c.beyond_spreads for c in slower)} beyond both spreads), "
            f"{len(faster)} faster ({sum(c.beyond_spreads for c in faster)}); on average ours changed by "
            f"{100 * mean:+.2f}%{control}; {lost} only before, {added} only after.")


def comparison(before, after):
    """The text, and whether nothing of ours became slower beyond both spreads."""
    (old_context, old_rows), (new_context, new_rows) = before, after
    found, lost, added = changes(old_rows, new_rows)
    moved = sorted((c for c in found if c.moved), key=lambda c: (not c.ours, -c.share))
    header = ["shape", "n", "who", "before us", "after us", "change", "spread", "spread after",
              "beyond both"]
    text = "\n".join([
        f"Before: {facts(old_context)}.\n", f"After: {facts(new_context)}.\n",
        table(header, [c.cells() for c in moved]), summary(found, lost, added)
    ])
    return text, not any(c.ours and c.moved and c.share > 0 and c.beyond_spreads for c in found)


# ---- plots


def curves(rows, value):
    """{contestant: ([n], [value(row, contestant's times)])} of the rows of one shape and mode."""
    result = {}
    for row in rows:
        for who, times in row.contestants.items():
            xs, ys = result.setdefault(who, ([], []))
            xs.append(row.n)
            ys.append(value(row, times))
    return result


def gigabytes(row, times):
    return row.bytes / times.median / 1e9


def microseconds(_, times):
    return times.median * 1e6


def panels(rows, modes, most_bytes, least_bytes=0):
    """The rows of at most as many bytes by title of their panel: two or more sizes of one shape and mode,
    of which one reaches the least."""
    result = {}
    for row in rows:
        if (row.mode in modes and row.bytes <= most_bytes and not is_ladder(row)
                and not row.shape.startswith(ROUNDS)):
            title = row.shape if row.mode in ("graph", "host") else f"{row.shape}, {row.mode}"
            result.setdefault(title, []).append(row)
    return {title: members for title, members in result.items()
            if len(members) > 1 and max(row.bytes for row in members) >= least_bytes}


def draw_panel(axes, title, rows, value):
    for who, (xs, ys) in sorted(curves(rows, value).items(), key=lambda item: item[0] != OURS):
        ours = who.startswith(OURS)
        axes.plot(xs, ys, label=who, linewidth=2 if ours else 1, marker="." if ours else "")
    ceiling = [(r.n, value(r, Times([r.ceiling]))) for r in rows if r.ceiling]
    if ceiling:
        axes.plot(*zip(*ceiling), "k:", linewidth=1, label="plain read")
    axes.set_xscale("log", base=2)
    axes.set_title(title, fontsize=9)
    for label in (label for shape, label in N_IS.items() if re.fullmatch(shape, rows[0].shape)):
        axes.set_xlabel(label, fontsize=7)
    axes.tick_params(labelsize=7)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=6)


def draw(plt, path, by_title, value, unit):
    """One figure of small panels; nothing if there is nothing to show."""
    if not by_title:
        return False
    columns = min(3, len(by_title))
    lines = math.ceil(len(by_title) / columns)
    figure, grid = plt.subplots(lines, columns, figsize=(3.6 * columns, 2.6 * lines), squeeze=False)
    flat = [axes for line in grid for axes in line]
    for axes, (title, rows) in zip(flat, by_title.items()):
        draw_panel(axes, title, rows, value)
    for axes in flat[len(by_title):]:
        axes.set_visible(False)
    figure.supylabel(unit, fontsize=9)
    figure.supxlabel("items", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return True


def draw_bars(axes, row, order):
    """Bars of GB/s, the first rung on top; no bar where a rung cannot take n."""
    for place, who in enumerate(order):
        if who in row.contestants:
            axes.barh(place, gigabytes(row, row.contestants[who]),
                      color="tab:blue" if who.startswith(OURS) else "silver")
    if row.ceiling:
        axes.axvline(gigabytes(row, Times([row.ceiling])), color="k", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(order)), labels=order)
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_title(f"{power(row.n)} items", fontsize=9)
    axes.tick_params(labelsize=7)
    axes.grid(axis="x", alpha=0.3)


def draw_ladder(plt, path, by_shape):
    """One line of panels for each ladder, one panel for each n; nothing without a ladder."""
    if not by_shape:
        return False
    columns = max(len(rows) for rows in by_shape.values())
    figure, grid = plt.subplots(len(by_shape), columns, figsize=(1.4 + 2.4 * columns, 3.6 * len(by_shape)),
                                squeeze=False, sharey="row")
    for line, rows in zip(grid, by_shape.values()):
        for axes, row in zip(line, rows):
            draw_bars(axes, row, rungs(rows))
        for axes in line[len(rows):]:
            axes.set_visible(False)
    figure.supxlabel("GB/s (dotted: plain read)", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return True


def plot(rows, stem):
    """Writes STEM_bandwidth.png, STEM_latency.png and STEM_ladder.png, each if there is something
    to show; the paths that were written."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figures = [
        (f"{stem}_bandwidth.png", panels(rows, {"graph", "host"}, math.inf, SMALL), gigabytes, "GB/s"),
        (f"{stem}_latency.png", panels(rows, {"graph", "stream", "hot"}, SMALL), microseconds, "us"),
    ]
    written = [path for path, *what in figures if draw(pyplot, path, *what)]
    path = f"{stem}_ladder.png"
    return written + [path] * draw_ladder(pyplot, path, ladders(rows))


class Unreadable(Exception):
    """Names the file."""


def named(read):
    """read(path), whose errors name the path."""

    def reading(path):
        try:
            return read(path)
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise Unreadable(f"{path}: {problem!r}") from problem

    return reading


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", nargs="?", help="what --benchmark_out wrote")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"),
                        help="what moved by more than 1%% between two files; 1 is returned if something of "
                        "ours became slower by more than both spreads")
    parser.add_argument("--all", action="store_true", help="a line for every n, not the largest alone")
    parser.add_argument("--out", metavar="STEM",
                        help="write STEM.md and STEM_*.png, and not the tables to stdout")
    parser.add_argument("--title", help="the page's title, which no other page of the site should have")
    given = parser.parse_args(arguments)
    if (given.json is None) == (given.compare is None):
        parser.error("one JSON file, or --compare and two")
    try:
        if given.compare:
            text, unharmed = comparison(*map(named(read_rows), given.compare))
            print(text)
            return 0 if unharmed else 1
        context, rows = named(load)(given.json)
    except Unreadable as problem:
        print(f"report.py: {problem}", file=sys.stderr)
        return 2
    stem = f": {pathlib.Path(given.out).name}" if given.out else ""
    text = markdown(context, rows, given.all, given.title or f"tilefold against its peers{stem}")
    if not given.out:
        print(text)
        return 0
    pathlib.Path(given.out).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(given.out + ".md").write_text(text, encoding="utf-8")
    try:
        plot(rows, given.out)
    except ImportError:
        print("report.py: no plots without matplotlib", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
