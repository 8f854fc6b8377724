"""Build the sections of the course's report page as HTML: all chapters side by side."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from autograder.notebook.html_markup import Html, join, sentence_to_html, table, tag
from autograder.reports import score_charts
from autograder.reports.chapter_page_sections import reasons_to_look
from autograder.reports.class_results import ClassResults
from autograder.reports.item_analysis import analyse_items as items_of
from autograder.reports.lesson_links import lesson_section_link
from autograder.reports.misunderstandings import MistakesWithOneSentence, group_by_sentence
from autograder.reports.misunderstandings import unexplained_answers as unexplained_of

_SHOWN = 15


def chapters_section(course: Sequence[ClassResults]) -> Html:
    """Return box plots of all chapters, and a table with a row for each that links to its page."""
    scored = [each for each in course if each.scores and each.max_score]
    shares = [[score / each.max_score for score in each.scores.values()] for each in scored]
    picture = score_charts.chapters_box_plot([each.stem for each in scored], shares) if scored else Html("")
    read = ("handed in", "could not be read", "no notebook")
    columns = ("chapter", *read, "median", "full marks or more", "look at", "to score by hand", "unexplained answers")
    return join(picture, table("The chapters", columns, map(_chapter, course)))


def _chapter(results: ClassResults) -> tuple[str, ...]:
    scores, so_far = list(results.scores.values()), " (of what is scored)" if results.unscored else ""
    middle = f"{statistics.median(scores):.3g} of {results.max_score:g}{so_far}" if scores else "–"
    full = sum(score >= results.max_score for score in scores)
    look = sum(bool(reasons_to_look(results, row)) for row in results.rows)
    loose = sum(len(group.students) for group in unexplained_of(results))
    link = tag("a", results.title, href=f"{results.stem}.html")
    read = (len(results.handed_in), len(results.unreadable), len(results.without_notebook))
    return link, *map(str, read), middle, *map(str, (full, look, len(results.unscored), loose))


def costliest_misunderstandings_section(course: Sequence[ClassResults]) -> Html:
    """Tabulate the known mistakes of all chapters that cost the most points."""
    found = group_by_sentence(course)
    if not found:
        return tag("p", "No answer shows a known mistake.")
    columns = ("points lost", "share of the class that read it", "what the students read", "to teach again")
    rows = [
        (f"{each.lost:.4g}", _where(each), sentence_to_html(each.sentence), _lesson_links(each))
        for each in found[:_SHOWN]
    ]
    return table("The misunderstandings that cost the most points", columns, rows)


def _lesson_links(shared: MistakesWithOneSentence) -> Html:
    ways = (lesson_section_link(results.course, results.stem, each.exercise) for results, each in shared.found)
    return join(*(tag("div", way) for way in dict.fromkeys(ways) if way))


def _where(shared: MistakesWithOneSentence) -> Html:
    """Return the exercises in which students read a sentence, each with the share of the class that did."""
    parts: list[str] = []
    names = [each.exercise for _, each in shared.found]
    for results, each in shared.found:
        share = f" {len(each.students) / len(results.verdicts):.0%}" + _of_several(each.exercise, results, names)
        parts += [", "] * bool(parts) + [tag("code", each.exercise, style="white-space:nowrap"), share]
    return join(*parts)


def _of_several(exercise: str, results: ClassResults, names: Sequence[str]) -> str:
    """Return " in ASSIGNMENT" if several assignments have this exercise, else ""."""
    return f" in {results.stem}" if names.count(exercise) > 1 else ""


def hardest_exercises_table(course: Sequence[ClassResults]) -> Html:
    """Tabulate the exercises with the lowest share of passes among the students who attempted them."""
    tried = [(each, item) for each in course for item in items_of(each) if item.passed + item.wrong]
    if not tried:
        return tag("p", "Nobody has answered anything.")
    tried.sort(key=lambda two: two[1].passed / (two[1].passed + two[1].wrong))
    names = [item.exercise for _, item in tried]
    labels = [item.exercise + _of_several(item.exercise, each, names) for each, item in tried]
    counts = [(f"{item.passed} of {item.passed + item.wrong}", str(item.not_attempted)) for _, item in tried]
    rows = [(name, *two) for name, two in zip(labels, counts, strict=True)]
    return table("Passed by the fewest of those who tried", ("exercise", "passed", "not attempted"), rows[:_SHOWN])


def missing_submissions_section(course: Sequence[ClassResults]) -> Html:
    """Tabulate the students of the gradebook with missing submissions, most missing first, and the chapters missed."""
    everybody = sorted({student for results in course for student in results.people})
    handed_in = {results.stem: set(results.handed_in) for results in course}
    gaps = {who: [stem for stem, there in handed_in.items() if who not in there] for who in everybody}
    most_first = sorted((who for who in everybody if gaps[who]), key=lambda who: -len(gaps[who]))
    if not most_first:
        return tag("p", "Everybody in the gradebook has handed in every chapter that was graded.")
    return table("Not handed in", ("student", "chapters"), [(who, ", ".join(gaps[who])) for who in most_first])


def similar_pairs_section(count: int, by_chance: float) -> Html:
    """State how many pairs of students share answers of a rare structure, without names, and how to interpret it."""
    if not count:
        return tag("p", "No two students have several answers of one structure that is rare in this class.")
    found = f"{count} pair{'' if count == 1 else 's'} of students" + (" has" if count == 1 else " have")
    return join(
        tag("p", found, " answers that are the same after renaming, and that hardly anybody else has."),
        tag(
            "p", "Were each exercise's answers dealt out to the students at random, about ", f"{by_chance:.1f}", _CHANCE
        ),
        tag("p", _HOW_TO_READ, tag("code", "equal-answers.csv"), " beside this page, the rarest first."),
    )


_CHANCE = (
    " pairs would share several. People who learn together and think alike share more than that, and short answers "
    "come out equal on their own."
)
_HOW_TO_READ = (
    "This is a hint to look, and says nothing of how it came about: a lesson's pattern, a tutor, a common source, work "
    "in pairs that was allowed. Read both answers, and speak with both students, before you think anything. The pairs "
    "stand in "
)
