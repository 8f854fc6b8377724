"""The search for bug hunts: edits of one line, other names, and the line at fault."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

from autograder.__main__ import main
from autograder.authoring import generate_single_line_edits
from autograder.authoring.generate_bug_hunts import find_hunts, single_line_difference, why_exercise_has_no_hunts
from autograder.authoring.match_program_to_mistake import ProgramMistakeMatcher
from autograder.authoring.rename_hunt_variables import rename_program, synonyms_for_variables
from autograder.authoring.write_hunts import (
    digest_of_hunt_sources,
    exercises_with_outdated_hunts,
    recheck_hunts_in_new_process,
)
from autograder.course.chapter_judge import Judge
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.exercises.leaked_dispatch_modes import active_mode_count
from autograder.files import write_all
from autograder.questions.bug_hunt_file import ExerciseHunts, encode_hunts, hunts_path, read_hunts
from autograder.questions.find_distractors import mistakes_excluded_by
from tests.small_chapter import PROJECT, SAMPLE

# A time limit may come where the interpreter tidies up, which can only report it.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

SCALE = """\
def scale(x, dim):
    mean = x.mean(dim)
    spread = x.std(dim)
    return {
        "centered": x - mean,
        "spread": spread,
    }
"""

FIRST, SECOND = '        "centered": x - mean,\n', '        "spread": spread,\n'


def lines_of(edits: object) -> list[str]:
    """Return the edited line of each edit."""
    return [edit.text.splitlines()[edit.line - 1].strip() for edit in edits]  # type: ignore[attr-defined]


def test_editable_lines() -> None:
    """A signature and a lone bracket are no lines to change; an entry of a dictionary is one."""
    assert generate_single_line_edits.editable_lines(SCALE) == [2, 3, 4, 5, 6]


def test_a_replacement_binds_what_the_line_has_bound() -> None:
    """A line that would bind another name, or leave a variable without use, writes around the others."""
    pool = ["mean = x.mean(dim, keepdim=True)", "spread = x.std()", "mean, spread = x, x", "mean = y.mean(dim)"]

    assert lines_of(generate_single_line_edits.replacements(SCALE, 2, pool)) == ["mean = x.mean(dim, keepdim=True)"]
    assert [] == lines_of(generate_single_line_edits.replacements(SCALE, 5, ['"centered": x - x.mean(dim),']))
    assert [] == list(generate_single_line_edits.removals(SCALE, 2))


def test_an_addition_reads_what_it_binds_anew() -> None:
    """A line may go on with a variable, but not compute it a second time."""
    found = list(generate_single_line_edits.additions(SCALE, 3, ["spread = spread + 1", "spread = x.var(dim)"]))

    assert [edit.text.splitlines()[3].strip() for edit in found] == ["spread = spread + 1"]


def test_mutations_keep_the_line_as_it_is_written() -> None:
    """A mutated line differs in the changed piece alone: its quotes and brackets stay."""
    found = lines_of(generate_single_line_edits.mutations(SCALE, 3))

    assert "spread = x.var(dim)" in found and "spread = x" in found
    assert (
        lines_of(generate_single_line_edits.programs_with_call_appended(SCALE, 3))[0] == "spread = x.detach().std(dim)"
    )


@pytest.mark.parametrize(
    ("wrong", "kind", "line"),
    [
        (SCALE.replace("x.std(dim)", "x.std()"), "change", 3),
        (SCALE.replace("    spread = x.std(dim)\n", ""), "add", 2),
        (SCALE.replace("    return", "    x = x + 1\n    return"), "remove", 4),
        (SCALE.replace(FIRST + SECOND, SECOND + FIRST), "move", 5),
    ],
)
def test_line_at_fault(wrong: str, kind: str, line: int) -> None:
    """One line may be changed, missing, too much, or at another place."""
    found = single_line_difference(wrong, SCALE)

    assert found is not None and found.kind == kind and found.text == wrong
    assert abs(found.line - line) <= (kind == "move")


def test_programs_that_differ_in_several_lines_have_no_line_at_fault() -> None:
    """Nothing is guessed."""
    assert single_line_difference(SCALE.replace("x.", "y."), SCALE) is None


def test_other_names() -> None:
    """Variables get other names, parameters and what nobody renames do not, and the answer is somebody's."""
    names = synonyms_for_variables([SCALE], ["torch"])
    text = rename_program(SCALE, names, "scale")

    assert names == {"mean": "average", "spread": "deviation"}
    assert text.startswith("def their_scale(x, dim):\n    average = x.mean(dim)\n    deviation = x.std(dim)")
    assert '"spread": deviation' in text
    assert synonyms_for_variables(["def f(average, losses):\n    mean = average\n    return f'{mean}'\n"], []) == {}


def test_no_edit_takes_an_object_for_one_of_its_values() -> None:
    """`self.x[self]` asks itself for an index, again and again, and torch hides the error that would end it."""
    text = "class Rows:\n    def row(self, i):\n        at = i + 1\n        return self.x[at - i]\n"

    assert "return self.x[at - at]" in (found := lines_of(generate_single_line_edits.mutations(text, 4)))
    assert [] == [line for line in found if "self " in line or "self]" in line]


MODE = """\
def count_syncs(fn):
    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            super().__init__()
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return []
"""


def test_a_program_leaves_no_mode_behind() -> None:
    """One that breaks the end of its own mode fails, and what is computed later does not pass through the mode."""
    runs = ProgramMistakeMatcher(
        Judge((PROJECT / "course").resolve(), "ch05c_time_and_memory", only="count_syncs"), "count_syncs"
    )

    assert not runs.passes(MODE) and runs.mistake_shown(MODE) is None and 0 == active_mode_count()
    assert runs.passes(runs.solution)


@pytest.mark.parametrize(
    ("stem", "name", "told"),
    [
        ("ch01b_broadcasting", "add_bias", "a hunt needs a line at fault, two others"),
        ("ch05a_devices", "make_agnostic", "its right programs have 44 lines and more, and a hunt has 34 at most"),
    ],
)
def test_why_an_exercise_has_none(stem: str, name: str, told: str) -> None:
    """What is too short or too long can have no hunt, and the command says which it is."""
    assert why_exercise_has_no_hunts(
        ProgramMistakeMatcher(Judge((PROJECT / "course").resolve(), stem, only=name), name)
    ).startswith(told)


@cache
def judged() -> tuple[Judge, str]:
    """Return the judge of one exercise."""
    return Judge((PROJECT / "course").resolve(), "ch01c_reading_digits", only="standardize"), "standardize"


def test_false_sentences() -> None:
    """Of a mistake, the sentences of those that the bank calls true as well, or nearly equal, are not called false."""
    judge, name = judged()
    runs = ProgramMistakeMatcher(judge, name)
    known = runs.exercise, runs.key, runs.bank
    false = mistakes_excluded_by(*known, "no-eps")

    assert "dim-0-always" in false and "no-eps" not in false
    for answer in judge.banks[name]:
        if answer.also:
            assert not set(answer.also) & set(mistakes_excluded_by(*known, answer.tag))


@pytest.mark.night
def test_what_is_found_is_proven() -> None:
    """Each hunt fails as its mistake does, and no line that is offered beside the one at fault can be left out."""
    judge, name = judged()
    runs = ProgramMistakeMatcher(judge, name)
    hunts = find_hunts(runs)

    assert len(hunts) >= 15 and len({each.mistake for each in hunts}) >= 8
    for each in hunts:
        assert runs.shows_as(each.mistake, each.code) and not runs.passes(each.code)
        lines = each.code.splitlines()
        for row in each.others:
            assert each.kind == "add" or not runs.passes("\n".join([*lines[: row - 1], *lines[row:]]) + "\n")


@pytest.mark.night
def test_a_hunt_that_rests_on_a_program_before_it_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that shows its mistake only once another one has changed a class does not hold in a new process."""
    judge, name = judged()
    parts = ExerciseParts(judge.course, judge.chapter.stem, name)
    first, *_ = read_hunts(parts.course, parts.stem)[name].hunts
    leaning = replace(first, code=f"changed = torch.Tensor.changed\n{first.code}")
    monkeypatch.setattr(torch.Tensor, "changed", True, raising=False)

    assert ProgramMistakeMatcher(judge, name).shows_as(leaning.mistake, leaning.code)
    assert (first,) == recheck_hunts_in_new_process(parts, [first, leaning])


@pytest.mark.night
def test_command_searches_what_is_due(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Hunts as new as their bank are left alone; an exercise whose search fails is named, and costs no other."""
    shutil.copytree(SAMPLE, tmp_path / "sample")
    course, stem = tmp_path / "sample" / "course", "ch01_sample"
    parts = {name: ExerciseParts(course, stem, name) for name in exercises_with_outdated_hunts(course, stem)}
    parts["add_bias"].bank.write_text("bank = (")
    others = parts.keys() - {"add_bias", "standardize"}
    known = {name: ExerciseHunts(digest_of_hunt_sources(parts[name]), {}, ()) for name in others}
    write_all({hunts_path(course, stem): encode_hunts(known)})

    assert main(["--root", str(course.parent), "hunts"]) == 1
    told = capfd.readouterr().out
    assert "add_bias: the search failed (exit code 1)" in told and "standardize: 6 hunts" in told
    assert "one_hot" not in told and exercises_with_outdated_hunts(course, stem) == ["add_bias"]
    assert main(["--root", str(course.parent), "hunts", "first_and_rest"]) == 0
    assert "first_and_rest: no hunts: a hunt needs a line at fault" in capfd.readouterr().out
