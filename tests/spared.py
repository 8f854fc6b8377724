"""Imported before what imports jsonschema, as the first plugin of pytest: `autograder.startup` says what it spares.

    python -m tests.spared ARGUMENT...

runs papermill with these arguments.
"""

from __future__ import annotations

from autograder.startup import spare_imports

spare_imports()

if __name__ == "__main__":
    from papermill.cli import papermill

    papermill()
