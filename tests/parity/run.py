"""Run each script of cases/ with real PyTorch and with msadapter, side by side, and compare what they print.

    python run.py --torch-python /path/to/python/of/an/environment/with/torch [NAME ...]

The scripts are ordinary PyTorch; for msadapter only their imports are changed. Numbers may differ by 2e-3,
all other text must be equal. Unlike tests/conformance nothing is recorded: both sides run now.
"""

import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 600


def load_replay():
    path = HERE.parent / "conformance" / "scripts" / "replay.py"
    spec = importlib.util.spec_from_file_location("conformance_scripts_replay", path)
    replay = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(replay)
    return replay


def output_of(python, source, name):
    """(Did it end well, what it printed with the last line of its error)."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, name)
        script.write_text(source)
        done = subprocess.run(
            [python, "-W", "ignore", str(script)], capture_output=True, text=True, timeout=SECONDS, cwd=folder
        )
    error = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    return done.returncode == 0, done.stdout + "".join(error)


def first_difference(ours, theirs):
    for number, (left, right) in enumerate(zip(ours.splitlines(), theirs.splitlines(), strict=False), 1):
        if left != right:
            return f"line {number}\n    PyTorch    {right}\n    msadapter  {left}"
    return f"{len(theirs.splitlines())} lines from PyTorch, {len(ours.splitlines())} from msadapter"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--torch-python", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    replay = load_replay()
    cases = [path for path in sorted((HERE / "cases").glob("*.py")) if path.stem in (args.names or path.stem)]
    failed = 0
    for path in cases:
        source = path.read_text()
        torch_ended_well, theirs = output_of(args.torch_python, source, path.name)
        ended_well, ours = output_of(sys.executable, replay.rewrite(source, "msadapter.pytorch"), path.name)
        same = torch_ended_well and ended_well and replay.same(ours, theirs)
        failed += not same
        print(
            f"{'ok  ' if same else 'FAIL'} {path.stem} {'' if same else first_difference(ours, theirs)}",
            flush=True,
        )
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
