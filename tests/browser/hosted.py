"""Serve the site as a host does: below a path of three folders, with the site's own page for wrong addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

BELOW = "/x/y/z/"


class _Pages(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        """Return the file for an address; no file for an address outside the path."""
        return super().translate_path(path.removeprefix(BELOW[:-1]) if path.startswith(BELOW) else "/none")

    def send_error(self, code: int, *told: Any, **more: Any) -> None:
        """Send the site's own page for wrong addresses with status 404."""
        if code != 404:
            super().send_error(code, *told, **more)
            return
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write((Path(self.directory) / "404.html").read_bytes())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def hosted(site: Path) -> Iterator[str]:
    """Serve the site's folder within the block, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Pages, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{BELOW}"
    finally:
        server.shutdown()
        server.server_close()
