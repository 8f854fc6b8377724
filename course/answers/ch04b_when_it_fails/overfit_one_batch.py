"""Answers to `overfit_one_batch`: wrong ones that learners really give, and right ones that must pass."""

import copy
import math

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("overfit_one_batch")


@bank.wrong(
    "always-ok",
    "You trust every trial. Look into each: batch, parameters, optimizer, step.",
)
def overfit_one_batch(trial):
    return "ok"


bank.wrong(
    "nan-is-ok",
    "Where the loss becomes nan you say that all is well: nan is neither above nor below anything.",
    change={"trial.step(x, y) < first / 10": "not trial.step(x, y) >= first / 10"},
)

bank.wrong(
    "any-parameter-still",
    "You suspect a missing step because one parameter stays. A gradient may be 0 once; all of them must stay.",
    change={
        "all(torch.equal(old, p) for old, p in zip(before, params))": "any(torch.equal(old, p) for old, p in zip(before, params))"
    },
)

bank.wrong(
    "no-clone",
    "You compare something with itself, as where a list of the parameters is no copy of them: it always agrees. Take copies "
    "before the step.",
    change={"p.detach().clone()": "p.detach()"},
)

bank.wrong(
    "first-group-only",
    "You look into the first parameter group alone. An optimizer may have several.",
    change={
        '{id(p) for group in trial.optimizer.param_groups for p in group["params"]}': '{id(p) for p in trial.optimizer.param_groups[0]["params"]}'
    },
)

bank.wrong(
    "all-frozen",
    "You miss a frozen parameter where others can learn. One that is frozen is enough.",
    change={"all(p.requires_grad for p in params)": "any(p.requires_grad for p in params)"},
)

bank.wrong(
    "one-known-is-enough",
    "You miss a parameter that the optimizer does not have where it has some other of the model. It needs all of them.",
    change={"not held.issuperset(map(id, params))": "held.isdisjoint(map(id, params))"},
)

bank.wrong(
    "looks-at-inputs",
    "You compare the inputs of two batches. They are the same; the labels are not.",
    also=("looks-at-y-alone", "all-labels"),
    change={"torch.equal(x, same) and not torch.equal(y, again)": "not torch.equal(x, same)"},
)

bank.wrong(
    "too-few-steps",
    "You take a sound trial for a faulty one. It may need many steps: give it the hundred, and look at what its "
    "loss is then.",
    slip=True,
    change={"range(99)": "range(2)"},
)

bank.wrong(
    "step-first",
    "You look for a missing step before you look into the optimizer: one that holds a copy gets the wrong name.",
    unless=r"(?s)wrong parameters.*no step",
    change={
        'if not held.issuperset(map(id, params)):\n    return "wrong parameters"': "",
        "for _ in range(99):": 'if not held.issuperset(map(id, params)):\n    return "wrong parameters"\nfor _ in range(99):',
    },
)

bank.wrong(
    "any-progress-is-ok",
    "You say ok as soon as the loss has fallen at all. Learned by heart means a small part of the first loss.",
    change={"first / 10": "first"},
)

bank.wrong(
    "a-half-is-ok",
    "You say ok of a loss that is still above one tenth of the first. Learned by heart means below it.",
    change={"first / 10": "first / 2"},
)

bank.wrong(
    "hundredth-loss",
    "You find fault with a loss that is below one tenth after 100 steps, and was not before the last of them. step returns "
    "the loss before it: after the hundredth, ask once more.",
    change={
        "for _ in range(99):\n    trial.step(x, y)": "for _ in range(99):\n    last = trial.step(x, y)",
        "trial.step(x, y) < first / 10": "last < first / 10",
    },
)

bank.wrong(
    "in-compares-numbers",
    "`p in a_list` compares the numbers of tensors, and fails where shapes differ. Ask whether it is the same object.",
    change={
        '{id(p) for group in trial.optimizer.param_groups for p in group["params"]}': '[p for group in trial.optimizer.param_groups for p in group["params"]]',
        "not held.issuperset(map(id, params))": "not all(p in held for p in params)",
    },
)

bank.wrong(
    "looks-at-y-alone",
    "You look at y alone. Where x comes in another order with it, nothing is wrong: look whether x is the same.",
    change={"torch.equal(x, same) and not torch.equal(y, again)": "not torch.equal(y, again)"},
)

bank.wrong(
    "only-count",
    "The number of tensors in the optimizer, their shapes or their values do not tell whose they are: a copy of the model has "
    "the same. Ask of each parameter whether it is in there.",
    unless=r"(?s)no step.*wrong parameters",
    change={"not held.issuperset(map(id, params))": "len(held) != len(params)"},
)

bank.wrong(
    "frozen-late",
    "You ask for frozen parameters after the step. Where all are frozen it moves nothing, and gets the name of the later fault.",
    change={
        'if not all(p.requires_grad for p in params):\n    return "frozen"': "",
        "for _ in range(99):": 'if not all(p.requires_grad for p in params):\n    return "frozen"\nfor _ in range(99):',
    },
)

bank.wrong(
    "fixed-tenth",
    "You hold the last loss against 0.1. The limit is one tenth of the first loss, however large that is.",
    also=("hundredth-loss",),
    change={"first / 10": "0.1"},
)

bank.wrong(
    "nearly-still",
    "You take a small step for none. allclose lets small differences pass; asked for is whether anything has changed at all.",
    change={"torch.equal(old, p)": "torch.allclose(old, p)"},
)

bank.wrong(
    "all-labels",
    "You miss shuffled labels where one of them alone has changed. One that has is enough.",
    unless=r"(?s)\A(?!.*\.batch\(.*\.batch\()",  # who calls batch once compares nothing
    change={"torch.equal(y, again)": "(y == again).any()"},
)

bank.wrong(
    "no-step-by-the-loss",
    "You take a loss that stays the same for a step that moves nothing. A step may be too small to show in the loss: compare the parameters.",
    unless=r"clone\(|copy\(|_to_vector\(",
    change={
        "before = [p.detach().clone() for p in params]": "",
        "all(torch.equal(old, p) for old, p in zip(before, params))": "trial.step(x, y) == first",
    },
)

bank.wrong(
    "first-that-is-low",
    "You say ok as soon as one loss is below a tenth of the first. It may rise again: what counts is where it is after 100 "
    "steps.",
    change={
        "for _ in range(99):\n    trial.step(x, y)": 'for _ in range(99):\n    if trial.step(x, y) < first / 10:\n        return "ok"'
    },
)

bank.wrong(
    "learned-is-ok",
    "You say ok wherever the batch is learned, before you look for faults. It may be learned in spite of one: look first.",
    also=("all-frozen", "all-labels", "one-known-is-enough"),
    change={
        "if torch.equal(x, same) and not torch.equal(y, again):": 'losses = [trial.step(x, y) for _ in range(101)]\nif losses[-1] < losses[0] / 10:\n    return "ok"\nif torch.equal(x, same) and not torch.equal(y, again):'
    },
)

bank.told("two-steps-too-few", "too_few", change={"range(99)": "range(97)"})


@bank.right("a-batch-in-each-step")
def overfit_one_batch(trial):
    x1, y1 = trial.batch()
    x2, y2 = trial.batch()
    if torch.equal(x1, x2) and not torch.equal(y1, y2):
        return "shuffled labels"
    if any(not p.requires_grad for p in trial.model.parameters()):
        return "frozen"
    known = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in known for p in trial.model.parameters()):
        return "wrong parameters"
    before = [p.detach().clone() for p in trial.model.parameters()]
    first = trial.step(x1, y1)
    if all(torch.equal(a, b) for a, b in zip(before, trial.model.parameters())):
        return "no step"
    for _ in range(99):
        trial.step(*trial.batch())
    return "ok" if trial.step(x1, y1) < first / 10 else "learning rate"


@bank.right("sets-of-parameters")
def overfit_one_batch(trial):
    x1, y1 = trial.batch()
    x2, y2 = trial.batch()
    if torch.equal(x1, x2) and not torch.equal(y1, y2):
        return "shuffled labels"
    if any(not p.requires_grad for p in trial.model.parameters()):
        return "frozen"
    if set(trial.model.parameters()) - {p for g in trial.optimizer.param_groups for p in g["params"]}:
        return "wrong parameters"
    before = [p.detach().clone() for p in trial.model.parameters()]
    first = trial.step(x1, y1)
    if all(torch.equal(a, b) for a, b in zip(before, trial.model.parameters())):
        return "no step"
    losses = [trial.step(x1, y1) for _ in range(100)]
    learned = losses[-1] < first / 10
    return "ok" if learned else "learning rate"


@bank.right("collects-facts")
def overfit_one_batch(trial):
    x, y = trial.batch()
    params = dict(trial.model.named_parameters())
    owned = [p for group in trial.optimizer.param_groups for p in group["params"]]
    other = trial.batch()
    shuffled = torch.equal(x, other[0]) and not torch.equal(y, other[1])
    frozen = [name for name, p in params.items() if not p.requires_grad]
    missing = [name for name, p in params.items() if not any(p is q for q in owned)]
    start = copy.deepcopy(trial.model.state_dict())
    losses = [trial.step(x, y)]
    moved = any(not torch.equal(start[name], p) for name, p in params.items())
    losses += [trial.step(x, y) for _ in range(100)]
    learned = losses[100] < 0.1 * losses[0]
    facts = [("shuffled labels", shuffled), ("frozen", frozen), ("wrong parameters", missing), ("no step", not moved)]
    facts += [("learning rate", not learned), ("ok", True)]
    return next(name for name, found in facts if found)


@bank.right("one-vector-before-and-after")
def overfit_one_batch(trial):
    model, optimizer = trial.model, trial.optimizer
    batches = [trial.batch() for _ in range(2)]
    if (batches[0][1] != batches[1][1]).any() and not (batches[0][0] != batches[1][0]).any():
        return "shuffled labels"
    if not min(p.requires_grad for p in model.parameters()):
        return "frozen"
    theirs = set()
    for group in optimizer.param_groups:
        theirs |= set(group["params"])
    if set(model.parameters()) - theirs:
        return "wrong parameters"
    x, y = batches[0]
    old = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    first = last = trial.step(x, y)
    new = nn.utils.parameters_to_vector(model.parameters()).detach()
    if torch.equal(old, new):
        return "no step"
    for _ in range(100):
        last = trial.step(x, y)
    return "learning rate" if math.isnan(last) or last >= first / 10 else "ok"


@bank.right("small-questions")
def overfit_one_batch(trial):
    def learns(x, y):
        losses = [trial.step(x, y) for _ in range(101)]
        return losses[-1] / losses[0] < 0.1

    def steps(x, y):
        before = [p.tolist() for p in trial.model.parameters()]
        trial.step(x, y)
        return before != [p.tolist() for p in trial.model.parameters()]

    x, y = trial.batch()
    x_again, y_again = trial.batch()
    if x_again.tolist() == x.tolist() and y_again.tolist() != y.tolist():
        return "shuffled labels"
    for p in trial.model.parameters():
        if not p.requires_grad:
            return "frozen"
    for p in trial.model.parameters():
        if all(p is not q for group in trial.optimizer.param_groups for q in group["params"]):
            return "wrong parameters"
    if not steps(x, y):
        return "no step"
    return "ok" if learns(x, y) else "learning rate"


bank.survives(
    {
        "torch.equal(x, same) -> torch.equal(same, x)": "Equality does not mind the order.",
        "x -> same": "Where the second x is another one, y has moved with it, so that no row has another target.",
        "torch.equal(y, again) -> torch.equal(again, y)": "Equality does not mind the order.",
        "y -> again": "Trials whose labels differ have been named by then.",
        "trial.step(x, y) < first / 10 -> trial.step(x, y) <= first / 10": "A computed loss never equals a tenth of another to the last digit.",
        "torch.equal(old, p) -> torch.equal(p, old)": "Equality does not mind the order.",
        "p.detach() -> p": "A clone that requires grad holds the same numbers.",
        "zip(before, params) -> zip(params, before)": "Equality does not mind the order.",
        "p.detach -> p.clone": "A clone that requires grad holds the same numbers.",
        "p.detach -> p.contiguous": "The clone that follows is a tensor of its own.",
    }
)

bank.wrong(
    "compares-buffers-too",
    "You compare the whole `state_dict()`. It holds buffers, too, which move in a forward; a step changes parameters.",
    change={
        "before = [p.detach().clone() for p in params]": "before = copy.deepcopy(trial.model.state_dict())",
        "zip(before, params)": "zip(before.values(), trial.model.state_dict().values())",
    },
)
