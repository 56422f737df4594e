"""Write support.md: one row per operator, from the records themselves.

    python docs/write_support.py

A test holds the page against the records, so that neither can move alone.
"""

import inspect
import pathlib

from msadapter.pytorch._engine.kernel import Kernel
from msadapter.pytorch._missing import pytorch_names
from msadapter.pytorch._ops.registry import RECORDS

PAGE = pathlib.Path(__file__).with_name("support.md")

HEAD = """# Support table

Written by `docs/write_support.py` from the operator records; PyTorch {version} is the measure.

*Forms*: `f` function, `m` Tensor method, `i` in-place method, `o` takes `out=`, `v` view, and the Python operators.
*On the CPU*: "NumPy" names the kernel's reason; "MindSpore" is MindSpore's operators; "composed" is other operators of this
table; "both" is MindSpore's operators for the common dtypes and sizes and NumPy for the rest. On Ascend a kernel that stands
in for a MindSpore operator is not used; one for which MindSpore has no operator runs on the host there too.

"""


def forms(record):
    """The letters and operators of one record."""
    letters = [
        ("f", record.function), ("m", record.method), ("i", record.inplace), ("o", record.out), ("v", record.view),
    ]  # fmt: skip
    operators = [f"`{name}`" for name in (*record.operators, record.reflected) if name]
    return " ".join([letter for letter, has in letters if has] + operators)


class Reached:
    """What a body's code can reach through the names it uses: kernels, records, and whether MindSpore's operators."""

    def __init__(self, body):
        self.kernels, self.records, self.mindspore = set(), set(), False
        self._seen = set()
        self._read(body, 4)

    def _read(self, function, depth):
        function = inspect.unwrap(function, stop=lambda f: isinstance(f, Kernel))
        if isinstance(function, Kernel):
            self.kernels.add(function)
            return
        code = getattr(function, "__code__", None)
        if code is None or depth == 0 or code in self._seen:
            return
        self._seen.add(code)
        names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        for value in (names[name] for name in (*code.co_names, *code.co_freevars) if name in names):
            self._note(value, depth)

    def _note(self, value, depth):
        if isinstance(value, Kernel):
            self.kernels.add(value)
        elif hasattr(value, "record"):
            self.records.add(value.record)
        elif _is_mindspore(value):
            self.mindspore = True
        elif inspect.isfunction(value) and value.__module__.startswith("msadapter.pytorch._ops"):
            self._read(value, depth - 1)


def _is_mindspore(value):
    home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    return str(home).startswith("mindspore") or type(value).__module__.startswith("mindspore")


def where_it_runs(record):
    """What the last column says of one record."""
    if record.cpu_reason:
        return f"NumPy: {record.cpu_reason}"
    found = Reached(record.body)
    if found.kernels:
        reasons = sorted({kernel.reason for kernel in found.kernels})
        return f"{'both' if found.mindspore else 'NumPy'}: {reasons[0]}"
    return "composed" if found.records and not found.mindspore else "MindSpore"


def rows():
    for namespace in sorted({record.namespace for record in RECORDS.values()}):
        records = sorted((r for r in RECORDS.values() if r.namespace == namespace), key=lambda r: r.name)
        shown = [r for r in records if not r.name.startswith("_")]
        if not shown:
            continue
        yield f"## {namespace}\n\n| operator | forms | on the CPU |\n|---|---|---|\n"
        for record in shown:
            names = ", ".join(f"`{n}`" for n in (record.name, *record.aliases))
            yield f"| {names} | {forms(record)} | {where_it_runs(record)} |\n"
        yield "\n"


def page():
    """The text of the page for the records as they are now."""
    return HEAD.format(version=pytorch_names()["version"]) + "".join(rows()).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
