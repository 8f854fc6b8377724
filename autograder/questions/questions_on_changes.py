"""Questions about small changes: to a reader's program, or to an argument."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from autograder.diagnosis.verdict import Status
from autograder.exercises.compare_observations import first_difference
from autograder.exercises.observation import TensorSnapshot
from autograder.questions.make_distractors import dtype_and_shape_distractors, shape_distractors
from autograder.questions.program_changes import ProgramChange, program_changes
from autograder.questions.reproducible_run import same_data
from autograder.questions.traced_run import RESULT_IN_WORDS, RunRecorder
from autograder.questions.traced_run_questions import AskedRun, DrawnQuestions
from autograder.questions.value_facts import OBJECT_IN_WORDS, VARIES_IN_WORDS, ValueDescription, container_items

SAME_VALUES_CHOICE = "it returns the same values"
_OTHER_VALUES = "it returns other values, of the same shape, length and type"
_OTHER_FORM = "it returns something of another shape, length or type"
_OTHER_VALUES_IN_PARTS = "it returns other values, in parts of the same lengths and types"
_OTHER_FORM_IN_PARTS = "a part of what it returns has another shape, length or type, or is missing"
_OTHER_TYPE_IN_PARTS = "a part of what it returns has another length or type, or is missing"
EVERY_CHECK_PASSES_CHOICE = "none: every check passes"
_SHOWS_FORM = re.compile(r"of shape|^a (dict|list|tuple) ")  # of a result whose values nobody knows
_MOST_CHANGES = 6  # changes to judge
_LEAST_MET = 2  # requirements that a changed program still meets
_MOST_NUMBERS = 500  # of an argument of another shape


def left_out_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask what becomes of the call without a part of the program."""
    if not asked.code.may_be_changed or not _is_comparable(asked):
        return
    makes = {line for made in ast.walk(asked.code.tree) for line in _lines_of_init(made)}
    words = _words_for_outcomes(asked.run.result)
    for edit in program_changes(asked):
        outcome = _outcome(asked, edit.tree)
        if outcome is None or _is_trivial(outcome.told):
            continue
        if outcome.kind == "same" and (edit.line in makes or not (asked.is_visible or _is_exact(asked.run.returned))):
            continue  # what a call does not use, or what may differ in the last bit for other numbers
        error = f"line {_line_of_error(asked, edit, outcome)} stops with an error"
        choices = {"error": error, **words}
        right = choices.pop(outcome.kind)
        because = f"Running it so: {outcome.told}."
        yield asked.question("left_out", f"{edit.told} What becomes of this call?", right, choices.values(), because)


def _words_for_outcomes(result: ValueDescription | None) -> dict[str, str]:
    """Return the choices for a call that returns something; those of a container speak of all its parts."""
    form = "" if result is None else result.form
    if not form.startswith(("a dict", "a list", "a tuple")):
        return {"same": SAME_VALUES_CHOICE, "values": _OTHER_VALUES, "form": _OTHER_FORM}
    other = _OTHER_FORM_IN_PARTS if "of shape" in form else _OTHER_TYPE_IN_PARTS  # a tuple may itself be a shape
    return {"same": SAME_VALUES_CHOICE, "values": _OTHER_VALUES_IN_PARTS, "form": other}


def _is_exact(plain: Any) -> bool:
    """Return whether plain data holds no floating-point numbers."""
    if isinstance(plain, TensorSnapshot):
        return plain.values is not None and not plain.values.is_floating_point()
    return not isinstance(plain, float) and all(map(_is_exact, container_items(plain)))


def _is_comparable(asked: AskedRun) -> bool:
    """Return whether another result can be told from that of the run: by its values, or by its shape or items."""
    result = asked.run.result
    return asked.run.returned is not None or (result is not None and _SHOWS_FORM.search(result.form) is not None)


def _lines_of_init(node: ast.AST) -> range:
    """Return the lines of a method that makes an object; none for any other node."""
    is_init = isinstance(node, ast.FunctionDef) and node.name == "__init__"
    return range(node.lineno, (node.end_lineno or 0) + 1) if is_init else range(0)  # type: ignore[attr-defined]


def _is_trivial(told: str) -> bool:
    """Return whether the words speak of a name or attribute without a value: the line that binds it was left out."""
    return re.search(r"raise[sd] (NameError|UnboundLocalError|AttributeError)|has no attribute", told) is not None


@dataclass(frozen=True)
class _Outcome:
    """What becomes of a call; `returned` is the result in words, if it is short."""

    kind: str
    told: str
    line: int = 0
    returned: str = field(default="", compare=False)


def _outcome(asked: AskedRun, tree: ast.Module) -> _Outcome | None:
    """Return what becomes of the call in a changed version; None if that is not certain."""
    runs = [asked.code.changed(tree, asked.run.case, seed) for seed in (1, 2)]
    found = [None if each is None else _outcome_of(asked, each) for each in runs]
    one, two = found
    if one is None or one != two:
        return None
    is_sure = one.kind == "values" and one.returned and two is not None and one.returned == two.returned
    return replace(one, told=f"it returns {one.returned}") if is_sure else one


def _outcome_of(asked: AskedRun, recorder: RunRecorder) -> _Outcome | None:
    if recorder.failed_in:
        return _Outcome("error", f"line {recorder.failed_in} raises {recorder.error}", recorder.failed_in)
    before, now = asked.run.returned, recorder.returned
    if not recorder.has_returned:
        return None
    fact = next(
        (e.facts[RESULT_IN_WORDS] for e in reversed(recorder.events) if e.kind == "return"), ValueDescription("")
    )
    form = fact.form
    if before is None or now is None:  # random numbers, or an object: of these the form is known, if anything
        was = asked.run.result
        is_other = (
            was is not None and form != was.form and {form, was.form}.isdisjoint(("", OBJECT_IN_WORDS, VARIES_IN_WORDS))
        )
        return _Outcome("form", f"it returns {form}") if is_other else None
    if _form(before) != _form(now):
        return _Outcome("form", f"it returns {form}") if form else None
    exact = asked.code.exercise.tolerance
    if first_difference({"": before}, {"": now}, exact) is not None:
        return _Outcome("values", "the values are not those from before", returned=fact.value)
    is_same = same_data(before, now) and asked.run.left is not None and same_data(asked.run.left, recorder.left)
    return _Outcome("same", "the result has the same values") if is_same else None


def _form(plain: Any) -> Any:
    if isinstance(plain, TensorSnapshot):
        return plain.shape, plain.dtype
    if isinstance(plain, dict):
        return {key: _form(item) for key, item in plain.items()}
    return [type(plain), *map(_form, plain)] if type(plain) in (list, tuple) else type(plain)


def _line_of_error(asked: AskedRun, edit: ProgramChange, outcome: _Outcome) -> int:
    """Return the line of the choice that speaks of an error: where there is none, the next line that runs."""
    if outcome.line:
        return outcome.line
    later = [line for line in sorted(asked.run.counts) if line > edit.line and asked.statement_of(line) is not None]
    return later[0] if later else edit.line


def first_failing_requirement_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask which requirement is the first that `check` does not pass without a part of the program."""
    if not asked.code.may_be_changed:
        return
    limit = asked.code.limit
    begun = limit.now()
    whole = asked.code.judged(asked.code.tree)
    took = limit.now() - begun
    if whole is None or not whole[0].passed:
        return
    sentences, seen = [verdict.requirement for verdict in whole[0].verdicts], set[str]()
    for _, edit in zip(range(_MOST_CHANGES), program_changes(asked), strict=False):
        if limit.now() + 2 * took > limit.end:
            return
        if (text := _without_idle(edit.tree)) in seen:
            continue  # the same program as after another change
        seen.add(text)
        one, two = (asked.code.judged(edit.tree, seed) for seed in (1, 2))
        if one is None or two is None or one[0].first != two[0].first:
            continue
        (first, strict), strictly_met = (each.first for each in one), one[1].passed_checks
        if first is not None and (first.status is not Status.FAIL or _is_trivial(first.sentence)):
            continue
        if first is None and not _is_same(asked, edit.tree):
            continue  # how closely `check` looks decides, which nobody sees
        met = [verdict.requirement for verdict in strictly_met]
        if len(met) < _LEAST_MET or (first and first.requirement) != (strict and strict.requirement):
            continue  # where nothing works, the order of the requirements decides, which the question does not show
        right = first.requirement if first else EVERY_CHECK_PASSES_CHOICE
        drawn = asked.random.sample(sentences, len(sentences))
        wrong = [each for each in drawn if each != right and each in met]
        wrong = [*wrong[:2], EVERY_CHECK_PASSES_CHOICE] if first else wrong
        crossed = f"the first cross of `check` stands at: {first.requirement}" if first else "all pass"
        prompt = f"In your code, {edit.told[0].lower()}{edit.told[1:]} Where is then the first cross of `check`?"
        yield asked.question("requirement", prompt, right, wrong, f"Running it so, {crossed}.", shows_call=False)


def _is_same(asked: AskedRun, tree: ast.Module) -> bool:
    """Return whether the call returns the same, to the last bit, in a changed version."""
    outcome = _outcome(asked, tree)
    return outcome is not None and outcome.kind == "same"


def _without_idle(tree: ast.Module) -> str:
    """Return a program as text, without statements that do nothing."""
    kept = ast.unparse(tree).splitlines()
    return "\n".join(line for line in kept if not re.fullmatch(r"\s*(pass|[\w.]+)", line) or line.strip() in _FLOW)


_FLOW = ("break", "continue", "return", "raise")


def argument_shape_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask which shape of an argument raises an error, and what the result of another shape is."""
    case, entered = asked.run.case, asked.run.entered
    plain = asked.code.called(case.args, case.kwargs)
    if plain is None or len(entered) != 1 or asked.run.returned is None:
        return
    if [e.facts for e in plain.events if e.kind == "enter"] != [entered[0].facts] or plain.returned is None:
        return
    if not same_data(plain.returned, asked.run.returned):
        return
    names = list(entered[0].facts)
    for place, value in enumerate(case.args):
        if isinstance(value, torch.Tensor) and value.dim() and value.numel():
            yield from _shape_arguments(asked, place, names[place], value)


def _shape_arguments(asked: AskedRun, place: int, name: str, value: torch.Tensor) -> DrawnQuestions:
    case, outcomes = asked.run.case, dict[tuple[int, ...], str]()
    for shape in shape_distractors(tuple(value.shape)):
        count = torch.Size(shape).numel()
        if count > _MOST_NUMBERS:
            continue
        other = value.detach().reshape(-1)[torch.arange(count) % value.numel()].reshape(shape)
        recorder = asked.code.called([*case.args[:place], other, *case.args[place + 1 :]], case.kwargs)
        if recorder is None:
            return
        form = next((e.facts[RESULT_IN_WORDS].form for e in reversed(recorder.events) if e.kind == "return"), "")
        outcomes[shape] = f"raises {recorder.error}" if recorder.error else form
    works = {shape: form for shape, form in outcomes.items() if form and not form.startswith("raises")}
    fails = {shape: how for shape, how in outcomes.items() if how.startswith("raises")}
    for shape, form in works.items():
        text = f"Of `{name}` the shape is now {shape}, all else is as it was. What does it return?"
        wrong = [*(each for each in works.values() if each != form), *dtype_and_shape_distractors(form, asked.shapes)]
        yield asked.question("argument", text, form, wrong, f"Running it so returns {form}.")
    for some, others, verb in ((fails, works, "raise an error"), (works, fails, "return something, with no error")):
        for shape in asked.random.sample(list(some), len(some)):
            text = f"Of `{name}` the shape is another one, all else is as it was. With which shape does it {verb}?"
            because = f"Running it so, {shape} {some[shape] if some is fails else f'returns {some[shape]}'}."
            yield asked.question("which_argument", text, str(shape), map(str, others), because)
