"""Two dozen assignments of the kinds that teachers write for nbgrader, each with one or two submissions."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.own_assignments import Own, answer, by_hand, code, given, graded, task

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = "for i in range(3000):\n    print(i)"


def with_picture(cell: NotebookNode) -> NotebookNode:
    """Return the cell with an attached picture."""
    cell["attachments"] = {"dot.png": {"image/png": PICTURE}}
    return cell


def moved(cells: list[NotebookNode]) -> None:
    """Move the last answer to the top."""
    cells.insert(0, cells.pop(2))


def own_cells(cells: list[NotebookNode]) -> None:
    """Insert cells of the student's own."""
    cells.insert(1, new_code_cell("import math"))
    cells.insert(2, new_code_cell("def helper(x):\n    return math.sqrt(x)"))
    cells.insert(0, new_markdown_cell("My notes <b>bold</b>"))


def weakened(cells: list[NotebookNode]) -> None:
    """Replace a test by one that always passes."""
    cells[1].source = "assert True"


F = answer("f", "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION")
TWO = graded("two", "assert f(2) == 3", 2)
EXAMPLES = {
    "asserts": Own(
        (F, TWO, graded("four", "assert f(4) == 5, 'off by one'", 0.5)),
        {"ada": {"f": "def f(x): return x + 1"}, "bob": {"f": "def f(x): return 3"}, "cyd": {}},
    ),
    "hidden": Own(
        (F, graded("t", "assert f(1) == 2\n### BEGIN HIDDEN TESTS\nassert f(9) == 10\n### END HIDDEN TESTS", 3)),
        {"ada": {"f": "def f(x): return 2"}},
    ),
    "partial": Own(
        (
            F,
            *(graded(f"p{i}", text, 4) for i, text in enumerate(("f(1)", "print('so'); f(2) / 2", "x = f(1); x", "4"))),
        ),
        {"ada": {"f": "def f(x): return x + 0.5"}},
    ),
    "no-numbers": Own(
        tuple(
            graded(f"n{i}", text, 3)
            for i, text in enumerate(
                (
                    "-1",
                    "float('nan')",
                    "True",
                    "False",
                    "None",
                    "'2'",
                    "[1, 2]",
                    "object",
                    "1 + 0j",
                    "2 == 3",
                    "'''2'''",
                )
            )
        )
    ),
    "below-an-error": Own((F, code("print(undefined)"), TWO), {"ada": {"f": "def f(x): return x + 1\n1 / 0"}}),
    "warns": Own((F, TWO), {"ada": {"f": "import warnings\ndef f(x):\n    warnings.warn('hm')\n    return x + 1"}}),
    "writes-to-stderr": Own(
        (F, TWO), {"ada": {"f": "import sys\ndef f(x):\n    sys.stderr.write('.')\n    return x + 1"}}
    ),
    "no-syntax": Own((F, TWO), {"ada": {"f": "def f(x) return x + 1"}}),
    "asks": Own(
        (F, TWO, graded("later", "assert name == 'ada'")),
        {"ada": {"f": "name = 'ada'\ndef f(x): return x + 1\nname = input('Who? ')"}},
    ),
    "endless": Own((F, TWO, graded("later", "assert f")), {"ada": {"f": "def f(x):\n    while True: pass"}}),
    "draws": Own(
        (
            given("setup", "%matplotlib inline\nimport matplotlib.pyplot as plt"),
            answer("plot"),
            graded("title", "assert axes.get_title() == 'x'"),
            graded("shows", "plt.plot([1, 2]); plt.show()\n0.5"),
        ),
        {"ada": {"plot": "figure, axes = plt.subplots()\naxes.set_title('x')\naxes.plot([1, 2]);"}},
    ),
    "exits": Own((F, TWO), {"ada": {"f": "import sys\ndef f(x): return x + 1\nsys.exit(1)"}}),
    "exits-in-a-test": Own((F, TWO), {"ada": {"f": "import sys\ndef f(x): sys.exit(0)"}}),
    "reads-a-file": Own(
        (answer("total"), graded("sum", "assert total == 6"), graded("there", "open('more.txt').read()")),
        {"ada": {"total": "total = sum(map(int, open('data.csv')))\nopen('more.txt', 'w').write('1')"}},
        files={"data.csv": "1\n2\n3\n"},
    ),
    "reads-what-is-handed-in": Own(
        (
            answer("total"),
            graded("sum", "assert total == 6", 2),
            graded("given", "assert open('data.csv').read() == '1\\n2\\n3\\n'", 2),
        ),
        {
            "ada": {"total": "total = sum(map(int, open('mine.csv')))"},
            "bob": {"total": "total = sum(map(int, open('sets/mine.csv')))"},
            "cyd": {"total": "total = sum(map(int, open('mine.csv')))"},
            "dan": {"total": "total = 6"},
        },
        files={"data.csv": "1\n2\n3\n"},
        beside={"ada": {"mine.csv": "1\n2\n3\n"}, "bob": {"sets/mine.csv": "4\n2\n"}, "dan": {"data.csv": "9\n"}},
    ),
    "several": Own(
        (F, TWO, by_hand("essay")),
        {
            "ada": {"f": "def f(x): return x + 1", "g": "def g(x): return f(x)", "essay": "So."},
            "bob": {"f": "def f(x): return x + 2", "g": "def g(x): return open('data.csv').read()"},
            "cyd": {"f": "1 / 0", "g": "def g(x): return x + 1"},
        },
        files={"data.csv": "1\n"},
        more={
            "second": (answer("g"), graded("two", "assert g(1) == 2", 3), graded("file", "assert g(0) == '1\\n'", 0.5)),
            "third": (task("project"),),
        },
    ),
    "own-cells": Own(
        (F, graded("root", "assert f(4) == 3", 1)),
        {"ada": {"f": "def f(x): return helper(x) + 1"}},
        {"ada": own_cells},
    ),
    "moved": Own(
        (
            F,
            graded("t", "assert f(1) == 8", 1),
            answer("g", "def g(x):\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION"),
        ),
        {"ada": {"f": "def f(x): return g(x)", "g": "def g(x): return 8 * x"}},
        {"ada": moved},
    ),
    "weakened": Own((F, TWO), {"ada": {"f": "def f(x): return 0"}}, {"ada": weakened}),
    "shows-and-clears": Own(
        (
            graded(
                "a", "from IPython.display import clear_output, display\nprint('x')\nclear_output()\ndisplay(2)\n1", 2
            ),
            graded("b", "display(1)", 2),
            graded("c", "print(1)", 2),
            graded("d", "1; 0.5;", 2),
            graded("e", "import sys\nprint('x', file=sys.stderr)\nclear_output()\n1", 2),
        )
    ),
    "awaits": Own(
        (graded("a", "import asyncio\nawait asyncio.sleep(0)\n1", 2), graded("b", "In[-1][-1:], Out, _\n0.5", 2))
    ),
    "magics": Own(
        (
            graded("a", "%%time\nx = 1", 2),
            graded("b", "y = !echo 3\nfloat(y[0])", 4),
            graded("c", "!exit 3", 2),
            graded("d", "%nothing", 2),
            graded("e", "%%capture out\nprint(1)", 2),
            graded("g", "%%writefile own_module.py\nvalue = 0.5", 2),
            graded("h", "from own_module import value\nvalue", 2),
        )
    ),
    "by-hand": Own(
        (
            by_hand("essay"),
            by_hand("code", "# plot it", 3, new_code_cell),
            by_hand("blank", "Why?", 2),
            task("project"),
        ),
        {"ada": {"essay": "Because $x$.", "code": "print(1 / 0)"}},
    ),
    "pictures": Own(
        (
            with_picture(new_markdown_cell("![](attachment:dot.png)")),
            with_picture(task("t", "![](attachment:dot.png)")),
            F,
            TWO,
        ),
        {"ada": {"f": "def f(x): return x + 1"}},
    ),
    "goes-on": Own(
        (
            given("start", "seen = []"),
            F,
            graded("a", "seen.append(f(1))\nassert seen == [2]"),
            graded("b", "len(seen) / 2"),
        ),
        {"ada": {"f": "def f(x):\n    seen.append(0)\n    return x + 1"}},
    ),
    "classes": Own(
        (
            answer("point"),
            graded("a", "assert Point(1).x == 1"),
            graded("b", "import pickle\npickle.loads(pickle.dumps(Point(2))).x / 4"),
        ),
        {"ada": {"point": "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int"}},
    ),
    "odd-errors": Own(
        tuple(
            graded(f"e{i}", text)
            for i, text in enumerate(
                (
                    "class E(Exception):\n    def _render_traceback_(self): return ['one line']\nraise E",
                    "return 1",
                    "assert (1, 'always true')",
                    "x = '\\0'",
                    "raise type('E', (BaseException,), {})",
                )
            )
        )
    ),
    "interrupts": Own((graded("e", "raise KeyboardInterrupt"),)),
    "prints-much": Own(
        (F, graded("a", "f(1)", 2), graded("b", "f(1)\nimport warnings\nwarnings.warn('x')", 2)),
        {"ada": {"f": f"def f(x):\n    {LONG.replace(chr(10), chr(10) + '    ')}"}},
    ),
    "empty": Own((graded("nothing", "", 2), graded("comment", "# nothing", 1), graded("none-of-it", "pass", 0))),
}
