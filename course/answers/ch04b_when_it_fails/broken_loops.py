"""Answers to `broken_loops`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("broken_loops")


bank.wrong(
    "untouched",
    "The loops do what they did when you found them. Begin with loop a: which of the five lines is missing?",
    also=("b-as-given", "clears-once", "f-as-given"),
    change={
        "optimizer.zero_grad()\nloss.backward()": "loss.backward()",
        "optimizer.step()\noptimizer.zero_grad()": "optimizer.zero_grad()\noptimizer.step()",
        "lr=0.01": "lr=10.0",
        "twin = model": "twin = copy.deepcopy(model)",
        "y[:, None]": "y",
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.03)\nlosses = []\nfor _ in range(steps):": "losses = []\nfor _ in range(steps):\n    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)",
        "y[order]": "y",
        "if (step + 1) % 20 == 0:\n    scheduler.step()": "scheduler.step()",
    },
    of="other-places",
)

bank.wrong(
    "clears-once",
    "Loop a does not clear the gradients in every round: they pile up. They must go before each backward.",
    change={
        "def loop_a(model, x, y, steps):": "def loop_a(model, x, y, steps):\n    model.zero_grad()",
        "model.zero_grad()": "",
    },
    of="model-and-schedule",
)

bank.wrong(
    "b-as-given",
    "In loop b the step finds no gradients: they are cleared after backward, or backward is not called. It moves nothing.",
    change={"optimizer.step()\noptimizer.zero_grad()": "optimizer.zero_grad()\noptimizer.step()"},
    of="other-places",
)

bank.wrong(
    "rate-still-too-high",
    "Loop c still has too high a rate: each step lands further away, on the other side of the valley.",
    change={"lr=0.01": "lr=1.5"},
    of="other-places",
)

bank.wrong(
    "rate-too-low",
    "Loop c creeps: the rate has become so small that its steps do not get anywhere.",
    change={"lr=0.01": "lr=0.001"},
    of="other-places",
)

bank.wrong(
    "loss-of-the-twin",
    "In loop d you watch the twin now: the losses fall, but the model that was given stays as it was.",
    change={"twin = model": "twin = copy.deepcopy(model)\nmodel = twin"},
    of="other-places",
)

bank.wrong(
    "e-still-broadcasts",
    "In loop e predictions do not meet their own targets: where (n, 1) meets (n,), each is compared with every one.",
    change={"model(x).squeeze(1) - y": "model(x) - y"},
    of="as-most-begin",
)

bank.wrong(
    "f-as-given",
    "Loop f still makes a new Adam in each step: it forgets all that it had learned about the steps before.",
    change={
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.03)\nlosses = []\nfor _ in range(steps):": "losses = []\nfor _ in range(steps):\n    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)"
    },
)

bank.wrong(
    "f-by-sgd",
    "Loop f trains by SGD now. It was Adam that should work; it only has to be made once.",
    change={"torch.optim.Adam": "torch.optim.SGD", "lr=0.03": "lr=0.1"},
    of="as-most-begin",
)

bank.wrong(
    "g-shuffles-twice",
    "Loop g shuffles the targets too, but in another order: rows and targets still do not belong together.",
    change={"y[order]": "y[torch.randperm(len(x))]"},
    of="as-most-begin",
)

bank.wrong(
    "h-as-given",
    "Loop h still lowers the rate after each step: it has shrunk to nothing before anything is learned.",
    change={"if step % 20 == 19:\n    scheduler.step()": "scheduler.step()"},
    of="as-most-begin",
)

bank.wrong(
    "h-never-falls",
    "In loop h the rate stays as it is to the end. Its author wanted it to fall, only not so soon.",
    change={"if step % 20 == 19:\n    scheduler.step()": ""},
    of="as-most-begin",
)

bank.wrong(
    "h-falls-at-once",
    "In loop h the rate falls after the very first step already, and then every 20 steps. Steps are counted from 0 here: "
    "how many have been taken when `step` is 0?",
    change={"step % 20 == 19": "step % 20 == 0"},
    of="as-most-begin",
)

bank.wrong(
    "h-falls-in-every-step",
    "In loop h the rate still falls after each step, only by less. It should stay the same for 20 steps.",
    change={"gamma=0.9": "gamma=0.999", "if step % 20 == 19:\n    scheduler.step()": "scheduler.step()"},
    of="as-most-begin",
)

bank.wrong(
    "rewrites-a-loop",
    "All loops learn, but one of them has more than two lines that are not as you were given them, or another name. Each "
    "fault needs two lines at most.",
    change={
        "if step % 20 == 19:\n    scheduler.step()\nlosses.append(loss.item())": "if step % 20 == 19:\n    scheduler.step()\nvalue = loss.item()\nlosses.append(value)",
    },
    of="as-most-begin",
)

bank.wrong(
    "b-clears-no-more",
    "Loop b does not clear the gradients any more: they pile up. Move the line in front of backward, or behind the step.",
    change={"optimizer.step()\noptimizer.zero_grad()": "optimizer.step()"},
    of="other-places",
)

bank.wrong(
    "g-order-undone",
    "Loop g sorts the targets by the order backwards. What is shuffled by `order` stands beside y[order].",
    change={"y[order]": "y[order.argsort()]"},
    of="as-most-begin",
)

bank.wrong(
    "g-y-in-order-after-order",
    "In loop g y itself gets a new order in each round, on top of those before, and x does not: after the first round rows and "
    "targets no longer belong together.",
    change={
        "loss = F.mse_loss(model(x[order]).squeeze(1), y[order])": "y = y[order]\nloss = F.mse_loss(model(x[order]).squeeze(1), y)"
    },
    of="as-most-begin",
)

bank.wrong(
    "e-sum-over-columns",
    "In loop e (n, 1) still meets (n,), and the means of the columns are added up: each prediction is compared with every target.",
    change={"((model(x).squeeze(1) - y) ** 2).mean()": "((model(x) - y) ** 2).mean(dim=0).sum()"},
    of="as-most-begin",
)

bank.wrong(
    "c-steps-cut-short",
    "Loop c keeps its rate, and you cut its gradients short: its steps have one length to the end, and pass over the valley.",
    change={
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\nlosses = []\nfor _ in range(steps):\n    optimizer.zero_grad()\n    loss = F.mse_loss(model(x).squeeze(1), y)\n    loss.backward()": "optimizer = torch.optim.SGD(model.parameters(), lr=10.0)\nlosses = []\nfor _ in range(steps):\n    optimizer.zero_grad()\n    loss = F.mse_loss(model(x).squeeze(1), y)\n    loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), 0.01)"
    },
    of="other-places",
)

bank.wrong(
    "a-clears-before-the-step",
    "In loop a no step goes anywhere: the gradients are cleared between backward and step, or backward is not called. Clear "
    "them before backward.",
    change={"optimizer.zero_grad()\nloss.backward()": "loss.backward()\noptimizer.zero_grad()"},
    of="other-places",
)


@bank.right("twin-is-the-model")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        twin = model
        optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x) - y.unsqueeze(1)) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.right("other-places")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        twin = model
        optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x) - y[:, None]) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if (step + 1) % 20 == 0:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.right("lines-taken-away")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x)[:, 0], y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.right("model-and-schedule")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            model.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        order = torch.randperm(len(x))
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda taken: 0.9 ** (taken // 20))
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.right("as-most-begin")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


bank.survives(
    {
        "F.mse_loss(model(x).squeeze(1), y) -> F.mse_loss(y, model(x).squeeze(1))": "The square forgets the sign of a difference.",
        "F.mse_loss(model(x).squeeze(1), y) -> F.mse_loss(y, model(x).squeeze(1)) (2)": "The square forgets the sign of a difference.",
        "F.mse_loss(model(x).squeeze(1), y) -> F.mse_loss(y, model(x).squeeze(1)) (3)": "The square forgets the sign of a difference.",
        "F.mse_loss(model(x).squeeze(1), y) -> F.mse_loss(y, model(x).squeeze(1)) (5)": "The square forgets the sign of a difference.",
        "F.mse_loss(model(x[order]).squeeze(1), y[order]) -> F.mse_loss(y[order], model(x[order]).squeeze(1))": "The square forgets the sign of a difference.",
        "F.mse_loss(model(x).squeeze(1), y) -> F.mse_loss(y, model(x).squeeze(1)) (6)": "The square forgets the sign of a difference.",
        "step % 20 == 19 -> step % 20 >= 19": "The remainder of a division by 20 is 19 at most.",
        "model(x).squeeze(1) -> model(x).squeeze()": "There are several rows, so only dim 1 has size 1.",
        "model(x).squeeze(1) -> model(x).squeeze() (2)": "There are several rows, so only dim 1 has size 1.",
        "model(x).squeeze(1) -> model(x).squeeze() (3)": "There are several rows, so only dim 1 has size 1.",
        "0.03 -> 1.03": "Any rate with which the loop learns is right.",
        "model(x).squeeze(1) -> model(x).squeeze() (5)": "There are several rows, so only dim 1 has size 1.",
        "model(x[order]).squeeze(1) -> model(x[order]).squeeze()": "There are several rows, so only dim 1 has size 1.",
        "model(x).squeeze(1) -> model(x).squeeze() (6)": "There are several rows, so only dim 1 has size 1.",
        "optimizer -> model (2)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "optimizer -> model (4)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "optimizer -> model (6)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "optimizer -> model (10)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "optimizer -> model (12)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "optimizer -> model (14)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "x -> y": "There are as many targets as inputs.",
        "optimizer -> model (16)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "model(x).squeeze(1) - y -> y - model(x).squeeze(1)": "The square forgets the sign of a difference.",
        "model(x).squeeze(1) -> model(x).squeeze() (7)": "There are several rows, so only dim 1 has size 1.",
    }
)
