"""HTML helpers that the explorers share: buttons within a picture, scrolling tables, and tensors as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from autograder.notebook.html_markup import Attribute, Html, join, table, tag


def choice_button(name: str, value: str, *children: str, **attributes: Attribute) -> Html:
    """Return a button in the picture; when pressed, it sends `choose(name, value)`."""
    return tag("button", *children, type="button", data_choose=name, data_value=value, **attributes)


def scrollable_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    """Return a table that scrolls if it is wider than its place."""
    return tag("div", table(caption, head, rows), class_="x-scroll", data_keep=caption)


def static_picture(picture: Html) -> Html:
    """Return the picture for a page without a kernel: its buttons become plain text with the same look."""
    spans = re.sub(r'<button type="button" data-choose="[^"]*" data-value="[^"]*"', "<span", picture)
    return Html(spans.replace("</button>", "</span>"))


def short_number_text(value: Any) -> str:
    """Return a number of a tensor in short: four digits, `nan`, `True`."""
    if isinstance(value, complex):
        return f"{value.real:.4g}{value.imag:+.4g}j"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def values_as_tables(caption: str, values: Any) -> Html:
    """Return a tensor's values as tables: `values` is a number or nested lists, as `tolist` gives them.

    More than two dimensions become one table for each matrix, named by its index.
    """
    if not isinstance(values, list):
        return _grid(caption, [[values]], "x-scalar")
    if not values or not isinstance(values[0], list):
        return _grid(caption, [values], "x-row")
    if not any(values) or not isinstance(_first(values), list):
        return _grid(caption, values, "x-matrix")
    stacked = (values_as_tables(f"{caption}[{place}]", matrix) for place, matrix in enumerate(values))
    return tag("div", *stacked, class_="x-stack")


def _first(rows: list[Any]) -> Any:
    return next(row for row in rows if row)[0]


def _grid(caption: str, rows: list[list[Any]], class_: str) -> Html:
    """Return rows of numbers as a table without header cells, which screen readers would repeat for each number."""
    drawn = (tag("tr", *(tag("td", short_number_text(value)) for value in row)) for row in rows if row)
    body = join(*drawn) or tag("tr", tag("td", "no numbers"))
    return tag("table", tag("caption", caption), tag("tbody", body), class_=f"x-numbers {class_}")
