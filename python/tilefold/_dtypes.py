# SPDX-License-Identifier: Apache-2.0
"""Types of items by DLPack's codes: their names, their NumPy dtypes, and which type a result is widened to."""
from __future__ import annotations

import functools
from typing import Any, Dict, Tuple

import numpy as np

from ._errors import TilefoldError, unsupported

#: DLPack's code and the bits of a type.
Code = Tuple[int, int]
BOOL: Code = (6, 8)
BFLOAT16: Code = (4, 16)
FLOAT64: Code = (2, 64)
NAMES: Dict[Code, str] = {
    (0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8", (1, 16): "uint16",
    (1, 32): "uint32", (1, 64): "uint64", (2, 16): "float16", BFLOAT16: "bfloat16", (2, 32): "float32",
    FLOAT64: "float64", BOOL: "bool", (5, 64): "complex64", (5, 128): "complex128",
}
_CODES = {name: code for code, name in NAMES.items()}


def name_of(code: Code) -> str:
    return NAMES[code]


def is_float(code: Code) -> bool:
    return code[0] in (2, 4)


def is_integer(code: Code) -> bool:
    """Of integers and bool."""
    return code[0] in (0, 1, 6)


def is_known(dtype: np.dtype[Any]) -> bool:
    return dtype.name in _CODES and bool(dtype.isnative)


@functools.lru_cache(maxsize=None)
def of_dtype(dtype: np.dtype[Any]) -> Code:
    if not is_known(dtype):
        raise unsupported(f"arrays of {dtype} are not taken")
    return _CODES[dtype.name]


def of_name(dtype: Any) -> Code:
    """The code of what a user names a dtype by: torch.float32, "f4", numpy.float32; in any byte order."""
    try:
        return _of_name(dtype)
    except TilefoldError:
        raise
    except (TypeError, ValueError, SyntaxError) as error:
        shown = ascii(dtype)
        raise unsupported(f"dtype {shown if len(shown) <= 80 else shown[:77] + '...'} is none") from error


@functools.lru_cache(maxsize=None)
def _of_name(dtype: Any) -> Code:
    name = str(dtype).partition(".")[2] if str(dtype).startswith("torch.") else None
    if name is None and dtype == "bfloat16":
        name = "bfloat16"
    return _CODES[name] if name in _CODES else of_dtype(np.dtype(dtype).newbyteorder("="))


@functools.lru_cache(maxsize=None)
def in_numpy(code: Code) -> np.dtype[Any]:
    if code == BFLOAT16:
        import ml_dtypes
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    return np.dtype(name_of(code))


def of_means(items: Code) -> Code:
    """The type of means and deviations, which are computed in float64: floats keep their own."""
    return items if is_float(items) else FLOAT64


def ends_of(code: Code) -> Tuple[int, int]:
    """The least and the greatest number of an integer type."""
    bits = code[1]
    return (0, 2 ** bits - 1) if code[0] == 1 else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)


def folded_as(op: str, items: Code, wanted: Code) -> Tuple[str, bool]:
    """A sum or a product of items as `wanted`: the operation, and whether the items are converted before it. Floats
    become float64, and integers 64 bits of their sign, while they are read."""
    if op.startswith("torch_"):
        return op, items != wanted
    if is_float(items) and wanted == FLOAT64 and items != FLOAT64:
        return op + "64", False
    same_sign = items[0] == wanted[0] or (items == BOOL and wanted[0] == 0)
    return op, items != wanted and not (same_sign and wanted in ((0, 64), (1, 64)))
