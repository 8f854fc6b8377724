"""Answers to `clip_grad_norm`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("clip_grad_norm")


bank.wrong(
    "norm-of-the-tensors",
    "Your norm is that of the tensors themselves. It is their gradients, what stands in .grad, that are measured and shortened.",
    change={
        "grads = [p.grad for p in params if p.grad is not None]": "params = [p for p in params if p.grad is not None]\ngrads = [p.grad for p in params]",
        "sum((grad**2).sum().item() for grad in grads)": "sum((p**2).sum().item() for p in params)",
    },
)


bank.wrong(
    "sum-of-norms",
    "You add up the norms of the gradients. The norm of all together is the root of all squares added up.",
    change={
        "math.sqrt(sum((grad**2).sum().item() for grad in grads))": "math.fsum(grad.norm().item() for grad in grads)"
    },
)

bank.wrong(
    "whole-sum-of-norms",
    "You add up the norms of the gradients; without any, what you return is a whole 0. The norm of all together is the "
    "root of all squares added up, a float.",
    also=("sum-of-norms",),
    change={"math.sqrt(sum((grad**2).sum().item() for grad in grads))": "sum(grad.norm().item() for grad in grads)"},
)

bank.wrong(
    "per-param",
    "You shorten each gradient by itself: their directions together are no longer what they were.",
    change={
        "if norm > max_norm:\n    for grad in grads:": "for grad in grads:\n    if grad.norm() > max_norm:",
        "max_norm / norm": "max_norm / grad.norm()",
    },
)

bank.wrong(
    "by-value",
    "You cut off each entry at max_norm. That is clipping by value: the direction changes.",
    change={"grad.mul_(max_norm / norm)": "grad.clamp_(-max_norm, max_norm)"},
)

bank.wrong(
    "generator-exhausted",
    "You go through `params` twice. A generator is empty the second time, and nothing gets shortened.",
    change={
        "for grad in grads:\n    grad.mul_(max_norm / norm)": "for p in params:\n    if p.grad is not None:\n        p.grad.mul_(max_norm / norm)"
    },
)

bank.wrong(
    "none-grad",
    "A parameter without a gradient has None in .grad, and you compute with it. Leave it out.",
    change={"[p.grad for p in params if p.grad is not None]": "[p.grad for p in params]"},
)

bank.wrong(
    "always-scales",
    "You also multiply where the norm is below max_norm: short gradients get longer.",
    change={"if norm > max_norm:": "if norm > 0:"},
)

bank.told(
    "new-tensors",
    "in_place",
    change={"p.grad.mul_(factor)": "p.grad = p.grad * factor"},
    of="one-long-vector",
)

bank.wrong(
    "returns-tensor",
    "You return the norm as a tensor. A plain float is asked for.",
    change={"return norm": "return torch.tensor(norm)"},
)

bank.wrong(
    "norm-afterwards",
    "Where you shorten, you return max_norm, the norm afterwards. The one before tells how large the gradients were.",
    change={"return norm": "return min(norm, max_norm)"},
)

bank.wrong(
    "forgets-the-root",
    "You compare the sum of squares with max_norm. The norm is its root.",
    also=("forgets-the-root-of-a-float",),
    change={
        "math.sqrt(sum((grad**2).sum().item() for grad in grads))": "sum((grad**2).sum().item() for grad in grads)"
    },
)

bank.wrong(
    "forgets-the-root-of-a-float",
    "You take the sum of squares for the norm. The norm is its root.",
    change={"math.sqrt": "float"},
)

bank.wrong(
    "divides-by-norm",
    "You divide by the norm and forget max_norm: the new norm is 1, whatever was asked for.",
    slip=True,
    change={"grad.mul_(max_norm / norm)": "grad.div_(norm)"},
)

bank.wrong(
    "renames-only",
    "The gradients stay as long as they were. They are to be changed in place: `grad = grad * ...` would only "
    "make a new tensor with that name.",
    change={"grad.mul_(max_norm / norm)": "grad = grad * (max_norm / norm)"},
)

bank.wrong(
    "squared-norm",
    "You return the square of the norm. Take the root.",
    change={"return norm": "return norm**2"},
)

bank.wrong(
    "compares-the-square",
    "You hold the sum of the squares against max_norm. Its root is the norm: take the root before you compare.",
    change={"if norm > max_norm:": "if norm**2 > max_norm:"},
)

bank.told(
    "new-memory",
    "in_place",
    change={"grad.mul_(max_norm / norm)": "grad.data = grad * (max_norm / norm)"},
)

bank.wrong(
    "shrinks-the-weights-too",
    "You multiply the tensors themselves as well as their gradients. Only the gradients become shorter.",
    change={"p.grad.mul_(factor)": "p.grad.mul_(factor)\np.data.mul_(factor)"},
    of="one-long-vector",
)

bank.told(
    "touches-the-last-digits",
    "touched",
    change={
        "if norm > max_norm:\n    for grad in grads:\n        grad.mul_(max_norm / norm)": "for grad in grads:\n    grad.div_(norm + 1e-12).mul_(min(norm, max_norm))"
    },
)


@bank.right("norm-of-norms-too")
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    if not grads:
        return 0.0
    norm = torch.stack([g.norm() for g in grads]).norm().item()
    scale = min(1.0, max_norm / norm) if norm else 1.0
    for g in grads:
        g *= scale
    return norm


@bank.right("ready-made")
def clip_grad_norm(params, max_norm):
    params = list(params)
    return float(torch.nn.utils.clip_grad_norm_(params, max_norm)) if any(p.grad is not None for p in params) else 0.0


@bank.right("hypot-of-norms")
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = math.hypot(*(torch.linalg.vector_norm(grad.double()).item() for grad in grads))
    if norm > max_norm:
        torch._foreach_mul_(grads, max_norm / norm)
    return norm


@bank.right("torch-does-it")
def clip_grad_norm(params, max_norm):
    return float(nn.utils.clip_grad_norm_(list(params), max_norm))


@bank.right("one-long-vector")
def clip_grad_norm(params, max_norm):
    with_grad = [p for p in params if p.grad is not None]
    if not with_grad:
        return 0.0
    norm = torch.cat([p.grad.reshape(-1) for p in with_grad]).norm().item()
    factor = min(1.0, max_norm / max(norm, 1e-30))
    for p in with_grad:
        p.grad.mul_(factor)
    return norm


@bank.right("norm-of-norms")
def clip_grad_norm(params, max_norm):
    grads = []
    for p in params:
        if p.grad is not None:
            grads.append(p.grad)
    norm = math.hypot(*(torch.linalg.vector_norm(grad).item() for grad in grads))
    if norm <= max_norm:
        return norm
    for grad in grads:
        grad.copy_(grad / norm * max_norm)
    return norm


bank.wrong(
    "norm-of-the-weights",
    "You compute the norm of the parameters themselves. That of their gradients is asked for.",
    change={
        "grads = [p.grad for p in params if p.grad is not None]": "params = list(params)\ngrads = [p.grad for p in params if p.grad is not None]",
        "(grad**2).sum().item() for grad in grads": "(p.detach() ** 2).sum().item() for p in params",
    },
)

bank.wrong(
    "largest-entry",
    "You take the largest entry for the norm. It is the root of all squared entries added up.",
    change={
        "math.sqrt(sum((grad**2).sum().item() for grad in grads))": "max((grad.abs().max().item() for grad in grads), default=0.0)"
    },
)

bank.wrong(
    "norm-as-tensor",
    "You return the norm as a tensor. A float is asked for: `.item()`.",
    change={
        "math.sqrt(sum((grad**2).sum().item() for grad in grads))": "torch.tensor([grad.norm() for grad in grads]).norm()"
    },
)

bank.survives(
    {
        "norm > max_norm -> norm >= max_norm": "A norm that equals max_norm is multiplied by 1.",
        "(grad ** 2).sum().item() -> (grad ** 2).sum()": "math.sqrt takes a tensor with one element as well, and gives a float.",
    }
)

bank.wrong(
    "sum-of-sizes",
    "Your norm adds up the sizes of all entries. It is the root of the sum of their squares.",
    change={
        "math.sqrt(sum((grad**2).sum().item() for grad in grads))": "math.fsum(grad.abs().sum().item() for grad in grads)"
    },
)

bank.wrong(
    "longest-alone",
    "Your norm is that of the longest gradient alone. All of them, laid end to end, have one norm.",
    change={
        "math.sqrt(sum((grad**2).sum().item() for grad in grads))": "max((grad.norm().item() for grad in grads), default=0.0)"
    },
)

bank.wrong(
    "makes-longer",
    "You multiply by norm / max_norm, which makes long gradients longer. It is the other way up.",
    change={"max_norm / norm": "norm / max_norm"},
)
