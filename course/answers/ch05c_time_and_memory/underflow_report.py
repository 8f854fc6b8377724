"""Answers to `underflow_report`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("underflow_report")


bank.wrong(
    "wrong-dtype-grads",
    "You find none that is lost: where float32 or bfloat16 holds the gradients, hardly any are 0. Turn them to float16, and "
    "count the zeros there.",
    unless=r"half\(|\bfloat16",
    change={"g.half() == 0": "g == 0"},
)


bank.wrong(
    "counts-none",
    "You put zeros in for a missing gradient, and count them all as lost. A parameter without a part is left out.",
    change={
        "[g[g != 0] for g in grads if g is not None]": "[torch.zeros_like(p) if g is None else g[g != 0] for p, g in zip(params, grads)]"
    },
)


bank.wrong(
    "fails-on-none",
    "A parameter that the loss does not depend on has no gradient. `allow_unused=True` gives None for it; skip it.",
    change={
        "torch.autograd.grad(scale * loss, params, allow_unused=True)": "torch.autograd.grad(scale * loss, params)"
    },
)


bank.wrong(
    "counts-old-zeros",
    "You count what is 0 in float16, also where it was 0 in float32 already. Those were never lost.",
    change={
        "(g.half() == 0).sum().item() for g in there": "(g.half() == 0).sum().item() for g in grads if g is not None"
    },
)


bank.wrong(
    "divides-by-all",
    "You divide by all entries. The share is of those that were not 0 in float32.",
    change={"g.numel() for g in there": "g.numel() for g in grads if g is not None"},
)


bank.wrong(
    "no-scale",
    "Your shares do not depend on the scale. It must come in before float16: multiply the loss by it.",
    change={"scale * loss": "loss"},
)


bank.wrong(
    "mean-of-shares",
    "You take the mean of the shares of the parameters. A small parameter then counts as much as a large one.",
    change={
        "lost = sum((g.half() == 0).sum().item() for g in there)": "shares = [(g.half() == 0).float().mean().item() for g in there if len(g)]",
        "counted = sum(g.numel() for g in there)": "",
        "lost / counted if counted else 0.0": "sum(shares) / len(shares) if shares else 0.0",
    },
)


bank.wrong(
    "counts-instead-of-shares",
    "You return how many entries are lost. Asked for is their share of those that were not 0.",
    slip=True,
    change={"lost / counted if counted else 0.0": "float(lost)"},
)


bank.wrong(
    "divides-by-zero",
    "Where every gradient is 0 you divide by 0. The share is 0.0 there.",
    change={"lost / counted if counted else 0.0": "lost / counted"},
)


bank.wrong(
    "smallest-normal",
    "You count what is below the smallest normal number. Float16 goes on below it, with fewer digits.",
    slip=True,
    change={"g.half() == 0": "g.abs() < torch.finfo(torch.float16).tiny"},
)


bank.wrong(
    "below-1e-7",
    "You count what is below 1e-7. Float16 holds numbers below that: turn the gradients to float16, and look which are 0.",
    unless=r"\A(?![\s\S]*1e-0?7)",
    change={"g.half() == 0": "g.abs() < 1e-7"},
)


bank.wrong(
    "below-the-smallest",
    "You count what is smaller than the smallest number of float16, 2 ** -24. What is above half of that is rounded up to it, "
    "and is not lost: turn the gradients to float16, and look.",
    slip=True,
    change={"g.half() == 0": "g.abs() < 2.0**-24"},
)


bank.wrong(
    "counts-inf",
    "You count what becomes inf too. That is an overflow, at the other end; asked for is what becomes 0.",
    change={"g.half() == 0": "(g.half() == 0) | g.half().isinf()"},
)


bank.wrong(
    "loss-in-float16",
    "You multiply in float16, before you take the gradients: with a large scale inf comes of it. Keep to float32.",
    change={"* loss": "* loss.half()"},
)


bank.told(
    "leaves-grad-behind",
    "grads_kept",
    change={"olds = [p.grad for p in params]": "", "for p, old in zip(params, olds):\n    p.grad = old": ""},
    of="backward-and-put-back",
)


bank.wrong(
    "keys-as-text",
    "Your keys are texts. They are to be the scales as they are given.",
    slip=True,
    change={"report[scale]": "report[str(scale)]"},
)


bank.wrong(
    "share-that-survives",
    "You give the share that survives. The share that float16 turns to 0 is asked for.",
    slip=True,
    change={"g.half() == 0": "g.half() != 0"},
)


bank.wrong(
    "accumulates",
    "`backward` adds to the .grad that is there: you count a sum of old gradients and new ones. torch.autograd.grad leaves .grad alone.",
    change={
        "grads = torch.autograd.grad(scale * loss, params, allow_unused=True)": "(scale * loss).backward()\ngrads = [p.grad for p in params]"
    },
)


bank.wrong(
    "one-graph",
    "You call loss_fn once. The first scale uses up the graph of this loss: call it anew for each scale.",
    change={"report = {}": "report = {}\nloss, params = loss_fn()", "loss, params = loss_fn()": ""},
)


bank.wrong(
    "tensor-nan",
    "Where nothing is to be counted you divide 0 by 0, and tensors give nan for that. The share is 0.0 there.",
    change={
        "(g.half() == 0).sum().item()": "(g.half() == 0).sum()",
        "lost / counted if counted else 0.0": "(lost / counted).item()",
    },
)


bank.wrong(
    "count-int",
    "You return how many entries are lost. Asked for is their share of those that were not 0, a float.",
    slip=True,
    change={"lost / counted if counted else 0.0": "lost"},
)


bank.wrong(
    "in-percent",
    "Your shares are in percent. Asked for are shares from 0 to 1.",
    slip=True,
    change={"lost / counted if counted else 0.0": "100 * lost / counted if counted else 0.0"},
)


@bank.right("puts-grads-aside")
def underflow_report(loss_fn, scales):
    result = {}
    for s in scales:
        loss, ps = loss_fn()
        old = [p.grad for p in ps]
        for p in ps:
            p.grad = None
        loss.backward(torch.tensor(s))
        new = [p.grad for p in ps if p.grad is not None]
        for p, g in zip(ps, old):
            p.grad = g
        there = sum(int(g.count_nonzero()) for g in new)
        left = sum(int(g[g != 0].to(torch.float16).count_nonzero()) for g in new)
        result[s] = (there - left) / max(there, 1)
    return result


@bank.right("flat")
def underflow_report(loss_fn, scales):
    loss, params = loss_fn()
    plain = torch.autograd.grad(loss, params, retain_graph=True, allow_unused=True)
    used = [i for i, g in enumerate(plain) if g is not None]
    full = torch.cat([plain[i].flatten() for i in used])
    report = {}
    for scale in scales:
        scaled = torch.autograd.grad(loss * scale, params, retain_graph=True, allow_unused=True)
        half = torch.cat([scaled[i].flatten() for i in used]).to(torch.float16)
        counted = full != 0
        report[scale] = ((half == 0) & counted).sum().item() / max(counted.sum().item(), 1)
    return report


@bank.right("one-backward")
def underflow_report(loss_fn, scales):
    loss, params = loss_fn()
    grads = [g for g in torch.autograd.grad(loss, params, allow_unused=True) if g is not None]
    alive = torch.cat([g.reshape(-1) for g in grads])
    alive = alive[alive != 0]

    def share(scale):
        return ((scale * alive).half() == 0).double().mean().item() if len(alive) else 0.0

    return {scale: share(scale) for scale in scales}


@bank.right("counts-in-a-loop")
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        lost = counted = 0
        for g in torch.autograd.grad(loss * scale, params, allow_unused=True):
            if g is None:
                continue
            before = int(g.count_nonzero())
            counted += before
            lost += before - int(g.to(torch.float16).count_nonzero())
        report[scale] = lost / max(counted, 1)
    return report


@bank.right("backward-and-put-back")
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        olds = [p.grad for p in params]
        for p in params:
            p.grad = None
        (loss * scale).backward()
        values = [v for p in params if p.grad is not None for v in p.grad.flatten().tolist() if v != 0]
        for p, old in zip(params, olds):
            p.grad = old
        halves = torch.tensor(values, dtype=torch.float16)
        report[scale] = (halves == 0).sum().item() / len(values) if values else 0.0
    return report


bank.wrong(
    "every-zero-of-all",
    "You count every entry that is 0 in float16, and divide by all entries. What was 0 in float32 already belongs in neither count.",
    change={"[g[g != 0] for g in grads if g is not None]": "[g for g in grads if g is not None]"},
)


bank.survives(
    {
        "scale * loss -> loss * scale": "Numbers multiply in any order.",
        "counted -> lost": "Where nothing is lost the share is 0.0, whatever is counted.",
    }
)

bank.wrong(
    "sum-for-any",
    "You leave out a parameter whose gradients add up to 0. They may cancel: what counts is whether an entry is not 0.",
    change={"if g is not None": "if g is not None and g.sum() != 0"},
)
