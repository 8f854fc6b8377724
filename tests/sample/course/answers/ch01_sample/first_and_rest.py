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


@bank.wrong(
    "swapped", "You return the two in the wrong order: the copy of row 0 comes first, the view second.", slip=True
)
def first_and_rest(x):
    return x[1:], x[0].clone()


@bank.right("through-numpy")
def first_and_rest(x):
    return torch.tensor(x[0].numpy()), x[1:]


@bank.right("copy-into-new-memory")
def first_and_rest(x):
    first = torch.empty_like(x[0])
    first.copy_(x[0])
    return first, x[1:, :]
