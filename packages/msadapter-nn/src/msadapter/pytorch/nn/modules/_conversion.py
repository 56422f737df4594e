"""Dtype and device of all tensors of a Module at once."""

from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._ops.conversion import parse_to


class ModuleConversion:
    """The part of a Module that converts and moves its parameters and buffers, in place."""

    def _apply(self, fn, recurse=True):
        """Replace every tensor by `fn(tensor)`; parameters and their gradients stay the same objects."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            gradient = parameter.grad
            with no_grad():
                new = fn(parameter)
                new_gradient = None if gradient is None else fn(gradient)
            if new is not parameter:
                parameter.data = new
            if new_gradient is not gradient:
                gradient.data = new_gradient
                parameter.grad = gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Convert floating point parameters and buffers to a dtype, everything to a device, in place. Returns self.

        Forms: `to(device, dtype)`, `to(dtype)`, `to(tensor)`, with `non_blocking` and `memory_format`.
        """
        positional = [arg for arg in args if not isinstance(arg, bool)]
        if "tensor" in kwargs:
            positional.append(kwargs["tensor"])
        unknown = kwargs.keys() - {"device", "dtype", "non_blocking", "copy", "tensor", "memory_format"}
        if unknown or len(args) > 3:
            raise TypeError(
                "to() received an invalid combination of arguments - got "
                f"({', '.join([type(a).__name__ for a in args] + [f'{k}={type(v).__name__}' for k, v in kwargs.items()])})"
            )
        dtype = parse_to(positional, kwargs.get("dtype"), kwargs.get("device"))
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def type(self, dst_type):
        """Convert all parameters and buffers to `dst_type`. Returns self."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Convert floating point parameters and buffers to float32. Returns self."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        """Convert floating point parameters and buffers to float64. Returns self."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        """Convert floating point parameters and buffers to float16. Returns self."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        """Convert floating point parameters and buffers to bfloat16. Returns self."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self):
        """Move to the host. Returns self."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """Move to a GPU. Raises RuntimeError where there is none. Returns self."""
        return self._apply(lambda t: t.cuda(device))

    def npu(self, device=None):
        """Move to an Ascend NPU. Raises RuntimeError where there is none. Returns self."""
        return self._apply(lambda t: t.npu(device))

    def to_empty(self, *, device, recurse=True):
        """Move to `device` without keeping the values. Returns self."""
        from msadapter.pytorch import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def share_memory(self):
        """Nothing to do on the host: returns self."""
        return self
