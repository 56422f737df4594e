"""Comparisons and logic."""

import mindspore as ms
import numpy as np

from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import promoting


def _comparison(name, operator, aliases, native_op, function):
    @op(name=name, inplace=True, operators=(operator,), aliases=aliases)
    @promoting(integers=function)
    def compare(input, other):
        return native_op(input, other)

    compare.__doc__ = compare.record.body.__doc__ = (
        f"`input {function.__name__.replace('_', ' ')} other`, as a bool tensor."
    )
    return compare


eq = _comparison("eq", "__eq__", (), ms.ops.eq, np.equal)
ne = _comparison("ne", "__ne__", ("not_equal",), ms.ops.ne, np.not_equal)
lt = _comparison("lt", "__lt__", ("less",), ms.ops.lt, np.less)
le = _comparison("le", "__le__", ("less_equal",), ms.ops.le, np.less_equal)
gt = _comparison("gt", "__gt__", ("greater",), ms.ops.gt, np.greater)
ge = _comparison("ge", "__ge__", ("greater_equal",), ms.ops.ge, np.greater_equal)
