"""A LeNet training step, batch 128: msadapter against PyTorch (at most 2 times) and plain MindSpore (at least 20 times faster)."""

import pathlib

from measure import finish, judge, other_process, torch_python

SCRIPT = str(pathlib.Path(__file__).with_name("lenet_step.py"))

if __name__ == "__main__":
    ours = other_process(SCRIPT, "msadapter.pytorch")
    native = other_process(SCRIPT, "mindspore")
    print(f"msadapter {ours * 1e3:.1f} ms, plain MindSpore {native * 1e3:.1f} ms")
    judge("LeNet step over plain MindSpore", ours / native, 1 / 20, "times")
    if torch_python() is None:
        print("TORCH_PYTHON is not set: not compared with PyTorch")
    else:
        pytorch = other_process(SCRIPT, "torch", python=torch_python())
        print(f"PyTorch {pytorch * 1e3:.1f} ms")
        judge("LeNet step over PyTorch", ours / pytorch, 2, "times")
    finish()
