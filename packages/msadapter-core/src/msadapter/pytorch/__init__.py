"""The PyTorch API on MindSpore: `import msadapter.pytorch as torch`."""

import importlib as _importlib
from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)

from msadapter._requirements import check_requirements

check_requirements()

from msadapter.pytorch._engine import native as _native  # noqa: E402

_native.configure()

from msadapter.pytorch import _ops, autograd, random, return_types  # noqa: E402, F401
from msadapter.pytorch._device import device, get_default_device, set_default_device  # noqa: E402, F401
from msadapter.pytorch._dtype import *  # noqa: E402, F403
from msadapter.pytorch._engine.grad_mode import (  # noqa: E402, F401
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from msadapter.pytorch._generator import Generator, default_generator  # noqa: E402, F401
from msadapter.pytorch._memory_format import (  # noqa: E402, F401
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from msadapter.pytorch._missing import attribute_error as _attribute_error  # noqa: E402
from msadapter.pytorch._missing import hide_foreign_methods as _hide_foreign_methods  # noqa: E402
from msadapter.pytorch._ops.creation import as_tensor, asarray, from_numpy, frombuffer  # noqa: E402, F401
from msadapter.pytorch._ops.promotion import can_cast, promote_types, result_type  # noqa: E402, F401
from msadapter.pytorch._ops.registry import exports as _exports  # noqa: E402
from msadapter.pytorch._ops.registry import retag as cast_to_adapter_tensor  # noqa: E402, F401
from msadapter.pytorch._queries import (  # noqa: E402, F401
    broadcast_shapes,
    e,
    get_device,
    inf,
    is_complex,
    is_conj,
    is_distributed,
    is_floating_point,
    is_inference,
    is_neg,
    is_nonzero,
    is_same_size,
    is_signed,
    is_storage,
    is_tensor,
    nan,
    newaxis,
    numel,
    pi,
    typename,
)
from msadapter.pytorch._removed import FUNCTIONS as _REMOVED  # noqa: E402
from msadapter.pytorch._settings import (  # noqa: E402, F401
    are_deterministic_algorithms_enabled,
    get_float32_matmul_precision,
    get_num_interop_threads,
    get_num_threads,
    is_deterministic_algorithms_warn_only_enabled,
    set_float32_matmul_precision,
    set_num_interop_threads,
    set_num_threads,
    use_deterministic_algorithms,
)
from msadapter.pytorch._size import Size  # noqa: E402, F401
from msadapter.pytorch._tensor import Tensor  # noqa: E402, F401
from msadapter.pytorch._tensor_str import set_printoptions  # noqa: E402, F401
from msadapter.pytorch._tensor_types import (  # noqa: E402, F401
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    set_default_tensor_type,
)
from msadapter.pytorch.random import (  # noqa: E402, F401
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from msadapter.pytorch.version import __version__  # noqa: E402, F401

globals().update(_REMOVED)
globals().update(_exports("torch"))
_hide_foreign_methods()

_LAZY = (
    "backends", "cuda", "fft", "linalg", "masked", "nn", "npu", "optim", "signal", "special", "utils", "version",
)  # fmt: skip


def __getattr__(name):
    if name in _LAZY:
        return _importlib.import_module(f"{__name__}.{name}")
    raise _attribute_error(__name__, name, globals())
