"""Questions as values, and the quiz that asks them one after the other."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from bs4 import BeautifulSoup

from autograder.questions.question import Question, numbered_code, question_as_text, shuffled_question
from explorers.explorer_controls import InvalidChoice
from explorers.quiz_widget import Quiz

FIRST = Question("value", "add", "What is `y` after line 2?", ("3", "4", "5"), 1, "`1 + 3` is 4.", "x = 1\ny = x + 3")
SECOND = Question("dtype", "add", "Which dtype has <y>?", ("int64", "float32"), 0, "Whole numbers stay whole.")


def sent(quiz: Quiz, name: str, value: str = "") -> None:
    """Deliver a choice as the page would."""
    quiz._handle_custom_msg({"choose": name, "value": value}, [])


@pytest.mark.parametrize(
    ("choices", "right"), [(("1",), 0), (("1", "1"), 0), (("1", "2"), 2), (("1", "2"), -1), (tuple("1234567"), 0)]
)
def test_a_question_refuses_equal_choices_and_a_right_one_that_is_not_there(
    choices: tuple[str, ...], right: int
) -> None:
    """Exactly one choice is right, so that a question can be answered."""
    with pytest.raises(ValueError, match="choice"):
        Question("value", "add", "What?", choices, right, "So.")


def test_a_shuffled_question_keeps_its_right_choice_and_comes_back_from_json() -> None:
    """The order is all that changes."""
    for seed in range(9):
        shuffled = shuffled_question(FIRST, Random(seed))
        assert (shuffled.right_choice, sorted(shuffled.choices)) == ("4", ["3", "4", "5"])
        assert Question.from_json(shuffled.to_json()) == shuffled
    assert len({shuffled_question(FIRST, Random(seed)).right for seed in range(9)}) == 3


def test_the_reader_chooses_sees_why_and_goes_on() -> None:
    """The first choice counts once; only then does the page offer the next question."""
    kept: list[tuple[str, int]] = []
    quiz = Quiz("Two questions", [FIRST, SECOND], lambda question, chosen: kept.append((question.kind, chosen)))
    assert "1 + 3" not in quiz.picture.replace("x + 3", "")
    sent(quiz, "next")
    assert "Question 1 of 2" in quiz.picture
    sent(quiz, "answer", "a")
    assert (kept, quiz.said) == ([("value", 0)], "Not a. It is b. `1 + 3` is 4.")
    sent(quiz, "answer", "b")
    assert kept == [("value", 0)]
    sent(quiz, "next")
    assert "Which dtype has &lt;y&gt;?" in quiz.picture
    sent(quiz, "answer", "a")
    assert kept == [("value", 0), ("dtype", 0)]
    assert quiz.said == "Right. Whole numbers stay whole. 1 of 2 were right."
    assert quiz.right_answers == 1
    assert "next" not in [control["name"] for control in quiz.controls]


def test_without_a_page_letters_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """`answer` explains, and prints the next question."""
    quiz = Quiz("Two questions", [FIRST, SECOND], lambda *_: "Kept.")
    with pytest.raises(InvalidChoice, match="one letter of a to c, got 'd'"):
        quiz.answer("d")
    quiz.answer("B")
    assert capsys.readouterr().out.splitlines()[:4] == [
        "Right. `1 + 3` is 4. Kept.",
        "",
        "Question 2 of 2",
        "Which dtype has <y>?",
    ]
    quiz.answer("b")
    assert "1 of 2 were right" in capsys.readouterr().out


def test_a_page_without_a_kernel_judges_the_choice_that_a_reader_unfolds() -> None:
    """Every choice opens what is said of it, at most one of a question at a time, and a program is there once."""
    again = Question("value", "add", "And `x`?", ("1", "2"), 0, "So it says.", FIRST.code)
    page = BeautifulSoup(Quiz("Three questions", [FIRST, again, SECOND]).page(), "html.parser")
    folds = page.find_all("details")
    said = [(fold.summary.get_text(), fold.p.get_text(), fold.p["class"]) for fold in folds]

    assert said[:3] == [
        ("a 3", "Not a. It is b. 1 + 3 is 4.", ["x-wrong"]),
        ("b 4", "Right. 1 + 3 is 4.", ["x-right"]),
        ("c 5", "Not c. It is b. 1 + 3 is 4.", ["x-wrong"]),
    ]
    assert [3, 2, 2] == list(Counter(fold["name"] for fold in folds).values())
    assert not any(fold.has_attr("open") for fold in folds)
    assert 1 == len(page.find_all("pre")) and not page.find_all("button")


def test_lines_are_numbered_and_the_text_form_holds_the_answer_only_on_demand() -> None:
    """A program of ten lines is aligned."""
    assert numbered_code("\n".join("abcdefghij"))[::9] == [" 1  a", "10  j"]
    assert "Right:" not in question_as_text(FIRST)
    assert question_as_text(FIRST, answered=True).endswith("Right: b. `1 + 3` is 4.")
