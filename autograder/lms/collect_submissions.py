"""From a download of submissions to the students' folders: every file is accounted for, and nothing is lost."""

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
from autograder.lms.download_zip import BadEntry, BadZip, Download, ZipEntry, opened
from autograder.lms.filenames import CANVAS, SentFile
from autograder.lms.placement import Attempt, Placement
from autograder.nbgrader_plugin.roster_import import Roster
from autograder.submission.notebook_choice import NBGRADER_FILES
from autograder.submission.submitted_cells import MAX_FILE

_SPARE = 50 * 2**20  # bytes that are left free
_NEITHER = (
    "expected a name such as Canvas's lovelaceada_41_507_hw.ipynb or Moodle's Ada Lovelace_101_assignsubmission_file/"
    "hw.ipynb. Put the file into the right student's folder by hand."
)


@dataclass(frozen=True)
class Wanted:
    """What is asked of a collection: `zone` is that of the zip's clock (None: this machine's), `with_times` says that
    its times are those of handing in.
    """

    is_dry: bool = False
    with_times: bool = False
    zone: tzinfo | None = None


@dataclass
class Collected:
    """What became of a download: students by outcome, and the files that are left, each with the reason.

    `passed` are files that nobody needs: older attempts, and what was handed in beside a notebook.
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
    """A file of a student, and when the zip says that it was changed (seconds)."""

    handed: SentFile
    entry: ZipEntry
    at: datetime | None

    @property
    def rank(self) -> tuple[int, int, int]:
        """What is newer: the later upload, in Moodle's the later time, else the later place in the zip."""
        return self.handed.upload, _seconds(self.at), self.entry.place


def collect(course: Path, stem: str, path: Path, roster: Roster, wanted: Wanted = Wanted()) -> Collected:
    """Put the files of a download where grading looks for them, or with `is_dry` only say what would be done.

    Raises a CourseError, with nothing changed, where there is no such chapter, no student, or no zip to be
    trusted.
    """
    _check(course, stem, roster)
    with opened(path) as download:
        entries = download.entries()
        if not entries:
            raise BadZip(f"{path} holds no file. Nothing was changed. Has anybody handed in, and is it the right zip?")
        done = Collected(len(entries))
        sent = _sent(entries, download, roster, wanted, done)
        folders = _Folders(course, stem, download, wanted, done)
        found = {who: _notebooks(who, sent[who], done) for who in sorted(sent)}
        notebooks = {who: _newest(files, folders.released, done) for who, files in found.items() if files}
        _check_room(course, notebooks)
        for student, files in notebooks.items():
            folders.see_to(student, files, _data(student, sent[student], done))
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
            "Run `python -m autograder roster students.csv` first; nothing was changed."
        )


def _sent(
    entries: Iterable[ZipEntry], download: Download, roster: Roster, wanted: Wanted, done: Collected
) -> dict[str, list[_Sent]]:
    """The files of each student; what is nobody's is left."""
    files: dict[SentFile, ZipEntry] = {}
    for entry in entries:
        handed = filenames.read(entry.path)
        if handed is None:
            done.left.append((entry.path, _NEITHER))
        elif handed in files:
            done.left.append((entry.path, "stands twice in the zip; the first was taken."))
        else:
            files[handed] = entry
    found: dict[str, list[_Sent]] = defaultdict(list)
    for handed, match in student_matching.match(list(files), roster.people, roster.columns).items():
        entry = files[handed]
        if match.student:
            found[match.student].append(_Sent(handed, entry, download.changed(entry, wanted.zone)))
        else:
            done.left.append((entry.path, match.reason))
    return found


def _notebooks(student: str, sent: Sequence[_Sent], done: Collected) -> list[_Sent]:
    """Those of a student's files that grading would look into."""
    found = [each for each in sent if filenames.may_be_notebook(each.handed.original)]
    others = [each.entry.path for each in sent if each not in found]
    if not found:
        done.left += ((path, f"{student}: no notebook. Ask for the .ipynb file itself.") for path in others)
    return found


def _data(student: str, sent: Sequence[_Sent], done: Collected) -> list[_Sent]:
    """What a student handed in beside a notebook for it to open; the rest is passed over."""
    others = [each for each in sent if not filenames.may_be_notebook(each.handed.original)]
    data = [each for each in others if filenames.may_be_data(each.handed.original)]
    done.passed += ((each.entry.path, f"{student}: neither notebook nor data.") for each in others if each not in data)
    return data


def _newest(sent: Sequence[_Sent], released: Collection[str], done: Collected) -> list[_Sent]:
    """Of files that are attempts at one, the newest."""
    newest: dict[str, _Sent] = {}
    for each in sorted(sent, key=lambda each: each.rank):
        kind = filenames.family(each.handed.original, released)
        if kind in newest:
            done.passed.append((newest[kind].entry.path, f"an older attempt; {each.handed.original} counts."))
        newest[kind] = each
    return list(newest.values())


def _check_room(course: Path, notebooks: Mapping[str, Sequence[_Sent]]) -> None:
    """Raise WorkFailed where the disk has no room for what can be unpacked at all."""
    sizes = (each.entry.size for files in notebooks.values() for each in files)
    needed, free = sum(size for size in sizes if size <= MAX_FILE), shutil.disk_usage(course).free
    if needed + _SPARE > free:
        raise WorkFailed(
            f"the submissions need {needed >> 20} MB, and the disk with {course} has {free >> 20} MB left. "
            "Nothing was changed. Make room, then run this again."
        )


class _Folders:
    """The students' folders of one chapter, to be filled from one download."""

    def __init__(self, course: Path, stem: str, download: Download, wanted: Wanted, done: Collected) -> None:
        self.course, self.stem, self.download, self.wanted, self.done = course, stem, download, wanted, done
        self.released = _released(course, stem)
        self.starters: dict[str, str] = {}
        if len(self.released) == 1:
            with suppress(CourseNotFound):  # nothing has been released: grading will say so
                self.starters = released_starters(course, stem)

    def see_to(self, student: str, sent: Sequence[_Sent], data: Sequence[_Sent] = ()) -> None:
        """Take in one student's notebooks and `data`; what cannot be had, or must not be replaced, is left."""
        folder = self.course / "submitted" / student / self.stem
        try:
            attempt = self._attempt(sent, data)
            outcome, reason = placement.decide(folder, attempt)
            if not self.wanted.is_dry and outcome in (Placement.NEW, Placement.NEWER):
                placement.place(folder, self.stem, attempt, self.starters)
            elif not self.wanted.is_dry and outcome is Placement.SAME:
                placement.adopt(folder, self.stem, attempt)
        except BadEntry as error:
            outcome, reason = Placement.LEFT, str(error)
        self.done.outcomes[outcome].append(student)
        if outcome is Placement.LEFT:
            self.done.left += ((each.entry.path, f"{student}: {reason}") for each in (*sent, *data))
        elif outcome is not Placement.OLDER and any(each.handed.is_late for each in sent):
            self.done.late.append(student)

    def _attempt(self, sent: Sequence[_Sent], data: Sequence[_Sent]) -> Attempt:
        """The files with the names that they get: the released one where there is one notebook and nothing else."""
        first, last = sent[0].handed, max(sent, key=lambda each: each.rank)
        latest = max((each.at for each in sent if each.at), default=None)
        order = last.handed.upload if first.system == CANVAS else _seconds(latest)
        files = {name: self.download.read(entry) for name, entry in (*self._beside(sent, data), *self._named(sent))}
        is_late = any(each.handed.is_late for each in sent)
        return Attempt(first.system, order, files, is_late, latest if self.wanted.with_times else None)

    def _beside(self, sent: Sequence[_Sent], data: Sequence[_Sent]) -> Iterator[tuple[str, ZipEntry]]:
        notebooks = [each.handed.original for each in sent]
        for each in sorted(data, key=lambda each: each.rank):
            name = filenames.safe(filenames.beside(each.handed.original, notebooks))
            if name not in NBGRADER_FILES:  # a time of handing in is not the student's to say
                yield name, each.entry

    def _named(self, sent: Sequence[_Sent]) -> Iterator[tuple[str, ZipEntry]]:
        """Of several files for one notebook, none gets its name: grading copies the one that counts there."""
        alone = len(sent) == 1 and sent[0].handed.original.casefold().endswith(".ipynb")
        if alone and len(self.released) == 1:
            yield from ((name, sent[0].entry) for name in self.released.values())
            return
        taken = {name for name in self.released.values() if len(self.released) == 1}
        for each in sent:
            original = each.handed.original
            name = filenames.safe(self.released.get(filenames.family(original, self.released), original))
            while name in taken:
                name = f"handed-in-{name}"
            taken.add(name)
            yield name, each.entry


def _released(course: Path, stem: str) -> dict[str, str]:
    """The names of the notebooks that were given out, by the same in small letters."""
    for folder in (course / "release" / stem, course / "source" / stem):
        if names := [path.name for path in sorted(folder.glob("*.ipynb"))]:
            return {name.casefold(): name for name in names}
    return {f"{stem}.ipynb".casefold(): f"{stem}.ipynb"}


def _seconds(time: datetime | None) -> int:
    return int(time.timestamp()) if time else 0
