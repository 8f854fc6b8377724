"""What `check` says of an answer in a notebook, grading says of it in the file: of every answer of the bank.

Each answer's cell runs as a student runs it, then its check. Grading reads the same answer from a notebook's file. Both
judge on the visible cases what was seen of it here; that the key which is shipped to notebooks tells every answer the
same as the judge's own belongs to the proof of an exercise. By day the cells of right answers run and, in the chapters
that do not train, of every fourth wrong one; of the others what the key has seen is judged, which receipts vouch for.
"""

from __future__ import annotations

import ast
import py_compile
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from ipykernel.compiler import XCachingCompiler
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from autograder.authoring.bank_message_check import verdicts_with_unexpected_message
from autograder.authoring.example_students import ExampleClassMaker
from autograder.course.answer_bank import KnownAnswer
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import Observation
from autograder.grading.execution_plan import ExerciseTask, plan_run
from autograder.ipython_syntax import UNPARSED_MARK
from autograder.notebook import call_answer_on_cases, last_checked_answer, progress_log
from autograder.notebook.kernel_answer_text import answer_text_in_kernel
from autograder.notebook.report_rendering import Feedback
from autograder.sandbox.execution.run_specification import SharedSetup
from autograder.submission.extract_answer_statements import statements
from autograder.submission.order_repaired_cells import CellInRun, CellRole
from autograder.submission.read_submission import read_submission
from tests.asked import NIGHT
from tests.made_reader import new_kernel
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_bank import judge_of

TRAINING = [stem for stem in COURSE.stems if stem >= "ch04"]
ONE_IN = 4  # of the wrong answers, by day
EXERCISES = [
    pytest.param(each.stem, name, marks=pytest.mark.xdist_group(f"answers of {each.stem}"))
    for each in COURSE.listed
    for name in each.exercises
]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A kernel's shell in an empty folder, which keeps the text of cells as ipykernel does."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")
    # On a busy machine an answer may take longer than a reader waits for it.
    monkeypatch.setattr(call_answer_on_cases, "_LEAST", 600.0)
    monkeypatch.setattr(call_answer_on_cases, "_MOST", 600.0)
    made = new_kernel(tmp_path)
    made.compile = XCachingCompiler()
    yield made
    InteractiveShell.clear_instance()
    last_checked_answer.LAST_CHECKS.clear()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Observation]:
    """What is observed of answers, written down on its way to whoever asks."""
    noted: list[Observation] = []
    observe = Exercise.observe

    def observed(self: Exercise, answer: Any, cases: Sequence[Case]) -> tuple[Observation, ...]:
        noted.extend(found := observe(self, answer, cases))
        return found

    monkeypatch.setattr(Exercise, "observe", observed)
    return noted


@cache
def graded(stem: str) -> dict[str, dict[str, str]]:
    """The answers to each exercise, bank, solution and starter, with the text that grading reads of each in a file."""
    known, release = judge_of(stem), nbformat.read(PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4)
    tasks = [ExerciseTask(name, (), 1.0) for name in known.names]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for student in ExampleClassMaker(known, release).students(mishaps=False, repeats=False):
        submission = read_submission(student.data, release)
        sources = plan_run(submission.parts, tasks, SharedSetup("", (stem,), known.chapter.prelude)).sources
        for name in known.names:
            found[name][submission.answers[name]] = sources[name]
    return found


def told(shell: Any, name: str) -> str:
    """What `check` shows of an answer that the shell has."""
    with capture_output() as shown:
        shell.run_cell(f'check("{name}", {name})', store_history=True).raise_error()
    return str(shown.outputs[0].data["text/plain"])


def as_expected(exercise: Exercise, answer: KnownAnswer | None, report: Report) -> bool:
    """Whether a right answer passes, and a wrong one is refused and gets its own sentence and no other one."""
    if answer is None:  # the solution, or the starter
        return report.passed or not report.score
    if answer.is_right:
        return report.passed
    return bool(report.failed_verdicts) and not list(verdicts_with_unexpected_message(exercise, answer, report))


@pytest.mark.filterwarnings("ignore")  # a warning in an answer is the student's to read
@pytest.mark.parametrize(("stem", "exercise"), EXERCISES)
def test_check_says_what_grading_says(shell: Any, seen: list[Observation], stem: str, exercise: str) -> None:
    """Verdicts, sentences, calls, and what was expected and found are the same to the letter, and as they should be."""
    shell.run_cell(judge_of(stem).chapter.prelude, store_history=True).raise_error()
    shell.user_ns["torch"].set_num_threads(1)
    asked, key = COURSE.find(exercise), COURSE.keys(stem)[exercise]
    bank = judge_of(stem).banks[exercise]
    known = {answer.source.strip(): answer for answer in bank}
    wrong = [answer.tag for answer in bank if not answer.is_right]
    run = wrong if NIGHT else [] if stem in TRAINING else wrong[::ONE_IN]

    assert set(known) <= {cell.strip() for cell in graded(stem)[exercise]}
    for cell, text in graded(stem)[exercise].items():
        answer = known.get(cell.strip())
        if answer is not None and not answer.is_right and answer.tag not in run:
            observed = next(mistake.observations for mistake in key.mistakes if mistake.tag == answer.tag)
            refused = judge(asked, key, observed, text).failed_verdicts
            assert refused and {verdict.mistake for verdict in refused} <= {None, answer.tag}, cell
            continue
        shell.run_cell(cell, store_history=True).raise_error()
        seen.clear()
        shown = told(shell, exercise)
        report = judge(asked, key, seen, text)
        assert repr(Feedback(report, asked.hints)) == shown, cell
        assert as_expected(asked, answer, report), cell


SETUP = "import functools\nimport torch"
HELPER = "def twice(x):\n    return [x, x][0] + x"
ANSWER = "def double(x):\n    return 2 * x"
TRIPLE = "def triple(x):\n    return [x, x]"
USING = "def double(x):\n    return {}(x)"
# The cells above an answer's, its own, those between it and its check, and what its text must hold.
Habit = tuple[Sequence[str], str, Sequence[str], str]
HABITS: dict[str, Habit] = {
    "alone": ((), ANSWER, (), "2 * x"),
    "helper": ((HELPER,), USING.format("twice"), (), "[x, x]"),
    "helper below": ((), USING.format("twice"), (HELPER,), "[x, x]"),
    "lambda": (("twice = lambda x: [x, x][0]",), USING.format("twice"), (), "[x, x]"),
    "another name": ((HELPER, "again = twice"), USING.format("again"), (), "[x, x]"),
    "partial": ((HELPER, "again = functools.partial(twice)"), USING.format("again"), (), "[x, x]"),
    "an object's method": (
        ("class Twice:\n    def __call__(self, x):\n        return [x, x]",),
        "double = Twice()",
        (),
        "[x",
    ),
    "made": (("def maker():\n    return lambda x: 2 * x",), "double = maker()", (), "2 * x"),
    "own decorator": (("def loud(f):\n    return lambda x: f(x)",), f"@loud\n{ANSWER}", (), "lambda x: f(x)"),
    "torch's decorator": ((), f"@torch.no_grad()\n{ANSWER}", (), "2 * x"),
    "method in another cell": ((), "class double:\n    pass", (HELPER, "double.forward = twice"), "[x, x]"),
    "class of torch alone": ((), "class double(torch.nn.ReLU):\n    slope = 2", (), "slope"),
    "another exercise": ((TRIPLE,), USING.format("triple"), (), "triple(x)"),
    "tried out below": ((), f"{ANSWER}\nprint([triple(2)])", ("double(3)",), "2 * x"),
    "timed": ((), f"%%time\n{ANSWER}", (), "2 * x"),
    "captured": ((), f"%%capture\n{ANSWER}", (), "2 * x"),
    "magic": ((), f"%pwd\n{ANSWER}", (), "2 * x"),
    "comment and blank lines": ((), f"\n\n# mine\n{ANSWER}\n\n", (), "2 * x"),
}


def of_kernel(shell: Any, *cells: str) -> str:
    """The text of `double` after these cells ran, whatever they raise."""
    for cell in (SETUP, *cells, "double"):
        shell.run_cell(cell, store_history=True)
    return answer_text_in_kernel("double", shell.user_ns["double"], ("double", "triple"))


def statements_in(text: str) -> list[str]:
    """What a text says, without what spaces and comments say."""
    return sorted(ast.dump(each.node) for each in statements(text) or ())


@pytest.mark.parametrize("habit", HABITS.values(), ids=HABITS)
def test_a_file_is_read_as_its_kernel_is(shell: Any, habit: Habit, capsys: pytest.CaptureFixture[str]) -> None:
    """The text of an answer is one, however its cells are written: without other answers and what only tries it out."""
    above, cell, below, held = habit
    own = [[CellInRun(CellRole.OWN, text) for text in texts] for texts in (above, below)]
    parts = [
        *own[0],
        CellInRun(CellRole.ANSWER, cell, ("double",)),
        *own[1],
        CellInRun(CellRole.CHECK, exercises=("double",)),
    ]
    parts += [CellInRun(CellRole.ANSWER, TRIPLE, ("triple",)), CellInRun(CellRole.CHECK, exercises=("triple",))]
    tasks = [ExerciseTask(name, (), 1.0) for name in ("double", "triple")]
    in_file = plan_run(parts, tasks, SharedSetup("", (), SETUP)).sources["double"]
    in_kernel = of_kernel(shell, *above, cell, *below)

    assert held in in_kernel and statements_in(in_kernel) == statements_in(in_file)
    assert "def triple" not in in_kernel and "print" not in in_kernel


CLASS = "class double:\n    pass"
OLDER = "def double(x):\n    return older(x)"
RUNS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "the answer again": ((OLDER, ANSWER), "2 * x", "older"),
    "a helper again": (("def twice(x):\n    return older(x)", USING.format("twice"), HELPER), "[x, x]", "older"),
    "a cell that stopped above it": ((ANSWER, f"1 / 0\n{OLDER}"), "2 * x", "older"),
    "a cell that is no Python": ((ANSWER, f"{OLDER})"), "2 * x", "older"),
    "a method from before": (
        ("class double:\n    pass", "double.older = 1", "class double:\n    new = 2"),
        "new",
        "older",
    ),
    "a method again": (
        ("class double:\n    pass", "double.f = lambda self: older", "double.f = lambda self: 2"),
        "self: 2",
        "older",
    ),
}


@pytest.mark.parametrize(("cells", "held", "gone"), RUNS.values(), ids=RUNS)
def test_the_latest_that_ran_counts(
    shell: Any, cells: Sequence[str], held: str, gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel runs cells again, and some never come to their end: what is judged is what is there."""
    text = of_kernel(shell, *cells)

    assert held in text and gone not in text


def test_a_cell_that_ran_again_is_read_once(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A text that grows with each run would soon be too long to be searched."""
    text = of_kernel(shell, HELPER, "def twice(x):\n    return x", HELPER, USING.format("twice"))

    assert 1 == text.count("def twice") and "[x, x]" in text


def test_a_rule_sees_the_helpers_of_other_cells(shell: Any) -> None:
    """A loop that stands in another cell is no way past the rule, in the notebook as in grading."""
    loop = "def all_of(x, bias):\n    return torch.stack([row + bias[:, None] for row in x])"
    for cell in (
        f"from autograder import check\n{SETUP}",
        loop,
        "def add_bias(x, bias):\n    return x + bias[:, None]",
    ):
        shell.run_cell(cell, store_history=True).raise_error()

    assert "all 6 checks passed" in told(shell, "add_bias")
    shell.run_cell("def add_bias(x, bias):\n    return all_of(x, bias)", store_history=True)
    assert "5 of 6 checks passed" in told(shell, "add_bias")


def test_what_nobody_can_read_is_unknown(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """What `exec` defines stands in no cell, not even in one that defined its name before."""
    assert "" == of_kernel(shell, ANSWER, f"exec('''{OLDER}''')")
    assert "" == answer_text_in_kernel("double", len, ())


def test_an_answer_from_a_file_is_read_there(shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A student's own module holds the answer, with what that uses: an import shows nothing of it."""
    (tmp_path / "of_my_own.py").write_text(f"{HELPER}\n\n\n{USING.format('twice')}\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = of_kernel(shell, "from of_my_own import double")

    assert "[x, x]" in text and "twice(x)" in text


OWN_MODULE = """
import torch
from helpers import rest

def unused(x):
    return [x, x, x]

def twice(x):
    return rest([x, x])
"""
IMPORTS = {
    "from": ("from student_own import twice", "twice(x)"),
    "from as": ("from student_own import twice as again", "again(x)"),
    "star": ("from student_own import *", "twice(x)"),
    "import": ("import student_own", "student_own.twice(x)"),
    "import as": ("import student_own as mine", "mine.twice(x)"),
}


@pytest.fixture
def own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two modules of a student's, one of which uses the other."""
    (tmp_path / "student_own.py").write_text(OWN_MODULE)
    (tmp_path / "helpers.py").write_text("def rest(x):\n    return x[1:]\n")
    for name in ("student_own", "helpers"):
        monkeypatch.setitem(sys.modules, name, sys)  # so that what stands there now is gone again, too
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def of_grading(cell: str, above: str) -> str:
    """The text of `double` in a file with a cell above it."""
    parts = [
        CellInRun(CellRole.OWN, above),
        CellInRun(CellRole.ANSWER, cell, ("double",)),
        CellInRun(CellRole.CHECK, exercises=("double",)),
    ]
    return plan_run(parts, [ExerciseTask("double", (), 1.0)], SharedSetup("", (), SETUP)).sources["double"]


@pytest.mark.parametrize("within", ["cell above", "cell", "function"])
@pytest.mark.parametrize(("imports", "used"), IMPORTS.values(), ids=IMPORTS)
def test_helpers_from_a_file_of_ones_own_are_read(
    shell: Any, own_modules: Path, monkeypatch: pytest.MonkeyPatch, imports: str, used: str, within: str
) -> None:
    """By whichever import an answer has them; they are as good as those of the notebook. Grading has no such file."""
    if within == "function" and "*" in imports:
        return
    above = imports if within == "cell above" else ""
    answer = f"def double(x):\n    return {used}"
    cell = f"{imports}\n{answer}" if within == "cell" else answer
    cell = cell.replace(":\n", f":\n    {imports}\n") if within == "function" else cell
    in_file = of_grading(cell, above)
    monkeypatch.syspath_prepend(own_modules)
    shell.run_cell(above, store_history=True)
    shell.run_cell(f"{cell}\ndouble(3)", store_history=True).raise_error()
    text = answer_text_in_kernel("double", shell.user_ns["double"], ("double", "triple"), shell=shell)

    assert "return rest([x, x])" in text and "x[1:]" in text and used in text
    assert "unused" not in text and UNPARSED_MARK not in text
    assert UNPARSED_MARK in in_file and UNPARSED_MARK not in of_grading(
        "import torch\nfrom math import *\n" + ANSWER, "import functools"
    )


def test_a_rule_sees_the_helpers_of_a_file(shell: Any, own_modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop in a file beside the notebook is no way past the rule."""
    monkeypatch.syspath_prepend(own_modules)
    loop = "import torch\n\ndef all_of(x, bias):\n    return torch.stack([row + bias[:, None] for row in x])\n"
    (own_modules / "helpers.py").write_text(loop)
    for cell in (
        f"from autograder import check\n{SETUP}\nfrom helpers import all_of as every",
        "def add_bias(x, bias):\n    return every(x, bias)",
    ):
        shell.run_cell(cell, store_history=True).raise_error()

    assert "5 of 6 checks passed" in told(shell, "add_bias")


@pytest.mark.parametrize("suffix", [".py", ".pyc"])
def test_a_file_of_ones_own_disproves_what_a_cell_disproves(
    shell: Any, own_modules: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """What the code is said to lack, a file of the student's has, or could have where nobody can read it."""
    monkeypatch.syspath_prepend(own_modules)
    shell.run_cell(judge_of("ch04a_training_loop").chapter.prelude, store_history=True).raise_error()
    known = next(each for each in judge_of("ch04a_training_loop").banks["train_step"] if each.tag == "no-backward")
    answer = known.source.replace("    optimizer.step()", "    learn(loss)\n    optimizer.step()")
    shell.run_cell(known.source, store_history=True).raise_error()
    assert str(known.sentence) in told(shell, "train_step")

    (own_modules / "helpers.py").write_text("def learn(loss):\n    if loss is None:\n        loss.backward()\n")
    if suffix == ".pyc":
        py_compile.compile(str(own_modules / "helpers.py"), str(own_modules / "helpers.pyc"))
        (own_modules / "helpers.py").unlink()
    shell.run_cell(f"from helpers import learn\n{answer}", store_history=True).raise_error()
    assert "of 6 checks passed" in told(shell, "train_step") and str(known.sentence) not in told(shell, "train_step")


def test_an_answer_without_a_name_is_read(shell: Any) -> None:
    """One that stands in the midst of another statement is known by the cell that made it."""
    shell.run_cell("answers = [lambda x: 2 * x]", store_history=True)

    assert "answers = [lambda x: 2 * x]" == answer_text_in_kernel("double", shell.user_ns["answers"][0], ())


@pytest.mark.parametrize(("stem", "exercise"), [("ch04a_training_loop", "train_step")])
def test_an_unknown_text_proves_nothing(shell: Any, stem: str, exercise: str) -> None:
    """Such an answer has its report, without a sentence that its code may prove false."""
    shell.run_cell(judge_of(stem).chapter.prelude).raise_error()
    doubtful = [answer for answer in judge_of(stem).banks[exercise] if answer.unless]

    assert doubtful
    for answer in doubtful:
        shell.run_cell(answer.source, store_history=True)
        assert str(answer.sentence) in told(shell, exercise)
        shell.run_cell(f"exec({answer.source!r})", store_history=True)
        shown = told(shell, exercise)
        assert "of 6 checks passed" in shown and str(answer.sentence) not in shown
