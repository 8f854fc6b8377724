import re
from pathlib import Path

import pytest

from autograder.course.chapter_model import CellKind, blank_guess, guess_statement
from autograder.course.chapter_reader import Chapter, read_all_chapters, read_chapter
from autograder.errors import ChapterFormatError, CourseNotFound
from tests.small_chapter import STEM, TEXT, read, refusal


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    return read(tmp_path, TEXT)


class TestReading:
    def test_kinds(self, chapter: Chapter) -> None:
        """The keys of each cell's marker determine its kind."""
        kinds = [cell.kind.value for cell in chapter.cells]

        expected = "markdown parameters setup markdown predict lesson claim figure markdown exercise check"
        assert [*expected.split(), "markdown", "exercise", "check"] == kinds

    def test_lines(self, chapter: Chapter) -> None:
        """Each cell has the line number of its marker."""
        rows = TEXT.split("\n")

        assert all(rows[cell.line - 1].startswith("# %%") for cell in chapter.cells)
        assert 'exercise="double"' in rows[chapter.exercise("double").line - 1]

    def test_exercises(self, chapter: Chapter) -> None:
        """Exercises are in the author's order, with points or extra credit."""
        assert ("double", "hunt") == chapter.exercises
        assert (2, 0) == (chapter.points("double"), chapter.extra("double"))
        assert (0, 1) == (chapter.points("hunt"), chapter.extra("hunt"))

    def test_solution(self, chapter: Chapter) -> None:
        """A solution is the whole cell without markers, and without the starter."""
        expected = 'def hunt(x):\n    """Return x plus one."""\n    return math.fsum([x, 1])'

        assert expected == chapter.solution("hunt")

    def test_stub(self, chapter: Chapter) -> None:
        """Without its own starter, an exercise starts with nbgrader's stub."""
        head = 'def double(x):\n    """Return twice x: double(2) gives 4."""\n'

        assert head + "    # YOUR CODE HERE\n    raise NotImplementedError()" == chapter.starter("double")

    def test_starter(self, chapter: Chapter) -> None:
        """A starter is the text in its region, without the comment signs, empty lines kept."""
        expected = 'def hunt(x):\n    """Return x plus one."""\n\n    return x - 1'

        assert expected == chapter.starter("hunt")

    def test_prelude(self, chapter: Chapter) -> None:
        """The prelude is the parameters, followed by the setup cell."""
        assert "seed = 0\nimport math\n\nfrom autograder import check, reveal" == chapter.prelude

    def test_unknown_exercise(self, chapter: Chapter) -> None:
        """An unknown exercise raises an error that lists the exercises."""
        with pytest.raises(ChapterFormatError, match="no exercise 'triple' here; the exercises are: double, hunt"):
            chapter.solution("triple")

    def test_every_kind_has_a_rule(self) -> None:
        """Every kind of cell has a rule that checks it."""
        from autograder.course.cell_text_rules import CELL_RULES

        assert set(CellKind) == set(CELL_RULES)


class TestMissing:
    def test_no_course(self, tmp_path: Path) -> None:
        """A missing course folder raises a one-line error with the next step."""
        with pytest.raises(CourseNotFound, match=r"expected the course's chapters in .*, found none\. Run") as told:
            read_all_chapters(tmp_path / "course")

        assert "\n" not in str(told.value)

    def test_no_chapter(self, tmp_path: Path) -> None:
        """A missing chapter file raises a one-line error with the next step."""
        with pytest.raises(CourseNotFound, match=r"ch09_gone\.py, found none\. Check its name\."):
            read_chapter(tmp_path / "ch09_gone.py")

    def test_file_name(self, tmp_path: Path) -> None:
        """A chapter's file name must have the form of a stem, because it is used as one everywhere."""
        path = tmp_path / "Tensors-1.py"
        path.write_text(TEXT)
        with pytest.raises(ChapterFormatError, match="expected a file name such as "):
            read_chapter(path)


# (right text, text with a mistake, part of the error message)
SLIPS = {
    "misspelt key": ('exercise="double"', 'exercize="double"', "no key exercize=; did you mean exercise="),
    "unknown key": ("figure=true", "zzz=true", "no key zzz=; the keys are: check, claim, exercise, extra, figure, "),
    "bare word": ("figure=true", "figure", "cannot read the cell marker `# %% figure`"),
    "title": ("# %% figure=true", "# %% A title", "cannot read the cell marker"),
    "no quotes": ('check="double"', "check=double", "cannot read the cell marker"),
    "unclosed quotes": ('check="double"', 'check="double', "cannot read the cell marker"),
    "no space": ("# %% figure=true", "#%% figure=true", "cannot read the cell marker"),
    "key twice": ("points=2", "points=2 points=3", "the key points= stands twice; keep one"),
    "points as text": ("points=2", 'points="2"', "expected points=a whole number above 0, found points='2'"),
    "half a point": ("points=2", "points=1.5", "expected points=a whole number above 0, found points=1.5"),
    "no points at all": (" points=2", "", "'double' needs points= or extra="),
    "points and extra": (
        "points=2",
        "points=2 extra=1",
        "'double' needs points= or extra=; give it one of the two",
    ),
    "points on a lesson": ('name="the-sum"', "points=2", "a plain code cell takes no points="),
    "flag that is false": ("figure=true", "figure=false", "expected figure=true, found figure=False"),
    "two kinds": ("figure=true", "figure=true predict=true", "a predict cell takes no figure="),
    "upper case": ('name="the-sum"', 'name="TheSum"', "of lower-case letters, digits and dashes"),
    "dash in an exercise": (
        'exercise="double"',
        'exercise="dou-ble"',
        "of letters, digits and under",
    ),
    "name twice": ('name="the-sum"', 'name="opening"', "the name 'opening' stands on line 1 too"),
    "the build's name": ('name="the-sum"', 'name="install"', "the name 'install' is the build's own"),
    "check misnamed": ('check="double"', 'check="dubble"', "the exercise 'double' has no check"),
    "second setup": ("figure=true", "setup=true", "expected one setup cell, found another"),
    "body of the check": (
        'check("double", double)',
        'check("double", hunt)',
        'expected `check("double", double)` and',
    ),
    "no solution": (
        '    ### END SOLUTION\n\n# %% check="double"',
        '\n# %% check="double"',
        "found BEGIN SOLUTION;",
    ),
    "wrong marker": ("### END STARTER", "### END START", "found BEGIN STARTER, END START, BEGIN SOLUTION,"),
    "starter no comment": (
        "#     return x - 1",
        "return x - 1",
        "expected `# ` before each line of the starter",
    ),
    "starter no Python": ("#     return x - 1", "#     return x -", "the starter of 'hunt' is no Python"),
    "two docstrings": ("x plus one.", "x plus two.", "solution and starter of 'hunt' have different docstrings"),
    "other function": ("def double(x)", "def doubled(x)", "the solution of 'double' defines no double"),
    "no docstring": (
        '    """Return twice x: double(2) gives 4."""\n',
        "",
        "the solution of 'double' has no docstring",
    ),
    "solution in a lesson": (
        "math.pi",
        "### BEGIN SOLUTION\n1\n### END SOLUTION",
        "outside an exercise; mark",
    ),
    "no guess": ("guess = (1 + 41)  #", "answer = (1 + 41)  #", "expected `guess = <the right answer>"),
    "guess without words": (
        "(1 + 41)  # what is the sum?",
        "(1 + 41)",
        "expected `guess = <the right answer>",
    ),
    "no reveal": ("reveal(guess, ", "print(", "expected `reveal(guess, ...)` in the next code cell"),
    "parameter computed": ("seed = 0", "seed = int(0)", "expected lines such as `seed = 0`"),
    "claim under prose": ("math.pi", "math.pi\n\n# %% [markdown]\n# Pi.\n\n# %% claim=true\nassert True", "move it up"),
    "claim of nothing": (
        "assert sum([41, 1]) == 42 - 0 * seed",
        "print(42)",
        "expected an assert in a claim, found none",
    ),
    "claim that gives": ("assert sum([41, 1])", "total = 42\nassert sum([41, 1])", "a claim gives 'total' a value"),
    "claim no Python": ("assert sum([41, 1])", "assert sum([41, 1)", "the claim is no Python"),
    "mine in a lesson": ("reveal(guess", 'two = mine("double", abs)\nreveal(guess', "in a cell of its own, folded"),
    "mine of nothing": ("figure=true", "mine=true", "expected `mine(...)` in a cell with mine=true, found none"),
    "mine unnamed": ("figure=true\nmath.pi", 'mine=true\ntwo = mine("double", abs)', "expected `my_double = mine("),
    "mine at once": ("figure=true\nmath.pi", 'mine=true\nmine("double", abs)(2)', "expected `my_double = mine("),
    "class of mine": ("figure=true\nmath.pi", 'mine=true\nmy_Net = mine("Net", abs)', "expected `MyNet = mine("),
    "mine of no text": ("figure=true\nmath.pi", "mine=true\nmy_a = mine(a, abs)", "the exercise's name in quotes"),
    "known without words": ("figure=true", "known=true", "expected a comment first in a cell with known=true"),
    "mine no Python": ("figure=true\nmath.pi", 'mine=true\nmine("double"', "the cell is no Python"),
    "wide line": ("math.pi", "math.pi  # " + "wide " * 20, "at most 100 characters in code cells, found 111: `math.pi"),
    "Markdown in a summary": (
        "math.pi",
        "math.pi\n\n# %% [markdown]\n# <details><summary>What is `pi`?</summary>\n#\n# 3.14.\n#\n# </details>",
        "expected <code>pi</code> in a <summary>, found `pi`",
    ),
    "marker in a string": (
        "math.pi",
        '"""\n# %% name="x"\n"""',
        "take lines that begin with `# %%` out of strings",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips(tmp_path: Path, slip: str) -> None:
    """An author's mistake raises a one-line error with file, line and next step."""
    told = refusal(tmp_path, TEXT, SLIPS[slip])

    assert re.match(rf"course/chapters/{STEM}\.py:\d+: [^\n]*$", told)
    assert SLIPS[slip][2] in told


@pytest.mark.parametrize("slip", ["misspelt key", "points as text", "body of the check", "no guess", "name twice"])
def test_slip_lines(tmp_path: Path, slip: str) -> None:
    """The error names the line of the marker of the cell with the mistake."""
    old, new, _ = SLIPS[slip]
    line = TEXT[: TEXT.index(old)].count("\n") + 1
    marker = max(number for number, row in enumerate(TEXT.split("\n")[:line], 1) if row.startswith("# %%"))
    with pytest.raises(ChapterFormatError, match=rf"{STEM}\.py:{marker}: "):
        read(tmp_path, TEXT.replace(old, new, 1))


def test_check_before_exercise(tmp_path: Path) -> None:
    """A check above its exercise is refused."""
    check = '# %% check="hunt" extra=1\ncheck("hunt", hunt)\n'
    moved = TEXT.replace(check, "").replace('# %% exercise="double"', check + '\n# %% exercise="double"')
    with pytest.raises(ChapterFormatError, match="'hunt' stands before its exercise; put it below"):
        read(tmp_path, moved)


def test_first_line(tmp_path: Path) -> None:
    """A header above the first cell is refused."""
    with pytest.raises(ChapterFormatError, match=r":1: expected a cell marker on the first line"):
        read(tmp_path, "# ---\n# jupytext: {}\n# ---\n" + TEXT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("guess = (4, 3)  # the shape", "guess = ...  # the shape"),
        ("guess_2 = torch.float32  # the dtype", "guess_2 = ...  # the dtype"),
        ('guess = "é"  # a letter', "guess = ...  # a letter"),
        ("guess = [\n    1,\n    2,\n]  # both", "guess = ...  # both"),
    ],
)
def test_without_answer(source: str, expected: str) -> None:
    """A student's predict cell keeps the name and the comment, with `...` in place of the answer."""
    assert guess_statement(source) is not None
    assert expected == blank_guess(source)
