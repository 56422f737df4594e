"""What the tests of several operator families share."""

import pytest

import msadapter.pytorch as torch


@pytest.fixture
def same():
    """`same(tensor, expected, dtype=None)`: shape, values (NaN equal to NaN) and dtype are those expected."""

    def check(tensor, expected, dtype=None):
        wanted = torch.tensor(expected)
        assert list(tensor.shape) == list(wanted.shape)
        got = tensor.reshape(-1).tolist()
        assert got == pytest.approx(wanted.reshape(-1).tolist(), rel=1e-5, nan_ok=True)
        assert dtype is None or tensor.dtype == dtype

    return check
