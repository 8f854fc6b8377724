"""Parse the file names in a zip of submissions from Canvas, Moodle or Brightspace: the sender, their number, lateness.

Canvas makes `NAME[_LATE]_USER_FILE_ORIGINAL`: the name to sort by, in small letters and without spaces and signs, its
own number of the user, and the number of the uploaded file, which rises from one upload to the next. Where students are
anonymous there is `[LATE_]anon_CODE` instead. Only the newest attempt of each student is in the zip, and a file whose
name the student used before has `-1`, `-2`, ... in it. An entry's time is that of the download. Text and links that
were entered are `NAME[_LATE]_USER_text.html` and `..._link.html`. Of a group, NAME is the group's, and USER one member.
(`add_submission`, `add_upload_submission`, `add_text_or_url`, `get_filename`, `get_user_name` in
https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb, `make_unique_filename` in
app/models/attachment.rb there; the numbers: https://github.com/instructure/canvas-lms/issues/2310)

Moodle makes a folder `NAME_PARTICIPANT_assignsubmission_file`, in older versions with `_` behind it, and in it the
student's own folders and files; without "Download submissions in folders" it makes files of that name, `_` and the
original. The participant's number belongs to the assignment alone; where marking is anonymous, NAME is the word
"Participant" in the language of the site. Text that was entered is a page in a folder ending in `_onlinetext`. Of a
team, NAME and number are the team's; who is in none sends for a "Default group" without a number. An entry's time is,
in the versions looked at, that of the download.
(`get_student_prefix`, `load_submissionplugin_filelist` in
https://github.com/moodle/moodle/blob/main/mod/assign/classes/downloader.php; times:
files/classes/local/archive_writer/zip_writer.php there)

Brightspace makes a folder `USER-FOLDER - NAME - TIME`, or files of that name, ` - ` and the original, and a page
`index.html` beside them. The time is that of handing in, as in `Nov 20, 2026 1015 PM`. Of a group, NAME is the group's.
D2L does not document the names; these are what several schools' scripts read, such as
https://github.com/OfficeCoffee/GradingFileProject/blob/main/ToDo.md

nbgrader's own `zip_collect` expects the teacher to write a regular expression for these names.
(https://github.com/jupyter/nbgrader/blob/0.8.x/nbgrader/docs/source/plugins/zipcollect-plugin.rst)
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

CANVAS, MOODLE, BRIGHTSPACE = "Canvas", "Moodle", "Brightspace"
BRIGHTSPACE_INDEX_FILE = "index.html"
_CANVAS = re.compile(
    r"(?P<sender>.*?)(?:(?:^|_)(?P<late>LATE|late))?(?:^|_)(?P<number>[0-9]+|anon_[0-9A-Za-z]+)"
    r"_(?P<file>[0-9]+)_(?P<original>.+)",
    re.DOTALL,
)
_CANVAS_TEXT = re.compile(
    r"(?P<sender>.*?)(?:(?:^|_)(?P<late>LATE|late))?(?:^|_)(?P<number>[0-9]+|anon_[0-9A-Za-z]+)"
    r"_(?P<original>(?:text|link)\.html)",
    re.DOTALL,
)
_MOODLE = re.compile(
    r"(?:.*?/)??(?P<sender>[^/]*?)(?:_(?P<number>[0-9]+))?_assignsubmission_[a-z]+(?:_/|/|_)(?P<original>.+)", re.DOTALL
)
_NO_DASH = r"(?:(?! - )[^/])"
_BRIGHTSPACE = re.compile(
    r"(?:.*?/)??(?P<number>[0-9]+)-[0-9]+ - (?P<sender>[^/]{1,200}?) - "
    rf"(?P<time>{_NO_DASH}{{1,40}}?[0-9]{{4}}{_NO_DASH}{{1,20}}?[0-9]{{2}}(?: ?[AP]M)?)(?:/| - )(?P<original>.+)",
    re.DOTALL,
)
_TIME = re.compile(r"([A-Za-z]{3})[a-z]* ([0-9]{1,2}), ([0-9]{4}) ([0-9]{1,2}):?([0-9]{2}) ?([AP]M)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_COPY = re.compile(r"^(?:copy|kopie|copie|copia) (?:of|von|de) +")
_AGAIN = re.compile(r"(?: *\([0-9]{1,3}\)|-[0-9]{1,3}| *[-_] *copy *[0-9]*)$")
_COUNTED = re.compile(r"-[0-9]{1,3}$")
_DATA = frozenset(
    (
        *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".dat", ".xlsx", ".parquet", ".gz"),
        *(".npy", ".npz", ".pt", ".pth", ".safetensors", ".png", ".jpg", ".jpeg"),
    )
)
_LONGEST = 120  # bytes of a name that `safe_name` returns, well below the 255 that file systems allow


@dataclass(frozen=True)
class ParsedSubmissionFilename:
    """A submitted file, as its name in the zip describes it.

    `path` is the path in the zip; `sender`, the name of the student or the group as the system writes it ("" if there
    is none); `number`, the system's number of the user, or Moodle's of the participant or the group ("" if there is
    none); `original`, the student's own name of the file; `upload`, Canvas's number of the uploaded file (0 elsewhere);
    `at`, the local time of handing in that Brightspace writes in English.
    """

    path: str
    system: str
    sender: str
    number: str
    original: str
    upload: int = 0
    is_late: bool = False
    at: datetime | None = None

    @property
    def is_anonymous(self) -> bool:
        """Whether Canvas hid the sender's name."""
        return self.number.startswith("anon_")


def parse_submission_path(path: str) -> ParsedSubmissionFilename | None:
    """Parse a path in the zip; return None if neither Canvas nor Moodle nor Brightspace makes such a name.

    A folder around all files, as unpacking and zipping again adds it, does not matter.
    """
    if found := _MOODLE.fullmatch(path):
        original = PurePosixPath(found["original"]).name
        return (
            ParsedSubmissionFilename(path, MOODLE, found["sender"].strip(), found["number"] or "", original)
            if original
            else None
        )
    if found := _BRIGHTSPACE.fullmatch(path):
        original, at = PurePosixPath(found["original"]).name, _time(found["time"])
        return ParsedSubmissionFilename(path, BRIGHTSPACE, found["sender"].strip(), found["number"], original, at=at)
    name = PurePosixPath(path).name
    if found := _CANVAS.fullmatch(name) or _CANVAS_TEXT.fullmatch(name):
        late, upload = bool(found["late"]), int(found.groupdict().get("file", "0")[:30])
        return ParsedSubmissionFilename(path, CANVAS, found["sender"], found["number"], found["original"], upload, late)
    return None


def _time(text: str) -> datetime | None:
    """Return the time in a name of Brightspace's, such as `Nov 20, 2026 1015 PM`; None if it is not English."""
    if (found := _TIME.fullmatch(text.strip())) and found[1].casefold() in _MONTHS:
        hour = int(found[4]) % 12 + 12 * (found[6] == "PM")
        with suppress(ValueError):
            return datetime(int(found[3]), _MONTHS.index(found[1].casefold()) + 1, int(found[2]), hour, int(found[5]))
    return None


def may_be_notebook(original: str) -> bool:
    """Whether a file of this name may hold a notebook: an `.ipynb`, a zip archive, or an exported script."""
    name = original.casefold()
    return ".ipynb" in name or name.endswith((".zip", ".py"))


def may_be_data(original: str) -> bool:
    """Whether a notebook may open a file of this name."""
    return PurePosixPath(original.casefold()).suffix in _DATA


def name_without_attempt_number(original: str, notebooks: Collection[str]) -> str:
    """Return the name by which the notebook opens this data file.

    When a student submits again, Canvas numbers all files, as in `hw-1.ipynb` and `data-1.csv`: the number is removed
    if one of the `notebooks` has the same one.
    """
    path = PurePosixPath(original)
    counts = {found[0] for name in notebooks if (found := _COUNTED.search(PurePosixPath(name).stem))}
    count = _COUNTED.search(path.stem)
    return path.stem.removesuffix(count[0]) + path.suffix if count and count[0] in counts else original


def name_without_copy_marks(original: str, given_out: Collection[str] = ()) -> str:
    """Return the case-folded name without the marks of a copy: `Copy of`, `-1`, ` (2)`, `-Copy1`.

    Files with the same result are attempts at the same notebook. The case-folded names in `given_out` (those of
    released notebooks) are never shortened, even if they end in such a mark.
    """
    stem, dot, ending = original.strip().casefold().partition(".")
    before = ""
    while stem != before and f"{stem}{dot}{ending}" not in given_out:
        before = stem
        added = _COPY if _COPY.match(stem) else _AGAIN
        stem = added.sub("", stem).strip() or before
    return f"{stem}{dot}{ending}"


def safe_name(original: str) -> str:
    """Return a safe name for a file in its student's folder.

    The result has no folder, no leading dot and no unprintable character, and at most `_LONGEST` bytes.
    """
    name = re.split(r"[/\\]", original)[-1]
    name = "".join(each if each.isprintable() else "_" for each in name.encode("utf-8", "replace").decode())
    name = name.strip().lstrip(".").strip()
    if len(name.encode()) > _LONGEST:
        stem, dot, ending = name.rpartition(".")
        ending = f"{dot}{ending}" if stem and len(ending) <= 10 else ""
        room = _LONGEST - len(ending.encode())
        name = name.encode()[:room].decode("utf-8", "ignore").rstrip() + ending
    return name or "handed-in.ipynb"
