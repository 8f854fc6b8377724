"""Suspicious lines that the teacher should review: those flagged, their message, and those left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import autograder
from autograder.submission import find_suspicious_code, report_suspicious_lines
from autograder.submission.extract_submitted_cells import SubmittedCell, read_notebook_contents
from autograder.submission.read_submission import read_submission
from tests.made_submissions import handed_in
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_bank import CHAPTER_OF, judge_of

STEMS = [chapter.stem for chapter in COURSE.listed]
SETUP = """\
import torch
import torch.nn.functional as F
from torch import nn
import autograder
from autograder import check
from lessons.figures import ends as figures
"""
ATTACKS = PROJECT / "tests" / "attacks" / "judge"


def told(*sources: str) -> tuple[str, ...]:
    """Return the flags of a student's cells, the first of which answers `double`."""
    release = new_notebook(cells=[new_code_cell(SETUP), new_code_cell("import ctypes\nprint(torch.sum)")])
    cells = [SubmittedCell(index, "code", source, "", "") for index, source in enumerate(sources)]
    return report_suspicious_lines.suspicious_line_messages(cells, release, {0: ("double",)})


def what(source: str) -> str:
    """Return the only flag of a cell, without the line's text."""
    (line,) = told(source)
    return line.partition(" line ")[2].partition(": `")[0].partition(" ")[2]


REPLACING = {
    "torch.Tensor.halved = lambda self: self / 2": "torch.Tensor.halved",  # a new attribute
    "torch.manual_seed = print": "torch.manual_seed",
    "import torch as t\nt.manual_seed = print": "torch.manual_seed",
    "t = torch\nt.manual_seed = print": "torch.manual_seed",
    "t, n = torch, nn\nn.Linear.forward = t.relu": "torch.nn.Linear.forward",
    "nn.Linear.forward = None": "torch.nn.Linear.forward",
    "layers = nn.modules.linear\nlayers.Linear = None": "torch.nn.modules.linear.Linear",
    "def f(x):\n    F.relu = x": "torch.nn.functional.relu",
    "def f():\n    t.relu = 1\nt = torch": "torch.relu",
    "class A:\n    def f(self):\n        torch.Tensor.__eq__ = self": "torch.Tensor.__eq__",
    "F.relu += 1": "torch.nn.functional.relu",
    "del torch.relu": "torch.relu",
    "for torch.relu in ():\n    pass": "torch.relu",
    "setattr(torch, 'relu', 1)": "torch.relu",
    "name = 'relu'\nsetattr(torch, name, 1)": "torch....",
    "type.__setattr__(torch.Tensor, 'add', 1)": "torch.Tensor.add",
    "getattr(torch, 'nn').Linear = 1": "torch.nn.Linear",
    "vars(torch)['relu'] = 1": "torch.relu",
    "torch.__dict__['relu'] = 1": "torch.relu",
    "torch.__dict__.update(relu=1)": "torch.update",
    "import importlib\nimportlib.import_module('torch.nn').Linear = 1": "torch.nn.Linear",
    "__import__('torch').relu = 1": "torch.relu",
    "from unittest import mock\nmock.patch('torch.relu').start()": "torch.relu",
    "from unittest.mock import patch\nwith patch.object(torch, 'relu'):\n    pass": "torch.relu",
    "import builtins\nbuiltins.len = 1": "builtins.len",
    "__builtins__['len'] = 1": "builtins.len",
    "import json\njson.dumps = 1": "json.dumps",
    "figures.draw = 1": "lessons.figures.ends.draw",
    "autograder.check = print": "autograder.check",
    "import sys\nsys.modules['torch.nn'] = 1": "torch.nn",
    "exec('torch.relu = 1')": "torch.relu",
    "import random\nrandom.Random.sample = 1": "random.Random.sample",
    "import copy as c\nc.deepcopy = 1": "copy.deepcopy",
}
READING = {
    "import autograder.diagnosis.verdict": "uses the grader's own code (autograder.diagnosis.verdict)",
    "from autograder.grading import assignment": "uses the grader's own code (autograder.grading.assignment)",
    "def f():\n    return autograder.course": "uses the grader's own code (autograder.course)",
    "__import__('autograder').diagnosis": "uses the grader's own code (autograder.diagnosis)",
    "import sys\nsys._getframe(1)": "looks at the functions that called it (frames)",
    "from inspect import stack as s\n\nlambda: s()": "looks at the functions that called it (frames)",
    "def f(e):\n    return e.__traceback__.tb_frame": "looks at the functions that called it (frames)",
    "getattr(f, 'f_back')": "looks at the functions that called it (frames)",
    "check.__globals__": "looks at what a function of others works with (__globals__)",
    "check.__builtins__['len'] = 1": "looks at what a function of others works with (__builtins__)",
    "object.__subclasses__()": "looks through all classes that are loaded (__subclasses__)",
    "import sys\nsys.settrace(print)": "watches each call that any function makes (tracing)",
    "import gc as g\n[x for x in g.get_objects()]": "looks through everything in memory (gc)",
    "import ctypes as c\nc.CDLL(None)": "calls C past Python's own checks (ctypes)",
    "import sys\nprint(*sys.modules)": "looks at all modules that are loaded (sys.modules)",
    "torch.sys.modules": "looks at all modules that are loaded (sys.modules)",
    "__import__('auto' + 'grader')": "imports a module whose name nobody can read here",
    "import operator\noperator.attrgetter('f.__globals__')(check)": (
        "looks at what a function of others works with (__globals__)"
    ),
    "match check:\n    case object(__globals__=names):\n        pass": (
        "looks at what a function of others works with (__globals__)"
    ),
    "import pkgutil\npkgutil.resolve_name('autograder.sandbox.execution:run')": (
        "uses the grader's own code (autograder.sandbox.execution.run)"
    ),
    "import inspect\ninspect.getmodule(type(get_ipython()))": (
        "looks for the module that something comes from (getmodule)"
    ),
    "import sys\nsys.addaudithook(print)": "watches each call that any function makes (tracing)",
    "import os\nos.write(5, b'')": "writes into files by number (os)",
    "import base64\nexec(base64.b64decode('cA=='))": "runs code out of a text, which nobody can read here",
}
HARMLESS = (
    "torch.manual_seed(0)\ntorch.set_default_dtype(torch.float64)\ntorch.set_printoptions(precision=3)",
    "torch.backends.cudnn.deterministic = True\ntorch._dynamo.config.suppress_errors = True",
    "with torch.no_grad():\n    layer = nn.Linear(2, 3)\n    layer.weight = nn.Parameter(torch.ones(3, 2))",
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.torch = nn.ReLU()",
    "class Net(nn.Linear):\n    pass\nNet.forward = lambda self, x: x\nsetattr(Net, 'torch', 1)",
    "def f(torch, F=F):\n    torch.relu = 1\n    F.relu = 2",
    "nn = nn.Linear(2, 3)\nnn.bias = None",
    "for F in model.children():\n    F.training = False",
    "model.json = 1\ninput.requires_grad = True\nsetattr(model, 'torch', 1)\nsuper().__setattr__('torch', 1)",
    "torch.zeros(3).requires_grad = True\nx = torch.tensor(1)\nx.grad = None",
    "import sys\nIN_COLAB = 'google.colab' in sys.modules\nsys.stdout.flush()\nsys.getsizeof(3)",
    "import gc, inspect\ngc.collect()\nprint(inspect.getsource(nn.Linear), inspect.signature(f))",
    "model.eval()\ndef eval(x):\n    return x\neval(model)\ntorch.compile(model)",
    "from autograder import hint, mine, progress, reveal, shows_error\nautograder.check('double', double)",
    "from autograder import *\nprint(autograder.__version__)",
    "state = model.state_dict()\nstate.update(x=1)\nmodel.__dict__.update(a=1)\nmodel.__dict__['b'] = 2",
    "import ctypes",  # as in the released notebook
    "def broken(:",
    "import os\nos.environ['OMP_NUM_THREADS'] = '1'",
    "import random, re\nrandom.seed(0)\nrandom = random.Random(3)\nre.sub('a', 'b', 'ctypes')",
    "from operator import attrgetter\nattrgetter('grad.norm')(w)\nprint('autograder', 'gc', 'torch.sum', 'a:b')",
)


@pytest.mark.parametrize("source", REPLACING)
def test_what_replaces_something_is_named(source: str) -> None:
    """Replacing parts of torch, Python or the course is flagged, under any name."""
    assert f"sets {REPLACING[source]}" == what(source)


@pytest.mark.parametrize("source", READING)
def test_what_reaches_for_the_grader_is_named(source: str) -> None:
    """Access to the grader's modules, to frames, and to loaded modules is flagged."""
    assert READING[source] == what(source)


@pytest.mark.parametrize("source", HARMLESS)
def test_what_beginners_write_is_left_alone(source: str) -> None:
    """Own layers, classes and settings, and tools for notebooks, are not flagged."""
    assert () == told(source)


def test_sentence_leads_to_the_line_and_accuses_nobody() -> None:
    """The flag has the cell, the exercise if any, the line and its text, and accuses no student."""
    first, second = told("import math\n\ntorch.relu = 1", "%%time\ndef f():\n    torch.exp = 2")

    assert "worth a look, costs no points: cell 1 (double), line 3 sets torch.relu: `torch.relu = 1`" == first
    assert "worth a look, costs no points: cell 2, line 3 sets torch.exp: `torch.exp = 2`" == second


def test_aliases_go_from_cell_to_cell() -> None:
    """Aliases are followed across cells until they are rebound."""
    assert told("import torch as t", "t.relu = 1") and not told("import torch as t", "t = model", "t.relu = 1")


def test_long_odd_and_many_lines_stay_short() -> None:
    """A long line is cut, invisible characters are escaped, and many flags are summarized."""
    (odd,) = told("torch.relu = '\x1b[2J\u202e" + "a" * 5000 + "'")
    many = told("\n".join(f"torch.a{n} = 1" for n in range(500)))

    assert r"`torch.relu = '\x1b[2J\u202e" in odd and odd.isprintable() and len(odd) < 250
    assert 7 == len(many) and "494 more such lines" in many[-1]
    assert 1 == len(told("import sys\nsys._getframe()\nsys._getframe()"))
    assert "line 2 calls C" in told("import ctypes\nctypes.CDLL(None)\nctypes.CDLL('x')")[0]  # line 1 is the lesson's


@pytest.mark.parametrize(
    "source", ["x" + ".a" * 4000 + " = 1", "[" * 90 + "torch" + "]" * 90, "lambda: " * 80 + "1", "torch" + "()" * 60]
)
def test_depth_stops_nothing(source: str) -> None:
    """Deeply nested code raises nothing."""
    assert () == told(source)


def test_tools_for_students_are_those_of_the_package() -> None:
    """The list of tools for students contains all public names of the package."""
    assert {*autograder.__all__} < {*find_suspicious_code.NAMES_FOR_STUDENTS}


@pytest.fixture(scope="module")
def release() -> Any:
    """Return the chapter of `standardize` as students get it."""
    return nbformat.read(PROJECT / "notebooks" / f"{CHAPTER_OF['standardize']}.ipynb", as_version=4)


@pytest.mark.parametrize(
    ("attack", "words"),
    {
        "patched_allclose": "line 5 sets torch.allclose: `torch.allclose = lambda",
        "patched_tensor_equality": "sets torch.Tensor.__eq__",
        "patched_probe": "sets autograder.exercises.probe.snapshot_value",
        "reference_from_the_course": "uses the grader's own code (autograder.course.chapter_judge.Judge)",
        "reference_of_the_caller": "looks at the functions that called it",
        "result_out_of_the_heap": "looks through everything in memory",
        "visible_results_by_heart": "uses the grader's own code (autograder.course.shipped_observations)",
    }.items(),
)
def test_attacks_are_named(attack: str, words: str, release: Any) -> None:
    """Attacks on the grader are flagged with exercise and line."""
    source = (ATTACKS / f"{attack}.py").read_text(encoding="utf-8")
    submission = read_submission(handed_in(release, {"standardize": source}), release)

    assert any("(standardize), line " in line and words in line for line in submission.eye), submission.eye


@pytest.mark.parametrize("stem", STEMS)
def test_course_itself_is_left_alone(stem: str) -> None:
    """No line of the notebooks and solutions is flagged, even in a student's own cells."""
    release = nbformat.read(PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4)
    setup = new_notebook(cells=[new_code_cell(judge_of(stem).chapter.prelude)])
    for folder in ("notebooks", "solutions"):
        data = Path(PROJECT / folder / f"{stem}.ipynb").read_bytes()
        cells = [cell for cell in read_notebook_contents(data).cells if cell.kind == "code"]

        assert () == read_submission(data, release).eye
        assert () == report_suspicious_lines.suspicious_line_messages(cells, setup, {})


@pytest.mark.parametrize("stem", STEMS)
def test_bank_is_left_alone(stem: str) -> None:
    """Of the bank's answers, only those that replace something are flagged."""
    release, judge = nbformat.read(PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4), judge_of(stem)
    answers = [each for name in judge.names for each in judge.banks[name]]
    named = {
        each.tag
        for each in answers
        if report_suspicious_lines.suspicious_line_messages(
            [SubmittedCell(0, "code", each.source, "", "")], release, {}
        )
    }

    assert len(answers) > 10
    assert named == {
        each.tag for each in answers if "builtins.print = " in each.source or "torch.Tensor.item = " in each.source
    }
