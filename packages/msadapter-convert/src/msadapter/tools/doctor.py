"""`msadapter doctor`: what is installed, and whether it computes."""

import glob
import importlib.metadata
import platform
import sys

PARTS = ("core", "nn", "data", "vision", "convert")
LIBRARIES = ("mindspore", "numpy", "scipy", "pillow", "torch", "torchvision")


def report():
    """Print the state of the installation. Returns 0 where it works, 1 where something is wrong."""
    print(f"Python      {platform.python_version()}  ({sys.executable})")
    print(f"platform    {platform.platform()}")
    parts = {part: _version(f"msadapter-{part}") for part in PARTS}
    for name, version in parts.items():
        print(f"msadapter-{name:<8} {version or 'not installed'}")
    for name in LIBRARIES:
        print(f"{name:<18} {_version(name) or 'not installed'}")
    npus = sorted(glob.glob("/dev/davinci[0-9]*"))
    print(f"{'NPU':<18} {', '.join(npus) or 'none (no /dev/davinci*)'}")
    problems = [*_disagreements(parts), *_failures()]
    for problem in problems:
        print(f"PROBLEM: {problem}")
    if not problems:
        print("no problem found")
    return 1 if problems else 0


def _version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _disagreements(parts):
    versions = {version for version in parts.values() if version}
    if len(versions) > 1:
        yield f"the parts of msadapter must have one version, and have {', '.join(sorted(versions))}"


def _failures():
    """Compute a product and its gradient, the two things everything else stands on."""
    try:
        import mindspore

        import msadapter.pytorch as torch

        x = torch.ones(2, 2, requires_grad=True)
        (x @ x).sum().backward()
        right = x.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
        print(f"{'device target':<18} {mindspore.get_context('device_target')}")
    except Exception as error:  # whatever is wrong is what the user asks about
        yield f"{type(error).__name__}: {error}"
        return
    if not right:
        yield f"the gradient of sum(x @ x) at ones is wrong: {x.grad.tolist()}"
