# SPDX-License-Identifier: Apache-2.0
"""The executors: on the host one for each thread of the program that calls, since one serves one thread at a time; on a
GPU one for each stream."""
from __future__ import annotations

import ctypes
import operator
import os
import threading
from typing import Any, Callable, Dict, Tuple

from . import _errors, _library


class _Executor:
    """A host executor; destroyed with it. So whoever calls with its handle holds it: meanwhile a signal's handler may
    fold on another number of threads, for which this thread keeps another one."""

    def __init__(self, count: int) -> None:
        self.handle = self._as_parameter_ = ctypes.c_void_p()  # as itself it is an argument, too
        self.count = count
        _library.call("tilefold_host_executor", count, ctypes.byref(self.handle))

    def __del__(self, destroy: Callable[..., None] = _library.destroy) -> None:
        # The function is held as a default, for modules can be gone when the interpreter ends.
        destroy(self.handle)


_count = 0
_is_used = False
_is_one_thread = False  # in a process that was forked from one that had folded
_local = threading.local()


def set_num_threads(count: int) -> None:
    """Lets calls from now on fold on at most `count` threads, 1 to 4096; 0, as at the start, is all cores.

    Results have the same bits with any number. More threads than cores are not made. It holds for all threads of
    the program.

    In a process that was forked from one that had folded, calls fold on one thread (oneTBB's threads do not survive
    a fork). There the number is checked and has no effect, so that workers of multiprocessing may set it; for
    several threads in each worker use the start method "spawn" or "forkserver".

    Raises: ArgumentError for another number; then nothing has changed.
    """
    global _count
    count = operator.index(count)
    if not 0 <= count <= 4096:
        raise _errors.invalid(f"the number of threads is {count}, and must be 1 to 4096, or 0 for all")
    if not _is_one_thread:
        _count = count


def get_num_threads() -> int:
    """The number of threads that a call folds on; 0 is all cores.

    1 in a process that was forked from one that had folded, whatever set_num_threads() is given there."""
    return _count


def executor() -> _Executor:
    """The calling thread's executor."""
    global _is_used
    kept: _Executor | None = getattr(_local, "executor", None)
    if kept is None or kept.count != _count:
        _is_used = True
        kept = _local.executor = _Executor(_count)
    return kept


def _after_fork() -> None:
    global _count, _is_one_thread
    if _is_used:  # libtilefold has its own such flag, so that nothing can call oneTBB in this process
        _count, _is_one_thread = 1, True


os.register_at_fork(after_in_child=_after_fork)


_of_streams: Dict[Tuple[int, int], ctypes.c_void_p] = {}


def executor_of(device: int, stream: int) -> Any:
    """For any thread, and a stream that may end at any time: libtilefold keeps what calls need (tilefold.h). The
    host's for device -1."""
    if device < 0:
        return executor()
    found = _of_streams.get((device, stream))
    if found is None:
        if not _library.has_cuda:
            raise _errors.unsupported("the array is on a GPU, and this libtilefold was built without CUDA. Build one "
                                      "with -DTILEFOLD_C_CUDA=ON and name it in the environment variable "
                                      "TILEFOLD_LIBRARY, or copy the array to the host")
        found = ctypes.c_void_p()
        _library.call("tilefold_stream_executor", device, stream, ctypes.byref(found))
        _of_streams[device, stream] = found
    return found


def release_memory() -> None:
    """Gives back the GPU memory that the calling thread keeps for its next calls: for each of the last eight streams
    and each default stream the workspace of its largest call. Waits for work that uses it. Nothing is kept on the
    host."""
    for handle in list(_of_streams.values())[:1]:  # any of them stands for all of a thread
        _library.call("tilefold_release", handle)
