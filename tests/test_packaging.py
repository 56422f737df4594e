"""The six distributions: one version, one shape, no file shipped twice."""

import ast
import collections
import pathlib
import re
import sys

import pytest

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = ("core", "nn", "data", "vision", "convert")
FOLDERS = {"msadapter": ROOT} | {
    f"msadapter-{name}": ROOT / "packages" / f"msadapter-{name}" for name in PACKAGES
}


def settings(name):
    return tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text())


def sources(name):
    """Files that the wheel of a package ships, relative to its src."""
    src = FOLDERS[name] / "src"
    return {
        path.relative_to(src).as_posix()
        for path in src.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_six_versions_are_one():
    init = FOLDERS["msadapter-core"] / "src" / "msadapter" / "__init__.py"
    (version,) = re.findall(r'^__version__ = "(.+)"$', init.read_text(), flags=re.M)
    assert {name: settings(name)["project"]["version"] for name in FOLDERS} == dict.fromkeys(FOLDERS, version)


@pytest.mark.parametrize("name", FOLDERS)
def test_siblings_are_pinned_to_the_own_version(name):
    project = settings(name)["project"]
    siblings = [need for need in project["dependencies"] if need.startswith("msadapter")]
    assert all(need.endswith(f"=={project['version']}") for need in siblings), siblings
    assert {need.split("==")[0] for need in siblings} <= set(FOLDERS) - {name}


def test_meta_package_brings_all_five_and_nothing_else():
    needs = settings("msadapter")["project"]["dependencies"]
    assert sorted(need.split("==")[0] for need in needs) == sorted(f"msadapter-{name}" for name in PACKAGES)


def test_tested_mindspore_is_the_pinned_one():
    from msadapter import _requirements

    assert (
        f"mindspore{_requirements._tested_range()}" in settings("msadapter-core")["project"]["dependencies"]
    )


@pytest.mark.parametrize("name", [f"msadapter-{name}" for name in PACKAGES])
def test_packages_have_one_shape(name):
    folder = FOLDERS[name]
    there = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    assert there == {"pyproject.toml", "README.md", "LICENSE", "src", "tests"}
    assert [path.name for path in (folder / "src").iterdir() if path.is_dir()] == ["msadapter"]
    assert list((folder / "tests").glob("test_*.py")), "a package without tests"
    assert any(file.endswith("py.typed") for file in sources(name))
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "tests" in settings(name)["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]


def test_no_file_is_shipped_twice():
    owners = collections.defaultdict(list)
    for name in FOLDERS:
        if name != "msadapter":
            for file in sources(name):
                owners[file].append(name)
    assert {file: names for file, names in owners.items() if len(names) > 1} == {}


def test_every_missing_part_names_the_distribution_that_ships_it():
    from msadapter import _parts

    for module, distribution in _parts.DISTRIBUTIONS.items():
        assert module.replace(".", "/") + "/__init__.py" in sources(distribution), module


@pytest.mark.parametrize("name", [f"msadapter-{name}" for name in PACKAGES])
def test_every_folder_of_modules_is_a_package(name):
    """A folder without __init__.py would work from source and be easy to forget; only core's are shared."""
    files = [pathlib.PurePosixPath(file) for file in sources(name) if file.endswith(".py")]
    folders = {str(folder) for file in files for folder in file.parents} - {"."}
    shipped = sources(name) | sources("msadapter-core")
    assert [folder for folder in sorted(folders) if f"{folder}/__init__.py" not in shipped] == []


@pytest.mark.parametrize("name", [f"msadapter-{name}" for name in PACKAGES])
def test_imports_of_third_parties_are_declared(name):
    """A module that only happens to come with something else is missing one day."""
    provides = {"PIL": "pillow", "msadapter": None}
    needs = {re.split(r"[<>=]", need)[0] for need in _needs_with_siblings(name)}
    used = set()
    for file in sources(name):
        if file.endswith(".py"):
            used |= _top_level_imports(FOLDERS[name] / "src" / file)
    missing = {module for module in used if provides.get(module, module) not in (needs | {None})}
    assert missing == set()


def _needs_with_siblings(name):
    needs = settings(name)["project"]["dependencies"]
    siblings = [need.split("==")[0] for need in needs if need.startswith("msadapter-")]
    return [*needs, *(need for sibling in siblings for need in _needs_with_siblings(sibling))]


def _top_level_imports(path):
    """Modules outside the standard library that importing the file imports, not counting try."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names)


def test_lint_tools_have_one_version():
    (ruff,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["lint"]
    assert ruff in (ROOT / ".pre-commit-config.yaml").read_text()
