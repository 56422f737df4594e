"""Questions about tensors, and PyTorch's old tensor types."""

import pytest

import msadapter.pytorch as torch

X = torch.arange(6.0).reshape(2, 3)


def test_questions_about_a_tensor():
    assert torch.is_tensor(X) and not torch.is_tensor([1])
    assert torch.numel(X) == 6
    assert torch.is_floating_point(X) and not torch.is_complex(X) and torch.is_signed(X)
    assert torch.is_nonzero(torch.tensor([1])) and not torch.tensor(0.0).is_nonzero()
    assert torch.is_same_size(X, X + 1) and not X.is_same_size(X.t())
    assert torch.get_device(X) == -1
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        torch.is_nonzero(X)
    with pytest.raises(
        TypeError, match=r"numel\(\): argument 'input' \(position 1\) must be Tensor, not int"
    ):
        torch.numel(3)


def test_broadcast_shapes():
    assert torch.broadcast_shapes((2, 1), (3,), 1) == torch.Size([2, 3])
    assert torch.broadcast_shapes() == torch.Size([])
    with pytest.raises(
        RuntimeError, match="Attempting to broadcast a dimension of length 3 at -1! Mismatching"
    ):
        torch.broadcast_shapes((2,), (3,))
    with pytest.raises(ValueError, match="Attempting to broadcast a dimension with negative length!"):
        torch.broadcast_shapes((1, -1))


def test_type_names():
    assert torch.typename(X) == "torch.FloatTensor"
    assert torch.typename(torch.LongTensor) == "torch.LongTensor"
    assert torch.typename(3) == "int"


def test_tensor_types():
    assert torch.LongTensor([1, 2]).dtype == torch.int64
    assert torch.DoubleTensor(2, 3).shape == (2, 3)
    assert isinstance(X, torch.FloatTensor) and not isinstance(X, torch.LongTensor)
    assert X.type(torch.IntTensor).dtype == torch.int32
    assert repr(torch.FloatTensor) == "<class 'torch.FloatTensor'>"


def test_default_tensor_type():
    try:
        torch.set_default_tensor_type("torch.DoubleTensor")
        assert torch.tensor([1.0]).dtype == torch.float64
        with pytest.raises(TypeError, match="invalid type object"):
            torch.set_default_tensor_type(3)
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)


def test_constants():
    assert (torch.pi, torch.inf) == (3.141592653589793, float("inf"))
    assert X[:, torch.newaxis].shape == (2, 1, 3)
