#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What strangers look for is two clicks from the first page of the built site, and in the search. No two pages have one
title. The reference shows no namespace detail.

    python3 docs/site/found.py build/docs/html
"""
import html.parser
import json
import pathlib
import re
import sys

# Words in a row of the first page's table; the page that the row leads to; a heading there, which its list of
# contents shows; words that the search finds it by.
WANTED = [
    ("softmax rows", "cookbook", "Softmax of rows", "softmax rows"),
    ("softmax rows", "cookbook", "Softmax and log_softmax of rows in one call", "log_softmax"),
    ("RMSNorm", "cookbook", "RMSNorm of rows", "rmsnorm"),
    ("histogram", "cookbook", "Histogram of sorted keys", "histogram"),
    ("k best", "cookbook", "The k best", "k best"),
    ("norms", "cookbook", "Norms", "norms"),
    ("statistics of a file", "cookbook", "Statistics of a file", "statistics file"),
    ("MPI", "cookbook", "MPI: the same sum on any number of ranks", "mpi ranks"),
    ("operator", "own_operator", "Custom operators: write your own", "custom operator"),
    ("empty range", "empty", "Empty ranges: what they give", "empty range"),
    ("NaN", "numerics", "NaN", "nan"),
    ("thrust", "migration", "From thrust and CUB", "thrust cub"),
    ("PyTorch", "migration", "From PyTorch", "pytorch"),
    ("std", "migration", "From std", "std"),
    ("cuda.compute", "migration", "From cuda.compute", "cuda.compute"),
    ("Python", "first_steps", "Python", "python"),
    ("P4016R0", "order", "The paper P4016R0", "p4016r0"),
    ("figures", "performance", "In pictures", "pictures"),
    ("faster than CUB", "performance", "In pictures", "performance"),
    ("batch-invariant sums in torch", "python", "For torch, with gradients", "torch"),
    ("my own reducer", "reducers", "Reducers of your own", "reducers of your own"),
    ("empty segment", "empty", "In segments, arrays, rows and columns", "empty ranges"),
    ("my own stream", "streams", "Your own stream and workspace", "your own stream"),
    ("memory pool", "streams", "Workspace from a memory pool", "memory pool"),
    ("CUDA graph", "streams", "Capture into a graph", "graph"),
    ("Which GPUs", "compilers", "GPUs", "gpus"),
    ("cite", "versions", "How to cite", "cite"),
    ("tile policy", "policy", "When to set one", "tile policies"),
]


class Page(html.parser.HTMLParser):
    """Its rows (their text, the links in them) and its headings."""

    def __init__(self, path):
        super().__init__()
        self.rows, self.headings, self.open = [], [], None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append(["", []])
            self.open = "tr"
        elif tag in ("h1", "h2", "h3"):
            self.headings.append("")
            self.open = tag
        elif tag == "a" and self.open == "tr":
            self.rows[-1][1].append(dict(attributes).get("href", ""))
        elif tag == "a" and "headerlink" in dict(attributes).get("class", ""):
            self.open = None

    def handle_endtag(self, tag):
        if tag == self.open:
            self.open = None

    def handle_data(self, data):
        if self.open == "tr":
            self.rows[-1][0] += data
        elif self.open:
            self.headings[-1] += data


def complaints(site):
    first = Page(site / "docs/index.html")
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    titles = json.loads(index[index.index("(") + 1:index.rindex(")")])["alltitles"]
    for words, name, heading, search in WANTED:
        leading = [links for text, links in first.rows if words in text]
        if not any(link.split("#")[0] == f"{name}.html" for links in leading for link in links):
            yield f"the first page has no row '{words}' that leads to {name}.md"
        if heading not in Page(site / f"docs/{name}.html").headings:
            yield f"{name}.md has no heading '{heading}'"
        if not any(all(word in title.lower() for word in search.split()) for title in titles):
            yield f"no title has the words '{search}', so the search shows another page first"
    for title, places in titles.items():
        pages = [page for page, anchor in places if anchor is None]
        if len(pages) > 1:
            yield f"{len(pages)} pages have the title '{title}'"


def inner_names(site):
    """Signatures of the reference that no caller would write."""
    for page in sorted((site / "docs/reference").glob("*.html")):
        for found in re.finditer(r'<dt class="sig.*?</dt>', page.read_text(encoding="utf-8"), re.DOTALL):
            signature = " ".join(re.sub(r"<[^>]*>", "", found[0]).split())
            if "detail::" in signature or "Dispatch" in signature:
                yield f"reference/{page.name} shows a name of the library's own: {signature}"


if __name__ == "__main__":
    site_folder = pathlib.Path(sys.argv[1])
    wrong = [*complaints(site_folder), *inner_names(site_folder)]
    if wrong:
        sys.exit("\n".join(wrong))
