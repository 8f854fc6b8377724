"""Answers to `AdamW`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("AdamW")


bank.wrong(
    "t-per-param",
    "You count t up once for each tensor, in one counter for all: with two tensors it runs twice as fast.",
    change={
        "self.params = list(params)": "self.params, self.t = list(params), 0",
        "state[0] += 1": "self.t += 1\nstate[0] = self.t",
    },
)

bank.wrong(
    "t-for-all",
    "Your t counts calls of step. A tensor without a gradient has taken no step: its own t stays.",
    change={
        "self.params = list(params)": "self.params, self.t = list(params), 0",
        "b1, b2 = self.betas": "b1, b2 = self.betas\nself.t += 1",
        "state[0] += 1": "state[0] = self.t",
    },
)

bank.wrong(
    "exhausts-generator",
    "You go through `params` again in each step. A generator is empty by then, and nothing moves: make a list of it.",
    change={"[*params]": "params"},
    of="state-made-late",
)

bank.wrong(
    "shared-state",
    "Your t, m and s live in the class: a second optimizer throws away the memory of the first.",
    change={"self.state =": "type(self).state ="},
)

bank.wrong(
    "eps-inside",
    "You add eps under the root. It belongs after it: there it is a length, under the root the square of one.",
    slip=True,
    change={"(s / (1 - b2**t)).sqrt() + self.eps": "(s / (1 - b2**t) + self.eps).sqrt()"},
)

bank.wrong(
    "l2-as-decay",
    "You add the decay to the gradient: m and s then scale it away. In AdamW it shrinks the tensor directly.",
    change={
        "p *= 1 - self.lr * self.weight_decay": "g = p.grad + self.weight_decay * p",
        "(1 - b1) * p.grad": "(1 - b1) * g",
        "(1 - b2) * p.grad**2": "(1 - b2) * g**2",
    },
)

bank.wrong(
    "decay-without-rate",
    "Your decay forgets the learning rate: it should shrink by lr times weight_decay.",
    change={"1 - self.lr * self.weight_decay": "1 - self.weight_decay"},
)

bank.wrong(
    "no-decay",
    "You never use `weight_decay`.",
    change={"p *= 1 - self.lr * self.weight_decay": ""},
)

bank.wrong(
    "none-grad-crash",
    "A tensor without a gradient stops your step. Leave it out.",
    change={"if p.grad is None:\n    continue": ""},
)

bank.wrong(
    "none-counts-as-zero",
    "You take a missing gradient for zeros: the tensor decays, and moves by its memory. Leave it alone.",
    change={
        "if p.grad is None:\n    continue": "g = torch.zeros_like(p) if p.grad is None else p.grad",
        "(1 - b1) * p.grad": "(1 - b1) * g",
        "(1 - b2) * p.grad**2": "(1 - b2) * g**2",
    },
)

bank.wrong(
    "no-correction",
    "You use m and s as they are. They begin at 0: without dividing by 1 - beta ** t the first steps are too long.",
    change={"(m / (1 - b1**t))": "m", "(s / (1 - b2**t))": "s"},
)

bank.wrong(
    "keeps-the-corrected",
    "What your second step begins with has been divided by 1 - beta ** t already. Keep m and s as they are, and "
    "divide only where you use them.",
    change={
        "s.mul_(b2).add_((1 - b2) * p.grad**2)": "s.mul_(b2).add_((1 - b2) * p.grad**2)\nm /= 1 - b1**t\ns /= 1 - b2**t",
        "(m / (1 - b1**t))": "m",
        "(s / (1 - b2**t))": "s",
    },
)

bank.wrong(
    "counts-from-zero",
    "Your first step makes nan: by the root of something negative, or by a division by 0, as where t is still 0 in "
    "1 - beta ** t. In the first step, t is 1.",
    change={"state[0] += 1\nt, m, s = state": "t, m, s = state\nstate[0] += 1"},
)

bank.wrong(
    "betas-swapped",
    "The first beta belongs to m, the second to s. You have them the other way round.",
    change={"b1, b2 = self.betas": "b2, b1 = self.betas"},
)

bank.wrong(
    "keeps-the-smaller-part",
    "Of your old m and s little stays, 1 - beta, and the new gradient gets beta. It is the other way round.",
    change={
        "m.mul_(b1).add_((1 - b1) * p.grad)": "m.mul_(1 - b1).add_(b1 * p.grad)",
        "s.mul_(b2).add_((1 - b2) * p.grad**2)": "s.mul_(1 - b2).add_(b2 * p.grad**2)",
    },
)

bank.wrong(
    "forgets-with-the-gradients",
    "Your zero_grad sets t, m and s back, too. It is called in every round of a training: nothing would be remembered.",
    change={
        "def zero_grad(self):": "def zero_grad(self):\n    self.state = [[0, torch.zeros_like(p), torch.zeros_like(p)] for p in self.params]"
    },
)

bank.wrong(
    "no-root",
    "You divide by s. Its root is asked for: s is a mean of squares.",
    change={"(s / (1 - b2**t)).sqrt() + self.eps": "s / (1 - b2**t) + self.eps"},
)

bank.wrong(
    "decay-last",
    "Your decay comes after the step, and shrinks the step too. In AdamW it comes first.",
    change={
        "p *= 1 - self.lr * self.weight_decay": "",
        "((s / (1 - b2**t)).sqrt() + self.eps)": "((s / (1 - b2**t)).sqrt() + self.eps)\np *= 1 - self.lr * self.weight_decay",
    },
)

bank.wrong(
    "rebinding",
    "Beside its decay, the caller's tensor stays where it was. A line such as p = p - ... would only make a new "
    "one: change the one that is there, as by p.sub_.",
    change={"p -= self.lr * (m / (1 - b1**t))": "p = p - self.lr * (m / (1 - b1**t))"},
)

bank.wrong(
    "absolute-values",
    "Your s is a mean of absolute gradients. It is that of their squares, of which the root is taken later.",
    change={"p.grad**2": "p.grad.abs()"},
)

bank.wrong(
    "first-beta-for-both",
    "You use the first beta for s too. s has the second one, and a longer memory.",
    slip=True,
    change={"s.mul_(b2).add_((1 - b2) * p.grad**2)": "s.mul_(b1).add_((1 - b1) * p.grad**2)"},
)

bank.wrong(
    "begins-at-the-gradient",
    "Your m begins at the first gradient. It begins at 0: that is what the division by 1 - beta ** t makes up for.",
    change={"m.mul_(b1).add_((1 - b1) * p.grad)": "m.copy_(p.grad) if t == 1 else m.mul_(b1).add_((1 - b1) * p.grad)"},
)

bank.wrong(
    "decays-what-has-no-gradient",
    "A tensor without a gradient still decays. It is to be left alone.",
    change={
        "if p.grad is None:": "p *= 1 - self.lr * self.weight_decay\nif p.grad is None:",
        "p *= 1 - self.lr * self.weight_decay": "",
    },
)

bank.wrong(
    "within-the-graph",
    "You change tensors that require grad while a graph is recorded, and torch refuses. Work under torch.no_grad().",
    change={"@torch.no_grad()": ""},
)

bank.wrong(
    "averages-by-shape",
    "Two tensors of one shape share their averages m and s in your code. Each tensor has its own.",
    change={
        "self.params = list(params)": "self.params = list(params)\nshared = {p.shape: (torch.zeros_like(p), torch.zeros_like(p)) for p in self.params}",
        "[0, torch.zeros_like(p), torch.zeros_like(p)]": "[0, *shared[p.shape]]",
    },
)

bank.wrong(
    "second-average-uncorrected",
    "You correct m for its start at 0, but not s. Both are divided by 1 minus their beta to the power of t.",
    slip=True,
    change={"(s / (1 - b2**t)).sqrt()": "s.sqrt()"},
)

bank.wrong(
    "leaves-out-zeros",
    "A tensor whose gradient is all zeros has a gradient: t, m and s go on, and it moves. You leave it alone.",
    slip=True,
    change={"if p.grad is None:": "if p.grad is None or not p.grad.any():"},
)


@bank.right("lerps-and-addc")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]
        self.t = [0] * len(self.params)

    @torch.no_grad()
    def step(self):
        b1, b2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            g = p.grad
            self.t[i] += 1
            p.mul_(1 - self.lr * self.weight_decay)
            self.m[i].lerp_(g, 1 - b1)
            self.s[i].mul_(b2).addcmul_(g, g, value=1 - b2)
            m_hat = self.m[i] / (1 - b1 ** self.t[i])
            s_hat = self.s[i] / (1 - b2 ** self.t[i])
            p.addcdiv_(m_hat, s_hat.sqrt().add_(self.eps), value=-self.lr)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.right("around-torch")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.inner = torch.optim.AdamW(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def step(self):
        self.inner.step()

    def zero_grad(self):
        self.inner.zero_grad(set_to_none=True)


@bank.right("state-made-late")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params, self.memory = [*params], {}
        self.settings = {"lr": lr, "betas": betas, "eps": eps, "decay": weight_decay}

    def step(self):
        lr, eps, decay = (self.settings[key] for key in ("lr", "eps", "decay"))
        one, two = self.settings["betas"]
        for p in self.params:
            if p.grad is None:
                continue
            t, m, s = self.memory.get(id(p), (0, 0.0, 0.0))
            t, m, s = t + 1, one * m + (1 - one) * p.grad, two * s + (1 - two) * p.grad.square()
            self.memory[id(p)] = t, m, s
            moved = m / (1 - one**t) / ((s / (1 - two**t)).sqrt() + eps)
            p.data.copy_(p.data - lr * decay * p.data - lr * moved)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.right("fused-formula")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.slots = [{"p": p, "t": 0, "m": torch.zeros_like(p), "s": torch.zeros_like(p)} for p in params]
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay

    @torch.no_grad()
    def step(self):
        for slot in self.slots:
            g = slot["p"].grad
            if g is None:
                continue
            slot["t"] += 1
            slot["m"].lerp_(g, 1 - self.betas[0])
            slot["s"].mul_(self.betas[1]).addcmul_(g, g, value=1 - self.betas[1])
            fix1, fix2 = (1 - beta ** slot["t"] for beta in self.betas)
            slot["p"].mul_(1 - self.lr * self.weight_decay)
            slot["p"].addcdiv_(slot["m"], (slot["s"] / fix2).sqrt() + self.eps, value=-self.lr / fix1)

    def zero_grad(self):
        for slot in self.slots:
            slot["p"].grad = None


bank.wrong(
    "times-t",
    "You correct by 1 minus beta times t. It is beta to the power of t: `**`.",
    change={"b1**t": "b1 * t", "b2**t": "b2 * t"},
)

bank.survives(
    {
        "self.lr * self.weight_decay -> self.weight_decay * self.lr": "Numbers multiply in any order.",
        "(1 - b1) * p.grad -> p.grad * (1 - b1)": "Numbers multiply in any order.",
        "(1 - b2) * p.grad ** 2 -> p.grad ** 2 * (1 - b2)": "Numbers multiply in any order.",
        "self.lr * (m / (1 - b1 ** t)) -> m / (1 - b1 ** t) * self.lr": "Numbers multiply in any order.",
        "(s / (1 - b2 ** t)).sqrt() + self.eps -> self.eps + (s / (1 - b2 ** t)).sqrt()": "Addition does not mind the order.",
    }
)
