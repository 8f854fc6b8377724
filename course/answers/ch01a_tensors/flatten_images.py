"""Answers to `flatten_images`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("flatten_images")


bank.wrong(
    "view-instead-of-permute",
    "The shape is right, the order is not: `x` lists all numbers of one channel before the next, and cutting them "
    "into other rows keeps that order. Move the channel dim first.",
    change={"pixels = x.permute(0, 2, 3, 1)\nreturn pixels.reshape(n, h * w, c)": "return x.reshape(n, h * w, c)"},
)


bank.wrong(
    "hardcoded-n",
    "The batch size of one example stands in your code. Take it from the shape of `x`.",
    change={".contiguous().flatten(1, 2)": ".reshape(2, -1, x.shape[1])"},
    of="permute-then-flatten",
)


bank.wrong(
    "hardcoded-channels",
    "You count on three channels. Images may have one, or more than three: take the number from `x`.",
    change={".contiguous().flatten(1, 2)": ".reshape(x.shape[0], -1, 3)"},
    of="permute-then-flatten",
)


bank.wrong(
    "non-contiguous-view",
    "Here `view` asks for one row over dims which no longer lie behind one another in memory. `reshape` "
    "copies where it must; and check the order of the sizes.",
    change={".permute(0, 2, 3, 1)": ".permute(0, 2, 3, 1).view(-1, c)", ".reshape": ".view"},
)


@bank.wrong(
    "view-of-a-part",
    "Your `view` works as long as the rows of an image follow one another in memory. In a part of larger images they do "
    "not: `reshape` copies where it must.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.permute(0, 2, 3, 1).view(n, h * w, c)


bank.wrong(
    "channels-not-moved",
    "Your result is (N, C, H*W): one row for each channel. One row for each pixel is asked for.",
    change={".movedim(1, -1).flatten(1, 2)": ".flatten(2)"},
    of="movedim",
)


bank.wrong(
    "column-by-column",
    "Your pixels run down the columns of the image: height and width are swapped on the way. Keep H before W.",
    change={"movedim(1, -1)": "transpose(1, 3)"},
    of="movedim",
)


bank.wrong(
    "batch-merged",
    "All images have run together into one long matrix. Keep the batch dim and flatten only height and width.",
    change={".contiguous().flatten(1, 2)": ".reshape(-1, x.shape[1])"},
    of="permute-then-flatten",
)


bank.wrong(
    "squeezed",
    "`squeeze` drops every dim of size 1: a batch of one image, or an image of one channel, loses a dim.",
    change={"return x.movedim(1, -1).flatten(1, 2)": "return x.flatten(2).transpose(1, 2).squeeze()"},
    of="movedim",
)


@bank.wrong(
    "images-mixed",
    "You moved the batch dim behind the pixels: the rows of one result come from different images.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.permute(2, 3, 0, 1).reshape(n, h * w, c)


bank.wrong(
    "all-dims-reversed",
    "All four dims came in reverse order, the images as well: for example, `.T` does that. Say with "
    "`permute` where each dim goes.",
    change={"pixels = x.permute(0, 2, 3, 1)\nreturn pixels.reshape(n, h * w, c)": "return x.T.reshape(n, h * w, c)"},
)


@bank.wrong("casts-to-float32", "Your result is float32 whatever dtype comes in. Keep the dtype of what you are given.")
def flatten_images(x):
    return x.flatten(2).transpose(1, 2).float()


@bank.right("movedim")
def flatten_images(x):
    return x.movedim(1, -1).flatten(1, 2)


@bank.right("flatten-then-transpose")
def flatten_images(x):
    return x.flatten(start_dim=2).transpose(1, 2)


@bank.right("permute-then-flatten")
def flatten_images(x):
    return x.permute(0, 2, 3, 1).contiguous().flatten(1, 2)


@bank.right("stack-of-channels")
def flatten_images(x):
    return torch.stack([channel.flatten(1) for channel in x.unbind(1)], dim=-1)


@bank.wrong("three-channels", "You count on three channels. Read their number from the shape of `x`.")
def flatten_images(x):
    red, green, blue = x[:, 0], x[:, 1], x[:, 2]
    return torch.stack([red.flatten(1), green.flatten(1), blue.flatten(1)], dim=-1)


@bank.wrong(
    "pixels-of-one-size",
    "You have written down how many pixels an image has. Read its height and width from the shape of `x`.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.permute(0, 2, 3, 1).reshape(n, 64, c)


@bank.wrong(
    "height-for-width",
    "The number of rows that you ask for does not come out. An image has H * W pixels, and H and W may differ.",
)
def flatten_images(x):
    n, c, h = x.shape[:3]
    return x.permute(0, 2, 3, 1).reshape(n, h * h, c)


bank.survives(
    {
        "n -> -1": "With one size left open, reshape finds the batch size itself.",
        "h * w -> w * h": "Whole numbers multiply in any order.",
    }
)


@bank.wrong(
    "strides-from-the-shape",
    "Your strides are computed from the shape of `x`, as if its rows followed one another in memory. In a part of larger "
    "images they do not, and you read numbers that are not in `x`.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.as_strided((n, h * w, c), (c * h * w, 1, h * w))
