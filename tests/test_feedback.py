"""Feedback in notebooks: a report as text and as HTML."""

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.notebook.html_markup import join
from autograder.notebook.report_rendering import Feedback, report_as_html, text
from tests import made


def test_text_tells_sentence_call_and_values() -> None:
    """The text version has message, call and values, as the HTML version."""
    told = text(made.report(made.forgets), ("Twice.",))

    for part in (
        "2 of 3 checks passed",
        "You leave out `plus`.",
        "double(torch.tensor(",
        "expected",
        "got",
        "hint(",
    ):
        assert part in told


def test_a_pass_offers_no_hint() -> None:
    """A passed report offers no hint."""
    told = report_as_html(made.report(made.reference), ("Twice.",))

    assert "all 3 checks passed" in told
    assert "Hint" not in told


def test_hints_are_folded_one_inside_the_other() -> None:
    """The second hint is folded inside the first one."""
    told = report_as_html(made.report(made.square), ("Twice.", "Use `*`."))

    assert told.index("Twice.") < told.index("Another hint") < told.index("<code>*</code>")
    assert 2 == told.count("<details")


def test_what_a_student_wrote_turns_nothing_around() -> None:
    """Control characters and direction marks are replaced, and letters of all languages stay."""
    assert "a\ufffdb\ufffd[2J\ufffd שלום\n" == join("a\u202eb\x1b[2J\u2067 שלום\n")


def test_what_a_student_wrote_is_escaped() -> None:
    """Markup in values is escaped."""
    verdict = Verdict(
        "works <b>", Status.FAIL, "got `<img src=x>`", call="<script>", got="</div><script>alert(1)</script>"
    )
    told = report_as_html(Report("<script>", (verdict,)))

    assert "<script" not in told
    assert "<img" not in told
    assert "<b>" not in told


def test_a_sentence_is_told_once() -> None:
    """A message that several checks share appears once."""
    verdicts = tuple(Verdict(name, Status.FAIL, "You square.") for name in ("one", "two"))

    assert 1 == text(Report("double", (Verdict("zero", Status.PASS), *verdicts))).count("You square.")


def test_the_picture_frames_what_differs() -> None:
    """Differing cells are marked by frame and weight, not only by color."""
    told = report_as_html(made.report(made.square))

    assert "border:2px" in told
    assert "font-weight:700" in told


def test_a_notebook_gets_both_forms() -> None:
    """The displayed object has HTML and text versions."""
    shown = Feedback(made.report(made.square), ("Twice.",))

    assert shown._repr_html_().startswith("<div")
    assert "You square instead of doubling." in repr(shown)


def test_a_note_is_shown() -> None:
    """A right answer's note is in the text and in the HTML."""
    assert "Note: Right; one `add` is enough." in text(made.report(made.roundabout))
    assert "Note: Right; one <code>add</code> is enough." in report_as_html(made.report(made.roundabout))
    assert "Note" not in text(made.report(made.reference)) + report_as_html(made.report(made.reference))
