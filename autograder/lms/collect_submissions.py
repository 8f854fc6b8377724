"""Collect the submissions in a zip from Canvas or Moodle into the students' folders under `submitted/`.

The result lists every file that is not placed, with the reason, so that no submission is lost unnoticed.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from autograder.errors import CourseError, CourseNotFound, WorkFailed
from autograder.grading.assignment import assignments_in, released_starters
from autograder.lms import filenames, placement, student_matching
from autograder.lms.download_zip import BadEntry, BadZip, Download, ZipEntry, open_download
from autograder.lms.filenames import CANVAS, SentFile
from autograder.lms.placement import Attempt, Placement
from autograder.nbgrader_plugin.roster_import import Roster
from autograder.submission.notebook_choice import NBGRADER_FILES
from autograder.submission.submitted_cells import MAX_FILE

_SPARE = 50 * 2**20  # bytes of the disk that a collection leaves free
_NEITHER = (
    "expected a name such as Canvas's lovelaceada_41_507_hw.ipynb or Moodle's Ada Lovelace_101_assignsubmission_file/"
    "hw.ipynb. Put the file into the right student's folder by hand."
)


@dataclass(frozen=True)
class CollectOptions:
    """The options of a collection.

    `is_dry` only reports what a collection would do. `with_times` takes the times in the zip as the times of
    submission. `zone` is the time zone of the times in the zip (None: this machine's).
    """

    is_dry: bool = False
    with_times: bool = False
    zone: tzinfo | None = None


@dataclass
class CollectionResult:
    """The result of a collection: the students by outcome, and the files that were not placed, with reasons.

    `files` counts the files in the zip. `late` lists students whose submission Canvas marks as late; `missing`,
    students of the roster without a submission; `earlier`, students who are not in this zip but have a folder from
    before. `left` are pairs of a path and the reason why the teacher has to place that file; `passed` are those that
    nobody needs: older attempts, and files beside a notebook that are neither notebook nor data.
    """

    files: int
    outcomes: dict[Placement, list[str]] = field(default_factory=lambda: {each: [] for each in Placement})
    late: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    passed: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Sent:
    """A student's file: its parsed name, its entry in the zip, and the time of its last change, if the zip has one."""

    handed: SentFile
    entry: ZipEntry
    at: datetime | None

    @property
    def rank(self) -> tuple[int, int, int]:
        """A sort key, newest last: by upload number (Canvas), then time (Moodle), then position in the zip."""
        return self.handed.upload, _seconds(self.at), self.entry.place


def collect(
    course: Path, stem: str, path: Path, roster: Roster, wanted: CollectOptions = CollectOptions()
) -> CollectionResult:
    """Put the files of the zip at `path` where grading looks for them; with `is_dry`, only report what would happen.

    Raises CourseError, before it changes anything, if the course has no chapter or assignment `stem`, the roster is
    empty, or the zip is damaged or suspicious.
    """
    _check(course, stem, roster)
    with open_download(path) as download:
        entries = download.entries()
        if not entries:
            raise BadZip(f"{path} holds no file. Nothing was changed. Has anybody handed in, and is it the right zip?")
        done = CollectionResult(len(entries))
        sent = _sent(entries, download, roster, wanted, done)
        folders = _Folders(course, stem, download, wanted, done)
        found = {who: _notebooks(who, sent[who], done) for who in sorted(sent)}
        notebooks = {who: _newest(files, folders.released, done) for who, files in found.items() if files}
        _check_room(course, notebooks)
        for student, files in notebooks.items():
            folders.fill(student, files, _data(student, sent[student], done))
    absent = {person.id for person in roster.people} - set(sent)
    done.earlier = sorted(who for who in absent if (course / "submitted" / who / stem).is_dir())
    done.missing = sorted(absent - set(done.earlier))
    return done


def _check(course: Path, stem: str, roster: Roster) -> None:
    known = assignments_in(course)
    if stem not in known:
        raise CourseNotFound(
            f"expected a chapter or an assignment of the course, found no {stem!r}. "
            f"There are: {', '.join(known)}. Nothing was changed."
        )
    if not roster.people:
        raise CourseError(
            "expected students in the gradebook to match the files to, found none. "
            "Run `autograder roster students.csv` first; nothing was changed."
        )


def _sent(
    entries: Iterable[ZipEntry], download: Download, roster: Roster, wanted: CollectOptions, done: CollectionResult
) -> dict[str, list[_Sent]]:
    """Return each student's files; a file that matches no student goes to `done.left`."""
    files: dict[SentFile, ZipEntry] = {}
    for entry in entries:
        handed = filenames.parse_download_path(entry.path)
        if handed is None:
            done.left.append((entry.path, _NEITHER))
        elif handed in files:
            done.left.append((entry.path, "stands twice in the zip; the first was taken."))
        else:
            files[handed] = entry
    found: dict[str, list[_Sent]] = defaultdict(list)
    for handed, match in student_matching.match_students(list(files), roster.people, roster.columns).items():
        entry = files[handed]
        if match.student:
            found[match.student].append(_Sent(handed, entry, download.changed(entry, wanted.zone)))
        else:
            done.left.append((entry.path, match.reason))
    return found


def _notebooks(student: str, sent: Sequence[_Sent], done: CollectionResult) -> list[_Sent]:
    """Return those of a student's files that may be notebooks; if none may, add all of them to `done.left`."""
    found = [each for each in sent if filenames.may_be_notebook(each.handed.original)]
    others = [each.entry.path for each in sent if each not in found]
    if not found:
        done.left += ((path, f"{student}: no notebook. Ask for the .ipynb file itself.") for path in others)
    return found


def _data(student: str, sent: Sequence[_Sent], done: CollectionResult) -> list[_Sent]:
    """Return the data files that a student's notebook may open; add all other files to `done.passed`."""
    others = [each for each in sent if not filenames.may_be_notebook(each.handed.original)]
    data = [each for each in others if filenames.may_be_data(each.handed.original)]
    done.passed += ((each.entry.path, f"{student}: neither notebook nor data.") for each in others if each not in data)
    return data


def _newest(sent: Sequence[_Sent], released: Collection[str], done: CollectionResult) -> list[_Sent]:
    """Return the newest of the files that are attempts at the same notebook; add the older ones to `done.passed`."""
    newest: dict[str, _Sent] = {}
    for each in sorted(sent, key=lambda each: each.rank):
        kind = filenames.name_without_copy_marks(each.handed.original, released)
        if kind in newest:
            done.passed.append((newest[kind].entry.path, f"an older attempt; {each.handed.original} counts."))
        newest[kind] = each
    return list(newest.values())


def _check_room(course: Path, notebooks: Mapping[str, Sequence[_Sent]]) -> None:
    """Raise WorkFailed if the disk has no room for the files that are small enough to be unpacked."""
    sizes = (each.entry.size for files in notebooks.values() for each in files)
    needed, free = sum(size for size in sizes if size <= MAX_FILE), shutil.disk_usage(course).free
    if needed + _SPARE > free:
        raise WorkFailed(
            f"the submissions need {needed >> 20} MB, and the disk with {course} has {free >> 20} MB left. "
            "Nothing was changed. Make room, then run this again."
        )


class _Folders:
    """Fills the students' folders of one chapter or assignment from one zip, and records the outcomes in `done`."""

    def __init__(
        self, course: Path, stem: str, download: Download, wanted: CollectOptions, done: CollectionResult
    ) -> None:
        self.course, self.stem, self.download, self.wanted, self.done = course, stem, download, wanted, done
        self.released = _released(course, stem)
        self.starters: dict[str, str] = {}
        if len(self.released) == 1:
            with suppress(CourseNotFound):  # nothing has been released: grading reports that
                self.starters = released_starters(course, stem)

    def fill(self, student: str, sent: Sequence[_Sent], data: Sequence[_Sent] = ()) -> None:
        """Place one student's notebooks and data files; add unreadable ones, and conflicts, to `done.left`."""
        folder = self.course / "submitted" / student / self.stem
        try:
            attempt = self._attempt(sent, data)
            outcome, reason = placement.decide_placement(folder, attempt)
            if not self.wanted.is_dry and outcome in (Placement.NEW, Placement.NEWER):
                placement.write_attempt(folder, self.stem, attempt, self.starters)
            elif not self.wanted.is_dry and outcome is Placement.SAME:
                placement.adopt_existing_files(folder, self.stem, attempt)
        except BadEntry as error:
            outcome, reason = Placement.LEFT, str(error)
        self.done.outcomes[outcome].append(student)
        if outcome is Placement.LEFT:
            self.done.left += ((each.entry.path, f"{student}: {reason}") for each in (*sent, *data))
        elif outcome is not Placement.OLDER and any(each.handed.is_late for each in sent):
            self.done.late.append(student)

    def _attempt(self, sent: Sequence[_Sent], data: Sequence[_Sent]) -> Attempt:
        """Read the files and name them: a single notebook gets the released name (see `_named`)."""
        first, last = sent[0].handed, max(sent, key=lambda each: each.rank)
        latest = max((each.at for each in sent if each.at), default=None)
        order = last.handed.upload if first.system == CANVAS else _seconds(latest)
        files = {name: self.download.read(entry) for name, entry in (*self._beside(sent, data), *self._named(sent))}
        is_late = any(each.handed.is_late for each in sent)
        return Attempt(first.system, order, files, is_late, latest if self.wanted.with_times else None)

    def _beside(self, sent: Sequence[_Sent], data: Sequence[_Sent]) -> Iterator[tuple[str, ZipEntry]]:
        notebooks = [each.handed.original for each in sent]
        for each in sorted(data, key=lambda each: each.rank):
            name = filenames.safe_name(filenames.data_file_name(each.handed.original, notebooks))
            if name not in NBGRADER_FILES:  # a student must not set the time of submission
                yield name, each.entry

    def _named(self, sent: Sequence[_Sent]) -> Iterator[tuple[str, ZipEntry]]:
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
            name = filenames.safe_name(
                self.released.get(filenames.name_without_copy_marks(original, self.released), original)
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


def _seconds(time: datetime | None) -> int:
    return int(time.timestamp()) if time else 0
