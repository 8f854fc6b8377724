"""Random damage to notebooks: small changes to their JSON, which tests apply one after the other."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Mutation = Callable[[Any, Random], None]

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 4, 5, 1e308, float("nan"), float("inf"), 10**30),
    *(
        "",
        "code",
        "markdown",
        "raw",
        "standardize",
        "check_standardize",
        "\0",
        "\ud800",
        "é" * 50,
        "%time x",
        "x" * 3000,
    ),
    *([], {}, [[]], {"a": {}}, ["a", 1, None], {"nbgrader": 3}, {"grade_id": []}, [["a"]], {"source": "x"}),
)
TOKENS = (
    *(
        "(",
        ")",
        "[",
        "]",
        ":",
        ",",
        "'",
        '"',
        '"""',
        "\\",
        "\n",
        "\t",
        "    ",
        "#",
        "@",
        "%",
        "!",
        "?",
        "{",
        "}",
        "$",
        "<b>",
    ),
    *(
        "def ",
        "return ",
        "class ",
        "lambda: ",
        "async ",
        "await ",
        "import os\n",
        "0x",
        "1e999",
        "f'{",
        "not ",
        "is ",
        "=",
        "*",
    ),
)


def cells_of(notebook: Any) -> list[Any]:
    """Return the cells of a notebook; an empty list if it has none."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return cells if isinstance(cells, list) else []


def _some(notebook: Any, random: Random) -> dict[str, Any]:
    """Return a random cell; without cells a new dict, whose changes have no effect."""
    found = [cell for cell in cells_of(notebook) if isinstance(cell, dict)]
    return random.choice(found) if found else {}


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def drop_cell(notebook: Any, random: Random) -> None:
    """Delete a cell."""
    cells = cells_of(notebook)
    if cells:
        del cells[random.randrange(len(cells))]


def copy_cell(notebook: Any, random: Random) -> None:
    """Copy a cell with all its marks to another place."""
    cells = cells_of(notebook)
    if cells:
        cells.insert(random.randrange(len(cells) + 1), copy.deepcopy(random.choice(cells)))


def swap_cells(notebook: Any, random: Random) -> None:
    """Swap two cells."""
    cells = cells_of(notebook)
    if cells:
        one, other = random.randrange(len(cells)), random.randrange(len(cells))
        cells[one], cells[other] = cells[other], cells[one]


def split_cell(notebook: Any, random: Random) -> None:
    """Cut a cell in two, each with the metadata of the whole."""
    cells, cell = cells_of(notebook), _some(notebook, random)
    text = _text(cell)
    if text:
        cut = random.randrange(len(text))
        cells.insert(random.randrange(len(cells) + 1), {**copy.deepcopy(cell), "source": text[cut:]})
        cell["source"] = text[:cut]


def merge_cells(notebook: Any, random: Random) -> None:
    """Append another cell's text to a cell's text."""
    cell, other = _some(notebook, random), _some(notebook, random)
    cell["source"] = f"{_text(cell)}\n{_text(other)}"


def change_kind(notebook: Any, random: Random) -> None:
    """Change the type of a cell."""
    _some(notebook, random)["cell_type"] = random.choice(("code", "markdown", "raw", "heading", "", None, 3, ["code"]))


def change_letter(notebook: Any, random: Random) -> None:
    """Replace, add or delete a letter of a text."""
    cell = _some(notebook, random)
    text = _text(cell)
    place = random.randrange(len(text) + 1)
    cell["source"] = (
        text[:place] + random.choice(("", chr(random.randrange(0x250)))) + text[place + random.randrange(2) :]
    )


def change_token(notebook: Any, random: Random) -> None:
    """Replace, add or delete a word or sign of a text."""
    cell = _some(notebook, random)
    words = re.findall(r"\w+|\s+|.", _text(cell))
    place = random.randrange(len(words) + 1)
    words[place : place + random.randrange(3)] = random.choice(([], [random.choice(TOKENS)], words[:place][-1:]))
    cell["source"] = "".join(words)


def cut_text(notebook: Any, random: Random) -> None:
    """Truncate a text."""
    cell = _some(notebook, random)
    text = _text(cell)
    cell["source"] = text[: random.randrange(len(text) + 1)]


def repeat_text(notebook: Any, random: Random) -> None:
    """Repeat a text, and append deep nesting or many lines."""
    cell = _some(notebook, random)
    cell["source"] = _text(cell) * random.choice((2, 3, 40)) + random.choice(("", "(" * 300, "-" * 3000, "\n%x" * 30))


def spell_source(notebook: Any, random: Random) -> None:
    """Write a text in another JSON form, valid or nearly so."""
    cell = _some(notebook, random)
    text = _text(cell)
    cell["source"] = random.choice((text, list(text), text.splitlines(), [text, None, 3, [text]], {"text": text}))


def change_mark(notebook: Any, random: Random) -> None:
    """Drop, move or damage nbgrader's metadata of a cell."""
    cell, other = _some(notebook, random), _some(notebook, random)
    mark = cell["metadata"].get("nbgrader") if isinstance(cell.get("metadata"), dict) else None
    if not isinstance(mark, dict) or not mark or random.random() < 0.3:
        cell["metadata"] = copy.deepcopy(random.choice(({}, other.get("metadata"), *ODD)))
    else:
        mark[random.choice((*mark, "odd"))] = copy.deepcopy(random.choice(ODD))


def drop_marks(notebook: Any, random: Random) -> None:
    """Drop all metadata of some cells, as some programs do."""
    for cell in cells_of(notebook):
        if isinstance(cell, dict) and random.random() < 0.5:
            cell["metadata"] = {}


def change_format(notebook: Any, random: Random) -> None:
    """Change the notebook's format version or metadata."""
    if isinstance(notebook, dict):
        name = random.choice(("nbformat", "nbformat_minor", "metadata"))
        notebook[name] = copy.deepcopy(random.choice((4, 4.0, 3, 5, "4", *ODD)))


def odd_value(notebook: Any, random: Random) -> None:
    """Replace a random value by an odd one."""
    places = list(_places(notebook))
    if places:
        holder, key = random.choice(places)
        holder[key] = copy.deepcopy(random.choice(ODD))


def drop_value(notebook: Any, random: Random) -> None:
    """Delete a random value."""
    places = list(_places(notebook))
    if places:
        holder, key = random.choice(places)
        del holder[key]


def nest(notebook: Any, random: Random) -> None:
    """Nest a random value in many lists or objects."""
    places = list(_places(notebook))
    if places:
        holder, key = random.choice(places)
        for _ in range(random.choice((1, 5, 150))):
            holder[key] = random.choice(([holder[key]], {"a": holder[key]}))


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the container and the key of every value inside a JSON value."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from _places(node[key])


MUTATIONS: tuple[Mutation, ...] = (
    *(drop_cell, copy_cell, swap_cells, split_cell, merge_cells, change_kind, change_letter, change_token, cut_text),
    *(repeat_text, spell_source, change_mark, drop_marks, change_format, odd_value, drop_value, nest),
)


def damage(data: bytes, random: Random) -> bytes:
    """Damage the bytes of a file: delete, replace, insert or duplicate some."""
    place, length = random.randrange(len(data) + 1), random.choice((0, 1, 1, 20, 3000))
    return (
        data[:place] + random.choice((b"", random.randbytes(length), data[place : place + 50])) + data[place + length :]
    )
