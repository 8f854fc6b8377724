# %% [markdown] name="opening"
# # Chapter 4c: Learning rates
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *How large should a step be, and who decides it?*
#
# In chapters 4a and 4b the learning rate was a number that somebody had chosen for you: 0.1 here, 0.5 there.
# It is the first thing to change when a training goes badly, but for some trainings no single rate is right. In this sitting you learn to
#
# - find a rate by trying, and know a bad one by its curve
# - scale your data, so that one rate suits all parameters
# - choose an optimizer, and let the rate fall on the way
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercises. One more exercise, of {later} minutes, comes after the end, for another evening. Side paths, folded under a question, are optional.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them
short = False  # True: fewer repetitions, to run the whole sitting sooner

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

torch.set_num_threads(1)  # for models this small, a second one costs more than it brings
_ = torch.manual_seed(seed)
plots_take_the_ink_of_the_page()

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("4c")

# %% [markdown]
# Here are three ways down one long valley, from the same place, each with forty steps. The star is the bottom.

# %% name="first-page" figure=true
figures.surface()

# %% [markdown] name="learning"
# ## 1 How far is a step?
#
# *{minutes} minutes*
#
# A step goes against the gradient, and the learning rate, `lr`, says how far.
# Take an example where you can compute every step in your head: one weight w, and the loss (w - 3) ** 2, a parabola with its bottom at 3.
#
# At w = 0 the gradient, 2 * (w - 3), is -6, so with lr = 0.1 the first step goes to 0 - 0.1 * (-6) = 0.6. `walk_down` goes on from there.

# %% name="descent-by-hand"
def walk_down(lr, steps=50):
    """Go down (w - 3) ** 2 from w = 0; return all the places, rounded."""
    w = torch.tensor(0.0, requires_grad=True)
    places = [0.0]
    for _ in range(steps):
        w.grad = None
        ((w - 3) ** 2).backward()
        with torch.no_grad():
            w -= lr * w.grad
        places.append(round(w.item(), 3))
    return places


places = walk_down(0.1)
print(places[:6], "... and after 50 steps:", places[-1])

# %% claim=true
assert places[1] == 0.6
assert (places[0] - 3) ** 2 == 9 and (places[-1] - 3) ** 2 < 1e-8

# %% [markdown]
# Each step takes away a fifth of the distance that is left, so w comes as close to 3 as you like, and the loss goes from 9 to 0.
#
# *Predict.* With lr = 1, where is w after *two* steps?

# %% predict=true
guess = 0.0  # a number

# %% name="too-far"
places = walk_down(1.0, steps=4)
print("lr 1:  ", places)
print("lr 1.1:", walk_down(1.1, steps=4))
reveal(guess, places[2])

# %% claim=true
assert places == [0.0, 6.0, 0.0, 6.0, 0.0] and abs(walk_down(1.1, steps=4)[-1] - 3) > 6

# %% [markdown]
# With lr = 1 it jumps over the valley to 6, exactly as high as before, and then back to 0, for ever.
# With a larger lr, each jump lands higher than the last. A gradient says which way is down, but not how far.
#
# So a training has three fates. With too small a rate it hardly moves, with a good one it arrives, and with too large a one it explodes.

# %% figure=true
figures.parabola(walk_down, (0.02, 0.3, 1.05))

# %% [markdown] name="rates-text"
# ## 2 Rates on the digits
#
# *{minutes} minutes*
#
# No gradient finds the learning rate. You choose it, by trying: it is a **hyperparameter**.
# Here are the digits of chapter 4a again, in batches of 64, and some that stay in the drawer.

# %% name="digits"
from course.figures.digits import known_digits

ink, labels = known_digits()
ink = ink / 16  # from 0 to 1
order = torch.randperm(len(ink))
known, unseen = order[:1400], order[1400:]
loader = DataLoader(TensorDataset(ink[known], labels[known]), batch_size=64, shuffle=True)
drawer = [(ink[unseen], labels[unseen])]

# %% claim=true
assert len(loader) == 22 and len(unseen) == 397

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


MyMLP = mine("MLP", plain_mlp)
my_train_step = mine("train_step", plain_step)


def plain_fit(model, optimizer, criterion, loader, drawer, epochs):
    [(inputs, targets)] = drawer  # one batch
    history = []
    for _ in range(epochs):
        model.train()
        losses = [my_train_step(model, optimizer, criterion, x, y) for x, y in loader]
        model.eval()
        with torch.no_grad():
            logits = model(inputs)
        share = (logits.argmax(dim=1) == targets).float().mean().item()
        history.append((sum(losses) / len(losses), criterion(logits, targets).item(), share))
    return history


my_fit = mine("fit", plain_fit)

# %% [markdown]
# Why was the rate 0.5 for the digits? Train six fresh models with your `fit`, each for five epochs at its own rate.

# %% name="rates-on-digits"
import matplotlib.pyplot as plt

shares = {}
for lr in (0.001, 0.05, 0.2, 0.5, 1, 10):
    fresh = MyMLP([64, 64, 10], nn.ReLU)
    sgd = torch.optim.SGD(fresh.parameters(), lr=lr)
    losses, _, read = zip(*my_fit(fresh, sgd, F.cross_entropy, loader, drawer, 5))
    shares[lr] = read[-1]
    plt.plot(range(1, 6), losses, label=f"lr {lr}: reads {read[-1]:.0%}")
plt.gca().set(ylim=(0, 3), xticks=range(1, 6), xlabel="epoch", ylabel="training loss")
plt.legend(loc="upper left", bbox_to_anchor=(1, 1))  # beside the picture
plt.show()

# %% claim=true
assert losses[0] > 3 and losses[-1] > 2  # of the last rate, 10
assert shares[0.5] > 0.82 and shares[0.5] > shares[0.05] > 0.5
assert shares[0.001] < 0.4 and shares[10] < 0.4
assert min(shares[_lr] for _lr in (0.2, 0.5, 1)) > 0.8

# %% [markdown]
# There are the three fates of section 1. At the smallest rate the model sleeps. The largest throws it so far out that it never comes back: in the end it knows no more than at first.
# Between the two lies a span, here from 0.2 to 1, in which the model learns quickly. (The shares are those of single runs: other first weights change them by some percent.) So try 0.001, 0.01, 0.1 and 1 first, and then look between the best two.

# %% [markdown] side=true
# #### Where does a model draw its line?
#
# *{minutes} minutes*
#
# Nobody can look along 64 axes. With two numbers as input, each point has a place in a plane, and you can watch the line between two classes move while the model learns.
# `playground` makes a small `MLP`, always the same one, and calls your `train_step` on it, 400 times.
#
# Play the two moons at 0.3, then at 1 and at 10. Then play the spiral: is there a rate at which the model learns it?

# %% name="playground"
from explorers import playground

playground(lambda: MyMLP([2, 16, 2], nn.ReLU), my_train_step)

# %% claim=true
from explorers.playground_training import ReaderTrainingSetup as _Player



def _right(data, rate, kind=torch.optim.SGD, width=16):
    make = lambda: nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, 2))
    return int(_Player(make, plain_step, kind).recorded(data, rate).at(99)["said.text"].split()[-4])


assert _right("two moons", 1.0) > 190 and _right("two moons", 10.0) == 100
_spiral = max(_right("spiral", _rate) for _rate in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0))
assert _spiral < 190 < _right("spiral", 0.03, torch.optim.Adam)
assert _spiral < _right("spiral", 1.0, width=64)

# %% [markdown]
# At 10 it ends with one answer for all points, as in the third fate.
# The spiral is too much for 400 steps at any of these rates. A wider model gets further, and with Adam, from section 4, sixteen neurons are enough: write `optimizer=torch.optim.Adam` behind `my_train_step`, and choose 0.03.

# %% [markdown] name="house-text"
# ## 3 When no rate is right
#
# *{minutes} minutes*
#
# For the digits many rates were good. Here is a smaller problem for which no rate is good: the price of a house from its size.
# There are four sizes in square feet, and prices in thousands, 0.18 * size + 5, so the model has only two numbers to learn, w and b. And yet the loss explodes with any rate above 0.00000037. So go below that.

# %% name="house-raw"
size = torch.tensor([750.0, 1200.0, 1800.0, 2400.0], dtype=torch.float64)
price = 0.18 * size + 5


def descend_raw(steps, lr, x=size):
    """Fit price = w * x + b from w = b = 0.01; return the losses, w and b."""
    w, b, losses = 0.01, 0.01, []
    for _ in range(steps):
        error = w * x + b - price
        losses.append((error**2).mean().item())
        w = w - lr * 2 * (error * x).mean()
        b = b - lr * 2 * error.mean()
    return losses, w.item(), b.item()


losses, w, b = descend_raw(6, 1e-7)
print("losses:", [round(loss) for loss in losses])
print(f"price = {w:.5f} * size + {b:.5f}")
print("2000 square feet:", round(w * 2000 + b, 1))

# %% claim=true
assert [round(_loss) for _loss in losses] == [82126, 16624, 3367, 684, 141, 31]
assert round(w, 4) == 0.1814 and round(b, 4) == 0.0101

# %% [markdown]
# After six steps w is nearly right, and for 2,000 square feet this line says 362.7, where 365 is right.
# But b should go from 0.01 to 5, and it has hardly moved.
#
# *Predict.* Give it 10,000 steps. Where will b be then?

# %% predict=true
guess = "near 0"  # "near 0", "halfway" or "near 5"

# %% name="house-long"
late_losses, w, b = descend_raw(10_000, 1e-7)
print(f"price = {w:.5f} * size + {b:.5f}")
reveal(guess, "near 0" if b < 1 else "halfway" if b < 4 else "near 5")

# %% claim=true
assert abs(sum(descend_raw(6, 1e-7)[1:][_i] * _v for _i, _v in enumerate((2000, 1))) - 362.7) < 0.05
assert 3 < late_losses[-1] < 4 and abs(w - 0.18279) < 1e-5 and abs(b - 0.0115) < 1e-4
# How fast the slow direction goes, and how long it takes to 4.9 at this rate:
_hessian = 2 * torch.tensor([[(size**2).mean(), size.mean()], [size.mean(), 1]])
_slow = 1e-7 * torch.linalg.eigvalsh(_hessian.double())[0].item()
assert 1e8 < math.log(4.99 / 0.1) / _slow < 2e8
with torch.random.fork_rng():
    torch.manual_seed(42)
    assert descend_raw(6, 1e-7)[0] == losses  # nothing is drawn, so a seed changes nothing

# %% [markdown]
# In 10,000 steps b has gone from 0.01 to 0.0115. Why? Take the house of 2,000 square feet. Add 0.001 to w, and its price rises by 2; add 0.001 to b, and the price rises by 0.001.
# So w counts about two thousand times as much as b, and at the same rate this comes in twice: its gradient is that much larger, so w moves that much farther, and each bit of its way changes the prices that much more. Together that makes millions. So b alone would be content with a rate near 0.1, whereas w bears at most 0.00000037. At 1e-7, b would need more than a hundred million steps.
#
# The cause is the scale of the data.
# So **standardize** the sizes, to mean 0 and standard deviation 1, as you did with pixels in chapter 1c.
# Then w and b matter about equally, and lr = 0.1 is fine for both.

# %% name="house-standardized"
center, spread = size.mean(), size.std()
standardized, w, b = descend_raw(200, 0.1, (size - center) / spread)
# w * (size - center) / spread + b, multiplied out:
slope = w / spread  # for one square foot, not for one standard deviation
intercept = b - slope * center
print(f"price = {slope:.4f} * size + {intercept:.4f}")

# %% claim=true
assert abs(slope - 0.18) < 1e-6 and abs(intercept - 5) < 1e-3
_raw, _tiny = descend_raw(200, 0.1)[0], descend_raw(200, 1e-8)[0]
# Raw, at the rate that suits the standardized sizes:
assert not math.isfinite(_raw[-1]) or _raw[-1] > 1e8
assert standardized[-1] < _tiny[-1] < _tiny[0]  # at a tiny one: downhill, and slowly

# %% figure=true
figures.curves(
    {
        "raw, lr 1e-7": descend_raw(200, 1e-7)[0],
        "raw, lr 4e-7": descend_raw(200, 4e-7)[0],
        "standardized, lr 0.1": standardized,
    },
    low=1e-9,
    high=1e8,
)

# %% [markdown]
# The first loss falls until only the error in b is left, and stays there. The second explodes, and the third falls to almost nothing.
#
# ### Exercise: `house_prices`
#
# *{minutes} minutes*
#
# Here is a program with the same illness, and its author is still waiting. The data have several columns, and the answer has to be in the units of the data.
# For one column, the weight is converted back like this:

# %% name="house-prices-example"
weight, spread_of_size = 90, 500  # 90 for each standard deviation, which is 500
print(weight / spread_of_size, "per square foot")

# %% exercise="house_prices"
### BEGIN STARTER
# def house_prices(x, y, new):
#     """Fit a line to house prices, by descent or in any other way, and price new houses.
#
#     For y = 3 * area, the weight is [3.0].
#
#     - x: (n, d) floats, a row per house, each column in its own unit (area, rooms, age); y: (n,)
#       prices; new: (m, d) houses to price. x, y and new stay as they were.
#     - The result is a dict in the units of x and y: "weight" (d,), what one more unit of each
#       column adds to the price, "bias" (a scalar tensor), and "prices" (m,), which is new @
#       weight + bias. No result requires grad.
#     - For each house of x, the line's price differs from that of the best line by at most a
#       hundredth of y.std(), whatever the units.
#     """
#     weight = torch.zeros(x.shape[1], requires_grad=True)
#     bias = torch.zeros((), requires_grad=True)
#     optimizer = torch.optim.SGD([weight, bias], lr=1e-7)  # with larger ones the loss is nan
#     for _ in range(200):
#         optimizer.zero_grad()
#         loss = ((x @ weight + bias - y) ** 2).mean()
#         loss.backward()
#         optimizer.step()
#     weight, bias = weight.detach(), bias.detach()
#     return {"weight": weight, "bias": bias, "prices": new @ weight + bias}
### END STARTER
def house_prices(x, y, new):
    """Fit a line to house prices, by descent or in any other way, and price new houses.

    For y = 3 * area, the weight is [3.0].

    - x: (n, d) floats, a row per house, each column in its own unit (area, rooms, age); y: (n,)
      prices; new: (m, d) houses to price. x, y and new stay as they were.
    - The result is a dict in the units of x and y: "weight" (d,), what one more unit of each
      column adds to the price, "bias" (a scalar tensor), and "prices" (m,), which is new @
      weight + bias. No result requires grad.
    - For each house of x, the line's price differs from that of the best line by at most a
      hundredth of y.std(), whatever the units.
    """
    ### BEGIN SOLUTION
    center, spread = x.mean(0), x.std(0)
    inputs = (x - center) / spread
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((inputs @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight = weight.detach() / spread
    bias = bias.detach() - center @ weight
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}
    ### END SOLUTION


# %% check="house_prices" points=3
check("house_prices", house_prices)

# %% mine=true
def by_formula(x, y, new):
    with_ones = [torch.cat([houses, torch.ones(len(houses), 1)], dim=1) for houses in (x, new)]
    line = torch.linalg.lstsq(with_ones[0], y[:, None]).solution
    return {"prices": (with_ones[1] @ line)[:, 0]}


my_house_prices = mine("house_prices", by_formula)

# %% [markdown]
# Ask it for the house of 2,000 square feet that the raw descent priced at 362.7.

# %% name="house-prices-used"
told = my_house_prices(size.float()[:, None], price.float(), torch.tensor([[2000.0]]))
print(f"{told['prices'].item():.1f}, and right is {0.18 * 2000 + 5:.1f}")

# %% claim=true
assert abs(told["prices"].item() - 365) < 1

# %% [markdown] side=true
# #### How large may a learning rate be?
#
# *{minutes} minutes*
#
# On the parabola of section 1, whose second derivative is 2, each step multiplied the distance by 1 - 2 * lr, and at lr = 1 it stopped shrinking.
# In general the limit is 2 divided by the second derivative, in the direction in which the loss is curved most.
# For the houses that is along w, where the mean of size ** 2 makes it 2.75 million times as large as along b.

# %% name="house-limit"
second = 2 * (size**2).mean().item()  # the second derivative along w
limit = 2 / second
calm, wild = descend_raw(50, 0.98 * limit)[0], descend_raw(50, 1.02 * limit)[0]
print(f"limit {limit:.2e}; the loss begins at {calm[0]:.0f}")
print(f"a little below it: {calm[-1]:.0f}, a little above it: {wild[-1]:.0f}")

# %% claim=true
assert (size**2).mean() > 2.7e6 and 3.6e-7 < limit < 3.7e-7
assert calm[-1] < calm[0] and wild[-1] > wild[0]

# %% [markdown] name="optimizers-text"
# ## 4 Optimizers
#
# *{minutes} minutes*
#
# Here are the three ways from the top again. The grey lines join places of equal loss, and each dot is a step; each optimizer has a rate that suits it here.

# %% figure=true
figures.surface()

# %% [markdown]
# The valley is steep across and nearly flat along, as the loss of the houses is steep along w and nearly flat along b. SGD has one rate for both. A rate that is large enough for the way along is nearly too large across, as lr = 1 was in section 1, so SGD jumps from wall to wall.
#
# An old remedy is **momentum**: each step also repeats a part of the step before, as a ball keeps rolling. Then the jumps to and fro cancel, and the steps along the valley add up. In `torch.optim.SGD(parameters, lr=0.04, momentum=0.7)` that part is 0.7; 0.9 is usual.
#
# The optimizer **Adam** does more: it remembers for each parameter how large its gradients usually are, and divides each step by that size.
#
# *Predict.* Three parameters have the gradients 0.0001, 1 and 10000. In Adam's first step, with lr = 0.001, do they move by the same amount?

# %% predict=true
guess = True  # True or False

# %% name="same-size-steps"
p = torch.zeros(3, requires_grad=True)
p.grad = torch.tensor([1e-4, 1.0, 1e4])
torch.optim.Adam([p], lr=0.001).step()
print(p.detach())
reveal(guess, torch.allclose(p[0], p[1:], rtol=1e-3))

# %% claim=true
assert torch.allclose(p.detach(), torch.full((3,), -0.001), rtol=1e-3)

# %% [markdown]
# 0.0001 / 0.0001, 1 / 1 and 10000 / 10000 are all 1, so all three step alike. That is why Adam, in the picture on the right, at first goes equally far along the valley and across, however steep each is. It swings a little past the bottom, because it has momentum too.
#
# *Predict.* Give Adam the raw houses of section 3, at 0.1. After 4,000 steps, where is b?

# %% predict=true
guess = "near 5"  # "near 0", "halfway" or "near 5"

# %% name="house-adam"
w, b = (torch.tensor(0.01, dtype=torch.float64, requires_grad=True) for _ in range(2))
adam = torch.optim.Adam([w, b], lr=0.1)
for _ in range(4000):
    adam.zero_grad()
    ((w * size + b - price) ** 2).mean().backward()
    adam.step()
print(f"price = {w.item():.4f} * size + {b.item():.4f}")
reveal(guess, "near 0" if b < 1 else "halfway" if b < 4 else "near 5")

# %% claim=true
assert abs(b.item() - 5) < 0.05 and abs(w.item() - 0.18) < 1e-3
_error = descend_raw(100, 0.1, (size - center) / spread)[0][-1]
assert _error < 1e-6  # by SGD on standardized sizes, in half of the 200 steps

# %% [markdown]
# So Adam does what no single rate could do: the raw houses arrive. On standardized sizes SGD took fewer than 200 steps, so scale your data first. But you can scale only what goes into a network. Inside it, the gradients of different layers still differ in size, and there Adam helps.
#
# Which one do you begin with? With Adam, at 0.001, 0.01 and 0.1: it needs the least search. Then try SGD with momentum at a few rates, and measure.

# %% [markdown] side=true
# #### And in a network?
#
# *{minutes} minutes*
#
# You repaired `HouseNet` in chapter 3b, but never trained it. It multiplies its output by 100, so its gradients are huge. Train it on the standardized sizes: by SGD at the rate that was right for the line, and at one a thousand times smaller, and then by Adam.

# %% mine=true
class PlainHouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layers = plain_mlp([features, 16, 1], nn.ReLU)

    def forward(self, x):
        return 100 * self.layers(x).squeeze(1)


MyHouseNet = mine("HouseNet", PlainHouseNet)

# %% name="house-net-learns"
sizes = ((size - center) / spread).float()[:, None]
right = price.float()
for kind, lr in ((torch.optim.SGD, 0.1), (torch.optim.SGD, 1e-4), (torch.optim.Adam, 0.03)):
    _ = torch.manual_seed(seed)
    learner = MyHouseNet(1)
    optimizer = kind(learner.parameters(), lr=lr)
    for _ in range(500):
        my_train_step(learner, optimizer, F.mse_loss, sizes, right)
    print(f"{kind.__name__:4} at {lr:<6}", [round(each, 1) for each in learner(sizes).tolist()])
print("right         ", [round(each, 1) for each in right.tolist()])

# %% claim=true
assert (learner(sizes) - right).abs().max() < 15

# %% [markdown]
# SGD ends in nan, or it says one price for all houses, and perhaps an absurd one: its first steps threw the hidden units so far that they give 0 for every house, and only the last bias is left. That bias may then jump to and fro for ever, as w did at lr = 1 in section 1. (At 0.00001 SGD arrives.) Adam divides the huge gradients by their own size, and finds the prices.

# %% [markdown] side=true
# #### The loss falls. Is it finished?
#
# *{minutes} minutes*
#
# Here a network 3-16-8-1 learns house prices from three columns: Adam at 0.001, 50 steps, and after every ten a look at 20 rows that it does not learn from.
# The noise-free value of the new house (0.5, 0.3, 0.2) is 1.2 * 0.5 + 0.5 * 0.3 + 0.8 * 0.2 = 0.91.

# %% name="house-net"
with torch.random.fork_rng():  # afterwards the generator is as it was
    torch.manual_seed(42)
    houses = torch.rand(100, 3)
    values = houses @ torch.tensor([[1.2], [0.5], [0.8]]) + 0.05 * torch.randn(100, 1)
    layers = nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)
house_net, looks = nn.Sequential(*layers), []
adam = torch.optim.Adam(house_net.parameters(), lr=0.001)

# %% name="house-net-result"
for epoch in range(1, 51):
    training = my_train_step(house_net, adam, F.mse_loss, houses[:80], values[:80])
    if epoch % 10 == 0:
        with torch.no_grad():
            validation = F.mse_loss(house_net(houses[80:]), values[80:]).item()
        looks.append((round(training, 3), round(validation, 3)))
new_house = house_net(torch.tensor([[0.5, 0.3, 0.2]])).item()
print("training and validation:", looks)
print(f"the new house: {new_house:.2f}")

# %% claim=true
assert looks[-1][0] < looks[0][0] and looks[-1][1] < looks[0][1]
assert looks[-1][0] > 10 * 0.05**2 and abs(new_house - 0.91) > 0.1

# %% [markdown]
# Both losses fall, and yet the answer is far off, because 50 steps of 0.001 are not enough.
# A loss that falls is not a loss that has arrived.

# %% [markdown] name="sin-text"
# ## 5 A curve
#
# *{minutes} minutes*
#
# Now use Adam where you can see what a network does: with one number in and one out.
# Take one wave of the sine, from -pi to pi. No straight line can follow it, but sixteen ReLU units can bend the line at sixteen places.
#
# ### Exercise: `sin_fit`
#
# *{minutes} minutes*
#
# Write a module of your own and the five lines of a training step (chapter 4a), from memory.
# The goal is a mean squared error below 0.02, with Adam at the rate 0.01. The best straight line has an error ten times as large:

# %% name="sin-fit-example"
line = torch.linspace(-math.pi, math.pi, 200)
print(F.mse_loss(0.3 * line, line.sin()))

# %% claim=true
_slope = (line * torch.sin(line)).sum() / (line**2).sum()  # the best one
assert abs(_slope - 0.3) < 0.01 and 0.19 < F.mse_loss(_slope * line, torch.sin(line)) < 0.21

# %% exercise="sin_fit"
### BEGIN STARTER
# class SinMLP(nn.Module):
#     """Two linear layers, 1 -> 16 -> 1, with a ReLU between them; no nn.Sequential."""
#
#     def __init__(self):
#         super().__init__()
#         raise NotImplementedError()
#
#     def forward(self, x):
#         raise NotImplementedError()
#
#
# def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
#     """Train a model to give sin(x) for x from -pi to pi, and return it.
#
#     After sin_fit(lr=0.01, optimizer="adam"), the mean squared error is below 0.02.
#
#     - model: a SinMLP to train in place, or None for a new one.
#     - steps: how many rounds of the five lines, each on 200 evenly spaced x of shape (200, 1),
#       both ends included, and their sines, with the mean squared error. With steps=0 the model
#       stays as it was.
#     - optimizer: "sgd" for torch.optim.SGD or "adam" for torch.optim.Adam, with learning rate lr.
#     """
#     raise NotImplementedError()
### END STARTER
class SinMLP(nn.Module):
    """Two linear layers, 1 -> 16 -> 1, with a ReLU between them; no nn.Sequential."""

    ### BEGIN SOLUTION
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(1, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    """Train a model to give sin(x) for x from -pi to pi, and return it.

    After sin_fit(lr=0.01, optimizer="adam"), the mean squared error is below 0.02.

    - model: a SinMLP to train in place, or None for a new one.
    - steps: how many rounds of the five lines, each on 200 evenly spaced x of shape (200, 1),
      both ends included, and their sines, with the mean squared error. With steps=0 the model
      stays as it was.
    - optimizer: "sgd" for torch.optim.SGD or "adam" for torch.optim.Adam, with learning rate lr.
    """
    model = SinMLP() if model is None else model
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        prediction = model(x)
        loss = F.mse_loss(prediction, y)
        loss.backward()
        chosen.step()
    return model
    ### END SOLUTION


# %% check="sin_fit" points=4
check("sin_fit", sin_fit)

# %% mine=true
def plain_sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    model = model or nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
    chosen = kinds[optimizer](model.parameters(), lr=lr)
    for _ in range(steps):
        my_train_step(model, chosen, F.mse_loss, line.view(200, 1), line.sin().view(200, 1))
    return model


my_sin_fit = mine("sin_fit", plain_sin_fit)

# %% [markdown]
# From the same first weights, train for more and more steps, and watch the line bend.

# %% name="sin-fit-used"
ages = (0, 30, 150, 1000)
bending = []
for steps in ages:
    _ = torch.manual_seed(seed)
    bending.append(my_sin_fit(steps=steps, lr=0.01, optimizer="adam"))

# %% claim=true
_errors = [F.mse_loss(_one(line[:, None]), line[:, None].sin()).item() for _one in bending]
assert _errors[0] > _errors[2] > _errors[3] and _errors[3] < 0.1

# %% figure=true
figures.fits_of(bending, says=[f"after {steps} steps" for steps in ages])

# %% [markdown]
# The training first moves the line as a whole, and then moves its corners to where the sine bends.

# %% [markdown] side=true
# #### Is one run evidence?
#
# *{minutes} minutes*
#
# No.
# Here are a hundred runs. `figures.sin_runs` trains them side by side: it gives each parameter one more dimension in front, for the run, and draws the first weights as `nn.Linear` does.

# %% name="hundred-runs"
coarse = line[::2]  # every other point
count = 20 if short else 100
run_losses, fits = figures.sin_runs(torch.optim.Adam, 0.01, 1000, count, coarse)
errors = run_losses[-1]
print(f"middle {errors.median():.5f}, worst {errors.max():.5f}")

# %% claim=true
assert errors.sort().values[-3] < 0.02  # once in some ten thousand, one gets stuck
assert errors.max() > (3 if short else 10) * errors.min()

# %% figure=true
figures.many_fits(coarse, fits, errors, bar=0.02)

# %% [markdown]
# The runs differ by a factor of ten and more, from the first weights alone. The goal of the exercise, the orange line, leaves room for that. (Once in some ten thousand first weights a run gets stuck above it; then train again.)

# %% [markdown] name="schedule-text"
# ## 6 A rate that changes
#
# *{minutes} minutes*
#
# Large steps are good far from the goal, and too coarse near it, so let the rate fall on the way.
# A **scheduler** does that: at each `scheduler.step()`, which comes after `optimizer.step()`, it writes a new `"lr"` into `optimizer.param_groups`.

# %% name="a-scheduler"
optimizer = torch.optim.SGD(MyMLP([64, 64, 10], nn.ReLU).parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)  # times 0.9
[group] = optimizer.param_groups
print(len(group["params"]), "tensors, lr", group["lr"])
optimizer.step()
scheduler.step()
print("lr", group["lr"])

# %% claim=true
assert len(group["params"]) == 4 and group["lr"] == 0.45

# %% [markdown]
# Call this one once an epoch, and the rate is down to a tenth after 22 epochs. Call it after every step by mistake, and the rate is there after the first epoch, which has 22 steps, and soon the model stands still.
#
# With Adam, the first steps are a risk: after one or two batches it cannot know yet how large the gradients usually are, and still it takes whole steps.
# So many programs let the rate rise for a while (the **warm-up**) before it falls, usually along half a cosine.

# %% name="scheduler" figure=true
p = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([p], lr=1.0)
warm = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=10)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=90)
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cosine], [10])
rates = []
for _ in range(100):
    rates.append(optimizer.param_groups[0]["lr"])
    optimizer.step()
    scheduler.step()
figures.rates(rates)

# %% claim=true
assert abs(rates[0] - 0.1) < 1e-6 and max(rates) == rates[10] == 1.0 and rates[-1] < 0.001


# %% [markdown]
# ### Exercise: `lr_at`
#
# *{minutes} minutes*
#
# Write a rate like this yourself, for every step. Take care at two places. The warm-up ends at base_lr, and there the cosine begins, so this rate comes twice; and after the last step the rate stays at min_lr.

# %% name="lr-example"
t = 0.5  # halfway down the cosine, from 1.0 to 0.0
print((1 + math.cos(math.pi * t)) / 2)

# %% exercise="lr_at"
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    """Return the learning rate of a step: linear warm-up, then half a cosine down to min_lr.

    With base_lr=1.0, min_lr=0.0, warmup_steps=2, total_steps=6, steps 0 to 6 give 0.5, 1.0,
    1.0, about 0.854, 0.5, about 0.146, 0.0.

    Steps count from 0; warmup_steps is less than total_steps and may be 0.
    In the warm-up (step < warmup_steps): base_lr * (step + 1) / warmup_steps.
    Then: min_lr + (base_lr - min_lr) * (1 + cos(pi * t)) / 2, where t goes from 0 at
    step = warmup_steps to 1 at step = total_steps. From there on: min_lr. A float.
    """
    ### BEGIN SOLUTION
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2
    ### END SOLUTION


# %% check="lr_at" points=2
check("lr_at", lr_at)

# %% mine=true
def plain_lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    kinds = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=base_lr)
    rise = kinds.LinearLR(optimizer, 1 / warmup_steps, total_iters=warmup_steps - 1)
    fall = kinds.CosineAnnealingLR(optimizer, total_steps - warmup_steps, min_lr)
    both = kinds.SequentialLR(optimizer, [rise, fall], [warmup_steps])
    for _ in range(step):
        optimizer.step()
        both.step()
    return optimizer.param_groups[0]["lr"]


my_lr_at = mine("lr_at", plain_lr_at)

# %% [markdown]
# What is it good for? Train the digit reader for ten epochs at a rate of 1.5, three times as high as before: once with this rate all the way, and once with your `lr_at`, which rises for two epochs (44 steps) and then falls. One run may be luck, so take five different first weights.

# %% name="lr-used"
shape = {"base_lr": 1.5, "min_lr": 0.0, "warmup_steps": 44, "total_steps": 220}
changing = [my_lr_at(step, **shape) for step in range(220)]  # ten epochs
reads = {}
plt.figure(figsize=(4, 3))
for name, lrs in {"constant": [1.5] * 220, "rises and falls": changing}.items():
    reads[name] = []
    for first in range(5):
        _ = torch.manual_seed(10 * seed + first)
        reader = MyMLP([64, 64, 10], nn.ReLU)
        sgd, rates = torch.optim.SGD(reader.parameters(), lr=1.5), iter(lrs)
        for _ in range(10):
            for x, y in loader:
                sgd.param_groups[0]["lr"] = next(rates)  # what a scheduler does
                my_train_step(reader, sgd, F.cross_entropy, x, y)
        says = reader(ink[unseen]).argmax(dim=1)
        reads[name].append((says == labels[unseen]).float().mean().item())
    plt.plot([name] * 5, reads[name], "o")
plt.gca().set(xlim=(-0.5, 1.5), ylim=(0, 1), ylabel="share of unseen digits read")
plt.show()

# %% claim=true
assert min(reads["rises and falls"]) > 0.8
_falls = [plain_lr_at(_step, **{**shape, "warmup_steps": 1}) for _step in range(220)]
for _first in range(5):  # without the warm-up
    _ = torch.manual_seed(10 * seed + _first)
    _reader = MyMLP([64, 64, 10], nn.ReLU)
    _sgd, _rates = torch.optim.SGD(_reader.parameters(), lr=1.5), iter(_falls)
    for _ in range(10):
        for _x, _y in loader:
            _sgd.param_groups[0]["lr"] = next(_rates)
            my_train_step(_reader, _sgd, F.cross_entropy, _x, _y)
    assert (_reader(ink[unseen]).argmax(dim=1) == labels[unseen]).float().mean() > 0.8

# %% [markdown]
# Each dot is one reader. At a constant 1.5, luck decides: a reader that is thrown too far does not find its way back in time, because each later step is as large. When the rate falls, all of them learn; in so small a model the fall alone would do. So take this home: let the rate fall, and with Adam, or with many layers, let it rise first.

# %% [markdown] name="recap"
# ## What you can do now
#
# - see from a curve whether its rate is too small or too large, and find a better one by trying
# - standardize the inputs, so that one rate suits all parameters, and turn the weights back into your units
# - use Adam, and let the rate rise and fall

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
# 1. Why can no rate find both the slope and the intercept of the house prices in reasonable time?
# 2. Two gradients are 0.0001 and 10000. How far does Adam's first step move each parameter?
# 3. Which optimizer do you begin with?
#
# <details><summary>Answers</summary>
#
# 1. With raw sizes, w bears only rates below 0.00000037, and b needs one near 0.1. A rate that is safe for w hardly moves b.
# 2. It moves both by lr.
# 3. With Adam, at a few rates; then try SGD with momentum, at a few rates, and measure.
#
# </details>

# %% [markdown]
# Your model reads the digits, and you can choose its rate. *Chapter 5a: Devices* takes the same training to another device.
# Before that, or on another day, *Chapter 4x: More tools* is an excursion: clipping, data of your own, how a training goes on after a stop, and optimizers written by hand.
#
# Here the sitting ends. What follows can wait for another evening: nothing later needs it.

# %% [markdown] name="claim-text"
# ## 7 Which optimizer is faster?
#
# *{minutes} minutes*
#
# ### Exercise: `compare_optimizers`
#
# *{minutes} minutes*
#
# Is Adam faster than SGD? For a fair comparison, let both begin at the same first weights, and repeat that for several seeds. (Whether the two rates are fair is another question.)

# %% name="compare-example"
sgd_steps, adam_steps = [40, 60], [100, 100]  # to the goal, for two seeds
print("ratio:", sum(sgd_steps) / sum(adam_steps))

# %% exercise="compare_optimizers"
### BEGIN STARTER
# def start(seed):
#     """A model with the first weights of this seed, and the data (leave this as it is)."""
#     torch.manual_seed(seed)
#     model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
#     x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
#     return model, x, torch.sin(x)
#
#
# def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
#     """Count the steps that SGD and Adam need to bring the loss below a goal, seed by seed.
#
#     If SGD takes 40 and 60 steps and Adam 100 and 100, the ratio is 0.5.
#
#     - For each seed, both begin at the same first weights, those of start(seed). The loss is
#       the mean squared error on all of x and y.
#     - The count is how many steps it takes until the loss is below goal: 0 if it is so from the
#       start, and limit if it is not below after limit steps either (nan is not below).
#     - The result is {"sgd": list of counts, "adam": list of counts, "ratio": float}; the ratio
#       is the sum of the counts of SGD divided by that of Adam.
#     """
#     raise NotImplementedError()
### END STARTER
def start(seed):
    """A model with the first weights of this seed, and the data (leave this as it is)."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
    x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
    return model, x, torch.sin(x)


def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    """Count the steps that SGD and Adam need to bring the loss below a goal, seed by seed.

    If SGD takes 40 and 60 steps and Adam 100 and 100, the ratio is 0.5.

    - For each seed, both begin at the same first weights, those of start(seed). The loss is
      the mean squared error on all of x and y.
    - The count is how many steps it takes until the loss is below goal: 0 if it is so from the
      start, and limit if it is not below after limit steps either (nan is not below).
    - The result is {"sgd": list of counts, "adam": list of counts, "ratio": float}; the ratio
      is the sum of the counts of SGD divided by that of Adam.
    """
    ### BEGIN SOLUTION
    counts = {"sgd": [], "adam": []}
    for seed in seeds:
        kinds = ("sgd", torch.optim.SGD, sgd_lr), ("adam", torch.optim.Adam, adam_lr)
        for name, kind, lr in kinds:
            model, x, y = start(seed)
            optimizer = kind(model.parameters(), lr=lr)
            taken = 0
            while taken < limit:
                loss = F.mse_loss(model(x), y)
                if loss.item() < goal:
                    break
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                taken += 1
            counts[name].append(taken)
    return {**counts, "ratio": sum(counts["sgd"]) / sum(counts["adam"])}
    ### END SOLUTION


# %% check="compare_optimizers" points=3
check("compare_optimizers", compare_optimizers)

# %% mine=true
def plain_compare(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    counts = {}
    kinds = ("sgd", torch.optim.SGD, sgd_lr), ("adam", torch.optim.Adam, adam_lr)
    for name, kind, lr in kinds:
        _ = torch.manual_seed(seeds[0])  # the same first weights for both
        below = figures.sin_runs(kind, lr, limit, len(seeds), line[::4])[0] < goal
        needed = torch.where(below.any(dim=0), below.int().argmax(dim=0), limit)
        counts[name] = needed.tolist()
    return {**counts, "ratio": sum(counts["sgd"]) / sum(counts["adam"])}


my_compare_optimizers = mine("compare_optimizers", plain_compare)

# %% [markdown] side=true
# #### What does your comparison say?
#
# *{minutes} minutes*
#
# Let it compare the two at three pairs of rates, from five first weights each.

# %% name="compare-used"
for sgd_lr, adam_lr in ((0.01, 0.001), (0.1, 0.001), (0.1, 0.01)):
    ratio = my_compare_optimizers(range(5), sgd_lr=sgd_lr, adam_lr=adam_lr)["ratio"]
    print(f"SGD at {sgd_lr} takes {ratio:.2f} times the steps of Adam at {adam_lr}")

# %% claim=true
_ratios = [
    my_compare_optimizers(range(5), sgd_lr=_sgd, adam_lr=_adam)["ratio"]
    for _sgd, _adam in ((0.01, 0.001), (0.1, 0.001), (0.1, 0.01))
]
assert _ratios[0] > 1.1 and _ratios[1] < 0.3 and 0.7 < _ratios[2] < 1.5

# %% [markdown]
# From the first line you would say that Adam is faster, and from the second that SGD is, several times. (A run that has not arrived after 1,000 steps counts as 1,000.) At the better rate of each, they are close.
# So when somebody tells you that one optimizer beats another, ask for the rates, and whether anybody looked for better ones.
