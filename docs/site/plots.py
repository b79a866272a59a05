#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/plots/*.svg from the tables of benchmark/results.

    python3 docs/site/plots.py            writes them
    python3 docs/site/plots.py --check    fails if they are not those of the tables
"""
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmark/results"
PLOTS = ROOT / "docs/plots"
ROW = re.compile(r"^\| (\w+), graph \| (\d+(?:\^\d+)?) \| ([\d.]+) \| ([\d.]+) \| [^|]* \| ([^|]*) \| ([\d.]+) \|", re.M)

# Of the whole picture, and of the frame within it.
WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 700, 48, 340
COLORS = {"tilefold": "#2a6fdb", "the best peer": "#d9822b"}


def number(text):
    base, _, power = text.partition("^")
    return int(base) ** int(power) if power else int(base)


def read(page, shape):
    """[(n, GB/s of tilefold, GB/s of the best peer)] of the rows that a graph started."""
    rows = []
    for name, n, us, gigabytes, _, peer_us in ROW.findall((RESULTS / page).read_text()):
        if name == shape:
            rows.append((number(n), float(gigabytes), float(gigabytes) * float(us) / float(peer_us)))
    if not rows:
        raise SystemExit(f"plots.py: {page} has no row of {shape}")
    return sorted(rows)


def text(x, y, words, anchor="middle", size=13, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{extra}>{words}</text>'


def draw(title, below, rows, top):
    """Bandwidth over a logarithmic n."""
    first, last = math.log2(rows[0][0]), math.log2(rows[-1][0])

    def at(n, gigabytes):
        x = LEFT + (math.log2(n) - first) / (last - first) * (RIGHT - LEFT)
        return x, BOTTOM - gigabytes / top * (BOTTOM - TOP)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'role="img" aria-label="{title}">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
             text(WIDTH / 2, 24, title, size=16)]
    for gigabytes in range(0, top + 1, 1000):
        y = at(rows[0][0], gigabytes)[1]
        lines.append(f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="#dddddd"/>')
        lines.append(text(LEFT - 8, y + 4, gigabytes, "end"))
    lines.append(text(16, (TOP + BOTTOM) / 2, "GB/s", extra=f' transform="rotate(-90 16 {(TOP + BOTTOM) / 2:.1f})"'))
    for power in range(math.ceil(first), math.floor(last) + 1, 2):
        x = at(2.0 ** power, 0)[0]
        lines.append(text(x, BOTTOM + 20, f'2<tspan dy="-5" font-size="9">{power}</tspan>'))
    lines.append(text((LEFT + RIGHT) / 2, BOTTOM + 44, below))
    for i, (who, color) in enumerate(COLORS.items()):
        points = [at(row[0], row[1 + i]) for row in rows]
        lines.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="'
                     + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
        lines.append(f'<rect x="{LEFT + 16}" y="{TOP + 12 + 20 * i}" width="16" height="4" fill="{color}"/>')
        lines.append(text(LEFT + 40, TOP + 18 + 20 * i, who, "start"))
    return "\n".join(lines) + "\n</svg>\n"


def main():
    one, many, exact = "h200_gpu.md", "h200_segments.md", "h200_exact.md"
    pictures = {
        "float_sum.svg": draw("Sum of float on an H200, over cold memory", "items", read(one, "float_sum"), 5000),
        "half_sum.svg": draw("Sum of half in float on an H200, over cold memory", "items",
                             read(one, "half_to_float_sum"), 5000),
        "segments.svg": draw("Sums of segments by offsets, up to 4 GiB of float on an H200", "items a segment",
                             read(many, "segments_constant"), 5000),
        "exact_floats.svg": draw("Exact sum of 1 GiB of float on an H200", "binades that exponents are drawn from",
                                 read(exact, "exact_sum_float_binades"), 5000),
        "exact_doubles.svg": draw("Exact sum of 1 GiB of double on an H200", "binades that exponents are drawn from",
                                  read(exact, "exact_sum_double_binades"), 5000),
    }
    wrong = [name for name, picture in pictures.items()
             if not (PLOTS / name).exists() or (PLOTS / name).read_text() != picture]
    if sys.argv[1:] == ["--check"]:
        if wrong:
            raise SystemExit(f"docs/plots: {', '.join(wrong)} not of today's tables: run docs/site/plots.py")
        return
    PLOTS.mkdir(exist_ok=True)
    for name, picture in pictures.items():
        (PLOTS / name).write_text(picture)


if __name__ == "__main__":
    main()
