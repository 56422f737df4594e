"""The list of known conformance failures, and the rules by which a run is judged against it."""

import importlib.util
import pathlib

import pytest

HOME = pathlib.Path(__file__).parent / "conformance"
spec = importlib.util.spec_from_file_location("conformance_run", HOME / "run.py")
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)


@pytest.fixture(scope="module")
def everything():
    return run.all_checks()


def test_each_check_has_one_name(everything):
    assert len(everything) == len(set(everything))
    assert {check.split("/")[0] for check in everything} == set(run.SUITES)


def test_list_is_sorted_and_names_real_checks(everything):
    lines = [line for line in run.KNOWN.read_text().splitlines() if not line.startswith("#")]
    assert lines == sorted(set(lines))
    assert set(lines) <= set(everything)


def test_only_selects_by_name():
    assert run.all_checks(["semantics"], "^hook_leaf$") == ["semantics/hook_leaf/result"]
    assert run.all_checks(["scripts"], "gradient_pen") == ["scripts/gradient_penalty/output"]
    assert {check.split("[")[0] for check in run.all_checks(["ops"], "^copysign$")} == {"ops/copysign"}


def test_unlisted_failure_and_listed_pass_are_both_told():
    new, cured, gone = run.judge(
        ran=["ops/a/forward", "ops/b/forward", "ops/c/forward"],
        failing={"ops/a/forward": "FAIL", "ops/c/forward": "FAIL"},
        known={"ops/b/forward", "ops/c/forward", "ops/typo/forward", "scripts/x/output"},
        everything=["ops/a/forward", "ops/b/forward", "ops/c/forward", "scripts/x/output"],
    )
    assert (new, cured, gone) == ({"ops/a/forward"}, {"ops/b/forward"}, {"ops/typo/forward"})


@pytest.mark.parametrize(("growth", "kept"), [(False, {"known"}), (True, {"known", "new"})])
def test_update_adds_only_when_growth_is_allowed(growth, kept):
    assert run.updated({"known", "cured", "gone"}, {"new"}, {"cured"}, {"gone"}, growth) == kept


def test_written_list_reads_back(tmp_path):
    path = tmp_path / "known.txt"
    run.write_known({"b", "a"}, path)
    assert path.read_text().splitlines()[1:] == ["a", "b"]
    assert run.read_known(path) == {"a", "b"}
    assert run.read_known(tmp_path / "absent.txt") == set()


@pytest.mark.parametrize("argv", [["--suites", "opps"], ["--allow-growth"]])
def test_wrong_arguments_are_refused(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        run.parse(argv)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err
