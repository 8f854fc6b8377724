"""Collect the submissions in a zip from Canvas, Moodle or Brightspace into the students' folders under `submitted/`.

The result lists every file that is not placed, with the reason, so that no submission is lost unnoticed. A file of a
group is placed for each of its members.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from autograder.course.course_location import require_assignment
from autograder.errors import CourseError, WorkFailed
from autograder.lms import match_files_to_students, parse_submission_filenames, text_entry_instead_of_notebook
from autograder.lms.collection_result import CollectionResult, CollectOptions, SubmittedZipEntry
from autograder.lms.fill_student_folders import StudentFolderFiller
from autograder.lms.parse_submission_filenames import BRIGHTSPACE, BRIGHTSPACE_INDEX_FILE, ParsedSubmissionFilename
from autograder.lms.untrusted_zip import BadEntry, BadZip, UntrustedZip, ZipEntry, local_to_utc, open_untrusted_zip
from autograder.nbgrader_plugin.roster_import import Roster
from autograder.submission.extract_submitted_cells import MAX_BYTES_WITH_OUTPUTS

_PLAIN = CollectOptions()
_SPARE = 50 * 2**20  # bytes of the disk that a collection leaves free
_NEITHER = (
    "expected a name such as Canvas's lovelaceada_41_507_hw.ipynb, Moodle's Ada Lovelace_101_assignsubmission_file/"
    "hw.ipynb or Brightspace's 123-45 - Ada Lovelace - Nov 20, 2026 1015 PM/hw.ipynb. "
    "Put the file into the right student's folder by hand."
)


def import_submissions(
    course: Path, stem: str, path: Path, roster: Roster, wanted: CollectOptions = _PLAIN
) -> CollectionResult:
    """Put the files of the zip at `path` where grading looks for them; with `wanted.is_dry`, only report.

    Raises CourseError, before it changes anything, if the course has no chapter or assignment `stem`, the roster is
    empty, or the zip is damaged or suspicious.
    """
    _check(course, stem, roster)
    with open_untrusted_zip(path) as download:
        entries = download.entries()
        if not entries:
            raise BadZip(f"{path} holds no file. Nothing was changed. Has anybody handed in, and is it the right zip?")
        done = CollectionResult(len(entries))
        sent = _sent(entries, download, roster, wanted, done)
        folders = StudentFolderFiller(course, stem, download, wanted, done)
        found = {who: _notebooks(who, sent[who], download, done) for who in sorted(sent)}
        notebooks = {who: _newest(files, folders.released, done) for who, files in found.items() if files}
        others = {who: sent[who] for who in found if who not in notebooks}
        _check_room(course, {**notebooks, **others})
        for student, files in notebooks.items():
            folders.fill(student, files, _data(student, sent[student], done))
        for student, files in others.items():
            folders.place_files_without_notebook(student, files)
    absent = {person.id for person in roster.people} - set(sent)
    done.earlier = sorted(who for who in absent if (course / "submitted" / who / stem).is_dir())
    done.missing = sorted(absent - set(done.earlier))
    return done


def _check(course: Path, stem: str, roster: Roster) -> None:
    require_assignment(course, stem)
    if not roster.people:
        raise CourseError(
            "expected students in the gradebook to match the files to, found none. "
            "Run `autograder roster students.csv` first; nothing was changed."
        )


def _sent(
    entries: Iterable[ZipEntry], download: UntrustedZip, roster: Roster, wanted: CollectOptions, done: CollectionResult
) -> dict[str, list[SubmittedZipEntry]]:
    """Return each student's files; a file that matches no student goes to `done.left`."""
    files = _parsed(entries, done)
    found: dict[str, list[SubmittedZipEntry]] = defaultdict(list)
    for handed, match in match_files_to_students.match_each_file(list(files), roster.people, roster.columns).items():
        entry = files[handed]
        at = local_to_utc(handed.at, wanted.zone) if handed.at else download.changed(entry, wanted.zone)
        for student in match.students:
            found[student].append(SubmittedZipEntry(handed, entry, at))
        if match.group:
            done.groups[match.group] = match.members
        if match.note:
            done.noted.append((entry.path, match.note))
        if not match.students:
            done.left.append((entry.path, match.reason))
    return found


def _parsed(entries: Iterable[ZipEntry], done: CollectionResult) -> dict[ParsedSubmissionFilename, ZipEntry]:
    """Map the files whose names can be parsed to their entries; add others to `done.left`."""
    files: dict[ParsedSubmissionFilename, ZipEntry] = {}
    others = []
    for entry in entries:
        handed = parse_submission_filenames.parse_submission_path(entry.path)
        if handed is None:
            others.append(entry.path)
        elif handed in files:
            done.left.append((entry.path, "stands twice in the zip; the first was taken."))
        else:
            files[handed] = entry
    is_brightspace = any(handed.system == BRIGHTSPACE for handed in files)
    for path in others:
        if is_brightspace and PurePosixPath(path).name == BRIGHTSPACE_INDEX_FILE:
            done.passed.append((path, "Brightspace's own list of the files."))
        else:
            done.left.append((path, _NEITHER))
    return files


def _notebooks(
    student: str, sent: Sequence[SubmittedZipEntry], download: UntrustedZip, done: CollectionResult
) -> list[SubmittedZipEntry]:
    """Return those of a student's files that may be notebooks; if none may, add all of them to `done.left`."""
    found = [each for each in sent if parse_submission_filenames.may_be_notebook(each.handed.original)]
    if not found:
        for each in sent:
            what = _page(each, download) or "no notebook"
            done.left.append((each.entry.path, f"{student}: {what}. Ask for the .ipynb file itself."))
    return found


def _page(sent: SubmittedZipEntry, download: UntrustedZip) -> str:
    """Return what a page says in place of a notebook; "" if the file is no page, or cannot be read."""
    if text_entry_instead_of_notebook.is_text_entry_page(sent.handed.original):
        with suppress(BadEntry):
            return text_entry_instead_of_notebook.describe_text_entry_page(download.read(sent.entry))
    return ""


def _data(student: str, sent: Sequence[SubmittedZipEntry], done: CollectionResult) -> list[SubmittedZipEntry]:
    """Return the data files that a student's notebook may open; add all other files to `done.passed`."""
    others = [each for each in sent if not parse_submission_filenames.may_be_notebook(each.handed.original)]
    data = [each for each in others if parse_submission_filenames.may_be_data(each.handed.original)]
    done.passed += ((each.entry.path, f"{student}: neither notebook nor data.") for each in others if each not in data)
    return data


def _newest(
    sent: Sequence[SubmittedZipEntry], released: Collection[str], done: CollectionResult
) -> list[SubmittedZipEntry]:
    """Return the newest of the files that are attempts at the same notebook; add the older ones to `done.passed`."""
    newest: dict[str, SubmittedZipEntry] = {}
    for each in sorted(sent, key=lambda each: each.rank):
        kind = parse_submission_filenames.name_without_copy_marks(each.handed.original, released)
        if kind in newest:
            done.passed.append((newest[kind].entry.path, f"an older attempt; {each.handed.original} counts."))
        newest[kind] = each
    return list(newest.values())


def _check_room(course: Path, sent: Mapping[str, Sequence[SubmittedZipEntry]]) -> None:
    """Raise WorkFailed if the disk has no room for the files that are small enough to be unpacked."""
    sizes = (each.entry.size for files in sent.values() for each in files)
    needed, free = sum(size for size in sizes if size <= MAX_BYTES_WITH_OUTPUTS), shutil.disk_usage(course).free
    if needed + _SPARE > free:
        raise WorkFailed(
            f"the submissions need {needed >> 20} MB, and the disk with {course} has {free >> 20} MB left. "
            "Nothing was changed. Make room, then run this again."
        )
