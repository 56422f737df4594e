"""Pruning: parameters multiplied by masks of ones and zeros."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from msadapter import pytorch as torch
from msadapter.pytorch.nn.utils.convert_parameters import parameters_to_vector


class BasePruningMethod(ABC):
    """A hook that makes `weight` of `weight_orig` and `weight_mask` before each call.

    A method of pruning gives `compute_mask(t, default_mask)` and PRUNING_TYPE: "unstructured" (single elements),
    "structured" (whole indices of `self.dim`) or "global".
    """

    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """A mask of t's shape, zero where `default_mask` is and where t is pruned now."""

    def apply_mask(self, module):
        """The module's tensor times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes the module's tensor of that name, after any pruning it has; returns the method on the module now.

        Args:
            args, kwargs: of the class.
            importance_scores: what to compute the mask from instead of the tensor itself, of its shape.
        """
        method = cls._after_earlier_ones(module, name, args, kwargs)
        tensor = getattr(module, name)
        if importance_scores is None:
            importance_scores = tensor
        elif importance_scores.shape != tensor.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {tensor.shape}"
            )
        is_first = not isinstance(method, PruningContainer)
        if is_first:
            module.register_parameter(name + "_orig", tensor)
            del module._parameters[name]
            mask_before = torch.ones_like(tensor)
        else:
            mask_before = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(importance_scores, default_mask=mask_before)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if is_first:
                module.register_parameter(name, tensor)
                del module._parameters[name + "_orig"]
            raise
        return method

    @classmethod
    def _after_earlier_ones(cls, module, name, args, kwargs):
        """A new method, in a container with the one the module has for that tensor, whose hook is removed."""
        keys = [
            key
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(keys) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                "PruningContainer."
            )
        old = module._forward_pre_hooks.pop(keys[0]) if keys else None
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if old is None:
            return method
        container = old if isinstance(old, PruningContainer) else PruningContainer(old)
        container.add_pruning_method(method)
        return container

    def prune(self, t, default_mask=None, importance_scores=None):
        """The tensor with pruned elements set to zero; the arguments are those of `apply` and `compute_mask`."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                "importance_scores should have the same shape as tensor t, got "
                f"{importance_scores.shape} vs {t.shape}"
            )
        if default_mask is None:
            default_mask = torch.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module):
        """Makes the pruned tensor the parameter itself; its zeros stay until it is trained."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods of pruning for one tensor, one after the other."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds a method. Raises TypeError for what is none, ValueError for one of another tensor."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The default mask with what the latest method prunes of the elements it leaves."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = _what_is_left(method, t, mask)
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(dtype=mask.dtype)
        return mask


def _what_is_left(method, t, mask):
    """The index of what the method may still prune."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    everything = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
            )
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        everything[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(everything)


class Identity(BasePruningMethod):
    """Prunes nothing: a mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """Prunes an amount: a number of elements (or indices), or a fraction of them."""

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size):
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class RandomUnstructured(_Amount):
    """Prunes elements at random."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            mask.view(-1)[torch.topk(torch.rand_like(t).view(-1), k=count).indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Amount):
    """Prunes the elements of smallest absolute value."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            mask.view(-1)[torch.topk(torch.abs(t).view(-1), k=count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _AmountOfIndices(_Amount):
    """Prunes whole indices of a dimension: those that `_kept` leaves out."""

    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        kept = [slice(None)] * t.dim()
        kept[self.dim] = self._kept(t, size, count)
        mask = torch.zeros_like(t)
        mask[tuple(kept)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_AmountOfIndices):
    """Prunes indices of a dimension at random."""

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t, size, count):
        chances = torch.rand(size)
        return chances > torch.kthvalue(chances, k=count).values

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_AmountOfIndices):
    """Prunes the indices of a dimension with the smallest n-norm."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def _kept(self, t, size, count):
        return torch.topk(_compute_norm(t, self.n, self.dim), k=size - count, largest=True).indices

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes what is zero in a mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Puts the parametrization of pruning on a parameter without pruning it; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes an amount of elements at random; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes an amount of elements, those of smallest absolute value; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes an amount of indices of a dimension at random; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes an amount of indices of a dimension, those of smallest n-norm; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes elements of several parameters, chosen among all of them.

    Args:
        parameters: (module, name) of each.
        pruning_method: an unstructured class of this file, or one of the user's. `kwargs` are its arguments.
        importance_scores: a dictionary from (module, name) to what the mask is computed from instead.
    Raises TypeError for a method that is not unstructured.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is None:
        importance_scores = {}
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    tensors = [getattr(module, name) for module, name in parameters]
    scores = parameters_to_vector(
        [importance_scores.get(place, tensor) for place, tensor in zip(parameters, tensors, strict=True)]
    )
    masks = parameters_to_vector(
        [
            getattr(module, name + "_mask", torch.ones_like(tensor))
            for (module, name), tensor in zip(parameters, tensors, strict=True)
        ]
    )
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of '
            f"type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "all of them"
    mask = PruningContainer(method).compute_mask(scores, masks)
    parts = mask.split([tensor.numel() for tensor in tensors])
    for (module, name), tensor, part in zip(parameters, tensors, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(tensor))


def custom_from_mask(module, name, mask):
    """Prunes what is zero in the mask; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Makes the pruned tensor an ordinary parameter, zeros and all; returns the module.

    Raises ValueError for a parameter that is not pruned.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a parameter of the module, or of one inside it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for submodule in module.modules()
        for hook in submodule._forward_pre_hooks.values()
    )


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}"
        )


def _validate_structured_pruning(t):
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )


def _compute_nparams_toprune(amount, tensor_size):
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _validate_pruning_dim(t, dim):
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t, n, dim):
    dims = list(range(t.dim()))
    del dims[dim]
    return torch.norm(t, p=n, dim=dims)
