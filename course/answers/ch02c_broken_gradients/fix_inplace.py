"""Answers to `fix_inplace`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("fix_inplace")


bank.wrong(
    "untouched",
    "The first program still stops: `exp` saved its result, and you change that in place, as `y += 1` does. Then look at the other programs.",
    also=("added-in-place",),
    unless=r"(?s)no_grad|\A(?!.*y \+= 1.*b -= 0\.1 \* b\.grad.*scores\.data\.clamp_\()",  # of code that mends another
    change={
        "y = y + 1": "y += 1",
        "with torch.no_grad():\n    b -= 0.1 * b.grad": "b -= 0.1 * b.grad",
        "report = scores.detach().clamp(max=1)\nloss.backward()": "scores.data.clamp_(max=1)\nloss.backward()\nreport = scores.detach()",
    },
)

bank.wrong(
    "added-in-place",
    "You change in place what `exp` saved, as `y += 1` does, and backward needs it as it was. `no_grad` around the change does "
    "not help.",
    change={"y = y + 1": "with torch.no_grad():\n    y += 1"},
)

bank.wrong(
    "leaf-still-in-place",
    "You change a leaf in place that requires grad, outside `no_grad`, as the second program did: look at that error.",
    change={"with torch.no_grad():\n    b -= 0.1 * b.grad": "b -= 0.1 * b.grad"},
)

bank.wrong(
    "silent-clamp",
    "The last program raises nothing, but `.data` hides that the scores, which the square saved, are cut off.",
    change={
        "y = a.exp()\ny = y + 1": "y = a.exp() + 1",
        "report = scores.detach().clamp(max=1)": "scores.data.clamp_(max=1)",
        "loss.backward()": "loss.backward()\nreport = scores.detach()",
    },
)

bank.wrong(
    "data-hides-the-change",
    "Your gradient of the first program is exp(x) + 1: it is computed from the changed result. "
    "`.data` would silence the error of `exp`, and not its cause.",
    change={"y = y + 1": "y.data += 1"},
)

bank.wrong(
    "detaches-the-leaf",
    "What you return for b is the place where it began. Look at what your step moves: it may be a copy, another "
    "tensor, or nothing.",
    change={
        "y = a.exp()\ny = y + 1": "y = a.exp() + 1",
        "with torch.no_grad():\n    b -= 0.1 * b.grad": "moved = b.detach().clone()\nmoved -= 0.1 * b.grad",
    },
)

bank.wrong(
    "moves-twice",
    "Your step goes twice as far: you take it in place and once more in what you return, or its gradient came in "
    "twice.",
    change={"y = a.exp()\ny = y + 1": "y = a.exp() + 1", "b.detach()": "(b - 0.1 * b.grad).detach()"},
)

bank.wrong(
    "clears-before-the-step",
    "The gradient that the step of b uses is not there, as after clearing it, or where b is no leaf, since the tensor that it "
    "was made from requires grad: the step has length 0, or none at all.",
    change={
        "y = a.exp()\ny = y + 1": "y = a.exp() + 1",
        "with torch.no_grad():": "b.grad = None\nwith torch.no_grad():",
    },
)

bank.wrong(
    "cut-from-below",
    "Your report has no score below 1, and those above 1 are as they were. It is the upper end that is to be cut off.",
    change={"clamp(max=1)": "clamp(min=1)"},
)

bank.wrong(
    "cut-before-the-factor",
    "For the report you cut x off at 1, and multiply by 3 afterwards. The scores themselves are to be cut off.",
    change={"scores.detach().clamp(max=1)": "3 * c.detach().clamp(max=1)"},
)

bank.wrong(
    "cut-before-the-loss",
    "Your last gradient is one of scores that were cut off. Before they are squared, that is another loss; "
    "afterwards, in place, it changes what the square saved.",
    change={"scores = 3 * c": "scores = (3 * c).clamp(max=1)"},
)

bank.wrong(
    "report-not-cut",
    "The report is no longer cut off above 1. Cut off a tensor of its own.",
    change={
        "y = a.exp()\ny = y + 1": "y = a.exp() + 1",
        "report = scores.detach().clamp(max=1)": "",
        "loss.backward()": "loss.backward()\nreport = scores.detach()",
    },
)

bank.wrong(
    "detach-shares-memory",
    "You cut the scores off in place before backward. That changes what the square saved, also through `detach` "
    "or in `no_grad`.",
    change={"y = a.exp()\ny = y + 1": "y = a.exp() + 1", "clamp(max=1)": "clamp_(max=1)"},
)


@bank.wrong(
    "works-on-x",
    "No clone stands between: `requires_grad_` and the step in place are done to the caller's own `x`.",
)
def fix_inplace(x):
    results = {}
    x.requires_grad_()
    (x.exp() + 1).sum().backward()
    results["exp_grad"], x.grad = x.grad, None
    scores = 3 * x
    (scores**2).sum().backward()
    results["square_grad"], x.grad = x.grad, None
    results["report"] = scores.detach().clamp(max=1)
    (x**2).sum().backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    results["stepped"] = x.detach().clone()
    return results


bank.wrong(
    "report-is-tracked",
    "Your report still requires grad: detach it.",
    change={"y = a.exp()\ny = y + 1": "y = a.exp() + 1", "scores.detach()": "scores"},
)

bank.wrong(
    "cut-on-both-sides",
    "Your report is cut off below -1 as well. The docstring cuts off above 1 alone.",
    change={"scores.detach().clamp(max=1)": "scores.detach().clamp(-1, 1)"},
)

bank.wrong(
    "steps-on-x",
    "Your step moves the caller's own x, as `detach` shares its memory: what you compute from x afterwards is of other numbers.",
    change={"b = x.clone().requires_grad_()": "b = x.detach().requires_grad_()"},
)


@bank.right("clone-everywhere")
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp().clone()
    y += 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    moved = b.detach().clone()
    moved -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores.clone() ** 2).sum()
    report = scores.detach().clone()
    report.clamp_(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": moved, "square_grad": c.grad, "report": report}


@bank.right("backward-first")
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp()
    y.sum().backward()
    y = y.detach()
    y += 1

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    b = b - 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    loss.backward()
    report = scores.detach().clamp_(max=1)
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.right("from-grad")
def fix_inplace(x):
    def gradient(f):
        leaf = x.detach().clone().requires_grad_()
        return torch.autograd.grad(f(leaf).sum(), leaf)[0]

    return {
        "report": torch.clamp(3 * x, max=1),
        "square_grad": gradient(lambda c: (3 * c) ** 2),
        "stepped": x - 0.1 * gradient(lambda b: b**2),
        "exp_grad": gradient(lambda a: a.exp() + 1),
    }


@bank.right("add-under-data-of-the-leaf")
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = torch.add(torch.exp(a), 1)
    torch.sum(y).backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    b.detach().sub_(0.1 * b.grad)

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = scores.pow(2).sum()
    with torch.no_grad():
        report = torch.minimum(scores, torch.ones_like(scores))
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


bank.wrong(
    "one-added-before-exp",
    "You add the 1 before exp is taken: that is another function, and its gradient is e times as large.",
    change={
        "y = a.exp()\ny = y + 1": "y = (a + 1).exp()",
        "(scores**2).sum()": "(scores**2).sum()\nloss.backward()",
        "loss.backward()": "",
    },
)

bank.survives(
    {
        "y = y + 1 -> pass": "The derivative of exp(x) + 1 is that of exp(x): only the gradient is returned.",
        "y + 1 -> y - 1": "A constant term does not change the gradient.",
        "y + 1 -> y * 1": "The gradient is the same without the constant term.",
        "y + 1 -> 1 + y": "Addition does not mind the order.",
        "y + 1 -> y": "The gradient is the same without the constant term.",
        "3 * c -> c * 3": "Numbers multiply in any order.",
        "a.exp -> a.expm1": "It differs from exp by a constant, which does not change the gradient.",
        "1 -> 2": "A constant term does not change the gradient.",
        "1 -> 0": "A constant term does not change the gradient.",
        "0.1 * b.grad -> b.grad * 0.1": "Numbers multiply in any order.",
        "x.clone -> x.detach": "Nothing writes into this leaf, so it may share memory with x.",
        "x.clone -> x.detach (3)": "Nothing writes into this leaf, so it may share memory with x.",
    }
)

bank.wrong(
    "report-in-one-row",
    "You write the report as one row of numbers: it is to have the shape of `x`, as the other three have.",
    change={"scores.detach().clamp(max=1)": "torch.tensor([min(s, 1.0) for s in scores.flatten().tolist()])"},
)
