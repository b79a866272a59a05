# SPDX-License-Identifier: Apache-2.0
#
# What tests that read nvcc's machine code share: the disassembler, and readable names.
import os
import pathlib
import re
import shutil
import subprocess


def find_disassembler(nvcc, installed_dir):
    """nvdisasm beside nvcc, on PATH, or in installed_dir, where cmake/setup.sh puts NVIDIA's wheel."""
    toolkit = pathlib.Path(shutil.which(nvcc) or nvcc).resolve().parent
    for place in (toolkit, pathlib.Path("/usr/local/cuda/bin")):
        if os.access(place / "nvdisasm", os.X_OK):
            return str(place / "nvdisasm")
    on_path = shutil.which("nvdisasm")
    if on_path:
        return on_path
    installed = pathlib.Path(installed_dir) / "nvidia/cu13/bin/nvdisasm"
    if installed.is_file():
        installed.chmod(0o755)
        return str(installed)
    raise RuntimeError(f"there is nvcc ({nvcc}) but no nvdisasm: not beside it, not on PATH, not in "
                       f"{installed_dir}. 'bash .ci/run' puts one there, or put your toolkit's on PATH")


# ptxas of CUDA 13.0 makes max(min(x, high), 0) one VIMNMX.RELU for sm_90 and sm_100, and of a comparison with
# `high` behind it takes the wrong predicate: it is set for 0 <= x < high as well. CCCL avoids the instruction
# where one depends on another (NVIDIA/cccl#11306, "before CUDA 13.4"). Our code has none of it.
MISCOMPILED = re.compile(r"\bVIMNMX\S*\.RELU[^;]*")


def miscompiled(code):
    """The instructions of disassembled code that may compute something else than the source says."""
    return [match[0].strip() for match in MISCOMPILED.finditer(code)]


def registered_kernels(path):
    """Mangled names of the kernels that an object registers. (Names with _INTERNAL_ are variables of the toolkit's headers.)"""
    names = re.findall(rb"(?<=\0)_Z[A-Za-z0-9_$.]+(?=\0)", path.read_bytes())
    text = subprocess.run(["nm", "--format=posix", path], capture_output=True, text=True, check=True).stdout
    symbols = {line.split(" ", 1)[0].encode() for line in text.splitlines()}
    return {name.decode() for name in set(names) - symbols if b"_INTERNAL_" not in name}


def demangled(names):
    """The names as a reader knows them, in the same order."""
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
