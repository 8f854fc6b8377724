"""Answers to `fit_resumable`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("fit_resumable")


bank.wrong(
    "optimizer-not-saved",
    "You forget the optimizer: momentum and Adam's averages begin at 0 again.",
    unless=r"optimizer\.load_state_dict",
    change={
        'optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))': "",
        '"optimizer": optimizer.state_dict(),': "",
    },
)


bank.wrong(
    "scheduler-not-saved",
    "You forget the scheduler: the learning rate does not go on where it was.",
    unless=r"scheduler\.load_state_dict",
    change={
        'scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))': "",
        '"scheduler": scheduler.state_dict(),': "",
    },
)


bank.wrong(
    "rng-not-saved",
    "You forget the random numbers: shuffling and dropout go on in another way than they would have.",
    change={
        'torch.set_rng_state(checkpoint["rng"])': "",
        '{**parts, "rng": torch.get_rng_state(), "losses": losses}': '{**parts, "losses": losses}',
    },
)


bank.wrong(
    "rng-from-a-seed",
    "You seed the generator anew when you go on: the epochs get the random numbers of the beginning.",
    change={'torch.set_rng_state(checkpoint["rng"])': "torch.manual_seed(0)"},
)


bank.wrong(
    "losses-forgotten",
    "After a stop you begin a new list of losses, and run all the epochs again. Those in the checkpoint have been run.",
    change={'losses = list(checkpoint["losses"])': ""},
)


bank.wrong(
    "epochs-on-top",
    "You run `epochs` more epochs. It is how many there should be in all.",
    change={"while len(losses) < epochs:": "for _ in range(epochs):"},
)


bank.wrong(
    "model-not-restored",
    "You do not put the model back: the training goes on with new first weights.",
    change={'model.load_state_dict(checkpoint["model"])': ""},
)


bank.wrong(
    "buffers-not-saved",
    "You save the parameters alone. Batch norm's running statistics are buffers, and get lost.",
    change={
        'model.load_state_dict(checkpoint["model"])': 'model.load_state_dict(checkpoint["model"], strict=False)',
        "model.state_dict()": "dict(model.named_parameters())",
    },
)


bank.wrong(
    "aliases-live-weights",
    "Your checkpoint holds the living tensors: they go on changing with the training. Copy them.",
    change={
        'copy.deepcopy({**parts, "rng": torch.get_rng_state(), "losses": losses})': '{**parts, "rng": torch.get_rng_state(), "losses": losses}'
    },
)


bank.wrong(
    "saves-the-model-itself",
    "You save an object, such as the model itself. torch.load refuses foreign classes: save state_dicts and plain "
    "numbers.",
    change={
        'model.load_state_dict(checkpoint["model"])': 'model.load_state_dict(checkpoint["model"].state_dict())',
        '"model": model.state_dict()': '"model": model',
    },
)


bank.wrong(
    "never-in-train-mode",
    "You train in the mode in which the model comes: in eval mode, batch norm learns no statistics.",
    change={"model.train()": ""},
)


bank.wrong(
    "scheduler-after-each-batch",
    "You step the scheduler after each batch. It should follow each epoch.",
    change={"seen.append(loss.item())": "seen.append(loss.item())\nscheduler.step()", "scheduler.step()": ""},
)


bank.wrong(
    "sum-of-losses",
    "You note the sum of an epoch's batch losses. The mean is asked for.",
    slip=True,
    change={"sum(seen) / len(seen)": "sum(seen)"},
)


bank.wrong(
    "loads-without-a-copy",
    "You load without a copy: the optimizer takes over the tensors of the checkpoint, and goes on changing them.",
    change={'copy.deepcopy(checkpoint["optimizer"])': 'checkpoint["optimizer"]'},
)


bank.wrong(
    "optimizer-not-copied",
    "The optimizer's `state_dict()` holds its living averages. You copy the model's; these go on changing.",
    change={
        '"model": model.state_dict()': '"model": copy.deepcopy(model.state_dict())',
        'copy.deepcopy({**parts, "rng": torch.get_rng_state(), "losses": losses})': '{**parts, "rng": torch.get_rng_state(), "losses": losses}',
    },
)


bank.wrong(
    "model-not-copied",
    "The model's `state_dict()` holds its living weights. You copy the optimizer's; these go on changing.",
    change={
        '"optimizer": optimizer.state_dict()': '"optimizer": copy.deepcopy(optimizer.state_dict())',
        'copy.deepcopy({**parts, "rng": torch.get_rng_state(), "losses": losses})': '{**parts, "rng": torch.get_rng_state(), "losses": losses}',
    },
)


bank.wrong(
    "losses-shared",
    "You append to the list of losses in the checkpoint: it grows with later training. Make a list of your own.",
    change={'losses = list(checkpoint["losses"])': 'losses = checkpoint["losses"]'},
)


bank.wrong(
    "weighs-by-rows",
    "You weigh each batch by its rows, as for `evaluate`. Here the plain mean of the batch losses is asked for.",
    slip=True,
    change={
        "seen.append(loss.item())": "seen.append(loss.item() * len(x))",
        "sum(seen) / len(seen)": "sum(seen) / len(loader.dataset)",
    },
)


bank.wrong(
    "never-clears",
    "You never clear the gradients: each step goes by all the gradients so far.",
    unless=r"zero_grad|\.grad = None|zero_\(",
    change={"optimizer.zero_grad()": ""},
)


bank.wrong(
    "scheduler-before-each-epoch",
    "You step the scheduler before each epoch: the first one has the rate of the second. It follows the epoch.",
    change={"seen = []": "scheduler.step()\nseen = []", "scheduler.step()": ""},
)


bank.wrong(
    "scheduler-stepped-anew",
    "In place of loading its state you step the scheduler as often as before: it lowers a rate that has been loaded low already.",
    change={
        'scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))': '[scheduler.step() for _ in checkpoint["losses"]]'
    },
)


bank.wrong(
    "losses-of-the-rest",
    "After going on, your losses begin with the first new epoch. Those of the checkpoint belong before them.",
    change={
        'scheduler.load_state_dict(state["scheduler"])': 'scheduler.load_state_dict(state["scheduler"])\nstate["losses"] = []'
    },
    of="epoch-number-in-the-checkpoint",
)


bank.wrong(
    "an-epoch-left-out",
    "You begin one epoch too late: the number in your checkpoint is how many were run, and so that of the next one.",
    change={
        'scheduler.load_state_dict(state["scheduler"])': 'scheduler.load_state_dict(state["scheduler"])\nstate["epoch"] += 1'
    },
    of="epoch-number-in-the-checkpoint",
)


bank.wrong(
    "random-numbers-from-before",
    "You put the generator back to where it was before the training, by a state or a seed from then. What it has drawn "
    "since is drawn again.",
    change={"losses = []": "losses = []\nrng = torch.get_rng_state()", '"rng": torch.get_rng_state()': '"rng": rng'},
)


bank.wrong(
    "epochs-more",
    "After a checkpoint you run `epochs` more. `epochs` counts all since the first: run those that are missing.",
    change={
        'copy.deepcopy(checkpoint["optimizer"])': 'checkpoint["optimizer"]',
        "while len(losses) < epochs:": "for _ in range(epochs):",
    },
)


bank.wrong(
    "scheduler-within-the-epoch",
    "Your scheduler steps after each batch. It steps once, after each epoch.",
    change={
        'copy.deepcopy(checkpoint["optimizer"])': 'checkpoint["optimizer"]',
        "optimizer.step()": "optimizer.step()\nscheduler.step()",
        "scheduler.step()": "",
    },
)


bank.wrong(
    "scheduler-left-out",
    "The scheduler is not put back as it was, as where it is neither saved nor loaded: after a stop the learning rate begins "
    "again.",
    change={
        'copy.deepcopy(checkpoint["optimizer"])': 'checkpoint["optimizer"]',
        'scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))': "",
        '"scheduler": scheduler.state_dict(),': "",
    },
)


bank.told("rounded-losses", "rounded", change={"(sum(seen) / len(seen))": "(round(sum(seen) / len(seen), 4))"})


@bank.right("parts-in-a-list")
def fit_resumable(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        for part, saved in zip((model, optimizer, scheduler), copy.deepcopy(checkpoint["parts"])):
            part.load_state_dict(saved)
        torch.set_rng_state(checkpoint["rng"])
        losses = list(checkpoint["losses"])
    model.train()
    for epoch in range(epochs - len(losses)):
        batch_losses = []
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            batch_losses.append(loss.item())
        scheduler.step()
        losses.append(sum(batch_losses) / len(batch_losses))
    return {
        "parts": [copy.deepcopy(part.state_dict()) for part in (model, optimizer, scheduler)],
        "rng": torch.get_rng_state(),
        "losses": losses,
    }


@bank.right("parts-in-a-dict")
def fit_resumable(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    history = []
    if checkpoint is not None:
        for name, part in parts.items():
            part.load_state_dict(copy.deepcopy(checkpoint[name]))
        torch.random.set_rng_state(checkpoint["random"].clone())
        history = list(checkpoint["losses"])
    model.train()
    while len(history) < epochs:
        losses = []
        for inputs, targets in loader:
            loss = F.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        history.append(sum(losses) / len(losses))
    states = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
    return states | {"random": torch.random.get_rng_state(), "losses": history}


@bank.right("weights-by-hand")
def fit_resumable(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    def tensors():
        return dict(list(model.named_parameters()) + list(model.named_buffers()))

    def one_epoch():
        values = []
        for x, y in loader:
            model.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            values.append(loss.detach())
        scheduler.step()
        return torch.stack(values).mean().item()

    done = []
    if checkpoint is not None:
        with torch.no_grad():
            for name, tensor in tensors().items():
                tensor.copy_(checkpoint["weights"][name])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(dict(checkpoint["scheduler"]))
        done += checkpoint["losses"]
        torch.set_rng_state(checkpoint["generator"])
    model.train(True)
    done += [one_epoch() for _ in range(epochs - len(done))]
    return {
        "losses": done,
        "generator": torch.get_rng_state(),
        "weights": {name: tensor.detach().clone() for name, tensor in tensors().items()},
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "scheduler": dict(scheduler.state_dict()),
    }


@bank.right("epoch-number-in-the-checkpoint")
def fit_resumable(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    state = copy.deepcopy(checkpoint) or {"epoch": 0, "losses": []}
    if state["epoch"]:
        torch.set_rng_state(state["rng"])
        optimizer.load_state_dict(state["optimizer"])
        model.load_state_dict(state["model"])
        scheduler.load_state_dict(state["scheduler"])
    model.train()
    for epoch in range(state["epoch"], epochs):
        losses = torch.zeros(len(loader), dtype=torch.float64)
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            losses[i] = loss.item()
        scheduler.step()
        state["losses"].append(losses.mean().item())
        state["epoch"] = epoch + 1
    state["rng"] = torch.get_rng_state()
    for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
        state[name] = copy.deepcopy(part.state_dict())
    return state


bank.survives(
    {
        "copy.deepcopy(checkpoint['scheduler']) -> checkpoint['scheduler']": "A scheduler replaces what it holds, and changes nothing of it in place.",
        "F.mse_loss(model(x), y) -> F.mse_loss(y, model(x))": "The square forgets the sign of a difference.",
        "optimizer -> model (3)": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "seen -> loader (3)": "An epoch has as many losses as the loader has batches.",
    }
)


bank.wrong(
    "one-epoch-too-many",
    "You train for one epoch more than `epochs`.",
    slip=True,
    change={"len(losses) < epochs": "len(losses) <= epochs"},
)


bank.wrong(
    "model-bound-anew",
    "The assignment `model = ...` gives a name to another model: the one that you are given stays as it came, and is what "
    "the caller goes on with. What is in the checkpoint belongs in that one.",
    also=("saves-the-model-itself",),
    unless=r"\A(?![\s\S]*\bmodel\s*=)",  # of code without such an assignment
    change={
        'model.load_state_dict(checkpoint["model"])': 'model = checkpoint["model"]',
        '"model": model.state_dict()': '"model": model',
    },
)

bank.wrong(
    "returns-early",
    "If no epoch is missing, you return before anything is put back: the model keeps its first weights.",
    change={
        "if checkpoint is not None:": 'if checkpoint is not None and len(checkpoint["losses"]) >= epochs:\n    return checkpoint\nif checkpoint is not None:'
    },
)
