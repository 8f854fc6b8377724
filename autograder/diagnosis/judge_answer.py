"""Judge an answer: compare its observations with the expected ones and return a report. No student code runs here.

Each requirement gives one verdict, from the facets that it is about. If a fault of another requirement makes it
impossible to judge, its status is SKIPPED, without a point, and it names the requirement that it waits for. If a slip
(a known mistake in one factor, constant or form) also makes cases of other requirements fail, those cases cost no
points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder.diagnosis import difference_messages
from autograder.diagnosis.compare_case_facets import CaseComparison, compare_facets
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.mistake_matching import (
    cases_showing_mistake,
    find_explaining_mistake,
    matches_mistake,
    same_observation,
)
from autograder.diagnosis.source_inspection import SourceFindings
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import ExceptionSnapshot, Observation
from autograder.exercises.representation_mismatch import FormMismatch

UNTOUCHED_TAG = "untouched"  # in a debugging exercise, the tag of the program that the student has not changed
_STUB = "NotImplementedError"


def judge(exercise: Exercise, key: ExpectedObservations, observations: Sequence[Observation], source: str) -> Report:
    """Return the report on an answer from its observations, one per case of the key, and its source text."""
    return judge_with_examined_source(exercise, key, observations, SourceFindings.read(exercise, key, source))


def judge_with_examined_source(
    exercise: Exercise, key: ExpectedObservations, observations: Sequence[Observation], text: SourceFindings
) -> Report:
    """Return the report as `judge` does, with the answer's text already examined.

    The report depends on the source text through `text` alone, so that callers may cache reports by it.
    """
    if all(is_stub_error(seen.get("raised")) for seen in observations):
        return make_report_with_one_cause(
            exercise, key.cases, Status.NOT_ATTEMPTED, difference_messages.not_attempted_message(exercise.name)
        )
    # One that was changed may show the same: where its first program stops, nobody sees what became of the others.
    known = (each for place, each in enumerate(key.mistakes) if place not in text.disproved)
    as_given = next((mistake for mistake in known if mistake.tag == UNTOUCHED_TAG), None)
    if as_given and matches_mistake(exercise, as_given, observations):
        return make_report_with_one_cause(exercise, key.cases, Status.NOT_ATTEMPTED, as_given.sentence)
    verdicts = _Lines(exercise, key, observations, text).verdicts()
    verdicts += list(_rule_verdicts(exercise, key, observations, text, verdicts))
    report = Report(exercise.name, tuple(verdicts))
    return replace(report, notes=text.remarks) if report.passed else report


def make_report_with_one_cause(exercise: Exercise, cases: Sequence[Case], status: Status, sentence: str) -> Report:
    """Return a report in which one cause decides every check: the first verdict has the status and the sentence.

    The other verdicts are NOT_ATTEMPTED if that is the status, and otherwise SKIPPED.
    """
    first, *rest = _sentences(cases) + [rule.requirement for rule in exercise.rules]
    if status is Status.NOT_ATTEMPTED:
        later = [Verdict(text, status) for text in rest]
    else:
        later = [Verdict(text, Status.SKIPPED, after=first) for text in rest]
    return Report(exercise.name, (Verdict(first, status, sentence), *later))


def known_mistakes_irrelevant(report: Report) -> bool:
    """Return whether a report by the reference key already equals the one by the full key, with all known mistakes.

    It does if every check passed or nothing was attempted: no mistake is looked for then.
    """
    return report.passed or report.verdicts[0].status is Status.NOT_ATTEMPTED


def is_stub_error(error: object) -> bool:
    """Return whether a recorded error is the NotImplementedError of the unchanged starter.

    torch raises this error too, with a message, at a line that does not name it.
    """
    if not isinstance(error, ExceptionSnapshot) or error.type != _STUB:
        return False
    return not error.message or _STUB in error.line


def _sentences(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.requirement for case in cases))


class _Lines:
    """The judging of one answer, requirement by requirement.

    A requirement is named by its sentence here. `parted` holds the comparison of each case, `cases` maps a sentence to
    the indices of its cases, `slips` are the cases that known slips cost, `excused` the forgiven slips of form, and
    `failed` the sentences that are not met.
    """

    def __init__(
        self, exercise: Exercise, key: ExpectedObservations, seen: Sequence[Observation], text: SourceFindings
    ) -> None:
        self.exercise, self.key, self.seen, self.text = exercise, key, seen, text
        self.parted = [
            compare_facets(exercise, case, right, mine)
            for case, right, mine in zip(key.cases, key.reference, seen, strict=True)
        ]
        self.sentences = _sentences(key.cases)
        self.cases = {
            text: [i for i, case in enumerate(key.cases) if case.requirement == text] for text in self.sentences
        }
        self.slips, spoiled = _slipped(exercise, key, self.parted, seen)
        for index in spoiled:
            self.parted[index] = CaseComparison()
        self.excused: frozenset[FormMismatch] = frozenset()
        first = self._wrong(self.sentences[0])
        forms = [self.parted[i].slips for i in first]
        if first and all(form is not None for form in forms):
            # Right values in another form cost the first requirement alone: the others are still judged.
            self.excused = frozenset(slip for form in forms if form for slip in form)
        self.failed = [text for text in self.sentences if self._wrong(text)]

    @property
    def gate(self) -> str:
        """Return the requirement that all others wait for, or "": the first one, if it fails in more than form.

        An answer that fails the first requirement does not have the idea: passing later ones would be luck.
        """
        first = self.sentences[0]
        open_ = not self._stops(first) or self.excused or self.exercise.independent
        return "" if open_ else first

    def verdicts(self) -> list[Verdict]:
        """Return one verdict per requirement; a failed one describes its first case that differs."""
        if self.gate:
            return [self._failed(self.gate), *(_waiting(text, self.gate) for text in self.sentences[1:])]
        return [self._verdict(text) for text in self.sentences]

    def _verdict(self, text: str) -> Verdict:
        awaited = self._awaits(text)
        if awaited:
            return _waiting(text, awaited)
        return self._failed(text) if text in self.failed else Verdict(text, Status.PASS)

    def _wrong(self, text: str) -> list[int]:
        """Return the cases that differ in the requirement's own facets, or else those that differ in given facets."""
        own = [i for i in self.cases[text] if self.parted[i].own and not self._excuses(i, text)]
        return own or [i for i in self.cases[text] if self.parted[i].given and not self._excuses(i, text)]

    def _excuses(self, index: int, text: str) -> bool:
        form = self.parted[index].slips
        return text != self.sentences[0] and form is not None and form <= self.excused

    def _awaits(self, text: str) -> str:
        """Return the requirement that this one waits for, or "" if it can be judged."""
        needed = [other.sentence for other in self.exercise.requirements[text].needs]
        if unmet := next((other for other in needed if self._stops(other) and not self._differs_in_form(other)), ""):
            return unmet
        wrong = self._wrong(text)
        if not wrong or any(self.parted[i].own for i in wrong):
            return ""
        facets = {facet for i in wrong for facet in self.parted[i].facets}
        return next((other for other in self.failed if other != text and self._is_about(other, facets)), "")

    def _stops(self, text: str) -> bool:
        """Return whether a requirement fails in more than a known slip, so that others have to wait for it."""
        return not self.slips.issuperset(self._wrong(text))

    def _differs_in_form(self, text: str) -> bool:
        """Return whether a requirement fails in form alone: the values are right in each case that differs."""
        return all(self.parted[i].slips is not None for i in self._wrong(text))

    def _is_about(self, text: str, facets: set[str]) -> bool:
        """Return whether a requirement's own difference is in one of these facets."""
        own = [self.parted[i].own for i in self._wrong(text)]
        return any(each is not None and (each.path[:1] == () or each.path[0] in facets) for each in own)

    def _failed(self, text: str) -> Verdict:
        wrong = self._wrong(text)
        index = wrong[0]
        difference, case, seen = self.parted[index].first, self.key.cases[index], self.seen[index]
        assert difference is not None
        tells, right = self.exercise.tells(text), self.key.reference[index]
        told = difference_messages.difference_message(self.exercise, tells, difference, right, seen)
        mistake = find_explaining_mistake(self.exercise, self.key, self.seen, self.text, wrong)
        return Verdict(
            requirement=text,
            status=Status.ERROR if "raised" in seen else Status.FAIL,
            sentence=mistake.sentence if mistake else told.sentence,
            mistake=mistake.tag if mistake else None,
            call=difference_messages.call_as_exercise_spells_it(self.exercise, case),
            expected=told.expected,
            got=told.got,
            picture=told.picture,
            case=index,
        )


def _slipped(
    exercise: Exercise, key: ExpectedObservations, parted: Sequence[CaseComparison], seen: Sequence[Observation]
) -> tuple[set[int], set[int]]:
    """Return two sets of case indices: those that known slips cost, and those of other requirements that they spoil.

    A slip counts if the answer shows it on every case of the first requirement that the slip fails.
    """
    costs: set[int] = set()
    spoils: set[int] = set()
    for slip in (mistake for mistake in key.mistakes if mistake.slip):
        wrong = cases_showing_mistake(exercise, key, slip)
        own = {i for i in wrong if key.cases[i].requirement == key.cases[wrong[0]].requirement}
        shown = {i for i in wrong if parted[i].first and same_observation(exercise, slip.observations[i], seen[i])}
        if own <= shown:
            costs |= own
            spoils |= shown - own
    return costs, spoils


def _waiting(text: str, awaited: str) -> Verdict:
    return Verdict(text, Status.SKIPPED, after=awaited)


def _rule_verdicts(
    exercise: Exercise,
    key: ExpectedObservations,
    seen: Sequence[Observation],
    text: SourceFindings,
    verdicts: Sequence[Verdict],
) -> Iterator[Verdict]:
    """Yield one verdict per rule on the text; a rule is SKIPPED until at least half of the requirements are met.

    A rule says how a result should be computed, which means little while most results are wrong. A known mistake
    explains a broken rule only if all requirements are met.
    """
    unmet = [verdict.requirement for verdict in verdicts if verdict.status is not Status.PASS]
    many = 2 * len(unmet) > len(verdicts)
    names = text.broken
    known = (
        [m for m in key.mistakes if m.rules == names and not unmet and matches_mistake(exercise, m, seen)]
        if names
        else []
    )
    for rule in exercise.rules:
        if many:
            yield _waiting(rule.requirement, unmet[0])
        elif rule.name not in names:
            yield Verdict(rule.requirement, Status.PASS)
        else:
            mistake = known[0] if len(known) == 1 else None
            sentence = mistake.sentence if mistake else rule.sentence
            yield Verdict(rule.requirement, Status.FAIL, sentence, mistake.tag if mistake else None)
