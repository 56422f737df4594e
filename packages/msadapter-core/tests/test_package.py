"""`import msadapter`: light, lazy, and clear about what is missing."""

import pathlib
import shutil
import subprocess
import sys

import pytest

import msadapter
from msadapter import _requirements

HOME = pathlib.Path(msadapter.__file__).parent


@pytest.fixture
def bare(tmp_path):
    """Run code where only `msadapter` and its two helpers exist: no MindSpore, no site-packages."""
    package = tmp_path / "msadapter"
    (package / "pytorch" / "utils").mkdir(parents=True)
    for name in ("__init__.py", "_parts.py", "_requirements.py"):
        shutil.copy(HOME / name, package / name)
    for empty in (package / "pytorch" / "__init__.py", package / "pytorch" / "utils" / "__init__.py"):
        empty.touch()

    def run(code, **fakes):
        for name, version in fakes.items():
            (tmp_path / f"{name}.py").write_text(f"__version__ = {version!r}\n")
        command = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"
        return subprocess.run([sys.executable, "-I", "-S", "-c", command], capture_output=True, text=True)

    return run


CHECK = "from msadapter._requirements import check_requirements; check_requirements()"


def test_plain_import_loads_neither_mindspore_nor_numpy():
    heavy = ("mindspore", "numpy", "msadapter.pytorch")
    code = f"import sys, msadapter; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'msadapter' has no attribute 'tensorflow'"):
        msadapter.tensorflow  # noqa: B018


def test_dir_names_the_lazy_parts():
    assert {"__version__", "pytorch", "torchvision", "tools"} <= set(dir(msadapter))


@pytest.mark.parametrize(
    ("statement", "distribution"),
    [
        ("import msadapter.pytorch.nn as nn", "msadapter-nn"),
        ("from msadapter.pytorch import optim", "msadapter-nn"),
        ("import msadapter.pytorch.optim.lr_scheduler", "msadapter-nn"),
        ("from msadapter.pytorch.utils.data import DataLoader", "msadapter-data"),
        ("import msadapter.torchvision", "msadapter-vision"),
        ("from msadapter import torchvision", "msadapter-vision"),
        ("import msadapter; msadapter.tools", "msadapter-convert"),
    ],
)
def test_missing_part_says_what_to_install(bare, statement, distribution):
    done = bare(statement)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: msadapter.")
    assert last.endswith(f"is not installed. Run: pip install {distribution}")


def test_missing_part_leaves_other_missing_modules_alone(bare):
    done = bare("import msadapter\nimport msadapter.nonsense")
    assert "No module named 'msadapter.nonsense'" in done.stderr


def test_importing_anew_adds_no_second_finder(bare):
    code = (
        "import msadapter, sys\n"
        "for name in [m for m in sys.modules if m.startswith('msadapter')]: del sys.modules[name]\n"
        "import msadapter\n"
        "print(sum(getattr(f, '__module__', '') == 'msadapter._parts' for f in sys.meta_path))"
    )
    assert bare(code).stdout.strip() == "1"


def test_missing_mindspore_is_one_clear_error(bare):
    done = bare(CHECK)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: msadapter.pytorch runs on MindSpore, which is not installed.")
    assert 'pip install "mindspore>=2.10,<2.11"' in last


@pytest.mark.parametrize("version", ["2.0.0", "2.4.6"])
def test_numpy_2_is_an_error_before_mindspore_is_imported(bare, version):
    done = bare(CHECK + "\n", mindspore="2.10.0", numpy=version)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: msadapter.pytorch needs NumPy below 2")
    assert last.endswith(f"Received: NumPy {version}")


@pytest.mark.parametrize("version", ["2.10.0", "2.10.1", "2.10.0rc1"])
def test_tested_mindspore_gives_no_warning(bare, version):
    done = bare(CHECK, mindspore=version, numpy="1.26.4")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("version", ["2.9.0", "2.11.0", "1.10.1", "3.0.0", "unknown"])
def test_other_mindspore_gives_one_warning(bare, version):
    done = bare(f"{CHECK}; check_requirements()", mindspore=version, numpy="1.26.4")
    assert done.returncode == 0
    assert done.stderr.count("RuntimeWarning: msadapter is tested with MindSpore >=2.10,<2.11") == 1
    assert f"Received: MindSpore {version}" in done.stderr


def test_requirements_hold_here():
    _requirements.check_requirements()
