"""Build HTML in which all text is escaped: a child that is not `Html` is text."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape

Attribute = str | int | bool | None
_EMPTY = ("br", "img", "meta")  # elements without an end tag
# Control characters, marks that reverse the direction of text, and lone surrogates, which cannot be encoded: in text or
# in a folder name of a student they could disarrange the page.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ROW = "background:transparent;vertical-align:baseline"  # the style of a table's row: no stripes of JupyterLab's


class Html(str):
    """HTML markup. Functions of this module make it from markup and from escaped text."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: Attribute) -> Html:
    """Return an element: `tag("td", "a < b", class_="x-size", data_node=3)`.

    Children that are not Html are escaped, and so are all attributes. In an attribute's name a trailing underscore is
    removed, and others become hyphens. False and None omit the attribute, True writes its bare name.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    return Html(f"<{name}{written}>" if name in _EMPTY else f"<{name}{written}>{join(*children)}</{name}>")


def picture(png: bytes, alt: str, **attributes: Attribute) -> Html:
    """Return an image element that contains the PNG data itself; `alt` is the text for readers who cannot see it."""
    return tag("img", src=f"data:image/png;base64,{base64.b64encode(png).decode()}", alt=alt, **attributes)


def join(*children: str) -> Html:
    """Concatenate the children, and escape those that are not Html."""
    return Html("".join(child if isinstance(child, Html) else _text(child) for child in children))


def _text(child: str) -> str:
    return escape(child if child.isprintable() else _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", child))


def _attribute(key: str, value: Attribute) -> str:
    name = key.removesuffix("_").replace("_", "-")
    if value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{_text(str(value))}"'


def sentence_to_html(sentence: str) -> Html:
    """Return a sentence as HTML, with text between backticks as `code` elements."""
    parts = sentence.split("`")
    if len(parts) % 2 == 0:
        return join(sentence)
    return join(*(tag("code", part) if index % 2 else part for index, part in enumerate(parts)))


def panel(color: str, *children: str) -> Html:
    """Return a block for the output of a notebook's cell, with a left edge in this color."""
    style = f"border-left:4px solid {color};padding:0.4em 0.9em;margin:0.3em 0;line-height:1.5"
    return tag("div", *children, style=style)


def sign(mark: str, color: str) -> Html:
    """Return a mark such as a tick, hidden from screen readers because the words beside it say the same."""
    return tag("span", mark, style=f"color:{color};font-weight:700", aria_hidden="true")


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, class_: str = "") -> Html:
    """Return a table with a caption; `head` names the columns, and the first cell of each row names the row.

    A cell is text, Html, or a `td` element made with `tag`.
    """
    columns = tag("tr", *(tag("th", cell, scope="col") if cell else tag("td") for cell in head))
    body = join(*(tag("tr", tag("th", row[0], scope="row"), *map(_cell, row[1:])) for row in rows))
    top = tag("thead", columns) if head else Html("")
    classes = f"x-table {class_}".strip()
    return tag("table", tag("caption", caption), top, tag("tbody", body), class_=classes)


def _cell(content: str) -> Html:
    return content if isinstance(content, Html) and content.startswith("<td") else tag("td", content)
