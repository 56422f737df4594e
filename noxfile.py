"""Every check of this repository is a nox session: `nox -l` lists them, `nox -s demo` runs one.

A session runs on the Python that nox runs on. `tests` and `wheels` also exist once per supported Python, as
`tests-3.12` and so on; where that interpreter is not installed they say so and skip.
"""

import pathlib
import re
import shutil
import sys
import tarfile

import nox

ROOT = pathlib.Path(__file__).resolve().parent
DIST = ROOT / "dist"
PACKAGES = ("core", "nn", "data", "vision", "convert")
PYTHONS = ("3.10", "3.11", "3.12")
HAS_NPU = bool(list(pathlib.Path("/dev").glob("davinci[0-9]*")))

nox.needs_version = ">=2025.11.12"
# MindSpore unpacks to 2.6 GB: uv links it into an environment in 3 seconds, pip copies it in 54.
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False
nox.options.download_python = "never"
nox.options.sessions = ["lint", "types", "tests"]


def group(name):
    """The requirements of one [dependency-groups] list of the root pyproject.toml."""
    return nox.project.dependency_groups(nox.project.load_toml(ROOT / "pyproject.toml"), name)


def install_from_source(session, *groups):
    """Install all five packages editable, in one command so that each finds its siblings."""
    session.install(*group("build"))  # once, where build isolation would fetch it for each of the five
    editable = [arg for package in PACKAGES for arg in ("-e", f"packages/msadapter-{package}")]
    needs = [requirement for name in groups for requirement in group(name)]
    session.install("--no-build-isolation", *editable, *needs)


def torch_python(session):
    """Python of an environment of its own for real PyTorch: two OpenMPs in one process would not do.

    Made with pip whatever nox's backend is, because pip also finds PyTorch wheels in local folders.
    """
    home = ROOT / ".nox" / "torch"
    session.run(sys.executable, "-m", "virtualenv", "--quiet", str(home), external=True)
    python = str(home / "bin" / "python")
    session.run(python, "-m", "pip", "install", "--quiet", *group("torch"), external=True)
    return python


def for_each_python(**options):
    """Register a session for nox's own Python under its name, and for each supported one as NAME-3.x."""

    def register(function):
        for python in PYTHONS:
            name = f"{function.__name__}-{python}"
            nox.session(function, python=python, name=name, default=False, **options)
        return nox.session(function, **options)

    return register


@nox.session
def demo(session):
    """Train LeNet on handwritten digits, in PyTorch's way and in MindSpore's."""
    install_from_source(session, "demo")
    for way in ("pytorch_way", "mindspore_way"):
        session.run("python", f"examples/lenet_digits/{way}.py", *session.posargs)


@for_each_python()
def tests(session):
    """The tests of all packages, from source, in one environment."""
    install_from_source(session, "test", "demo")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def build(session):
    """Build the wheel and the sdist of all six distributions into dist/."""
    session.install(*group("build"))
    shutil.rmtree(DIST, ignore_errors=True)
    for source in (".", *(f"packages/msadapter-{package}" for package in PACKAGES)):
        session.run("python", "-m", "build", "--no-isolation", "--outdir", str(DIST), source, silent=True)
    session.log("built %s", ", ".join(sorted(path.name for path in DIST.iterdir())))


@for_each_python(requires=["build"], reuse_venv=False)
@nox.parametrize("package", [*PACKAGES, "msadapter"], ids=[*PACKAGES, "msadapter"])
def wheels(session, package):
    """One built wheel and what it pulls in, in an empty environment, with the tests of its sdist."""
    name = package if package == "msadapter" else f"msadapter_{package}"
    (wheel,) = DIST.glob(f"{name}-[0-9]*.whl")
    session.install("--find-links", str(DIST), str(wheel), *group("test"))
    if session.venv_backend == "uv":
        session.run("uv", "pip", "check", external=True)
    else:
        session.run("python", "-m", "pip", "check")
    if package == "msadapter":  # metadata only: what it must do is bring the five
        parts = "msadapter, msadapter.pytorch.nn, msadapter.pytorch.utils.data"
        session.run("python", "-I", "-c", f"import {parts}, msadapter.torchvision, msadapter.tools")
        return
    # Tests from the sdist, without its src: neither the repository nor the sdist can stand in for the wheel.
    (sdist,) = DIST.glob(f"{name}-[0-9]*.tar.gz")
    unpacked = pathlib.Path(session.create_tmp(), "unpacked")
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (home,) = unpacked.iterdir()
    shutil.rmtree(home / "src")
    session.chdir(home)
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", "."]
    session.run("python", "-m", "pytest", *settings, "tests", *session.posargs)


@nox.session
def lint(session):
    """ruff: check and format."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session):
    """mypy over the five packages, merged into one tree as they are when installed."""
    session.install(*group("types"))
    merged = pathlib.Path(session.create_tmp(), "merged")
    shutil.rmtree(merged, ignore_errors=True)
    for package in PACKAGES:  # mypy does not follow the __path__ that joins them
        source = ROOT / "packages" / f"msadapter-{package}" / "src"
        shutil.copytree(source, merged, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    session.chdir(merged)
    session.run("mypy", "--config-file", str(ROOT / "pyproject.toml"), "-p", "msadapter", *session.posargs)


@nox.session
def conformance(session):
    """Replay what PyTorch does, against the stored list of known failures."""
    install_from_source(session)
    session.run("python", "tests/conformance/run.py", *session.posargs)


@nox.session
def parity(session):
    """Against real PyTorch: the conformance cases hold for it, and parity scripts print the same."""
    install_from_source(session)
    python = torch_python(session)
    session.run(python, "tests/conformance/run.py", "--impl", "torch", external=True)
    session.run("python", "tests/parity/run.py", "--torch-python", python, *session.posargs)


@nox.session
def bench(session):
    """The benchmarks, each a ratio measured in one run; PyTorch's side runs in TORCH_PYTHON."""
    scripts = sorted((ROOT / "benchmarks").glob("bench_*.py"))
    if not scripts:
        session.error("no benchmarks/bench_*.py")
    install_from_source(session, "demo")
    env = {"TORCH_PYTHON": torch_python(session)}
    for script in scripts:
        session.run("python", str(script), *session.posargs, env=env)


@nox.session
def docs(session):
    """The documentation: links lead somewhere, both languages keep step, code blocks run."""
    install_from_source(session, "test", "demo")
    session.run("python", "-m", "pytest", "tests/test_docs.py", *session.posargs)


@nox.session(venv_backend=None if HAS_NPU else "none")
def ascend(session):
    """The tests with device_target="Ascend", on a host that has an NPU."""
    if not HAS_NPU:
        session.skip("this host has no NPU (no /dev/davinci*)")
    install_from_source(session, "test", "demo")
    session.run("python", "-m", "pytest", *session.posargs, env={"MSADAPTER_DEVICE_TARGET": "Ascend"})


@nox.session(venv_backend="none", default=False)
def version(session):
    """Set the version of all six distributions and their pins: nox -s version -- 0.3.0"""
    if len(session.posargs) != 1 or not re.fullmatch(r"\d+\.\d+\.\d+", session.posargs[0]):
        session.error("say which version, for example: nox -s version -- 0.3.0")
    core = ROOT / "packages" / "msadapter-core" / "src" / "msadapter" / "__init__.py"
    for path in (core, ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")):
        text = path.read_text()
        text = re.sub(r'^(__version__|version) = ".*"', rf'\1 = "{session.posargs[0]}"', text, flags=re.M)
        path.write_text(re.sub(r'("msadapter-\w+==)[^"]*"', rf'\g<1>{session.posargs[0]}"', text))
