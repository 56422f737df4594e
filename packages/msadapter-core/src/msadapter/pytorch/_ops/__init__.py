"""The operators: one record each, by family. Importing the package registers all of them."""

from msadapter.pytorch._ops import (  # noqa: F401
    comparison,
    conversion,
    convolution,
    creation,
    cumulative,
    extremes,
    filling,
    gathering,
    indexing,
    joining,
    pointwise,
    products,
    reduction,
    scattering,
    softmax,
    sorting,
    view,
)
