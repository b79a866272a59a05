# SPDX-License-Identifier: Apache-2.0
#
# How much of tilefold's own headers a program reads, which is a ratchet: the test fails if a program
# reads more files or lines than header_lines.csv allows. If it reads fewer, lower the number there.
# `python3 header_lines_test.py INCLUDE_DIR CXX [NVCC]` runs the test; with `--print` before these
# arguments the script prints the file as it would be today. The compiler lists the files (-M).
import csv
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LIMITS = pathlib.Path(__file__).with_name("header_lines.csv")
# A program is the headers that it includes, and whether nvcc compiles it.
PROGRAMS = {
    "one sum": (["reduce.hpp", "cuda.cuh"], True),
    "one sum on a named GPU": (["reduce_on.hpp", "cuda.cuh"], True),
    "a segmented sum": (["segmented_reduce.hpp", "cuda.cuh"], True),
    "a sum by key": (["reduce_by_key.hpp", "cuda.cuh"], True),
    "everything": (["tilefold.cuh"], True),
    "one sum on the host": (["reduce.hpp"], False),
    "everything on the host": (["tilefold.hpp"], False),
}
COMPILERS = {}  # whether for CUDA: the command
INCLUDE_DIR = None


def files_read(headers, for_cuda):
    """The headers of tilefold that a program with these includes reads."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory) / ("program.cu" if for_cuda else "program.cpp")
        source.write_text("".join(f"#include <tilefold/{header}>\n" for header in headers), encoding="utf-8")
        command = [*COMPILERS[for_cuda], "-std=c++20", "-M", "-I", str(INCLUDE_DIR), str(source)]
        rule = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = re.sub(r"\\\n", " ", rule.partition(":")[2])
    paths = {pathlib.Path(re.sub(r"\\(.)", r"\1", name)).resolve() for name in re.findall(r"(?:\\.|\S)+", names)}
    own = INCLUDE_DIR.resolve() / "tilefold"
    return {path for path in paths if path.is_relative_to(own)}


def measure(program):
    files = files_read(*PROGRAMS[program])
    return len(files), sum(path.read_text(encoding="utf-8").count("\n") for path in files)


def measured_programs():
    return [program for program, (_, for_cuda) in PROGRAMS.items() if for_cuda in COMPILERS]


class HeaderLines(unittest.TestCase):
    def test_no_program_reads_more_than_it_did(self):
        with LIMITS.open(encoding="utf-8") as file:
            limits = {row["program"]: (int(row["files"]), int(row["lines"])) for row in csv.DictReader(file)}
        self.assertEqual(list(limits), list(PROGRAMS))
        for program in measured_programs():
            with self.subTest(program=program):
                files, lines = measure(program)
                self.assertLessEqual(files, limits[program][0], "files")
                self.assertLessEqual(lines, limits[program][1], "lines")

    def test_a_header_is_counted_with_all_that_it_includes(self):
        names = {path.name for path in files_read(["tree.hpp"], False)}
        self.assertEqual(names & {"tree.hpp", "config.hpp", "op.hpp"}, {"tree.hpp", "config.hpp"})


def main(arguments):
    global INCLUDE_DIR
    printing = arguments[:1] == ["--print"]
    include_dir, *compilers = arguments[printing:]
    INCLUDE_DIR = pathlib.Path(include_dir)
    COMPILERS.update(zip((False, True), ([compiler] for compiler in compilers)))
    if printing:
        print("program,files,lines")
        for program in measured_programs():
            print(program, *measure(program), sep=",")
        return
    if True not in COMPILERS:
        print("no nvcc: the programs of the host alone are measured", file=sys.stderr)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main(sys.argv[1:])
