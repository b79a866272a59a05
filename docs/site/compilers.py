#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No compiler of docs/compilers.md is "CI" or "by hand" without a step: in cmake/compilers.sh, or in CI's own build.

    python3 docs/site/compilers.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIANS = {"Debian 12": "bookworm", "Debian 13": "trixie", "Debian sid": "sid"}
# Those that build all tests: what Debian 12 calls g++ and clang++, and the toolkit's nvcc and NVRTC.
OWN_OF_HOST = {"g++-12 of bookworm", "clang++-14 of bookworm"}
OWN_OF_CUDA = {"nvcc 13.0", "NVRTC 13.0"}


def rows(page, heading):
    """The cells of the first table below a heading, without its head."""
    lines = page.split(f"\n## {heading}\n")[1].split("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]


def of_host(page, script):
    """What the page says is compiled, and what the script compiles: compilers, and of which Debian."""
    said = set()
    for name, headers, _, debian in rows(page, "C++"):
        if headers.startswith("CI"):
            family, versions = name.split(" ", 1)
            said |= {f"{family.replace('clang', 'clang++')}-{version} of {DEBIANS[debian]}"
                     for version in versions.split(", ")}
    done = {f"{compiler} of {suite}" for suite in DEBIANS.values()
            for compiler in re.search(rf'^{suite}="(.*)"$', script, re.M)[1].split()}
    return said, done | OWN_OF_HOST


def of_cuda(page, script):
    """The same for CUDA: compilers with the versions of their toolkits. The script says what has passed."""
    said = set()
    for name, toolkit, headers, *_ in rows(page, "CUDA"):
        if headers.startswith("CI"):
            family, versions = name.split(" ", 1)
            said |= {f"clang++-{version}, CUDA {toolkit.split(',')[0]}" if family == "clang" else f"{family} {version}"
                     for version in versions.split(", ")}
    in_ci = script.split("--all ] || exit 0")[0]
    done = set(OWN_OF_CUDA)
    for text in re.findall(r'said "((?:\$compiler, CUDA|nvcc|NVRTC) [\d.]+)"', in_ci):
        loop = re.search(r"^for compiler in (clang.*); do$", in_ci, re.M)[1].split()
        done |= {text.replace("$compiler", compiler) for compiler in loop}
    return said, done


if __name__ == "__main__":
    page = (ROOT / "docs/compilers.md").read_text(encoding="utf-8")
    script = (ROOT / "cmake/compilers.sh").read_text(encoding="utf-8")
    wrong = []
    for said, done in (of_host(page, script), of_cuda(page, script)):
        wrong += [f"docs/compilers.md says CI of {what}, which no step compiles" for what in sorted(said - done)]
        wrong += [f"docs/compilers.md does not name {what}, which a step compiles" for what in sorted(done - said)]
    if wrong:
        sys.exit("\n".join(wrong))
