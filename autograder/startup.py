"""What a process of ours does before it imports anything large."""

from __future__ import annotations

import sys
from typing import Any


def spare_grammar() -> None:
    """Keep jsonschema from building a grammar of web addresses, which takes seconds and which no notebook needs.

    It builds one as soon as it is imported where `rfc3987_syntax` is installed, as it is with JupyterLab.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault("rfc3987_syntax", None)  # to Python: not to be had
