"""Run the conformance suites and compare what fails with the stored list of known failures.

    python run.py [--impl msadapter.pytorch] [--suites ops,modules] [--only REGEX] [--update [--allow-growth]]

A check is `suite/case/phase`, for example `ops/copysign[float32#2]/grad`. A check that fails and is not in
known_failures.txt fails the run; so does a listed check that passes, or one that no longer exists.
"""

import argparse
import concurrent.futures
import gzip
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KNOWN = HERE / "known_failures.txt"
API_SUITES = ("ops", "modules", "optim", "sched")
SUITES = (*API_SUITES, "semantics", "scripts")
SEMANTICS_SECONDS = 600
SHOWN = 40


class CannotRun(Exception):
    """A suite gave no result at all: its tool stopped, or the implementation does not import."""


def api_checks(suites, only):
    """The checks of the recorded PyTorch samples, in the order of the case files."""
    spec = importlib.util.spec_from_file_location("conformance_api_replay", HERE / "api" / "replay.py")
    replay = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(replay)
    checks = []
    for path in sorted((HERE / "api" / "public").glob("*.json.gz")):
        suite = path.name.split("-")[0]
        if suite not in suites:
            continue
        phases_of, _ = replay.SU[suite]
        for case in json.loads(gzip.decompress(path.read_bytes()))["cases"]:
            if re.search(only, case["full"]):
                checks += [f"{suite}/{case['id']}/{phase}" for phase in phases_of(case)]
    return checks


def semantics_names(only):
    return [n for n in json.loads((HERE / "semantics" / "oracle.json").read_text()) if re.search(only, n)]


def script_names(only):
    paths = sorted((HERE / "scripts" / "cases").glob("*.py"))
    return [path.stem for path in paths if re.search(only, path.stem)]


def all_checks(suites=SUITES, only=""):
    """The ids of every check, whether it passes or not."""
    checks = api_checks(suites, only)
    if "semantics" in suites:
        checks += [f"semantics/{name}/result" for name in semantics_names(only)]
    if "scripts" in suites:
        checks += [f"scripts/{name}/output" for name in script_names(only)]
    return checks


def run_api(args, suites):
    """Failing checks of the recorded samples, as {check: reason}."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        command = [sys.executable, str(HERE / "api" / "replay.py"), "--impl", args.impl]
        command += ["--suite", ",".join(suites), "--jobs", str(args.jobs), "--json", str(report)]
        if args.impl != "torch":
            command += ["--shim", str(HERE / "shim_sync.py")]
        if args.only:
            command += ["--only", args.only]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)  # progress lines go to stderr
        if done.returncode:
            raise CannotRun(f"api/replay.py exited {done.returncode}: {done.stdout.strip()[-2000:]}")
        failures = json.loads(report.read_text())["failures"]
    return {f"{f['suite']}/{f['id']}/{f['phase']}": f["reason"] for f in failures}


def run_semantics(args):
    """Failing autograd and view scenarios, as {check: reason}."""
    names = semantics_names(args.only)
    command = [sys.executable, "-W", "ignore", str(HERE / "semantics" / "scenarios.py"), "--impl", args.impl]
    command += ["--only", *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SEMANTICS_SECONDS)
    except subprocess.TimeoutExpired:
        raise CannotRun(f"semantics/scenarios.py gave no answer in {SEMANTICS_SECONDS} s") from None
    blocks = re.split(r"^FAIL (\w+) *$", done.stdout, flags=re.M)
    failures = {
        f"semantics/{name}/result": " ".join(detail.split()[:60])
        for name, detail in zip(blocks[1::2], blocks[2::2], strict=True)
    }
    if f"{len(names) - len(failures)} passed, {len(failures)} failed" not in done.stdout:
        raise CannotRun(f"semantics/scenarios.py exited {done.returncode}: {done.stderr.strip()[-2000:]}")
    return failures


def run_scripts(args):
    """Failing user scripts, as {check: reason}."""
    names = script_names(args.only)
    command = [sys.executable, str(HERE / "scripts" / "replay.py"), "--impl", args.impl, "--only", *names]
    done = subprocess.run(command, capture_output=True, text=True)
    results = re.findall(r"^(ok  |FAIL) (\w+) ?(.*)$", done.stdout, flags=re.M)
    if sorted(name for _, name, _ in results) != sorted(names):
        raise CannotRun(f"scripts/replay.py exited {done.returncode}: {done.stderr.strip()[-2000:]}")
    return {f"scripts/{name}/output": reason for verdict, name, reason in results if verdict == "FAIL"}


def run(args):
    """Run the suites asked for and return {check: reason} of those that fail."""
    failing = {}
    api = [suite for suite in API_SUITES if suite in args.suites]
    if api and api_checks(api, args.only):
        failing |= run_api(args, api)
    rest = []
    if "semantics" in args.suites and semantics_names(args.only):
        rest.append(run_semantics)
    if "scripts" in args.suites and script_names(args.only):
        rest.append(run_scripts)
    # After the recorded samples, which already keep every core busy: a slow answer there counts as a failure.
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        print(f"... {len(rest)} more suites", file=sys.stderr, flush=True)
        for failures in pool.map(lambda suite: suite(args), rest):
            failing |= failures
    return failing


def read_known(path=KNOWN):
    lines = path.read_text().splitlines() if path.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


def write_known(checks, path=KNOWN):
    header = "# Checks that fail today, sorted. Lines only leave this file: see README.md beside it.\n"
    path.write_text(header + "".join(f"{check}\n" for check in sorted(checks)))


def judge(ran, failing, known, everything):
    """Sort the difference between a run and the list into what each line of it means.

    Args:
        ran: ids of the checks that ran.
        failing: those of them that failed.
        known: ids in the list.
        everything: ids of all checks that exist.

    Returns:
        (new, cured, gone): failing but not listed; listed but passing; listed but no longer a check.
    """
    return set(failing) - known, (known & set(ran)) - set(failing), known - set(everything)


def updated(known, new, cured, gone, allow_growth):
    """The list after `--update`: lines leave it; lines join it only when growth is allowed."""
    return (known - cured - gone) | (new if allow_growth else set())


def show(title, checks, reasons):
    if not checks:
        return
    print(f"\n{title}: {len(checks)}")
    for check in sorted(checks)[:SHOWN]:
        print(f"  {check}  {reasons.get(check, '')[:160]}")
    if len(checks) > SHOWN:
        print(f"  ... and {len(checks) - SHOWN} more")


def parse(argv):
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("--impl", default="msadapter.pytorch")
    parser.add_argument("--suites", default=",".join(SUITES), help="comma-separated; default: %(default)s")
    parser.add_argument("--only", default="", metavar="REGEX", help="operators, modules, scenarios, scripts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--known", type=pathlib.Path, default=KNOWN, help="another list of known failures")
    parser.add_argument("--update", action="store_true", help="take the lines that pass now off the list")
    parser.add_argument("--allow-growth", action="store_true", help="with --update: also add new failures")
    parser.add_argument("--json", type=pathlib.Path, help="write {check: reason} of everything that fails")
    args = parser.parse_args(argv)
    args.suites = args.suites.split(",")
    unknown = set(args.suites) - set(SUITES)
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))} (there are: {', '.join(SUITES)})")
    if args.allow_growth and not args.update:
        parser.error("--allow-growth does nothing without --update")
    return args


def main(argv=None):
    args = parse(argv)
    ran = all_checks(args.suites, args.only)
    if not ran:
        print(f"no check matches --suites {','.join(args.suites)} --only {args.only!r}", file=sys.stderr)
        return 2
    try:
        failing = run(args)
    except CannotRun as error:
        print(f"conformance could not run: {error}", file=sys.stderr)
        return 2
    known = set() if args.impl == "torch" else read_known(args.known)
    new, cured, gone = judge(ran, failing, known, all_checks())
    if args.json:
        args.json.write_text(json.dumps(failing, indent=1, sort_keys=True))
    for suite in args.suites:
        total = sum(check.startswith(suite + "/") for check in ran)
        failed = sum(check.startswith(suite + "/") for check in failing)
        if total:
            print(f"{suite:10} {total - failed:6} of {total:6} checks pass")
    show("Failing and not listed", new, failing)
    show("Listed, but passing: run again with --update", cured, {})
    show("Listed, but no longer a check", gone, {})
    passed, listed = len(ran) - len(failing), len(failing) - len(new)
    print(f"\n{passed} passed, {listed} known failures, {len(new)} new failures")
    if args.update:
        write_known(updated(known, new, cured, gone, args.allow_growth), args.known)
        return 1 if new and not args.allow_growth else 0
    return 1 if new or cured or gone else 0


if __name__ == "__main__":
    sys.exit(main())
