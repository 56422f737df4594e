"""torch.autograd: gradients, user-defined functions, and checks of them."""

from msadapter.pytorch._engine.backward import backward, grad
from msadapter.pytorch._engine.function import Function
from msadapter.pytorch._engine.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["Function", "backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]
