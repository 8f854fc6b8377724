"""An nbgrader plug-in for `nbgrader collect` that copies submissions from the exchange without following links."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns

from autograder.errors import CourseNotFound, WorkFailed
from autograder.grading.assignment import released_notebook_names, released_starters
from autograder.nbgrader_plugin.copy_untrusted_folder import copy_untrusted_folder
from autograder.nbgrader_plugin.course_lock import lock_course
from autograder.submission import read_student_folder
from autograder.submission.quarantine_unsafe_files import quarantine_harmful_files
from autograder.terminal_text import replace_unprintable


class CollectWithoutSymlinks(ExchangeCollect):
    """Collects submissions from the exchange, where students can write, without following links.

    nbgrader's own class copies the target of a link with the teacher's rights.
    """

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy one submission; log an error if that fails, so that the other submissions are still collected."""
        try:
            if os.path.islink(src):
                raise OSError("a link stands in the place of the submission")
            with lock_course(Path(self.coursedir.root), f"nbgrader collect {self.coursedir.assignment_id}"):
                copy_untrusted_folder(Path(src), Path(dest), self._ignored)
                quarantine_harmful_files(Path(dest))
                self._place(Path(dest))
        except (OSError, WorkFailed, ExchangeError) as error:
            shutil.rmtree(dest, ignore_errors=True)
            self.log.error("%s was not collected: %s", replace_unprintable(src), replace_unprintable(str(error)))

    def _place(self, folder: Path) -> None:
        """Copy the notebook that counts to its released name; formgrader grades only submissions that have it."""
        stem = self.coursedir.assignment_id
        if released_notebook_names(Path(self.coursedir.root), stem):
            return
        with contextlib.suppress(CourseNotFound):  # nothing has been released: grading reports that
            read_student_folder.choose_and_place_notebook(
                folder, stem, released_starters(Path(self.coursedir.root), stem)
            )

    def _ignored(self, folder: str, names: list[str]) -> set[str]:
        """Return the names in a folder that nbgrader's settings exclude."""
        plain = [name for name in names if not os.path.islink(os.path.join(folder, name))]
        about = self.coursedir
        return set(ignore_patterns(about.ignore, about.include, about.max_file_size, self.log)(folder, plain))
