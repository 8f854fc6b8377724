"""Match submitted files to students of the roster by number, user name, e-mail address or name, without guessing."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.lms.filenames import CANVAS, SentFile
from autograder.nbgrader_plugin.gradebook_scores import Person
from autograder.nbgrader_plugin.kept_roster_columns import IDENTIFIER, Columns

# Letters that Unicode does not decompose into a plain letter and an accent.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)
# Combining classes from here on are accents, which names may omit; a sign of a lower class makes it another word.
_ACCENT = 200
_NO_NUMBERS = "Put the system's own numbers into the roster (column `lms_user_id`), and run this again."
_NO_PARTICIPANTS = f"give the roster a column `{IDENTIFIER}` with Moodle's numbers of the participants."
_BY_HAND = "Put the file into the right student's folder by hand"


@dataclass(frozen=True)
class Match:
    """The id of the student who sent a file, or "" and the reason why no student matches."""

    student: str
    reason: str = ""
    by_number: bool = False


def match_students(files: Sequence[SentFile], people: Sequence[Person], columns: Columns) -> dict[SentFile, Match]:
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

    def __init__(self, people: Sequence[Person], columns: Columns) -> None:
        self.people = {person.id: person for person in people}
        self.users: dict[str, set[str]] = defaultdict(set)
        self.participants: dict[str, set[str]] = defaultdict(set)
        self.names: dict[str, set[str]] = defaultdict(set)
        for person in people:
            self.users[person.lms_user_id].add(person.id)
            self.participants[_digits(columns.get(person.id, {}).get(IDENTIFIER, ""))].add(person.id)
            for key in _keys_of(person):
                self.names[key].add(person.id)

    def with_number(self, file: SentFile) -> set[str]:
        """Return the ids of the students with a file's number.

        Moodle's number of a participant differs from its number of the user, so each has an index.
        """
        return (self.users if file.system == CANVAS else self.participants).get(file.number, set())

    def who(self, file: SentFile, knows_numbers: bool) -> Match:
        found = self.with_number(file)
        if len(found) == 1:
            return Match(min(found), by_number=True)
        if found:
            return Match("", f"the roster has the number {file.number} for {_listed(found)}. Correct it.")
        if file.is_anonymous:
            return Match("", "the assignment is anonymous in Canvas. Take that off there, and download again.")
        named = set().union(*(self.names.get(key, set()) for key in _keys(file.sender)))
        return self._by_name(file, named, knows_numbers and file.system == CANVAS)

    def _by_name(self, file: SentFile, named: set[str], knows_numbers: bool) -> Match:
        others = {each for each in named if knows_numbers and self.people[each].lms_user_id}
        left = named - others
        if len(left) == 1:
            return Match(min(left))
        if left:
            return Match("", f"{_listed(left)} have one name. {_advice(file)}")
        if others:
            theirs = _listed(self.people[each].lms_user_id for each in others)
            return Match("", f"{_listed(others)} has the number {theirs} in the roster, the sender {file.number}.")
        return Match("", f"no student of the roster has this name or number. {_BY_HAND}, or correct the roster.")


def _without_doubles(found: Mapping[SentFile, Match]) -> dict[SentFile, Match]:
    """Withdraw the matches by name in which senders with different numbers match the same student."""
    numbers: dict[str, set[str]] = defaultdict(set)
    for file, each in found.items():
        numbers[each.student].add(file.number)
    checked = dict(found)
    for file, each in found.items():
        if each.student and not each.by_number and len(numbers[each.student]) > 1:
            reason = f"senders of the numbers {_listed(numbers[each.student])} have the name of {each.student}"
            checked[file] = Match("", f"{reason}. {_advice(file)}")
    return checked


def _advice(file: SentFile) -> str:
    """Return the advice for a teacher where a name is not enough."""
    return _NO_NUMBERS if file.system == CANVAS else f"{_BY_HAND}, or {_NO_PARTICIPANTS}"


# --- keys of names: accents, capitals and the order of words do not matter


def _keys_of(person: Person) -> set[str]:
    names = [f"{person.first_name} {person.last_name}", f"{person.last_name} {person.first_name}"]
    exact = (f"={each.casefold()}" for each in (person.id, person.email) if each)
    return {*exact, *(key for name in names for key in _of_name(name))}


def _keys(sender: str) -> set[str]:
    return {*_of_name(sender), f"={sender.casefold()}"} if sender else set()


def _of_name(name: str) -> Iterator[str]:
    """Yield the keys of a name: all letters as one word, as Canvas writes it, and the words in alphabetical order."""
    words = "".join(each if _is_letter(each) else " " for each in _unaccented(name)).split()
    joined = "".join(each for each in _unaccented(name) if _is_letter(each))
    if joined:
        yield joined
        yield f" {' '.join(sorted(words))}"


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
