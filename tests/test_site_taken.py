"""Placeholders on the site's pages are filled from the built course."""

from __future__ import annotations

import re
import runpy
from html.parser import HTMLParser

import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.authoring.site import fill_page_placeholders
from autograder.authoring.site.fill_page_placeholders import PlaceholderFiller
from autograder.course.answer_bank import load_bank
from autograder.course.course_location import bank_file, chapter_id
from autograder.errors import WorkFailed
from autograder.questions.bug_hunt_file import BugHunt, ExerciseHunts
from tests.small_chapter import PROJECT

COURSE = PROJECT / "course"
STEM, EXERCISE, TAG = "ch04a_training_loop", "train_step", "zero-after-backward"


def ran() -> NotebookNode:
    """Return a chapter with one picture, whose HTML has an empty line."""
    picture = new_output("display_data", data={"text/html": "<svg>\n\n</svg>"})
    return new_notebook(cells=[new_code_cell("draw()", id="drawn", outputs=[picture])])


def taken(address: str = "") -> PlaceholderFiller:
    """Return the filler of placeholders for the course with a run chapter."""
    return PlaceholderFiller(
        PROJECT / "course", {STEM: ran()}, "the class of {}".format, "a pad of {}, {}, {}, {}, {}".format, address
    )


def test_minutes_are_counted() -> None:
    """The placeholder for minutes gives a chapter's minutes."""
    text = taken().filled(f"*{{{{minutes {STEM}}}}}*", "index.md")

    assert re.fullmatch(r"\*\d+ minutes to read and run, \d+ for the exercises\*", text)


def test_a_picture_is_one_block() -> None:
    """A picture's HTML has no empty line, which would end the block."""
    assert '<div class="taken"><svg> </svg></div>' == taken().filled(f"{{{{picture {STEM} drawn}}}}", "index.md")


def test_a_film_comes_without_what_stands_around_it() -> None:
    """A film is inserted without the rest of the explorer, and plays by itself."""
    film = '<div data-film="{&quot;runs&quot;:1}">a\n\nb</div>'
    shown = f'<style>.x{{}}</style><div class="explorer"><p>a table</p>{film}</div>'
    cell = new_code_cell("draw()", id="drawn", outputs=[new_output("display_data", data={"text/html": shown})])
    filler = PlaceholderFiller(PROJECT / "course", {STEM: new_notebook(cells=[cell])}, str, str)
    text = filler.filled(f"{{{{film {STEM} drawn}}}}", "index.md")

    assert "a table" not in text and ".x{}" not in text and "data-plays" in text and "\n" not in text
    assert 'data-film="{&quot;runs&quot;:1}"' in text or "data-film='{\"runs\":1}'" in text


def test_a_picture_that_does_not_move_is_no_film() -> None:
    """A picture in place of a film raises an error with the page's line."""
    with pytest.raises(WorkFailed, match=r"index\.md:1: .*nothing that this course has"):
        taken().filled(f"{{{{film {STEM} drawn}}}}", "index.md")


def test_feedback_is_what_the_answer_is_told() -> None:
    """Feedback and code of an answer are the bank's message and source."""
    known = next(answer for answer in load_bank(bank_file(PROJECT / "course", STEM, EXERCISE)) if answer.tag == TAG)
    code = taken().filled(f"{{{{answer {STEM} {EXERCISE} {TAG}}}}}", "index.md")
    told = taken().filled(f"{{{{feedback {STEM} {EXERCISE} {TAG}}}}}", "index.md")

    assert known.sentence and known.sentence in told and "\n" not in told
    assert f"```python\n{known.source.strip()}\n```" == code


@pytest.mark.parametrize(
    "asked",
    [
        "nothing x",
        "report ch99",
        "minutes ch99",
        "picture ch99 drawn",
        f"picture {STEM} other",
        f"answer {STEM} {EXERCISE} x",
        "minutes",
    ],
)
def test_what_is_not_there_stops_the_build(asked: str) -> None:
    """An unknown placeholder raises an error with the page's line."""
    page = f"text\n{{{{{asked if ' ' in asked else asked + ' a b'}}}}}"
    with pytest.raises(WorkFailed, match=r"docs/index\.md:2: "):
        taken().filled(page, "docs/index.md")


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("", []),
        ("https://gitlab.com/a/b", ["gitlab.com"]),
        ("https://github.com/a/b", ["mybinder.org", "colab.research.google.com", "github.com"]),
    ],
)
def test_an_address_gives_buttons(address: str, hosts: list[str]) -> None:
    """With an address there is a button for the repository, and with one on GitHub services that open a chapter."""
    told = taken(address).filled(f"{{{{launch {STEM}}}}}", "index.md")

    assert hosts == re.findall(r"https://([^/]+)/", told)
    assert told.count(f"notebooks/{STEM}.ipynb") == len(hosts[1:]) and bool(address) == ("[Repository]" in told)


def test_a_pad_is_asked_for() -> None:
    """A pad's mark names chapter, cell, network, function and sample."""
    assert '<div class="taken">a pad of a, b, c, d, 4</div>' == taken().filled("{{pad a b c d 4}}", "index.md")


def test_a_hunt_is_played_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug hunt has its program with all lines once, and two questions of whose choices one is right."""
    code = (
        "def their_masked_mean(x, mask, dim):\n    kept = torch.where(mask, x, 0.0)\n"
        "    n_seen = mask.sum().clamp(min=1)\n    return kept.sum(dim=dim) / n_seen\n"
    )
    hunt = BugHunt("masked_mean", "one-count-for-all", code, "change", 3, (2, 4))
    hunts = ExerciseHunts("", {hunt.mistake: ("sum-not-mean", "int-division", "nan-leaks")}, (hunt,))
    monkeypatch.setattr(fill_page_placeholders, "read_hunts", lambda *_: {hunt.exercise: hunts})
    text = taken().filled(f"{{{{hunt ch01b_broadcasting {hunt.exercise} {hunt.mistake}}}}}", "index.md")
    page = BeautifulSoup(text, "html.parser")
    groups: dict[str, list[bool]] = {}
    for fold in page.find_all("details"):
        groups.setdefault(fold["name"], []).append(fold.p.get_text().startswith("Right. "))

    assert [3, 4] == [len(judged) for judged in groups.values()] and all(1 == sum(each) for each in groups.values())
    assert "\n" not in text and 1 == len(page.find_all("pre"))
    lines = [re.sub(r"^ *\d+  ", "", line) for line in page.pre.get_text().splitlines()]
    assert code.splitlines() == lines


def test_a_class_is_reported_where_a_page_asks() -> None:
    """The class report is inserted on the teachers' page, which the first page links."""
    assert f"the class of {STEM}" == taken().filled(f"{{{{report {STEM}}}}}", "class-report.md")
    page, first = ((PROJECT / "docs" / name).read_text(encoding="utf-8") for name in ("class-report.md", "index.md"))
    assert "{{report ch" in page and "](class-report)" in first


def test_the_first_page_asks_for_every_chapter() -> None:
    """The first page has minutes of every sitting, and a picture of every chapter."""
    page = (PROJECT / "docs" / "index.md").read_text(encoding="utf-8")
    for path in sorted((PROJECT / "course" / "chapters").glob("ch*.py")):
        assert f"{{{{minutes {path.stem}}}}}" in page and f"{{{{picture {chapter_id(path.stem)}" in page


class Seen(HTMLParser):
    """A parser that collects addresses and tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses, self.tags = list[str](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the tag and its addresses."""
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("href", "src") and value]


def test_a_missing_page_needs_no_other_file() -> None:
    """The page for missing pages loads no other file, because relative addresses could be wrong."""
    seen = Seen((PROJECT / "docs" / "_extra" / "404.html").read_text(encoding="utf-8"))

    assert ["index.html"] == seen.addresses and 1 == seen.tags.count("h1")


@pytest.mark.parametrize("address", ["", "https://example.org/course/"])
def test_previews_have_words_and_a_picture(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Previews have title, description and picture, with an absolute address if the site's is known."""
    monkeypatch.setenv("SITE_ADDRESS", address)
    settings = runpy.run_path(str(PROJECT / "docs" / "conf.py"))
    layout = (PROJECT / "docs" / "_templates" / "layout.html").read_text(encoding="utf-8")

    assert address == settings["html_baseurl"] and "project" in settings["author"]
    assert 60 < len(settings["html_context"]["about"]) < 250
    for name in ("title", "description", "image", "image:alt"):
        assert f'property="og:{name}"' in layout
