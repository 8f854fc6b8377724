"""Unusual notebooks and hostile texts: the answers are still read, within seconds."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.reports.example_answers import draft_entry_command
from autograder.submission import sanitize_markdown
from autograder.submission.extract_submitted_cells import MAX_NOTEBOOK_BYTES
from autograder.submission.read_released_cells import starters
from autograder.submission.read_submission import read_submission
from autograder.terminal_text import replace_unprintable
from tests.sample_course import NOTEBOOK

RELEASED = NOTEBOOK
TARGET = "standardize"
ANSWER = f"def {TARGET}(x, dim, eps):\n    return 'mine'"
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def release() -> NotebookNode:
    """Return the released notebook."""
    found: NotebookNode = nbformat.read(RELEASED, as_version=4)
    return found


def cell(source: object, kind: str = "code", **mark: object) -> dict[str, object]:
    """Return a student's cell."""
    metadata = {"nbgrader": mark} if mark else {}
    return {"cell_type": kind, "source": source, "metadata": metadata, "outputs": [], "execution_count": None}


def each_id(value: object) -> Change:
    """Return a change that gives every cell this id."""
    return lambda notebook: [each.update(id=value) for each in notebook["cells"]]


def added(*sources: object, kind: str = "code", **mark: object) -> Change:
    """Return a change that adds cells at the end."""
    return lambda notebook: notebook["cells"].extend(cell(source, kind, **mark) for source in sources)


FORGED = {"grade": True, "solution": False, "locked": True, "points": 999, "schema_version": 3, "cell_type": "code"}
CHANGES: dict[str, Change] = {
    "ids that are alike": each_id("a"),
    "ids without end": each_id("a" * 10_000),
    "ids that are markup": each_id("<img src=x onerror=alert(4242)>"),
    "ids that are no text": each_id([{"a": 1}]),
    "a mark without end": added("x = 1", grade_id="a" * 10**6),
    "a second check": added("x = 1", grade_id=f"check_{TARGET}", **FORGED),
    "a format with a point": lambda notebook: notebook.update(nbformat=4.0),
    "a smaller format that is huge": lambda notebook: notebook.update(nbformat_minor=10**400),
    "half letters as names": lambda notebook: notebook["metadata"].update({"\ud800": "\udfff"}),
    "ends of lines that Python does not know": added("a = 1\u2028b = 2\x85c = 3\x0bd = 4\x1ce = 5\x0cf = 6"),
    "returns without a new line": added("a = 1\rdef other(x):\r    return x\rb = 2"),
    "a name without end": added("a" * 19_000 + " = 1"),
    "letters that look alike": added("def st\u0430ndardize(x, dim, eps): return x"),
    "text that runs backwards": added("x = 1  # \u202e\u2066 mine \u2069"),
    "another encoding within": added("# -*- coding: utf-7 -*-\n+AGE- = 1"),
    "three hundred nearly equal": added(*(f"{ANSWER}[{number}]" for number in range(300)), kind="raw"),
    "loops in loops": added("x = " + "[" * 80 + "0" + " for i in range(1)]" * 80),
    "patterns in patterns": added("match x:\n    case " + "(" * 150 + "_" + ")" * 150 + ": pass"),
    "many decorators": added("@a\n" * 6000 + "def f(): pass"),
    "many statements in a line": added(*["a=1;" * 4900] * 10),
    "many checks": added(*["check('other', a);" * 800] * 10),
    "dots without end": added("from " + "." * 10_000 + " import a"),
    "a source of a million parts": added(["a"] * 500_000),
    "a source that is no text": added([1, None, {}], {"a": 1}, 5, None),
    "formats of texts": added("raise ValueError('{got.__class__} %s %n {0[0]}')"),
    "much metadata": lambda notebook: notebook["metadata"].update(x="y" * 20_000_000),
    "very many outputs": lambda notebook: notebook["cells"][0].update(outputs=[{"text": "x"}] * 100_000),
    "lines of one letter": added(*("x\n" * 9_700 + f"x{number} = 1" for number in range(5))),
    "markdown of many signs": added("**a " * 1200, "[a](b" * 900, "data:" + "a" * 9000, kind="markdown"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_answer_is_found_all_the_same(name: str, release: NotebookNode) -> None:
    """The answer is found whatever surrounds it, and the resulting notebook is valid without those additions."""
    notebook = json.loads(RELEASED.read_text(encoding="utf-8"))
    for each in notebook["cells"]:
        if each["metadata"].get("nbgrader", {}).get("grade_id") == TARGET:
            each["source"] = ANSWER
    CHANGES[name](notebook)
    begun = time.process_time()

    found = read_submission(json.dumps(notebook).encode(), release)

    assert found.trouble is None and ANSWER == found.answers[TARGET]
    nbformat.validate(found.notebook)
    assert "4242" not in str([(each.id, each.metadata) for each in found.notebook.cells])
    assert max(len(each.id) for each in found.notebook.cells) <= 64 and time.process_time() - begun < 5


def zipped(**files: bytes) -> bytes:
    """Return a zip archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


NO_NOTEBOOKS: dict[str, Callable[[], bytes]] = {
    "a format that is endless": lambda: b'{"cells": [], "nbformat": Infinity}',
    "a format that is true": lambda: b'{"cells": [], "nbformat": true}',
    "a conflict on each line": lambda: b"{" + b"<<<<<<<\n" * 1_000_000,
    "nothing but quotes": lambda: b'{"cells": [' + b'"' * MAX_NOTEBOOK_BYTES,
    "quotes of two bytes": lambda: b"\xff\xfe" + ('"' * 5_000_000).encode("utf-16-le"),
    "nothing but commas": lambda: b'{"cells": [' + b",   " * 2_000_000,
    "nothing but backslashes": lambda: b'{"cells": ["' + b"\\" * 10_000_000,
    "nothing but space": lambda: b'{"cells": [' + b" " * 10_000_000,
    "damaged letters": lambda: b'{"cells": "' + b"\xc3\x28" * 3_000_000,
    "numbers without end": lambda: b'{"cells": [' + b"1e999999999," * 500_000 + b"1]}",
    "long numbers": lambda: b'{"cells": [' + (b"9" * 4200 + b",") * 1500 + b"1]}",
    "a notebook in a text in a text": lambda: json.dumps(json.dumps(json.dumps({"cells": []}))).encode(),
    "an archive in an archive": lambda: zipped(**{"a.ipynb": zipped(**{"a.ipynb": RELEASED.read_bytes()})}),
    "two that differ in capitals": lambda: zipped(**{"a.ipynb": b"{}", "A.ipynb": b"{}"}),
    "an archive that says it holds millions": lambda: zipped(**{"a.ipynb": b"{}"}) + b"PK\x01\x02" * 500_000,
    "a pickle": lambda: b"\x80\x04\x95cos\nsystem\n(S'touch /tmp/pickled'\ntR.",
}


@pytest.mark.parametrize("name", NO_NOTEBOOKS)
def test_what_is_no_notebook_is_told_within_seconds(name: str, release: NotebookNode) -> None:
    """A file that is no notebook gives a short printable reason and the released notebook."""
    data, begun = NO_NOTEBOOKS[name]()[: MAX_NOTEBOOK_BYTES + 1], time.process_time()

    found = read_submission(data, release)

    assert found.trouble and len(found.trouble) < 1000 and found.trouble.isprintable()
    assert set(starters(release)) <= {
        each.metadata.get("nbgrader", {}).get("grade_id") for each in found.notebook.cells
    }
    assert time.process_time() - begun < 5 and not Path("/tmp/pickled").exists()


# --- displaying students' texts


@pytest.mark.parametrize(
    "text",
    [
        "![a](https://4242.example/a.png)",
        "[![a](https://4242.example/a.png)](https://example.org)",
        "![a][b]\n\n[b]: https://4242.example/a.png",
        r"$\newenvironment{a}{\begin{a}}{\end{a}}$",
        r"$\gdef\a{\a\a}$",
        r"$\mmlToken{mi}[style=\"background:url(https://4242.example/a.png)\"]{x}$",
        r"$\mmlToken{mi}[href=\"https://4242.example\"]{x}$",
        r"$\raise 300em{\text{35 of 35}}$",
        r"$\hskip-90em\Rule{9em}{9em}{9em}$",
        r"$x\\[-500em]y$",
    ],
)
def test_pages_show_no_picture_of_the_web(text: str) -> None:
    """Markdown with web images or dangerous formulas is shown as code, so that no page loads them."""
    assert sanitize_markdown.code_block(text) == sanitize_markdown.safe_markdown(text)


def test_links_to_the_web_and_formulas_stay() -> None:
    """Plain links and formulas stay Markdown."""
    text = r"See [the page](https://example.org)! It says $\frac{x^2}{\sum_i w_i} \raisebox \lowercase \quad a \\ b$."

    assert text == sanitize_markdown.safe_markdown(text)


def test_command_in_a_report_is_one_command() -> None:
    """A command with a student's name is quoted for the shell."""
    told = draft_entry_command(Path("/the course"), "ch", "a; rm -rf $HOME", "f")

    assert "autograder learn '/the course/submitted/a; rm -rf $HOME/ch' f" == told


def test_text_for_a_terminal() -> None:
    """Control characters are replaced, and newlines and tabs stay."""
    assert "a\n\tb" == replace_unprintable("a\n\tb") and "\ufffd[2J\ufffd\ufffd" == replace_unprintable(
        "\x1b[2J\r\u202e"
    )
