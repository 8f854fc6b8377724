"""Answers to `descend`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_FROM_X_MESSAGES

bank = AnswerBank("descend")


bank.wrong(
    "graph-through-update",
    "Your update is part of the graph: each x is made from the one before, and the graph grows with every step.",
    change={
        "(slope,) = torch.autograd.grad(f(x), [x])\nx.detach().add_(slope, alpha=-lr)": "x = x - lr * torch.autograd.grad(f(x), x)[0]",
        "return x.detach()": "return x",
    },
    of="on-detached-memory",
)


bank.told(
    "detaches-at-the-end-only",
    "on_leaves",
    change={
        "(slope,) = torch.autograd.grad(f(x), [x])\nx.detach().add_(slope, alpha=-lr)": "x = x - lr * torch.autograd.grad(f(x), x)[0]"
    },
    of="on-detached-memory",
)


bank.wrong(
    "rebinds-leaf",
    "`x = x - ...` makes a new tensor. Made under `no_grad`, or detached, it does not require grad, and the second "
    "backward fails. Change the leaf in place, or make a new leaf.",
    change={"x.grad = None": "", "x -= lr * x.grad": "x = x - lr * x.grad"},
)

bank.wrong(
    "never-zeroes",
    "You never clear .grad: the second step goes along the sum of both gradients, the third along that of three.",
    unless=r"zero_grad|\.grad = None|zero_\(|autograd\.grad",
    change={"x.grad = None": ""},
)


bank.wrong(
    "moves-x0",
    "You walk with the caller's `x0` itself: its values, its flag and its .grad are changed. Start from a copy.",
    change={"x = x0.detach().clone().requires_grad_()": "x0.requires_grad_()\nx = x0"},
)


bank.wrong(
    "detach-is-no-copy",
    "`detach` gives a tensor in the memory of `x0`: your steps in place move `x0` too. A clone is missing.",
    change={"x0.detach().clone()": "x0.detach()"},
)

bank.wrong(
    "uphill",
    "You add the gradient, and so climb. It points to where f grows: go the other way.",
    change={"x -= lr * x.grad": "x += lr * x.grad"},
)

bank.wrong(
    "update-is-recorded",
    "You change a leaf that requires grad in place: torch refuses. Update under `torch.no_grad()`.",
    change={"with torch.no_grad():\n    x -= lr * x.grad": "x -= lr * x.grad"},
)

bank.wrong(
    "clone-is-no-leaf",
    "You clone `x0` without detaching it. Where `x0` requires grad the clone is no leaf: its .grad stays None, and that of "
    "`x0` is filled.",
    change={"x0.detach().clone()": "x0.clone()"},
)

bank.wrong(
    "one-step-too-few",
    "You take one step less than asked: `range(1, steps)` has steps - 1 numbers.",
    change={"range(steps)": "range(1, steps)"},
)

bank.told("returns-the-leaf", "tracked", change={"x.detach()": "x"})

bank.wrong(
    "clears-before-the-update",
    "You return the place where you began: no step is taken, or .grad is cleared before it, or what the update "
    "gives is not kept, or not returned.",
    change={"x.grad = None": "", "f(x).backward()": "f(x).backward()\nx.grad.zero_()"},
)


bank.wrong(
    "returns-inside-the-loop",
    "Your result is that of one step, also where more are asked for: does the first round return, or each begin at x0 again?",
    also=("begins-at-x0-each-time",),
    change={"return x.detach()": "    return x.detach()"},
)


bank.wrong(
    "one-forward-pass",
    "You compute f(x) once, before the loop. Each step needs a forward pass of its own, at the x of that step.",
    change={"for _ in range(steps):": "loss = f(x)\nfor _ in range(steps):", "f(x).backward()": "loss.backward()"},
)


bank.wrong(
    "unit-steps",
    "You go by the direction alone: each step has the length `lr`. The gradient's own length counts, too.",
    change={
        "(slope,) = torch.autograd.grad(f(x), [x])": "grad = torch.autograd.grad(f(x), x)[0]",
        "x.detach().add_(slope, alpha=-lr)": "x = (x - lr * grad / grad.norm()).detach().requires_grad_()",
    },
    of="on-detached-memory",
)


bank.wrong(
    "rate-divided-by-steps",
    "You divide the rate by the number of steps. Each step is `lr` times the gradient.",
    change={
        "(slope,) = torch.autograd.grad(f(x), [x])": "grad = torch.autograd.grad(f(x), x)[0]",
        "x.detach().add_(slope, alpha=-lr)": "x = (x - lr / steps * grad).detach().requires_grad_()",
    },
    of="on-detached-memory",
)


bank.wrong(
    "with-momentum",
    "Your steps remember the ones before. Each is `lr` times the gradient where x stands, and no more.",
    change={
        "for _ in range(steps):": "speed = torch.zeros_like(x0)\nfor _ in range(steps):",
        "x -= lr * x.grad": "speed = 0.9 * speed + x.grad\nx -= lr * speed",
    },
)


bank.told(
    "cut-from-x",
    "cut_loss",
    change={
        "optimizer.zero_grad()\nf(x).backward()": "loss = torch.tensor(f(x).item(), requires_grad=True)\nloss.backward()"
    },
    of="optimizer",
)


# Torch's error is the same where no tensor was ever told to require grad.
bank.wrong(
    "cut-and-stops",
    DETACHED_FROM_X_MESSAGES["cut_loss"],
    unless=r"f\(x0\)|\A(?![\s\S]*requires_grad(?:_\(|\s*=\s*True))",
    change={"f(x).backward()": "f(x).detach().backward()"},
)


@bank.right("grad-fn")
def descend(f, x0, lr, steps):
    x = x0.detach().clone()
    for _ in range(steps):
        leaf = x.requires_grad_(True)
        (g,) = torch.autograd.grad(f(leaf), leaf)
        x = leaf.detach() - lr * g
    return x.detach().clone()


@bank.right("new-leaf-each-step")
def descend(f, x0, lr, steps):
    x = x0.detach().clone()
    for _ in range(steps):
        leaf = x.requires_grad_()
        (slope,) = torch.autograd.grad(f(leaf), leaf)
        x = (leaf - lr * slope).detach()
    return x


@bank.right("optimizer")
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
    return x.detach()


@bank.right("on-detached-memory")
def descend(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    for _ in range(steps):
        (slope,) = torch.autograd.grad(f(x), [x])
        x.detach().add_(slope, alpha=-lr)
    return x.detach()


@bank.right("func-grad")
def descend(f, x0, lr, steps):
    slope, x = torch.func.grad(f), x0.detach().clone()
    for _ in range(steps):
        x = x - lr * slope(x)
    return x


@bank.right("zero-in-place")
def descend(f, x0, lr, steps):
    x = torch.clone(x0).detach()
    x.requires_grad = True
    for _ in range(steps):
        if x.grad is not None:
            x.grad.zero_()
        f(x).backward()
        with torch.no_grad():
            x.sub_(x.grad, alpha=lr)
    return x.detach().clone()


bank.wrong(
    "rate-that-falls",
    "Your rate falls from step to step. Each step is `lr` times the gradient.",
    change={"for _ in range(steps):": "for step in range(steps):", "lr * x.grad": "lr / (step + 1) * x.grad"},
)


bank.wrong(
    "zeroes-what-is-none",
    "A .grad may be None, as before the first backward, and None has no `zero_`. Set .grad to None to clear it.",
    change={"x.grad = None": "x.grad.zero_()"},
)


bank.survives(
    {
        "lr * x.grad -> x.grad * lr": "Numbers multiply in any order.",
    }
)


bank.wrong(
    "one-step-too-many", "You take one step more than `steps`.", slip=True, change={"range(steps)": "range(1 + steps)"}
)


bank.wrong(
    "one-gradient-for-all-steps",
    "You take every step along the gradient at x0. Each step needs the gradient at the place where it begins.",
    change={
        "for _ in range(steps):\n    x.grad = None\n    f(x).backward()": "f(x).backward()\nfor _ in range(steps):"
    },
)


@bank.right("sgd-of-a-parameter")
def descend(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.detach().clone())
    optimizer = torch.optim.SGD([x], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
    return x.detach()


bank.wrong(
    "stops-where-it-is-flat",
    "You stop where the gradient is small. `steps` says how many steps there are, and a small gradient may still lead far.",
    change={"f(x).backward()": "f(x).backward()\nif x.grad.norm() < 1e-2:\n    break"},
)

bank.wrong(
    "stops-where-it-rises",
    "You stop when f gets larger. `steps` says how many steps there are, also where a rate is too large.",
    change={"x.grad = None": "if f(x) > f(x0):\n    break\nx.grad = None"},
)


bank.wrong(
    "begins-at-x0-each-time",
    "Your result is that of one step, also where more are asked for. Each round is to begin where the last one ended.",
    change={"x.grad = None": "x = x0.detach().clone().requires_grad_()"},
)

bank.wrong(
    "begins-at-x0-in-the-loop",
    "Your x is made in the loop: each round begins at x0 again, and without a round there is no x to return.",
    change={
        "x = x0.detach().clone().requires_grad_()\nfor _ in range(steps):\n    x.grad = None": "for _ in range(steps):\n    x = x0.detach().clone().requires_grad_()"
    },
)

bank.wrong(
    "no-rate",
    "Your step is the whole gradient: `lr` says which part of it.",
    change={"lr * x.grad": "x.grad"},
)

bank.wrong(
    "begins-at-zero",
    "You begin at 0. The first step begins at x0.",
    change={"x0.detach().clone()": "torch.zeros_like(x0)"},
)

bank.wrong(
    "step-for-place",
    "Your new x is the step alone, -lr times the gradient. It leads away from the place where x was.",
    change={"x -= lr * x.grad": "x.copy_(-lr * x.grad)"},
)

bank.wrong(
    "x0-itself-after-0-steps",
    "After 0 steps you return x0 itself. The result is to be a tensor of its own, without a graph, also there.",
    change={"x = x0": "if steps == 0:\n    return x0\nx = x0"},
)
