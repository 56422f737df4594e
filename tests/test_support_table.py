"""The support table is the records' own."""

import importlib.util
import pathlib

DOCS = pathlib.Path(__file__).parents[1] / "docs"


def test_the_page_is_what_the_records_say():
    spec = importlib.util.spec_from_file_location("write_support", DOCS / "write_support.py")
    write_support = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(write_support)
    assert (DOCS / "support.md").read_text() == write_support.page(), "run: python docs/write_support.py"
