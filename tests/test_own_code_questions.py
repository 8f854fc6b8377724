"""Questions about a reader's own code: they are true, there are enough, and bad input gives none, with a reason."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from types import FrameType
from typing import Any

import pytest
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from autograder.course.chapter_judge import Judge
from autograder.course.course import course_in
from autograder.exercises.exercise import Case
from autograder.questions import own_code_questions as own_code_questions_module
from autograder.questions.make_distractors import dtype_and_shape_distractors, value_distractors
from autograder.questions.name_dependencies import names_computed_from
from autograder.questions.own_code_question_part import digest_of_questions
from autograder.questions.own_code_questions import (
    deterministic_questions,
    own_code_questions,
)
from autograder.questions.program_changes import program_changes
from autograder.questions.question import Question
from autograder.questions.question_search_limit import limit_seconds
from autograder.questions.questions_on_changes import (
    first_failing_requirement_questions,
    left_out_questions,
)
from autograder.questions.questions_on_values import (
    changed_argument_questions,
    how_often_questions,
    shape_questions,
    shared_memory_questions,
)
from autograder.questions.rank_questions import RankedQuestions, _can_be_copied, _depends_on_hidden
from autograder.questions.reproducible_run import ReproducibleRun
from autograder.questions.student_program_runs import NoQuestions, PreparedAnswer
from autograder.questions.traced_run_questions import AskedRun
from autograder.questions.value_facts import describe_value
from tests.small_chapter import PROJECT

COURSE = course_in(PROJECT / "course")
DOZEN = (
    *("describe", "masked_mean", "one_hot", "standardize", "descend", "running_loss"),
    *("LeakyClamp", "Linear", "conv2d", "evaluate", "train_step", "LossScaler"),
)
PLENTY = 60.0  # seconds: tests share their processors


@cache
def judge_of(stem: str) -> Judge:
    """Return the judge of a chapter."""
    return Judge(COURSE.folder, stem)


def right_answers(name: str) -> dict[str, str]:
    """Return the texts of the right answers to an exercise: the reference, and those of the bank."""
    judge = judge_of(COURSE.find(name).chapter)
    return {"": judge.chapter.solution(name)} | {each.tag: each.source for each in judge.banks[name] if each.is_right}


def own_code(name: str, text: str, seconds: float = PLENTY) -> PreparedAnswer:
    """Return an answer as a program to ask about."""
    judge = judge_of(COURSE.find(name).chapter)
    names: dict[str, Any] = {}
    exec(judge.chapter.prelude, names)
    exec(text, names)
    key = judge.keys.full_key(name, 0)
    return PreparedAnswer(judge.exercises[name], key, text, name, names, limit_seconds(seconds))


def questions(name: str, text: str, seconds: float = PLENTY, seed: int = 0) -> list[Question]:
    """Return the questions about an answer."""
    code = own_code(name, text, seconds)
    return own_code_questions(code.exercise, code.key, text, name, code.names, Random(seed), code.limit)


def run_of(name: str, text: str) -> tuple[PreparedAnswer, ReproducibleRun]:
    """Return an answer and its run on the first visible case."""
    code = own_code(name, text)
    run = code.run(code.exercise.cases(0)[0])
    assert run is not None
    return code, run


TABLE = torch.arange(6.0).reshape(2, 3)


def asked_of(*lines: str, x: torch.Tensor = TABLE) -> AskedRun:
    """Return the run of `describe` with these lines, on a table of two rows and three columns or on another one."""
    code = own_code("describe", "\n    ".join(("def describe(x):", *lines)))
    run = code.run(Case(code.exercise.cases(0)[0].requirement, x))
    assert run is not None
    return AskedRun(code, run, Random(0))


class TestTrue:
    """What is recorded and asked is what another way of running the program gives."""

    @pytest.mark.parametrize("name", DOZEN)
    def test_facts_are_those_of_pythons_own_tracing(self, name: str) -> None:
        """The form of each name after a line is that which a trace function sees when the next line begins."""
        code, run = run_of(name, right_answers(name)[""])
        seen = facts_by_tracing(code, run.case)
        found = {
            (event.line, each): fact.form
            for event in run.events
            if event.kind == "after"
            for each, fact in event.facts.items()
            if "." not in each
        }

        assert {key: seen.get(key) for key in found} == found

    def test_a_line_left_out(self) -> None:
        """Which requirement fails first without a line is what `check` says of the program without it."""
        asked = 0
        for name in ("train_step", "running_loss", "standardize"):
            code, run = run_of(name, right_answers(name)[""])
            found = [
                each
                for seed in range(4)
                for each in first_failing_requirement_questions(AskedRun(code, run, Random(seed)))
                if each and "code, line " in each.prompt
            ]
            for each in found[:3]:
                line = int(each.prompt.split("line ")[1].split()[0])
                rows = code.text.splitlines()
                rows[line - 1] = re.sub(r"\S.*", "pass", rows[line - 1])
                judged = code.judged(ast.parse("\n".join(rows)))
                assert judged is not None
                report, _ = judged
                assert each.right_choice == (report.first.requirement if report.first else "none: every check passes")
                asked += 1

        assert asked >= 2

    def test_what_is_left_out(self) -> None:
        """Without a part of the program a call returns the same, other values or another form, or stops."""
        picked = "z = y[:, [x.shape[0] - 6]]"
        lines = ("y = x.clone()", "y *= 2", "x = x.flatten()", picked, "return z.sum(dim=1, keepdim=True)")
        asked = left_out_questions(asked_of(*lines))
        found = {each.prompt.splitlines()[1].partition(" What")[0]: each.right_choice for each in asked if each}

        assert found == {
            "In line 2, `.clone()` is left out.": "it returns the same values",
            "Line 3 is left out.": "it returns other values, of the same shape, length and type",
            "Line 4 is left out.": "line 5 stops with an error",
            "In line 4, `.flatten()` is left out.": "line 5 stops with an error",
            "In line 6, `dim=1` is left out.": "line 6 stops with an error",
            "In line 6, `keepdim=True` is left out.": "it returns something of another shape, length or type",
            "In line 5, `x.shape[0] - 6` becomes `x.shape[0] + 6`.": "line 5 stops with an error",
            "Lines 3 and 4 change places.": "it returns the same values",
            "Lines 4 and 5 change places.": "line 5 stops with an error",
        }

    @pytest.mark.parametrize("shown", [True, False])
    def test_no_last_bit_is_promised(self, shown: bool) -> None:
        """That a change leaves floats the same is asked only where the call shows all numbers."""
        table = TABLE if shown else torch.linspace(0, 1, 60).reshape(2, 30)
        asked = left_out_questions(asked_of("y = x.clone()", "return y.sum(dim=1)", x=table))
        right = {each.right_choice for each in asked if each and ".clone()" in each.prompt}

        assert right == ({"it returns the same values"} if shown else set())

    def test_memory_and_counts(self) -> None:
        """A program whose memory and counts are plain is asked about as they are."""
        loop = ("for _ in range(3):", "    n += 2", "    if n > 9:", "        n = 0")
        asked = asked_of("y = x[1:]", "z = y.clone()", "w = x.contiguous()", "n = 0", *loop, "return z")
        memory = {last(each): each.right_choice for each in shared_memory_questions(asked) if each}
        counts = {last(each): each.right_choice for each in how_often_questions(asked) if each}

        assert memory["Compare `y` with `x` after line 2: `y` is ..."] == "another tensor, in the memory of `x`"
        assert memory["Compare `z` with `x` after line 3: `z` is ..."].startswith("a tensor with memory apart")
        assert memory["Compare `w` with `x` after line 4: `w` is ..."] == "the object `x` itself"
        assert counts["How often does line 7 run, `n += 2`?"] == "3"
        assert counts["Which of these does not run there?"] == "line 9"

    def test_an_argument_that_the_call_changes(self) -> None:
        """What an argument holds afterwards is asked for where the call has changed it, and only there."""
        changed = [each for each in changed_argument_questions(asked_of("x[0] = 7", "return x.sum()")) if each]
        kept = list(changed_argument_questions(asked_of("y = x.clone()", "y[0] = 7", "return y.sum()")))

        assert [(last(each), each.right_choice) for each in changed] == [
            ("What is the value of `x` after the call?", "[[7, 7, 7], [3, 4, 5]]")
        ]
        assert "[[0, 1, 2], [3, 4, 5]]" in changed[0].choices and kept == []

    def test_a_gradient_that_the_call_changes(self) -> None:
        """The numbers stay, and the gradients of an optimizer's tensors are asked for."""
        text = right_answers("SGDMomentum")[""].replace("p -= self.lr * v", "p.grad.mul_(2)")
        found = [each for each in changed_argument_questions(AskedRun(*run_of("SGDMomentum", text), Random(0))) if each]

        assert [(last(each), each.right_choice) for each in found] == [
            ("What is the `grad` of `params` after the call?", "[[8, 4, 12]]")
        ]

    def test_of_random_numbers_the_form_is_asked(self) -> None:
        """Where a module begins at random, a change of the result's shape is asked about, and none of its values."""
        text = right_answers("HouseNet")["sequential"]
        code = own_code("HouseNet", text)
        runs = [run for case in code.exercise.cases(0) if (run := code.run(case)) and len(run.entered) == 2]
        found = {
            each.prompt.splitlines()[1]: each for each in left_out_questions(AskedRun(code, runs[0], Random(0))) if each
        }
        told = {prompt.partition(" What")[0]: each.right_choice for prompt, each in found.items()}

        assert (
            told["In line 6, `nn.Flatten(0)` is left out."] == "it returns something of another shape, length or type"
        )
        assert "line 10 stops with an error" == told["In line 6, `nn.Linear(16, 8)` is left out."]
        assert not any("values" in each for each in told.values())

    @pytest.mark.parametrize("hides", ["frozen", "shared", "in no layer", ""])
    def test_a_module_that_hides_parameters_is_not_counted_on(self, hides: str) -> None:
        """What a change makes of a call is not asked where it depends on parameters that the call does not show."""
        module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
        if hides == "frozen":
            module[0].requires_grad_(False)
        elif hides == "shared":
            module[1].weight = module[0].weight
        elif hides:
            module.register_parameter("scale", torch.nn.Parameter(torch.ones(3)))
        call = f"`count_params` is called with `module`: {describe_value(module).told()}."
        question = Question("left_out", "", f"{call}\nLine 2 is left out.", ("a", "b", "c", "d"), 0, "", "x = 1\ny = 2")

        assert _depends_on_hidden(question) is bool(hides)

    def test_an_argument_that_is_bound_anew_is_not_compared(self) -> None:
        """The call shows the argument that came in; below, its name stands for another tensor."""
        asked = asked_of("y = x + 1", "x = x * 2", "z = y.view(-1)", "return z")
        memory = [last(each) for each in shared_memory_questions(asked) if each]

        assert memory and not any("with `x`" in each for each in memory)

    def test_what_is_returned_by_name_is_not_compared_with_that_name(self) -> None:
        """`return z` says that the result is `z`."""
        memory = [last(each) for each in shared_memory_questions(asked_of("z = x.T", "return z")) if each]

        assert any("the result with `x`" in each for each in memory)
        assert not any("the result with `z`" in each for each in memory)

    def test_the_only_line_of_a_block_is_replaced(self) -> None:
        """A block without a line is no Python."""
        asked = asked_of("y = x + 1", "if x.numel():", "    y = x + 2", "return y")

        assert {"Line 2 is left out.", "Line 4 is replaced by `pass`."} <= {
            each.told for each in program_changes(asked)
        }

    def test_a_line_that_python_needs_is_not_left_out(self) -> None:
        """The line that binds a `nonlocal` name stays: without it there is no program."""
        inner = ("def add():", "    nonlocal total", "    total = total + 1")
        asked = asked_of("total = x", *inner, "add()", "return total")

        assert {"Line 5 is left out.", "Line 6 is left out."} <= (
            told := {each.told for each in program_changes(asked)}
        )
        assert "Line 2 is left out." not in told

    def test_the_order_of_a_set_decides_nothing(self) -> None:
        """Strings in a set have another order in each process, so what comes first is not asked for."""
        loop = "    for name in {}:\n        own[name].copy_(state[name].unsqueeze(0)[0])\n"
        head = "@torch.no_grad()\ndef load_partial(module, state):\n    own = module.state_dict()\n"
        tail = "    return sorted((own.keys() | state.keys()) - (own.keys() & state.keys()))"

        def asked(order: str) -> list[str]:
            text = f"{head}{loop.format(order)}{tail}"
            code = own_code("load_partial", text)
            run = code.run(code.exercise.cases(0)[0])
            assert run is not None
            return [last(each) for each in shape_questions(AskedRun(code, run, Random(0))) if each]

        assert any("`state[name].unsqueeze(0)`" in each for each in asked("sorted(own.keys() & state.keys())"))
        assert not any("`state[name].unsqueeze(0)`" in each for each in asked("own.keys() & state.keys()"))
        assert not any("`state[name].unsqueeze(0)`" in each for each in asked("list(own.keys() & state.keys())"))

    def test_what_only_a_probe_sets_up(self) -> None:
        """Where a probe says that a card is there, no question is asked about a call that does not tell of it."""
        text = right_answers("pick_device")[""]
        found = [each for seed in range(4) for each in questions("pick_device", text, seed=seed)]
        ran = [each for each in found if each.prompt.endswith("Which of these runs there?")]
        lines = {each.code.splitlines()[int(each.right_choice.split()[1]) - 1].strip() for each in ran}

        assert ran and not lines & {'return torch.device("cuda")', 'return torch.device("mps")'}

    def test_nothing_is_left_behind(self) -> None:
        """A changed version that would leave a hook or other random numbers behind leaves neither."""
        before = torch.get_rng_state()
        hooks = dict(torch.nn.modules.module._global_forward_hooks)
        for text in right_answers("shape_trace").values():
            questions("shape_trace", text)

        assert torch.equal(before, torch.get_rng_state())
        assert hooks == torch.nn.modules.module._global_forward_hooks


def last(question: Question) -> str:
    """Return the last line of a prompt."""
    return question.prompt.splitlines()[-1]


def facts_by_tracing(code: PreparedAnswer, case: Case) -> dict[tuple[int, str], str]:
    """Return the form that each name has after each line, the first time, as `sys.settrace` shows it."""
    seen: dict[tuple[int, str], str] = {}
    names = dict(code.names)
    exec(compile(code.text, "<traced>", "exec"), names)
    last: dict[FrameType, int] = {}
    ends = {row: each.lineno for each in ast.walk(code.tree) if isinstance(each, ast.stmt) for row in rows_of(each)}

    def note(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != "<traced>":
            return None
        if frame in last and event in ("line", "return"):
            for name, value in frame.f_locals.items():
                seen.setdefault((last[frame], name), describe_value(value).form)
        last[frame] = ends.get(frame.f_lineno, frame.f_lineno)
        return note

    sys.settrace(note)
    try:
        code.exercise.observe(names[code.exercise.name], [case])
    finally:
        sys.settrace(None)
    return seen


def rows_of(node: ast.stmt) -> range:
    """Return the rows of a simple statement."""
    return range(0) if hasattr(node, "body") else range(node.lineno, (node.end_lineno or 0) + 1)


class TestEnough:
    """There are three questions for most exercises, within half a second."""

    @pytest.mark.parametrize("name", DOZEN)
    def test_three_for_right_answers(self, name: str) -> None:
        """A dozen exercises have three for the reference and another right answer, each with four choices."""
        for text in list(right_answers(name).values())[:2]:
            found = questions(name, text)
            for each in found:
                assert len(set(each.choices)) == 4 and each.code.strip() and each.explanation.startswith("Running it")
                if each.kind in ("shape", "dtype", "value") and "` in line " in each.prompt:
                    asked, _, place = each.prompt.rpartition("of `")[2].partition("` in line ")
                    line = int(place.split(",")[0].rstrip("?"))
                    assert each.code.splitlines()[line - 1].count(asked) == 1
            assert len(found) == 3

    @pytest.mark.night
    def test_most_exercises(self) -> None:
        """Sixty exercises have three for the reference and every right answer."""
        names = [name for stem in COURSE.stems for name in judge_of(stem).names]
        enough = [name for name in names if all(count(name, text) == 3 for text in right_answers(name).values())]

        assert len(enough) >= 60


def count(name: str, text: str) -> int:
    """Return how many questions there are about an answer."""
    try:
        return len(questions(name, text, seconds=10.0))
    except NoQuestions:
        return 0


STANDARDIZE = right_answers("standardize")[""]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("standardize = lambda x, dim, eps: x", "no cell defines it with `def` or `class`"),
        ("", "no cell defines it"),
        ("def standardize(x", "its text cannot be read"),
        (STANDARDIZE + "\nEPS = 1\n" * 300, "it has 60"),
        (STANDARDIZE + "\nstandardize = torch.no_grad()(standardize)\n", "a line outside .* changes one of them"),
        (STANDARDIZE + "\nstandardize.__code__ = other.__code__\n", "a line outside .* changes one of them"),
        (STANDARDIZE + "\nreplace(standardize, other)\n", "a line outside .* changes one of them"),
    ],
    ids=["lambda", "none", "broken", "long", "wrapped", "given another code", "handed to a call"],
)
def test_no_text_to_ask_about(text: str, why: str) -> None:
    """A lambda, text that is missing or broken, and 300 lines give no question, and the reason."""
    with pytest.raises(NoQuestions, match=why):
        PreparedAnswer(
            COURSE.find("standardize"),
            judge_of("ch01c_reading_digits").keys.full_key("standardize", 0),
            text,
            "standardize",
            {},
            limit_seconds(0.0),
        )


def test_one_that_takes_long() -> None:
    """A program that does not end is stopped at the time limit, and gives no question."""
    begun = time.monotonic()
    with pytest.raises(NoQuestions, match="it takes long"):
        questions(
            "standardize", "def standardize(x, dim, eps):\n    while True:\n        x = x + 1\n    return x\n", 0.3
        )

    assert time.monotonic() - begun < 10


def repeatable(name: str, text: str, draw: int) -> list[Question]:
    """Return the questions that a notebook draws for points."""
    code = own_code(name, text)
    return deterministic_questions(code.exercise, code.key, text, name, code.names, draw)


def digests() -> list[str]:
    """Return what some draws for points ask, of some right answers."""
    names = ("standardize", "train_step", "Linear", "conv2d")
    texts = [(name, text) for name in names for text in list(right_answers(name).values())[:2]]
    return [digest_of_questions(repeatable(name, text, draw)) for name, text in texts for draw in (1, 2)]


@pytest.mark.night
def test_a_draw_asks_the_same_in_any_process() -> None:
    """Neither the order of sets nor the speed of a process changes what is asked for points."""
    words = [sys.executable, "-c", "from tests.test_own_code_questions import digests; print(*digests())"]
    found = [
        subprocess.run(words, env={**os.environ, "PYTHONHASHSEED": seed}, cwd=PROJECT, capture_output=True, text=True)
        for seed in ("1", "2")
    ]

    assert found[0].stdout == found[1].stdout and len(set(found[0].stdout.split())) == 16, found[0].stderr


def test_steps_are_counted_where_the_clock_is_not_read() -> None:
    """A program that does not end is stopped after so many steps."""
    with pytest.raises(NoQuestions, match="it takes long"):
        repeatable("standardize", "def standardize(x, dim, eps):\n    while True:\n        x = x + 1\n", 1)


def test_one_that_draws_at_random() -> None:
    """Of numbers drawn at random no value is asked for, and nothing that differs from run to run."""
    text = "def standardize(x, dim, eps):\n    noise = torch.randn(2)\n    n = int(noise[0] * 1000)\n    return x * n\n"
    found = questions("standardize", text, seed=4)

    assert not [each for each in found if each.kind == "value" and ("`n`" in each.prompt or "noise" in each.prompt)]


def test_texts_in_choices_have_quotes() -> None:
    """In the wrong choices as in the right one, which would stand out."""
    right = "[('s', {'x': 1.0}), ('out', None)]"
    wrong = value_distractors(right)

    assert wrong and all(each.count("'") == right.count("'") for each in wrong)


def test_a_choice_says_the_device_where_the_right_one_does() -> None:
    """A form without a device would be true of a tensor on any device."""
    wrong = dtype_and_shape_distractors("float32 of shape (2,) on meta", [])

    assert "float32 of shape (2,) on cpu" in wrong and all(each.endswith((" on meta", " on cpu")) for each in wrong)
    assert not any(" on " in each for each in dtype_and_shape_distractors("float32 of shape (2,)", []))


def test_what_a_call_leaves_is_part_of_what_becomes_of_it() -> None:
    """Without the line that loads, the same list is returned; the module is another, and that is not asked about."""
    load, give = "    module.load_state_dict(state, strict=False)\n", "    return sorted(odd)\n"
    lines = (
        "    own = module.state_dict()\n    odd = [n for n in own.keys() | state.keys() if not fits(own, state, n)]\n"
    )
    fits = "def fits(own, state, n):\n    return n in own and n in state and own[n].shape == state[n].shape\n\n\n"
    kept = "    state = {n: t for n, t in state.items() if fits(own, state, n)}\n"
    text = f"{fits}def load_partial(module, state):\n{lines}{kept}{load}{give}"
    found = [each for seed in range(4) for each in questions("load_partial", text, seed=seed)]

    assert found
    assert not [each for each in found if "Line 9 is left out" in each.prompt and "same values" in each.right_choice]


def test_the_first_case_is_of_the_first_requirement_and_tells_the_axes_apart() -> None:
    """Cases whose tensors have one size in all axes come last."""
    exercise = own_code("add_bias", right_answers("add_bias")[""]).exercise
    cases = list(own_code_questions_module._cases(exercise, Random(0)))

    assert cases[0].requirement == next(iter(exercise.requirements))
    assert cases[-1].requirement == "works where batch, channels and length are equal"


def test_a_module_is_shown_with_its_layers() -> None:
    """Without them nobody could say what comes out."""
    found = questions("call_counts", right_answers("call_counts")[""])

    assert any("Linear(in_features=" in each.prompt for each in found)
    layers = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()))
    flat = "Flatten(start_dim=1, end_dim=-1)"
    assert f"`Sequential((0): {flat}, (1): Sequential((0): ReLU(), (1): Tanh()))`" == describe_value(layers).form


def test_what_the_call_or_the_line_shows_is_not_asked() -> None:
    """A size of an argument, by whatever name, a number that stands in the line, and what is returned."""
    lines = ("k = 3", "n = x.shape[0]", "m = len(x)", "h = x[0]", "b = h.shape[0]", "y = x.T", "return y")
    names = [each.name for each in asked_of(*lines).told()]

    assert {"h", "b", "h.shape"} == {*names}


def about(kind: str, prompt: str, right: str) -> Question:
    """Return a question with a prompt and a right choice, of one kind."""
    code = "def f(x, y):\n    if x:\n        y = x(y)\n    return y\n"
    return Question(kind, "f", prompt, (right, "no 1", "no 2", "no 3"), 0, "Running it.", code)


def test_what_can_be_copied_is_recognized() -> None:
    """An answer that stands in the call, or a requirement that names what is left out, teaches nothing."""
    shown = "`f` is called with `x`: float32 of shape (2, 3).\n"
    reshaped = shown + "Of `x` the shape is now (3, 4), all else is as it was. What does it return?"
    named = "In your code, in line 2, `.backward()` is left out. Where is then the first cross of `check`?"

    assert _can_be_copied(about("shape", shown, "(2, 3)")) and not _can_be_copied(about("shape", shown, "(3, 2)"))
    two = "`f` is called with `x`: float32 of shape (2, 3); `y`: float32 of shape (4,).\n"
    assert not _can_be_copied(replace(about("shape", two, "(2, 3)"), choices=("(2, 3)", "(4,)", "no 1", "no 2")))
    assert _can_be_copied(about("argument", reshaped, "float32 of shape (3, 4)"))
    assert not _can_be_copied(about("argument", reshaped, "float32 of shape (4,)"))
    code = "def f(loss):\n    loss.backward()\n    return loss.item()"
    assert _can_be_copied(replace(about("requirement", named, "calls backward once"), code=code))
    assert not _can_be_copied(replace(about("requirement", named, "gives one number"), code=code))
    assert not _can_be_copied(about("value", shown, "2"))
    drawn = RankedQuestions([], [], [])
    told = "`f` is called with `x`: a dict {'loss': a float}.\nWhat does it return?"
    drawn.add(about("result", told, "a dict {'loss': a float}"))
    assert [] == drawn.ranked_questions()


OPAQUE = ("generator", "function", "_Scaler")  # of which a call shows nothing else


@pytest.mark.parametrize(
    "argument",
    ["a function", "a generator", "a DataLoader", "a list of 7", "a _Scaler", "a tensor, bool of shape (9, 9)"],
)
def test_what_hangs_on_what_is_hidden_is_not_asked(argument: str) -> None:
    """A count, a value or what a change does, where the words of the call do not show all that goes in."""
    shown = "`f` is called with `x`: {}; `y`: {}.\n"
    hidden, known = shown.format(argument, 1), shown.format("a DataLoader in batches of 4, over float32", "an SGD")

    for kind in ("count", "left_out"):
        asked = "How often does line 3 run?"
        assert _depends_on_hidden(about(kind, hidden + asked, "4"))
        assert not _depends_on_hidden(about(kind, known + asked, "4"))
    shape = f"{hidden}What is the shape of `{{}}` after line 3?"
    assert _depends_on_hidden(about("shape", shape.format("z"), "(4,)")) is (argument == "a generator")
    assert _depends_on_hidden(about("shape", shape.format("y"), "(4,)")) is (argument[2:] in OPAQUE)


def test_what_a_hidden_function_does_is_not_asked() -> None:
    """The shape of what it returns; a count only where something branches, or runs when the function calls it."""
    shown = "`f` is called with `x`: a function; `y`: `1`.\n"
    count = about("count", f"{shown}How often does line 3 run?", "4")
    shapes = [about("shape", f"{shown}What is the shape of `{name}` after line 3?", "(4,)") for name in ("y", "z")]

    assert [True, False] == [*map(_depends_on_hidden, shapes)]
    assert not _depends_on_hidden(replace(shapes[0], choices=("()", "(1,)", "(2,)", "(3,)")))  # as of any loss
    assert _depends_on_hidden(count)
    assert not _depends_on_hidden(replace(count, code="def f(x, y):\n    for each in y:\n        x(each)\n"))
    assert _depends_on_hidden(replace(count, code="def f(x, y):\n    def inner():\n        return 1\n    x(inner)\n"))


def test_what_follows_from_another_answer_is_asked_last() -> None:
    """The same expression, a shape within another answer, and what an explanation has told already."""
    call = "`f` is called.\n"
    first = about("shape", f"{call}What is the shape of `y` after line 3?", "(2, 3)")
    first = replace(first, explanation="Running it: (4,) is the shape of `z` after line 2.")
    dependent = [
        about("dtype", f"{call}What is the dtype of `y` after line 3?", "float32"),
        about("result", f"{call}What does it return?", "float32 of shape (2, 3)"),
        about("shape", f"{call}What is the shape of `z` after line 2?", "(4,)"),
    ]
    free = about("result", f"{call}What does it return?", "float32 of shape (5, 3)")

    for question in (*dependent, free):
        drawn = RankedQuestions([], [], [])
        drawn.add(first)
        drawn.add(question)
        assert (question in drawn.good) is (question is free)


def test_a_number_of_items_and_the_dtype_of_a_view_can_be_copied() -> None:
    """The length of a list in the call or in the head of the loop, and a dtype that taking a part of a tensor keeps."""
    code = "def f(x):\n    for n in (1, 2):\n        y = x[n:].T\n    return y * 2.0\n"
    call = "`f` is called with `x`: int64 of shape (4, 3); `z`: a list of 5; `w`: `1`.\n"
    count, dtype = f"{call}How often does line 3 run, `y = x[n:].T`?", f"{call}What is the dtype of `{{}}`{{}}?"

    assert [True, True, False] == [
        _can_be_copied(replace(about("count", count, right), code=code)) for right in ("2", "5", "3")
    ]
    view, product = dtype.format("x[n:].T", " in line 3"), dtype.format("y * 2.0", " in line 4")
    assert _can_be_copied(replace(about("dtype", view, "int64"), code=code))
    assert not _can_be_copied(replace(about("dtype", product, "float32"), code=code))


def test_what_is_computed_from_a_name_is_found() -> None:
    """Through tuples, loops, own functions and their parameters, attributes and lists; and nothing else."""
    code = """\
class Net:
    def __init__(self, fn, size):
        self.fn, self.size = fn, size

    def forward(self, x):
        found, kept = [], x + 1
        for each in x:
            found.append(self.fn(each))
        return self.shown(found)

    def shown(self, items):
        (first, *_), rows = items, self.size * 2
        return helper(first)

def helper(one):
    two = one.T
    return two
"""
    items = {"items", "first", "_", "one", "two", "helper", "shown", "forward"}
    items |= {f"self.{name}" for name in ("helper", "shown", "forward")}  # as any function that is called so

    assert items == names_computed_from(code, {"items"})
    assert items | {"fn", "self.fn", "found"} == names_computed_from(code, {"fn"})
    assert {"size", "self.size", "rows"} == names_computed_from(code, {"size"})
    assert {"x", "kept", "each", "found"} | items == names_computed_from(code, {"x"})


def test_a_draw_asks_nothing_twice() -> None:
    """Other numbers make no other question; what is like another one, or has its answer, is asked last."""
    edit, call = "ine 2 is left out.", "`f` is called.\n"
    changed = about("left_out", f"{call}L{edit} What becomes of this call?", "it returns the same values")
    prompt = f"In your code, l{edit} Where is then the first cross of `check`?"
    value = about("value", f"{call}What is the value of `found` after line 2?", "[2, 2, 11]")
    again = [
        replace(changed, prompt=f"`f` is called with `x`: `3`.\nL{edit} What becomes of this call?"),
        replace(
            about("value", value.prompt, "[3, 3, 12]"), prompt=value.prompt.replace("called", "called with `x`: `3`")
        ),
    ]
    alike = [
        about("requirement", prompt, "clears gradients"),
        about("left_out", f"{call}L{edit} What becomes of this call?", "it returns other values"),
        about("result", f"{call}What does it return?", "(2, 2, 11)"),
        about("left_out", f"{call}Line 4 is left out.", "it returns the same values"),
    ]
    others = [
        about("requirement", prompt.replace("2", "3"), "clears gradients"),
        about("result", f"{call}What does it return?", "(2, 11)"),
        about("left_out", f"{call}Line 4 is left out.", "it returns other values"),
    ]

    for question in (*again, *alike, *others):
        drawn = RankedQuestions([], [], [])
        for each in (changed, value, question):
            drawn.add(each)
        assert [changed, value, *([] if question in again else [question])] == drawn.ranked_questions()
        assert (question in drawn.good) is (question in others)


def test_arguments_that_are_only_handed_on_are_not_asked_about() -> None:
    """An argument under another name, an item of one, a number that is only stored; nor is the shape of a copy."""
    lines = (
        "y = x.detach()",
        "(a, _), n = (y, 1), 2",
        "k = n",
        "c = -torch.zeros_like(a) * 2",
        "t = a.T",
        "return t, c",
    )
    asked = asked_of(*lines)
    questions = [each.prompt for each in shape_questions(asked) if each]

    assert {"t", "c", "-torch.zeros_like(a)"} <= {each.name for each in asked.told()}
    assert not {"y", "a", "k"} & {each.name for each in asked.told()}
    assert [prompt for prompt in questions if "`t` after" in prompt]
    assert not [prompt for prompt in questions if "`c`" in prompt or "zeros_like" in prompt]


def test_what_a_call_hangs_on_is_shown() -> None:
    """Gradients of parameters, names of torch's functions and classes, and what a loader goes through."""
    parameter = torch.nn.Parameter(torch.tensor([4.0]))
    assert "`[4]` (float32 of shape (1,), with `grad` `None`)" == describe_value(parameter).told()
    parameter.grad = torch.tensor([0.5])
    assert "with `grad` `[[0.5]]`)" in describe_value([parameter]).told() and describe_value([parameter]).whole
    assert (
        "`nn.ReLU`" == describe_value(torch.nn.ReLU).told()
        and "`F.cross_entropy`" == describe_value(functional.cross_entropy).told()
    )
    tripled = lambda x: (x * 3).sum()  # noqa: E731
    assert "`lambda x: (x * 3).sum()`" == describe_value(tripled).told() and describe_value(tripled).whole
    assert "a function" == describe_value(lambda x: x + loader.batch_size).told()  # what else it uses is not shown
    assert "a tensor, float32 of shape (3,) on meta" == describe_value(torch.zeros(3, device="meta")).told()
    loader = DataLoader(TensorDataset(torch.ones(9, 2)), batch_size=4)
    assert "a DataLoader in batches of 4, over float32 of shape (9, 2)" == describe_value(loader).told()
    assert "a DataLoader" == describe_value(DataLoader(loader.dataset, batch_size=None)).told()


def test_no_tensor_is_compared_with_one_that_it_cannot_be_part_of() -> None:
    """A number, or more numbers than the other tensor has, or another dtype: nobody takes one for the other."""
    asked = asked_of(
        "total = x.sum().clone()",
        "flags = (x > 2).clone()",
        "twice = x.repeat(2, 1).clone()",
        "y = x.clone()",
        "return y",
    )
    told = [last(each) for each in shared_memory_questions(asked) if each]

    assert any("`y` with `x`" in each for each in told)
    assert not any(f"`{name}` with `x`" in each for each in told for name in ("total", "flags", "twice"))


def test_first_requirement_is_not_asked_where_every_call_fails() -> None:
    """Without a line that binds an attribute, the unseen order of the requirements would decide."""
    for name in ("TwoLayerMLP", "AdamW"):
        code = own_code(name, right_answers(name)[""])
        run = next(filter(None, map(code.run, code.exercise.cases(0))))
        found = first_failing_requirement_questions(AskedRun(code, run, Random(1)))
        for prompt in [each.prompt for each in found if each and " line" in each.prompt]:
            line = int(prompt.partition(" line")[2].lstrip("s ").partition(" ")[0])
            assert not code.text.splitlines()[line - 1].strip().startswith("self."), prompt


def test_none_is_asked_twice() -> None:
    """A question that is about no one run is asked once, however many runs there are."""
    text = list(right_answers("autocast_dtypes").values())[1]
    code = own_code("autocast_dtypes", text)
    found = own_code_questions(code.exercise, code.key, text, code.name, code.names, Random(0), code.limit, most=30)

    assert len(found) == len({(each.prompt.splitlines()[-1], each.right_choice) for each in found}) > 1


def test_a_text_that_is_not_what_runs() -> None:
    """Where the answer does something else than its text, as one does that `exec` has made, nothing is asked."""
    code = own_code("standardize", STANDARDIZE)
    names = {**code.names, "standardize": lambda x, dim, eps: code.names["standardize"](x, dim, eps) + 0.5}
    with pytest.raises(NoQuestions, match="no run of it can be traced"):
        own_code_questions(code.exercise, code.key, STANDARDIZE, "standardize", names, Random(0), code.limit)


def test_a_function_inside_a_transform() -> None:
    """A program whose inner function runs in `torch.func.grad`, where tensors have no memory, is asked about."""
    inner = "    def total(t):\n        y = f(t)\n        return y.sum()\n\n"
    text = f"def grad_of(f, x):\n{inner}    return torch.func.grad(total)(x.detach())\n"

    assert questions("grad_of", text, seconds=PLENTY)
