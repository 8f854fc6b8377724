"""Answers to `train_amp`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES

bank = AnswerBank("train_amp")


bank.wrong(
    "stays-in-eval-mode",
    "You leave the model in the mode in which it came, which may be eval mode. Training needs train mode.",
    slip=True,
    change={"model.train()": ""},
)

bank.wrong(
    "clips-with-a-factor-only",
    "You clip only where the scaler has a factor. One that is switched off takes the step as well, and the gradients "
    "are to be clipped all the same.",
    slip=True,
    change={
        "    scaler.unscale_(optimizer)\n": "    if scaler.is_enabled():\n        scaler.unscale_(optimizer)\n",
        "    torch.nn.utils.clip": "        torch.nn.utils.clip",
    },
)

bank.wrong(
    "softmax-first",
    "Cross-entropy takes logits: it does its own softmax, and yours comes before it.",
    change={"model(x)": "model(x).softmax(dim=1)"},
)

bank.wrong(
    "steps-twice",
    "The optimizer steps by itself and through the scaler too: each group moves the weights twice. "
    "`scaler.step(optimizer)` is the one step.",
    change={"scaler.step(optimizer)": "optimizer.step()\nscaler.step(optimizer)"},
)

bank.wrong(
    "loss-divided-twice",
    "The losses that you return are too small: what you add up is divided by the number of images already, and you "
    "divide the sum once more, by the number of batches.",
    change={"(total)": "(total / len(group))"},
)

bank.wrong(
    "never-zero",
    "Nothing clears the old gradients: each group adds to those of the groups before.",
    change={"optimizer.zero_grad()": ""},
)

bank.wrong(
    "cleared-before-the-first-group",
    "You clear the gradients before the first group alone: each later group adds to those of the groups before.",
    change={"losses = []": "losses = []\noptimizer.zero_grad()", "optimizer.zero_grad()": ""},
)

bank.wrong(
    "zero-each-batch",
    "You clear the gradients before each batch: only the last batch of a group is left for the step.",
    change={"optimizer.zero_grad()": "", "for x, y in group:": "for x, y in group:\n    optimizer.zero_grad()"},
)

bank.wrong(
    "step-each-batch",
    "You take a step after each batch. A group is one step, on the sum of the gradients of its batches.",
    change={
        "scaler.unscale_(optimizer)": "    scaler.unscale_(optimizer)",
        "torch.nn.utils.clip_grad_norm_": "    torch.nn.utils.clip_grad_norm_",
        "scaler.step(optimizer)": "    scaler.step(optimizer)",
        "scaler.update()": "    scaler.update()\n    optimizer.zero_grad()",
    },
)

bank.wrong(
    "sum-of-means",
    "You add up the means of the batches: the gradient grows with their number. A group has one mean.",
    change={
        "count = sum(len(y) for _, y in group)": "",
        'F.cross_entropy(model(x), y, reduction="sum") / count': "F.cross_entropy(model(x), y)",
    },
)

bank.wrong(
    "mean-of-means",
    "You take the mean of the batches' means. An image in a smaller batch counts for more than one in a larger batch.",
    change={"count = sum(len(y) for _, y in group)": "", 'y, reduction="sum"': "y", "/ count": "/ len(group)"},
)

bank.wrong(
    "all-as-large-as-the-first",
    "You count the images of a group as if each of its batches, up to `accumulate`, had as many as the first. Add up how many "
    "each has.",
    change={
        "count = sum(len(y) for _, y in group)": "",
        "total = 0.0": "count, total = accumulate * len(group[0][1]), 0.0",
    },
)

bank.wrong(
    "means-told",
    "Your steps are right, but the loss that you list is the mean of the batches' means. Asked for is the mean over all images "
    "of the group.",
    change={
        'F.cross_entropy(model(x), y, reduction="sum") / count': "F.cross_entropy(model(x), y)",
        "scaler.scale(loss)": "scaler.scale(loss * len(y) / count)",
        "loss.item()": "loss.item() / len(group)",
    },
)

bank.wrong(
    "divided-by-accumulate",
    "You divide by `accumulate`, also where the last group has fewer batches, and whatever the sizes of the batches.",
    change={"count = sum(len(y) for _, y in group)": "", 'y, reduction="sum"': "y", "/ count": "/ accumulate"},
)

bank.wrong(
    "sum-loss",
    "You take the sum of the losses of all images. Asked for is their mean over the group.",
    slip=True,
    change={
        "count = sum(len(y) for _, y in group)": "",
        'F.cross_entropy(model(x), y, reduction="sum") / count': 'F.cross_entropy(model(x), y, reduction="sum")',
    },
)

bank.wrong(
    "drops-last-group",
    "You leave out a last group that has fewer batches. It is a step too.",
    change={"len(batches)": "len(batches) - accumulate + 1"},
)

bank.wrong(
    "no-clipping",
    "Your gradients are never clipped.",
    unless=r"clip_grad",
    change={"torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)": ""},
)

bank.wrong(
    "clips-scaled",
    "You clip while the gradients still carry the scaler's factor. Divide it out first: `scaler.unscale_`.",
    change={
        "scaler.unscale_(optimizer)": "",
        "scaler.step(optimizer)": "scaler.unscale_(optimizer)\nscaler.step(optimizer)",
    },
)

bank.wrong(
    "clips-each-entry",
    "You clip each entry of the gradients by itself. Asked for is the norm of all of them together.",
    change={"clip_grad_norm_": "clip_grad_value_"},
)

bank.wrong(
    "clips-each-tensor",
    "You clip each parameter's gradient by itself. Asked for is the norm of all of them together.",
    change={
        "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)": "for weight in model.parameters():\n    torch.nn.utils.clip_grad_norm_([weight], max_norm)"
    },
)

bank.wrong(
    "clips-each-batch",
    "You clip after each batch. The limit is for the whole gradient of a group, once, before its step.",
    change={
        "total += loss.item()": "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm * scaler.get_scale())\ntotal += loss.item()",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)": "",
    },
)

bank.wrong(
    "no-autocast",
    "Nothing runs under autocast here, on the CPU: there is none, or it is for another device type, and all is computed in float32.",
    change={"with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):\n    loss =": "loss ="},
)

bank.wrong(
    "always-autocast",
    "You run under autocast also where `amp` is false.",
    slip=True,
    change={"torch.bfloat16, enabled=amp": "torch.bfloat16"},
)

bank.wrong(
    "float16",
    "Your autocast lowers to float16, which is also what a GPU takes if it is told nothing. Asked for is bfloat16.",
    change={"torch.bfloat16": "torch.float16"},
)

bank.wrong(
    "backward-within",
    "Your backward runs under autocast. Leave the region first: each gradient has the dtype of its forward anyway.",
    change={"scaler.scale(loss).backward()": "    scaler.scale(loss).backward()"},
)

bank.wrong(
    "loss-outside",
    "Your loss is in bfloat16, like the logits. `F.cross_entropy` inside the region gives float32.",
    change={
        'loss = F.cross_entropy(model(x), y, reduction="sum") / count': "logits = model(x)",
        "scaler.scale(loss).backward()": 'loss = F.cross_entropy(logits, y, reduction="sum") / count\nscaler.scale(loss).backward()',
    },
)

bank.wrong(
    "lowers-the-model",
    "You turn the model itself to bfloat16: its weights lose the digits that small steps need.",
    change={"losses = []": "if amp:\n    model.bfloat16()\nlosses = []"},
)

bank.wrong(
    "steps-past-the-scaler",
    "You call the optimizer yourself: after an overflow, it takes a step with inf or nan.",
    change={"scaler.step(optimizer)": "optimizer.step()"},
)

bank.wrong(
    "no-update",
    "Nobody updates the scaler: after an overflow, its factor stays as it was.",
    unless=r"\.update\(",
    change={
        "scaler.update()": 'found = scaler._per_optimizer_states[id(optimizer)]\nfound["stage"] = type(found["stage"]).READY\nfound["found_inf_per_device"] = {}'
    },
)

bank.wrong(
    "scaler-unused",
    "Your loss is not scaled, but unscaled it is: all gradients are too small by the factor.",
    change={"scaler.scale(loss).backward()": "scaler.scale(loss.detach())\nloss.backward()"},
)

bank.wrong(
    "scaled-losses",
    "The losses that you return carry the scaler's factor.",
    change={"loss.item()": "loss.item() * scaler.get_scale()"},
)

bank.wrong(
    "last-batch-loss",
    "You return the loss of a group's last batch, or its part in it. Asked for is the loss of the group.",
    change={"total +=": "total ="},
)

bank.wrong(
    "one-loss",
    "You return one number for the epoch. Asked for is a list with a loss for each step.",
    change={"return losses": "return sum(losses) / len(losses)"},
)

bank.wrong(
    "names-cpu",
    "You name the device in `torch.autocast`: on another one, nothing would be lowered. Ask the images.",
    change={"x.device.type": '"cpu"'},
)

bank.wrong(
    "cleared-after-alone",
    "You clear the gradients after each step alone: those that are there at the beginning go into the first step.",
    change={"optimizer.zero_grad()": "", "scaler.update()": "scaler.update()\noptimizer.zero_grad()"},
)

bank.wrong(
    "scaler-with-amp-alone",
    "Without amp you leave the scaler out. `amp` switches autocast alone; the scaler does its work either way.",
    change={
        "scaler.scale(loss)": "(scaler.scale(loss) if amp else loss)",
        "scaler.unscale_(optimizer)": "if amp:\n    scaler.unscale_(optimizer)",
        "scaler.step(optimizer)\nscaler.update()": "if amp:\n    scaler.step(optimizer)\n    scaler.update()\nelse:\n    optimizer.step()",
    },
)

bank.wrong(
    "scaler-left-out",
    "You leave the scaler out: losses go backward without its factor, and the optimizer steps by itself, also after an "
    "overflow.",
    also=("scaler-with-amp-alone",),
    change={
        "scaler.scale(loss).backward()": "loss.backward()",
        "scaler.unscale_(optimizer)": "",
        "scaler.step(optimizer)\nscaler.update()": "optimizer.step()",
    },
)

bank.wrong(
    "mean-told-sum-taken",
    "You report the mean of the batches' means, and step along their sum. Both are to be the mean over all images of the group.",
    change={
        "count = sum(len(y) for _, y in group)": "",
        'F.cross_entropy(model(x), y, reduction="sum") / count': "F.cross_entropy(model(x), y)",
        "losses.append(total)": "losses.append(total / len(group))",
    },
)

bank.wrong(
    "unscales-each-batch",
    "You unscale after each batch, and torch refuses the second time. A group is unscaled once, before it is clipped.",
    change={"scaler.unscale_(optimizer)": "    scaler.unscale_(optimizer)"},
)

bank.wrong(
    "updates-each-batch",
    "You update the scaler where it has done nothing since the last update, as after each batch. It is updated once for each "
    "step, after `scaler.step`.",
    change={"total += loss.item()": "total += loss.item()\nscaler.update()", "scaler.update()": ""},
)

bank.wrong(
    "updates-once-an-epoch",
    "Between two steps, you do not update the scaler. It is updated after each step; until then it refuses to unscale "
    "again.",
    change={"scaler.update()": "", "return losses": "scaler.update()\nreturn losses"},
)

bank.wrong(
    "scales-with-amp-alone",
    "The scaler refuses to unscale: in a group, no loss went through `scaler.scale`. All of them do, without amp as well.",
    change={"scaler.scale(loss)": "(scaler.scale(loss) if amp else loss)"},
)


@bank.told("one-batch-of-a-group", "calls")
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        images, labels = (torch.cat(parts) for parts in zip(*batches[first : first + accumulate]))
        optimizer.zero_grad()
        with torch.autocast(images.device.type, dtype=torch.bfloat16, enabled=amp):
            loss = F.cross_entropy(model(images), labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


bank.wrong(
    "own-scaler",
    "You make a scaler of your own. The losses go through the one that is given: its factor counts, and it is the one to be "
    "updated.",
    unless=r"\A(?![\s\S]*\bscaler = )",
    change={"losses = []": "losses = []\nscaler = torch.amp.GradScaler(batches[0][0].device.type, init_scale=1024.0)"},
)

bank.wrong(
    "clips-while-scaled-each-batch",
    "You clip after each batch, while the gradients have the scaler's factor and the group is not whole. Unscale once for a "
    "group, and clip once after that.",
    change={
        "loss.item()": "loss.item()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)": "",
    },
)

bank.wrong(
    "sum-goes-on",
    "Your sum of the losses goes on from group to group. Begin it anew for each of them.",
    change={"losses = []": "losses = []\ntotal = 0.0", "total = 0.0": ""},
)

bank.wrong(
    "cut-loss",
    DETACHED_LOSS_MESSAGES["cut_loss"],
    change={"amp)": "amp), torch.no_grad()", "scale(loss)": "scale(loss.requires_grad_())"},
)


@bank.right("groups-by-number")
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    result = []
    for start in range(0, len(batches), accumulate):
        group = [pair for i, pair in enumerate(batches) if i // accumulate == start // accumulate]
        n = sum(y.numel() for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.amp.autocast(x.device.type, torch.bfloat16, amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / n
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        result.append(total)
    return result


@bank.right("divided-before-the-step")
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
        for weight in filter(lambda weight: weight.grad is not None, model.parameters()):
            weight.grad /= count
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total / count)
    return losses


@bank.right("weighted-means")
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


@bank.right("counts-along")
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


@bank.right("one-loss-for-a-group")
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


bank.wrong(
    "losses-of-the-batches",
    "You list a loss for each batch. A step is taken for each group: one loss for each, the mean over its images.",
    change={"total = 0.0": "", "total += loss.item()": "losses.append(loss.item())", "losses.append(total)": ""},
)

bank.survives(
    {
        "first + accumulate -> accumulate + first": "Addition does not mind the order.",
        "optimizer -> model (3)": "The optimizer has the parameters of the model, so that both clear the same gradients.",
        "y -> _": "A batch has as many images as labels.",
        "x -> y": "Images and labels are on the same device.",
        "x -> _": "What the setup cell calls _ is a generator, which has a device too; here it is that of the images.",
    }
)

bank.told("rounded-losses", "rounded", change={"losses.append(total)": "losses.append(round(total, 4))"})
