"""The names that a cell binds, and the cells that may bind names that their text does not show."""

from __future__ import annotations

import sys

import pytest

from autograder.notebook.cell_bindings import cell_binds, definition_dump, may_bind_unseen

BINDING = [
    "name = 1",
    "other = name = 1",
    "a, (b, *name) = 1, (2, 3)",
    "name: int = 1",
    "name += 1",
    "def name(): ...",
    "async def name(): ...",
    "class name: ...",
    "import name",
    "import name.part",
    "import other as name",
    "from other import name",
    "from os.path import *; name = join('a')",
    "for name in range(3): ...",
    "with open('x') as name: ...",
    "if (name := 1): ...",
    "[(name := n) for n in range(3)]",
    "try:\n    import other\nexcept ImportError:\n    name = None",
    "def f():\n    global name\n    name = 1",
    "match 1:\n    case name: ...",
    "match {}:\n    case {**name}: ...",
    "!ls\nname = 1",
    "name = !ls",
    "%matplotlib inline\nname = 1",
    "%%time\nname = 1",
    "name = await something()",
]
NOT_BINDING = [
    "other.name = 1",
    "other['name'] = 1",
    "print(name)",
    "del name",
    "[name for name in range(3)]",
    "lambda name: name",
    "def f(name):\n    name = 1",
    "class A:\n    name = 1",
    "from name import other",
    "f(name=1)",
    "'name = 1'",
    "# name = 1",
    "%%writefile name.py\nname = 1",
    "name = (",
]


@pytest.mark.parametrize("text", BINDING)
def test_a_cell_binds(text: str) -> None:
    """Each of these statements binds the name."""
    assert cell_binds(text, "name")


@pytest.mark.parametrize("text", NOT_BINDING)
def test_a_cell_does_not_bind(text: str) -> None:
    """These texts do not bind the name, because they only resemble a binding or use another namespace."""
    assert not cell_binds(text, "name")


def test_a_star_binds_what_the_module_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """A star import binds the names of an imported module, and may bind anything until it is imported."""
    text = "from xml.sax.saxutils import *"
    monkeypatch.delitem(sys.modules, "xml.sax.saxutils", raising=False)
    assert may_bind_unseen(text) and not cell_binds(text, "quoteattr")
    __import__("xml.sax.saxutils")

    assert cell_binds(text, "quoteattr") and not may_bind_unseen(text) and not cell_binds(text, "nothing")


@pytest.mark.parametrize(
    "text",
    ["exec('a = 1')", "globals()['a'] = 1", "%run other.py", "%%cython\na = 1", "def (", "%time a = 1", "%load x.py"],
)
def test_some_cells_may_bind_anything(text: str) -> None:
    """These cells may bind names that their text does not show."""
    assert may_bind_unseen(text)


@pytest.mark.parametrize(
    "text", ["vars(model)", "%time f(1)", "!pip list", "%matplotlib inline", "%%bash\na=1", "x?", "f = print"]
)
def test_most_cells_bind_what_they_show(text: str) -> None:
    """These cells, including magics, bind only the names that their text shows."""
    assert not may_bind_unseen(text)


def test_a_definition_is_its_code() -> None:
    """The last definition counts, regardless of comments and spaces."""
    text = "def f():\n    return 1\n\n\ndef f():\n    return 2"

    assert (
        definition_dump(text, "f")
        == definition_dump("def f( ):  # two\n    return (2)", "f")
        != definition_dump("def f(): ...", "f")
    )
    assert definition_dump(text, "g") is None and definition_dump("f = 1", "f") is None
