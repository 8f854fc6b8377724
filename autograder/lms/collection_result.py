"""The options and the result of a collection, and a file of it with its sender."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from autograder.lms.parse_submission_filenames import ParsedSubmissionFilename
from autograder.lms.save_collected_submission import PlacementAction
from autograder.lms.untrusted_zip import ZipEntry


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
    nobody needs: older attempts, and files beside a notebook that are neither notebook nor data; `noted` are those
    whose name and number disagree. `groups` maps the groups with a file to their members.
    """

    files: int
    outcomes: dict[PlacementAction, list[str]] = field(default_factory=lambda: {each: [] for each in PlacementAction})
    late: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    passed: list[tuple[str, str]] = field(default_factory=list)
    noted: list[tuple[str, str]] = field(default_factory=list)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SubmittedZipEntry:
    """A student's file: its parsed name, its entry in the zip, and the time of its last change, if the zip has one."""

    handed: ParsedSubmissionFilename
    entry: ZipEntry
    at: datetime | None

    @property
    def rank(self) -> tuple[int, int, int]:
        """A sort key, newest last: by upload number (Canvas), then time (elsewhere), then position in the zip."""
        return self.handed.upload, timestamp_or_zero(self.at), self.entry.place


def timestamp_or_zero(time: datetime | None) -> int:
    """Return a time as a number that rises with it; 0 if there is none."""
    return int(time.timestamp()) if time else 0
