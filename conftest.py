"""Settings for every test of the repository."""

import os

DEVICE_TARGET = os.environ.get("MSADAPTER_DEVICE_TARGET")


def pytest_configure():
    if DEVICE_TARGET:
        import mindspore

        mindspore.set_device(DEVICE_TARGET)


def pytest_report_header():
    return f"MindSpore device target: {DEVICE_TARGET or 'CPU, its default without an NPU'}"
