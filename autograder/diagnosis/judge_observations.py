"""Judgement: observations held against a key become a report. Pure: nothing of a student's code runs here.

What is met counts, line by line. A requirement is judged by what it is about. Where that cannot be told because of a
fault that another requirement shows, it waits for that one: that is no cross, and no point. What a known slip spoils
beside its own requirement is no fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder.diagnosis import difference_messages
from autograder.diagnosis.answer_text import Text
from autograder.diagnosis.expected import Key
from autograder.diagnosis.facet_difference import Parting, part
from autograder.diagnosis.mistake_matching import cases_wrong, explanation, same, shows
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.form_slips import Slip
from autograder.exercises.observation import Observation, Raised

UNTOUCHED = "untouched"  # the tag of a program to mend that does what it did before
_STUB = "NotImplementedError"


def judge(exercise: Exercise, key: Key, observations: Sequence[Observation], source: str) -> Report:
    """Compare what was seen with the key, case by case, and say which misunderstanding a difference looks like."""
    return judge_read(exercise, key, observations, Text.read(exercise, key, source))


def judge_read(exercise: Exercise, key: Key, observations: Sequence[Observation], text: Text) -> Report:
    """The same where the answer's text has been read: the report depends on nothing else of it."""
    if all(is_stub(seen.get("raised")) for seen in observations):
        return whole(exercise, key.cases, Status.NOT_ATTEMPTED, difference_messages.not_attempted(exercise.name))
    # One that was changed may show the same: where its first program stops, nobody sees what became of the others.
    known = (each for place, each in enumerate(key.mistakes) if place not in text.disproved)
    as_given = next((mistake for mistake in known if mistake.tag == UNTOUCHED), None)
    if as_given and shows(exercise, as_given, observations):
        return whole(exercise, key.cases, Status.NOT_ATTEMPTED, as_given.sentence)
    verdicts = _Lines(exercise, key, observations, text).verdicts()
    verdicts += list(_rule_verdicts(exercise, key, observations, text, verdicts))
    report = Report(exercise.name, tuple(verdicts))
    return replace(report, notes=text.remarks) if report.passed else report


def whole(exercise: Exercise, cases: Sequence[Case], status: Status, sentence: str) -> Report:
    """A report on an exercise whose checks all end alike: the first tells why, the rest is skipped."""
    first, *rest = _sentences(cases) + [rule.requirement for rule in exercise.rules]
    if status is Status.NOT_ATTEMPTED:
        later = [Verdict(text, status) for text in rest]
    else:
        later = [Verdict(text, Status.SKIPPED, after=first) for text in rest]
    return Report(exercise.name, (Verdict(first, status, sentence), *later))


def is_final(report: Report) -> bool:
    """Whether known mistakes could change nothing about a report: all is met, or nothing was attempted."""
    return report.passed or report.verdicts[0].status is Status.NOT_ATTEMPTED


def is_stub(error: object) -> bool:
    """Whether what was raised is what the untouched starter raises."""
    return isinstance(error, Raised) and error.type == _STUB


def _sentences(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.requirement for case in cases))


class _Lines:
    """One answer, requirement by requirement."""

    def __init__(self, exercise: Exercise, key: Key, seen: Sequence[Observation], text: Text) -> None:
        self.exercise, self.key, self.seen, self.text = exercise, key, seen, text
        self.parted = [
            part(exercise, case, right, mine) for case, right, mine in zip(key.cases, key.reference, seen, strict=True)
        ]
        self.sentences = _sentences(key.cases)
        self.cases = {
            text: [i for i, case in enumerate(key.cases) if case.requirement == text] for text in self.sentences
        }
        self.slips, spoiled = _slipped(exercise, key, self.parted, seen)
        for index in spoiled:
            self.parted[index] = Parting()
        self.excused: frozenset[Slip] = frozenset()
        first = self._wrong(self.sentences[0])
        forms = [self.parted[i].slips for i in first]
        if first and all(form is not None for form in forms):
            # The right values in another form: that costs the first requirement alone, and the others go on.
            self.excused = frozenset(slip for form in forms if form for slip in form)
        self.failed = [text for text in self.sentences if self._wrong(text)]

    @property
    def gate(self) -> str:
        """The requirement that all others wait for: the first, if it fails in more than form; none where it is met.

        An answer that fails the first check has not begun to work: later passes would be luck.
        """
        first = self.sentences[0]
        open_ = not self._stops(first) or self.excused or self.exercise.independent
        return "" if open_ else first

    def verdicts(self) -> list[Verdict]:
        """One verdict per requirement: that of its first case which differs."""
        if self.gate:
            return [self._failed(self.gate), *(_waiting(text, self.gate) for text in self.sentences[1:])]
        return [self._verdict(text) for text in self.sentences]

    def _verdict(self, text: str) -> Verdict:
        awaited = self._awaits(text)
        if awaited:
            return _waiting(text, awaited)
        return self._failed(text) if text in self.failed else Verdict(text, Status.PASS)

    def _wrong(self, text: str) -> list[int]:
        """The cases that show a fault in what the requirement is about, or else in what it stands on."""
        own = [i for i in self.cases[text] if self.parted[i].own and not self._excuses(i, text)]
        return own or [i for i in self.cases[text] if self.parted[i].given and not self._excuses(i, text)]

    def _excuses(self, index: int, text: str) -> bool:
        form = self.parted[index].slips
        return text != self.sentences[0] and form is not None and form <= self.excused

    def _awaits(self, text: str) -> str:
        """The requirement that this one waits for; none where it can be judged."""
        needed = [other.sentence for other in self.exercise.requirements[text].needs]
        if unmet := next((other for other in needed if self._stops(other) and not self._differs_in_form(other)), ""):
            return unmet
        wrong = self._wrong(text)
        if not wrong or any(self.parted[i].own for i in wrong):
            return ""
        facets = {facet for i in wrong for facet in self.parted[i].facets}
        return next((other for other in self.failed if other != text and self._is_about(other, facets)), "")

    def _stops(self, text: str) -> bool:
        """Whether a requirement fails in more than a known slip, so that others have to wait for it."""
        return not self.slips.issuperset(self._wrong(text))

    def _differs_in_form(self, text: str) -> bool:
        """Whether the values are right wherever a requirement fails, in another form (a list where a tuple is due)."""
        return all(self.parted[i].slips is not None for i in self._wrong(text))

    def _is_about(self, text: str, facets: set[str]) -> bool:
        """Whether the requirement itself fails in one of these facets."""
        own = [self.parted[i].own for i in self._wrong(text)]
        return any(each is not None and (each.path[:1] == () or each.path[0] in facets) for each in own)

    def _failed(self, text: str) -> Verdict:
        wrong = self._wrong(text)
        index = wrong[0]
        difference, case, seen = self.parted[index].first, self.key.cases[index], self.seen[index]
        assert difference is not None
        tells, right = self.exercise.tells(text), self.key.reference[index]
        told = difference_messages.tell(self.exercise, tells, difference, right, seen)
        mistake = explanation(self.exercise, self.key, self.seen, self.text, wrong)
        return Verdict(
            requirement=text,
            status=Status.ERROR if "raised" in seen else Status.FAIL,
            sentence=mistake.sentence if mistake else told.sentence,
            mistake=mistake.tag if mistake else None,
            call=difference_messages.spelled(self.exercise, case),
            expected=told.expected,
            got=told.got,
            picture=told.picture,
            case=index,
        )


def _slipped(
    exercise: Exercise, key: Key, parted: Sequence[Parting], seen: Sequence[Observation]
) -> tuple[set[int], set[int]]:
    """The cases of the one requirement that a known slip costs, and those beside it whose numbers it spoils."""
    costs: set[int] = set()
    spoils: set[int] = set()
    for slip in (mistake for mistake in key.mistakes if mistake.slip):
        wrong = cases_wrong(exercise, key, slip)
        own = {i for i in wrong if key.cases[i].requirement == key.cases[wrong[0]].requirement}
        shown = {i for i in wrong if parted[i].first and same(exercise, slip.observations[i], seen[i])}
        if own <= shown:
            costs |= own
            spoils |= shown - own
    return costs, spoils


def _waiting(text: str, awaited: str) -> Verdict:
    return Verdict(text, Status.SKIPPED, after=awaited)


def _rule_verdicts(
    exercise: Exercise, key: Key, seen: Sequence[Observation], text: Text, verdicts: Sequence[Verdict]
) -> Iterator[Verdict]:
    """A verdict per rule, which says how a result is to be come by: it waits until half of the checks are met.

    A known mistake explains a broken rule only where nothing else went wrong.
    """
    unmet = [verdict.requirement for verdict in verdicts if verdict.status is not Status.PASS]
    many = 2 * len(unmet) > len(verdicts)
    names = text.broken
    known = [m for m in key.mistakes if m.rules == names and not unmet and shows(exercise, m, seen)] if names else []
    for rule in exercise.rules:
        if many:
            yield _waiting(rule.requirement, unmet[0])
        elif rule.name not in names:
            yield Verdict(rule.requirement, Status.PASS)
        else:
            mistake = known[0] if len(known) == 1 else None
            sentence = mistake.sentence if mistake else rule.sentence
            yield Verdict(rule.requirement, Status.FAIL, sentence, mistake.tag if mistake else None)
