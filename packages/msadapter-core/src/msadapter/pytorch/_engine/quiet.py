"""NumPy without its floating-point warnings: PyTorch computes inf and NaN in silence."""

import functools

import numpy as np


class _Quiet:
    """A context like `numpy.errstate(all="ignore")` at a tenth of its cost, which is a third of a small kernel's."""

    __slots__ = ("_previous",)

    def __enter__(self):
        self._previous = np.geterrobj()
        np.seterrobj(list(_IGNORE_ALL))

    def __exit__(self, *exception):
        np.seterrobj(self._previous)


if hasattr(np, "seterrobj"):
    quiet = _Quiet
    with np.errstate(all="ignore"):
        _IGNORE_ALL = tuple(np.geterrobj())  # a copy: NumPy goes on writing into its list
else:  # gone in NumPy 2, whose errstate is fast
    quiet = functools.partial(np.errstate, all="ignore")  # type: ignore[misc,assignment]
