"""Arguments of a wrong type to operators: TypeError that names the operator and what it got, nothing of the inside."""

import mindspore as ms
import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops import products

A, I = torch.ones(2), torch.zeros(2, dtype=torch.int64)  # noqa: E741
M = torch.ones(2, 3)
linear = products.linear


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: torch.clamp(A, "a"),
            r"clamp\(\) received an invalid combination of arguments - got \(.*, str\)",
        ),
        (lambda: torch.lerp(A, A, "a"), r"lerp\(\) received an invalid .* str\)"),
        (lambda: A.add(A, alpha="a"), r"add\(\) received an invalid .* alpha=str\)"),
        (lambda: A.var(unbiased="a"), r"var\(\) received an invalid .* unbiased=str\)"),
        (lambda: A.masked_fill(A.bool(), "a"), r"masked_fill\(\) received an invalid .* str\)"),
        (lambda: torch.where(A.bool(), "a", 1), r"where\(\) received an invalid .* str, int\)"),
        (lambda: A.gather(0, "a"), r"gather\(\): argument 'index' .* must be Tensor, not str"),
        (lambda: A.index_select(0, [0]), r"index_select\(\): argument 'index' .* must be Tensor, not list"),
        (
            lambda: A.view("a"),
            r"view\(\): argument 'size' must be tuple of ints, but found element of type str",
        ),
        (lambda: A.to(np.float32), r"to\(\) received an invalid combination of arguments - got \(type\)"),
        (lambda: A.to(dtype="float"), r"to\(\): argument 'dtype' must be torch.dtype, not str"),
        (
            lambda: torch.tanh(A, 1),
            r"^tanh\(\) received an invalid .* takes 1 positional argument but 2 were given",
        ),
        (lambda: torch.sin(A, foo=1), r"^sin\(\) received an invalid .* unexpected keyword argument 'foo'"),
        (lambda: torch.ones("a"), r"ones\(\): argument 'size' \(position 1\) must be tuple of ints, not str"),
        (
            lambda: torch.ones(("a",)),
            r"'size' \(position 1\) must be tuple of ints, but found element of type str at",
        ),
        (
            lambda: torch.randn((2, 3, "a")),
            r"randn\(\): argument 'size' failed to unpack the object at pos 3 with error \"type must be tuple of ints,"
            "but got str",
        ),
        (lambda: torch.ones(2, 3.5), "failed to unpack the object at pos 2 .*but got float"),
    ],
)
def test_wrong_type(call, message):
    with pytest.raises(TypeError, match=message) as caught:
        call()
    assert "_dtype" not in str(caught.value) and "lambda" not in str(caught.value)


def test_a_list_of_text_is_no_data():
    with pytest.raises(ValueError, match="too many dimensions 'str'"):
        torch.tensor(["a"])


def test_to_takes_mindspore_dtypes_and_none():
    assert A.to(ms.float16).dtype == torch.float16
    assert A.type(ms.int32).dtype == torch.int32
    assert A.to(None) is A


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: linear(M.double(), M, A),
            "mat1 and mat2 must have the same dtype, but got Double and Float",
        ),
        (lambda: linear(M.long(), M, A), "mat1 and mat2 must have the same dtype, but got Long and Float"),
        (
            lambda: linear(M.double(), M),
            "expected m1 and m2 to have the same dtype, but got: double != float",
        ),
        (
            lambda: linear(M, M, A.double()),
            "self and mat2 must have the same dtype, but got Double and Float",
        ),
        (
            lambda: linear(M.half(), M.half(), A),
            "self and mat2 must have the same dtype, but got Float and Half",
        ),
        (lambda: M @ M.t().long(), "expected m1 and m2 to have the same dtype, but got: float != long int"),
        (lambda: M[None].bmm(M.t()[None].long()), "expected scalar type Float but found Long"),
        (lambda: A.dot(I), "dot : expected both vectors to have same dtype, but found Float and Long"),
    ],
)
def test_products_of_two_dtypes(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ones(10**15),
        lambda: torch.randn(10**7, 10**8),
        lambda: torch.arange(10**15),
        lambda: torch.ones(10**6, 1) * torch.ones(1, 10**9),
    ],
)
def test_more_than_memory_is_pytorchs_error(call):
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator: can't allocate memory: .*Received: "):
        call()
