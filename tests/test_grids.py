"""The grid that shows where two tensors differ: its window, its text, and its drawing."""

import json
import re

import pytest
import torch
from torch import Tensor

from autograder.diagnosis.tensor_difference_grids import make_difference_grids
from autograder.diagnosis.verdict import GridPair, Report, Status, Verdict
from autograder.exercises.compare_observations import Difference, Tolerance
from autograder.exercises.probe import snapshot_value
from autograder.notebook.report_rendering import report_as_html, text


def between(expected: Tensor, got: Tensor) -> GridPair | None:
    """Return the grid of two tensors whose values differ."""
    return make_difference_grids(
        Difference(("returned",), "values", snapshot_value(expected), snapshot_value(got)), Tolerance()
    )


def changed(x: Tensor, *places: tuple[int, ...]) -> Tensor:
    """Return a copy with other numbers at these places."""
    x = x.clone()
    for place in places:
        x[place] += 1
    return x


def shown(x: Tensor, *places: tuple[int, ...]) -> GridPair:
    """Return the grid of a tensor and a changed copy."""
    drawn = between(x, changed(x, *places))
    assert drawn is not None
    return drawn


def test_a_long_row_is_shown_around_the_first_that_differs() -> None:
    """A long row is shown from three numbers before the first difference, with its indices."""
    drawn = shown(torch.arange(60.0), (30,), (33,), (59,))

    assert tuple(range(27, 35)) == drawn.columns and () == drawn.rows
    assert (0, 3) == drawn.first
    assert ((True, True, True, False, True, True, False, True),) == drawn.agrees
    assert "30.0" == drawn.expected[0][3] and "31.0" == drawn.got[0][3]
    assert "3 of 60 numbers differ, the first at [30]" == drawn.told


@pytest.mark.parametrize(("place", "columns"), [(0, range(8)), (59, range(52, 60)), (3, range(8)), (4, range(1, 9))])
def test_a_window_stays_inside(place: int, columns: range) -> None:
    """At either end, the window still has eight numbers."""
    assert tuple(columns) == shown(torch.arange(60.0), (place,)).columns


def test_of_a_large_matrix_a_window_is_shown() -> None:
    """A large matrix is shown around its first difference."""
    drawn = shown(torch.zeros(20, 30), (10, 2), (11, 29))

    assert (tuple(range(7, 15)), tuple(range(8))) == (drawn.rows, drawn.columns)
    assert (3, 2) == drawn.first and not drawn.agrees[3][2]
    assert "2 of 600 numbers differ, the first at [10, 2]" == drawn.told


def test_of_more_dims_the_grid_that_differs_is_shown() -> None:
    """Of more dimensions, the matrix with the first difference is shown."""
    drawn = shown(torch.zeros(4, 3, 5, 6), (2, 1, 4, 5))

    assert "1 of 360 numbers differs, the first at [2, 1, 4, 5]; this is the grid at [2, 1]" == drawn.told
    assert (4, 5) == drawn.first and (5, 6) == (len(drawn.rows), len(drawn.columns))


def test_numbers_that_differ_look_different() -> None:
    """Differing numbers get enough digits to look different."""
    expected = torch.linspace(1, 2, 8, dtype=torch.float64)
    drawn = between(expected, expected * 1.0002)
    assert drawn is not None

    assert all(one != other for one, other in zip(drawn.expected[0], drawn.got[0], strict=True))


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (torch.zeros(6), torch.ones(6)),  # short enough for a line
        (torch.zeros(()), torch.ones(())),
        (torch.zeros(3, 3, dtype=torch.complex64), torch.ones(3, 3, dtype=torch.complex64)),
        (torch.zeros(3, 3), torch.zeros(3, 3) + 1e-9),  # equal within the tolerance
        (torch.zeros(3, 3), torch.zeros(3, 4)),
        (torch.zeros(0, 3), torch.zeros(0, 3)),
        (torch.zeros(3, 3), torch.zeros(3, 3, device="meta")),
    ],
    ids=["few", "one", "complex", "alike", "shapes", "empty", "no values"],
)
def test_there_is_not_always_a_picture(expected: Tensor, got: Tensor) -> None:
    """There is no grid if it would show no more than a line."""
    assert between(expected, got) is None


def test_whole_numbers_truth_values_and_nan_are_shown() -> None:
    """Integers, bools and NaN appear as Python writes them."""
    assert "7" == shown(torch.arange(9), (7,)).expected[0][6]
    truth = between(torch.arange(9) > 4, torch.arange(9) > 3)
    assert truth is not None and ("False", "True") == (truth.expected[0][3], truth.got[0][3])
    numbers = between(torch.zeros(9), torch.zeros(9).index_fill(0, torch.tensor([2]), torch.nan))
    assert numbers is not None and (0, 2) == numbers.first and "nan" == numbers.got[0][2]


class TestTold:
    """The grid in a student's report."""

    drawn = shown(torch.arange(60.0), (30,), (33,))
    report = Report(
        "shift", (Verdict("shifts", Status.FAIL, "No.", None, "shift(x)", "tensor: a", "tensor: b", drawn),)
    )

    def test_one_number_has_the_double_frame(self) -> None:
        """The first difference has a double frame in both grids."""
        assert 2 == report_as_html(self.report).count("4px double") and 2 == report_as_html(self.report).count(
            "border:2px solid"
        )
        cells = re.findall(r"4px double[^>]*>([^<]*)<", report_as_html(self.report))
        assert ["30.0", "31.0"] == cells

    def test_the_indices_stand_above(self) -> None:
        """Both grids have the column indices as headers."""
        assert 2 * [str(each) for each in range(27, 35)] == re.findall(
            r"<th[^>]*>(\d+)</th>", report_as_html(self.report)
        )

    def test_a_grid_moves_by_itself(self) -> None:
        """Each grid scrolls by itself with a finger or keys, and has an accessible name."""
        found = re.findall(
            r'overflow-x:auto" tabindex="0" role="group" aria-label="([^"]*)"><table', report_as_html(self.report)
        )

        assert ["expected, as a grid", "yours, as a grid"] == found

    def test_a_terminal_gets_a_line(self) -> None:
        """The text version says where the first difference is."""
        assert "compared  2 of 60 numbers differ, the first at [30]" in text(self.report)

    def test_it_travels(self) -> None:
        """A report with a grid is equal after a round trip through JSON."""
        assert self.report == Report.from_json(json.loads(json.dumps(self.report.to_json())))
