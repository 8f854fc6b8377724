"""Note that a check judged an older function, because the cell with the newer one ended in a SyntaxError.

After a SyntaxError nothing of a cell has run, and the kernel silently keeps the older function.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from typing import Any

from autograder.notebook.cell_bindings import cell_binds, definition_dump, fails_before_defining, may_bind_unseen
from autograder.notebook.read_saved_and_run_cells import executed_cell_texts
from autograder.notebook.referenced_names import code_object_of, undecorated


def syntax_error_cell_notes(name: str, answer: object, shell: Any) -> Iterator[str]:
    """Yield a note if the last cell that defines `name` ended in a SyntaxError, and no cell has defined it since.

    There is no note if that is uncertain: if the answer has another name, if no `def` or `class` in a cell defined it,
    or if a later cell may have bound the name invisibly.
    """
    code = code_object_of(undecorated(answer))
    if code is None or shell.user_ns.get(name) is not answer:
        return
    if definition_dump("".join(linecache.getlines(code.co_filename)), name) is None:
        return
    begins = re.compile(rf"^[ \t]*(?:async[ \t]+)?((?:def|class)[ \t]+{re.escape(name)})\b", re.MULTILINE)
    for text in reversed(executed_cell_texts(shell)):
        refused = fails_before_defining(text, name)
        if refused and (found := begins.search(text)):
            yield (
                f"The cell with `{found[1]}` that you ran last stopped with a SyntaxError, so this check judged the "
                f"older `{name}`: mend that cell and run it, then check again."
            )
            return
        if cell_binds(text, name) or (not refused and may_bind_unseen(text)):
            return
