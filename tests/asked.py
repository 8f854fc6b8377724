"""What a run of the tests is asked for, in the environment.

`THOROUGH=1` asks for everything, as the nightly run does: the ordinary suite does once what it could do many times.
"""

import os

THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")
UNTIL = "PYTEST_QUICK_UNTIL"  # the variable with the time from which on no test begins
