"""Find a release's exercises from other chapters, by cells with the id `check_NAME` that call `check("NAME", NAME)`.

Such a cell for `their_NAME` makes a graded hunt of the exercise NAME, also of one that is the chapter's own; one for
`about_NAME` a part with questions about the answer to NAME, which the notebook checks too.
"""

from __future__ import annotations

from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.course.borrowed_exercises import ExerciseOfOtherChapter
from autograder.course.faulty_program_names import exercise_of_faulty_program
from autograder.course.points_and_hints import IndexedChapter
from autograder.grading.bug_hunts_as_exercises import BugHuntExercise
from autograder.grading.own_code_questions_as_exercises import OwnCodeQuestionsExercise
from autograder.ipython_syntax import CHECK
from autograder.questions.own_code_question_part import asked_exercise
from autograder.submission.find_answers import checked_exercises
from autograder.submission.read_released_cells import exercise_checked, grade_id, runs_before_answers


def find_exercises_of_other_chapters(
    release: NotebookNode, stem: str, listed: Iterable[IndexedChapter]
) -> tuple[ExerciseOfOtherChapter, ...]:
    """Return the exercises of other chapters that a released notebook checks, in the order of their cells.

    An exercise whose cell has no points is worth the extra credit that it has in its own chapter.
    """
    worth = {name: (each.stem, each.exercises[name].extra) for each in listed for name in each.exercises}
    found: list[ExerciseOfOtherChapter] = []
    checks = {name: cell for cell in release.cells if (name := _checked(cell))}
    for name, cell in checks.items():
        points, hunted = cell.metadata.nbgrader.get("points", 0), exercise_of_faulty_program(name, worth)
        asked = asked_exercise(name, worth)
        home, extra = worth.get(hunted or asked or name, (stem, 0))
        if hunted:
            found.append(BugHuntExercise(name, home, points, hunted=hunted))
        elif asked and asked in checks:
            found.append(OwnCodeQuestionsExercise(name, home, points, asked=asked))
        elif home != stem and not asked:
            found.append(ExerciseOfOtherChapter(name, home, points, 0 if points else extra))
    return tuple(found)


def _checked(cell: NotebookNode) -> str:
    """Return the name of the exercise that a cell checks by its id and by its call; "" if it checks none."""
    name = exercise_checked(cell) or ""
    return name if grade_id(cell) == CHECK + name and name in checked_exercises(cell.source) else ""


def setup_cells_text(release: NotebookNode) -> str:
    """Return the text of the cells that run before any answer: those of parameters, and the setup cell."""
    return "\n".join(cell.source for cell in release.cells if runs_before_answers(cell))
