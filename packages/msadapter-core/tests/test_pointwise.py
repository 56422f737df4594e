"""Arithmetic and functions of two and three operands against values of real PyTorch."""

import math

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

INF, NAN = math.inf, math.nan
P, Q = [1.5, -2.0, 3.0, 0.0], [2.0, 3.0, -0.5, 4.0]


def leaf(data, dtype=torch.float64):
    return torch.tensor(data, dtype=dtype, requires_grad=True)


VALUES = [
    ("add", [3.5, 1.0, 2.5, 4.0]),
    ("sub", [-0.5, -5.0, 3.5, -4.0]),
    ("mul", [3.0, -6.0, -1.5, 0.0]),
    ("div", [0.75, -0.6666667, -6.0, 0.0]),
    ("floor_divide", [0.0, -1.0, -6.0, 0.0]),
    ("remainder", [1.5, 1.0, 0.0, 0.0]),
    ("fmod", [1.5, -2.0, 0.0, 0.0]),
    ("copysign", [1.5, 2.0, -3.0, 0.0]),
    ("atan2", [0.6435011, -0.5880026, 1.735945, 0.0]),
    ("hypot", [2.5, 3.605551, 3.041381, 4.0]),
    ("logaddexp", [2.474077, 3.006715, 3.02975, 4.01815]),
    ("logaddexp2", [2.771553, 3.044394, 3.122193, 4.087463]),
    ("nextafter", [1.5000001, -1.9999999, 2.9999998, 1.401298e-45]),
]
IN_PLACE = [(name, expected) for name, expected in VALUES if not name.startswith("logadd")]


@pytest.mark.parametrize("name, expected", VALUES, ids=[n for n, _ in VALUES])
def test_values_in_every_form(same, name, expected):
    function, p, q = getattr(torch, name), torch.tensor(P), torch.tensor(Q)
    same(function(p, q), expected, torch.float32)
    same(getattr(p, name)(q), expected)
    out = torch.empty(4)
    assert function(p, other=q, out=out) is out
    same(out, expected)
    same(function(p[:, None], q)[0, 0], expected[0])
    same(function(p[2], q[2]), expected[2])
    assert function(p[:0], q[:1]).shape == (0,)


@pytest.mark.parametrize("name, expected", IN_PLACE, ids=[n for n, _ in IN_PLACE])
def test_in_place(same, name, expected):
    p = torch.tensor(P)
    view = p[1:]
    assert getattr(p, name + "_")(torch.tensor(Q)) is p
    same(p, expected)
    same(view, expected[1:])
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        getattr(p, name + "_")(torch.ones(2, 4))


@pytest.mark.parametrize("name", [n for n, _ in VALUES if n not in ("floor_divide", "nextafter")])
def test_first_and_second_derivatives(name):
    function = getattr(torch, name)
    assert gradcheck(function, (leaf([[1.5], [-2.2]]), leaf([2.0, 0.7, -0.4])))
    assert gradgradcheck(function, (leaf([1.5, -2.2]), leaf([2.0, 0.7])))


def test_operators_and_their_reflections(same):
    x = torch.tensor([1.0, 4.0])
    for result, expected in [
        (x + 1, [2.0, 5.0]), (1 + x, [2.0, 5.0]), (x - 1, [0.0, 3.0]), (1 - x, [0.0, -3.0]), (x * 2, [2.0, 8.0]),
        (2 * x, [2.0, 8.0]), (x / 2, [0.5, 2.0]), (2 / x, [2.0, 0.5]), (x // 3, [0.0, 1.0]), (9 // x, [9.0, 2.0]),
        (x % 3, [1.0, 1.0]), (9 % x, [0.0, 1.0]), (-x, [-1.0, -4.0]), (+x, [1.0, 4.0]), (abs(-x), [1.0, 4.0]),
        (x + True, [2.0, 5.0]), (True + x, [2.0, 5.0]),
    ]:  # fmt: skip
        same(result, expected, torch.float32)
    with pytest.raises(TypeError, match="unsupported operand"):
        x + None


def test_augmented_assignment_keeps_the_tensor(same):
    x = torch.tensor([1.0, 4.0])
    kept = x
    x += 2
    x *= 3
    x -= 1
    x /= 2
    x //= 1.5
    x %= 4
    assert x is kept
    same(x, [2.0, 1.0])


# --- dtypes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "compute, expected, dtype",
    [
        (lambda i, u, h, b: i + 2.5, [3.5, 4.5], torch.float32),
        (lambda i, u, h, b: u + 300, [44, 46], torch.uint8),
        (lambda i, u, h, b: u * i, [0, 4], torch.int64),
        (lambda i, u, h, b: u - 1, [255, 1], torch.uint8),
        (lambda i, u, h, b: i / 2, [0.5, 1.0], torch.float32),
        (lambda i, u, h, b: -i // 2, [-1, -1], torch.int64),
        (lambda i, u, h, b: torch.div(-i, 2, rounding_mode="trunc"), [0, -1], torch.int64),
        (lambda i, u, h, b: -i % 5, [4, 3], torch.int64),
        (lambda i, u, h, b: torch.fmod(-i, 5), [-1, -2], torch.int64),
        (lambda i, u, h, b: b + b, [True, False], torch.bool),
        (lambda i, u, h, b: b * 2, [2, 0], torch.int64),
        (lambda i, u, h, b: h + torch.ones((), dtype=torch.float64), [1.5, 3.0], torch.float16),
        (lambda i, u, h, b: h + torch.ones(2), [1.5, 3.0], torch.float32),
        (lambda i, u, h, b: h / 3, [0.1666260, 0.6665039], torch.float16),
        (lambda i, u, h, b: torch.add(i, i, alpha=2), [3, 6], torch.int64),
        (lambda i, u, h, b: torch.gcd(i * 12, i * 8), [4, 8], torch.int64),
        (lambda i, u, h, b: torch.lcm(i * 4, i * 6), [12, 24], torch.int64),
        (lambda i, u, h, b: torch.copysign(i, -1.0), [-1.0, -2.0], torch.float32),
        (lambda i, u, h, b: torch.hypot(h, h), [0.7070312, 2.828125], torch.float16),
    ],
)
def test_dtypes(same, compute, expected, dtype):
    i, u = torch.tensor([1, 2]), torch.tensor([0, 2], dtype=torch.uint8)
    h, b = torch.tensor([0.5, 2.0], dtype=torch.float16), torch.tensor([True, False])
    same(compute(i, u, h, b), expected, dtype)


def test_numbers_beside_halves(same):
    x = torch.tensor([1.3, -2.7], dtype=torch.bfloat16)
    same(x + 0.7, [2.0, -2.0], torch.bfloat16)
    same(x * 0.7, [0.90625, -1.890625], torch.bfloat16)
    same(x / 0.7, [1.8515625, -3.859375], torch.bfloat16)
    same(x % 0.7, [0.59765625, 0.09375], torch.bfloat16)
    same(torch.add(x, x, alpha=0.7), [2.203125, -4.59375], torch.bfloat16)
    same(0.7 / x, [0.5390625, -0.2578125], torch.bfloat16)


def test_float64_numbers_are_exact():
    x = torch.tensor([0.3], dtype=torch.float64)
    for compute in (lambda v: v * 0.1, lambda v: v + 0.1, lambda v: v / 0.7, lambda v: 0.1 - v):
        assert compute(x).item() == compute(0.3)


def test_int64_is_exact():
    big = 2**62 + 1
    x = torch.tensor([big, -big])
    assert (x - 1 + 1).tolist() == (x * 1).tolist() == (x // 1).tolist() == [big, -big]
    assert torch.div(x, 3, rounding_mode="trunc").tolist() == [big // 3, -(big // 3)]


def test_complex(same):
    z, w = torch.tensor([3 + 4j]), torch.tensor([1 - 2j])
    assert (z * w).tolist() == [11 - 2j] and (z / w).tolist() == [-1 + 2j] and (1j - z).tolist() == [-3 - 3j]
    z, w = leaf([3 + 4j, 0.5j], torch.complex128), leaf([1 - 2j, 2 + 0j], torch.complex128)
    for function in (torch.add, torch.sub, torch.mul, torch.div, torch.logaddexp):
        assert gradcheck(function, (z, w)) and gradgradcheck(function, (z, w))
    (gradient,) = torch.autograd.grad(z * w, z, torch.ones_like(z))
    assert gradient.tolist() == [1 + 2j, 2 + 0j]
    assert gradcheck(lambda z: torch.add(z * 0.7, z, alpha=2j), (z,))


# --- edges ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "compute, expected",
    [
        (lambda v: v / 0.0, [INF, -INF, NAN, NAN]),
        (lambda v: v / -0.0, [-INF, INF, NAN, NAN]),
        (lambda v: v // 2, [NAN, NAN, NAN, 0.0]),
        (lambda v: v // 0.0, [INF, -INF, NAN, NAN]),
        (lambda v: v % 2, [NAN, NAN, NAN, 0.0]),
        (lambda v: torch.div(v, 2, rounding_mode="trunc"), [INF, -INF, NAN, 0.0]),
        (lambda v: torch.logaddexp(v, v), [INF, -INF, NAN, 0.6931472]),
        (lambda v: torch.hypot(v, v), [INF, INF, NAN, 0.0]),
        (lambda v: torch.nextafter(v, -v), [3.4028235e38, -3.4028235e38, NAN, 0.0]),
        (lambda v: torch.xlogy(torch.zeros(4), v), [0.0, 0.0, NAN, 0.0]),
    ],
)
def test_infinity_and_nan(same, compute, expected):
    same(compute(torch.tensor([INF, -INF, NAN, 0.0])), expected)


def test_remainder_at_infinity_and_signed_zero(same):
    same(torch.tensor([1.5, -1.5]) % INF, [1.5, INF])
    assert torch.signbit(torch.tensor([-4.0]) % 2).item()
    same(torch.copysign(torch.tensor([1.0, 0.0]), torch.tensor([-0.0, -NAN])), [-1.0, -0.0])
    assert torch.signbit(torch.copysign(torch.zeros(1), torch.tensor([-0.0]))).item()


def test_nextafter_of_halves(same):
    one, two = torch.ones(1), torch.full((1,), 2.0)
    same(torch.nextafter(one.half(), two.half()), [1.0009766], torch.float16)
    same(torch.nextafter(one.bfloat16(), two.bfloat16()), [1.0078125], torch.bfloat16)
    same(torch.nextafter(torch.zeros(1).bfloat16(), -two.bfloat16()), [-9.1835e-41])


def test_two_leaves_have_gradients_of_their_own(same):
    for shapes in [((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), ()), ((2, 1), (1, 3))]:
        a, b = (torch.ones(shape, requires_grad=True) for shape in shapes)
        torch.add(a, b, alpha=2).sum().backward()
        assert a.grad.sum().item() == 6 and b.grad.sum().item() == 12
        a.grad.add_(1)
        assert b.grad.sum().item() == 12


def test_derivatives_of_rounded_quotients():
    x = leaf([7.0, -7.0])
    torch.div(x, 2, rounding_mode="floor").sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (x // 2).sum().backward()
    y = leaf([2.0, 3.0])
    (x % y).sum().backward()
    assert y.grad.tolist() == [-3.0, 3.0]


# --- errors ---------------------------------------------------------------------------------------------------------

INTS, FLOATS, BOOLS = torch.tensor([1, 2]), torch.ones(2), torch.tensor([True, False])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: BOOLS - BOOLS, RuntimeError, "Subtraction, the `-` operator, with two bool tensors is not"),
        (lambda: INTS - True, RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not"),
        (lambda: -BOOLS, RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported."),
        (lambda: +BOOLS, RuntimeError, "The `\\+` operator, on a bool tensor is not supported."),
        (lambda: INTS // 0, RuntimeError, "ZeroDivisionError"),
        (lambda: INTS % torch.tensor([1, 0]), RuntimeError, "ZeroDivisionError"),
        (lambda: torch.fmod(INTS, 0), RuntimeError, "ZeroDivisionError"),
        (lambda: INTS.to(torch.uint8) // 256, RuntimeError, "ZeroDivisionError"),
        (lambda: torch.add(INTS, INTS, alpha=2.5), RuntimeError, "For integral input tensors, argument alpha"),
        (lambda: torch.add(INTS, INTS, alpha=True), RuntimeError, "Boolean alpha only supported for Boolean"),
        (lambda: torch.sub(FLOATS, FLOATS, alpha=1j), RuntimeError, "For non-complex input tensors, argument"),
        (lambda: torch.div(FLOATS, 2, rounding_mode="up"), RuntimeError, "div expected rounding_mode to be one"),
        (lambda: FLOATS + torch.ones(3), RuntimeError, r"The size of tensor a \(2\) must match the size of"),
        (lambda: INTS.add_(FLOATS), RuntimeError, "result type Float can't be cast to the desired output type"),
        (lambda: torch.hypot(INTS, INTS), RuntimeError, "\"hypot_cpu\" not implemented for 'Long'"),
        (lambda: torch.atan2(FLOATS, 1), TypeError, r"atan2\(\): argument 'other' \(position 2\) must be Tensor"),
        (lambda: torch.nextafter(FLOATS, 1), TypeError, r"nextafter\(\): argument 'other' \(position 2\) must"),
        (lambda: torch.remainder(FLOATS, 1j), RuntimeError, "\"remainder_cpu\" not implemented for 'Complex"),
        (lambda: torch.gcd(FLOATS, FLOATS), RuntimeError, "\"gcd_cpu\" not implemented for 'Float'"),
        (lambda: torch.addcdiv(FLOATS, INTS, INTS), RuntimeError, "Integer division with addcdiv is no longer"),
        (lambda: torch.addcmul(BOOLS, BOOLS, BOOLS), RuntimeError, '"addcmul_cpu_out" not implemented for'),
        (lambda: torch.lerp(INTS, INTS, 0.5), RuntimeError, "\"lerp_kernel_scalar\" not implemented for 'Long'"),
        (lambda: torch.lerp(FLOATS, FLOATS.double(), 1), RuntimeError, "expected dtype float for `end` but got"),
        (lambda: torch.addcmul(FLOATS, FLOATS, FLOATS, value=1j), RuntimeError, "value cannot be converted to"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- three operands -------------------------------------------------------------------------------------------------


def test_three_operands(same):
    p, q = torch.tensor(P), torch.tensor(Q)
    same(torch.addcmul(p, p, q, value=0.5), [3.0, -5.0, 2.25, 0.0], torch.float32)
    same(torch.addcdiv(p, p, q, value=0.5), [1.875, -2.333333, 0.0, 0.0], torch.float32)
    same(torch.lerp(p, q, 0.25), [1.625, -0.75, 2.125, 1.0], torch.float32)
    same(p.lerp(q, torch.tensor([0.0, 0.5, 1.0, 2.0])), [1.5, 0.5, -0.5, 8.0])
    same(torch.lerp(p, q, torch.tensor(0.25, dtype=torch.float64)), [1.625, -0.75, 2.125, 1.0])
    same(torch.addcmul(torch.tensor([1]), torch.tensor([2]), torch.tensor([3]), value=2.5), [13], torch.int64)
    same(p.clone().addcmul_(p, q, value=0.5), [3.0, -5.0, 2.25, 0.0])
    same(p.clone().addcdiv_(p, q), [2.25, -2.666667, -3.0, 0.0])
    same(p.clone().lerp_(q, 0.25), [1.625, -0.75, 2.125, 1.0])
    same(torch.addcmul(p, p[0], q.double()), [4.5, 2.5, 2.25, 6.0], torch.float64)
    half = torch.addcdiv(p.half(), p.half(), q.half(), value=0.1)
    same(half, [1.575195, -2.066406, 2.400391, 0.0], torch.float16)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b, c: torch.addcmul(a, b, c, value=0.3),
        lambda a, b, c: torch.addcdiv(a, b, c, value=0.3),
        torch.lerp,
        lambda a, b, c: torch.lerp(a, b, 0.3) * c,
    ],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_derivatives_of_three_operands(function, dtype):
    a, b, c = leaf([0.3, -1.2], dtype), leaf([[2.0], [0.7]], dtype), leaf([1.1, -0.6], dtype)
    assert gradcheck(function, (a, b, c)) and gradgradcheck(function, (a, b, c))
