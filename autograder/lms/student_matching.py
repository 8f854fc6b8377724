"""Which student of the roster sent a file: by number, by id or address, by name; nobody is guessed."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.lms.filenames import CANVAS, SentFile
from autograder.nbgrader_plugin.gradebook_scores import Person
from autograder.nbgrader_plugin.lms_columns import IDENTIFIER, Columns

# Letters that are no sum of a plain letter and an accent.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)
_ACCENT = 200  # combining classes from here on are accents; below are signs without which a word is another one
_NO_NUMBERS = "Put the system's own numbers into the roster (column `lms_user_id`), and run this again."
_NO_PARTICIPANTS = f"give the roster a column `{IDENTIFIER}` with Moodle's numbers of the participants."
_BY_HAND = "Put the file into the right student's folder by hand"


@dataclass(frozen=True)
class Match:
    """Whose file it is, or "" and the reason why nobody can say."""

    student: str
    reason: str = ""
    by_number: bool = False


def match(files: Sequence[SentFile], people: Sequence[Person], columns: Columns) -> dict[SentFile, Match]:
    """Say of each file whose it is.

    A number decides. Where names have to, one that fits several students, or senders of several numbers for one
    student, fit nobody; and so does a student whose own number is another one, as soon as any number of the roster
    is the system's.
    """
    known = _Known(people, columns)
    knows_numbers = any(known.with_number(file) for file in files)
    return _without_doubles({file: known.who(file, knows_numbers) for file in files})


class _Known:
    """The roster, by whatever a file's name may hold."""

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
        """The students of a file's number. A participant's is none of Moodle's users: another table keeps it."""
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
            return Match("", f"{_listed(left)} have one name. {_how_to_tell(file)}")
        if others:
            theirs = _listed(self.people[each].lms_user_id for each in others)
            return Match("", f"{_listed(others)} has the number {theirs} in the roster, the sender {file.number}.")
        return Match("", f"no student of the roster has this name or number. {_BY_HAND}, or correct the roster.")


def _without_doubles(found: Mapping[SentFile, Match]) -> dict[SentFile, Match]:
    """Take back what names decided where senders of several numbers would be one student."""
    numbers: dict[str, set[str]] = defaultdict(set)
    for file, each in found.items():
        numbers[each.student].add(file.number)
    told = dict(found)
    for file, each in found.items():
        if each.student and not each.by_number and len(numbers[each.student]) > 1:
            reason = f"senders of the numbers {_listed(numbers[each.student])} have the name of {each.student}"
            told[file] = Match("", f"{reason}. {_how_to_tell(file)}")
    return told


def _how_to_tell(file: SentFile) -> str:
    """What a teacher can do where a name is not enough."""
    return _NO_NUMBERS if file.system == CANVAS else f"{_BY_HAND}, or {_NO_PARTICIPANTS}"


# --- names, whatever their accents, capitals and order


def _keys_of(person: Person) -> set[str]:
    names = [f"{person.first_name} {person.last_name}", f"{person.last_name} {person.first_name}"]
    exact = (f"={each.casefold()}" for each in (person.id, person.email) if each)
    return {*exact, *(key for name in names for key in _of_name(name))}


def _keys(sender: str) -> set[str]:
    return {*_of_name(sender), f"={sender.casefold()}"} if sender else set()


def _of_name(name: str) -> Iterator[str]:
    """The name in one word, as Canvas has it, and its words in the order of letters."""
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
    """The number in `Participant 1234`."""
    return "".join(each for each in text if each in "0123456789")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
