# SPDX-License-Identifier: Apache-2.0
#
# One program of all verbs (host_bits.cpp) prints the same bits, whatever compiler and options built
# it, or the compiler refuses the options. Three ways to run it:
#
#     python3 host_bits_test.py options INCLUDE_DIR CXX          what CXX makes of it by many options
#     python3 host_bits_test.py threads INCLUDE_DIR CXX LINK...  one and many threads, and what the
#                                                                program told the processor before
#     python3 host_bits_test.py write INCLUDE_DIR CXX            writes host_bits.txt anew
#
# What the bits should be: host_bits.txt has a hash of each line's bits over all sizes, and
# neighbour_tree.py works out some of them without the library.
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

import neighbour_tree

HERE = pathlib.Path(__file__).resolve().parent
HASHES = HERE / "host_bits.txt"
ORACLE_SIZES = (1, 2, 3, 7, 8, 9, 31, 64, 100, 257, 1000, 4097)

REFUSED = ["-ffast-math", "-Ofast", "-ffinite-math-only"]
# Clang takes some of these and tells no header (docs/numerics.md).
REFUSED_BY_GCC = ["-funsafe-math-optimizations", "-fassociative-math -fno-signed-zeros -fno-trapping-math",
                  "-freciprocal-math", "-fno-signed-zeros", "-fsingle-precision-constant"]
ENVIRONMENTS = ("flush", "up", "down", "zero")
# Calls whose initial value is a product that the caller computes, in its own mode.
OWN_INITIAL_VALUE = re.compile(r"\.(init|pass_through|swap_places|product_last|sum_last)$")


def is_x86():
    return platform.machine() in ("x86_64", "AMD64")


def has_fma():
    """Whether programs for a processor with FMA run here; -march=native asks for it elsewhere."""
    return is_x86() and re.search(r"\bfma\b", pathlib.Path("/proc/cpuinfo").read_text()) is not None


def is_clang(compiler):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return "clang" in version.stdout


def option_sets(compiler):
    """The first is the reference."""
    sets = ["-O0", "-O2", "-O3 -march=native"]
    fma = " -mfma -ffp-contract=fast" if has_fma() else ""
    if not is_clang(compiler):
        sets.append("-O2 -flto" + fma)
    elif fma:
        sets.append("-O2" + fma)
    return sets


def compile_program(compiler, include_dir, program, options, link=()):
    return subprocess.run([compiler, "-std=c++20", "-DNDEBUG", *options, f"-I{include_dir}", "-o", str(program),
                           str(HERE / "host_bits.cpp"), *link], capture_output=True, text=True)


def build(compiler, include_dir, program, options, link=()):
    done = compile_program(compiler, include_dir, program, options, link)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(options)}:\n{done.stderr}")
    return program


def lines_of(program, *arguments):
    """{(name, n): bits} of what the program prints."""
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{program} {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    lines = {}
    for line in done.stdout.splitlines():
        name, n, bits = line.split()
        lines[name, int(n)] = bits
    return lines


def differences(expected, found):
    """A sentence for each name whose bits differ: at which n, and what they are at the first."""
    wrong = {}
    for key in sorted(set(expected) | set(found)):
        if expected.get(key) != found.get(key):
            wrong.setdefault(key[0], []).append(key[1])
    return [f"{name} of n = {', '.join(map(str, sizes))}: {found.get((name, sizes[0]))}, "
            f"not {expected.get((name, sizes[0]))}" for name, sizes in wrong.items()]


def hashes_of(lines):
    bits_by_name = {}
    for (name, n), bits in lines.items():
        bits_by_name.setdefault(name, []).append(f"{n} {bits}\n")
    return {name: hashlib.sha256("".join(bits).encode()).hexdigest()[:16] for name, bits in bits_by_name.items()}


def committed_hashes():
    return dict(line.split() for line in HASHES.read_text().splitlines() if not line.startswith("#"))


class Program(unittest.TestCase):
    include_dir = compiler = None
    link = []
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def program(self, name, options, link=()):
        return build(self.compiler, self.include_dir, pathlib.Path(self.folder.name) / name, options, link)

    def assert_same(self, expected, found, what):
        wrong = differences(expected, found)
        if wrong:
            self.fail(f"{what}: {len(wrong)} of {len({name for name, _ in expected})} cases differ\n" + "\n".join(wrong))

    def assert_right(self, lines):
        """By what is committed, and by the oracle."""
        found, committed = hashes_of(lines), committed_hashes()
        wrong = sorted(name for name in set(found) | set(committed) if found.get(name) != committed.get(name))
        self.assertEqual(wrong, [], f"not the bits that {HASHES.name} has a hash of")
        expected = neighbour_tree.expected_lines(ORACLE_SIZES)
        self.assert_same(expected, {key: lines.get(key) for key in expected}, "the oracle's lines")


class Options(Program):
    def test_bits_do_not_depend_on_options(self):
        for number, options in enumerate(option_sets(self.compiler)):
            lines = lines_of(self.program(f"variant{number}", options.split()))
            if number == 0:
                reference = lines
                with self.subTest(options):
                    self.assertGreater(len(lines), 2000)
                    self.assert_right(lines)
            with self.subTest(options):
                self.assert_same(reference, lines, f"{self.compiler} {options}")

    def test_options_that_move_a_bit_are_refused(self):
        refused = REFUSED + ([] if is_clang(self.compiler) else REFUSED_BY_GCC)
        if is_x86() and not is_clang(self.compiler):
            refused = refused + ["-mfpmath=387"]
        for options in refused:
            with self.subTest(options):
                # The first error is the one that is wanted.
                check = ["-fsyntax-only", "-Wfatal-errors", *options.split()]
                done = compile_program(self.compiler, self.include_dir, "/dev/null", check)
                self.assertNotEqual(done.returncode, 0, "it compiles")
                self.assertIn("tilefold: ", done.stderr)

    def test_a_planted_leak_is_found(self):
        if not has_fma() and is_x86():
            self.fail("this processor has no FMA, so that nothing could leak")
        # Without the option clang fuses within an expression alone; g++ does not fuse below -O2.
        options = ["-O2", "-DPLANTED_LEAK", "-ffp-contract=fast", "-mfma" if is_x86() else "-march=native"]
        leaking = lines_of(self.program("leaking", options))
        expected = {key: bits for key, bits in neighbour_tree.expected_lines(ORACLE_SIZES).items() if key in leaking}
        self.assertGreater(len(expected), 100)
        wrong = differences(expected, {key: leaking[key] for key in expected})
        names = {sentence.split()[0] for sentence in wrong}
        self.assertEqual(names, {"float.planted_leak", "double.planted_leak"}, wrong)


def of_the_library(lines):
    return {key: bits for key, bits in lines.items() if not OWN_INITIAL_VALUE.search(key[0])}


class Threads(Program):
    def test_bits_do_not_depend_on_threads_nor_on_who_came_first(self):
        options = ["-O2", "-mfma"] if has_fma() else ["-O2"]
        program = self.program("threaded", options, self.link)
        reference = lines_of(program, "1")
        with self.subTest("right"):
            self.assert_right(reference)
        with self.subTest("threads"):
            self.assert_same(reference, lines_of(program, "4"), "4 threads")
        if not is_x86():
            return
        for environment in ENVIRONMENTS:
            with self.subTest(environment):
                # Each fold sets the default mode, on every thread, whatever the caller's is.
                self.assert_same(reference, lines_of(program, "4", environment, "first"),
                                 f"after a first call under '{environment}'")
                for threads in "1", "4":
                    self.assert_same(of_the_library(reference),
                                     of_the_library(lines_of(program, threads, environment)),
                                     f"{threads} threads under '{environment}'")


class Reading(unittest.TestCase):
    def test_that_each_difference_is_told(self):
        lines = {("a", 1): "00", ("a", 2): "01", ("b", 1): "02"}
        self.assertEqual(differences(lines, dict(lines)), [])
        self.assertEqual(differences(lines, {**lines, ("a", 2): "03"}), ["a of n = 2: 03, not 01"])
        self.assertEqual(len(differences(lines, {("a", 1): "00"})), 2)
        self.assertNotEqual(hashes_of(lines)["a"], hashes_of({**lines, ("a", 2): "03"})["a"])


def write_hashes(include_dir, compiler):
    with tempfile.TemporaryDirectory() as folder:
        lines = lines_of(build(compiler, include_dir, pathlib.Path(folder) / "program", ["-O0"]))
    text = "".join(f"{name} {value}\n" for name, value in hashes_of(lines).items())
    HASHES.write_text("# Written by host_bits_test.py: a line's name, and a hash of its bits over all sizes.\n" + text)


if __name__ == "__main__":
    mode = sys.argv[1]
    if mode == "write":
        write_hashes(*sys.argv[2:4])
        sys.exit()
    Program.include_dir, Program.compiler = sys.argv[2:4]
    Program.link = sys.argv[4:]
    tests = unittest.TestSuite()
    for case in (Options if mode == "options" else Threads, Reading):
        tests.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    sys.exit(not unittest.TextTestRunner().run(tests).wasSuccessful())
