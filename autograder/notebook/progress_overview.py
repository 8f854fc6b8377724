"""`progress`: show passed and open exercises with their points, as text and as HTML; and name the next exercise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.course.course import current_course
from autograder.course.points_and_hints import ExercisePoints, IndexedChapter
from autograder.errors import UnknownExercise
from autograder.notebook.colors import FAILED, FAILED_MARK, OPEN, OPEN_MARK, PASSED, PASSED_MARK
from autograder.notebook.html_markup import ROW, Html, join, panel, sign, tag
from autograder.notebook.progress_log import PROGRESS_LOG, LoggedCheck
from autograder.notebook.review_log import REVIEW_LOG
from autograder.notebook.skills_card import Card, make_skills_card

_FOOT = "From your last check of each exercise. Grading runs the same checks on other numbers."


@dataclass(frozen=True)
class ExerciseProgress:
    """One exercise: its points, and its last check, or None."""

    name: str
    worth: ExercisePoints
    last: LoggedCheck | None

    @property
    def passed(self) -> bool:
        """Return whether the last check passed."""
        return self.last is not None and self.last.is_full

    @property
    def in_words(self) -> str:
        """Return the state as words: open, passed, or the number of passed checks."""
        if self.last is None:
            return "open"
        return "passed" if self.passed else f"{self.last.passed} of {self.last.of} checks"

    @property
    def mark(self) -> str:
        """Return the mark of the state: a reader tells the three apart without color."""
        return OPEN_MARK if self.last is None else PASSED_MARK if self.passed else FAILED_MARK

    def earned(self, most: int) -> float:
        """Return the share of `most` points that the last check earned."""
        return most * self.last.share if self.last else 0.0


@dataclass(frozen=True)
class ChapterProgress:
    """A chapter with its exercises, in order."""

    title: str
    exercises: tuple[ExerciseProgress, ...]

    @property
    def share(self) -> float:
        """Return the share of the chapter's points that is earned, from 0 to 1."""
        most = sum(each.worth.points for each in self.exercises)
        return sum(each.earned(each.worth.points) for each in self.exercises) / most if most else 0.0

    @property
    def points(self) -> str:
        """Return the points earned and their maximum, such as `12 of 40`."""
        return _of(sum(e.earned(e.worth.points) for e in self.exercises), sum(e.worth.points for e in self.exercises))

    @property
    def extra(self) -> str:
        """Return the same for extra credit; "" if the chapter has none."""
        most = sum(each.worth.extra for each in self.exercises)
        return _of(sum(each.earned(each.worth.extra) for each in self.exercises), most) if most else ""

    @property
    def still_open(self) -> list[ExerciseProgress]:
        """Return the exercises with points that have not passed."""
        return [each for each in self.exercises if each.worth.points and not each.passed]

    @property
    def is_done(self) -> bool:
        """Return whether every exercise with points has passed; False without any."""
        return any(each.worth.points for each in self.exercises) and not self.still_open

    @property
    def passed(self) -> str:
        """Return the number of passed exercises and of all, such as `3 of 15`."""
        return _of(sum(each.passed for each in self.exercises), len(self.exercises))


@dataclass(frozen=True)
class Progress:
    """The table that `progress` displays: one line per exercise of a chapter, or one line per chapter.

    `note` is a message about the files beside the notebook, `remembered` a sentence on what is known in later sittings.
    `card` is the card of a single chapter whose points are all earned.
    """

    chapters: tuple[ChapterProgress, ...]
    note: str = ""
    card: Card | None = None
    remembered: str = ""

    def __repr__(self) -> str:
        head, rows = _table(self)
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
        below = [_FOOT, self.remembered, self.note, repr(self.card) if self.card else ""]
        return "\n".join([_headline(self), *(f"  {line}".rstrip() for line in lines), *filter(None, below)])

    def _repr_html_(self) -> str:
        head, rows = _table(self)
        titles = (tag("th", cell, scope="col", style=f"{_CELL};font-weight:600") for cell in head)
        drawn = [_bar(each.share) for each in self.chapters]
        alone = drawn.pop() if len(self.chapters) == 1 else ""
        bars = [tag("td", bar, style=_CELL) for bar in drawn] or [Html("")] * len(rows)
        table = tag(
            "table",
            tag("caption", _headline(self), " ", alone, style=_CAPTION),
            tag("thead", tag("tr", *titles, style=ROW)),
            tag("tbody", *(_html_row(row, bar) for row, bar in zip(rows, bars, strict=True))),
            style="border:none;margin:0",
        )
        below = (tag("div", sentence) for sentence in (self.remembered, self.note) if sentence)
        wide = tag("div", table, style="overflow-x:auto", tabindex="0")  # a narrow screen can scroll it
        shown = panel(OPEN, wide, tag("div", _FOOT, style="margin:0.3em 0 0"), *below)
        return join(shown, self.card._repr_html_()) if self.card else shown


_CAPTION = "text-align:left;font-weight:600;color:inherit;padding:0 0 0.3em;white-space:nowrap"
_CELL = "text-align:left;padding:0.1em 1.4em 0.1em 0"


def progress(chapter: int | None = None) -> Progress:
    """Show what is passed and what is open in a chapter, `progress(4)`; without a number, all sittings, a line each.

    It knows the checks that were run in this folder, and the answers that you gave to `review`; they are kept in files
    there. Once all exercises with points of a chapter have passed, those of its excursions aside, its card stands
    below: what you can do now, and a picture made with what you wrote.
    """
    listed = current_course().listed
    chosen = [each for each in listed if chapter is None or each.number == chapter]
    if not chosen:
        numbers = ", ".join(str(number) for number in dict.fromkeys(each.number for each in listed))
        advice = f"there is no chapter {chapter!r}. Write progress() for all, or one of {numbers}, as in progress(1)."
        raise UnknownExercise(chapter, [], advice)
    entries, note = PROGRESS_LOG.read()
    history = REVIEW_LOG.read()
    note = " ".join(filter(None, (note, history.note)))
    if not chapter and len(chosen) > 1:  # without a number, each is a chapter of its own
        return Progress(tuple(_standing(each, entries) for each in chosen), note, None, history.remembered)
    whole = merge_sittings(chosen, chosen[0])
    card = make_skills_card(whole) if _standing(_to_be_done(chosen, chosen[0]), entries).is_done else None
    return Progress((_standing(whole, entries),), note, card, history.remembered)


def merge_sittings(listed: Iterable[IndexedChapter], sitting: IndexedChapter) -> IndexedChapter:
    """Merge the sittings that have this sitting's chapter number into one IndexedChapter with all their exercises.

    A sitting without a number stays alone.
    """
    sittings = [each for each in listed if each.number and each.number == sitting.number] or [sitting]
    if len(sittings) == 1:
        return sitting
    exercises = {name: worth for each in sittings for name, worth in each.exercises.items()}
    return IndexedChapter(sittings[0].stem, f"Chapter {sitting.number}", exercises)


def _to_be_done(listed: Iterable[IndexedChapter], sitting: IndexedChapter) -> IndexedChapter:
    """Return the chapter of a sitting without its excursions: all that has to pass for the chapter's card."""
    return merge_sittings((each for each in listed if not each.is_excursion), sitting)


def _standing(chapter: IndexedChapter, entries: dict[str, LoggedCheck]) -> ChapterProgress:
    found = (ExerciseProgress(name, worth, entries.get(name)) for name, worth in chapter.exercises.items())
    return ChapterProgress(chapter.title, tuple(found))


def _of(part: float, whole: int) -> str:
    return f"{int(part * 100) / 100:g} of {whole}"  # rounded down: 39.999 of 40 is not 40


def _headline(shown: Progress) -> str:
    if len(shown.chapters) > 1:
        return "Your progress"
    (chapter,) = shown.chapters
    extra = f", and {chapter.extra} extra" if chapter.extra else ""
    return f"{chapter.title}: {chapter.points} points{extra}"


def _table(shown: Progress) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table."""
    if len(shown.chapters) > 1:
        rows = [[each.title, each.passed, each.points, each.extra or "–"] for each in shown.chapters]
        return ["chapter", "passed", "points", "extra points"], rows
    exercises = shown.chapters[0].exercises
    rows = [[f"{each.mark} {each.name}", each.in_words, _worth(each)] for each in exercises]
    return ["exercise", "last check", "points"], rows


def _worth(exercise: ExerciseProgress) -> str:
    if exercise.worth.extra:
        return f"{_of(exercise.earned(exercise.worth.extra), exercise.worth.extra)} extra"
    return _of(exercise.earned(exercise.worth.points), exercise.worth.points)


def _bar(share: float) -> Html:
    """Return a bar for the share of points earned, hidden from screen readers because the numbers are beside it."""
    earned = tag("span", style=f"display:block;height:100%;width:{100 * share:.1f}%;background:{PASSED}")
    frame = f"display:inline-block;width:8em;height:0.6em;border:1px solid {OPEN};margin-left:0.6em"
    return tag("span", earned, style=frame, aria_hidden="true")


def _html_row(row: list[str], bar: Html) -> Html:
    first, *others = row
    mark, _, name = first.partition(" ")
    color = {PASSED_MARK: PASSED, FAILED_MARK: FAILED, OPEN_MARK: OPEN}.get(mark)
    label = [sign(mark, color), " ", tag("code", name)] if color else [first]
    cells = (tag("td", cell, style=_CELL) for cell in others)
    return tag("tr", tag("th", *label, scope="row", style=f"{_CELL};font-weight:400"), *cells, bar, style=ROW)


def next_exercise_message(name: str, before: dict[str, LoggedCheck]) -> str:
    """Return the line after an exercise passes for the first time: the state of its notebook, and what comes next.

    `before` are the entries of the log before this check. The line is "" if the exercise had passed already, or if the
    log has no entry of this check.
    """
    listed = current_course().listed
    place = next((index for index, each in enumerate(listed) if name in each.exercises), None)
    entries, _ = PROGRESS_LOG.read()
    had = before.get(name)
    if place is None or name not in entries or (had is not None and had.is_full):
        return ""
    later = next((each.title for each in listed[place + 1 :] if not each.is_excursion), "")
    told = _next_of(name, _standing(listed[place], entries), later)
    whole = _standing(_to_be_done(listed, listed[place]), before)
    if [name] == [each.name for each in whole.still_open]:
        told += f" With it {whole.title} is done: `progress({listed[place].number})` shows your card."
    return told


def _next_of(name: str, chapter: ChapterProgress, later: str) -> str:
    names = [each.name for each in chapter.exercises]
    after = (*chapter.exercises[names.index(name) + 1 :], *chapter.exercises)
    with_points = next((each for each in after if not each.passed and each.worth.points), None)
    if with_points:
        worth = f"{with_points.worth.points} point{'s' if with_points.worth.points > 1 else ''}"
        return f"{chapter.passed} exercises of this notebook passed. Next: {with_points.name}, {worth}."
    left = [each.name for each in chapter.exercises if not each.passed]
    done = f"You have all {chapter.points.rpartition(' ')[2]} points for the exercises of {chapter.title}."
    more = f" Left for extra credit: {', '.join(left)}." if left else ""
    return f"{done}{more} Read on to the end of the notebook{f'; then comes {later}' if later else ''}."
