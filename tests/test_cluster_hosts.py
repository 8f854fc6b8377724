"""A Dask cluster of separate hosts with TLS: verdicts stay the same if hosts die, are cut off or are slow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.authoring.example_class import copy_files_for_grading
from autograder.authoring.example_students import ExampleClassMaker
from autograder.grading import dask_cluster, verdict_store
from autograder.grading.assignment import read_assignment
from autograder.grading.assignment_grader import get_grader
from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED, needs_confinement
from tests.hosts import Host, network, no_hosts
from tests.processes import PYTHONPATH
from tests.sample_course import STEM
from tests.small_chapter import SAMPLE

SEED, MOST = 77, 16
PORT = 8786
HOSTS = ("teacher", "scheduler", "first", "second", "third")

pytestmark = [
    needs_confinement,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.skipif(no_hosts() is not None, reason=f"there can be no hosts here: {no_hosts()}"),
    pytest.mark.night,
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder with the submissions of a class."""
    course = tmp_path_factory.mktemp("hosts") / "course"
    copy_files_for_grading(SAMPLE, course, STEM)
    NbgraderCycle(course, STEM).generate()
    made_from = get_grader(read_assignment(course, STEM, unconfined=UNCONFINED))
    for student in list(ExampleClassMaker(made_from.judge, made_from.release).students(mishaps=False))[:MOST]:
        folder = course / "submitted" / student.name / STEM
        folder.mkdir(parents=True)
        (folder / student.filename).write_bytes(student.data)
    return course


@pytest.fixture(scope="module")
def expected(course: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the verdicts of an undisturbed run on one machine."""
    alone = Path(shutil.copytree(course, tmp_path_factory.mktemp("alone") / "course"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED))
        cycle = NbgraderCycle(alone, STEM)
        assert {} == cycle.autograde(
            cycle.students(), how=GradingOptions(workers=WorkerOptions(count=1, stays=True), unconfined=UNCONFINED)
        )
    return verdicts(alone)


def verdicts(course: Path) -> dict[str, bytes]:
    """Return the content of each student's verdict file without its gradebook mark."""
    found = (course / "verdicts" / STEM).glob("[!.]*.json")
    return {path.name: json.dumps(json.loads(path.read_text())["verdict"]).encode() for path in found}


def verdict_times(course: Path) -> dict[str, int]:
    """Return the modification time of each verdict file that is recorded in the gradebook."""
    found = (course / "verdicts" / STEM).glob("[!.]*.json")
    return {path.name: path.stat().st_mtime_ns for path in found if json.loads(path.read_text())["recorded"]}


class Cluster:
    """A scheduler and workers on hosts without the course, and a teacher's host with it."""

    def __init__(self, hosts: tuple[Host, ...], course: Path, folder: Path) -> None:
        self.teacher, self.scheduler, *self.workers = hosts
        self.course, self._folder = course, folder
        security = dask_cluster._secret(folder)
        # Short timeouts for hosts that do not answer; the defaults are minutes.
        self._env = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "4s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
        self._env |= {verdict_store.SEED_VARIABLE: str(SEED), "PYTHONPATH": PYTHONPATH}
        for side in ("client", "scheduler", "worker"):
            self._env[f"DASK_DISTRIBUTED__COMM__TLS__{side.upper()}__KEY"] = str(folder / "key.pem")
            self._env[f"DASK_DISTRIBUTED__COMM__TLS__{side.upper()}__CERT"] = str(folder / "certificate.pem")
        self._env["DASK_DISTRIBUTED__COMM__TLS__CA_FILE"] = security.tls_ca_file
        self._env["DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION"] = "true"
        self.address = f"tls://{self.scheduler.address}:{PORT}"

    def start(self) -> None:
        """Start the scheduler, and a worker on each of the other hosts."""
        here = ["--host", self.scheduler.address, "--port", str(PORT), "--no-dashboard"]
        self._start(self.scheduler, "distributed.cli.dask_scheduler", *here)
        for host in self.workers:
            place = ["--host", host.address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
            local = ["--local-directory", str(self._folder / host.name)]
            self._start(host, "distributed.cli.dask_worker", self.address, *place, *local)

    def grade(self) -> subprocess.Popen[str]:
        """Start grading on the teacher's host."""
        return self._start(self.teacher, "autograder", "grade", STEM, "--scheduler", self.address)

    def _start(self, host: Host, *arguments: str) -> subprocess.Popen[str]:
        log = self._folder / f"{host.name}.log"
        where = self.course if host is self.teacher else self._folder
        return host.start([sys.executable, "-P", "-m", *arguments], log, where, self._env)

    def wait_for(self, number: int, grading: subprocess.Popen[str]) -> None:
        """Wait until this many verdicts exist."""
        end = time.monotonic() + 200
        while len(verdicts(self.course)) < number:
            assert time.monotonic() < end and grading.poll() is None, self.told()
            time.sleep(0.05)

    def has_shown_progress(self, size: int) -> bool:
        """Return whether the progress bar went from 0 to all, with a step between."""
        shown = set(re.findall(rf"(\d+)/{size} ", (self._folder / f"{self.teacher.name}.log").read_text()))
        return len(shown) > 2 and {"0", str(size)} <= shown

    def told(self) -> str:
        """Return the end of each host's log."""
        logs = sorted(self._folder.glob("*.log"))
        return "\n".join(f"--- {log.stem}\n{log.read_text()[-2000:]}" for log in logs)


@pytest.fixture
def dask(course: Path, tmp_path: Path) -> Iterator[Cluster]:
    """Yield a running cluster; on the workers' hosts, the course's folder is empty."""
    mine = Path(shutil.copytree(course, tmp_path / "course"))
    folder = tmp_path / "cluster"
    folder.mkdir()
    with network(*HOSTS, hidden={name: [mine] for name in HOSTS[1:]}) as hosts:
        made = Cluster(hosts, mine, folder)
        made.start()
        yield made


def test_hosts_that_die_are_cut_off_or_are_slow_cost_nothing(dask: Cluster, expected: dict[str, bytes]) -> None:
    """All verdicts are the same although one worker dies, one is cut off and one is slow."""
    dying, lonely, slow = dask.workers
    slow.slow_down("4mbit")
    grading = dask.grade()
    dask.wait_for(2, grading)
    dying.die()
    dask.wait_for(4, grading)
    lonely.cut_off()

    assert 0 == grading.wait(300), dask.told()
    assert expected == verdicts(dask.course)
    assert dask.has_shown_progress(len(expected))


def test_scheduler_that_dies_costs_nothing_that_was_graded(dask: Cluster, expected: dict[str, bytes]) -> None:
    """If the scheduler dies, the command fails, keeps its verdicts, and continues with a new one."""
    for each in dask.workers:
        each.slow_down("2mbit")  # so that work is left when the scheduler dies
    grading = dask.grade()
    dask.wait_for(1, grading)
    for each in (dask.scheduler, *dask.workers):
        each.die()

    assert 1 == grading.wait(300), dask.told()
    assert "What was graded is kept: run the command again." in dask.told(), dask.told()
    kept = verdict_times(dask.course)
    assert 0 < len(kept) < len(expected)

    dask.start()
    assert 0 == dask.grade().wait(300), dask.told()
    assert expected == verdicts(dask.course)
    assert kept.items() <= verdict_times(dask.course).items()
    assert dask.has_shown_progress(len(expected))
