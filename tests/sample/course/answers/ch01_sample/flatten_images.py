"""Answers to `flatten_images`: wrong ones that learners really give, and right ones that must pass."""

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("flatten_images")


@bank.wrong(
    "view-instead-of-permute",
    "The shape is right, the order is not: `view` and `reshape` never move a number, so the channels of "
    "one pixel do not come together. Move the channel dim first.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.reshape(n, h * w, c)


@bank.wrong(
    "hardcoded-n",
    "The batch size of one example stands in your code. Take it from the shape of `x`.",
)
def flatten_images(x):
    return x.permute(0, 2, 3, 1).reshape(2, -1, x.shape[1])


@bank.wrong(
    "column-by-column",
    "Your pixels run down the columns of the image: height and width are swapped on the way. Keep H before W.",
)
def flatten_images(x):
    return x.transpose(1, 3).flatten(1, 2)


@bank.wrong(
    "channels-not-moved",
    "Your result is (N, C, H*W): one row for each channel. One row for each pixel is asked for.",
)
def flatten_images(x):
    return x.flatten(2)


@bank.right("movedim")
def flatten_images(x):
    return x.movedim(1, -1).flatten(1, 2)


@bank.right("flatten-then-transpose")
def flatten_images(x):
    return x.flatten(start_dim=2).transpose(1, 2)
