# %% [markdown] name="opening"
# # Chapter 6c: Six faults
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *A program can run to its end, without an error, and still be wrong. How do you find out where?*
#
# In chapters 6a and 6b you wrote trainers, functions that train a model. Here you fix one that somebody else wrote in a hurry, and then you begin a project of your own.
#
# This takes about {minutes} minutes to read and run, and {exercises} for the exercise.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them
device = "auto"  # "cpu", "cuda", or "auto": a GPU that CUDA knows, else the CPU
short = False  # True: fewer repetitions, to run the whole chapter sooner

# %% setup=true
import copy
import io
import math
import torch
import torch.nn.functional as F
from torch import nn
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch06 as figures
from course.instruments import show_digits

torch.set_num_threads(1)  # for models this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("6c")

# %% name="first-page" figure=true
figures.five_trainers()

# %% [markdown] name="part-c"
# ## 1 The hunt
#
# *{minutes} minutes*
#
# You will meet programs like this one as long as you train models. The trainer below has six faults.
# One of them stops it with an error. With the other five it runs, and says nothing. In the picture above, A to D are trainers with one of these five each, and two of the four still learn. (The fifth would not show here.)
#
# ### Exercise: `fix_trainer`
#
# *{minutes} minutes*
#
# You may change at most 8 lines: add, remove, rewrite or move them. (That is one or two more than you need; comments do not count.)
# The docstring is right. Read it line by line, and ask each time whether the code does what it says. For example, with lr = 0.1 three epochs train with the rates 0.1, 0.05 and 0.025. If their accuracies are 0.5, 0.75 and 0.75, the weights of the third stay. (Of `StepLR` only the name is new: with `step_size=1` and `gamma=0.5`, each `scheduler.step()` halves the learning rate.)
#
# Here are two batches and a model to try the trainer on. Write `fix_trainer(make_model(), batches, batches, epochs=3, lr=0.1)` into a new cell below the exercise. The first call stops with the error.
# The silent faults mostly show in a number that you print, if you know what to expect: for example, the learning rate after one epoch.
# Find as many as you can before you run the check, because its list names each fault.

# %% name="batches-to-try"
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16  # (1797, 1, 8, 8)
labels = torch.tensor(digits.target)
batches = [(images[:25], labels[:25]), (images[25:50], labels[25:50])]


def make_model():
    layers = [nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 10)]
    return nn.Sequential(*layers)


print(make_model()(batches[0][0]).shape)

# %% exercise="fix_trainer"
### BEGIN STARTER
# def fix_trainer(model, batches, val_batches, epochs, lr):
#     """Train; leave in the model the weights and buffers of its best epoch (the latest, if several).
#
#     Training is SGD with a momentum of 0.9, in train mode, on the cross-entropy of each batch
#     alone; model returns logits. After each epoch the learning rate is halved; the accuracy is
#     measured in eval mode, over the images of all val_batches. batches and val_batches are lists
#     of pairs (images, labels).
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
    """Train; leave in the model the weights and buffers of its best epoch (the latest, if several).

    Training is SGD with a momentum of 0.9, in train mode, on the cross-entropy of each batch
    alone; model returns logits. After each epoch the learning rate is halved; the accuracy is
    measured in eval mode, over the images of all val_batches. batches and val_batches are lists
    of pairs (images, labels).

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
# ### How to see them
#
# *{minutes} minutes*
#
# Before you open the table, write down for each fault that you found: which number would have shown it to you, and what should that number have been?
#
# <details><summary>The six faults, and where each shows (open it when your check has passed)</summary>
#
# | fault | where it shows |
# |---|---|
# | softmax before `cross_entropy` | the loss cannot go below 1.46, however good the model is |
# | no `zero_grad` | right before the second `backward`, a weight's `.grad` still holds the first gradient; the loss goes up and down |
# | `scheduler.step()` for each batch | the learning rate after one epoch is less than half of what it was |
# | no `model.eval()` | the same model, measured twice, gives two accuracies |
# | `argmax(dim=0)` | an error; with ten images in a batch, an accuracy that means nothing |
# | `best` without a copy | the best model is equal to the last one |
#
# In the picture at the top, A has the first of these faults, B the second, C the third, and D the fourth.
#
# </details>

# %% [markdown] name="project"
# ## 2 A project of your own
#
# *{minutes} minutes*
#
# Take data that you have: a table of your morning runs, or photographs of two kinds of mushrooms. For a table a few hundred examples are enough; for photographs too, if you fine-tune a model that somebody has trained on millions (chapter 6a). Tonight only write down two lines:

# %% name="in-and-out"
# what goes in, and its shape:
# what should come out:

# %% [markdown] name="own-table"
# ### Data into tensors
#
# *{minutes} minutes*
#
# **A table** in a file becomes a tensor by way of NumPy. (Here a text stands in for the file. Give `loadtxt` your file's name; `skiprows=1` skips the line of headings.)

# %% name="csv"
import numpy as np
from matplotlib import pyplot as plt

file = io.StringIO("size,rooms,price\n70,3,210\n55,2,180\n120,5,400\n")
table = torch.tensor(np.loadtxt(file, delimiter=",", skiprows=1), dtype=torch.float32)
features, target = table[:, :-1], table[:, -1:]
print(features.shape, target.shape, features.isnan().any().item())

# %% claim=true
assert features.shape == (3, 2) and target.shape == (3, 1)

# %% [markdown]
# **Pictures** often lie in one folder for each class. Make a list of all files, label each with the name of its folder, and stack the pictures. (All must have the same size. From a JPEG, `imread` gives 0 to 255: divide by 255.)

# %% name="folder"
folder = figures.folder_of_digits(images, labels)  # here two digits of each of three classes
files = sorted(folder.glob("*/*.png"))
names = sorted({file.parent.name for file in files})
own_labels = torch.tensor([names.index(file.parent.name) for file in files])
own_images = torch.stack([torch.tensor(plt.imread(file)[:, :, :3]) for file in files])
own_images = own_images.permute(0, 3, 1, 2)  # (n, colors, height, width), from 0 to 1
print(own_images.shape, own_labels.tolist(), names)

# %% claim=true
assert own_images.shape == (6, 3, 8, 8) and own_labels.tolist() == [0, 0, 1, 1, 2, 2]

# %% [markdown] name="print-first"
# ### What to print first
#
# *{minutes} minutes*
#
# Before a long training, look at these six things:
#
# 1. The shape, the dtype, the smallest and the largest number, and whether there is a nan.
# 2. Ten examples with their labels.
# 3. How many examples there are of each class. If 95 of 100 pictures are cats, a model that always says "cat" is right in 95 % of cases, but useless.
# 4. Who is on which side of the split. If the same person, day or machine is on both sides, the drawer promises too much.
# 5. The first loss, beside the one that you expect.
# 6. Whether the model can learn twenty examples by heart, without dropout. If its loss does not go to nearly 0, something is broken, and more data will not help.
#
# The next cell looks at five of them for the digits. Copy it, and put your own data and model into its first lines.

# %% name="first-losses"
x, y = images, labels
model = make_model().eval()  # without dropout, for 6
print("1:", tuple(x.shape), x.dtype, f"from {x.min()} to {x.max()}, nan: {x.isnan().any()}")
show_digits(x[:10, 0] * 16, is_=y[:10])  # 2 (photographs: plt.imshow)
print("3:", y.bincount().tolist())
# 4: no line can tell you; ask where the data come from
print(f"5: {F.cross_entropy(model(x), y):.2f}, expected {math.log(10):.2f}")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(200):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x[:20]), y[:20])
    loss.backward()
    optimizer.step()
print(f"6: {loss:.4f}")

# %% claim=true
assert loss < 0.01
with torch.random.fork_rng(devices=[]):
    assert abs(F.cross_entropy(make_model().eval()(images), labels).item() - math.log(10)) < 0.15
_yes_no = F.binary_cross_entropy_with_logits(torch.zeros(100), (torch.arange(100) % 2).float())
assert math.isclose(_yes_no.item(), math.log(2), rel_tol=1e-5)
assert abs(F.mse_loss(torch.zeros(100_000), torch.randn(100_000)).item() - 1) < 0.05
# With softmax before it, a model that is certain and right pays this (section 1):
_certain = F.one_hot(torch.tensor([7]), 10).float()  # probabilities: all on the seven
_floor = F.cross_entropy(_certain, torch.tensor([7])).item()
assert math.isclose(_floor, math.log(math.e + 9) - 1, rel_tol=1e-5) and round(_floor, 2) == 1.46

# %% [markdown]
# Which first loss to expect depends on the targets:
#
# | the targets are | the loss is | expect at first |
# |---|---|---|
# | k classes | `F.cross_entropy` | log k; with ten, 2.30 |
# | yes or no | `F.binary_cross_entropy_with_logits` | log 2 = 0.69 |
# | a number, standardized | `F.mse_loss` | about 1, its variance |
# | a number, as it is | `F.mse_loss` | its mean square, perhaps millions: standardize first |

# %% [markdown] name="symptoms"
# ### When it does not work
#
# *{minutes} minutes*
#
# Keep this table for your project. (It, too, names faults of the hunt.)
#
# <details><summary>What you see, and where to look</summary>
#
# | you see | look at |
# |---|---|
# | the first loss is far above the expected one | the scale of the inputs; the weights with which the training begins |
# | the loss does not change at all | the learning rate; a graph that was cut (chapter 2); parameters that the optimizer does not hold |
# | the loss falls to a certain value, and no further | softmax before the cross-entropy |
# | the loss becomes nan | the learning rate; a log or a root of 0; float16 without a scaler (chapter 5b) |
# | the loss goes up and down, or grows | the learning rate; `zero_grad` |
# | the model learns by heart, and the loss in the drawer gets worse | more data, copies, dropout, an earlier stop (chapters 3, 4 and 6a) |
# | two measurements of the same model differ | `model.eval()` |
# | the model is nearly always right, from the first epoch on | an answer that leaked into the inputs; one class that is nearly all of the data |
# | the model is good in the drawer, and bad in use | another distribution (chapter 6a) |
#
# </details>

# %% [markdown] name="recap"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can find silent faults in a program that trains without an error, and you know what to print before a long training of your own.

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
# 1. You train on ten classes, and the first loss is 9. Which first loss do you expect, and where do you look?
# 2. You measure the same model twice, and get two accuracies. What have you forgotten?
#
# <details><summary>Answers</summary>
#
# 1. log 10, which is 2.30. Look at the scale of the inputs, and at the weights with which the training begins.
# 2. `model.eval()`.
#
# </details>

# %% [markdown] name="further-reading"
# ### What to read next
#
# The PyTorch documentation (docs.pytorch.org): "Saving and loading a general checkpoint", "Reproducibility", "Automatic Mixed Precision examples", and "Transfer Learning for Computer Vision", which is fine-tuning with a large model.
# Goodfellow, Bengio and Courville, "Deep Learning" (2016), chapter 11, on finding out why a model does not learn.
# Andrej Karpathy, "A Recipe for Training Neural Networks" (2019), on the order in which to look.

# %% [markdown] name="come-back"
# ### Come back
#
# Nobody keeps all of this after one reading.
# So run the next cell again tomorrow, in a week and in a month: it asks five questions from the whole course, with new numbers each time, your mistakes first.

# %% name="review-all"
review()

# %% [markdown]
# You began with a grid of numbers and its label, and now a model of yours reads what you write.
# Even the largest models learn by the five lines of chapter 4.
