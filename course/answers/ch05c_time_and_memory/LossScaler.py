"""Answers to `LossScaler`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("LossScaler")


bank.wrong(
    "steps-on-inf",
    "You step although a gradient is not finite. One inf or nan among them, and the parameters are lost.",
    change={"if self.finite:\n    optimizer.step()": "optimizer.step()"},
    of="as-most-begin",
)

bank.wrong(
    "grows-every-step",
    "Your factor grows after each clean step. It is to grow when there were growth_interval of them in a row.",
    change={"== self.growth_interval": ">= 1"},
    of="as-most-begin",
)

bank.wrong(
    "no-tracker-reset",
    "After an overflow your count of clean steps goes on. It is to begin again at 0.",
    change={"self.clean_steps = 0\nreturn": "return"},
    of="as-most-begin",
)

bank.wrong(
    "no-reset-after-growth",
    "When the factor has grown, your count of clean steps goes on. It is to begin again at 0.",
    change={"self.factor *= self.growth\nself.clean_steps = 0": "self.factor *= self.growth"},
    of="as-most-begin",
)

bank.wrong(
    "unscale-twice",
    "Your step divides the gradients again when unscale_ has done it already: they are then too short by a factor.",
    change={"if self.finite is None:\n    self.unscale_(optimizer)": "self.unscale_(optimizer)"},
    of="as-most-begin",
)

bank.wrong(
    "step-never-unscales",
    "Your step relies on unscale_ having been called. Without it, the gradients are still multiplied by factor.",
    change={"if self.finite is None:\n    self.unscale_(optimizer)\nif self.finite:": "if self.finite is not False:"},
    of="as-most-begin",
)

bank.wrong(
    "never-forgets",
    "Your update does not forget that the gradients were divided: from the second round on, nobody divides them.",
    change={"finite, self.finite = self.finite, None": "finite = self.finite"},
    of="as-most-begin",
)

bank.wrong(
    "only-inf",
    "You let nan pass, as who looks for inf or for large numbers does. It is not finite either; torch.isfinite knows both.",
    change={"torch.isfinite(g).all()": "not torch.isinf(g).any()"},
    of="as-most-begin",
)

bank.wrong(
    "only-nan",
    "You look for nan alone. inf is what an overflow leaves; torch.isfinite knows both.",
    change={"torch.isfinite(g).all()": "not torch.isnan(g).any()"},
    of="as-most-begin",
)

bank.wrong(
    "first-group-only",
    "You look at the first group of parameters only. The optimizer may hold several: go through param_groups.",
    change={'[p for group in optimizer.param_groups for p in group["params"]]': 'optimizer.param_groups[0]["params"]'},
    of="as-most-begin",
)

bank.wrong(
    "grad-is-none",
    "A parameter that had no part in the loss has None in .grad, and None cannot be divided. Leave it out.",
    change={"p.grad for p in params if p.grad is not None": "p.grad for p in params"},
)

bank.wrong(
    "stops-at-the-first",
    "At the first gradient that is not finite you stop: those behind it stay multiplied. Divide each that is there.",
    change={"self.overflow = True": "self.unscaled = self.overflow = True\nreturn"},
    of="flags",
)

bank.wrong(
    "divides-none",
    "A parameter that had no part in the loss has no gradient: its .grad is None, which cannot be divided. Leave it out.",
    change={
        "if p.grad is not None:\n    p.grad.div_(self.factor)\n    if not": "p.grad.div_(self.factor)\nif not",
        "        self.ok = False": "    self.ok = False",
    },
    of="forgets-at-step",
)

bank.wrong(
    "copies-into-none",
    "A parameter that had no part in the loss has no gradient: its .grad is None, into which nothing can be copied. Leave it out.",
    change={
        "p.grad for p in params if p.grad is not None": "p.grad for p in params",
        "self.finite = all(torch.isfinite(g).all() for g in grads)\nfor g in grads:\n    g.div_(self.factor)": "for g in grads:\n    g.copy_(g / self.factor)\nself.finite = all(torch.isfinite(g).all() for g in grads)",
    },
)

bank.wrong(
    "last-gradient-decides",
    "In your loop the last gradient decides whether all are finite. One that is not must be enough.",
    change={
        "self.finite = all(torch.isfinite(g).all() for g in grads)": "",
        "for g in grads:": "for g in grads:\n    self.finite = bool(torch.isfinite(g).all())",
    },
    of="as-most-begin",
)

bank.wrong(
    "one-step-late",
    "Your factor grows one clean step too late: when the count reaches growth_interval, not when it is beyond.",
    change={"== self": "> self"},
    of="as-most-begin",
)

bank.wrong(
    "static-backs-off",
    "With growth_interval=None your factor shrinks after an overflow. A static scaler leaves it alone.",
    also=("static-backs-off-and-counts-none",),
    change={"if self.growth_interval is None:\n    return": ""},
    of="as-most-begin",
)

bank.wrong(
    "divides-by-backoff",
    "After an overflow you divide by backoff, which is below 1: your factor grows. Multiply by it.",
    change={"self.factor *=": "self.factor /="},
)

bank.wrong(
    "static-counts",
    "With growth_interval=None you count the clean steps all the same. A static scaler leaves clean_steps at 0.",
    change={
        "self.finite, None": "self.finite, None\nself.clean_steps = self.clean_steps + 1 if finite else 0",
        "self.clean_steps = self.clean_steps + 1 if finite else 0": "",
    },
)

bank.wrong(
    "multiplies-again",
    "You multiply the gradients by factor. The loss was multiplied; the gradients must be divided.",
    change={"g.div_": "g.mul_"},
    of="as-most-begin",
)

bank.wrong(
    "not-in-place",
    "Your .grad stays as it was: nothing divides it, or the result is thrown away. Divide in place.",
    change={"g.div_": "g.div"},
    of="as-most-begin",
)

bank.wrong(
    "detached-loss",
    "Your scaled loss has no graph: backward cannot go through it.",
    change={"return loss": "return loss.detach()"},
    of="as-most-begin",
)

bank.told(
    "another-grad",
    "same",
    change={"p.grad.mul_(1 / self.factor)": "p.grad = p.grad / self.factor"},
    of="times-the-inverse",
)

bank.wrong(
    "once-and-for-all",
    "Once a gradient was not finite, your scaler never takes the next ones for finite again. Begin anew in each unscale_.",
    change={
        "def unscale_(self, optimizer):\n    self.ok = True": "def unscale_(self, optimizer):",
        "p.grad.mul_(1 / self.factor)": "p.grad.div_(self.factor)",
    },
    of="times-the-inverse",
)

bank.wrong(
    "count-goes-on",
    "Your factor grows at the right time, but the count of clean steps goes on. After each growth it begins again at 0.",
    change={
        "self.clean_steps == self.growth_interval": "self.clean_steps % self.growth_interval == 0",
        "self.factor, self.clean_steps = self.factor * self.growth, 0": "self.factor *= self.growth",
    },
)

bank.wrong(
    "always-halves",
    "After an overflow you halve the factor. What it is multiplied by is `backoff`.",
    change={
        "p.grad.mul_(1 / self.factor)": "p.grad.div_(self.factor)",
        "self.factor *= self.backoff": "self.factor /= 2",
    },
    of="times-the-inverse",
)

bank.wrong(
    "clears-in-step",
    "Your step clears the gradients. They are to stay in .grad, divided, until the caller clears them.",
    change={
        "if self.ok:\n    optimizer.step()\nself.unscaled = False": "if self.ok:\n    optimizer.step()\noptimizer.zero_grad()"
    },
    of="forgets-at-step",
)

bank.wrong(
    "static-backs-off-and-counts-none",
    "With growth_interval=None your factor still backs off after an overflow. A static scaler leaves its factor alone.",
    change={"if self.growth_interval is None:": "if finite and self.growth_interval is None:"},
)

bank.wrong(
    "compares-before-counting",
    "You compare the count before this clean step is in it: your factor grows one clean step too late.",
    change={
        "self.clean_steps += 1": "",
        "if self.clean_steps == self.growth_interval:\n    self.factor *= self.growth\n    self.clean_steps = 0": "if self.clean_steps == self.growth_interval:\n    self.factor *= self.growth\n    self.clean_steps = 0\nself.clean_steps += 1",
    },
    of="as-most-begin",
)

bank.wrong(
    "updates-in-step",
    "Your step ends the round, and update ends it once more: each round counts twice. update is called by the caller.",
    change={"if self.ok:\n    optimizer.step()": "if self.ok:\n    optimizer.step()\nself.update()"},
    of="times-the-inverse",
)

bank.told(
    "changed-in-step",
    "early",
    change={
        "if self.finite:\n    optimizer.step()": "if self.finite:\n    optimizer.step()\nself.adapt()",
        "def update(self):\n    finite, self.finite = self.finite, None": "def update(self):\n    self.finite = None\n\ndef adapt(self):\n    finite = self.finite",
    },
)

bank.wrong(
    "adds-the-squares",
    "You look at the sum of the squares. A number that is finite has a square that may not be: look at the numbers.",
    change={
        "all(torch.isfinite(g).all() for g in grads)": "math.isfinite(sum((g**2).sum() for g in grads))",
    },
)


@bank.right("forgets-at-step")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff, self.growth_interval = factor, growth, backoff, growth_interval
        self.clean_steps = 0
        self.unscaled = False
        self.ok = True

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        self.ok = True
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.div_(self.factor)
                    if not torch.isfinite(p.grad).all():
                        self.ok = False
        self.unscaled = True

    def step(self, optimizer):
        if not self.unscaled:
            self.unscale_(optimizer)
        if self.ok:
            optimizer.step()
        self.unscaled = False

    def update(self):
        if self.growth_interval is not None:
            if not self.ok:
                self.factor *= self.backoff
                self.clean_steps = 0
            else:
                self.clean_steps += 1
                if self.clean_steps == self.growth_interval:
                    self.factor *= self.growth
                    self.clean_steps = 0
        self.unscaled = False


@bank.right("times-the-inverse")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff, self.growth_interval = factor, growth, backoff, growth_interval
        self.clean_steps = 0
        self.unscaled = False
        self.ok = True

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        self.ok = True
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.mul_(1 / self.factor)
                    if not torch.isfinite(p.grad).all():
                        self.ok = False
        self.unscaled = True

    def step(self, optimizer):
        if not self.unscaled:
            self.unscale_(optimizer)
        if self.ok:
            optimizer.step()

    def update(self):
        if self.growth_interval is not None:
            if not self.ok:
                self.factor *= self.backoff
                self.clean_steps = 0
            else:
                self.clean_steps += 1
                if self.clean_steps == self.growth_interval:
                    self.factor *= self.growth
                    self.clean_steps = 0
        self.unscaled = False


@bank.right("flags")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor = factor
        self.growth = growth
        self.backoff = backoff
        self.growth_interval = growth_interval
        self.clean_steps = 0
        self.unscaled = False
        self.overflow = False

    def scale(self, loss):
        return self.factor * loss

    def unscale_(self, optimizer):
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.grad /= self.factor
                if not torch.isfinite(p.grad).all():
                    self.overflow = True
        self.unscaled = True

    def step(self, optimizer):
        if not self.unscaled:
            self.unscale_(optimizer)
        if not self.overflow:
            optimizer.step()

    def update(self):
        if self.growth_interval is not None:
            if self.overflow:
                self.factor, self.clean_steps = self.factor * self.backoff, 0
            else:
                self.clean_steps = (self.clean_steps + 1) % self.growth_interval
                self.factor *= self.growth if self.clean_steps == 0 else 1.0
        self.unscaled = self.overflow = False


@bank.right("on-top-of-torch")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.static = growth_interval is None
        self.scaler = torch.amp.GradScaler(
            "cpu",
            init_scale=factor,
            growth_factor=growth,
            backoff_factor=backoff,
            growth_interval=growth_interval or 1,
        )

    @property
    def factor(self):
        return self.scaler.get_scale()

    @property
    def clean_steps(self):
        return 0 if self.static else self.scaler.state_dict()["_growth_tracker"]

    def scale(self, loss):
        return self.scaler.scale(loss)

    def unscale_(self, optimizer):
        self.scaler.scale(torch.zeros(()))
        self.scaler.unscale_(optimizer)

    def step(self, optimizer):
        self.scaler.step(optimizer)

    def update(self):
        self.scaler.update(self.factor if self.static else None)


@bank.right("tensors-and-a-norm")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor = torch.tensor(float(factor))
        self.rates = growth, backoff
        self.growth_interval = growth_interval
        self.clean_steps = 0
        self.norm = None

    def scale(self, loss):
        return loss * self.factor.item()

    def unscale_(self, optimizer):
        grads = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        torch._foreach_mul_(grads, 1.0 / self.factor.item())
        self.norm = sum(g.abs().sum() for g in grads)

    def step(self, optimizer):
        if self.norm is None:
            self.unscale_(optimizer)
        if math.isfinite(self.norm):
            optimizer.step()

    def update(self):
        clean, self.norm = math.isfinite(self.norm), None
        if self.growth_interval:
            growth, backoff = self.rates
            self.clean_steps = self.clean_steps + 1 if clean else 0
            rate = 1.0 if clean else backoff
            if self.clean_steps == self.growth_interval:
                rate, self.clean_steps = growth, 0
            self.factor = self.factor * rate


@bank.right("as-most-begin")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


bank.survives(
    {
        "loss * self.factor -> self.factor * loss": "Numbers multiply in any order.",
        "self.clean_steps + 1 -> 1 + self.clean_steps": "Addition does not mind the order.",
        "self.clean_steps == self.growth_interval -> self.clean_steps >= self.growth_interval": "The count goes up by 1 and begins again, so it is never beyond.",
        "self.factor * self.growth -> self.growth * self.factor": "Numbers multiply in any order.",
    }
)
