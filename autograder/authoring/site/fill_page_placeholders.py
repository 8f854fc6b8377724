"""Fill in the marks on the site's pages with values from the course, so that no page repeats them by hand.

`{{minutes CHAPTER}}`: the reading time. `{{picture CHAPTER CELL}}`: the HTML output of a cell.
`{{film CHAPTER CELL}}`: the animated part of an explorer. `{{pad CHAPTER CELL MODEL PREPARE DIGIT}}`: a pad to draw on,
read by a network that the chapter has trained once this cell has run; DIGIT is a sample. `{{answer CHAPTER EXERCISE
TAG}}`: the code of an answer of the bank. `{{feedback CHAPTER EXERCISE TAG}}`: the feedback on it for students. `{{hunt
CHAPTER EXERCISE TAG}}`: a bug hunt that shows this mistake, with its two questions. `{{report CHAPTER}}`: the class
report on the example class. `{{launch CHAPTER}}`: buttons that lead to the repository, and on GitHub to services that
open the chapter; empty if the project has no address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bs4 import BeautifulSoup
from nbformat import NotebookNode

from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.course.chapter_minutes import minutes_of_parts, tier_lookup, whole_minutes
from autograder.course.chapter_reader import read_chapter
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.course import course_in
from autograder.course.course_location import chapter_path
from autograder.errors import CourseError, WorkFailed
from autograder.notebook.html_markup import tag as html_tag
from autograder.notebook.report_rendering import report_as_html
from autograder.questions.bug_hunt_file import read_hunts
from autograder.questions.hunt_questions import ask_for_faulty_line, ask_for_true_sentence
from explorers.quiz_widget import Quiz

_ASKED = re.compile(r"\{\{(?P<word>\w+) (?P<about>[^{}\n]+)\}\}")
_RUN = ("picture", "film", "pad")  # the marks whose value is an output of the chapter
_CODE = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
_SPACES = re.compile(r"\s+")
_GITHUB = "https://github.com/"


def chapters_used_on_page(text: str) -> set[str]:
    """Return the stems of the chapters whose outputs stand on a page with these marks."""
    return {found["about"].split()[0] for found in _ASKED.finditer(text) if found["word"] in _RUN}


@dataclass(frozen=True)
class PlaceholderFiller:
    """Fills in pages from a course folder and from its executed chapters, by stem.

    `report` returns the report of a chapter's example class as Markdown, `pad` the HTML of a pad to draw on.
    """

    course: Path
    executed: Mapping[str, NotebookNode]
    report: Callable[[str], str]
    pad: Callable[..., str]
    address: str = ""

    def filled(self, text: str, where: str) -> str:
        """Return a page with its marks replaced; raise WorkFailed, with the line, for a mark that has no value."""
        return _ASKED.sub(lambda found: self._given(found, where), text)

    def _given(self, found: re.Match[str], where: str) -> str:
        words: dict[str, Callable[..., str]] = {
            "minutes": self._minutes,
            "picture": self._picture,
            "film": self._film,
            "pad": self._pad,
            "hunt": self._hunt,
            "answer": self._answer,
            "feedback": self._feedback,
            "report": self._report,
            "launch": self._launch,
        }
        line = f"{where}:{found.string.count(chr(10), 0, found.start()) + 1}"
        if found["word"] not in words:
            raise WorkFailed(f"{line}: expected one of {', '.join(words)} in braces, found {found['word']!r}.")
        try:
            return words[found["word"]](*found["about"].split())
        except (KeyError, TypeError, CourseError) as error:
            raise WorkFailed(f"{line}: {found[0]} is nothing that this course has ({error}). Correct it.") from error

    def _minutes(self, stem: str) -> str:
        """Return the reading time of a chapter's main path and exercises, in words."""
        chapter = read_chapter(chapter_path(self.course, stem))
        parts = minutes_of_parts(chapter, tier_lookup(self.course, chapter))
        main, exercises = (whole_minutes(parts[name].minutes) for name in ("main path", "exercises"))
        return f"{main} minutes to read and run, {exercises} for the exercises"

    def _picture(self, stem: str, name: str) -> str:
        return _on_one_line(self._shown(stem, name))

    def _film(self, stem: str, name: str) -> str:
        """Return the animated part of an explorer, set to play by itself when it comes into view."""
        film = BeautifulSoup(self._shown(stem, name), "html.parser").select_one("[data-film]")
        if film is None:
            raise KeyError(name)
        film["data-plays"] = ""
        return _on_one_line(f'<div class="explorer">{film}</div>')

    def _pad(self, stem: str, cell: str, model: str, prepare: str, digit: str) -> str:
        return _on_one_line(self.pad(stem, cell, model, prepare, digit))

    def _hunt(self, stem: str, exercise: str, tag: str) -> str:
        """Return the easiest bug hunt that shows this mistake, to be played without a kernel."""
        there = read_hunts(self.course, stem)[exercise]
        if (hunt := there.easiest_by_mistake(tag)) is None:
            raise KeyError(tag)
        known = course_in(self.course)
        about, key = known.find(exercise), known.keys(stem)[exercise]
        questions = [
            ask_for_faulty_line(hunt, about, key),
            ask_for_true_sentence(hunt, there.false[tag], about, key, Random(tag)),
        ]
        return _on_one_line(html_tag("div", Quiz(hunt.name, questions).at_rest(), class_="explorer"))

    def _shown(self, stem: str, name: str) -> str:
        """Return the HTML output of the cell with this id in an executed chapter."""
        cells = {cell.id: cell for cell in self.executed[stem].cells if cell.cell_type == "code"}
        shown = {kind: text for each in cells[name].outputs for kind, text in each.get("data", {}).items()}
        return str(shown["text/html"])

    def _known(self, stem: str, exercise: str, tag: str) -> tuple[Judge, KnownAnswer]:
        judge = Judge(self.course, stem, only=exercise)
        return judge, {answer.tag: answer for answer in judge.banks[exercise]}[tag]

    def _answer(self, stem: str, exercise: str, tag: str) -> str:
        return f"```python\n{self._known(stem, exercise, tag)[1].source.strip()}\n```"

    def _feedback(self, stem: str, exercise: str, tag: str) -> str:
        """Return the report that a student reads after giving this answer of the bank, as HTML."""
        judge, known = self._known(stem, exercise, tag)
        seen = next(observed for answer, observed in judge.keys.bank_observations(exercise) if answer.tag == tag)
        report = judge.judge(exercise, VISIBLE_SEED, seen, known.source)
        return _on_one_line(report_as_html(report))

    def _report(self, stem: str) -> str:
        self.executed[stem]
        return self.report(stem)

    def _launch(self, stem: str) -> str:
        """Return buttons that lead to the repository, and to a chapter in Colab and Binder if it is on GitHub.

        Returns "" if the project has no address.
        """
        self.executed[stem]
        if not self.address:
            return ""
        links = {"Repository": self.address}
        if self.address.startswith(_GITHUB):
            name, notebook = self.address.removeprefix(_GITHUB), f"notebooks/{stem}.ipynb"
            links["Try it in Colab"] = f"https://colab.research.google.com/github/{name}/blob/main/{notebook}"
            links["Try it in Binder"] = f"https://mybinder.org/v2/gh/{name}/main?urlpath=lab/tree/{notebook}"
        buttons = " ".join(f"[{words}]({address})" for words, address in reversed(links.items()))
        return f"{{.launch}}\n{buttons}"


def _on_one_line(shown: str) -> str:
    """Return the HTML on one line, since an empty line would end it within Markdown. Code keeps its lines."""
    parts = (_in_code(part) if part.startswith("<pre") else _SPACES.sub(" ", part) for part in _CODE.split(shown))
    return f'<div class="taken">{"".join(parts).strip()}</div>'


def _in_code(part: str) -> str:
    return part.replace("\n", "&#10;")
