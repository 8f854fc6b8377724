"""What students write as text, in a form that every page shows and no page runs.

Pages made of an autograded notebook render markdown with its HTML, its links and its formulas: formgrader's, which
teachers open with all their rights, and the feedback. A text that could hold more than text is shown as it was typed.
"""

from __future__ import annotations

import re

_MAX_RENDERED = 5_000  # characters; what turns markdown into HTML takes its time over some texts
_MAX_SIGNS = 400  # brackets and the like, over which it takes its time
_SIGNS = re.compile(r"[\[\]()*_`~>$\\|#]")
_MORE_THAN_TEXT = re.compile(
    r"<[a-z/!?]"  # HTML, and links such as <javascript:...>
    r"|&[#\w]"  # a letter that is spelled
    r"|\]\((?!https?://)|\]\s*:|\]\["  # a link to anything but a page of the web, an attachment, a link's address
    r"|!\["  # a picture of the web: to show it is to call there, with whatever its address says
    r"|(`{3}|~{3})"  # a fence, which may say what language it holds, and some languages are run
    r"|\\(href|url|class|cssid|style|require|unicode|html|def|let|gdef|newcommand|renewcommand|newenvironment|renewenvironment|data|includegraphics)"
    # a letter with a style, a link or a place of its own, and what moves a text over what others wrote
    r"|\\(mmltoken|bbox|raise|lower|move(left|right)|m?kern|[hm]skip|[hm]space|rule|space|(math)?[rl]lap)(?![a-z])|\\\\\s*\["
    r"|(java|vb)script:|data:|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]",
    re.IGNORECASE,
)


def shown(text: str) -> str:
    """Markdown as it is where it holds nothing but text, simple formulas and links to the web; else as typed."""
    if len(text) <= _MAX_RENDERED and len(_SIGNS.findall(text)) <= _MAX_SIGNS and not _MORE_THAN_TEXT.search(text):
        return text
    return as_typed(text)


def as_typed(text: str) -> str:
    """Markdown that shows a text letter by letter."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"
