"""Options of a test run, read from environment variables.

`NIGHT=1`, which `make test-all` sets, asks for all that a test can draw and try, where by day it does some of it. What
runs at night only has the mark `night`.
"""

import os

NIGHT = os.environ.get("NIGHT", "") not in ("", "0")
