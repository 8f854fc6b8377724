"""Answers to `grad_of`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("grad_of")


@bank.wrong(
    "leaves-grad-behind",
    "Backward on `x` itself changes its .grad: what stood there is lost, or added to. `x` must stay as it was.",
    also=("fills-other-grads",),
)
def grad_of(f, x):
    x.requires_grad_()
    x.grad = None
    f(x).sum().backward()
    return x.grad.clone()


@bank.wrong(
    "accumulates",
    "Your backward adds to the .grad that `x` has already. You return the new gradient plus the old one.",
)
def grad_of(f, x):
    x.requires_grad_()
    f(x).sum().backward()
    return x.grad.clone()


bank.wrong(
    "non-scalar",
    "This fails where `f` gives several numbers: a gradient starts from one. Which number is to be differentiated?",
    change={"f(copy).sum()": "f(copy)"},
)

bank.wrong(
    "fills-other-grads",
    "Your backward fills the .grad of every leaf that requires grad, also of those that `f` uses itself.",
    change={"backward(inputs=[copy])": "backward()"},
    of="backward-with-inputs",
)

bank.wrong(
    "mean-of-the-outputs",
    "You differentiate the mean of what `f` gives. Their sum is asked for.",
    change={"f(copy).sum()": "f(copy).mean()"},
)


bank.wrong(
    "leaves-the-flag-on",
    "You switch `requires_grad` on for the caller's `x`, and it stays on. Use a leaf of your own.",
    change={"copy = x.detach().clone()": "x", "f(copy).sum(), copy": "f(x).sum(), x"},
)


bank.told("tracked-gradient", "tracked", change={"(), copy": "(), copy, create_graph=True"})


@bank.wrong(
    "clone-is-no-leaf",
    "You clone `x` without detaching it and read .grad of the clone: where `x` requires grad the clone is no leaf, "
    "and its .grad stays None.",
    also=("fills-other-grads",),
)
def grad_of(f, x):
    copy = x.clone()
    if not copy.requires_grad:
        copy.requires_grad_()
    f(copy).sum().backward()
    return copy.grad


bank.wrong(
    "first-output-only",
    "You differentiate the first number that `f` gives and forget the others. All of them count.",
    change={"f(copy).sum()": "f(copy).reshape(-1)[0]"},
)

bank.wrong(
    "returns-the-tuple",
    "`torch.autograd.grad` returns a tuple, with one gradient for each tensor asked about. Take it out.",
    slip=True,
    change={"(f(copy).sum(), copy)[0]": "(f(copy).sum(), copy)"},
)

bank.wrong(
    "sign-only", "You return the sign of the gradient. Its length is asked for, too.", change={"[0]": "[0].sign()"}
)


@bank.wrong("flattened", "Your gradient is one long row. It is to have the shape of `x`.", slip=True)
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).sum(), copy)[0].flatten()


@bank.wrong("doubled", "Your gradient is twice as long, as after two backward passes in a row.", slip=True)
def grad_of(f, x):
    leaf = x.detach().clone().requires_grad_()
    return 2 * torch.autograd.grad(f(leaf).sum(), leaf)[0]


@bank.told("differences", "at_x")
def grad_of(f, x):
    h = 1 / 64
    flat = x.detach().flatten()
    slopes = torch.zeros_like(flat)
    for i in range(len(flat)):
        moved = flat.clone()
        moved[i] += h
        with torch.no_grad():
            slopes[i] = (f(moved.reshape(x.shape)).sum() - f(x).sum()) / h
    return slopes.reshape(x.shape)


@bank.right("grad-outputs")
def grad_of(f, x):
    leaf = x.detach().requires_grad_()
    y = f(leaf)
    (gradient,) = torch.autograd.grad(y, [leaf], grad_outputs=torch.ones_like(y))
    return gradient


@bank.right("backward-with-inputs")
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    f(copy).sum().backward(inputs=[copy])
    return copy.grad


@bank.right("func-grad")
def grad_of(f, x):
    return torch.func.grad(lambda t: f(t).sum())(x.detach()).detach()


@bank.right("functional-vjp")
def grad_of(f, x):
    def total(t):
        return torch.sum(f(t))

    return torch.autograd.functional.vjp(total, x)[1]


bank.survives(
    {
        "0 -> -1": "The tuple has one item, which is the first and the last.",
        "x.detach().clone() -> x.detach()": "Nothing writes into the leaf, so it may share memory with x.",
        "x.detach().clone -> x.detach().detach": "Nothing writes into the leaf, so it may share memory with x.",
        "x.detach().clone -> x.detach().contiguous": "Nothing writes into the leaf, so it may share memory with x.",
        "x.detach() -> x": "A clone of an x that requires grad is no leaf, but torch.autograd.grad takes any tensor.",
        "x.detach -> x.clone": "A clone of an x that requires grad is no leaf, but torch.autograd.grad takes any tensor.",
        "x.detach -> x.contiguous": "The clone that follows is a tensor of its own; torch.autograd.grad stores nothing.",
    }
)


bank.wrong(
    "sum-of-x",
    "You add up `x` before you give it to `f`. What is added up is what `f` gives.",
    change={"f(copy).sum()": "f(copy.sum())"},
)

bank.wrong(
    "direction-alone",
    "You divide the gradient by its length. How steep `f` is stands in that length.",
    change={"return copy.grad": "return copy.grad / copy.grad.norm()"},
    of="backward-with-inputs",
)

bank.wrong(
    "f-at-another-tensor",
    "You call `f` on one tensor and ask for the gradient of another, on which the result of `f` does not hang.",
    change={"f(copy)": "f(x)"},
)
