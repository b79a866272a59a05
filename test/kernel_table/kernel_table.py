# SPDX-License-Identifier: Apache-2.0
#
# The kernel table: what nvcc makes of every kernel of the calls in calls.cuh, for sm_90. A row is one
# kernel of one call: registers, stack frame, spills, shared memory, all instructions, and those of its
# main loop (the loop that loads most from global memory; 0 if there is none).
#
#     python3 kernel_table.py NVCC INCLUDE_DIR --check kernel_table.csv   # differences, exit 1
#     python3 kernel_table.py NVCC INCLUDE_DIR --write kernel_table.csv   # the table as it is now
#     ... --check kernel_table.csv --calls sum,columns --types float      # some of the calls
#
# It takes 2 minutes of two cores. nvdisasm is looked for beside nvcc, on PATH, and in --nvdisasm-dir.
import argparse
import collections
import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from machine_code import demangled, find_disassembler, miscompiled

# In the order of number_of in calls.cuh.
TYPES = {"float": "float", "double": "double", "int32": "std::int32_t", "half": "__half"}
# Calls whose results are returned, and calls that write them through an argument.
RETURNING = ["sum", "sum_of_user", "non_commutative", "structs", "transform", "dot", "fused_statistics", "arg_min",
             "log_sum_exp", "top_8", "exact_sum", "piece_of_sum", "piece_of_statistics"]
WRITING = {"segments_by_offsets": "sum_of<{0}>*", "segments_of_equal_length": "sum_of<{0}>*",
           "segments_of_bounded_length": "sum_of<{0}>*", "sum_of_deferred_length": "sum_of<{0}>*",
           "log_softmax_of_rows": "{0}*", "statistics_of_rows": "statistics_of<{0}>*",
           "columns": "sum_of<{0}>*", "by_key": "sum_of<{0}>*", "batched": "sum_of<{0}>*",
           "in_kernel": "sum_of<{0}>*"}
COLUMNS = ["call", "type", "kernel", "registers", "stack", "spill_stores", "spill_loads", "shared",
           "instructions", "main_loop"]
# CUDA's half has no operators that device and host share, so a user's plus is in float there as well.
LEFT_OUT = {("non_commutative", "half"), ("log_softmax_of_rows", "int32")}


def source_of(call, items):
    """A translation unit that makes the compiler instantiate the call for these item types."""
    head = '#include "calls.cuh"\n\nnamespace tilefold::kernel_table {\n'
    if call in RETURNING:
        bodies = [f"template auto {call}<{item}>(const arguments<{item}>&);\n" for item in items]
    else:
        bodies = [f"template void {call}<{item}>(const arguments<{item}>&, {WRITING[call].format(item)});\n"
                  for item in items]
    return head + "".join(bodies) + "}\n"


def type_of(name):
    """The item type that a kernel was made for: the last number of its build."""
    match = re.search(r"cuda::build<[^>]*\b(\d+)>", name)
    if not match or not 1 <= int(match[1]) <= len(TYPES):
        raise RuntimeError(f"no item type in {name}")
    return list(TYPES)[int(match[1]) - 1]


def short_name(name):
    """tile_kernel<512, 16> of the whole signature: the template and its leading numbers."""
    match = re.search(r"(\w+)<(?:tilefold::detail::cuda::build<[^>]*>, )?((?:\(?[\w:]*\)?-?\d+(?:, )?)*)", name)
    if not match:
        return name.split("(")[0]
    numbers = re.findall(r"-?\d+", re.sub(r"\([\w: ]*\)", "", match[2]))
    return f"{match[1]}<{', '.join(numbers)}>" if numbers else match[1]


def resources(log):
    """mangled name -> registers, stack frame, spill stores, spill loads, shared memory, of ptxas -v."""
    found = {}
    pattern = re.compile(
        r"Function properties for (\w+)\s*\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, "
        r"(\d+) bytes spill loads\s*\nptxas info\s*: Used (\d+) registers(.*)")
    for name, stack, stores, loads, registers, rest in pattern.findall(log):
        shared = re.search(r"(\d+) bytes smem", rest)
        found[name] = (int(registers), int(stack), int(stores), int(loads), int(shared[1]) if shared else 0)
    return found


LOAD = re.compile(r"\b(?:LDG|LDGSTS|UBLKCP|LD)\b[.\w]*")
WIDTH = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def loaded_bytes(instruction):
    match = LOAD.search(instruction)
    if not match:
        return 0
    parts = match[0].split(".")
    return next((WIDTH[part] for part in parts if part in WIDTH), 4)


def loops(lines):
    """(bytes loaded, instructions) of every loop of a kernel: from a label to a branch back to it."""
    labels, instructions = {}, []
    for line in lines:
        if label := re.match(r"\s*(\.L_x_\w+):", line):
            labels[label[1]] = len(instructions)
        elif instruction := re.search(r"/\*[0-9a-f]{4,}\*/\s+(.*?);", line):
            instructions.append(instruction[1])
    found = []
    for at, instruction in enumerate(instructions):
        target = re.search(r"\bBRA\b.*`\((\.L_x_\w+)\)", instruction)
        if target and labels.get(target[1], at + 1) < at:  # a branch to itself ends a kernel
            body = instructions[labels[target[1]]:at + 1]
            found.append((sum(map(loaded_bytes, body)), len(body)))
    return found, sum(not text.startswith("NOP") for text in instructions)


def main_loop(found):
    """Instructions of the loop that loads most; of such, the innermost."""
    loading = [loop for loop in found if loop[0] > 0]
    return min(loading, key=lambda loop: (-loop[0], loop[1]))[1] if loading else 0


def kernels_of(disassembly):
    """mangled name -> the lines of its code."""
    parts = re.split(r"^\s*\.section\s+\.text\.(\w+),.*$", disassembly, flags=re.MULTILINE)
    return {name: body.splitlines() for name, body in zip(parts[1::2], parts[2::2])}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def rows_of(tools, call, type_names):
    """The rows of one call on these types, in their order. One compilation for all takes half the time of
    one each: most of it is reading the library."""
    nvcc, nvdisasm, include_dir = tools
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory) / "call.cu"
        cubin = source.with_suffix(".cubin")
        source.write_text(source_of(call, [TYPES[name] for name in type_names]))
        log = run([nvcc, "-std=c++20", "-arch=sm_90", "-O3", f"-I{include_dir}", f"-I{HERE}", "-Xptxas", "-v",
                   "-cubin", source, "-o", cubin])
        code = kernels_of(run([nvdisasm, "-c", cubin]))
    for name, lines in code.items():
        if wrong := miscompiled("\n".join(lines)):
            raise RuntimeError(f"{call}: in {demangled([name])[0]} the compiler has made wrong code "
                               f"(test/support/machine_code.py): {wrong[0]}")
    found = resources(log)
    if not found or set(found) != set(code):
        raise RuntimeError(f"{call}: ptxas reports {len(found)} kernels, nvdisasm {len(code)}")
    names = dict(zip(found, demangled(found)))
    rows = {type_name: [] for type_name in type_names}
    for name, (registers, stack, stores, loads, shared) in found.items():
        in_kernel, instructions = loops(code[name])
        type_name = type_of(names[name])
        rows[type_name].append([call, type_name, short_name(names[name]), registers, stack, stores, loads, shared,
                                instructions, main_loop(in_kernel)])
    return [row for of_type in rows.values() for row in number_twins(sorted(of_type, key=lambda row: row[2:]))]


def number_twins(rows):
    """Kernels of one name and different code get a number behind it."""
    counts = collections.Counter(row[2] for row in rows)
    seen = collections.Counter()
    for row in rows:
        if counts[row[2]] > 1:
            seen[row[2]] += 1
            row[2] += f" #{seen[row[2]]}"
    return rows


def all_calls():
    return [(call, item) for call in [*RETURNING, *WRITING] for item in TYPES if (call, item) not in LEFT_OUT]


def make_table(tools, jobs, calls):
    types = collections.defaultdict(list)
    for call, type_name in calls:
        types[call].append(type_name)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda call: rows_of(tools, call, types[call]), types)
        return [[str(cell) for cell in row] for rows in found for row in rows]


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    if rows[0] != COLUMNS:
        raise RuntimeError(f"{path}: the columns are {rows[0]}, not {COLUMNS}")
    return rows[1:]


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def differences(expected, got):
    """One sentence for each row that moved, is gone, or is new."""
    before = {tuple(row[:3]): row[3:] for row in expected}
    after = {tuple(row[:3]): row[3:] for row in got}
    found = []
    for key in sorted(before.keys() | after.keys()):
        name = f"{key[0]} of {key[1]}, {key[2]}"
        if key not in after:
            found.append(f"{name}: no such kernel any more")
        elif key not in before:
            found.append(f"{name}: a new kernel: {dict(zip(COLUMNS[3:], after[key]))}")
        else:
            moved = [f"{column} {old} -> {new}" for column, old, new in
                     zip(COLUMNS[3:], before[key], after[key]) if old != new]
            if moved:
                found.append(f"{name}: {', '.join(moved)}")
    return found


def main():
    parser = argparse.ArgumentParser(description="What nvcc makes of the library's kernels.")
    parser.add_argument("nvcc")
    parser.add_argument("include_dir")
    parser.add_argument("--check", metavar="CSV")
    parser.add_argument("--write", metavar="CSV")
    parser.add_argument("--nvdisasm-dir", default="build/nvdisasm")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--calls", type=lambda names: names.split(","), default=[*RETURNING, *WRITING])
    parser.add_argument("--types", type=lambda names: names.split(","), default=[*TYPES])
    arguments = parser.parse_args()
    calls = [(call, item) for call, item in all_calls() if call in arguments.calls and item in arguments.types]
    if not calls or (arguments.write and calls != all_calls()):
        parser.error("no such call" if not calls else "the table is written whole")
    disassembler = find_disassembler(arguments.nvcc, arguments.nvdisasm_dir)
    table = make_table((arguments.nvcc, disassembler, arguments.include_dir), arguments.jobs, calls)
    if arguments.write:
        write(arguments.write, table)
        print(f"{len(table)} kernels of {len(all_calls())} calls")
    if arguments.check:
        expected = [row for row in read(arguments.check) if tuple(row[:2]) in set(calls)]
        found = differences(expected, table)
        print("\n".join(found) or f"{len(table)} kernels of {len(calls)} calls are as the table says")
        if found:
            print(f"\nIf that is meant: python3 {pathlib.Path(__file__).name} NVCC INCLUDE_DIR --write "
                  f"{arguments.check}, and say why in the commit message.")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
