#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compiles combinations of verb, item, accumulator, key, iterator, executor, operator and GPU architecture: an
# error, or a warning, is a failure that names its combination. A few of one architecture share a program, which
# reads the headers once; where one of them fails, each is compiled by itself.
#
#     python3 matrix_test.py NVCC INCLUDE_DIR --full           a list that has every pair of choices (568)
#     python3 matrix_test.py NVCC INCLUDE_DIR                  30 of the list, by a new seed
#     python3 matrix_test.py NVCC INCLUDE_DIR --seed 7         those of seed 7
#     python3 matrix_test.py NVCC INCLUDE_DIR --only NAME      one, by its name in a report
#     python3 matrix_test.py NVCC INCLUDE_DIR --list           the names, and nothing is compiled
#
# test/README.md says more.
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

INTEGERS = {"int8": "std::int8_t", "int16": "std::int16_t", "int32": "std::int32_t", "int64": "std::int64_t",
            "uint64": "std::uint64_t"}
REALS = {"float": "float", "double": "double"}
NARROW = {"half": "__half", "bfloat16": "__nv_bfloat16"}
COMPLEX = {"complex8": "std::complex<float>", "complex16": "std::complex<double>"}
# Named by their bytes.
PACKS = {"pack3": "kinds::pack<std::uint8_t, 3>", "pack6": "kinds::pack<std::uint16_t, 3>",
         "pack8": "kinds::pack<float, 2>", "pack12": "kinds::pack<float, 3>",
         "wide16": "kinds::wide", "pack24": "kinds::pack<double, 3>", "pack36": "kinds::pack<float, 9>",
         "pack48": "kinds::pack<double, 6>", "pack64": "kinds::pack<float, 16>"}
# "own" is what the library chooses.
ACCUMULATORS = {"own": "", "int32": "std::int32_t", "int64": "std::int64_t", "float": "float", "double": "double",
                "gathered2": "kinds::gathered<std::uint8_t, 2>", "gathered12": "kinds::gathered<float, 3>",
                "gathered16": "kinds::gathered<double, 2>", "gathered24": "kinds::gathered<double, 3>",
                "gathered36": "kinds::gathered<int, 9>", "gathered48": "kinds::gathered<double, 6>",
                "gathered64": "kinds::gathered<float, 16>"}
ITEMS = {**INTEGERS, "bool": "bool", **NARROW, **REALS, **COMPLEX, **PACKS}
GATHERED = [name for name in ACCUMULATORS if name.startswith("gathered")]
ARITHMETIC = {**INTEGERS, "bool": "bool", **REALS}
KEYS = {"none": "", **INTEGERS, "double": "double",
        **{name: PACKS[name] for name in ("pack3", "pack12", "wide16", "pack24", "pack64")}}
ADAPTORS = ("pointer", "vector", "transform", "zip", "counting", "reverse", "permutation")
EXECUTORS = ("gpu", "policy", "none")
ARCHITECTURES = ("75", "80", "90", "100", "120")

# Those that take an operator at the end, and those that are one by themselves: with what they can fold.
FOLDS = ("reduce", "reduce_into", "transform_reduce", "transform_reduce_of_two", "segmented_equal", "segmented_offsets",
         "segmented_bounds", "checked_offsets", "batched", "by_key", "by_key_with_equality", "axis_reduce")
KERNELS = ("warp_fold", "warp_fold_each", "block_fold", "block_fold_each")
SEGMENTS = ("segmented_equal", "segmented_offsets", "segmented_bounds", "checked_offsets", "batched")
TRANSFORMS = ("transform_reduce", "transform_reduce_of_two")
OF_ANYTHING = ("count_if", "any_of")
OF_NUMBERS = ("count", "min_element", "minmax_element", "max_value", "mean", "variance", "norm", "logsumexp",
              "inner_product")
VERBS = FOLDS + KERNELS + OF_ANYTHING + OF_NUMBERS

OPERATORS = {"sum": "tilefold::plus{{}}", "maximum": "tilefold::maximum{{}}", "join": "kinds::join{{}}",
             "reducer": "kinds::own_reducer<{acc}>()", "mean": "tilefold::reducers::mean{{}}",
             "arg_max": "tilefold::reducers::arg_max<>{{}}", "minmax": "tilefold::reducers::minmax<>{{}}",
             "fused": "tilefold::reducers::fuse(tilefold::reducers::count{{}}, tilefold::reducers::variance{{}})",
             "none": ""}
LIBRARY_REDUCERS = ("mean", "arg_max", "minmax", "fused")

FACTORS = {"verb": VERBS, "item": tuple(ITEMS), "acc": tuple(ACCUMULATORS), "key": tuple(KEYS), "over": ADAPTORS,
           "executor": EXECUTORS, "op": tuple(OPERATORS), "init": ("without", "with"), "sm": ARCHITECTURES}


def possible(c):
    """Whether the documentation allows this combination."""
    verb, item, acc, op, init = c["verb"], c["item"], c["acc"], c["op"], c["init"] == "with"
    numbers = (item in ARITHMETIC or item in NARROW) and c["over"] != "zip"
    folds, in_kernel, by_key = verb in FOLDS, verb in KERNELS, verb.startswith("by_key")
    gathers = acc in GATHERED
    library_reducer = op in LIBRARY_REDUCERS
    wrong = [
        (c["key"] != "none") != by_key,
        (op != "none") != (folds or in_kernel),
        not (folds or in_kernel) and (acc != "own" or init),
        # Who serves the call.
        c["executor"] == "none" and (in_kernel or verb in ("reduce_into", "checked_offsets")),
        c["executor"] == "policy" and in_kernel,
        # What there is to read.
        c["over"] == "counting" and item not in ("int32", "int64", "uint64"),
        c["over"] == "zip" and (item in COMPLEX or in_kernel or op in ("sum", "maximum")),
        in_kernel and (item in COMPLEX or init),
        # What can be done with it.
        verb in OF_NUMBERS and (not numbers or item == "bool"),
        library_reducer and (not numbers or acc != "own" or init or item == "bool"),
        op == "maximum" and (not numbers or gathers),
        op == "sum" and (gathers or not (numbers or item in COMPLEX)),
        acc != "own" and not gathers and not numbers,
        item in COMPLEX and op == "reducer",
        # An empty segment must have a value, and a reducer's own start is an accumulator.
        verb in SEGMENTS and not init and op not in ("sum", "maximum", "minmax"),
        # With an operator transform_reduce takes an initial value; of two ranges it takes no f for a reducer.
        verb in TRANSFORMS and not init and not (library_reducer or op == "reducer"),
        verb == "transform_reduce_of_two" and (library_reducer or op == "reducer"),
    ]
    return not any(wrong)


# ---- which combinations

def name_of(c):
    return ",".join(f"{factor}={c[factor]}" for factor in FACTORS)


def combination_named(name):
    c = dict(part.split("=", 1) for part in name.split(","))
    if list(c) != list(FACTORS) or any(c[f] not in FACTORS[f] for f in FACTORS):
        raise SystemExit(f"'{name}' is no combination: take a whole name of a report or of --list")
    return c


def choices_of(c):
    """What of all_choices() a combination covers."""
    return [((f, c[f]), (g, c[g])) for f, g in PAIRS] + [tuple((f, c[f]) for f in KEYED)]


# One launch looks at the keys and another folds the items, so no code depends on a pair of theirs. The code of
# the first depends on three choices.
PAIRS = [pair for pair in itertools.combinations(FACTORS, 2) if pair not in (("item", "key"), ("acc", "key"))]
KEYED = ("verb", "key", "sm")


def all_choices():
    """Every pair of choices, and for every key its search on every GPU."""
    choices = [((f, x), (g, y)) for f, g in PAIRS for x in FACTORS[f] for y in FACTORS[g]]
    return choices + [(("verb", "by_key"), ("key", key), ("sm", sm)) for key in KEYS for sm in ARCHITECTURES]


def random_combination(bits, fixed):
    """One that is possible and has the choices of `fixed`, or None where 300 tries find none."""
    for _ in range(300):
        c = {f: fixed.get(f) or bits.choice(FACTORS[f]) for f in FACTORS}
        # What most choices would rule out.
        if "key" not in fixed and not c["verb"].startswith("by_key"):
            c["key"] = "none"
        if "op" not in fixed and c["verb"] in OF_ANYTHING + OF_NUMBERS:
            c["op"] = "none"
        if "acc" not in fixed and bits.random() < 0.5:
            c["acc"] = "own"
        if "over" not in fixed and bits.random() < 0.3:
            c["over"] = "pointer"
        if possible(c):
            return c
    return None


def covering_list(seed, most):
    """Possible combinations, at most `most`, that cover what is possible of all_choices(); the richest first."""
    bits = random.Random(seed)
    open_choices = dict.fromkeys(all_choices())
    chosen = []
    while open_choices and len(chosen) < most:
        # The best of a few that have what is open yet.
        wanted = bits.choice(list(open_choices))
        best = random_combination(bits, dict(wanted))
        if best is None:
            del open_choices[wanted]
            continue
        for _ in range(10):
            other = random_combination(bits, dict(wanted)) or best
            best = max(best, other, key=lambda c: sum(choice in open_choices for choice in choices_of(c)))
        for choice in choices_of(best):
            open_choices.pop(choice, None)
        chosen.append(best)
    return chosen


# ---- their programs

INCLUDES = {"vector": "thrust/device_vector.h", "transform": "thrust/iterator/transform_iterator.h",
            "zip": "thrust/iterator/zip_iterator.h", "counting": "thrust/iterator/counting_iterator.h",
            "reverse": "thrust/iterator/reverse_iterator.h", "permutation": "thrust/iterator/permutation_iterator.h"}
ITERATORS = {"pointer": "const {0}*", "vector": "thrust::device_vector<{0}>::const_iterator",
             "transform": "thrust::transform_iterator<kinds::made<{0}>, const {0}*>",
             "zip": "thrust::zip_iterator<thrust::tuple<const {0}*, const {0}*>>",
             "counting": "thrust::counting_iterator<{0}>", "reverse": "thrust::reverse_iterator<const {0}*>",
             "permutation": "thrust::permutation_iterator<const {0}*, const int*>"}

# {e} is the executor and a comma, {a} the accumulator in angles, {last} what stands at the end.
CALLS = {
    "reduce": "(void)tilefold::reduce{a}({e}first, first + n{last});",
    "reduce_into": "tilefold::reduce_into{a}({e}first, first + n, out{last});",
    "transform_reduce": "(void)tilefold::transform_reduce({e}first, first + n{last}, kinds::made<value>{{}});",
    "transform_reduce_of_two":
        "(void)tilefold::transform_reduce({e}first, first + n, second{last}, kinds::made<value>{{}});",
    "segmented_equal": "tilefold::segmented_reduce{a}({e}first, n, n, out{last});",
    "segmented_offsets": "tilefold::segmented_reduce{a}({e}first, offsets, n, out{last});",
    "segmented_bounds": "tilefold::segmented_reduce{a}({e}first, offsets, offsets + 1, n, out{last});",
    "checked_offsets": "tilefold::segmented_reduce{a}(tilefold::checked({g}, n), first, offsets, n, out{last});",
    "batched": "tilefold::batched_reduce{a}({e}firsts, offsets, n, out{last});",
    "by_key": "(void)tilefold::reduce_by_key{a}({e}keys, keys + n, first, keys_out, out{last});",
    "by_key_with_equality":
        "(void)tilefold::reduce_by_key{a}({e}keys, keys + n, first, keys_out, out, kinds::alike{{}}{last});",
    "axis_reduce": "tilefold::axis_reduce{a}({e}kinds::view<source>{{first, {{n, n}}, {{n, 1}}}}, "
                   "kinds::view<result*>{{out, {{1, n}}, {{n, 1}}}}, tilefold::axes{{0}}{last});",
    "count": "(void)tilefold::count({e}first, first + n, value{{}});",
    "inner_product": "(void)tilefold::inner_product({e}first, first + n, second, value{{}});",
    "norm": "(void)tilefold::norm({e}first, first + n);",
    **{verb: f"(void)tilefold::{verb}({{e}}first, first + n, kinds::odd{{{{}}}});" for verb in OF_ANYTHING},
}
BODIES = {
    "warp_fold": "out[threadIdx.x] = tilefold::warp_fold<16>(mine[0], n{last});",
    "warp_fold_each": "out[threadIdx.x] = tilefold::warp_fold_each(mine{last});",
    "block_fold": "__shared__ tilefold::block_storage<128, result> storage;\n"
                  "  out[threadIdx.x] = tilefold::block_fold(storage, mine, n{last});",
    "block_fold_each": "__shared__ tilefold::block_storage<96, result, 4> storage;\n"
                       "  out[threadIdx.x] = tilefold::block_fold_each(storage, mine{last});",
}


def arguments_of(c):
    """What stands at the end of the call."""
    arguments = []
    if c["init"] == "with":
        arguments.append("value{}")
    if c["op"] != "none" and not (c["op"] == "sum" and c["verb"] in FOLDS and c["verb"] not in TRANSFORMS
                                  and c["verb"] != "by_key_with_equality"):
        arguments.append(OPERATORS[c["op"]].format(acc="value"))
    return arguments


def program_of(c):
    verb, acc, item = c["verb"], ACCUMULATORS[c["acc"]], ITEMS[c["item"]]
    source = ITERATORS[c["over"]].format(item)
    # An iterator over keys of the same kind, where keys can have one.
    key_kind = c["over"] if c["over"] in ("vector", "transform", "reverse", "permutation") else "pointer"
    names_acc = acc and c["op"] != "reducer" and verb not in TRANSFORMS
    arguments = arguments_of(c)
    types = "".join(f", {a}" if a == "value" else f", decltype({a})" for a in
                    (a.replace("value{}", "value") for a in arguments))
    fill = {"e": {"gpu": "gpu, ", "policy": "tuned, ", "none": ""}[c["executor"]],
            "g": "gpu" if c["executor"] == "gpu" else "tuned",
            "a": f"<{acc}>" if names_acc else "", "last": "".join(f", {a}" for a in arguments)}
    lines = [f'#include "kinds.cuh"', "#include <thrust/iterator/iterator_traits.h>"]
    lines += [f"#include <{INCLUDES[kind]}>" for kind in sorted({c["over"], key_kind}) if kind in INCLUDES]
    lines += [f"using source = {source};", f"using value = {acc or 'std::iter_value_t<source>'};"]
    if verb in KERNELS:
        reducer = c["op"] == "reducer" or c["op"] in LIBRARY_REDUCERS
        lines += [f"using folded = std::conditional_t<{str(reducer).lower()}, std::iter_value_t<source>, value>;",
                  f"using op_type = decltype({arguments[0]});"]
        kind = "accumulated_t" if reducer else "folded_t"
        lines += [f"using result = tilefold::{kind}<folded, op_type>;"]
        body = BODIES[verb].format(last=", op").replace("out[threadIdx.x] = ", "const auto got = ")
        lines += ["__global__ void fold(source first, int n, op_type op, void* out) {", "  folded mine[4];",
                  "  for (int i = 0; i < 4; ++i) {",
                  "    const std::iter_value_t<source> item = first[4 * threadIdx.x + i];",
                  "    mine[i] = kinds::made<folded>{}(item);", "  }",
                  f"  {body}", "  static_cast<std::remove_const_t<decltype(got)>*>(out)[threadIdx.x] = got;", "}",
                  "void run(source first, int n, void* out) {", f"  fold<<<1, 128>>>(first, n, {arguments[0]}, out);", "}"]
        return "\n".join(lines) + "\n"
    call = CALLS.get(verb, f"(void)tilefold::{verb}({{e}}first, first + n);").format(**fill)
    if verb in FOLDS and verb not in TRANSFORMS + ("reduce",):
        named = acc if names_acc else "void"
        lines += [f"using result = kinds::reduced<{named}, source{types}>;"]
    else:
        lines += ["using result = int;"]
    key = KEYS[c["key"]] or "int"
    lines += [f"using key = {key};", f"using key_source = {ITERATORS[key_kind].format(key)};"]
    lines += ["void run(tilefold::cuda_executor& gpu, source first, std::int64_t n, result* out, const int* offsets,",
              "         const source* firsts, source second, key_source keys, key* keys_out) {",
              "  const auto tuned = tilefold::with_policy<tilefold::tile_policy{64, 4}>(gpu);",
              f"  {call}", "  (void)tuned;", "}"]
    return "\n".join(lines) + "\n"


# ---- compiling

# What a compiler says of a program that is wrong, or slow for a reason that nobody asked for.
COMPLAINT = re.compile(r"error|warning|fatal|spill", re.IGNORECASE)
THE_LIST = 1  # the seed of the list that samples are taken of
GROUP = 6  # combinations of a program
TIME_LIMIT_S = 480  # of a processor, for each of a compiler's programs


def compile_program(options, text, sm, directory, stem):
    """The compiler's first complaint, or None."""
    path = pathlib.Path(directory) / f"{stem}.cu"
    path.write_text(text)
    command = [options.nvcc, "-std=c++20", f"-arch=sm_{sm}", "--extended-lambda", f"-I{options.include}", f"-I{HERE}",
               "-cubin", str(path), "-o", str(path.with_suffix(".cubin"))]
    if options.spills:
        command.append("-Xptxas=-warn-spills")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT_S, TIME_LIMIT_S)))
    path.with_suffix(".cubin").unlink(missing_ok=True)
    lines = [line for line in done.stdout.splitlines() if COMPLAINT.search(line)]
    if done.returncode != 0 or lines:
        return lines[0] if lines else f"exit status {done.returncode} without a word"
    return None


def shared_program_of(combinations):
    """All of them, each in a namespace of its own."""
    programs = [program_of(c).splitlines() for c in combinations]
    includes = dict.fromkeys(line for program in programs for line in program if line.startswith("#include"))
    lines = list(includes)
    for i, program in enumerate(programs):
        lines += [f"namespace combination{i} {{", *(line for line in program if line not in includes), "}"]
    return "\n".join(lines) + "\n"


def groups_of(combinations):
    """Lists of at most GROUP of one architecture."""
    groups = []
    for sm in ARCHITECTURES:
        mine = [c for c in combinations if c["sm"] == sm]
        groups += [mine[i:i + GROUP] for i in range(0, len(mine), GROUP)]
    return groups


def compile_group(options, group, directory, stem):
    """{name: complaint} of those that fail."""
    sm = group[0]["sm"]
    complaint = compile_program(options, shared_program_of(group), sm, directory, stem)
    if complaint is None or len(group) == 1:
        return {name_of(c): complaint for c in group if complaint is not None}
    faults = {}
    for i, c in enumerate(group):
        faults.update(compile_group(options, [c], directory, f"{stem}_{i}"))
    return faults or {" and ".join(map(name_of, group)): f"only in one program: {complaint}"}


def compile_all(options, combinations, directory):
    """{name: complaint} of those that fail."""
    faults = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(compile_group, options, group, directory, f"program{i}")
                for i, group in enumerate(groups_of(combinations))]
        for run in concurrent.futures.as_completed(runs):
            for name, complaint in run.result().items():
                print(f"FAILED: {name}\n  {complaint}\n  again: python3 {sys.argv[0]} {options.nvcc} "
                      f"{options.include} --only '{name}'", flush=True)
            faults.update(run.result())
    return faults


# ---- a test of the test

PLAIN = dict(verb="reduce", item="float", acc="own", key="none", over="pointer", executor="gpu", op="join",
             init="without", sm="90")


def blind_spots(options, directory):
    """What should have been seen and was not."""
    plants = {
        "a program that is right": (program_of(PLAIN), False),
        "an operator that cannot be called": (program_of(PLAIN).replace("kinds::join{}", "kinds::made<int*>{}"), True),
        "a function that does not exist": (program_of(PLAIN).replace("tilefold::reduce(", "tilefold::deduce("), True),
        "a warning": (program_of(PLAIN) + "void unused() { int never_read = 1; }\n", True),
        "an error of ptxas": ('__global__ void plant() { asm("no.such.instruction;"); }\n', True),
    }
    blind = []
    for i, (what, (text, is_wrong)) in enumerate(plants.items()):
        complaint = compile_program(options, text, "90", directory, f"plant{i}")
        if (complaint is not None) != is_wrong:
            blind.append(f"{what}: {complaint or 'nothing was seen'}")
    wrong = {**PLAIN, "item": "pack12", "op": "sum"}
    if list(compile_group(options, [PLAIN, wrong], directory, "group")) != [name_of(wrong)]:
        blind.append("one of a group that is wrong is not named alone")
    listed = covering_list(1, 10)
    if listed != covering_list(1, 10) or listed == covering_list(2, 10):
        blind.append("a seed does not decide the list")
    if any(combination_named(name_of(c)) != c for c in listed):
        blind.append("a name does not tell its combination")
    return blind


def main():
    parser = argparse.ArgumentParser(description="Compiles combinations of everything with everything.")
    parser.add_argument("nvcc")
    parser.add_argument("include")
    parser.add_argument("--seed", type=int, help="what decides the sample; a new one if it is left out")
    parser.add_argument("--count", type=int, default=30, help="how many a sample has")
    parser.add_argument("--full", action="store_true", help="the whole list")
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--spills", action="store_true", help="registers that go to memory are a failure as well")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", metavar="DIRECTORY", help="where the programs stay")
    options = parser.parse_args()

    if options.only:
        combinations = [combination_named(options.only)]
    else:
        combinations = covering_list(THE_LIST, 10**6)
        if not options.full:
            seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
            print(f"--seed {seed}", flush=True)
            combinations = random.Random(seed).sample(combinations, options.count)
    if options.list:
        print("\n".join(map(name_of, combinations)))
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        blind = [] if options.only else blind_spots(options, directory)
        for what in blind:
            print(f"BLIND: {what}")
        faults = compile_all(options, combinations, directory)
    print(f"{len(combinations) - len(faults)} of {len(combinations)} combinations compile, "
          f"{time.monotonic() - began:.0f} s")
    return 1 if faults or blind else 0


if __name__ == "__main__":
    sys.exit(main())
