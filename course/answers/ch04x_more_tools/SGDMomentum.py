"""Answers to `SGDMomentum`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("SGDMomentum")


bank.wrong(
    "exhausts-generator",
    "You go through `params` more than once. A generator is empty after the first time: make a list of it.",
    change={
        "list(params)": "params",
        "[torch.zeros_like(p) for p in self.params]": "{}",
        "for p, v in zip(self.params, self.velocities):": "for p in self.params:\n    v = self.velocities.setdefault(p, torch.zeros_like(p))",
    },
)

bank.wrong(
    "used-up-in-init",
    "Given a generator, your optimizer moves nothing. One walk, such as that for the velocities, uses it up: "
    "make a list of it first.",
    change={"list(params)": "params"},
)

bank.wrong(
    "shared-state",
    "Your velocities live in the class: a second optimizer throws away those of the first.",
    change={"self.velocities =": "type(self).velocities ="},
)

bank.wrong(
    "none-grad-crash",
    "A tensor without a gradient makes your step crash. Leave it out.",
    change={"if p.grad is None:\n    continue": ""},
    of="rate-in-the-velocity",
)

bank.wrong(
    "none-counts-as-zero",
    "A tensor without a gradient still moves, by its velocity or decay. It should be left alone.",
    change={
        "if p.grad is None:\n    continue": "grad = torch.zeros_like(p) if p.grad is None else p.grad",
        "p.grad + self.decay * p.detach()": "grad + self.decay * p.detach()",
    },
    of="rate-in-the-velocity",
)

bank.wrong(
    "no-memory",
    "Each of your steps goes by the gradient alone: nothing of the steps before is in it.",
    also=("no-momentum-by-default",),
    change={"v.mul_(self.momentum).add_": "v.copy_"},
)

bank.wrong(
    "average-not-sum",
    "You weigh the new gradient by 1 - momentum, as Adam does. Here it enters whole.",
    slip=True,
    change={"p.grad + self.weight_decay * p": "(1 - self.momentum) * (p.grad + self.weight_decay * p)"},
)

bank.wrong(
    "decay-beside-velocity",
    "Your weight decay moves the tensor directly. Here it belongs in the velocity, with the gradient.",
    change={
        "p.grad + self.weight_decay * p": "p.grad",
        "p -= self.lr * v": "p -= self.lr * (v + self.weight_decay * p)",
    },
)

bank.wrong(
    "shrinks-the-weights",
    "You make the tensor smaller by the share weight_decay, beside the step. It is weight_decay * p that joins the "
    "gradient, and with it the velocity.",
    change={
        "p.grad + self.weight_decay * p": "p.grad",
        "p -= self.lr * v": "p -= self.lr * v\np *= 1 - self.weight_decay",
    },
)

bank.wrong(
    "ignores-decay", "You store `weight_decay` and never use it.", change={"p.grad + self.weight_decay * p": "p.grad"}
)

bank.wrong(
    "looks-ahead",
    "You add momentum times the new velocity to the gradient. That is Nesterov's rule; the plain one is asked for.",
    change={
        "v.mul_(self.momentum).add_(p.grad + self.weight_decay * p)": "g = p.grad + self.weight_decay * p\nv.mul_(self.momentum).add_(g)",
        "p -= self.lr * v": "p -= self.lr * (g + self.momentum * v)",
    },
)

bank.wrong(
    "uphill",
    "Your tensors move along the gradient, which is uphill. Gradients are added into the velocity, and the "
    "velocity is subtracted.",
    change={"p -= self.lr * v": "p += self.lr * v"},
)

bank.wrong(
    "rebinds-the-tensor",
    "The caller's tensors, which the model uses, never move. A new tensor in your list is none of them: change "
    "those that you are given, in place.",
    also=("renames-the-tensor",),
    change={
        "for p, v in zip(self.params, self.velocities):": "for i, (p, v) in enumerate(zip(self.params, self.velocities)):",
        "p -= self.lr * v": "self.params[i] = (p - self.lr * v).requires_grad_()",
    },
)

bank.wrong(
    "renames-the-tensor",
    "The caller's tensors never move. A new tensor, under the name p (p = p - ...) or in a list of yours, is none of "
    "them: change the one that is there, in place.",
    change={"p -= self.lr * v": "p = p - self.lr * v"},
)

bank.wrong(
    "writes-into-grad",
    "You add the decay to .grad itself. The gradient is the caller's.",
    change={"p.grad + self.weight_decay * p": "p.grad.add_(self.weight_decay * p)"},
)

bank.wrong(
    "zeros-not-none",
    "After your zero_grad, .grad still holds numbers, zeros perhaps. None is asked for: a tensor that gets no gradient is then "
    "left alone.",
    change={"p.grad = None": "if p.grad is not None:\n    p.grad = torch.zeros_like(p)"},
)

bank.wrong(
    "clears-in-step",
    "Your step clears the gradients. That is what zero_grad is for; here .grad should stay.",
    change={"p -= self.lr * v": "p -= self.lr * v\np.grad = None"},
)

bank.wrong(
    "velocity-is-the-gradient",
    "Your first velocity is the tensor in .grad itself, not a copy: when .grad is filled anew, the velocity is gone.",
    change={"p.grad.add(p, alpha=decay)": "p.grad if decay == 0 else p.grad.add(p, alpha=decay)"},
    of="velocities-by-tensor",
)

bank.wrong(
    "one-velocity-for-all",
    "All tensors share one velocity: what one has gathered moves the next. Keep a velocity for each.",
    change={
        "self.velocities = [torch.zeros_like(p) for p in self.params]": "self.v = 0.0",
        "for p, v in zip(self.params, self.velocities):": "for p in self.params:",
        "v.mul_(self.momentum).add_(p.grad + self.weight_decay * p)": "self.v = self.momentum * self.v + p.grad + self.weight_decay * p",
        "p -= self.lr * v": "p -= self.lr * self.v",
    },
)


@bank.wrong(
    "velocities-shift",
    "Your velocities are numbered by the tensors that have a gradient just now. Where one of them has none, the next takes "
    "over its velocity: number them by all tensors.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [0.0] * len(self.params)

    @torch.no_grad()
    def step(self):
        there = [p for p in self.params if p.grad is not None]
        for i, p in enumerate(there):
            g = p.grad + self.weight_decay * p
            self.velocities[i] = self.momentum * self.velocities[i] + g
            p.sub_(self.lr * self.velocities[i])

    def zero_grad(self):
        for p in self.params:
            p.grad = None


bank.wrong(
    "velocity-by-shape",
    "Two tensors of one shape share a velocity in your code. Each tensor has its own.",
    change={
        "[torch.zeros_like(p) for p in self.params]": "{p.shape: torch.zeros_like(p) for p in self.params}",
        "for p, v in zip(self.params, self.velocities):": "for p in self.params:\n    v = self.velocities[p.shape]",
    },
)

bank.wrong(
    "no-momentum-by-default",
    "Called without `momentum`, your steps remember nothing. The default that was given is 0.9.",
    change={"momentum=0.9": "momentum=0.0"},
)

bank.wrong(
    "first-velocity-is-the-gradient",
    "Your first velocity is the very tensor in .grad: whoever writes the next gradient into it writes into "
    "your velocity. Make a copy.",
    change={
        "p.grad.add(p, alpha=decay)": "p.grad if decay == 0 else p.grad.add(p, alpha=decay)",
        "momentum * v + g": "v.mul_(momentum).add_(g)",
    },
    of="velocities-by-tensor",
)

bank.told("new-memory-each-step", "in_place", change={"p -= self.lr * v": "p.data = p.data - self.lr * v"})


bank.wrong(
    "decay-into-the-first-gradient",
    "In the first step you write the decay into .grad itself. It belongs to whoever called: add into a tensor of your own.",
    change={
        "g = p.grad.add(p, alpha=decay)": "g = p.grad.add_(p, alpha=decay).clone() if v is None else p.grad.add(p, alpha=decay)"
    },
    of="velocities-by-tensor",
)

bank.wrong(
    "forgets-with-the-gradients",
    "Your zero_grad throws the velocities away, too. It is called in every round of a training: nothing would be remembered.",
    change={
        "def zero_grad(self):": "def zero_grad(self):\n    self.velocities = [torch.zeros_like(p) for p in self.params]"
    },
)

bank.wrong(
    "leaves-out-zeros",
    "A tensor whose gradient is all zeros has a gradient: its velocity goes on, and moves it. You leave it alone.",
    slip=True,
    change={"if p.grad is not None:": "if p.grad is not None and p.grad.any():"},
)


@bank.right("velocities-by-tensor")
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.velocity = {p: None for p in params}
        self.settings = lr, momentum, weight_decay

    @torch.no_grad()
    def step(self):
        lr, momentum, decay = self.settings
        for p, v in self.velocity.items():
            if p.grad is not None:
                g = p.grad.add(p, alpha=decay)
                self.velocity[p] = g if v is None else momentum * v + g
                p.sub_(self.velocity[p], alpha=lr)

    def zero_grad(self):
        for p in self.velocity:
            p.grad = None


@bank.right("rate-in-the-velocity")
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.pairs = [(p, torch.zeros(p.shape, dtype=p.dtype)) for p in params]
        self.lr, self.momentum, self.decay = lr, momentum, weight_decay

    def step(self):
        for p, move in self.pairs:
            if p.grad is None:
                continue
            move *= self.momentum
            move += self.lr * (p.grad + self.decay * p.detach())
            p.detach().sub_(move)

    def zero_grad(self):
        for p, _ in self.pairs:
            p.grad = None


@bank.right("around-torch")
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.inner = torch.optim.SGD(params, lr=lr, momentum=momentum, weight_decay=weight_decay)

    def step(self):
        self.inner.step()

    def zero_grad(self):
        self.inner.zero_grad()


bank.survives(
    {
        "self.lr * v -> v * self.lr": "Numbers multiply in any order.",
        "p.grad + self.weight_decay * p -> self.weight_decay * p + p.grad": "Addition does not mind the order.",
        "self.weight_decay * p -> p * self.weight_decay": "Numbers multiply in any order.",
    }
)

bank.wrong(
    "momentum-of-the-default",
    "Your momentum is 0.9 whatever `momentum` says.",
    change={"v.mul_(self.momentum)": "v.mul_(0.9)"},
)

bank.wrong(
    "decay-subtracted",
    "Your weight decay pushes each number away from 0: you subtract it from the gradient. It is added.",
    change={"p.grad + self.weight_decay * p": "p.grad - self.weight_decay * p"},
)

bank.wrong(
    "rate-twice",
    "The learning rate is in your velocity and in the step as well. It belongs in the step alone.",
    change={"p.grad + self.weight_decay * p": "self.lr * (p.grad + self.weight_decay * p)"},
)
