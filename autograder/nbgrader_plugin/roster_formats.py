"""Recognize the columns of a roster: from Canvas, Moodle or Brightspace, or made by hand.

Moodle names its columns in the language of whoever downloads the list; German, French and Spanish are translated here.
Canvas's list of groups (People, a group set, "Export") has a line for each member of each group:
https://canvas.instructure.com/doc/api/file.group_category_csv.html
Brightspace's export of grades has `OrgDefinedId` and `Username`, with `#` in front, which spreadsheets leave alone:
https://community.d2l.com/brightspace/kb/articles/3538-importing-grades
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autograder.nbgrader_plugin import kept_roster_columns
from autograder.nbgrader_plugin.gradebook_scores import GradebookStudent

RosterLine = Mapping[str, str]
_APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
_GROUPS = ("groups", "group", "group_name")
_GROUP_MEMBER = ("login_id", "canvas_user_id", "user_id")
# Moodle's names of columns, in small letters, by their English ones.
_TRANSLATED = {
    "first name": ("vorname", "prénom", "nombre"),
    "last name": ("nachname", "nom de famille", "nom", "apellido(s)", "apellidos"),
    "full name": ("vollständiger name", "nom complet", "nombre completo"),
    "username": ("anmeldename", "nom d'utilisateur", "nombre de usuario"),
    "id number": ("id-nummer", "numéro d'identification", "número de id"),
    "email address": (
        *("e-mail-adresse", "adresse de courriel", "adresse e-mail"),
        *("dirección de correo", "dirección email", "correo electrónico"),
    ),
    "institution": ("institución",),
    "department": ("abteilung", "département", "departamento"),
    "groups": ("gruppen", "groupes", "grupos"),
    "identifier": ("identifiant", "identificador"),
}
_ENGLISH = {name: english for english, names in _TRANSLATED.items() for name in names}


@dataclass(frozen=True)
class RosterFormat:
    """How to read the lines of a roster.

    `head` are the columns as `person_of` expects them. `person_of` makes the student from a line, None if the line
    describes no student. `prefix` (Brightspace's `#`, which keeps spreadsheets from changing a value) is removed
    from each value. In a list of groups, each line is one student's membership.
    """

    head: Sequence[str]
    person_of: Callable[[RosterLine], GradebookStudent | None]
    prefix: str = ""
    is_from_canvas: bool = False
    is_group_list: bool = False

    def line_of(self, cells: Sequence[str]) -> RosterLine:
        """Return the values of a line by their columns."""
        return dict(zip(self.head, (cell.strip().removeprefix(self.prefix) for cell in cells), strict=False))

    def columns_of(self, line: RosterLine) -> dict[str, str]:
        """Return the columns of a line for which nbgrader has no field."""
        groups = next((line[name] for name in _GROUPS if line.get(name)), "")
        found = {
            **kept_roster_columns.kept_columns_of_line(line),
            kept_roster_columns.GROUPS: groups,
            kept_roster_columns.CANVAS_NUMBER: self._canvas_number(line),
            kept_roster_columns.ORG_DEFINED_ID: line.get("orgdefinedid", ""),
        }
        return {name: value for name, value in found.items() if value}

    def _canvas_number(self, line: RosterLine) -> str:
        return line.get("canvas_user_id" if self.is_group_list else "id", "") if self.is_from_canvas else ""


def recognize_format(names: Sequence[str]) -> RosterFormat | None:
    """Return the format of a roster whose first line names these columns; None if it is none that can be read."""
    head = [unicodedata.normalize("NFC", name).strip().casefold().replace(_APOSTROPHE, "'") for name in names]
    if "id" in head and {"student", "lastname"}.intersection(head):
        return RosterFormat(head, _from_canvas, is_from_canvas=True)
    if "group_name" in head and set(_GROUP_MEMBER).intersection(head):
        return RosterFormat(head, _from_canvas_groups, is_from_canvas=True, is_group_list=True)
    if {"orgdefinedid", "end-of-line indicator"}.intersection(head) and {"orgdefinedid", "username"}.intersection(head):
        return RosterFormat(head, _from_brightspace, prefix="#")
    english = [_ENGLISH.get(name, name) for name in head]
    if english != head and "id" in english and "full name" in english:  # Moodle's worksheet for grading, in German
        english[english.index("id")] = "identifier"
    if "id" in english or "student_id" in english:
        return RosterFormat(english, _plain)
    key = next((name for name in ("username", "id number", "email address") if name in english), "")
    return RosterFormat(english, lambda line: _from_moodle(line, key)) if key else None


def _plain(line: RosterLine) -> GradebookStudent:
    fields = (line.get(name, "") for name in ("first_name", "last_name", "email", "lms_user_id"))
    return GradebookStudent(line.get("id") or line.get("student_id") or "", *fields)


def _from_canvas(line: RosterLine) -> GradebookStudent | None:
    """Return the student in a line of Canvas's gradebook export; None for a line of points or the test student.

    If the export has no login, Canvas's number is the id.
    """
    id_ = line.get("sis login id") or line.get("id", "")
    name = line.get("student") or ", ".join(filter(None, (line.get("lastname"), line.get("firstname"))))
    if name.startswith(("Points Possible", "Student, Test")) or not (id_ or name):
        return None
    last, _, first = name.partition(",")
    return GradebookStudent(id_, first.strip(), last.strip(), "", line.get("id", ""))


def _from_canvas_groups(line: RosterLine) -> GradebookStudent:
    id_ = next((line[name] for name in _GROUP_MEMBER if line.get(name)), "")
    return GradebookStudent(id_, "", "", "", line.get("canvas_user_id", ""))


def _from_moodle(line: RosterLine, key: str) -> GradebookStudent:
    first, _, last = line.get("full name", "").rpartition(" ")  # a column of the grading worksheet of an assignment
    first, last = line.get("first name") or first, line.get("last name") or line.get("surname") or last
    return GradebookStudent(line.get(key, ""), first, last, line.get("email address", ""), line.get("id number", ""))


def _from_brightspace(line: RosterLine) -> GradebookStudent:
    id_ = line.get("username") or line.get("orgdefinedid", "")
    return GradebookStudent(id_, line.get("first name", ""), line.get("last name", ""), line.get("email", ""), "")
