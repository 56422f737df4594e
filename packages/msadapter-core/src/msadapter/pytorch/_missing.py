"""What is not there: errors that say whether PyTorch has a name, and no MindSpore method under a PyTorch name.

MindSpore's Tensor has methods that PyTorch's has too but that follow other rules (`var` divides by n, `topk` returns
int32). Until an operator of ours takes such a name, asking for it raises.
"""

import difflib
import functools
import importlib.resources
import json

from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._tensor import Tensor


@functools.cache
def pytorch_names():
    """{module: names of its public members} of the PyTorch release that msadapter follows, its "modules" by their
    qualified names, and its "version"."""
    text = importlib.resources.files(__package__).joinpath("pytorch_names.json").read_text()
    table = json.loads(text)
    version = table.pop("version")
    return {module: frozenset(names.split()) for module, names in table.items()} | {"version": version}


def attribute_error(module, name, known):
    """The AttributeError for `torch.name`: whether PyTorch has it, and what is close to it among `known`."""
    table = pytorch_names()
    path = module.replace("msadapter.pytorch", "torch")
    if name in table.get(path, ()) or f"{path}.{name}" in table["modules"]:
        detail = f"PyTorch {table['version']} has {path}.{name}; msadapter does not have it yet"
    else:
        offered = [k for k in known if not k.startswith("_") and k in table.get(path, known)]
        close = difflib.get_close_matches(name, offered, n=1)
        detail = f"PyTorch {table['version']} has no such name either" if path in table else "no such name"
        detail += f"; did you mean {path}.{close[0]}?" if close else ""
    return AttributeError(f"module {module!r} has no attribute {name!r} ({detail})", name=name)


class _Missing:
    """Stands under a PyTorch name on Tensor that no operator of ours has taken."""

    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, owner=None):
        raise AttributeError(
            f"torch.Tensor.{self.name} is not in msadapter yet. MindSpore has a method of that name, with other rules: "
            f"write mindspore.Tensor.{self.name}(tensor, ...) to use it as it is.",
            name=self.name,
        )


def hide_foreign_methods():
    """Put `_Missing` over every MindSpore method that PyTorch names and we have not defined."""
    for name in pytorch_names()["torch.Tensor"]:
        if not any(
            name in cls.__dict__
            for cls in Tensor.__mro__
            if cls is not MsTensor and issubclass(cls, MsTensor)
        ):
            if hasattr(MsTensor, name):
                setattr(Tensor, name, _Missing(name))
