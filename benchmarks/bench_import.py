"""Import time of msadapter.pytorch against that of mindspore, each in fresh processes, in turns."""

import statistics
import subprocess
import sys
import time

from measure import finish, judge


def import_seconds(module):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    for name in ("mindspore", "msadapter.pytorch"):
        import_seconds(name)  # the file cache is warm for both
    rounds = [(import_seconds("msadapter.pytorch"), import_seconds("mindspore")) for _ in range(5)]
    ours, native = (statistics.median(column) for column in zip(*rounds, strict=True))
    judge("import msadapter.pytorch over import mindspore", ours / native, 1.2, "times")
    finish()
