"""Reading and repairing what students hand in."""

from __future__ import annotations

import copy
import json
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.execution_plan import Task, plan_run
from autograder.sandbox.execution.program import AssignmentSetup, DefinitionStep
from autograder.submission import find_answers
from autograder.submission.answer_source import answer_text, statements
from autograder.submission.cell_order import CellRole
from autograder.submission.escaped_text import safe_markdown
from autograder.submission.read_submission import read_submission
from autograder.submission.submission import Submission
from autograder.submission.submitted_cells import MAX_BYTES, MAX_CELLS, MAX_SOURCE

DOUBLE = 'def double(x):\n    """Return twice x."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'
TRIPLE = 'def triple(x):\n    """Return three times x."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'
DOUBLED = 'def double(x):\n    """Return twice x."""\n    return 2 * x'
TRIPLED = 'def triple(x):\n    """Return three times x."""\n    return 3 * x'


def marked(source: str, grade_id: str, **marks: Any) -> Any:
    """A code cell with nbgrader's metadata."""
    meta = {
        "grade_id": grade_id,
        "grade": False,
        "solution": False,
        "locked": True,
        "schema_version": 3,
        "task": False,
    }
    return new_code_cell(source, id=grade_id, metadata={"nbgrader": meta | marks})


@pytest.fixture
def release() -> Any:
    """A released notebook with two exercises."""
    cells = [
        new_markdown_cell("# A lesson", id="title"),
        marked("import math", "setup"),
        marked(DOUBLE, "double", solution=True, locked=False),
        marked('check("double", double)', "check_double", grade=True, points=2),
        new_code_cell("double_of_three = 6", id="lesson"),
        marked(TRIPLE, "triple", solution=True, locked=False),
        marked('check("triple", triple)', "check_triple", grade=True, points=1),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


@pytest.fixture
def solved(release: Any) -> Any:
    """The released notebook with both exercises solved."""
    notebook = copy.deepcopy(release)
    notebook.cells[2].source, notebook.cells[5].source = DOUBLED, TRIPLED
    return notebook


def hand_in(notebook: Any, release: Any) -> Submission:
    """Read a notebook as if it were a file."""
    return read_submission(nbformat.writes(notebook).encode(), release)


def helpers(submission: Submission) -> list[str]:
    """The statements of a student's own, and of the lesson's, that a run executes."""
    tasks = [Task(name, (), 1.0) for name in submission.answers]
    steps = plan_run(submission.parts, tasks, AssignmentSetup("", (), "import math")).program.steps
    return [text for step in steps if isinstance(step, DefinitionStep) for text in step.statements]


def cell(submission: Submission, grade_id: str) -> Any:
    """The one cell with this grade id."""
    (found,) = [c for c in submission.notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
    return found


def test_sound_notebook_needs_no_repair(release: Any, solved: Any) -> None:
    """An ordinary submission comes through as it is."""
    submission = hand_in(solved, release)

    assert ({"double": DOUBLED, "triple": TRIPLED}, (), None) == (
        submission.answers,
        submission.repairs,
        submission.trouble,
    )
    assert [c.source for c in solved.cells] == [c.source for c in submission.notebook.cells]


def test_untouched_notebook_gives_the_starters(release: Any) -> None:
    """What was never worked on is answered by the starters."""
    assert {"double": DOUBLE, "triple": TRIPLE} == hand_in(release, release).answers


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"{", "breaks off in line 1"),
        (b"[]", "JSON object, found a list"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"nbformat": 5, "cells": [{}]}', "found format 5"),
        (b'{"nbformat": 3, "worksheets": []}', "no cells"),
        (b'{"cells": []}', "no list of cells"),
        (b'{"nbformat": 4, "cells": []}', "no cells"),
        (b'{"nbformat": 4, "cells": "many"}', "no cells"),
        (b'{"nbformat": 4, "cells": [' + b"1," * MAX_CELLS + b"1]}", f"{MAX_CELLS + 1} cells"),
        (b" " + b"x" * MAX_BYTES, "32 MB"),
        (json.dumps({"nbformat": 4, "cells": [{"source": "x" * MAX_SOURCE}] * 16}).encode(), "characters in all"),
    ],
    ids=lambda value: str(value[:40]),  # each name is sent between processes
)
def test_unreadable_file_names_its_reason(release: Any, data: bytes, reason: str) -> None:
    """A file that is no notebook yields the released notebook and a reason."""
    submission = read_submission(data, release)

    assert submission.trouble is not None and reason in submission.trouble
    assert release == submission.notebook


def test_malformed_cells_count_as_absent(release: Any) -> None:
    """Cells of the wrong shape do not keep the others from being read."""
    odd: list[Any] = [
        None,
        7,
        {"cell_type": ["code"]},
        {"cell_type": "code", "source": {"a": 1}, "metadata": []},
    ]
    data = {
        "nbformat": 4,
        "cells": [*odd, {"cell_type": "code", "source": [DOUBLED, 3, ""], "metadata": None}],
    }

    submission = read_submission(json.dumps(data).encode(), release)

    assert DOUBLED == submission.answers["double"]


def test_half_a_character_can_be_written_again(release: Any, solved: Any) -> None:
    """A lone surrogate, which JSON can hold and a file cannot, does no harm."""
    data = nbformat.writes(solved).replace("# A lesson", "\\ud800").encode()

    nbformat.writes(read_submission(data, release).notebook).encode()


def test_copied_cell_keeps_the_last_answer(release: Any, solved: Any) -> None:
    """Of two cells with one grade id, the last that answers counts, even with the starter behind it."""
    first, starter = copy.deepcopy(solved.cells[2]), copy.deepcopy(release.cells[2])
    first.source, first.id, starter.id = "def double(x):\n    return 0", "a", "b"
    solved.cells[2:3] = [first, solved.cells[2], starter]

    submission = hand_in(solved, release)

    assert DOUBLED == cell(submission, "double").source == submission.answers["double"]
    assert "more than once" in submission.repairs[0] and "double" in submission.repairs[0] and () == submission.eye


def test_stripped_metadata_is_found_by_name(release: Any, solved: Any) -> None:
    """Without any metadata, exercises are known by the functions that they define."""
    for each in solved.cells:
        each.metadata = {}

    submission = hand_in(solved, release)

    assert (DOUBLED, TRIPLED) == (cell(submission, "double").source, cell(submission, "triple").source)
    assert ("cells that had lost nbgrader's mark, found by the function's name: double, triple",) == submission.repairs


def test_cell_that_does_not_parse_is_found_by_likeness(release: Any, solved: Any) -> None:
    """A cell without mark and without a readable name is known by its likeness to the starter."""
    solved.cells[2] = new_code_cell(DOUBLED.replace("def double(x):", "def duoble(x:"))

    submission = hand_in(solved, release)

    assert "duoble" in submission.answers["double"]
    assert "likeness" in submission.repairs[0]


def test_answer_in_a_cell_of_its_own_counts(release: Any) -> None:
    """An answer written below the untouched exercise cell is the answer."""
    release_copy = copy.deepcopy(release)
    release_copy.cells.insert(3, new_code_cell(DOUBLED))

    submission = hand_in(release_copy, release)

    assert DOUBLED == submission.answers["double"]
    assert "student's own" in submission.repairs[0]


def roles(submission: Submission) -> list[str]:
    """The parts of a run in order: `answer double`, `check double`, or the first line of another cell."""
    named = (f"{part.role.value} {', '.join(part.exercises)}" if part.exercises else "" for part in submission.parts)
    return [name or part.source.partition("\n")[0] for name, part in zip(named, submission.parts, strict=True)]


def test_cells_count_in_the_order_of_the_notebook(release: Any, solved: Any) -> None:
    """The student's order, with the lesson's own cells where they stand, and without setup and notes."""
    solved.cells.insert(3, new_code_cell("HALF = 0.5"))
    solved.cells.append(solved.cells.pop(2))
    order = ["HALF = 0.5", "double_of_three = 6", "answer triple", "check triple", "answer double", "check double"]

    assert order == roles(hand_in(solved, release))


def test_a_shuffled_notebook_is_put_in_order(release: Any, solved: Any) -> None:
    """Where nearly every cell stands in the wrong place, the release's order counts."""
    order = roles(hand_in(solved, release))
    solved.cells.reverse()

    assert order == roles(hand_in(solved, release))


def test_answer_below_the_check_counts_where_it_is_better(release: Any, solved: Any) -> None:
    """A first try in the exercise's cell, another answer below its check: both are looked at, and that is told."""
    again = "def double(x):\n    return x + x"
    solved.cells.insert(5, new_code_cell(again))

    submission = hand_in(solved, release)

    assert ["answer double", "check double", "double_of_three = 6", "answer double"] == roles(submission)[:4]
    assert DOUBLED == submission.answers["double"] and "the better of the two" in submission.repairs[0]


def test_a_check_of_ones_own_says_which_answer_counts(release: Any, solved: Any) -> None:
    """The last check of an exercise is the one that the student saw, in whichever cell it stands."""
    again = "def double(x):\n    return x + x"
    solved.cells[5:5] = [new_code_cell(again), new_code_cell('check("double", double)')]

    submission = hand_in(solved, release)

    assert again == submission.answers["double"] and "answered again" in submission.repairs[0]


def test_a_function_of_another_name_counts_where_its_check_says_so(release: Any, solved: Any) -> None:
    """What the student gave to `check` is what is looked at; another exercise's answer is not."""
    solved.cells[2].source = DOUBLED.replace("def double", "def twice")
    solved.cells[3].source = 'check("double", twice)'
    solved.cells[6].source = 'check("triple", double)'

    submission = hand_in(solved, release)

    assert ["twice", ""] == [part.called for part in submission.parts if part.role is CellRole.CHECK]
    assert "def twice" in submission.answers["double"]


@pytest.mark.parametrize(
    ("mine", "given"), [("class Mine:\n    @staticmethod", "Mine.double"), ("", "lambda x: 2 * x")]
)
def test_what_has_no_name_of_its_own_counts_where_its_check_says_so(
    release: Any, solved: Any, mine: str, given: str
) -> None:
    """A method of a class, or a lambda, that the student gave to `check`."""
    solved.cells[2].source = f"{mine}\n    def double(x):\n        return 2 * x" if mine else DOUBLE
    solved.cells[3].source = f'check("double", {given})'

    submission = hand_in(solved, release)

    assert f"double = {given}" in submission.answers["double"]
    assert submission.repairs == (
        "answered in the cell of its check: double",
        "locked cells that were changed; the course's own are used, what was added counts as own code: check_double",
    )
    assert [part.exercises for part in submission.parts if part.role is CellRole.CHECK] == [("double",), ("triple",)]


def test_trying_something_out_in_a_check_takes_no_answer_away(release: Any, solved: Any) -> None:
    """A lambda is given to one more check, below the answer and its own."""
    solved.cells.append(new_code_cell('check("double", lambda x: 3 * x)'))

    submission = hand_in(solved, release)

    assert DOUBLED == submission.answers["double"] and not submission.repairs


@pytest.mark.parametrize("given", ["a" + ".b" * 4000, "lambda: 0x" + "f" * 9000], ids=["deep", "long"])
def test_what_cannot_be_written_down_is_not_what_a_check_was_given(release: Any, solved: Any, given: str) -> None:
    """Nobody's grading stops for an expression too deep, or a number too long, for Python to write."""
    solved.cells[2].source, solved.cells[3].source = DOUBLE, f'check("double", {given})'

    assert DOUBLE == hand_in(solved, release).answers["double"]


def test_a_cell_that_is_no_python_hides_no_answer(release: Any, solved: Any) -> None:
    """In the notebook it stops, and the check sees the function of the cell above; so do the rules."""
    solved.cells[2].source = DOUBLED + "\nprint(\u201cdone\u201d)"
    solved.cells.insert(2, new_code_cell(DOUBLED))

    submission = hand_in(solved, release)

    assert DOUBLED == submission.answers["double"]
    assert "cannot be read as Python; an answer in a cell above it counts: double" in submission.repairs[0]


def test_code_turned_into_text_is_read_as_code(release: Any, solved: Any) -> None:
    """A solution cell, or a helper, that the key M turned into markdown."""
    solved.cells[2] = new_markdown_cell(DOUBLED, metadata=solved.cells[2].metadata)
    solved.cells.insert(2, new_markdown_cell("def half(x):\n    return x / 2"))

    submission = hand_in(solved, release)

    assert DOUBLED == submission.answers["double"] and "def half(x):" in roles(submission)
    assert "turned into text, read as code: cell 3, cell 4" in submission.repairs[0]


@pytest.mark.parametrize("fence", ["```python\n{}\n```", "~~~\n{}\n~~~\n"])
def test_fences_around_code_in_a_text_are_taken_away(release: Any, solved: Any, fence: str) -> None:
    """A solution cell turned into a text that shows its code; a quotation elsewhere stays one."""
    solved.cells[2] = new_markdown_cell(fence.format(DOUBLED), metadata=solved.cells[2].metadata)
    solved.cells.insert(6, new_markdown_cell(fence.format(TRIPLED.replace("3", "4"))))

    submission = hand_in(solved, release)

    assert {"double": DOUBLED, "triple": TRIPLED} == dict(submission.answers)
    assert ("cells with code that had been turned into text, read as code: cell 3",) == submission.repairs


def test_two_answers_in_one_cell_both_count(release: Any, solved: Any) -> None:
    """Merged cells keep the mark of the first; the other exercise is found by its name."""
    solved.cells[2].source += f"\n\n\n{TRIPLED}"
    del solved.cells[5]

    submission = hand_in(solved, release)

    assert submission.answers["double"] == submission.answers["triple"]
    assert ["answer double, triple", "check double"] == roles(submission)[:2]
    assert ("answered in the cell of another exercise: triple",) == submission.repairs


def test_lesson_names_are_the_releases_own(release: Any, solved: Any) -> None:
    """What an answer leans on comes from the release, though the student has deleted it; nothing else of it runs."""
    del solved.cells[4]
    assert [] == helpers(hand_in(solved, release))
    solved.cells[2].source = "def double(x):\n    return 2 * x * double_of_three / 6"

    assert ["double_of_three = 6"] == helpers(hand_in(solved, release))


def test_missing_cells_are_put_back(release: Any, solved: Any) -> None:
    """Deleted exercise, check and setup cells come back from the release."""
    del solved.cells[5:7]
    del solved.cells[1]

    submission = hand_in(solved, release)

    assert ["setup", "double", "check_double", "triple", "check_triple"] == [
        c.metadata.nbgrader.grade_id for c in submission.notebook.cells if "nbgrader" in c.metadata
    ]
    assert TRIPLE == submission.answers["triple"] and 2 == len(submission.repairs)
    assert ("exercise cells that were missing, put back untouched: triple",) == submission.eye


def test_a_missing_locked_cell_is_no_setup_cell(release: Any, solved: Any) -> None:
    """A task, or a cell that is given, is told as what it is."""
    release.cells.append(marked("'Build one.'", "project", task=True))

    assert ("locked cells that were missing, put back: project",) == hand_in(solved, release).repairs


def test_student_metadata_is_not_kept(release: Any, solved: Any) -> None:
    """Points, tags, kernels and cell types that a student wrote are replaced by the course's."""
    solved.metadata.kernelspec = {"name": "evil", "display_name": "Evil"}
    for each in solved.cells:
        each.metadata["tags"] = ["skip-execution"]
    solved.cells[3].metadata.nbgrader.points = 1000

    notebook = hand_in(solved, release).notebook

    assert [c.metadata for c in release.cells] == [c.metadata for c in notebook.cells]
    assert release.metadata == notebook.metadata


def test_changed_check_cell_is_replaced(release: Any, solved: Any) -> None:
    """What a student writes into a locked cell does not stay there."""
    solved.cells[3].source = "2.0"

    submission = hand_in(solved, release)

    assert 'check("double", double)' == cell(submission, "check_double").source
    assert "locked cells that were changed" in submission.repairs[0]


def test_own_cells_stay_in_their_place(release: Any, solved: Any) -> None:
    """Notes of the student are kept, without marks, behind the cell that they followed."""
    note = new_markdown_cell("my note", metadata={"nbgrader": {"grade_id": "bonus", "grade": True, "points": 50}})
    solved.cells.insert(4, note)

    notebook = hand_in(solved, release).notebook

    assert ("my note", {}) == (notebook.cells[4].source, notebook.cells[4].metadata)
    nbformat.validate(notebook)


def test_helpers_are_definitions_only(release: Any, solved: Any) -> None:
    """Imports, functions and classes of added cells help; what no answer uses does not run."""
    text = "import os\nSIZE = 3\ndef half(x):\n    return x / 2\nhalf(1)\ny = half(2)\n%time half(3)\n"
    text += "class A: pass"
    solved.cells.insert(2, new_code_cell(text))

    found = helpers(hand_in(solved, release))

    assert ["import os", "def half(x):\n    return x / 2", "class A: pass"] == found


def test_values_that_an_answer_uses_help(release: Any, solved: Any) -> None:
    """A constant or a lambda in a cell of its own works, also through another one; an unused value is not computed."""
    text = "base = max(1, 2)\nTWO = base + 0\ntwice = lambda x: TWO * x\nslow = sum(range(9))"
    solved.cells.insert(2, new_code_cell(text))
    next(c for c in solved.cells if c.source == DOUBLED).source = "def double(x):\n    return twice(x)"

    found = helpers(hand_in(solved, release))

    assert ["base = max(1, 2)", "TWO = base + 0", "twice = lambda x: TWO * x"] == found


def test_course_cells_are_no_helpers(release: Any, solved: Any) -> None:
    """What the course's own cells define is not run again as a helper."""
    assert [] == helpers(hand_in(solved, release))


def test_import_added_to_the_setup_cell_helps(release: Any, solved: Any) -> None:
    """Students add imports to the setup cell where nothing keeps them from it."""
    solved.cells[1].source += "\nimport itertools"

    submission = hand_in(solved, release)

    assert "import itertools" in helpers(submission) and "import math" == cell(submission, "setup").source


def test_rules_see_the_helpers_that_an_answer_uses() -> None:
    """A loop hidden in a helper, or behind a magic, is part of the answer; an unused helper is not."""
    helper_text = "def a(x):\n    return b(x)\n\ndef b(x):\n    return [x for _ in x]\n\ndef c(x):\n    return {1}"

    cell = "%matplotlib inline\ndef answer(x):\n    return a(x)"
    text = answer_text("answer", cell, (), statements(helper_text) or (), ())

    assert ("def b" in text, "def c" in text, "%matplotlib" in text) == (True, False, False)


def test_colab_copy_is_read(release: Any, solved: Any) -> None:
    """nbformat 4.0 without cell ids, other metadata, sources in one string: as Colab may write it."""
    data = json.loads(nbformat.writes(solved))
    data |= {
        "nbformat_minor": 0,
        "metadata": {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}},
    }
    for each in data["cells"]:
        del each["id"]
        each["metadata"] = {"id": "x7Gh2", "colab": {}}
        each["source"] = "".join(each["source"])

    submission = read_submission(json.dumps(data).encode(), release)

    assert {"double": DOUBLED, "triple": TRIPLED} == submission.answers
    nbformat.validate(submission.notebook)


def test_many_cells_without_marks_are_not_all_compared(release: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand cells that look a little like a starter do not hold up the class."""
    compared: list[str] = []
    monkeypatch.setattr(find_answers, "_likeness", lambda _starter, source: float(compared.append(source) or 0))
    starter = next(cell.source for cell in release.cells if "def double" in cell.source)
    cells = [new_code_cell(starter.replace("double", f"x{number}"), metadata={}) for number in range(1000)]

    read_submission(nbformat.writes(new_notebook(cells=cells)).encode(), release)

    assert 0 < len(compared) <= 10


def test_cell_too_long_to_be_read_costs_itself(release: Any, solved: Any) -> None:
    """A table pasted into a cell of the student's own: the answers count, and the teacher is told of the cell."""
    solved.cells.insert(3, new_code_cell("x = [" + "1, " * MAX_SOURCE + "]"))

    submission = hand_in(solved, release)

    assert {"double": DOUBLED, "triple": TRIPLED} == submission.answers
    assert not any("x = [1" in part.source for part in submission.parts if part.role is CellRole.OWN)
    assert ("cells of more than 20000 characters, which are not read: cell 4",) == submission.eye


def test_magics_above_an_answer_do_not_hide_it() -> None:
    """Rules read what stands below `%%time` and `%%capture`, one or both; line numbers stay."""
    found = statements("%%time\n%%capture out\ndef answer(x):\n    return x") or ()

    assert [("def answer(x):\n    return x", 4)] == [(each.text, each.last_line) for each in found]


def test_helpers_stay_in_sight_of_the_rules() -> None:
    """To an answer that cannot be parsed all helpers belong, so that no rule is got past by its depth."""
    helper = statements("def a(x):\n    return [x for _ in x]") or ()

    assert "def a" in answer_text("answer", "def answer(x):\n    return " + "-" * 20_000 + "a(x)", (), helper, ())


@pytest.mark.parametrize(
    "text",
    ["see `x < y`", "**bold** $\\frac{a}{b}$", "[page](https://pytorch.org)", "- one\n- two", "x[0] is 3", "a & b"],
)
def test_harmless_notes_stay_as_they_are(text: str) -> None:
    """Notes, simple formulas and links to the web are rendered."""
    assert text == safe_markdown(text)


@pytest.mark.parametrize("text", ["<b>x</b>", "[x](javascript:y)", "![x](attachment:y.png)", "&lt;", "```mermaid\n```"])
def test_other_notes_are_shown_as_typed(text: str) -> None:
    """What may be more than text stands in a fence that it cannot leave; also a picture, whose file is not kept."""
    fence, inside, end = safe_markdown(text).partition("\n")[0], text, safe_markdown(text).rsplit("\n", 1)[1]

    assert safe_markdown(text) == f"{fence}\n{inside}\n{end}" and set(fence) == {"`"} and fence not in text


def test_pictures_in_a_text_cost_nothing(release: Any, solved: Any) -> None:
    """Colab keeps pictures in the text itself; their size does not make a notebook unreadable."""
    picture = "![my plot](data:image/png;base64," + "A" * (2 * MAX_SOURCE) + ")"
    solved.cells.append(new_markdown_cell(picture))

    submission = hand_in(solved, release)

    assert submission.trouble is None and "my plot" in submission.notebook.cells[-1].source
