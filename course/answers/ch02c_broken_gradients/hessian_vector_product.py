"""Answers to `hessian_vector_product`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("hessian_vector_product")


bank.wrong(
    "no-create-graph",
    "What you differentiate has no graph: `x` may come without requiring grad, and the first gradient has one with "
    "`create_graph` alone.",
    change={"copy, create_graph=True": "copy"},
)


@bank.wrong(
    "full-hessian",
    "You build the whole Hessian: a million entries for a thousand numbers.",
)
def hessian_vector_product(f, x, v):
    n = x.numel()
    hessian = torch.autograd.functional.hessian(f, x.detach()).reshape(n, n)
    return (hessian @ v.detach().reshape(n)).reshape(x.shape)


@bank.told("full-hessian-at-once", "full_hessian")
def hessian_vector_product(f, x, v):
    hessian = torch.func.hessian(f)(x.detach())
    return torch.tensordot(hessian, v.detach(), dims=v.dim())


@bank.wrong(
    "gradient-times-v",
    "You multiply the gradient by `v`, entry by entry. The second differentiation is missing.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy), copy)[0] * v.detach()


@bank.wrong(
    "directional-derivative",
    "You stop at the gradient times `v`, a single number. It is this number that must be differentiated again.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return (torch.autograd.grad(f(copy), copy)[0] * v.detach()).sum()


bank.wrong(
    "rows-summed",
    "Your result is the Hessian times ones, as from the plain sum of the gradient: `v` has no say in it.",
    change={"grad, copy, grad_outputs=v.detach()": "grad.sum(), copy"},
)

bank.wrong(
    "v-after-the-sum",
    "You multiply by `v` after differentiating the sum of the gradient. It is right only without mixed derivatives.",
    change={"grad(grad, copy, grad_outputs=v.detach())[0]": "grad(grad.sum(), copy)[0] * v.detach()"},
)


@bank.wrong(
    "adds-the-gradient",
    "Two backwards fill the same .grad: you return the gradient and the product added together.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    f(copy).backward(create_graph=True)
    (copy.grad * v.detach()).sum().backward()
    return copy.grad.detach().clone()


bank.wrong(
    "fills-the-grad-of-v",
    "Your second backward also reaches a `v` that requires grad and fills its .grad. v must stay as it was.",
    change={
        "return torch.autograd.grad(grad, copy, grad_outputs=v.detach())[0]": "(grad * v).sum().backward()\nreturn copy.grad"
    },
)


bank.told("tracked-result", "tracked", change={"(), copy": "(), copy, create_graph=True"}, of="gradient-dot-v")


bank.wrong(
    "leaves-the-flag-on",
    "You switch `requires_grad` on for the caller's `x`, and it stays on. Use a leaf of your own.",
    change={"copy = x.detach().clone()": "x", "f(copy), copy": "f(x), x", "grad, copy": "grad, x"},
)


@bank.told("row-by-row", "many_passes")
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    rows = [torch.autograd.grad(g, copy, retain_graph=True)[0] for g in grad.reshape(-1)]
    return sum(row * w for row, w in zip(rows, v.detach().reshape(-1)))


@bank.wrong(
    "gradient-at-v",
    "The gradient `@ v`, as `dot` too, adds up products of vectors alone. Of other shapes, multiply entry by entry and add "
    "all up.",
)
def hessian_vector_product(f, x, v):
    leaf = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(leaf), leaf, create_graph=True)[0]
    return torch.autograd.grad(grad @ v.detach(), leaf)[0]


@bank.wrong(
    "diagonal-alone", "You multiply `v` by the diagonal of the Hessian alone. The mixed second derivatives count too."
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    hessian = torch.autograd.functional.hessian(f, copy).reshape(x.numel(), x.numel())
    return (hessian.diagonal() * v.detach().flatten()).reshape(x.shape)


@bank.told("finite-differences", "at_x")
def hessian_vector_product(f, x, v):
    def grad(at):
        at = at.detach().clone().requires_grad_()
        return torch.autograd.grad(f(at), at)[0]

    h = 1e-4
    return ((grad(x.double() + h * v) - grad(x.double() - h * v)) / (2 * h)).to(x.dtype)


@bank.wrong(
    "halved",
    "Your product is half as long. The Hessian has no factor 1/2; that stands before it in Taylor's formula.",
    slip=True,
)
def hessian_vector_product(f, x, v):
    leaf = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(leaf), leaf, create_graph=True)[0]
    return torch.autograd.grad(grad, leaf, grad_outputs=v.detach())[0] / 2


@bank.right("gradient-dot-v")
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad((grad * v.detach()).sum(), copy)[0]


@bank.right("func-jvp-of-grad")
def hessian_vector_product(f, x, v):
    return torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))[1]


@bank.right("func-vjp-of-grad")
def hessian_vector_product(f, x, v):
    _, pull = torch.func.vjp(torch.func.grad(f), x.detach())
    (product,) = pull(v.detach())
    return product


@bank.right("functional-hvp")
def hessian_vector_product(f, x, v):
    return torch.autograd.functional.hvp(f, x.detach(), v.detach())[1]


@bank.right("functional-vhp")
def hessian_vector_product(f, x, v):
    value, product = torch.autograd.functional.vhp(f, x, v)
    return product


@bank.right("backward-twice")
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    grad.backward(v.detach(), inputs=[copy])
    return copy.grad


bank.wrong(
    "gradient-as-a-constant",
    "What you differentiate does not hang on your leaf: it is something else, or made from something else, or a first "
    "gradient without `create_graph=True`.",
    change={"copy, create_graph=True": "copy", "grad, copy, grad_outputs=v.detach()": "(grad * v).sum(), copy"},
)


@bank.wrong(
    "difference-of-gradients",
    "You take the difference of two gradients, at two places close together: that is near it, and loses digits. Differentiate the gradient itself.",
)
def hessian_vector_product(f, x, v):
    def gradient(place):
        place = place.detach().requires_grad_()
        return torch.autograd.grad(f(place), place)[0]

    return (gradient(x + 1e-3 * v) - gradient(x)) / 1e-3


@bank.wrong(
    "adds-to-an-old-grad",
    "Your second backward adds to the .grad that `x` has already, and you return both together.",
)
def hessian_vector_product(f, x, v):
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    (gradient * v).sum().backward(inputs=[x])
    return x.grad


@bank.wrong(
    "hessian-at-v",
    "You multiply a whole Hessian with `@`, which fits vectors alone: of an x with two axes it has four. Differentiate "
    "the gradient times v, and no Hessian has to be built.",
    also=("full-hessian",),
)
def hessian_vector_product(f, x, v):
    hessian = torch.autograd.functional.hessian(f, x.detach().clone())
    return hessian @ v.detach()


bank.survives(
    {
        "torch.autograd.grad(f(copy), copy, create_graph=True)[0] -> torch.autograd.grad(f(copy), copy, create_graph=True)": "torch.autograd.grad takes a tuple of one output too.",
        "0 -> -1": "The tuple has one item, which is the first and the last.",
        "0 -> -1 (2)": "The tuple has one item, which is the first and the last.",
        "x.detach().clone() -> x.detach()": "Nothing writes into the leaf, so it may share memory with x.",
        "x.detach().clone -> x.detach().detach": "Nothing writes into the leaf, so it may share memory with x.",
        "x.detach().clone -> x.detach().contiguous": "Nothing writes into the leaf, so it may share memory with x.",
        "v.detach() -> v": "Without create_graph the second gradient has no graph, whether v requires grad or not.",
        "x.detach() -> x": "A clone of an x that requires grad is no leaf, but torch.autograd.grad takes any tensor.",
        "v.detach -> v.clone": "Without create_graph the second gradient has no graph, whether v requires grad or not.",
        "v.detach -> v.contiguous": "Without create_graph the second gradient has no graph, whether v requires grad or not.",
        "x.detach -> x.clone": "A clone of an x that requires grad is no leaf, but torch.autograd.grad takes any tensor.",
        "x.detach -> x.contiguous": "The clone that follows is a tensor of its own; torch.autograd.grad stores nothing.",
    }
)
