"""Matching collected files with students: by number, else by unique name, and never by a guess."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.lms.match_files_to_students import StudentMatch, match_each_file
from autograder.lms.parse_submission_filenames import ParsedSubmissionFilename, parse_submission_path
from autograder.nbgrader_plugin.gradebook_scores import GradebookStudent
from tests.made_downloads import brightspace_name, canvas_name, moodle_name

ADA = GradebookStudent("ada", "Ada", "Lovelace", "ada@example.org", "41")
JOSE = GradebookStudent("jose", "José Ángel", "Núñez Ødegård", "", "42")
CHANDRA = GradebookStudent("chandra", "चन्द्र", "रमन", "", "")


def one(path: str, *people: GradebookStudent, columns: dict[str, dict[str, str]] | None = None) -> StudentMatch:
    """Return the match of a single path."""
    return next(iter(several([path], *people, columns=columns).values()))


def several(
    paths: list[str], *people: GradebookStudent, columns: dict[str, dict[str, str]] | None = None
) -> dict[str, StudentMatch]:
    """Return the match of each path."""
    files: list[ParsedSubmissionFilename] = [found for path in paths if (found := parse_submission_path(path))]
    return {file.path: each for file, each in match_each_file(files, people, columns or {}).items()}


@pytest.mark.parametrize(
    ("path", "student"),
    [
        (canvas_name("Nobody", "Known", 41, 5), "ada"),
        (canvas_name("Lovelace", "Ada", 41, 5), "ada"),
        (canvas_name("Lovelace", "Ada", 77, 5), "ada"),  # the roster's number is of another kind than Canvas's
        (canvas_name("Núñez Ødegård", "José Ángel", 9, 5), "jose"),
        (canvas_name("Nunez Odegard", "Jose Angel", 9, 5), "jose"),
        (canvas_name("रमन", "चन्द्र", 9, 5), "chandra"),
        (moodle_name("Ada Lovelace", 101), "ada"),
        (moodle_name("LOVELACE ada", 101), "ada"),
        (moodle_name("Lovelace, Ada", 101), "ada"),
        (moodle_name("Jose Angel Nuñez Odegard", 101), "jose"),
        (moodle_name("ada@example.org", 101), "ada"),
        (moodle_name("jose", 101), "jose"),
        (moodle_name("Participant", 41), ""),  # a participant's number is no user id
        (moodle_name("Grace Hopper", 101), ""),
    ],
)
def test_who(path: str, student: str) -> None:
    """A file is matched by number, id, address, or name in any order, case and accents."""
    assert student == one(path, ADA, JOSE, CHANDRA).student


def test_number_of_another() -> None:
    """A namesake with another number is not matched."""
    paths = [canvas_name("Lovelace", "Ada", 77, 5), canvas_name("Núñez Ødegård", "José Ángel", 42, 6)]
    found = several(paths, ADA, JOSE)

    assert ["", "jose"] == [each.student for each in found.values()]
    assert "ada has the number 41 in the roster, the sender 77" in found[paths[0]].reason


def test_two_students_of_one_name() -> None:
    """Two students of one name are matched by number only, and the reason names the missing column."""
    twins = [
        GradebookStudent("ada1", "Ada", "Lovelace", "", "41"),
        GradebookStudent("ada2", "Ada", "Lovelace", "", "42"),
    ]
    plain = [GradebookStudent(each.id, each.first_name, each.last_name, "", "") for each in twins]

    assert "ada2" == one(canvas_name("Lovelace", "Ada", 42, 5), *twins).student
    named = (
        (canvas_name("Lovelace", "Ada", 42, 5), "`lms_user_id`"),
        (moodle_name("Ada Lovelace", 101), "`Identifier`"),
    )
    for path, column in named:  # the helpful column differs between the systems
        found = one(path, *plain)
        assert ("", True) == (found.student, found.reason.startswith("ada1, ada2 have one name."))
        assert column in found.reason


@pytest.mark.parametrize("name", [canvas_name, None])
def test_two_senders_of_one_name(name: object) -> None:
    """If two senders have a student's name, neither file is matched."""
    paths = (
        [canvas_name("Lovelace", "Ada", number, number) for number in (77, 78)]
        if name
        else [moodle_name("Ada Lovelace", number) for number in (101, 102)]
    )
    found = several(paths, GradebookStudent("ada", "Ada", "Lovelace", "", ""))

    assert ["", ""] == [each.student for each in found.values()]
    assert all("have the name of ada" in each.reason for each in found.values())


def test_signs_that_are_no_accents_stay() -> None:
    """Vowel signs of other scripts are kept, so that names which differ in one do not match."""
    for other in ("रमिन", "रम्न"):
        assert one(moodle_name("रमन", 1), GradebookStudent("a", "", other, "", "")).student == ""


def test_anonymous() -> None:
    """Anonymous Canvas files have a reason; Moodle participants match by the roster's numbers."""
    columns = {"ada": {"Identifier": "Participant 101"}}

    assert "anonymous in Canvas" in one("anon_aB3xY_507_hw.ipynb", ADA).reason
    assert "ada" == one(moodle_name("Participant", 101), ADA, JOSE, columns=columns).student


def test_brightspace() -> None:
    """Brightspace's numbers are not the roster's, so names decide; two senders of one name are left."""
    assert "ada" == one(brightspace_name("Ada Lovelace", 42), ADA, JOSE).student
    both = several([brightspace_name("Ada Lovelace", user) for user in (7, 8)], ADA)
    assert ["", ""] == [each.student for each in both.values()]
    again = several([brightspace_name("Ada Lovelace", 7, time=time) for time in ("905 AM", "915 AM")], ADA)
    assert ["ada", "ada"] == [each.student for each in again.values()]


def test_numbers_of_each_system() -> None:
    """The number of a student in Moodle is no number in Canvas, even where nbgrader's field has it."""
    columns = {"ada": {"ID number": "41"}, "jose": {"ID": "9", "ID number": "42"}}
    bob = GradebookStudent("bob", "Bob", "Ng", "", "")

    assert "" == one(canvas_name("Day", "Cleo", 41, 5), ADA, bob, columns=columns).student
    assert "jose" == one(canvas_name("Day", "Cleo", 9, 5), ADA, JOSE, columns=columns).student


GROUPS = {"ada": {"Groups": "Team 1"}, "jose": {"Groups": "Lab A, Team 1"}, "chandra": {"Groups": "Team 2"}}


@pytest.mark.parametrize(
    "path",
    [
        canvas_name("Team 1", "", 41, 5).replace(",", ""),
        moodle_name("Team 1", 7001),
        brightspace_name("Team 1", 17),
    ],
)
def test_a_file_of_a_group(path: str) -> None:
    """A file with a group's name counts for its members, whoever uploaded it."""
    found = one(path, ADA, JOSE, CHANDRA, columns=GROUPS)

    assert ("", "Team 1", ("ada", "jose")) == (found.student, found.group, found.students)


def test_groups_that_say_too_little() -> None:
    """A number of somebody outside the group, groups of one name, and a member's own file beside it are left."""
    columns = {**GROUPS, "bob": {"Groups": "team-1"}}
    bob = GradebookStudent("bob", "Bob", "Ng", "", "43")

    outside = one(canvas_name("Team 1", "", 43, 5).replace(",", ""), ADA, JOSE, bob, columns=GROUPS)
    assert not outside.students and "the number 43 is that of bob, who is not in Team 1" in outside.reason
    alike = one(moodle_name("Team 1", 7001), ADA, JOSE, bob, columns=columns)
    assert not alike.students and "the groups Team 1, team-1 have one name" in alike.reason
    paths = [moodle_name("Team 1", 7001), moodle_name("Ada Lovelace", 101)]
    both = several(paths, ADA, JOSE, columns=GROUPS)
    assert not any(each.students for each in both.values())
    assert "ada of the group Team 1 sent something else, too" in both[paths[0]].reason


@pytest.mark.parametrize(
    ("last", "first", "note"),
    [
        ("Lovelace", "Ada", ""),
        ("King", "Ada Augusta", ""),  # a part of the name is enough
        ("Núñez Ødegård", "José Ángel", "the name is that of jose."),
        ("Team 9", "", "the name is another. If it is a group's, read the groups"),
    ],
)
def test_number_and_name_that_disagree(last: str, first: str, note: str) -> None:
    """The number decides, and where the name is another's, or nobody's, this is said."""
    found = one(canvas_name(last, first, 41, 5), ADA, JOSE)

    assert "ada" == found.student and (note in found.note) and bool(note) == bool(found.note)


def test_participants_without_names_are_not_noted() -> None:
    """Where marking is anonymous, Moodle writes one word for all names; only another student's name is noted."""
    columns = {"ada": {"Identifier": "Participant 101"}}

    assert "" == one(moodle_name("Teilnehmer in", 101), ADA, JOSE, columns=columns).note
    found = one(moodle_name("Jose Angel Nunez Odegard", 101), ADA, JOSE, columns=columns)
    assert ("ada", True) == (found.student, "the name is that of jose" in found.note)


NAMES = st.text("abcéøल' -", min_size=1, max_size=4)


@given(
    st.lists(st.tuples(NAMES, NAMES, st.integers(0, 3)), max_size=5),
    st.lists(st.tuples(NAMES, NAMES, st.integers(1, 3), st.booleans()), max_size=6),
)
def test_nobody_is_guessed(roster: list[tuple[str, str, int]], senders: list[tuple[str, str, int, bool]]) -> None:
    """Each file has a student or a reason, and all files matched to a student by name have one number."""
    people = [
        GradebookStudent(str(place), first, last, "", str(number or ""))
        for place, (first, last, number) in enumerate(roster)
    ]
    paths = [
        canvas_name(last, first, number, place) if canvas else moodle_name(f"{first} {last}", number, f"{place}.ipynb")
        for place, (first, last, number, canvas) in enumerate(senders)
    ]
    files = [file for path in paths if (file := parse_submission_path(path))]
    found = match_each_file(files, people, {})

    assert all(bool(each.student) != bool(each.reason) for each in found.values())
    by_name = [(each.student, file.number) for file, each in found.items() if each.student and not each.by_number]
    assert len(set(by_name)) == len({student for student, _ in by_name})
    assert found == {file: found[file] for file in match_each_file(files[::-1], people[::-1], {})}
