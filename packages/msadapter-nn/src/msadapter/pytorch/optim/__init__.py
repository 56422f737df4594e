"""torch.optim: optimizers and learning rate schedules."""

from msadapter.pytorch.optim.adam import Adam  # noqa: F401
from msadapter.pytorch.optim.adamw import AdamW  # noqa: F401
from msadapter.pytorch.optim.optimizer import Optimizer  # noqa: F401
from msadapter.pytorch.optim.sgd import SGD  # noqa: F401
