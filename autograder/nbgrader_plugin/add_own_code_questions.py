"""An nbgrader preprocessor that adds graded questions about students' own code to a release, if the teacher wants them.

Asked is after each exercise that has points, is of the tier "core" and quick, and whose worked solution gives all three
questions. A warm-up has too little to ask about, a stretch exercise is for extra credit, slow code would have to run
several times. So a sitting has one to four such parts, of some minutes each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course.chapter_reader import read_chapter
from autograder.course.course import Course, course_in
from autograder.course.course_location import chapter_path
from autograder.course.marked_regions import SOLUTION, STARTER
from autograder.errors import CourseError
from autograder.ipython_syntax import CHECK
from autograder.nbgrader_plugin.teacher_settings import release_asks_own_code_questions
from autograder.submission.read_released_cells import exercise_checked

_QUICK = 0.3  # seconds that the worked solution of an exercise may take: what exercises have that declare nothing
_ASK = """\
# Three questions about your own code, a point each. Run this cell once the check above has passed.
from autograder import about

about("{exercise}", graded=True)"""
_ANSWER = f"""\
### BEGIN {STARTER}
# # Put the printed lines here.
# {{part}} = {{{{}}}}
### END {STARTER}
### BEGIN {SOLUTION}
### END {SOLUTION}"""


class AddOwnCodeQuestions(NbGraderPreprocessor):  # type: ignore[misc]
    """Adds three cells below the check of each exercise that is asked about. It must come first, before ClearSolutions.

    Without `questions = true` in the teacher's settings the notebook stays as it is.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Add the cells to one notebook."""
        folder = Path(self.parent.parent.coursedir.root)
        try:
            if release_asks_own_code_questions(folder):
                course = course_in(folder)
                nb.cells = [each for cell in nb.cells for each in (cell, *_asked_below(cell, course))]
                _take_ids_away(nb)
        except CourseError as error:
            raise NbGraderException(str(error)) from None
        return nb, resources


def _take_ids_away(nb: NotebookNode) -> None:
    """Remove the ids of cells from a notebook in an older format, which has none."""
    if (nb.nbformat, nb.nbformat_minor) < (4, 5):
        for cell in nb.cells:
            cell.pop("id", None)


def _asked_below(cell: NotebookNode, course: Course) -> Iterator[NotebookNode]:
    """Yield the cells that ask, that hold answers, and that have points, if the cell checks such an exercise."""
    name = exercise_checked(cell)
    if not (
        name and cell.metadata.nbgrader.get("points") and name in course.exercise_names and _is_asked(name, course)
    ):
        return
    from autograder.questions.own_code_question_part import POINTS, part_name

    part = part_name(name)
    yield new_code_cell(_ASK.format(exercise=name), id=f"ask-{part}")
    yield _marked(_ANSWER.format(part=part), part, solution=True, locked=False)
    yield _marked(f'check("{part}", {part})', f"{CHECK}{part}", grade=True, points=POINTS)


def _is_asked(name: str, course: Course) -> bool:
    from autograder.questions.own_code_question_part import POINTS  # these import torch
    from autograder.questions.own_code_questions import deterministic_questions
    from autograder.questions.student_program_runs import NoQuestions

    exercise = course.find(name)
    if exercise.tier != "core" or exercise.takes > _QUICK:
        return False
    chapter, names = read_chapter(chapter_path(course.folder, exercise.chapter)), dict[str, Any]()
    text, key = chapter.solution(name), course.keys(exercise.chapter)[name]
    exec(f"{chapter.prelude}\n\n{text}", names)  # as the build does
    try:
        return len(deterministic_questions(exercise, key, text, name, names, draw=1)) == POINTS
    except NoQuestions:
        return False


def _marked(source: str, grade_id: str, **marks: Any) -> NotebookNode:
    usual = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
    made: NotebookNode = new_code_cell(
        source, id=grade_id, metadata={"nbgrader": {**usual, "grade_id": grade_id, **marks}}
    )
    return made
