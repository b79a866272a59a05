# SPDX-License-Identifier: Apache-2.0
"""Several results of one call, most of them from one read."""
from __future__ import annotations

import functools
from collections import namedtuple
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from . import _errors, _gpu
from ._arrays import Axis, Items, flag_of, items_of
from ._dtypes import FLOAT64, in_numpy, of_dtype, of_means
from ._gpu_libraries import library_of
from ._library import ALIASES, name_of_op, standard_mode
from ._operations import rounded
from ._out import check_out, packed, unpacked, written
from ._reductions import divisor_of, factor_of, folded, max, min, reduce

if TYPE_CHECKING:
    from ._signatures import FusedResults

#: Of "summary": count, mean, variance of a sample and of a population, least, greatest.
_PLACES = {"count": 0, "mean": 1, "min": 4, "max": 5}
_OF_SUMMARY = ("count", "mean", "var", "std", "min", "max")
#: The names that C has for them.
_OF_C = {ALIASES[name]: name for name in ("var", "std")}


@functools.lru_cache(maxsize=None)
def _results_of(*names: str) -> Any:
    """The named tuple of these results. Its pickles name _fused_results, for the type itself has no name."""
    def reduce_(self: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        return _fused_results, (names, *packed(self))

    return type("Fused", (namedtuple("Fused", names),), {
        "__slots__": (), "__reduce__": reduce_, "__module__": __name__})


def _fused_results(names: Sequence[str], *results: Any) -> Any:
    return unpacked(fuse(*names)._results, *results)


class Fused:
    """What fuse() makes."""

    def __init__(self, *names: str) -> None:
        for name in names:
            if name != "count":
                name_of_op(name)
        if not names or len(set(names)) != len(names):
            raise _errors.invalid(f"fuse takes names, each once, not {names}")
        self.names = names
        self._results = _results_of(*names)

    def __reduce__(self) -> Tuple[Callable[..., Fused], Tuple[str, ...]]:
        return fuse, self.names

    def __repr__(self) -> str:
        return f"tilefold.fuse{self.names}"

    def __call__(self, x: Items, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False,
                 out: Optional[Sequence[Any]] = None, correction: Optional[float] = None,
                 stream: Any = None) -> FusedResults:
        ddof, keepdims = divisor_of(ddof, correction), flag_of(keepdims)
        if out is not None and (not isinstance(out, (tuple, list)) or len(out) != len(self.names)):
            raise _errors.invalid(f"out must be {len(self.names)} arrays, one of each result: {', '.join(self.names)}")
        library = library_of(x)
        if library is None:
            x = items_of(x)
        # One stream for all: numbers are read where they were written.
        with _gpu.current(library, x, stream), standard_mode():
            found = self._find(x, axis, ddof, keepdims)
            if out is not None:
                found = self._give(x, found, out)
        results: FusedResults = self._results(*found)
        return results

    @staticmethod
    def _give(x: Any, found: List[Any], out: Sequence[Any]) -> List[Any]:
        library = library_of(x)
        if library is None:
            arrays = [np.asarray(one) for one in found]
            for one, to in zip(arrays, out):
                check_out(to, one.dtype, one.shape)
            return [written(to, one) for one, to in zip(arrays, out)]
        like = library.items(x)
        for one, to in zip(found, out):
            if to is not None:
                _gpu.check_out(library, to, like, library.code_of(one), tuple(one.shape))
        return [_gpu.given(library, one, to) for one, to in zip(found, out)]

    def _find(self, x: Any, axis: Axis, ddof: float, keepdims: bool) -> List[Any]:
        library = library_of(x)
        numbers: Any = None
        names = [_OF_C.get(name, name) for name in self.names]
        if set(names) & set(_OF_SUMMARY):
            try:
                numbers = reduce(x, "summary", axis, keepdims=keepdims)
            except _errors.EmptyError:
                if set(names) & {"mean", "var", "std"}:
                    raise
                return [self._of_nothing(name, x, axis, keepdims) for name in names]
        found: List[Any] = []
        for name in names:
            if name not in _OF_SUMMARY:
                found.append(reduce(x, name, axis, keepdims=keepdims))
            elif name in ("min", "max"):
                found.append(self._extreme(name, numbers[..., _PLACES[name]], x, axis, keepdims))
            elif name in ("var", "std"):
                var = numbers[..., 2 if ddof == 1 else 3]
                factor = 1.0 if ddof in (0, 1) else factor_of(folded(x, axis), ddof)
                if library is not None:
                    var = library.scaled(var, factor, name == "std")
                else:
                    var = np.sqrt(var * factor) if name == "std" else var * factor
                found.append(self._as_items(library, var, x))
            elif name == "mean":
                found.append(self._as_items(library, numbers[..., 1], x))
            else:
                found.append(numbers[..., _PLACES[name]])
        if library is None:
            found = [one.astype(np.int64) if name == "count" else one for name, one in zip(names, found)]
            found = [np.asarray(one)[()] for one in found]
        return found

    @staticmethod
    def _as_items(library: Any, numbers: Any, x: Any) -> Any:
        """Means and deviations as their own functions give them."""
        if library is None:
            return rounded(np.asarray(numbers), in_numpy(of_means(of_dtype(x.dtype))))
        code = of_means(library.items(x).code)
        return library.narrowed(numbers, code) if code != FLOAT64 else numbers

    @staticmethod
    def _of_nothing(name: str, x: Any, axis: Axis, keepdims: bool) -> Any:
        """Of a function that may have a result for that."""
        library = library_of(x)
        found = reduce(x, "count_nonzero" if name == "count" else name, axis, keepdims=keepdims)
        return library.cast(found, FLOAT64) if name == "count" and library is not None else found

    @staticmethod
    def _extreme(name: str, number: Any, x: Any, axis: Axis, keepdims: bool) -> Any:
        library = library_of(x)
        code = of_dtype(x.dtype) if library is None else library.code_of(x)
        if code in ((0, 64), (1, 64)):  # a double does not hold them
            return (min if name == "min" else max)(x, axis, keepdims=keepdims)
        return number.astype(x.dtype) if library is None else library.cast(number, code)


def fuse(*names: str) -> Fused:
    """A function that finds several results: fuse("mean", "var", "min")(x, axis=0).

    names  "count", "mean", "var", "std", "min", "max", which take one read together; and any other name that reduce()
           takes as op, of which each takes one more. Each once.

    What it returns takes x and axis as reduce() does, ddof or correction as var(), keepdims, out (a sequence of one
    array of each result, or None in the place of one) and stream, and returns a named tuple. Each result has the bits
    of the function of its name; the count is int64 (float64 on a GPU). min and max of int64 and uint64 are read once
    more, for float64 does not hold them. Of nothing: EmptyError where a function has no result for that.

    Raises: ArgumentError for another name; UnsupportedError for complex items; and as reduce().
    """
    return Fused(*names)
