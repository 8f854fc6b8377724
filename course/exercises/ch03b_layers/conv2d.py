"""`conv2d`: lay a kernel on every place of one image, with a rim of zeros and with steps."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probe import select_facets
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_imports_and_attributes

_SIZE = (
    "The map has one number for each place where the whole kernel lies on the image and its rim, in their rows and "
    "columns: yours has "
)
places = Requirement(
    "lays the kernel on every place of the image",
    observe_result_only,
    {
        "returned:shape": _SIZE + "others. A kernel of k rows has n - k + 1 places in n rows; for columns it is alike.",
        "returned:values": "At some place your number is not how well the kernel fits there: multiply the kernel, as "
        "it is, place by place with what lies under it, and add all products up.",
    },
)
sizes = Requirement(
    "works for images and kernels of any height, width and float dtype",
    observe_result_only,
    {
        "returned:shape": _SIZE
        + "others. Image and kernel need not be square, and a map of a single number has both axes, too.",
        "returned:values": "This image or kernel has another size, dtype or layout in memory, and some number of "
        "your map is not the sum of the products of the kernel and what lies under it.",
    },
)
steps = Requirement(
    "goes on by stride places, down and to the right",
    observe_result_only,
    {
        "returned:shape": _SIZE
        + "others. With a stride, places that would reach over the edge are left out, and only those.",
        "returned:values": "With a stride the map is that of stride 1, of which only every stride-th row and column "
        "is kept, from the first on. Some of your numbers belong to other places.",
    },
)
rim = Requirement(
    "lays a rim of padding zeros around the image",
    observe_result_only,
    {
        "returned:shape": _SIZE + "others. The rim is `padding` wide on each of the four sides.",
        "returned:values": "With a rim some numbers of your map are others. In the rim stand zeros, on all four sides, "
        "and the image in the middle.",
    },
)
both = Requirement(
    "takes steps on an image with a rim",
    observe_result_only,
    {
        "returned:shape": _SIZE + "others. The rim comes first, then the kernel goes over all of it, in steps.",
        "returned:values": "With rim and steps together some numbers of your map are others. The first place is the "
        "upper left corner of the rim, and every step begins there.",
    },
)
unchanged = Requirement(
    "leaves image and kernel as they are", select_facets(make_call_probe(), "returned", "inputs"), given=("returned",)
)


@exercise(
    tier="core",
    rules=(
        forbid_imports_and_attributes(
            *("conv2d", "Conv2d", "conv1d", "Conv1d", "conv3d", "Conv3d", "LazyConv2d", "convolution"),
            *("conv_transpose2d", "ConvTranspose2d", "convolve", "convolve2d", "correlate", "correlate2d"),
            requirement="does without a ready-made convolution",
            sentence="You use a ready-made convolution. Here you lay the kernel on the image yourself.",
        ),
    ),
    hints=(
        "Begin with the lesson's `fits`. It says 6 for the size of the map and 3 for that of the kernel: from which "
        "shapes can you compute them?",
        "Make the rim first: `padded = F.pad(image, ...)` with `padding` four times. Then go over `padded` as `fits` "
        "goes over `picture`.",
        "The map has (rows of `padded` - rows of the kernel) // stride + 1 rows, and row `i` of it looks at the rows "
        "of `padded` from i * stride on. For columns it is alike.",
    ),
)
def conv2d(draw: Draw) -> Iterator[Case]:
    """Lay a kernel on every place of one image."""
    yield places(torch.arange(1.0, 10.0).reshape(3, 3), torch.tensor([[1.0, 0.0], [0.0, 10.0]]))
    yield places(_digits(draw, 5, 4), _kernel(draw, 2, 2))
    height, width, rows, columns = *draw.sizes(2, 5, 8), *draw.sizes(2, 2, 4)
    yield sizes(_digits(draw, height, width), _kernel(draw, rows, columns))
    yield sizes(_digits(draw, width, height).T, _kernel(draw, columns, rows).T)
    yield sizes(_digits(draw, 3, 2), _kernel(draw, 3, 2))
    yield sizes(_digits(draw, 2, 4), _kernel(draw, 1, 1))
    yield steps(_digits(draw, 5, 8), _kernel(draw, 3, 2), stride=2)
    yield steps(_digits(draw, 8, 9), _kernel(draw, 2, 3), stride=3)
    yield rim(_digits(draw, 3, 4), _kernel(draw, 2, 3), padding=1)
    yield rim(_digits(draw, 4, 3), _kernel(draw, 3, 2), padding=2)
    yield both(_digits(draw, 5, 6), _kernel(draw, 3, 2), stride=2, padding=1)
    yield both(_digits(draw, 7, 4), _kernel(draw, 2, 3), stride=3, padding=2)
    fine = draw.normal(3, 4, dtype=torch.float64)
    yield sizes(fine, draw.normal(2, 2, dtype=torch.float64))
    yield unchanged(_digits(draw, 4, 5), _kernel(draw, 2, 3))
    yield unchanged(_digits(draw, 4, 3), _kernel(draw, 2, 2), stride=2, padding=1)


def _digits(draw: Draw, height: int, width: int) -> torch.Tensor:
    """Return an image of whole numbers from 1 to 9, whose sums of products are exact; no edge is white."""
    return draw.ints(1, 10, height, width).float()


def _kernel(draw: Draw, height: int, width: int) -> torch.Tensor:
    """Return a kernel of different whole numbers in mixed order: turned or transposed it is another one."""
    numbers = [-3.0, 1.0, 5.0, -2.0, 7.0, 2.0, -1.0, 4.0, 3.0, -5.0, 8.0, -4.0]
    start = draw.whole(0, len(numbers) - 1)
    turned = numbers[start:] + numbers[:start]
    return torch.tensor(turned[: height * width]).reshape(height, width)
