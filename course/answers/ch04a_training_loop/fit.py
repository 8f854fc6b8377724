"""Answers to `fit`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("fit")


bank.wrong(
    "never-in-train-mode",
    "You never ask for train mode: what comes in eval mode, or was measured, goes on without dropout.",
    unless=r"\.train\(",
    change={"model.train()": ""},
)

bank.wrong(
    "train-mode-once",
    "You ask for train mode once, before the first epoch. After the first measurement the model stays in eval mode.",
    change={"history = []": "history = []\nmodel.train()", "model.train()": ""},
)

bank.wrong(
    "measures-in-train-mode",
    "You measure in train mode: dropout is at work, and batch norm learns from the drawer.",
    change={"model.eval()": ""},
)


bank.told("records-a-graph", "tracked", change={"@torch.no_grad()": ""}, of="two-functions-of-its-own")


bank.wrong(
    "one-order-for-all",
    "You go through the loader once and keep its batches: every epoch has the same order, however the loader shuffles.",
    change={"history = []": "history = []\nbatches = list(loader)", "for x, y in loader:": "for x, y in batches:"},
)

bank.wrong(
    "never-clears",
    "You never clear the gradients: each step uses the sum of all gradients so far.",
    unless=r"zero_grad|\.grad = None|zero_\(",
    change={"optimizer.zero_grad()": ""},
)

bank.wrong(
    "clears-once-per-epoch",
    "You clear the gradients once per epoch. Each step should use the gradient of its own batch alone.",
    change={"losses = []": "optimizer.zero_grad()\nlosses = []", "optimizer.zero_grad()": ""},
)

bank.wrong(
    "steps-once-per-epoch",
    "You step once per epoch, after the last batch. Each batch has a step of its own.",
    change={"optimizer.step()": "", "model.eval()": "optimizer.step()\nmodel.eval()"},
)


bank.wrong(
    "learns-from-the-drawer",
    "You take steps on the drawer too. What you learn from, you cannot measure with any more.",
    change={
        "model.eval()": "for x, y in drawer:\n    optimizer.zero_grad()\n    criterion(model(x), y).backward()\n    optimizer.step()\nmodel.eval()"
    },
)


bank.wrong(
    "last-batch-only",
    "You note the loss of an epoch's last batch. The mean over all its batches is asked for.",
    change={"sum(losses) / len(losses)": "losses[-1]"},
)

bank.wrong(
    "sum-of-losses",
    "You note the sum of an epoch's batch losses. The mean is asked for.",
    change={"sum(losses) / len(losses)": "sum(losses)"},
)

bank.wrong(
    "losses-of-all-epochs",
    "Your list of losses is never emptied: the mean is over all epochs so far, not over this one.",
    change={"history = []": "history, losses = [], []", "losses = []": ""},
)

bank.wrong(
    "tensors-in-the-history",
    "You keep a tensor for each epoch's loss, with its graph nodes. Keep numbers: `loss.item()`.",
    change={"losses.append(loss.item())": "losses.append(loss)"},
)

bank.wrong(
    "mean-of-batch-means",
    "In the drawer you average batch means, and its smaller last batch counts as much as a full one. Count samples.",
    change={
        "criterion(logits, y).item() * len(y)": "criterion(logits, y).item()",
        "total / count": "total / len(drawer)",
    },
)

bank.wrong(
    "accuracy-in-percent",
    "Your accuracy is in percent. A share from 0 to 1 is asked for.",
    change={"right / count": "100 * right / count"},
)

bank.wrong(
    "accuracy-of-the-known",
    "You measure on the data that you learn from. The drawer is what tells whether anything was understood.",
    change={"for x, y in drawer:": "for x, y in loader:"},
)


bank.wrong(
    "measures-before",
    "You measure before the epoch's steps. The row of an epoch says how good the model is after it.",
    change={"model.train()": "measured = look()\nmodel.train()", "*look()": "*measured"},
    of="two-functions-of-its-own",
)


bank.wrong(
    "measured-at-the-end",
    "You measure once, when all is over, and give every epoch that result.",
    change={
        "rows.append([sum(seen) / len(seen), *look()])": "rows.append(sum(seen) / len(seen))",
        "return rows": "measured = look()\nreturn [(mean, *measured) for mean in rows]",
    },
    of="two-functions-of-its-own",
)


bank.wrong(
    "ignores-the-criterion",
    "You take cross-entropy whatever `criterion` is. Call the one you were given.",
    change={
        "criterion(model(x), y)": "F.cross_entropy(model(x), y)",
        "criterion(logits, y).item()": "F.cross_entropy(logits, y).item()",
    },
)

bank.wrong(
    "last-row-only",
    "You return the last row alone. The history has a row for each epoch.",
    change={"return history": "return history[-1]"},
)

bank.wrong(
    "accuracy-before-loss",
    "Your rows have accuracy before the drawer's loss. The order is: mean batch loss, loss, share.",
    change={"total / count, right / count": "right / count, total / count"},
)


bank.wrong(
    "mean-of-batch-shares",
    "In the drawer you average the shares of the batches, and a smaller last one counts as much as a full one. Count rows.",
    change={
        "(logits.argmax(dim=1) == y).sum().item()": "(logits.argmax(dim=1) == y).float().mean().item()",
        "right / count": "right / len(drawer)",
    },
)


bank.wrong(
    "weighs-by-rows",
    "You weigh the losses of an epoch by the rows of their batches. Here the plain mean of the batch losses is asked for.",
    change={"losses.append(loss.item())": "losses.extend([loss.item()] * len(y))"},
)


bank.wrong(
    "counts-never-begin-anew",
    "You set your sums for the drawer to 0 once. From the second epoch on, those of the epochs before are among them.",
    change={"history = []": "history = []\ntotal = right = count = 0", "total = right = count = 0": ""},
)


bank.wrong(
    "last-batch-of-the-drawer",
    "You measure the drawer's last batch alone: each batch takes the place of what you had of the one before. Add up.",
    change={
        "total += criterion(logits, y).item() * len(y)": "total = criterion(logits, y).item() * len(y)",
        "right += (logits.argmax(dim=1) == y).sum().item()": "right = (logits.argmax(dim=1) == y).sum().item()",
        "count += len(y)": "count = len(y)",
    },
)


bank.wrong(
    "softmax-first",
    "You hand probabilities to the criterion. It takes what the model says, logits, and does its own softmax.",
    change={"criterion(model(x), y)": "criterion(model(x).softmax(dim=1), y)"},
)


bank.wrong(
    "returns-after-one-epoch",
    "Your `return` stands within the loop: after the first epoch it is over.",
    change={"return rows": "    return rows"},
    of="two-functions-of-its-own",
)


bank.told(
    "rows-as-dicts",
    "rows",
    change={
        "(sum(losses) / len(losses), total / count, right / count)": '{"train_loss": sum(losses) / len(losses), "val_loss": total / count, "accuracy": right / count}'
    },
)


bank.wrong(
    "both-means-of-means",
    "In the drawer, loss and accuracy are both averaged over batches: a sample in the smaller last one counts "
    "for more. Count samples.",
    change={
        "criterion(logits, y).item() * len(y)": "criterion(logits, y).item()",
        "(logits.argmax(dim=1) == y).sum().item()": "(logits.argmax(dim=1) == y).float().mean().item()",
        "count += len(y)": "count += 1",
    },
)


bank.told(
    "rounded-losses",
    "rounded",
    change={"sum(losses) / len(losses), total / count": "round(sum(losses) / len(losses), 4), round(total / count, 4)"},
)


@bank.right("cat-of-the-drawer")
def fit(model, optimizer, criterion, loader, drawer, epochs):
    history = []
    for epoch in range(epochs):
        model.train()
        losses = []
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.inference_mode():
            parts = [(model(x), y) for x, y in drawer]
            logits, labels = map(torch.cat, zip(*parts))
            measured = criterion(logits, labels).item(), logits.argmax(dim=1).eq(labels).double().mean().item()
        history.append([sum(losses) / len(losses), *measured])
    return history


@bank.right("inference-mode")
def fit(model, optimizer, criterion, loader, drawer, epochs):
    rows = []
    for epoch in range(epochs):
        total, batches = 0.0, 0
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total, batches = total + float(loss), batches + 1
        model.train(False)
        with torch.inference_mode():
            n = lsum = hits = 0
            for x, y in drawer:
                out = model(x)
                lsum += float(criterion(out, y)) * x.shape[0]
                hits += int((out.max(1)[1] == y).sum())
                n += x.shape[0]
        rows.append([total / batches, lsum / n, hits / n])
    return rows


@bank.right("two-functions-of-its-own")
def fit(model, optimizer, criterion, loader, drawer, epochs):
    def step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def look():
        model.eval()
        counts = [len(y) for _, y in drawer]
        losses = [criterion(model(x), y).item() * len(y) for x, y in drawer]
        hits = [(model(x).argmax(dim=-1) == y).sum().item() for x, y in drawer]
        return sum(losses) / sum(counts), sum(hits) / sum(counts)

    rows = []
    for _ in range(epochs):
        model.train()
        seen = [step(x, y) for x, y in loader]
        rows.append([sum(seen) / len(seen), *look()])
    return rows


@bank.right("running-sums")
def fit(model, optimizer, criterion, loader, drawer, epochs):
    history = []
    while len(history) < epochs:
        total, batches = 0.0, 0
        model.train(True)
        for batches, (inputs, labels) in enumerate(loader, start=1):
            loss = criterion(model(inputs), labels)
            model.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach())
        model.train(False)
        losses, right = [], []
        for inputs, labels in drawer:
            with torch.inference_mode():
                logits = model(inputs)
            losses += [criterion(logits, labels).item()] * len(labels)
            right += (logits.max(dim=1).indices == labels).tolist()
        history += [(total / batches, sum(losses) / len(losses), sum(right) / len(right))]
    return history


@bank.right("the-whole-drawer-at-once")
def fit(model, optimizer, criterion, loader, drawer, epochs):
    inputs = torch.cat([x for x, _ in drawer])
    labels = torch.cat([y for _, y in drawer])

    def one_epoch():
        model.train()
        values = torch.zeros(len(loader), dtype=torch.float64)
        for place, (x, y) in enumerate(loader):
            loss = criterion(model(x), y)
            for weight in model.parameters():
                weight.grad = None
            loss.backward()
            optimizer.step()
            values[place] = loss.item()
        model.eval()
        with torch.no_grad():
            logits = model(inputs)
            share = logits.argmax(1).eq(labels).double().mean()
            return values.mean().item(), criterion(logits, labels).item(), share.item()

    return [one_epoch() for _ in range(epochs)]


bank.survives(
    {
        "criterion(logits, y).item() * len(y) -> len(y) * criterion(logits, y).item()": "A product of two numbers has no order.",
        "losses -> loader (3)": "An epoch has as many losses as the loader has batches.",
        "optimizer -> model": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
        "y -> logits (2)": "A batch has as many rows of logits as it has labels.",
        "y -> logits (3)": "A batch has as many rows of logits as it has labels.",
        "y -> x (2)": "A batch has as many rows of inputs as it has labels.",
        "y -> x (3)": "A batch has as many rows of inputs as it has labels.",
    }
)


bank.wrong(
    "first-batch-of-the-drawer",
    "You measure the drawer's first batch alone, as a `return` or `break` within the loop does. All its samples count.",
    change={"count += len(y)": "count += len(y)\nbreak"},
)


bank.wrong(
    "best-weights-put-back",
    "At the end you put back the weights of the epoch with the largest share. The model is to end with those of its last "
    "step.",
    unless=r"\A(?![\s\S]*(?:load_state_dict|copy_))",  # of code that puts nothing back
    slip=True,
    change={
        "history.append((sum(losses) / len(losses), total / count, right / count))": "history.append((sum(losses) / len(losses), total / count, right / count))\nif history[-1][2] == max(row[2] for row in history):\n    best = copy.deepcopy(model.state_dict())",
        "return history": "model.load_state_dict(best)\nreturn history",
    },
)


bank.wrong(
    "weights-of-the-lowest-loss",
    "At the end you put back the weights of the epoch with the lowest loss in the drawer. The model is to end with those of its last "
    "step.",
    unless=r"\A(?![\s\S]*(?:load_state_dict|copy_))",  # of code that puts nothing back
    slip=True,
    change={
        "history.append((sum(losses) / len(losses), total / count, right / count))": "history.append((sum(losses) / len(losses), total / count, right / count))\nif history[-1][1] == min(row[1] for row in history):\n    best = copy.deepcopy(model.state_dict())",
        "return history": "model.load_state_dict(best)\nreturn history",
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
    "skips-a-batch-of-one",
    "You leave out a batch that has a single row. Each batch of the loader gets a step, however small it is.",
    change={"for x, y in loader:": "for x, y in loader:\n    if len(y) < 2:\n        continue"},
)
