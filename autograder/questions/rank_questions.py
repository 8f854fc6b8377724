"""Rank questions about a reader's program by what is learned from answering them, and drop what nobody can answer.

All of it is read from the question itself: its words, its choices, and the program that it shows.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from autograder.questions.expressions_with_argument_shape import TENSOR_FACTORIES
from autograder.questions.name_dependencies import names_computed_from, names_in, returned_names
from autograder.questions.question import Question
from autograder.questions.questions_on_changes import EVERY_CHECK_PASSES_CHOICE, SAME_VALUES_CHOICE
from autograder.questions.value_facts import HIDDEN_PARAMETERS_IN_WORDS

# Kinds of questions that ask for what has been computed.
_FACTS = {"shape", "dtype", "value", "result", "changed", "argument"}
_NUMBER, _SHAPE, _SIZES = re.compile(r"-?\d[\d.]*"), re.compile(r"\(\d[\d, ]*\)"), re.compile(r"\(\d")
_LINE, _STEM = re.compile(r"\blines? (\d+)"), re.compile(r"(?<![a-z])[a-z]{4}")  # a stem is four letters
_SAYS_SIZES = re.compile(
    rf"\b({'|'.join(TENSOR_FACTORIES)}|eye|arange|standard_normal)\([\w, ().*]+$"
)  # of what is made
_LEFT_OUT = re.compile(r"left out|by `pass`")
_FORMULA = re.compile(r"\w+(?: [-+*/] \w+)+")
_PART = re.compile(r"of `(.+)` in line")
# Kinds whose answers may depend on all that goes in.
_EXACT = ("value", "changed", "count", "runs", "dtype", "left_out")
# A class of which the call shows no more: not an optimizer, a loader, or the new context of an autograd function.
_CLASS = r"(?!(?:SGD|Adam\w?|DataLoader|\w+Backward)\b)[A-Z_]\w+"
_HIDDEN = re.compile(  # words for what is not shown
    r"`: an? (?:(?:function|\w*_iterator|generator)\b|DataLoader\b(?! in )|tensor, bool"
    r"|(?:list|tuple|dict|set) of \d+[;.]"
    rf"|{_CLASS}[;.])"
)
_SHORT = 3  # letters of an answer that others contain by chance
_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.Match, ast.Try)
_OPAQUE = re.compile(  # an argument of which the call shows nothing but what it is
    rf"`(\w+)`: (?:[^`;]*\b)?an? (?:function\b|{_CLASS}(?=[;.,]))"
)
_EXPRESSION = re.compile(r"of `(.+)` (?:in|after) lines? \d")
_SEEDED = re.compile(r"manual_seed|Generator|seed=")  # whose numbers no reader knows
_VIEW = re.compile(
    r"(?:.* = )?(\w+)(?:\[[^\]]*\]|\.(?:T|mT)\b|\.(?:un)?squeeze\([\w=-]*\)"
    r"|\.(?:reshape|view|flatten|transpose|permute|detach|clone|contiguous)\([^()]*\))+"
)
_CONTAINERS = ("a dict", "a list", "a tuple")
_HIDDEN_ITEMS = re.compile(r"`: a (?:\w*_iterator|generator)\b")  # without which no shape is known either
_NO_DIFFERENCE = {
    SAME_VALUES_CHOICE,
    EVERY_CHECK_PASSES_CHOICE,
}  # the answers of questions on changes that change nothing


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

    def ranked_questions(self) -> list[Question]:
        """Return all questions, the best ones first; of those that differ in numbers alone, one."""
        found: dict[tuple[str, str], Question] = {}
        for question in (*self.good, *self.repeated, *self.copied):
            found.setdefault((_subject(question), _NUMBER.sub("0", question.right_choice)), question)
        return list(found.values())


def _can_be_copied(question: Question) -> bool:
    """Return whether nobody has to work out the answer: the question or its line says it, or nothing is left out."""
    right, prompt = question.right_choice, question.prompt
    if right in _NO_DIFFERENCE and not _LEFT_OUT.search(prompt):
        return True  # lines that change places, or `<` and `<=`: that often makes no difference, as anybody sees
    if question.kind == "shape" and _SAYS_SIZES.search(_asked_about(question)):
        return True
    if right == "()" and _is_of_opaque(question, prompt.partition("\n")[0]):
        return True  # of a loss that a hidden function gives, as of any loss
    if question.kind == "dtype" and (view := _VIEW.fullmatch(_asked_about(question).strip())):
        return f"`{view[1]}`: {right} of shape" in prompt
    if question.kind == "requirement" and right != EVERY_CHECK_PASSES_CHOICE:
        changed = "\n".join(question.code.splitlines()[int(n) - 1] for n in _LINE.findall(prompt))
        others = {stem for each in question.choices if each != right for stem in _STEM.findall(each)}
        formulas = any(each in changed for each in _FORMULA.findall(right))
        return formulas or not ({*_STEM.findall(right)} - others).isdisjoint(_STEM.findall(changed))
    if f"`: `{right}`" in prompt or (question.kind == "count" and _is_length(question)):
        return True  # the value of an argument, or a number of items
    if question.kind == "argument" and prompt.rpartition("now ")[2].startswith(right.rpartition("of shape ")[2] + ","):
        return True  # an empty shape, too
    shapes = _SHAPE.findall(right)
    is_shown = right in prompt or (bool(shapes) and all(each in prompt for each in shapes))
    wrong = ("of shape ()" if each == "()" else each for each in question.choices if each != right)
    is_one_of_many = any(each in prompt for each in wrong)
    return question.kind in _FACTS and is_shown and not is_one_of_many and not _NUMBER.fullmatch(right)


def _is_length(question: Question) -> bool:
    """Return whether a count is the number of items that the call or the head of the loop shows."""
    right, line = question.right_choice, int(_LINE.findall(question.prompt)[-1])
    loops = [each for each in ast.walk(ast.parse(question.code)) if isinstance(each, ast.For)]
    items = [each.iter for each in loops if each.lineno < line <= (each.end_lineno or 0)]
    is_written = any(isinstance(each, ast.Tuple | ast.List) and str(len(each.elts)) == right for each in items)
    return is_written or re.search(rf" of {right}[:,;.]", question.prompt) is not None


def _ask_the_same(one: Question, other: Question) -> bool:
    """Return whether two questions ask nearly the same: of one thing, or with the same answer."""
    rights = [each.right_choice.strip("([,])") for each in (one, other)]
    is_known = rights[0] == rights[1] and one.kind != "memory"
    if _NO_DIFFERENCE.issuperset(rights) or _subject(one) == _subject(other):
        return True
    are_facts = {one.kind, other.kind} <= _FACTS
    return (is_known and (one.kind == other.kind or are_facts)) or (are_facts and _follows(one, other))


def _follows(one: Question, other: Question) -> bool:
    """Return whether the answer of a question on a fact follows from another one, or from its explanation."""
    asked = [_EXPRESSION.search(each.prompt) for each in (one, other)]
    if asked[0] and asked[1] and asked[0][1] == asked[1][1]:
        return True
    shapes = [_asked_shapes(each) for each in (one, other)]
    if shapes[0] and (shapes[0] <= shapes[1] or (shapes[1] and shapes[1] <= shapes[0])):
        return True
    right = one.right_choice
    is_part = len(right) > _SHORT and (right in other.right_choice or other.right_choice in right)
    return is_part or (asked[0] is not None and f"{right} is the {one.kind} of `{asked[0][1]}`" in other.explanation)


def _asked_shapes(question: Question) -> set[str]:
    """Return the shapes of the right choice that a reader has to find: not those that all choices have."""
    told = [{*_SHAPE.findall(each)} for each in question.choices]
    return {*_SHAPE.findall(question.right_choice)} - set.intersection(*told)


def _asked_about(question: Question) -> str:
    """Return the expression that a question asks about; of a name, all of its line counts."""
    asked = question.prompt.splitlines()[-1]
    if part := _PART.search(asked):
        return part[1]
    return "\n".join(question.code.splitlines()[int(number) - 1] for number in _LINE.findall(asked))


def _depends_on_hidden(question: Question) -> bool:
    """Return whether an answer depends on what the words of the call do not show."""
    call, _, asked = question.prompt.partition("\n")
    if _SIZES.search(question.right_choice) and _is_of_opaque(question, call):
        return True
    if question.kind == "count" and _is_straight(question.code, int(_LINE.findall(asked)[0]), call):
        call = call.replace("a function", "")
    elif question.kind in ("count", "value", "changed") and _SEEDED.search(question.code):
        return True
    hides_items = _HIDDEN_ITEMS.search(call) is not None and question.kind in _FACTS
    hides = HIDDEN_PARAMETERS_IN_WORDS in call or _HIDDEN.search(call) is not None
    return hides_items or (hides and question.kind in _EXACT)


def _is_of_opaque(question: Question, call: str) -> bool:
    """Return whether the program computes what is asked about from an argument that the call does not show."""
    opaque = {*_OPAQUE.findall(call)}
    if not opaque:
        return False
    expression = _EXPRESSION.search(question.prompt)
    names = names_in(ast.parse(expression[1])) if expression else returned_names(question.code)
    return not names_computed_from(question.code, opaque).isdisjoint(names)


def _is_argument(question: Question) -> bool:
    """Return whether the answer is a container of the call as the call tells it."""
    right = question.right_choice
    return question.kind == "result" and right.startswith(_CONTAINERS) and right in question.prompt.partition("\n")[0]


def _is_straight(code: str, line: int, call: str) -> bool:
    """Return whether no function that a program calls can change how often a line of it runs."""
    nodes = list(ast.walk(ast.parse(code)))
    outer = [
        each for each in nodes if isinstance(each, ast.FunctionDef) and each.lineno <= line <= (each.end_lineno or 0)
    ]
    is_called = len(outer) == 1 and f"`{outer[0].name}` is called" in call
    return is_called and not any(isinstance(each, _BRANCHES) for each in nodes)


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
