"""Reading and repairing submissions."""

from __future__ import annotations

import copy
import json
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.execution_plan import ExerciseTask, plan_run
from autograder.sandbox.execution.run_specification import SharedSetup, StatementsStep
from autograder.submission import find_answers
from autograder.submission.extract_answer_statements import answer_text, statements
from autograder.submission.extract_submitted_cells import MAX_CELL_CHARACTERS, MAX_CELLS, MAX_NOTEBOOK_BYTES
from autograder.submission.order_repaired_cells import CellRole
from autograder.submission.read_submission import read_submission
from autograder.submission.sanitize_markdown import safe_markdown
from autograder.submission.submission import Submission

DOUBLE = 'def double(x):\n    """Return twice x."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'
TRIPLE = 'def triple(x):\n    """Return three times x."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'
DOUBLED = 'def double(x):\n    """Return twice x."""\n    return 2 * x'
TRIPLED = 'def triple(x):\n    """Return three times x."""\n    return 3 * x'


def marked(source: str, grade_id: str, **marks: Any) -> Any:
    """Return a code cell with nbgrader's metadata."""
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
    """Return a released notebook with two exercises."""
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
    """Return the released notebook with both exercises solved."""
    notebook = copy.deepcopy(release)
    notebook.cells[2].source, notebook.cells[5].source = DOUBLED, TRIPLED
    return notebook


def hand_in(notebook: Any, release: Any) -> Submission:
    """Return the submission of a notebook."""
    return read_submission(nbformat.writes(notebook).encode(), release)


def helpers(submission: Submission) -> list[str]:
    """Return the statements of the student's own cells and of the lesson that a run executes."""
    tasks = [ExerciseTask(name, (), 1.0) for name in submission.answers]
    steps = plan_run(submission.parts, tasks, SharedSetup("", (), "import math")).program.steps
    return [text for step in steps if isinstance(step, StatementsStep) for text in step.statements]


def cell(submission: Submission, grade_id: str) -> Any:
    """Return the only cell with this grade id."""
    (found,) = [c for c in submission.notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
    return found


def test_sound_notebook_needs_no_repair(release: Any, solved: Any) -> None:
    """An ordinary submission is read without repairs."""
    submission = hand_in(solved, release)

    assert ({"double": DOUBLED, "triple": TRIPLED}, (), None) == (
        submission.answers,
        submission.repairs,
        submission.trouble,
    )
    assert [c.source for c in solved.cells] == [c.source for c in submission.notebook.cells]


def test_untouched_notebook_gives_the_starters(release: Any) -> None:
    """An untouched notebook has the starters as answers."""
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
        (b" " + b"x" * MAX_NOTEBOOK_BYTES, "32 MB"),
        (
            json.dumps({"nbformat": 4, "cells": [{"source": "x" * MAX_CELL_CHARACTERS}] * 16}).encode(),
            "characters in all",
        ),
    ],
    ids=lambda value: str(value[:40]),  # pytest-xdist sends the names between processes
)
def test_unreadable_file_names_its_reason(release: Any, data: bytes, reason: str) -> None:
    """A file that is no notebook gives a reason and the released notebook."""
    submission = read_submission(data, release)

    assert submission.trouble is not None and reason in submission.trouble
    assert release == submission.notebook


def test_malformed_cells_count_as_absent(release: Any) -> None:
    """Malformed cells are ignored, and the others are read."""
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
    """A lone surrogate is replaced, so that the notebook can be written."""
    data = nbformat.writes(solved).replace("# A lesson", "\\ud800").encode()

    nbformat.writes(read_submission(data, release).notebook).encode()


def test_copied_cell_keeps_the_last_answer(release: Any, solved: Any) -> None:
    """Of cells with one grade id, the last one with an answer counts."""
    first, starter = copy.deepcopy(solved.cells[2]), copy.deepcopy(release.cells[2])
    first.source, first.id, starter.id = "def double(x):\n    return 0", "a", "b"
    solved.cells[2:3] = [first, solved.cells[2], starter]

    submission = hand_in(solved, release)

    assert DOUBLED == cell(submission, "double").source == submission.answers["double"]
    assert "more than once" in submission.repairs[0] and "double" in submission.repairs[0] and () == submission.eye


def test_of_copies_that_define_nothing_the_last_one_tried_counts(release: Any, solved: Any) -> None:
    """Where no copy of a cell defines the answer, the last copy that differs from the starter is shown to a person."""
    first, second, starter = (copy.deepcopy(release.cells[2]) for _ in range(3))
    first.source, first.id, second.source, second.id = "half = x / 2", "a", "twice = x + x", "b"
    solved.cells[2:3] = [first, second, starter]

    submission = hand_in(solved, release)

    assert "twice = x + x" == submission.answers["double"]
    assert any("more than once" in line for line in submission.repairs)


def test_stripped_metadata_is_found_by_name(release: Any, solved: Any) -> None:
    """Without metadata, exercises are found by the functions that cells define."""
    for each in solved.cells:
        each.metadata = {}

    submission = hand_in(solved, release)

    assert (DOUBLED, TRIPLED) == (cell(submission, "double").source, cell(submission, "triple").source)
    assert ("cells that had lost nbgrader's mark, found by the function's name: double, triple",) == submission.repairs


def test_cell_that_does_not_parse_is_found_by_likeness(release: Any, solved: Any) -> None:
    """A cell without metadata and without a valid definition is found by its similarity to the starter."""
    solved.cells[2] = new_code_cell(DOUBLED.replace("def double(x):", "def duoble(x:"))

    submission = hand_in(solved, release)

    assert "duoble" in submission.answers["double"]
    assert "likeness" in submission.repairs[0]


def test_answer_in_a_cell_of_its_own_counts(release: Any) -> None:
    """An answer in the student's own cell below the untouched one counts."""
    release_copy = copy.deepcopy(release)
    release_copy.cells.insert(3, new_code_cell(DOUBLED))

    submission = hand_in(release_copy, release)

    assert DOUBLED == submission.answers["double"]
    assert "student's own" in submission.repairs[0]


def roles(submission: Submission) -> list[str]:
    """Return the parts of a run in order: `answer double`, `check double`, or another cell's first line."""
    named = (f"{part.role.value} {', '.join(part.exercises)}" if part.exercises else "" for part in submission.parts)
    return [name or part.source.partition("\n")[0] for name, part in zip(named, submission.parts, strict=True)]


def test_cells_count_in_the_order_of_the_notebook(release: Any, solved: Any) -> None:
    """Cells run in the student's order, without setup and notes."""
    solved.cells.insert(3, new_code_cell("HALF = 0.5"))
    solved.cells.append(solved.cells.pop(2))
    order = ["HALF = 0.5", "double_of_three = 6", "answer triple", "check triple", "answer double", "check double"]

    assert order == roles(hand_in(solved, release))


def test_a_shuffled_notebook_is_put_in_order(release: Any, solved: Any) -> None:
    """If nearly every cell is out of place, the release's order is used."""
    order = roles(hand_in(solved, release))
    solved.cells.reverse()

    assert order == roles(hand_in(solved, release))


def test_answer_below_the_check_counts_where_it_is_better(release: Any, solved: Any) -> None:
    """An answer below the check and one above it are both run, and the better one counts."""
    again = "def double(x):\n    return x + x"
    solved.cells.insert(5, new_code_cell(again))

    submission = hand_in(solved, release)

    assert ["answer double", "check double", "double_of_three = 6", "answer double"] == roles(submission)[:4]
    assert DOUBLED == submission.answers["double"] and "the better of the two" in submission.repairs[0]
    plan = plan_run(submission.parts, [ExerciseTask("double", (), 1.0)], SharedSetup("", (), "import math"))
    assert DOUBLED in plan.sources["double"] and again in plan.later_sources["double"]


def test_a_check_of_ones_own_says_which_answer_counts(release: Any, solved: Any) -> None:
    """The last check of an exercise determines the answer that counts."""
    again = "def double(x):\n    return x + x"
    solved.cells[5:5] = [new_code_cell(again), new_code_cell('check("double", double)')]

    submission = hand_in(solved, release)

    assert again == submission.answers["double"] and "answered again" in submission.repairs[0]


def test_a_function_of_another_name_counts_where_its_check_says_so(release: Any, solved: Any) -> None:
    """A function of another name counts if the check gets it, unless it answers another exercise."""
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
    """A method or a lambda counts if the check gets it."""
    solved.cells[2].source = f"{mine}\n    def double(x):\n        return 2 * x" if mine else DOUBLE
    solved.cells[3].source = f'check("double", {given})'

    submission = hand_in(solved, release)

    assert f"double = {given}" in submission.answers["double"]
    assert submission.repairs == (
        "answered in the cell of its check: double",
        "locked cells that were changed; the course's own are used, what was added counts as own code: check_double",
    )
    assert [part.exercises for part in submission.parts if part.role is CellRole.CHECK] == [("double",), ("triple",)]


def test_an_answer_written_again_in_the_cell_of_its_check_counts(release: Any, solved: Any) -> None:
    """The check runs after the definition in its own cell, so that one counts, and not the one above."""
    again = "def double(x):\n    return x + x"
    solved.cells[3].source = f'{again}\ncheck("double", double)'

    assert again in hand_in(solved, release).answers["double"]


def test_trying_something_out_in_a_check_takes_no_answer_away(release: Any, solved: Any) -> None:
    """A later check of a lambda does not replace the answer."""
    solved.cells.append(new_code_cell('check("double", lambda x: 3 * x)'))

    submission = hand_in(solved, release)

    assert DOUBLED == submission.answers["double"] and not submission.repairs


@pytest.mark.parametrize("given", ["a" + ".b" * 4000, "lambda: 0x" + "f" * 9000], ids=["deep", "long"])
def test_what_cannot_be_written_down_is_not_what_a_check_was_given(release: Any, solved: Any, given: str) -> None:
    """A check's argument that Python cannot write as text is ignored."""
    solved.cells[2].source, solved.cells[3].source = DOUBLE, f'check("double", {given})'

    assert DOUBLE == hand_in(solved, release).answers["double"]


def test_a_cell_that_is_no_python_hides_no_answer(release: Any, solved: Any) -> None:
    """If the answer's cell is no valid Python, an answer in a cell above counts."""
    solved.cells[2].source = DOUBLED + "\nprint(\u201cdone\u201d)"
    solved.cells.insert(2, new_code_cell(DOUBLED))

    submission = hand_in(solved, release)

    assert DOUBLED == submission.answers["double"]
    assert "cannot be read as Python; an answer in a cell above it counts: double" in submission.repairs[0]


def test_code_turned_into_text_is_read_as_code(release: Any, solved: Any) -> None:
    """A code cell that was turned into Markdown is read as code."""
    solved.cells[2] = new_markdown_cell(DOUBLED, metadata=solved.cells[2].metadata)
    solved.cells.insert(2, new_markdown_cell("def half(x):\n    return x / 2"))

    submission = hand_in(solved, release)

    assert DOUBLED == submission.answers["double"] and "def half(x):" in roles(submission)
    assert "turned into text, read as code: cell 3, cell 4" in submission.repairs[0]


@pytest.mark.parametrize("fence", ["```python\n{}\n```", "~~~\n{}\n~~~\n"])
def test_fences_around_code_in_a_text_are_taken_away(release: Any, solved: Any, fence: str) -> None:
    """A fenced code block counts only in an exercise's own cell."""
    solved.cells[2] = new_markdown_cell(fence.format(DOUBLED), metadata=solved.cells[2].metadata)
    solved.cells.insert(6, new_markdown_cell(fence.format(TRIPLED.replace("3", "4"))))

    submission = hand_in(solved, release)

    assert {"double": DOUBLED, "triple": TRIPLED} == dict(submission.answers)
    assert ("cells with code that had been turned into text, read as code: cell 3",) == submission.repairs


def test_two_answers_in_one_cell_both_count(release: Any, solved: Any) -> None:
    """A cell with two answers counts for both exercises."""
    solved.cells[2].source += f"\n\n\n{TRIPLED}"
    del solved.cells[5]

    submission = hand_in(solved, release)

    assert submission.answers["double"] == submission.answers["triple"]
    assert ["answer double, triple", "check double"] == roles(submission)[:2]
    assert ("answered in the cell of another exercise: triple",) == submission.repairs


def test_lesson_names_are_the_releases_own(release: Any, solved: Any) -> None:
    """A lesson's statement that an answer needs is run from the release, even if the student deleted it."""
    del solved.cells[4]
    assert [] == helpers(hand_in(solved, release))
    solved.cells[2].source = "def double(x):\n    return 2 * x * double_of_three / 6"

    assert ["double_of_three = 6"] == helpers(hand_in(solved, release))


def test_missing_cells_are_put_back(release: Any, solved: Any) -> None:
    """Deleted exercise, check and setup cells are restored from the release."""
    del solved.cells[5:7]
    del solved.cells[1]

    submission = hand_in(solved, release)

    assert ["setup", "double", "check_double", "triple", "check_triple"] == [
        c.metadata.nbgrader.grade_id for c in submission.notebook.cells if "nbgrader" in c.metadata
    ]
    assert TRIPLE == submission.answers["triple"] and 2 == len(submission.repairs)
    assert ("exercise cells that were missing, put back untouched: triple",) == submission.eye


def test_a_missing_locked_cell_is_no_setup_cell(release: Any, solved: Any) -> None:
    """A deleted task is reported as a locked cell."""
    release.cells.append(marked("'Build one.'", "project", task=True))

    assert ("locked cells that were missing, put back: project",) == hand_in(solved, release).repairs


def test_student_metadata_is_not_kept(release: Any, solved: Any) -> None:
    """A student's points, tags and kernel are replaced by the course's."""
    solved.metadata.kernelspec = {"name": "evil", "display_name": "Evil"}
    for each in solved.cells:
        each.metadata["tags"] = ["skip-execution"]
    solved.cells[3].metadata.nbgrader.points = 1000

    notebook = hand_in(solved, release).notebook

    assert [c.metadata for c in release.cells] == [c.metadata for c in notebook.cells]
    assert release.metadata == notebook.metadata


def test_changed_check_cell_is_replaced(release: Any, solved: Any) -> None:
    """A changed check cell is restored."""
    solved.cells[3].source = "2.0"

    submission = hand_in(solved, release)

    assert 'check("double", double)' == cell(submission, "check_double").source
    assert "locked cells that were changed" in submission.repairs[0]


def test_own_cells_stay_in_their_place(release: Any, solved: Any) -> None:
    """A student's own cells keep their place, without metadata."""
    note = new_markdown_cell("my note", metadata={"nbgrader": {"grade_id": "bonus", "grade": True, "points": 50}})
    solved.cells.insert(4, note)

    notebook = hand_in(solved, release).notebook

    assert ("my note", {}) == (notebook.cells[4].source, notebook.cells[4].metadata)
    nbformat.validate(notebook)


def test_helpers_are_definitions_only(release: Any, solved: Any) -> None:
    """Of added cells, only imports, functions and classes are run, unless an answer needs more."""
    text = "import os\nSIZE = 3\ndef half(x):\n    return x / 2\nhalf(1)\ny = half(2)\n%time half(3)\n"
    text += "class A: pass"
    solved.cells.insert(2, new_code_cell(text))

    found = helpers(hand_in(solved, release))

    assert ["import os", "def half(x):\n    return x / 2", "class A: pass"] == found


def test_values_that_an_answer_uses_help(release: Any, solved: Any) -> None:
    """A value that an answer uses, directly or through another one, is computed; others are not."""
    text = "base = max(1, 2)\nTWO = base + 0\ntwice = lambda x: TWO * x\nslow = sum(range(9))"
    solved.cells.insert(2, new_code_cell(text))
    next(c for c in solved.cells if c.source == DOUBLED).source = "def double(x):\n    return twice(x)"

    found = helpers(hand_in(solved, release))

    assert ["base = max(1, 2)", "TWO = base + 0", "twice = lambda x: TWO * x"] == found


def test_course_cells_are_no_helpers(release: Any, solved: Any) -> None:
    """The course's own cells are not run as helpers."""
    assert [] == helpers(hand_in(solved, release))


def test_import_added_to_the_setup_cell_helps(release: Any, solved: Any) -> None:
    """An import added to the setup cell is run, although the cell is restored."""
    solved.cells[1].source += "\nimport itertools"

    submission = hand_in(solved, release)

    assert "import itertools" in helpers(submission) and "import math" == cell(submission, "setup").source


def test_rules_see_the_helpers_that_an_answer_uses() -> None:
    """The text that rules inspect includes the helpers that the answer uses, and no others."""
    helper_text = "def a(x):\n    return b(x)\n\ndef b(x):\n    return [x for _ in x]\n\ndef c(x):\n    return {1}"

    cell = "%matplotlib inline\ndef answer(x):\n    return a(x)"
    text = answer_text("answer", cell, (), statements(helper_text) or (), ())

    assert ("def b" in text, "def c" in text, "%matplotlib" in text) == (True, False, False)


def test_colab_copy_is_read(release: Any, solved: Any) -> None:
    """A notebook in Colab's format 4.0, without cell ids, is read."""
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
    """Only a few cells are compared with a starter, so that a thousand cause no delay."""
    compared: list[str] = []
    monkeypatch.setattr(find_answers, "_likeness", lambda _starter, source: float(compared.append(source) or 0))
    starter = next(cell.source for cell in release.cells if "def double" in cell.source)
    cells = [new_code_cell(starter.replace("double", f"x{number}"), metadata={}) for number in range(1000)]

    read_submission(nbformat.writes(new_notebook(cells=cells)).encode(), release)

    assert 0 < len(compared) <= 10


def test_cell_too_long_to_be_read_costs_itself(release: Any, solved: Any) -> None:
    """A cell that is too long is skipped, and the teacher is notified."""
    solved.cells.insert(3, new_code_cell("x = [" + "1, " * MAX_CELL_CHARACTERS + "]"))

    submission = hand_in(solved, release)

    assert {"double": DOUBLED, "triple": TRIPLED} == submission.answers
    assert not any("x = [1" in part.source for part in submission.parts if part.role is CellRole.OWN)
    assert ("cells of more than 20000 characters, which are not read: cell 4",) == submission.eye


def test_magics_above_an_answer_do_not_hide_it() -> None:
    """Statements below cell magics are read, with their line numbers."""
    found = statements("%%time\n%%capture out\ndef answer(x):\n    return x") or ()

    assert [("def answer(x):\n    return x", 4)] == [(each.text, each.last_line) for each in found]


def test_helpers_stay_in_sight_of_the_rules() -> None:
    """For an answer that cannot be parsed, all helpers count as used."""
    helper = statements("def a(x):\n    return [x for _ in x]") or ()

    assert "def a" in answer_text("answer", "def answer(x):\n    return " + "-" * 20_000 + "a(x)", (), helper, ())


@pytest.mark.parametrize(
    "text",
    ["see `x < y`", "**bold** $\\frac{a}{b}$", "[page](https://pytorch.org)", "- one\n- two", "x[0] is 3", "a & b"],
)
def test_harmless_notes_stay_as_they_are(text: str) -> None:
    """Plain Markdown, simple formulas and web links are rendered."""
    assert text == safe_markdown(text)


@pytest.mark.parametrize("text", ["<b>x</b>", "[x](javascript:y)", "![x](attachment:y.png)", "&lt;", "```mermaid\n```"])
def test_other_notes_are_shown_as_typed(text: str) -> None:
    """Markdown with HTML, pictures or dangerous links is shown as code."""
    fence, inside, end = safe_markdown(text).partition("\n")[0], text, safe_markdown(text).rsplit("\n", 1)[1]

    assert safe_markdown(text) == f"{fence}\n{inside}\n{end}" and set(fence) == {"`"} and fence not in text


def test_pictures_in_a_text_cost_nothing(release: Any, solved: Any) -> None:
    """An inline picture does not count toward a text's size."""
    picture = "![my plot](data:image/png;base64," + "A" * (2 * MAX_CELL_CHARACTERS) + ")"
    solved.cells.append(new_markdown_cell(picture))

    submission = hand_in(solved, release)

    assert submission.trouble is None and "my plot" in submission.notebook.cells[-1].source
