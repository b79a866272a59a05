# SPDX-License-Identifier: Apache-2.0
"""What the functions give of what they are given, for type checkers.

Each `of_...` below is a decorator. At run time it returns the function that it is given, so a call costs nothing, and
the function keeps its signature and its help. A type checker reads the Protocol of the decorator instead, and checks
that the function takes what the Protocol says. The overloads of a Protocol stand in this order:

    out=                  gives that array
    an array of a GPU     gives an array of its library
    no axis, no keepdims  gives a NumPy scalar
    axes                  gives a NumPy array
    keepdims=True         gives a NumPy array
    keepdims, a variable  gives one of the two

The first that matches counts, also where a later one gives another type.
"""
# mypy: disable-error-code="overload-overlap"
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _unchanged(function: _Function) -> _Function:
    return function


if TYPE_CHECKING:
    from typing import Generic, Literal, NamedTuple, Optional, Protocol, Sequence, Tuple, Type, Union, overload

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import TypeVar as DefaultTypeVar

    from ._arrays import Axes, Axis, GpuArray, Items, SupportsDLPack

    #: Items that count as on the host. An array that has __dlpack__ alone may be on a GPU; its type does not say so.
    Host = Union[ArrayLike, SupportsDLPack]
    Array = NDArray[Any]
    Keep = Literal[False]  # a keepdims that leaves no axis

    Gpu = TypeVar("Gpu", bound=GpuArray)
    Keys = TypeVar("Keys", bound=GpuArray)
    Out = TypeVar("Out", bound=Union[Array, GpuArray])
    Out2 = TypeVar("Out2", bound=Union[Array, GpuArray])
    Scalar = TypeVar("Scalar", bound=np.generic)
    ScalarOf = TypeVar("ScalarOf", bound=np.generic, covariant=True)
    Float = TypeVar("Float", bound="np.floating[Any]")
    #: Of which sums have the type of the items. Those of narrower floats are float32.
    Wide = TypeVar("Wide", bound="Union[np.float32, np.float64, np.complexfloating[Any, Any]]")

    DType = Union[Type[Scalar], np.dtype[Scalar]]
    Floating = np.floating[Any]
    Integer = np.integer[Any]
    Number = np.number[Any]
    Order = Optional[Literal["torch"]]  # of a sum or a product
    Integers = NDArray[Union[Integer, np.bool_]]

    class Reduction(Protocol[ScalarOf]):
        """Results of one type, whatever the items are."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, keepdims: bool = ..., out: Out,
                     stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> ScalarOf: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> NDArray[ScalarOf]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     stream: object = ...) -> NDArray[ScalarOf]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: bool, out: None = ...,
                     stream: object = ...) -> Union[ScalarOf, NDArray[ScalarOf]]: ...

    class MaskedReduction(Protocol[ScalarOf]):
        """The same with where=."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, keepdims: bool = ..., out: Out,
                     where: Optional[Items] = ..., stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> ScalarOf: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[ScalarOf]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[ScalarOf]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: bool, out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Union[ScalarOf, NDArray[ScalarOf]]: ...

    class Norm(Protocol):
        @overload
        def __call__(self, x: Items, ord: float = ..., axis: Axis = ..., *, keepdims: bool = ..., out: Out,
                     where: Optional[Items] = ..., stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, ord: float = ..., axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: Host, ord: float = ..., axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Floating: ...
        @overload
        def __call__(self, x: Host, ord: float, axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, ord: float = ..., *, axis: Axes, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, ord: float = ..., axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, ord: float = ..., axis: None = ..., *, keepdims: bool, out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Union[Floating, NDArray[Floating]]: ...

    class Extreme(Protocol):
        """Of the type of the items."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, keepdims: bool = ..., out: Out, initial: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., out: None = ..., initial: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Scalar], axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., stream: object = ...) -> Scalar: ...
        @overload
        def __call__(self, x: NDArray[Scalar], axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> NDArray[Scalar]: ...
        @overload
        def __call__(self, x: NDArray[Scalar], axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     initial: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> NDArray[Scalar]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., out: None = ..., initial: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Any: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., out: None = ..., initial: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Array: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., stream: object = ...) -> Array: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: bool, out: None = ..., initial: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Any: ...

    class Pairs(Protocol):
        """Arrays of two of the items, also of all axes."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, keepdims: bool = ..., out: Out,
                     stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Scalar], axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> NDArray[Scalar]: ...
        @overload
        def __call__(self, x: Host, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> Array: ...

    class Sum(Protocol):
        """Integers in 64 bits, narrow floats in float32; of `dtype` where it is a type."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, dtype: object = ..., keepdims: bool = ..., out: Out,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, dtype: object = ..., keepdims: bool = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Wide], axis: None = ..., *, dtype: None = ..., keepdims: Keep = ...,
                     out: None = ..., initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> Wide: ...
        @overload
        def __call__(self, x: NDArray[Wide], axis: Axes, *, dtype: None = ..., keepdims: bool = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> NDArray[Wide]: ...
        @overload
        def __call__(self, x: NDArray[Wide], axis: None = ..., *, dtype: None = ..., keepdims: Literal[True],
                     out: None = ..., initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> NDArray[Wide]: ...
        @overload
        def __call__(self, x: Integers, axis: None = ..., *, dtype: None = ..., keepdims: Keep = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> Integer: ...
        @overload
        def __call__(self, x: Integers, axis: Axes, *, dtype: None = ..., keepdims: bool = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> NDArray[Integer]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, dtype: DType[Scalar], keepdims: Keep = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> Scalar: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, dtype: DType[Scalar], keepdims: bool = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> NDArray[Scalar]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, dtype: object = ..., keepdims: Keep = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> Number: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, dtype: object = ..., keepdims: bool = ..., out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> NDArray[Number]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, dtype: object = ..., keepdims: Literal[True],
                     out: None = ..., initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> NDArray[Number]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, dtype: object = ..., keepdims: bool, out: None = ...,
                     initial: object = ..., where: Optional[Items] = ..., order: Order = ...,
                     stream: object = ...) -> Union[Number, NDArray[Number]]: ...

    class ExactSum(Protocol):
        """Floats in their own type, integers in 64 bits."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, keepdims: bool = ..., out: Out,
                     where: Optional[Items] = ..., stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Float: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: Integers, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Integer: ...
        @overload
        def __call__(self, x: Integers, axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Integer]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Number: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Number]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Number]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: bool, out: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Union[Number, NDArray[Number]]: ...

    class OfFloats(Protocol):
        """Floats in their own type, of all else a float."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, keepdims: bool = ..., out: Out,
                     stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> Float: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> Floating: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: bool, out: None = ...,
                     stream: object = ...) -> Union[Floating, NDArray[Floating]]: ...

    class Mean(Protocol):
        """The same with dtype= and where=."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, keepdims: bool = ..., out: Out, dtype: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., out: None = ..., dtype: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     dtype: None = ..., where: Optional[Items] = ..., stream: object = ...) -> Float: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: Axes, *, keepdims: bool = ..., out: None = ..., dtype: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     dtype: None = ..., where: Optional[Items] = ..., stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., out: None = ..., dtype: DType[Float],
                     where: Optional[Items] = ..., stream: object = ...) -> Float: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., out: None = ..., dtype: DType[Float],
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., out: None = ..., dtype: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Floating: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., out: None = ..., dtype: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     dtype: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: bool, out: None = ..., dtype: object = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Union[Floating, NDArray[Floating]]: ...

    class Deviation(Protocol):
        """The same with a divisor."""
        @overload
        def __call__(self, x: Items, axis: Axis = ..., *, ddof: float = ..., keepdims: bool = ..., out: Out,
                     correction: Optional[float] = ..., dtype: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, ddof: float = ..., keepdims: bool = ..., out: None = ...,
                     correction: Optional[float] = ..., dtype: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, ddof: float = ..., keepdims: Keep = ...,
                     out: None = ..., correction: Optional[float] = ..., dtype: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> Float: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: Axes, *, ddof: float = ..., keepdims: bool = ..., out: None = ...,
                     correction: Optional[float] = ..., dtype: None = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: NDArray[Float], axis: None = ..., *, ddof: float = ..., keepdims: Literal[True],
                     out: None = ..., correction: Optional[float] = ..., dtype: None = ...,
                     where: Optional[Items] = ..., stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, ddof: float = ..., keepdims: Keep = ..., out: None = ...,
                     correction: Optional[float] = ..., dtype: DType[Float], where: Optional[Items] = ...,
                     stream: object = ...) -> Float: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, ddof: float = ..., keepdims: bool = ..., out: None = ...,
                     correction: Optional[float] = ..., dtype: DType[Float], where: Optional[Items] = ...,
                     stream: object = ...) -> NDArray[Float]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, ddof: float = ..., keepdims: Keep = ..., out: None = ...,
                     correction: Optional[float] = ..., dtype: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> Floating: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, ddof: float = ..., keepdims: bool = ..., out: None = ...,
                     correction: Optional[float] = ..., dtype: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, ddof: float = ..., keepdims: Literal[True], out: None = ...,
                     correction: Optional[float] = ..., dtype: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> NDArray[Floating]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, ddof: float = ..., keepdims: bool, out: None = ...,
                     correction: Optional[float] = ..., dtype: object = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> Union[Floating, NDArray[Floating]]: ...

    #: Names of operations by what they give. Of others a type checker knows arrays alone.
    Several = Literal["minmax", "softmax_pair", "checked_sum", "summary"]
    Count = Literal["argmin", "argmax", "arg_min", "arg_max", "count_nonzero"]
    Truth = Literal["any", "all"]
    Real = Literal["mean", "var", "std", "variance", "standard_deviation", "population_variance",
                   "population_standard_deviation", "logsumexp", "norm", "l1", "l2", "linf", "exact_mean",
                   "compensated_sum"]
    Total = Literal["sum", "prod", "product", "sum32", "product32", "sum64", "product64", "exact_sum"]

    class Reduce(Protocol):
        @overload
        def __call__(self, x: Items, op: str, axis: Axis = ..., *, keepdims: bool = ..., out: Out,
                     stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, op: str, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: Host, op: Several, axis: Axis = ..., *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> Array: ...
        @overload
        def __call__(self, x: Host, op: Count, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> np.int64: ...
        @overload
        def __call__(self, x: Host, op: Truth, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> np.bool_: ...
        @overload
        def __call__(self, x: Host, op: Real, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> Floating: ...
        @overload
        def __call__(self, x: Host, op: Total, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> Number: ...
        @overload
        def __call__(self, x: Host, op: str, axis: None = ..., *, keepdims: Keep = ..., out: None = ...,
                     stream: object = ...) -> Any: ...
        @overload
        def __call__(self, x: Host, op: str, axis: Axes, *, keepdims: bool = ..., out: None = ...,
                     stream: object = ...) -> Array: ...
        @overload
        def __call__(self, x: Host, op: str, axis: None = ..., *, keepdims: Literal[True], out: None = ...,
                     stream: object = ...) -> Array: ...
        @overload
        def __call__(self, x: Host, op: str, axis: None = ..., *, keepdims: bool, out: None = ...,
                     stream: object = ...) -> Any: ...

    class SegmentReduce(Protocol):
        @overload
        def __call__(self, x: Items, offsets: Items, op: str = ..., *, out: Out, stream: object = ...) -> Out: ...
        @overload
        def __call__(self, x: Gpu, offsets: Items, op: str = ..., *, out: None = ..., stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: Host, offsets: Items, op: str = ..., *, out: None = ...,
                     stream: object = ...) -> Array: ...

    class Batched(Protocol):
        @overload
        def __call__(self, arrays: Sequence[Gpu], op: str = ..., *, stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, arrays: Sequence[Host], op: str = ..., *, stream: object = ...) -> Array: ...

    class ReduceByKey(Protocol):
        @overload
        def __call__(self, keys: Items, values: Items, op: str = ..., *, out: Tuple[Out, Out2],
                     stream: object = ...) -> Tuple[Out, Out2]: ...
        @overload
        def __call__(self, keys: Keys, values: Gpu, op: str = ..., *, out: None = ...,
                     stream: object = ...) -> Tuple[Keys, Gpu]: ...
        @overload
        def __call__(self, keys: NDArray[Scalar], values: Host, op: str = ..., *, out: None = ...,
                     stream: object = ...) -> Tuple[NDArray[Scalar], Array]: ...
        @overload
        def __call__(self, keys: Host, values: Host, op: str = ..., *, out: None = ...,
                     stream: object = ...) -> Tuple[Array, Array]: ...

    class ReduceByIndex(Protocol):
        @overload
        def __call__(self, indices: Items, values: Items, num_results: Optional[int] = ..., op: str = ..., *,
                     mode: str = ..., out: Out, stream: object = ...) -> Out: ...
        @overload
        def __call__(self, indices: Items, values: Gpu, num_results: Optional[int] = ..., op: str = ..., *,
                     mode: str = ..., out: None = ..., stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, indices: Host, values: Host, num_results: Optional[int] = ..., op: str = ..., *,
                     mode: str = ..., out: None = ..., stream: object = ...) -> Array: ...

    class Bincount(Protocol):
        @overload
        def __call__(self, x: Gpu, weights: Optional[Items] = ..., minlength: int = ..., *,
                     stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: Host, weights: None = ..., minlength: int = ..., *,
                     stream: object = ...) -> NDArray[np.int64]: ...
        @overload
        def __call__(self, x: Host, weights: Host, minlength: int = ..., *,
                     stream: object = ...) -> NDArray[np.float64]: ...
        @overload
        def __call__(self, x: Host, weights: Optional[Host], minlength: int = ..., *,
                     stream: object = ...) -> Array: ...

    class Dot(Protocol):
        @overload
        def __call__(self, x: Gpu, y: Items, *, stream: object = ...) -> Gpu: ...
        @overload
        def __call__(self, x: NDArray[Wide], y: Host, *, stream: object = ...) -> Wide: ...
        @overload
        def __call__(self, x: Integers, y: Host, *, stream: object = ...) -> Integer: ...
        @overload
        def __call__(self, x: Host, y: Host, *, stream: object = ...) -> Number: ...

    N = DefaultTypeVar("N", default=Any)
    V = DefaultTypeVar("V", default=Any)

    class CheckedSum(NamedTuple, Generic[V, N]):
        value: V
        fits: N

    class Stats(NamedTuple, Generic[N, V]):
        count: N  # type: ignore[assignment]  # tuple.count
        mean: V
        variance: V
        min: V
        max: V

    class CheckedSums(Protocol):
        @overload
        def __call__(self, x: Gpu, axis: Axis = ..., *, keepdims: bool = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> CheckedSum[Gpu, Gpu]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: Keep = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> CheckedSum[Integer, np.bool_]: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, keepdims: bool = ..., where: Optional[Items] = ...,
                     stream: object = ...) -> CheckedSum[NDArray[Integer], NDArray[np.bool_]]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, keepdims: bool, where: Optional[Items] = ...,
                     stream: object = ...) -> CheckedSum: ...

    class Statistics(Protocol):
        @overload
        def __call__(self, x: Gpu, axis: None = ..., *, ddof: float = ..., keepdims: Keep = ...,
                     correction: Optional[float] = ..., stream: object = ...) -> Stats[int, Gpu]: ...
        @overload
        def __call__(self, x: Gpu, axis: Axes, *, ddof: float = ..., keepdims: bool = ...,
                     correction: Optional[float] = ..., stream: object = ...) -> Stats[Gpu, Gpu]: ...
        @overload
        def __call__(self, x: Host, axis: None = ..., *, ddof: float = ..., keepdims: Keep = ...,
                     correction: Optional[float] = ..., stream: object = ...) -> Stats[int, float]: ...
        @overload
        def __call__(self, x: Host, axis: Axes, *, ddof: float = ..., keepdims: bool = ...,
                     correction: Optional[float] = ...,
                     stream: object = ...) -> Stats[NDArray[np.int64], NDArray[np.float64]]: ...
        @overload
        def __call__(self, x: Items, axis: None = ..., *, ddof: float = ..., keepdims: bool,
                     correction: Optional[float] = ..., stream: object = ...) -> Stats: ...

    class FusedResults(Tuple[Any, ...]):
        """The named tuple of fuse(), whose names are those that it was given."""
        def __getattr__(self, name: str) -> Any: ...


of_place: Callable[[Reduction[np.int64]], Reduction[np.int64]] = _unchanged
of_truth: Callable[[MaskedReduction[np.bool_]], MaskedReduction[np.bool_]] = _unchanged
of_count: Callable[[MaskedReduction[np.int64]], MaskedReduction[np.int64]] = _unchanged
of_double: Callable[[MaskedReduction[np.float64]], MaskedReduction[np.float64]] = _unchanged
of_norm: Callable[[Norm], Norm] = _unchanged
of_extreme: Callable[[Extreme], Extreme] = _unchanged
of_pairs: Callable[[Pairs], Pairs] = _unchanged
of_sum: Callable[[Sum], Sum] = _unchanged
of_exact_sum: Callable[[ExactSum], ExactSum] = _unchanged
of_floats: Callable[[OfFloats], OfFloats] = _unchanged
of_mean: Callable[[Mean], Mean] = _unchanged
of_deviation: Callable[[Deviation], Deviation] = _unchanged
of_reduce: Callable[[Reduce], Reduce] = _unchanged
of_segments: Callable[[SegmentReduce], SegmentReduce] = _unchanged
of_batched: Callable[[Batched], Batched] = _unchanged
of_keys: Callable[[ReduceByKey], ReduceByKey] = _unchanged
of_indices: Callable[[ReduceByIndex], ReduceByIndex] = _unchanged
of_bins: Callable[[Bincount], Bincount] = _unchanged
of_dot: Callable[[Dot], Dot] = _unchanged
of_checked_sum: Callable[[CheckedSums], CheckedSums] = _unchanged
of_stats: Callable[[Statistics], Statistics] = _unchanged
