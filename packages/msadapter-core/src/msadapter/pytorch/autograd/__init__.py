"""torch.autograd: gradients, user-defined functions, and checks of them."""

from msadapter.pytorch._engine.backward import backward, grad
from msadapter.pytorch._engine.function import Function
from msadapter.pytorch._engine.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch.autograd import forward_ad, function, functional, grad_mode, graph
from msadapter.pytorch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from msadapter.pytorch.autograd.gradcheck import gradcheck, gradgradcheck
from msadapter.pytorch.autograd.variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
