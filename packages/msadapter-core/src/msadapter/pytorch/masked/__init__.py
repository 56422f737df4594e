"""torch.masked: reductions and normalizations that leave out the elements whose mask is False.

All take `mask`, a bool tensor that broadcasts to the input (None: nothing is left out), and `dtype`, in which they compute.
"""

from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch.masked.normalizations import (
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    normalize,
    softmax,
    softmin,
)
from msadapter.pytorch.masked.reductions import (
    amax,
    amin,
    argmax,
    argmin,
    logsumexp,
    mean,
    median,
    norm,
    prod,
    std,
    sum,
    var,
)

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
