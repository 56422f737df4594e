"""How the benchmarks time and judge: alternating rounds of the two sides, medians, a limit on the ratio or difference."""

import json
import os
import statistics
import subprocess
import sys
import time

MISSED = []


def alternate(first, second, rounds=40, calls=50):
    """Median microseconds per call of two functions, timed in turns so that both see the same machine."""
    samples = ([], [])
    for _ in range(rounds):
        for function, times in zip((first, second), samples, strict=True):
            start = time.perf_counter()
            for _ in range(calls):
                function()
            times.append((time.perf_counter() - start) / calls * 1e6)
    return tuple(statistics.median(times) for times in samples)


def seconds(function, repeat=7, warm_up=2):
    """Median seconds of one call."""
    for _ in range(warm_up):
        function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def judge(name, value, limit, unit):
    """Print one line, and remember a missed limit for `finish`."""
    kept = value <= limit
    if not kept:
        MISSED.append(name)
    print(f"{name:<44} {value:8.2f} {unit:<10} limit {limit:g}{'' if kept else '   MISSED'}", flush=True)


def finish():
    """Leave with status 1 where a limit was missed."""
    sys.exit(f"missed: {', '.join(MISSED)}" if MISSED else 0)


def other_process(script, *args, python=None):
    """What `script` prints as JSON on its last line, run by itself: in `python`, or in this interpreter."""
    command = [python or sys.executable, script, *args]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def torch_python():
    """The interpreter that has real PyTorch, or None where TORCH_PYTHON does not name one."""
    return os.environ.get("TORCH_PYTHON")
