"""Fill in the marks on the site's pages with values from the course, so that no page repeats them by hand.

`{{minutes CHAPTER}}`: the reading time. `{{picture CHAPTER CELL}}`: the HTML output of a cell.
`{{film CHAPTER CELL}}`: the animated part of an explorer. `{{answer CHAPTER EXERCISE TAG}}`: the code of an answer of
the bank. `{{feedback CHAPTER EXERCISE TAG}}`: the feedback on it for students. `{{report CHAPTER}}`: the class report
on the example class. `{{launch CHAPTER}}`: links to services that open the chapter; empty if the project has no address
on GitHub.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup
from nbformat import NotebookNode

from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_reader import read_chapter
from autograder.course.compute_answer_keys import VISIBLE_SEED
from autograder.course.course_location import chapter_path
from autograder.course.judge import Judge
from autograder.course.reading_time import minutes_of_parts, tier_lookup, whole_minutes
from autograder.errors import CourseError, WorkFailed
from autograder.notebook.report_rendering import html

_ASKED = re.compile(r"\{\{(?P<word>\w+) (?P<about>[^{}\n]+)\}\}")
_GITHUB = "https://github.com/"


@dataclass(frozen=True)
class Filler:
    """Fills in pages from a course folder and from its executed chapters, by stem.

    `report` returns the report of a chapter's example class as Markdown.
    """

    course: Path
    executed: Mapping[str, NotebookNode]
    report: Callable[[str], str]
    address: str = ""

    def filled(self, text: str, where: str) -> str:
        """Return a page with its marks replaced; raise WorkFailed, with the line, for a mark that has no value."""
        return _ASKED.sub(lambda found: self._given(found, where), text)

    def _given(self, found: re.Match[str], where: str) -> str:
        words: dict[str, Callable[..., str]] = {
            "minutes": self._minutes,
            "picture": self._picture,
            "film": self._film,
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
        return _on_one_line(html(report))

    def _report(self, stem: str) -> str:
        self.executed[stem]
        return self.report(stem)

    def _launch(self, stem: str) -> str:
        """Return links that open a chapter in Colab and Binder; "" if the project's address is not on GitHub."""
        self.executed[stem]
        if not self.address.startswith(_GITHUB):
            return ""
        name, notebook = self.address.removeprefix(_GITHUB), f"notebooks/{stem}.ipynb"
        colab = f"https://colab.research.google.com/github/{name}/blob/main/{notebook}"
        binder = f"https://mybinder.org/v2/gh/{name}/main?urlpath=lab/tree/{notebook}"
        return f"Or without setting anything up: [in Colab]({colab}), [in Binder]({binder})."


def _on_one_line(shown: str) -> str:
    """Return the HTML on one line, since an empty line would end it within Markdown."""
    return f'<div class="taken">{" ".join(shown.split())}</div>'
