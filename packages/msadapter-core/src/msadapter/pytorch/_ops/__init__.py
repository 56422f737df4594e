"""The operators: one record each, by family. Importing the package registers all of them."""

from msadapter.pytorch._ops import (  # noqa: F401
    comparison,
    conversion,
    convolution,
    creation,
    cross_entropy,
    cumulative,
    extremes,
    filling,
    gathering,
    indexing,
    joining,
    losses,
    pointwise,
    products,
    reduction,
    scattering,
    softmax,
    sorting,
    view,
)
