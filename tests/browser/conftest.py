"""What the browser tests share: one Chromium, one JupyterLab, and one page with it, which each test finds empty.

JupyterLab takes seconds to begin in a page, so the page stays; at night it begins from nothing for each test.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.asked import NIGHT
from tests.browser.chromium import MISSING, chromium
from tests.browser.lab import Desk, Lab
from tests.browser.lab_server import Server, lab_server

FOUND = chromium()
expect.set_options(timeout=20_000)  # milliseconds, for a busy machine: what is there sooner is not waited for


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


@pytest.fixture(scope="session")
def desk(browser: Browser, server: Server) -> Iterator[Desk]:
    """Where the page with JupyterLab is kept from test to test."""
    desk = Desk(browser, server)
    yield desk
    desk.put_away()


@pytest.fixture(scope="session")
def phone_desk(browser: Browser, server: Server) -> Iterator[Desk]:
    """The same on a phone: a finger and no mouse."""
    desk = Desk(browser, server, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    yield desk
    desk.put_away()


@pytest.fixture
def lab(desk: Desk, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A page with nothing open, as wide as a laptop; after a test that failed, and at night, it is a new one."""
    yield from _page(desk, request)


@pytest.fixture
def phone(phone_desk: Desk, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """The same on a phone."""
    yield from _page(phone_desk, request)


def _page(desk: Desk, request: pytest.FixtureRequest) -> Iterator[Lab]:
    lab = desk.lab()
    yield lab
    if NIGHT or request.node.stash.get(_FAILED, False):
        desk.put_away()
    else:
        desk.clear(lab)


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note a test that failed: it may have left anything behind."""
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report
