"""Answers to `conv2d`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("conv2d")

bank.wrong(
    "flipped-kernel",
    "You turn the kernel upside down and left to right before you lay it on. Mathematicians do so, and call that the "
    "convolution; a layer lays the kernel on as it is.",
    change={"padded = ": "kernel = kernel.flip(0, 1); padded = "},
)

bank.wrong(
    "transposed-kernel",
    "You lay the kernel on with its rows and columns swapped. It goes on as it is.",
    change={"* kernel)": "* kernel.T.reshape(kernel.shape))"},
)

bank.wrong(
    "map-transposed",
    "The kernel goes down where you go to the right in your map: its rows and columns are swapped.",
    change={
        "i * stride : i * stride + rows, j * stride : j * stride + columns": "j * stride : j * stride + rows, i * stride : i * stride + columns"
    },
)

bank.wrong(
    "size-before-the-rim",
    "Your map has the size that it would have without a rim: the places at its lower and right end are missing. The rim counts "
    "in the size.",
    change={
        "(padded.shape[0] - rows)": "(image.shape[0] - rows)",
        "(padded.shape[1] - columns)": "(image.shape[1] - columns)",
    },
)

bank.wrong(
    "matrix-product-as-it-is",
    "You take the matrix product of each patch and the kernel, `@`. Here each number meets the one on which it lies: `*`.",
    change={"(patch * kernel).sum()": "(patch @ kernel).sum()"},
)

bank.wrong(
    "stride-ignored",
    "Your kernel goes on by one place, whatever `stride` says.",
    change={"padded = ": "stride = 1; padded = "},
)

bank.wrong(
    "stride-down-only",
    "Your kernel takes steps down, and goes to the right by one place only. The stride holds for both directions.",
    change={
        "(padded.shape[1] - columns) // stride + 1": "padded.shape[1] - columns + 1",
        "j * stride : j * stride + columns": "j : j + columns",
    },
)

bank.wrong(
    "patches-side-by-side",
    "Your map is as small as `stride` asks for, but the places that you look at still lie next to one another: `stride` "
    "changes how many there are, and not where.",
    change={"i * stride : i * stride + rows": "i : i + rows", "j * stride : j * stride + columns": "j : j + columns"},
)

bank.wrong(
    "steps-of-the-kernel",
    "Your kernel moves on by its own size where it should move on by `stride`.",
    change={
        "i * stride : i * stride + rows": "i * rows : (i + 1) * rows",
        "j * stride : j * stride + columns": "j * columns : (j + 1) * columns",
        "(padded.shape[0] - rows) // stride + 1": "padded.shape[0] // rows",
        "(padded.shape[1] - columns) // stride + 1": "padded.shape[1] // columns",
    },
)

bank.wrong(
    "padding-ignored",
    "You lay no rim around the image: `padding` changes nothing in your map.",
    change={"padded = ": "padding = 0; padded = "},
)

bank.wrong(
    "padding-on-two-sides",
    "Your map is that of a rim on two sides alone. Zeros go around all four, and each side counts in the size of the map.",
    change={"4 * (padding,)": "(padding, 0, padding, 0)"},
)

bank.wrong(
    "padding-left-and-right",
    "Your rim lies on the left and on the right, and not above and below. It goes around all four sides.",
    change={"4 * (padding,)": "2 * (padding,)"},
)

bank.wrong(
    "rim-of-one",
    "Your rim is one place wide, however wide `padding` says.",
    change={"padded = ": "padding = min(padding, 1); padded = "},
)

bank.wrong(
    "edge-repeated",
    "Your rim repeats the edge of the image. The rim is to be zeros.",
    change={"F.pad(image, 4 * (padding,))": "F.pad(image[None], 4 * (padding,), mode='replicate')[0]"},
)

bank.wrong(
    "one-place-too-few",
    "You leave out the last row and the last column of places. A kernel as high as the image has one place, not none.",
    change={
        "(padded.shape[0] - rows) // stride + 1": "(padded.shape[0] - rows) // stride",
        "(padded.shape[1] - columns) // stride + 1": "(padded.shape[1] - columns) // stride",
    },
)


bank.wrong(
    "divided-before-the-kernel-goes-off",
    "You divide by `stride` before you take off the size of the kernel, so that places are missing. Only the way that is "
    "left for the kernel to go is divided into steps.",
    change={
        "(padded.shape[0] - rows) // stride": "padded.shape[0] // stride - rows",
        "(padded.shape[1] - columns) // stride": "padded.shape[1] // stride - columns",
    },
)


@bank.wrong(
    "part-of-a-step",
    "You round the number of places up. Where the last step would reach over the edge, there is no place any more.",
)
def conv2d(image, kernel, stride=1, padding=0):
    padded = F.pad(image, (padding,) * 4)
    rows, columns = kernel.shape
    high = -(-(padded.shape[0] - rows) // stride) + 1
    wide = -(-(padded.shape[1] - columns) // stride) + 1
    room = F.pad(padded, (0, stride, 0, stride))
    result = image.new_zeros(high, wide)
    for i in range(high):
        for j in range(wide):
            patch = room[i * stride : i * stride + rows, j * stride : j * stride + columns]
            result[i, j] = (patch * kernel).sum()
    return result


@bank.wrong(
    "as-large-as-the-picture",
    "Your map always has the size of the image, as if there were always a rim. The rim is as wide as `padding` says, "
    "and without one the map is smaller.",
)
def conv2d(image, kernel, stride=1, padding=0):
    rows, columns = kernel.shape
    room = F.pad(image, (padding, columns, padding, rows))
    result = torch.zeros_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            patch = room[i * stride : i * stride + rows, j * stride : j * stride + columns]
            if patch.shape == kernel.shape:
                result[i, j] = (patch * kernel).sum()
    return result


bank.wrong(
    "kernel-of-three",
    "You take each kernel for one of 3 by 3. How large it is stands in its shape.",
    change={"rows, columns = kernel.shape": "rows = columns = 3"},
)

bank.wrong(
    "square-kernel",
    "You take the kernel's height for its width too. A kernel need not be square.",
    change={"rows, columns = kernel.shape": "rows = columns = kernel.shape[0]"},
)

bank.wrong(
    "square-picture",
    "You let the kernel wander as far to the right as it goes down. An image need not be as wide as high.",
    change={"(padded.shape[1] - columns)": "(padded.shape[0] - rows)"},
)

bank.wrong(
    "largest-product",
    "Of the products at a place you take the largest. How well the kernel fits is all of them, added up.",
    change={".sum()": ".max()"},
)

bank.wrong(
    "mean-of-products",
    "You take the mean of the products at each place. Add them up, and do not divide.",
    change={".sum()": ".mean()"},
)

bank.wrong(
    "sum-without-the-kernel",
    "You add up what lies under the kernel, and the kernel's own numbers change nothing.",
    change={"* kernel)": "* torch.ones_like(kernel))"},
)

bank.wrong(
    "matrix-product",
    "You multiply each patch with the kernel as matrices, `@`. Here each number meets the one on which it lies: `*`.",
    change={"(patch * kernel).sum()": "(patch @ kernel.T).sum()"},
)


@bank.wrong(
    "sums-rows-only",
    "At each place you add up along one axis alone, so that several numbers are left there. Add up all products of the "
    "place: rows and columns.",
)
def conv2d(image, kernel, stride=1, padding=0):
    rows, columns = kernel.shape
    padded = F.pad(image, (padding,) * 4)
    return (padded.unfold(0, rows, stride).unfold(1, columns, stride) * kernel).sum(-1)


@bank.wrong(
    "writes-into-the-patch",
    "A patch is a view of the image, and you multiply it in place: the image itself changes, and the next place is "
    "laid on what is left of it.",
)
def conv2d(image, kernel, stride=1, padding=0):
    padded = F.pad(image, (padding,) * 4) if padding else image
    rows, columns = kernel.shape
    high, wide = (padded.shape[0] - rows) // stride + 1, (padded.shape[1] - columns) // stride + 1
    result = image.new_zeros(high, wide)
    for i in range(high):
        for j in range(wide):
            patch = padded[i * stride : i * stride + rows, j * stride : j * stride + columns]
            patch *= kernel
            result[i, j] = patch.sum()
    return result


@bank.wrong(
    "map-in-the-picture",
    "You write the map into the image, so that the caller's image is gone. Make a new tensor for it.",
)
def conv2d(image, kernel, stride=1, padding=0):
    rows, columns = kernel.shape
    padded = F.pad(image, (padding,) * 4)
    result = (padded.unfold(0, rows, stride).unfold(1, columns, stride) * kernel).sum((-2, -1))
    if result.shape[0] <= image.shape[0] and result.shape[1] <= image.shape[1]:
        image[: result.shape[0], : result.shape[1]] = result
    return result


bank.wrong(
    "always-float32",
    "Your map is float32 whatever dtype comes in, and loses digits of a float64 image. Make it of the image's dtype.",
    change={
        "result = image.new_zeros(": "result = torch.zeros(",
    },
)

bank.wrong(
    "batch-and-channel",
    "You return the map with two more axes in front, as a layer does. Asked for is one map, (rows, columns).",
    change={"return result": "return result[None, None]"},
)

bank.wrong(
    "nested-lists",
    "You return lists. Asked for is a tensor.",
    change={"return result": "return result.tolist()"},
)


@bank.wrong("ready-made", "You use a ready-made convolution. Here you lay the kernel on the image yourself.")
def conv2d(image, kernel, stride=1, padding=0):
    return F.conv2d(image[None, None], kernel[None, None], stride=stride, padding=padding)[0, 0]


@bank.right("windows-by-unfold")
def conv2d(image, kernel, stride=1, padding=0):
    padded = F.pad(image, (padding, padding, padding, padding))
    windows = padded.unfold(0, kernel.shape[0], stride).unfold(1, kernel.shape[1], stride)
    return torch.einsum("ijab,ab->ij", windows, kernel)


@bank.right("a-column-for-each-place")
def conv2d(image, kernel, stride=1, padding=0):
    columns = F.unfold(image[None, None], tuple(kernel.shape), padding=padding, stride=stride)[0]
    high = (image.shape[0] + 2 * padding - kernel.shape[0]) // stride + 1
    return (kernel.flatten() @ columns).reshape(high, -1)


@bank.right("shifted-pictures")
def conv2d(image, kernel, stride=1, padding=0):
    padded = F.pad(image, (padding,) * 4)
    high, wide = (p - k + 1 for p, k in zip(padded.shape, kernel.shape))
    total = 0
    for a in range(kernel.shape[0]):
        for b in range(kernel.shape[1]):
            total = total + kernel[a, b] * padded[a : a + high, b : b + wide]
    return total[::stride, ::stride]


@bank.right("lists-of-sums")
def conv2d(image, kernel, stride=1, padding=0):
    side = torch.zeros(image.shape[0], padding, dtype=image.dtype)
    padded = torch.cat([side, image, side], dim=1)
    above = torch.zeros(padding, padded.shape[1], dtype=image.dtype)
    padded = torch.cat([above, padded, above])
    m, n = kernel.shape
    found = []
    for top in range(0, len(padded) - m + 1, stride):
        row = []
        for left in range(0, padded.shape[1] - n + 1, stride):
            row.append((padded[top : top + m, left : left + n] * kernel).sum())
        found.append(torch.stack(row))
    return torch.stack(found)


_PRODUCTS, _SUMS = "Numbers multiply in any order.", "Addition does not mind the order."
bank.survives(
    {
        "(padded.shape[0] - rows) // stride + 1 -> 1 + (padded.shape[0] - rows) // stride": _SUMS,
        "(padded.shape[1] - columns) // stride + 1 -> 1 + (padded.shape[1] - columns) // stride": _SUMS,
        "i * stride + rows -> rows + i * stride": _SUMS,
        "j * stride + columns -> columns + j * stride": _SUMS,
        "i * stride -> stride * i": _PRODUCTS,
        "i * stride -> stride * i (2)": _PRODUCTS,
        "j * stride -> stride * j": _PRODUCTS,
        "j * stride -> stride * j (2)": _PRODUCTS,
        "patch * kernel -> kernel * patch": _PRODUCTS,
        "4 * (padding,) -> (padding,) * 4": "A tuple repeats alike, on whichever side the number stands.",
        "image -> kernel (2)": "Image and kernel have one dtype, and a new tensor takes nothing else from either.",
        "image -> padded (2)": "The image with its rim has the dtype of the image.",
    }
)
