"""Every private name of MindSpore that we use, and nothing else.

All other modules of core take these handles from here, so that a MindSpore release that moves one of them is answered
in this file. (`nn/modules/_cell.py` has the names of MindSpore's Cell.) Measured on MindSpore 2.10.
"""

import os
import threading
from operator import attrgetter

import mindspore as ms
from mindspore import _c_expression
from mindspore.common import np_dtype
from mindspore.common._grad_function import _Function
from mindspore.graph.api import _pynative_executor
from mindspore.ops import auto_generate

numpy_bfloat16 = np_dtype.bfloat16
MsTensor = ms.Tensor
MsParameter = ms.Parameter
TensorPy = _c_expression.TensorPy
GradFunction = _Function

_executor = _c_expression.PyNativeExecutor_.get_instance()

# MindSpore's dynamic mode is not thread-safe on CPU (wrong values, double free): one operator at a time.
LOCK = threading.RLock()

_PLACEHOLDER = 0.0

# Recording: MindSpore switches the flag off in value_and_grad, TrainOneStepCell, new threads and on some errors,
# so that every operator of ours sets it again. `enable_grad` is the user-visible no_grad state of the thread.
_is_recording = _executor.grad_flag
_switch_recording = _executor.set_grad_flag
_recording = threading.local()
is_grad_enabled = _executor.enable_grad
set_grad_enabled = _executor.set_enable_grad

run_backward = _c_expression.run_backward
set_version_counters = _c_expression._unsafe_set_version_counter

# State of one tensor, read from C++ under the Python properties that our Tensor puts over some of these names.
dtype_of = attrgetter("_dtype")
shape_of = attrgetter("_shape")
requires_grad = attrgetter("_requires_grad")
is_leaf = attrgetter("_is_leaf")
version_of = attrgetter("_version")
numel_of = attrgetter("_size")
strides_of = TensorPy.stride
is_contiguous = TensorPy.is_contiguous
storage_offset = TensorPy.storage_offset
data_pointer = TensorPy._data_ptr
raw_grad = TensorPy._grad.__get__
set_raw_grad = TensorPy._grad.__set__
raw_data = TensorPy.data.__get__
set_raw_data = TensorPy.data.__set__
asnumpy = TensorPy.asnumpy
from_numpy = MsTensor.from_numpy
as_strided = auto_generate.as_strided
view = TensorPy.view
getitem = MsTensor.__getitem__
register_hook = MsTensor.register_hook
set_requires_grad = TensorPy.requires_grad_
parameter_requires_grad = MsParameter.requires_grad


def device_target():
    """The device MindSpore runs on: "CPU", "GPU" or "Ascend"."""
    return ms.get_context("device_target")


def set_recording(on=True):
    """Have the thread's operators recorded; remembers where MindSpore had not said so itself."""
    if not _is_recording():
        _switch_recording(on)
        _recording.ours = True


def _show_only_its_own_recording():
    """Let MindSpore see its flag as it left it: a Cell takes a flag that is on for a gradient computation that is
    running already, starts none, and TrainOneStepCell then fails."""

    def set_grad_flag(flag):
        _recording.ours = False
        _switch_recording(flag)

    _pynative_executor.set_grad_flag = set_grad_flag
    _pynative_executor.grad_flag = lambda: _is_recording() and not getattr(_recording, "ours", False)


def configure():
    """Set what the adapter needs of MindSpore's context; called once, when `msadapter.pytorch` is imported."""
    target = os.environ.get("MSADAPTER_DEVICE_TARGET")
    if target:
        ms.set_context(device_target=target)
    _show_only_its_own_recording()
    if device_target() == "CPU":
        # 2 to 100 times faster on few cores than asynchronous issue, and an error surfaces at the call that caused it.
        ms.runtime.launch_blocking()


def assign_value(tensor, value):
    """Make `tensor` (the Python object) stand for `value`: its storage and its place in the graph."""
    tensor.assign_value_cpp(value)


def replace_data(tensor, value):
    """Give `tensor` the memory, shape and dtype of `value`.

    The engine keeps the shape and dtype that a leaf had when it began to require grad, and sums and casts gradients to
    them. So a leaf that gets others becomes a new one under the same Python object, without a gradient.
    """
    same = shape_of(tensor) == shape_of(value) and dtype_of(tensor) is dtype_of(value)
    if same or not (requires_grad(tensor) and is_leaf(tensor)):
        set_raw_data(tensor, value)
    else:
        _c_expression._swap_tensor_impl(tensor, raw_data(value))
        set_requires_grad(tensor, True)


def grad_node(tensor):
    """The engine's node that made `tensor`, or None; None too once backward has freed a custom function's node."""
    try:
        return tensor._grad_node
    except RuntimeError:
        return None


def device_copy(target, source):
    """Copy `source` into the storage of `target` on the device, outside the graph."""
    enabled = is_grad_enabled()
    set_grad_enabled(False)
    try:
        TensorPy.copy_(target, source)
    finally:
        set_grad_enabled(enabled)


def make_parameter(name, requires_grad):
    """A MindSpore Parameter whose data the caller replaces."""
    return MsParameter(MsTensor(_PLACEHOLDER), name=name, requires_grad=bool(requires_grad))


def storage_bytes(tensor):
    """The size of the whole memory that `tensor` is a view of."""
    return MsTensor.untyped_storage(tensor).size()


def device_cast(tensor, dtype):
    """MindSpore's own cast."""
    return ms.ops.cast(tensor, dtype)
