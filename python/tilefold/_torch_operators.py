# SPDX-License-Identifier: Apache-2.0
"""How functions become operators of torch (torch.ops.tilefold), with results for torch.compile and gradients."""
from __future__ import annotations

from typing import Any, Callable, TypeVar, cast

import torch
from torch import Tensor

from . import _errors
from ._gpu_libraries import Torch

on_gpu = Torch(torch, of_user=False)
on_host = Torch(torch, of_user=False, on_host=True)


def new(x: Tensor) -> Tensor:
    """An empty tensor of x's shape and dtype. Results are contiguous, whatever the strides of operands are."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


_library = torch.library.Library("tilefold", "DEF")


def _refuse(ctx: Any, *gradients: Any) -> None:
    raise _errors.unsupported("backward of a backward is not there")


_Function = TypeVar("_Function", bound=Callable[..., Any])


def op(schema: str, fake: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Makes a function the operator of that schema; `fake` makes its results without values."""
    def define(function: _Function) -> _Function:
        name = schema.partition("(")[0]
        _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        for key in ("CPU", "CUDA"):
            _library.impl(name, function, key)
        torch.library.register_fake(f"tilefold::{name}", fake, lib=_library)
        if name.endswith("_backward"):
            torch.library.register_autograd(f"tilefold::{name}", _refuse, lib=_library)
        return cast(_Function, getattr(torch.ops.tilefold, name))

    return define


def differentiable(name: str, backward: Callable[..., Any], setup: Callable[..., None]) -> None:
    torch.library.register_autograd(f"tilefold::{name}", backward, setup_context=setup, lib=_library)
