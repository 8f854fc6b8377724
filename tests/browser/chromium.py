"""Find a Chromium for the browser tests; as a program, print its path, or what to install."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "The browser tests need Chromium, and none was found. Install one with `.venv/bin/python -m playwright install "
    "chromium`, or with your system's packages (Debian: apt install chromium; Ubuntu: the package of Google Chrome)."
)


def chromium() -> str | None:
    """Return the path of Playwright's own Chromium if it is installed, else of one on PATH, else None."""
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else next(filter(None, map(shutil.which, NAMES)), None)


if __name__ == "__main__":
    found = chromium()
    if found is None:
        sys.exit(MISSING)
    print(f"Driving {found}")
