"""Names that torch.utils.data does not have: what the error says."""

import pytest

from msadapter.pytorch.utils import data


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(
        AttributeError, match=r"no such name either; did you mean torch.utils.data.DataLoader\?"
    ):
        data.Dataloader  # noqa: B018
