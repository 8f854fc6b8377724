"""Questions about chapter 2: gradients, what adds up in them, and what stops them."""

from __future__ import annotations

import math
from operator import not_
from random import Random

from autograder.questions.computed_question import RIGHT, Draft, error_choice, join_lines, near_miss_tuples
from autograder.questions.question_generator_registry import QuestionGenerators

questions = QuestionGenerators()
gradients = questions.from_sitting("ch02a_gradients")
graphs = questions.from_sitting("ch02b_graphs")
broken_gradients = questions.from_sitting("ch02c_broken_gradients")


def leaf(name: str, value: object) -> str:
    """Return the line that makes a tensor that requires grad."""
    return f"{name} = torch.tensor({value}, requires_grad=True)"


@gradients("autograd-definition", also=("wb-gradient-example", "backprop-matches-hand-derivation"))
def gradient_of_squared_error(random: Random) -> Draft:
    """Ask for the gradient of a squared error with respect to the weight or the bias."""
    w, b, x = (random.randint(1, 5) for _ in range(3))
    target = w * x + b + random.choice([-4, -3, -2, 2, 3, 5])
    gap, name = w * x + b - target, random.choice(["w", "b"])
    code = join_lines(
        leaf("w", f"{w}.0"), leaf("b", f"{b}.0"), f"loss = (w * {x} + b - {target}) ** 2", "loss.backward()"
    )
    wrong = [2 * gap * x, 2 * gap, gap * x, -2 * gap * x, gap**2, -2 * gap, gap]
    inner = f", times {x}, because `w` stands with {x}" if name == "w" else ", times 1"
    because = f"The error is {gap}. The square gives 2 * {gap}{inner}: {RIGHT}."
    return Draft(code, f"{name}.grad.item()", wrong, because)


@gradients("autograd-definition", also=("autograd-not-continuous", "manual-zero-grad-idiom"))
def grad_before_backward(random: Random) -> Draft:
    """Ask what .grad holds before and after backward."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    called = random.random() < 0.5
    rows = [leaf("w", f"{a}.0"), f"loss = w * {k}", *(["loss.backward()"] if called else [])]
    wrong = ["None", k, 0, a * k, a]
    because = (
        f"`backward` fills `.grad` with the derivative of {k} * w, which is {RIGHT}."
        if called
        else f"The forward pass only records; until `backward` is called, `.grad` is {RIGHT}, not 0."
    )
    return Draft(join_lines(*rows), "w.grad", wrong, because)


@gradients("tracking-needs-one-participant", also=("requires-grad-flag", "requires-grad-flip-example"))
def who_can_require_grad(random: Random) -> Draft:
    """Ask which tensors may require grad."""
    numbers = random.sample(range(1, 30), 3)
    data, later = random.choice([(", ".join(map(str, numbers)), 1), (f"{numbers[0]}.0, {numbers[1]}.0", 2)])
    code = join_lines(f"x = torch.tensor([{data}])", "x.requires_grad_()", f"y = (x * {numbers[2]}).sum()")
    wrong = [error_choice(2), error_choice(1), (True, False), (True, True), (False, False)]
    because = (
        f"These are whole numbers, which have no derivative; only floats and complex numbers may require grad: {RIGHT}."
        if later == 1
        else f"`requires_grad_()` turns it on for `x`, and what is computed from `x` requires grad as well: {RIGHT}."
    )
    return Draft(code, "x.requires_grad, y.requires_grad", wrong, because)


@gradients("tracking-needs-one-participant", also=("every-op-recorded", "weight-vs-data-flag-example"))
def what_requires_grad(random: Random) -> Draft:
    """Ask which results require grad."""
    a, b, c = random.sample(range(2, 20), 3)
    code = join_lines(
        leaf("w", f"{a}.0"),
        f"x = torch.tensor({b}.0)",
        f"data = x + {c}",
        f"y = w {random.choice('*+-')} data",
        "z = y.detach()",
    )
    names = random.sample(["data", "y", "z", "x * y"], 3)
    truth = {"data": False, "y": True, "z": False, "x * y": True}
    right = tuple(truth[name] for name in names)
    wrong = near_miss_tuples(right, not_)
    told = ", ".join(f"`{name}` {'does' if truth[name] else 'does not'}" for name in names)
    because = f"One operand that requires grad is enough, none is too few, and `detach` cuts it off: {told}. {RIGHT}."
    evaluate = ", ".join(f"({name}).requires_grad" if " " in name else f"{name}.requires_grad" for name in names)
    return Draft(code, evaluate, wrong, because)


@gradients("tracking-needs-one-participant", also=("requires-grad-flag", "data-needs-no-grad", "every-leaf-gets-grad"))
def who_gets_a_gradient(random: Random) -> Draft:
    """Ask for .grad of a tensor that does not require grad, or that the loss does not use."""
    a, b, c = random.sample(range(2, 9), 3)
    name, why = random.choice(
        [
            ("x", "`x` does not require grad"),
            ("spare", "the loss does not use `spare`"),
            ("w", f"the derivative of w * {b} is {b}"),
        ]
    )
    code = join_lines(leaf("w", f"{a}.0"), leaf("spare", f"{c}.0"), f"x = torch.tensor({b}.0)", "(w * x).backward()")
    return Draft(code, f"{name}.grad", ["None", 0, a, b, 1], f"It is {RIGHT}, because {why}.")


@gradients("gradients-accumulate", also=("accumulate-4-then-8-example",))
def backward_twice(random: Random) -> Draft:
    """Ask what .grad holds after two forward and backward passes."""
    a, k = random.randint(2, 9), random.choice([2, 3])
    cleared = random.random() < 0.4
    step = [f"(x ** {k}).backward()"]
    code = join_lines(leaf("x", f"{a}.0"), *step, *(["x.grad = None"] if cleared else []), *step)
    once = k * a ** (k - 1)
    wrong = [once, 2 * once, once**2, a**k, error_choice(4 if cleared else 3), once / 2]
    because = (
        f"Each pass gives {once}. `x.grad = None` clears the first, so {RIGHT} is left."
        if cleared
        else f"`backward` adds to `.grad`: {once} and once more {once} make {RIGHT}."
    )
    return Draft(code, "x.grad.item()", wrong, because)


@gradients("gradients-accumulate", "autograd-definition")
def two_losses_add_up(random: Random) -> Draft:
    """Ask what .grad holds after the backward passes of two different losses."""
    a, p, q = random.randint(2, 6), random.randint(2, 9), random.randint(10, 20)
    code = join_lines(leaf("w", f"{a}.0"), f"(w * {p}).backward()", f"(w * {q}).backward()")
    because = f"The derivatives are {p} and {q}, and the second is added to the first: {RIGHT}."
    return Draft(code, "w.grad.item()", [q, p, p * q, a * (p + q), q - p], because)


@gradients("backward-needs-scalar", "autograd-definition")
def backward_of_several_numbers(random: Random) -> Draft:
    """Ask what backward does with a result of several numbers."""
    a, b, k = random.sample(range(2, 9), 3)
    end, size = random.choice([("", 0), (".sum()", 1), (".mean()", 2)])
    code = join_lines(leaf("x", f"[{a}.0, {b}.0]"), f"y = (x * {k}){end}", "y.backward()")
    wrong = [error_choice(3), [k, k], [k / 2, k / 2], [k * a, k * b], [a, b]]
    because = {
        0: f"`y` is two numbers, and `backward` without an argument starts from one: {RIGHT}.",
        1: f"Each number goes into the sum with the factor {k}: {RIGHT}.",
        2: f"Each number goes into the mean with the factor {k} / 2: {RIGHT}.",
    }[size]
    return Draft(code, "x.grad.tolist()", wrong, because)


@gradients("update-inside-no-grad", "no-grad-context")
def update_in_no_grad(random: Random) -> Draft:
    """Ask what an update by hand leaves behind."""
    a, k = random.randint(5, 20), random.randint(2, 9)
    row, kind = random.choice([("    w -= 0.1 * w.grad", "in place"), ("    w = w - 0.1 * w.grad", "rebound")])
    code = join_lines(leaf("w", f"{a}.0"), f"(w * {k}).backward()", "with torch.no_grad():", row)
    new = a - k / 10
    wrong = [(new, True), (new, False), (a, True), error_choice(4), (a + k / 10, True)]
    because = (
        f"`w` is changed where it stands, {a} - 0.1 * {k}, and it is still the leaf that requires grad: {RIGHT}."
        if kind == "in place"
        else f"The name `w` now stands for a new tensor, computed without recording, which requires no grad: {RIGHT}."
    )
    return Draft(code, "w.item(), w.requires_grad", wrong, because)


@gradients("update-inside-no-grad", "gradients-accumulate", "steepest-ascent", also=("manual-zero-grad-idiom",))
def two_updates_by_hand(random: Random) -> Draft:
    """Ask where two steps by hand lead, with or without clearing the gradient."""
    a, k = random.randint(5, 20), random.randint(2, 9)
    clear = random.random() < 0.5
    code = join_lines(
        leaf("w", f"{a}.0"),
        "for _ in range(2):",
        f"    (w * {k}).backward()",
        "    with torch.no_grad():",
        "        w -= 0.1 * w.grad",
        *(["    w.grad = None"] if clear else []),
    )
    wrong = [a - 0.2 * k, a - 0.3 * k, a - 0.1 * k, a + 0.2 * k, a - 0.4 * k]
    because = (
        f"Each step takes 0.1 * {k} away, since the gradient is cleared in between: {RIGHT}."
        if clear
        else f"The second gradient is {k} + {k}, because nobody cleared the first: "
        f"{a} - 0.1 * {k} - 0.1 * {2 * k} = {RIGHT}."
    )
    return Draft(code, "w.item()", wrong, because)


@gradients("steepest-ascent", "autograd-definition", also=("grad-as-nudge-sensitivity",))
def one_step_downhill(random: Random) -> Draft:
    """Ask where one step of gradient descent leads."""
    a, rate = random.randint(3, 12), random.choice([0.1, 0.2, 0.25])
    code = join_lines(leaf("x", f"{a}.0"), "(x ** 2).backward()", f"new = x - {rate} * x.grad")
    wrong = [a + rate * 2 * a, a - rate * a, a - rate, 2 * a * rate, a - 2 * a]
    because = f"The gradient is 2 * {a} = {2 * a}, and downhill is against it: {a} - {rate} * {2 * a} = {RIGHT}."
    return Draft(code, "new.item()", wrong, because)


@gradients("steepest-ascent", "autograd-definition", also=("grad-as-nudge-sensitivity",))
def what_a_nudge_changes(random: Random) -> Draft:
    """Ask how much a small change of an input changes the result."""
    a, k = random.randint(2, 9), random.randint(2, 6)
    code = join_lines(leaf("x", f"{a}.0"), f"y = {k} * x ** 2", "y.backward()", "change = 0.01 * x.grad")
    slope = 2 * k * a
    because = (
        f"The derivative is 2 * {k} * {a} = {slope}; 0.01 more of `x` is about {slope} * 0.01 = {RIGHT} more of `y`."
    )
    prompt = "By about how much does `y` grow if `x` grows by 0.01? (What is `change`?)"
    wrong = [0.01, k * a * a * 0.01, k * a * 0.01, slope, 2 * a * 0.01]
    return Draft(code, "change.item()", wrong, because, prompt)


@gradients("leaf-accumulates-paths", "autograd-definition", also=("graph-example-hand-chain-rule", "compositionality"))
def gradient_over_two_paths(random: Random) -> Draft:
    """Ask for a gradient that arrives on two paths."""
    x, y, k = random.sample(range(2, 7), 3)
    name = random.choice(["x", "y"])
    code = join_lines(leaf("x", f"{x}.0"), leaf("y", f"{y}.0"), f"z = x * y + {k} * x", "z.backward()")
    wrong = [y + k, y, k, x, x + k, y * k, x * y + k]
    because = (
        f"`x` is used twice: {y} comes through the product and {k} through the other term, and they add up to {RIGHT}."
        if name == "x"
        else f"`y` is used once, in the product with x = {x}: {RIGHT}."
    )
    return Draft(code, f"{name}.grad.item()", wrong, because)


@graphs("leaf-accumulates-paths", "detach-stops-flow", also=("detach-by-accident",))
def gradient_past_detach(random: Random) -> Draft:
    """Ask for a gradient where one of two paths is detached."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    first, word = random.choice([("x.detach()", "given"), ("x", "used twice")])
    code = join_lines(leaf("x", f"{a}.0"), f"y = {first} * x * {k}", "y.backward()")
    wrong = [a * k, 2 * a * k, 0, k, a * a * k]
    because = (
        f"What is detached counts as a given number, {a}. One path is left: {a} * {k} = {RIGHT}."
        if word == "given"
        else f"`x` is used twice, so it is {k} * x ** 2, and 2 * {k} * {a} = {RIGHT}."
    )
    return Draft(code, "x.grad.item()", wrong, because)


@graphs("no-grad-context", "tracking-needs-one-participant", also=("no-grad-protects-test-set",))
def results_inside_no_grad(random: Random) -> Draft:
    """Ask what requires grad inside no_grad, and afterwards."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    code = join_lines(
        leaf("w", f"{a}.0"),
        "with torch.no_grad():",
        f"    inside = w * {k}",
        f"outside = w * {k}",
        "later = inside + w",
    )
    names = random.sample(["w", "inside", "outside", "later"], 3)
    truth = {"w": True, "inside": False, "outside": True, "later": True}
    right = tuple(truth[each] for each in names)
    wrong = near_miss_tuples(right, not_)
    told = ", ".join(f"`{each}` {'does' if truth[each] else 'does not'}" for each in names)
    because = f"`no_grad` only stops the recording of what is computed in it; {told}: {RIGHT}."
    return Draft(code, ", ".join(f"{each}.requires_grad" for each in names), wrong, because)


@graphs("no-grad-context", "detach-stops-flow", also=("detach-then-backward-works", "item-mid-computation"))
def backward_without_graph(random: Random) -> Draft:
    """Ask whether backward works on what was cut off."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    middle = random.choice(["x.detach()", "x.clone()", "x.detach().clone()"])
    code = join_lines(leaf("x", f"{a}.0"), f"y = {middle} * {k}", "y.backward()")
    because = (
        f"`clone` copies and stays in the graph, so the derivative is {RIGHT}."
        if middle == "x.clone()"
        else f"`{middle}` leaves the graph, so nothing leads back from `y`, and `backward` refuses: {RIGHT}."
    )
    return Draft(code, "x.grad", [error_choice(3), "None", k, 0, error_choice(2)], because)


@graphs("detach-stops-flow", also=("detached-copy-independent",))
def write_into_detached(random: Random) -> Draft:
    """Ask whether a detached tensor shares memory."""
    a, b, new = random.sample(range(1, 30), 3)
    copied = random.random() < 0.4
    code = join_lines(leaf("x", f"[{a}.0, {b}.0]"), f"y = x.detach(){'.clone()' if copied else ''}", f"y[0] = {new}")
    wrong = [([a, b], False), ([new, b], False), ([a, b], True), ([new, b], True), error_choice(3)]
    because = (
        f"`clone` gives `y` memory of its own, and `detach` has taken it out of the graph: {RIGHT}."
        if copied
        else f"`detach` leaves the graph but keeps the memory, so the write is in `x` too: {RIGHT}."
    )
    return Draft(code, "x.tolist(), y.requires_grad", wrong, because)


@graphs("backward-twice-crashes", "gradients-accumulate", also=("retain-graph-example", "second-backward-message"))
def second_backward(random: Random) -> Draft:
    """Ask what a second backward through the same graph does."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    step, kept = random.choice([("x ** 2", ""), ("x ** 2", "retain_graph=True"), (f"x + {k}", "")])
    code = join_lines(leaf("x", f"{a}.0"), f"y = {step}", f"y.backward({kept})", "y.backward()")
    once = 1 if "+" in step else 2 * a
    because = (
        f"A sum has saved nothing that could be freed, so both calls run, and 1 + 1 = {RIGHT}."
        if "+" in step
        else f"The graph is kept, and the second gradient is added: {2 * a} + {2 * a} = {RIGHT}."
        if kept
        else f"The first call freed what the square had saved: {RIGHT}. A fresh forward pass is the remedy."
    )
    return Draft(code, "x.grad.item()", [error_choice(4), once, 2 * once, a, 4 * once], because)


@graphs("gradients-accumulate", also=("accumulation-for-large-batch", "exercise-mean-square-gradient"))
def gradient_of_two_halves(random: Random) -> Draft:
    """Ask what two halves of a batch leave in .grad."""
    values = random.sample(range(1, 20), 4)
    divided = random.random() < 0.5
    code = join_lines(
        leaf("w", "1.0"),
        f"x = torch.tensor({[float(each) for each in values]})",
        "for half in (x[:2], x[2:]):",
        f"    loss = (w * half).mean(){' / 2' if divided else ''}",
        "    loss.backward()",
    )
    whole, last = sum(values) / 4, sum(values[2:]) / 2
    wrong = [whole, 2 * whole, last, 4 * whole, whole / 2]
    because = (
        f"Both halves are added up, and divided by 2 each they give the gradient of the whole batch's mean: {RIGHT}."
        if divided
        else f"The means of the halves, {sum(values[:2]) / 2:g} and {last:g}, add up to {RIGHT}: "
        "twice that of the whole batch."
    )
    return Draft(code, "w.grad.item()", wrong, because)


@graphs("autograd-definition", also=("exercise-mean-square-gradient",))
def gradient_of_mean_square(random: Random) -> Draft:
    """Ask for one number of the gradient of a mean of squares."""
    n, m, value = random.randint(2, 5), random.randint(2, 5), random.randint(2, 20)
    code = join_lines(f"x = torch.full(({n}, {m}), {value}.0, requires_grad=True)", "(x * x).mean().backward()")
    count = n * m
    wrong = [2 * value, value / count, 2 * value / n, 2 * value / m, value**2 / count]
    because = f"Each of the {count} numbers has a share of 1 / {count} in the mean: 2 * {value} / {count} = {RIGHT}."
    return Draft(code, "x.grad[0, 0].item()", wrong, because)


@broken_gradients(
    "update-inside-no-grad",
    "inplace-operator-aliases",
    also=("inplace-on-leaf-error", "inplace-mul-raises-that-message"),
)
def change_leaf_in_place(random: Random) -> Draft:
    """Ask what a change in place does to a leaf that requires grad."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    change = random.choice([f"w += {k}", f"w = w + {k}", f"w.add_({k})"])
    code = join_lines(leaf("w", f"{a}.0"), change, "(w ** 2).backward()")
    wrong = [error_choice(2), error_choice(3), (a + k, True), (a + k, False), (a, True)]
    because = (
        f"`w = w + {k}` makes a new tensor, the result of a recorded sum, so `w` is {a + k} and no leaf: {RIGHT}."
        if "w = " in change
        else f"`{change}` would write into a leaf whose changes are recorded, and torch refuses at once: {RIGHT}."
    )
    return Draft(code, "w.item(), w.is_leaf", wrong, because)


@broken_gradients(
    "inplace-breaks-graph-rule",
    "inplace-operator-aliases",
    also=("inplace-vs-out-of-place-mistake", "inplace-y-plus-one-raises"),
)
def change_result_in_place(random: Random) -> Draft:
    """Ask whether a change in place breaks the gradient."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    saves_result = {"x.exp()": math.exp(a), "x.sqrt()": 0.5 / math.sqrt(a)}  # with the gradient that it would have
    step, slope = random.choice([("x ** 2", 2 * a), (f"x * {k}", k), *((each, 0) for each in saves_result)])
    code = join_lines(leaf("x", f"{a}.0"), f"y = {step}", "y += 1", "y.backward()")
    wrong = [error_choice(4), saves_result.get(step, 2 * a + 1), error_choice(3), 2 * a, k, 1]
    because = (
        f"`{step}` saved `x` or a constant, not its result, so the change does no harm: {RIGHT}."
        if slope
        else f"`{step}` has saved its result for the derivative, and `y += 1` changed that: {RIGHT}."
    )
    return Draft(code, "x.grad.item()", wrong, because)


@broken_gradients("inplace-breaks-graph-rule", "detach-stops-flow", also=("inplace-silent-wrong-gradients",))
def change_past_the_counter(random: Random) -> Draft:
    """Ask for the gradient after a change through .data, which torch does not see."""
    a, new = random.sample(range(2, 12), 2)
    through = random.choice(["data", "detach()"])
    code = join_lines(leaf("x", f"{a}.0"), "y = x ** 2", f"x.{through}.fill_({new})", "y.backward()")
    because = (
        f"`.data` hides the change, so backward computes 2 * {new} = {RIGHT}, although `y` came from {a}: "
        "wrong without a word."
        if through == "data"
        else "`detach()` shares the memory and the counter of changes, "
        f"so backward sees that the saved `x` is not as it was: {RIGHT}."
    )
    return Draft(code, "x.grad.item()", [2 * a, 2 * new, error_choice(4), error_choice(3), new], because)


@broken_gradients("autograd-definition", also=("grad-of-every-participating-tensor",))
def grad_in_the_middle(random: Random) -> Draft:
    """Ask for .grad of a tensor in the middle of a computation."""
    a, k = random.randint(2, 9), random.randint(2, 9)
    kept = random.random() < 0.5
    code = join_lines(
        leaf("x", f"{a}.0"), f"y = x * {k}", *(["y.retain_grad()"] if kept else []), "(y ** 2).backward()"
    )
    because = (
        f"`retain_grad` asks torch to keep it: 2 * {a * k} = {RIGHT}."
        if kept
        else f"Only leaves keep their gradient; that of `y` is used on the way to `x` and dropped: {RIGHT}."
    )
    return Draft(code, "y.grad", ["None", 2 * a * k, 2 * a * k * k, 0], because)


@broken_gradients("tracking-needs-one-participant", also=("argmax-does-not-crash", "round-breaks-gradients"))
def step_without_slope(random: Random) -> Draft:
    """Ask what argmax and round do to a gradient."""
    a, b, k = random.sample(range(2, 9), 3)
    step, evaluate = random.choice([("x.round()", "x.grad.tolist()"), ("x.argmax()", "x.grad.tolist()")])
    code = join_lines(leaf("x", f"[{a}.3, {b}.3]"), f"y = ({step} * {k}).sum()", "y.backward()")
    wrong = [error_choice(3), [0.0, 0.0], [k, k], [1.0, 1.0], [0.0, k]]
    because = (
        f"`round` is flat nearly everywhere, so backward runs and all derivatives are 0: {RIGHT}."
        if "round" in step
        else f"`argmax` gives a place, a whole number without a graph, and backward has nowhere to go: {RIGHT}."
    )
    return Draft(code, evaluate, wrong, because)
