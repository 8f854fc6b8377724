"""Answers to `resume_training`: wrong ones that learners really give, and right ones that must pass."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("resume_training")


bank.wrong(
    "no-shuffle",
    "Your images come in the order in which they are stored. Each epoch should draw a new one.",
    change={"torch.randperm(len(labels), generator=order)": "torch.arange(len(labels))"},
)

bank.wrong(
    "mean-of-means",
    "You average the losses of the batches. In a smaller last batch each image counts for more than the others.",
    slip=True,
    change={
        "loss.item() * len(rows)": "loss.item()",
        "total / len(labels)": "total / math.ceil(len(labels) / batch_size)",
    },
)

bank.wrong(
    "stays-in-eval-mode",
    "From the second epoch on you train in eval mode: the measurement switched it on, and nobody switched it off.",
    change={"while len(losses) < epochs:": "model.train()\nwhile len(losses) < epochs:", "model.train()": ""},
)

bank.wrong(
    "global-order",
    "The order comes from torch's global generator, from which dropout draws as well. Use one of its own, with `seed`.",
    change={"torch.randperm(len(labels), generator=order)": "torch.randperm(len(labels))"},
)

bank.wrong(
    "weights-alone",
    "You put back the weights. The optimizer has a memory too, and begins anew: velocities, or Adam's averages.",
    change={'optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))': ""},
)

bank.wrong(
    "order-begins-anew",
    "After a resume, the order of the images begins again with that of epoch 0. Its generator has a state to save.",
    change={'order.set_state(checkpoint["order"])': ""},
)

bank.wrong(
    "weights-not-put-back",
    "A resumed training begins with the weights of the model that it is given. Those of the checkpoint are never put into it.",
    change={'model.load_state_dict(checkpoint["model"])': ""},
)

bank.wrong(
    "dropout-forgotten",
    "Dropout draws from torch's global generator, whose state you do not put back.",
    unless=r"set_rng_state|default_generator",
    change={'torch.set_rng_state(checkpoint["rng"])': ""},
)

bank.wrong(
    "seeded-anew",
    "After a resume, torch's global generator begins with a seed again. It is to go on from where it was at the stop.",
    change={'torch.set_rng_state(checkpoint["rng"])': "torch.manual_seed(seed)"},
)

bank.wrong(
    "that-many-more",
    "After a resume you run `epochs` more epochs. `epochs` counts all of them, also those of the checkpoint.",
    change={"while len(losses) < epochs:": "for _ in range(epochs):"},
)


bank.wrong(
    "that-many-more-alone",
    "After a resume you run `epochs` more epochs, and your lists hold these alone. `epochs` counts those of the checkpoint "
    "too, and their losses and accuracies belong before yours.",
    change={
        'losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])': "",
        "while len(losses) < epochs:": "for _ in range(epochs):",
    },
)


bank.wrong(
    "history-lost",
    "After a resume, losses and accuracies begin with the first new epoch. Those of the checkpoint belong before them.",
    change={
        'losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])': "",
        "while len(losses) < epochs:": 'done = 0 if checkpoint is None else checkpoint["done"]\nfor _ in range(done, epochs):',
        '"rng": torch.get_rng_state()': '"rng": torch.get_rng_state(), "done": epochs',
    },
)


bank.wrong(
    "live-checkpoint",
    "Your checkpoint holds the live tensors: later training changes it. Copy before you return it.",
    change={
        'copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})': '{**parts, "losses": losses, "accuracies": accuracies}'
    },
)


bank.wrong(
    "loads-without-copy",
    "The optimizer trains on in the very tensors that it loaded: your checkpoint changes when it is gone on with.",
    change={'copy.deepcopy(checkpoint["optimizer"])': 'checkpoint["optimizer"]'},
)


bank.wrong(
    "pickled-objects",
    "Your checkpoint holds whole objects, which torch.load refuses. Save what they hold: a state_dict, or the state of a generator.",
    change={'"rng": torch.get_rng_state()': '"rng": torch.get_rng_state(), "trainer": (model, optimizer)'},
)


bank.wrong(
    "batch-stays-behind",
    "Images or labels stay on the CPU, wherever the model is: those of a batch, or those of val_set. All are to go to it.",
    change={"model(images[rows].to(device)), labels[rows].to(device)": "model(images[rows]), labels[rows]"},
)


bank.wrong(
    "moves-the-model",
    "You move the model to the CPU. It is to be trained where it is; ask it for its device.",
    change={
        "device = next(model.parameters()).device": 'device = torch.device("cpu")\nmodel.to_empty(device=device) if next(model.parameters()).is_meta else model.to(device)'
    },
)


bank.wrong(
    "checkpoint-unread",
    "Nothing is read from the checkpoint: your training begins anew, at epoch 0, whatever it is given.",
    change={"if checkpoint is not None:": "if False:"},
)


bank.wrong(
    "live-optimizer-state",
    "Your checkpoint holds a copy of the weights, and the optimizer's live tensors: its next step changes them.",
    change={
        '"model": model.state_dict()': '"model": copy.deepcopy(model.state_dict())',
        'copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})': '{**parts, "losses": losses, "accuracies": accuracies}',
    },
)


bank.wrong(
    "shared-lists",
    "A resumed call appends to a list of the very checkpoint that it was given. Copy both lists first.",
    change={
        'list(checkpoint["losses"]), list(checkpoint["accuracies"])': 'checkpoint["losses"], checkpoint["accuracies"]',
        'copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})': '{**copy.deepcopy(parts), "losses": losses, "accuracies": accuracies}',
    },
)


bank.wrong(
    "live-weights",
    "Your checkpoint holds a copy of the optimizer's state, and the model's live weights: its next step changes them.",
    change={"{k: v.clone() for k, v in model.state_dict().items()}": "model.state_dict()"},
    of="clones-by-name",
)


bank.wrong(
    "order-seeded-anew",
    "After a resume you seed the order anew. It is to go on where it was: save the generator's state and put it back.",
    change={'order.set_state(checkpoint["order"])': 'order.manual_seed(seed + len(checkpoint["losses"]))'},
)


bank.wrong(
    "parameters-alone",
    "You save the parameters alone. The running statistics of batch norm are buffers, and get lost; state_dict has both.",
    change={
        'model.load_state_dict(checkpoint["model"])': 'model.load_state_dict(checkpoint["model"], strict=False)',
        '"model": model.state_dict()': '"model": {n: p.detach() for n, p in model.named_parameters()}',
    },
)


bank.wrong(
    "state-from-before",
    "After a resume, torch's generator stands where it stood before the training. Dropout has drawn from it since: keep the "
    "state that it has in the end.",
    change={
        "losses, accuracies = [], []": "losses, accuracies = [], []\nrng = torch.get_rng_state()",
        '"rng": torch.get_rng_state()': '"rng": rng',
    },
)


bank.wrong(
    "states-from-before",
    "After a resume, both generators stand where they stood before the training. Order and dropout have drawn from them since: "
    "keep the states that they have in the end.",
    change={
        "while len(losses) < epochs:": 'states = {"order": order.get_state(), "rng": torch.get_rng_state()}\nwhile len(losses) < epochs:',
        'parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}': "parts |= states",
    },
)


bank.wrong(
    "seeds-the-global-generator",
    "You seed torch's global generator, from which dropout draws. The seed is for the order alone.",
    change={"losses, accuracies = [], []": "losses, accuracies = [], []\ntorch.manual_seed(seed)"},
)


@bank.right("clones-by-name")
def resume_training(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    gen = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        gen.set_state(checkpoint["gen"])
        torch.set_rng_state(checkpoint["rng"])
        losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])
    for epoch in range(epochs)[len(losses) :]:
        model.train()
        total = 0.0
        for idx in torch.randperm(len(images), generator=gen).split(batch_size):
            x, y = images[idx].to(device), labels[idx].to(device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        losses.append(total / len(images))
        model.eval()
        with torch.no_grad():
            acc = (model(val_set[0].to(device)).argmax(1) == val_set[1].to(device)).float().mean().item()
        accuracies.append(acc)
    return {
        "model": {k: v.clone() for k, v in model.state_dict().items()},
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "gen": gen.get_state(),
        "rng": torch.get_rng_state(),
        "losses": losses,
        "accuracies": accuracies,
    }


@bank.right("orders-drawn-again")
def resume_training(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    n, done, history = len(labels), 0, {"losses": [], "accuracies": []}
    device = next(model.parameters()).device
    if checkpoint is not None:
        checkpoint = copy.deepcopy(checkpoint)
        seed, done, history = checkpoint["seed"], checkpoint["done"], checkpoint["history"]
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        torch.random.set_rng_state(checkpoint["rng"])
    dice = torch.Generator()
    dice.manual_seed(seed)
    orders = [torch.randperm(n, generator=dice) for _ in range(epochs)]
    for order in orders[done:]:
        model.train()
        total = 0.0
        for first in range(0, n, batch_size):
            rows = order[first : first + batch_size]
            x, y = images[rows].to(device), labels[rows].to(device)
            loss = nn.CrossEntropyLoss(reduction="sum")(model(x), y)
            optimizer.zero_grad()
            (loss / len(rows)).backward()
            optimizer.step()
            total += float(loss)
        history["losses"].append(total / n)
        model.eval()
        with torch.inference_mode():
            hits = [int(model(x[None].to(device)).argmax()) == int(y) for x, y in zip(*val_set)]
        history["accuracies"].append(sum(hits) / len(hits))
    state = {
        "seed": seed,
        "done": max(done, epochs),
        "history": history,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "rng": torch.random.get_rng_state(),
    }
    return copy.deepcopy({**state, **history})


@bank.right("back-to-the-cpu")
def resume_training(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        order.set_state(checkpoint["order"])
        torch.set_rng_state(checkpoint["rng"])
        losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])
    while len(losses) < epochs:
        model.train()
        total = 0.0
        places = torch.randperm(len(labels), generator=order).tolist()
        for first in range(0, len(places), batch_size):
            rows = places[first : first + batch_size]
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.inference_mode():
            said = model(val_set[0].to(device)).argmax(dim=1).cpu()
        accuracies.append((said == val_set[1]).sum().item() / len(said))
    parts = {
        "model": {name: value.cpu() for name, value in model.state_dict().items()},
        "optimizer": optimizer.state_dict(),
    }
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.right("all-on-the-device")
def resume_training(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    device = next(iter(model.parameters())).device
    x, y, val_x, val_y = (part.to(device) for part in (*train_set, *val_set))
    g = torch.Generator().manual_seed(seed)
    log = {"losses": [], "accuracies": []}
    if checkpoint:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["weights"])
        optimizer.load_state_dict(saved["memory"])
        g.set_state(saved["random"][0])
        torch.set_rng_state(saved["random"][1])
        log = {key: saved[key] for key in log}
    for _ in range(len(log["losses"]), epochs):
        model.train()
        summed = torch.zeros((), device=device)
        for rows in torch.randperm(y.shape[0], generator=g).split(batch_size):
            rows = rows.to(device)
            loss = F.cross_entropy(model(x[rows]), y[rows])
            model.zero_grad()
            loss.backward()
            optimizer.step()
            summed = summed + loss.detach() * rows.shape[0]
        log["losses"].append((summed / y.shape[0]).item())
        model.train(False)
        with torch.no_grad():
            correct = model(val_x).max(dim=1).indices.eq(val_y).sum()
        log["accuracies"].append(correct.item() / val_y.shape[0])
    weights = {key: value.clone() for key, value in model.state_dict().items()}
    memory = copy.deepcopy(optimizer.state_dict())
    return {"weights": weights, "memory": memory, "random": [g.get_state(), torch.get_rng_state()], **log}


@bank.right("two-helpers")
def resume_training(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)

    def epoch():
        model.train()
        rows = torch.randperm(len(train_set[1]), generator=order)
        losses = []
        for part in torch.split(rows, batch_size):
            x, y = (whole[part].to(device) for whole in train_set)
            losses += [step(x, y)] * len(part)
        return math.fsum(losses) / len(losses)

    def step(x, y):
        optimizer.zero_grad(set_to_none=False)
        logs = F.log_softmax(model(x), dim=-1)
        loss = F.nll_loss(logs, y)
        loss.backward()
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def measure():
        model.eval()
        x, y = (whole.to(device) for whole in val_set)
        return torch.eq(model(x).argmax(-1), y).double().mean().item()

    now = {"losses": [], "accuracies": []}
    if checkpoint is not None:
        now = copy.deepcopy(checkpoint)
        model.load_state_dict(now["model"])
        optimizer.load_state_dict(now["optimizer"])
        order.set_state(now["order"])
        torch.set_rng_state(now["dropout"])
    while len(now["losses"]) < epochs:
        now["losses"].append(epoch())
        now["accuracies"].append(measure())
    now["model"], now["optimizer"] = model.state_dict(), optimizer.state_dict()
    now["order"], now["dropout"] = order.get_state(), torch.get_rng_state()
    return copy.deepcopy(now)


bank.survives(
    {
        "losses -> accuracies": "Both lists have one entry for each epoch.",
        "loss.item() * len(rows) -> len(rows) * loss.item()": "Numbers multiply in any order.",
        "optimizer -> model (3)": "The optimizer has the parameters of the model, so that both clear the same gradients.",
        "labels -> images": "There are as many images as labels.",
        "labels -> images (2)": "There are as many images as labels.",
        "device -> loss (2)": "A tensor stands for its device and dtype, and the images have both.",
        "device -> loss (4)": "The loss is on the device, and its dtype holds the labels exactly.",
    }
)


bank.wrong(
    "best-weights-put-back",
    "At the end you put back the weights of the epoch with the highest accuracy. The model is to end with those of its last "
    "step.",
    slip=True,
    change={
        "accuracies.append(right.float().mean().item())": "accuracies.append(right.float().mean().item())\nif accuracies[-1] == max(accuracies):\n    best = copy.deepcopy(model.state_dict())",
        'parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}': 'model.load_state_dict(best)\nparts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}',
    },
)


bank.wrong(
    "weights-of-the-lowest-loss",
    "At the end you put back the weights of the epoch with the lowest loss. The model is to end with those of its last step.",
    slip=True,
    change={
        "accuracies.append(right.float().mean().item())": "accuracies.append(right.float().mean().item())\nif losses[-1] == min(losses):\n    best = copy.deepcopy(model.state_dict())",
        'parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}': 'model.load_state_dict(best)\nparts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}',
    },
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
    also=("pickled-objects",),
    unless=r"\A(?![\s\S]*\bmodel\s*=)",  # of code without such an assignment
    change={
        'model.load_state_dict(checkpoint["model"])': 'model = checkpoint["model"]',
        '"model": model.state_dict()': '"model": model',
    },
)


bank.told("rounded-losses", "losses_rounded", change={"total / len(labels)": "round(total / len(labels), 4)"})
