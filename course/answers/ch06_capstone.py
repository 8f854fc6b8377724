"""The answer bank of chapter 6: wrong answers learners really give, and right ones that must pass.

Each entry is a whole answer and stands alone: it uses nothing but what the chapter's setup cell imports.
"""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.authoring.bank import AnswerBank

bank = AnswerBank("ch06_capstone")


# --- train -----------------------------------------------------------------------------------------------


@bank.wrong(
    "train",
    "never-zero",
    "Nothing clears the old gradients: each step follows the sum of all batches so far.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "no-step",
    "Gradients are computed, and nobody takes a step: the weights stay as they were.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "softmax-first",
    "Cross-entropy takes logits: it does its own softmax, and yours comes before it.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)).softmax(dim=1), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "drops-last",
    "You leave out the last batch where it is smaller. Its images belong to the epoch too.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            if len(rows) < batch_size:
                continue
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "no-shuffle",
    "Your images come in the order in which they are stored. Each epoch should draw a new one.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.arange(len(labels)).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "same-order",
    "Each epoch has the order of the first, since the generator is seeded anew. Make it once, before the epochs.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator()
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        order.set_state(checkpoint["order"])
        torch.set_rng_state(checkpoint["rng"])
        losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])
    while len(losses) < epochs:
        model.train()
        order.manual_seed(seed)
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "global-order",
    "The order comes from torch's global generator, from which dropout draws as well. Use one of its own, with `seed`.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels)).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "mean-of-means",
    "You average the losses of the batches. In a smaller last batch each image counts for more than the others.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / math.ceil(len(labels) / batch_size))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "last-loss",
    "You report the loss of the last batch. Asked for is the mean over all images of the epoch.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "sum-of-losses",
    "You add the losses up and do not divide by the number of images.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total)
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "tensor-losses",
    "Your losses are tensors. A checkpoint of plain numbers holds floats, and no graph.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(torch.tensor(total / len(labels)))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "measures-in-train-mode",
    "You measure the accuracy in train mode: dropout and batch norm behave as in training.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "stays-in-eval-mode",
    "From the second epoch on you train in eval mode: the measurement switched it on, and nobody switched it off.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
    model.train()
    while len(losses) < epochs:
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "records-while-measuring",
    "You measure with gradients on: eval mode does not stop the recording of a graph.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "accuracy-of-training",
    "You measure on the images that you train on. What is asked for is the accuracy on val_set.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(images.to(device)).argmax(dim=1) == labels.to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "accuracy-as-count",
    "You count the right answers and do not divide by how many there are.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(float(right.sum().item()))
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "weights-alone",
    "You put back the weights. The optimizer has a memory too, and begins anew: velocities, or Adam's averages.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        order.set_state(checkpoint["order"])
        torch.set_rng_state(checkpoint["rng"])
        losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])
    while len(losses) < epochs:
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "order-begins-anew",
    "After a resume, the order of the images begins again with that of epoch 0. Its generator has a state to save.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        torch.set_rng_state(checkpoint["rng"])
        losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])
    while len(losses) < epochs:
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "dropout-forgotten",
    "Dropout draws from torch's global generator, whose state you do not put back.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        order.set_state(checkpoint["order"])
        losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])
    while len(losses) < epochs:
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "that-many-more",
    "After a resume you run `epochs` more epochs. `epochs` counts all of them, also those of the checkpoint.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
    for _ in range(epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "history-lost",
    "After a resume, losses and accuracies begin with the first new epoch. Those of the checkpoint belong before them.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        order.set_state(checkpoint["order"])
        torch.set_rng_state(checkpoint["rng"])
    done = 0 if checkpoint is None else checkpoint["done"]
    for _ in range(done, epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    parts["done"] = epochs
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "live-checkpoint",
    "Your checkpoint holds the live tensors: later training changes it. Copy before you return it.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return {**parts, "losses": losses, "accuracies": accuracies}


@bank.wrong(
    "train",
    "loads-without-copy",
    "The optimizer trains on in the very tensors that it loaded: your checkpoint changes when it is gone on with.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        order.set_state(checkpoint["order"])
        torch.set_rng_state(checkpoint["rng"])
        losses, accuracies = list(checkpoint["losses"]), list(checkpoint["accuracies"])
    while len(losses) < epochs:
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "pickled-objects",
    "Your checkpoint holds whole objects, which torch.load refuses. Save what they hold: their state_dict.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "trainer": (model, optimizer), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "batch-stays-behind",
    "Your batches stay on the CPU, wherever the model is.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows]), labels[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "moves-the-model",
    "You move the model to the CPU. It is to be trained where it is; ask it for its device.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = torch.device("cpu")
    model.to_empty(device=device) if next(model.parameters()).is_meta else model.to(device)
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "order-seeded-by-epoch",
    "Each epoch has a new generator, with a seed of its own. Make one before the epochs, and let it draw on.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed + len(losses))).split(
            batch_size
        ):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "loader-shuffles",
    "A DataLoader that shuffles first draws another number from the generator: its orders are not torch.randperm's.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
    data = torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(data, batch_size, shuffle=True, generator=order)
    while len(losses) < epochs:
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "loader-draws",
    "A DataLoader draws a number from torch's global generator whenever you go through it: dropout then drops others.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
    data = torch.utils.data.TensorDataset(images, labels)
    while len(losses) < epochs:
        model.train()
        total = 0.0
        rows = torch.randperm(len(labels), generator=order).tolist()
        for x, y in torch.utils.data.DataLoader(data, batch_size, sampler=rows):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "seeds-the-global-generator",
    "You seed torch's global generator, from which dropout draws. The seed is for the order alone.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    torch.manual_seed(seed)
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "checkpoint-unread",
    "Nothing is read from the checkpoint: your training begins anew, at epoch 0, whatever it is given.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    while len(losses) < epochs:
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})


@bank.wrong(
    "train",
    "live-optimizer-state",
    "Your checkpoint holds a copy of the weights, and the optimizer's live tensors: its next step changes them.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": copy.deepcopy(model.state_dict()), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return {**parts, "losses": list(losses), "accuracies": list(accuracies)}


@bank.wrong(
    "train",
    "shared-lists",
    "A resumed call appends to the very lists of the checkpoint that it was given. Copy them first.",
)
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        order.set_state(checkpoint["order"])
        torch.set_rng_state(checkpoint["rng"])
        losses, accuracies = checkpoint["losses"], checkpoint["accuracies"]
    while len(losses) < epochs:
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows].to(device)), labels[rows].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            right = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(right.float().mean().item())
    parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    parts |= {"order": order.get_state(), "rng": torch.get_rng_state()}
    return {**copy.deepcopy(parts), "losses": losses, "accuracies": accuracies}


@bank.right("train", "orders-drawn-again")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
    images, labels = train_set
    n, done, history = len(labels), 0, {"losses": [], "accuracies": []}
    device = next(model.parameters()).device
    if checkpoint is not None:
        checkpoint = copy.deepcopy(checkpoint)
        done, history = checkpoint["done"], checkpoint["history"]
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        torch.random.set_rng_state(checkpoint["rng"])
    draw = torch.Generator()
    draw.manual_seed(seed)
    orders = [torch.randperm(n, generator=draw) for _ in range(epochs)]
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
        "done": max(done, epochs),
        "history": history,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "rng": torch.random.get_rng_state(),
    }
    return copy.deepcopy({**state, **history})


@bank.right("train", "back-to-the-cpu")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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


@bank.right("train", "all-on-the-device")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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


@bank.right("train", "two-helpers")
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None):
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


# --- train_amp -------------------------------------------------------------------------------------------


@bank.wrong(
    "train_amp",
    "stays-in-eval-mode",
    "You leave the model in the mode in which it came, which may be eval mode. Training needs train mode.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "never-zero",
    "Nothing clears the old gradients: each group adds to those of the groups before.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "zero-each-batch",
    "You clear the gradients before each batch: only the last batch of a group is left for the step.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        total = 0.0
        for x, y in group:
            optimizer.zero_grad()
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "step-each-batch",
    "You take a step after each batch. A group is one step, on the sum of the gradients of its batches.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "sum-of-means",
    "You add up the means of the batches: the gradient grows with their number. A group has one mean.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "mean-of-means",
    "You take the mean of the batches' means. An image in a smaller batch counts for more than one in a larger batch.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y) / len(group)
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "divided-by-accumulate",
    "You divide by `accumulate`, also where the last group has fewer batches, and whatever the sizes of the batches.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y) / accumulate
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "sum-loss",
    "You take the sum of the losses of all images. Asked for is their mean over the group.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum")
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "drops-last-group",
    "You leave out a last group that has fewer batches. It is a step too.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches) - accumulate + 1, accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "no-clipping",
    "Your gradients are never clipped.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "clips-scaled",
    "You clip while the gradients still carry the scaler's factor. Divide it out first: `scaler.unscale_`.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "clips-each-entry",
    "You clip each entry of the gradients by itself. Asked for is the norm of all of them together.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_value_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "clips-each-tensor",
    "You clip each parameter's gradient by itself. Asked for is the norm of all of them together.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        for weight in model.parameters():
            torch.nn.utils.clip_grad_norm_([weight], max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "clips-each-batch",
    "You clip after each batch. The limit is for the whole gradient of a group, once, before its step.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm * scaler.get_scale())
            total += loss.item()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "no-autocast",
    "You compute all of it in float32: nothing runs under autocast.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "always-autocast",
    "You run under autocast also where `amp` is false.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "float16",
    "Your autocast lowers to float16, which is also what a GPU takes if it is told nothing. Asked for is bfloat16.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.float16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "backward-within",
    "Your backward runs under autocast. Leave the region first: each gradient has the dtype of its forward anyway.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
                scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "loss-outside",
    "Your loss is in bfloat16, like the logits. `F.cross_entropy` inside the region gives float32.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                logits = model(x)
            loss = F.cross_entropy(logits, y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "lowers-the-model",
    "You turn the model itself to bfloat16: its weights lose the digits that small steps need.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    if amp:
        model.bfloat16()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "steps-past-the-scaler",
    "You call the optimizer yourself: after an overflow, it takes a step with inf or nan.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "no-update",
    "Nobody updates the scaler: after an overflow, its factor stays as it was.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        found = scaler._per_optimizer_states[id(optimizer)]
        found["stage"] = type(found["stage"]).READY
        found["found_inf_per_device"] = {}
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "scaler-unused",
    "Your loss is not scaled, but unscaled it is: all gradients are too small by the factor.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss.detach())
            loss.backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "scaled-losses",
    "The losses that you return carry the scaler's factor.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item() * scaler.get_scale()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "last-batch-loss",
    "You return the loss of a group's last batch, or its part in it. Asked for is the loss of the group.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total = loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "one-loss",
    "You return one number for the epoch. Asked for is a list with a loss for each step.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return sum(losses) / len(losses)


@bank.wrong(
    "train_amp",
    "names-cpu",
    "You name the device in `torch.autocast`: on another one, nothing would be lowered. Ask the images.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "cleared-after-alone",
    "You clear the gradients after each step alone: those that are there at the beginning go into the first step.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(total)
    return losses


@bank.wrong(
    "train_amp",
    "scaler-with-amp-alone",
    "Without amp you leave the scaler out. `amp` switches autocast alone; the scaler does its work either way.",
)
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / count
            (scaler.scale(loss) if amp else loss).backward()
            total += loss.item()
        if amp:
            scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        if amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        losses.append(total)
    return losses


@bank.right("train_amp", "divided-before-the-step")
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        count = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum")
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        for weight in model.parameters():
            weight.grad /= count
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total / count)
    return losses


@bank.right("train_amp", "weighted-means")
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    device_type = next(model.parameters()).device.type
    region = torch.autocast(device_type=device_type, dtype=torch.bfloat16, enabled=amp)
    history, left = [], list(batches)
    optimizer.zero_grad()
    while left:
        group, left = left[:accumulate], left[accumulate:]
        sizes = [y.shape[0] for _, y in group]
        parts = []
        for (images, labels), size in zip(group, sizes):
            with region:
                share = F.cross_entropy(model(images), labels) * (size / sum(sizes))
            scaler.scale(share).backward()
            parts.append(share.detach())
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_norm)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        history.append(float(sum(parts)))
    return history


@bank.right("train_amp", "counts-along")
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses, summed = [], 0.0
    for i, (x, y) in enumerate(batches):
        start = i - i % accumulate
        count = sum(len(labels) for _, labels in batches[start : start + accumulate])
        if i == start:
            model.zero_grad()
            summed = 0.0
        with torch.autocast(x.device.type, torch.bfloat16, amp):
            logits = model(x)
            loss = nn.CrossEntropyLoss(reduction="sum")(logits, y)
        scaler.scale(loss / count).backward()
        summed += loss.item()
        if (i + 1) % accumulate == 0 or i + 1 == len(batches):
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            scaler.step(optimizer)
            scaler.update()
            losses.append(summed / count)
    return losses


@bank.right("train_amp", "one-loss-for-a-group")
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    def loss_of(group):
        total, count = 0.0, sum(len(y) for _, y in group)
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                losses = F.cross_entropy(model(x), y, reduction="none")
            total = total + losses.sum() / count
        return total

    def clip():
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.stack([grad.norm() for grad in grads]).norm()
        for grad in grads:
            grad.mul_(torch.clamp(max_norm / (norm + 1e-6), max=1.0))

    model.train(True)
    result = []
    for first in range(0, len(batches), accumulate):
        loss = loss_of(batches[first : first + accumulate])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip()
        scaler.step(optimizer)
        scaler.update()
        result.append(loss.item())
    return result


# --- fix_trainer -----------------------------------------------------------------------------------------


@bank.wrong(
    "fix_trainer",
    "untouched",
    "It stops where predictions meet labels: along which dim of the logits is the largest sought?",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            loss = F.cross_entropy(model(x).softmax(dim=1), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        losses.append(total / len(batches))
        correct, count = 0, 0
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=0) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = model.state_dict()
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "softmax-twice",
    "Probabilities reach the cross-entropy, which does its own softmax. The loss can never fall below 0.55.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x).softmax(dim=1), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "nll-of-probabilities",
    "`nll_loss` takes logarithms of probabilities; yours are probabilities. Cross-entropy takes the logits themselves.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.nll_loss(model(x).softmax(dim=1), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "gradients-pile-up",
    "Nothing clears the old gradients: each step follows the sum of all batches so far.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "cleared-once-an-epoch",
    "You clear the gradients once for each epoch; in between they add up. Each batch stands alone.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        optimizer.zero_grad()
        for x, y in batches:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "cleared-before-the-step",
    "You clear the gradients between backward and step: the step finds none.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "measures-in-train-mode",
    "The accuracy is measured in train mode: no_grad does not switch off dropout, eval mode does.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "eval-for-good",
    "You train in eval mode too. Switch it on after the batches of an epoch, and train mode on before.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.eval()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "rate-halved-each-batch",
    "The scheduler is called after each batch, and the rate is gone within an epoch. It counts epochs.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "no-schedule",
    "Your learning rate stays as it is. It should be halved after each epoch: move the scheduler, do not remove it.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "scheduled-before",
    "You halve the rate before the first epoch. The scheduler steps after each epoch.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        scheduler.step()
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "best-is-alive",
    "`state_dict` holds the live tensors, and a dict of them is no copy: what you load in the end is the last epoch.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = model.state_dict()
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "keeps-the-first",
    "You keep the weights from before the training, or of some epoch that was not the best.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = best or copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "no-momentum",
    "You took the momentum away. The optimizer was right; the faults are elsewhere.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "accuracy-as-count",
    "You return the number of right predictions. Asked for is their share.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(float(correct))
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "counts-batches",
    "You count batches where labels are to be counted: a share is at most 1.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += 1
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "written-anew",
    "Your trainer is right, and it is a new one. Mend the given one, so that others can see what was wrong.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr, momentum=0.9)
    history = {"losses": [], "accuracies": []}
    snapshots = []
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = lr * 0.5**epoch
        losses = []
        model.train()
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        history["losses"].append(sum(losses) / len(losses))
        model.eval()
        with torch.no_grad():
            hits = [model(images).argmax(dim=1) == labels for images, labels in val_batches]
        history["accuracies"].append(torch.cat(hits).double().mean().item())
        snapshots.append(copy.deepcopy(model.state_dict()))
    accuracies = history["accuracies"]
    latest = max(range(epochs), key=lambda epoch: (accuracies[epoch], epoch))
    model.load_state_dict(snapshots[latest])
    return history


@bank.wrong(
    "fix_trainer",
    "earliest-of-the-best",
    "If several epochs are best, you keep the earliest. The docstring asks for the latest, and that line was right.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] > max(accuracies[:-1], default=-1.0):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "mean-over-images",
    "Your loss of an epoch is a mean over its images. The docstring asks for that of the batch losses; this was right.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        scheduler.step()
        losses.append(total / sum(len(y) for _, y in batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.wrong(
    "fix_trainer",
    "argmax-of-all",
    "Without a dim, `argmax` finds one place in the whole batch. Each image needs one of its own.",
)
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax() == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.right("fix_trainer", "logarithms-and-clones")
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.nll_loss(model(x).log_softmax(dim=1), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=-1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = {key: value.clone() for key, value in model.state_dict().items()}
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.right("fix_trainer", "model-zero-grad")
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            model.zero_grad()
            total += loss.item()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.eval()
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).max(dim=1).indices == y).sum().item()
                count += len(y)
        scheduler.step()
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}


@bank.right("fix_trainer", "train-false")
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    losses, accuracies, best = [], [], None
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(batches))
        correct, count = 0, 0
        model.train(False)
        with torch.no_grad():
            for x, y in val_batches:
                correct += (model(x).argmax(dim=1) == y).sum().item()
                count += len(y)
        accuracies.append(correct / count)
        if accuracies[-1] == max(accuracies):
            best = copy.deepcopy(model).state_dict()
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}
