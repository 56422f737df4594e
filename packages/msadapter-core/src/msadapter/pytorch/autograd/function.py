"""torch.autograd.function: Function, its context, and once_differentiable."""

from msadapter.pytorch._engine.function import Function, FunctionCtx, once_differentiable

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
