"""The film of the shape explorer: each number with its operands and its place in memory."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
from torch import Tensor

from explorers import shape_explorer
from explorers.apply_operation import explore_operation
from explorers.element_animation import MOST_CASES
from explorers.element_provenance import OperationProvenance, trace_elements
from explorers.recorded_animation import RECORD
from explorers.shape_operation_catalog import OPERATIONS
from explorers.shape_widget import ShapeExplorer
from tests.films import frames

BASE = torch.arange(12).reshape(3, 4)
COLUMN = torch.tensor([[10], [20], [30]])


def cells(operation: str, *tensors: Tensor, **given: str) -> OperationProvenance:
    """Return an operation on tensors a and b, cell by cell."""
    named = list(zip("ab", tensors, strict=False))
    found = trace_elements(explore_operation(operation, named, given), operation, tensors, given)
    assert found is not None
    return found


def said(explorer: ShapeExplorer) -> list[str]:
    """Return the caption of each frame."""
    return [frame["said.text"] for frame in frames(explorer.film)]


def choose(explorer: ShapeExplorer, **chosen: object) -> ShapeExplorer:
    """Send these choices as the page would, and return the explorer."""
    for name, value in chosen.items():
        explorer._hear(explorer, {"choose": name, "value": value}, [])
    return explorer


@pytest.mark.parametrize(
    ("operation", "tensors", "given", "cell", "made", "spelled"),
    [
        ("add", (BASE, COLUMN), {}, 5, ((5,), (1,)), "5 + 20"),
        ("matmul", (BASE.T, COLUMN), {}, 1, ((3, 4, 5), (0, 1, 2)), "1 × 10 + 5 × 20 + 9 × 30"),
        ("sum", (BASE,), {"dim": "0"}, 1, ((1, 5, 9),), "1 + 5 + 9"),
        ("mean", (BASE.float(),), {"dim": "1"}, 0, ((0, 1, 2, 3),), "(0 + 1 + 2 + 3) / 4"),
        ("amax", (BASE,), {"dim": "0"}, 2, ((2, 6, 10),), "the largest of 2, 6, 10"),
        ("transpose", (BASE,), {}, 1, ((4,),), "a[1, 0]"),
        ("index", (BASE,), {"index": "[0, 2]"}, 4, ((8,),), "a[2, 0]"),
        ("expand", (COLUMN,), {"sizes": "-1, 2"}, 3, ((1,),), "a[1, 0]"),
    ],
)
def test_operands_of_a_number(
    operation: str, tensors: Any, given: dict[str, str], cell: int, made: Any, spelled: str
) -> None:
    """A number's operands and formula are these."""
    found = cells(operation, *tensors, **given)

    assert made == found.made[cell] and spelled == found.spelled(cell)


def test_zeros_and_equal_numbers_have_their_part_too() -> None:
    """The operands depend on the operation, and not on the numbers."""
    found = cells("matmul", torch.zeros(2, 3), torch.zeros(3, 1))

    assert (((0, 1, 2), (0, 1, 2)), ((3, 4, 5), (0, 1, 2))) == found.made
    assert ((tuple(range(5)),),) == cells("amax", torch.ones(5), dim="0").made


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_can_be_filmed(operation: str) -> None:
    """Every operation has operands and a formula for each number."""
    first = COLUMN.T if operation == "matmul" else BASE.float()
    found = cells(operation, *(first, COLUMN)[: OPERATIONS[operation].tensors])

    assert found.result is not None and len(found.made) == len(found.result.numbers) > 0
    assert all(found.spelled(cell) for cell in range(len(found.made)))


def test_places_in_memory() -> None:
    """A view's numbers are in the base's memory, and a copy's in its own."""
    turned = cells("transpose", BASE).result
    picked = cells("index", BASE[1:], index="[1]").result
    assert turned is not None and picked is not None

    assert (0, 4, 8, 1) == turned.places[:4] and ("a", 12) == (turned.owner, turned.memory)
    assert (0, 1, 2, 3) == picked.places and ("result", 4) == (picked.owner, picked.memory)
    assert (4, 5, 6, 7) == cells("index", BASE[1:], index="0").inputs[0].places[:4]


def test_a_view_into_a_large_memory_has_no_strip() -> None:
    """A view of a large memory has no places, but all else."""
    explorer = shape_explorer(x=torch.arange(1000)[5:8])

    assert "place" not in " ".join(said(explorer)) and "x[1] = 6" in " ".join(said(explorer))
    assert "hidden" in str(explorer.film["runs"])


def test_a_refusal_films_what_went_in() -> None:
    """If torch refuses, the film has the inputs and torch's error."""
    explorer = shape_explorer(base=BASE, row=torch.tensor([1, 2, 3]))
    (run,) = explorer.film["runs"].values()

    assert run["still"]["outcome.text"].startswith("torch refuses: RuntimeError: The size of tensor a (4)")
    assert 15 == len(said(explorer)) and not any("result" in each for each in said(explorer))


def test_words_of_each_frame() -> None:
    """A caption has the number, its formula and its place; the inputs' frames follow."""
    told = said(choose(shape_explorer(base=BASE, column=COLUMN), second="column"))

    assert "result[0, 1] = 1 + 10 = 11, place 1 in its memory." == told[1]
    assert "base[0, 0] = 0, place 0 in its memory." == told[12] and 27 == len(told)


def test_cells_name_their_frames() -> None:
    """Each cell and each place in memory refers to its frame."""
    explorer = choose(shape_explorer(base=BASE, column=COLUMN), second="column")
    named = [int(each) for each in re.findall(r'data-frame="(\d+)"', explorer.film["picture"])]

    assert sorted([*range(27), *range(27)]) == sorted(named)


def test_what_is_to_be_predicted_is_not_filmed() -> None:
    """There is no film while the reader predicts."""
    explorer = choose(shape_explorer(), predict=True)
    assert {} == explorer.film and "11" not in explorer.page().split("</style>")[1]

    assert 12 < len(said(choose(explorer, show=None))) and "x-numbers" not in explorer.picture


@pytest.mark.parametrize("tensor", [torch.zeros(0, 3), torch.ones(61), torch.ones(10**7)])
def test_empty_and_large_tensors(tensor: Tensor) -> None:
    """Empty and large tensors have no film."""
    explorer = shape_explorer(x=tensor)

    assert {} == explorer.film and str(tuple(tensor.shape)) in explorer.picture


@pytest.mark.parametrize(
    ("tensor", "told"),
    [
        (torch.tensor(3.0), "= x = 3,"),
        (torch.tensor([math.nan, math.inf]), "nan"),
        (torch.tensor([True, False]), "True"),
    ],
)
def test_odd_numbers(tensor: Tensor, told: str) -> None:
    """NaN and other special numbers appear as text, and never in coordinates."""
    explorer = choose(shape_explorer(x=tensor), operation="reshape", sizes="-1")
    drawn = [value for frame in frames(explorer.film) for part, value in frame.items() if part != "said.text"]

    assert told in said(explorer)[0] and not re.search("nan|inf", " ".join(drawn))


def test_three_axes_stand_as_matrices_beside_each_other() -> None:
    """No two cells of a tensor with three axes overlap."""
    picture = shape_explorer(x=torch.arange(24).reshape(2, 3, 4)).film["picture"]
    corners = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*class="x-cell"', picture)

    assert len(corners) == len(set(corners)) >= 48


def test_a_page_for_the_site_has_many_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the site, the page has many operations, one of them visible; elsewhere only the present one."""
    explorer = shape_explorer(base=BASE, per_row=torch.tensor([10, 20, 30]), column=COLUMN)
    assert 1 == explorer.page().count("display=")
    monkeypatch.setenv(RECORD, "all")
    page = explorer.page()

    assert 15 < page.count('data-part="case') <= MOST_CASES and 1 == page.count('display="inline"')
    assert all(code in page for code in ("base + column", "column.expand(-1, 4)", "per_row @ base", "base[:, 1]"))
    assert len(page) < 400_000 and [] == explorer.film["choices"]


def test_names_are_text() -> None:
    """Markup in a name is escaped."""
    explorer = shape_explorer(**{"<b>": torch.ones(2)})

    assert "<b>" not in explorer.film["picture"] and "<b>" not in explorer.page()
