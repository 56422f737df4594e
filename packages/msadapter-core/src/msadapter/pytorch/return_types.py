"""torch.return_types: the named tuples that operators return. Each is registered beside its operator."""

from msadapter.pytorch._ops.results import RESULTS as _RESULTS

all_return_types = list(_RESULTS.values())
globals().update(_RESULTS)
