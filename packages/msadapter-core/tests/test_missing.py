"""Names that are not there: what the error says, and that no foreign method answers in their place."""

import mindspore as ms
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._missing import _Missing, pytorch_names


def test_a_name_pytorch_lacks_suggests_the_nearest():
    with pytest.raises(AttributeError, match=r"no such name either; did you mean torch.matmul\?"):
        torch.matmull  # noqa: B018


def test_a_name_pytorch_has_says_so():
    with pytest.raises(
        AttributeError, match="PyTorch 2.13.0 has torch.quantize_per_tensor; msadapter does not"
    ):
        torch.quantize_per_tensor  # noqa: B018


def test_no_mindspore_method_answers_under_a_pytorch_name():
    own = {
        name
        for cls in torch.Tensor.__mro__
        if cls.__module__.startswith("msadapter")
        for name in cls.__dict__
    }
    foreign = {n for n in pytorch_names()["torch.Tensor"] if hasattr(ms.Tensor, n)} - own
    assert foreign == set()


def test_a_hidden_method_is_absent_and_says_why():
    hidden = [name for name, value in vars(torch.Tensor).items() if isinstance(value, _Missing)]
    for name in hidden:
        assert not hasattr(torch.ones(2), name)
        with pytest.raises(AttributeError, match=f"torch.Tensor.{name} is not in msadapter yet"):
            getattr(torch.ones(2), name)


@pytest.mark.parametrize(
    ("module", "name", "detail"),
    [
        (torch, "quantization", "PyTorch 2.13.0 has torch.quantization; msadapter does not have it yet"),
        (
            torch.utils,
            "mobile_optimizer",
            "PyTorch 2.13.0 has torch.utils.mobile_optimizer; msadapter does not have it yet",
        ),
        (torch.utils, "dta", "PyTorch 2.13.0 has no such name either"),
        (torch.autograd, "Functoin", r"no such name either; did you mean torch.autograd.Function\?"),
    ],
)
def test_modules_and_their_names_too(module, name, detail):
    with pytest.raises(AttributeError, match=detail):
        getattr(module, name)


@pytest.mark.parametrize(
    "name, replacement",
    [("symeig", "torch.linalg.eigh"), ("eig", "torch.linalg.eig"), ("solve", "torch.linalg.solve"),
     ("lstsq", "torch.linalg.lstsq"), ("matrix_rank", "torch.linalg.matrix_rank")],
)  # fmt: skip
def test_a_removed_function_names_its_replacement(name, replacement):
    with pytest.raises(
        RuntimeError, match=f"deprecated since version 1.9 and is now removed. Write {replacement}"
    ):
        getattr(torch, name)(torch.ones(2, 2))
