"""Answers to `vjp`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("vjp")


bank.wrong(
    "sums-rows",
    "Your result is the gradient of the plain sum of the outputs: `v` has no say in it. It tells how much each counts.",
    unless=r"grad_outputs=v|\* v\b|\bv \*",
    change={"f(copy), copy, grad_outputs=v": "f(copy).sum(), copy"},
)


@bank.wrong(
    "transposed",
    "You give the Jacobian times `v`, how f moves when x moves along v. Asked for is v times the Jacobian.",
)
def vjp(f, x, v):
    return torch.autograd.functional.jvp(f, x.detach(), v.detach())[1]


@bank.wrong(
    "v-times-the-sum",
    "You multiply by `v` after differentiating the sum. That is right only where each output depends on one input.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return v.detach() * torch.autograd.grad(f(copy).sum(), copy)[0]


bank.wrong(
    "v-into-the-input",
    "You scale the input by `v` before f sees it. v belongs to the outputs.",
    change={"f(copy), copy, grad_outputs=v": "f(copy * v.detach()).sum(), copy"},
)

bank.wrong(
    "non-scalar",
    "You differentiate several numbers at once. autograd begins at one, unless it is told how much each counts: that "
    "is what `v` is for.",
    change={"f(copy).backward(gradient=v)": "f(copy).backward()"},
    of="backward-with-v",
)


@bank.wrong(
    "leaves-grad-behind",
    "You call backward on `x` itself, which changes its .grad. Use a leaf of your own.",
)
def vjp(f, x, v):
    x.requires_grad_()
    x.grad = None
    f(x).backward(v.detach())
    return x.grad.clone()


@bank.wrong(
    "accumulates",
    "Your backward adds to the .grad that `x` has already, and you return both together.",
)
def vjp(f, x, v):
    x.requires_grad_()
    f(x).backward(v.detach())
    return x.grad.clone()


bank.wrong(
    "fills-the-grad-of-v",
    "You weigh with a `v` that may require grad, so that backward fills its .grad too. v must stay as it was.",
    change={"f(copy).backward(gradient=v)": "(f(copy) * v).sum().backward()"},
    of="backward-with-v",
)

bank.told("tracked-gradient", "tracked", change={"grad_outputs=v": "v, create_graph=True"})

bank.wrong(
    "mean-of-the-outputs",
    "You average the weighted outputs. They are to be added up.",
    slip=True,
    change={"f(copy), copy, grad_outputs=v": "(f(copy) * v.detach()).mean(), copy"},
)


bank.wrong(
    "returns-the-tuple",
    "`torch.autograd.grad` returns a tuple, with one product for each tensor asked about. Take yours out.",
    slip=True,
    change={"[0]": ""},
)


bank.wrong(
    "v-at-y",
    "`v @ y`, as `dot` too, adds up products of vectors alone. Of other shapes, multiply entry by entry and add all up.",
    change={"copy =": "leaf =", "f(copy), copy, grad_outputs=v": "v.detach() @ f(leaf), leaf"},
)

bank.wrong(
    "v-squared", "`v` counts twice in your result, as a square.", change={"grad_outputs=v": "grad_outputs=v * v"}
)


@bank.wrong("mean-of-v-for-all", "You weigh every output alike, by the mean of `v`. Each has its own weight.")
def vjp(f, x, v):
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    return torch.autograd.grad(y, leaf, grad_outputs=v.mean().expand_as(y).to(y.dtype))[0]


@bank.wrong(
    "forward-with-torch-func",
    "You push `v` forward, as a direction of `x`: that is the Jacobian times `v`. Here `v` weighs the outputs, and is "
    "pulled back to `x`.",
)
def vjp(f, x, v):
    value, moved = torch.func.jvp(f, (x.detach(),), (v.detach(),))
    return moved


@bank.wrong(
    "jacobian-times-v",
    "You multiply the Jacobian by `v` from the right. `v` has an entry for each output: it stands on the left.",
)
def vjp(f, x, v):
    rows = torch.autograd.functional.jacobian(f, x.detach()).reshape(-1, x.numel())
    return (rows @ v.detach().flatten()).reshape(x.shape)


@bank.wrong(
    "v-after-the-sum",
    "You differentiate the plain sum of the outputs, and multiply by `v` afterwards. It is right only where each output "
    "depends on its own input alone: weigh the outputs before.",
)
def vjp(f, x, v):
    leaf = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(leaf).sum(), leaf)[0] * v.detach()


@bank.right("torch-func")
def vjp(f, x, v):
    return torch.func.vjp(f, x.detach())[1](v.detach())[0].detach()


@bank.right("weighted-sum")
def vjp(f, x, v):
    leaf = x.detach().requires_grad_()
    return torch.autograd.grad((f(leaf) * v.detach()).sum(), leaf)[0]


@bank.right("backward-with-v")
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    f(copy).backward(gradient=v)
    return copy.grad


@bank.right("func-vjp")
def vjp(f, x, v):
    _, pull = torch.func.vjp(f, x.detach())
    return pull(v.detach())[0]


@bank.right("functional-vjp")
def vjp(f, x, v):
    outputs, result = torch.autograd.functional.vjp(f, x, v)
    return result


@bank.right("full-jacobian")
def vjp(f, x, v):
    jacobian = torch.autograd.functional.jacobian(f, x.detach())
    return torch.tensordot(v.detach(), jacobian, dims=v.dim())


@bank.wrong(
    "jacobian-at-v",
    "`@` takes the last axis of the Jacobian, which belongs to x, and of an x with two axes it fails. `v` belongs to y; "
    "and with `grad_outputs` no Jacobian has to be built.",
)
def vjp(f, x, v):
    jacobian = torch.autograd.functional.jacobian(f, x.detach())
    return jacobian @ v


bank.wrong(
    "v-at-jacobian",
    "`... @ jacobian` fits vectors alone: where y has two axes, all of them have to be summed over. With "
    "`grad_outputs` no Jacobian has to be built.",
    change={"return torch.tensordot(v.detach(), jacobian, dims=v.dim())": "return v.detach() @ jacobian"},
    of="full-jacobian",
)


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


@bank.wrong(
    "returns-the-output",
    "You return f(x). torch's own `vjp` gives a pair: first f(x), and then the product.",
)
def vjp(f, x, v):
    return torch.autograd.functional.vjp(f, x.detach(), v.detach())[0]
