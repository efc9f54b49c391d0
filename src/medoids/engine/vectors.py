"""Vectors of `LANES` numbers as values of their own in kernels, so that sums stay in registers.

LLVM vectorises a loop over sixteen lanes only if nothing disturbs it, and then keeps every sum in memory, because the
lanes are an array to it: kernels spent half of their time on loading and storing what they had just computed. Here a
row of lanes is one value, which LLVM puts into as many registers as the machine needs. ``+``, ``-``, ``*``, ``min`` and
``max`` take vectors, and numbers for all lanes; a product may be fused into a sum.

`load`, `store` and `item` take flat arrays and offsets, which are not checked.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from medoids.engine.budget import LANES
from medoids.engine.compile import primitive

__all__ = ["below", "item", "load", "prefetch", "root", "spread", "store", "total"]

_INT = ir.IntType(32)
# How the first compares to the second if it is taken.
_ORDERS = {"min": "<", "max": ">"}


class Vector(types.Type):
    """Numbers of one type, side by side."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        number = ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, kind, ir.VectorType(number, LANES))


def _splat(builder, kind, number):  # type: ignore[no-untyped-def]
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, number, _INT(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))


def _address(context, builder, kind, array, offset):  # type: ignore[no-untyped-def]
    return builder.gep(context.make_array(kind)(context, builder, array).data, [offset])


@primitive
def spread(_, number):  # type: ignore[no-untyped-def]
    """Return a vector of one number."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _splat(builder, context.get_value_type(signature.return_type), arguments[0])

    return Vector(number)(number), generate


@primitive
def item(_, array, offset):  # type: ignore[no-untyped-def]
    """Return one entry; unlike an index, the offset is not checked for being negative."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.load(_address(context, builder, signature.args[0], *arguments))

    return array.dtype(array, types.intp), generate


@primitive
def load(_, array, offset, like):  # type: ignore[no-untyped-def]
    """Return consecutive entries, from an offset on, as numbers of the type of ``like``."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        source, kind = array.dtype, context.get_value_type(signature.return_type)
        stored = ir.VectorType(context.get_data_type(source), LANES)
        address = _address(context, builder, signature.args[0], *arguments[:2])
        entries = builder.load(builder.bitcast(address, stored.as_pointer()), align=source.bitwidth // 8)
        if isinstance(source, types.Integer):
            return (builder.sitofp if source in types.signed_domain else builder.uitofp)(entries, kind)
        return entries if source == like else builder.fpext(entries, kind)

    return Vector(like)(array, types.intp, like), generate


@primitive
def store(_, vector, array, offset):  # type: ignore[no-untyped-def]
    """Put a vector into an array; into one of integers, without what is behind the point."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        lanes, address = arguments[0], _address(context, builder, signature.args[1], *arguments[1:])
        if isinstance(array.dtype, types.Integer):
            # By way of 32 bits, for which machines have an instruction.
            whole = builder.fptosi(lanes, ir.VectorType(_INT, LANES))
            lanes = builder.trunc(whole, ir.VectorType(context.get_data_type(array.dtype), LANES))
        builder.store(lanes, builder.bitcast(address, lanes.type.as_pointer()), align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(vector, array, types.intp), generate


@primitive
def total(_, vector):  # type: ignore[no-untyped-def]
    """Return the sum of all lanes."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        number, kind = context.get_value_type(vector.dtype), context.get_value_type(vector)
        name = f"llvm.vector.reduce.fadd.v{LANES}f{vector.dtype.bitwidth}"
        function = get_or_insert_function(builder.module, ir.FunctionType(number, [number, kind]), name)
        return builder.call(function, [number(0), arguments[0]], fastmath=("reassoc",))

    return vector.dtype(vector), generate


@primitive
def root(_, vector):  # type: ignore[no-untyped-def]
    """Return the square root of each lane."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kind = context.get_value_type(vector)
        name = f"llvm.sqrt.v{LANES}f{vector.dtype.bitwidth}"
        return builder.call(get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name), arguments)

    return vector(vector), generate


@primitive
def below(_, vector, other):  # type: ignore[no-untyped-def]
    """Tell whether some lane is at most what it is in another vector."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        bits = ir.IntType(LANES)
        return builder.icmp_unsigned("!=", builder.bitcast(builder.fcmp_ordered("<=", *arguments), bits), bits(0))

    return types.boolean(vector, vector), generate


@primitive
def prefetch(_, array, offset):  # type: ignore[no-untyped-def]
    """Ask for what will be read soon."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(_address(context, builder, signature.args[0], *arguments), byte)
        function = ir.FunctionType(ir.VoidType(), [byte, _INT, _INT, _INT])
        # To read, into the second nearest cache, data.
        builder.call(
            builder.module.declare_intrinsic("llvm.prefetch", [byte], function), [address, *map(_INT, (0, 2, 1))]
        )
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _define(function: Any, name: str) -> None:
    """Let kernels do something to each two lanes. (Not by `overload`, which compiles a function for it: seconds.)"""

    class Pairwise(AbstractTemplate):
        def generic(self, arguments, _):  # type: ignore[no-untyped-def]
            vectors = [kind for kind in arguments if isinstance(kind, Vector)]
            return signature(vectors[0], *arguments) if vectors and len(arguments) == 2 else None

    def generate(context, builder, call, arguments):  # type: ignore[no-untyped-def]
        vector = call.return_type
        kind = context.get_value_type(vector)
        x, y = (
            v if isinstance(of, Vector) else _splat(builder, kind, context.cast(builder, v, of, vector.dtype))
            for v, of in zip(arguments, call.args, strict=True)
        )
        if name in _ORDERS:
            return builder.select(builder.fcmp_ordered(_ORDERS[name], x, y), x, y)
        return getattr(builder, name)(x, y, flags=("contract",))

    infer_global(function)(Pairwise)
    for kinds in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(function, *kinds)(generate)


for _function, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (min, "min"),
    (max, "max"),
):
    _define(_function, _name)
