"""The layers, one file per family as in PyTorch."""

from msadapter.pytorch.nn.modules import (
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    linear,
    linear_cross_entropy_options,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
from msadapter.pytorch.nn.modules.activation import *  # noqa: F403
from msadapter.pytorch.nn.modules.adaptive import *  # noqa: F403
from msadapter.pytorch.nn.modules.batchnorm import *  # noqa: F403
from msadapter.pytorch.nn.modules.channelshuffle import *  # noqa: F403
from msadapter.pytorch.nn.modules.container import *  # noqa: F403
from msadapter.pytorch.nn.modules.conv import *  # noqa: F403
from msadapter.pytorch.nn.modules.distance import *  # noqa: F403
from msadapter.pytorch.nn.modules.dropout import *  # noqa: F403
from msadapter.pytorch.nn.modules.flatten import *  # noqa: F403
from msadapter.pytorch.nn.modules.fold import *  # noqa: F403
from msadapter.pytorch.nn.modules.instancenorm import *  # noqa: F403
from msadapter.pytorch.nn.modules.linear import *  # noqa: F403
from msadapter.pytorch.nn.modules.linear_cross_entropy_options import *  # noqa: F403
from msadapter.pytorch.nn.modules.loss import *  # noqa: F403
from msadapter.pytorch.nn.modules.module import *  # noqa: F403
from msadapter.pytorch.nn.modules.normalization import *  # noqa: F403
from msadapter.pytorch.nn.modules.padding import *  # noqa: F403
from msadapter.pytorch.nn.modules.pixelshuffle import *  # noqa: F403
from msadapter.pytorch.nn.modules.pooling import *  # noqa: F403
from msadapter.pytorch.nn.modules.rnn import *  # noqa: F403
from msadapter.pytorch.nn.modules.sparse import *  # noqa: F403
from msadapter.pytorch.nn.modules.transformer import *  # noqa: F403
from msadapter.pytorch.nn.modules.upsampling import *  # noqa: F403

_FAMILIES = (
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    linear,
    linear_cross_entropy_options,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
# Named, so that `import *` brings the layers and not the files.
__all__ = [name for family in _FAMILIES for name in family.__all__]
