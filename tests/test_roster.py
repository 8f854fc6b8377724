"""Rosters from Canvas, from Moodle and written by hand, in the encodings of spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.nbgrader_plugin import roster_import
from autograder.nbgrader_plugin.export_plugins import Canvas, Moodle
from autograder.nbgrader_plugin.gradebook_scores import Person, people
from autograder.nbgrader_plugin.roster_import import BadRoster, ImportCounts

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


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> list[Person]:
    """Return the students in a file with this text."""
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return roster_import.read_roster(path).people


class TestReading:
    """Reading roster files."""

    def test_canvas(self, tmp_path: Path) -> None:
        """The rows of possible points and of the test student are skipped."""
        assert [Person("ada", "Ada", "Lovelace", "", "41")] == read(tmp_path, CANVAS)

    def test_moodle(self, tmp_path: Path) -> None:
        """Without a user name the id number is the id; semicolons and any script are read."""
        assert [
            Person("41", "Ada", "Lovelace", "ada@example.org", "41"),
            Person("42", "चन्द्र", "रमन", "chandra@example.org", "42"),
        ] == read(tmp_path, MOODLE)

    def test_moodle_with_user_names(self, tmp_path: Path) -> None:
        """A user name is preferred to the id number."""
        text = "Username,ID number,Email address\nada,41,ada@example.org\n"

        assert [Person("ada", "", "", "ada@example.org", "41")] == read(tmp_path, text)

    def test_moodles_worksheet(self, tmp_path: Path) -> None:
        """Moodle's worksheet has the full name in one column, and participant numbers."""
        text = "Identifier,Full name,Email address,Status,Grade\nParticipant 101,Ada King Lovelace,ada@x.org,,\n"

        assert [Person("ada@x.org", "Ada King", "Lovelace", "ada@x.org", "")] == read(tmp_path, text)
        assert {"ada@x.org": {"Identifier": "Participant 101"}} == roster_import.read_roster(
            tmp_path / "roster.csv"
        ).columns

    def test_by_hand(self, tmp_path: Path) -> None:
        """Only an id is required; spaces and empty lines are ignored."""
        assert [Person("ada", "", "", "", ""), Person("bob", "Bob", "", "", "")] == read(
            tmp_path, "id, first_name\nada\n\n bob , Bob\n"
        )

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_encodings_of_spreadsheets(self, tmp_path: Path, encoding: str) -> None:
        """UTF-8 with and without a byte order mark, and UTF-16 with tabs, are read."""
        text = "id\tfirst_name\nada\tÅda\n"

        assert [Person("ada", "Åda", "", "", "")] == read(tmp_path, text, encoding)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "is empty"),
            ("name,grade\nada,1\n", "has the columns 'name', 'grade'. Expected `id`"),
            ("id,first_name\n", "names its columns and no student"),
            ("id\nada\nada\n", "line 3: 'ada' is there twice"),
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
        with pytest.raises(BadRoster, match=told):
            read(tmp_path, text)

    def test_other_encodings_are_named(self, tmp_path: Path) -> None:
        """A file in another encoding raises an error."""
        with pytest.raises(BadRoster, match=r"is not UTF-8 text\. Save it as `CSV UTF-8`"):
            read(tmp_path, "id,first_name\nada,Åda\n", "latin-1")

    def test_missing_file(self, tmp_path: Path) -> None:
        """A missing file raises an error with the system's reason."""
        with pytest.raises(BadRoster, match="No such file"):
            roster_import.read_roster(tmp_path / "none.csv")


class TestImport:
    """Importing into the gradebook."""

    def test_new_changed_and_same(self, gradebook: Gradebook) -> None:
        """New and changed students are counted, empty fields keep the known value, and no student is removed."""
        before = [Person("ada", "Ada", "", "ada@example.org", ""), Person("bob", "Bob", "", "", "")]
        after = [Person("ada", "Ada", "Lovelace", "", "41"), Person("cleo", "", "", "", "")]

        assert ImportCounts(2, 0, 0) == roster_import.import_into(gradebook, before)
        assert ImportCounts(0, 0, 2) == roster_import.import_into(gradebook, before)
        assert ImportCounts(1, 1, 0) == roster_import.import_into(gradebook, after)
        assert {
            "ada": Person("ada", "Ada", "Lovelace", "ada@example.org", "41"),
            "bob": Person("bob", "Bob", "", "", ""),
            "cleo": Person("cleo", "", "", "", ""),
        } == {person.id: person for person in people(gradebook)}

    @pytest.mark.parametrize("plugin", [Canvas, Moodle])
    def test_what_was_exported_comes_back(
        self, plugin: type[Canvas | Moodle], gradebook: Gradebook, tmp_path: Path
    ) -> None:
        """Importing our exports for Canvas and Moodle changes nothing."""
        roster_import.import_into(
            gradebook, [Person("ada", "Ada", "Lovelace", "", "41"), Person("bob", "Bob", "Ng", "", "42")]
        )
        plugin(to=str(tmp_path / "file.csv")).export(gradebook)

        assert ImportCounts(0, 0, 2) == roster_import.import_into(
            gradebook, roster_import.read_roster(tmp_path / "file.csv").people
        )
