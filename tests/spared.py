"""The first plugin of pytest: calls `block_slow_imports` before anything imports jsonschema.

    python -m tests.spared ARGUMENT...

runs papermill with these arguments.
"""

from __future__ import annotations

from autograder.faster_startup import block_slow_imports

block_slow_imports()

if __name__ == "__main__":
    from papermill.cli import papermill

    papermill()
