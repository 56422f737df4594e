"""The Markdown pages: links lead somewhere, both languages keep step, Python blocks run."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGES = sorted(
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "packages/*/*.md",
        "benchmarks/*.md",
        "examples/**/*.md",
        "tests/**/*.md",
    )
    for path in ROOT.glob(pattern)
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def names(paths):
    return [path.relative_to(ROOT).as_posix() for path in paths]


def blocks(path):
    return BLOCK.findall(path.read_text(encoding="utf-8"))


def prose(path):
    return BLOCK.sub("", path.read_text(encoding="utf-8"))


TRANSLATED = [page for page in PAGES if page.name.endswith(".zh.md")]
WITH_PYTHON = [
    page for page in PAGES if page not in TRANSLATED and any(lang == "python" for lang, _ in blocks(page))
]


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose(page))
    local = [link for link in links if not re.match(r"\w+:", link)]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", TRANSLATED, ids=names(TRANSLATED))
def test_translation_keeps_step(page):
    original = page.with_name(page.name.replace(".zh.md", ".md"))
    levels = [re.findall(r"^(#+) ", prose(side), flags=re.M) for side in (original, page)]
    assert levels[0] == levels[1]
    assert blocks(original) == blocks(page)


def test_first_page_exists_in_both_languages():
    assert ROOT / "README.zh.md" in TRANSLATED


@pytest.mark.parametrize("page", WITH_PYTHON, ids=names(WITH_PYTHON))
def test_python_blocks_run(page, tmp_path):
    for language, code in blocks(page):
        if language == "python":
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
            assert done.returncode == 0, f"{code}\n{done.stderr}"
