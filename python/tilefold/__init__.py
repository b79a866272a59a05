# SPDX-License-Identifier: Apache-2.0
"""Reductions of arrays with the same bits on any machine, any number of threads and any layout.

    tilefold.sum(x)    tilefold.mean(x, axis=0)    tilefold.segment_reduce(x, offsets, "max")

help(tilefold.reduce) says what is common to all: shapes, dtypes, order, empty input, errors.
"""
# The modules. Each imports only those above it (python/tests/test_process.py).
#   _errors         exceptions, and the statuses of tilefold.h
#   _dtypes         DLPack's codes, NumPy's dtypes, and which type a result is widened to
#   _library        libtilefold by ctypes: functions, names of operations
#   _threads        executors: of each thread on the host, of each stream on a GPU
#   _operations     what an operation makes of items of a type; rounding of results
#   _gpu_libraries  arrays of GPUs: _base says what an adapter has; _torch, _cupy, _numba, _jax, _dlpack are adapters
#   _out            checks of out=, and results written to it
#   _arrays         arrays of the host: what is taken as one, axes, conversion
#   _signatures     overloads for type checkers
#   _gpu            every verb for arrays of a GPU
#   _reductions     reduce, and the functions of axes
#   _segments       segment_reduce, batched, reduce_by_key
#   _indices        reduce_by_index, bincount
#   _fuse           fuse
#   _pieces         pieces and accumulators
#   _torch_operators  how functions become operators of torch
#   _torch_indices  index_add, scatter_add and scatter_reduce of tensors
#   _torch_distributed  all_reduce and reduce_scatter over the ranks of torch.distributed
#   torch           tilefold.torch: operators with gradients
import typing as _typing

from ._errors import ArgumentError, EmptyError, FormatError, TilefoldError, UnsupportedError
from ._fuse import fuse
from ._indices import bincount, reduce_by_index
from ._library import version as __version__
from ._pieces import ExactAccumulator, Piece, exact_accumulator, piece
from ._reductions import (CheckedSum, Stats, all, any, argmax, argmin, checked_sum, compensated_sum, count_nonzero,
                          exact_mean, exact_sum, logsumexp, max, mean, min, minmax, norm, prod, reduce, stats, std, sum,
                          var, vdot)
from ._segments import batched, reduce_by_key, segment_reduce
from ._threads import get_num_threads, release_memory, set_num_threads

__all__ = [
    "reduce", "sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all",
    "count_nonzero", "logsumexp", "norm", "exact_sum", "exact_mean", "checked_sum", "CheckedSum", "compensated_sum",
    "stats", "Stats", "fuse", "vdot",
    "segment_reduce", "reduce_by_key", "reduce_by_index", "bincount", "batched", "piece", "Piece", "exact_accumulator", "ExactAccumulator",
    "set_num_threads", "get_num_threads", "release_memory", "TilefoldError", "ArgumentError", "EmptyError",
    "FormatError", "UnsupportedError", "__version__",
]


def __getattr__(name: str) -> _typing.Any:
    # tilefold.torch is imported when it is asked for, and torch with it.
    if name == "torch":
        import importlib
        try:
            return importlib.import_module("tilefold.torch")
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise AttributeError("tilefold.torch is there where PyTorch is installed") from error
    raise AttributeError(f"module 'tilefold' has no attribute '{name}'")
