"""`python -m msadapter`: the same as the command `msadapter`."""

import sys

from msadapter.tools.cli import main

sys.exit(main())
