"""The operators: one record each, by family. Importing the package registers all of them."""

from msadapter.pytorch._ops import (  # noqa: F401
    comparison,
    conversion,
    convolution,
    creation,
    filling,
    indexing,
    joining,
    pointwise,
    products,
    reduction,
    view,
)
