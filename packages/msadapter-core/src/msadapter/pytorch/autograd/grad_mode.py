"""torch.autograd.grad_mode: the grad-state contexts under their module name."""

from msadapter.pytorch._engine.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
