"""examples/lenet_digits: both ways run, and give the same losses from the same weights."""

import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("sklearn", reason="the example's pictures come with scikit-learn")
pytest.importorskip("tqdm", reason="the example shows its progress with tqdm")
LOSSES_OF_PYTORCH = [2.282517, 1.154070]  # the same program, the imports changed back, PyTorch 2.13
EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "lenet_digits"


def run(script, epochs):
    """The losses of the epochs and the accuracy that a script prints."""
    command = [sys.executable, str(EXAMPLE / script), "--epochs", str(epochs)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r"^epoch \d+: loss (\d+\.\d{6})$", done.stdout, flags=re.M)]
    (accuracy,) = re.findall(
        r"^test accuracy (\d+\.\d\d) %, \d+\.\d\d seconds per epoch$", done.stdout, flags=re.M
    )
    return losses, float(accuracy)


def test_both_ways_give_the_losses_of_pytorch():
    pytorch_way = run("pytorch_way.py", epochs=2)
    assert pytorch_way == run("mindspore_way.py", epochs=2)
    losses, accuracy = pytorch_way
    assert losses == pytest.approx(LOSSES_OF_PYTORCH, rel=1e-3)
    assert accuracy > 50
