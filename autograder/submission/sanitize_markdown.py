"""Make students' markdown safe to show on pages that render it.

Formgrader's pages, which teachers open with all their rights, and the feedback pages render the markdown of an
autograded notebook with its HTML, links and formulas. Markdown that might hold more than text is put into a code block.
"""

from __future__ import annotations

import re

_MAX_RENDERED = 5_000  # characters; rendering markdown can take very long for some texts
_MAX_SIGNS = 400  # brackets and similar characters, which make rendering slow
_SIGNS = re.compile(r"[\[\]()*_`~>$\\|#]")
_MORE_THAN_TEXT = re.compile(
    r"<[a-z/!?]"  # HTML, and links such as <javascript:...>
    r"|&[#\w]"  # a character entity
    r"|\]\((?!https?://)|\]\s*:|\]\["  # a link to anything but a web page, an attachment, a link's definition
    r"|!\["  # a picture from the web: the browser would send a request to its address
    r"|(`{3}|~{3})"  # a code fence, which may name its language, and pages run some languages
    r"|\\(href|url|class|cssid|style|require|unicode|html|def|let|gdef|newcommand|renewcommand|newenvironment|renewenvironment|data|includegraphics)"
    # formula commands that set a style, a link or a position, or move text over what others wrote
    r"|\\(mmltoken|bbox|raise|lower|move(left|right)|m?kern|[hm]skip|[hm]space|rule|space|(math)?[rl]lap)(?![a-z])|\\\\\s*\["
    r"|(java|vb)script:|data:|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]",
    re.IGNORECASE,
)


def safe_markdown(text: str) -> str:
    """Return markdown unchanged if it holds only text, simple formulas and links to the web; else as a code block."""
    if len(text) <= _MAX_RENDERED and len(_SIGNS.findall(text)) <= _MAX_SIGNS and not _MORE_THAN_TEXT.search(text):
        return text
    return code_block(text)


def code_block(text: str) -> str:
    """Return markdown that shows a text exactly as it was typed: a code block."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"
