"""View operators: shapes, strides and memory as PyTorch's, gradients of first and second order."""

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck


def double(*shape):
    values = np.sin(np.arange(1, 1 + int(np.prod(shape))) * 1.7).reshape(shape)
    return torch.from_numpy(values).requires_grad_()


def base(*shape):
    return torch.arange(int(np.prod(shape))).reshape(shape).clone()


STRIDES = [
    (lambda x: x.permute(2, 0, 1).view(4, 6), (1, 4)),
    (lambda x: x.permute(2, 0, 1).view(4, 2, 3, 1), (1, 12, 4, 4)),
    (lambda x: x[:, 1:].view(2, 8), (12, 1)),
    (lambda x: x[:, 1:, :2].view(2, 2, 1, 2), (12, 4, 2, 1)),
    (lambda x: x.transpose(0, 2), (1, 4, 12)),
    (lambda x: x.movedim((0, 1), (2, 0)), (4, 1, 12)),
    (lambda x: x.diagonal(1, -1, 0), (4, 13)),
    (lambda x: x.unfold(1, 2, 1), (12, 4, 1, 4)),
    (lambda x: x[:, :1].expand(2, 5, 4), (12, 0, 1)),
    (lambda x: x.select(1, -1), (12, 1)),
    (lambda x: x[..., ::2], (12, 4, 2)),
    (lambda x: x.as_strided((3, 3), (1, 1), 2), (1, 1)),
    (lambda x: x.unsqueeze(-1), (12, 4, 1, 1)),
    (lambda x: x.mT, (12, 1, 4)),
]


@pytest.mark.parametrize(("make", "strides"), STRIDES)
def test_views_share_memory_with_pytorchs_strides(make, strides):
    x = base(2, 3, 4)
    view = make(x)
    assert view.stride() == strides
    assert view._base is x
    expected = np.lib.stride_tricks.as_strided(
        x.numpy().reshape(-1)[view.storage_offset() :], tuple(view.shape), [s * 8 for s in strides]
    )
    assert view.tolist() == expected.tolist()
    x.fill_(7)
    assert set(view.reshape(-1).tolist()) == {7}


GRADIENTS = [
    lambda x: x.as_strided((3, 3), (1, 2), 1),
    lambda x: x.as_strided((2, 3, 3), (0, 1, 1)),
    lambda x: x.expand(3, 2, 3, 4).as_strided((4, 3), (1, 2)),
    lambda x: x[1].as_strided((2, 2), (1, 4)),
    lambda x: x.unfold(1, 2, 1),
    lambda x: x.unfold(2, 3, 2),
    lambda x: x.diagonal(1, 2, 0),
    lambda x: x.permute(2, 0, 1).view(4, 6),
    lambda x: x[:, 1:, ::2],
    lambda x: x.select(1, -1),
    lambda x: x.narrow(2, 1, 2),
    lambda x: x.split([1, 3], 2),
    lambda x: x.chunk(2, 1)[1],
    lambda x: x.unbind(1)[2] * x.unbind(1)[0],
    lambda x: x.tensor_split((1, 2), 2)[1],
    lambda x: x.movedim(0, 2),
    lambda x: x.mT.reshape(6, 4),
    lambda x: x.squeeze(),
    lambda x: x[:, :, :1].expand(2, 3, 5),
    lambda x: x.unflatten(2, (2, -1)),
    lambda x: x.transpose(0, 1).clone(),
    lambda x: x.unsqueeze(0).contiguous(memory_format=torch.channels_last),
    lambda x: torch.view_as_complex(x.unflatten(2, (2, 2))).real,
    lambda x: torch.permute_copy(x, (2, 0, 1)),
    lambda x: torch.select_scatter(x, x[:, 1] * 2, 1, 0),
    lambda x: torch.slice_scatter(x, x[:, :, 1:3] * 2, 2, 0, 4, 2),
    lambda x: torch.diagonal_scatter(x, x.diagonal() * 3),
    lambda x: torch.as_strided_scatter(x, x[0, 0, :2] * 3, (2,), (5,), 3),
]


@pytest.mark.parametrize("function", GRADIENTS)
def test_first_and_second_derivatives(function):
    x = double(2, 3, 4)
    assert gradcheck(function, (x,))
    assert gradgradcheck(lambda x: [r * r for r in _results(function(x))][0], (x,))


def _results(result):
    return result if isinstance(result, tuple) else (result,)


def test_gradient_adds_up_where_windows_overlap():
    x = torch.zeros(5, requires_grad=True)
    x.unfold(0, 3, 1).sum().backward()
    assert x.grad.tolist() == [1, 2, 3, 2, 1]


def test_parts_without_gradient_count_as_zero():
    x = torch.ones(6, requires_grad=True)
    first, _, third = x.split(2)
    (first.sum() + 3 * third.sum()).backward()
    assert x.grad.tolist() == [1, 1, 0, 0, 3, 3]


def test_writes_through_strided_views_reach_the_graph():
    x = torch.ones(3, 3, requires_grad=True)
    y = x * 2
    y.diagonal().mul_(5)
    y.t()[0, 1:].zero_()
    y.as_strided((3,), (1,), 6).add_(1)
    assert y.tolist() == [[10, 2, 2], [0, 10, 2], [1, 3, 11]]
    y.sum().backward()
    assert x.grad.tolist() == [[10, 2, 2], [0, 10, 2], [0, 2, 10]]


def test_writes_into_views_of_a_root_that_is_not_contiguous():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = (x * 1).t().clone()
    assert y.stride() == (1, 3)
    y[0].mul_(10)
    y.as_strided((2,), (1,), 4).mul_(3)
    assert y.tolist() == [[0, 30], [1, 12], [2, 15]]
    y.sum().backward()
    assert x.grad.tolist() == [[10, 1, 1], [10, 3, 3]]


# --- shape changes in place -----------------------------------------------------------------------------------------


def test_shape_changes_in_place_keep_memory_and_views():
    x = base(2, 3)
    row = x[0]
    assert x.t_() is x
    assert (x.shape, x.stride()) == ((3, 2), (1, 3))
    x[0] = 100
    assert row.tolist() == [100, 1, 2]
    assert row._base is x
    x.unsqueeze_(1).squeeze_().transpose_(0, 1)
    assert x.tolist() == [[100, 1, 2], [100, 4, 5]]


def test_shape_changes_in_place_keep_the_graph():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    row = y[0]
    y.t_()
    y[1].mul_(5)
    row.mul_(3)
    assert y.tolist() == [[0, 6], [30, 40], [12, 10]]
    (y * torch.tensor([[1.0, 2], [3, 4], [5, 6]])).sum().backward()
    assert x.grad.tolist() == [[6, 90, 30], [4, 40, 12]]


def test_shape_change_in_place_of_a_view():
    x = torch.zeros(2, 3)
    column = x[:, 1]
    column.unsqueeze_(0)
    column.add_(1)
    assert x.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_shape_change_in_place_outdates_what_backward_saved():
    y = torch.ones(2, 3, requires_grad=True) * 1
    z = y * y
    y.t_()
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        z.sum().backward()


def test_shape_change_of_a_leaf_that_requires_grad_is_refused():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        torch.ones(2, 3, requires_grad=True).t_()


def test_resize_keeps_the_memory_as_far_as_it_goes():
    x = torch.arange(6.0)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_(8)[:6].tolist() == [0, 1, 2, 3, 4, 5]
    view = x[:2]
    with pytest.raises(RuntimeError, match="views share it"):
        x.resize_(100)
    assert view.tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(3)


def test_set_shares_the_memory_of_its_source():
    x, y = torch.arange(4.0), torch.zeros(1)
    y.set_(x, 1, (2,), (2,))
    y.add_(10)
    assert x.tolist() == [0, 11, 2, 13]


# --- memory formats -------------------------------------------------------------------------------------------------


def test_channels_last_is_an_order_of_strides():
    x = torch.arange(48.0).reshape(2, 3, 2, 4)
    y = x.to(memory_format=torch.channels_last)
    assert y.stride() == (24, 1, 12, 3)
    assert y.tolist() == x.tolist()
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert not y.is_contiguous()
    assert y.clone().stride() == y.stride()
    assert y.contiguous().stride() == x.stride()
    assert y.to(memory_format=torch.channels_last) is y
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.zeros(2).contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("make", "strides"),
    [
        (lambda x: x.permute(2, 0, 1), (1, 12, 4)),
        (lambda x: x.expand(2, 2, 3, 4), (24, 12, 4, 1)),
        (lambda x: x[:, ::2], (8, 4, 1)),
        (lambda x: x.permute(2, 0, 1)[::2], (1, 6, 2)),
    ],
)
def test_clone_keeps_the_order_of_dimensions(make, strides):
    copy = make(torch.zeros(2, 3, 4)).clone()
    assert copy.stride() == strides
    assert copy.contiguous().is_contiguous()


# --- other readings of the same memory ------------------------------------------------------------------------------


def test_view_as_another_dtype():
    x = torch.arange(4.0)
    bits = x.view(torch.int32)
    assert bits.tolist() == [0, 1065353216, 1073741824, 1077936128]
    bits.zero_()
    assert x.tolist() == [0, 0, 0, 0]
    assert x.view(torch.complex64).shape == (2,)
    assert x.view(dtype=torch.uint8).shape == (16,)
    with pytest.raises(RuntimeError, match=r"self.size\(-1\) must be divisible by 2 to view Float as Double"):
        torch.zeros(3).view(torch.float64)


def test_parts_of_complex_numbers_are_views():
    z = torch.from_numpy(np.array([[1 + 2j, 3 + 4j], [5 + 6j, 7 + 8j]]))
    z.imag.neg_()
    z.real = torch.zeros(2, 2, dtype=torch.float64)
    assert z.tolist() == [[-2j, -4j], [-6j, -8j]]
    pairs = torch.view_as_real(z[1:])
    assert (pairs.stride(), pairs.storage_offset(), pairs._base is z) == ((4, 2, 1), 4, True)
    pairs.mul_(2)
    assert z[1].tolist() == [-12j, -16j]
    assert torch.view_as_complex(pairs).tolist() == z[1:].tolist()


def test_parts_of_complex_numbers_differentiate():
    z = torch.from_numpy(np.array([1 + 2j, 3 - 1j])).requires_grad_()
    (z.real * 3 + z.imag * torch.tensor([5.0, 7.0])).sum().backward()
    assert z.grad.tolist() == [3 + 5j, 3 + 7j]


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda x: x.t().view(-1), RuntimeError, "view size is not compatible with input tensor's size and stride"),
        (lambda x: x.view(5, -1), RuntimeError, r"shape '\[5, -1\]' is invalid for input of size 6"),
        (lambda x: x.permute(0, 0), RuntimeError, r"permute\(\): duplicate dims are not allowed"),
        (lambda x: x.expand(4, 3), RuntimeError, r"The expanded size of the tensor \(4\) must match"),
        (lambda x: x.select(0, 2), IndexError, r"select\(\): index 2 out of range for tensor of size \[2, 3\]"),
        (lambda x: x.narrow(1, 2, 2), RuntimeError, r"start \(2\) \+ length \(2\) exceeds dimension size \(3\)"),
        (lambda x: x.split([1, 2]), RuntimeError, "split_with_sizes expects split_sizes to sum exactly to 2"),
        (lambda x: x.unfold(0, 3, 1), RuntimeError, "maximum size for tensor at dimension 0 is 2 but size is 3"),
        (lambda x: x.as_strided((9,), (1,)), RuntimeError, "setStorage: sizes .* are out of bounds for storage of size"),
        (lambda x: x.squeeze(2), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"),
        (lambda x: x.movedim((0, 0), (0, 1)), RuntimeError, r"movedim: repeated dim in `source`"),
        (lambda x: x.imag, RuntimeError, "imag is not implemented for tensors with non-complex dtypes"),
        (lambda x: x.unflatten(1, (2, 2)), RuntimeError, r"unflatten: Provided sizes \[2, 2\] don't multiply up"),
    ],
)  # fmt: skip
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(torch.arange(6.0).reshape(2, 3))


def test_named_arguments():
    x = base(2, 3)
    assert x.permute(dims=(1, 0)).tolist() == x.t().tolist()
    assert torch.reshape(input=x, shape=(3, 2)).shape == (3, 2)
    assert torch.swapaxes(x, axis0=0, axis1=1).shape == (3, 2)
    assert [len(p) for p in x.split(split_size=1, dim=0)] == [1, 1]
    assert x.expand(size=(2, 2, 3)).shape == (2, 2, 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_gradient_of_an_expansion_to_nothing_is_zero(dtype):
    x = torch.ones(5, dtype=dtype, requires_grad=True)
    total = x.expand(0, 5).sum()
    (total.real if dtype.is_complex else total).backward()
    assert x.grad.dtype == dtype and x.grad.tolist() == [0] * 5


def test_strides_of_expanded_dimensions():
    x = torch.ones(1, 3)
    assert x.expand(1, 3).stride() == (3, 1) and x.expand(4, 3).stride() == (0, 1)
    assert x.expand(1, 1, 3).stride() == (3, 3, 1) and x.expand(2, 1, 3).stride() == (0, 3, 1)
