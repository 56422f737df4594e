"""The PyTorch API on MindSpore: `import msadapter.pytorch as torch`."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)

from msadapter import __version__ as _adapter_version  # noqa: E402
from msadapter._requirements import check_requirements  # noqa: E402

check_requirements()

from msadapter.pytorch._engine import native as _native  # noqa: E402

_native.configure()

from msadapter.pytorch import _ops, autograd  # noqa: E402, F401
from msadapter.pytorch._device import device, get_default_device, set_default_device  # noqa: E402, F401
from msadapter.pytorch._dtype import *  # noqa: E402, F403
from msadapter.pytorch._engine.grad_mode import (  # noqa: E402, F401
    enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled,
)  # fmt: skip
from msadapter.pytorch._ops.creation import (  # noqa: E402, F401
    arange, as_tensor, asarray, empty, from_numpy, full, ones, tensor, zeros,
)  # fmt: skip
from msadapter.pytorch._ops.promotion import can_cast, promote_types, result_type  # noqa: E402, F401
from msadapter.pytorch._ops.registry import RECORDS as _RECORDS  # noqa: E402
from msadapter.pytorch._ops.registry import retag as cast_to_adapter_tensor  # noqa: E402, F401
from msadapter.pytorch._parameter import Parameter as _Parameter  # noqa: E402
from msadapter.pytorch._size import Size  # noqa: E402, F401
from msadapter.pytorch._tensor import Tensor  # noqa: E402, F401

for _record in _RECORDS.values():
    if _record.function and _record.namespace == "torch":
        for _name in (_record.name, *_record.aliases):
            globals()[_name] = _record.public
