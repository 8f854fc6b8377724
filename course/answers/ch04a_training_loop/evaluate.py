"""Answers to `evaluate`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("evaluate")


bank.wrong(
    "mean-of-batch-means",
    "You average the losses of the batches. A small last batch then counts as much as a full one: count samples.",
    slip=True,
    change={
        "criterion(logits, labels).item() * len(labels)": "criterion(logits, labels).item()",
        "loss / count": "loss / len(loader)",
    },
)

bank.wrong(
    "accuracy-by-batches",
    "Your loss is right; the accuracy is the mean of the batches' accuracies, in which the last one counts too much.",
    slip=True,
    change={
        "(logits.argmax(dim=1) == labels).sum()": "(logits.argmax(dim=1) == labels).double().mean()",
        "correct / count": "correct / len(loader)",
    },
)

bank.wrong(
    "sum-of-batch-losses",
    "You add up mean losses and divide by the samples. Each mean must first be multiplied by its samples.",
    slip=True,
    change={"criterion(logits, labels).item() * len(labels)": "criterion(logits, labels).item()"},
)

bank.wrong(
    "leaves-eval",
    "You leave the model in eval mode: the training that goes on has no dropout any more.",
    change={
        "modes = [(module, module.training) for module in model.modules()]": "",
        "for module, mode in modes:\n    module.training = mode": "",
    },
)

bank.wrong(
    "train-mode-for-all",
    "You leave every submodule in train mode, as `model.train()` does: those that were in eval mode, such as frozen ones, "
    "now train.",
    change={
        "modes = [(module, module.training) for module in model.modules()]": "",
        "for module, mode in modes:\n    module.training = mode": "model.train()",
    },
)

bank.wrong(
    "modes-of-children",
    "You put back the modes of the model and of its direct children. A submodule further inside has a mode of its own: "
    "go through `model.modules()`.",
    change={
        "modes = [(module, module.training) for module in model.modules()]": "was = model.training\nmodes = [(module, module.training) for module in model.children()]",
        "for module, mode in modes:\n    module.training = mode": "model.train(was)\nfor module, mode in modes:\n    module.train(mode)",
    },
)

bank.wrong(
    "criterion-of-its-own",
    "You compute a cross-entropy of your own. The caller chose the criterion: use that one.",
    change={"criterion(logits, labels)": "torch.nn.functional.cross_entropy(logits, labels)"},
)

bank.wrong(
    "gradients-off-for-good",
    "You turn the recording of graphs off, and not on again: nothing can be trained after your evaluation. A block or a "
    "decorator ends by itself.",
    change={"was = torch.is_grad_enabled()": "", "torch.set_grad_enabled(mode=was)": ""},
    of="running-means",
)

bank.told(
    "mode-of-the-model-for-all",
    "modes",
    change={
        "modes = [(module, module.training) for module in model.modules()]": "mode = model.training",
        "for module, mode in modes:\n    module.training = mode": "model.train(mode)",
    },
)

bank.wrong(
    "dropout-on",
    "You never switch to eval mode: dropout throws entries away, and batch norm uses, and changes, its statistics.",
    unless=r"\.eval\(|\.train\(False",
    change={"model.eval()": ""},
)

bank.told("builds-graph", "tracked", change={"torch.no_grad()": "torch.enable_grad()"})

bank.wrong(
    "returns-tensors",
    "Your two results are tensors. Plain floats are asked for.",
    change={"loss / count": "torch.tensor(loss / count)", "correct / count": "torch.tensor(correct / count)"},
)

bank.wrong(
    "count-not-share",
    "Your accuracy is the number of right rows. A share is asked for: divide by all rows.",
    change={"correct / count": "float(correct)"},
)

bank.wrong(
    "argmax-over-rows",
    "You look for the largest logit in each column. Classes lie along dim 1.",
    change={"logits.argmax(dim=1)": "logits.argmax(dim=0)[:1]"},
)

bank.wrong(
    "last-batch-alone",
    "What you return is the last batch's alone. Add up over all batches.",
    change={
        "loss += criterion(logits, labels).item() * len(labels)": "loss = criterion(logits, labels).item() * len(labels)",
        "correct += (logits.argmax(dim=1) == labels).sum().item()": "correct = (logits.argmax(dim=1) == labels).sum().item()",
        "count += len(labels)": "count = len(labels)",
    },
)

bank.told("percent", "share", change={"correct / count": "100 * correct / count"})

bank.wrong(
    "both-means-of-means",
    "Loss and accuracy are both averaged over batches: a sample in the small last one counts for more than the others.",
    slip=True,
    change={
        "criterion(logits, labels).item() * len(labels)": "criterion(logits, labels).item()",
        "(logits.argmax(dim=1) == labels).sum()": "(logits.argmax(dim=1) == labels).float().mean()",
        "count += len(labels)": "count += 1",
    },
)

bank.wrong(
    "length-of-the-dataset",
    "You divide by the length of the dataset. A loader may take a part of it, or have none: count the samples that come.",
    change={
        "loss = correct = count = 0": "loss, correct, count = 0, 0, len(loader.dataset)",
        "count += len(labels)": "",
    },
)

bank.wrong(
    "share-of-errors",
    "You give the share of rows that are wrong. Accuracy is the share that is right.",
    change={"correct / count": "1 - correct / count"},
)

bank.wrong(
    "a-tuple",
    "You return a tuple. A dict with loss and accuracy is asked for.",
    slip=True,
    change={'{"loss": loss / count, "accuracy": correct / count}': "(loss / count, correct / count)"},
)

bank.wrong(
    "batch-losses-added-up",
    "You add up the mean losses of the batches, and divide by nothing. Weigh each by its samples, and divide by all.",
    change={
        "criterion(logits, labels).item() * len(labels)": "criterion(logits, labels).item()",
        "loss / count": "loss",
    },
)

bank.wrong(
    "divides-by-seven",
    "You divide by 7, the size of one dataset. Another loader gives another number of samples: count them.",
    slip=True,
    change={"loss = correct = count = 0": "loss, correct, count = 0, 0, 7", "count += len(labels)": ""},
)

bank.wrong(
    "size-of-the-first-batch",
    "You count every batch as if it were as large as the first. The last one may be smaller: ask each for its size.",
    change={
        "loss = correct = count = 0": "loss = correct = count = size = 0",
        "logits = model(inputs)": "size = size or len(labels)\nlogits = model(inputs)",
        "criterion(logits, labels).item() * len(labels)": "criterion(logits, labels).item() * size",
        "count += len(labels)": "count += size",
    },
)

bank.wrong(
    "softmax-first",
    "You give the criterion probabilities. Cross-entropy takes the logits and does the softmax itself.",
    change={"model(inputs)": "model(inputs).softmax(1)"},
)

bank.wrong(
    "first-batch-alone",
    "You look at the first batch alone. The results are means over all samples of the loader.",
    change={"count += len(labels)": "count += len(labels)\nbreak"},
)

bank.wrong(
    "freezes-the-model",
    "You set requires_grad of all parameters to one value, and leave it so: each had a value of its own, and keeps it.",
    change={
        "was = torch.is_grad_enabled()\ntorch.set_grad_enabled(False)": "model.requires_grad_(False)",
        "torch.set_grad_enabled(mode=was)": "",
    },
    of="running-means",
)

bank.told(
    "cuts-the-graph-afterwards",
    "tracked",
    change={
        "was = torch.is_grad_enabled()\ntorch.set_grad_enabled(False)": "",
        "model(inputs)": "model(inputs).detach()",
        "torch.set_grad_enabled(mode=was)": "",
    },
    of="running-means",
)


@bank.right("lists-of-losses")
def evaluate(model, loader, criterion):
    was = {m: m.training for m in model.modules()}
    model.eval()
    losses, hits = [], []
    with torch.inference_mode():
        for x, y in loader:
            z = model(x)
            losses += [criterion(z, y).item()] * len(y)
            hits += (z.argmax(1) == y).tolist()
    for m, mode in was.items():
        m.train(mode) if not list(m.children()) else setattr(m, "training", mode)
    return {"loss": sum(losses) / len(losses), "accuracy": sum(hits) / len(hits)}


@bank.right("collects-logits")
def evaluate(model, loader, criterion):
    before = [module.training for module in model.modules()]
    model.eval()
    with torch.inference_mode():
        rows = [(model(inputs), labels) for inputs, labels in loader]
        losses = torch.tensor([criterion(*row) for row in rows], dtype=torch.float64)
    for module, mode in zip(model.modules(), before):
        module.training = mode
    sizes = torch.tensor([len(labels) for _, labels in rows])
    hits = torch.cat([logits.argmax(1).eq(labels) for logits, labels in rows])
    return {"accuracy": hits.double().mean().item(), "loss": ((losses * sizes).sum() / sizes.sum()).item()}


@bank.right("evaluates-a-copy")
def evaluate(model, loader, criterion):
    twin = copy.deepcopy(model).eval().requires_grad_(False)
    total = right = n = 0.0
    for inputs, labels in loader:
        logits = twin(inputs)
        total += float(criterion(logits, labels)) * labels.shape[0]
        right += float((logits.max(dim=1).indices == labels).float().sum())
        n += labels.shape[0]
    return {"loss": total / n, "accuracy": right / n}


@bank.right("running-means")
def evaluate(model, loader, criterion):
    was = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    training = [module for module in model.modules() if module.training]
    model.eval()
    seen, loss, accuracy = 0, 0.0, 0.0
    try:
        for inputs, labels in loader:
            logits = model(inputs)
            share = len(labels) / (seen + len(labels))
            loss += share * (criterion(logits, labels).item() - loss)
            accuracy += share * ((logits.argmax(dim=-1) == labels).double().mean().item() - accuracy)
            seen += len(labels)
    finally:
        torch.set_grad_enabled(mode=was)
        for module in training:
            module.training = True
    return dict(loss=loss, accuracy=accuracy)


bank.wrong(
    "full-batches-counted",
    "You count each batch as a full one. The last may be smaller: add up the lengths of what comes.",
    change={
        "loss = correct = count = 0": "loss = correct = count = size = 0",
        "logits = model(inputs)": "size = size or len(labels)\nlogits = model(inputs)",
        "count += len(labels)": "count += size",
    },
)

bank.wrong(
    "loss-of-the-last-batch",
    "Your loss is that of the last batch. The mean over the samples of all batches is asked for.",
    change={
        "loss += criterion(logits, labels).item() * len(labels)": "loss = criterion(logits, labels).item()",
        "loss / count": "loss",
    },
)


bank.survives(
    {
        "criterion(logits, labels).item() * len(labels) -> len(labels) * criterion(logits, labels).item()": "Numbers multiply in any order.",
        "labels -> inputs": "A batch has as many inputs as labels.",
        "labels -> logits": "A batch has as many rows of logits as labels.",
        "labels -> inputs (2)": "A batch has as many inputs as labels.",
        "labels -> logits (2)": "A batch has as many rows of logits as labels.",
    }
)


bank.wrong(
    "smallest-logit",
    "You look for the smallest logit of each row. The largest is the model's answer.",
    change={"logits.argmax(dim=1)": "logits.argmin(dim=1)"},
)

bank.told("rounded", "rounded", change={'"loss": loss / count': '"loss": round(loss / count, 4)'})
