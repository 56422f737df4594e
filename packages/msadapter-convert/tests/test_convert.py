"""Conversion of tensors. PyTorch itself is not needed: a stand-in with the same names is recognised the same way."""

import subprocess
import sys
import types
from collections import OrderedDict, defaultdict, namedtuple

import mindspore
import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.tools import convert_tensor, convert_to_ms_tensor, convert_to_torch_tensor

Pair = namedtuple("Pair", "a b")


@pytest.fixture
def fake_torch(monkeypatch):
    """A module `torch` with just enough of a Tensor: an array, and what conversion asks of it."""
    module = types.ModuleType("torch")

    class Tensor:
        is_quantized = False

        def __init__(self, array, dtype=None, layout="strided"):
            self.array, self.layout = array, layout
            self.dtype = dtype or str(array.dtype)

        def numpy(self):
            return self.array

        def view(self, dtype):
            return Tensor(self.array, dtype)

        detach = cpu = resolve_conj = resolve_neg = lambda self: self

    Tensor.__module__ = "torch"
    module.Tensor, module.strided, module.bfloat16, module.int16 = Tensor, "strided", "bfloat16", "int16"
    module.from_numpy = Tensor
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_a_torch_tensor_becomes_ours_over_the_same_memory(fake_torch):
    array = np.arange(3, dtype=np.float32)
    converted = convert_to_ms_tensor(fake_torch.Tensor(array))
    assert isinstance(converted, torch.Tensor) and converted.dtype == torch.float32
    array[0] = 7
    assert converted.tolist() == [7.0, 1.0, 2.0]


def test_bfloat16_both_ways(fake_torch):
    bits = np.array([0x3F80, 0xC000], np.uint16)  # 1 and -2
    converted = convert_to_ms_tensor(fake_torch.Tensor(bits.view(np.int16), "bfloat16"))
    assert converted.dtype == torch.bfloat16 and converted.tolist() == [1.0, -2.0]
    back = convert_to_torch_tensor(converted)
    assert back.dtype == "bfloat16" and back.array.dtype == np.int16
    assert back.array.view(np.uint16).tolist() == bits.tolist()


def test_containers_keep_their_kind(fake_torch):
    one = fake_torch.Tensor(np.array(1))
    batch = OrderedDict(pair=Pair([one], (one, "text")), none=None, more=defaultdict(list, x=one))
    converted = convert_tensor(batch)
    assert type(converted) is OrderedDict and type(converted["pair"]) is Pair
    assert [t.item() for t in (converted["pair"].a[0], converted["pair"].b[0], converted["more"]["x"])] == [
        1,
        1,
        1,
    ]
    assert converted["pair"].b[1] == "text" and converted["none"] is None
    assert converted["more"]["missing"] == []
    assert batch["pair"].a[0] is one


def test_arrays_and_mindspore_tensors_are_converted_too():
    converted = convert_to_ms_tensor([np.array([True, False]), mindspore.Tensor([1.5]), np.array(["a"]), 3])
    assert converted[0].dtype == torch.bool and isinstance(converted[1], torch.Tensor)
    assert isinstance(converted[2], np.ndarray) and converted[3] == 3


def test_what_is_not_dense_is_refused(fake_torch):
    with pytest.raises(TypeError, match=r"write tensor.to_dense\(\). Received: layout sparse_coo"):
        convert_to_ms_tensor(fake_torch.Tensor(np.zeros(1), layout="sparse_coo"))
    quantized = fake_torch.Tensor(np.zeros(1), "qint8")
    quantized.is_quantized = True
    with pytest.raises(TypeError, match=r"write tensor.dequantize\(\). Received: qint8"):
        convert_to_ms_tensor(quantized)


def test_to_torch_shares_memory_and_drops_the_graph(fake_torch):
    tensor = torch.ones(2, requires_grad=True)
    converted = convert_to_torch_tensor({"w": tensor * 2, "n": 1, "leaf": tensor})
    assert converted["w"].array.tolist() == [2.0, 2.0] and converted["n"] == 1
    converted["leaf"].array[0] = 5
    assert tensor.tolist() == [5.0, 1.0]


def test_to_torch_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        convert_to_torch_tensor(torch.ones(1))


def test_importing_the_tools_loads_neither_framework():
    code = "import sys, msadapter.tools.cli; print([m for m in ('mindspore', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
