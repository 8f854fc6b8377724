"""Answers to `mean_square_grad`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("mean_square_grad")


bank.wrong(
    "sum-not-mean",
    "You differentiate the sum of the squares. The mean is smaller by the number of entries, and so is its gradient.",
    slip=True,
    change={"mean().backward()": "sum().backward()"},
)


bank.wrong(
    "by-hand-constant",
    "You wrote the derivative down yourself. It is right, but the point is to let autograd find it.",
    change={"return torch.func.grad(lambda t: (t**2).mean())(x.detach())": "return 2 * x.detach() / x.numel()"},
    of="torch-func",
)


bank.wrong(
    "divides-by-twelve",
    "You divide by 12, the number of entries of a (4, 3) tensor. Another shape has another number of entries.",
    change={"(copy**2).mean().backward()": "((copy**2).sum() / 12).backward()"},
)


bank.wrong(
    "leaves-grad-behind",
    "You call backward on `x` itself: its .grad stays behind, and is added to the next time. Work on a copy.",
    change={"copy = x.detach().clone()": "x", "copy**2": "x**2", "copy.grad": "x.grad"},
)


bank.wrong(
    "leaves-the-flag-on",
    "You switch `requires_grad` on for the caller's tensor, and it stays on. Work on a leaf of your own.",
    change={"leaf = x.detach()": "x", "leaf.square().mean(), leaf": "(x**2).mean(), x"},
    of="autograd-grad",
)


@bank.wrong(
    "clears-the-old-grad",
    "You clear the .grad of `x` on the way. It was the caller's: leave it as it was.",
)
def mean_square_grad(x):
    before = x.requires_grad
    x.requires_grad_()
    x.grad = None
    (x**2).mean().backward()
    result, x.grad = x.grad, None
    x.requires_grad_(before)
    return result


@bank.wrong(
    "clears-afterwards",
    "You call backward on `x` itself and clear its .grad afterwards: what stood there before is in your result, and the "
    "caller has lost it. Work on a leaf of your own.",
)
def mean_square_grad(x):
    x.requires_grad_()
    x.square().mean().backward()
    result = x.grad
    x.grad = None
    return result


@bank.wrong(
    "puts-the-flag-down",
    "You switch requires_grad of `x` off at the end, also where it was on when you came. Work on a leaf of your own.",
)
def mean_square_grad(x):
    x.requires_grad_(True)
    gradient = torch.autograd.grad((x**2).mean(), x)[0]
    x.requires_grad_(False)
    return gradient


@bank.told("returns-a-tracked-gradient", "tracked")
def mean_square_grad(x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad((copy**2).mean(), copy, create_graph=True)[0]


bank.wrong(
    "clone-is-no-leaf",
    "You clone `x` without detaching it. Where `x` requires grad the clone is no leaf: its .grad stays None, "
    "and that of `x` grows.",
    change={"x.detach()": "x"},
)


bank.wrong(
    "returns-none",
    "You return None. `backward` itself returns nothing, and before it .grad is None: call it, then return the .grad.",
    change={"(copy**2).mean().backward()\nreturn copy.grad": "return (copy**2).mean().backward()"},
)


bank.wrong(
    "square-of-the-mean",
    "You square the mean. Asked for is the mean of the squares.",
    change={"(copy**2).mean().backward()": "(copy.mean() ** 2).backward()"},
)

bank.wrong(
    "half-of-it",
    "Your gradient is half as long: the derivative of x ** 2 is 2 * x, and the mean divides by the count.",
    slip=True,
    change={"copy**2": "copy**2 / 2"},
)


bank.wrong(
    "returns-the-tuple",
    "You return a tuple with the gradient in it, as `torch.autograd.grad` does. Take it out.",
    change={"(copy**2).mean().backward()\nreturn copy.grad": "return torch.autograd.grad((copy**2).mean(), copy)"},
)


bank.wrong(
    "list-of-numbers",
    "You return Python numbers. A tensor in the shape and dtype of `x` is asked for.",
    change={".grad": ".grad.tolist()"},
)


bank.wrong(
    "of-the-absolute-values",
    "You differentiate the mean of the absolute values. Square them.",
    change={"copy = x": "leaf = x", "(copy**2)": "leaf.abs()", "copy.grad": "leaf.grad"},
)


@bank.wrong(
    "flattened-leaf",
    "Of a vector `flatten` gives `x` itself back, and you ask it to require grad. Make a leaf of your own.",
)
def mean_square_grad(x):
    line = x.flatten().requires_grad_()
    mean = line.dot(line) / line.numel()
    return torch.autograd.grad(mean, [line])[0].reshape(x.shape)


bank.wrong(
    "cubed",
    "You differentiate the mean of the cubes. Square them.",
    change={"copy = x": "leaf = x", "copy**2": "leaf**3", "copy.grad": "leaf.grad"},
)


@bank.wrong(
    "divides-by-len",
    "You divide by the number of rows, as `len` and a mean over dim 0 do. The mean divides by the number of entries: `numel()`.",
    slip=True,
)
def mean_square_grad(x):
    leaf = x.detach().clone().requires_grad_()
    (leaf.square().sum() / len(leaf)).backward()
    return leaf.grad


@bank.right("puts-the-flag-back")
def mean_square_grad(x):
    before = x.requires_grad
    gradient = torch.autograd.grad(x.requires_grad_().square().mean(), x)[0]
    x.requires_grad_(before)
    return gradient


@bank.right("torch-func")
def mean_square_grad(x):
    return torch.func.grad(lambda t: (t**2).mean())(x.detach())


@bank.right("autograd-grad")
def mean_square_grad(x):
    leaf = x.detach().requires_grad_()
    return torch.autograd.grad(leaf.square().mean(), leaf)[0]


@bank.right("func-grad")
def mean_square_grad(x):
    return torch.func.grad(lambda t: (t * t).mean())(x.detach())


@bank.right("jacobian")
def mean_square_grad(x):
    return torch.autograd.functional.jacobian(lambda t: t.pow(2).sum() / t.numel(), x)


@bank.right("vector-of-weights")
def mean_square_grad(x):
    copy = torch.empty_like(x, requires_grad=True)
    with torch.no_grad():
        copy.copy_(x)
    (copy * copy).backward(torch.full_like(x, 1 / x.numel(), requires_grad=False))
    return copy.grad


@bank.wrong(
    "means-along-one-dim",
    "You average along the last dim alone and differentiate the sum of those means. The mean of all entries is asked for.",
)
def mean_square_grad(x):
    w = x.detach().clone().requires_grad_()
    (w**2).mean(dim=-1).sum().backward()
    return w.grad


@bank.wrong(
    "returns-the-loss", "You return one number, as the loss is. The gradient has the shape of x: it stands in .grad."
)
def mean_square_grad(x):
    copy = x.detach().clone().requires_grad_()
    loss = (copy**2).mean()
    loss.backward()
    return loss.detach()


bank.survives(
    {
        "x.detach().clone() -> x.detach()": "Nothing writes into the leaf, so it may share memory with x.",
        "x.detach().clone -> x.detach().detach": "Nothing writes into the leaf, so it may share memory with x.",
        "x.detach().clone -> x.detach().contiguous": "Nothing writes into the leaf, so it may share memory with x.",
    }
)


bank.wrong(
    "mean-of-x",
    "You differentiate the mean of `x` itself. The squares are missing.",
    change={"(copy**2)": "copy"},
)

bank.wrong(
    "doubled",
    "Your gradient is twice as long, as after two backward passes: the second adds to .grad.",
    slip=True,
    change={"(copy**2).mean().backward()": "for _ in range(2):\n    (copy**2).mean().backward()"},
)

bank.wrong(
    "takes-a-step",
    "You subtract the gradient from `x`, as a step downhill does. The gradient alone is asked for.",
    change={"return copy.grad": "return x.detach() - copy.grad"},
)

bank.wrong(
    "grad-of-the-original",
    "You return the .grad of `x`, and your backward fills another: that of the leaf on which you compute.",
    change={"copy.grad": "x.grad"},
)
