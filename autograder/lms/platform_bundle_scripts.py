"""The scripts in the bundles for grading platforms. Each installs the course's wheel, or runs `grade_on_platform.py`.

Where they stand, and who starts them, is what the platforms' documentation says, read on 29 November 2026:
https://gradescope-autograders.readthedocs.io/en/latest/specs/ ("File hierarchy"),
https://docs.prairielearn.com/externalGrading/ ("The Grading Process"),
https://github.com/foundation50/classroom50/wiki/Advanced-Autograding ("Contract").
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from importlib.metadata import requires, version

from autograder.lms.grade_on_platform import GRADER_FAILED_MESSAGE, results_file_text
from autograder.lms.gradescope_results import gradescope_failure_result
from autograder.lms.prairielearn_results import prairielearn_failure_result

ENTRYPOINT, IMAGE = "/grade/tests/run.sh", "pytorch-basics-grader"
_BESIDES = ("nbformat", "pyseccomp")  # what grading needs besides a student's packages and torch
_RUN = "-I -m autograder.lms.grade_on_platform"
_CPU = "https://download.pytorch.org/whl/cpu"  # torch for machines without a GPU, a tenth of the other's size

_SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of this autograder.
set -euo pipefail
source=/autograder/source
ls "$source"/*.whl > /dev/null 2>&1 || {{
    echo "error: expected the course's wheel in $source, found none. Make the bundle again." >&2
    exit 1
}}
apt-get update
apt-get install -y python3.11 python3.11-venv libseccomp2 || apt-get install -y python3 python3-venv libseccomp2
python=$(command -v python3.11 || command -v python3)
"$python" -m venv /autograder/venv
/autograder/venv/bin/python -m pip install {words} "$source"/*.whl
"""

_RUN_AUTOGRADER = """\
#!/usr/bin/env bash
# Gradescope copies this to /autograder and runs it for each submission.
root=$(cd "$(dirname "$0")" && pwd)
cd /
"$root/venv/bin/python" {run} gradescope {stem} \\
    --course "$root/source/course" --submission "$root/submission" --results "$root/results" && exit 0
{{ [ -e "$root/results/results.json" ] || printf '%s\\n' {fault} > "$root/results/results.json"; }} 2> /dev/null
exit 1
"""

_RUN_SH = """\
#!/usr/bin/env bash
# PrairieLearn starts this in a container of the image that info.json names.
root=$(cd "$(dirname "$0")/.." && pwd)
cd /
python3 {run} prairielearn {stem} \\
    --course "$root/tests/course" --submission "$root/student" --results "$root/results" && exit 0
{{
    mkdir -p "$root/results"
    [ -e "$root/results/results.json" ] || printf '%s\\n' {fault} > "$root/results/results.json"
}} 2> /dev/null
exit 1
"""

_DOCKERFILE = """\
# The image in which PrairieLearn grades: docker build -t {image} .
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libseccomp2 && rm -rf /var/lib/apt/lists/*
COPY *.whl /tmp/
RUN python3 -m pip install --no-cache-dir {words} /tmp/*.whl && rm /tmp/*.whl
"""

_AUTOGRADER_PY = '''\
"""Classroom 50 runs this for each submission, in the student's checkout; it writes result.json there.

An exit status other than 0 is a fault of the grader, not of the student.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULE = "autograder.lms.grade_on_platform"


def installed(python: str) -> bool:
    """Return whether an interpreter has the grader, as that of your own image may; -I: no file that lies here."""
    return subprocess.run([python, "-I", "-c", f"import {{MODULE}}"], cwd=HERE, capture_output=True).returncode == 0


def install() -> str:
    """Install the course's wheel into a new environment, and return the interpreter of that."""
    wheels = [str(path) for path in HERE.glob("*.whl")]
    if not wheels:
        sys.exit(f"error: expected the course's wheel in {{HERE}}, found none. Make the bundle again.")
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)  # where root grades, students' code runs as a user who must read packages
    subprocess.run([sys.executable, "-I", "-m", "venv", place], cwd=HERE, check=True)
    python = str(place / "bin" / "python")
    subprocess.run([python, "-I", "-m", "pip", "install", "--quiet", *{words}, *wheels], cwd=HERE, check=True)
    return python


checkout = str(Path.cwd())
python = sys.executable if installed(sys.executable) else install()
folders = ["--course", str(HERE / "course"), "--submission", checkout, "--results", checkout]
sys.exit(subprocess.run([python, "-I", "-m", MODULE, "classroom50", "{stem}", *folders], cwd=HERE).returncode)
'''


def _words() -> list[str]:
    """Return what pip installs besides the wheel: the torch that is here, so that verdicts are the same."""
    torch = f"torch=={version('torch').partition('+')[0]}+cpu"
    wanted = [each.partition(";")[0].strip() for each in requires("pytorch-basics") or ()]
    return ["--extra-index-url", _CPU, torch, *(each for each in wanted if each.startswith(_BESIDES))]


def _quoted(words: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, words))


def gradescope_setup_script() -> str:
    """Return Gradescope's `setup.sh`."""
    return _SETUP.format(words=_quoted(_words()))


def gradescope_run_script(stem: str) -> str:
    """Return Gradescope's `run_autograder`; it writes a result too where the grader cannot start."""
    fault = shlex.quote(results_file_text(gradescope_failure_result(GRADER_FAILED_MESSAGE)))
    return _RUN_AUTOGRADER.format(run=_RUN, stem=shlex.quote(stem), fault=fault)


def prairielearn_run_script(stem: str) -> str:
    """Return the entrypoint of PrairieLearn's container; it writes a result too where the grader cannot start."""
    fault = shlex.quote(results_file_text(prairielearn_failure_result(GRADER_FAILED_MESSAGE)))
    return _RUN_SH.format(run=_RUN, stem=shlex.quote(stem), fault=fault)


def prairielearn_dockerfile() -> str:
    """Return the recipe of PrairieLearn's image, for a folder that holds the wheel."""
    return _DOCKERFILE.format(image=IMAGE, words=_quoted(_words()))


def classroom50_autograder_script(stem: str) -> str:
    """Return Classroom 50's `autograder.py`."""
    return _AUTOGRADER_PY.format(stem=stem, words=json.dumps(_words()))
