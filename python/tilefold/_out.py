# SPDX-License-Identifier: Apache-2.0
"""Arrays of the user's that take results, on the host."""
from __future__ import annotations

from typing import Any, Callable, Tuple

import numpy as np

from ._dtypes import in_numpy, is_known, of_name
from ._errors import invalid

Out = Any  # an array of the result's kind, or None
Result = Any  # an array, or a NumPy scalar where no axis is left: _signatures.py says which


def _require_array(out: Any) -> None:
    if not isinstance(out, np.ndarray):
        raise invalid(f"out is a {type(out).__name__}, and must be a NumPy array")


def _require_writeable(out: Any) -> None:
    if not out.flags.writeable:
        raise invalid("out is read-only")


def check_out(out: Out, dtype: np.dtype[Any], shape: Tuple[int, ...]) -> None:
    if out is None:
        return
    _require_array(out)
    if out.dtype != dtype or out.shape != shape:
        raise invalid(f"out is an array of {out.dtype} and shape {out.shape}, and must be one of {dtype} and shape "
                      f"{shape}")
    _require_writeable(out)


def check_rows(out: Any, dtype: np.dtype[Any], tail: Tuple[int, ...]) -> None:
    """That it is rows of the shape `tail`, however many."""
    _require_array(out)
    if out.dtype != dtype or out.ndim != 1 + len(tail) or out.shape[1:] != tail:
        raise invalid(f"out is an array of {out.dtype} and shape {out.shape}, and must be one of {dtype} and shape "
                      f"{('runs',) + tail}")
    _require_writeable(out)


def require_two(out: Any) -> None:
    if not isinstance(out, tuple) or len(out) != 2:
        raise invalid(f"out is {type(out).__name__}, and must be two arrays: of keys, and of results")


def require_room(rows: int, runs: int) -> None:
    if rows < runs:
        raise invalid(f"out has room for {rows} runs, and there are {runs}")


def written(out: Out, results: np.ndarray[Any, Any]) -> Any:
    """`results`, a NumPy scalar where no axis is left, or `out` that has taken them."""
    if out is None:
        return results[()] if results.ndim == 0 else results
    out[...] = results
    return out


class _Packed(Tuple[Any, ...]):
    """An array or a NumPy scalar of ours in a pickle: name of its dtype, shape or None, bytes."""

    __slots__ = ()


def _is_ours(one: Any) -> bool:
    """Whether its bytes are those of a dtype that we name. A user may have put other objects among the results."""
    return (type(one) is np.ndarray or isinstance(one, np.generic)) and is_known(one.dtype)


def packed(results: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """Results for a pickle, which then names nothing of NumPy's. Other objects, as arrays of a GPU, are left as they
    are."""
    return tuple(_Packed((one.dtype.name, one.shape if isinstance(one, np.ndarray) else None, one.tobytes()))
                 if _is_ours(one) else one for one in results)


def unpacked(make: Callable[..., Any], *results: Any) -> Any:
    """What pickles of several results name: make() of what packed() was given."""
    def one_of(one: Any) -> Any:
        if not isinstance(one, _Packed):
            return one
        name, shape, data = one
        array: Any = np.ndarray(shape or (), in_numpy(of_name(name)), bytearray(data))
        return array[()] if shape is None else array

    return make(*(one_of(one) for one in results))
