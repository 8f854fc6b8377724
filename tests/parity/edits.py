"""Edits that students make to a notebook: each changes one thing about one exercise, and most keep the answer right."""

from __future__ import annotations

import ast
from dataclasses import replace

from tests.parity.notebooks import ANSWER, CHECK, LESSON, OWN, Draft, Edit, Made

EDITS: dict[str, Edit] = {}


def edit(function: Edit) -> Edit:
    """Register an edit under its name."""
    EDITS[function.__name__] = function
    return function


def _split(source: str, name: str) -> tuple[str, ast.FunctionDef] | None:
    """Return a cell whose answer is a plain function as (text, tree), or None for a class or for invalid syntax."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return None
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    return (source, found[-1]) if found and not found[-1].decorator_list else None


def _with_line(source: str, name: str, line: str) -> str | None:
    """Return the answer with one more line at the beginning of its body, or None where it is no plain function."""
    found = _split(source, name)
    if found is None:
        return None
    first = found[1].body[1 if ast.get_docstring(found[1]) and len(found[1].body) > 1 else 0]
    lines = source.split("\n")
    return "\n".join([*lines[: first.lineno - 1], " " * first.col_offset + line, *lines[first.lineno - 1 :]])


def _lean(draft: Draft, exercise: str, line: str) -> int | None:
    """Let an answer use something; returns the index of its cell, or None where the answer is no plain function."""
    place = draft.at(ANSWER, exercise)
    source = _with_line(draft.cells[place].source, exercise, line)
    if source is None:
        return None
    draft.change(place, source)
    return place


# --- helpers


HELPERS = (
    "def {0}():\n    return 1",
    "{0} = lambda: 1",
    "from functools import partial\n{0} = partial(int, 1)",
    "{0}, {0}_other = (lambda: 1), 2",
    "if True:\n    def {0}():\n        return 1",
    "try:\n    import no_such_module as {0}\nexcept ImportError:\n    def {0}():\n        return 1",
    "class {0}:\n    size = 1",
    "def {0}():\n    return {0}.size\n\n{0}.size = 1",
    "{0}_table = []\nfor i in range(3):\n    {0}_table.append(i)\n\ndef {0}():\n    return {0}_table[2]",
    "{0}_table = {{}}\n{0}_table['a'] = 1\n\ndef {0}():\n    return {0}_table['a']",
    "import contextlib\nwith contextlib.suppress(ValueError):\n    {0} = dict",
    "%%time\ndef {0}():\n    return 1",
    "print('first')\n1 / 1\ndef {0}():\n    return {0}_size\n{0}_size = max(1, 2)\n{0}_size += 1",
    "files = !ls\ndef {0}(files=files):\n    return 1",
    "import functools\n@functools.lru_cache\ndef {0}():\n    return 1",
    "for {0} in [dict]:\n    pass",
    "{0} = {0}_one = (lambda: 1)",
    "print([({0} := dict) for _ in range(1)])",
    "class {0}_base:\n    pass\n\nclass {0}({0}_base):\n    pass",
    "def {0}_other():\n    return 1\n\n{0} = [{0}_other][0]",
)


@edit
def helper_above(draft: Draft, exercise: str) -> None:
    """Insert a cell with a helper, defined in one of many ways, above the answer, which uses it."""
    name = draft.new_name("helper")
    place = _lean(draft, exercise, f"{name}()")
    if place is not None:
        draft.insert(place, draft.chance.choice(HELPERS).format(name))


@edit
def helper_far_above(draft: Draft, exercise: str) -> None:
    """Insert the helper that the answer uses right below the setup cell."""
    name = draft.new_name("helper")
    if _lean(draft, exercise, f"{name}()") is not None:
        draft.insert(
            1 + draft.cells.index(next(c for c in draft.cells if c.mark == "setup")), f"def {name}(): return 1"
        )


@edit
def helper_between(draft: Draft, exercise: str) -> None:
    """Insert the helper that the answer uses between the answer and its check."""
    name = draft.new_name("helper")
    if _lean(draft, exercise, f"{name}()") is not None:
        draft.insert(draft.at(CHECK, exercise), draft.chance.choice(HELPERS).format(name))


@edit
def helper_below(draft: Draft, exercise: str) -> None:
    """Insert the helper that the answer uses below the check."""
    name = draft.new_name("helper")
    if _lean(draft, exercise, f"{name}()") is not None:
        draft.insert(draft.at(CHECK, exercise) + 1, f"def {name}(): return 1")


@edit
def helper_ends_below(draft: Draft, exercise: str) -> None:
    """Insert a helper above the answer, and delete or redefine it below the check."""
    name = draft.new_name("helper")
    place = _lean(draft, exercise, f"assert {name}() == 1")
    if place is not None:
        draft.insert(place, f"def {name}():\n    return 1")
        after = draft.chance.choice([f"del {name}", f"{name} = None", f"def {name}():\n    return 2"])
        draft.insert(draft.at(CHECK, exercise) + 1, after)


@edit
def two_helpers_of_one_name(draft: Draft, exercise: str) -> None:
    """Let two exercises use helpers of the same name, each with its own definition."""
    name = draft.new_name("helper")
    exercises = list(dict.fromkeys(cell.exercise for cell in draft.cells if cell.role == ANSWER))
    for number, each in enumerate(exercises[:2]):
        place = _lean(draft, each, f"assert {name}() == {number}")
        if place is not None:
            draft.insert(place, f"def {name}():\n    return {number}")


@edit
def helper_in_the_setup(draft: Draft, exercise: str) -> None:
    """Add an import that the answer uses to the setup cell."""
    if _lean(draft, exercise, "itertools.count()") is not None:
        draft.change(draft.setup, draft.cells[draft.setup].source + "\nimport itertools")


@edit
def all_in_a_helper(draft: Draft, exercise: str) -> None:
    """Move the whole answer into a helper, which the exercise's function calls."""
    place = draft.at(ANSWER, exercise)
    found = _split(draft.cells[place].source, exercise)
    if found is None:
        return
    name, (source, tree) = draft.new_name("work"), found
    header = "\n".join(source.split("\n")[tree.lineno - 1 : tree.body[0].lineno - 1]) or f"def {exercise}():"
    if tree.body[0].lineno == tree.lineno or (tree.args.vararg or tree.args.kwarg):
        return
    names = [each.arg for each in (*tree.args.posonlyargs, *tree.args.args)]
    names += [f"{each.arg}={each.arg}" for each in tree.args.kwonlyargs]
    draft.change(place, f"{header}\n    return {name}({', '.join(names)})")
    draft.insert(place, source.replace(f"def {exercise}(", f"def {name}("))


@edit
def lesson_name(draft: Draft, exercise: str) -> None:
    """Let the answer use a name that cells of the lesson define, and insert these cells above it."""
    if not draft.lesson:
        return
    name = draft.chance.choice(sorted(draft.lesson))
    if _lean(draft, exercise, f"assert {name} is not None") is not None:
        first = min(i for i, cell in enumerate(draft.cells) if cell.role == ANSWER)
        draft.cells[first:first] = [Made(LESSON, draft.texts[each]) for each in draft.lesson[name]]


# --- lines that try an answer out


TRIALS = (
    "print({0})",
    "{0}()",
    "1 / 0",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "torch.ones(2).to('cuda')",
    "text = open('data.txt').read()",
    "weights = torch.load('mine.pt')",
    "answer = input('your name? ')",
    "!echo hello",
    "!nvidia-smi",
    "%timeit -n 1 -r 1 1 + 1",
    "%matplotlib inline",
    "%no_such_magic",
    "files = !ls",
    "{0}?",
    "import no_such_module",
    "assert False, 'not yet'",
    "hint('{0}')",
    "for i in range(3):\n    print(i, {0}.__name__)",
    "raise SystemExit",
    "import asyncio\nawait asyncio.sleep(0)",
    "x = torch.randn(3, requires_grad=True)\nx.sum().backward()\nprint(x.grad)",
    "undefined_name",
    "display({0})",
)


@edit
def trial_below(draft: Draft, exercise: str) -> None:
    """Add a line below the function that tries it out; the line may raise."""
    place = draft.at(ANSWER, exercise)
    line = draft.chance.choice(TRIALS).format(exercise)
    draft.change(place, f"{draft.cells[place].source.rstrip()}\n\n{line}")


@edit
def file_read_above(draft: Draft, exercise: str) -> None:
    """Add a line above the function that reads a file which only the student has."""
    place = draft.at(ANSWER, exercise)
    draft.change(place, f"table = open('data.txt').read().split()\n{draft.cells[place].source}")


@edit
def trial_cell(draft: Draft, exercise: str) -> None:
    """Insert a cell right below the answer that tries it out; the cell may raise."""
    draft.insert(draft.at(ANSWER, exercise) + 1, draft.chance.choice(TRIALS).format(exercise))


@edit
def timed_cell(draft: Draft, exercise: str) -> None:
    """Put a cell magic (`%%time` or `%%capture`) above the answer."""
    place = draft.at(ANSWER, exercise)
    draft.change(place, draft.chance.choice(["%%time\n", "%%capture\n"]) + draft.cells[place].source)


# --- names used again


REUSED = (
    "time = 3",
    "copy = [1]",
    "sum = 0",
    "F = 212",
    "math = 'hard'",
    "x = y = z = 1",
    "len = 5",
    "torch.set_default_dtype(torch.float64)",
    "torch.manual_seed(7)",
    "_ = torch.set_grad_enabled(False)",
    "def print(*args): pass",
    "nn = None",
    "list = [1]\nmax = min",
    "from math import *",
    "warnings = []",
    "del torch",
)


@edit
def name_reused_at_the_end(draft: Draft, exercise: str) -> None:
    """Rebind a name of the setup or of Python in a new last cell."""
    draft.insert(len(draft.cells), draft.chance.choice(REUSED))


@edit
def name_reused_below(draft: Draft, exercise: str) -> None:
    """Rebind a name of the setup or of Python in a cell below this exercise's check."""
    draft.insert(draft.at(CHECK, exercise) + 1, draft.chance.choice(REUSED))


@edit
def answer_reused(draft: Draft, exercise: str) -> None:
    """Rebind the exercise's own name in a cell below the check."""
    other = draft.chance.choice(["{0} = None", "def {0}(*args):\n    return 0", "{0}_old, {0} = {0}, print"])
    draft.insert(draft.at(CHECK, exercise) + 1, other.format(exercise))


@edit
def answer_used_by_another(draft: Draft, exercise: str) -> None:
    """Let another exercise's answer use this exercise's function."""
    others = [cell.exercise for cell in draft.cells if cell.role == ANSWER and cell.exercise != exercise]
    if others:
        _lean(draft, draft.chance.choice(others), f"assert {exercise} is not None")


@edit
def another_name(draft: Draft, exercise: str) -> None:
    """Rename the function, and pass the new name to its check."""
    place, name = draft.at(ANSWER, exercise), draft.new_name("my_own")
    source = draft.cells[place].source
    if _split(source, exercise) is not None:
        draft.change(place, source.replace(f"def {exercise}(", f"def {name}("))
        draft.change(draft.at(CHECK, exercise), f'check("{exercise}", {name})')


# --- cells that move


@edit
def merged_with_its_check(draft: Draft, exercise: str) -> None:
    """Merge the check into the answer's cell."""
    check = draft.cells.pop(draft.at(CHECK, exercise))
    place = draft.at(ANSWER, exercise)
    draft.change(place, f"{draft.cells[place].source}\n\n{check.source}")


@edit
def merged_with_another(draft: Draft, exercise: str) -> None:
    """Merge another exercise's answer into this answer's cell."""
    others = [cell.exercise for cell in draft.cells if cell.role == ANSWER and cell.exercise != exercise]
    if others:
        other = draft.chance.choice(others)
        taken = draft.cells.pop(draft.at(ANSWER, other))
        place = draft.at(ANSWER, exercise)
        draft.change(place, f"{taken.source}\n\n\n{draft.cells[place].source}")


@edit
def moved_to_the_end(draft: Draft, exercise: str) -> None:
    """Move the answer and its check to the end of the notebook."""
    moved = [draft.cells.pop(draft.at(role, exercise)) for role in (ANSWER, CHECK)]
    draft.cells += moved


@edit
def answer_moved_up(draft: Draft, exercise: str) -> None:
    """Move the answer right below the setup, above all other cells."""
    answer = draft.cells.pop(draft.at(ANSWER, exercise))
    draft.cells.insert(1 + draft.setup, answer)


@edit
def copied_above(draft: Draft, exercise: str) -> None:
    """Insert a copy of the answer's cell, with a wrong answer, above it."""
    place = draft.at(ANSWER, exercise)
    wrong = replace(draft.cells[place], role=OWN, source=f"def {exercise}(*args, **kwargs):\n    return None")
    draft.cells.insert(place, wrong)


@edit
def copied_below(draft: Draft, exercise: str) -> None:
    """Insert a wrong answer below the check, in a cell with or without the mark of the answer's cell."""
    place = draft.at(CHECK, exercise) + 1
    mark = draft.chance.choice([exercise, ""])
    draft.cells.insert(place, Made(OWN, f"def {exercise}(*args, **kwargs):\n    return None", mark=mark))


@edit
def answered_below(draft: Draft, exercise: str) -> None:
    """Put a wrong answer into the exercise's cell, and the right answer with a check below."""
    place = draft.at(ANSWER, exercise)
    answer, check = draft.cells[place], draft.cells[draft.at(CHECK, exercise)]
    draft.change(place, f"def {exercise}(*args, **kwargs):\n    return None")
    below = draft.at(CHECK, exercise) + 1
    draft.cells[below:below] = [Made(OWN, answer.source), Made(OWN, check.source)]


@edit
def answered_beside_the_starter(draft: Draft, exercise: str) -> None:
    """Restore the starter in the exercise's cell, and insert the answer in a new cell below it."""
    place = draft.at(ANSWER, exercise)
    answer = draft.cells[place].source
    draft.change(place, draft.texts[exercise])
    draft.insert(place + 1, answer)


@edit
def split_in_two(draft: Draft, exercise: str) -> None:
    """Split the answer's cell: a helper comes into a first cell, which keeps the mark, and the answer into a second."""
    place = draft.at(ANSWER, exercise)
    name = draft.new_name("part")
    if _lean(draft, exercise, f"{name}()") is not None:
        draft.cells.insert(place, replace(draft.cells[place], role=OWN, source=f"def {name}():\n    return 1"))
        draft.cells[place + 1] = replace(draft.cells[place + 1], mark="")


@edit
def marks_lost(draft: Draft, exercise: str) -> None:
    """Remove nbgrader's marks from all cells, as a copy through another program does."""
    draft.cells[:] = [replace(cell, mark="") for cell in draft.cells]


@edit
def notes_between(draft: Draft, exercise: str) -> None:
    """Insert a note in Markdown, an empty cell and a cell with invalid syntax above the answer."""
    at = draft.at(ANSWER, exercise)
    draft.cells[at:at] = [Made(OWN, "What is asked here?", kind="markdown"), Made(OWN, ""), Made(OWN, "def broken(:")]


@edit
def retyped(draft: Draft, exercise: str) -> None:
    """Insert a note as code and an unused function as Markdown; now and then turn the answer into Markdown."""
    place = draft.at(ANSWER, exercise)
    if draft.chance.random() < 0.3:
        draft.cells[place] = replace(draft.cells[place], kind="markdown")
    unused = Made(OWN, "def unused():\n    return 1", kind="markdown")
    draft.cells[place:place] = [Made(OWN, "What is asked here?"), unused]


@edit
def scratch_training(draft: Draft, exercise: str) -> None:
    """Insert a cell that trains a model which no answer needs."""
    text = (
        "net = torch.nn.Linear(2, 1)\nfor i in range(20):\n    loss = net(torch.ones(4, 2)).sum()\n    loss.backward()"
    )
    draft.insert(draft.at(ANSWER, exercise), text)
