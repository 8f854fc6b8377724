"""JupyterLab as a reader uses it: a page object over Playwright, and the page that successive tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Locator, Page

from tests.asked import NIGHT
from tests.browser.lab_server import Server
from tests.small_chapter import PROJECT

SCREENSHOTS = PROJECT / "build" / "screenshots"
PATIENCE = 60_000  # milliseconds until a kernel has started, or all cells have run
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
THEMES = (LIGHT, DARK)  # all explorers have the same colors: by day each is looked at in one theme, at night in both
LAPTOP = {"width": 1280, "height": 900}
_NOTEBOOK = "window.jupyterapp.shell.currentWidget"
# Closes all documents, saved or not, and opens a notebook. JupyterLab shows a launcher where nothing is open.
_OPEN = """async path => {
    const { shell, commands } = window.jupyterapp
    const others = panel => [...shell.widgets("main")].filter(one => one !== panel)
    for (const one of others(null)) one.dispose()
    const panel = await commands.execute("docmanager:open", { path, factory: "Notebook" })
    await panel.context.ready
    for (const one of others(panel)) one.dispose()
    shell.activateById(panel.id)
}"""
# What the site's JupyterLite brings into each JupyterLab of a developer, where its one extension does not load.
_LITE = "@jupyterlite/pyodide-kernel-extension"
SHARED = "shared.ipynb"  # what `Lab.write` writes; the next test takes over its kernel, since a new one takes seconds
# What makes a used kernel as good as a new one: no explorers, no names, torch's first seed.
_AS_NEW = """import ipywidgets, torch
ipywidgets.Widget.close_all()
torch.manual_seed(67280421310721)
get_ipython().reset()"""
# Empties the kernel of the open notebook if it is the shared one, and returns whether it was.
_MAKE_AS_NEW = f"""async code => {{
    const panel = {_NOTEBOOK}
    if (panel?.context?.path !== "{SHARED}") return false
    await panel.sessionContext.session.kernel.requestExecute({{ code, silent: true }}).done
    return true
}}"""
_HAS_LAB = "Boolean(window.jupyterapp?.shell?.widgets)"


def keep_picture(of: Page | Locator, name: str) -> Path:
    """Save a screenshot of a page or an element as build/screenshots/NAME.png, and return its path."""
    path = SCREENSHOTS / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    of.screenshot(path=path)
    return path


class Lab:
    """A browser page with JupyterLab. `complaints` collects the errors and warnings of the page."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        self.complaints: list[str] = []
        page.set_default_timeout(20_000)
        page.on("console", self._note)
        page.on("pageerror", self._note_error)

    def leave(self) -> None:
        """Stop collecting complaints, before another test uses the page."""
        self.page.remove_listener("console", self._note)
        self.page.remove_listener("pageerror", self._note_error)

    def _note_error(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and _LITE not in message.text:
            self.complaints.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def write(self, *cells: str) -> str:
        """Write a notebook with these code cells, and return its name; it gets the kernel of the last one, emptied."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, self.server.folder / SHARED)
        return SHARED

    def open(self, notebook: str) -> None:
        """Open a notebook in place of the open one, and wait until its kernel is idle; other kernels keep running."""
        if self.page.evaluate(_HAS_LAB):
            self.page.evaluate(_OPEN, notebook)
        else:
            self.page.goto(self.server.page(notebook))
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE)
        self.wait_for_idle()
        self.page.evaluate("window.jupyterapp.shell.collapseLeft()")

    def close(self) -> None:
        """Close JupyterLab, so that the next `open` loads it again."""
        self.page.goto("about:blank")

    def wait_for_idle(self) -> None:
        """Wait until the kernel is idle."""
        idle = f"() => {_NOTEBOOK}?.sessionContext?.session?.kernel?.status === 'idle'"
        self.page.wait_for_function(idle, timeout=PATIENCE)

    def run_all(self) -> None:
        """Run every cell; returns when all have run or one has failed."""
        self._command("notebook:run-all-cells")

    def run(self, cell: Locator) -> None:
        """Run one cell as Ctrl+Enter does, and wait until the kernel is idle."""
        self._editor(cell).click()
        self.page.keyboard.press("Control+Enter")
        self.wait_for_idle()

    def type(self, cell: Locator, text: str) -> None:
        """Replace the text of a cell."""
        self._editor(cell).click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def cell(self, text: str) -> Locator:
        """Return the first cell that shows this text."""
        return self.page.locator(".jp-Notebook .jp-Cell").filter(has_text=text).first

    def restart_kernel(self) -> None:
        """Restart the kernel without a dialog, and wait until it is idle."""
        self.page.evaluate(f"{_NOTEBOOK}.sessionContext.session.kernel.restart()")
        self.wait_for_idle()

    def save(self) -> Path:
        """Save the notebook, and return its path."""
        self._command("docmanager:save")
        return self.server.folder / self.page.evaluate(f"{_NOTEBOOK}.context.path")

    def use_theme(self, name: str) -> None:
        """Switch to the theme LIGHT or DARK, and wait until JupyterLab shows it."""
        self.page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def screenshot(self, name: str, of: Locator | None = None) -> Path:
        """Save a screenshot of the page, or of one element, as build/screenshots/NAME.png, and return its path."""
        return keep_picture(of or self.page, name)

    def screenshot_at_night(self, name: str, of: Locator) -> None:
        """The same for one of many pictures that are alike, for which there is no time by day."""
        if NIGHT:
            keep_picture(of, name)

    def _command(self, name: str) -> None:
        self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)

    def _editor(self, cell: Locator) -> Locator:
        return cell.locator(".jp-InputArea-editor .cm-content")


class Desk:
    """Keeps one page with JupyterLab open, and clears it between tests so that none affects the next."""

    def __init__(self, browser: Browser, server: Server, **device: Any) -> None:
        self.browser, self.server = browser, server
        self._device: dict[str, Any] = {"viewport": LAPTOP, **device}
        self._context: BrowserContext | None = None

    def lab(self) -> Lab:
        """Return the page, or a new one if there is none."""
        if self._context is None:
            self._context = self.browser.new_context(**self._device)
            self._context.new_page()
        return Lab(self._context.pages[0], self.server)

    def clear(self, lab: Lab) -> None:
        """Close all documents, end or empty all kernels, and reset what a test may set; closes a page with a dialog."""
        lab.leave()
        page, emptied = lab.page, False
        if page.locator(".jp-Dialog").count():
            page.keyboard.press("Escape")  # else the page is closed below, and loading it takes seconds
        if not page.url.startswith(f"{self.server.address}/lab") or page.locator(".jp-Dialog").count():
            lab.close()
        elif page.evaluate(_HAS_LAB):
            emptied = page.evaluate(_MAKE_AS_NEW, _AS_NEW)
            page.evaluate("for (const one of [...jupyterapp.shell.widgets('main')]) one.dispose()")
            if page.evaluate("document.body.dataset.jpThemeName") != LIGHT:
                lab.use_theme(LIGHT)
        self.server.end_kernels(page.request, but=SHARED if emptied else "")
        page.set_viewport_size(self._device["viewport"])
        page.emulate_media(reduced_motion="null")
        page.context.clear_permissions()

    def put_away(self) -> None:
        """Close the page, so that the next test begins with a new one."""
        if self._context is not None:
            self.server.end_kernels(self._context.request)
            self._context.close()
        self._context = None
