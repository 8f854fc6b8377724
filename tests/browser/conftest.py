"""What the browser tests share: one Chromium and one JupyterLab for all, a fresh page for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import MISSING, chromium
from tests.browser.lab import Lab
from tests.browser.lab_server import Server, lab_server

FOUND = chromium()


def pytest_report_header() -> str:
    """Which browser is driven, or that none is."""
    return f"browser: {FOUND}" if FOUND else f"NO BROWSER TEST WILL RUN. {MISSING}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with whole chapters, which take longest, so that processes that share the tests end together."""
    items.sort(key=lambda item: item.path.stem != "test_notebooks")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    if FOUND is None:
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=FOUND, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Server]:
    """JupyterLab, started only where there is a browser."""
    with lab_server(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")) as server:
        yield server


@pytest.fixture
def lab(browser: Browser, server: Server) -> Iterator[Lab]:
    """A fresh page without cookies or storage of another test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Lab(context.new_page(), server)
    context.close()
