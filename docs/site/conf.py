# SPDX-License-Identifier: Apache-2.0
"""The site. Its pages are the Markdown files of the repository, where they stand."""
import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[2]
config = (root / "include/tilefold/config.hpp").read_text()

project = "tilefold"
author = "the tilefold maintainers"
release = ".".join(re.findall(r"#define TILEFOLD_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", config))
version = release

extensions = ["myst_parser", "breathe", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "docs/*.md",
    "docs/reference/*.md",
    "docs/notes/*.md",
    "python/README.md",
    "packaging/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "test/README.md",
    "benchmark/README.md",
    "benchmark/ladder/README.md",
    "benchmark/results/*.md",
]
exclude_patterns = ["build*", ".git"]

# Headings can be linked to as on a code host; a link that leads nowhere is a warning, so an error.
myst_heading_anchors = 4

breathe_projects = {"tilefold": str(root / "build/docs/doxygen/xml")}
breathe_default_project = "tilefold"
breathe_domain_by_extension = {"hpp": "cpp", "cuh": "cpp", "h": "c"}
primary_domain = "cpp"
# Every header has a part of one namespace, which is then "declared" in each of them.
suppress_warnings = ["duplicate_declaration.cpp"]
highlight_language = "none"

html_theme = "furo"
html_title = f"tilefold {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# The first page is docs/index.html; this leads there.
html_extra_path = ["extra"]



def show_menu(app, page, text):
    """The menu is a comment of docs/index.md, which code hosts do not show."""
    text[0] = re.sub(r"^<!-- site:.*\n((?:.*\n)*?)-->$", r"\1", text[0], flags=re.MULTILINE)


def setup(app):
    app.connect("source-read", show_menu)
