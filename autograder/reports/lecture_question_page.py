"""Make a page to project in the lecture: the costliest mistakes of a class as questions with four choices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from autograder.course.course import Course, course_in
from autograder.errors import CourseError
from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from autograder.questions.faulty_program_result_question import ask_for_result_of_faulty_program
from autograder.questions.hunt_questions import NUMBER_OF_FALSE_SENTENCES, ask_for_true_sentence
from autograder.questions.mistake_program_and_distractors import find_program_and_distractors
from autograder.questions.question import LETTERS, Question, numbered_code
from autograder.reports.class_results import ClassResults
from autograder.reports.misunderstandings import MistakesWithOneSentence, Misunderstanding, group_by_sentence
from autograder.reports.notebook_to_offline_html import complete_html_page

_MISTAKES = 3


def lecture_page_file_name(stem: str) -> str:
    """Return the name of a chapter's page in `reports/`."""
    return f"lecture-{stem}.html"


def lecture_page(results: ClassResults) -> bytes:
    """Return the page of a class in one chapter, a question on each screen or sheet; b"" if there is no question.

    The three mistakes that cost the most points are asked about, each by its program: what it gives, and which sentence
    is true of it. Nothing on the page comes from a student, and it says of each mistake how many made it.
    """
    course = course_in(results.course)
    asked = (slides for each in group_by_sentence([results]) if (slides := _slides(course, each)))
    slides = [slide for of_mistake in islice(asked, _MISTAKES) for slide in of_mistake]
    if not slides:
        return b""
    ways = {"The report": f"{results.stem}.html"}
    intro = tag("p", f"{len(slides)} questions, one on each screen: choose first, then open the answer.")
    return complete_html_page(f"{results.title}: questions for the lecture", join(intro, *slides), ways)


def _slides(course: Course, shared: MistakesWithOneSentence) -> list[Html]:
    """Return the slides of one mistake, shown in the exercise where it cost most; none if no program shows it."""
    for _, found in sorted(shared.found, key=lambda each: -sum(each[1].points)):
        try:
            questions = list(_questions(course, found))
        except CourseError:  # the bank or the course is another one than the class was graded with
            continue
        if questions:
            return [_slide(question, found) for question in questions]
    return []


def _questions(course: Course, found: Misunderstanding) -> Iterator[Question]:
    shown = find_program_and_distractors(course, found.exercise, found.tag)
    if shown is None:
        return
    program, false = shown
    exercise = course.find(found.exercise)
    key, random = course.keys(exercise.chapter)[exercise.name], Random(f"{found.exercise} {found.tag}")
    if (result := ask_for_result_of_faulty_program(program, exercise, key, random)) is not None:
        yield result
    if len(false) >= NUMBER_OF_FALSE_SENTENCES:
        yield ask_for_true_sentence(program, false, exercise, key, random)


def _slide(question: Question, found: Misunderstanding) -> Html:
    count = len(found.students)
    made = f"{count} student{'' if count == 1 else 's'} of this class made this mistake."
    answer = tag(
        "details",
        tag("summary", "Answer"),
        tag("p", tag("strong", f"{LETTERS[question.right]}) "), sentence_to_html(question.right_choice)),
        tag("p", sentence_to_html(question.explanation)),
        tag("p", made),
    )
    choices = tag("ol", *(tag("li", sentence_to_html(choice)) for choice in question.choices), type="a")
    code = tag("pre", "\n".join(numbered_code(question.code)))
    return tag("section", tag("p", sentence_to_html(question.prompt)), code, choices, answer, class_="slide")
