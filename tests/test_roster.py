"""Rosters from Canvas, from Moodle and written by hand, in the encodings of spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.nbgrader_plugin import roster_import
from autograder.nbgrader_plugin.export_plugins import Brightspace, Canvas, Moodle
from autograder.nbgrader_plugin.gradebook_scores import GradebookStudent, read_students
from autograder.nbgrader_plugin.roster_import import ImportCounts, Roster, UnreadableRoster

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Essay (7)
    Points Possible,,,,,10
"Lovelace, Ada",41,S1,ada,Group 1,9.5
"Student, Test",99,,test,Group 1,
"""
MOODLE = """\
First name;Surname;ID number;Email address
Ada;Lovelace;41;ada@example.org
चन्द्र;रमन;42;chandra@example.org
"""


@pytest.fixture
def gradebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gradebook]:
    """Yield an empty gradebook."""
    monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        yield book


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> list[GradebookStudent]:
    """Return the students in a file with this text."""
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return roster_import.read_roster(path).people


class TestReading:
    """Reading roster files."""

    def test_canvas(self, tmp_path: Path) -> None:
        """The rows of possible points and of the test student are skipped."""
        assert [GradebookStudent("ada", "Ada", "Lovelace", "", "41")] == read(tmp_path, CANVAS)

    def test_moodle(self, tmp_path: Path) -> None:
        """Without a user name the id number is the id; semicolons and any script are read."""
        assert [
            GradebookStudent("41", "Ada", "Lovelace", "ada@example.org", "41"),
            GradebookStudent("42", "चन्द्र", "रमन", "chandra@example.org", "42"),
        ] == read(tmp_path, MOODLE)

    def test_moodle_with_user_names(self, tmp_path: Path) -> None:
        """A user name is preferred to the id number."""
        text = "Username,ID number,Email address\nada,41,ada@example.org\n"

        assert [GradebookStudent("ada", "", "", "ada@example.org", "41")] == read(tmp_path, text)

    def test_moodles_worksheet(self, tmp_path: Path) -> None:
        """Moodle's worksheet has the full name in one column, and participant numbers."""
        text = "Identifier,Full name,Email address,Status,Grade\nParticipant 101,Ada King Lovelace,ada@x.org,,\n"

        assert [GradebookStudent("ada@x.org", "Ada King", "Lovelace", "ada@x.org", "")] == read(tmp_path, text)
        assert {"ada@x.org": {"Identifier": "Participant 101"}} == roster_import.read_roster(
            tmp_path / "roster.csv"
        ).columns

    @pytest.mark.parametrize(
        "head",
        [
            "Vorname,Nachname,Anmeldename,ID-Nummer,E-Mail-Adresse,Gruppen",
            "Prénom,Nom de famille,Nom d\u2019utilisateur,Numéro d'identification,Adresse de courriel,Groupes",
            "Nombre,Apellido(s),Nombre de usuario,Número de ID,Dirección de correo,Grupos",
        ],
    )
    def test_moodle_in_other_languages(self, tmp_path: Path, head: str) -> None:
        """Moodle's columns in German, French and Spanish are those of the English list."""
        path = tmp_path / "roster.csv"
        path.write_text(f'{head}\nAda,Lovelace,ada,41,ada@x.org,"Team 1, Lab A"\n', encoding="utf-8")
        found = roster_import.read_roster(path)

        assert [GradebookStudent("ada", "Ada", "Lovelace", "ada@x.org", "41")] == found.people
        assert {"Username": "ada", "ID number": "41", "Groups": "Team 1, Lab A"} == found.columns["ada"]

    def test_moodles_worksheet_in_german(self, tmp_path: Path) -> None:
        """The column that Moodle calls ID in German has the numbers of participants, and no ids of students."""
        text = "ID,Vollständiger Name,E-Mail-Adresse,Status\nTeilnehmer/in101,Ada Lovelace,ada@x.org,\n"

        assert [GradebookStudent("ada@x.org", "Ada", "Lovelace", "ada@x.org", "")] == read(tmp_path, text)

    def test_brightspace(self, tmp_path: Path) -> None:
        """The signs before numbers and names are no part of them, and the number has a column of its own."""
        text = (
            "OrgDefinedId,Username,Last Name,First Name,Email,Essay Points Grade <Numeric MaxPoints:10>,"
            "End-of-Line Indicator\n#20067930,#ada,Lovelace,Ada,ada@x.org,7,#\n"
        )

        assert [GradebookStudent("ada", "Ada", "Lovelace", "ada@x.org", "")] == read(tmp_path, text)
        found = roster_import.read_roster(tmp_path / "roster.csv")
        assert {"OrgDefinedId": "20067930", "Username": "ada"} == found.columns["ada"]

    def test_canvas_list_of_groups(self, tmp_path: Path) -> None:
        """A list of groups has a line for each membership; who is in no group has a line, too."""
        text = (
            "name,canvas_user_id,user_id,login_id,group_name\nAda Lovelace,41,S1,ada,Team 1\nBob,42,,,Team 1\n"
            "Ada Lovelace,41,S1,ada,Lab A\nCleo,43,,cleo,\n"
        )
        (tmp_path / "groups.csv").write_text(text)
        found = roster_import.read_roster(tmp_path / "groups.csv")

        assert found.is_group_list and ["ada", "42", "cleo"] == [person.id for person in found.people]
        assert ["Team 1, Lab A", "Team 1", None] == [found.columns[who].get("Groups") for who in ("ada", "42", "cleo")]

    @pytest.mark.parametrize("separator", [";", ",", "|"])
    def test_the_line_that_tells_excel_the_separator(self, tmp_path: Path, separator: str) -> None:
        """Excel's first line `sep=;` names the separator, and is no line of columns."""
        text = "sep=;\nid;first_name;email\nada;Ada;a,b@x.org\n".replace(";", separator)
        email = "a" if separator == "," else "a,b@x.org"

        assert [GradebookStudent("ada", "Ada", "", email, "")] == read(tmp_path, text)

    def test_by_hand(self, tmp_path: Path) -> None:
        """Only an id is required; spaces and empty lines are ignored."""
        assert [GradebookStudent("ada", "", "", "", ""), GradebookStudent("bob", "Bob", "", "", "")] == read(
            tmp_path, "id, first_name\nada\n\n bob , Bob\n"
        )

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_encodings_of_spreadsheets(self, tmp_path: Path, encoding: str) -> None:
        """UTF-8 with and without a byte order mark, and UTF-16 with tabs, are read."""
        text = "id\tfirst_name\nada\tÅda\n"

        assert [GradebookStudent("ada", "Åda", "", "", "")] == read(tmp_path, text, encoding)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "is empty"),
            ("name,grade\nada,1\n", "has the columns 'name', 'grade'. Expected `id`"),
            ("id,first_name\n", "names its columns and no student"),
            ("id\nada\nada\n", "line 3: 'ada' is there twice"),
            ("id,lms_user_id\nada,41\nada,42\n", "line 3: 'ada' is there twice, with the numbers 41 and 42"),
            ("id,lms_user_id\nada,41\nbob,41\n", "line 3: 'ada' and 'bob' have one number, 41"),
            ("id\nAda\nada\n", "line 3: 'Ada' and 'ada' differ in capitals only"),
            (
                "id,first_name,last_name,email\na1,Ada,Lovelace,a@x.org\na2,Ada,Lovelace,a@x.org\n",
                "line 3: 'a1' and 'a2' have one name and one mail address",
            ),
            ("login_id,group_name\nada,Team 1\n,Team 2\n", "line 3: the group 'Team 2' has no members"),
            ("id,group\n,Team 2\n", "line 2: the group 'Team 2' has no members"),
            ("id,first_name\n,Ada\n", "line 2: this student has no id"),
            ('Student,ID,Section\n,,\n"Lee, Kim",,A\n', "line 3: this student has no id"),
            ("id\nada\n../root\n", "line 3: '../root' cannot be the name of a student's folder"),
            ("id\na*\n", r"line 2: 'a\*' cannot be"),
            ("id\nada+x@example.org\n", "line 2: .* cannot be"),
            ("id,email\nada," + 200 * "x" + "\n", "line 2: .* more than 128 letters"),
        ],
    )
    def test_says_what_is_wrong_and_where(self, tmp_path: Path, text: str, told: str) -> None:
        """An invalid roster raises an error with the line."""
        with pytest.raises(UnreadableRoster, match=told):
            read(tmp_path, text)

    def test_other_encodings_are_named(self, tmp_path: Path) -> None:
        """A file in another encoding raises an error."""
        with pytest.raises(UnreadableRoster, match=r"is not UTF-8 text\. Save it as `CSV UTF-8`"):
            read(tmp_path, "id,first_name\nada,Åda\n", "latin-1")

    def test_missing_file(self, tmp_path: Path) -> None:
        """A missing file raises an error with the system's reason."""
        with pytest.raises(UnreadableRoster, match="No such file"):
            roster_import.read_roster(tmp_path / "none.csv")


class TestImport:
    """Importing into the gradebook."""

    def test_new_changed_and_same(self, gradebook: Gradebook) -> None:
        """New and changed students are counted, empty fields keep the known value, and no student is removed."""
        before = [GradebookStudent("ada", "Ada", "", "ada@example.org", ""), GradebookStudent("bob", "Bob", "", "", "")]
        after = [GradebookStudent("ada", "Ada", "Lovelace", "", "41"), GradebookStudent("cleo", "", "", "", "")]

        assert ImportCounts(2, 0, 0) == roster_import.import_roster_into_gradebook(gradebook, before)
        assert ImportCounts(0, 0, 2) == roster_import.import_roster_into_gradebook(gradebook, before)
        assert ImportCounts(1, 1, 0) == roster_import.import_roster_into_gradebook(gradebook, after)
        assert {
            "ada": GradebookStudent("ada", "Ada", "Lovelace", "ada@example.org", "41"),
            "bob": GradebookStudent("bob", "Bob", "", "", ""),
            "cleo": GradebookStudent("cleo", "", "", "", ""),
        } == {person.id: person for person in read_students(gradebook)}

    def test_values_that_would_be_replaced(self, gradebook: Gradebook) -> None:
        """Each value that a roster would replace has a line; new values, and numbers of another system, have none."""
        roster_import.import_roster_into_gradebook(gradebook, [GradebookStudent("ada", "Ada", "", "a@x.org", "S1")])
        kept = {"ada": {"ID number": "S1", "Groups": "Team 1", "Identifier": "Participant 7"}}
        newer = {"ada": {"ID": "41", "Groups": "Team 2", "Section": "A", "Identifier": "Participant 8"}}
        roster = Roster(
            [GradebookStudent("ada", "Ada", "Lovelace", "b@x.org", "41"), GradebookStudent("bob", "", "", "", "")],
            newer,
        )

        assert ["ada: email 'a@x.org' -> 'b@x.org'", "ada: Groups 'Team 1' -> 'Team 2'"] == (
            roster_import.overwritten_values(gradebook, roster, kept)
        )

    @pytest.mark.parametrize(
        ("roster", "told"),
        [
            (Roster([GradebookStudent("ADA", "", "", "", "")], {}), "'ada' and 'ADA' differ in capitals only"),
            (
                Roster([GradebookStudent("bob", "", "", "", "")], {}, is_group_list=True),
                "names 'bob', who is not in the gradebook",
            ),
        ],
    )
    def test_rosters_that_do_not_fit_the_gradebook(self, gradebook: Gradebook, roster: Roster, told: str) -> None:
        """An id that differs in capitals only from one of the gradebook, and a group of a stranger, are refused."""
        roster_import.import_roster_into_gradebook(gradebook, [GradebookStudent("ada", "Ada", "", "", "")])

        with pytest.raises(UnreadableRoster, match=told):
            roster_import.overwritten_values(gradebook, roster, {})

    @pytest.mark.parametrize("plugin", [Canvas, Moodle, Brightspace])
    def test_what_was_exported_comes_back(
        self, plugin: type[Canvas | Moodle | Brightspace], gradebook: Gradebook, tmp_path: Path
    ) -> None:
        """Importing our exports for Canvas, Moodle and Brightspace changes nothing."""
        roster_import.import_roster_into_gradebook(
            gradebook,
            [GradebookStudent("ada", "Ada", "Lovelace", "", "41"), GradebookStudent("bob", "Bob", "Ng", "", "42")],
        )
        plugin(to=str(tmp_path / "file.csv")).export(gradebook)

        assert ImportCounts(0, 0, 2) == roster_import.import_roster_into_gradebook(
            gradebook, roster_import.read_roster(tmp_path / "file.csv").people
        )
