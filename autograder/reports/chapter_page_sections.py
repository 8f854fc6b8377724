"""Build the sections of a chapter's report page as HTML. Everything that comes from a student is escaped."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from autograder.grading.class_text_table import StudentRow
from autograder.nbgrader_plugin.gradebook_scores import unscored_message
from autograder.notebook.html_markup import Html, join, sentence_to_html, table, tag
from autograder.reports import score_charts
from autograder.reports.class_results import ClassResults
from autograder.reports.example_answers import ExamplePicker, draft_entry_command
from autograder.reports.item_analysis import (
    HARDLY,
    MIN_STUDENTS_FOR_SEPARATION,
    SEPARATES,
    ItemResults,
    has_attempted_anything,
)
from autograder.reports.item_analysis import analyse_items as items_of
from autograder.reports.lesson_links import lesson_section_link
from autograder.reports.misunderstandings import (
    MistakesWithOneSentence,
    Misunderstanding,
    UnexplainedAnswers,
    group_by_sentence,
)
from autograder.reports.misunderstandings import unexplained_answers as unexplained_of

_SHOWN = 10  # entries of a list; the rest is folded away


def overview_section(results: ClassResults) -> Html:
    """Return a table with the class in numbers, and a histogram of its points."""
    scores = list(results.scores.values())
    facts = table("The class in numbers", ("", ""), _facts(results))
    if results.unscored:
        facts = join(tag("p", f"{unscored_message(results.unscored)} All numbers here are of what is scored."), facts)
    return join(facts, score_charts.score_histogram(scores, results.max_score)) if scores else facts


def _facts(results: ClassResults) -> list[tuple[str, str]]:
    verdicts, scores = results.verdicts, results.scores
    late = [row.student for row in results.rows if results.mark(row.student).penalty]
    known = f" of {len(results.people)} in the gradebook" if results.people else ""
    facts = [
        ("handed in", f"{len(results.handed_in)}{known}"),
        ("could not be read", str(len(results.unreadable))),
        ("no notebook in the folder", str(len(results.without_notebook))),
        ("read and judged", str(len(verdicts))),
        (_empty_label(results), str(sum(not has_attempted_anything(verdict) for verdict in verdicts.values()))),
        ("full marks or more", str(sum(score >= results.max_score for score in scores.values()))),
        ("late penalty", str(len(late))),
    ]
    if scores:
        of_what = "median of what is scored" if results.unscored else "median"
        facts.append((of_what, f"{statistics.median(scores.values()):.3g} of {results.max_score:g} points"))
    return facts


def _empty_label(results: ClassResults) -> str:
    """Return the label for submissions that answer nothing; of a test cell, only its points show an attempt."""
    has_tests = any(verdict.tests for verdict in results.verdicts.values())
    return "no exercise answered, no point in a test cell" if has_tests else "nothing answered"


def exercises_section(results: ClassResults) -> Html:
    """Tabulate how often each exercise was passed, wrong and not attempted, and how well it separates students."""
    found = items_of(results)
    if not found:
        return tag("p", "No submission could be read.")
    columns = ("exercise", "points", "passed", "wrong", "not attempted", "separates")
    rows = [(item.exercise, item.worth, *_shares(item), _signed(item)) for item in found]
    return join(
        score_charts.item_outcome_bars(found), table("How each exercise went", columns, rows), _separation(found)
    )


def _shares(item: ItemResults) -> list[str]:
    return [f"{count} ({count / item.total:.0%})" for count in (item.passed, item.wrong, item.not_attempted)]


def _signed(item: ItemResults) -> str:
    return "–" if item.separation is None else f"{item.separation:+.2f}"


def _separation(found: Sequence[ItemResults]) -> Html:
    """Name the exercises that separate strong from weak students most, and those that hardly do."""
    known = [item for item in found if item.separation is not None]
    if not known:
        return tag(
            "p",
            f"Fewer than {MIN_STUDENTS_FOR_SEPARATION} answers, or all alike: too few to say which exercises separate.",
        )
    best = sorted((item for item in known if _value(item) >= SEPARATES), key=_value, reverse=True)[:3]
    least = sorted((item for item in known if _value(item) < HARDLY), key=_value)
    lines = []
    if best:
        lines.append(join("Who does well elsewhere passes these, and who does not, does not: ", _names(best), "."))
    if least:
        head = "How somebody does elsewhere says next to nothing about these (too easy, too hard, or unclear?): "
        lines.append(join(head, _names(least), "."))
    return join(*(tag("p", line) for line in lines))


def _value(item: ItemResults) -> float:
    assert item.separation is not None
    return item.separation


def _names(found: Iterable[ItemResults]) -> Html:
    parts: list[str] = []
    for item in found:
        parts += [", "] * bool(parts) + [tag("code", item.exercise), f" ({_signed(item)})"]
    return join(*parts)


def misunderstandings_section(results: ClassResults) -> Html:
    """List the known mistakes that cost the most points, each with its sentence and an example answer."""
    found, examples = group_by_sentence([results]), ExamplePicker(results)
    if not found:
        return tag("p", "No answer shows a known mistake.")
    entries = [_misunderstanding(each, examples, len(results.verdicts)) for each in found]
    return _folded(entries, "more misunderstanding")


def _misunderstanding(found: MistakesWithOneSentence, examples: ExamplePicker, total: int) -> Html:
    parts: list[str] = [tag("strong", points_in_words(found.lost)), " lost: "]
    for number, (_, each) in enumerate(found.found):
        parts += [", "] * bool(number) + [_students(len(each.students), total), " in ", tag("code", each.exercise)]
    parts += _lesson_links(found)
    return tag("li", *parts, tag("blockquote", sentence_to_html(found.sentence)), _example(examples, found.found[0][1]))


def _lesson_links(found: MistakesWithOneSentence) -> list[Html]:
    """Return links to the sections that teach what a sentence is about; an empty list if there are none."""
    ways = (lesson_section_link(results.course, results.stem, each.exercise) for results, each in found.found)
    known = list(dict.fromkeys(way for way in ways if way))
    links = [part for way in known for part in (join(", "), way)][1:]
    return [tag("div", "To teach again: ", *links)] if links else []


def points_in_words(lost: float) -> str:
    """Return a number of points in words, such as "1 point"."""
    return "1 point" if f"{lost:.4g}" == "1" else f"{lost:.4g} points"


def _example(examples: ExamplePicker, found: Misunderstanding | UnexplainedAnswers) -> Html:
    """Return an example answer in a folded block; nothing if no answer can be read."""
    code = examples.of(found.exercise, found.students)
    return tag("details", tag("summary", "one answer"), tag("pre", code)) if code else Html("")


def _students(count: int, total: int) -> str:
    return f"{count} of {total} student{'' if total == 1 else 's'}"


def unexplained_answers_table(results: ClassResults) -> Html:
    """List the wrong answers that no known mistake explains: candidates for the answer bank."""
    found, examples = unexplained_of(results), ExamplePicker(results)
    if not any(verdict.reports for verdict in results.verdicts.values()):
        return tag("p", "There are no exercises here, only cells that nbgrader scores.")
    if not found:
        return tag("p", "Every wrong answer shows a known mistake, or stopped before it could be judged.")
    return _folded([_unexplained(each, results, examples) for each in found], "more group")


def _unexplained(found: UnexplainedAnswers, results: ClassResults, examples: ExamplePicker) -> Html:
    count = len(found.students)
    head = join(tag("strong", f"{count} answer{'' if count == 1 else 's'}"), " to ", tag("code", found.exercise))
    values = [("call", found.first.call), ("expected", found.first.expected), ("got", found.first.got)]
    seen = table(found.first.requirement, (), [(name, tag("code", value)) for name, value in values if value])
    failed = tag("p", f"Not passed: {', '.join(found.failed)}.")
    command = draft_entry_command(results.course, results.stem, found.students[0], found.exercise)
    draft = tag("p", "Draft an entry for the answer bank: ", tag("code", command))
    sentence = tag("p", sentence_to_html(found.first.sentence)) if found.first.sentence else Html("")
    return tag("li", head, sentence, seen, failed, _example(examples, found), draft)


def submissions_to_review_section(results: ClassResults) -> Html:
    """List the submissions that the teacher should look at, with reasons, and those that wait for a score by hand."""
    rows = [(row.student, _lines(reasons)) for row in results.rows if (reasons := reasons_to_look(results, row))]
    parts = [table("Look at these", ("student", "why"), rows)] if rows else []
    parts += [tag("p", unscored_message(results.unscored))] if results.unscored else []
    return join(*parts) if parts else tag("p", "None.")


def reasons_to_look(results: ClassResults, row: StudentRow) -> list[str]:
    """Return the reasons why the teacher should look at a submission.

    A cell that waits for its first score by hand is not among them: the section lists these separately.
    """
    by_hand = "a score by hand counts that is older than the last grading: look again in formgrader"
    return [*row.troubles, *([by_hand] if results.mark(row.student).has_older_score else [])]


def repairs_section(results: ClassResults) -> Html:
    """Tabulate what was repaired in submissions before grading; a repair costs no points."""
    students: dict[str, list[str]] = defaultdict(list)
    for row in results.rows:
        for line in row.verdict.repairs if row.verdict else ():
            students[line].append(row.student)
    if not students:
        return tag("p", "Nothing had to be repaired.")
    rows = sorted(students.items(), key=lambda each: (-len(each[1]), each[0]))
    return table("Repaired", ("what", "how often", "whose"), [(what, str(len(who)), _some(who)) for what, who in rows])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _lines(texts: Iterable[str]) -> Html:
    return join(*(tag("div", text) for text in texts))


def _folded(entries: Sequence[Html], rest: str) -> Html:
    """Return a numbered list; the entries after the first `_SHOWN` are folded away."""
    first = tag("ol", *entries[:_SHOWN])
    more = entries[_SHOWN:]
    if not more:
        return first
    many = "s" if len(more) > 1 else ""
    return join(first, tag("details", tag("summary", f"{len(more)} {rest}{many}"), tag("ol", *more, start=_SHOWN + 1)))
