"""Draw questions about a reader's own program that passes an exercise: at most three, and within a limit.

The program runs twice on each newly drawn case, traced line by line. Questions use only facts on which both runs agree,
and each choice is verified by computing it. If that leaves no question, NoQuestions is raised with the reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any

import torch

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.exercises.exercise import Case, Exercise
from autograder.questions.question import Question
from autograder.questions.question_search_limit import SearchLimit, limit_steps
from autograder.questions.questions_on_changes import (
    PASSES,
    SAME,
    argument_questions,
    first_failing_requirement_questions,
    left_out_questions,
)
from autograder.questions.questions_on_values import (
    changed_argument_questions,
    count_questions,
    dtype_questions,
    memory_questions,
    result_questions,
    shape_questions,
    value_questions,
)
from autograder.questions.student_program import NoQuestions, OwnCode
from autograder.questions.traced_run_questions import AskedRun
from autograder.questions.unchanged_arguments import MAKERS
from autograder.questions.value_facts import HIDES

MOST = 3
_STEPS = 30_000  # of the traced program, for questions that are to be drawn again elsewhere: a second or two
_SEEDS = 10**6
# Kinds of questions that ask for what has been computed.
_FACTS = {"shape", "dtype", "value", "result", "changed", "argument"}
_NUMBER, _SHAPE = re.compile(r"-?\d[\d.]*"), re.compile(r"\(\d[\d, ]*\)")
_LINE, _STEM = re.compile(r"\blines? (\d+)"), re.compile(r"(?<![a-z])[a-z]{4}")  # a stem is four letters
_SAYS_SIZES = re.compile(rf"\b({'|'.join(MAKERS)}|eye|arange|standard_normal)\([\w, ()]+$")  # of what is made
_LEFT_OUT = re.compile(r"left out|by `pass`")
_FORMULA = re.compile(r"\w+(?: [-+*/] \w+)+")
_PART = re.compile(r"of `(.+)` in line")
# Kinds whose answers may depend on all that goes in.
_EXACT = ("value", "changed", "count", "runs", "dtype", "left_out")
_HIDDEN = re.compile(  # words for what is not shown
    r"`: an? (?:(?:function|\w*_iterator|generator)\b|DataLoader\b(?! in )|tensor, bool"
    r"|(?:list|tuple|dict|set) of \d+[;.]"
    r"|(?!(?:SGD|Adam\w?|DataLoader)\b)[A-Z_]\w+[;.])"
)
_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.Match, ast.Try)
_FUNCTION = re.compile(r"`(\w+)`: a function")
_CONTAINERS = ("a dict", "a list", "a tuple")
_HIDDEN_ITEMS = re.compile(r"`: a (?:\w*_iterator|generator)\b")  # without which no shape is known either
_NO_DIFFERENCE = {SAME, PASSES}  # the answers of questions on changes that change nothing
_MOST_TRIED = 12  # questions of one run, until no more are looked for
_ON_VALUES = (
    *(shape_questions, value_questions, memory_questions, count_questions, dtype_questions, result_questions),
    changed_argument_questions,
)
_ON_CHANGES = (left_out_questions, first_failing_requirement_questions, argument_questions)


def own_code_questions(
    exercise: Exercise,
    key: ExpectedObservations,
    text: str,
    called: str,
    names: Mapping[str, Any],
    random: Random,
    limit: SearchLimit,
    most: int = MOST,
) -> list[Question]:
    """Return up to `most` questions about a program; raise NoQuestions, with the reason, if there is none.

    `text` defines the answer, which is `names[called]`; `names` are those that it finds there. No step of the program
    is run once `limit` is reached.
    """
    code = OwnCode(exercise, key, text, called, names, limit)
    drawn = RankedQuestions([], [], [])
    ran, shown = False, set[str]()
    # Last cases may show little of an answer: they come only where others have shown that it does what its text says.
    last = (case for case in _cases(exercise, random, last=True) if drawn.asked())
    for case in chain(_cases(exercise, random), _cases(exercise, random), last):
        if len(drawn.good) >= most or limit.is_over():
            break
        run = code.run(case)
        if run is not None and run.events:
            ran, asked = True, AskedRun(code, run, random)
            if asked.call_words not in shown:  # whole numbers look like others where no number is shown
                _add_of_one_run(asked, drawn, most)
            shown.add(asked.call_words)
    found = drawn.asked()[:most]
    if not found:
        why = "nothing in its runs makes a question with four different choices" if ran else _NO_RUN
        raise NoQuestions(why)
    return found


def deterministic_questions(
    exercise: Exercise, key: ExpectedObservations, text: str, called: str, names: Mapping[str, Any], draw: int
) -> list[Question]:
    """Return up to three questions, the same for the same program and number on any machine, however fast it is."""
    return own_code_questions(exercise, key, text, called, names, Random(draw), limit_steps(_STEPS))


_NO_RUN = "no run of it can be traced: it takes long, or does not do the same each time, or not what its text says"


def _cases(exercise: Exercise, random: Random, *, last: bool = False) -> Iterator[Case]:
    """Yield a fresh case of each requirement, its first or its `last` one: with whole numbers, and as it is.

    The first requirement comes first. Where all sizes of a tensor are equal no shape tells which axis moved: such cases
    come last.
    """
    cases: dict[str, Case] = {}
    for case in exercise.cases(random.randrange(1, _SEEDS)):
        known = cases.get(case.requirement)
        if known is None or last or (_is_square(known) and not _is_square(case)):
            cases[case.requirement] = case
    first, *others = cases.values()
    for case in sorted((first, *random.sample(others, len(others))), key=_is_square):
        if (whole := _with_whole_numbers(case)) is not None:
            yield whole
        yield case


def _is_square(case: Case) -> bool:
    tensors = [each for each in (*case.args, *case.kwargs.values()) if isinstance(each, torch.Tensor)]
    return any(each.ndim > 1 and len(set(each.shape)) == 1 for each in tensors)


def _with_whole_numbers(case: Case) -> Case | None:
    """Return the case with the numbers of its tensors rounded; None if too many numbers are equal then, or all 0."""
    tensors = [each for each in (*case.args, *case.kwargs.values()) if _is_float(each)]
    rounded = [each.round() for each in tensors]
    if not tensors or any(2 * len(new.unique()) < min(new.numel(), 4) or not new.any() for new in rounded):
        return None
    args = [each.round() if _is_float(each) else each for each in case.args]
    kwargs = {name: each.round() if _is_float(each) else each for name, each in case.kwargs.items()}
    return Case(case.requirement, *args, **kwargs)


def _is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


@dataclass(frozen=True)
class RankedQuestions:
    """The questions drawn so far, by what a reader learns from them.

    Of the thing that a `repeated` one is about, or with its answer, another one is asked, and answers of `copied` ones
    stand in the question or follow from another one: they are asked, in this order, only where all runs give too few
    good ones. No two differ in numbers alone, and none depends on what is not shown.
    """

    good: list[Question]
    repeated: list[Question]
    copied: list[Question]

    def add(self, question: Question) -> None:
        """Add a question by its rank."""
        if _depends_on_hidden(question) or _is_argument(question):
            return
        if _can_be_copied(question) or any(_run_equally_often(question, other) for other in self.good + self.repeated):
            self.copied.append(question)
        else:
            (self.repeated if any(_ask_the_same(question, other) for other in self.good) else self.good).append(
                question
            )

    def asked(self) -> list[Question]:
        """Return all questions, the best ones first; of those that differ in numbers alone, one."""
        found: dict[tuple[str, str], Question] = {}
        for question in (*self.good, *self.repeated, *self.copied):
            found.setdefault((_subject(question), _NUMBER.sub("0", question.right_choice)), question)
        return list(found.values())


def _add_of_one_run(asked: AskedRun, drawn: RankedQuestions, most: int) -> None:
    """Add questions about one run, of as many kinds as there are."""
    random = asked.random
    kinds = [*random.sample(_ON_VALUES, len(_ON_VALUES)), *random.sample(_ON_CHANGES, len(_ON_CHANGES))]
    kinds.insert(0, kinds.pop())  # one about a change comes first: it takes longest
    waiting = [each(asked) for each in kinds]
    tried = 0
    while waiting and len(drawn.good) < most and tried < _MOST_TRIED:
        kind = waiting.pop(0)
        question = next((each for each in kind if each is not None), None)
        if question is not None:
            waiting.append(kind)
            drawn.add(question)
            tried += 1


def _can_be_copied(question: Question) -> bool:
    """Return whether nobody has to work out the answer: the question or its line says it, or nothing is left out."""
    right, prompt = question.right_choice, question.prompt
    if right in _NO_DIFFERENCE and not _LEFT_OUT.search(prompt):
        return True  # lines that change places, or `<` and `<=`: that often makes no difference, as anybody sees
    if question.kind == "shape" and _SAYS_SIZES.search(_asked_about(question)):
        return True
    if question.kind == "requirement" and right != PASSES:
        changed = "\n".join(question.code.splitlines()[int(n) - 1] for n in _LINE.findall(prompt))
        others = {stem for each in question.choices if each != right for stem in _STEM.findall(each)}
        formulas = any(each in changed for each in _FORMULA.findall(right))
        return formulas or not ({*_STEM.findall(right)} - others).isdisjoint(_STEM.findall(changed))
    if f"`: `{right}`" in prompt or (question.kind == "count" and f" of {right}: " in prompt):
        return True  # the value of an argument, or the length of one
    if question.kind == "argument" and prompt.rpartition("now ")[2].startswith(right.rpartition("of shape ")[2] + ","):
        return True  # an empty shape, too
    shapes = _SHAPE.findall(right)
    is_shown = right in prompt or (bool(shapes) and all(each in prompt for each in shapes))
    wrong = ("of shape ()" if each == "()" else each for each in question.choices if each != right)
    is_one_of_many = any(each in prompt for each in wrong)
    return question.kind in _FACTS and is_shown and not is_one_of_many and not _NUMBER.fullmatch(right)


def _ask_the_same(one: Question, other: Question) -> bool:
    """Return whether two questions ask nearly the same: of one thing, or with the same answer."""
    rights = [each.right_choice.strip("([,])") for each in (one, other)]
    is_known = rights[0] == rights[1] and one.kind != "memory"
    if _NO_DIFFERENCE.issuperset(rights):
        return True
    return _subject(one) == _subject(other) or (
        is_known and (one.kind == other.kind or {one.kind, other.kind} < _FACTS)
    )


def _asked_about(question: Question) -> str:
    """Return the expression that a question asks about; of a name, all of its line counts."""
    asked = question.prompt.splitlines()[-1]
    if part := _PART.search(asked):
        return part[1]
    return "\n".join(question.code.splitlines()[int(number) - 1] for number in _LINE.findall(asked))


def _depends_on_hidden(question: Question) -> bool:
    """Return whether an answer depends on what the words of the call do not show."""
    call, _, asked = question.prompt.partition("\n")
    numbers = [int(number) for number in _LINE.findall(asked)]
    if question.kind == "shape" and (functions := _FUNCTION.findall(call)):
        return any(f"{name}(" in _asked_about(question) for name in functions)
    if question.kind == "count" and _is_straight(question.code, numbers[0]):
        call = call.replace("a function", "")
    if question.kind == "shape" and "a function" in call and " of shape " not in call:
        return True  # what the function gives
    hides_items = _HIDDEN_ITEMS.search(call) is not None and question.kind in _FACTS
    hides = HIDES in call or _HIDDEN.search(call) is not None
    return hides_items or (hides and question.kind in _EXACT)


def _is_argument(question: Question) -> bool:
    """Return whether the answer is a container of the call as the call tells it."""
    right = question.right_choice
    return question.kind == "result" and right.startswith(_CONTAINERS) and right in question.prompt.partition("\n")[0]


def _is_straight(code: str, line: int) -> bool:
    """Return whether no function that a program calls can change how often a line of it runs."""
    nodes = list(ast.walk(ast.parse(code)))
    outer = [
        each for each in nodes if isinstance(each, ast.FunctionDef) and each.lineno <= line <= (each.end_lineno or 0)
    ]
    return len(outer) == 1 and not any(isinstance(each, _BRANCHES) for each in nodes)


def _block(code: str, line: int) -> int:
    """Return the first line of the innermost block in which a line of a program begins."""
    blocks = [
        block
        for node in ast.walk(ast.parse(code))
        for _, block in ast.iter_fields(node)
        if isinstance(block, list) and any(isinstance(each, ast.stmt) and each.lineno == line for each in block)
    ]
    return min((each.lineno for block in blocks for each in block[:1]), default=line)


def _run_equally_often(one: Question, other: Question) -> bool:
    """Return whether two questions ask how often lines of one block run."""
    if one.kind != "count" or other.kind != "count":
        return False
    places = (int(_LINE.findall(each.prompt.splitlines()[-1])[0]) for each in (one, other))
    return len({_block(one.code, place) for place in places}) == 1


def _subject(question: Question) -> str:
    """Return what a question is about, whatever the call: a change to the program, or all that is asked."""
    return question.prompt.splitlines()[-1].removeprefix("In your code, ").lower().partition(". ")[0]
