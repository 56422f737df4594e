"""Write support.md: one row per operator, from the records themselves.

    python docs/write_support.py

A test holds the page against the records, so that neither can move alone.
"""

import pathlib

from msadapter.pytorch._missing import pytorch_names
from msadapter.pytorch._ops.registry import RECORDS

PAGE = pathlib.Path(__file__).with_name("support.md")

HEAD = """# Support table

Written by `docs/write_support.py` from the operator records; PyTorch {version} is the measure.

*Forms*: `f` function, `m` Tensor method, `i` in-place method, `o` takes `out=`, `v` view, and the Python operators.
*On the CPU*: MindSpore's operators, or a NumPy kernel and why. On Ascend MindSpore's operators run everywhere.

"""


def forms(record):
    """The letters and operators of one record."""
    letters = [
        ("f", record.function), ("m", record.method), ("i", record.inplace), ("o", record.out), ("v", record.view),
    ]  # fmt: skip
    operators = [f"`{name}`" for name in (*record.operators, record.reflected) if name]
    return " ".join([letter for letter, has in letters if has] + operators)


def rows():
    for namespace in sorted({record.namespace for record in RECORDS.values()}):
        records = sorted((r for r in RECORDS.values() if r.namespace == namespace), key=lambda r: r.name)
        shown = [r for r in records if not r.name.startswith("_")]
        if not shown:
            continue
        yield f"## {namespace}\n\n| operator | forms | on the CPU |\n|---|---|---|\n"
        for record in shown:
            names = ", ".join(f"`{n}`" for n in (record.name, *record.aliases))
            where = f"NumPy: {record.cpu_reason}" if record.cpu_reason else "MindSpore"
            yield f"| {names} | {forms(record)} | {where} |\n"
        yield "\n"


def page():
    """The text of the page for the records as they are now."""
    return HEAD.format(version=pytorch_names()["version"]) + "".join(rows()).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
