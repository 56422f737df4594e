"""float16 and bfloat16 in NumPy kernels: computed in float32, rounded once."""

import functools

import numpy as np

from msadapter.pytorch._ops.arrays import is_half, wide


def in_float32(function):
    """Let a NumPy function see float16 and bfloat16 arrays as float32; where its first array is one of them, float32
    results become that dtype again."""

    @functools.wraps(function)
    def run(*args):
        first = next(a for a in args if isinstance(a, np.ndarray))
        if not any(isinstance(a, np.ndarray) and is_half(a) for a in args):
            return function(*args)
        result = function(*(wide(a) if isinstance(a, np.ndarray) else a for a in args))
        if not is_half(first):
            return result
        if type(result) is tuple:
            return tuple(_narrowed(r, first.dtype) for r in result)
        return _narrowed(result, first.dtype)

    return run


def _narrowed(array, dtype):
    return array.astype(dtype) if array.dtype == np.float32 else array
