"""Answers to `train_step_on`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES

bank = AnswerBank("train_step_on")


bank.wrong(
    "batch-left-behind",
    "Your batch stays where it was, while the model is on device. Move both parts, and use what `.to` returns.",
    change={"x, y = x_batch.to(device)": "x_batch.to(device)", "model(x), y": "model(x_batch), y_batch"},
)

bank.wrong(
    "prediction-without-a-graph",
    DETACHED_LOSS_MESSAGES["cut_loss"],
    change={
        "loss = criterion(model(x), y)": "with torch.no_grad():\n    prediction = model(x)\nloss = criterion(prediction, y)"
    },
)

bank.wrong(
    "targets-left-behind",
    "You move x_batch and forget y_batch: the criterion meets a prediction on device and targets elsewhere.",
    change={"x, y = x_batch.to(device), y_batch.to(device)": "", "model(x), y": "model(x_batch.to(device)), y_batch"},
)

bank.wrong(
    "prediction-to-the-cpu",
    "You bring the prediction back to the CPU for the loss. That is slow, and the targets may be on device already.",
    also=("loss-to-the-cpu",),
    change={
        "x, y = x_batch.to(device), y_batch.to(device)": "",
        "criterion(model(x), y)": "criterion(model(x_batch.to(device)).cpu(), y_batch.cpu())",
    },
)

bank.wrong(
    "loss-to-the-cpu",
    "The loss is worked out on the CPU, or brought there: for that the host waits until the values are there. Leave it on `device`.",
    change={"loss.detach()": "loss.detach().cpu()"},
)

bank.wrong(
    "waits-for-the-loss",
    "`loss.item()` waits until the device has worked out the value, in every step. Return a tensor without a graph.",
    also=("looks-at-the-loss",),
    change={"loss.detach()": "loss.item()"},
)

bank.wrong(
    "looks-at-the-loss",
    "You ask for the value of the loss on the way, by an `if`, a print or item(). Python waits for it, in each step.",
    change={"loss.backward()": 'if torch.isnan(loss):\n    raise ValueError("the loss is nan")\nloss.backward()'},
)


bank.wrong(
    "returns-a-record",
    "You return the loss with its graph: as long as somebody keeps it, so are all saved tensors of the step. `detach` leaves the "
    "loss itself as it is, and gives another tensor.",
    change={
        "x, y = x_batch.to(device), y_batch.to(device)": "",
        "model(x), y": "model(x_batch.to(device)), y_batch.to(device)",
        ".detach()": "",
    },
)


@bank.wrong(
    "never-clears",
    "You never clear old gradients, so those of earlier batches are added to this one's.",
    unless=r"zero_grad|\.grad = None|zero_\(",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.wrong(
    "clears-after-the-step",
    "You clear the gradients after the step: what was in .grad when you came still counts, and nothing is left there.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


bank.wrong(
    "no-step",
    "The gradients are there, but nobody calls `optimizer.step()`: the parameters stay.",
    unless=r"\.step\(",
    change={
        "x, y = x_batch.to(device), y_batch.to(device)": "",
        "model(x), y": "model(x_batch.to(device)), y_batch.to(device)",
        "optimizer.step()": "",
    },
)


@bank.wrong(
    "loss-after-the-step",
    "You compute the loss anew after the step. Asked for is the one from before; a second forward pass costs time too.",
    also=("model-run-twice",),
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x, y = x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        return criterion(model(x), y)


bank.wrong(
    "targets-first",
    "You give the criterion the targets first. It takes the prediction first; most losses are not symmetric.",
    change={
        "x, y = x_batch.to(device), y_batch.to(device)": "",
        "criterion(model(x), y)": "criterion(y_batch.to(device), model(x_batch.to(device)))",
    },
)


bank.wrong(
    "loss-in-a-list",
    "The loss comes back with shape (1,). Asked for is a scalar tensor, of shape ().",
    change={
        "x, y = x_batch.to(device), y_batch.to(device)": "",
        "model(x), y": "model(x_batch.to(device)), y_batch.to(device)",
        ".detach()": ".detach().reshape(1)",
    },
)


bank.wrong(
    "clears-before-the-step",
    "Nothing is left to step with: the gradients are cleared between backward and step, or backward is never called.",
    unless=r"(?s)\A(?!.*\.step\()",
    change={"optimizer.zero_grad()": "", "loss.backward()": "loss.backward()\noptimizer.zero_grad()"},
)

bank.wrong(
    "clears-once-more",
    "You clear the gradients once more after the step. They are to stay there for whoever wants to look at them.",
    change={"optimizer.step()": "optimizer.step()\noptimizer.zero_grad()"},
)

bank.wrong(
    "optimizer-of-its-own",
    "The step is not that of the optimizer that is given, but one by hand or by an optimizer of your own. The given one has a "
    "rate and a memory.",
    change={"y_batch.to(device)": "y_batch.to(device)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"},
)

bank.wrong(
    "targets-to-float",
    "You turn the targets to float32. They may be labels, which a criterion wants as whole numbers: move them, and no more.",
    change={
        "x, y = x_batch.to(device), y_batch.to(device)": "x = x_batch.to(device).float()\ny = y_batch.to(device).float()"
    },
)


@bank.wrong(
    "model-run-twice",
    "You run the model twice. One run before the step gives the loss for backward, and the value to return.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x, y = x_batch.to(device), y_batch.to(device)
    with torch.no_grad():
        before = criterion(model(x), y)
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    return before


bank.told("squeezed-prediction", "spread", change={"model(x)": "model(x).squeeze()"})


@bank.wrong(
    "clears-in-the-first-call",
    "Only the first call for a model clears .grad: in the next one it still holds the gradients of the batch before, and "
    "they are added.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    if not getattr(model, "has_begun", False):
        optimizer.zero_grad()
        model.has_begun = True
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.right("inference-copy")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    batch = [torch.as_tensor(part, device=device) for part in (x_batch, y_batch)]
    loss = criterion(model(batch[0]), batch[1])
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        return loss.clone()


@bank.right("clone")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    inputs, targets = (part.to(device=device) for part in (x_batch, y_batch))
    loss = criterion(model(inputs), targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    before = loss.detach().clone()
    optimizer.step()
    return before


@bank.right("moves-the-model-too")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    model.to(device)
    x_batch, y_batch = (part.to(device, non_blocking=True) for part in (x_batch, y_batch))
    prediction = model(x_batch)
    loss = criterion(prediction, y_batch)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach().clone()


@bank.right("torch-autograd-grad")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    target = torch.device(device)
    loss = criterion(model(x_batch.to(device=target)), y_batch.to(device=target))
    params = [p for p in model.parameters() if p.requires_grad]
    for weight, grad in zip(params, torch.autograd.grad(loss, params)):
        weight.grad = grad
    optimizer.step()
    with torch.no_grad():
        return loss + 0.0


@bank.right("closure")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x_batch.to(device)), y_batch.to(device))
        loss.backward()
        return loss

    return optimizer.step(closure).detach()


bank.survives(
    {
        "optimizer -> model": "The model clears the gradients of the same parameters.",
    }
)
