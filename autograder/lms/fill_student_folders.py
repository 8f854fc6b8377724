"""Copy the files of an LMS zip into the students' folders under `submitted/`, with the names that grading expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from autograder.errors import CourseNotFound
from autograder.grading.assignment import released_starters
from autograder.lms import parse_submission_filenames, save_collected_submission
from autograder.lms.collection_result import CollectionResult, CollectOptions, SubmittedZipEntry, timestamp_or_zero
from autograder.lms.parse_submission_filenames import CANVAS
from autograder.lms.save_collected_submission import CollectedSubmission, PlacementAction
from autograder.lms.untrusted_zip import BadEntry, UntrustedZip, ZipEntry
from autograder.submission.choose_submitted_notebook import NBGRADER_FILES


class StudentFolderFiller:
    """Fills the students' folders of one chapter or assignment from one zip, and records the outcomes in `done`."""

    def __init__(
        self, course: Path, stem: str, download: UntrustedZip, wanted: CollectOptions, done: CollectionResult
    ) -> None:
        self.course, self.stem, self.download, self.wanted, self.done = course, stem, download, wanted, done
        self.released = _released(course, stem)
        self.starters: dict[str, str] = {}
        if len(self.released) == 1:
            with suppress(CourseNotFound):  # nothing has been released: grading reports that
                self.starters = released_starters(course, stem)

    def fill(self, student: str, sent: Sequence[SubmittedZipEntry], data: Sequence[SubmittedZipEntry] = ()) -> None:
        """Place one student's notebooks and data files; add unreadable ones, and conflicts, to `done.left`."""
        folder = self.course / "submitted" / student / self.stem
        try:
            attempt = self._attempt(sent, data)
            outcome, reason = save_collected_submission.decide_placement(folder, attempt)
            if not self.wanted.is_dry and outcome in (PlacementAction.NEW, PlacementAction.NEWER):
                save_collected_submission.write_collected_submission(folder, self.stem, attempt, self.starters)
            elif not self.wanted.is_dry and outcome is PlacementAction.SAME:
                save_collected_submission.add_absent_collection_note(folder, self.stem, attempt)
        except BadEntry as error:
            outcome, reason = PlacementAction.LEFT, str(error)
        self.done.outcomes[outcome].append(student)
        if outcome is PlacementAction.LEFT:
            self.done.left += ((each.entry.path, f"{student}: {reason}") for each in (*sent, *data))
        elif outcome is not PlacementAction.OLDER and any(each.handed.is_late for each in sent):
            self.done.late.append(student)

    def place_files_without_notebook(self, student: str, sent: Sequence[SubmittedZipEntry]) -> None:
        """Place the files of a student without a notebook in an empty folder, so that the report names them."""
        folder = self.course / "submitted" / student / self.stem
        with suppress(BadEntry):
            attempt = self._attempt((), sent)
            if (
                save_collected_submission.decide_placement(folder, attempt)[0] is PlacementAction.NEW
                and not self.wanted.is_dry
            ):
                save_collected_submission.write_collected_submission(folder, self.stem, attempt, {})

    def _attempt(self, sent: Sequence[SubmittedZipEntry], data: Sequence[SubmittedZipEntry]) -> CollectedSubmission:
        """Read the files and name them: a single notebook gets the released name (see `_named`)."""
        files = sent or data
        first, last = files[0].handed, max(files, key=lambda each: each.rank)
        latest = max((each.at for each in files if each.at), default=None)
        order = last.handed.upload if first.system == CANVAS else timestamp_or_zero(latest)
        named = (*self._beside(sent, data), *self._named(sent))
        contents = {name: self.download.read(entry) for name, entry in named}
        is_late = any(each.handed.is_late for each in files)
        return CollectedSubmission(first.system, order, contents, is_late, latest if self.wanted.with_times else None)

    def _beside(
        self, sent: Sequence[SubmittedZipEntry], data: Sequence[SubmittedZipEntry]
    ) -> Iterator[tuple[str, ZipEntry]]:
        notebooks = [each.handed.original for each in sent]
        for each in sorted(data, key=lambda each: each.rank):
            name = parse_submission_filenames.safe_name(
                parse_submission_filenames.name_without_attempt_number(each.handed.original, notebooks)
            )
            if name not in NBGRADER_FILES:  # a student must not set the time of submission
                yield name, each.entry

    def _named(self, sent: Sequence[SubmittedZipEntry]) -> Iterator[tuple[str, ZipEntry]]:
        """Yield the notebooks with the names to write them under.

        A single notebook gets the released name. Of several candidates none does: grading chooses the one that counts
        and copies it to that name.
        """
        alone = len(sent) == 1 and sent[0].handed.original.casefold().endswith(".ipynb")
        if alone and len(self.released) == 1:
            yield from ((name, sent[0].entry) for name in self.released.values())
            return
        taken = {name for name in self.released.values() if len(self.released) == 1}
        for each in sent:
            original = each.handed.original
            name = parse_submission_filenames.safe_name(
                self.released.get(parse_submission_filenames.name_without_copy_marks(original, self.released), original)
            )
            while name in taken:
                name = f"handed-in-{name}"
            taken.add(name)
            yield name, each.entry


def _released(course: Path, stem: str) -> dict[str, str]:
    """Map the case-folded name of each released notebook to its name."""
    for folder in (course / "release" / stem, course / "source" / stem):
        if names := [path.name for path in sorted(folder.glob("*.ipynb"))]:
            return {name.casefold(): name for name in names}
    return {f"{stem}.ipynb".casefold(): f"{stem}.ipynb"}
