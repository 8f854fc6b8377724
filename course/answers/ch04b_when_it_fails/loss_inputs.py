"""Answers to `loss_inputs`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("loss_inputs")

bank.wrong(
    "marked-over-all-entries",
    "Of the rows with a 1 at the class you take the mean over all n times k entries. It is over the n rows: sum in each.",
    change={
        "return F.cross_entropy(output, target.to(output.dtype))": "return -(target * output.log_softmax(dim=1)).mean()"
    },
)


@bank.wrong(
    "untouched",
    "The heads do what they did when you found them. Begin with the digits: `cross_entropy` applies softmax by itself.",
    also=("argmax-before-loss", "double-softmax", "n-by-1-broadcast", "one-hot-int", "sigmoid-then-bce-logits"),
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output.softmax(dim=1), target)
    if head == "marked":
        return F.cross_entropy(output, target)
    if head == "letters":
        return F.mse_loss(output.argmax(dim=2).float(), target.float())
    if head == "spam":
        return F.binary_cross_entropy_with_logits(torch.sigmoid(output), target)
    return F.mse_loss(output, target)


bank.wrong(
    "double-softmax",
    "The digits run through softmax twice: `cross_entropy` takes logits, and applies it by itself.",
    change={"F.cross_entropy(output, target)": "F.cross_entropy(output.softmax(dim=1), target)"},
)

bank.wrong(
    "nll-of-probabilities",
    "`nll_loss` takes logs of probabilities, and you give it probabilities. A loss below 0 should make you suspicious.",
    change={"F.cross_entropy(output, target)": "F.nll_loss(output.softmax(dim=1), target)"},
)

bank.wrong(
    "one-hot-int",
    "The marked targets are whole numbers still. As probabilities they must be floats, like the logits.",
    change={"target.to(output.dtype)": "target"},
)

bank.wrong(
    "marked-by-argmin",
    "You look for the label where the row is smallest. The label is where the 1 stands.",
    change={"target.to(output.dtype)": "target.argmin(dim=1)"},
)

bank.wrong(
    "marked-over-rows",
    "You look for the 1 in each column, which gives k places among the rows. Each row has its label: look along dim 1.",
    change={"target.to(output.dtype)": "target.argmax(dim=0)"},
)

bank.wrong(
    "argmax-before-loss",
    "You choose a letter by argmax first. Nothing flows back through it: the model would never learn.",
    change={
        "F.cross_entropy(output.flatten(0, 1), target.flatten())": "F.mse_loss(output.argmax(dim=2).float(), target.float())"
    },
)

bank.wrong(
    "letters-in-dim-1",
    "You reshape where the dims should trade places: the classes of different letters get mixed up.",
    change={
        "F.cross_entropy(output.flatten(0, 1), target.flatten())": "F.cross_entropy(output.reshape(output.shape[0], output.shape[2], -1), target)"
    },
)

bank.wrong(
    "first-letter-only",
    "You look at the first letter of each row alone. All of them count.",
    change={"F.cross_entropy(output.flatten(0, 1), target.flatten())": "F.cross_entropy(output[:, 0], target[:, 0])"},
)

bank.wrong(
    "sum-over-letters",
    "You add up over the letters. The mean over all of them is asked for.",
    change={
        "F.cross_entropy(output.flatten(0, 1), target.flatten())": 'F.cross_entropy(output.transpose(1, 2), target, reduction="none").sum(dim=1).mean()'
    },
)

bank.wrong(
    "sigmoid-then-bce-logits",
    "The spam logits run through a sigmoid, and then through the one in the loss. Give it the logits.",
    change={
        "F.binary_cross_entropy_with_logits(output, target)": "F.binary_cross_entropy_with_logits(torch.sigmoid(output), target)"
    },
)

bank.wrong(
    "n-by-1-broadcast",
    "The predictions are a column, and meet the prices as a row: every prediction is compared with every price. Make the "
    "shapes alike.",
    change={"output.squeeze(1)": "output"},
)

bank.wrong(
    "summed-prices",
    "You add the squared errors up. The mean squared error is asked for.",
    change={"F.mse_loss(output.squeeze(1), target)": 'F.mse_loss(output.squeeze(1), target, reduction="sum")'},
)

bank.wrong(
    "returns-floats",
    "You return a float. Backward has nothing to start from.",
    change={"losses[head]()": "losses[head]().item()"},
    of="nll-and-logs",
)

bank.wrong(
    "marked-softmax",
    "The marked logits run through softmax twice: `cross_entropy` takes logits here, too.",
    change={
        "F.cross_entropy(output, target.to(output.dtype))": "F.cross_entropy(output.softmax(dim=1), target.to(output.dtype))"
    },
)

bank.wrong(
    "letters-softmax",
    "The letters' logits run through softmax twice: `cross_entropy` takes logits here, too.",
    change={"output.flatten(0, 1)": "output.softmax(dim=2).flatten(0, 1)"},
)


@bank.right("by-hand-too")
def loss_inputs(head, output, target):
    if head == "price":
        return ((output[:, 0] - target) ** 2).mean()
    if head == "spam":
        return (output.clamp(min=0) - output * target + torch.log1p(torch.exp(-output.abs()))).mean()
    if head == "marked":
        target = target.argmax(dim=-1)
    logs = output - output.logsumexp(dim=-1, keepdim=True)
    return -logs.gather(-1, target[..., None]).mean()


@bank.right("labels-and-modules")
def loss_inputs(head, output, target):
    if head == "spam":
        return nn.BCEWithLogitsLoss()(output, target)
    if head == "price":
        return nn.MSELoss()(output, target.unsqueeze(1))
    if head == "marked":
        target = target.argmax(dim=1)
    k = output.shape[-1]
    return nn.CrossEntropyLoss()(output.reshape(-1, k), target.reshape(-1))


@bank.right("nll-and-logs")
def loss_inputs(head, output, target):
    losses = {
        "digit": lambda: F.nll_loss(output.log_softmax(dim=1), target),
        "marked": lambda: -(output.log_softmax(dim=1) * target).sum(dim=1).mean(),
        "letters": lambda: F.nll_loss(output.log_softmax(dim=2).transpose(1, 2), target),
        "spam": lambda: -(target * F.logsigmoid(output) + (1 - target) * F.logsigmoid(-output)).mean(),
        "price": lambda: F.mse_loss(output.flatten(), target),
    }
    return losses[head]()


@bank.right("by-hand")
def loss_inputs(head, output, target):
    if head == "price":
        return (output[:, 0] - target).square().mean()
    if head == "spam":
        return (F.softplus(output) - target * output).mean()
    log_p = output - output.logsumexp(dim=-1, keepdim=True)
    if head == "marked":
        return -log_p[target.bool()].mean()
    return -log_p.gather(-1, target.unsqueeze(-1)).mean()


bank.wrong(
    "marked-by-squares",
    "The marked rows are compared by squared error. Cross-entropy is asked for; it takes such a target as floats.",
    change={"F.cross_entropy(output, target.to(output.dtype))": "F.mse_loss(output, target.to(output.dtype))"},
)

bank.wrong(
    "price-by-absolute-errors",
    "The prices are compared by absolute errors. The mean of the squared ones is asked for.",
    change={"F.mse_loss": "F.l1_loss"},
)

bank.wrong(
    "nll-of-logits",
    "The digits go into `nll_loss` as logits. It takes log-probabilities; `cross_entropy` takes logits.",
    change={"F.cross_entropy(output, target)": "F.nll_loss(output, target)"},
)

bank.wrong(
    "bce-after-a-sigmoid",
    "You take the sigmoid of the spam logits and then its logarithm. A large logit becomes 0 or 1 exactly, and its loss is cut off: let the loss take the logits.",
    change={
        "F.binary_cross_entropy_with_logits(output, target)": "F.binary_cross_entropy(torch.sigmoid(output), target)"
    },
)

bank.wrong(
    "marked-by-bce",
    "The marked rows go through a binary cross-entropy, a yes or no for each class. One of k is asked for: `cross_entropy`.",
    change={
        "F.cross_entropy(output, target.to(output.dtype))": "F.binary_cross_entropy_with_logits(output, target.to(output.dtype))"
    },
)

bank.wrong(
    "marked-shares-by-squares",
    "The marked rows are turned to shares and compared by squared error. Cross-entropy is asked for, of the logits.",
    change={
        "F.cross_entropy(output, target.to(output.dtype))": "F.mse_loss(output.softmax(dim=1), target.to(output.dtype))"
    },
)

bank.wrong(
    "spam-without-its-logits",
    "The spam's logits go into a loss that takes probabilities, and it refuses numbers outside 0 to 1. "
    "`binary_cross_entropy_with_logits` takes logits.",
    change={"F.binary_cross_entropy_with_logits": "F.binary_cross_entropy"},
)

bank.wrong(
    "adds-up-everywhere",
    'You add the losses of all rows up, as reduction="sum" does. The mean is asked for, of each head.',
    also=("summed-prices",),
    change={
        "nn.BCEWithLogitsLoss()": 'nn.BCEWithLogitsLoss(reduction="sum")',
        "nn.MSELoss()": 'nn.MSELoss(reduction="sum")',
        "nn.CrossEntropyLoss()": 'nn.CrossEntropyLoss(reduction="sum")',
    },
    of="labels-and-modules",
)

bank.wrong(
    "letters-as-they-are",
    "`cross_entropy` looks for the classes in dim 1, and the letters' logits have them in the last one: it finds as many "
    "classes as there are letters.",
    change={
        'head == "digit"': 'head in ("digit", "letters")',
        'if head == "letters":\n    return F.cross_entropy(output.flatten(0, 1), target.flatten())': "",
    },
)

bank.wrong(
    "spam-by-cross-entropy",
    "The spam's logits go into `cross_entropy`, which takes the n of them for n classes of one row. Here each is a yes or "
    "no of its own: a binary cross-entropy.",
    change={
        'head == "digit"': 'head in ("digit", "spam")',
        'if head == "spam":\n    return F.binary_cross_entropy_with_logits(output, target)': "",
    },
)


bank.wrong(
    "softmax-over-the-rows",
    "The softmax of the digits runs over the rows: the shares of one class in all rows add up to 1. It belongs to each row, "
    "over its classes.",
    change={"F.cross_entropy(output, target)": "F.nll_loss(output.log_softmax(dim=0), target)"},
)

bank.survives(
    {
        "head == 'digit' -> head <= 'digit'": "None of the other heads comes before digit in the alphabet.",
        "head == 'letters' -> head <= 'letters'": "The only head before letters that gets this far is letters itself.",
        "head == 'spam' -> head >= 'spam'": "None of the other heads comes after spam in the alphabet.",
        "F.mse_loss(output.squeeze(1), target) -> F.mse_loss(target, output.squeeze(1))": "The square forgets the sign of a difference.",
        "output.squeeze(1) -> output.squeeze()": "There are several rows, so only dim 1 has size 1.",
    }
)
