"""Vectors of `LANES` numbers as values in kernels, so that sums stay in registers.

LLVM vectorises a loop over sixteen lanes only under good conditions, and then keeps every sum in memory, because the
lanes are an array to it: kernels spent half of their time on loading and storing what they had just computed. Here a
row of lanes is one value, which LLVM puts into as many registers as the machine needs. ``+``, ``-``, ``*``, ``min`` and
``max`` accept vectors, and numbers for all lanes; a product may be fused into a sum.

`load`, `store` and `item` take flat arrays and offsets, which are not checked.
"""

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
# How the first operand compares to the second if it is the result.
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


@primitive(lambda _, number: Vector(number)(number))
def spread(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``spread(number)``: a vector of one number."""
    return _splat(builder, context.get_value_type(call.return_type), arguments[0])


@primitive(lambda _, array, offset: array.dtype(array, types.intp))
def item(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``item(array, offset)``: one entry. Unlike an index, the offset is not checked for being negative."""
    return builder.load(_address(context, builder, call.args[0], *arguments))


@primitive(lambda _, array, offset, like: Vector(like)(array, types.intp, like))
def load(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``load(array, offset, like)``: consecutive entries from an offset on, as numbers of the type of ``like``."""
    source, kind = call.args[0].dtype, context.get_value_type(call.return_type)
    stored = ir.VectorType(context.get_data_type(source), LANES)
    address = _address(context, builder, call.args[0], *arguments[:2])
    entries = builder.load(builder.bitcast(address, stored.as_pointer()), align=source.bitwidth // 8)
    if isinstance(source, types.Integer):
        return (builder.sitofp if source in types.signed_domain else builder.uitofp)(entries, kind)
    return entries if source == call.return_type.dtype else builder.fpext(entries, kind)


@primitive(lambda _, vector, array, offset: types.void(vector, array, types.intp))
def store(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``store(vector, array, offset)``: write a vector; into an array of integers, without the fractions."""
    lanes, address = arguments[0], _address(context, builder, call.args[1], *arguments[1:])
    target = call.args[1].dtype
    if isinstance(target, types.Integer):
        # Through 32 bits, for which machines have an instruction.
        whole = builder.fptosi(lanes, ir.VectorType(_INT, LANES))
        lanes = builder.trunc(whole, ir.VectorType(context.get_data_type(target), LANES))
    builder.store(lanes, builder.bitcast(address, lanes.type.as_pointer()), align=target.bitwidth // 8)
    return context.get_dummy_value()


@primitive(lambda _, vector: vector.dtype(vector))
def total(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``total(vector)``: the sum of all lanes."""
    number = context.get_value_type(call.return_type)
    zero_and_lanes = [number(0), *arguments]
    kinds, name = [value.type for value in zero_and_lanes], f"llvm.vector.reduce.fadd.{_suffix(call)}"
    function = get_or_insert_function(builder.module, ir.FunctionType(number, kinds), name)
    return builder.call(function, zero_and_lanes, fastmath=("reassoc",))


@primitive(lambda _, vector: vector(vector))
def root(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``root(vector)``: the square root of each lane."""
    kind = context.get_value_type(call.return_type)
    name = f"llvm.sqrt.{_suffix(call)}"
    return builder.call(get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name), arguments)


def _suffix(call: Any) -> str:
    return f"v{LANES}f{call.args[0].dtype.bitwidth}"


@primitive(lambda _, vector, other: types.boolean(vector, vector))
def below(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``below(vector, other)``: whether at least one lane is at most the same lane of another vector."""
    bits = ir.IntType(LANES)
    return builder.icmp_unsigned("!=", builder.bitcast(builder.fcmp_ordered("<=", *arguments), bits), bits(0))


@primitive(lambda _, array, offset: types.void(array, types.intp))
def prefetch(context, builder, call, arguments):  # type: ignore[no-untyped-def]
    """``prefetch(array, offset)``: load into the cache what will be read soon."""
    byte = ir.IntType(8).as_pointer()
    address = builder.bitcast(_address(context, builder, call.args[0], *arguments), byte)
    function = ir.FunctionType(ir.VoidType(), [byte, _INT, _INT, _INT])
    # To read, into the second nearest cache, data.
    hints = map(_INT, (0, 2, 1))
    builder.call(builder.module.declare_intrinsic("llvm.prefetch", [byte], function), [address, *hints])
    return context.get_dummy_value()


def _define(function: Any, name: str) -> None:
    """Define an operation on each pair of lanes. (With `overload`, compiling its function would take seconds.)"""

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
