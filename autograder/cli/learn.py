"""Draft an entry for the answer bank from a student's answer, and show what the checks say about it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.authoring.analyze_student_answer import AnswerAnalysis


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `learn`."""
    parser.add_argument("submission", type=Path, help="a notebook, or a student's folder of submitted/")
    parser.add_argument("exercise", help="the exercise, by its name")
    parser.add_argument("--name", action="append", default=[], help="a word that must not stay in the draft (repeat)")


def run(args: argparse.Namespace) -> int:
    """Run the answer, and print its analysis: reports, the nearest known mistakes, and the draft."""
    from autograder.authoring.analyze_student_answer import draft_entry_from_answer
    from autograder.course.course_location import find_course
    from autograder.sandbox.require_confinement import is_unconfined_allowed
    from autograder.terminal_text import replace_unprintable

    course = find_course(args.root)
    names = [*args.name, *_student(course, args.submission)]
    print(
        replace_unprintable(
            _rendered(
                draft_entry_from_answer(
                    course, args.submission, args.exercise, names, unconfined=is_unconfined_allowed()
                )
            )
        )
    )
    return 0


def _student(course: Path, submission: Path) -> list[str]:
    """Return the student's name from a path `submitted/STUDENT/...` in the course folder; [] for any other path."""
    handed_in, place = (course / "submitted").resolve(), submission.resolve()
    return [place.relative_to(handed_in).parts[0]] if handed_in in place.parents else []


def _rendered(found: AnswerAnalysis) -> str:
    """Return the analysis as text."""
    from autograder.notebook import report_rendering

    parts = ["On the cases that students see:", report_rendering.text(found.visible)]
    odd = [report for report in found.fresh if report.passed != found.visible.passed]
    if odd:
        parts.append(f"On {len(odd)} of {len(found.fresh)} draws of fresh cases the result is different:")
        parts.append(report_rendering.text(odd[0]))
    if found.near:
        close = ", ".join(f"{each.tag} ({each.same} of {each.cases})" for each in found.near)
        parts.append(f"Known mistakes with the same observations on cases where the answer is wrong: {close}")
    parts.append(found.advice)
    if found.entry:
        parts += [
            f"A draft for {found.bank}, after line {found.line}. Read it: nothing of its author may stay.",
            found.entry.rstrip(),
            f"Then `make build`, and `autograder prove {found.exercise}`.",
        ]
    return "\n\n".join(parts)
