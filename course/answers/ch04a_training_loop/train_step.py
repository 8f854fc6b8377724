"""Answers to `train_step`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("train_step")


bank.wrong(
    "no-zero",
    "You never clear the gradients: those of earlier batches are still in .grad, and take part in this step.",
    unless=r"zero_grad|\.grad = None|zero_\(",
    change={"optimizer.zero_grad()": ""},
)

bank.wrong(
    "zero-after-backward",
    "You clear the gradients after backward has filled them. A step has nothing to go by then.",
    also=("no-step",),
    unless=r"(?s)\A(?!.*backward)",
    change={"optimizer.zero_grad()": "", "loss.backward()": "loss.backward()\noptimizer.zero_grad()"},
)

bank.wrong(
    "clears-at-the-end",
    "You clear after the step: the first call still meets old gradients, and .grad is empty afterwards.",
    also=("clears-twice",),
    change={"optimizer.zero_grad()": "", "optimizer.step()": "optimizer.step()\noptimizer.zero_grad()"},
)

bank.wrong(
    "clears-twice",
    "What stands in .grad afterwards is not the gradient of this batch: a clearing at the end throws it away.",
    change={"optimizer.step()": "optimizer.step()\noptimizer.zero_grad()"},
)

bank.wrong(
    "returns-tensor",
    "You return the loss as a tensor, still tied to the graph that made it. A plain float is asked for.",
    change={"loss.item()": "loss"},
)

bank.wrong(
    "steps-twice",
    "You call `optimizer.step()` twice: the same gradient moves the parameters twice.",
    change={"optimizer.step()": "optimizer.step()\noptimizer.step()"},
)

bank.wrong(
    "no-step",
    "No parameter moves: `optimizer.step()` is missing, or comes before backward, or the gradients were cleared in between.",
    unless=r"(?s)\A(?!.*backward)",
    change={"optimizer.step()": ""},
)

bank.wrong(
    "no-backward",
    "You never call backward: .grad stays empty, and a step moves nothing.",
    unless=r"\.backward\(|autograd\.grad",
    change={"loss.backward()": ""},
)

bank.wrong(
    "calls-forward",
    "You call `model.forward` yourself. Hooks run only when the model is called like a function.",
    change={"model(x_batch)": "model.forward(x_batch)"},
)

bank.wrong(
    "criterion-the-wrong-way-round",
    "You give the criterion y_batch first. Most losses mind the order: the prediction comes first.",
    change={"criterion(prediction, y_batch)": "criterion(y_batch, prediction)"},
)

bank.wrong(
    "loss-after-the-step",
    "You compute the loss anew after the step. That is another number, and another run of the model.",
    change={"return loss.item()": "return criterion(model(x_batch), y_batch).item()"},
)

bank.wrong(
    "sets-train-mode",
    "You call `model.train()`: layers that somebody had put into eval mode are in train mode now.",
    change={"optimizer.zero_grad()": "model.train()\noptimizer.zero_grad()"},
)

bank.wrong(
    "loss-of-its-own",
    "You compute a mean squared error of your own. The caller chose the criterion: use that one.",
    change={"criterion(prediction, y_batch)": "((prediction - y_batch) ** 2).mean()"},
)

bank.wrong(
    "sets-eval-mode",
    "You call `model.eval()`: dropout and batch norm, which should take part in training, are at rest.",
    change={"optimizer.zero_grad()": "model.eval()\noptimizer.zero_grad()"},
)

bank.wrong(
    "optimizer-of-its-own",
    "The step is not taken by the optimizer given. The caller chose it, with its rate and its memory: use that one.",
    change={"optimizer.zero_grad()": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\noptimizer.zero_grad()"},
)

bank.wrong(
    "clips-too",
    "Your step goes by a gradient that is shorter than that of the batch. Nobody asked for clipping here.",
    change={"optimizer.step()": "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()"},
)

bank.wrong(
    "clips-what-is-long",
    "Where the gradient is long, your step goes by a shorter one. Nobody asked for clipping here.",
    change={"optimizer.step()": "torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)\noptimizer.step()"},
)

bank.wrong(
    "uphill",
    "You step uphill: the loss has the wrong sign when the gradients are computed.",
    change={"loss.backward()": "(-loss).backward()"},
)

bank.told("squeezed-prediction", "spread", change={"model(x_batch)": "model(x_batch).squeeze()"})

bank.wrong(
    "clears-in-the-first-call",
    "Only the first call for a model clears .grad: in the next one it still holds the gradients of the batch before, and "
    "they are added.",
    change={
        "optimizer.zero_grad()": 'if not getattr(model, "has_begun", False):\n    optimizer.zero_grad()\n    model.has_begun = True'
    },
)


@bank.right("clears-before-backward")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch), y_batch)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    return loss.detach().item()


@bank.right("detached-targets")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad(set_to_none=False)
    loss = criterion(model(x_batch), y_batch.detach().clone())
    loss.backward()
    optimizer.step()
    return loss.detach().numpy().item()


@bank.right("zero-right-before-backward")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch), y_batch)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)


@bank.right("closure")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x_batch), y_batch)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@bank.right("zeros-and-autograd-grad")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    params = [p for p in model.parameters() if p.requires_grad]
    value = criterion(model(x_batch), y_batch)
    for p, g in zip(params, torch.autograd.grad(value, params)):
        p.grad = g
    optimizer.step()
    return value.detach().item()


bank.wrong(
    "rounds-the-loss", "You round the loss. It is wanted as it is.", change={"loss.item()": "round(loss.item(), 2)"}
)

bank.wrong(
    "rounds-to-four-decimals",
    "You round the loss. A small one becomes 0, or loses its digits: it is wanted as it is.",
    change={"loss.item()": "round(loss.item(), 4)"},
)

bank.wrong(
    "loss-times-rows",
    "You multiply the loss by the number of rows. The loss of this batch is asked for, as the criterion gives it.",
    change={"loss.item()": "loss.item() * len(x_batch)"},
)

bank.wrong(
    "loss-by-rows",
    "You divide the loss by the number of rows. The loss of this batch is asked for, as the criterion gives it.",
    change={"loss.item()": "loss.item() / len(x_batch)"},
)

bank.survives(
    {
        "optimizer -> model": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
    }
)
