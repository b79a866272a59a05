# SPDX-License-Identifier: Apache-2.0
#
# Which kernels of tilefold the GPU tests launch: test/launched_kernels.csv has them for each program of the evidence.
# `.ci/gpu` writes it from what test/kernel_table/launch_log.cpp notes. Kernels are named by their templates and
# numbers, which are what the tuning chooses.
#
#     python3 .ci/launches.py      fails if no test launches some kernel of the kernel table, and names these
import csv
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / folder) for folder in ('.', '../test/kernel_table')]
import evidence  # noqa: E402
from kernel_table import demangled, short_name  # noqa: E402

ROWS = evidence.ROOT / 'test/launched_kernels.csv'
TABLE = evidence.ROOT / 'test/kernel_table/kernel_table.csv'


def known():
    """Of each program with a line in the evidence the kernels that it launched, if that was noted."""
    if not ROWS.exists():
        return {}
    lines = evidence.verified()
    with ROWS.open() as file:
        return {row['program']: row['kernels'].split('; ') for row in csv.DictReader(file) if row['program'] in lines}


def record(program, logs):
    """Notes what a program launched, by the logs of its processes."""
    mangled = {name for log in logs for name in log.read_text().splitlines()}
    kernels = {short_name(name) for name in demangled(sorted(mangled))
               if re.match('(void )?tilefold::detail::cuda::', name)}
    rows = known() | {program: sorted(kernels)}
    whole = evidence.ROOT / 'build/launched_kernels.csv'
    with whole.open('w') as out:
        writer = csv.writer(out, lineterminator='\n')
        writer.writerow(['program', 'kernels'])
        writer.writerows((name, '; '.join(rows[name])) for name in sorted(rows) if rows[name])
    whole.replace(ROWS)


def missing():
    """
    The kernels of the table that no program launched. in_kernel_* are left out: they are the table's own, and
    test/detail/cuda/in_kernel has its own around the same folds.
    """
    with TABLE.open() as file:
        table = {re.sub(r' #\d+$', '', row['kernel']) for row in csv.DictReader(file)}
    launched = {kernel for kernels in known().values() for kernel in kernels}
    return sorted(name for name in table - launched if not name.startswith('in_kernel_'))


if __name__ == '__main__':
    if missing():
        sys.exit(f'tilefold: no GPU test launches {"; ".join(missing())}')
    print('GPU tests launch every kernel of the table')
