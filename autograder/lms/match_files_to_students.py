"""Match submitted files to students of the roster by number, user name, e-mail address or name, without guessing.

A file that bears the name of a group of the roster is the file of each of its members.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.lms.parse_submission_filenames import BRIGHTSPACE, CANVAS, MOODLE, ParsedSubmissionFilename
from autograder.nbgrader_plugin.gradebook_scores import GradebookStudent
from autograder.nbgrader_plugin.kept_roster_columns import (
    CANVAS_NUMBER,
    IDENTIFIER,
    Columns,
    groups_of_student,
    lms_student_number,
)

# Letters that Unicode does not decompose into a plain letter and an accent.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)
# Combining classes from here on are accents, which names may omit; a sign of a lower class makes it another word.
_ACCENT = 200
_NO_NUMBERS = "Put the system's own numbers into the roster (column `lms_user_id`), and run this again."
_NO_PARTICIPANTS = f"give the roster a column `{IDENTIFIER}` with Moodle's numbers of the participants."
_BY_HAND = "Put the file into the right student's folder by hand"
_GROUPS = "Read the groups as they are now, then collect again."


@dataclass(frozen=True)
class StudentMatch:
    """The id of the student who sent a file, or a group and its members, or else the reason why nobody matches.

    `note` says where the file's number and name are those of two students.
    """

    student: str
    reason: str = ""
    by_number: bool = False
    group: str = ""
    members: tuple[str, ...] = ()
    note: str = ""

    @property
    def students(self) -> tuple[str, ...]:
        """The ids of all students whom the file counts for."""
        return self.members or ((self.student,) if self.student else ())


def match_each_file(
    files: Sequence[ParsedSubmissionFilename], people: Sequence[GradebookStudent], columns: Columns
) -> dict[ParsedSubmissionFilename, StudentMatch]:
    """Return the match of each file.

    A number of the roster decides. Without one the name does, unless it fits several students, or senders with
    different numbers fit the same student: then nobody matches. As soon as one number in the roster is known to be
    the system's, a student whose number differs from the sender's does not match by name either.
    """
    known = _Known(people, columns)
    knows_numbers = any(known.with_number(file) for file in files)
    return _without_doubles({file: known.who(file, knows_numbers) for file in files})


class _Known:
    """The students of the roster, indexed by everything that a file's name may contain."""

    def __init__(self, people: Sequence[GradebookStudent], columns: Columns) -> None:
        self.people = {person.id: person for person in people}
        self.numbers: dict[str, str] = {}
        self.groups: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # key > group > members
        self.users: dict[str, set[str]] = defaultdict(set)
        self.participants: dict[str, set[str]] = defaultdict(set)
        self.names: dict[str, set[str]] = defaultdict(set)
        for person in people:
            own = columns.get(person.id, {})
            self.numbers[person.id] = lms_student_number(CANVAS_NUMBER, own, person.lms_user_id)
            self.users[self.numbers[person.id]].add(person.id)
            self.participants[_digits(own.get(IDENTIFIER, ""))].add(person.id)
            for group in groups_of_student(own):
                for key in _of_name(group):
                    self.groups[key][group].add(person.id)
            for key in _keys_of(person):
                self.names[key].add(person.id)

    def with_number(self, file: ParsedSubmissionFilename) -> set[str]:
        """Return the ids of the students with a file's number.

        Moodle's number of a participant differs from its number of the user, so each has an index; rosters do not have
        Brightspace's.
        """
        index = {CANVAS: self.users, MOODLE: self.participants}.get(file.system, {})
        return index.get(file.number, set()) if file.number else set()

    def who(self, file: ParsedSubmissionFilename, knows_numbers: bool) -> StudentMatch:
        found, named = self.with_number(file), self._named(file)
        if not named and (groups := self._groups(file)):
            return self._of_group(file, groups, found)
        if len(found) == 1:
            return StudentMatch(min(found), by_number=True, note=self._disagreement(file, min(found), named))
        if found:
            return StudentMatch("", f"the roster has the number {file.number} for {_listed(found)}. Correct it.")
        if file.is_anonymous:
            return StudentMatch("", "the assignment is anonymous in Canvas. Take that off there, and download again.")
        return self._by_name(file, named, knows_numbers and file.system == CANVAS)

    def _named(self, file: ParsedSubmissionFilename) -> set[str]:
        return set().union(*(self.names.get(key, set()) for key in _keys(file.sender)))

    def _groups(self, file: ParsedSubmissionFilename) -> dict[str, set[str]]:
        """Return the groups of the roster that have the sender's name, with their members."""
        return {group: who for key in _of_name(file.sender) for group, who in self.groups.get(key, {}).items()}

    def _of_group(
        self, file: ParsedSubmissionFilename, groups: Mapping[str, set[str]], numbered: set[str]
    ) -> StudentMatch:
        """Return the match of a file with a group's name, whose number in Canvas is that of one member."""
        if len(groups) > 1:
            return StudentMatch("", f"the groups {_listed(groups)} have one name. {_BY_HAND}.")
        ((group, members),) = groups.items()
        if file.system == CANVAS and numbered and not numbered <= members:
            return StudentMatch(
                "", f"the number {file.number} is that of {_listed(numbered)}, who is not in {group}. {_GROUPS}"
            )
        return StudentMatch("", group=group, members=tuple(sorted(members)))

    def _disagreement(self, file: ParsedSubmissionFilename, numbered: str, named: set[str]) -> str:
        """Return a sentence if the number is one student's and the name another's, or in Canvas nobody's; else ""."""
        person, told = self.people[numbered], f"the number is that of {numbered}, so it counts for {numbered};"
        sender, parts = _joined(file.sender), map(_joined, f"{person.first_name} {person.last_name}".split())
        known = [part for part in parts if part]
        if numbered in named or not sender or not known or any(part in sender for part in known if len(part) > 1):
            return ""
        if named:
            return f"{told} the name is that of {_listed(named)}."
        is_nobodys = f"{told} the name is another. If it is a group's, read the groups, then collect again."
        return is_nobodys if file.system == CANVAS else ""  # in Moodle it may be the word for an unknown participant

    def _by_name(self, file: ParsedSubmissionFilename, named: set[str], knows_numbers: bool) -> StudentMatch:
        others = {each for each in named if knows_numbers and self.numbers[each]}
        left = named - others
        if len(left) == 1:
            return StudentMatch(min(left))
        if left:
            return StudentMatch("", f"{_listed(left)} have one name. {_advice(file)}")
        if others:
            theirs = _listed(self.numbers[each] for each in others)
            return StudentMatch(
                "", f"{_listed(others)} has the number {theirs} in the roster, the sender {file.number}."
            )
        return StudentMatch("", f"no student of the roster has this name or number. {_BY_HAND}, or correct the roster.")


def _without_doubles(
    found: Mapping[ParsedSubmissionFilename, StudentMatch],
) -> dict[ParsedSubmissionFilename, StudentMatch]:
    """Withdraw the matches by name, or by group, in which senders with different numbers match the same student."""
    numbers: dict[str, set[str]] = defaultdict(set)
    for file, each in found.items():
        for student in each.students:
            numbers[student].add(file.number)
    checked = dict(found)
    for file, each in found.items():
        twice = [student for student in each.students if not each.by_number and len(numbers[student]) > 1]
        if twice:
            reason = f"senders of the numbers {_listed(numbers[twice[0]])} have the name of {twice[0]}"
            if each.group:
                reason = f"{_listed(twice)} of the group {each.group} sent something else, too"
            checked[file] = StudentMatch("", f"{reason}. {_advice(file)}")
    return checked


def _advice(file: ParsedSubmissionFilename) -> str:
    """Return the advice for a teacher where a name is not enough."""
    if file.system == BRIGHTSPACE:
        return f"{_BY_HAND}."
    return _NO_NUMBERS if file.system == CANVAS else f"{_BY_HAND}, or {_NO_PARTICIPANTS}"


# --- keys of names: accents, capitals and the order of words do not matter


def _keys_of(person: GradebookStudent) -> set[str]:
    names = [f"{person.first_name} {person.last_name}", f"{person.last_name} {person.first_name}"]
    exact = (f"={each.casefold()}" for each in (person.id, person.email) if each)
    return {*exact, *(key for name in names for key in _of_name(name))}


def _keys(sender: str) -> set[str]:
    return {*_of_name(sender), f"={sender.casefold()}"} if sender else set()


def _of_name(name: str) -> Iterator[str]:
    """Yield the keys of a name: all letters as one word, as Canvas writes it, and the words in alphabetical order."""
    words = "".join(each if _is_letter(each) else " " for each in _unaccented(name)).split()
    if joined := _joined(name):
        yield joined
        yield f" {' '.join(sorted(words))}"


def _joined(name: str) -> str:
    return "".join(each for each in _unaccented(name) if _is_letter(each))


def _unaccented(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.casefold()).translate(_PLAIN)
    return "".join(each for each in apart if unicodedata.combining(each) < _ACCENT)


def _is_letter(each: str) -> bool:
    return each.isalnum() or unicodedata.category(each).startswith("M")


def _digits(text: str) -> str:
    """Return the digits of a text, such as 1234 of `Participant 1234`."""
    return "".join(each for each in text if each in "0123456789")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
