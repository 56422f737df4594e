"""The command `msadapter`."""

import argparse

from msadapter import __version__
from msadapter.tools import doctor


def main(arguments=None):
    """Run the command line (default: the process's own) and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="msadapter", description="Tools of msadapter, the PyTorch API on MindSpore."
    )
    parser.add_argument("--version", action="version", version=f"msadapter {__version__}")
    commands = parser.add_subparsers(title="commands", required=True)
    described = "print versions and devices, and check that the installation computes"
    commands.add_parser("doctor", help=described, description=described).set_defaults(run=doctor.report)
    return parser.parse_args(arguments).run()
