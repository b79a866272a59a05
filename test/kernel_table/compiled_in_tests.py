# SPDX-License-Identifier: Apache-2.0
#
# Each kernel of the kernel table is compiled into a program that runs on a GPU. Whether a test launches the kernel is not
# shown: a kernel that a test's branch never takes counts, too. Kernels are compared by their templates and numbers, which
# are what the tuning chooses. in_kernel_* are kernels of calls.cuh itself, which no test has; test/detail/cuda/in_kernel
# has its own around the same folds.
#
#     python3 compiled_in_tests.py OBJECT...      the objects of all GPU tests; names the kernels that none has
import csv
import pathlib
import re
import sys

from kernel_table import demangled, short_name
from machine_code import registered_kernels

TABLE = pathlib.Path(__file__).resolve().parent / "kernel_table.csv"


def main():
    mangled = sorted(set().union(*(registered_kernels(pathlib.Path(path)) for path in sys.argv[1:])))
    tested = {short_name(name) for name in demangled(mangled)}
    with TABLE.open() as file:
        table = {re.sub(r" #\d+$", "", row["kernel"]) for row in csv.DictReader(file)}
    table = {name for name in table if not name.startswith("in_kernel_")}
    missing = sorted(table - tested)
    print(f"{len(table) - len(missing)} of {len(table)} kernels of the table are compiled into GPU tests")
    if missing:
        sys.exit(f"no GPU test has: {'; '.join(missing)}")


if __name__ == "__main__":
    main()
