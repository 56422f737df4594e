"""torch.nn.utils."""

from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch.nn.utils import (  # noqa: F401
    fusion,
    init,
    memory_format,
    parametrizations,
    parametrize,
    prune,
    rnn,
    stateless,
)
from msadapter.pytorch.nn.utils.clip_grad import (  # noqa: F401
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from msadapter.pytorch.nn.utils.convert_parameters import (  # noqa: F401
    parameters_to_vector,
    vector_to_parameters,
)
from msadapter.pytorch.nn.utils.fusion import (  # noqa: F401
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from msadapter.pytorch.nn.utils.init import skip_init  # noqa: F401
from msadapter.pytorch.nn.utils.memory_format import (  # noqa: F401
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
)
from msadapter.pytorch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm  # noqa: F401
from msadapter.pytorch.nn.utils.weight_norm import remove_weight_norm, weight_norm  # noqa: F401


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
