"""Answers to `fix_trainer`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch
import torch.nn.functional as F

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("fix_trainer")


@bank.wrong(
    "untouched",
    "It stops where it did when you found it, where predictions meet labels: what else you mended cannot be seen "
    "before. Along which dim of the logits is the largest sought?",
    # of code in which another of the six lines was mended
    unless=r"\A(?![\s\S]*in batches:\s+loss = F\.cross_entropy\(model\(x\)\.softmax\(dim=1\), y\)\s+loss\.backward\(\)"
    r"\s+optimizer\.step\(\)\s+scheduler\.step\(\)\s+total \+= loss\.item\(\)\s+losses\.append\(total / len\(batches\)\)"
    r"\s+correct, count = 0, 0\s+with torch\.no_grad\(\):[\s\S]*best = model\.state_dict\(\)\s+model\.load_state_dict)",
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


bank.wrong(
    "softmax-twice",
    "Probabilities reach the cross-entropy, which does its own softmax. The loss can never fall below 0.55.",
    change={"model(x), y": "model(x).softmax(dim=1), y"},
)

bank.wrong(
    "nll-of-probabilities",
    "`nll_loss` takes logarithms of probabilities; yours are probabilities. Cross-entropy takes the logits themselves.",
    change={"F.cross_entropy(model(x), y)": "F.nll_loss(model(x).softmax(dim=1), y)"},
)

bank.wrong(
    "gradients-pile-up",
    "Nothing clears the old gradients: each step follows the sum of all batches so far.",
    change={"optimizer.zero_grad()": ""},
)

bank.wrong(
    "cleared-once-an-epoch",
    "You clear the gradients once for each epoch; in between they add up. Each batch stands alone.",
    change={"0.0": "0.0\noptimizer.zero_grad()", "optimizer.zero_grad()": ""},
)

bank.wrong(
    "cleared-before-the-step",
    "The step finds no gradients: they are cleared between backward and step, or backward is never called.",
    change={"optimizer.zero_grad()": "", "loss.backward()": "loss.backward()\noptimizer.zero_grad()"},
)

bank.wrong(
    "measures-in-train-mode",
    "The accuracy is measured in train mode: no_grad does not switch off dropout, eval mode does.",
    change={"model.eval()": ""},
)

bank.wrong(
    "eval-for-good",
    "You train in eval mode too. Switch it on after the batches of an epoch, and train mode on before.",
    change={"model.train()": "model.eval()", "model.eval()": ""},
)

bank.wrong(
    "rate-halved-each-batch",
    "The scheduler is called after each batch, and the rate is gone within an epoch. It counts epochs.",
    change={"optimizer.step()": "optimizer.step()\nscheduler.step()", "scheduler.step()": ""},
)

bank.wrong(
    "no-schedule",
    "Your learning rate stays as it is. It should be halved after each epoch: move the scheduler, do not remove it.",
    change={
        "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)": "",
        "scheduler.step()": "",
    },
)

bank.wrong(
    "scheduled-before",
    "You halve the rate before the first epoch. The scheduler steps after each epoch.",
    change={"model.train()": "scheduler.step()\nmodel.train()", "scheduler.step()": ""},
)

bank.wrong(
    "rebinds-the-model",
    "In the end you give the name `model` to the best one. The caller still holds the model of the last epoch: put the best "
    "weights into that.",
    unless=r"\A(?![\s\S]*\bmodel = )",
    change={"(model.state_dict())": "(model)", "model.load_state_dict(best)": "model = best"},
)

bank.wrong(
    "best-is-alive",
    "In the end the model has the weights of its last epoch. What `state_dict` returns, like the parameters, lives on with "
    "the model, and a dict of it is no copy.",
    unless=r"deepcopy|clone",
    change={"copy.deepcopy(model.state_dict())": "model.state_dict()"},
)

bank.wrong(
    "keeps-the-first",
    "You keep the weights from before the training, or of some epoch that was not the best.",
    unless=r"(?s)named_parameters|parameters\(\).*parameters\(\)",
    change={"best = copy": "best = best or copy"},
)

bank.wrong(
    "no-momentum",
    "You took the momentum away. The optimizer was right; the faults are elsewhere.",
    change={"lr, momentum=0.9": "lr"},
)

bank.wrong(
    "accuracy-as-count",
    "Your accuracies come to how many predictions are right. Asked for is their share of all images.",
    slip=True,
    change={"(correct / count)": "(float(correct))"},
)

bank.wrong(
    "counts-batches",
    "You divide by the number of batches, or by another one that is not that of the labels: a share is at most 1.",
    change={"len(y)": "1"},
)


@bank.wrong(
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


bank.wrong(
    "earliest-of-the-best",
    "If several epochs are best, you keep the earliest. The docstring asks for the latest, and that line was right.",
    change={"== max(accuracies)": "> max(accuracies[:-1], default=-1.0)"},
)

bank.wrong(
    "better-than-the-one-before",
    "You compare an epoch with the one before it alone. The best is the best of all of them so far, and that line was right.",
    change={"accuracies[-1] == max(accuracies)": "epoch == 0 or accuracies[-1] >= accuracies[-2]"},
)

bank.wrong(
    "mean-over-images",
    "Your loss of an epoch is a mean over its images. The docstring asks for that of the batch losses; this was right.",
    change={"loss.item()": "loss.item() * len(y)", "len(batches)": "sum(len(y) for _, y in batches)"},
)

bank.wrong(
    "argmax-of-all",
    "Without a dim, `argmax` finds one place in the whole batch. Each image needs one of its own.",
    change={"argmax(dim=1)": "argmax()"},
)


bank.told(
    "loads-in-the-loop",
    "goes_on",
    change={"model.load_state_dict(best)": "    model.load_state_dict(best)"},
)


bank.wrong(
    "halved-every-two-batches",
    "Your scheduler counts batches, two for a halving. How many there are in an epoch, nobody says: let it count epochs.",
    change={"len(batches), gamma": "2, gamma"},
    of="counts-its-batches",
)


bank.wrong(
    "mean-of-batch-accuracies",
    "Your accuracy is the mean over the validation batches: an image in a smaller batch counts for more than "
    "one in a larger batch. The share is of all images.",
    slip=True,
    change={
        "(model(x).argmax(dim=1) == y).sum()": "(model(x).argmax(dim=1) == y).float().mean()",
        "len(y)": "1",
    },
)


@bank.right("counts-its-batches")
def fix_trainer(model, batches, val_batches, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=len(batches), gamma=0.5)
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


@bank.right("logarithms-and-clones")
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


@bank.right("model-zero-grad")
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


@bank.right("train-false")
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


bank.wrong(
    "parameters-without-buffers",
    "You keep the parameters of the best epoch, and the buffers stay those of the last: batch norm then goes by other statistics. state_dict has both.",
    change={
        "copy.deepcopy(model.state_dict())": "{name: param.detach().clone() for name, param in model.named_parameters()}",
        "model.load_state_dict(best)": "model.load_state_dict(best, strict=False)",
    },
)


bank.survives(
    {
        "accuracies[-1] == max(accuracies) -> accuracies[-1] >= max(accuracies)": "No entry is above the largest.",
        "optimizer -> model (2)": "The optimizer has the parameters of the model, so that both clear the same gradients.",
        "y -> x (2)": "A batch has as many images as labels.",
    }
)


bank.wrong(
    "one-epoch-too-many",
    "You train for one epoch more than `epochs`.",
    slip=True,
    change={"range(epochs)": "range(epochs + 1)"},
)

bank.told("rounded-losses", "losses_rounded", change={"(total / len(batches))": "(round(total / len(batches), 4))"})

bank.wrong(
    "nll-of-logits",
    "`nll_loss` takes logarithms of probabilities, and you give it the logits as they are. Which loss takes those?",
    change={"F.cross_entropy(model(x), y)": "F.nll_loss(model(x), y)"},
)
