# %% [markdown] name="opening"
# # Chapter 6: The capstone
#
# One trainer, put together from the parts of five chapters.
# After this chapter you can
#
# 1. write a trainer that runs on any device and measures as it goes
# 2. stop it, and go on to the same last bit
# 3. train in mixed precision, in groups of batches, with clipping
# 4. say how near to float32 that stays, and why
# 5. find silent faults in a trainer that runs
#
# There is little new here: three exercises, and what you need to begin each.
# You need no GPU.
#
# Plan 80 minutes: 25 to read, and 15 to 20 for each exercise.
# The chapter is optional, and each part stands alone.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them
device = "auto"  # "cpu", "cuda", or "auto": a GPU that CUDA knows, else the CPU
short = False  # True: fewer repetitions, to run the whole chapter sooner

# %% setup=true
import copy
import math
import torch
import torch.nn.functional as F
from torch import nn
from autograder import check, hint, progress, reveal, shows_error
from course.figures import ch06_capstone as figures

torch.set_num_threads(1)  # for models this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="images-text"
# ## 1 The images (4 minutes)
#
# A set of images needs no download: these are made by a few lines of code.
# Each has 8 x 8 pixels and shows a row, a column or a diagonal, somewhere, with noise.

# %% name="make-images"
def make_images(n, seed):
    """n noisy images (n, 1, 8, 8), and labels: 0 for a row, 1 a column, 2 a diagonal."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 3, (n,), generator=draw)
    place = torch.randint(1, 7, (n, 1, 1), generator=draw)
    i, j = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
    shapes = torch.stack([i == place, j == place, i + j == 2 * place])  # (3, n, 8, 8)
    clean = shapes[labels, torch.arange(n)].float()
    noise = 0.5 * torch.randn(n, 8, 8, generator=draw)
    return (clean + noise).unsqueeze(1), labels


images, labels = make_images(128 if short else 256, seed)
val_images, val_labels = make_images(128, seed + 1)
assert images.shape == (len(labels), 1, 8, 8) and labels.unique().tolist() == [0, 1, 2]

# %% figure=true
figures.samples(images, labels, names=("row", "column", "diagonal"))

# %% [markdown]
# The model is small: one convolution with stride 2, then a linear layer.
# It is made by a function, so that you can make it again with the same first weights.

# %% name="make-model"
def make_model(seed):
    """A small convolutional network for three kinds of images, (n, 1, 8, 8) to (n, 3)."""
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2, padding=1),  # (n, 8, 4, 4)
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(8 * 4 * 4, 3),
    )


model = make_model(seed)
assert model(images).shape == (len(labels), 3)
print(sum(p.numel() for p in model.parameters()), "parameters")

# %% [markdown]
# *Predict.* A model that knows nothing gives each of the three kinds the same probability.
# What is its cross-entropy, to two decimals?

# %% predict=true
guess = 1.1  # the cross-entropy of three equal probabilities, to two decimals

# %% name="know-nothing"
know_nothing = F.cross_entropy(torch.zeros(len(labels), 3), labels).item()
reveal(guess, round(know_nothing, 2))

# %% [markdown]
# It is log 3.
# A first loss far above it says that something is wrong before the training has begun.
#
# ## 2 Where the model is (3 minutes)
#
# A trainer that belongs to one device has to be changed for the next.
# Instead, let it ask the model.

# %% name="ask-the-model"
if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
model = make_model(seed).to(device)
here = next(model.parameters()).device
assert here.type == torch.device(device).type
assert model(images[:4].to(here)).device == here
print("the model is on", here)

# %% [markdown]
# The images stay on the CPU, and each batch goes where the model is.
# To try that without a GPU, take the meta device of chapter 5: it computes nothing, but it checks where things are.

# %% name="meta-model"
far = nn.Sequential(nn.Flatten(), nn.Linear(64, 3)).to("meta")
with shows_error(Exception):  # which one depends on the layer
    far(images[:4])
assert far(images[:4].to("meta")).shape == (4, 3)

# %% [markdown] name="remember-text"
# ## 3 Who remembers what (5 minutes)
#
# A run that is stopped after epoch 2 and goes on to epoch 6 should end where the unbroken run ends.
# "About there" is easy; to the last bit is a test that finds whatever you forgot.
#
# *Predict.* Somebody saves the weights, and nothing else, and goes on with a new optimizer (SGD with momentum).
# Are the weights of epoch 6 those of the unbroken run?

# %% predict=true
guess_weights = False  # do the weights alone bring the same end?

# %% name="weights-alone"
w = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)


def steps(w, optimizer, count):
    """Take some steps down w ** 2; returns w."""
    for _ in range(count):
        optimizer.zero_grad()
        (w**2).sum().backward()
        optimizer.step()
    return w.item()


steps(w, optimizer, 2)
again = w.detach().clone().requires_grad_()
unbroken = steps(w, optimizer, 4)
resumed = steps(again, torch.optim.SGD([again], lr=0.1, momentum=0.9), 4)
reveal(guess_weights, unbroken == resumed)

# %% [markdown]
# The optimizer has a memory: the velocity.
# So has every generator of random numbers: the one that draws the order of the images, and torch's own, from which dropout draws.
# Here is the trainer of this chapter, stopped after epoch 2 and gone on with in three ways.

# %% figure=true
figures.resumed(make_model, images[:96], labels[:96], seed=seed)

# %% [markdown]
# Only one of the three lies on the unbroken line.
#
# A generator of your own is saved and put back by `get_state` and `set_state`.

# %% name="generator-state"
order = torch.Generator().manual_seed(seed)
_ = torch.randperm(5, generator=order)  # the order of the first epoch
saved = order.get_state()
second = torch.randperm(5, generator=order)
new = torch.Generator()
new.set_state(saved)
assert torch.equal(torch.randperm(5, generator=new), second)
print(second.tolist(), "twice")

# %% [markdown]
# One more trap: loading does not copy.
# An optimizer that has loaded a state trains on in the very tensors of that state.

# %% name="loading-aliases"
first = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1, momentum=0.9)
state = copy.deepcopy(optimizer.state_dict())
first.load_state_dict(state)
first.param_groups[0]["params"][0].grad = torch.ones(1)
before = state["state"][0]["momentum_buffer"].item()
first.step()
after = state["state"][0]["momentum_buffer"].item()
assert before != after  # the state that was loaded has changed
print("the saved velocity was", before, "and is now", after)

# %% [markdown] name="part-a"
# ## 4 Part A: a trainer that resumes (20 minutes)
#
# ### Exercise: `train`
#
# Write it in two rounds: first the training, without a checkpoint, and check it.
# Then the checkpoint.
# On the GPU, dropout draws from the GPU's own generator, which would have to be saved too; here the CPU's is enough.

# %% exercise="train"
def train(
    model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None
):
    """Train a classifier to `epochs` epochs in all, and return a checkpoint to go on from.

    train_set and val_set are pairs (images, labels) on the CPU; the model may be on any
    device. The order of the images comes from a generator of its own, seeded with seed at
    epoch 0: each epoch visits torch.randperm(number of images, generator=...) in batches of
    batch_size (the last one may be smaller), in train mode. A batch is a step on
    F.cross_entropy. Then the accuracy on all of val_set is measured, in eval mode and
    without a graph. Nothing but the model draws from torch's global generator.

    The result is a dict of your own making that torch.save can write and torch.load can
    read, and later training does not change it. Under "losses" it has a float for each
    epoch since epoch 0, the mean loss over its images; under "accuracies", the share of
    val_set that was right. checkpoint is None, or what an earlier call returned: then model,
    optimizer, the order and torch's global generator go on from there, until there are
    `epochs` epochs.

    train(..., epochs=2) and then, with a new model and optimizer,
    train(..., epochs=5, checkpoint=...) give the weights, losses and accuracies of
    train(..., epochs=5), bit for bit on the CPU.
    """
    ### BEGIN SOLUTION
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
    return copy.deepcopy({**parts, "losses": losses, "accuracies": accuracies})
    ### END SOLUTION


# %% check="train" points=5
check("train", train)

# %% [markdown]
# Want to see it learn?
# Run this in a cell of your own:
#
# ```python
# adam = torch.optim.Adam(model.parameters(), lr=0.01)
# train(model, adam, (images, labels), (val_images, val_labels), epochs=5)["accuracies"]
# ```
#
# ## 5 Groups of batches (5 minutes)
#
# A batch too large for the memory is taken in parts, and their gradients are added up: `backward` adds anyway.
#
# *Predict.* Seven batches, in groups of three, one step for each group.
# How many steps, if no batch is left out?

# %% predict=true
guess_steps = 3  # the number of steps for seven batches in groups of three

# %% name="groups"
batches = list(zip(images[:50].split(8), labels[:50].split(8), strict=True))
groups = [batches[first : first + 3] for first in range(0, len(batches), 3)]
reveal(guess_steps, len(groups))
print([[len(y) for _, y in group] for group in groups])

# %% [markdown]
# The last group has one batch, and that one has two images.
# So neither "divide by three" nor "the mean of the means" is the mean over the images.
# The sum is safe: add up the losses of all images of a group, and divide by their number.

# %% name="group-gradient"
probe = nn.Linear(64, 3)
uneven = [slice(0, 9), slice(9, 12)]  # nine images and three


def gradient(*losses):
    """The gradient of the weights, added up over several losses."""
    probe.zero_grad()
    for loss in losses:
        loss.backward()
    return probe.weight.grad.clone()


def loss_of(rows, **options):
    """The cross-entropy of some of the images."""
    return F.cross_entropy(probe(images[rows].flatten(1)), labels[rows], **options)


whole = gradient(loss_of(slice(0, 12)))
by_sums = gradient(*(loss_of(rows, reduction="sum") / 12 for rows in uneven))
by_means = gradient(*(loss_of(rows) / 2 for rows in uneven))
assert torch.allclose(by_sums, whole, atol=1e-6)
assert not torch.allclose(by_means, whole, atol=1e-3)
for name, other in (("sums", by_sums), ("means", by_means)):
    print(name, "are off by", (other - whole).abs().max().item())

# %% [markdown] name="near-text"
# ## 6 How near is near? (4 minutes)
#
# bfloat16 keeps 8 binary digits: each rounding is off by up to one part in 256.
# In a loss over several images such errors partly cancel, and the first loss is nearly that of float32.
# Then the weights differ a little, and with each step a little more.
# The check takes two steps, and allows one percent, several times what a sound trainer needs.
#
# Here are both, step by step, and how far they are apart.

# %% figure=true
figures.precision(make_model, images[:128], labels[:128], seed=seed)

# %% [markdown]
# Most mistakes are larger than that.
# This one is popular: to clip while the gradients still carry the scaler's factor.

# %% name="clip-too-early"
w = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
scaler.scale((0.1 * w).sum()).backward()  # the true gradient has length 0.2
torch.nn.utils.clip_grad_norm_([w], 1.0)  # too early
scaler.unscale_(optimizer)
assert math.isclose(w.grad.norm().item(), 1 / 1024, rel_tol=1e-3)
print("0.2 is below the limit of 1, and yet it has become", w.grad.norm().item())

# %% [markdown] name="part-b"
# ## 7 Part B: mixed precision (15 minutes)
#
# ### Exercise: `train_amp`
#
# One epoch, with all that chapter 5 put into one step, in groups.

# %% exercise="train_amp"
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    """Train for one epoch in mixed precision; return the loss of each step, as floats.

    batches is a list of pairs (images, labels) on the model's device, whatever that is.
    Each `accumulate` batches in a row are a group (the last one may have fewer), and each
    group is one step, in train mode, on the mean cross-entropy over all its images; batches
    may differ in size. The list has that mean for each step, without the scaler's factor.

    Model and loss run under autocast to bfloat16, switched off by amp=False; backward and
    step do not. Losses go through scaler (a torch.amp.GradScaler); the true gradients of a
    group together are clipped to the norm max_norm; scaler takes the step, and is updated
    once for each step.

    Seven batches with accumulate=3 give three losses.
    """
    ### BEGIN SOLUTION
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
    ### END SOLUTION


# %% check="train_amp" points=5
check("train_amp", train_amp)

# %% [markdown] name="part-c"
# ## 8 Part C: six faults (20 minutes)
#
# Somebody wrote this trainer in a hurry.
# One fault stops it; the other five let it run, and it even learns something.
#
# Run it, read it, and mend it: at most 8 lines may differ from what you are given (added, taken away, rewritten or moved; comments do not count).
# To run it, call `fix_trainer(make_model(seed), batches, batches, epochs=3, lr=0.1)` in a cell of your own.
# The docstring is right, and so is all that agrees with it.
#
# ### Exercise: `fix_trainer`

# %% exercise="fix_trainer"
### BEGIN STARTER
# def fix_trainer(model, batches, val_batches, epochs, lr):
#     """Train; leave in the model the weights of its best epoch (the latest, if several).
#
#     Training is SGD with a momentum of 0.9 on the cross-entropy of each batch alone, where
#     model returns logits, in train mode. After each epoch the learning rate is halved; the
#     accuracy is measured in eval mode, over the images of all val_batches. batches and
#     val_batches are lists of pairs (images, labels).
#
#     The result is {"losses": [...], "accuracies": [...]}, with a float for each epoch: the
#     mean of the batch losses, and the share of the labels that was right.
#     """
#     optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
#     scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
#     losses, accuracies, best = [], [], None
#     for epoch in range(epochs):
#         model.train()
#         total = 0.0
#         for x, y in batches:
#             loss = F.cross_entropy(model(x).softmax(dim=1), y)
#             loss.backward()
#             optimizer.step()
#             scheduler.step()
#             total += loss.item()
#         losses.append(total / len(batches))
#         correct, count = 0, 0
#         with torch.no_grad():
#             for x, y in val_batches:
#                 correct += (model(x).argmax(dim=0) == y).sum().item()
#                 count += len(y)
#         accuracies.append(correct / count)
#         if accuracies[-1] == max(accuracies):
#             best = model.state_dict()
#     model.load_state_dict(best)
#     return {"losses": losses, "accuracies": accuracies}
### END STARTER
def fix_trainer(model, batches, val_batches, epochs, lr):
    """Train; leave in the model the weights of its best epoch (the latest, if several).

    Training is SGD with a momentum of 0.9 on the cross-entropy of each batch alone, where
    model returns logits, in train mode. After each epoch the learning rate is halved; the
    accuracy is measured in eval mode, over the images of all val_batches. batches and
    val_batches are lists of pairs (images, labels).

    The result is {"losses": [...], "accuracies": [...]}, with a float for each epoch: the
    mean of the batch losses, and the share of the labels that was right.
    """
    ### BEGIN SOLUTION
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
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {"losses": losses, "accuracies": accuracies}
    ### END SOLUTION


# %% check="fix_trainer" points=5
check("fix_trainer", fix_trainer)

# %% [markdown] name="afterwards"
# ## 9 How you could have seen them (5 minutes)
#
# (Read on when you have found the six.)
#
# A silent fault shows in a number, if you know which number to expect.
#
# *Predict.* Probabilities in place of logits: the model is certain, and right.
# What is its cross-entropy, to two decimals, with three kinds?

# %% predict=true
guess_floor = 0.55  # the lowest cross-entropy that softmax twice can reach, to two decimals

# %% name="softmax-floor"
certain = torch.tensor([[1.0, 0.0, 0.0]])  # probabilities
floor = F.cross_entropy(certain, torch.tensor([0])).item()
assert math.isclose(floor, math.log(math.e + 2) - 1, rel_tol=1e-5)
reveal(guess_floor, round(floor, 2))

# %% [markdown]
# A loss that falls from 1.10 and stops at 0.55 has passed through softmax twice.
#
# A rate that is halved after each batch is gone before the first epoch ends.

# %% name="rate-gone"
optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
for _ in range(16):  # one epoch of 16 batches
    optimizer.step()
    scheduler.step()
assert scheduler.get_last_lr()[0] == 0.1 / 2**16
print("after 16 batches:", scheduler.get_last_lr()[0])

# %% [markdown]
# And the best weights, if they are not copied, are whatever the model holds later.

# %% name="best-is-alive"
layer = nn.Linear(1, 1)
best = layer.state_dict()
copied = copy.deepcopy(best)
with torch.no_grad():
    layer.weight += 1.0  # training goes on
assert torch.equal(best["weight"], layer.weight)
assert not torch.equal(copied["weight"], layer.weight)
print("best:", best["weight"].item(), "the copy:", copied["weight"].item())

# %% [markdown] name="progress-text"
# What have you passed, what is open, and what is it worth? `progress(6)` tells it for this chapter, from your last check of each exercise; `progress()` shows all chapters.

# %% name="progress"
progress(6)

# %% [markdown] name="questions-1-2"
# ## You can now
#
# 1. Can you write a trainer for any device? Whom does it ask?
# 2. Can you stop and go on to the same bit? Name five things that remember.
#
# <details><summary>Answers</summary>
#
# 1. The model: `next(model.parameters()).device`.
# 2. Model, optimizer, the generator of the order, torch's own generator, and the lists of what was measured.
#
# </details>

# %% [markdown] name="questions-3-5"
# ### You can now: 3 to 5
#
# 3. Can you train in groups, in mixed precision? What is divided by what?
# 4. Can you say how near to float32 that stays, and why?
# 5. Can you find silent faults? Which loss do you expect before the first step?
#
# <details><summary>Answers</summary>
#
# 3. The sum of the losses, by the number of images in the group.
# 4. A rounding is off by up to one part in 256, and many of them partly cancel: the first losses are well within one percent.
# 5. The logarithm of the number of kinds.
#
# </details>

# %% [markdown] name="further-reading"
# ### Where to go from here
#
# The PyTorch documentation (docs.pytorch.org), "Saving and loading a general checkpoint", "Reproducibility" and "Automatic Mixed Precision examples";
# Goodfellow, Bengio and Courville, "Deep Learning" (2016), chapter 11, on finding out why a model does not learn.
#
# This was the last chapter.
# Take a data set of your own, and begin with the first loss.
