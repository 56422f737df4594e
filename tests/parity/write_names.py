"""Write the public names of real PyTorch, by module, that msadapter's error messages and support table know of.

Run with an interpreter that has PyTorch: python tests/parity/write_names.py
"""

import importlib
import json
import pathlib
import pkgutil

import torch

MODULES = (
    "torch", "torch.Tensor", "torch.autograd", "torch.autograd.functional", "torch.fft", "torch.linalg", "torch.nn",
    "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.optim", "torch.optim.lr_scheduler", "torch.random",
    "torch.signal.windows", "torch.special", "torch.utils", "torch.utils.data",
)  # fmt: skip
TARGET = (
    pathlib.Path(__file__).parents[2] / "packages/msadapter-core/src/msadapter/pytorch/pytorch_names.json"
)


def public_names(path):
    owner = torch.Tensor if path == "torch.Tensor" else importlib.import_module(path)
    return sorted(n for n in dir(owner) if not n.startswith("_") and not _is_module(owner, n))


def public_modules(path):
    """The modules inside `path`, whether PyTorch has imported them or not."""
    owner = torch.Tensor if path == "torch.Tensor" else importlib.import_module(path)
    shown = {n for n in dir(owner) if _is_module(owner, n) and getattr(owner, n).__name__.startswith("torch")}
    found = {m.name for m in pkgutil.iter_modules(getattr(owner, "__path__", ()))}
    return [f"{path}.{n}" for n in sorted((shown | found) - {"torch"}) if not n.startswith("_")]


def _is_module(owner, name):
    return isinstance(getattr(owner, name, None), type(torch))


if __name__ == "__main__":
    names = {path: public_names(path) for path in MODULES}
    names["modules"] = [name for path in MODULES for name in public_modules(path)]
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(' '.join(v))}" for k, v in names.items())
    TARGET.write_text(f'{{"version": "{torch.__version__.split("+")[0]}",\n{lines}}}\n')
