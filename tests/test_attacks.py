"""The attacks: each file below `attacks/` is handed in as an answer, gets the points it earns, and does no harm.

The first lines of a file say what it tries, the `share` of the exercise's points that it gets (0, or 1 if the answer
itself is right), `says` with a part of the message that the student reads, and `others: any` if the attack may cost its
own student points of other exercises. A key with `Landlock` before it holds where Landlock confines, as in containers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from nbformat import NotebookNode

from autograder.course.chapter_judge import Judge
from autograder.diagnosis import difference_messages
from autograder.diagnosis.verdict import Status
from autograder.grading.grade_submission import grade, plan_submission
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.run_specification import CellStep, Limits, ProbeStep, Runner
from autograder.submission.read_submission import read_submission
from tests.attacks import on_stock, teacher_on_stock
from tests.cheats import FACTS_ALONE
from tests.conftest import UNCONFINED, needs_confinement
from tests.made_submissions import handed_in, released
from tests.sample_course import COURSE, sample_judge
from tests.small_chapter import PROJECT
from tests.walls import NAMESPACES, WALLS, stand_behind

# One after the other: an attack looks at what runs on the whole machine when it is over.
pytestmark = [pytest.mark.xdist_group("attacks"), pytest.mark.night]

TARGET, SEED = "standardize", 23
FOLDER = Path(__file__).parent / "attacks"
ATTACKS = sorted(FOLDER.glob("*/*.py"))
# Attacks that never end get one second of computing and four of waiting; the others get the limits of students.
SHORT, USUAL = Limits(time_factor=0.1), Limits()
# Attacks that end only at their time limit run in threads beside the others, and are examined last.
WAITING = [path for path in ATTACKS if path.stem in ("sleep", "stop_itself")]
IN_ORDER = [*(path for path in ATTACKS if path not in WAITING), *WAITING]
Graded = Callable[[Path], SubmissionVerdict]


@pytest.fixture(scope="module")
def judge() -> Judge:
    """Return the judge of the sample chapter."""
    return sample_judge()


@pytest.fixture(scope="module")
def release(judge: Judge) -> NotebookNode:
    """Return a notebook as students get it."""
    return released(judge)


@pytest.fixture(scope="module", params=WALLS)
def wall(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the name of the wall that attacks run behind."""
    with pytest.MonkeyPatch.context() as patch:
        stand_behind(request.param, patch)
        yield request.param


@pytest.fixture(scope="module")
def confined(wall: str) -> Runner:
    """Return the runner that grades classes."""
    return make_submission_runner(COURSE.folder, UNCONFINED)


@pytest.fixture(scope="module")
def graded(judge: Judge, release: NotebookNode, confined: Runner, wall: str) -> Iterator[Graded]:
    """Yield a function that grades an attack and returns the verdict."""
    for name in judge.chapter.exercises:  # computed here, because the judge's keys are not safe for threads
        judge.keys.full_key(name, SEED)

    def now(attack: Path) -> SubmissionVerdict:
        limits = USUAL if told(attack, wall)["share"] == "1" else SHORT
        return grade(handed_in_with(attack, judge, release), release, judge, SEED, confined, limits)

    with ThreadPoolExecutor(len(WAITING)) as beside:
        waiting = {attack: beside.submit(now, attack) for attack in WAITING}
        yield lambda attack: waiting[attack].result() if attack in waiting else now(attack)


def handed_in_with(attack: Path, judge: Judge, release: NotebookNode) -> bytes:
    """Return a submission of the worked solutions, with an attack in place of one."""
    answers = {name: judge.chapter.solution(name) for name in judge.chapter.exercises}
    return handed_in(release, answers | {TARGET: attack.read_text(encoding="utf-8")})


def told(attack: Path, wall: str = NAMESPACES) -> dict[str, str]:
    """Return the keys in the first lines of an attack, as they hold behind a wall."""
    return on_stock.told(attack.read_text(encoding="utf-8"), wall)


def outside() -> dict[str, tuple[int, int]]:
    """Return size and change time of each file of the course and the package, which no submission may change.

    Unlike the modification time, no program can set the change time back.
    """
    files = [path for part in ("course", "autograder") for path in (PROJECT / part).rglob("*")]
    kept = [path for path in files if "__pycache__" not in path.parts and path.is_file()]
    return {str(path): (found.st_size, found.st_ctime_ns) for path in kept for found in [path.stat()]}


def left_running() -> list[str]:
    """Return the command lines of processes that an attack left running."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(path.read_text())
        except OSError:
            continue
    return [command for command in commands if "4242.4242" in command]


@pytest.mark.parametrize("bank", [on_stock, teacher_on_stock], ids=["answers", "files"])
def test_documents_hold_the_tables(bank: ModuleType) -> None:
    """docs/attacks.md contains the tables of the last measurement, with a row for each attack."""
    table = bank.table(json.loads(bank.RESULTS.read_text(encoding="utf-8")))

    assert table in (PROJECT / "docs" / "attacks.md").read_text(encoding="utf-8")
    assert all(f"| {Path(name).name} |" in table for name in bank.attacks())


def test_security_names_what_facts_alone_can_earn() -> None:
    """docs/security.md makes no promise for exercises in which a replaced probe earns points."""
    text = (PROJECT / "docs" / "security.md").read_text(encoding="utf-8")
    promised = text.partition("**Facts that stand alone.**")[2].partition("\n- **")[0]

    assert [] == [name for name in FACTS_ALONE if f"`{name}`" not in promised]


def test_there_are_many() -> None:
    """The bank holds at least sixty attacks, and each states its purpose and its share."""
    assert len(ATTACKS) >= 60
    assert all(path.read_text().startswith("# Tries to ") and told(path)["share"] in "01" for path in ATTACKS)


def test_messages_name_the_steps_of_the_target(judge: Judge, release: NotebookNode) -> None:
    """Step numbers in forged messages are those that run and probe the attacked exercise."""
    steps = plan_submission(
        read_submission(handed_in_with(ATTACKS[0], judge, release), release), judge, SEED
    ).program.steps

    assert isinstance(steps[10], CellStep) and isinstance(steps[11], ProbeStep)
    assert TARGET == steps[11].exercise


@needs_confinement
@pytest.mark.parametrize("attack", IN_ORDER, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_attack_gets_what_it_earns_and_reaches_nothing(attack: Path, graded: Graded, wall: str) -> None:
    """An attack gets its share and message, costs no other points, and changes nothing outside."""
    before, keys = outside(), told(attack, wall)

    verdict = graded(attack)

    report = verdict.report(TARGET)
    assert float(keys["share"]) == report.score, [each.sentence for each in report.verdicts]
    assert any(keys.get("says", "") in each.sentence for each in report.verdicts), report.verdicts[0].sentence
    assert all(len(each.sentence) <= difference_messages.MAX_MESSAGE_LENGTH for each in report.verdicts)
    assert keys.get("others") == "any" or not others_lost(verdict), others_lost(verdict)
    assert (before, []) == (outside(), left_running())
    assert not Path("/tmp/pickled").exists()


def others_lost(verdict: SubmissionVerdict) -> dict[str, str]:
    """Return the other exercises that did not pass, each with its first message."""
    return {
        report.exercise: next(each.sentence for each in report.verdicts if each.status is not Status.PASS)
        for report in verdict.reports
        if report.exercise != TARGET and not report.passed
    }


@needs_confinement
def test_next_submission_is_graded_as_ever(judge: Judge, release: NotebookNode, confined: Runner) -> None:
    """After an attack of each kind, the same processes give an honest submission full points."""
    for name in ("others/delete_interpreter", "judge/forged_pass", "machine/exit"):
        attack = handed_in_with(FOLDER / f"{name}.py", judge, release)
        grade(attack, release, judge, SEED, confined, SHORT)

    honest = {name: judge.chapter.solution(name) for name in judge.chapter.exercises}
    verdict = grade(handed_in(release, honest), release, judge, SEED, confined, USUAL)

    assert verdict.max_score == verdict.score
