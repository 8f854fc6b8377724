"""`mine`: which version of an answer a lesson uses, the message about it, and errors that do not stop the lesson."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from autograder import mine
from autograder.course.course_location import COURSE_VARIABLE
from autograder.errors import UnknownExercise
from autograder.notebook import progress_log, run_answer_of_other_notebook
from autograder.notebook.own_answer_or_fallback import AnswerSourceNotice
from autograder.notebook.progress_log import PROGRESS_FILE
from tests.made_reader import DOUBLE, FIRST, PAIR, SECOND, STUB, Reader, reader
from tests.small_chapter import PROJECT

__all__ = ["reader"]

CHECK = 'check("double", double)'
USE = 'step = mine("double", lambda x: ("plain", x))'
YOURS, PLAIN = "From here on, `step` is your `double`", "From here on, `step` is the lesson's `double`"
UNTIL = f"{PLAIN}, until yours passes"
CHANGED = f"{PLAIN}: yours has changed since its check; run its check again"
UNSAVED = "as it was last saved, does not hold the one that passed; save it, or check yours again"


class TestOwnChapter:
    def test_what_passed_is_used(self, reader: Reader) -> None:
        """An answer that passed is used, as the same object."""
        assert YOURS == reader.run(DOUBLE, CHECK, USE)
        assert reader.value("step") is reader.value("double")

    @pytest.mark.parametrize("cells", [(), (STUB,), (STUB, CHECK), (DOUBLE,), (DOUBLE.replace("2", "3"), CHECK)])
    def test_what_did_not_pass_is_not(self, reader: Reader, cells: tuple[str, ...]) -> None:
        """An answer that is missing, unwritten, wrong or unchecked is replaced by the lesson's."""
        assert UNTIL == reader.run(*cells, USE)
        assert reader.value("step")(2) == ("plain", 2)

    def test_the_last_check_counts(self, reader: Reader) -> None:
        """The last check counts, and each message appears once per kernel."""
        wrong = DOUBLE.replace("2", "3")
        told = [reader.run(answer, CHECK, USE) for answer in (wrong, DOUBLE, wrong, DOUBLE, DOUBLE)]

        assert [UNTIL, YOURS, "", "", ""] == told and reader.value("step")(2) == 4

    def test_what_was_written_anew_is_not_checked(self, reader: Reader) -> None:
        """An answer that was redefined after its check is not used until it passes again."""
        reader.run(DOUBLE, CHECK)

        assert CHANGED == reader.run("def double(x):\n    return x + x", USE)
        assert reader.value("step")(2) == ("plain", 2)
        assert YOURS == reader.run(CHECK, USE) and reader.value("step")(2) == 4

    def test_run_all_after_a_restart(self, reader: Reader) -> None:
        """After a restart, Run All checks the answer before the lesson uses it."""
        reader.works(FIRST, DOUBLE, CHECK, USE)
        reader.start(FIRST)

        assert YOURS == reader.run(DOUBLE, CHECK, USE)

    def test_under_another_name(self, reader: Reader) -> None:
        """An answer that was checked under another name is used; one without a name is not."""
        assert YOURS == reader.run("def twice(x):\n    return 2 * x", STUB, 'check("double", twice)', USE)
        assert reader.value("step") is reader.value("twice")
        assert UNTIL == reader.run('check("double", lambda x: 2 * x)', USE)

    def test_classes(self, reader: Reader) -> None:
        """Classes are used like functions."""
        use = 'Both = mine("Pair", tuple)'

        assert (
            "From here on, `Both` is the lesson's `Pair`, until yours passes" == reader.run(use)
            and reader.value("Both") is tuple
        )
        assert "From here on, `Both` is your `Pair`" == reader.run(PAIR, 'check("Pair", Pair)', use)
        assert reader.value("Both") is reader.value("Pair")

    def test_where_no_progress_is_kept(self, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without progress, the kernel's own checks still count."""
        monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")

        assert YOURS == reader.run(DOUBLE, CHECK, USE) and not (reader.folder / PROGRESS_FILE).exists()

    @pytest.mark.parametrize("name", ["", "renamed"])
    def test_whatever_the_notebook_is_called(self, reader: Reader, name: str) -> None:
        """The notebook's name does not matter for its own answers."""
        reader.start(name)

        assert UNTIL == reader.run(STUB, USE) and YOURS == reader.run(DOUBLE, CHECK, USE)

    def test_the_notebook_itself_is_not_beside(self, reader: Reader) -> None:
        """The notebook's own file is never read for an answer."""
        reader.works("renamed", DOUBLE, CHECK)
        reader.start("renamed")

        assert reader.run(USE) == f"{PLAIN}: your notebook “Chapter 1: First” is not in this folder"


class TestEarlierChapter:
    @pytest.mark.parametrize(
        "name", [FIRST, f"Copy of {FIRST}", f"{FIRST} (1)", f"{FIRST}-Copy1", "my tensors"], ids=lambda name: name[-8:]
    )
    def test_what_passed_there_is_used_here(self, reader: Reader, name: str) -> None:
        """An answer that passed in an earlier chapter's notebook is used, whatever the file's name, and run once."""
        reader.works(name, DOUBLE, CHECK)
        reader.start(SECOND)
        told = reader.run(USE)
        first = reader.value("step")

        assert told == YOURS and first(2) == 4
        assert reader.run(USE) == "" and reader.value("step") is first

    def test_with_what_it_needs(self, reader: Reader) -> None:
        """Only the answer and what it needs are run of the other notebook."""
        reader.works(
            FIRST,
            "import math\nimport torch\nseen = 1\n_ = torch.manual_seed(3)",
            "FACTOR = print('aloud') or 2.0",
            "def helper(x):\n    return math.fsum([below(x), 0])",
            "print('a lesson')\nseen += 1",
            "def double(x: int) -> float:\n    return helper(x)\n\nprint('aloud')",
            "def below(x):\n    return x * FACTOR",
            CHECK,
        )
        reader.start(SECOND)

        assert YOURS == reader.run(USE) and reader.value("step")(2) == 4
        assert reader.value("step").__annotations__ == {"x": int, "return": float}
        assert "seen" not in reader.value("step").__globals__ and "math" not in reader.shell.user_ns

    def test_classes(self, reader: Reader) -> None:
        """A class comes with its bases, and can be pickled by its name in the lesson."""
        base = "class Base:\n    def sum(self):\n        return self.a + self.b"
        derived = PAIR.partition("\n\n")[0].replace("Pair:", "Pair(Base):")
        reader.works(FIRST, base, derived, 'check("Pair", Pair)')
        reader.start(SECOND)

        assert "From here on, `Pair` is your `Pair`" == reader.run('Pair = mine("Pair", tuple)')
        assert reader.value("Pair")(1, 2).sum() == 3 and reader.value("Pair").__module__ == "__main__"

    def test_without_the_notebook(self, reader: Reader) -> None:
        """Without the chapter's notebook, the message says so."""
        reader.works(FIRST, DOUBLE, CHECK)
        (reader.folder / f"{FIRST}.ipynb").unlink()
        reader.save("other", "double = mine('double', None)")
        reader.start(SECOND)

        assert f"{PLAIN}: your notebook “Chapter 1: First” is not in this folder" == reader.run(USE)
        assert reader.value("step")(2) == ("plain", 2)

    def test_without_progress(self, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without progress, no other notebook is read."""
        reader.works(FIRST, DOUBLE, CHECK)
        monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")
        reader.start(SECOND)

        assert (
            f"{PLAIN}: progress is not kept here, and your notebook “Chapter 1: First” was not looked at"
            == reader.run(USE)
        )

    @pytest.mark.parametrize("answer", [STUB, DOUBLE.replace("2", "3")])
    def test_what_did_not_pass_is_not_used(self, reader: Reader, answer: str) -> None:
        """An answer that did not pass, or was not checked, is not used."""
        reader.works(FIRST, answer, CHECK)
        reader.start(SECOND)

        assert UNTIL == reader.run(USE)

    def test_what_has_changed_since_is_not_used(self, reader: Reader) -> None:
        """An answer that changed since its check is not used; changed comments do not matter."""
        reader.works(FIRST, DOUBLE, CHECK)
        reader.save(FIRST, DOUBLE.replace("2", "3"), CHECK)
        reader.start(SECOND)

        assert f"{PLAIN}: {FIRST}.ipynb, {UNSAVED}" == reader.run(USE)
        reader.save(FIRST, f"# a comment\n{DOUBLE.replace('2 * x', '2*x  # and another')}\n\n", CHECK)
        assert YOURS == reader.run(USE)

    def test_a_lesson_that_fails_there_is_missed_by_nobody(self, reader: Reader) -> None:
        """A failing cell that the answer does not need is ignored."""
        answer = "def double(x, by=factor):\n    return by * x"
        reader.works(FIRST, "factor = 2", answer, CHECK)
        reader.save(FIRST, "factor = gone()", "factor = 2", answer, CHECK)
        reader.start(SECOND)

        assert reader.run(USE) == YOURS and reader.value("step")(2) == 4

    def test_without_its_check(self, reader: Reader) -> None:
        """A notebook with the chapter's name is found even without the check cell."""
        reader.works(FIRST, DOUBLE, CHECK)
        reader.save(FIRST, DOUBLE)
        reader.start(SECOND)

        assert reader.run(USE) == YOURS and reader.value("step")(2) == 4

    def test_the_copy_that_passed_is_used(self, reader: Reader) -> None:
        """Of several notebooks or definitions, the answer that passed is used."""
        reader.works("Copy", "def double(x):\n    return x + x", CHECK)
        reader.save(FIRST, STUB, CHECK)
        reader.start(SECOND)
        assert YOURS == reader.run(USE)
        reader.save("Copy", STUB, CHECK, "def double(x):\n    return x + x")
        reader.start(SECOND)
        assert YOURS == reader.run(USE) and reader.value("step")(2) == 4

    @pytest.mark.parametrize("answer", ["double = lambda x: 2 * x", f"%%time\n{DOUBLE}"], ids=["lambda", "magic"])
    def test_answers_of_another_form(self, reader: Reader, answer: str) -> None:
        """An answer may be bound by an assignment, or be below a cell magic."""
        reader.works(FIRST, answer, CHECK)
        reader.start(SECOND)

        assert reader.run(USE) == YOURS and reader.value("step")(2) == 4

    def test_a_line_of_progress_that_does_not_say_which(self, reader: Reader) -> None:
        """A progress entry without a digest, from older versions, does not suffice."""
        reader.works(FIRST, DOUBLE, CHECK)
        (reader.folder / PROGRESS_FILE).write_text('{"exercise": "double", "passed": 1, "of": 1}')
        reader.start(SECOND)

        assert f"{PLAIN}: {FIRST}.ipynb, {UNSAVED}" == reader.run(USE)

    def test_it_leans_on_no_other_answer_of_another_chapter(self, reader: Reader) -> None:
        """A `mine` call in the other notebook returns the lesson's version, as in grading."""
        taken = 'sum_of = mine("Pair", lambda a, b: a + b)'
        reader.works(FIRST, taken, "def double(x):\n    return sum_of(x, x)", CHECK)
        reader.start(SECOND)

        assert reader.run(USE) == YOURS and reader.value("step")(2) == 4

    def test_magic_and_shell_lines_do_nothing(self, reader: Reader) -> None:
        """Magics and shell lines of the other notebook are not run."""
        reader.works(FIRST, "%cd -q .\nfiles = !echo a", "def double(x):\n    return 2 * x if files else x", CHECK)
        reader.start(SECOND)

        assert reader.run(USE) == YOURS and reader.value("step").__globals__["files"] is None


class TestTrouble:
    def test_unknown_exercise(self, reader: Reader) -> None:
        """An unknown exercise raises an error that suggests the nearest name."""
        with pytest.raises(UnknownExercise, match="Did you mean 'double'"):
            mine("dubble", len)
        with pytest.raises(UnknownExercise, match="The name comes first, in quotes"):
            mine(len, len)  # type: ignore[arg-type]

    def test_answer_that_fails(self, reader: Reader) -> None:
        """If the answer raises, the message has its error, and the lesson's version is used."""
        reader.works(FIRST, "factor = 2", "def double(x, by=factor):\n    return by * x", CHECK)
        reader.save(FIRST, "def double(x, by=factor):\n    return by * x", CHECK)
        reader.start(SECOND)

        assert f"{PLAIN}: yours stopped with NameError: name 'factor' is not defined" == reader.run(USE)
        assert reader.value("step")(2) == ("plain", 2)

    @pytest.mark.parametrize("loop", ["while True: pass", "__import__('time').sleep(2)"], ids=["busy", "asleep"])
    def test_answer_that_takes_too_long(self, reader: Reader, monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
        """An answer that takes too long is stopped, and the lesson's version is used."""
        monkeypatch.setattr(run_answer_of_other_notebook, "MAX_RUN_SECONDS", 0.3)
        answer = "def double(x, by=factor()):\n    return by * x"
        reader.works(FIRST, "def factor():\n    return 2", answer, CHECK)
        reader.save(FIRST, f"def factor():\n    {loop}\n    return 2", answer, CHECK)
        reader.start(SECOND)
        start = time.monotonic()

        assert f"{PLAIN}: yours did not come to an end within 0.3 seconds" == reader.run(USE)
        assert time.monotonic() - start < 1.9 and reader.value("step")(2) == ("plain", 2)
        assert "sleep" in loop or not any(
            isinstance(t, run_answer_of_other_notebook._Work) for t in threading.enumerate()
        )

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3, "nbformat": 4}', "\x00" * 99])
    def test_damaged_notebook(self, reader: Reader, text: str) -> None:
        """A damaged notebook is named in the message."""
        reader.works(FIRST, DOUBLE, CHECK)
        (reader.folder / f"{FIRST}.ipynb").write_text(text)
        reader.start(SECOND)

        assert f"{PLAIN}: {FIRST}.ipynb cannot be read" == reader.run(USE)

    def test_course_that_is_not_there(self, reader: Reader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """A broken installation gives a one-line message, and the lesson's version is used."""
        monkeypatch.setenv(COURSE_VARIABLE, str(tmp_path / "nowhere"))
        told = reader.run(DOUBLE, CHECK, USE)

        assert told.startswith(f"{PLAIN}: yours cannot be looked for (CourseNotFound: ") and "\n" not in told
        assert reader.value("step")(2) == ("plain", 2)

    def test_random_numbers_go_on(self, reader: Reader) -> None:
        """Using the reader's version does not change the generators of torch and Python."""
        cells = ("import random\nimport torch", "noise = torch.rand(3)[0] * 0 + random.random() * 0 + 2")
        reader.works(FIRST, *cells, "def double(x, by=noise):\n    return float(by) * x", CHECK)
        drawn = []
        for use in (USE, "pass"):
            reader.start(SECOND)
            reader.run("import random; random.seed(1)", "import torch; torch.manual_seed(1);", use)
            drawn.append(reader.run("print(torch.rand(2), random.random())"))

        assert drawn[0] == drawn[1]

    def test_a_readers_machine_needs_nothing_of_a_teachers(self) -> None:
        """`mine` works without nbformat and nbgrader."""
        blocked = "import sys; sys.modules.update(dict.fromkeys(('nbformat', 'nbgrader', 'jupytext', 'nbconvert')));"
        code = f"{blocked} from autograder import mine; assert mine('anything', 3) == 3"

        assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0


class TestWhereNobodyReads:
    @pytest.mark.parametrize("where", ["nbgrader", "a shell without a kernel", "a script"])
    def test_it_is_the_lessons_and_silent(
        self, reader: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
    ) -> None:
        """Outside a reader's notebook, the lesson's version is used silently, and no file is read."""
        reader.run(DOUBLE, CHECK)
        if where == "nbgrader":
            monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
        else:
            shell = None if where == "a script" else SimpleNamespace(user_ns={})
            monkeypatch.setattr(progress_log, "get_ipython", lambda: shell)
        monkeypatch.setattr(progress_log, "read_lines", None)
        monkeypatch.setenv(COURSE_VARIABLE, "/nowhere")

        assert mine("double", len) is len and mine("no such exercise", torch) is torch
        assert capsys.readouterr().out == ""


def test_html_says_the_same(reader: Reader) -> None:
    """The HTML message has the same words, with the name as code."""
    assert "From here on: your <code>double</code></div>" in AnswerSourceNotice("double", "")._repr_html_()
    assert (
        "the lesson&#x27;s <code>double</code>, until"
        in AnswerSourceNotice("double", ", until yours passes")._repr_html_()
    )
