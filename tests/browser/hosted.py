"""The site as a host of pages shows it: below a path of three folders, and with the site's own page where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

BELOW = "/x/y/z/"


class _Pages(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        """A file of the site, or its 404 page with that status."""
        self.path = self.path.removeprefix(BELOW.rstrip("/")) if self.path.startswith(BELOW) else "/none"
        place = Path(self.translate_path(self.path))
        if place.is_file() or (place / "index.html").is_file():
            super().do_GET()
            return
        told = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def hosted(site: Path) -> Iterator[str]:
    """The address of the site's folder, as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Pages, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{BELOW}"
    finally:
        server.shutdown()
        server.server_close()
