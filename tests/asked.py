"""Options of a test run, read from environment variables.

`THOROUGH=1` runs everything, as the nightly run does; without it, the tests try one case of many kinds only once.
"""

import os

THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")
UNTIL = "PYTEST_QUICK_UNTIL"  # the variable with the time after which no test starts
