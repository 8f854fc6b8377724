import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from autograder.workspace.jupyterlab import DEFAULT_PORT
from tests import suite
from tests.small_chapter import PROJECT

SETTINGS: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())
ENVIRONMENT: dict[str, Any] = yaml.safe_load((PROJECT / "environment.yml").read_text())
OLDEST, BEYOND = (int(bound) for bound in re.findall(r"3\.(\d+)", SETTINGS["project"]["requires-python"]))
VERSIONS = f"3.{OLDEST} to 3.{BEYOND - 1}"
LOCK = [line for line in (PROJECT / "requirements.lock").read_text().split("\n") if line and line[0] != "#"]
PINNED = {canonicalize_name(line.split("==")[0]): Version(line.split("==")[1]) for line in LOCK}


def extras(name: str) -> list[Requirement]:
    """Return the requirements of an extra, including those of extras that it names."""
    found: list[Requirement] = []
    for requirement in map(Requirement, SETTINGS["project"]["optional-dependencies"][name]):
        if requirement.name == SETTINGS["project"]["name"]:
            found += [each for extra in requirement.extras for each in extras(extra)]
        else:
            found.append(requirement)
    return found


class TestPackage:
    def test_student(self) -> None:
        """A student's install is small and does not require torch, so that Colab's version stays."""
        names = {Requirement(line).name for line in SETTINGS["project"]["dependencies"]}

        assert {"anywidget", "numpy", "matplotlib", "safetensors", "ipython", "scikit-learn"} == names

    @pytest.mark.parametrize("extra", ["teach", "cluster"])
    def test_torch_has_its_own_extra(self, extra: str) -> None:
        """Only the extra `torch`, and developing, require torch."""
        assert "torch" not in {requirement.name for requirement in extras(extra)}
        assert ["torch"] == [requirement.name for requirement in extras("torch")]

    def test_student_versions(self) -> None:
        """Students' requirements have only lower bounds, so that nothing on Colab is replaced."""
        operators = {
            part.operator for line in SETTINGS["project"]["dependencies"] for part in Requirement(line).specifier
        }

        assert {">="} == operators

    def test_versions_of_python(self) -> None:
        """The documents and the workflow have the Python versions of pyproject.toml."""
        workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "test.yml").read_text())
        documents = [(PROJECT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/index.md")]

        assert [f"3.{minor}" for minor in range(OLDEST, BEYOND)] == workflow["jobs"]["test"]["strategy"]["matrix"][
            "python"
        ]
        assert all(f"You need Python {VERSIONS}," in text for text in documents)

    def test_address(self) -> None:
        """pyproject.toml has the setting of the public address."""
        assert "address" in SETTINGS["tool"]["pytorch-basics"]


class TestLock:
    def test_lines(self) -> None:
        """Every line pins one package exactly, without index, host, path or local version."""
        assert [] == [line for line in LOCK if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9a-z.]*", line)]

    def test_torch_first(self) -> None:
        """torch is first, with an exact version."""
        assert re.fullmatch(r"torch==\d+\.\d+\.\d+", LOCK[0])

    def test_each_once(self) -> None:
        """No package occurs twice."""
        assert len(PINNED) == len(LOCK)

    def test_covers_pyproject(self) -> None:
        """Every requirement of development is pinned to an allowed version."""
        needed = extras("dev") + [Requirement(line) for line in SETTINGS["project"]["dependencies"]]
        needed += [Requirement(line) for line in SETTINGS["build-system"]["requires"]]
        wrong = [str(each) for each in needed if PINNED.get(canonicalize_name(each.name)) not in each.specifier]

        assert [] == wrong, "run `make lock`"


class TestEnvironment:
    def test_python(self) -> None:
        """conda's Python version is allowed by pyproject.toml."""
        python = next(line for line in ENVIRONMENT["dependencies"] if str(line).startswith("python="))

        assert Version(python.split("=")[1]) in SpecifierSet(SETTINGS["project"]["requires-python"])

    def test_same_versions(self) -> None:
        """conda installs torch first, at the lock's version, then the lock, then this project."""
        pip = next(line["pip"] for line in ENVIRONMENT["dependencies"] if isinstance(line, dict))

        assert [LOCK[0], "-r requirements.lock", "-e .[dev]"] == pip
        assert "pip" in ENVIRONMENT["dependencies"]

    def test_name(self) -> None:
        """The environment has the project's name."""
        assert SETTINGS["project"]["name"] == ENVIRONMENT["name"]


class TestElsewhere:
    """A dev container and Binder install what `make lab` installs, and lead to its first page."""

    def test_dev_container(self) -> None:
        """The container has a Python that fits, opens the port of `make lab`, and runs it."""
        container = json.loads((PROJECT / ".devcontainer" / "devcontainer.json").read_text())

        assert Version(container["image"].split(":")[1]) in SpecifierSet(SETTINGS["project"]["requires-python"])
        assert [DEFAULT_PORT] == container["forwardPorts"]
        assert (
            f"--port {DEFAULT_PORT} --no-browser"
            in make("-n", *container["postAttachCommand"].split()[1:]).splitlines()[-1]
        )

    def test_binder_installs_what_students_need(self) -> None:
        """Binder has conda's Python, and takes the Makefile's set for students from the lock."""
        lines = (PROJECT / ".binder" / "requirements.txt").read_text().splitlines()
        python = next(str(line) for line in ENVIRONMENT["dependencies"] if str(line).startswith("python="))

        assert python.replace("=", "-") == (PROJECT / ".binder" / "runtime.txt").read_text().strip()
        told = make("-n", "lab", "VENV=build/none").replace("'", "")
        assert " ".join(lines[-2:]).replace("../", "") in told
        assert lines[1].split()[1] in (PROJECT / ".devcontainer" / "devcontainer.json").read_text()

    def test_binder_begins_as_make_lab_does(self, tmp_path: Path) -> None:
        """Its server starts with copies of the notebooks in work/, and with the course's settings and kernel."""
        (tmp_path / "notebooks").mkdir()
        (tmp_path / "course" / "chapters").mkdir(parents=True)
        (tmp_path / "pyproject.toml").write_text('[tool.pytorch-basics]\ncourse = "course"\n')
        (tmp_path / "course" / "nbgrader_config.py").write_text("")
        (tmp_path / "notebooks" / "a.ipynb").write_text('{"cells": []}')
        ask = "from jupyter_client.kernelspec import KernelSpecManager as M; print(M().get_kernel_spec('python3').argv)"
        command = [str(PROJECT / ".binder" / "start"), sys.executable, "-c", ask]
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        ran = subprocess.run(
            command, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )

        assert "--ext=autograder.notebook.name_and_import_error_advice" in ran.stdout, ran.stderr
        assert (tmp_path / "work" / "a.ipynb").is_file()


def make(*arguments: str) -> str:
    """Return the output of `make`, in general with `-n`, which runs nothing."""
    command = ["make", "--no-print-directory", *arguments]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


class TestMake:
    def test_help(self) -> None:
        """`make help`, and `make` alone, list the targets with a sentence each."""
        told = make("help")

        for target in ("lab", "test", "test-browser", "build", "grade", "nbval", "run", "lint", "clean", "help"):
            assert re.search(rf"^make {target} +\w", told, re.MULTILINE)
        assert told == make()

    def test_help_is_complete(self) -> None:
        """Every target of the Makefile is listed."""
        makefile = (PROJECT / "Makefile").read_text()
        targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)

        assert targets == re.findall(r"^make ([\w-]+)", make("help"), re.MULTILINE)
        assert set(targets) <= set(re.findall(r"\.PHONY: (.*)", makefile)[0].split())

    def test_set_up_first(self) -> None:
        """Without a .venv, every target first makes one, with the pinned torch in one pip call."""
        told = make("-n", "lint", "VENV=build/none").split("\n")
        steps = [line for line in told if "build/none/bin/python" in line or "venv --clear" in line]

        assert " -m venv --clear build/none" in steps[0]
        assert "pip install --progress-bar off --requirement requirements.lock --editable . ||" in steps[1]
        assert 2 == len(steps)

    @pytest.mark.parametrize("changed", [0, 1])
    def test_set_up_again(self, tmp_path: Path, changed: int) -> None:
        """A .venv is made again if the contents of the version files change, and not if only their times do."""
        files = [tmp_path / name for name in ("pyproject.toml", "requirements.lock")]
        for file in files:
            file.write_text("torch==2.13.0\n")
        asked = ("-n", "lint", f"VENV={tmp_path}", f"VERSIONS={' '.join(map(str, files))}")
        stamp = re.findall(r"^touch (\S+)$", make(*asked), re.MULTILINE)[-1]
        Path(stamp).touch()
        os.utime(files[changed], (2**31, 2**31))

        assert "venv --clear" not in make(*asked)
        files[changed].write_text("torch==2.13.1\n")
        assert "venv --clear" in make(*asked)

    @pytest.mark.parametrize(
        ("python", "found"),
        [
            ("", ""),
            ("old-python", r" \(PYTHON=\S*/old-python says: Python 3\.9\.1\)"),
            ("no-python", r" \(PYTHON=\S*/no-python says: .*no-python.*\)"),
            ("/bin/true", r" \(PYTHON=/bin/true says: .*\)"),
        ],
    )
    def test_python_that_does_not_fit(self, tmp_path: Path, python: str, found: str) -> None:
        """If no suitable Python is found, one line says what to do."""
        old = tmp_path / "old-python"
        old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1 || echo 3.9\n')
        old.chmod(0o755)
        named = str(tmp_path / python) if python else ""
        told = make("lint", f"VENV={tmp_path}/venv", f"PYTHON={named}").splitlines()

        needed = rf"Python {re.escape(VERSIONS)} is needed and was not found" + found
        assert re.fullmatch(needed + r": install one, or name it with make PYTHON=/path/to/python", told[0])
        assert len(told) == 2 and told[1].startswith("make: ***") and not (tmp_path / "venv").exists()

    def test_no_write_access(self, tmp_path: Path) -> None:
        """Where the set-up cannot write, one line says so, and what to do."""
        (tmp_path / "file").touch()
        told = make("lab", f"VENV={tmp_path / 'file' / 'venv'}").splitlines()

        assert told[0].startswith(f"{tmp_path / 'file' / 'venv'} cannot be written: clone into a folder of your own")
        assert len(told) == 2 and told[1].startswith("make: ***")

    def test_everything_is_tested(self) -> None:
        """`make test`: lint, types, unit tests, every notebook that is handed out, every chapter with another seed."""
        assert make("-n", "test").splitlines()[-1].rstrip() == "python -m tests.suite"

        told = {part.name: make("-n", *part.command, "REPORT=x.xml") for part in suite.DAY}
        steps = {
            "lint": "ruff format --check .",
            "types": "mypy",
            "unit": "pytest -n 2 --dist loadgroup   --junitxml=x.xml\n",
            "nbval": "-W default notebooks --junitxml=x.xml\n",
            "papermill": "xargs -P 2 -I {} python -m tests.spared",
        }

        assert dict.fromkeys(told, True) == {name: step in told[name] for name, step in steps.items()}
        assert {"ruff check .", "ruff format --check .", "mypy"} <= set(make("-n", "lint").splitlines())
        assert len(suite.BY_DAY) == 3 and all(stem in told["papermill"] for stem in suite.BY_DAY)

    def test_the_night_runs_more(self) -> None:
        """`make test-all`: tests with the mark `night` too, and the solutions by nbval; a sample is of the former."""
        told = {part.name: make("-n", *part.command, "REPORT=x.xml") for part in suite.ALL}

        assert make("-n", "test-all").splitlines()[-1] == "python -m tests.suite --all"
        assert 'pytest -n 2 --dist loadgroup -m ""' in told["unit"]
        assert "-W default notebooks solutions" in told["nbval"]
        sample = make("-n", "unit", "NIGHT=1", "SAMPLE=0a1b")
        assert (
            'pytest -n 2 --dist loadgroup -m "night" --sample 0a1b --no-loadscope-reorder --cpu-seconds 500' in sample
        )

    def test_browser(self) -> None:
        """`make test-browser` fails without a browser, with NIGHT=1 it runs all, and `make test` needs no browser."""
        told = make("-n", "test-browser").strip().split("\n")[-2:]

        shared = "-n logical --maxprocesses 4 --dist loadgroup"
        assert ["python -m tests.browser.chromium", f"pytest tests/browser {shared}"] == told
        assert f'pytest tests/browser {shared} -m ""' in make("-n", "test-browser", "NIGHT=1")
        assert "browser" not in make("-n", *(part.command[0] for part in suite.ALL))

    def test_parameters(self) -> None:
        """`make run` accepts chapters, a seed, a device, and a shorter run."""
        wanted = ("CHAPTER=ch05_other", "SEED=7", "DEVICE=cuda", "SHORT=1")
        told = " ".join(make("-n", "run", *wanted).replace("\\\n", " ").split())
        chapters = sorted(path.stem for path in (PROJECT / "course" / "chapters").glob("*.py"))

        assert r"printf '%s\n' ch05_other | xargs -P 1 -I {} python -m tests.spared --no-progress-bar" in told
        assert "--no-request-save-on-cell-execute --autosave-cell-every 0 -p seed 7 -p device cuda" in told
        assert "-p device cuda -p short True solutions/" in told
        assert told.endswith("solutions/{}.ipynb build/runs/{}-7.ipynb")
        assert f"{' '.join(chapters)} | xargs -P 2" in make("-n", "run", "JOBS=2")


class TestSession:
    @pytest.mark.night
    def test_settings_of_a_shell_turn_nothing_red(self) -> None:
        """A developer's environment variables do not influence the tests."""
        settings = {
            "PYTORCH_BASICS_PROGRESS": "off",
            "PYTORCH_BASICS_COURSE": "/nonexistent",
            "NBGRADER_EXECUTION": "1",
            "JUPYTER_CONFIG_DIR": "/nonexistent",
            "PYTHONWARNINGS": "default",
            "MPLBACKEND": "none",
            "OMP_NUM_THREADS": "nonsense",
            "MAKEFLAGS": "--nonsense",
        }
        tests = ["tests/test_progress.py", "tests/test_checking.py", "tests/test_setup.py::TestMake::test_help"]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        environment = os.environ | settings
        ran = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)

        assert 0 == ran.returncode, ran.stdout


class TestContinuousIntegration:
    def test_ci_run(self) -> None:
        """The script calls `make test`, then a sample of the night; it is executable and stops at the first error."""
        script = PROJECT / ".ci" / "run"

        assert os.access(script, os.X_OK) or sys.platform == "win32"
        assert "set -euo pipefail" in script.read_text()
        assert script.read_text().endswith('\nmake test\nmake test SAMPLE="$(git rev-parse HEAD)"\n')

    def test_workflow(self) -> None:
        """GitHub runs `make test` on every Python that pyproject.toml allows."""
        workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "test.yml").read_text())
        job = workflow["jobs"]["test"]
        allowed = SpecifierSet(SETTINGS["project"]["requires-python"])
        versions = [f"3.{minor}" for minor in range(30) if f"3.{minor}" in allowed]

        assert versions == job["strategy"]["matrix"]["python"]
        assert any(str(step.get("run", "")).startswith("make test") for step in job["steps"])

    def test_nightly_workflow(self) -> None:
        """Every night all tests run."""
        workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "nightly.yml").read_text())
        runs = {name: [step.get("run") for step in job["steps"]] for name, job in workflow["jobs"].items()}

        assert workflow[True]["schedule"]  # YAML reads `on` as a truth
        assert "make test-all PYTHON=python" in runs["thorough"]

    def test_oldest_torch(self) -> None:
        """The nightly workflow tests the worked solutions with the oldest supported torch."""
        workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "nightly.yml").read_text())
        install, check = [step["run"] for step in workflow["jobs"]["oldest-torch"]["steps"] if "run" in step]
        (promised,) = SETTINGS["project"]["optional-dependencies"]["torch"]

        assert promised.replace(">=", "==") + ".0" in install and "python -m tests.other_torch" == check
