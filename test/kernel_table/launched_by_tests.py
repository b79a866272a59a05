# SPDX-License-Identifier: Apache-2.0
#
# Each kernel of the kernel table is in a program that runs on a GPU: so every branch of the tuning has a test there.
# Kernels are compared by their templates and numbers, which are what the tuning chooses.
#
#     python3 launched_by_tests.py OBJECT...      the objects of all GPU tests; names the kernels that none has
import csv
import pathlib
import re
import subprocess
import sys

from kernel_table import demangled, short_name

TABLE = pathlib.Path(__file__).resolve().parent / "kernel_table.csv"


def kernels_of(path):
    """The mangled names of the kernels that an object registers."""
    return {name.decode() for name in re.findall(rb"(?<=\0)_Z[A-Za-z0-9_$.]+(?=\0)", path.read_bytes())}


def main():
    mangled = sorted(set().union(*(kernels_of(pathlib.Path(path)) for path in sys.argv[1:])))
    tested = {short_name(name) for name in demangled(mangled)}
    with TABLE.open() as file:
        table = {re.sub(r" #\d+$", "", row["kernel"]) for row in csv.DictReader(file)}
    table = {name for name in table if not name.startswith("in_kernel_")}  # calls.cuh's own
    missing = sorted(table - tested)
    print(f"{len(table) - len(missing)} of {len(table)} kernels of the table are in GPU tests")
    if missing:
        sys.exit(f"no GPU test has: {'; '.join(missing)}")


if __name__ == "__main__":
    main()
