# %% [markdown] name="opening"
# # Chapter 3d: Save and reuse
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *How do you keep what a model has learned, and use it for another task?*
#
# In chapters 3a to 3c you built models and trained them. When you close the notebook, all that they have learned is lost. Here you learn to
#
# 1. save a model, load it, keep its best weights
# 2. take what fits from one model into another, and freeze it
#
# This takes about {minutes} minutes of reading and running, and {exercises} for the exercises. One more exercise is for extra credit.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import copy
import fnmatch
import io
import math
import tempfile
import torch
import torch.nn.functional as F
from torch import nn
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch03 as figures
from course.instruments import runs, show_digits

torch.set_num_threads(1)  # for models this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("3d")

# %% [markdown]
# Here is the model that you build. Its 32 pictures come from a reader of ten digits, which you train first, and only the two judges are new.

# %% name="first-page" figure=true
figures.two_layers(32, 2, ("is it even?", "is it odd?"))

# %% [markdown] name="state"
# ## 1 Into a file and back
#
# *{minutes} minutes*
#
# First you need a model to keep. The folded cell below brings the digits, `train` of chapter 3a, `accuracy` of chapter 3c, and `Reader`: the two layers of your `TwoLayerMLP`, here called `look` and `judge`. Run it; the next cell trains a reader.

# %% name="from-3a" known=true
# the digits; train(model, steps); accuracy(model); Reader, with the layers look and judge
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)


def train(model, steps, rate=0.5):
    """Gradient descent on all digits."""
    for _ in range(steps):
        model.zero_grad()
        F.cross_entropy(model(ink), labels).backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= rate * p.grad


def accuracy(model, pictures=ink):
    """The share of the digits that a model reads correctly, in eval mode."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        says = model(pictures).argmax(dim=1)
    model.train(was_training)  # the mode that it had
    return (says == labels).float().mean().item()


class Reader(nn.Module):
    def __init__(self, pixels=64, looks=32, answers=10):
        super().__init__()
        self.look = nn.Linear(pixels, looks)
        self.judge = nn.Linear(looks, answers)

    def forward(self, x):
        return self.judge(self.look(x).relu())

# %% name="a-reader"
reader = Reader()
train(reader, 200)
print(f"{accuracy(reader):.0%} are read correctly")

# %% claim=true
assert accuracy(reader) > 0.95

# %% [markdown]
# It has learned 2,410 numbers, and tomorrow you want them back.
# `state_dict()` returns the parameters and the buffers under their names. Save those into a file, and not the model object: names and numbers can still be loaded when the rest of your code has changed.

# %% name="save"
folder = tempfile.TemporaryDirectory()  # here only for this lesson; you would write "reader.pt"
path = f"{folder.name}/reader.pt"
torch.save(reader.state_dict(), path)
print({name: tuple(value.shape) for name, value in reader.state_dict().items()})

# %% claim=true
assert sum(_value.numel() for _value in reader.state_dict().values()) == 2410

# %% [markdown]
# Make a second model, which begins with other numbers, and fill it from the file.
# You read the file with `torch.load`. A file can hold a program, so let it read only tensors, by `weights_only=True` (the default of newer versions): with False a stranger's file may run any code on your machine.

# %% name="save-and-load"
other = Reader()
print(f"before: {accuracy(other):.0%} are read correctly")

other.load_state_dict(torch.load(path, weights_only=True))
print(f"after:  {accuracy(other):.0%}")
folder.cleanup()  # the trial is over

# %% claim=true
assert torch.equal(other(ink), reader(ink)) and accuracy(other) > 0.95
_parts = list(other.parameters())
other.load_state_dict(reader.state_dict())
# copied into what was there
assert all(_a is _b for _a, _b in zip(_parts, other.parameters(), strict=True))

# %% [markdown]
# ### The best moment
#
# A model is not always best at the end of its training: on digits that it has not learned from, it often gets worse again (you will see it in chapter 4b). So you keep the weights of the best moment, and load those at the end.
#
# *Predict.* You take `state = layer.state_dict()`, and then set all weights to 7. What does `state["weight"]` hold?

# %% predict=true
guess = [[7, 7]]  # a list with one row of two numbers

# %% name="state-is-live"
layer = nn.Linear(2, 1)
nn.init.ones_(layer.weight)
state = layer.state_dict()
snapshot = copy.deepcopy(state)
nn.init.constant_(layer.weight, 7.0)
print("a deep copy:", snapshot["weight"].tolist())
reveal(guess, state["weight"])

# %% claim=true
assert state["weight"].data_ptr() == layer.weight.data_ptr()  # the same memory
assert dict(state)["weight"].tolist() == [[7.0, 7.0]]  # a new dict, the old tensors
assert snapshot["weight"].tolist() == [[1.0, 1.0]]

# %% [markdown]
# The state shares the model's memory: your "best" state changes with every step. So copy the tensors, all at once by `copy.deepcopy` as here, or one by one by `clone`.
#
# ### Exercise: `save_best`
#
# *{minutes} minutes*
#
# Write the function that keeps the best moment. A training calls it after each measurement, as in chapter 4b: `best = save_best(model, best, loss)`.
# If the best so far has a loss of 0.5, for example, then 0.3 replaces it, and 0.4 after that does not.

# %% name="save-best-example"
best = {"loss": 0.5, "state": snapshot}
print(best["loss"], best["state"]["weight"])

# %% exercise="save_best"
def save_best(module, best, loss):
    """Return {"loss": loss, "state": snapshot} if loss is lower than that of best, else best.

    save_best(nn.Linear(2, 1), None, 0.5)["loss"] is 0.5.

    - best: what an earlier call returned, or None at the first call, when any loss is saved.
    - loss: a float; nan is not lower. If loss is not lower, the result is best itself.
    - The snapshot holds a copy of every tensor in module.state_dict(), under the same names.
      It does not change when the module does, and module.load_state_dict(snapshot) brings the
      module back.
    - Neither module nor best is changed.
    """
    ### BEGIN SOLUTION
    if best is not None and not loss < best["loss"]:  # nan is not lower, and not higher
        return best
    snapshot = {name: value.clone() for name, value in module.state_dict().items()}
    return {"loss": loss, "state": snapshot}
    ### END SOLUTION

# %% check="save_best" points=2
check("save_best", save_best)

# %% [markdown] name="freeze-text"
# ## 2 Used for another task
#
# *{minutes} minutes*
#
# Here is a new task: is the number on the paper even or odd? (You could ask `reader` for the digit. But let this stand for the many tasks that old answers do not settle.)
# Two scores are enough. But do not begin from nothing. `reader` knows what strokes look like: its first layer fits the new task, and its last layer does not.
#
# ### Exercise: `load_partial`
#
# *{minutes} minutes*
#
# Copy the tensors that fit, and return the names of the others.
# `load_state_dict` wants every name and every shape to fit, and raises an error otherwise. With `strict=False` it forgives names that are missing or unknown, but never a wrong shape. So compare the shapes first:

# %% name="load-partial-example"
even_odd = Reader(answers=2)  # two scores instead of ten
for name, value in reader.state_dict().items():
    print(name, "fits:", value.shape == even_odd.state_dict()[name].shape)

# %% exercise="load_partial"
def load_partial(module, state):
    """Copy what fits from a state into a module; return the sorted names not loaded.

    For nn.Linear(2, 1) and {"weight": torch.ones(1, 2), "bias": torch.ones(9)} the
    result is ["bias"].

    - state: a dict from names to tensors, such as the state_dict of another model; state itself
      is not changed.
    - An entry fits if module.state_dict() has its name, with the same shape. Names that only
      one of the two has, or whose shapes differ, are not loaded.
    - Parameters and buffers of the module get new values and stay the same objects, with their
      dtype.
    """
    ### BEGIN SOLUTION
    own = module.state_dict()
    fits = {}
    for name, value in state.items():
        if name in own and own[name].shape == value.shape:
            fits[name] = value
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys())
    ### END SOLUTION

# %% check="load_partial" points=3
check("load_partial", load_partial)

# %% mine=true
def first_layer_only(module, state):
    module.look.load_state_dict({name: state[f"look.{name}"] for name in ("weight", "bias")})
    return ["judge.bias", "judge.weight"]


my_load_partial = mine("load_partial", first_layer_only)

# %% [markdown]
# Give the new model what `reader` has learned about strokes. Here are eight of its 32 pictures: above the random ones that it was made with, and below those of `reader` in their places. (Each row has its own scale.)

# %% name="load-partial-used"
at_random = even_odd.look.weight.detach().clone()
left_out = my_load_partial(even_odd, reader.state_dict())
print("not loaded:", left_out)
strongest = even_odd.look.weight.detach().norm(dim=1).argsort()[-8:]  # the largest weights
show_digits(at_random[strongest], says=8 * ["random"], per_row=8)
show_digits(even_odd.look.weight[strongest], says=8 * ["learned"], per_row=8)

# %% claim=true
assert left_out == ["judge.bias", "judge.weight"]
assert torch.equal(even_odd.look.weight, reader.look.weight)

# %% [markdown] side=true
# #### What if names or shapes do not fit?
#
# *{minutes} minutes*
#
# `load_state_dict` raises an error.
# But the error comes last: a model that refused a state may already have loaded a part of it.

# %% name="load-errors"
nn.init.constant_(layer.weight, 7.0)
with shows_error(RuntimeError, match="Missing key"):
    layer.load_state_dict({"weight": torch.zeros(1, 2)})  # and no bias
with shows_error(RuntimeError, match="Unexpected key"):
    layer.load_state_dict({**layer.state_dict(), "scale": torch.ones(1)})
with shows_error(RuntimeError, match="size mismatch"):
    layer.load_state_dict({"weight": torch.zeros(1, 3), "bias": torch.zeros(1)})
print(layer.weight)

# %% claim=true
assert layer.weight.tolist() == [[0.0, 0.0]]  # not 7: the first call copied, then failed

# %% [markdown]
# With `strict=False` a slip in a name raises no error. So read what it returns, or you train from random numbers and think that you loaded them.

# %% name="strict-false"
nn.init.constant_(layer.weight, 7.0)
slip = {"wieght": torch.zeros(1, 2), "bias": torch.zeros(1)}
print(layer.load_state_dict(slip, strict=False))

# %% claim=true
assert layer.weight.tolist() == [[7.0, 7.0]]  # a slip in a name: not loaded, and no error
assert not runs(lambda: layer.load_state_dict({"weight": torch.zeros(1, 3)}, strict=False))

# %% [markdown]
# ### Freeze
#
# `even_odd` has a good first layer, and a last layer that still answers nonsense.
# So **freeze** the good layer: its parameters get no gradient, and only the new layer learns. That saves work, since torch computes no gradients for the frozen part. And both tasks can use the same first layer.

# %% name="frozen-body"
even_odd.look.requires_grad_(False)  # the method, with an underscore at its end
F.cross_entropy(even_odd(ink), labels % 2).backward()
print("look: ", even_odd.look.weight.grad)
print("judge:", even_odd.judge.bias.grad)

# %% claim=true
assert even_odd.look.weight.grad is None and even_odd.judge.bias.grad is not None

# %% [markdown]
# A frozen BatchNorm (chapter 3c) still changes: its running mean is a buffer, which moves in train mode, without any gradient.
# So put a frozen layer into `eval()` too, and do it again after each `model.train()`.

# %% [markdown] side=true
# #### Does `layer.requires_grad = False` freeze a layer?
#
# *{minutes} minutes*
#
# *Predict.* Somebody writes `layer.requires_grad = False` instead, without underscore and parentheses. How many of the layer's 2 parameters still require grad?

# %% predict=true
guess = 2  # a number

# %% name="requires-grad-on-module"
layer = nn.Linear(4, 8)
layer.requires_grad = False
reveal(guess, sum(p.requires_grad for p in layer.parameters()))

# %% [markdown]
# Both do, because the line only gave a Python object a new attribute.

# %% [markdown] side=true
# #### Can a frozen layer still change?
#
# *{minutes} minutes*
#
# In two ways. Here is the first, a running mean in train mode:

# %% name="frozen-statistics"
norm = nn.BatchNorm1d(4).requires_grad_(False)
print("before:", norm.running_mean.tolist())
norm(torch.randn(16, 4) + 1)
print("after: ", [round(mean, 2) for mean in norm.running_mean.tolist()])

# %% claim=true
assert norm.running_mean.abs().max() > 0
norm.eval()
_before = norm.running_mean.clone()
norm(torch.randn(16, 4))
assert torch.equal(norm.running_mean, _before)  # eval mode holds it
nn.Sequential(norm, nn.Linear(4, 1)).train()  # train() of a model around it undoes that
assert norm.training

# %% [markdown]
# `norm.eval()` stops it. The second: a parameter can change too, because an old `.grad` stays where it is, and a step by hand uses it.
# So hand the training only those parameters that should learn.

# %% name="old-gradient"
layer = nn.Linear(2, 1)
layer(torch.ones(1, 2)).sum().backward()
layer.requires_grad_(False)  # frozen too late: .grad is there
before = layer.weight.clone()
with torch.no_grad():
    for p in layer.parameters():
        p -= 0.1 * p.grad
print("changed:", not torch.equal(layer.weight, before))
whole = nn.Sequential(layer, nn.Linear(1, 1))
print("to train:", len([p for p in whole.parameters() if p.requires_grad]))

# %% claim=true
assert not torch.equal(layer.weight, before)
assert len([_p for _p in whole.parameters() if _p.requires_grad]) == 2

# %% [markdown]
# ### Exercise: `freeze_all_but`
#
# *{minutes} minutes*
#
# To reuse a model, you want to say in one line which of its parameters still learn. Name them by a pattern, as you do with files: with "judge.*" only the last layer of a `Reader` learns.
# Then set the modes. A part is *frozen* if it holds parameters or buffers, itself or further inside, and none of them learns. It goes into eval mode, with everything inside it. All others keep their mode: a Dropout by itself holds nothing, so it is not frozen; but inside a frozen part it goes along.

# %% name="patterns"
names = [name for name, _ in Reader().named_parameters()]
print(fnmatch.filter(names, "judge.*"), fnmatch.filter(names, "*bias"))

# %% claim=true
assert [_name for _name in names if fnmatch.fnmatch(_name, "judge.*")] == names[2:]
assert [_name for _name in names if fnmatch.fnmatch(_name, "*bias")] == [names[1], names[3]]

# %% exercise="freeze_all_but"
def freeze_all_but(module, pattern):
    """Freeze all parameters whose name does not fit a pattern; return the trainable names.

    For nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)) and "1.*" the result is
    ["1.weight", "1.bias"].

    - A name fits if fnmatch.fnmatch(name, pattern) says so: "head.*" fits "head.weight".
    - Parameters that fit get requires_grad True, all others False. The names come in the
      order of module.named_parameters().
    - Then set the modes, so that frozen statistics stand still. Look at the module itself and
      at every submodule. One that holds parameters or buffers, itself or further inside, but no
      trainable parameter, goes into eval mode with everything inside it. All others keep their
      mode.
    """
    ### BEGIN SOLUTION
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]
    ### END SOLUTION

# %% check="freeze_all_but" points=4
check("freeze_all_but", freeze_all_but)

# %% mine=true
def freeze_look(module, pattern):
    module.look.requires_grad_(False).eval()
    return ["judge.weight", "judge.bias"]


my_freeze_all_but = mine("freeze_all_but", freeze_look)

# %% [markdown]
# Suppose you know even or odd for 40 digits only. Freeze all but the last layer, let its 66 numbers learn from those 40, and test on the others.

# %% name="freeze-used"
odd = labels % 2  # 0 for even, 1 for odd
order = torch.randperm(1797)
few, rest = order[:40], order[40:]


def teach(model):
    """Learn even and odd from the few in 200 steps; return the accuracy on the rest."""
    for _ in range(200):
        model.zero_grad()
        F.cross_entropy(model(ink[few]), odd[few]).backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:  # a frozen parameter gets none
                    p -= 0.2 * p.grad
    return (model(ink[rest]).argmax(dim=1) == odd[rest]).float().mean().item()


print("learn:", my_freeze_all_but(even_odd, "judge.*"))
reused = teach(even_odd)
print(f"learned strokes, frozen: {reused:.0%}")

# %% claim=true
assert [_p.grad is None for _p in even_odd.parameters()] == [True, True, False, False]
assert reused > 0.75 and torch.equal(even_odd.look.weight, reader.look.weight)

# %% [markdown]
# That is far better than guessing. (It flatters a little: `reader` found its strokes in all the digits.) Is it due to the learned strokes? Compare three more models: random strokes, frozen too; random strokes that learn on; and learned strokes that learn on.
#
# *Predict.* Do 2,146 numbers that begin at random get at least 5 in 100 more right than those 66?

# %% predict=true
guess = False  # True or False

# %% name="reuse-compared"
still, fresh, tuned = Reader(answers=2), Reader(answers=2), Reader(answers=2)
my_freeze_all_but(still, "judge.*")
my_load_partial(tuned, reader.state_dict())
print(f"random strokes, frozen:  {teach(still):.0%}")
from_nothing = teach(fresh)
print(f"random strokes, free:    {from_nothing:.0%}")
print(f"learned strokes, free:   {teach(tuned):.0%}")
reveal(guess, from_nothing > reused + 0.05)

# %% claim=true
_still = (still(ink[rest]).argmax(dim=1) == odd[rest]).float().mean()
_tuned = (tuned(ink[rest]).argmax(dim=1) == odd[rest]).float().mean()
assert reused > _still and from_nothing < reused + 0.04
assert reused - 0.04 < _tuned and _tuned > from_nothing - 0.02

# %% [markdown]
# They do not: 40 answers are few for so many numbers. On learned strokes 66 do about as well or better, and on random strokes they do not: what `reader` had learned for another task helps.
# To begin with learned strokes and let everything learn on is called **fine-tuning**. With a model that took weeks to train, you can often afford only the frozen kind.

# %% [markdown] name="checklist"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can keep what a model has learned, take it into another model, and say which of its numbers go on learning.
#
# | you see | look at |
# |---|---|
# | the state that you kept as the best is that of the last step | it was not copied |
# | loaded, and it still guesses | what `load_state_dict(..., strict=False)` returned |
# | a frozen part still changes | running statistics: `eval()` |

# %% name="progress"
progress(3)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions-1-3"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. What goes into the file, and what does not?
# 2. Why must you copy the state of the best moment?
# 3. What does freezing need besides `requires_grad_(False)`?
#
# <details><summary>Answers</summary>
#
# 1. Parameters and (persistent) buffers go into it, under their names; code and plain attributes do not.
# 2. It shares the memory of the model, and changes when the model does.
# 3. It needs eval mode, since running statistics move without any gradient.
#
# </details>

# %% [markdown]
# Further reading: "Modules" and "Saving and loading models" in the PyTorch documentation (docs.pytorch.org).
#
# Next comes *Chapter 4a: Training loops*: your `MLP` learns to read digits that it has never seen.
#
# Here the sitting ends. What follows can wait for another evening: nothing later needs it.

# %% [markdown] name="meta"
# ## 3 A model without memory
#
# *{minutes} minutes*
#
# This section has two folded lessons, and an exercise for extra credit.

# %% [markdown] side=true
# #### How do you count a model that is too large for memory?
#
# *{minutes} minutes*
#
# A tensor on the device `"meta"` has a shape and a dtype, and no memory.
# So a laptop can try out a model that would never fit into it.
#
# *Predict.* A million times a million float32 numbers would take 4 terabytes. Does `torch.empty(10**6, 10**6, device="meta")` run?

# %% predict=true
guess = True  # True or False

# %% name="meta-tensor"
def huge():
    return torch.empty(10**6, 10**6, device="meta")


print((huge() @ huge()).shape)
with shows_error(RuntimeError, match="meta"):
    huge().sum().item()  # no numbers, no sum
reveal(guess, runs(huge))

# %% claim=true
assert (huge() @ huge()).shape == (10**6, 10**6)

# %% [markdown]
# Make a model with more than 70 billion parameters, and count them: it takes only a moment.

# %% mine=true
my_count_params = mine("count_params", lambda model: sum(p.numel() for p in model.parameters()))

# %% name="seventy-billion"
with torch.device("meta"):  # everything made in this block is made there
    giant = nn.Sequential(*[nn.Linear(30_000, 30_000) for _ in range(80)])
    out = giant(torch.empty(2, 30_000))
total = my_count_params(giant)
print(f"{total / 1e9:.1f} billion parameters, {4 * total / 1e9:.0f} GB as float32")

# %% claim=true
assert total > 70e9 and out.shape == (2, 30_000)

# %% [markdown]
# ### Exercise: `shape_trace`
#
# *Stretch, extra credit, {minutes} minutes*
#
# Which shapes do the layers of a model give? The hooks of chapter 3c tell you. Run the model on the device `"meta"`, and torch computes nothing.
# `nn.Linear(2, 3)`, for example, turns (5, 2) into (5, 3).

# %% name="shape-trace-example"
with torch.device("meta"):
    print(nn.Linear(2, 3)(torch.empty(5, 2)).shape)

# %% exercise="shape_trace"
def shape_trace(module, input_shape):
    """Return (name, output shape) of each leaf, in the order they run; compute no numbers.

    shape_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), (5, 2)) gives
    [("0", (5, 3)), ("1", (5, 3))].

    - A leaf is a submodule without submodules. Its name is that of module.named_modules() (""
      if the module itself is one), its shape a tuple or list. A leaf that runs twice is listed
      twice.
    - A copy of the module on the meta device is called once, on a float32 input of input_shape.
    - The module itself stays as it was: values, device, mode, hooks.
    """
    ### BEGIN SOLUTION
    shapes = []
    ghost = copy.deepcopy(module).to("meta")  # the hooks go away with the copy
    for name, part in ghost.named_modules():
        if not list(part.children()):
            note = lambda part, args, out, name=name: shapes.append((name, tuple(out.shape)))
            part.register_forward_hook(note)
    ghost(torch.empty(input_shape, device="meta"))
    return shapes
    ### END SOLUTION

# %% check="shape_trace" extra=3
check("shape_trace", shape_trace)

# %% [markdown] side=true
# #### How does a model without memory get its numbers?
#
# *{minutes} minutes*
#
# `.to` refuses, because there is nothing to copy. `to_empty` gives the model memory with arbitrary numbers in it, and then you load a state.

# %% name="to-empty"
with torch.device("meta"):
    ghost = Reader()
with shows_error(NotImplementedError, match="no data"):
    ghost.to("cpu")
ghost.to_empty(device="cpu")
ghost.load_state_dict(reader.state_dict())
print(torch.equal(ghost(ink), reader(ink)))

# %% claim=true
assert torch.equal(ghost(ink), reader(ink))
