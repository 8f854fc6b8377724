"""Questions about chapter 4: the training loop, what a loss takes, learning rates and optimizers."""

from __future__ import annotations

import math
from random import Random

from autograder.questions.computed_question import RIGHT, Draft, error_choice, join_lines
from autograder.questions.question_generator_registry import QuestionGenerators

questions = QuestionGenerators()
training_loop = questions.from_sitting("ch04a_training_loop")
when_it_fails = questions.from_sitting("ch04b_when_it_fails")
rates_and_optimizers = questions.from_sitting("ch04c_rates_and_optimizers")
more_tools = questions.from_sitting("ch04x_more_tools", optional=True)

ZERO, BACKWARD, STEP = "optimizer.zero_grad()", "loss.backward()", "optimizer.step()"


def weight_and_sgd(start: float, rate: float) -> str:
    """Return the program that makes one weight and its optimizer."""
    made = f"w = torch.tensor({float(start)}, requires_grad=True)"
    return join_lines(made, f"optimizer = torch.optim.SGD([w], lr={rate})")


def loop(rounds: int, *rows: str) -> str:
    """Return the program that runs some lines several times."""
    return join_lines(f"for _ in range({rounds}):", *(f"    {row}" for row in rows))


@training_loop(
    "sgd-update-rule", "five-step-loop", "autograd-definition", also=("table-optimizer-step", "optimizer-role")
)
def weight_after_a_step(random: Random) -> Draft:
    """Ask for a weight before or after the optimizer's step."""
    w, x, rate = random.randint(2, 6), random.randint(2, 5), random.choice([0.1, 0.01, 0.05])
    gap = random.choice([-4, -3, -2, 2, 3, 4])
    stepped = random.random() < 0.75
    rows = [f"loss = (w * {x} - {w * x - gap}) ** 2", BACKWARD, *([STEP] if stepped else [])]
    slope = 2 * gap * x
    new = w - rate * slope
    wrong = [w + rate * slope, w - slope, w - rate * gap, w, new, w - rate, w - rate * 2 * gap]
    because = (
        f"The error is {gap}, so the gradient is 2 * {gap} * {x} = {slope}, and SGD takes {rate} times that away: "
        f"{w} - {rate} * {slope} = {RIGHT}."
        if stepped
        else f"`backward` only writes the gradient, {slope}, into `w.grad`; `step` would change the weight: {RIGHT}."
    )
    return Draft(join_lines(weight_and_sgd(w, rate), *rows), "w.item()", wrong, because)


@training_loop(
    "five-step-loop",
    "mistake-forget-zero-grad",
    "gradients-accumulate",
    also=("zero-grad-no-error", "interview-walk-through-loop"),
)
def loop_without_a_line(random: Random) -> Draft:
    """Ask what two rounds of a loop do that lacks a line."""
    w, k = random.randint(5, 20), random.randint(2, 9)
    left_out = random.choice([ZERO, BACKWARD, STEP])
    rows = [row for row in (ZERO, f"loss = {k} * w", BACKWARD, STEP) if row != left_out]
    code = join_lines(weight_and_sgd(w, 0.1), loop(2, *rows))
    because = {
        ZERO: f"Nobody clears the first gradient, so the second step uses {k} + {k}: {w} - 0.1 * {k} - 0.1 * {2 * k} "
        f"= {RIGHT}, and torch reports no error.",
        BACKWARD: f"Without `backward` there is no gradient, and `step` changes nothing, without an error: {RIGHT}.",
        STEP: f"Only `step` changes weights; the gradients are computed for nothing: {RIGHT}.",
    }[left_out]
    wrong = [w - 0.2 * k, w - 0.3 * k, w, error_choice(6), w - 0.1 * k, w - 0.4 * k]
    return Draft(code, "w.item()", wrong, because)


@training_loop("mistake-forget-zero-grad", "five-step-loop", also=("zero-grad-placement", "zero-grad-after-forward-ok"))
def place_of_zero_grad(random: Random) -> Draft:
    """Ask what the place of zero_grad in the loop changes."""
    w, k = random.randint(5, 20), random.randint(2, 9)
    forward = f"loss = {k} * w"
    rows, words = random.choice(
        [
            ((forward, ZERO, BACKWARD, STEP), "between the forward pass and `backward` is as good as first"),
            ((forward, BACKWARD, STEP, ZERO), "last is as good as first"),
            ((forward, BACKWARD, ZERO, STEP), ""),
        ]
    )
    code = join_lines(weight_and_sgd(w, 0.1), loop(2, *rows))
    because = (
        f"It clears the old gradient before the next one, and {words}: {w} - 2 * 0.1 * {k} = {RIGHT}."
        if words
        else f"It clears each gradient before `step` could use it, so the weight stays: {RIGHT}."
    )
    wrong = [w, w - 0.2 * k, w - 0.3 * k, w - 0.1 * k, w + 0.2 * k]
    return Draft(code, "w.item()", wrong, because)


@training_loop(
    "mistake-forget-zero-grad",
    "gradients-accumulate",
    "sgd-update-rule",
    also=("accumulated-leftover-in-optimizer-example",),
)
def left_over_gradient(random: Random) -> Draft:
    """Ask for a step where something is left in .grad from before."""
    w, k, left = random.randint(5, 20), random.randint(2, 9), random.randint(10, 30)
    cleared = random.random() < 0.4
    code = join_lines(
        weight_and_sgd(w, 0.1),
        f"w.grad = torch.tensor({left}.0)",
        *([ZERO] if cleared else []),
        f"loss = {k} * w",
        BACKWARD,
        STEP,
    )
    because = (
        f"`zero_grad` clears the {left}, so that the step uses {k} alone: {w} - 0.1 * {k} = {RIGHT}."
        if cleared
        else f"`backward` adds {k} to the {left} that is left over: {w} - 0.1 * {left + k} = {RIGHT}."
    )
    wrong = [w - 0.1 * k, w - 0.1 * (left + k), w - 0.1 * left, w, w - 0.2 * k]
    return Draft(code, "w.item()", wrong, because)


@training_loop("five-step-loop", "backward-twice-crashes", also=("define-by-run",))
def loop_with_one_forward_pass(random: Random) -> Draft:
    """Ask what happens if the forward pass stands before the loop."""
    w, k = random.randint(2, 9), random.randint(2, 9)
    before = random.random() < 0.6
    forward = f"loss = (w - {w + k}) ** 2"
    rows = [ZERO, BACKWARD, STEP] if before else [ZERO, forward, BACKWARD, STEP]
    code = join_lines(weight_and_sgd(w, 0.25), *([forward] if before else []), loop(2, *rows))
    because = (
        "The second round finds no graph, since the first `backward` has used it up, and only a forward pass makes "
        f"another: {RIGHT}."
        if before
        else f"Each round has its own forward pass. Half of the distance {k} is gone after one step, and half of the "
        f"rest after two: {RIGHT}."
    )
    wrong = [error_choice(6), w + 0.75 * k, w + k / 2, w + k, w - 0.75 * k]
    return Draft(code, "w.item()", wrong, because)


@training_loop("dataloader-epochs")
def batches_of_an_epoch(random: Random) -> Draft:
    """Ask how a loader cuts its rows into batches."""
    size, full, rest = random.randint(4, 9), random.randint(2, 4), random.randint(1, 3)
    rows = size * full + rest
    left = f"{rest} row{'s' * (rest > 1)}"
    epochs = random.choice([1, 2, 3])
    code = join_lines(
        "from torch.utils.data import DataLoader",
        f"loader = DataLoader(range({rows}), batch_size={size}, shuffle=True)",
        f"sizes = [len(batch) for {f'epoch in range({epochs}) for ' * (epochs > 1)}batch in loader]",
    )
    if epochs == 1:
        because = f"{full} batches of {size}, and a last one with the {left} left over: {RIGHT}. Every row comes once."
        lists = [[size] * full, [size] * (full + 1), [rest, *[size] * full], [rows], [full] * size]
        return Draft(code, "sizes", lists, because)
    each = full + 1
    because = f"An epoch has {each} batches, of which the last has {left}, and there are {epochs} epochs: {RIGHT}."
    wrong = [epochs * full, each, epochs * rows, -(-epochs * rows // size), full, epochs * each + 1]
    return Draft(code, "len(sizes)", wrong, because)


@training_loop("group-by-examples", "dataloader-epochs", also=("mean-over-rows",))
def mean_loss_per_row(random: Random) -> Draft:
    """Ask for the mean loss of batches of unequal size."""
    size, rest = random.randint(3, 9), random.randint(1, 2)
    one, other = random.sample(range(1, 10), 2)
    code = join_lines(
        "total, rows = 0.0, 0",
        f"for loss, count in (({one}.0, {size}), ({other}.0, {rest})):",
        "    total += loss * count",
        "    rows += count",
    )
    prompt = (
        f"A batch of {size} rows has the mean loss {one}, and the last one, with {rest} row{'s' * (rest > 1)}, has "
        f"{other}. What is the mean loss of all rows, `total / rows`?"
    )
    right = (one * size + other * rest) / (size + rest)
    because = f"Each row counts alike: ({size} * {one} + {rest} * {other}) / {size + rest} = {RIGHT}. "
    because += f"The mean of the two means, {(one + other) / 2:g}, would count the small batch too much."
    wrong = [(one + other) / 2, (one + other) / (size + rest), one * size + other * rest, right * 2, one]
    return Draft(code, "total / rows", wrong, because, prompt)


@training_loop("mean-std-dim0", also=("validation-loop",))
def accuracy_of_logits(random: Random) -> Draft:
    """Ask which share of some rows a classifier gets right."""
    rows = [random.sample(range(-9, 10), 3) for _ in range(4)]
    labels = [random.choice([row.index(max(row)), random.randint(0, 2)]) for row in rows]
    code = join_lines(
        f"logits = torch.tensor({[[float(each) for each in row] for row in rows]})",
        f"labels = torch.tensor({labels})",
        "right = (logits.argmax(dim=1) == labels).float()",
    )
    says = [row.index(max(row)) for row in rows]
    because = f"The largest of each row stands at {', '.join(map(str, says))}, the labels are "
    because += f"{', '.join(map(str, labels))}: a share of {RIGHT}."
    return Draft(code, "right.mean().item()", [0.0, 0.25, 0.5, 0.75, 1.0], because)


@training_loop("validation-loop", "eval-is-not-no-grad", "train-eval-switch", also=("eval-deterministic",))
def evaluation_in_which_mode(random: Random) -> Draft:
    """Ask what an evaluation changes in a model that is left in train mode."""
    middle, gap = random.randint(10, 90), random.randint(1, 9)
    evaluating, recording = random.choice([(True, True), (True, False), (False, False)])
    call = f"y = norm(torch.tensor([[{middle - gap}.0], [{middle + gap}.0]]))"
    code = join_lines(
        "norm = nn.BatchNorm1d(1)",
        *(["norm.eval()"] if evaluating else []),
        *([call] if recording else ["with torch.no_grad():", f"    {call}"]),
    )
    moved = 0.1 * middle
    wrong = [(mean, grad) for mean in (0, moved) for grad in (True, False)]
    because = {
        (True, True): f"Eval mode keeps the running mean where it was, but the pass is recorded: {RIGHT}.",
        (True, False): f"Eval mode keeps the running mean, and `no_grad` the memory: {RIGHT}. So one evaluates.",
        (False, False): f"`no_grad` only stops the recording. In train mode the layer learns from what it should only "
        f"be measured on: {RIGHT}.",
    }[evaluating, recording]
    return Draft(code, "norm.running_mean.item(), y.requires_grad", wrong, because)


@training_loop("first-losses", "match-loss-to-logits", also=("bce-train-step-example",))
def first_loss(random: Random) -> Draft:
    """Ask for the loss of a classifier that knows nothing yet."""
    n, k = random.randint(2, 60), random.choice([each for each in range(3, 30) if each != 7])
    code = join_lines(
        f"logits = torch.zeros({n}, {k})",
        f"labels = torch.zeros({n}, dtype=torch.int64)",
        "loss = F.cross_entropy(logits, labels)",
    )
    because = f"Equal scores give each of the {k} classes the share 1 / {k}, and minus its log is log({k}) = {RIGHT}."
    wrong = [0.0, 1 / k, math.log(n), math.log(2), 1.0, math.log(k) / n]
    return Draft(code, "loss.item()", wrong, because)


@when_it_fails("match-loss-to-logits", also=("wrong-loss-double-sigmoid", "perfect-prediction-zero-loss"))
def loss_after_a_softmax(random: Random) -> Draft:
    """Ask how small a loss gets with a softmax too many."""
    k, sure = random.randint(3, 9), random.randint(30, 90)
    twice = random.random() < 0.65
    right_label = random.randrange(k)
    row = [f"{sure}.0" if place == right_label else "0.0" for place in range(k)]
    code = join_lines(
        f"logits = torch.tensor([[{', '.join(row)}]])",
        f"label = torch.tensor([{right_label}])",
        f"loss = F.cross_entropy(logits{'.softmax(dim=1)' if twice else ''}, label)",
    )
    floor = math.log(1 + (k - 1) / math.e)
    because = (
        f"`cross_entropy` does the softmax itself, and takes the shares 1 and 0 for logits: log(1 + {k - 1} / e) = "
        f"{RIGHT}, although nobody could be surer. It never falls below that."
        if twice
        else f"The model is right and very sure, so the loss is about {RIGHT}."
    )
    return Draft(code, "loss.item()", [0.0, floor, math.log(k), 1.0, 1 / k, float(sure)], because)


@when_it_fails("match-loss-to-logits", "first-losses", also=("perfect-prediction-zero-loss", "loss-function-menu"))
def loss_of_yes_or_no(random: Random) -> Draft:
    """Ask what it costs to be sure, unsure, or sure of the opposite."""
    size, answer = random.choice([each / 2 for each in range(10, 31)]), random.choice([0, 1])
    logit = random.choice([size, -size, 0])
    code = join_lines(
        f"logit, label = torch.tensor([{float(logit)}]), torch.tensor([{answer}.0])",
        "loss = F.binary_cross_entropy_with_logits(logit, label)",
    )
    is_right = (logit > 0) == bool(answer)
    because = (
        f"A logit of 0 says fifty-fifty, and that costs log(2) = {RIGHT}, whatever the answer."
        if logit == 0
        else f"A logit of {logit:g} is very sure of {answer}, and that is right, so it costs next to nothing: {RIGHT}."
        if is_right
        else f"A logit of {logit:g} is very sure of {int(logit > 0)}, the opposite, and costs about its size: {RIGHT}."
    )
    wrong = [math.log(2), math.log1p(math.exp(-size)), math.log1p(math.exp(size)), 1.0, 0.5, size / 2]
    return Draft(code, "loss.item()", wrong, because)


@when_it_fails("match-loss-to-logits", also=("three-critical-properties-break-silently", "labels-long-dtype"))
def targets_of_cross_entropy(random: Random) -> Draft:
    """Ask which targets cross_entropy takes."""
    n, k = random.sample(range(3, 30), 2)
    dtype, shape, words = random.choice(
        [
            ("int64", (n,), "One label in int64 for each row is what it wants, and it gives the mean"),
            ("float32", (n,), "Labels are whole numbers, int64; as floats it refuses them"),
            ("float32", (n, k), "Floats of the shape of the logits are shares, and it gives the mean over the rows"),
            ("int64", (n, k), "Shares have to be floats; whole numbers of this shape it refuses"),
        ]
    )
    code = join_lines(
        f"logits = torch.zeros({n}, {k})",
        f"targets = torch.zeros({shape}, dtype=torch.{dtype})",
        "loss = F.cross_entropy(logits, targets)",
    )
    return Draft(code, "tuple(loss.shape)", [error_choice(3), (), (n,), (n, k), (k,)], f"{words}: {RIGHT}.")


@when_it_fails("stop-at-lowest-validation-loss", "validation-loop")
def epoch_of_early_stopping(random: Random) -> Draft:
    """Ask when training stops and which epoch is kept."""
    patience = random.choice([2, 3])
    falling = sorted(random.sample(range(50, 96), random.randint(2, 4)), reverse=True)
    lowest = falling[-1]
    above = [random.randint(lowest + 1, 99) for _ in range(patience)]
    hundredths = [*falling, *above, random.randint(10, lowest - 5), random.randint(lowest, 99)]
    code = join_lines(
        f"losses = {[each / 100 for each in hundredths]}  # in the drawer",
        "best = losses[0] + 1",
        "for epoch, loss in enumerate(losses):",
        "    if loss < best:",
        "        best, best_epoch = loss, epoch",
        f"    if epoch - best_epoch == {patience}:",
        "        break",
    )
    at, stop, low = len(falling) - 1, len(falling) - 1 + patience, hundredths.index(min(hundredths))
    because = (
        f"The loss is lowest at epoch {at}, {lowest / 100}; {patience} epochs without a lower one, and the loop stops: "
        f"{RIGHT}. It never sees the {min(hundredths) / 100} that would have come."
    )
    wrong = [(low + 1, low), (at + 1, at), (stop, low), (stop, stop), (low, low), (at, at)]
    return Draft(code, "epoch, best_epoch", wrong, because)


@when_it_fails(
    "stop-at-lowest-validation-loss",
    "validation-loop",
    also=("manual-loop-random-targets", "interview-noisy-validation"),
)
def epoch_to_keep(random: Random) -> Draft:
    """Ask which of the epochs in a history is worth keeping."""
    count = random.randint(5, 7)
    best = random.randint(1, count - 3)
    training = sorted(random.sample(range(5, 95), count), reverse=True)
    bottom = random.randint(40, 60)
    drawer = [bottom + 7 * abs(place - best) + random.randint(0, 4) * (place != best) for place in range(count)]
    code = join_lines(
        f"training = {[each / 100 for each in training]}",
        f"drawer = {[each / 100 for each in drawer]}",
    )
    prompt = "These are the losses of a model after each epoch, from epoch 0 on. Which epoch's weights would you keep?"
    because = (
        f"What counts is the loss in the drawer, which is lowest at epoch {RIGHT}. "
        "After that the training loss goes on falling, because the model learns by heart."
    )
    wrong = [count - 1, best + 1, 0, best - 1, best + 2]
    return Draft(code, "drawer.index(min(drawer))", wrong, because, prompt)


@rates_and_optimizers("steepest-ascent", "sgd-update-rule", also=("gradient-descent-concept", "loss-function-concept"))
def places_of_descent(random: Random) -> Draft:
    """Ask where two steps on a parabola lead."""
    bottom, start = random.sample(range(2, 23, 2), 2)
    rate = random.choice([0.1, 0.25, 0.5, 0.75, 1.0])
    code = join_lines(
        weight_and_sgd(start, rate),
        loop(2, ZERO, f"loss = (w - {bottom}) ** 2", BACKWARD, STEP),
    )
    factor = 1 - 2 * rate
    gap = start - bottom
    because = (
        f"Each step leaves 1 - 2 * {rate} = {factor:g} of the distance to {bottom}. It is {gap:g} at first, "
        f"then {gap * factor:g} and {gap * factor**2:g}: {RIGHT}."
    )
    wrong = [
        bottom,
        bottom + gap * factor,
        start,
        bottom + gap * (1 - rate) ** 2,
        bottom - gap,
        start - 2 * rate * gap * 2,
    ]
    return Draft(code, "w.item()", wrong, because)


@rates_and_optimizers(
    "manual-linreg-tiny-lr",
    "sgd-update-rule",
    "steepest-ascent",
    also=("gradient-descent-concept", "converge-to-correct-outputs"),
)
def weight_at_a_large_rate(random: Random) -> Draft:
    """Ask what becomes of a weight at a rate below, at or above the limit."""
    k, start, rounds = random.choice([2, 4, 5]), random.randint(2, 9), 4
    factor = random.choice([-2, -1, -3, 0.5, -0.5])
    rate = (1 - factor) / (2 * k)
    code = join_lines(
        weight_and_sgd(start, rate),
        loop(rounds, ZERO, f"loss = {k} * w ** 2", BACKWARD, STEP),
    )
    fate = "explodes" if abs(factor) > 1 else "jumps to and fro for ever" if factor == -1 else "shrinks"
    because = (
        f"The gradient is {2 * k} * w, so each step multiplies w by 1 - {rate:g} * {2 * k} = {factor:g}. "
        f"It {fate}: after {rounds} steps {RIGHT}."
    )
    wrong = [start * factor, start * factor**3, 0, start, -start * factor**4, start * factor**2, start / 2]
    return Draft(code, "w.item()", wrong, because)


@rates_and_optimizers("manual-linreg-tiny-lr", "steepest-ascent", also=("gradient-descent-concept",))
def limit_of_the_rate(random: Random) -> Draft:
    """Ask for the learning rate above which descent explodes."""
    k = random.choice([2, 3, 4, 5, 8, 10, 20, 25, 40, 50])
    other = random.choice([0.1, 0.2, 0.5])
    code = join_lines("def loss(w, b):", f"    return {k} * w ** 2 + {other} * b ** 2")
    prompt = (
        "Gradient descent goes down this loss, at one learning rate for both numbers. Above which rate does it explode?"
    )
    because = (
        "The limit is 2 divided by the second derivative where the loss is curved most, along w: "
        f"2 / {2 * k} = {RIGHT}. So b, along which it is flat, has to walk with tiny steps."
    )
    wrong = [1 / other, 2 / k, 1 / (2 * k), float(k), 2 / (k + other), 2.0 * k]
    return Draft(code, f"2 / (2 * {k})", wrong, because, prompt)


@rates_and_optimizers(
    "normalise-critical-for-stability", "autograd-definition", also=("manual-linreg-discovers-target",)
)
def gradients_at_raw_scale(random: Random) -> Draft:
    """Ask how much larger one gradient is than the other on raw data."""
    size = random.choice([120, 250, 400, 750, 900, 1200, 1800, 2400])
    w, b, k = random.randint(2, 9), random.randint(1, 9), random.randint(10, 90)
    code = join_lines(
        f"w = torch.tensor({w}.0, requires_grad=True)",
        f"b = torch.tensor({b}.0, requires_grad=True)",
        f"((w * {size} + b - {k}) ** 2).backward()",
    )
    prompt = "How many times as large as the gradient of `b` is that of `w`?"
    because = (
        f"Both have the factor 2 * error, and w stands with {size} beside it: {RIGHT} times. A rate that is safe for w "
        "hardly moves b, so standardize the sizes."
    )
    wrong = [1.0, size**2, w * size, 2 * size, w / b, size / 2]
    return Draft(code, "(w.grad / b.grad).item()", wrong, because, prompt)


@rates_and_optimizers("normalise-critical-for-stability", "feature-normalisation-output")
def slope_in_the_old_units(random: Random) -> Draft:
    """Ask what a weight for standardized sizes means in the units of the data."""
    center, spread = random.choice([1000, 1500, 2000]), random.choice([100, 200, 250, 400, 500])
    w = random.choice([20, 40, 50, 60, 80, 90, 120])
    b = random.choice([200, 250, 300, 350])
    code = join_lines(
        f"center, spread = {center}.0, {spread}.0",
        "def price(size):",
        f"    return {w} * (size - center) / spread + {b}",
    )
    more = random.choice([100, 500, 1000])
    prompt = f"By how much does the price rise if a house is {more} square feet larger?"
    because = (
        f"{w} for each standard deviation of {spread} is {w / spread:g} for one square foot, times {more}: {RIGHT}."
    )
    wrong = [w, w * more, w * (more - center) / spread, more / spread, w * more / center, b + w]
    return Draft(code, f"price({center + more}) - price({center})", wrong, because, prompt)


@rates_and_optimizers("adam-per-parameter-rate", "sgd-update-rule", also=("adam-is-sgd-plus-bookkeeping",))
def first_step_of_an_optimizer(random: Random) -> Draft:
    """Ask how far the first step of Adam or SGD moves two weights."""
    small, large = random.choice([0.5, 2, 3, 4]), random.choice([20, 30, 50, 400])
    rate, kind = random.choice([0.1, 0.01, 0.02, 0.05, 0.2]), random.choice(["Adam", "Adam", "SGD"])
    code = join_lines(
        "w = torch.zeros(2, requires_grad=True)",
        f"w.grad = torch.tensor([{float(small)}, {float(large)}])",
        f"torch.optim.{kind}([w], lr={rate}).step()",
    )
    because = (
        f"Adam divides each step by the size of its gradients, so both move by the rate: {RIGHT}."
        if kind == "Adam"
        else f"SGD takes the rate times each gradient away: {RIGHT}."
    )
    by_sgd = [-rate * small, -rate * large]
    wrong = [by_sgd, [-rate, -rate], [rate, rate], [-rate / small, -rate / large], [0, -rate], [-small, -large]]
    return Draft(code, "w.tolist()", wrong, because)


@rates_and_optimizers("adam-per-parameter-rate", "sgd-update-rule")
def first_step_whatever_the_loss(random: Random) -> Draft:
    """Ask what a factor on the loss changes in the first step of Adam or SGD."""
    start, k, factor = random.randint(2, 20), random.randint(2, 9), random.choice([10, 100])
    kind, rate = random.choice(["Adam", "Adam", "SGD"]), random.choice([0.1, 0.01, 0.5])
    code = join_lines(
        f"w = torch.tensor({start}.0, requires_grad=True)",
        f"optimizer = torch.optim.{kind}([w], lr={rate})",
        f"loss = {factor} * ({k} * w)",
        BACKWARD,
        STEP,
    )
    wrong = [start - rate, start - rate * k, start - rate * k * factor, start - rate * factor, start + rate, start]
    because = (
        f"The gradient is {factor} * {k}, and Adam divides by its size: {start} - {rate} = {RIGHT}."
        if kind == "Adam"
        else f"The gradient is {factor} * {k}, and SGD takes {rate} times that away: {RIGHT}."
    )
    return Draft(code, "w.item()", wrong, because)


@rates_and_optimizers("scheduler-writes-the-rate", "five-step-loop")
def rate_after_a_scheduler(random: Random) -> Draft:
    """Ask which rate a scheduler has left."""
    rate, gamma, rounds = (
        random.choice([0.2, 0.4, 0.8, 1.0, 1.6, 2.0, 4.0]),
        random.choice([0.5, 0.1, 0.2]),
        random.choice([2, 3]),
    )
    per_batch = random.random() < 0.5
    batches = 2
    code = join_lines(
        f"optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr={rate})",
        f"scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma={gamma})",
        f"for epoch in range({rounds}):",
        f"    for batch in range({batches}):",
        "        optimizer.step()",
        f"{' ' * (8 if per_batch else 4)}scheduler.step()",
    )
    calls = rounds * batches if per_batch else rounds
    because = (
        f"The scheduler steps with each batch, {calls} times: {rate} * {gamma} ** {calls} = {RIGHT}."
        if per_batch
        else f"The scheduler steps once an epoch, {calls} times: {rate} * {gamma} ** {calls} = {RIGHT}."
    )
    powers = [rounds * batches, rounds, rounds - 1, 1, rounds + 1]
    return Draft(code, 'optimizer.param_groups[0]["lr"]', [rate * gamma**each for each in powers], because)


@more_tools("sgd-update-rule")
def clipped_gradients(random: Random) -> Draft:
    """Ask what clipping leaves of two gradients."""
    a, b, c = random.choice([(3, 4, 5), (4, 3, 5), (6, 8, 10), (5, 12, 13), (8, 15, 17), (15, 8, 17)])
    scale, most = random.choice([1, 2, 10, 100]), random.choice([1.0, 2.0, 100000.0])
    code = join_lines(
        "w = torch.zeros(2, requires_grad=True)",
        f"w.grad = torch.tensor([{a * scale}.0, {b * scale}.0])",
        f"norm = nn.utils.clip_grad_norm_([w], max_norm={most})",
    )
    share = min(1.0, most / (c * scale))
    whole = [a * scale, b * scale]
    because = (
        f"The length is {c * scale}, which is allowed, so nothing changes: {RIGHT}."
        if share == 1
        else f"The length is {c * scale}. Both shrink to {most:g} / {c * scale}, so the direction stays: {RIGHT}."
    )
    wrong = [[min(each, most) for each in whole], whole, [most, most], [a / (a + b), b / (a + b)]]
    wrong += [[a / c, b / c], [2 * a / c, 2 * b / c], [0, 0]]
    return Draft(code, "w.grad.tolist()", wrong, because)


@more_tools("sgd-update-rule", "steepest-ascent")
def steps_with_momentum(random: Random) -> Draft:
    """Ask where two steps with momentum lead."""
    start, slope, keep = random.randint(5, 20), random.randint(2, 9), random.choice([0.5, 0.9])
    with_momentum = random.random() < 0.7
    code = join_lines(
        f"w = torch.tensor({start}.0, requires_grad=True)",
        f"optimizer = torch.optim.SGD([w], lr=0.1{f', momentum={keep}' if with_momentum else ''})",
        loop(2, ZERO, f"loss = {slope} * w", BACKWARD, STEP),
    )
    plain, moved = start - 0.2 * slope, start - 0.1 * slope * (2 + keep)
    because = (
        f"The first step goes by 0.1 * {slope}; the second has the velocity {keep} * {slope} + {slope}: {RIGHT}."
        if with_momentum
        else f"Without momentum both steps go by 0.1 * {slope}: {RIGHT}."
    )
    wrong = [plain, moved, start - 0.1 * slope, start - 0.1 * slope * (1 + keep), start - 0.4 * slope]
    return Draft(code, "w.item()", wrong, because)


@more_tools("dataloader-epochs", "broadcasting-rule")
def batch_of_rows(random: Random) -> Draft:
    """Ask what a loader makes of two rows, which it stacks."""
    n, m = random.sample(range(2, 30), 2)
    second = random.choice([n, n, m])
    code = join_lines(
        "from torch.utils.data import DataLoader",
        f"rows = [torch.zeros({n}), torch.zeros({second})]",
        "batch = next(iter(DataLoader(rows, batch_size=2)))",
    )
    because = (
        f"A loader stacks the rows of a batch, and a new axis comes first: {RIGHT}."
        if second == n
        else f"A loader stacks the rows of a batch, and {n} and {second} numbers do not stack: {RIGHT}. "
        "`collate_fn` could fill up the short one."
    )
    wrong = [error_choice(3), (2, n), (n, 2), (n + second,), (2, max(n, second)), (2, min(n, second)), (1, 2, n)]
    return Draft(code, "tuple(batch.shape)", wrong, because)
