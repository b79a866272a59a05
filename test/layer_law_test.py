# SPDX-License-Identifier: Apache-2.0
#
# The layer law: a header includes headers of lower layers, of an earlier line of its own layer, or of its own
# folder and line; detail/host and detail/cuda never include each other. A header without a layer is an error, too.
# `python3 layer_law_test.py INCLUDE_DIR` checks a tree; the law itself is tried on planted breaches.
import functools
import pathlib
import re
import sys
import tempfile
import unittest

# Layers from the ground up; in a layer, line by line.
LAYERS = [
    [["config.hpp"], ["error.hpp"], ["tilefold.h"]],
    # Values and the order.
    [["tree.hpp"], ["detail/core/extremes.hpp"], ["detail/core/root_pointer.hpp"], ["detail/core/block_claims.hpp"],
     ["half.hpp"], ["op.hpp"], ["detail/core/closing.hpp"], ["policy.hpp"],
     ["detail/core/stand_in.hpp"], ["checked.hpp"], ["detail/exact/*"],
     ["detail/core/float_control.hpp"], ["exact_accumulator.hpp"], ["precompiled.hpp"]],
    # What is folded, by what; what verbs share.
    [["accumulator.hpp"], ["detail/core/source.hpp"], ["detail/core/op_reducer.hpp"],
     ["detail/core/function_checks.hpp"], ["detail/core/pair_function.hpp"], ["detail/core/pack.hpp"],
     ["detail/core/reducer_shortcuts.hpp"], ["detail/core/bound_reducer.hpp"], ["if_empty.hpp"],
     ["detail/core/*"], ["detail/verbs/*"], ["communicator.hpp"], ["detail/ranks/*"]],
    # The folds of host and GPU, and the public reducers, which bring what they alone need.
    [["detail/host/*", "detail/cuda/base/*"], ["detail/cuda/load/*"], ["detail/cuda/fold/*"],
     ["detail/cuda/range/*"], ["reducer.hpp"], ["reducers/basic.hpp"], ["reducers/arg.hpp"], ["reducers/*"],
     ["detail/cuda/forest/*"],
     ["detail/cuda/columns/*", "detail/cuda/index/*", "detail/cuda/keys/*", "detail/cuda/rows/*"],
     ["detail/cuda/sequential/*"], ["detail/cuda/exact/*"], ["detail/cuda/in_kernel/*"],
     # Reducers that bring folds of their own.
     ["reducers/exact.hpp", "reducers/fuse.hpp", "reducers/top_k.hpp"]],
    [["host.hpp"], ["memory_resource.cuh"], ["cuda.cuh"], ["detail/executor/*"], ["dispatch.hpp"]],
    [["sequential_blocks.hpp"], ["detail/verbs/reducer_verb.hpp"], ["deferred.hpp"], ["segment_bound.hpp"], ["reduce_on.hpp"],
     ["reduce.hpp"], ["transform_reduce.hpp"], ["segmented_reduce.hpp"], ["transform_rows.hpp"], ["batched_reduce.hpp"],
     ["reduce_by_key.hpp"], ["reduce_by_index.hpp"], ["axis_reduce.hpp"], ["inner_product.hpp"],
     ["count.hpp", "extrema.hpp", "statistics.hpp"], ["block_fold.cuh"], ["deposit.cuh"],
     ["thrust_compat.hpp", "cub_compat.cuh"]],
    [["piece.hpp"], ["ranks.hpp"], ["mpi.hpp"], ["detail/ranks/waiting_executor.cuh"], ["streamed.cuh"],
     ["cuda_group.cuh"], ["nccl.cuh", "peers.cuh"]],
    [["tilefold.hpp"], ["tilefold.cuh"]],
]
INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"](?:tilefold/)([^>\"]+)[>\"]", re.MULTILINE)


@functools.cache
def place(header):
    """(layer, line) of a header, or None. A header's name counts more than a pattern."""
    places = [(pattern == header, -layer, -line) for layer, lines in enumerate(LAYERS)
              for line, patterns in enumerate(lines)
              for pattern in patterns if pathlib.PurePath(header).match(pattern)]
    if not places:
        return None
    _, layer, line = max(places)
    return -layer, -line


def backend(header):
    return header.split("/")[1] if header.startswith(("detail/host/", "detail/cuda/")) else None


def folder(header):
    """Where a header of detail/ lies; a public header stands for itself."""
    return header.rpartition("/")[0] or header


def complaint(header, included):
    here, there = place(header), place(included)
    if there is None:
        return f"{header} includes {included}, which has no layer"
    if there > here or (there == here and folder(header) != folder(included)):
        return f"{header} (layer {here[0]}) includes {included} (layer {there[0]})"
    if None not in (backend(header), backend(included)) and backend(header) != backend(included):
        return f"{header} includes {included}: host and CUDA are strangers"
    return None


def breaches(root):
    """Every breach of the law in a directory that holds tilefold/."""
    root = pathlib.Path(root) / "tilefold"
    found = []
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".hpp", ".cuh")):
        header = path.relative_to(root).as_posix()
        if place(header) is None:
            found.append(f"{header} has no layer")
            continue
        for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
            found += filter(None, [complaint(header, included)])
    return found


# A type of the caller's may have operators & and new of its own, which are not those that are meant.
OWN_NEW = re.compile(r"(?<!operator )(?<!::)\bnew \(|::new \((?!static_cast<void\*>\()")
OWN_ADDRESS = re.compile(r"::new \(static_cast<void\*>\(&|(?<!&)&[\w.]+(\[[^]]*\])+\.value\b|"
                         r"memcpy\([^;]*&(value|first|last|items?|acc)\b")


def overloads_in_use(root):
    """Every place that would call an operator of the caller's type, where an object is made or its address taken."""
    found = []
    for path in sorted(p for p in pathlib.Path(root).rglob("*") if p.suffix in (".hpp", ".cuh")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = line.split("//")[0]
            if OWN_NEW.search(code) or OWN_ADDRESS.search(code):
                found.append(f"{path}:{number}: {line.strip()}")
    return found


def closure(root, headers):
    """All headers that these include, in one way of compiling or another."""
    root, found, waiting = pathlib.Path(root) / "tilefold", set(), list(headers)
    while waiting:
        header = waiting.pop()
        if header not in found:
            found.add(header)
            waiting += INCLUDE.findall((root / header).read_text(encoding="utf-8"))
    return found


class LayerLaw(unittest.TestCase):
    include_dir = None

    # Each verb includes the primitive that it needs, so that others are compiled without.
    def test_a_sum_reads_nothing_of_forests_columns_and_keys(self):
        def of_others(headers):
            return [header for header in closure(self.include_dir, headers)
                    if re.search(r"detail/cuda/(forest|columns|keys|rows|exact|in_kernel)/", header)]
        self.assertEqual(of_others(["cuda.cuh", "reduce.hpp", "transform_reduce.hpp"]), [])
        self.assertNotEqual(of_others(["segmented_reduce.hpp"]), [])
        self.assertNotEqual(of_others(["reduce_by_key.hpp"]), [])

    def test_a_sum_on_a_named_executor_reads_nothing_of_other_executors(self):
        def of_others(headers, others):
            return [header for header in closure(self.include_dir, headers) if re.search(others, header)]
        for_host = r"host/|^host\.hpp|dispatch|kept_executors|bound_reducer"
        self.assertEqual(of_others(["reduce_on.hpp", "cuda.cuh"], for_host), [])
        self.assertEqual(of_others(["reduce_on.hpp", "host.hpp"], r"cuda"), [])
        self.assertNotEqual(of_others(["reduce.hpp"], for_host), [])

    # A reducer with folds of its own brings them.
    def test_verbs_read_nothing_of_exact_sums_and_of_lists(self):
        def of_reducers(headers):
            return [header for header in closure(self.include_dir, headers)
                    if re.search(r"cuda/exact/|cuda/\w+/\w*select|host/exact_fold|reducers/fuse", header)]
        for verb in ["reduce", "transform_reduce", "segmented_reduce", "batched_reduce", "reduce_by_key", "axis_reduce"]:
            self.assertEqual(of_reducers(["cuda.cuh", f"{verb}.hpp"]), [], verb)
        for header in ["reducers/exact.hpp", "reducers/top_k.hpp", "reducers/fuse.hpp"]:
            self.assertNotEqual(of_reducers([header]), [], header)

    def test_the_tree_keeps_it(self):
        self.assertTrue((pathlib.Path(self.include_dir) / "tilefold/config.hpp").is_file())
        self.assertEqual(breaches(self.include_dir), [])

    def test_objects_are_made_and_found_whatever_operators_their_type_has(self):
        self.assertEqual(overloads_in_use(self.include_dir), [])

    def test_uses_of_overloaded_operators_are_found(self):
        wrong = ["new (&values[warp]) acc(mine);", "::new (place) T(v);", "new (partials + at) acc(value);",
                 "::new (static_cast<void*>(&values[count++])) T(v);", "T* at(int i) { return &slots[i].value; }",
                 "std::memcpy(bytes, &value, sizeof value);"]
        right = ["::new (static_cast<void*>(values + warp)) acc(mine);", "a[i].value && b[i].value;",
                 "return __builtin_addressof(slots[i].value);", "// new (&value) T"]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "a.hpp"
            for line, found in [(line, 1) for line in wrong] + [(line, 0) for line in right]:
                path.write_text(line + "\n", encoding="utf-8")
                self.assertEqual(len(overloads_in_use(directory)), found, line)

    def breaches_of(self, files):
        with tempfile.TemporaryDirectory() as directory:
            for name, included in files.items():
                path = pathlib.Path(directory) / "tilefold" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"#  include <tilefold/{included}>\n", encoding="utf-8")
            return breaches(directory)

    def test_breaches_are_found(self):
        self.assertEqual(len(self.breaches_of({"tree.hpp": "host.hpp"})), 1)
        self.assertEqual(len(self.breaches_of({"half.hpp": "op.hpp"})), 1)
        self.assertEqual(len(self.breaches_of({"count.hpp": "extrema.hpp"})), 1)
        self.assertEqual(len(self.breaches_of({"new.hpp": "config.hpp"})), 1)
        self.assertEqual(len(self.breaches_of({"host.hpp": "nothing.hpp"})), 1)
        self.assertEqual(len(self.breaches_of({"detail/cuda/base/a.cuh": "detail/host/b.hpp"})), 1)
        self.assertEqual(len(self.breaches_of({"detail/cuda/keys/a.cuh": "detail/cuda/rows/b.cuh"})), 1)
        self.assertEqual(len(self.breaches_of({"detail/host/a.hpp": "detail/cuda/base/b.cuh"})), 1)

    def test_lawful_includes_pass(self):
        self.assertEqual(self.breaches_of({"op.hpp": "half.hpp", "host.hpp": "detail/host/a.hpp"}), [])
        self.assertEqual(self.breaches_of({"detail/cuda/base/a.cuh": "detail/cuda/base/b.cuh",
                                           "detail/cuda/keys/a.cuh": "detail/cuda/forest/b.cuh"}), [])


if __name__ == "__main__":
    LayerLaw.include_dir = sys.argv.pop(1)
    unittest.main()
