# SPDX-License-Identifier: Apache-2.0
#
# Runs the kernel by which peers exchange messages on threads of the host (on_threads.cpp): no rank waits for good, and
# nobody gets a message of another turn. With a rule of the protocol left out, that is found.
#
#     python3 peer_protocol_test.py CXX INCLUDE_DIR
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
KERNEL = "tilefold/detail/cuda/range/peer_gather_kernel.cuh"
RIGHT, WRONG, STUCK = 0, 1, 3

# What CUDA alone understands, as the host says it; and fewer threads and looks, since threads are slow to begin.
FOR_THE_HOST = [
    (r"#include <cuda_runtime_api.h>", ""),
    (r"#include <tilefold/detail/cuda/base/words.cuh>", "#define TILEFOLD_D inline"),
    (r"peer_gather_nt = 64", "peer_gather_nt = 4"),
    (r"looks % 256", "looks % 8"),
    (r"(?s)  unsigned value;\n  asm volatile\(\"ld\.acquire\.sys.*?;\n  return value;",
     "  return std::atomic_ref(*const_cast<unsigned*>(flag)).load(std::memory_order_acquire);"),
    (r"cuda::store_behind_all\(other\.flags \+ rank, turn\);",
     "std::atomic_ref(other.flags[rank]).store(turn, std::memory_order_release);"),
    (r"__shared__ bool is_there;", "bool& is_there = *shared_flag;"),
]
ONLY_THE_OTHERS_WORD = (r" \|\| cuda::read_flag\(left_own\) != 0", "")  # rule 7
GOES_ON_WRITING = (r"if \(!is_there\) own\.given_up\[peer\] = 1;", "")  # rule 8


def replaced(text, changes):
    for pattern, by in changes:
        text, count = re.subn(pattern, lambda _, by=by: by, text)
        assert count == 1, f"{pattern} stands {count} times in the kernel"
    return text


class PeerProtocol(unittest.TestCase):
    def run_with(self, changes, trials, seed):
        with tempfile.TemporaryDirectory() as folder:
            adapted = pathlib.Path(folder) / "kernel.hpp"
            adapted.write_text(replaced((self.include / KERNEL).read_text(), FOR_THE_HOST + changes))
            program = pathlib.Path(folder) / "program"
            subprocess.run([self.cxx, "-std=c++20", "-O1", f'-DADAPTED="{adapted}"', HERE / "on_threads.cpp", "-o",
                            program, "-pthread"], check=True)
            done = subprocess.run([program, str(trials), str(seed)], capture_output=True, text=True, timeout=300)
            return done.returncode, f"seed {seed}: {done.stdout}{done.stderr}"

    def test_every_message_is_that_of_its_turn_and_nobody_waits_for_good(self):
        code, said = self.run_with([], 150, random.randrange(1 << 30))
        self.assertEqual(code, RIGHT, said)

    def test_who_looks_at_the_others_word_alone_waits_for_good(self):
        code, said = self.run_with([ONLY_THE_OTHERS_WORD], 400, 1)
        self.assertEqual(code, STUCK, said)

    def test_who_goes_on_writing_is_found_out(self):
        code, said = self.run_with([GOES_ON_WRITING], 400, 1)
        self.assertEqual(code, WRONG, said)


if __name__ == "__main__":
    PeerProtocol.cxx, PeerProtocol.include = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
