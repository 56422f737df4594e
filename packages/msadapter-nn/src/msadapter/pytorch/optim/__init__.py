"""torch.optim: optimizers and learning rate schedules."""

from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch.optim import lr_scheduler, swa_utils  # noqa: F401
from msadapter.pytorch.optim._adafactor import Adafactor  # noqa: F401
from msadapter.pytorch.optim._muon import Muon  # noqa: F401
from msadapter.pytorch.optim.adadelta import Adadelta  # noqa: F401
from msadapter.pytorch.optim.adagrad import Adagrad  # noqa: F401
from msadapter.pytorch.optim.adam import Adam  # noqa: F401
from msadapter.pytorch.optim.adamax import Adamax  # noqa: F401
from msadapter.pytorch.optim.adamw import AdamW  # noqa: F401
from msadapter.pytorch.optim.asgd import ASGD  # noqa: F401
from msadapter.pytorch.optim.lbfgs import LBFGS  # noqa: F401
from msadapter.pytorch.optim.nadam import NAdam  # noqa: F401
from msadapter.pytorch.optim.optimizer import Optimizer  # noqa: F401
from msadapter.pytorch.optim.radam import RAdam  # noqa: F401
from msadapter.pytorch.optim.rmsprop import RMSprop  # noqa: F401
from msadapter.pytorch.optim.rprop import Rprop  # noqa: F401
from msadapter.pytorch.optim.sgd import SGD  # noqa: F401


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
