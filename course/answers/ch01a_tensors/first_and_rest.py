"""Answers to `first_and_rest`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("first_and_rest")


bank.told("clone-missing", "copy_follows", change={"x[0].clone()": "x[0]"})

bank.wrong(
    "detach-as-copy",
    "`detach` and `.data` cut a tensor off from autograd and copy nothing: "
    "your `copy` still lives in the memory of `x`.",
    change={"x[0].clone()": "x[0].detach()"},
)

bank.told("copies-both", "view_follows", change={"x[1:]": "x[1:].clone()"})


bank.wrong(
    "copies-the-rest",
    "It is the other way round: row 0 is to have memory of its own, the other rows are to share that of `x`.",
    change={"x[0].clone(), x[1:]": "x[0], x[1:].clone()"},
)


@bank.wrong(
    "swapped", "You return the two in the wrong order: the copy of row 0 comes first, the view second.", slip=True
)
def first_and_rest(x):
    return x[1:], x[0].clone()


bank.wrong(
    "keeps-the-row-dim",
    "Your copy is a matrix of one row: a slice keeps its dim. Index with a number to drop it.",
    slip=True,
    change={"x[0].clone()": "x[:1].clone()"},
)


bank.wrong(
    "columns",
    "You take the first column and the other columns. Rows are counted along the first dim.",
    change={"x[0].clone(), x[1:]": "x[:, 0].clone(), x[:, 1:]"},
)


bank.wrong(
    "rest-from-row-0",
    "Your view begins at row 0. The first row is in the copy already: the view begins at row 1.",
    change={"x[1:]": "x[0:]"},
)

bank.wrong(
    "last-row-lost",
    "Your view ends one row early: the end of a slice is not part of it, and `-1` stands for the last row.",
    slip=True,
    change={"x[1:]": "x[1:-1]"},
)


bank.wrong(
    "last-row-alone",
    "Your view is the last row alone. All rows from row 1 to the end are asked for.",
    change={"x[1:]": "x[-1:]"},
)


@bank.wrong("list-of-numbers", "Your copy is a list of Python numbers. A tensor is asked for.")
def first_and_rest(x):
    return x[0].tolist(), x[1:]


@bank.wrong(
    "through-a-list", "Through a list of Python numbers the dtype of `x` is lost. Ask the row itself for a copy."
)
def first_and_rest(x):
    return torch.tensor(x[0].tolist()), x[1:]


@bank.wrong("row-1-for-row-0", "Your copy is row 1. Rows are counted from 0.", slip=True)
def first_and_rest(x):
    return x[1 % len(x)].clone(), x[1:]


@bank.wrong("rest-transposed", "Your view lies on its side: rows and columns have changed places.")
def first_and_rest(x):
    return x[0].clone(), x[1:].T


@bank.right("tensor-split")
def first_and_rest(x):
    copy = torch.empty(x.shape[1:], dtype=x.dtype)
    copy[...] = x[0]
    return copy, x.narrow(0, 1, len(x) - 1)


@bank.right("fancy-index-copies")
def first_and_rest(x):
    return x[[0]].squeeze(0), x.narrow(0, 1, x.shape[0] - 1)


@bank.right("copy-into-new-memory")
def first_and_rest(x):
    first = torch.empty_like(x[0])
    first.copy_(x[0])
    return first, x[1:, :]


@bank.right("detach-and-clone-in-a-list")
def first_and_rest(x):
    first, rest = x.split([1, len(x) - 1])
    return [first[0].detach().clone(), rest]


@bank.right("through-numpy")
def first_and_rest(x):
    return torch.tensor(x[0].numpy()), x[1:]


@bank.told("copies-what-is-not-contiguous", "view_follows")
def first_and_rest(x):
    n, d = x.shape
    line = x.reshape(-1)
    return line[:d].clone(), line[d:].reshape(n - 1, d)
