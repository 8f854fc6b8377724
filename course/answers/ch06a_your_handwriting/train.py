"""Answers to `train`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("train")


bank.wrong(
    "never-zero",
    "Nothing clears the old gradients: each step follows the sum of all batches so far.",
    change={"optimizer.zero_grad()": ""},
)

bank.wrong(
    "no-step",
    "Gradients are computed, and nobody takes a step: the weights stay as they were.",
    unless=r"\.step\(",
    change={"optimizer.step()": ""},
)

bank.wrong(
    "cleared-before-the-step",
    "The step finds no gradients: they are cleared between backward and step, or backward is never called.",
    change={"optimizer.zero_grad()": "", "loss.backward()": "loss.backward()\noptimizer.zero_grad()"},
)

bank.wrong(
    "softmax-first",
    "Cross-entropy takes logits: it does its own softmax, and yours comes before it.",
    change={"model(images[rows].to(device))": "model(images[rows].to(device)).softmax(dim=1)"},
)

bank.wrong(
    "drops-last",
    "You leave out the last batch where it is smaller. Its images belong to the epoch too.",
    change={"optimizer.zero_grad()": "if len(rows) < batch_size:\n    continue\noptimizer.zero_grad()"},
)


bank.wrong(
    "drops-last-from-the-mean-too",
    "You leave out the last batch where it is smaller, in the steps and in the mean. Its images belong to the epoch too.",
    change={"optimizer.zero_grad()": "if len(idx) < batch_size:\n    continue\noptimizer.zero_grad()"},
    of="a-loss-for-each-image",
)


bank.wrong(
    "labels-in-their-own-order",
    "The images of a batch come in the new order, and the labels in their old one: most images meet somebody else's label.",
    change={"labels[rows]": "labels[first : first + batch_size]"},
    of="back-to-the-cpu",
)


bank.wrong(
    "no-shuffle",
    "Your images come in the order in which they are stored. Each epoch should draw a new one.",
    change={
        "order = torch.Generator().manual_seed(seed)": "",
        "torch.randperm(len(labels), generator=order)": "torch.arange(len(labels))",
    },
)

bank.wrong(
    "same-order",
    "Each epoch has the order of the first. Make the generator once, before the epochs, and draw from it in each of them.",
    change={
        "torch.Generator().manual_seed(seed)": "torch.Generator()",
        "total = 0.0": "order.manual_seed(seed)\ntotal = 0.0",
    },
)

bank.wrong(
    "global-order",
    "The order comes from torch's global generator, from which dropout draws as well. Use one of its own, with `seed`.",
    change={
        "order = torch.Generator().manual_seed(seed)": "",
        "torch.randperm(len(labels), generator=order)": "torch.randperm(len(labels))",
    },
)

bank.wrong(
    "order-of-a-loader",
    "Your order is that of a DataLoader with shuffle=True, which makes it from a number of torch's global generator. Asked for is the "
    "order of torch.randperm, with a generator of its own.",
    change={
        "order = torch.Generator().manual_seed(seed)": "torch.manual_seed(seed)",
        "torch.randperm(len(labels), generator=order).split(batch_size)": "torch.utils.data.DataLoader(range(len(labels)), batch_size, shuffle=True)",
    },
)

bank.wrong(
    "mean-of-means",
    "You average the losses of the batches. In a smaller last batch each image counts for more than the others.",
    change={
        "loss.item() * len(rows)": "loss.item()",
        "total / len(labels)": "total / math.ceil(len(labels) / batch_size)",
    },
)

bank.wrong(
    "divided-by-full-batches",
    "You divide by the number of full batches: `//` leaves out the smaller one at the end, whose loss is in your sum.",
    change={
        "loss.item() * len(rows)": "loss.item()",
        "total / len(labels)": "total / max(len(labels) // batch_size, 1)",
    },
)

bank.wrong(
    "last-loss",
    "You report the loss of the last batch. Asked for is the mean over all images of the epoch.",
    change={"total / len(labels)": "loss.item()"},
)

bank.wrong(
    "sum-of-losses",
    "You add the losses up and do not divide by the number of images.",
    change={"total / len(labels)": "total"},
)

bank.wrong(
    "divided-by-the-pair",
    "You divide by len(train_set), and that is 2: a pair of images and labels. How many images there are, len(labels) says.",
    unless=r"(?s)\A(?!.*len\(train_set\))",
    change={"total / len(labels)": "total / len(train_set)"},
)

bank.wrong(
    "tensor-losses",
    "Your losses are tensors. Asked for are floats: a list of plain numbers can be printed, drawn and saved.",
    change={"total / len(labels)": "torch.tensor(total / len(labels))"},
)

bank.wrong(
    "measures-in-train-mode",
    "You measure the accuracy in train mode: dropout and batch norm behave as in training.",
    change={"model.eval()": ""},
)

bank.wrong(
    "stays-in-eval-mode",
    "From the second epoch on you train in eval mode: the measurement switched it on, and nobody switched it off.",
    change={"losses, accuracies = [], []": "losses, accuracies = [], []\nmodel.train()", "model.train()": ""},
)


bank.told(
    "records-while-measuring",
    "tracked",
    change={
        "with torch.no_grad():\n    right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)": "right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)"
    },
)


bank.wrong(
    "accuracy-of-training",
    "You measure on the images that you train on. What is asked for is the accuracy on val_set.",
    change={"val_set[0].to(device)": "images.to(device)", "val_set[1].to(device)": "labels.to(device)"},
)

bank.wrong(
    "accuracy-as-count",
    "You count the right answers and do not divide by how many there are.",
    change={"right.float().mean().item()": "float(right.sum().item())"},
)


bank.wrong(
    "one-epoch",
    "You train for one epoch, however many are asked for.",
    change={
        "losses, accuracies = [], []": "losses, accuracies, total = [], [], 0.0",
        "total = 0.0": "",
        "range(epochs)": "range(1)",
    },
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
    "order-seeded-by-epoch",
    "Each epoch has a new generator, with a seed of its own. Make one before the epochs, and let it draw on.",
    change={
        "order = torch.Generator().manual_seed(seed)": "",
        "generator=order": "generator=torch.Generator().manual_seed(seed + len(losses))",
    },
)


bank.wrong(
    "loader-shuffles",
    "A DataLoader that shuffles first draws another number from the generator: its orders are not torch.randperm's.",
    change={
        "torch.randperm(len(labels), generator=order).split(batch_size)": "torch.utils.data.DataLoader(range(len(labels)), batch_size, shuffle=True, generator=order)"
    },
)


bank.wrong(
    "loader-draws",
    "A DataLoader draws a number from torch's global generator whenever you go through it: dropout then drops others.",
    change={
        "torch.randperm(len(labels), generator=order).split(batch_size)": "torch.utils.data.DataLoader(torch.randperm(len(labels), generator=order), batch_size)"
    },
)


bank.wrong(
    "seeds-the-global-generator",
    "You seed torch's global generator, from which dropout draws. The seed is for the order alone.",
    change={"losses, accuracies = [], []": "losses, accuracies = [], []\ntorch.manual_seed(seed)"},
)


bank.wrong(
    "order-from-the-seeded-global",
    "The order comes from torch's global generator, which you seed. Dropout draws from it as well: make a torch.Generator() for the order.",
    change={"torch.Generator().manual_seed(seed)": "torch.manual_seed(seed)"},
)


bank.wrong(
    "times-batch-size",
    "You multiply each loss by batch_size. The last batch may hold fewer images: multiply by how many it has.",
    change={"loss.item() * len(rows)": "loss.item() * batch_size"},
)


bank.wrong(
    "sum-goes-on",
    "Your sum of the losses goes on from epoch to epoch. Begin it anew in each of them.",
    change={"losses, accuracies = [], []": "losses, accuracies, total = [], [], 0.0", "total = 0.0": ""},
)


bank.wrong(
    "cleared-once-an-epoch",
    "You clear the gradients once for each epoch: in between, those of the batches add up.",
    change={"total = 0.0": "total = 0.0\noptimizer.zero_grad()", "optimizer.zero_grad()": ""},
)


bank.wrong(
    "loss-measured-afterwards",
    "You measure the loss after the epoch, with the weights in its end. Asked for is the mean of the losses of its steps.",
    change={
        "losses.append(total / len(labels))": "",
        "with torch.no_grad():": "with torch.no_grad():\n    losses.append(F.cross_entropy(model(images.to(device)), labels.to(device)).item())",
    },
)


bank.wrong(
    "shuffled-again-and-again",
    "You shuffle what the epoch before has shuffled. Each order counts from the images as they were given.",
    change={
        "total = 0.0": "total = 0.0\ndrawn = torch.randperm(len(labels), generator=order)\nimages, labels = images[drawn], labels[drawn]",
        "torch.randperm(len(labels), generator=order)": "torch.arange(len(labels))",
    },
)


bank.wrong(
    "argmax-over-images",
    "Your argmax goes along dim 0, over the images. Each image needs its own: along dim 1, over the classes.",
    change={"argmax(dim=1)": "argmax(dim=0)"},
)


bank.wrong(
    "accuracy-in-percent",
    "Your accuracy is in percent. Asked for is a share, from 0 to 1.",
    change={"right.float().mean().item()": "100 * right.float().mean().item()"},
)


@bank.wrong(
    "measured-before-the-epoch",
    "You measure before the epoch: the first accuracy is that of an untrained model. Measure after the epoch's steps.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
    device = next(model.parameters()).device
    x, y = train_set
    vx, vy = val_set
    generator = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    for _ in range(epochs):
        model.eval()
        with torch.no_grad():
            accuracies.append((model(vx.to(device)).argmax(1).cpu() == vy).float().mean().item())
        model.train()
        order = torch.randperm(len(x), generator=generator)
        total = 0.0
        for rows in order.split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[rows].to(device)), y[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(x))
    return {"losses": losses, "accuracies": accuracies}


bank.wrong(
    "mean-of-batch-accuracies",
    "Your accuracy is the mean over batches of val_set: in a smaller batch each image counts for more than the others. "
    "The share is of all its images.",
    change={
        "right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)": "batches = zip(val_set[0].to(device).split(batch_size), val_set[1].to(device).split(batch_size))\nshares = [(model(x).argmax(dim=1) == y).float().mean().item() for x, y in batches]",
        "right.float().mean().item()": "sum(shares) / len(shares)",
    },
)


bank.told("rounded-losses", "losses_rounded", change={"total / len(labels)": "round(total / len(labels), 4)"})


@bank.right("a-loss-for-each-image")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
    images, labels = train_set
    device = next(model.parameters()).device
    gen = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    for epoch in range(epochs):
        model.train()
        seen = []
        for idx in torch.randperm(len(images), generator=gen).split(batch_size):
            x, y = images[idx].to(device), labels[idx].to(device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            seen += [loss.item()] * len(idx)
        losses.append(sum(seen) / len(seen))
        model.eval()
        with torch.no_grad():
            acc = (model(val_set[0].to(device)).argmax(1) == val_set[1].to(device)).float().mean().item()
        accuracies.append(acc)
    return {"losses": losses, "accuracies": accuracies}


@bank.right("orders-drawn-again")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
    images, labels = train_set
    n, history = len(labels), {"losses": [], "accuracies": []}
    device = next(model.parameters()).device
    dice = torch.Generator()
    dice.manual_seed(seed)
    orders = [torch.randperm(n, generator=dice) for _ in range(epochs)]
    for order in orders:
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
    return history


@bank.right("back-to-the-cpu")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    for _ in range(epochs):
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
    return {"losses": losses, "accuracies": accuracies}


@bank.right("all-on-the-device")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
    device = next(iter(model.parameters())).device
    x, y, val_x, val_y = (part.to(device) for part in (*train_set, *val_set))
    g = torch.Generator().manual_seed(seed)
    log = {"losses": [], "accuracies": []}
    for _ in range(epochs):
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
    return log


@bank.right("two-helpers")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
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
    for _ in range(epochs):
        now["losses"].append(epoch())
        now["accuracies"].append(measure())
    return now


bank.wrong(
    "seed-left-unused",
    "The order does not depend on `seed`: your generator is seeded with a number of your own, or not at all.",
    change={"manual_seed(seed)": "manual_seed(0)"},
)


@bank.wrong(
    "accuracy-while-training",
    "You count what the model has right while it trains, on the images of each step. What is asked for is the accuracy on val_set, after the epoch.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
    x, y = train_set
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    history = {"losses": [], "accuracies": []}
    for _ in range(epochs):
        model.train()
        total, right = 0.0, 0
        for batch in torch.randperm(len(x), generator=generator).split(batch_size):
            optimizer.zero_grad()
            logits = model(x[batch].to(device))
            loss = F.cross_entropy(logits, y[batch].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
            right += (logits.argmax(1).cpu() == y[batch]).sum().item()
        history["losses"].append(total / len(x))
        history["accuracies"].append(right / len(x))
    return history


bank.survives(
    {
        "loss.item() * len(rows) -> len(rows) * loss.item()": "Numbers multiply in any order.",
        "optimizer -> model": "The optimizer has the parameters of the model, so that both clear the same gradients.",
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
    unless=r"\A(?![\s\S]*(?:load_state_dict|copy_))",  # of code that puts nothing back
    slip=True,
    change={
        "accuracies.append(right.float().mean().item())": "accuracies.append(right.float().mean().item())\nif accuracies[-1] == max(accuracies):\n    best = copy.deepcopy(model.state_dict())",
        'return {"losses": losses, "accuracies": accuracies}': 'model.load_state_dict(best)\nreturn {"losses": losses, "accuracies": accuracies}',
    },
)


bank.wrong(
    "weights-of-the-lowest-loss",
    "At the end you put back the weights of the epoch with the lowest loss. The model is to end with those of its last step.",
    unless=r"\A(?![\s\S]*(?:load_state_dict|copy_))",  # of code that puts nothing back
    slip=True,
    change={
        "accuracies.append(right.float().mean().item())": "accuracies.append(right.float().mean().item())\nif losses[-1] == min(losses):\n    best = copy.deepcopy(model.state_dict())",
        'return {"losses": losses, "accuracies": accuracies}': 'model.load_state_dict(best)\nreturn {"losses": losses, "accuracies": accuracies}',
    },
)


bank.wrong(
    "one-epoch-too-many",
    "You train for one epoch more than `epochs`.",
    slip=True,
    change={"range(epochs)": "range(epochs + 1)"},
)


bank.wrong(
    "one-epoch-too-few",
    "You train for one epoch less than `epochs`.",
    slip=True,
    change={"range(epochs)": "range(1, epochs)"},
)

bank.wrong(
    "stops-when-the-loss-rises",
    "You stop before all epochs are over, where the loss has not become smaller. `epochs` are asked for, whatever the losses.",
    slip=True,
    unless=r"\A(?![\s\S]*\b(?:break|return)\b[\s\S]*\breturn\b)",  # of code that leaves the loop nowhere
    change={
        "accuracies.append(right.float().mean().item())": "accuracies.append(right.float().mean().item())\nif losses[-1] > min(losses):\n    break"
    },
)

bank.wrong(
    "clears-only-afterwards",
    "You clear the gradients after each step. What stands in .grad at first then goes into the first step: clear before `backward`.",
    change={"optimizer.zero_grad()": "", "optimizer.step()": "optimizer.step()\noptimizer.zero_grad()"},
)
