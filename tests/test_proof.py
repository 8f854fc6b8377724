"""The proof of an exercise: whatever is missing is told in a line, with the file and what to write."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.__main__ import main
from autograder.authoring import check_declared_solution_time, surviving_mutants
from autograder.authoring.build_course import build
from autograder.authoring.mutation import Mutant
from autograder.authoring.proof import PROOF_SEEDS, Proof, prove
from autograder.authoring.proof_receipts import RECEIPTS_FILE, compute_receipt, read_committed_receipts
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.course import course_in
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import Exercise
from tests.proven_course import edit, make_proven_course
from tests.second_course import SENTENCE

BANK = "lessons/answers/week_ends/swap_ends.py"
FILE = "lessons/exercises/week_ends/swap_ends.py"
CELL = "lessons/chapters/week_ends.py:17"


@pytest.fixture
def parts(tmp_path: Path) -> ExerciseParts:
    """An exercise that is proven once the course is built."""
    return make_proven_course(tmp_path)


def told(parts: ExerciseParts) -> list[str]:
    """What is missing, beside a build."""
    return [line for line in prove(parts) if "autograder build" not in line]


class TestCommand:
    def test_a_proven_exercise(
        self, parts: ExerciseParts, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Built, nothing is missing: the command says so, and writes the receipt."""
        project = parts.course.parent
        build(project)
        # As if the command were a process of its own.
        monkeypatch.setattr(course_in(parts.course), "begun", time.time())

        assert main(["--root", str(project), "prove", "swap_ends"]) == 0
        assert "swap_ends: proven in" in capsys.readouterr().out
        assert read_committed_receipts(parts.course) == {"swap_ends": compute_receipt(parts)}

    def test_what_was_written_meanwhile_has_no_receipt(
        self, parts: ExerciseParts, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The files are younger than this process's first look at the course: perhaps it has read older ones."""
        project = parts.course.parent
        build(project)

        assert main(["--root", str(project), "prove", "swap_ends"]) == 0
        assert "swap_ends: but something of it was written meanwhile; prove it once more." in capsys.readouterr().out
        assert not (parts.course / RECEIPTS_FILE).exists()

    def test_what_is_missing_is_counted(self, parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
        """Each thing has a line, and the exercise gets no receipt."""
        edit(parts.bank, "You turn the whole row round.", "TO WRITE: what it does.")
        edit(parts.exercise, "draw.whole(4, 7)", "draw.whole(4, 7)  # TO WRITE: why")

        assert main(["--root", str(parts.course.parent), "prove", "swap_ends"]) == 1
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 3 and lines[-1] == "swap_ends: 2 things are missing."
        assert not (parts.course / RECEIPTS_FILE).exists()

    def test_an_unknown_exercise(self, parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
        """Before anything is proven, one line names the nearest exercise."""
        assert main(["--root", str(parts.course.parent), "prove", "swap_ends", "swap_end"]) == 1
        told = capsys.readouterr()

        assert ("", "error: there is no exercise called 'swap_end'. Did you mean 'swap_ends'?\n") == (
            told.out,
            told.err,
        )


class TestParts:
    def test_without_a_bank(self, parts: ExerciseParts) -> None:
        """The file to write is named."""
        parts.bank.unlink()

        assert [f'{BANK}: not there; write `bank = AnswerBank("swap_ends")`, wrong and right answers.'] == prove(parts)

    def test_without_a_file(self, parts: ExerciseParts) -> None:
        """The mirror of a bank is its exercise's file."""
        parts.exercise.unlink()

        assert [f"{FILE}: not there; write the requirements, cases and hints of 'swap_ends'."] == prove(parts)

    def test_without_cells(self, parts: ExerciseParts) -> None:
        """File and bank of an exercise that the chapter does not have are both named."""
        edit(parts.chapter, 'exercise="swap_ends"', 'exercise="swap"')
        edit(parts.chapter, "def swap_ends", "def swap")
        edit(
            parts.chapter,
            'check="swap_ends" points=2\ncheck("swap_ends", swap_ends)',
            'check="swap" points=2\ncheck("swap", swap)',
        )

        where = "lessons/chapters/week_ends.py"
        assert [
            f"{FILE}: {where} has no exercise 'swap_ends'; "
            'write its cells there, exercise="swap_ends" and check="swap_ends", or delete the file.',
            f"{BANK}: answers to 'swap_ends', which is no exercise of {where} (is it 'swap'?); "
            "rename or delete the file.",
        ] == [line.replace(str(parts.course.parent.name) + "/", "") for line in prove(parts)]

    def test_a_slip_in_a_file(self, parts: ExerciseParts) -> None:
        """A name that is nowhere defined is told with file and line, not by a traceback."""
        edit(parts.exercise, "yield ends(", "yield end(")

        (line,) = prove(parts)
        assert "NameError: name 'end' is not defined" in line and line.startswith(str(parts.exercise))

    def test_without_hints(self, parts: ExerciseParts) -> None:
        """What to write is said."""
        edit(parts.exercise, ', hints=("Which numbers stay?", "`row.clone()` may be written into.")', "")

        (line,) = prove(parts)
        assert line.startswith(f"{parts.exercise}: swap_ends: expected at least one hint, found none. Write hints=")


class TestCases:
    def test_a_requirement_that_no_case_shows(self, parts: ExerciseParts) -> None:
        """It is found in the file, also inside a table."""
        edit(
            parts.exercise,
            "\n\n@exercise",
            '\nTABLE = {"a": Requirement("is never shown", untouched())}\n\n\n@exercise',
        )

        assert [
            f"{FILE}: no case shows the requirement 'is never shown' (TABLE); yield one, or take the requirement out."
        ] == told(parts)

    def test_a_case_for_no_requirement(self, parts: ExerciseParts) -> None:
        """A sentence alone is no requirement."""
        edit(parts.exercise, "    yield between", '    yield Case("is new", draw.normal(3))\n    yield between')

        (line,) = prove(parts)
        assert line.startswith(f"{parts.exercise}: expected each case to be made by a requirement, found 'is new'.")

    def test_cases_that_are_always_the_same(self, parts: ExerciseParts) -> None:
        """What is random comes from `draw`."""
        edit(parts.exercise, "ends(draw.normal(2))", "ends(Draw(3).normal(2))")
        edit(parts.exercise, "between(draw.normal(draw.whole(4, 7)))", "between(Draw(3).normal(5))")

        assert f"{FILE}: every seed draws the same cases; take their numbers from `draw`." in told(parts)

    def test_a_seed_with_a_requirement_of_its_own(self, parts: ExerciseParts) -> None:
        """Fresh cases ask for what the visible ones ask for."""
        edit(parts.exercise, "    yield between", "    if draw.whole(0, 1):\n        return\n    yield between")

        assert any("other requirements; yield cases for the same ones, in one order." in line for line in told(parts))


class TestTime:
    @pytest.mark.parametrize(
        ("declared", "taken", "line"),
        [
            ("", 0.5, ""),
            ("", 0.7, "the solution takes 0.7 s on the visible cases, where takes=0.3 is declared: a notebook would"),
            (", takes=1.0", 1.9, ""),
            (", takes=1.0", 2.2, "would stop answers too soon. Write takes=3, or make the cases smaller."),
            (", takes=1.0", 0.05, ""),
            (", takes=1.0", 0.02, "the solution takes 0.02 s on the visible cases; take takes=1 out."),
        ],
    )
    def test_what_is_declared_holds(
        self, parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch, declared: str, taken: float, line: str
    ) -> None:
        """A notebook's check waits by what the exercise declares: too little is told, and what need not be declared."""
        edit(parts.exercise, "seconds=3", f"seconds=3{declared}")
        monkeypatch.setattr(check_declared_solution_time, "_taken", lambda judge, name: taken)

        assert [line] * bool(line) == [line if line in each else each for each in told(parts)]

    def test_only_computing_is_timed(self, parts: ExerciseParts) -> None:
        """On a busy machine the solution waits for others."""
        edit(parts.chapter, "    return row[order]", "    import time; time.sleep(0.2)\n    return row[order]")

        assert check_declared_solution_time._taken(Judge(parts.course, parts.stem), "swap_ends") < 0.2


class TestAnswers:
    def test_a_solution_that_fails(self, parts: ExerciseParts) -> None:
        """Nothing else is looked at: everything would be held against it."""
        edit(parts.chapter, "    return row[order]", "    return row[order] * torch.rand(1)")

        (line,) = told(parts)
        assert line.startswith(f"{CELL}: on the visible cases the solution fails 'swaps the ends'")

    def test_a_solution_that_raises(self, parts: ExerciseParts) -> None:
        """It is told with the chapter's line."""
        edit(parts.chapter, "    return row[order]", "    return row[nothing]")

        (line,) = prove(parts)
        assert ":17: the solution of 'swap_ends' raised NameError: name 'nothing' is not defined" in line

    def test_a_wrong_answer_with_full_points(self, parts: ExerciseParts) -> None:
        """The cases cannot see it."""
        edit(parts.bank, "    return row.flip(0)", "    return torch.cat([row[-1:], row[1:-1], row[:1]]).clone()")

        assert [
            f"{BANK}: the wrong answer 'turned-round' has full points on the visible cases; "
            f"add a case to {FILE} that refuses it."
        ] == told(parts)

    def test_two_mistakes_that_look_the_same(self, parts: ExerciseParts) -> None:
        """Neither can be told by its own sentence: each line names the other."""
        edit(parts.bank, "    return torch.cat([row[1:], row[:1]])", "    return torch.flip(row, dims=(0,))")

        lines = told(parts)
        apart = "on the visible cases; take it out, or add a case that tells them apart."
        assert len(lines) == 2 and all(line.endswith(apart) for line in lines)
        for line, other in zip(lines, ("first-only", "turned-round"), strict=True):
            assert f"shows the same as {other!r} " in line

    def test_points_for_what_is_shipped(self, parts: ExerciseParts) -> None:
        """Who repeats what the reference shows on the visible cases earns nothing on fresh ones."""
        edit(parts.exercise, "ends(draw.normal(2))", "ends(torch.tensor([1.0, 2.0]))")
        edit(
            parts.exercise,
            "from autograder.exercises.seeded_draw",
            "import torch\n\nfrom autograder.exercises.seeded_draw",
        )

        (line,) = told(parts)
        assert line.startswith(f"{FILE}: who repeats what is shipped passes ['swaps the ends'] (seed 4101);")

    def test_a_sentence_of_another_mistake(self, parts: ExerciseParts) -> None:
        """Were it unknown, it would be told what may be false of it; `also` says that it is true."""
        fives = """

@bank.wrong("turned-fives", "You turn rows of five.")
def swap_ends(row):
    return row.flip(0) if len(row) == 5 else torch.cat([row[-1:], row[1:-1], row[:1]])


@bank.right("""
        more = "    yield between(draw.normal(5))\n" * 2
        edit(parts.exercise, "    yield between", more + "    yield between(draw.normal(7))\n    yield between")
        edit(parts.bank, "\n\n@bank.right(", fives)

        (line,) = told(parts)
        assert line.startswith(
            f"{BANK}: if it were not in the bank, 'turned-round' would get the sentence of 'turned-fives'"
        )

    def test_names_that_are_not_there(self, parts: ExerciseParts) -> None:
        """A facet of which no requirement tells, and a tag of no other answer."""
        edit(
            parts.bank,
            '@bank.wrong("first-only", "You move the first number and forget the last one.")',
            '@bank.told("first-only", "outputs", also=("nothing",))',
        )

        assert [
            f"{BANK}: 'first-only' has the facet 'outputs'; the facets with a message are: ['inputs'].",
            f"{BANK}: 'first-only' names 'nothing' in `also`, which is no other wrong answer; take it out.",
        ] == told(parts)[:2]

    def test_a_right_answer_that_is_refused(self, parts: ExerciseParts) -> None:
        """With the requirement that refuses it."""
        edit(parts.bank, "    out[0], out[-1] = row[-1], row[0]", "    out[0] = row[-1]")

        (line,) = told(parts)
        assert line.startswith(f"{BANK}: the right answer 'clone' is refused on the visible cases by 'swaps the ends'")

    def test_an_answer_that_uses_what_the_setup_cell_has_not(self, parts: ExerciseParts) -> None:
        """A student's notebook has only what its setup cell imports."""
        edit(parts.bank, "import torch\n", "import torch\nfrom math import inf\n")
        edit(
            parts.bank,
            "def swap_ends(row):\n    return row.flip(0)",
            "def swap_ends(row, least=inf):\n    return row.flip(0)",
        )

        assert [
            f"{BANK}: the wrong answer 'turned-round' cannot be run below the setup cell "
            "(NameError: name 'inf' is not defined); use what that cell imports."
        ] == told(parts)

    def test_a_thoughtless_answer_with_points(self, parts: ExerciseParts) -> None:
        """The first requirement refuses whoever has not begun."""
        edit(parts.exercise, "yield ends(draw.normal(2))", "yield ends(draw.normal(1))")

        assert f"{FILE}: returning the first argument earns points; let the first requirement refuse it." in told(parts)

    def test_a_mutant_that_nothing_refuses(self, parts: ExerciseParts) -> None:
        """It needs a case, or a reason; one that is listed and refused is taken out."""
        edit(parts.bank, '"row -> order (3)"', '"row -> order"')

        assert [
            f"{FILE}: nothing refuses the solution with `row -> order (3)`; add a case that does, "
            f"or list it with the reason in bank.survives of {BANK}.",
            f"{BANK}: `row -> order` is listed as a survivor and does not survive; take it out.",
        ] == told(parts)

    @pytest.mark.parametrize(("seeds", "number"), [(PROOF_SEEDS, 4), (PROOF_SEEDS[:2], 2)])
    def test_a_listed_survivor_runs_on_fresh_cases_where_all_is_proven(
        self, parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch, seeds: tuple[int, ...], number: int
    ) -> None:
        """It passes them all, which takes time; on fewer seeds it runs on the visible cases, and any other on all."""
        ran: dict[str, int] = {}

        def survives(exercise: Exercise, mutant: Mutant, expected: Sequence[object], *others: Any) -> bool:
            ran[mutant.change] = len(expected)
            return bool(run(exercise, mutant, expected, *others))

        run: Any = surviving_mutants.mutant_survives
        monkeypatch.setattr(surviving_mutants, "mutant_survives", survives)
        lines = [line for line in prove(parts, seeds) if "autograder build" not in line]

        assert [] == lines and number == ran.pop("row -> order (3)") and {4} == set(ran.values())

    @pytest.mark.parametrize(("seeds", "expected"), [(PROOF_SEEDS, {*PROOF_SEEDS}), (PROOF_SEEDS[:2], {VISIBLE_SEED})])
    def test_fresh_cases_are_left_to_the_graded_class_unless_all_is_proven(
        self, parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch, seeds: tuple[int, ...], expected: set[int]
    ) -> None:
        """Solution and right answers are run on the visible ones alone; a starter, which takes no time, on all."""
        ran: dict[bool, set[int]] = {True: set(), False: set()}
        report = Proof.report

        def noting(proof: Proof, cell: str, seed: int) -> Report:
            ran["NotImplementedError" in cell].add(seed)
            return report(proof, cell, seed)

        monkeypatch.setattr(Proof, "report", noting)
        lines = [line for line in prove(parts, seeds) if "autograder build" not in line]

        assert ([], {False: expected, True: {*seeds}}) == (lines, ran)


class TestForm:
    @pytest.mark.parametrize(
        ("old", "new", "line"),
        [
            ("You turn", "you turn", "the sentence of 'turned-round' begins with 'y'; begin with a capital letter"),
            ('change places.")', 'change places")', "the sentence of 'turned-round' ends in 's'; end it with a full"),
            ("whatever these are.", "whatever these are", "the survivor 'row -> order (3)' has the reason"),
            ("You move the first number and forget the last one.", SENTENCE, "'first-only' and 'turned-round' have"),
            ('@bank.right("pieces")', '@bank.wrong("pieces", "It is right.")', "1 right answer, where a warm-up"),
        ],
    )
    def test_a_bank_that_is_not_in_form(self, parts: ExerciseParts, old: str, new: str, line: str) -> None:
        """Numbers, sentences and reasons."""
        edit(parts.bank, old, new)

        assert any(each.startswith(f"{BANK}: {line}") for each in told(parts)), told(parts)

    def test_hints_that_are_not_in_form(self, parts: ExerciseParts) -> None:
        """Two or three, all different."""
        edit(parts.exercise, '"`row.clone()` may be written into."', '*["Which numbers stay?"] * 3')

        assert [
            f"{FILE}: 4 hints; write two or three, from a nudge to nearly there.",
            f"{FILE}: two hints are alike; let each lead on from the one before.",
        ] == told(parts)

    @pytest.mark.parametrize(
        ("old", "new", "line"),
        [
            (
                '{"inputs":',
                '{"input":',
                f"{FILE}: 'leaves what is between' has a message for 'input', which no probe observes",
            ),
            ('tier="warm-up"', 'tier="warm"', "expected a tier of 'warm-up', 'core', 'stretch', found 'warm'"),
        ],
    )
    def test_an_exercise_that_is_not_in_form(self, parts: ExerciseParts, old: str, new: str, line: str) -> None:
        """What is told of something seen, a tier."""
        edit(parts.exercise, old, new)

        assert any(line in each for each in told(parts)), told(parts)

    def test_a_probe_that_gives_no_dict(self, parts: ExerciseParts) -> None:
        """An observation has a name for each thing seen."""
        edit(parts.exercise.with_name("_watching.py"), "return make_call_probe()", "return lambda answer, case: True")

        assert any("to give a dict of what it sees, found bool" in each for each in told(parts)), told(parts)

    def test_a_facet_without_words(self, parts: ExerciseParts) -> None:
        """What a probe sees has words of its own: its name says nothing to a student."""
        told_more = 'return lambda answer, case: make_call_probe()(answer, case) | {"order": 1}'
        edit(parts.exercise.with_name("_watching.py"), "return make_call_probe()", told_more)

        assert (
            f"{FILE}: 'swaps the ends' observes 'order' without a message for it; say in `tells` what should hold."
            in (told(parts))
        )
