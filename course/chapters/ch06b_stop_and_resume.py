# %% [markdown] name="opening"
# # Chapter 6b: Stop and resume
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *Somebody closes the laptop during a training. How can it go on as if nothing had happened?*
#
# In chapter 6a your `train` taught a model to read within seconds. A training that takes all evening will be stopped some day, by you or by somebody else.
# Here you prepare yours for that.
#
# This takes about {minutes} minutes to read and run, and {exercises} for the exercise. One more exercise, of {later} minutes, comes after the end, for another evening.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them
device = "auto"  # "cpu", "cuda", or "auto": a GPU that CUDA knows, else the CPU
short = False  # True: fewer repetitions, to run the whole chapter sooner

# %% setup=true
import copy
import math
import tempfile
import torch
import torch.nn.functional as F
from torch import nn
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch06 as figures

torch.set_num_threads(1)  # for models this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("6b")

# %% name="first-page" figure=true
figures.stopped()

# %% [markdown] name="remember-text"
# ## 1 Stop, and go on
#
# *{minutes} minutes*
#
# To go on later, a training saves a **checkpoint**, a dict with all that it needs.
# What does it need? There is a sure test: if nothing is missing, the resumed training ends exactly where the unbroken one ends, to the last bit.
# Try it with the smallest training there is: one number, `w`, goes down the parabola w². After two steps, save `w` and the state of the optimizer. Then go on without a break. Where is `w` four steps later?

# %% name="down-a-parabola"
def steps(w, optimizer, count):
    """Take some steps down w ** 2; returns w."""
    for _ in range(count):
        optimizer.zero_grad()
        (w**2).sum().backward()
        optimizer.step()
    return w.item()


w = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.02, momentum=0.9)
steps(w, optimizer, 2)
saved, memory = w.detach().clone(), copy.deepcopy(optimizer.state_dict())
unbroken = steps(w, optimizer, 4)
print(unbroken)

# %% [markdown]
# *Predict.* A second run begins with the saved `w` and a new optimizer. Is its `w` the same after four steps?

# %% predict=true
guess = False  # True or False

# %% name="weights-alone"
again = saved.clone().requires_grad_()
fresh = torch.optim.SGD([again], lr=0.02, momentum=0.9)
resumed = steps(again, fresh, 4)
print("without a break:", unbroken, "  resumed:", resumed)
reveal(guess, resumed == unbroken)

# %% [markdown]
# No. The second run is further from the bottom, because the new optimizer had to gather speed again. An optimizer with momentum remembers its velocity, which is a part of its state. Load the saved state into the new optimizer, and the run ends like the first.

# %% name="with-velocity"
again = saved.clone().requires_grad_()
fresh = torch.optim.SGD([again], lr=0.02, momentum=0.9)
fresh.load_state_dict(copy.deepcopy(memory))
print(steps(again, fresh, 4) == unbroken)

# %% claim=true
assert again.item() == unbroken and 0 < unbroken < resumed - 0.1  # to forget costs

# %% [markdown] name="what-else-remembers"
# ### What else remembers
#
# *{minutes} minutes*
#
# The weights and the optimizer are not everything. Two generators of random numbers have a state too: your `train` makes one for the order of the images, and dropout draws from torch's own.
# To see what they change, run the folded cell below. It brings the digits, and the model of chapter 6a, which has dropout.

# %% name="digits" known=true
# the digits; make_model(seed): the network of chapter 6a
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16  # (1797, 1, 8, 8)
labels = torch.tensor(digits.target)
shuffled = torch.randperm(len(labels))
known, drawer = shuffled[:1400], shuffled[1400:]
measure_on = images[drawer], labels[drawer]


def make_model(seed):
    """The network of chapter 6a: (n, 1, 8, 8) gives ten scores, (n, 10)."""
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),  # (n, 32, 4, 4)
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(32 * 4 * 4, 10),
    )

# %% [markdown]
# Below, its training stops after epoch 2, and goes on three times: with the weights alone, with the optimizer's state too, and with both generators' states too.

# %% figure=true
figures.resumed(make_model, images[:96], labels[:96], seed=seed)

# %% [markdown]
# Only the green line follows the unbroken training. The others see another order and drop other units. (Where one is lower, that is chance.)
# The state of a generator is a tensor. You read it with `get_state()` and put it back with `set_state`:

# %% name="generator-state"
order = torch.Generator().manual_seed(seed)
first = torch.randperm(5, generator=order)
state = order.get_state()
second = torch.randperm(5, generator=order)
order.set_state(state)
print(second.tolist(), torch.randperm(5, generator=order).tolist())

# %% claim=true
order.set_state(state)
assert torch.equal(torch.randperm(5, generator=order), second)

# %% [markdown]
# For torch's own generator the two functions are `torch.get_rng_state()` and `torch.set_rng_state(state)`.
#
# ### Exercise: `resume_training`
#
# *{minutes} minutes*
#
# Begin with a copy of your `train` from the notebook of chapter 6a. (If you wrote `fit_resumable` in chapter 4x, only `order` is new.) Before the loop you restore the four states, of the model, the optimizer, `order` and torch's own generator, and the two lists. After the loop you make a new checkpoint. Copy each part (`copy.deepcopy`) when you save it and when you load it. For example, an optimizer's state holds the very tensors that the training works with (chapter 3d), so its next step would change your checkpoint.
# `epochs` counts all epochs: a call with `epochs=2` trains two, and a second call with `epochs=5` and the checkpoint of the first trains three more.
# `torch.save` can write all of this. Here it writes a part of a checkpoint:

# %% name="resume-example"
file = tempfile.mkdtemp() + "/checkpoint.pt"
torch.save({"optimizer": memory, "order": order.get_state(), "losses": [2.1, 0.7]}, file)
print(torch.load(file)["losses"])

# %% claim=true
assert torch.equal(torch.load(file)["order"], order.get_state())

# %% exercise="resume_training"
def resume_training(
    model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None
):
    """Train as train does, to `epochs` epochs in all; return a checkpoint to go on from.

    A call with epochs=2, and then a new model and optimizer with its checkpoint and epochs=5,
    give the weights, losses and accuracies of one call with epochs=5, bit for bit on the CPU.

    - The result is a dict that torch.save can write and torch.load can read, and later
      training does not change it. Under "losses" and "accuracies" it has the two lists of
      train, from epoch 0 on; the rest is up to you.
    - checkpoint is None, or what an earlier call returned; from that, model, optimizer, the
      generator of the orders and torch's global generator go on.
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


# %% check="resume_training" points=4
check("resume_training", resume_training)

# %% mine=true name="plain-resume"
def plain_resume(
    model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0, checkpoint=None
):
    images, labels = train_set
    order = torch.Generator().manual_seed(seed)
    losses = []
    if checkpoint is not None:  # it keeps the weights, and nothing else
        model.load_state_dict(checkpoint["model"])
        losses = list(checkpoint["losses"])
    model.train()
    while len(losses) < epochs:
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows]), labels[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
    return {"model": copy.deepcopy(model.state_dict()), "losses": losses}


my_resume_training = mine("resume_training", plain_resume)

# %% [markdown] name="evening-and-morning"
# Now act as if the computer were off between two epochs. The first cell trains four epochs at once. The second one stops after two, in the evening, and its checkpoint goes into a file.

# %% name="at-once"
def begin():
    model = make_model(seed)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


few = images[known[:200]], labels[known[:200]]
at_once = my_resume_training(*begin(), few, measure_on, epochs=4)
night = tempfile.mkdtemp() + "/night.pt"  # for a real night: "night.pt"

# %% name="evening"
torch.save(my_resume_training(*begin(), few, measure_on, epochs=2), night)

# %% [markdown]
# In the morning there is nothing but the file: a new model and a new optimizer go on from it.
# (For a real night, write `night = "night.pt"` two cells above, run that cell and the next, and close the notebook. Tomorrow run all from the top, but leave out the cell of the evening.)

# %% name="morning"
morning = my_resume_training(*begin(), few, measure_on, epochs=4, checkpoint=torch.load(night))

for name, checkpoint in {"at once": at_once, "with a night": morning}.items():
    print(f"{name:12}", [round(loss, 4) for loss in checkpoint["losses"]])
print("the same to the last bit:", at_once["losses"] == morning["losses"])

# %% claim=true
assert len(morning["losses"]) == 4 and at_once["losses"][:2] == morning["losses"][:2]

# %% [markdown]
# Once your function passes, the last line says True. Until then you see the lesson's, which saves only the weights: its losses differ from the third epoch on.

# %% [markdown] side=true
# #### Why copy the state that an optimizer loads?
#
# *{minutes} minutes*
#
# Because the optimizer keeps the very tensors of that state, and its next step changes them:

# %% name="loading-aliases"
state = copy.deepcopy(memory)
fresh = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)
fresh.load_state_dict(state)
before = state["state"][0]["momentum_buffer"].item()
steps(fresh.param_groups[0]["params"][0], fresh, 1)
print(f"the saved velocity: {before:.3f}, later: {state['state'][0]['momentum_buffer'].item():.3f}")

# %% claim=true
assert before != state["state"][0]["momentum_buffer"].item()

# %% [markdown] side=true
# #### And on a GPU?
#
# *{minutes} minutes*
#
# There dropout draws from the GPU's own generator. Save `torch.cuda.get_rng_state()` too, and put it back with `torch.cuda.set_rng_state(state)`. In the exercise the CPU's is enough.
# (Even so, the two endings may differ in the last digits there, because some operations of a GPU add up in another order each time.)

# %% [markdown] name="recap"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can stop a training, save all that it needs, and resume it so that it ends the same to the last bit.

# %% name="progress"
progress(6)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. What does a checkpoint have to hold?
# 2. How do you find out whether something is missing in it?
#
# <details><summary>Answers</summary>
#
# 1. The states of the model, of the optimizer, of the generator that draws the order, and of torch's own generator (on a GPU, of the GPU's too), and of a scheduler or a scaler if there is one; and the losses and accuracies so far.
# 2. Train once without a break, and once with one. Do both end the same to the last bit?
#
# </details>

# %% [markdown]
# Next is chapter 6c, "Six faults": you find the mistakes in a program that somebody wrote in a hurry, and you begin a project of your own.
#
# Here the sitting ends. What follows can wait for another evening: nothing later needs it.

# %% [markdown] name="part-b"
# ## 2 On a small card
#
# *{minutes} minutes*
#
# A larger model, with its activations, may not fit into the memory of your card. Two remedies help: half the bits (chapter 5b), and smaller batches, whose gradients `backward` adds up for one step (chapter 2).
# For example, fifty images make seven batches of at most eight. With three batches for each step, the first two steps use 24 images each, and the last one the two images that are left.
#
# <details><summary>From chapter 5b: which three remedies does mixed precision need, and against what?</summary>
#
# Autocast computes losses in float32, because 16 bits have too few digits for long sums. The weights stay in float32, so that small steps are not lost. The scaler multiplies the loss, so that float16 can hold small gradients.
#
# </details>
#
# ### Exercise: `train_amp`
#
# *{minutes} minutes*
#
# Begin with your `amp_train_step` of chapter 5b. What is new is a loop around its forward and backward pass, over the batches of one group. The old gradients are cleared before this loop; unscaling, clipping, step and update come after it, once for the group.
# Every image of a group counts alike. So divide the sum of each batch's losses by the number of images in the whole group.
# Here is a group of two batches, one with three images and one with a single image:

# %% name="group-mean"
three, single = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([6.0])  # the losses of the images
print("all images alike:", ((three.sum() + single.sum()) / 4).item())
print("the mean of the means:", ((three.mean() + single.mean()) / 2).item())

# %% claim=true
assert torch.cat([three, single]).mean() == 3 and (three.mean() + single.mean()) / 2 == 4

# %% exercise="train_amp"
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    """Train for one epoch in mixed precision; return the loss of each step, as floats.

    Seven batches with accumulate=3 give three losses.

    - batches is a list of pairs (images, labels) on the model's device, whatever that is; the
      list stays as it is.
    - Each `accumulate` batches in a row are a group (the last one may have fewer), and each
      group is one step, in train mode, on the mean cross-entropy over all its images. Batches
      may differ in size, and go through the model one by one. The list has that mean for each
      step, without the scaler's factor.
    - Model and loss run under autocast to bfloat16, backward and step outside of it; amp=False
      switches it off.
    - scaler (a torch.amp.GradScaler) scales each loss, in float32, before backward. After its
      last batch, a group's gradients are unscaled (chapter 5b) and clipped to the norm
      max_norm. scaler takes the step, and is updated once for each step.
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

# %% mine=true name="plain-amp"
def plain_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    losses = []
    for first in range(0, len(batches), accumulate):
        x, y = (torch.cat(part) for part in zip(*batches[first : first + accumulate]))
        with torch.autocast(x.device.type, torch.bfloat16, enabled=amp):  # the group as one batch
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


my_train_amp = mine("train_amp", plain_amp)

# %% [markdown]
# Train the model with it for three epochs, in groups of two batches. (bfloat16 needs no factor, so the scaler is switched off.)

# %% name="three-epochs"
if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
here = torch.device(device)


def after_three_epochs(amp):
    """The share of the drawer that a new model reads after three epochs."""
    net = make_model(seed).to(here)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
    scaler = torch.amp.GradScaler(here.type, enabled=False)
    for _ in range(3):
        my_train_amp(net, optimizer, scaler, parts, 2, 1.0, amp=amp)
    net.eval()
    with torch.no_grad():
        says = net(measure_on[0].to(here)).argmax(dim=1).cpu()
    return (says == measure_on[1]).float().mean().item()


x, y = images[known].to(here), labels[known].to(here)
parts = list(zip(x.split(32), y.split(32), strict=True))
full, half = after_three_epochs(amp=False), after_three_epochs(amp=True)
print(f"in the drawer: {full:.1%} in float32, {half:.1%} in mixed precision")

# %% claim=true
assert min(full, half) > 0.85 and abs(full - half) < 0.05

# %% [markdown]
# A few digits of 397 are chance.

# %% [markdown] side=true
# #### How far apart are the two precisions, step by step?
#
# *{minutes} minutes*
#
# The first loss is nearly the same as in float32. After that the weights differ a little, and with each step a little more.

# %% figure=true
figures.precision(make_model, images[:128], labels[:128], seed=seed)

# %% [markdown]
# The dotted line is the largest difference that the check of `train_amp` allows. The check takes only two steps, and there a right answer stays far below the line. (Later bars may pass it.)
