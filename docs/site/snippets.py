#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the C++, CUDA, C and Python blocks of the pages, and runs those whose output stands below them.

    python3 docs/site/snippets.py [--library FILE] [--jobs N] [PAGE...]

A block with an `int main` is a program. Any other needs a comment right above it, which pages do not show:

    <!-- snippet: DECLARATIONS -->          statements: wrapped in a function, after these declarations
    <!-- snippet kernel: DECLARATIONS -->   the same in a kernel
    <!-- snippet file: DECLARATIONS -->     declarations at file scope, after these
    <!-- snippet not compiled: REASON -->   and where else it is compiled, if it is (Python is parsed all the same)

An `output` block behind a program is what it prints; a command may stand between. CUDA programs are compiled, and run
only where there is a GPU. All CUDA fragments are one translation unit, all C++ fragments another. nvcc, MPI, libtilefold
and NumPy are used where they are there; what was left out for want of them is said, and is an error with --no-skips.
Python that imports torch runs where there is one, and is parsed elsewhere; python/gpu_tests runs the README's, too.

README.md has at most 180 lines. Its blocks are programs without a comment above them, and with their output.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "python/README.md", "docs/*.md"]
LANGUAGES = {"cpp", "cuda", "c", "python"}
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!--\s*snippet( file| kernel| not compiled)?:((?:(?!-->).)*)-->\s*\Z", re.DOTALL)
README_LINES = 180
INCLUDE = re.compile(r"^#include .*\n?", re.MULTILINE)


class Block:
    def __init__(self, page, line, language, code, mark, output):
        self.place = f"{page}:{line}"
        self.line = line
        self.page = page
        self.language = language
        self.code = code
        self.kind, self.given = mark or (None, "")
        self.output = output
        if self.kind is None and (re.search(r"\bint main\b", code) or language == "python"):
            self.kind = "program"


def read_blocks(page):
    text = (ROOT / page).read_text()
    found = list(FENCE.finditer(text))
    for i, fence in enumerate(found):
        if fence[1] not in LANGUAGES:
            continue
        mark = MARK.search(text, 0, fence.start())
        kinds = {None: "statements", " file": "file", " kernel": "kernel", " not compiled": "not compiled"}
        following = found[i + 1] if i + 1 < len(found) else None
        output = None
        between = re.sub(r"^ {4}.*$", "", text[fence.end():following.start()], flags=re.M) if following else ""
        if following and following[1] == "output" and not between.strip():
            output = following[2]
        yield Block(page, text.count("\n", 0, fence.start()) + 2, fence[1], fence[2],
                    mark and (kinds[mark[1]], mark[2].strip()), output)


def complaints_of_readme():
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > README_LINES:
        yield f"README.md has {lines} lines, and may have {README_LINES}"
    for block in read_blocks("README.md"):
        if block.kind != "program" or block.given or block.output is None:
            yield f"{block.place}: not a program with its output; whoever pastes it sees no hidden comment"


def at_line(block, code):
    """Compilers then name the page and the line."""
    return f'#line {block.line} "{ROOT / block.page}"\n{code}'


def fragments_file(blocks, header):
    """One translation unit of all fragments of a language."""
    includes, pages = {f"#include <{header}>\n": None, "#include <vector>\n": None}, {}
    for number, block in enumerate(blocks):
        for include in INCLUDE.findall(block.given + "\n" + block.code):
            includes[include.strip() + "\n"] = None
        given = INCLUDE.sub("", block.given)
        # A blank line for each include, so that lines keep their numbers.
        code = at_line(block, INCLUDE.sub("\n", block.code))
        if block.kind == "statements":
            # A namespace for the declarations, of which templates and structs cannot stand in a function; a
            # function of any type, so that a snippet may return something.
            outer = "\n".join(re.findall(r"^(?:template|struct) .*", given, re.MULTILINE))
            given = re.sub(r"^(?:template|struct) .*", "", given, flags=re.MULTILINE)
            code = (f"namespace snippet_{number} {{\n{outer}\n"
                    f"[[maybe_unused]] inline auto snippet() {{\n{given}\n{code}}}\n}}\n")
        elif block.kind == "kernel":
            code = f"namespace snippet_{number} {{\n__global__ void snippet() {{\n{given}\n{code}}}\n}}\n"
        else:
            code = f"{given}\n{code}"
        pages[block.page] = pages.get(block.page, "") + code
    # A page's blocks share a namespace, so that what one declares the next can use.
    return "".join(includes) + "".join(f"namespace page_{i} {{\n{code}}}\n" for i, code in enumerate(pages.values()))


class Compilers:
    def __init__(self, folder, library):
        self.folder = pathlib.Path(folder)
        self.library = library
        self.nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        smi = shutil.which("nvidia-smi")
        self.gpu = smi and subprocess.run([smi, "-L"], capture_output=True).returncode == 0
        self.mpi = shutil.which("mpicxx")
        self.cxx = shutil.which("g++") or shutil.which("c++")
        self.cc = shutil.which("gcc") or shutil.which("cc")
        ccache = shutil.which("ccache")
        self.cached = [ccache] if ccache else []

    def run(self, command, name, **options):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=self.folder, **options)
        if done.returncode != 0:
            return f"{name}: {' '.join(map(str, command[:2]))}... failed\n{done.stdout[-3000:]}{done.stderr[-6000:]}"
        return done

    def compare(self, block, command, **options):
        done = self.run(command, block.place, **options)
        if isinstance(done, str):
            return done
        if [line.rstrip() for line in done.stdout.rstrip().split("\n")] != block.output.rstrip().split("\n"):
            return f"{block.place}: prints\n{done.stdout}and the page says\n{block.output}"
        return None

    def host(self, block, stem):
        """A program in C++ or C."""
        cpp = block.language == "cpp"
        source = self.folder / (stem + (".cpp" if cpp else ".c"))
        source.write_text(at_line(block, block.code))
        driver = [self.cxx, "-std=c++20"] if cpp else [self.cc, "-std=c11"]
        warnings = ["-Wall", "-Wextra", "-Werror"]
        if "tilefold/mpi.hpp" in block.code or "<mpi.h>" in block.code:
            if not self.mpi:
                return f"skipped {block.place}: there is no MPI"
            driver[0] = self.mpi
            warnings.append("-Wno-cast-function-type")  # Open MPI's own header
        compile_ = [*driver, *warnings, f"-I{ROOT / 'include'}"]
        runs = block.output is not None and (cpp or self.library)
        if not runs:
            done = self.run([*compile_, "-fsyntax-only", source], block.place)
            if isinstance(done, str) or block.output is None:
                return done if isinstance(done, str) else None
            return f"skipped {block.place}: running it needs libtilefold"
        program = self.folder / stem
        link = [] if cpp else [self.library, f"-Wl,-rpath,{pathlib.Path(self.library).parent}"]
        done = self.run([*self.cached, *compile_, "-O0", "-c", source, "-o", f"{program}.o"], block.place)
        if not isinstance(done, str):
            done = self.run([driver[0], f"{program}.o", *link, "-o", program], block.place)
        return done if isinstance(done, str) else self.compare(block, [program])

    def parse(self, block):
        """A program in Python, or one that nothing here can run."""
        try:
            compile(block.code, block.place, "exec")
        except SyntaxError as e:
            return f"{block.place}: {e}"
        return None

    def python(self, block):
        if wrong := self.parse(block):
            return wrong
        if not self.library or not self.has_module("numpy"):
            return f"skipped {block.place}: running it needs libtilefold and NumPy"
        if re.search(r"^import torch\b", block.code, re.MULTILINE) and not self.has_module("torch"):
            print(f"parsed {block.place}: there is no torch to run it with")
            return None
        environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"), TILEFOLD_LIBRARY=str(self.library))
        command = [sys.executable, "-c", block.code]
        if block.output is not None:
            return self.compare(block, command, env=environment)
        done = self.run(command, block.place, env=environment)
        return done if isinstance(done, str) else None

    def has_module(self, name):
        return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0

    def cuda_program(self, block, stem):
        code = at_line(block, block.code)
        if block.output is None or not self.nvcc or not self.gpu:
            return self.cuda(block.place, code, stem)
        source = self.folder / (stem + ".cu")
        source.write_text(code)
        done = self.run([self.nvcc, "-std=c++20", "-arch=native", "--extended-lambda", f"-I{ROOT / 'include'}", source,
                         "-o", self.folder / stem], block.place)
        return done if isinstance(done, str) else self.compare(block, [self.folder / stem])

    def cuda(self, place, code, stem):
        if not self.nvcc:
            return f"skipped {place}: there is no nvcc"
        source = self.folder / (stem + ".cu")
        source.write_text(code)
        done = self.run([self.nvcc, "-std=c++20", "-arch=sm_90", "--extended-lambda", "-fdevice-syntax-only",
                         f"-I{ROOT / 'include'}", f"-I{ROOT / 'examples'}", f"-I{ROOT / 'test'}",
                         "-c", source, "-o", "/dev/null"], place)
        return done if isinstance(done, str) else None

    def fragments(self, blocks, language):
        if language == "cuda":
            return self.cuda("CUDA fragments", fragments_file(blocks, "tilefold/tilefold.cuh"), "fragments")
        of_mpi = [b for b in blocks if "mpi.hpp" in b.given + b.code]
        if of_mpi and not self.mpi:
            print(f"skipped {', '.join(b.place for b in of_mpi)}: there is no MPI")
            blocks = [b for b in blocks if b not in of_mpi]
        source = self.folder / "fragments.cpp"
        source.write_text(fragments_file(blocks, "tilefold/tilefold.hpp"))
        done = self.run([self.mpi or self.cxx, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}",
                         f"-I{ROOT / 'examples'}", f"-I{ROOT / 'test'}", source], "C++ fragments")
        return done if isinstance(done, str) else None

    def c_fragment(self, block, stem):
        source = self.folder / (stem + ".c")
        code = f"{block.given}\n{at_line(block, block.code)}"
        if block.kind == "statements":
            code = ("#include <tilefold/tilefold.h>\n#include <stdio.h>\n"
                    f"void snippet(void);\nvoid snippet(void) {{\n{code}}}\n")
        source.write_text(code)
        done = self.run([self.cc, "-std=c11", "-fsyntax-only", "-Wall", f"-I{ROOT / 'include'}", source],
                        block.place)
        return done if isinstance(done, str) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", help="a libtilefold.so to run C and Python with")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-skips", action="store_true", help="what cannot be tested here is an error")
    parser.add_argument("pages", nargs="*", help="pages, from the root; all if none is named")
    arguments = parser.parse_args()
    library = arguments.library and pathlib.Path(arguments.library).resolve()
    pages = arguments.pages or sorted({str(path.relative_to(ROOT)) for glob in PAGES for path in ROOT.glob(glob)})
    blocks = [block for page in pages for block in read_blocks(page)]

    failures = [f"{b.place}: neither a program nor marked (docs/site/snippets.py says how)"
                for b in blocks if b.kind is None]
    failures += complaints_of_readme()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        compilers = Compilers(folder, library)
        jobs = []
        # What takes longest goes first.
        fragments = {language: [b for b in blocks if b.kind in ("statements", "kernel", "file") and b.language == language]
                     for language in LANGUAGES}
        for language in ("cuda", "cpp"):
            if fragments[language]:
                jobs.append(pool.submit(compilers.fragments, fragments[language], language))
        programs = [b for b in blocks if b.kind == "program"]
        for i, block in enumerate(sorted(programs, key=lambda b: b.language != "cuda")):
            if block.language == "python":
                jobs.append(pool.submit(compilers.python, block))
            elif block.language == "cuda":
                jobs.append(pool.submit(compilers.cuda_program, block, f"program_{i}"))
            else:
                jobs.append(pool.submit(compilers.host, block, f"program_{i}"))
        jobs += [pool.submit(compilers.parse, b) for b in blocks if b.kind == "not compiled" and b.language == "python"]
        for i, block in enumerate(fragments["c"]):
            jobs.append(pool.submit(compilers.c_fragment, block, f"fragment_{i}"))
        found = [job.result() for job in jobs]
    left_out = 0
    for text in found:
        if text and text.startswith("skipped ") and not arguments.no_skips:
            print(text)
            left_out += 1
        elif text:
            failures.append(text)
    for text in failures:
        print(text, file=sys.stderr)
    printing = sum(b.output is not None for b in programs)
    print(f"snippets: {len(programs)} programs ({printing} with their output), "
          f"{sum(map(len, fragments.values()))} fragments, "
          f"{sum(b.kind == 'not compiled' for b in blocks)} not compiled, {left_out} left out; {len(failures)} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
