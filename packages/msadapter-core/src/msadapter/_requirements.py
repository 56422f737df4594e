"""What `msadapter.pytorch` needs from the environment, checked once when it is imported."""

import importlib.util
import re
import sys
import warnings

# From this MindSpore (major, minor) on and below that one; the pin in pyproject.toml says the same.
TESTED_MINDSPORE = ((2, 10), (2, 11))


def check_requirements() -> None:
    """Import MindSpore, or say in one message what is wrong with the environment.

    Raises:
        ImportError: MindSpore is not installed, or NumPy is version 2 or later.

    Warns:
        RuntimeWarning: MindSpore's version is outside the tested range.
    """
    if importlib.util.find_spec("mindspore") is None:
        raise ImportError(
            "msadapter.pytorch runs on MindSpore, which is not installed. "
            f'Run: pip install "mindspore{_tested_range()}" (built for Python 3.10 to 3.12). '
            f"Received: Python {sys.version.split()[0]} without a module named mindspore"
        )
    _check_numpy()
    _check_mindspore()


def _check_numpy() -> None:
    import numpy

    if int(numpy.__version__.split(".")[0]) >= 2:
        raise ImportError(
            "msadapter.pytorch needs NumPy below 2: with NumPy 2, MindSpore 2.10 fails on `tensor < 0` and "
            f'on bfloat16 arrays. Run: pip install "numpy<2". Received: NumPy {numpy.__version__}'
        )


def _check_mindspore() -> None:
    import mindspore

    lowest, beyond = TESTED_MINDSPORE
    found = re.match(r"(\d+)\.(\d+)", mindspore.__version__)
    if found and lowest <= (int(found[1]), int(found[2])) < beyond:
        return
    warnings.warn(
        f"msadapter is tested with MindSpore {_tested_range()}; another version may fail or compute "
        f"something else. Received: MindSpore {mindspore.__version__}",
        RuntimeWarning,
        stacklevel=3,
    )


def _tested_range() -> str:
    lowest, beyond = (".".join(map(str, version)) for version in TESTED_MINDSPORE)
    return f">={lowest},<{beyond}"
