"""Notes on hidden state that an answer depends on and grading will not have, given only if certain."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.diagnosis.verdict import Report
from autograder.notebook import hidden_state
from autograder.notebook.hidden_state import add_hidden_state_notes
from tests.made_kernel import CHECK, MadeKernel, kernel

__all__ = ["kernel"]

ANSWER = "def answer(x):\n    return helper(x)"
HELPER = "def helper(x):\n    return x"


class TestFurtherDown:
    def test_a_helper_that_stands_below_is_told(self, kernel: MadeKernel) -> None:
        """A helper defined only below the check gives a note with its name and the beginning of its cell."""
        kernel.save(ANSWER, CHECK, HELPER)
        kernel.run(HELPER)
        kernel.run(ANSWER)

        told = kernel.check("1")

        assert "`answer` uses `helper`, which only a cell further down defines" in told
        assert "begins `def helper(x):`" in told
        assert "`mine.ipynb` was last saved" in told

    def test_above_it_is_well(self, kernel: MadeKernel) -> None:
        """After the helper is moved above the check, there is no note."""
        kernel.run(HELPER)
        kernel.run(ANSWER)
        kernel.save(ANSWER, CHECK, HELPER)
        assert kernel.check("1")
        kernel.save(HELPER, ANSWER, CHECK)

        assert kernel.check("2") == ""

    def test_names_of_one_cell_are_told_together(self, kernel: MadeKernel) -> None:
        """Names that one cell defines share one note."""
        below = "a, b = 1, 2"
        kernel.save("def answer():\n    return a + b", CHECK, below)
        kernel.run(below)
        kernel.run("def answer():\n    return a + b")

        assert kernel.check("1").count("uses `a` and `b`, which") == 1

    def test_it_is_the_cell_below_that_is_quoted(self, kernel: MadeKernel) -> None:
        """The note quotes the saved cell below, and of several the one that ran."""
        for text in ("helper = max", "helper = abs", ANSWER):
            kernel.run(text)
        kernel.save(ANSWER, CHECK, "helper = min", "helper = abs")
        assert "begins `helper = abs`" in kernel.check("1")
        kernel.save(ANSWER, CHECK, "helper = min")

        assert "begins `helper = min`" in kernel.check("1")

    def test_many_notes_are_cut_short(self, kernel: MadeKernel) -> None:
        """At most three notes appear."""
        below = [f"{name} = 1" for name in "abcde"]
        for text in (*below, "def answer():\n    return a, b, c, d, e"):
            kernel.run(text)
        kernel.save("def answer():\n    return a, b, c, d, e", CHECK, *below)

        assert len(kernel.check("1").splitlines()) == 3

    def test_a_helpers_helper_counts(self, kernel: MadeKernel) -> None:
        """Names that helpers use count too."""
        middle = "def helper(x):\n    return deeper(x)"
        kernel.save(middle, ANSWER, CHECK, "deeper = abs")
        for text in ("deeper = abs", middle, ANSWER):
            kernel.run(text)

        assert "uses `deeper`" in kernel.check("2")

    def test_a_check_from_a_scratch_cell_on_top_counts_where_the_check_stands(self, kernel: MadeKernel) -> None:
        """A check run from a scratch cell counts at the place of the graded check."""
        kernel.save("check('answer', answer) ", HELPER, ANSWER, CHECK)
        kernel.run(HELPER)
        kernel.run(ANSWER)

        assert kernel.check("0", text="check('answer', answer) ") == ""

    def test_a_wrong_answer_has_other_worries(self, kernel: MadeKernel) -> None:
        """A failing answer gets no such note."""
        kernel.save(ANSWER, CHECK, HELPER)
        kernel.run(HELPER)
        kernel.run(ANSWER)
        kernel.passed = False

        assert kernel.check("1") == ""


class TestGone:
    def test_a_deleted_helper_is_told(self, kernel: MadeKernel) -> None:
        """A helper whose cell was deleted gives a note."""
        kernel.run(HELPER)
        kernel.run(ANSWER)
        kernel.save(ANSWER, CHECK)

        told = kernel.check("1")

        assert "`helper`, which no cell of the notebook defines any more" in told
        assert "began `def helper(x):`" in told

    def test_a_deleted_answer_is_told(self, kernel: MadeKernel) -> None:
        """A deleted answer gives a note, although the kernel still passes it."""
        kernel.run("def answer(x):\n    return x")
        kernel.save("1 + 1", CHECK)

        assert "No cell of the notebook defines `answer` any more" in kernel.check("1")

    def test_an_answer_edited_and_not_run_is_told(self, kernel: MadeKernel) -> None:
        """An answer that was edited and not run gives a note, whether or not it passes."""
        kernel.run("def answer(x):\n    return x")
        kernel.save("def answer(x):\n    return x + 1", CHECK)

        told = kernel.check("1")
        assert "The cell that defines `answer` has changed since it ran, so this check used the older `answer`" in told
        kernel.passed = False
        assert told == kernel.check("1")

    def test_of_an_answer_that_fails_a_helper_that_was_edited_is_told_too(self, kernel: MadeKernel) -> None:
        """A failing answer gets a note on an edited helper, and none on cells below."""
        for text in ("below = 1", HELPER, "def answer(x):\n    return helper(x) + below"):
            kernel.run(text)
        kernel.save(HELPER + " + 1", "def answer(x):\n    return helper(x) + below", CHECK, "below = 1")
        assert "further down" in kernel.check("2")
        kernel.passed = False
        told = kernel.check("2")

        assert "The cell that defines `helper` has changed" in told and "further down" not in told

    def test_two_names_of_one_helper_are_one_note(self, kernel: MadeKernel) -> None:
        """Two names of one helper give one note."""
        answer = "def answer(x):\n    return helper(same(x))"
        for text in (HELPER, "same = helper", answer):
            kernel.run(text)
        kernel.save(f"{HELPER} + 1", "same = helper", answer, CHECK)

        assert len(kernel.check("3").splitlines()) == 1

    def test_an_edited_class_is_told(self, kernel: MadeKernel) -> None:
        """An edited class gives a note."""
        kernel.run("class answer:\n    def f(self):\n        return 1")
        kernel.save("class answer:\n    def f(self):\n        return 2", CHECK)

        assert "The cell that defines `answer` has changed" in kernel.check("1")

    def test_a_comment_is_no_change(self, kernel: MadeKernel) -> None:
        """A changed comment gives no note."""
        kernel.run("def answer(x):\n    return x")
        kernel.save("# mine\ndef answer(x):\n    return x  # as it came", CHECK)

        assert kernel.check("1") == ""


OLD, BROKEN = "def answer(x):\n    return x", "def answer(x):\n    return (x"
STOPPED = "with `def answer` that you ran last stopped with a SyntaxError, so this check judged the older `answer`"


class TestRefused:
    @pytest.mark.parametrize("passed", [True, False])
    @pytest.mark.parametrize(
        "text",
        [
            BROKEN,
            "import math\n\n  async  def answer(x):",
            "answer = 1\ndef answer(x)\n    return x",
            "def answer(x, x):\n    return x",
            "def answer(x):\n    break",
            f"%%time\n{BROKEN}",
            f"%matplotlib inline\n{BROKEN}",
        ],
    )
    def test_a_newer_text_that_did_not_compile_is_told(self, kernel: MadeKernel, text: str, passed: bool) -> None:
        """If the answer's newest cell had a SyntaxError, a note says that an older one was checked."""
        kernel.passed = passed
        kernel.run(OLD)
        assert kernel.check() == ""
        kernel.fail(text)

        assert STOPPED in kernel.check()

    def test_a_class_is_told(self, kernel: MadeKernel) -> None:
        """A class whose newest cell had a SyntaxError gives a note."""
        kernel.run("class answer:\n    def f(self):\n        return 1")
        kernel.fail("class answer\n    def f(self):\n        return 2")

        assert "The cell with `class answer` that you ran last" in kernel.check()

    @pytest.mark.parametrize(
        "later",
        [
            OLD,
            "answer = abs",
            "from operator import neg as answer",
            "exec('def answer(x): return 1')",
            "%%anything\ndef answer(x):",
            "[answer := min]",
        ],
    )
    def test_what_may_be_newer_is_not_told(self, kernel: MadeKernel, later: str) -> None:
        """If the name got or may have got another value since, there is no note."""
        kernel.run(OLD)
        kernel.fail(BROKEN)
        assert STOPPED in kernel.check()
        kernel.note_run(later) if later.startswith("%%") else kernel.run(later)

        assert kernel.check() == ""

    @pytest.mark.parametrize("later", ["1 +", "below = 1", "print('def answer')", "%%bash\nls", "other.answer = 1"])
    def test_what_came_in_between_changes_nothing(self, kernel: MadeKernel, later: str) -> None:
        """Other cells that ran or failed in between do not suppress the note."""
        kernel.run("other = lambda: 1")
        kernel.run(OLD)
        kernel.fail(BROKEN)
        kernel.note_run(later)

        assert STOPPED in kernel.check()

    @pytest.mark.parametrize(
        "text",
        [
            "def answer_too(x):\n    return (x",
            "# def answer(x)\n1 +",
            "x = 'def answer('\n1 +",
            "def answer(x):\n    y = x\nreturn y",  # Python reports this `return` only after defining the function
            "def answer(x):\n    break\nanswer = abs",
            "%%writefile a.py\ndef answer(x",
        ],
    )
    def test_another_error_is_not_told(self, kernel: MadeKernel, text: str) -> None:
        """A SyntaxError in a cell that does not define the answer gives no note."""
        kernel.run(OLD)
        kernel.note_run(text)

        assert kernel.check() == ""

    @pytest.mark.parametrize(
        "text",
        [
            "answer = abs",
            "answer = lambda x: x",
            "def make():\n    def answer(x):\n        return x\n    return answer",
        ],
    )
    def test_what_no_cell_defines_is_not_told(self, kernel: MadeKernel, text: str) -> None:
        """An answer that was not defined by `def` or `class` in a cell gives no note."""
        kernel.run(text)
        kernel.fail(BROKEN)
        if "make" in text:
            kernel.user_ns["answer"] = kernel.user_ns["make"]()

        assert kernel.check() == ""

    def test_another_object_of_this_name_is_not_told(self, kernel: MadeKernel) -> None:
        """Checking an older function that was kept on purpose gives no note."""
        kernel.run(f"{OLD}\n\nkept = answer")
        kernel.run(f"{OLD} + 1")
        kernel.fail(BROKEN)

        assert STOPPED in kernel.check() and kernel.check(text='check("answer", kept)') == ""


class TestBeside:
    @pytest.mark.parametrize("use", ["from mine_beside import f\ng = f", "import mine_beside\ng = mine_beside.f"])
    def test_a_module_in_the_folder_is_told(
        self, kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch, use: str
    ) -> None:
        """A passing answer that uses a module beside the notebook gives a note."""
        self._module(kernel.notebook.parent, monkeypatch)
        kernel.save(use, "def answer():\n    return g", CHECK)
        kernel.run(use)
        kernel.run("def answer():\n    return g")

        assert "not `mine_beside.py`, from which you use `g`: copy" in kernel.check("2")
        kernel.passed = False
        assert kernel.check("2") == ""

    def test_the_answer_itself_may_come_from_there(self, kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
        """An answer imported from a module beside the notebook gives a note."""
        self._module(kernel.notebook.parent, monkeypatch)
        kernel.save("from mine_beside import f as answer", CHECK)
        kernel.run("from mine_beside import f as answer")

        assert "not `mine_beside.py`" in kernel.check("1")

    def test_the_courses_own_package_is_not_told(self, kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
        """The course's own package gives no note, although it may be beside the notebook."""
        monkeypatch.setattr(hidden_state, "_NO_FILES", ("mine_beside",))
        self._module(kernel.notebook.parent, monkeypatch)
        kernel.save("import mine_beside", "def answer():\n    return mine_beside", CHECK)
        kernel.run("import mine_beside")
        kernel.run("def answer():\n    return mine_beside")

        assert kernel.check("2") == ""

    @staticmethod
    def _module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "mine_beside.py").write_text("def f():\n    return 1\n")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "mine_beside", raising=False)


FINE = {
    "recursion": "def answer(n):\n    return answer(n - 1) if n else 0",
    "helper in the same cell": f"{HELPER}\n\n{ANSWER}",
    "lambda": "answer = lambda x: x",
    "methods": "class answer:\n    def a(self):\n        return self.b\n    def b(self, x):\n        return x.below",
    "decorator": "import functools\n@functools.lru_cache\ndef answer():\n    return functools",
    "attribute": "def answer(x):\n    return x.below",
    "local": "def answer(x):\n    below = x\n    return below",
    "comprehension": "def answer():\n    return [below for below in range(3)]",
    "class body": "def answer():\n    class A:\n        below = 1\n        b = below\n    return A",
    "declared global": "def answer():\n    global below\n    below = 1\n    return below",
    "annotation": 'def answer(x: "below") -> "below":\n    return x',
    "partial": "import functools\nanswer = functools.partial(max, 1)",
    "library's": "from operator import add as answer",
    "star": "from math import *\ndef answer(x):\n    return sqrt(x)",
    "magic": "%matplotlib inline\ndef answer(x):\n    return x",
    "builtin": "def answer(x):\n    return len(x)",
    "walrus": "[(kept := n) for n in range(3)]\ndef answer(x):\n    return kept",
    "unpacking": "for first, (*rest, last) in [(1, (2, 3))]:\n    pass\ndef answer():\n    return first, rest, last",
    "with": "import io\nwith io.StringIO() as file:\n    pass\ndef answer():\n    return file",
    "import": "import os.path\ndef answer():\n    return os",
    "timed": "%%time\nkept = 1\ndef answer():\n    return kept",
}


class TestNoFalseAlarm:
    @pytest.mark.parametrize("text", FINE.values(), ids=FINE)
    def test_what_the_notebook_has_is_not_told(self, kernel: MadeKernel, text: str) -> None:
        """An answer that does not depend on the cell below gives no note."""
        if text.startswith("%"):
            kernel.user_ns["get_ipython"] = lambda: _NoMagic(kernel)
        kernel.save(text, CHECK, "below = 1")
        kernel.run("below = 1")
        kernel.run(text)

        assert kernel.check("1") == ""
        kernel.save(text, CHECK, "below = 1")
        assert kernel.check("1") == ""

    @pytest.mark.parametrize("ids", [True, False], ids=["ids", "no ids"])
    def test_a_merged_cell_is_found(self, kernel: MadeKernel, ids: bool) -> None:
        """Answer and check in one cell give no note, with or without cell ids."""
        merged = f"{ANSWER}\n\n{CHECK}"
        kernel.save(HELPER, merged, "1", ids=ids)
        kernel.run(HELPER)

        assert kernel.check("1" if ids else "made-in-the-page", text=merged) == ""

    @pytest.mark.parametrize("told", ["", "made-in-the-page"])
    def test_without_ids_a_helper_below_is_told(self, kernel: MadeKernel, told: str) -> None:
        """Without cell ids, the text identifies the cell, and the note appears."""
        kernel.save(ANSWER, CHECK, HELPER, ids=False)
        kernel.run(HELPER)
        kernel.run(ANSWER)

        assert "further down" in kernel.check(told)

    def test_the_cell_that_runs_is_known_before_it_is_saved(self, kernel: MadeKernel) -> None:
        """Names that the running cell defines count, even if it is not saved."""
        kernel.save(ANSWER, CHECK, HELPER)
        kernel.run(ANSWER)

        assert kernel.check("1", f"{HELPER}\n{CHECK}") == ""

    def test_what_is_not_saved_yet_is_not_told(self, kernel: MadeKernel) -> None:
        """If the file is older than the cells that ran, there is no note."""
        kernel.save("def answer():\n    ...", CHECK, "helper = 2")
        kernel.run(HELPER)
        kernel.run(ANSWER)

        assert kernel.check("1") == ""

    def test_a_check_that_is_not_in_the_file_is_not_placed(self, kernel: MadeKernel) -> None:
        """If the file does not contain the check, there is no note."""
        kernel.run(HELPER)
        kernel.run(ANSWER)
        kernel.save("something = 1", HELPER)

        assert kernel.check("none") == ""

    @pytest.mark.parametrize("text", ["globals()['helper'] = 1", "def (", "%run other.py", "from nowhere import *"])
    def test_a_cell_that_may_bind_unseen_silences(self, kernel: MadeKernel, text: str) -> None:
        """A cell above that may bind any name suppresses the note."""
        kernel.run(HELPER)
        kernel.run(ANSWER)
        kernel.save(text, ANSWER, CHECK, HELPER)
        assert kernel.check("2") == ""
        kernel.save("0", ANSWER, CHECK, text)

        assert kernel.check("2") == ""

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code"}]}'])
    def test_a_damaged_file_gives_no_note(self, kernel: MadeKernel, content: str) -> None:
        """A damaged notebook file gives no note and no error."""
        kernel.notebook.write_text(content)

        assert add_hidden_state_notes(Report("answer", ()), len) == Report("answer", ())

    def test_a_large_file_is_not_read(self, kernel: MadeKernel) -> None:
        """A very large notebook file is not read."""
        kernel.save(ANSWER, CHECK, HELPER, "#" * 2**23)
        kernel.run(HELPER)
        kernel.run(ANSWER)

        assert kernel.check("1") == ""

    @pytest.mark.parametrize(
        ("variable", "value"),
        [("JPY_SESSION_NAME", ""), ("NBGRADER_EXECUTION", "validate"), ("PYTORCH_BASICS_PROGRESS", "off")],
    )
    def test_where_no_reader_works_nothing_is_told(
        self, kernel: MadeKernel, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
    ) -> None:
        """There are no notes outside JupyterLab, under nbgrader, or with progress off."""
        kernel.save(ANSWER, CHECK, HELPER)
        kernel.run(HELPER)
        kernel.run(ANSWER)
        assert kernel.check("1")
        assert add_hidden_state_notes(Report("answer", ()), kernel.user_ns["answer"]).notes
        monkeypatch.setenv(variable, value)

        assert add_hidden_state_notes(Report("answer", ()), kernel.user_ns["answer"]).notes == ()


class _NoMagic:
    """A shell whose magics only run their cell."""

    def __init__(self, kernel: MadeKernel) -> None:
        self.kernel = kernel

    def run_line_magic(self, *_: str) -> None:
        """Do nothing."""

    def run_cell_magic(self, _: str, __: str, body: str) -> None:
        """Run the body, as `%%time` does."""
        exec(body, self.kernel.user_ns)
