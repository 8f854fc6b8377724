"""Compress the frame data of recorded animations on a page, because many web servers send HTML uncompressed."""

from __future__ import annotations

import base64
import re
import zlib
from html import unescape

_FILM = re.compile(r"""data-film=(?:"([^"]*)"|'([^']*)')""")


def pack_films(body: str) -> str:
    """Return the HTML of a page in which `data-film` is no longer JSON but the base64 text of it, compressed.

    The script `_static/near.js` unpacks it.
    """
    return _FILM.sub(lambda found: f'data-film="{_packed(unescape(found[1] or found[2]))}"', body)


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()
