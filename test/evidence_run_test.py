# SPDX-License-Identifier: Apache-2.0
#
# .ci/gpu without a GPU: in a folder of its own, with stand-ins for all commands that it calls. A program is run as soon as it
# is linked, a line is written only if its programs pass, and what had passed is kept when the build or the run is stopped.
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
COPIED = [".ci", "cmake", "examples", "include", "python", "src", "test"]
LINKED = ["gpu.order_net.host_0", "gpu.cuda.axis_test", "gpu.cuda.batched_test", "gpu.cuda.by_key_test",
          "gpu.order_net.cuda_0"]
COMMANDS = {
    "nvidia-smi": 'case "$*" in *compute_cap*) echo 9.0;; *index*) printf "0\\n1\\n";; *) echo "a GPU";; esac',
    "nvcc": 'echo "Cuda compilation tools, release 13.0, V13.0.1"',
    "cmake": "exit 0",
    "compute-sanitizer": "exit 0",
    # axis_test fails.
    "ctest": 'case "$*" in *" -N "*) for t in ' + " ".join([*LINKED, "gpu.nvrtc", "consumer.a"]) + """
                do echo "  Test #1: $t"; done;;
              *axis*) exit 1;; esac""",
    # by_key_test is linked after $WAIT seconds, and all that consumers use in the end.
    "ninja": 'case "$*" in *"-t targets"*) for t in ' + " ".join(LINKED) + """
                do echo "$t: phony"; done;;
              *"-t deps"*) ;;
              *) trap "kill \\$!; exit 2" INT
                 mkdir -p build/gpu/test build/gpu/src/capi build/gpu/src/host build/gpu/src/tool
                 printf "# ninja log v5\\n" >build/gpu/.ninja_log
                 for t in """ + " ".join(LINKED) + """; do
                   [ $t != gpu.cuda.by_key_test ] || { sleep ${WAIT:-0} >/dev/null 2>&1 & wait; }
                   printf "#!/bin/sh\\n" >build/gpu/test/$t && chmod +x build/gpu/test/$t
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
        for name in ("CMakeLists.txt", "CMakePresets.json"):
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

    def start(self, *arguments, wait=0):
        environment = dict(self.environment, WAIT=str(wait))
        return subprocess.Popen([sys.executable, "-B", ".ci/gpu", *arguments], cwd=self.root, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

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


unittest.main()
