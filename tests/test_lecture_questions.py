"""The page of questions for the lecture: made of the costliest mistakes, true, and without anything of a student."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import nbformat
import pytest

from autograder.course.chapter_reader import read_chapter
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.value_format import value_text
from autograder.exercises.probe import snapshot_value
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.questions.bug_hunt_file import BugHunt, ExerciseHunts
from autograder.questions.faulty_program_result_question import ask_for_result_of_faulty_program
from autograder.questions.mistake_program_and_distractors import find_program_and_distractors
from autograder.reports import class_results, write_reports
from autograder.reports.class_results import ClassResults
from autograder.reports.lecture_question_page import lecture_page, lecture_page_file_name
from tests.our_course import COURSE

STEM, NAME = "ch01b_broadcasting", "masked_mean"
EXERCISE, KEY = COURSE.find(NAME), COURSE.keys(STEM)[NAME]
COSTLY = {"int-division": 2, "nan-row": 3, "one-count-for-all": 4, "mask-inverted": 5, "largest": 1}


def class_with(counts: dict[str, int], course: Path = COURSE.folder) -> ClassResults:
    """Return a class in which so many students show these mistakes in the exercise."""
    rows = []
    for tag, count in counts.items():
        (mistake,) = (each for each in KEY.mistakes if each.tag == tag)
        verdict = SubmissionVerdict(
            STEM, 1, "", (judge(EXERCISE, KEY, mistake.observations, ""),), {NAME: 4}, {NAME: 0}
        )
        rows += [StudentRow(f"student-{tag}-{number}", verdict) for number in range(count)]
    return ClassResults(course, STEM, "Chapter 1b", tuple(rows))


def slides(page: bytes) -> list[str]:
    """Return the markup of the page's questions."""
    return re.findall(r'<section class="slide">.*?</section>', page.decode(), re.DOTALL)


def words(markup: str) -> str:
    """Return a text without markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_the_three_costliest_mistakes() -> None:
    """The page asks about the three mistakes by which most points were lost, the costliest first."""
    page = lecture_page(class_with(COSTLY))
    made = [int(count) for each in slides(page) for count in re.findall(r"(\d+) students? of this class", each)]

    assert [5, 4, 2] == list(dict.fromkeys(made))  # nan-row costs one requirement of many, `largest` one student all
    assert f"{len(made)} questions" in page.decode() and f'href="{STEM}.html"' in page.decode()
    assert page == lecture_page(class_with(COSTLY))


def test_each_question_stands_alone() -> None:
    """Each has its program, four choices and a folded answer; no script, and nothing of a student is on the page."""
    page = lecture_page(class_with(COSTLY))

    assert 3 < len(slides(page)) <= 6
    for each in slides(page):
        assert "1  def their_masked_mean(" in each and 4 == each.count("<li>")
        assert 1 == each.count("<details><summary>Answer</summary>") == each.count("</details></section>")
    assert b"student-" not in page and b"<script" not in page


def test_the_right_sentence_is_what_students_read() -> None:
    """The answer to a question about sentences is the sentence of the mistake, and stands among the choices."""
    sentence = next(each.sentence for each in KEY.mistakes if each.tag == "int-division")
    (asked,) = (each for each in slides(lecture_page(class_with({"int-division": 1}))) if "Which of these" in each)
    choices, answer = asked.split("<details>")

    assert 1 == words(choices).count(words(sentence.replace("`", " ")))
    assert re.match(r"Answer [a-d]\) " + re.escape(words(sentence.replace("`", " "))), words(answer))


@pytest.mark.parametrize("tag", [mistake.tag for mistake in KEY.mistakes])
def test_the_program_gives_the_right_choice(tag: str) -> None:
    """Running the call of the question gives the value that is marked as right, for proven hunts and bank answers."""
    shown = find_program_and_distractors(COURSE, NAME, tag)
    question = ask_for_result_of_faulty_program(shown[0], EXERCISE, KEY, Random(0)) if shown else None
    if question is None:
        return
    names: dict[str, Any] = {}
    exec(read_chapter(COURSE.folder / "chapters" / f"{STEM}.py").prelude + "\n" + question.code, names)
    call = re.findall(r"What comes out of `(.*)`\?", question.prompt)[0]

    assert question.right_choice == f"`{value_text(snapshot_value(eval(call, names)))}`"


def test_most_mistakes_give_a_question() -> None:
    """Most mistakes of this exercise can be asked about by what their program gives, each with four choices."""
    found = [shown for each in KEY.mistakes if (shown := find_program_and_distractors(COURSE, NAME, each.tag))]
    questions = [
        each for program, _ in found if (each := ask_for_result_of_faulty_program(program, EXERCISE, KEY, Random(0)))
    ]

    assert len(found) == len(KEY.mistakes) and len(questions) > len(KEY.mistakes) / 2
    assert all(len(each.choices) == 4 and "<" not in each.prompt for each in questions)


def test_a_proven_hunt_comes_before_the_banks_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short hunt of the mistake is taken with the false sentences of its file; without one, the bank has both."""
    hunt = BugHunt(NAME, "largest", "def their_masked_mean(x, mask, dim):\n    return x\n", "change", 2, (1,))
    hunts = {NAME: ExerciseHunts("", {"largest": ("keeps-dim",)}, (hunt,))}
    monkeypatch.setattr("autograder.questions.mistake_program_and_distractors.read_hunts", lambda *_: hunts)
    of_bank = find_program_and_distractors(COURSE, NAME, "keeps-dim")

    assert find_program_and_distractors(COURSE, NAME, "largest") == (hunt, ("keeps-dim",))
    assert of_bank is not None and of_bank[0].code.startswith("def their_masked_mean(x, mask, dim):\n")
    assert '"""' not in of_bank[0].code and "#" not in of_bank[0].code
    assert None is find_program_and_distractors(COURSE, NAME, "no-such-mistake")
    long = replace(hunt, mistake="keeps-dim", code="def their_masked_mean(x, mask, dim):\n" + "    x = x\n" * 30)
    hunts[NAME] = replace(hunts[NAME], hunts=(long,))
    assert find_program_and_distractors(COURSE, NAME, "keeps-dim") == of_bank


def test_a_class_without_known_mistakes_has_no_page(tmp_path: Path) -> None:
    """Without a known mistake, or where the course folder does not know the exercise, there is no page."""
    assert b"" == lecture_page(class_with({})) == lecture_page(class_with({"largest": 2}, tmp_path))


def test_the_report_leads_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`report` writes the page beside that of the chapter, which leads to it, and removes it when nothing is to ask."""
    classes = [class_with(COSTLY)]
    monkeypatch.setattr(class_results, "assignments_with_results", lambda _: [STEM])
    monkeypatch.setattr(class_results, "read_all", lambda *_: classes)
    monkeypatch.setattr(class_results, "assignment_title", lambda *_: "Chapter 1b")
    monkeypatch.setattr(write_reports, "_run", lambda *_: nbformat.v4.new_notebook())
    write_reports.write_reports(tmp_path)
    reports = tmp_path / "reports"

    assert 4 <= len(slides((reports / lecture_page_file_name(STEM)).read_bytes()))
    assert (
        f'<a href="{lecture_page_file_name(STEM)}">Questions for the lecture</a>'
        in (reports / f"{STEM}.html").read_text()
    )
    classes[:] = [class_with({})]
    write_reports.write_reports(tmp_path)
    assert (
        not (reports / lecture_page_file_name(STEM)).exists()
        and "lecture" not in (reports / f"{STEM}.html").read_text()
    )
