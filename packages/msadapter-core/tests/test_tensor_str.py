"""Printing of tensors: the expected texts were printed by PyTorch 2.13 (on "cpu" where they say "npu:0")."""

import numpy as np
import pytest

from msadapter.pytorch._tensor_str import (
    format_scalar,
    get_printoptions,
    printoptions,
    set_printoptions,
    tensor_repr,
)

nan, inf = np.nan, np.inf


def case(title, array, expected, *, dtype_name=None, options=None, **arguments):
    """One tensor and its text; `arguments` are those of tensor_repr."""
    return pytest.param(array, dtype_name or array.dtype.name, options or {}, arguments, expected, id=title)


CASES = [
    case("scalar", np.array(3.14159, np.float32), "tensor(3.1416)"),
    case("scalar int-valued", np.array(-2.0, np.float32), "tensor(-2.)"),
    case("scalar negative zero", np.array(-0.0, np.float32), "tensor(-0.)"),
    case("scalar small", np.array(1e-5, np.float32), "tensor(1.0000e-05)"),
    case("scalar large", np.array(1e9, np.float32), "tensor(1.0000e+09)"),
    case("scalar nan", np.array(nan, np.float32), "tensor(nan)"),
    case("scalar int", np.array(7), "tensor(7)"),
    case("scalar bool", np.array(True), "tensor(True)"),
    case("scalar complex", np.array(1 - 2.5j, np.complex64), "tensor(1.-2.5000j)"),
    case("fixed", np.float32([0.5, -1.25, 100.0]), "tensor([  0.5000,  -1.2500, 100.0000])"),
    case("int-valued", np.float32([1.0, -2.0, 300.0]), "tensor([  1.,  -2., 300.])"),
    case("int-valued with nan, inf, -0", np.float32([1.0, nan, -inf, -0.0]), "tensor([1., nan, -inf, -0.])"),
    case("only zeros and specials", np.float32([0.0, nan, inf, -0.0]), "tensor([0., nan, inf, -0.])"),
    case(
        "fraction with nan and inf",
        np.float32([0.5, nan, -inf, -0.0]),
        "tensor([0.5000,    nan,   -inf, -0.0000])",
    ),
    case("ratio exactly 1000 is fixed", np.float32([0.5, 500.0]), "tensor([  0.5000, 500.0000])"),
    case("ratio above 1000 is scientific", np.float32([0.5, 500.5]), "tensor([5.0000e-01, 5.0050e+02])"),
    case("1e-4 is fixed", np.array([1e-4, 2e-4]), "tensor([0.0001, 0.0002], dtype=torch.float64)"),
    case(
        "below 1e-4 is scientific",
        np.float32([9.9e-5, 0.0, -0.0, nan]),
        "tensor([9.9000e-05, 0.0000e+00, -0.0000e+00,        nan])",
    ),
    case("1e8 is int-valued", np.float32([1e8, 2e7]), "tensor([100000000.,  20000000.])"),
    case("above 1e8 is scientific", np.float32([2e8, 3e7]), "tensor([2.0000e+08, 3.0000e+07])"),
    case(
        "int-valued ratio above 1000 is scientific",
        np.float32([1.0, 1001.0]),
        "tensor([1.0000e+00, 1.0010e+03])",
    ),
    case(
        "three-digit exponent",
        np.array([1e-100, 1.0, -1e200]),
        "tensor([ 1.0000e-100,   1.0000e+00, -1.0000e+200], dtype=torch.float64)",
    ),
    case(
        "ratio overflows",
        np.array([5e-324, 1e308]),
        "tensor([4.9407e-324, 1.0000e+308], dtype=torch.float64)",
    ),
    case("float16", np.float16([0.1, 65504.0]), "tensor([9.9976e-02, 6.5504e+04], dtype=torch.float16)"),
    case(
        "bfloat16",
        np.float32([1.5, -0.0078125]),
        "tensor([ 1.5000, -0.0078], dtype=torch.bfloat16)",
        dtype_name="bfloat16",
    ),
    case(
        "float8_e4m3fn",
        np.float32([1.0, 448.0]),
        "tensor([  1., 448.], dtype=torch.float8_e4m3fn)",
        dtype_name="float8_e4m3fn",
    ),
    case("int64 width", np.int64([-10, 5, 1000]), "tensor([ -10,    5, 1000])"),
    case(
        "int64 extremes",
        np.int64([-(2**63), 2**63 - 1]),
        "tensor([-9223372036854775808,  9223372036854775807])",
    ),
    case(
        "uint64",
        np.uint64([0, 2**64 - 1]),
        "tensor([                   0, 18446744073709551615], dtype=torch.uint64)",
    ),
    case("int8", np.int8([-128, 127]), "tensor([-128,  127], dtype=torch.int8)"),
    case(
        "uint8", np.uint8([[1, 20], [255, 0]]), "tensor([[  1,  20],\n        [255,   0]], dtype=torch.uint8)"
    ),
    case(
        "bool",
        np.array([[True, False], [True, True]], bool),
        "tensor([[ True, False],\n        [ True,  True]])",
    ),
    case("complex fixed", np.complex64([1.5 + 2j, -30.25 - 1j]), "tensor([  1.5000+2.j, -30.2500-1.j])"),
    case(
        "complex parts choose separately",
        np.complex128([1 + 1e-9j, 2 - 3e-9j]),
        "tensor([1.+1.0000e-09j, 2.-3.0000e-09j], dtype=torch.complex128)",
    ),
    case("complex nan", np.complex64([complex(nan, -0.0), complex(1.0, inf)]), "tensor([nan-0.j, 1.+infj])"),
    case(
        "complex32",
        np.complex64([0.5 + 1j]),
        "tensor([0.5000+1.j], dtype=torch.complex32)",
        dtype_name="complex32",
    ),
    case(
        "rank 3",
        np.arange(8, dtype=np.float32).reshape(2, 2, 2),
        "tensor([[[0., 1.],\n         [2., 3.]],\n\n        [[4., 5.],\n         [6., 7.]]])",
    ),
    case(
        "rank 4",
        np.arange(8).reshape(2, 1, 2, 2),
        "tensor([[[[0, 1],\n          [2, 3]]],\n\n\n        [[[4, 5],\n          [6, 7]]]])",
    ),
    case("transposed", np.arange(6).reshape(2, 3).T, "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])"),
    case("empty", np.zeros(0, np.float32), "tensor([])"),
    case("empty rank 2", np.zeros((0, 3), np.float32), "tensor([], size=(0, 3))"),
    case(
        "empty int64 shows its dtype",
        np.zeros((2, 0), np.int64),
        "tensor([], size=(2, 0), dtype=torch.int64)",
    ),
    case(
        "empty float64 with gradient",
        np.zeros((0, 2)),
        "tensor([], size=(0, 2), dtype=torch.float64, requires_grad=True)",
        requires_grad=True,
    ),
    case("empty complex64 shows its dtype", np.zeros(0, np.complex64), "tensor([], dtype=torch.complex64)"),
    case(
        "wrapped",
        np.arange(20, dtype=np.float32) / 8,
        (
            "tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750, 1.0000,\n"
            "        1.1250, 1.2500, 1.3750, 1.5000, 1.6250, 1.7500, 1.8750, 2.0000, 2.1250,\n"
            "        2.2500, 2.3750])"
        ),
    ),
    case(
        "wrapped rank 2",
        np.arange(32).reshape(2, 16) * 1000,
        (
            "tensor([[    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000,\n"
            "         10000, 11000, 12000, 13000, 14000, 15000],\n"
            "        [16000, 17000, 18000, 19000, 20000, 21000, 22000, 23000, 24000, 25000,\n"
            "         26000, 27000, 28000, 29000, 30000, 31000]])"
        ),
    ),
    case(
        "wrapped complex",
        np.arange(9, dtype=np.float32) * np.complex64(0.5 - 1j),
        (
            "tensor([0.0000+0.j, 0.5000-1.j, 1.0000-2.j, 1.5000-3.j, 2.0000-4.j, 2.5000-5.j,\n"
            "        3.0000-6.j, 3.5000-7.j, 4.0000-8.j])"
        ),
    ),
    case(
        "wrapped complex, one column short",
        np.arange(6, dtype=np.float32) * np.complex64(0.5 - 1j),
        ("tensor([0.0000+0.j, 0.5000-1.j, 1.0000-2.j, 1.5000-3.j, 2.0000-4.j,\n        2.5000-5.j])"),
        options={"linewidth": 78},
    ),
    case(
        "wrapped rank 3, one column short",
        np.arange(24).reshape(1, 2, 12) * 10,
        (
            "tensor([[[  0,  10,  20,  30,  40,  50,  60,  70,  80,  90, 100,\n"
            "          110],\n"
            "         [120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220,\n"
            "          230]]])"
        ),
        options={"linewidth": 68},
    ),
    case(
        "rank 3 just fits",
        np.arange(24).reshape(1, 2, 12) * 10,
        (
            "tensor([[[  0,  10,  20,  30,  40,  50,  60,  70,  80,  90, 100, 110],\n"
            "         [120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220, 230]]])"
        ),
        options={"linewidth": 69},
    ),
    case(
        "summary 1-d",
        np.arange(1001, dtype=np.float32),
        "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])",
    ),
    case(
        "threshold is not summarised",
        np.arange(8),
        "tensor([0, 1, 2, 3, 4, 5, 6, 7])",
        options={"threshold": 8},
    ),
    case(
        "summary 2-d",
        np.arange(10000).reshape(100, 100),
        (
            "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
            "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
            "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
            "        ...,\n"
            "        [9700, 9701, 9702,  ..., 9797, 9798, 9799],\n"
            "        [9800, 9801, 9802,  ..., 9897, 9898, 9899],\n"
            "        [9900, 9901, 9902,  ..., 9997, 9998, 9999]])"
        ),
    ),
    case(
        "an axis of twice edgeitems is whole",
        np.arange(1206).reshape(6, 201),
        (
            "tensor([[   0,    1,    2,  ...,  198,  199,  200],\n"
            "        [ 201,  202,  203,  ...,  399,  400,  401],\n"
            "        [ 402,  403,  404,  ...,  600,  601,  602],\n"
            "        [ 603,  604,  605,  ...,  801,  802,  803],\n"
            "        [ 804,  805,  806,  ..., 1002, 1003, 1004],\n"
            "        [1005, 1006, 1007,  ..., 1203, 1204, 1205]])"
        ),
    ),
    case(
        "summary of one axis",
        np.zeros((2, 600), np.float32),
        (
            "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"
            "        [0., 0., 0.,  ..., 0., 0., 0.]], requires_grad=True)"
        ),
        requires_grad=True,
    ),
    case(
        "summary 3-d",
        np.arange(64).reshape(4, 4, 4),
        (
            "tensor([[[ 0,  ...,  3],\n"
            "         ...,\n"
            "         [12,  ..., 15]],\n"
            "\n"
            "        ...,\n"
            "\n"
            "        [[48,  ..., 51],\n"
            "         ...,\n"
            "         [60,  ..., 63]]])"
        ),
        options={"threshold": 10, "edgeitems": 1},
    ),
    case(
        "edgeitems=0 shows the size",
        np.zeros((2, 3), np.float32),
        "tensor([...], size=(2, 3))",
        options={"threshold": 5, "edgeitems": 0},
    ),
    case(
        "edgeitems=0 below threshold",
        np.zeros((), np.float32),
        "tensor(0., size=())",
        options={"edgeitems": 0},
    ),
    case(
        "short profile",
        np.arange(2000, dtype=np.float32) / 3,
        "tensor([0.00e+00, 3.33e-01,  ..., 6.66e+02, 6.66e+02])",
        options={"profile": "short"},
    ),
    case(
        "precision",
        np.array([0.123456789, 12.5]),
        "tensor([ 0.12345679, 12.50000000], dtype=torch.float64)",
        options={"precision": 8},
    ),
    case("precision=0", np.float32([1.5, 2.0]), "tensor([2, 2])", options={"precision": 0}),
    case(
        "sci_mode=True",
        np.float32([1.0, -2.0, 0.0]),
        "tensor([ 1.0000e+00, -2.0000e+00,  0.0000e+00])",
        options={"sci_mode": True},
    ),
    case(
        "sci_mode=True, nothing to measure",
        np.float32([0.0, nan]),
        "tensor([0., nan])",
        options={"sci_mode": True},
    ),
    case(
        "sci_mode=False",
        np.float32([1e-9, 1e9]),
        "tensor([         0.0000, 1000000000.0000])",
        options={"sci_mode": False},
    ),
    case(
        "sci_mode=False, int-valued",
        np.float32([1.0, 1e10]),
        "tensor([          1., 10000000000.])",
        options={"sci_mode": False},
    ),
    case("linewidth", np.arange(6), "tensor([0, 1, 2,\n        3, 4, 5])", options={"linewidth": 17}),
    case(
        "linewidth too small",
        np.arange(4).reshape(2, 2),
        "tensor([[0,\n         1],\n        [2,\n         3]])",
        options={"linewidth": 1},
    ),
    case("requires_grad", np.float32([1.0, 2.0]), "tensor([1., 2.], requires_grad=True)", requires_grad=True),
    case(
        "grad_fn",
        np.float32([1.0, 2.0]),
        "tensor([1., 2.], grad_fn=<AddBackward0>)",
        requires_grad=True,
        grad_fn_name="AddBackward0",
    ),
    case("device", np.float32([1.0, 2.0]), "tensor([1., 2.], device='npu:0')", device_suffix="npu:0"),
    case(
        "device of an empty tensor",
        np.zeros((0, 2)),
        "tensor([], device='npu:0', size=(0, 2), dtype=torch.float64)",
        device_suffix="npu:0",
    ),
    case(
        "device in wrapped suffixes",
        np.arange(12) / 8,
        (
            "tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750, 1.0000,\n"
            "        1.1250, 1.2500, 1.3750], device='cpu', dtype=torch.float64,\n"
            "       requires_grad=True)"
        ),
        device_suffix="cpu",
        requires_grad=True,
    ),
    case(
        "suffix on its own line",
        np.arange(8) / 8,
        (
            "tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750],\n"
            "       dtype=torch.float64, requires_grad=True)"
        ),
        requires_grad=True,
    ),
    case(
        "suffix one column short",
        np.arange(8, dtype=np.float32) / 8,
        (
            "tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750],\n"
            "       requires_grad=True)"
        ),
        options={"linewidth": 92},
        requires_grad=True,
    ),
    case(
        "suffix just fits",
        np.arange(8, dtype=np.float32) / 8,
        "tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750], requires_grad=True)",
        options={"linewidth": 93},
        requires_grad=True,
    ),
    case(
        "parameter",
        np.float32([[1.0, 2.0]]),
        "Parameter containing:\ntensor([[1., 2.]], requires_grad=True)",
        requires_grad=True,
        is_parameter=True,
    ),
    case("subclass", np.arange(4).reshape(2, 2), "Masked([[0, 1],\n        [2, 3]])", prefix="Masked("),
    case("default float64", np.array([1.0]), "tensor([1.])", default_dtype_names=("float64", "complex128")),
    case(
        "default float64 shows float32",
        np.float32([1.0]),
        "tensor([1.], dtype=torch.float32)",
        default_dtype_names=("float64", "complex128"),
    ),
    case(
        "default float64, complex128",
        np.complex128([1j]),
        "tensor([0.+1.j])",
        default_dtype_names=("float64", "complex128"),
    ),
    case(
        "indented",
        np.int64([[0, 1], [1, 0]]),
        "indices=tensor([[0, 1],\n                       [1, 0]])",
        prefix="indices=tensor(",
        indent=7,
    ),
]


@pytest.fixture(autouse=True)
def _default_options():
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


@pytest.mark.parametrize(("array", "dtype_name", "options", "arguments", "expected"), CASES)
def test_prints_like_pytorch(array, dtype_name, options, arguments, expected):
    set_printoptions(**options)
    assert tensor_repr(array, dtype_name=dtype_name, **arguments) == expected


def test_full_profile_prints_every_element():
    set_printoptions(profile="full", linewidth=10**6)
    expected = "tensor([" + ", ".join(["1."] * 5000) + "])"
    assert tensor_repr(np.ones(5000, np.float32), dtype_name="float32") == expected


def test_hidden_elements_do_not_change_the_format():
    array = np.arange(2000, dtype=np.float32) % 7
    array[1000] = 1e30
    expected = "tensor([0., 1., 2.,  ..., 2., 3., 4.])"
    assert tensor_repr(array, dtype_name="float32") == expected


def test_only_shown_elements_are_read():
    terabytes = np.broadcast_to(np.float32(0.5), (10**6, 10**6))
    lines = tensor_repr(terabytes, dtype_name="float32").split("\n")
    assert len(lines) == 7
    assert lines[0] == "tensor([[0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000],"


def test_set_printoptions_keeps_what_is_not_given():
    set_printoptions(profile="short", precision=3)
    set_printoptions(linewidth=100)
    assert get_printoptions() == {
        "precision": 3,
        "threshold": 1000,
        "edgeitems": 2,
        "linewidth": 100,
        "sci_mode": None,
    }


def test_profile_resets_the_other_options():
    set_printoptions(precision=1, edgeitems=9, linewidth=10)
    set_printoptions(profile="full")
    assert get_printoptions() == {
        "precision": 4,
        "threshold": inf,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": None,
    }


def test_unknown_profile_changes_nothing():
    set_printoptions(precision=7)
    set_printoptions(profile="compact")
    assert get_printoptions()["precision"] == 7


def test_leaving_sci_mode_out_resets_it():
    set_printoptions(sci_mode=True)
    set_printoptions(precision=2)
    assert get_printoptions()["sci_mode"] is None


def test_printoptions_restores_after_an_error():
    set_printoptions(precision=6, sci_mode=False)
    before = get_printoptions()
    with pytest.raises(KeyError), printoptions(profile="short", sci_mode=True):
        assert get_printoptions()["precision"] == 2
        raise KeyError
    assert get_printoptions() == before


@pytest.mark.parametrize(
    ("value", "spec", "expected"),
    [
        (np.array(1.5, np.float32), "", "1.5"),
        (np.array(0.1, np.float32), "", "0.10000000149011612"),
        (np.array(2.7, np.float32), ".6f", "2.700000"),
        (np.array(3), "05d", "00003"),
        (np.array(3), ".3f", "3.000"),
        (np.array(True), "", "True"),
        (np.array(True), ">7", "      1"),
        (np.array(1 + 2j, np.complex64), ".2f", "1.00+2.00j"),
    ],
)
def test_format_of_a_0d_tensor(value, spec, expected):
    assert format_scalar(value, spec) == expected


@pytest.mark.parametrize("shape", [(1,), (0,), (1, 1)])
def test_format_of_other_ranks_is_an_error(shape):
    with pytest.raises(TypeError, match=r"^unsupported format string passed to Tensor\.__format__$"):
        format_scalar(np.zeros(shape), ".2f")


def test_format_error_names_the_class():
    with pytest.raises(TypeError, match=r"^unsupported format string passed to Parameter\.__format__$"):
        format_scalar(np.zeros(2), ".2f", type_name="Parameter")


def test_format_rejects_a_spec_of_another_type():
    with pytest.raises(ValueError, match="Unknown format code 'd' for object of type 'float'"):
        format_scalar(np.array(1.5), "d")
