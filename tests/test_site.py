"""The site's pages of the chapters."""

from __future__ import annotations

import argparse
import base64
import json
import re
import runpy
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.authoring.make_chapter_notebooks import solution_notebook
from autograder.authoring.site import build_site
from autograder.authoring.site.build_site import build
from autograder.authoring.site.chapter_page import chapter_page
from autograder.authoring.site.executed_chapters import execute_chapters
from autograder.authoring.site.lazy_figures import defer_figures
from autograder.authoring.site.minify_figures import minify_svg
from autograder.authoring.site.packed_films import pack_films
from autograder.cli import site
from autograder.course.chapter_minutes import replace_minute_placeholders
from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from autograder.errors import CourseNotFound, UnknownExercise, WorkFailed
from autograder.notebook.reveal_and_shows_error import PredictionOutcome
from autograder.reports import lesson_links
from tests import side_chapter
from tests.small_chapter import PROJECT

STEM = "ch01a_tensors"
COURSE = PROJECT / "course"
_PLACE = re.compile(r'\n<span class="place" id="[^"]*"></span>\n\n')


def printed(text: str) -> NotebookNode:
    """Return a printed output."""
    return new_output("stream", name="stdout", text=text)


def cell(source: str, *outputs: NotebookNode, **metadata: object) -> NotebookNode:
    """Return a code cell with outputs."""
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def notebook(*cells: NotebookNode) -> NotebookNode:
    """Return a notebook of these cells."""
    return new_notebook(cells=list(cells))


def tags(page: NotebookNode) -> list[list[str]]:
    """Return the tags of each cell."""
    return [each.metadata.get("tags", []) for each in page.cells]


def test_an_exercise_is_unsolved_and_its_solution_folded() -> None:
    """The starter is open, and the solution and the check's output are folded."""
    mark = {"solution": True, "grade": False}
    check = {"solution": False, "grade": True}
    student = notebook(cell("def f(): ...", nbgrader=mark), cell("check(f)", nbgrader=check))
    worked = notebook(cell("def f(): return 1", nbgrader=mark), cell("check(f)", printed("passed"), nbgrader=check))
    page = chapter_page(STEM, student, worked)

    assert ["def f(): ...", "def f(): return 1", "check(f)"] == [each.source for each in page.cells]
    assert [[], ["hide-input"], ["hide-output"]] == tags(page)
    assert not any("nbgrader" in each.metadata for each in page.cells)


def test_what_stands_in_for_an_answer_is_folded() -> None:
    """A `mine` cell is folded, and its output is shown."""
    code, said = 'my_f = mine("f", abs)', printed("with your f")
    page = chapter_page(STEM, notebook(cell(code)), notebook(cell(code, said, tags=["mine"])))

    assert [["hide-input"]] == tags(page) and [said] == page.cells[0].outputs


def test_nothing_is_said_of_the_place_where_the_page_was_made() -> None:
    """The output of `mine` does not contain the reason that concerns the machine that built the site."""
    why = ": progress is not kept here, and chapter 3's notebook was not looked at"
    told = "From here on, `MyMLP` is the lesson's `MLP`"
    said = new_output("display_data", data={"text/plain": told + why, "text/html": f"<div>{escape(told + why)}</div>"})
    code = 'MyMLP = mine("MLP", MLP)'
    page = chapter_page(STEM, notebook(cell(code)), notebook(cell(code, said, tags=["mine"])))

    assert {"text/plain": told, "text/html": f"<div>{escape(told)}</div>"} == page.cells[0].outputs[0].data


def test_a_guess_is_left_to_the_reader() -> None:
    """A prediction cell is the student's, its result is folded, and later cells are open."""
    student = notebook(cell("guess = ..."), cell("reveal(guess, 6)"), cell("print(7)"))
    worked = notebook(cell("guess = 6"), cell("reveal(guess, 6)", printed("6")), cell("print(7)", printed("7")))
    page = chapter_page(STEM, student, worked)

    assert "guess = ..." == page.cells[0].source and not page.cells[0].outputs
    assert [[], [], ["hide-output"], []] == tags(page)


@pytest.mark.parametrize(
    ("sort", "choices"),
    [
        ("1, 2 or 3", "1|2|3"),
        ("True or False", "True|False"),
        ('"about half", or "more than twice"', "about half|more than twice"),
        ('0.5, 1e-6 or "none"', "0.5|1e-6|none"),
        ("a number", ""),
        ('a number or "nan"', ""),
        ("a number: row (5, 6) meets column (30, 60)", ""),
    ],
)
def test_a_guess_can_be_made_on_the_page(sort: str, choices: str) -> None:
    """A prediction offers choices if the cell lists only choices, else a text field."""
    student, worked = notebook(cell(f"guess = ...  # {sort}")), notebook(cell(f"guess = 1  # {sort}"))
    asked = chapter_page(STEM, student, worked).cells[1].source

    assert f'data-sort="{escape(sort)}" data-choices="{choices}"' in asked


@pytest.mark.parametrize(("guess", "ending"), [(6, "holds"), (7, "Read on")])
def test_the_page_does_not_say_what_its_reader_predicted(guess: int, ending: str) -> None:
    """The result of a prediction does not mention the worked chapter's guess."""
    told = PredictionOutcome(guess, 6)
    output = new_output("display_data", data={"text/plain": repr(told), "text/html": told._repr_html_()})
    student = notebook(cell("guess = ..."), cell("reveal(guess, 6)"))
    worked = notebook(cell(f"guess = {guess}"), cell("reveal(guess, 6)", output))
    shown = chapter_page(STEM, student, worked).cells[2].outputs[0].data

    assert ending in repr(told) and "The answer is 6." == shown["text/plain"]
    assert "The answer is 6." in shown["text/html"] and "redict" not in shown["text/html"]


def test_an_exercise_can_be_linked_to() -> None:
    """An exercise has an anchor with its exact name."""
    page = notebook(new_markdown_cell("# T"), new_markdown_cell("text\n\n## Exercise: `Some_name` (5 minutes)\n\nDo."))
    source = chapter_page(STEM, page, page).cells[1].source

    assert '<span class="place" id="Some_name"></span>\n\n## Exercise: `Some_name`' in source


@pytest.mark.parametrize("path", sorted((PROJECT / "solutions").glob("*.ipynb")), ids=lambda path: path.stem)
def test_each_section_to_teach_again_can_be_linked_to(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report's link for each exercise leads to an anchor on the chapter's page."""
    monkeypatch.setattr(lesson_links, "SITE", tmp_path)
    (tmp_path / f"{path.stem}.html").touch()
    worked = nbformat.read(path, as_version=4)
    page = chapter_page(path.stem, nbformat.read(PROJECT / "notebooks" / path.name, as_version=4), worked)
    places = {found for each in page.cells for found in re.findall(r'class="place" id="([^"]*)"', each.source)}

    names = next(each.exercises for each in course_in(COURSE).listed if each.stem == path.stem)
    ways = [
        re.findall(r'href="[^"]*#([^"]*)"', lesson_links.lesson_section_link(COURSE, path.stem, name)) for name in names
    ]

    assert ways and all(way and way[0].startswith("section-") and way[0] in places for way in ways)


def test_pictures_have_words_and_no_kernel() -> None:
    """A figure has its function's first sentence as text alternative, and an explorer its still picture."""
    picture = new_output("display_data", data={"image/png": "x"})
    widget = new_output(
        "display_data", data={"application/vnd.jupyter.widget-view+json": {}, "text/html": "<p>shown</p>"}
    )
    cells = [
        cell("figures.strides(x)", picture, jupyter={"source_hidden": True}),
        cell("plt.plot(x)", picture),
        cell("shape_explorer(x)", widget),
        new_markdown_cell("Text."),
    ]
    page = chapter_page(STEM, notebook(*cells), notebook(*cells))
    alternatives = [each.metadata["mystnb"]["image"]["alt"] for each in page.cells[:2]]

    assert ["remove-input"] == page.cells[0].metadata["tags"]
    assert len(alternatives[0]) > 20 and alternatives[0] != alternatives[1] and "plot" in alternatives[1]
    assert ["text/html"] == list(page.cells[2].outputs[0].data)
    assert "in the notebook; here it stands still" in page.cells[3].source


def test_a_film_is_said_to_move() -> None:
    """Below a film, a sentence says that the page plays a recording."""
    shown = {"application/vnd.jupyter.widget-view+json": {}, "text/html": '<div data-film="{}">a</div>'}
    cells = [cell("loop_stepper()", new_output("display_data", data=shown))]
    page = chapter_page(STEM, notebook(*cells), notebook(*cells))

    assert "here it plays what was recorded" in page.cells[1].source


def test_headings_fit_a_page(tmp_path: Path) -> None:
    """The page has one title, sittings below it, no skipped level, and marked side paths."""
    path = tmp_path / "ch08_sides.py"
    path.write_text(side_chapter.TEXT, encoding="utf-8")
    worked = solution_notebook(replace_minute_placeholders(read_chapter(path), side_chapter.TIERS.__getitem__), "")
    page = chapter_page(STEM, worked, worked)

    assert [line for each in page.cells for line in each.source.split("\n") if line.startswith(("#", "{"))][:-1] == [
        "# Chapter 8: Sides (6 minutes)",
        "## First sitting: numbers (3 minutes, and 6 for the exercises)",
        "### 1 Sums (3 minutes)",
        "#### Exercise: `double` (6 minutes)",
        "{.side-path}",
        "##### ↳ When is a sum exact? (2 minutes)",
        "## Second sitting: more numbers (1 minute; 3 for the side path, 3 for the exercise)",
        "### Exercise: `third` (3 minutes)",
        "### Stretch exercise: `hunt` (10 minutes)",
        "{.side-path}",
        "#### ↳ Why not `float16`? (2 minutes)",
    ]


def test_headings_of_one_title_stay(tmp_path: Path) -> None:
    """Without sittings, headings keep their levels."""
    sources = ["# T\n\ntext", "text\n\n## 1\n\n```\n# no heading\n```", "### E", "## 2"]
    page = notebook(*map(new_markdown_cell, sources))

    assert sources == [_PLACE.sub("", each.source) for each in chapter_page(STEM, page, page).cells]


def test_notebooks_of_different_builds_are_refused() -> None:
    """Notebooks of different builds raise WorkFailed, because their cells may not correspond."""
    with pytest.raises(WorkFailed, match="make build"):
        chapter_page(STEM, notebook(), notebook(cell("1")))


@pytest.mark.parametrize("path", sorted((PROJECT / "solutions").glob("*.ipynb")), ids=lambda path: path.stem)
def test_no_solution_stands_open(path: Path) -> None:
    """On each chapter's page, everything that students write is folded or absent, and each prediction has its place."""
    student = nbformat.read(PROJECT / "notebooks" / path.name, as_version=4)
    worked = nbformat.read(path, as_version=4)
    written = {w.source for s, w in zip(student.cells, worked.cells, strict=True) if s.source != w.source}
    page = chapter_page(path.stem, student, worked)
    shown = [each.source for each in page.cells if "hide-input" not in each.metadata.get("tags", [])]

    guesses = sum(cell.source.startswith("guess = ...") for cell in student.cells)
    assert written and not written.intersection(shown)
    assert guesses == sum(cell.source.startswith('<div class="asks"') for cell in page.cells)
    assert len({each.id for each in page.cells}) == len(page.cells)


def drawn(letters: str, words: str = "a &amp; b") -> str:
    """Return a figure as chapters have it, with these letters."""
    paths = "".join(f'<path id="DejaVuSans-{each}" d="M 1" transform="scale(2)"/>' for each in letters)
    head = f'<svg xmlns="x" role="img" aria-label="{words}" width="400" viewBox="0 0 300 150" style="s"><desc>'
    return f'{head}{words}</desc><g><defs> {paths}</defs><use xlink:href="#DejaVuSans-{letters[0]}"/></g></svg>'


def test_figures_wait_in_places_of_their_size() -> None:
    """A figure is deferred in an element of its size with its text alternative, and shown without scripts."""
    page = defer_figures(f"<p>a</p>{drawn('a')}<p>b</p>")
    size = "min-width:240px;max-width:400px;aspect-ratio:300/150"
    place = f'<div class="later" role="img" aria-label="a &amp; b" style="{size}"><noscript>'

    assert page.startswith(f"<p>a</p>{place}<svg xmlns") and "</svg></noscript></div><p>b</p>" in page


def test_letters_of_figures_stand_on_a_page_once() -> None:
    """The outlines of letters are on the page once, after all figures."""
    page = defer_figures(drawn("ab") + drawn("bc"))
    letters = page.rpartition("</noscript>")[2]

    assert ["a", "b", "c"] == re.findall(r'id="DejaVuSans-(.)"', page) == re.findall(r'id="DejaVuSans-(.)"', letters)
    assert 2 == page.count("<use ") and "<defs></defs>" not in page


def test_a_figure_is_as_short_as_it_may_be() -> None:
    """Comments, indents, long decimals, and ids and groups without use go; its words keep all their digits."""
    body = """</desc>
      <g id="axes_1">
        <!-- 0.5 -->
        <path d="M 0 0
L 9 9
" style="fill: none"/>
        <g id="patch_1" clip-path="url(#p1)">
          <path d="M 1 1
C 2.0001 3 4 5 6 7
" style="fill: none; stroke: red"/>
        </g>
        <use xlink:href="#m1" transform="translate(186.0001 0.746875) scale(0.0001 -0.09)"/>
        <use xlink:href="#m1" transform="translate(61.279297 0)"/>
      </g>
      <clipPath id="p1"/>"""
    short = defer_figures(drawn("a", "0.123456").replace("</desc>", body))

    kept = '<g clip-path="url(#p1)"><path d="M 1 1 C 2 3 4 5 6 7 " style="fill:none;stroke:red"/></g>'
    assert f"</desc>{kept}<use" in short
    assert '<use href="#m1" transform="translate(186 0.7469) scale(0.0001 -0.09)"/><use href="#m1" x="61.28"/>' in short
    assert "axes_1" not in short and "<!--" not in short and 3 == short.count("0.123456")  # the place's label, and two


def test_a_mark_has_its_style_once() -> None:
    """A mark that is drawn in many places, such as a tick, has its style itself; another style stays at its place."""
    red, blue = ' style="stroke: red; stroke-width: 0.8"', ' style="stroke: blue"'
    mark = f'<defs>\n<path id="m1" d="M 0 0 \nL 0 3.5 \n"{red}/>\n</defs>'
    short = minify_svg(f'<g>{mark}<g><use xlink:href="#m1" x="1"{red}/><use xlink:href="#m1"{blue}/></g></g>')

    kept = '<defs><path id="m1" d="M0 0l0 3.5" style="stroke:red;stroke-width:0.8"/></defs>'
    assert f'{kept}<use href="#m1" x="1"/><use href="#m1" style="stroke:blue"/>' == short


@pytest.mark.parametrize(
    ("line", "short"),
    [
        ("M 48.350703 158.69952 L 48.4 158.5 L 60 -1 ", "M48.4 158.7l0-.2 11.6-159.5"),
        ("M 0.5 0 L 1 1 z M 5 5 L 5.04 5 L 5.08 5 ", "M.5 0l.5 1zM5 5l0 0 .1 0"),
        ("M 1 1 z M 2 2 M 0 0 L 1 0 M -0.5 3 ", "M1 1zM2 2M0 0l1 0M-.5 3"),
    ],
)
def test_a_line_goes_from_corner_to_corner(line: str, short: str) -> None:
    """A line's corners are distances in tenths of a pixel, and what is rounded does not add up."""
    assert f'<path d="{short}" style="stroke:red"/>' == minify_svg(f'<path d="{line}" style="stroke: red"/>')


def test_films_are_packed() -> None:
    """The data of a film becomes a few letters from which the same data comes back, with either quote around it."""
    data = json.dumps({"runs": ["a 'b' \"c\" & é"] * 99})
    single = data.replace("'", "&#39;")
    page = pack_films(f"<p data-film=\"{escape(data)}\">x</p><p data-film='{single}'>y</p>")
    packed = re.findall(r'data-film="([\w+/=]*)"', page)

    assert 2 == len(packed) and page.endswith(">y</p>") and len(page) < len(data)
    assert all(data == zlib.decompress(base64.b64decode(each)).decode() for each in packed)


def test_a_page_without_figures_stays() -> None:
    """A page without figures does not change; a lazy image would be missing on paper."""
    text = '<p>a</p><svg viewBox="0 0 1 1"><g/></svg><img alt="x" src="data:image/png;base64,x">'

    assert text == defer_figures(text)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the stems of the notebooks that are run, in a course of two chapters with a simulated run."""
    begun: list[str] = []

    def run(notebook: NotebookNode, *_: str) -> NotebookNode:
        begun.append(notebook.metadata.stem)
        return notebook

    monkeypatch.setattr("autograder.authoring.site.executed_chapters.run_notebook", run)
    monkeypatch.setattr("autograder.authoring.site.executed_chapters.ProcessPoolExecutor", ThreadPoolExecutor)
    for stem in ("a1", "a2"):
        nbformat.write(new_notebook(metadata={"stem": stem}), tmp_path / f"{stem}.ipynb")
    for name in ("figures/a1.py", "figures/drawing.py", "answers/a1/f.py", "exercises/a1/f.py", "chapters/a1.py"):
        path = tmp_path / "course" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")
    return begun


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("figures/a1.py", ["a1"]),
        ("exercises/a1/f.py", ["a1"]),
        ("figures/drawing.py", ["a1", "a2"]),
        ("answers/a1/f.py", []),
        ("chapters/a1.py", []),
    ],
)
def test_a_chapter_is_run_again_when_what_it_shows_changes(
    changed: str, again: list[str], runs: list[str], tmp_path: Path
) -> None:
    """A chapter runs again if a file that its cells use has changed."""
    solutions, course = [tmp_path / "a1.ipynb", tmp_path / "a2.ipynb"], tmp_path / "course"
    first = execute_chapters(solutions, course, tmp_path / "cache", ("a1", "a2"))
    assert ["a1", "a2"] == sorted(runs) == list(first)
    runs.clear()
    (course / changed).write_text("x = 2\n", encoding="utf-8")
    execute_chapters(solutions, course, tmp_path / "cache", ("a1", "a2"))

    assert again == sorted(runs) and 2 == len(list((tmp_path / "cache").iterdir()))


def test_only_what_is_asked_for_is_run(runs: list[str], tmp_path: Path) -> None:
    """Of the other chapters the cached results are used, or the notebooks as they are; an unknown one is named."""
    solutions, course = [tmp_path / "a1.ipynb", tmp_path / "a2.ipynb"], tmp_path / "course"
    for stem in ("a2", "a1"):
        assert ["a1", "a2"] == list(execute_chapters(solutions, course, tmp_path / "cache", [stem]))
    assert ["a2", "a1"] == runs
    with pytest.raises(UnknownExercise, match=r"there is no chapter 'a9'\. The chapters are: .*ch01a_tensors"):
        site.run(argparse.Namespace(root=PROJECT, lite=False, chapters=["a9"]))


def test_outside_a_clone(tmp_path: Path) -> None:
    """Outside a clone, CourseNotFound is raised."""
    with pytest.raises(CourseNotFound, match=r"docs/conf\.py"):
        build(tmp_path, tmp_path / "site")


@pytest.mark.parametrize(
    ("address", "buttons"),
    [("", []), ("https://github.com/a/b", ["Colab", "Binder"]), ("https://gitlab.com/a/b", [])],
)
def test_launch_buttons_need_a_public_address(
    address: str, buttons: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only an address on GitHub gives launch buttons, because Colab and Binder open notebooks from there."""
    monkeypatch.setattr("autograder.authoring.project_address_setting.read_address", lambda _: address)
    context = runpy.run_path(str(PROJECT / "docs" / "conf.py"))["html_context"]

    assert buttons == [name for name, _, _ in context["services"]] and address == context["repository"]
    assert all("/a/b/" in before for _, before, _ in context["services"])


@dataclass(frozen=True)
class Small:
    """Pages of a small site: the first page, two chapters, and two guides."""

    html: Path

    def menu(self, page: str) -> list[str]:
        """Return the words of the links in the side bar of a page."""
        found = BeautifulSoup((self.html / page).read_text(encoding="utf-8"), "html.parser").select("nav.menu ul a")
        return [link.get_text() for link in found]

    def links(self, page: str, where: str) -> list[str]:
        """Return the addresses of the links in a part of a page."""
        found = BeautifulSoup((self.html / page).read_text(encoding="utf-8"), "html.parser").select(f"{where} a")
        return [str(link["href"]) for link in found]


OLD_SPHINX = pytest.mark.filterwarnings("ignore::sphinx.deprecation.RemovedInSphinx11Warning")  # MyST's own
SMALL_PAGES = {"notebooks/a": "Chapter A", "notebooks/b": "Chapter B", "teachers": "For teachers", "speed": "Speed"}


def small_site(folder: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> Small:
    """Build a small site with the course's own settings and layout."""
    monkeypatch.setattr("autograder.authoring.project_address_setting.read_address", lambda _: address)
    source = folder / "source"
    (source / "notebooks").mkdir(parents=True)
    first, second, third, fourth = SMALL_PAGES
    lists = {"Chapters": f"{first}\n{second}", "Guides": third, "Background": fourth}
    trees = [f"```{{toctree}}\n:caption: {title}\n:hidden:\n\n{pages}\n```" for title, pages in lists.items()]
    (source / "index.md").write_text("\n\n".join(["# First", "[Guide](teachers)", *trees]))
    for name, title in SMALL_PAGES.items():
        (source / f"{name}.md").write_text(f"# {title}")
    build_site._sphinx(PROJECT / "docs", source, folder / "html", folder / "doctrees")
    return Small(folder / "html")


@OLD_SPHINX
def test_a_menu_has_pages_for_one_kind_of_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Students' pages list the chapters, and guides the guides; at their borders no next page leads over."""
    site = small_site(tmp_path, "", monkeypatch)

    for page in ("index.html", "notebooks/a.html", "notebooks/b.html", "search.html"):
        assert ["Chapter A", "Chapter B"] == site.menu(page), page
    for page in ("teachers.html", "speed.html"):
        assert ["For teachers", "Speed"] == site.menu(page), page
    beside = [site.links(f"{name}.html", ".beside") for name in SMALL_PAGES]
    assert [["../index.html", "b.html"], ["a.html"], ["speed.html"], ["teachers.html"]] == beside
    assert [] == site.links("notebooks/a.html", ".services")
    assert "Repository" not in (site.html / "index.html").read_text(encoding="utf-8")


@OLD_SPHINX
def test_an_address_gives_every_chapter_its_buttons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an address on GitHub each page leads to the repository, and each chapter opens in Colab and Binder."""
    site = small_site(tmp_path, "https://github.com/a/b", monkeypatch)

    for name in ("index", *SMALL_PAGES):
        assert "https://github.com/a/b" in site.links(f"{name}.html", "nav.menu"), name
    for name in ("notebooks/a", "notebooks/b"):
        colab, binder = site.links(f"{name}.html", ".services")
        assert f"https://colab.research.google.com/github/a/b/blob/main/{name}.ipynb" == colab
        assert f"https://mybinder.org/v2/gh/a/b/main?urlpath=lab/tree/{name}.ipynb" == binder
    assert [] == site.links("teachers.html", ".services")
