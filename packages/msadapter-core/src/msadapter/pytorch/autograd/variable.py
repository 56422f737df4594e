"""torch.autograd.Variable: the old name for a tensor."""

from msadapter.pytorch._tensor import Tensor


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor, requires_grad)` is the tensor, outside the graph it came from."""

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        result = Tensor() if data is None else data.data
        return result.requires_grad_() if requires_grad else result
