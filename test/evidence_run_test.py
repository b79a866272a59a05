# SPDX-License-Identifier: Apache-2.0
#
# .ci/gpu without a GPU: in a folder of its own, with stand-ins for all commands that it calls. A program is run as soon as it
# is linked, a line is written only if its programs pass, and what had passed is kept when the build or the run is stopped.
# .ci/build_times and .ci/digest in the same folder.
# `python3 evidence_run_test.py SOURCE_DIR` runs the test.
import csv
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
COPIED = [".ci", "cmake", "docs/site", "examples", "include", "python", "src", "test"]
LINKED = ["gpu.order_net.host_0", "gpu.cuda.axis_test", "gpu.cuda.batched_test", "gpu.cuda.by_key_test",
          "gpu.order_net.cuda_0"]
COMMANDS = {
    "nvidia-smi": 'case "$*" in *compute_cap*) echo 9.0;; *index*) printf "0\\n1\\n";; *) echo "a GPU";; esac',
    "nvcc": 'echo "Cuda compilation tools, release 13.0, V13.0.1"',
    "cmake": "exit 0",
    "compute-sanitizer": "exit 0",
    "nm": "exit 0",
    "c++": "exit ${WITHOUT_CUPTI:-0}",
    # axis_test fails. With $REPORT programs write that.
    "ctest": 'case "$*" in *" -N "*) for t in ' + " ".join([*LINKED, "gpu.nvrtc", "consumer.a"]) + """
                do echo "  Test #1: $t"; done;;
              *axis*) exit 1;;
              *batched*|*by_key*) [ -z "$TILEFOLD_LAUNCHES" ] || echo "$LAUNCHED" | tr " " "\\n" >"$TILEFOLD_LAUNCHES/1"
                 [ -z "$REPORT" ] || { mkdir -p "${GTEST_OUTPUT#xml:}"; echo "$REPORT" >"${GTEST_OUTPUT#xml:}/report.xml"; };;
              *) [ -z "$REPORT" ] || { mkdir -p "${GTEST_OUTPUT#xml:}"; echo "$REPORT" >"${GTEST_OUTPUT#xml:}/report.xml"; };;
              esac""",
    # by_key_test is linked after $WAIT seconds, and all that consumers use in the end. It compiles $OBJECT in $SECONDS_OF_IT
    # from $FROM, while somebody changes $CHANGED. Programs do $PROGRAM.
    "ninja": 'case "$*" in *"-t targets"*) echo "tilefold_c: phony"; for t in $OBJECT ' + " ".join(LINKED) + """
                do echo "$t: phony"; done;;
              *"-t deps"*) printf "%s: #deps 1\\n    %s\\n" "$OBJECT" "$FROM";;
              *) trap "kill \\$!; exit 2" INT
                 echo "$*" >targets
                 mkdir -p build/gpu/test build/gpu/src/capi build/gpu/src/host build/gpu/src/tool
                 printf "# ninja log v5\\n" >build/gpu/.ninja_log
                 : >build/gpu/.ninja_deps
                 [ -z "$OBJECT" ] || { mkdir -p "$(dirname build/gpu/$OBJECT)"; : >build/gpu/$OBJECT
                   printf "0\\t%s000\\t0\\t%s\\t0\\n" "${SECONDS_OF_IT:-1}" "$OBJECT" >>build/gpu/.ninja_log; }
                 [ -z "$CHANGED" ] || echo "int changed;" >>"$CHANGED"
                 for t in """ + " ".join(LINKED) + """; do
                   [ $t != gpu.cuda.by_key_test ] || { sleep ${WAIT:-0} >/dev/null 2>&1 & wait; }
                   printf "#!/bin/sh\\n$PROGRAM\\n" >build/gpu/test/$t && chmod +x build/gpu/test/$t
                   echo "[1/9] Linking CXX executable test/$t"
                 done
                 cd build/gpu/src && touch capi/libtilefold.so capi/libtilefold.a host/libtilefold_host.a tool/tilefold;;
              esac""",
}


class GpuRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tilefold"
        self.root.mkdir()
        for name in COPIED:
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
        for name in ("CMakeLists.txt", "CMakePresets.json", "README.md"):
            shutil.copy(ROOT / name, self.root / name)
        commands = pathlib.Path(folder.name) / "bin"
        commands.mkdir()
        for name, script in COMMANDS.items():
            (commands / name).write_text("#!/bin/sh\n" + script + "\n", encoding="utf-8")
            (commands / name).chmod(0o755)
        # No PyTorch: with it, Python's tests on a GPU would have a line, too.
        (commands / "torch.py").write_text("raise ImportError\n", encoding="utf-8")
        self.environment = dict(os.environ, PATH=f"{commands}:{os.environ['PATH']}", PYTHONPATH=str(commands))
        self.verified = self.root / "test/gpu_verified.txt"
        self.verified.unlink()

    def lines(self):
        if not self.verified.exists():
            return {}
        rows = csv.DictReader(self.verified.read_text(encoding="utf-8").splitlines()[2:])
        return {row["program"]: (row["tests"], row["device"]) for row in rows}

    def start(self, *arguments, wait=0, **variables):
        environment = dict(self.environment, WAIT=str(wait), **variables)
        return subprocess.Popen([sys.executable, "-B", ".ci/gpu", *arguments], cwd=self.root, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def run_to_its_end(self, *arguments, **variables):
        run = self.start(*arguments, **variables)
        return run.communicate(timeout=300)[0], run.returncode

    def called(self, script, *arguments):
        return subprocess.run([sys.executable, "-B", script, *arguments], cwd=self.root, env=self.environment, text=True,
                              capture_output=True)

    def record(self, **values):
        """Writes a current line of each program, with such values."""
        script = ("import sys; sys.path.insert(0, '.ci'); import evidence\n"
                  f"row = dict(tests='1', skipped='0', sanitizer_runs='0', device='2 x a GPU', toolkit='V13.0.1') | {values}\n"
                  "evidence.write({name: row | dict(program=name, digest=digest) for name, digest in evidence.digests().items()})")
        result = self.called("-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_lines_are_of_what_passed(self):
        run = self.start()
        output = run.communicate(timeout=300)[0]
        self.assertEqual(run.returncode, 1, output)
        self.assertIn("tilefold: failed: gpu.cuda.axis_test\n", output)
        expected = {"consumer": "1", "gpu.cuda.batched_test": "1", "gpu.cuda.by_key_test": "1", "gpu.nvrtc": "1",
                    "gpu.order_net": "2"}
        self.assertEqual(self.lines(), {name: (tests, "2 x a GPU") for name, tests in expected.items()}, output)

    def test_what_is_not_built_in_time_gets_no_line(self):
        run = self.start("--seconds", "5", wait=600)
        output = run.communicate(timeout=300)[0]
        self.assertEqual(run.returncode, 1, output)
        self.assertEqual(set(self.lines()), {"gpu.cuda.batched_test", "gpu.nvrtc"}, output)

    def test_programs_run_while_others_are_built(self):
        run = self.start(wait=600)
        output = ""
        waited_for = {"FAILED: ctest", "gpu.cuda.batched_test: "}
        while waited_for:
            line = run.stdout.readline()
            self.assertTrue(line, output)
            output += line
            waited_for -= {said for said in waited_for if said in line}
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, -signal.SIGINT)

    def test_who_stops_it_keeps_what_has_passed(self):
        run = self.start(wait=600)
        while not self.lines():
            self.assertIsNone(run.poll())
            time.sleep(0.1)
        os.killpg(run.pid, signal.SIGINT)
        output = run.communicate(timeout=300)[0]
        self.assertEqual(set(self.lines()), {"gpu.cuda.batched_test"}, output)

    def test_sources_that_change_while_they_are_compiled(self):
        output, code = self.run_to_its_end("--seconds", "5", wait=600, CHANGED="test/cuda/batched_test.cu")
        self.assertEqual(code, 1, output)
        self.assertEqual(set(self.lines()), {"gpu.nvrtc"}, output)
        self.assertIn("gpu.cuda.batched_test gets no line: its sources changed", output)

    def test_a_file_that_the_digest_leaves_out(self):
        run = self.start(wait=600, OBJECT="test/CMakeFiles/gpu.cuda.batched_test.dir/a.cu.o", FROM="../../test/reduce_test.cpp")
        output = ""
        while "gpu.cuda.batched_test gets no line: it is compiled from test/reduce_test.cpp" not in output:
            line = run.stdout.readline()
            self.assertTrue(line, output)
            output += line
        os.killpg(run.pid, signal.SIGINT)
        run.communicate(timeout=300)
        self.assertNotIn("gpu.cuda.batched_test", self.lines())

    def test_a_failure_takes_the_line_away(self):
        self.record()
        output, code = self.run_to_its_end("gpu.cuda.axis_test")
        self.assertEqual(code, 1, output)
        self.assertNotIn("gpu.cuda.axis_test", self.lines(), output)
        self.assertIn("gpu.cuda.batched_test", self.lines())

    def test_a_program_that_is_no_more(self):
        source = self.root / "test/cuda/batched_test.cu"
        self.record()
        source.unlink()
        output, code = self.run_to_its_end()
        self.assertEqual(code, 0, output)
        self.assertFalse((self.root / "targets").exists(), "nothing is built")
        self.assertNotIn("gpu.cuda.batched_test", self.lines())
        self.assertEqual(self.called(".ci/digest").stdout, self.verified.read_text(encoding="utf-8").splitlines()[0] + "\n")

    def test_libraries_are_built_for_who_needs_them(self):
        self.run_to_its_end("gpu.cuda.batched_test")
        self.assertNotIn("tilefold_c", (self.root / "targets").read_text(encoding="utf-8").split())
        self.run_to_its_end("consumer")
        self.assertIn("tilefold_c", (self.root / "targets").read_text(encoding="utf-8").split())

    def test_options_that_no_digest_holds_are_refused(self):
        output, code = self.run_to_its_end(NVCC_APPEND_FLAGS="--use_fast_math")
        self.assertEqual((code, self.lines()), (1, {}))
        self.assertIn("unset NVCC_APPEND_FLAGS", output)

    def test_a_program_without_a_test_fails(self):
        output, code = self.run_to_its_end("gpu.cuda.batched_test", REPORT="<testsuites tests='0'></testsuites>")
        self.assertEqual((code, self.lines()), (1, {}), output)
        output, code = self.run_to_its_end("gpu.cuda.batched_test", REPORT="<s><testcase status='run'/></s>")
        self.assertEqual((code, set(self.lines())), (0, {"gpu.cuda.batched_test"}), output)

    def test_fewer_tests_than_before_are_told(self):
        self.record(tests="5", sanitizer_runs="4")
        output, code = self.run_to_its_end("gpu.cuda.batched_test")
        self.assertEqual(code, 0, output)
        self.assertIn("gpu.cuda.batched_test: 1 tests, 0 skipped, 0 sanitizer runs, FEWER tests than 5, "
                      "FEWER sanitizer_runs than 4\n", output)

    def test_a_program_that_cannot_list_its_tests_fails(self):
        output, code = self.run_to_its_end("gpu.cuda.batched_test", PROGRAM="exit 3")
        self.assertEqual((code, self.lines()), (1, {}), output)
        self.assertIn("tilefold: failed: gpu.cuda.batched_test\n", output)
        self.assertNotIn("Traceback", output)

    def test_what_is_left_out_is_told(self):
        output, _ = self.run_to_its_end("--seconds", "5", wait=600)
        self.assertIn("python.gpu_tests is left out: ", output)

    def test_arguments(self):
        for arguments in (["--seconds", "x"], ["gpu.cuda.nonsense_test"], ["--nonsense"]):
            output, code = self.run_to_its_end(*arguments)
            self.assertEqual(code, 2, output)
            self.assertTrue(output.startswith("usage: .ci/gpu"), output)
        for script, arguments in ((".ci/digest", ["nonsense.hpp"]), (".ci/digest", ["/etc/passwd"]), (".ci/digest", ["--toolkit"]),
                                  (".ci/build_times", [])):
            result = self.called(script, *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
            self.assertTrue(result.stderr.startswith(f"usage: {script}"), result.stderr)
        self.assertTrue(self.called(".ci/digest", "--help").stdout.startswith("usage: .ci/digest"))
        self.assertIn("gpu.cuda.axis_test\n", self.called(".ci/digest", "CMakePresets.json").stdout)

    def test_damaged_lines_count_for_nothing(self):
        self.record()
        lines = self.verified.read_text(encoding="utf-8").splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("gpu.cuda.axis_test,"))
        lines[at:at + 2] = ["gpu.cuda.axis_test,0123", "<<<<<<< theirs", lines[at + 1].replace(",1,0,0,", ",1,x,0,")]
        self.verified.write_text("\n".join(lines) + "\n", encoding="utf-8")
        result = self.called(".ci/digest")
        self.assertEqual(result.stdout.splitlines()[1:], [f"stale: {line.split(',')[0]}" for line in (lines[at], lines[at + 2])])
        self.assertEqual(result.stderr.count("gpu_verified.txt has a damaged line"), 3)

    def test_an_object_without_a_build_time(self):
        (self.root / "test/cuda/new_test.cu").touch()
        output, code = self.run_to_its_end("gpu.cuda.batched_test", FROM="../../test/cuda/batched_test.cu", SECONDS_OF_IT="160",
                                           OBJECT="test/CMakeFiles/gpu.cuda.new_test.dir/cuda/new_test.cu.o")
        self.assertEqual((code, set(self.lines())), (1, {"gpu.cuda.batched_test"}), output)
        self.assertIn("test/gpu.cuda.new_test/cuda/new_test.cu has no row\n", output)
        self.assertIn("test/gpu.cuda.new_test/cuda/new_test.cu: 94 s of an idle core", output)
        self.assertIn("tilefold: test/build_times.csv does not fit this build", output)

    def build(self, **seconds):
        """A build folder with objects of these seconds, as .ci/build_times reads it."""
        folder = self.root / "build/times"
        shutil.rmtree(folder, ignore_errors=True)
        log = "# ninja log v5\n"
        for name, time_of in seconds.items():
            output = f"test/CMakeFiles/gpu.cuda.{name}.dir/cuda/{name}.cu.o"
            (folder / output).parent.mkdir(parents=True)
            (folder / output).touch()
            log += f"0\t{time_of}000\t0\t{output}\t0\n"
        (folder / ".ninja_log").write_text(log, encoding="utf-8")
        return str(folder)

    def test_build_times_are_compared_as_if_on_one_machine(self):
        table = str(self.root / "build/times.csv")
        (self.root / "test/cuda/new_test.cu").touch()
        before = self.build(axis_test=60, batched_test=100, by_key_test=40, gone_test=1)
        written = self.called(".ci/build_times", "--write", table, before)
        self.assertEqual(written.returncode, 0)
        self.assertIn("test: 2 minutes of an idle core, the longest object 59 s; 4 objects, 0 kernels", written.stderr)
        for faults, seconds in (
                (0, {"axis_test": 180, "batched_test": 300, "by_key_test": 120, "host_test": 99}),  # a slower machine
                (1, {"axis_test": 10, "batched_test": 10, "by_key_test": 380}),                    # 190 of 200 s
                (1, {"axis_test": 60, "batched_test": 100, "by_key_test": 40, "new_test": 2}),     # no row
                (2, {"axis_test": 60, "batched_test": 100, "by_key_test": 40, "new_test": 40})):   # and growth
            result = self.called(".ci/build_times", "--check", table, self.build(**seconds))
            self.assertEqual(len(result.stdout.splitlines()), faults, (seconds, result.stdout))
            self.assertEqual(result.returncode, int(faults > 0))

    def test_build_times_fit_the_sources(self):
        table = self.root / "test/build_times.csv"
        (self.root / "test/cuda/new_test.cu").touch()
        (self.root / "test/cuda/axis_test.cu").unlink()
        with table.open("a", encoding="utf-8") as file:
            file.write("test/gpu.cuda.by_key_test/cuda/by_key_test.cu,153,1\n")
            file.write("src/capi/cuda/tilefold_c_cuda_1/__/sums.cpp,100,1\n" * 40)
        result = self.called(".ci/build_times", "--check", str(table))
        self.assertEqual(result.returncode, 1)
        for fault in ("test/cuda/new_test.cu has no row\n", "test/gpu.cuda.axis_test/cuda/axis_test.cu has a row, and no source\n",
                      "test/gpu.cuda.by_key_test/cuda/by_key_test.cu: 90 s of an idle core, of 90 s at most",
                      "of 15 at most: include what a source uses"):
            self.assertIn(fault, result.stdout)

    def test_launches_are_those_of_current_lines(self):
        lanes, warps, other = (f"_ZN8tilefold6detail4cuda{len(name)}{name}ILi7EEEvv" for name in ("lanes_kernel", "warps_kernel", "x"))
        def launched():
            with (self.root / "test/launched_kernels.csv").open(encoding="utf-8") as file:
                return {row["program"]: row["kernels"] for row in csv.DictReader(file)}
        first, second = "gpu.cuda.batched_test", "gpu.cuda.by_key_test"
        self.run_to_its_end(first, second, LAUNCHED=f"{lanes} {warps} _Z5otherv")
        self.assertEqual(launched(), dict.fromkeys((first, second), "lanes_kernel<7>; warps_kernel<7>"))
        self.run_to_its_end(first, LAUNCHED=other)
        self.assertEqual(launched(), {first: "x<7>", second: "lanes_kernel<7>; warps_kernel<7>"})
        output = self.run_to_its_end(second, WITHOUT_CUPTI="1")[0]
        self.assertIn("What the tests launch is not noted", output)
        self.assertEqual(launched(), {first: "x<7>"})
        self.run_to_its_end(second, LAUNCHED=lanes)
        table = self.root / "test/kernel_table/kernel_table.csv"
        table.write_text("call,kernel\nsum,lanes_kernel<7>\nsum,x<7> #2\nblock_fold,in_kernel_sum\n", encoding="utf-8")
        self.assertEqual(self.called(".ci/launches.py").returncode, 0)
        self.verified.write_text(self.verified.read_text(encoding="utf-8").replace(first, "gpu.cuda.gone_test"), encoding="utf-8")
        self.assertEqual(self.called(".ci/launches.py").stderr, "tilefold: no GPU test launches x<7>\n")

    def test_what_a_room_costs(self):
        table = self.root / "build/times.csv"
        table.parent.mkdir(exist_ok=True)
        table.write_text("object,seconds,kernels\ntest/gpu.cuda.by_key_test/cuda/by_key_test.cu,600,1\n"
                         "src/capi/cuda/tilefold_c_cuda_1/by_key_of.cu,1200,1\n", encoding="utf-8")
        said = self.called(".ci/build_times", "--rooms", str(table)).stdout
        self.assertRegex(said, r"(?m)^  6  18  detail/cuda/keys$")


unittest.main()
