# %% [markdown] name="opening"
# # Chapter 4b: When it fails
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *Your model does not learn, or it learns the wrong thing, and nothing complains. Where do you look?*
#
# In chapter 4a you wrote the whole loop, and it worked. When a loop does not work, it hardly ever says so.
# At the end of this sitting you repair eight loops, each with one fault. Before that you learn to
#
# - see that a model learns by heart, and stop it in time
# - give each loss the inputs that it expects
# - find out with a single batch whether the fault is in the set-up or in the data
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercises. Side paths, folded under a question, are optional.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import copy
import math
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch04 as figures
from course.figures.plots import plots_take_the_ink_of_the_page
from course.instruments import show_digits

torch.set_num_threads(1)  # for models this small, a second one costs more than it brings
_ = torch.manual_seed(seed)
plots_take_the_ink_of_the_page()

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("4b")

# %% [markdown] name="by-heart-text"
# ## 1 Learned by heart
#
# *{minutes} minutes*
#
# If you learn last year's exam by heart, you get full marks for it, and may fail this year's. So may a model.
# Here are ten measurements, with a straight line and with a curve.

# %% figure=true
figures.ten_points()

# %% [markdown]
# The curve goes through every point; the line misses most of them by a little.
# *Which of the two would you trust with ten new measurements?* Make up your mind, then look.

# %% figure=true
figures.ten_points(new=True)

# %% [markdown]
# The curve has learned the noise of the ten points too.
# That is **overfitting**: a model fits the data that it has seen so closely that it does worse on new data than a simpler one would.
#
# ### Wrong labels
#
# Now the same with digits. Here they are again: 397 go into the drawer, from which nothing is learned.

# %% name="digits"
from course.figures.digits import known_digits

ink, labels = known_digits()
ink = ink / 16  # from 0 to 1, as in chapter 4a
order = torch.randperm(len(ink))
known, unseen = order[:1400], order[1400:]
drawer = [(ink[unseen], labels[unseen])]

# %% claim=true
assert ink.shape == (1797, 64) and ink.max() == 1 and len(unseen) == 397

# %% mine=true name="from-chapter-4a"
def plain_mlp(sizes, activation):
    a, b, c = sizes
    return nn.Sequential(nn.Linear(a, b), activation(), nn.Linear(b, c))


def plain_step(model, optimizer, criterion, x, y):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def plain_evaluate(model, loader, criterion):
    [(inputs, targets)] = loader  # one batch, such as our drawer
    model.eval()
    with torch.no_grad():
        logits = model(inputs)
    model.train()
    right = (logits.argmax(dim=1) == targets).float()
    return {"loss": criterion(logits, targets).item(), "accuracy": right.mean().item()}


MyMLP = mine("MLP", plain_mlp)
my_train_step = mine("train_step", plain_step)
my_evaluate = mine("evaluate", plain_evaluate)


def plain_fit(model, optimizer, criterion, loader, drawer, epochs):
    history = []
    for _ in range(epochs):
        model.train()
        losses = [my_train_step(model, optimizer, criterion, x, y) for x, y in loader]
        measured = my_evaluate(model, drawer, criterion)
        history.append((sum(losses) / len(losses), measured["loss"], measured["accuracy"]))
    return history


my_fit = mine("fit", plain_fit)

# %% [markdown]
# Take only a hundred digits, and suppose that a tired person labeled them late at night: one label in five is wrong.
# Ten of the twenty wrong ones:

# %% name="hundred-digits"
few_ink, truth = ink[known[:100]], labels[known[:100]]
few_labels = truth.clone()
few_labels[:20] = (truth[:20] + torch.randint(1, 10, (20,))) % 10  # each some other digit
few = DataLoader(TensorDataset(few_ink, few_labels), batch_size=20, shuffle=True)
show_digits(few_ink[:10], is_=[f"labeled {label}" for label in few_labels[:10]])

# %% claim=true
assert len(few) == 5 and (few_labels != truth).sum() == 20

# %% [markdown]
# Train with your `fit`, for 200 epochs, since an epoch has only five steps now. (It returns a row for each epoch: training loss, loss in the drawer, and the share that is read there.)
#
# *Predict.* In the end, how many of the twenty wrong labels does the model repeat?

# %% predict=true
guess = 20  # a number

# %% name="history"
_ = torch.manual_seed(seed)
memorizer = MyMLP([64, 64, 10], nn.ReLU)
sgd = torch.optim.SGD(memorizer.parameters(), lr=0.5)
history = my_fit(memorizer, sgd, F.cross_entropy, few, drawer, 200)
given_back = (memorizer(few_ink[:20]).argmax(dim=1) == few_labels[:20]).sum().item()
_, _, share = history[-1]
print(f"of the drawer it reads {share:.0%}")
reveal(guess, given_back)

# %% claim=true
assert given_back >= 18 and 0.55 < share < 0.85

# %% [markdown]
# It has learned the wrong labels as faithfully as the right ones. From which epoch on did that do harm? Draw both losses.

# %% name="curves-part"
import matplotlib.pyplot as plt

losses, in_drawer, _ = zip(*history)  # rows become columns
epochs = range(1, len(history) + 1)
lowest = in_drawer.index(min(in_drawer)) + 1
plt.plot(epochs, losses, label="training loss")
plt.plot(epochs, in_drawer, label=f"validation loss (the drawer), lowest at epoch {lowest}")
plt.xlabel("epoch")
plt.ylabel("loss")
plt.legend()
plt.show()

# %% claim=true
assert history[-1][0] < 0.03 and in_drawer[-1] > 1.25 * min(in_drawer)
assert lowest < 80

# %% [markdown]
# There is the turning point. On the hundred the loss goes down to almost 0. In the drawer it falls too, but only for a while, and then it climbs.
#
# At first the model learns what is true of all handwriting, for example that a 0 is round, and that helps in the drawer too.
# After that it learns mostly what belongs to these hundred alone: a smudge here, a crooked stroke there, a wrong label.
# In doing so it loses some of what it had learned.

# %% [markdown] name="remedies-text"
# ## 2 What helps?
#
# *{minutes} minutes*
#
# The best remedy against overfitting is more data (a side path below measures it), because a thousand digits are harder to learn by heart than a hundred.
# And if you have no more? Then stop in time.

# %% [markdown] side=true
# #### How much do more digits help?
#
# *{minutes} minutes*
#
# Here are three models, with right labels and about equally many steps for each.

# %% name="more-digits"
shares = []
for count, epochs in ((50, 333), (200, 100), (800, 25)):  # the fewer, the more often
    rows = TensorDataset(ink[known[:count]], labels[known[:count]])
    batches = DataLoader(rows, batch_size=20, shuffle=True)
    model = MyMLP([64, 64, 10], nn.ReLU)
    sgd = torch.optim.SGD(model.parameters(), lr=0.5)
    _, _, share = my_fit(model, sgd, F.cross_entropy, batches, drawer, epochs)[-1]
    shares.append(share)
    print(f"{count:3} digits, {epochs} epochs: reads {round(share * 397)} of the 397 in the drawer")

# %% claim=true
assert shares[0] + 0.02 < shares[1] < shares[2] and shares[2] > 0.93

# %% [markdown]
# The more digits a model has met, the better it reads others. The second step up is already small.

# %% [markdown]
# ### Stop in time
#
# In section 1 the validation loss was lowest long before the end.
# So keep the model of that moment, and stop after, say, twenty epochs without a better one: that is **early stopping**.
# You wrote `save_best` for this in chapter 3d: if the loss is the lowest so far, it returns a dict with this loss and a copy of the weights; otherwise it returns the best one as it was.

# %% mine=true name="stop-early"
def plain_save_best(module, best, loss):
    if best and best["loss"] <= loss:
        return best
    return {"loss": loss, "state": copy.deepcopy(module.state_dict())}


my_save_best = mine("save_best", plain_save_best)

# %% [markdown]
# Repeat the training of section 1, from the same first weights, one epoch at a time:

# %% name="save-on-the-way"
_ = torch.manual_seed(seed)
again = MyMLP([64, 64, 10], nn.ReLU)
sgd = torch.optim.SGD(again.parameters(), lr=0.5)
best = None
for epoch in range(200):
    _, drawer_loss, _ = my_fit(again, sgd, F.cross_entropy, few, drawer, 1)[0]  # one epoch
    best = my_save_best(again, best, drawer_loss)
    if best["loss"] == drawer_loss:
        best_epoch = epoch
    if epoch - best_epoch == 20:
        break
print(f"stopped after {epoch + 1} of 200 epochs; the best was number {best_epoch + 1}")

# %% claim=true
assert epoch < 120 and best_epoch + 1 == lowest

# %% [markdown]
# Put the copy into a fresh model, and compare it with the one that went on to epoch 200.

# %% name="stopped"
early = MyMLP([64, 64, 10], nn.ReLU)
early.load_state_dict(best["state"])
late = memorizer
for name, model in (("stopped", early), ("in the end", late)):
    seen = my_evaluate(model, drawer, F.cross_entropy)
    print(f"{name}: loss {seen['loss']:.2f}, {round((1 - seen['accuracy']) * 397)} wrong of 397")

# %% claim=true
_stopped = my_evaluate(early, drawer, F.cross_entropy)
assert abs(_stopped["loss"] - best["loss"]) < 1e-6 and _stopped["loss"] < 0.85 * seen["loss"]
assert _stopped["accuracy"] > seen["accuracy"] - 0.01
_decayed = MyMLP([64, 64, 10], nn.ReLU)
_pulled = torch.optim.SGD(_decayed.parameters(), lr=0.5, weight_decay=0.01)
_gentle = my_fit(_decayed, _pulled, F.cross_entropy, few, drawer, 200)
assert _gentle[-1][1] - _gentle[-1][0] < history[-1][1] - history[-1][0]

# %% [markdown]
# Stopping saved time, and the loss in the drawer is lower. And what does the stopped model say of the twenty digits with a wrong label?

# %% name="twenty-wrong-labels"
says = early(few_ink[:20]).argmax(dim=1)
show_digits(few_ink[:20], says=says, is_=truth[:20])
print("read as what they truly are:", (says == truth[:20]).sum().item(), "of 20")
print("read as they were labeled:  ", (says == few_labels[:20]).sum().item(), "of 20")

# %% claim=true
assert (says == truth[:20]).sum() > (late(few_ink[:20]).argmax(dim=1) == truth[:20]).sum()

# %% [markdown]
# Each of the right answers contradicts the label that the model saw in every epoch: there the eighty right labels have outvoted the wrong one. The second number counts the wrong labels that it has begun to learn by heart.

# %% [markdown] side=true
# #### What does the loss see that the count of mistakes does not?
#
# *{minutes} minutes*
#
# The loss also counts how *sure* the model is of its answers. Softmax, from chapter 2, says how sure.
#
# *Predict.* Which of the two is surer of its wrong answers?

# %% predict=true
guess = "late"  # "early" or "late"

# %% name="share-stays"
def sure_of_mistakes(model):
    """How sure a model is, in the mean, of what it reads wrongly in the drawer."""
    with torch.no_grad():
        sure, says = model(ink[unseen]).softmax(dim=1).max(dim=1)  # the largest share, and where
    return sure[says != labels[unseen]].mean().item()


sureness = {"early": sure_of_mistakes(early), "late": sure_of_mistakes(late)}
for name, sure in sureness.items():
    print(f"{name}: {sure:.0%} sure of what it reads wrongly")
reveal(guess, max(sureness, key=sureness.get))

# %% claim=true
assert sureness["late"] > sureness["early"] + 0.02
with torch.no_grad():
    _read = [_model(ink[unseen]).softmax(dim=1).max(dim=1) for _model in (early, late)]
_right = [_says == labels[unseen] for _, _says in _read]
assert _read[1][0][_right[1]].mean() > _read[0][0][_right[0]].mean()  # and surer of the others

# %% [markdown]
# In the end it is surer, even where it is wrong. So by stopping you also win a model that doubts where it should.

# %% [markdown] side=true
# #### Can a model learn pure noise?
#
# *{minutes} minutes*
#
# It learns a part of it by heart.
# Here are 80 rows whose targets have nothing to do with their inputs. A straight line has 11 numbers to learn, and with those it lowers the training loss below the loss of always saying 0.
# On new rows it does worse than that.

# %% name="noise-targets"
noise_in, noise_out = torch.randn(80, 10), torch.randn(80, 1)
new_in, new_out = torch.randn(5000, 10), torch.randn(5000, 1)
guesser = nn.Linear(10, 1)
sgd = torch.optim.SGD(guesser.parameters(), lr=0.1)
for _ in range(100):
    noise_loss = my_train_step(guesser, sgd, F.mse_loss, noise_in, noise_out)
print(f"training {noise_loss:.2f}, saying 0: {(noise_out**2).mean():.2f}")
with torch.no_grad():
    new_loss = F.mse_loss(guesser(new_in), new_out)
print(f"new rows {new_loss:.2f}, saying 0: {(new_out**2).mean():.2f}")

# %% claim=true
_columns = torch.cat([noise_in, torch.ones(80, 1)], dim=1)
_floor = F.mse_loss(_columns @ torch.linalg.lstsq(_columns, noise_out).solution, noise_out)
assert _floor - 1e-4 < noise_loss < (noise_out**2).mean() and new_loss > (new_out**2).mean()
assert sum(_p.numel() for _p in guesser.parameters()) == 11

# %% [markdown]
# ### A second drawer
#
# One caution. You took the moment at which the validation loss was lowest. With so many epochs to choose from, the best one owes part of its score to luck.
# For an honest number you need a second drawer that you open once, at the very end: the **test** set.
#
# Here is a good place to stop for today.

# %% [markdown] name="logits-text"
# ## 3 What a loss takes
#
# *{minutes} minutes*
#
# So far the model learned too much. It can also learn the wrong thing. Then look at the loss first: it returns a number for almost anything that you hand it, and training makes that number small, whatever it means.
#
# `F.cross_entropy` takes logits. It does two things with them: softmax turns them into probabilities, and the loss is minus the log of the probability of the right class.

# %% name="cross-entropy-in-two-steps"
three = torch.tensor([[2.0, 0.0, 0.0]])  # logits; say that the first class is right
print("probabilities:", [round(p, 2) for p in three.softmax(dim=1)[0].tolist()])
print(f"minus log of the first: {-math.log(three.softmax(dim=1)[0, 0]):.2f}")
print(f"cross_entropy:          {F.cross_entropy(three, torch.tensor([0])).item():.2f}")

# %% claim=true
_once = F.cross_entropy(three, torch.tensor([0])).item()
assert abs(_once + math.log(three.softmax(dim=1)[0, 0])) < 1e-6

# %% [markdown]
# A common mistake is a `softmax` at the end of the model as well, so that it is done twice.
#
# *Predict.* The logits are 20 for the right digit and 0 for the other nine. With a `softmax` before `cross_entropy`, is the loss 0, about 0.5 or about 1.5?

# %% predict=true
guess = 1.5  # 0, 0.5 or 1.5

# %% name="double-softmax"
logits, label = torch.tensor([[20.0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]), torch.tensor([0])
once = F.cross_entropy(logits, label)
twice = F.cross_entropy(logits.softmax(dim=1), label)
print("softmax of the logits:", [round(p, 2) for p in logits.softmax(dim=1)[0].tolist()])
print(f"loss with the logits: {once:.2f}, with their softmax: {twice:.2f}")
reveal(guess, round(twice.item(), 1))

# %% claim=true
assert torch.allclose(once, -logits.log_softmax(dim=1)[0, 0]) and once < 1e-4
assert math.isclose(twice.item(), math.log(math.e + 9) - 1, rel_tol=1e-4)
assert round(math.e / (math.e + 9), 2) == 0.23 and round(math.e / (math.e + 2), 2) == 0.58
_column, _row = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([1.0, 2.0, 3.0])
_table = (_column - _row) ** 2  # the question below
assert _table.shape == (3, 3) and round(_table.mean().item(), 1) == 1.3
assert ((_column.squeeze(1) - _row) ** 2).mean() == 0

# %% [markdown]
# The first softmax gives almost a 1 and nine times almost 0. The softmax inside `cross_entropy` takes these for logits, and a logit of 1 is hardly more than 0.
# So with ten classes the right one never gets more than `e / (e + 9)`, which is 0.23. Minus its log is 1.46, and below that the loss can never fall. (With three classes it is `e / (e + 2)`, 0.58, and the loss stops at 0.55.) torch reports no error.
#
# The other trap is a wrong shape. You met it in chapter 1b.
#
# <details><summary>From chapter 1b: three predictions, (3, 1), are all right, and the three targets are (3,). Why is the mean of <code>(predictions - targets) ** 2</code> not 0?</summary>
#
# A column minus a row is a table of each prediction against every target, so the mean is over nine numbers. For 1, 2 and 3 it is 1.3.
# A model that trains on it learns to predict the mean of the targets for everything.
#
# </details>
#
# ### Yes or no
#
# Is this message spam? For two answers one score is enough. `sigmoid` turns it into a probability: 0 becomes one half.
# The loss for such a score is `binary_cross_entropy_with_logits`. It does the sigmoid inside, as `cross_entropy` does the softmax, and takes minus the log of the true answer's probability.

# %% name="yes-or-no"
scores, truly_spam = torch.tensor([-4.0, 0.0, 4.0]), torch.ones(3)
print(scores.sigmoid())
print(F.binary_cross_entropy_with_logits(scores, truly_spam, reduction="none"))  # one for each

# %% claim=true
_losses = F.binary_cross_entropy_with_logits(scores, truly_spam, reduction="none")
assert torch.allclose(_losses, -scores.sigmoid().log()) and abs(_losses[1] - math.log(2)) < 1e-6
assert abs(_losses[0] - 4.018) < 1e-3 and abs(_losses[2] - 0.018) < 1e-3
assert F.mse_loss(scores, scores) == 0  # whereas a log loss is never quite 0, until it is rounded

# %% [markdown]
# All three messages are spam. A score of -4, surely not spam, costs 4. A score of 0, no idea, costs log(2), which is 0.69. A score of 4, surely spam, costs almost nothing, though never quite 0.
#
# ### Exercise: `loss_inputs`
#
# *{minutes} minutes*
#
# One model may answer several questions. Most of its layers serve all of them, and each question has a last layer of its own, called a **head**. The program below computes the losses of five heads, and makes one mistake in each. (When you check, torch warns of one of them in red, and the warning helps.) This is what each head needs, in the order of the program:
#
# | head | to predict | the model gives | targets | criterion |
# |---|---|---|---|---|
# | digit | one of k | logits (n, k) | labels (n,), int64 | `cross_entropy` |
# | marked | one of k | logits (n, k) | (n, k): 1 at the right class, 0 elsewhere | `cross_entropy`, with the targets as floats |
# | letters | each letter of a word: one of k | logits (n, length, k) | labels (n, length), int64 | `cross_entropy` |
# | spam | yes or no | logits (n,) | floats 0 and 1, (n,) | `binary_cross_entropy_with_logits` |
# | price | a number | (n, 1) | floats (n,) | `mse_loss`, on equal shapes |
#
# The head `letters` has several answers for each word. The simplest way is one answer per row: put the letters of all words below one another.

# %% name="loss-inputs-example"
words, spelled = torch.randn(4, 5, 26), torch.randint(26, (4, 5))  # 4 words of 5 letters
print(words.flatten(0, 1).shape, spelled.flatten().shape)  # 20 letters

# %% exercise="loss_inputs"
### BEGIN STARTER
# def loss_inputs(head, output, target):
#     """Return the loss of one head of a model with five heads, a scalar to call backward on.
#
#     For logits of zeros, "digit" gives log(k) and "spam" gives log(2).
#
#     There are n rows and k classes. The loss of each head:
#
#     - "digit": logits (n, k), target labels (n,): cross-entropy.
#     - "marked": logits (n, k), target whole numbers (n, k), one 1 per row: cross-entropy.
#     - "letters": logits (n, length, k), target labels (n, length): cross-entropy, the mean over
#       all letters.
#     - "spam": logits (n,), target (n,) of 0 and 1 as floats: binary cross-entropy.
#     - "price": predictions (n, 1), target floats (n,): mean squared error.
#     """
#     if head == "digit":
#         return F.cross_entropy(output.softmax(dim=1), target)
#     if head == "marked":
#         return F.cross_entropy(output, target)
#     if head == "letters":
#         return F.mse_loss(output.argmax(dim=2).float(), target.float())
#     if head == "spam":
#         return F.binary_cross_entropy_with_logits(torch.sigmoid(output), target)
#     return F.mse_loss(output, target)
### END STARTER
def loss_inputs(head, output, target):
    """Return the loss of one head of a model with five heads, a scalar to call backward on.

    For logits of zeros, "digit" gives log(k) and "spam" gives log(2).

    There are n rows and k classes. The loss of each head:

    - "digit": logits (n, k), target labels (n,): cross-entropy.
    - "marked": logits (n, k), target whole numbers (n, k), one 1 per row: cross-entropy.
    - "letters": logits (n, length, k), target labels (n, length): cross-entropy, the mean over
      all letters.
    - "spam": logits (n,), target (n,) of 0 and 1 as floats: binary cross-entropy.
    - "price": predictions (n, 1), target floats (n,): mean squared error.
    """
    ### BEGIN SOLUTION
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.to(output.dtype))
    if head == "letters":
        return F.cross_entropy(output.flatten(0, 1), target.flatten())
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)
    ### END SOLUTION


# %% check="loss_inputs" points=4
check("loss_inputs", loss_inputs)

# %% mine=true
def plain_loss_inputs(head, output, target):  # for three of the heads
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.cross_entropy(output.reshape(-1, output.shape[-1]), target.reshape(-1))


my_loss_inputs = mine("loss_inputs", plain_loss_inputs)

# %% [markdown]
# What is the loss of a model that knows nothing? With logits of zeros it says that all answers are equally likely.

# %% name="loss-inputs-used"
knows_nothing = {
    "spam": (torch.zeros(4), torch.ones(4)),
    "digit": (torch.zeros(4, 10), torch.tensor([3, 1, 4, 1])),
    "letters": (torch.zeros(4, 5, 26), spelled),
}
for head, (output, target) in knows_nothing.items():
    print(f"{head:7} {my_loss_inputs(head, output, target).item():.2f}")
print("log of 2, 10 and 26:", [round(math.log(k), 2) for k in (2, 10, 26)])

# %% claim=true
for _head, _k in (("spam", 2), ("digit", 10), ("letters", 26)):
    assert abs(my_loss_inputs(_head, *knows_nothing[_head]).item() - math.log(_k)) < 1e-5
_yes_no = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
_points = torch.randn(32, 2)
_sides = (_points[:, :1] > 0).float()
_sgd, _bce = torch.optim.SGD(_yes_no.parameters(), lr=0.1), nn.BCEWithLogitsLoss()
_fallen = [my_train_step(_yes_no, _sgd, _bce, _points, _sides) for _ in range(50)]
assert abs(_fallen[0] - math.log(2)) < 0.25 and _fallen[-1] < _fallen[0]

# %% [markdown]
# It is the log of the number of answers, as in chapter 4a.

# %% [markdown] side=true
# #### Which of these mistakes does torch tell me?
#
# *{minutes} minutes*
#
# It tells you about wrong dtypes, about a loss without a gradient, and about classes in the wrong axis, if that axis has another size.

# %% name="loud-losses"
outputs, classes = torch.randn(4, 3, requires_grad=True), torch.tensor([0, 2, 1, 1])
with shows_error(RuntimeError, match="floating point"):
    F.cross_entropy(outputs, F.one_hot(classes))  # rows of 0s and 1s, as whole numbers
with shows_error(RuntimeError, match="Long"):
    F.cross_entropy(outputs, classes.float())  # class labels are int64, also called long
with shows_error(RuntimeError, match="does not require grad"):
    F.mse_loss(outputs.argmax(dim=1).float(), classes.float()).backward()
with shows_error(RuntimeError, match="target size"):
    # Classes belong in dim 1.
    F.cross_entropy(torch.randn(4, 5, 3), torch.zeros(4, 5, dtype=torch.int64))

# %% claim=true
assert F.cross_entropy(torch.randn(4, 3, 3), torch.zeros(4, 3, dtype=torch.int64)) > 0  # silent

# %% [markdown] name="debug-text"
# ## 4 One batch by heart
#
# *{minutes} minutes*
#
# When a model learns nothing, is the fault in the set-up or in the data? To find out, take a single batch, and let the model learn it by heart: this time on purpose, as a test of the set-up.
# (`Adam` is an optimizer that needs less search for a rate; chapter 4c is about it.)
# To see that it can be done, give 64 digits *random* labels, so that there is nothing to understand, and take 200 steps on this batch.

# %% name="one-batch"
batch, nonsense = ink[known[:64]], torch.randint(10, (64,))
parrot = MyMLP([64, 64, 10], nn.ReLU)
adam = torch.optim.Adam(parrot.parameters(), lr=0.01)
losses = [my_train_step(parrot, adam, F.cross_entropy, batch, nonsense) for _ in range(200)]
right = (parrot(batch).argmax(dim=1) == nonsense).sum().item()
print(f"loss at first {losses[0]:.2f}, at the end {losses[-1]:.4f}; {right} of 64 are right")

# %% claim=true
assert losses[-1] < losses[0] / 10 and right == 64

# %% [markdown] name="habits"
# A network of this size can learn even nonsense by heart. If yours cannot, look at the set-up first: how the batch arrives, the optimizer, the step, the rate. If it can, look at the data.
# Two habits help to find a fault.
#
# - After each change, *look*: at the outputs, a gradient, `.requires_grad`, the labels of a batch, the first loss.
# - *Change one thing at a time.* After three changes you cannot say which of them helped.
#
# ### Exercise: `overfit_one_batch`
#
# *{minutes} minutes*
#
# Make a function of this test. It gets a set-up to examine, a `trial`, which has a model, an optimizer, `batch()` and `step(x, y)`, and it returns the name of the fault.
# Look at the cheap things first: do two calls of `batch()` give the same labels? Does the optimizer hold every parameter? Only then train on the one batch.
# (An optimizer keeps the parameters that it changes in `param_groups`, a list of dicts with the keys `"params"` and `"lr"`. Compare parameters with `is` or by their `id`: `==` and `in` compare their numbers.)
# Here is a trial without a fault, for which the answer is "ok".

# %% name="by-heart"
class Trial:
    """A set-up to examine: a model, an optimizer, one batch, and a step."""

    def __init__(self, lr=0.01):
        self.model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.inputs, self.labels = torch.randn(6, 8), torch.randint(3, (6,))

    def batch(self):
        return self.inputs, self.labels

    def step(self, x, y):
        return my_train_step(self.model, self.optimizer, F.cross_entropy, x, y)


trial = Trial()
inputs, targets = trial.batch()
print(f"losses: {trial.step(inputs, targets):.2f}, then {trial.step(inputs, targets):.2f}")

# %% exercise="overfit_one_batch"
def overfit_one_batch(trial):
    """Say what is wrong with a training set-up, by trying to learn one batch by heart.

    For a trial without a fault the result is "ok".

    trial.model is an nn.Module and trial.optimizer its optimizer; trial.batch() gives the
    batch (x, y); trial.step(x, y) does one training step and returns the loss before it, as
    a float. At most one thing is wrong. The result is the first of these whose condition
    holds:

    - "shuffled labels": two calls of batch() give the same x with different y
    - "frozen": a parameter of the model has requires_grad False
    - "wrong parameters": a parameter of the model is not among those in the optimizer
    - "no step": step changes no parameter at all
    - "learning rate": none of these, and yet after 100 steps on the batch the loss is not below
      one tenth of the first loss
    - "ok": none of these
    """
    ### BEGIN SOLUTION
    (x, y), (same, again) = trial.batch(), trial.batch()
    if torch.equal(x, same) and not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if not all(p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if not held.issuperset(map(id, params)):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    return "ok" if trial.step(x, y) < first / 10 else "learning rate"
    ### END SOLUTION


# %% check="overfit_one_batch" points=3
check("overfit_one_batch", overfit_one_batch)

# %% mine=true
def by_learning(trial):
    x, y = trial.batch()
    losses = [trial.step(x, y) for _ in range(101)]
    return "ok" if losses[-1] < losses[0] / 10 else "learning rate"


my_overfit_one_batch = mine("overfit_one_batch", by_learning)

# %% [markdown]
# Let it examine two trials, one with a rate that works, and one with a rate that is far too small.

# %% name="overfit-used"
print(my_overfit_one_batch(Trial(lr=0.01)))
print(my_overfit_one_batch(Trial(lr=0.000001)))

# %% claim=true
assert my_overfit_one_batch(Trial(lr=0.01)) == "ok"
assert my_overfit_one_batch(Trial(lr=0.000001)) == "learning rate"

# %% [markdown] name="bug-hunt"
# ## 5 Bug hunt
#
# *{minutes} minutes*
#
# A loop that fails seldom gives an error message; mostly it gives only a curve. Here are seven faults, and a healthy run.

# %% figure=true
figures.museum()

# %% [markdown]
# - *healthy*: steep at first, then slow; compare the others with it
# - *learning rate too small*: the same in slow motion, and nowhere near the bottom at the end
# - *learning rate too large*: out of the plot at once
# - *gradients never cleared*: it swings without end
# - *inputs and targets in different orders*: it gets no better than a model that always answers the mean
# - *learned by heart*: the blue curve alone looks healthy
# - *measured with dropout on*: one model, measured in both modes; believe the lower curve, that of eval mode
# - *one wild batch*, with numbers far too large: a jump, and long after it the loss is still higher than before it

# %% [markdown]
# Now the line-up: eight loops with one fault each. Some of the faults you have just met. The dotted curve is a correct loop on the same data.
# Before you read the code, write down a suspect for each curve.

# %% name="eight-curves" figure=true
figures.symptoms()

# %% [markdown]
# ### Exercise: `broken_loops`
#
# *{minutes} minutes*
#
# Nobody tells you where the fault is; the curve is your clue. Fix one loop at a time, and take a break after two or three.
# Change as little as you can: two lines of a loop at most, and one is often enough.
# Loop h has a **scheduler**, which lowers the learning rate: each `scheduler.step()` multiplies it by gamma (chapter 4c has more). The comment says what its author wanted.
#
# On the data of the eight curves a correct loop falls from 2.7 to about 0.02. Two of the broken ones get far down too, and are broken all the same.
# Here is a correct loop on other, easier data:

# %% name="broken-loops-example"
inputs = torch.rand(64, 2)
targets = inputs.sum(dim=1, keepdim=True)  # what it should learn: the sum of the two
simple = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
sgd = torch.optim.SGD(simple.parameters(), lr=0.1)
fallen = [my_train_step(simple, sgd, F.mse_loss, inputs, targets) for _ in range(200)]
print(f"{fallen[0]:.3f} ... {fallen[-1]:.4f}")

# %% exercise="broken_loops"
### BEGIN STARTER
# def loop_a(model, x, y, steps):
#     optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
#     losses = []
#     for _ in range(steps):
#         loss = F.mse_loss(model(x).squeeze(1), y)
#         loss.backward()
#         optimizer.step()
#         losses.append(loss.item())
#     return losses
#
#
# def loop_b(model, x, y, steps):
#     optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
#     losses = []
#     for _ in range(steps):
#         loss = F.mse_loss(model(x).squeeze(1), y)
#         loss.backward()
#         optimizer.zero_grad()
#         optimizer.step()
#         losses.append(loss.item())
#     return losses
#
#
# def loop_c(model, x, y, steps):
#     optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
#     losses = []
#     for _ in range(steps):
#         optimizer.zero_grad()
#         loss = F.mse_loss(model(x).squeeze(1), y)
#         loss.backward()
#         optimizer.step()
#         losses.append(loss.item())
#     return losses
#
#
# def loop_d(model, x, y, steps):
#     twin = copy.deepcopy(model)
#     optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
#     losses = []
#     for _ in range(steps):
#         optimizer.zero_grad()
#         loss = F.mse_loss(model(x).squeeze(1), y)
#         loss.backward()
#         optimizer.step()
#         losses.append(loss.item())
#     return losses
#
#
# def loop_e(model, x, y, steps):
#     optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
#     losses = []
#     for _ in range(steps):
#         optimizer.zero_grad()
#         loss = ((model(x) - y) ** 2).mean()
#         loss.backward()
#         optimizer.step()
#         losses.append(loss.item())
#     return losses
#
#
# def loop_f(model, x, y, steps):
#     losses = []
#     for _ in range(steps):
#         optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
#         optimizer.zero_grad()
#         loss = F.mse_loss(model(x).squeeze(1), y)
#         loss.backward()
#         optimizer.step()
#         losses.append(loss.item())
#     return losses
#
#
# def loop_g(model, x, y, steps):
#     optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
#     losses = []
#     for _ in range(steps):
#         optimizer.zero_grad()
#         order = torch.randperm(len(x))
#         loss = F.mse_loss(model(x[order]).squeeze(1), y)
#         loss.backward()
#         optimizer.step()
#         losses.append(loss.item())
#     return losses
#
#
# def loop_h(model, x, y, steps):
#     optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
#     scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)  # every 20 steps
#     losses = []
#     for step in range(steps):
#         optimizer.zero_grad()
#         loss = F.mse_loss(model(x).squeeze(1), y)
#         loss.backward()
#         optimizer.step()
#         scheduler.step()
#         losses.append(loss.item())
#     return losses
#
#
# def broken_loops():
#     """Return the eight loops, fixed: a dict from "a" to "h" (leave this function as it is).
#
#     Each loop(model, x, y, steps) trains model in place, by full batches, on x (n, d) and y
#     (n,), where model(x) is (n, 1), and returns a list of `steps` losses, each from before its
#     step. Fixed, each learns: the loss falls to a small part of the first. Keep each loop's kind
#     of optimizer. In loop h the rate is multiplied by 0.9 after every 20 steps. At most 2 lines
#     of a loop may differ from what you were given; a line that is added, taken away, moved or
#     rewritten counts once.
#
#     broken_loops()["a"](model, x, y, 200) returns 200 floats.
#     """
#     return {
#         "a": loop_a,
#         "b": loop_b,
#         "c": loop_c,
#         "d": loop_d,
#         "e": loop_e,
#         "f": loop_f,
#         "g": loop_g,
#         "h": loop_h,
#     }
### END STARTER
### BEGIN SOLUTION
def loop_a(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_b(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_c(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_d(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_e(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(x).squeeze(1) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_f(model, x, y, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_g(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        order = torch.randperm(len(x))
        loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_h(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)  # every 20 steps
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            scheduler.step()
        losses.append(loss.item())
    return losses


def broken_loops():
    """Return the eight loops, fixed: a dict from "a" to "h" (leave this function as it is).

    Each loop(model, x, y, steps) trains model in place, by full batches, on x (n, d) and y
    (n,), where model(x) is (n, 1), and returns a list of `steps` losses, each from before its
    step. Fixed, each learns: the loss falls to a small part of the first. Keep each loop's kind
    of optimizer. In loop h the rate is multiplied by 0.9 after every 20 steps. At most 2 lines
    of a loop may differ from what you were given; a line that is added, taken away, moved or
    rewritten counts once.

    broken_loops()["a"](model, x, y, 200) returns 200 floats.
    """
    return {
        "a": loop_a,
        "b": loop_b,
        "c": loop_c,
        "d": loop_d,
        "e": loop_e,
        "f": loop_f,
        "g": loop_g,
        "h": loop_h,
    }
### END SOLUTION


# %% check="broken_loops" points=5
check("broken_loops", broken_loops)

# %% mine=true
def plain_loop(model, x, y, steps):
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    return [my_train_step(model, sgd, F.mse_loss, x, y[:, None]) for _ in range(steps)]


my_broken_loops = mine("broken_loops", lambda: dict.fromkeys("abcdefgh", plain_loop))

# %% [markdown]
# Here are the eight losses once more: each broken loop dotted, and yours beside it. (Until the check passes, you see a correct loop eight times.)

# %% name="repaired"
figures.symptoms(my_broken_loops())

# %% claim=true
_x, _y = torch.rand(64, 2), torch.rand(64)
for _loop in my_broken_loops().values():
    assert len(_loop(nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)), _x, _y, 5)) == 5

# %% [markdown] name="checklist"
# ## What you can do now
#
# Look up what you see:
#
# | the loss ... | look at |
# |---|---|
# | is far from log(k) at first | the scale of the inputs; the first weights; shapes |
# | does not move at all | no `step` or no `backward`; `zero_grad` between the two; the optimizer's parameters; `requires_grad` |
# | swings | `zero_grad` missing; the learning rate |
# | explodes, or is nan | the learning rate; the scale of the data; one wild batch |
# | gets no better than always answering the mean | inputs and targets in different orders; (n, 1) against (n,) |
# | falls, but stays too high | softmax before the loss; a rate that decays too soon; an optimizer that is made anew in each step |
# | falls, but the model gives one answer to everything | batches that are sorted, not shuffled (chapter 4a) |
# | is fine, but not on new data | learned by heart; measured in the wrong mode |

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
# 1. A model reads all the digits that it learned from, but only 88% of others. What has happened, and what helps?
# 2. Why does early stopping need a second drawer?
# 3. A loss with three classes stops at 0.55, whatever you do. What do you suspect?
# 4. The model does not even learn one batch by heart. What do you look at before you train again?
#
# <details><summary>Answers</summary>
#
# 1. It has learned them by heart. More data helps; if there is no more, take the model of its best epoch.
# 2. You chose the moment by the first one, so its number is a little too good.
# 3. A `softmax` before `cross_entropy`.
# 4. At two calls for the batch, at `requires_grad`, at the parameters that the optimizer holds, and whether one step changes anything; then at the rate.
#
# </details>

# %% [markdown]
# Next comes *Chapter 4c: Learning rates*. There every line of the loop is right, and still the loss does not fall.
