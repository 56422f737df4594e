"""torch.autograd.detect_anomaly: raise where backward makes a NaN, naming the node that made it."""

import warnings

from msadapter.pytorch._engine import backward


class set_detect_anomaly:
    """Switch anomaly detection at once; as a context, restore it at the end.

    `check_nan`: raise RuntimeError where a node returns NaN in the gradient of an input.
    """

    def __init__(self, mode, check_nan=True):
        self._previous = backward.anomaly_mode()
        backward.set_anomaly_mode(bool(mode) and check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        backward.set_anomaly_mode(self._previous)


class detect_anomaly(set_detect_anomaly):
    """The context form, which warns that it slows the program."""

    def __init__(self, check_nan=True):
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )
        super().__init__(True, check_nan)
