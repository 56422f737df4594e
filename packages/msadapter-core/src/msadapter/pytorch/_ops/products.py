"""Matrix products."""

import mindspore as ms

from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.registry import op

_matmul, _batch_matmul = ms.ops.MatMul(), ms.ops.BatchMatMul()


@op(operators=("__matmul__",), reflected="__rmatmul__")
def matmul(input, other):
    """The matrix product: vectors, matrices, and batches of them, which broadcast."""
    a, b = shape_of(input), shape_of(other)
    if len(a) == 2 and len(b) == 2:
        if a[1] != b[0]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
        return _matmul(input, other)
    return ms.ops.matmul(input, other)
