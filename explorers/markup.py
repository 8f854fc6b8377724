"""Builds HTML so that nothing gets in unescaped: a child that is not `Html` is text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Attribute = str | int | bool | None


class Html(str):
    """Markup. Only this module makes it, from parts that are markup or are escaped."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: Attribute) -> Html:
    """An element: `tag("td", "a < b", class_="x-size", data_node=3)`.

    Children that are not Html are escaped, attributes always. A trailing underscore of an attribute's name goes,
    others become hyphens; False and None leave it out, True gives its bare name.
    """
    told = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    return Html(f"<{name}{told}>{join(*children)}</{name}>")


def join(*children: str) -> Html:
    """Children one after the other, those that are not Html escaped."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))


def _attribute(key: str, value: Attribute) -> str:
    name = key.removesuffix("_").replace("_", "-")
    if value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def prose(sentence: str) -> Html:
    """A sentence in which what stands between backticks is code."""
    parts = sentence.split("`")
    if len(parts) % 2 == 0:
        return join(sentence)
    return join(*(tag("code", part) if index % 2 else part for index, part in enumerate(parts)))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, class_: str = "") -> Html:
    """A table with a caption; `head` names the columns, the first cell of each row names the row.

    A cell is text, Html, or a ready `td` made with `tag`.
    """
    columns = tag("tr", *(tag("th", cell, scope="col") if cell else Html("<td></td>") for cell in head))
    body = join(*(tag("tr", tag("th", row[0], scope="row"), *map(_cell, row[1:])) for row in rows))
    top = tag("thead", columns) if head else Html("")
    classes = f"x-table {class_}".strip()
    return tag("table", tag("caption", caption), top, tag("tbody", body), class_=classes)


def _cell(content: str) -> Html:
    return content if isinstance(content, Html) and content.startswith("<td") else tag("td", content)


def chooser(name: str, value: str, *children: str, **attributes: Attribute) -> Html:
    """A button in the picture: pressed, it sends `choose(name, value)`."""
    return tag("button", *children, type="button", data_choose=name, data_value=value, **attributes)


def still(picture: Html) -> Html:
    """The picture for a page where nothing answers: its buttons become plain text with the same look."""
    spans = re.sub(r'<button type="button" data-choose="[^"]*" data-value="[^"]*"', "<span", picture)
    return Html(spans.replace("</button>", "</span>"))


def number(value: Any) -> str:
    """A number of a tensor, short: four digits, `nan`, `True`."""
    if isinstance(value, complex):
        return f"{value.real:.4g}{value.imag:+.4g}j"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def numbers(caption: str, values: Any) -> Html:
    """A tensor's values as tables: `values` is a number or nested lists, as `tolist` gives them.

    More than two dimensions become one table for each matrix, named by its index.
    """
    if not isinstance(values, list):
        return _grid(caption, [[values]], "x-scalar")
    if not values or not isinstance(values[0], list):
        return _grid(caption, [values], "x-row")
    if not any(values) or not isinstance(_first(values), list):
        return _grid(caption, values, "x-matrix")
    stacked = (numbers(f"{caption}[{place}]", matrix) for place, matrix in enumerate(values))
    return tag("div", *stacked, class_="x-stack")


def _first(rows: list[Any]) -> Any:
    return next(row for row in rows if row)[0]


def _grid(caption: str, rows: list[list[Any]], class_: str) -> Html:
    """Rows of numbers. Their places are plain: no header cells, which would be read aloud before each number."""
    drawn = (tag("tr", *(tag("td", number(value)) for value in row)) for row in rows if row)
    body = join(*drawn) or tag("tr", tag("td", "no numbers"))
    return tag("table", tag("caption", caption), tag("tbody", body), class_=f"x-numbers {class_}")
