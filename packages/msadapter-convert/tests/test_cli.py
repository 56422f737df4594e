"""The command `msadapter`."""

import importlib.metadata
import subprocess
import sys

import pytest

import msadapter
from msadapter.tools import doctor
from msadapter.tools.cli import main


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"msadapter {msadapter.__version__}\n"


def test_no_command_says_which_there_are(capsys):
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    assert "doctor" in capsys.readouterr().err


def test_doctor_of_a_sound_installation(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda name: "1.0" if name.startswith("msadapter") else None)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "msadapter-core     1.0" in out and "torch              not installed" in out
    assert "device target" in out and out.endswith("no problem found\n")


def test_doctor_names_what_disagrees_and_what_fails(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda name: "2.0" if name == "msadapter-nn" else "1.0")
    monkeypatch.setitem(sys.modules, "msadapter.pytorch", None)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "PROBLEM: the parts of msadapter must have one version, and have 1.0, 2.0" in out
    assert "PROBLEM: ModuleNotFoundError: import of msadapter.pytorch halted" in out


def test_doctor_reads_the_installed_versions():
    assert doctor._version("numpy") == importlib.metadata.version("numpy")
    assert doctor._version("no-such-distribution") is None


def test_it_is_a_module_to_run():
    done = subprocess.run([sys.executable, "-m", "msadapter", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"msadapter {msadapter.__version__}\n")
