"""torch.Tensor: a MindSpore tensor with PyTorch's attributes. Its operators come from the records in `_ops`."""

import copy
import weakref

import numpy as np

from msadapter.pytorch import _dtype, _tensor_str
from msadapter.pytorch._device import check_device, device, get_default_device
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._size import Size

_DTYPES = _dtype._BY_ID


def _check_dim(function, dim, rank):
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    rank = rank or 1
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
        )


class _SizeOfTensor(int):
    """`t.size`: called, PyTorch's size; used as a number, MindSpore's (its own code reads `tensor.size`)."""

    def __new__(cls, shape):
        instance = super().__new__(cls, shape.numel())
        instance._shape = shape
        return instance

    def __call__(self, dim=None):
        if dim is None:
            return self._shape
        _check_dim("size", dim, len(self._shape))
        if not self._shape:
            raise IndexError(f"dimension specified as {dim} but tensor has no dimensions")
        return self._shape[dim]


class _SizeAttribute:
    """The descriptor behind `Tensor.size`: a function on the class, `_SizeOfTensor` on a tensor."""

    def __get__(self, tensor, owner=None):
        if tensor is None:
            return lambda tensor, dim=None: _SizeOfTensor(tensor.shape)(dim)
        return _SizeOfTensor(tensor.shape)


class Tensor(MsTensor):
    """A multi-dimensional array of one dtype that records its history for `backward`.

    `Tensor(2, 3)` is uninitialised, `Tensor([1, 2])` copies data, both in the default dtype; `torch.tensor` is the
    better way to make one.
    """

    def __new__(cls, *args, **kwargs):
        return MsTensor.__new__(cls)

    def __init__(self, *args, device=None, dtype=None, **native_arguments):
        from msadapter.pytorch._ops.creation import legacy_tensor

        if native_arguments:
            raise TypeError(f"new() got unexpected keyword arguments {sorted(native_arguments)}")
        MsTensor.__init__(self, 0)
        native.set_raw_data(self, legacy_tensor(args, dtype or _dtype.get_default_dtype()))

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def dtype(self):
        return _DTYPES[id(self._dtype)]

    @property
    def shape(self):
        """The sizes, as `torch.Size`."""
        return Size(self._shape)

    size = _SizeAttribute()

    @property
    def ndim(self):
        return len(self._shape)

    def dim(self):
        return len(self._shape)

    ndimension = dim

    def numel(self):
        """How many elements the tensor has."""
        return self._size

    nelement = numel

    def element_size(self):
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self._size * self.dtype.itemsize

    def stride(self, dim=None):
        """The steps in elements, as a tuple; with `dim`, the one of that dimension."""
        strides = tuple(native.strides_of(self))
        if dim is None:
            return strides
        _check_dim("stride", dim, len(strides))
        return strides[dim]

    def data_ptr(self):
        """The address of the first element; 0 for a tensor without elements."""
        return native.data_pointer(self) if self._size else 0

    @property
    def device(self):
        return get_default_device() if native.device_target() == "CPU" else device(get_default_device())

    def get_device(self):
        return -1 if self.is_cpu else (self.device.index or 0)

    is_cpu = property(lambda self: self.device.type == "cpu")
    is_cuda = property(lambda self: self.device.type == "cuda")
    is_npu = property(lambda self: self.device.type == "npu")
    is_meta = is_sparse = is_sparse_csr = is_quantized = is_nested = is_mkldnn = is_mps = is_xpu = property(
        lambda self: False
    )

    def is_floating_point(self):
        return _dtype.is_floating(self.dtype)

    def is_complex(self):
        return _dtype.is_complex(self.dtype)

    def is_signed(self):
        return self.dtype.is_signed

    def is_inference(self):
        return False

    def is_conj(self):
        return False

    def is_neg(self):
        return False

    # --- autograd ---------------------------------------------------------------------------------------------------

    @property
    def requires_grad(self):
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, bool):
            raise RuntimeError(f"requires_grad must be a bool. Received: {type(value).__name__}")
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Say whether `backward` should reach this tensor. Raises RuntimeError for integers and for results."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        native.set_recording(True)
        if requires_grad and not (self.is_floating_point() or self.is_complex()):
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients. "
                f"Received: a tensor of dtype {self.dtype}"
            )
        if not requires_grad and not self.is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        native.set_requires_grad(self, requires_grad)
        return self

    @property
    def is_leaf(self):
        return not self._requires_grad or self._is_leaf

    @property
    def grad_fn(self):
        from msadapter.pytorch._engine.node import node_of

        return node_of(self)

    @property
    def output_nr(self):
        return self._output_index

    @property
    def grad(self):
        """The accumulated gradient, the same object until it is replaced; None before the first backward."""
        fields = self.__dict__
        if not self._is_leaf:
            return fields.get("_retained_grad", fields.get("_own_grad"))
        gradient = native.raw_grad(self)
        if gradient is None:
            fields.pop("_own_grad", None)
            return None
        held = fields.get("_own_grad")
        if held is not None and native.data_pointer(held) == native.data_pointer(gradient):
            return held
        if held is not None and held.grad_fn is None and native.grad_node(gradient) is None:
            return self._absorb(held, gradient)
        if not native.is_contiguous(gradient) and native.grad_node(gradient) is None:
            gradient = self._own(gradient)
        if type(gradient) is MsTensor:
            gradient.__class__ = Tensor
        fields["_own_grad"] = gradient
        return gradient

    @grad.setter
    def grad(self, value):
        if value is None:
            native.set_raw_grad(self, None)
            self.__dict__.pop("_own_grad", None)
            self.__dict__.pop("_retained_grad", None)
            return
        if not isinstance(value, MsTensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if native.shape_of(value) != self._shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(native.shape_of(value))}' to a tensor of size "
                f"'{list(self._shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if native.dtype_of(value) is not self._dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value.dtype}' to a tensor with dtype '{self.dtype}'. "
                "Please ensure that the gradient and the tensor have the same dtype"
            )
        native.set_raw_grad(self, value)
        self.__dict__["_own_grad"] = value

    @grad.deleter
    def grad(self):
        self.grad = None

    def _own(self, gradient):
        """The gradient in memory laid out like the tensor: the engine may hand out a view of a larger buffer."""
        from msadapter.pytorch._engine.copying import copy_of

        copied = copy_of(gradient)
        native.set_raw_grad(self, copied)
        return copied

    def _absorb(self, held, gradient):
        """The engine accumulated into a new tensor; PyTorch writes into the one that the user may hold."""
        from msadapter.pytorch._engine import storage

        storage.write(held, gradient)
        storage.advance_version(held)
        native.set_raw_grad(self, held)
        return held

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Add d(self)/d(leaf) to `.grad` of the leaves; see `torch.autograd.backward`."""
        from msadapter.pytorch._engine.backward import backward

        backward((self,), (gradient,), retain_graph, create_graph, inputs=inputs)

    def detach(self):
        """The same memory outside the graph; a write into it counts as one into this tensor."""
        from msadapter.pytorch._engine import storage

        result = self.data
        storage.share_version(result, self)
        return result

    def detach_(self):
        if self.__dict__.get("_base") is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        native.assign_value(self, native.raw_data(self))
        native.set_requires_grad(self, False)
        return self

    @property
    def data(self):
        """The same memory outside the graph; a write into it is not counted. Assigning gives the tensor that memory."""
        result = native.raw_data(self)
        result.__class__ = Tensor
        return result

    @data.setter
    def data(self, value):
        if not isinstance(value, MsTensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        dtype = _dtype.of_native(native.dtype_of(value))
        if self._requires_grad and not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype. "
                f"Received: {dtype}"
            )
        native.replace_data(self, value)
        if native.raw_grad(self) is None:
            self.__dict__.pop("_own_grad", None)

    def register_hook(self, hook):
        """Call `hook(grad)` whenever the gradient of this tensor is computed; what it returns replaces the gradient.

        Returns a handle with `remove()`. Raises RuntimeError for a tensor that does not require grad.
        """
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")

        def call(gradient):
            if type(gradient) is MsTensor:
                gradient.__class__ = Tensor
            replaced = hook(gradient)
            if replaced is not None:
                _check_replaced(hook, gradient, replaced)
            return replaced

        handle = native.register_hook(self, call)
        if "_retained_hook" in self.__dict__:
            self.retain_grad()  # again, for its hook to come last: what is kept is what the hooks make of it
        return handle

    def register_post_accumulate_grad_hook(self, hook):
        """Call `hook(self)` at the end of each backward pass that has added to the gradient of this leaf.

        PyTorch calls it as soon as that gradient is complete. Returns a handle with `remove()`. Raises RuntimeError for
        a tensor that accumulates no gradient.
        """
        from msadapter.pytorch._engine import accumulation_hooks

        return accumulation_hooks.register(self, hook)

    def retain_grad(self):
        """Keep `.grad` of a result that is no leaf."""
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._is_leaf:
            return
        from msadapter.pytorch._engine.copying import copy_of

        # A hook of ours: MindSpore's own retain_grad has no CPU kernel. It is laid anew after an in-place write.
        reference = weakref.ref(self)

        def keep(gradient):
            tensor = reference()
            if tensor is not None:
                own = copy_of(gradient)  # the engine may hand the same memory on to a leaf
                held = tensor.__dict__.get("_retained_grad")
                tensor.__dict__["_retained_grad"] = own if held is None else held + own

        previous = self.__dict__.get("_retained_hook")
        if previous is not None:
            previous.remove()
        self.__dict__["_retained_hook"] = native.register_hook(self, keep)

    @property
    def retains_grad(self):
        return "_retained_hook" in self.__dict__

    # --- to Python and NumPy ----------------------------------------------------------------------------------------

    def numpy(self, *, force=False):
        """A NumPy array over the same memory (a copy where the tensor is not on the host).

        Raises RuntimeError for a tensor that requires grad, unless `force`.
        """
        from msadapter.pytorch._engine import storage

        if self._requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        if self.dtype == _dtype.bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16. Write tensor.float().numpy() instead.")
        return storage.array_over(self) if storage.ON_CPU else native.asnumpy(self)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array, context=None, return_scalar=False):
        from msadapter.pytorch._ops.creation import from_numpy

        return from_numpy(np.asarray(array))

    __array_priority__ = 1000

    def item(self):
        """The value of a tensor with one element, as a Python number. Raises RuntimeError for any other."""
        if self._size != 1:
            raise RuntimeError(f"a Tensor with {self._size} elements cannot be converted to Scalar")
        array = native.asnumpy(self)
        return float(array.reshape(())) if self.dtype == _dtype.bfloat16 else array.item()

    def tolist(self):
        """The values as nested Python lists; a number for a 0-d tensor."""
        array = native.asnumpy(self)
        return (array.astype(np.float32) if self.dtype == _dtype.bfloat16 else array).tolist()

    def __bool__(self):
        if self._size != 1:
            what = "no values" if not self._size else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.item())

    def _as_number(self):
        if self._size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __float__(self):
        return float(self._as_number())

    def __int__(self):
        return int(self._as_number())

    def __complex__(self):
        return complex(self._as_number())

    def __index__(self):
        if self._size != 1 or not (_dtype.is_integral(self.dtype) or self.dtype == _dtype.bool):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self):
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self):
        return self.flip(0) if self._shape else self

    def __contains__(self, element):
        return bool((element == self).any())

    def __hash__(self):
        return id(self)

    def __repr__(self, *, tensor_contents=None):
        return self._describe("tensor(" if type(self) is Tensor else f"{type(self).__name__}(")

    def __str__(self):
        return repr(self)

    def _describe(self, prefix, is_parameter=False):
        array = native.asnumpy(self)
        if self.dtype == _dtype.bfloat16:
            array = array.astype(np.float32)
        node = None if self.is_leaf else self.grad_fn
        kind = self.device.type
        return _tensor_str.tensor_repr(
            array,
            dtype_name=_dtype.name_of(self.dtype),
            prefix=prefix,
            is_parameter=is_parameter,
            default_dtype_names=tuple(
                map(_dtype.name_of, (_dtype.get_default_dtype(), _dtype.default_complex()))
            ),
            requires_grad=self._requires_grad,
            grad_fn_name=None if node is None else node.name(),
            device_suffix=None if kind == "cpu" else str(self.device),
        )

    def __format__(self, spec):
        if not self._shape and type(self) is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __dir__(self):
        return sorted(set(dir(type(self))) | set(self.__dict__))

    # --- copies -----------------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
                "Write tensor.detach().clone() instead."
            )
        if id(self) in memo:
            return memo[id(self)]
        result = type(self)._wrap(self.data.clone(), self._requires_grad)
        memo[id(self)] = result
        held = self.grad
        if held is not None:
            result.grad = copy.deepcopy(held, memo)
        for name, value in self._user_attributes().items():
            setattr(result, name, copy.deepcopy(value, memo))
        return result

    @classmethod
    def _wrap(cls, tensor, requires_grad):
        """A leaf of this class over the memory of `tensor`, which nobody else holds."""
        tensor.__class__ = cls
        return tensor.requires_grad_() if requires_grad else tensor

    def _user_attributes(self):
        return {name: value for name, value in self.__dict__.items() if name not in _ENGINE_FIELDS}

    def __reduce_ex__(self, protocol):
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support pickling. Write tensor.detach() instead."
            )
        array = np.array(native.asnumpy(self))
        raw = array.view(np.uint16) if self.dtype == _dtype.bfloat16 else array
        return _unpickle, (type(self), raw, self.dtype, self._requires_grad, self._user_attributes())

    # --- what other protocols ask for -------------------------------------------------------------------------------

    @property
    def _base(self):
        return self.__dict__.get("_base")

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Called for operators on subclasses; the default runs the operator and gives tensor results the subclass."""
        from msadapter.pytorch.overrides import DisableTorchFunctionSubclass, as_class

        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        return as_class(result, cls)

    def as_subclass(self, cls):
        """This tensor's memory and history as an instance of the Tensor subclass `cls`."""
        if not issubclass(cls, Tensor):
            raise TypeError(f"cls must be a type that inherits from Tensor, got {cls.__name__}")
        alias = self.view(self._shape) if self._requires_grad else self.data
        alias.__class__ = cls
        return alias

    @staticmethod
    def _make_subclass(cls, data, require_grad=False):
        result = data.detach()
        result.__class__ = cls
        return result.requires_grad_() if require_grad else result

    def to_local_device(self, wanted):
        """The tensor on device `wanted`: itself, as MindSpore has one device target per process."""
        check_device(wanted)
        return self

    def init_data(self, *args, **kwargs):
        return self


_ENGINE_FIELDS = frozenset(
    (
        "_base",
        "_recipe",
        "_views",
        "_own_grad",
        "_retained_grad",
        "_retained_hook",
        "_post_accumulate_grad_hooks",
        "_detached",
        "_detached_from",
        "_operator",
    )
)


def _check_replaced(hook, gradient, replaced):
    """The engine takes whatever a hook returns for the gradient: one of another size or dtype would be a wrong one."""
    if not isinstance(replaced, MsTensor):
        raise TypeError(f"expected Variable, but hook returned '{type(replaced).__name__}'")
    name = getattr(hook, "__name__", type(hook).__name__)
    if native.dtype_of(replaced) is not native.dtype_of(gradient):
        was, got = (_dtype.of_native(native.dtype_of(t)) for t in (gradient, replaced))
        raise RuntimeError(
            f"hook '{name}' has changed the type of value (was torch.{_dtype.SCALAR_NAMES[was]}Tensor got "
            f"torch.{_dtype.SCALAR_NAMES[got]}Tensor)"
        )
    if native.shape_of(replaced) != native.shape_of(gradient):
        was, got = list(native.shape_of(gradient)), list(native.shape_of(replaced))
        raise RuntimeError(f"hook '{name}' has changed the size of value (was {was} got {got})")


def _unpickle(cls, array, dtype, requires_grad, attributes):
    from msadapter.pytorch._engine.native import from_numpy, numpy_bfloat16

    tensor = from_numpy(array.view(numpy_bfloat16) if dtype == _dtype.bfloat16 else array)
    tensor.__class__ = Tensor
    tensor = cls._wrap(tensor, requires_grad)
    for name, value in attributes.items():
        setattr(tensor, name, value)
    return tensor
