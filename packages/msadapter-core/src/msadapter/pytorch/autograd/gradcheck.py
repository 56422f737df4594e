"""gradcheck and gradgradcheck: analytic gradients held against central differences."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.backward import grad
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._ops.creation import from_numpy


class GradcheckError(RuntimeError):
    """Raised where an analytic gradient differs from the numerical one."""


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Whether the gradients of `func` agree with central differences of step `eps`.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; those that require grad are checked and should be float64 or complex128.
        eps, atol, rtol: the step, and the tolerances of the comparison.
        raise_exception: raise GradcheckError with both Jacobians; otherwise return False.
    Forward-mode and batched checks are not offered and raise NotImplementedError when asked for.
    """
    if check_forward_ad or check_batched_forward_grad or check_batched_grad:
        raise NotImplementedError(
            "gradcheck: forward-mode AD and batched gradients are not supported. Received: check_forward_ad or check_batched_grad"
        )
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    checked = [i for i in inputs if isinstance(i, MsTensor) and native.requires_grad(i)]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
        )
    try:
        outputs = _outputs(func, inputs)
        for position, output in enumerate(outputs):
            if not native.requires_grad(output):
                _expect_no_numerical_gradient(func, inputs, checked, position, eps, atol)
                continue
            for number, tensor in enumerate(checked):
                numerical = _numerical_jacobian(func, inputs, tensor, position, eps)
                analytical = _analytical_jacobian(output, tensor)
                if not np.allclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {position} with respect to input {number},\n"
                        f"numerical:{numerical}\nanalytical:{analytical}\n"
                    )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """`gradcheck` of the gradient of `func`; `grad_outputs` default to fixed random vectors."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        outputs = [o for o in _outputs(func, inputs) if native.requires_grad(o)]
        grad_outputs = tuple(_random_like(o, generator) for o in outputs)
    elif isinstance(grad_outputs, MsTensor):
        grad_outputs = (grad_outputs,)
    count = len(inputs)

    def first_gradient(*args):
        own, vectors = args[:count], args[count:]
        outputs = [o for o in _outputs(func, own) if native.requires_grad(o)]
        wanted = [i for i in own if isinstance(i, MsTensor) and native.requires_grad(i)]
        return tuple(
            g for g in grad(outputs, wanted, vectors, create_graph=True, allow_unused=True) if g is not None
        )

    return gradcheck(
        first_gradient,
        (*inputs, *grad_outputs),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
    )


def _outputs(func, inputs):
    result = func(*inputs)
    result = result if isinstance(result, (tuple, list)) else (result,)
    return [r for r in result if isinstance(r, MsTensor)]


def _random_like(tensor, generator):
    shape = native.shape_of(tensor)
    values = generator.standard_normal(shape)
    if tensor.is_complex():
        values = values + 1j * generator.standard_normal(shape)
    return from_numpy(np.asarray(values, _dtype.NUMPY[tensor.dtype])).requires_grad_()


def _perturbed(func, inputs, tensor, position, index, step):
    """Output `position` with one element of `tensor` moved by `step`, as a flat array."""
    array = np.array(native.asnumpy(tensor))
    array[index] += step
    moved = from_numpy(array)
    with no_grad():
        replaced = tuple(moved.requires_grad_() if i is tensor else i for i in inputs)
    return native.asnumpy(_outputs(func, replaced)[position].detach()).ravel()


def _numerical_jacobian(func, inputs, tensor, position, eps):
    """d(outputs, real and imaginary parts apart)/d(inputs, likewise); one row per real number of the input."""
    steps = (eps, 1j * eps) if tensor.is_complex() else (eps,)
    rows = []
    for index in np.ndindex(*native.shape_of(tensor)):
        for step in steps:
            plus = _perturbed(func, inputs, tensor, position, index, step)
            minus = _perturbed(func, inputs, tensor, position, index, -step)
            rows.append(_as_reals((plus - minus) / (2 * eps)))
    return np.array(rows)


def _analytical_jacobian(output, tensor):
    columns = []
    shape = native.shape_of(output)
    dtype = _dtype.NUMPY[output.dtype]
    units = (1, 1j) if output.is_complex() else (1,)
    for index in np.ndindex(*shape):
        for unit in units:
            vector = np.zeros(shape, dtype)
            vector[index] = unit
            (gradient,) = grad(output, tensor, from_numpy(vector), retain_graph=True, allow_unused=True)
            zeros = np.zeros(native.shape_of(tensor), _dtype.NUMPY[tensor.dtype])
            columns.append(
                _as_reals((zeros if gradient is None else native.asnumpy(gradient.detach())).ravel())
            )
    return np.array(columns).reshape(len(columns), -1).T


def _as_reals(flat):
    """Complex numbers as pairs of reals, so that PyTorch's conjugate convention is the plain real Jacobian."""
    if np.iscomplexobj(flat):
        return np.stack([flat.real, flat.imag], -1).ravel()
    return np.asarray(flat, np.float64)


def _expect_no_numerical_gradient(func, inputs, checked, position, eps, atol):
    output = _outputs(func, inputs)[position]
    if not (output.is_floating_point() or output.is_complex()):
        return
    for tensor in checked:
        if np.abs(_numerical_jacobian(func, inputs, tensor, position, eps)).max(initial=0) > atol:
            raise GradcheckError(
                f"Numerical gradient for function expected to be zero: output {position} does not require grad"
            )
