"""Write the lines of a figure in fewer bytes and with fewer elements, and draw the same."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NAME = re.compile(r' id="([^"]*)"')
_STYLE = re.compile(r'(?<= style=")[^"]*')
_LONG = re.compile(r"-?\d+\.\d{3,}")  # a hundredth of a pixel is enough
_MOVED = re.compile(r'(<use [^>]*?) transform="translate\((\S+) (\S+)\)"/>')
_MARK = re.compile(r'<path id="([^"]*)"[^>]*( style="[^"]*")/>')
_USE = re.compile(r'<use href="#([^"]*)"[^>]*>')
_UNSEEN = re.compile(r'<path d="[^"]*" style="fill:none"/>')
_GROUP = re.compile(r"</?g\b[^>]*>")
_EMPTY = re.compile(r"<g></g>|<g/>")
_LINE = re.compile(r'(?<= d=")(?:M \S+ \S+ (?:L \S+ \S+ )*(?:z )?)+(?=")')  # what is straight only
_POINT = re.compile(r"z|([ML]) (\S+) (\S+)")
_LEADING = re.compile(r"\b0\.")
_STEPS = 10  # a tenth of a pixel is enough for a point


def minify_svg(lines: str) -> str:
    """Return the markup of a figure without comments, indents, names that nothing refers to, and long decimals.

    Groups and paths that change nothing on the page are left out, and lines go from point to point.
    """
    plain = " ".join(_COMMENT.sub("", lines).split()).replace("> <", "><").replace("xlink:href=", "href=")
    named = _NAME.sub(lambda name: name[0] if f"#{name[1]}" in plain else "", plain)
    styled = _STYLE.sub(lambda style: style[0].replace(": ", ":").replace("; ", ";"), named)
    marks = dict(_MARK.findall(styled))  # a mark has its style itself: where it is drawn it needs none
    marked = _USE.sub(lambda use: use[0].replace(marks.get(use[1], "\0"), ""), styled)
    drawn = _MOVED.sub(_placed, _LINE.sub(_relative, _UNSEEN.sub("", marked)))
    return _LONG.sub(lambda number: _rounded(float(number[0])), _without_bare_groups(_EMPTY.sub("", drawn)))


def _rounded(number: float) -> str:
    return f"{number:.{2 if abs(number) >= 1 else 4}f}".rstrip("0").rstrip(".")


def _placed(use: re.Match[str]) -> str:
    """Return a letter or a mark with its place as attributes, of which 0 is left out."""
    x, y = (f' {name}="{value}"' if float(value) else "" for name, value in zip("xy", use.groups()[1:], strict=True))
    return f"{use[1]}{x}{y}/>"


def _relative(line: re.Match[str]) -> str:
    """Return the points of a line, each as its distance from the one before; rounding does not add up."""
    text, here = "", (0, 0)
    for kind, x, y in _POINT.findall(line[0]):
        if not kind:
            text += "z"
            continue
        there = round(float(x) * _STEPS), round(float(y) * _STEPS)
        if kind == "M":
            text += f"M{_joined(there)}l"
        else:
            text += _joined((there[0] - here[0], there[1] - here[1]), is_next=text[-1] != "l")
        here = there
    return re.sub("l(?=[Mz]|$)", "", text)  # a point alone


def _joined(point: tuple[int, int], is_next: bool = False) -> str:
    """Return two numbers in as few signs as SVG takes: a minus sign separates as well as a space."""
    words = [_LEADING.sub(".", f"{each / _STEPS:.10g}") for each in point]
    return "".join(word if word[0] == "-" or not (i or is_next) else f" {word}" for i, word in enumerate(words))


def _without_bare_groups(lines: str) -> str:
    """Return the markup without groups that have no attributes; their contents stay."""
    is_kept: list[bool] = []

    def kept(found: re.Match[str]) -> str:
        if found[0] == "</g>":
            return found[0] if is_kept.pop() else ""
        if not found[0].endswith("/>"):
            is_kept.append(found[0] != "<g>")
        return "" if found[0] == "<g>" else found[0]

    return _GROUP.sub(kept, lines)
