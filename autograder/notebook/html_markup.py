"""Builds HTML so that nothing gets in unescaped: a child that is not `Html` is text."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape

Attribute = str | int | bool | None
_EMPTY = ("br", "img", "meta")  # elements that have no end
# What turns the text behind it around, or is no text at all, as half a surrogate pair, which no file can hold: what a
# student wrote, or named a folder, must not disarrange what we say.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ROW = "background:transparent;vertical-align:baseline"  # the style of a table's row, which JupyterLab would stripe


class Html(str):
    """Markup. Only this module makes it, from parts that are markup or are escaped."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: Attribute) -> Html:
    """An element: `tag("td", "a < b", class_="x-size", data_node=3)`.

    Children that are not Html are escaped, attributes always. A trailing underscore of an attribute's name goes,
    others become hyphens; False and None leave it out, True gives its bare name.
    """
    told = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    return Html(f"<{name}{told}>" if name in _EMPTY else f"<{name}{told}>{join(*children)}</{name}>")


def picture(png: bytes, alt: str, **attributes: Attribute) -> Html:
    """An image inside the page: it needs no file beside it, and no network. `alt` is for who cannot see it."""
    return tag("img", src=f"data:image/png;base64,{base64.b64encode(png).decode()}", alt=alt, **attributes)


def join(*children: str) -> Html:
    """Children one after the other, those that are not Html escaped."""
    return Html("".join(child if isinstance(child, Html) else _text(child) for child in children))


def _text(child: str) -> str:
    return escape(child if child.isprintable() else _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", child))


def _attribute(key: str, value: Attribute) -> str:
    name = key.removesuffix("_").replace("_", "-")
    if value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{_text(str(value))}"'


def prose(sentence: str) -> Html:
    """A sentence in which what stands between backticks is code."""
    parts = sentence.split("`")
    if len(parts) % 2 == 0:
        return join(sentence)
    return join(*(tag("code", part) if index % 2 else part for index, part in enumerate(parts)))


def panel(color: str, *children: str) -> Html:
    """What a call shows below a notebook's cell, with an edge in this color."""
    style = f"border-left:4px solid {color};padding:0.4em 0.9em;margin:0.3em 0;line-height:1.5"
    return tag("div", *children, style=style)


def sign(mark: str, color: str) -> Html:
    """A mark such as a tick, for the eye alone: words beside it say the same."""
    return tag("span", mark, style=f"color:{color};font-weight:700", aria_hidden="true")


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, class_: str = "") -> Html:
    """A table with a caption; `head` names the columns, the first cell of each row names the row.

    A cell is text, Html, or a ready `td` made with `tag`.
    """
    columns = tag("tr", *(tag("th", cell, scope="col") if cell else tag("td") for cell in head))
    body = join(*(tag("tr", tag("th", row[0], scope="row"), *map(_cell, row[1:])) for row in rows))
    top = tag("thead", columns) if head else Html("")
    classes = f"x-table {class_}".strip()
    return tag("table", tag("caption", caption), top, tag("tbody", body), class_=classes)


def _cell(content: str) -> Html:
    return content if isinstance(content, Html) and content.startswith("<td") else tag("td", content)
