# %% [markdown] name="opening"
# # Chapter 4x: More tools
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *What do you do when one batch is wild, when your data are not two tensors, or when somebody pulls the plug?*
#
# This is an excursion from chapters 4a to 4c, and nothing later needs it, though three exercises count for chapter 4. Its four parts do not need each other. You learn to
#
# - clip a gradient that is too long
# - make a data set of your own, and batches of rows of different lengths
# - say what a checkpoint must hold for a training to go on later
# - (extra) write an optimizer yourself
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercises; the stretch exercises come on top. Side paths, folded under a question, are optional.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import copy
import math
import tempfile
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch04 as figures
from course.figures.digits import known_digits

torch.set_num_threads(1)  # for models this small, a second one costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("4x")

# %% [markdown] name="clipping-text"
# ## 1 One wild batch
#
# *{minutes} minutes*
#
# Here a model learns to read digits, twice. In step 75 of both runs comes a wild batch, with thirty times as much ink. Only `max_norm` differs: what does it do?

# %% name="wild-batch"
ink, labels = known_digits()


def losses_with(max_norm):
    _ = torch.manual_seed(seed)
    reader = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(reader.parameters(), lr=0.5)
    losses = []
    for step in range(150):
        rows = torch.randint(1797, (64,))
        x = ink[rows] / 16 * (30 if step == 75 else 1)
        loss = F.cross_entropy(reader(x), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), max_norm)  # between backward and step
        optimizer.step()
        losses.append(loss.item())
    return losses


wild, tame = losses_with(math.inf), losses_with(1.0)

# %% claim=true
assert max(wild[76:80]) > 2 > 1.2 > max(tame[76:])
assert sum(wild[76:96]) > 2 * sum(tame[76:96])

# %% figure=true
figures.curves({"without clipping": wild, "clipped to 1": tame})

# %% [markdown]
# Without clipping the loss jumps to many times its size, and the model has to learn again: one gradient was so long that its step threw the weights far away. Clipped, the batch leaves hardly a trace (at most in its own loss, which is computed before the step).
#
# **Clipping** limits the length of the gradient and keeps its direction. The length is the root of the sum of all squares, over all parameters: 5 for 3 and 4. Clip between `backward` and `step`.
#
# *Predict.* Two parameters have the gradients 300 and 400, and the length may be at most 1. What is the first one afterwards?

# %% predict=true
guess = 0.6  # a number

# %% name="clipping"
a, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
(300 * a + 400 * b).sum().backward()  # a wild batch
norm = nn.utils.clip_grad_norm_([a, b], max_norm=1.0)
reveal(guess, round(a.grad.item(), 4))

# %% name="clipped"
print(f"norm before {norm:.0f}; gradients {a.grad.item():.2f} and {b.grad.item():.2f}")

# %% claim=true
assert norm == 500 and torch.allclose(torch.cat([a.grad, b.grad]), torch.tensor([0.6, 0.8]))
torch.optim.SGD([a, b], lr=0.1).step()
assert math.hypot(a.item(), b.item()) <= 0.1 + 1e-6  # at most lr * max_norm

# %% [markdown]
# Their ratio is still 3 to 4: the direction is the same. Here it is for 3 and 4:

# %% figure=true
figures.clipped((3.0, 4.0), 1.0)

# %% [markdown]
# The function returns the old length (norm). Print it for a while, and set the limit a little above what is usual.

# %% [markdown] side=true name="arrange-clip-grad-norm"
# #### Would you like the lines of `clip_grad_norm`, shuffled?
#
# *{minutes} minutes*
#
# Here they are in a wrong order, with gaps, and with two lines that are not needed.

# %%
from explorers import arrange

arrange("clip_grad_norm")

# %% [markdown]
# ### Exercise: `clip_grad_norm`
#
# *{minutes} minutes*
#
# Now write it. To shorten each parameter by its own length, or to cut each number off, would change the direction. So take one length for all gradients together.

# %% name="clip-example"
length = math.hypot(3, 4)  # of the gradients 3 and 4 together
print(length, "and, cut to the length 1:", 3 / length, 4 / length)

# %% exercise="clip_grad_norm"
def clip_grad_norm(params, max_norm):
    """Shorten all gradients together to at most max_norm, in place; return their norm before.

    For gradients [3.0] and [4.0] and max_norm 1.0 the result is 5.0, and they become [0.6]
    and [0.8].

    - params: any iterable of tensors, perhaps a generator; those whose .grad is None are left
      out.
    - The norm is that of all gradients laid end to end: the square root of the sum of all
      squared entries. It is returned as a float; without any gradient, 0.0.
    - Where the norm is above max_norm, every gradient is multiplied by max_norm / norm;
      otherwise none changes.
    """
    ### BEGIN SOLUTION
    grads = [p.grad for p in params if p.grad is not None]
    norm = math.sqrt(sum((grad**2).sum().item() for grad in grads))
    if norm > max_norm:
        for grad in grads:
            grad.mul_(max_norm / norm)
    return norm
    ### END SOLUTION


# %% check="clip_grad_norm" points=2
check("clip_grad_norm", clip_grad_norm)

# %% [markdown] name="datasets"
# ## 2 Data of your own
#
# *{minutes} minutes*
#
# The digits lie in two tensors, and `TensorDataset` made rows of them. But pictures in a folder may be too many to load at once.
# Then you write a **Dataset** of your own. A DataLoader asks it for only two things: its length, and row i. Here are five digits in five files, and such a class.

# %% name="folder-of-digits"
ink, labels = known_digits()
folder = tempfile.TemporaryDirectory()
for i in range(5):
    torch.save((ink[i].clone(), labels[i].clone()), f"{folder.name}/{i}.pt")


class FolderOfDigits(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        print("  opens", f"{i}.pt")
        return torch.load(f"{folder.name}/{i}.pt")


for inks, digits in DataLoader(FolderOfDigits(), batch_size=2, shuffle=True):
    print("a batch:", tuple(inks.shape), digits)

# %% claim=true
import contextlib as _contextlib
import io as _io

with _contextlib.redirect_stdout(_io.StringIO()) as _said:
    next(iter(DataLoader(FolderOfDigits(), batch_size=2, shuffle=True)))
assert _said.getvalue().count("opens") == 2  # only the files of the batch that was asked for
assert digits.shape == (1,) and inks.shape == (1, 64)

# %% [markdown]
# The loader shuffles the numbers 0 to 4, asks for two rows at a time, and stacks what it gets. Each file is opened only then.
#
# ### Exercise: `PairDataset`
#
# *{minutes} minutes*
#
# Now write such a class yourself, on two tensors, so that you can try it without files: it is what `TensorDataset` does. For a folder, you would change only the line that fetches a row.

# %% exercise="PairDataset"
### BEGIN STARTER
# class PairDataset(Dataset):
#     """Inputs and targets as a data set of pairs.
#
#     PairDataset(torch.tensor([1.0, 2.0]), torch.tensor([0, 1]))[1] is (tensor(2.), tensor(1)).
#
#     PairDataset(x, y) takes two tensors with equally many rows; other lengths are a
#     ValueError. len() is the number of rows; item i is the pair (x[i], y[i]), a tuple,
#     for i from 0, or counted from the end with -1; an i out of range is an IndexError.
#     """
#
#     def __init__(self, x, y):
#         raise NotImplementedError()
#
#     def __len__(self):
#         raise NotImplementedError()
#
#     def __getitem__(self, i):
#         raise NotImplementedError()
### END STARTER
class PairDataset(Dataset):
    """Inputs and targets as a data set of pairs.

    PairDataset(torch.tensor([1.0, 2.0]), torch.tensor([0, 1]))[1] is (tensor(2.), tensor(1)).

    PairDataset(x, y) takes two tensors with equally many rows; other lengths are a
    ValueError. len() is the number of rows; item i is the pair (x[i], y[i]), a tuple,
    for i from 0, or counted from the end with -1; an i out of range is an IndexError.
    """

    ### BEGIN SOLUTION
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError(f"{len(x)} inputs and {len(y)} targets")
        self.pairs = list(zip(x, y))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]
    ### END SOLUTION


# %% check="PairDataset" points=2
check("PairDataset", PairDataset)

# %% [markdown]
# A list has a length and rows too, so it is a data set as it is.
#
# *Predict.* A batch holds two sentences, one of 3 words and one of 1 word. What do you get: "an error", "cut to 1 word" or "filled up with zeros"?

# %% predict=true
guess = "an error"  # "an error", "cut to 1 word" or "filled up with zeros"

# %% name="ragged"
sentences = [torch.tensor([5, 6, 7]), torch.tensor([8])]
with shows_error(RuntimeError, match="equal size"):
    next(iter(DataLoader(sentences, batch_size=2)))
reveal(guess, "an error")

# %% [markdown]
# A loader stacks the rows of a batch. If they do not stack, pass `collate_fn=...`, a function that turns the list of rows into the batch.
#
# ### Exercise: `collate_pad`
#
# *{minutes} minutes*
#
# Write such a function: fill up the short rows, and keep the true lengths, because later nobody can tell a 0 that fills up from a real one. By hand:

# %% name="collate-example"
print(torch.tensor([[5, 6, 7], [8, 0, 0]]), [3, 1])

# %% exercise="collate_pad"
def collate_pad(batch, pad=0):
    """Put 1-D tensors of different lengths into one table, padded at the end.

    collate_pad([torch.tensor([5, 6]), torch.tensor([7])], pad=-1) gives [[5, 6], [7, -1]]
    and [2, 1].

    batch: a list of 1-D tensors of one dtype. Returns (padded, lengths): padded is (number
    of tensors, longest length) of that dtype, each row filled up with pad; lengths is a
    list of ints, the lengths before. A tensor may be empty. The tensors stay as they were.
    """
    ### BEGIN SOLUTION
    lengths = [len(row) for row in batch]
    padded = torch.full((len(batch), max(lengths)), pad, dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, lengths
    ### END SOLUTION


# %% check="collate_pad" points=2
check("collate_pad", collate_pad)

# %% mine=true
def plain_collate(batch):
    lengths = [len(row) for row in batch]
    return nn.utils.rnn.pad_sequence(batch, batch_first=True), lengths


my_collate_pad = mine("collate_pad", plain_collate)

# %% name="collate-used"
print(next(iter(DataLoader(sentences, batch_size=2, collate_fn=my_collate_pad))))

# %% [markdown] name="repeat-text"
# ## 3 Stop and resume
#
# *{minutes} minutes*
#
# Sooner or later something interrupts a long training. You go on from a **checkpoint**, which you saved before.
# It says how far you have come, and holds four things: the weights, the state of the optimizer, that of the scheduler, and that of torch's generator, from which the shuffling comes: `torch.get_rng_state()` reads it, `torch.set_rng_state(state)` puts it back.
#
# Why is it not enough to save the weights? Because what Adam remembers decides its next steps. Save after five steps, and go on in three ways: without a stop, from the weights alone, and with Adam's averages too.

# %% mine=true name="from-chapter-4a"
def plain_step(model, optimizer, criterion, x, y):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


my_train_step = mine("train_step", plain_step)

# %% name="resume"
x = torch.randn(100, 1)


def run_on(model, optimizer):
    for _ in range(5):
        my_train_step(model, optimizer, F.mse_loss, x, 2 * x)  # the line y = 2 * x
    return model.weight.item()


model = nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
_ = run_on(model, optimizer)
saved = copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
print("without a stop:          ", run_on(model, optimizer))

again = nn.Linear(1, 1)
again.load_state_dict(saved["model"])
fresh = torch.optim.Adam(again.parameters(), lr=0.05)
print("from the weights alone:  ", run_on(again, fresh))

again.load_state_dict(saved["model"])
fresh.load_state_dict(copy.deepcopy(saved["optimizer"]))
print("with Adam's averages too:", run_on(again, fresh))

# %% claim=true
assert again.weight.item() == model.weight.item()
again.load_state_dict(saved["model"])
_alone = run_on(again, torch.optim.Adam(again.parameters(), lr=0.05))
assert _alone != model.weight.item()

_handed = copy.deepcopy(saved)
again.load_state_dict(_handed["model"])
fresh.load_state_dict(_handed["optimizer"])
_ = run_on(again, fresh)
_averages = [_each["optimizer"]["state"][0]["exp_avg"] for _each in (saved, _handed)]
assert torch.equal(_handed["model"]["weight"], saved["model"]["weight"])
assert not torch.equal(*_averages)

_done = nn.Linear(1, 1)
_adam = torch.optim.Adam(_done.parameters(), lr=0.05)
for _ in range(40):
    _ = run_on(_done, _adam)
_at_rest = F.mse_loss(_done(x), 2 * x)
my_train_step(_done, torch.optim.Adam(_done.parameters(), lr=0.05), F.mse_loss, x, 2 * x)
assert F.mse_loss(_done(x), 2 * x) > 100 * _at_rest

# %% [markdown]
# The weights alone go on without an error, but along another way. Here the difference is small, but a new Adam begins with whole steps of lr again, which can throw back a model that was nearly done.
#
# The program says `copy.deepcopy` twice. When it saves, because a `state_dict` shows the live tensors (chapter 3d), which the training goes on changing; and when it loads, because an optimizer (unlike a module) takes the checkpoint's own tensors and changes them, so you could not load it twice. Chapter 6b builds a checkpoint with care.

# %% [markdown] side=true
# #### Does the same seed give the same run?
#
# *{minutes} minutes*
#
# First weights, shuffling and dropout all draw from torch's generator, so on one machine's processor the same seed gives the same run. If you do not set it anew, the second run draws other numbers.

# %% name="repeatable"
def one_step():
    model = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    return my_train_step(model, optimizer, F.mse_loss, torch.randn(8, 3), torch.randn(8, 1))


with torch.random.fork_rng():
    seeded = []
    for _ in range(2):
        torch.manual_seed(0)
        seeded.append(one_step())
unseeded = [one_step(), one_step()]
print("with the seed:", seeded)
print("without it:   ", unseeded)

# %% claim=true
assert seeded[0] == seeded[1] and unseeded[0] != unseeded[1]

# %% [markdown] name="deploy-text" side=true
# #### How does a trained model leave Python?
#
# *{minutes} minutes*
#
# A checkpoint is of use only to a Python program that has the class of the model. `torch.export` records the computation as a program of its own, which can run without both. Here it is one layer: its weight and bias, the input, one operation, the output. (Older texts say `torch.jit.script`, which is deprecated.)

# %% name="export"
program = torch.export.export(nn.Linear(2, 1).eval(), (torch.ones(1, 2),))
print(*program.graph.nodes, sep=", ")

# %% claim=true
assert isinstance(program, torch.export.ExportedProgram)
assert len(program.graph.nodes) == 5

# %% [markdown]
# ### Exercise: `fit_resumable`
#
# *Stretch, extra credit, {minutes} minutes*
#
# Each epoch changes the state of all four: model, optimizer, scheduler and generator. Save copies of them, and the losses so far.
# (The losses are plain means over the batches, as in `fit`.)

# %% name="fit-resumable-example"
losses = [0.9, 0.7, 0.6, 0.5, 0.4]  # in a checkpoint, and now 8 epochs are asked for
print(8 - len(losses), "more, as if it had never stopped")

# %% exercise="fit_resumable"
def fit_resumable(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    """Train, in train mode, to `epochs` epochs in all, and return a checkpoint to go on from.

    fit_resumable(..., 5) and then fit_resumable(..., 8, checkpoint), perhaps with a new model
    and optimizer, give the weights and losses of fit_resumable(..., 8), bit for bit.

    - loader gives batches (x, y), shuffled by torch's global generator; the loss is F.mse_loss;
      scheduler.step() follows each epoch.
    - checkpoint: None, or what an earlier call returned. With one, model, optimizer, scheduler
      and global generator are put back as they were, and only the missing epochs are run.
    - The result is a dict that torch.save can write and torch.load can read, and later
      training does not change it. "losses" in it has a float for each epoch since the first,
      the mean of its batch losses.
    """
    ### BEGIN SOLUTION
    losses = []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))
        torch.set_rng_state(checkpoint["rng"])
        losses = list(checkpoint["losses"])
    model.train()
    while len(losses) < epochs:
        seen = []
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        scheduler.step()
        losses.append(sum(seen) / len(seen))
    parts = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
    }
    return copy.deepcopy({**parts, "rng": torch.get_rng_state(), "losses": losses})
    ### END SOLUTION

# %% check="fit_resumable" extra=4
check("fit_resumable", fit_resumable)

# %% [markdown] name="by-hand-text"
# ## 4 Optimizers by hand
#
# *{minutes} minutes*
#
# All of this section is extra. An optimizer is a list of tensors and a rule. Momentum (in chapter 4c a ball that keeps rolling) keeps one more number for each weight, its **velocity**. In each step the new velocity is 0.9 times the old one, plus the gradient; then the weight moves by -lr times the velocity.
#
# ### Exercise: `SGDMomentum`
#
# *Stretch, extra credit, {minutes} minutes*
#
# **Weight decay** adds a small part of the weight to its gradient, so each step also pulls the weight a little toward 0. That works against learning by heart, for which a model often needs large weights. And take care: `params` may be a generator, good for one loop.

# %% name="momentum-example"
first, second = 2, 0.9 * 2 + 2  # velocities, where both gradients are 2
print(1 - 0.1 * first, round(1 - 0.1 * first - 0.1 * second, 4))  # p, after each

# %% exercise="SGDMomentum"
### BEGIN STARTER
# class SGDMomentum:
#     """SGD with momentum: torch.optim.SGD, written by hand.
#
#     With p = 1.0, gradient 2.0 and lr = 0.1, two steps give 0.8 and 0.42.
#
#     SGDMomentum(params, lr, momentum=0.9, weight_decay=0.0); params: any iterable of tensors.
#     step() does for each tensor p that has a gradient g, under torch.no_grad(): g + weight_decay
#     * p is added to momentum times this tensor's velocity, which begins at 0: that is its new
#     velocity v. Then p becomes p - lr * v, in place. Tensors whose .grad is None are left alone,
#     and .grad is not changed. zero_grad() sets every .grad to None.
#     """
#
#     def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
#         raise NotImplementedError()
#
#     def step(self):
#         raise NotImplementedError()
#
#     def zero_grad(self):
#         raise NotImplementedError()
### END STARTER
class SGDMomentum:
    """SGD with momentum: torch.optim.SGD, written by hand.

    With p = 1.0, gradient 2.0 and lr = 0.1, two steps give 0.8 and 0.42.

    SGDMomentum(params, lr, momentum=0.9, weight_decay=0.0); params: any iterable of tensors.
    step() does for each tensor p that has a gradient g, under torch.no_grad(): g + weight_decay
    * p is added to momentum times this tensor's velocity, which begins at 0: that is its new
    velocity v. Then p becomes p - lr * v, in place. Tensors whose .grad is None are left alone,
    and .grad is not changed. zero_grad() sets every .grad to None.
    """

    ### BEGIN SOLUTION
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        for p, v in zip(self.params, self.velocities):
            if p.grad is not None:
                v.mul_(self.momentum).add_(p.grad + self.weight_decay * p)
                p -= self.lr * v

    def zero_grad(self):
        for p in self.params:
            p.grad = None
    ### END SOLUTION


# %% check="SGDMomentum" extra=2
check("SGDMomentum", SGDMomentum)

# %% [markdown] side=true
# #### How does one write Adam by hand?
#
# *{minutes} minutes*
#
# It is the same loop with some bookkeeping: for every number it keeps two running averages, of the gradient and of its square.
# The step is lr times the first average, divided by the root of the second. Both averages begin at 0, so they are too small at first, and the divisions by 1 - 0.9 ** t and 1 - 0.999 ** t make up for that.

# %% name="adam-by-hand"
own, torchs = torch.ones(4), torch.ones(4, requires_grad=True)
goal = torch.randn(4)
adam_of_torch = torch.optim.Adam([torchs], lr=0.1)
m = s = torch.zeros(4)
for t in range(1, 51):
    adam_of_torch.zero_grad()
    ((torchs - goal) ** 2).sum().backward()
    adam_of_torch.step()
    grad = 2 * (own - goal)
    m, s = 0.9 * m + 0.1 * grad, 0.999 * s + 0.001 * grad**2
    own = own - 0.1 * (m / (1 - 0.9**t)) / ((s / (1 - 0.999**t)).sqrt() + 1e-8)
print(own, torchs.detach(), sep="\n")

# %% claim=true
assert torch.allclose(own, torchs.detach(), atol=1e-4)

# %% [markdown] side=true
# #### What is the W in AdamW?
#
# *{minutes} minutes*
#
# Weight decay, from the exercise above, pulls each weight a little toward 0.
# Adam adds the pull to the gradient, and divides both by their size: here 0.01 / 0.01, so the weight goes a whole step of 0.1. `AdamW` keeps the pull apart, at 0.1 * 0.01.

# %% name="decay-apart"
pulled = {}
for kind in (torch.optim.Adam, torch.optim.AdamW):
    one = torch.ones(1, requires_grad=True)
    one.grad = torch.zeros(1)  # no gradient: the decay alone is at work
    kind([one], lr=0.1, weight_decay=0.01).step()
    pulled[kind.__name__] = round(1 - one.item(), 4)
print(pulled)

# %% claim=true
assert pulled == {"Adam": 0.1, "AdamW": 0.001}  # a whole step; lr * weight_decay

# %% [markdown]
# ### Exercise: `AdamW`
#
# *Stretch, extra credit, {minutes} minutes*
#
# Now write the optimizer behind many of today's language models.
# Without decay the first step is lr, whatever the gradient. Here g is 2, and p is 1.

# %% name="adamw-example"
m, s = 0.1 * 2, 0.001 * 2**2
print(round(1 - 0.1 * (m / (1 - 0.9)) / math.sqrt(s / (1 - 0.999)), 4))

# %% exercise="AdamW"
### BEGIN STARTER
# class AdamW:
#     """Adam with decoupled weight decay: torch.optim.AdamW, written by hand.
#
#     With p = 1.0, gradient 2.0, lr = 0.1 and weight_decay = 0, the first step gives 0.9.
#
#     AdamW(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2); params: any
#     iterable of tensors. step() does for each tensor p that has a gradient g, under
#     torch.no_grad(), with t = how many steps this tensor has taken, this one included, and m and s
#     of its own that begin at 0:
#         p = p * (1 - lr * weight_decay)
#         m = betas[0] * m + (1 - betas[0]) * g
#         s = betas[1] * s + (1 - betas[1]) * g ** 2
#         p = p - lr * (m / (1 - betas[0] ** t)) / (sqrt(s / (1 - betas[1] ** t)) + eps)
#     p changes in place. Tensors whose .grad is None are left alone, and .grad is not changed.
#     zero_grad() sets every .grad to None.
#     """
#
#     def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
#         raise NotImplementedError()
#
#     def step(self):
#         raise NotImplementedError()
#
#     def zero_grad(self):
#         raise NotImplementedError()
### END STARTER
class AdamW:
    """Adam with decoupled weight decay: torch.optim.AdamW, written by hand.

    With p = 1.0, gradient 2.0, lr = 0.1 and weight_decay = 0, the first step gives 0.9.

    AdamW(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2); params: any
    iterable of tensors. step() does for each tensor p that has a gradient g, under
    torch.no_grad(), with t = how many steps this tensor has taken, this one included, and m and s
    of its own that begin at 0:
        p = p * (1 - lr * weight_decay)
        m = betas[0] * m + (1 - betas[0]) * g
        s = betas[1] * s + (1 - betas[1]) * g ** 2
        p = p - lr * (m / (1 - betas[0] ** t)) / (sqrt(s / (1 - betas[1] ** t)) + eps)
    p changes in place. Tensors whose .grad is None are left alone, and .grad is not changed.
    zero_grad() sets every .grad to None.
    """

    ### BEGIN SOLUTION
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.state = [[0, torch.zeros_like(p), torch.zeros_like(p)] for p in self.params]

    @torch.no_grad()
    def step(self):
        b1, b2 = self.betas
        for p, state in zip(self.params, self.state):
            if p.grad is None:
                continue
            state[0] += 1
            t, m, s = state
            p *= 1 - self.lr * self.weight_decay
            m.mul_(b1).add_((1 - b1) * p.grad)
            s.mul_(b2).add_((1 - b2) * p.grad**2)
            p -= self.lr * (m / (1 - b1**t)) / ((s / (1 - b2**t)).sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None
    ### END SOLUTION


# %% check="AdamW" extra=3
check("AdamW", AdamW)

# %% [markdown] name="recap"
# ## What you can do now
#
# - clip a gradient before the step
# - turn anything that has a length and rows into batches, even rows that do not stack
# - say what an optimizer remembers, and what belongs in a checkpoint

# %% name="progress"
progress(4)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. Between which two lines does clipping stand, and what does it keep?
# 2. What does a DataLoader want from a data set?
# 3. You resume training with Adam from the weights alone. What is lost?
#
# <details><summary>Answers</summary>
#
# 1. Between `backward` and `step`. It keeps the direction of the whole gradient.
# 2. Its `len`, and row i.
# 3. Adam's averages and its count of steps, so the next steps differ.
#
# </details>
#
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "torch.optim" and "torch.utils.data";
# Goodfellow, Bengio and Courville, "Deep Learning" (2016), chapter 8;
# Kingma and Ba, "Adam: A method for stochastic optimization" (2015);
# Loshchilov and Hutter, "Decoupled weight decay regularization" (2019).
#
# Next comes *Chapter 5a: Devices*. Your loop reads digits in a second, but with a larger network one epoch took 4.7 seconds on a processor, and 0.036 on a graphics card. Your training gets there with two new lines, and you can practice them without a card.
