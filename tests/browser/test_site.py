"""The site in a real browser: every page, its links and its size, in the dark theme, on a phone, and the search."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from autograder.files import sha256_of_texts
from tests.asked import NIGHT, by_night
from tests.browser.accessible import faint_texts, nameless_controls
from tests.browser.hosted import hosted
from tests.browser.lab import keep_picture
from tests.browser.test_report import corner_of
from tests.our_course import COURSE
from tests.small_chapter import PROJECT

LARGEST = 2 * 10**6  # bytes per page
PHONE = {"width": 390, "height": 844}
READ = ("index.html", "notebooks/ch01a_tensors.html", "notebooks/ch04a_training_loop.html", "teachers.html")
# A wide output or figure takes the focus so that keys can scroll it; a screen reader reads its contents.
CHAPTERS = len({each.number for each in COURSE.listed})
SCROLLED = ('<div class="cell_output', '<div class="taken"')
MARKS = "✓✗–○"  # begin a line of feedback, and repeat its words: so they need less contrast
BY_DAY = ("ch01a_tensors", "ch04b_when_it_fails")
LOOKED_INTO = (*BY_DAY, "ch01b_broadcasting", "ch03b_layers")
# The largest number of live regions in one film.
SPEAKING = """() => Math.max(0, ...[...document.querySelectorAll(".x-film")].map(
  film => film.querySelectorAll(":is([role=status], [aria-live]:not([aria-live=off]))").length))"""
# Answers each prediction as soon as it has a field, and returns the sentences that the page then shows.
ANSWER_ALL = """async () => {
  const said = [];
  for (const place of document.querySelectorAll("div.asks")) {
    place.scrollIntoView({ block: "center" });
    for (let frame = 0; frame < 600 && !place.querySelector("button"); frame += 1)
      await new Promise(requestAnimationFrame);
    const [field, button] = [place.querySelector("input"), place.querySelector("button")];
    if (field) field.value = "12";
    button.click();
    said.push(place.querySelector("[role=status]").textContent);
  }
  return said;
}"""

# The page never finds time for what has not come near.
NEVER_IDLE = "window.requestIdleCallback = () => 0"
# The places of a page that a picture of it would leave blank.
BLANK = """() => [...document.querySelectorAll("article section, div.cell")].filter(
  place => getComputedStyle(place).contentVisibility !== "visible").length
  + [...document.querySelectorAll(".later")].filter(place => !place.querySelector("svg")).length"""

pytestmark = pytest.mark.xdist_group("site")  # one process builds it


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the site, built from what stands here, unless it was already; chapters are run when they change.

    By day only those are run that a test looks into, and those that the first page shows.
    """
    html = PROJECT / "build" / "site" / "html"
    stamp, content = html / ".built-from", read_by_the_site()  # a later build of something else takes it away
    if NIGHT or not stamp.is_file() or stamp.read_text() != content:
        command = [sys.executable, "-m", "autograder", "site", *([] if NIGHT else LOOKED_INTO)]
        ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        stamp.write_text(content)
    return html


def read_by_the_site() -> str:
    """Return the digest of all files that the site depends on, and of the versions of Python, torch and Sphinx."""
    listing = ["git", "ls-files", "-co", "--exclude-standard", "--", ".", ":!tests"]
    names = [name for name in said(*listing).splitlines() if (PROJECT / name).is_file()]
    hashes = said("git", "hash-object", "--stdin-paths", asked="\n".join(names))  # this process opens no bank
    return sha256_of_texts(sys.version, version("torch"), version("sphinx"), version("matplotlib"), *names, hashes)


def said(*command: str, asked: str = "") -> str:
    """Return the standard output of a command."""
    return subprocess.run(command, cwd=PROJECT, input=asked, capture_output=True, text=True, check=True).stdout


@cache
def pages(site: Path) -> list[Path]:
    """Return every page of the site."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


class Parsed(HTMLParser):
    """The links of a page, and the ids in it that a link can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.places = set[str](), set[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect links and ids."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            if name == "id" and value:
                self.places.add(value)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page in a new context."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def shown(film: Locator) -> Locator:
    """Scroll a film into view, and return it: it gets its buttons when it comes near.

    This scrolls with a script, since Playwright's own scrolling does not lay out contents that were out of view, and
    ends at the wrong place.
    """
    film.evaluate("film => film.scrollIntoView({ block: 'center' })")
    return film


def test_every_link_leads_somewhere(site: Path) -> None:
    """Every link leads to an existing file of the site and an existing place in it; the test skips web links."""
    places = {path: Parsed(path) for path in pages(site)}
    broken = []
    for path, parsed in places.items():
        for link in parsed.links:
            if urlsplit(link).scheme in ("http", "https", "mailto", "data", "javascript"):
                continue
            address, place = urldefrag(urljoin(path.as_uri(), link))
            target = Path(unquote(urlsplit(address).path))
            if not target.is_file() or (place and target in places and unquote(place) not in places[target].places):
                broken.append(f"{path.relative_to(site)}: {link}")

    assert len(places) > 12 and not broken


def test_no_page_is_large(site: Path) -> None:
    """No page, with its pictures, is larger than LARGEST."""
    sizes = {}
    for path in pages(site):
        shown = [path.parent / unquote(urlsplit(link).path) for link in Parsed(path).links if not urlsplit(link).scheme]
        images = {each.resolve() for each in shown if each.suffix in (".png", ".svg", ".jpg")}
        sizes[path.name] = path.stat().st_size + sum(each.stat().st_size for each in images)

    assert not {name: size for name, size in sizes.items() if size > LARGEST}


@pytest.fixture(scope="module")
def wrong(site: Path, browser: Browser) -> dict[str, list[str]]:
    """Open each page once, on a phone; return what its scripts complain of, wordless pictures, and pages too wide.

    On a laptop the test of a sub-path notes complaints, in a page of each sort.
    """
    told: dict[str, list[str]] = {"complaints": [], "wordless": [], "wide": []}
    page = browser.new_page(viewport=PHONE)
    noted = told["complaints"].append
    page.on("console", lambda m: noted(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: noted(str(error)))
    page.on("request", lambda r: noted(r.url) if urlsplit(r.url).scheme not in ("file", "data", "blob") else None)
    for path in pages(site):
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        if page.locator("main img:not([alt]), main img[alt='']").count():
            told["wordless"].append(path.name)
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            told["wide"].append(path.name)
    page.close()
    return told


def test_no_page_complains_or_asks_the_network(wrong: dict[str, list[str]]) -> None:
    """No page that comes from the disk reports an error or requests anything from elsewhere."""
    assert [] == wrong["complaints"]


def test_pictures_have_words(wrong: dict[str, list[str]]) -> None:
    """Every picture has a text alternative."""
    assert [] == wrong["wordless"]


@pytest.fixture(scope="module", params=by_night(COURSE.stems, BY_DAY))
def chapter(request: pytest.FixtureRequest, site: Path, browser: Browser) -> Iterator[Page]:
    """Open the page of a chapter once, for the tests that change different parts of it."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "notebooks" / f"{request.param}.html").as_uri())
    yield page
    page.close()


def test_a_chapter_is_unsolved_until_asked(chapter: Page) -> None:
    """The page hides solutions until the reader opens them with a click."""
    page = chapter
    solutions = page.locator("details", has=page.get_by_text("Show a solution"))

    assert solutions.count() >= 1
    assert not solutions.first.locator("pre").first.is_visible()
    solutions.first.locator("summary").click()
    expect(solutions.first.locator("pre").first).to_be_visible()
    keep_picture(page, f"site-{Path(page.url).stem}")


def test_a_prediction_is_answered_on_the_page(chapter: Page) -> None:
    """A reader can predict by a choice or in words; then the page shows the result.

    The page never shows an earlier prediction of another reader. Mouse and keys answer the first prediction of each
    sort, and events of the page all of them.
    """
    page, places = chapter, chapter.locator("div.asks")
    for sort in (":not([data-choices=''])", "[data-choices='']"):
        if page.locator(f"div.asks{sort}").count():
            answer(page.locator(f"div.asks{sort}").first)
    said = page.evaluate(ANSWER_ALL)

    assert places.count() == len(said) and all(each.startswith("You say: ") for each in said)
    assert page.locator("details[open]", has_text="The answer is").count() >= places.count() / 2
    assert "You predicted" not in page.content()


def answer(place: Locator) -> None:
    """Answer a prediction as a reader does."""
    place.scroll_into_view_if_needed()
    expect(place.locator("input, button").first).to_be_visible()
    if place.locator("input").count():
        place.locator("input").fill("12")
        place.locator("input").press("Enter")
    else:
        place.locator("button").first.click()
        expect(place.locator("button").first).to_have_attribute("aria-pressed", "true")
    expect(place.get_by_role("status")).to_contain_text("You say: ")


def test_an_exercise_is_linked_to_by_its_name(site: Path, page: Page) -> None:
    """Each exercise has an anchor of its name, and its link scrolls its heading into view."""
    for stem in COURSE.stems:
        places = Parsed(site / "notebooks" / f"{stem}.html").places
        assert {each.name for each in COURSE.exercises(stem)} <= places, stem
    name = next(iter(COURSE.exercises(COURSE.stems[0]))).name
    page.goto(f"{(site / 'notebooks' / f'{COURSE.stems[0]}.html').as_uri()}#{name}")

    expect(page.get_by_role("heading", name=f"Exercise: {name}").first).to_be_in_viewport()


def test_the_first_page_shows_the_course(site: Path, page: Page) -> None:
    """The first page has a picture per chapter, feedback, heading levels without a gap, and no default author."""
    page.goto((site / "index.html").as_uri())
    levels = [
        int(each)
        for each in page.locator("main h1, main h2, main h3, main h4").evaluate_all(
            "all => all.map(each => each.tagName[1])"
        )
    ]

    assert page.locator("div.taken [role=img][aria-label]").count() >= CHAPTERS
    assert page.get_by_text("checks passed").count() == 1
    assert levels[0] == 1 and all(below - above <= 1 for above, below in pairwise(levels))
    assert "Author name not set" not in page.content() and page.locator("meta[property='og:image']").count() == 1


def test_the_first_page_reads_a_drawing(site: Path, page: Page) -> None:
    """The first page's pad reads what is drawn on it, and leads to the chapter in which it is the reader's model."""
    page.goto((site / "index.html").as_uri())
    box = page.get_by_role("application", name="Draw a digit").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 4 / 5, steps=8)
    page.mouse.up()
    expect(page.locator(".live-pad").get_by_role("status")).to_contain_text("The model reads a 1 (")
    page.get_by_role("link", name="In chapter 6 this is your model.").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Your handwriting")


def test_a_hunt_is_judged_without_a_kernel(site: Path, browser: Browser) -> None:
    """On the first page each answer to a bug hunt is judged when it is chosen, by keys and without scripts too."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    answers = page.locator("section#one-bug-to-hunt details")
    assert answers.count() >= 5
    for place in range(2):  # the second one closes the first
        answers.nth(place).locator("summary").focus()
        page.keyboard.press("Enter")
        expect(answers.nth(place).locator("p")).to_be_visible()
    assert 1 == page.locator("section#one-bug-to-hunt details[open]").count()
    judged = answers.locator("p").evaluate_all("all => all.map(each => each.textContent)")
    assert 2 == sum(each.startswith("Right. ") for each in judged)
    context.close()


def test_a_figure_is_laid_out_when_it_comes_near(site: Path, page: Page) -> None:
    """A figure reserves its space and its text alternative, and draws itself when it comes near."""
    page.add_init_script(NEVER_IDLE)
    page.goto((site / "notebooks" / "ch01a_tensors.html").as_uri())
    place = page.locator("article .later").last
    words = place.get_attribute("aria-label")
    assert words and not place.locator("svg").count()
    # asking for the size of an element out of view makes the browser lay it out
    before = place.evaluate("place => [place.offsetWidth, place.offsetHeight]")
    place.evaluate("place => place.scrollIntoView({ block: 'center' })")
    expect(place.get_by_role("img", name=words)).to_be_visible()

    assert before == place.evaluate("place => [place.offsetWidth, place.offsetHeight]") and min(before) > 50
    assert {"path", "use"} <= set(place.evaluate("p => [...p.querySelectorAll('*')].map(each => each.localName)"))


def test_paper_and_browsers_without_scripts_get_all_figures(site: Path, browser: Browser, page: Page) -> None:
    """A printed page, and one without scripts, has each figure with each letter."""
    place = (site / "index.html").as_uri()
    page.goto(place)
    page.pdf()
    plain = browser.new_context(java_script_enabled=False)
    still = plain.new_page()
    still.goto(place)
    for read in (page, still):
        figures = read.locator("article .later")
        assert figures.count() == read.locator("article .later svg").count() >= CHAPTERS
        named = "all => all.map(each => each.getAttribute('href'))"
        letters = {each for each in read.locator(".later use").evaluate_all(named) if each.startswith("#DejaVu")}
        assert len(letters) > 20 and all(read.locator(f'[id="{each[1:]}"]').count() == 1 for each in letters)
    still.locator("article .later svg").first.scroll_into_view_if_needed()
    expect(still.locator("article .later svg").first).to_be_visible()
    plain.close()


@pytest.mark.parametrize("place", ["index.html", f"notebooks/{COURSE.stems[0]}.html"])
def test_a_picture_of_the_whole_page_is_whole(site: Path, page: Page, place: str) -> None:
    """Soon after it has been opened, a page has laid out all of its parts and drawn all figures, unscrolled."""
    page.goto((site / place).as_uri())
    page.wait_for_function(f"({BLANK})() === 0")
    keep_picture(page, f"site-whole-{Path(place).stem}")

    assert 0 == page.evaluate("scrollY") and page.locator(".later").count()


@pytest.mark.parametrize("place", ["index.html", "notebooks/ch04a_training_loop.html"])
def test_paper_is_whole(site: Path, page: Page, place: str) -> None:
    """On paper nothing is left out or cut off at the side, even if it is printed at once."""
    page.add_init_script(NEVER_IDLE)
    page.goto((site / place).as_uri())
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    scrolled = "all => all.filter(one => !['visible', 'clip'].includes(getComputedStyle(one).overflowX)).length"
    empty = "all => all.filter(one => !one.complete || !one.naturalWidth).length"

    assert 0 == page.evaluate(BLANK) == page.locator("article img").evaluate_all(empty)
    assert 0 == page.locator("article :is(.cell_output, .taken, table, .x-scroll)").evaluate_all(scrolled)


def test_explorers_are_pictures(site: Path, page: Page) -> None:
    """Explorers on the site show their pictures without a kernel."""
    page.goto((site / "notebooks" / "ch01b_broadcasting.html").as_uri())
    expect(page.locator(".x-table, .x-numbers").first).to_be_visible()


@pytest.mark.parametrize("place", ["index.html", "notebooks/ch04a_training_loop.html"])
def test_a_film_plays_without_a_kernel(site: Path, page: Page, place: str) -> None:
    """The fitted line reaches its points; another rate and other lines show without a kernel."""
    page.emulate_media(reduced_motion="reduce")
    page.goto((site / place).as_uri())
    film = shown(page.locator(".x-film", has=page.locator("[data-part='fit']")))
    said = film.get_by_role("status")
    film.get_by_role("slider", name="Step").focus()
    page.keyboard.press("End")
    expect(said).to_contain_text("After 30 steps")
    first = said.inner_text()
    film.get_by_role("slider", name="Learning rate").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(said).not_to_have_text(first)
    slow = said.inner_text()
    film.get_by_role("combobox", name="Lines").select_option("without zero_grad")

    expect(said).not_to_have_text(slow)
    assert [] == nameless_controls(film)
    keep_picture(film, f"site-film-{Path(place).stem}")


def test_the_first_pages_film_begins_by_itself(site: Path, page: Page) -> None:
    """The film starts when it comes into view, and a button pauses it.

    With reduced motion it does not start.
    """
    page.goto((site / "index.html").as_uri())
    film = page.locator(".x-film")
    film.scroll_into_view_if_needed()
    film.get_by_role("button", name="Pause").click()
    expect(film.get_by_role("button", name="Play")).to_be_visible()
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    film.scroll_into_view_if_needed()

    expect(film.get_by_role("status")).to_contain_text("After 1 step:")
    expect(film.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.night
def test_the_playground_plays_every_set(site: Path, page: Page) -> None:
    """The playground shows a separate training for each data set."""
    page.goto((site / "notebooks" / "ch04c_rates_and_optimizers.html").as_uri())
    film = shown(page.locator(".x-film", has=page.locator("[data-part='region']")).first)
    film.get_by_role("slider", name="Step").focus()
    page.keyboard.press("End")
    ends = set()
    for name in ("two moons", "circles", "spiral", "blobs"):
        film.get_by_role("combobox", name="Data").select_option(name)
        expect(film.get_by_role("status")).to_contain_text("After 400 steps")
        ends.add(film.get_by_role("status").inner_text())
    keep_picture(film, "site-playground")

    assert len(ends) == 4


@pytest.mark.parametrize("stem", ["ch02a_gradients", "ch03b_layers"])
def test_a_graph_plays_without_a_kernel(site: Path, page: Page, stem: str) -> None:
    """By mouse and by arrow keys, the graph shows values forward and gradients back, and a tower grows."""
    page.emulate_media(reduced_motion="reduce")
    page.goto((site / "notebooks" / f"{stem}.html").as_uri())
    film = shown(page.locator(".x-film", has=page.locator(".x-towers")).first)
    said, tower = film.get_by_role("status"), film.locator("[data-part='t0']")
    expect(said).to_contain_text("Backward pass")
    high = tower.get_attribute("points")
    film.get_by_role("slider", name="Step").focus()
    page.keyboard.press("Home")
    expect(said).to_contain_text("Forward pass, 1 of")
    assert tower.get_attribute("points") != high and film.locator("text", has_text="gradient").count() == 0
    film.get_by_role("button", name="Step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("Forward pass, 2 of")
    film.get_by_role("button", name="Play").click()
    expect(film.get_by_role("button", name="Pause")).to_be_visible()
    expect(said).to_contain_text("Forward pass, 4 of")
    film.get_by_role("button", name="Pause").click()
    keep_picture(film, f"site-graph-{stem}")

    assert [] == nameless_controls(film) and "here it plays what was recorded" in page.content()


def test_cells_are_lit_without_a_kernel(site: Path, page: Page) -> None:
    """Pointing at a number of the result, or reaching it by keys, highlights its operands and explains it."""
    page.goto((site / "notebooks" / "ch01b_broadcasting.html").as_uri())
    film = shown(page.locator(".x-film", has=page.locator(".x-cells")).first)
    said, lit = film.get_by_role("status"), film.locator("[data-part='lit']")
    film.get_by_role("combobox", name="Operation").select_option("numbered + per_row_column")
    cells = film.locator("g[display='inline'] .x-of-result")
    cells.nth(5).hover()
    expect(said).to_contain_text("result[1, 1] = ")
    before = lit.get_attribute("d")
    film.get_by_role("slider", name="Step").focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("result[1, 2] = ")
    keep_picture(film, "site-cells")

    assert before and before != lit.get_attribute("d") and [] == nameless_controls(film)


def test_cells_are_walked_by_keys(site: Path, page: Page) -> None:
    """Tab leads to the current cell, whose name is its explanation; arrow keys lead to its neighbors."""
    page.goto((site / "notebooks" / "ch01b_broadcasting.html").as_uri())
    film = shown(page.locator(".x-film", has=page.locator(".x-cells")).first)
    film.get_by_role("combobox", name="Operation").select_option("numbered + per_row_column")
    cells = film.get_by_role("option")
    assert 1 == film.locator("[data-frame][tabindex='0']").count() < cells.count()
    film.locator("[data-frame][tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")

    focused = film.locator("[data-frame]:focus")
    told = film.get_by_role("status").inner_text()
    assert told.startswith("result[1, 1] = ") and told == focused.get_attribute("aria-label")
    assert "off" == film.get_by_role("status").get_attribute("aria-live")  # a screen reader reads the cell's name
    page.keyboard.press("Home")
    expect(film.get_by_role("status")).to_contain_text("numbered[0, 0] = 0, place 0 in its memory.")


def test_teachers_see_a_report(site: Path, page: Page) -> None:
    """The first page links to a class report that follows the theme and names no path of the machine that made it."""
    page.goto((site / "index.html").as_uri())
    page.locator("main").get_by_role("link", name="look at one").click()
    expect(page.get_by_role("heading", name="What the class misunderstood")).to_be_visible()
    keep_picture(page, "site-class-report")

    assert page.locator(".class-report img[alt]").count() >= 2 and str(PROJECT) not in page.content()
    assert sum(corner_of(page.locator(".class-report img").first)) > 600
    page.get_by_role("button", name="Dark").click()
    assert sum(corner_of(page.locator(".class-report img").first)) < 150  # no white area in the dark theme


def test_letters_of_a_figure_can_be_read_on_a_phone(site: Path, browser: Browser) -> None:
    """A wide figure keeps its letters readable on a phone; keys scroll it sideways."""
    page = browser.new_page(viewport=PHONE)
    page.goto((site / "index.html").as_uri())
    card = page.locator("section#six-chapters .taken").last
    card.evaluate("card => card.scrollIntoView({ block: 'center' })")
    expect(card.locator("svg")).to_be_visible()
    letter = card.locator("svg use").first.evaluate("use => use.getBoundingClientRect().height")
    expect(card).to_have_attribute("tabindex", "0")
    card.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("card => card.scrollLeft > 0", arg=card.element_handle())

    assert letter > 4
    page.close()


def test_a_phone_follows_the_present_step(site: Path, browser: Browser) -> None:
    """A graph wider than the phone scrolls to the box of the current step, forward and back."""
    page = browser.new_page(viewport=PHONE, reduced_motion="reduce")
    page.goto((site / "notebooks" / "ch03b_layers.html").as_uri())
    film = shown(page.locator(".x-film", has=page.locator(".x-towers")).first)
    stage, said = film.locator(".x-film-picture"), film.get_by_role("status")
    expect(stage).to_have_attribute("tabindex", "0")  # it is wider than the phone
    film.get_by_role("slider", name="Step").focus()
    for key, told in (("Home", "Forward pass, 1 of 7"), *[("ArrowRight", "Forward pass")] * 6, ("End", "Backward")):
        page.keyboard.press(key)
        expect(said).to_contain_text(told)
        left, right = stage.evaluate(
            """stage => {
                const [box, seen] = [stage.querySelector(".x-here"), stage].map(one => one.getBoundingClientRect());
                return [box.left - seen.left, seen.right - box.right];
            }"""
        )
        assert min(left, right) >= 0, said.inner_text()
    page.close()


def test_a_phone_shows_the_whole_width(site: Path, wrong: dict[str, list[str]], browser: Browser) -> None:
    """No page scrolls sideways on a phone; wide contents scroll by themselves."""
    page = browser.new_page(viewport=PHONE, is_mobile=True)
    page.goto((site / "notebooks" / "ch01a_tensors.html").as_uri())
    keep_picture(page, "site-phone")

    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert [] == wrong["wide"]
    page.close()


def test_a_grid_of_feedback_fits_a_phone(site: Path, browser: Browser) -> None:
    """A grid of four numbers with their index fits a phone; keys scroll a wider grid.

    The page shows a grid of one number; the test copies that number three times.
    """
    page = browser.new_page(viewport=PHONE)
    page.goto((site / "index.html").as_uri())
    for name in ("expected", "yours"):
        grid = page.get_by_role("group", name=f"{name}, as a grid")
        grid.evaluate(
            "each => { for (const row of each.querySelectorAll('tr')) for (let n = 0; n < 3; n++)"
            " row.append(row.lastElementChild.cloneNode(true)) }"
        )
        grid.scroll_into_view_if_needed()
        right = grid.evaluate(
            "each => Math.max(...[...each.querySelectorAll('td')].map(td => td.getBoundingClientRect().right))"
        )
        assert PHONE["width"] * 0.5 < right < PHONE["width"] - 10, name
        grid.evaluate("each => { each.style.width = '10rem' }")
        expect(grid).to_have_attribute("tabindex", "0")
        grid.focus()
        page.keyboard.press("End")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("each => each.scrollLeft > 0", arg=grid.element_handle())
    page.close()


def test_dark(site: Path, browser: Browser) -> None:
    """The site is dark for a reader whose system is dark."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    page = context.new_page()
    page.goto((site / "notebooks" / "ch02a_gradients.html").as_uri())
    keep_picture(page, "site-dark")

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read(site: Path, browser: Browser, scheme: str) -> None:
    """Wide and narrow, each text has enough contrast, each control a name, and one region speaks.

    By day the test reads one chapter wide and another one narrow, since the width changes positions but no colors.
    """
    for place, name in enumerate(READ):
        both = ({"width": 1280, "height": 900}, PHONE)
        for viewport in both if NIGHT or not place else [both[place % 2]]:
            page = browser.new_page(color_scheme=scheme, viewport=viewport, reduced_motion="reduce")
            page.goto((site / name).as_uri())
            for film in page.locator(".x-film").all():
                expect(shown(film).locator(".x-film-said")).to_have_attribute("role", "status")
            page.add_style_tag(content="* { content-visibility: visible !important }")
            page.evaluate("dispatchEvent(new Event('beforeprint'))")  # draws the figures that have not come near

            faint = [told for told in faint_texts(page.locator("html")) if told[0] not in MARKS]
            assert not faint, (name, viewport)
            nameless = [told for told in nameless_controls(page.locator("html")) if not told.startswith(SCROLLED)]
            assert not nameless, (name, viewport)
            assert page.evaluate(SPEAKING) <= 1, (name, viewport)
            page.close()


def test_search_finds(site: Path, page: Page) -> None:
    """The search finds a chapter without a server."""
    page.goto(f"{(site / 'search.html').as_uri()}?q=broadcasting")

    expect(page.locator("#search-results a").first).to_be_visible()
    assert "ch01b_broadcasting" in str(page.locator("#search-results a").first.get_attribute("href"))


def test_below_a_sub_path(site: Path, page: Page) -> None:
    """Below a host's sub-path, links stay in it, search shows excerpts, and wrong addresses lead to the first page."""
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    with hosted(site) as address:
        ours = (address, "data:", "blob:")
        page.on("request", lambda r: None if r.url.startswith(ours) else complaints.append(r.url))
        page.goto(f"{address}search.html?q=broadcasting")
        found = page.locator("#search-results li")
        expect(found.first.locator("p.context")).to_contain_text("roadcast")
        found.first.locator("a").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Chapter")
        page.get_by_role("link", name="PyTorch Basics").first.click()
        assert [] == complaints and page.url.startswith(address)

        answer = page.goto(f"{address}notebooks/deep/none.html")
        assert answer is not None and 404 == answer.status
        page.get_by_role("link", name="Go to the first page").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("reads your handwriting")
        assert page.url.startswith(address)
