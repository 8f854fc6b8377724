"""Draw two parallel forms of a test, for before and after a course: the same questions with different numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from autograder.course.course import Course
from autograder.course.course_location import REVIEW_QUESTIONS
from autograder.errors import DamagedData, ExerciseError, WorkFailed
from autograder.files import write_all
from autograder.nbgrader_plugin.csv_escaping import csv_bytes
from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from autograder.questions.question import LETTERS, Question, numbered_code
from autograder.questions.question_generator_registry import QuestionGenerator, question_generators
from autograder.reports.notebook_to_offline_html import complete_html_page

TEST_ITEMS_FILE = "measure.txt"  # beside the questions of a course: the names of the generators, one a line
KEY, ANSWERS = "key.json", "answers.csv"
FORM_NAMES = ("before", "after")
_DRAWS = 300  # tries for a second question of the same form
_UNSURE = "I do not know"
_INSTRUCTIONS = (
    "Answer from memory, without a computer and without help; it takes about half an hour. Nobody is graded by it.",
    "Choose one answer for each question. If you do not know, say so: a guess tells nothing.",
    "Sign with a word that only you know, and use the same word before the course and after it.",
)


@dataclass(frozen=True)
class ParallelTestForms:
    """The questions of both forms; those at the same place ask about the same thing."""

    forms: dict[str, tuple[Question, ...]]

    @property
    def kinds(self) -> list[str]:
        """Return what each place asks for, by the names of the generators."""
        return [each.kind for each in self.forms[FORM_NAMES[0]]]

    def right_letters(self, form: str) -> list[str]:
        """Return the letters of the right choices of one form."""
        return [LETTERS[each.right] for each in self.forms[form]]


def draw_parallel_test_forms(course: Course, seed: int) -> ParallelTestForms:
    """Draw both forms; the same seed gives the same. Raises ExerciseError if the course names no questions for it."""
    pairs = [_parallel_pair(each, Random(f"{seed} {each.name}")) for each in _generators(course)]
    return ParallelTestForms({form: tuple(pair[place] for pair in pairs) for place, form in enumerate(FORM_NAMES)})


def _generators(course: Course) -> list[QuestionGenerator]:
    path, known = course.folder / REVIEW_QUESTIONS / TEST_ITEMS_FILE, question_generators(course)
    rows = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    names = [row.strip() for row in rows if row.strip() and not row.startswith("#")]
    if not names or (unknown := [name for name in names if name not in known]):
        found = f"found no generator called {', '.join(unknown)}" if names else "found none"
        raise ExerciseError(f"{path}: expected names of question generators, a line for each, {found}.")
    return [known[name] for name in names]


def _parallel_pair(generator: QuestionGenerator, random: Random) -> tuple[Question, Question]:
    """Draw two questions whose texts differ in nothing but numbers."""
    first = generator.question(random)
    for _ in range(_DRAWS):
        second = generator.question(random)
        if _without_numbers(first) == _without_numbers(second) and first.code != second.code:
            return first, second
    raise ExerciseError(
        f"expected {generator.name} to give the same question with other numbers, got none in {_DRAWS} draws: "
        "name another generator."
    )


def _without_numbers(question: Question) -> str:
    return re.sub(r"\d+", "#", "\n".join((question.prompt, question.code, question.expression)))


def write_parallel_test_forms(measure: ParallelTestForms, folder: Path) -> list[Path]:
    """Write a page for each form, the key, and a table for the answers; raise WorkFailed if the folder has a key."""
    if (folder / KEY).exists():
        raise WorkFailed(
            f"{folder / KEY} is there already, and its forms may have been handed out. Name another folder with "
            "--folder, or delete it."
        )
    key = {form: [each.to_json() for each in questions] for form, questions in measure.forms.items()}
    contents = {
        folder / f"{form}.html": page_of_test_form(questions, form) for form, questions in measure.forms.items()
    }
    contents[folder / KEY] = (json.dumps(key, ensure_ascii=False, indent=1) + "\n").encode()
    contents[folder / ANSWERS] = csv_bytes([("who", "form", *range(1, len(measure.kinds) + 1))])
    folder.mkdir(parents=True, exist_ok=True)
    write_all(contents)
    return list(contents)


def read_parallel_test_forms(folder: Path) -> ParallelTestForms:
    """Return what `write_parallel_test_forms` wrote; raise DamagedData or WorkFailed."""
    path = folder / KEY
    try:
        forms = {form: tuple(map(Question.from_json, json.loads(path.read_bytes())[form])) for form in FORM_NAMES}
    except FileNotFoundError:
        raise WorkFailed(f"expected {path}, found none. Run `autograder measure write` first.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedData(f"{path} cannot be read ({error}): take it from a backup.") from error
    return ParallelTestForms(forms)


def page_of_test_form(questions: Sequence[Question], form: str) -> bytes:
    """Return one form as a page to be printed, or opened without a network."""
    signed = tag("p", "Your word: ______________________")
    items = (tag("li", *_item(each), style="break-inside:avoid") for each in questions)
    body = join(*(tag("p", sentence) for sentence in _INSTRUCTIONS), signed, tag("ol", *items))
    return complete_html_page(f"{len(questions)} questions, {form} the course", body, {})


def _item(question: Question) -> list[Html]:
    choices = [*question.choices, _UNSURE]
    shown = [tag("p", sentence_to_html(line)) for line in question.prompt.split("\n")]
    shown += [tag("pre", "\n".join(numbered_code(question.code)))] if question.code else []
    return [*shown, tag("ol", *(tag("li", sentence_to_html(choice), style="margin:0") for choice in choices), type="a")]
