"""softmax, its logarithm, and what is made of them."""

import warnings

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor, dtype_of, shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.halves import in_float32
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, wrap_dim

_REASON = "MindSpore's is 0 for a row of -inf where PyTorch's is nan, has no second derivative, and its logarithm no float64"


def shifted(array, axis):
    """The array less its maximum along `axis`, a fresh one: safe for exp."""
    return array - array.max(axis, keepdims=True) if array.size else array.copy()


@kernel(reason=_REASON, saves=("out",))
@in_float32
def _softmax(input, dim):
    result = shifted(input, dim)
    np.exp(result, out=result)
    result /= result.sum(dim, keepdims=True)
    return result


@kernel(reason="the gradient of softmax", saves=("grad", "result"))
@in_float32
def softmax_gradient(grad, result, dim):
    product = grad * result
    product -= result * product.sum(dim, keepdims=True)
    return product


@_softmax.gradient
def _(ctx, grad):
    return softmax_gradient(grad, ctx.saved[0], ctx.args[1])


@softmax_gradient.gradient
def _(ctx, second):
    grad, result = ctx.saved
    dim = ctx.args[2]
    for_grad = softmax_gradient(second, result, dim)
    if not ctx.needs[1]:
        return for_grad, None
    total = (grad * result).sum(dim, True)
    return for_grad, second * (grad - total) - grad * (second * result).sum(dim, True)


@kernel(reason=_REASON, saves=("out",))
@in_float32
def _log_softmax(input, dim):
    result = shifted(input, dim)
    result -= np.log(np.exp(result).sum(dim, keepdims=True))
    return result


@kernel(reason="the gradient of log_softmax", saves=("grad", "result"))
@in_float32
def _log_softmax_gradient(grad, result, dim):
    return grad - np.exp(result) * grad.sum(dim, keepdims=True)


@_log_softmax.gradient
def _(ctx, grad):
    return _log_softmax_gradient(grad, ctx.saved[0], ctx.args[1])


@_log_softmax_gradient.gradient
def _(ctx, second):
    grad, result = ctx.saved
    dim, weights = ctx.args[2], result.exp()
    for_grad = second - (second * weights).sum(dim, True)
    return for_grad, -(second * weights * grad.sum(dim, True)) if ctx.needs[1] else None


@on_cpu(_softmax)
def _on_device(input, dim):
    return ms.mint.nn.functional.softmax(input, dim)


@on_cpu(_log_softmax)
def _log_on_device(input, dim):
    return ms.mint.nn.functional.log_softmax(input, dim)


def _prepared(name, input, dim, dtype):
    """The input in a dtype that has this operator, and the dimension counted from the front (0 for a 0-d input)."""
    if isinstance(dim, bool) or not (isinstance(dim, MsTensor) or hasattr(dim, "__index__")):
        raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
    dim = wrap_dim(to_int(dim), len(shape_of(input)))
    if dtype is not None:
        input = cast(input, dtype)
    own = _dtype.of_native(dtype_of(input))
    if not own.is_floating_point:
        raise NotImplementedError(f"\"{name}_kernel_impl\" not implemented for '{_dtype.SCALAR_NAMES[own]}'")
    return input, dim


@op(also=("torch.special",), kernel=_softmax)
def softmax(input, dim, dtype=None):
    """`exp(input)`, divided by its sum along `dim`; computed in `dtype` if given.

    Raises NotImplementedError for integers, bool and complex numbers.
    """
    input, dim = _prepared("softmax", input, dim, dtype)
    if not shape_of(input):
        return _on_device(input.reshape(1), 0).reshape(())
    return _on_device(input, dim)


@op(also=("torch.special",), kernel=_log_softmax)
def log_softmax(input, dim, dtype=None):
    """The logarithm of `softmax`, exact also where that is tiny; computed in `dtype` if given.

    Raises NotImplementedError for integers, bool and complex numbers.
    """
    input, dim = _prepared("log_softmax", input, dim, dtype)
    if not shape_of(input):
        return _log_on_device(input.reshape(1), 0).reshape(())
    return _log_on_device(input, dim)


def _implicit_dim(name, rank, stacklevel):
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 3,
    )
    return 0 if rank in (0, 1, 3) else 1


@op(name="softmax", namespace="torch.nn.functional", method=False, out=False, kernel=_softmax)
def _functional_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """`torch.softmax`; without `dim` along the one PyTorch chose of old, with a warning."""
    if dim is None:
        dim = _implicit_dim("softmax", len(shape_of(input)), _stacklevel)
    return softmax.record.body(input, dim, dtype)


@op(name="log_softmax", namespace="torch.nn.functional", method=False, out=False, kernel=_log_softmax)
def _functional_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """`torch.log_softmax`; without `dim` along the one PyTorch chose of old, with a warning."""
    if dim is None:
        dim = _implicit_dim("log_softmax", len(shape_of(input)), _stacklevel)
    return log_softmax.record.body(input, dim, dtype)


@op(namespace="torch.nn.functional", method=False, out=False, kernel=_softmax)
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """`softmax(-input)`."""
    if dim is None:
        dim = _implicit_dim("softmin", len(shape_of(input)), _stacklevel)
    return softmax.record.body(-input, dim, dtype)


@op(namespace="torch.nn.functional", method=False, out=False)
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the Gumbel-softmax distribution; with `hard` a one-hot one, whose gradient is the soft one's."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=4)
    noise = -logits.new_empty(shape_of(logits)).exponential_().log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    chosen = soft.argmax(dim, keepdim=True)
    one_hot = soft.new_zeros(shape_of(soft)).scatter_(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft
