"""Questions about chapter 3: what a module knows of, how layers compute, modes, states and freezing."""

from __future__ import annotations

from random import Random

from autograder.questions.computed_question import RIGHT, Draft, error_choice, join_lines
from autograder.questions.question_generator_registry import QuestionGenerators

questions = QuestionGenerators()
modules = questions.from_sitting("ch03a_modules")
layers = questions.from_sitting("ch03b_layers")
good_starts = questions.from_sitting("ch03c_good_starts")
saving_and_reusing = questions.from_sitting("ch03d_saving_and_reusing")


def module_class(*attributes: str) -> str:
    """Return the program that defines a module with these attributes, and makes one as `model`."""
    rows = [f"        self.{attribute}" for attribute in attributes]
    head = ("class Model(nn.Module):", "    def __init__(self):", "        super().__init__()")
    return join_lines(*head, *rows, "model = Model()")


@modules("linear-layer-is-matmul", also=("table-linear-weight-bias",))
def shape_of_linear_weight(random: Random) -> Draft:
    """Ask for the shapes of a linear layer's parameters, or of its result."""
    a, b, n = random.sample(range(2, 40), 3)
    if random.random() < 0.6:
        wrong = [((a, b), (b,)), ((b, a), (a,)), ((a, b), (a,)), ((b, a), (b, a))]
        because = f"One row of {a} weights for each of the {b} results, and one bias for each result: {RIGHT}."
        return Draft(
            f"layer = nn.Linear({a}, {b})", "tuple(layer.weight.shape), tuple(layer.bias.shape)", wrong, because
        )
    code = join_lines(f"layer = nn.Linear({a}, {b})", f"y = layer(torch.zeros({n}, {a}))")
    because = f"Each of the {n} rows of {a} numbers becomes {b} numbers: {RIGHT}."
    return Draft(code, "tuple(y.shape)", [error_choice(2), (b, n), (n, a), (b, a), (n, a + b)], because)


@modules("linear-layer-is-matmul", "matmul-example", also=("call-runs-forward",))
def number_of_linear_layer(random: Random) -> Draft:
    """Ask what a linear layer computes from two numbers."""
    a, b, p, q, r = random.sample(range(2, 12), 5)
    with_bias = random.random() < 0.6
    code = join_lines(
        f"layer = nn.Linear(2, 1{'' if with_bias else ', bias=False'})",
        "with torch.no_grad():",
        f"    layer.weight.copy_(torch.tensor([[{p}.0, {q}.0]]))",
        *([f"    layer.bias.fill_({r}.0)"] if with_bias else []),
        f"y = layer(torch.tensor([{a}.0, {b}.0]))",
    )
    bias = r if with_bias else 0
    because = f"{p} * {a} + {q} * {b}{f', and the bias {r}' if with_bias else ', and there is no bias'}: {RIGHT}."
    wrong = [p * a + q * b + r - bias, q * a + p * b + bias, (p + q) * (a + b) + bias, p * a + q * b + 2 * r]
    return Draft(code, "y.item()", wrong, because)


@modules(
    "module-auto-registration", "house-net-parameter-count", "linear-layer-is-matmul", also=("parameters-recursive",)
)
def numbers_that_a_module_knows(random: Random) -> Draft:
    """Ask how many numbers parameters() gives, where one attribute may have been overlooked."""
    a, b, k = random.sample(range(2, 12), 3)
    kept = {
        f"nn.Parameter(torch.zeros({k}))": True,
        f"torch.zeros({k}, requires_grad=True)": False,
        f"nn.Parameter(torch.ones({k})) * 0.1": False,
        f"nn.Parameter(torch.ones({k}) * 0.1)": True,
    }
    made = random.choice(list(kept))
    layer, right = a * b + b, a * b + b + k * kept[made]
    code = join_lines(module_class(f"layer = nn.Linear({a}, {b})", f"plus = {made}"))
    because = f"The layer has {a} * {b} + {b} = {layer}, and " + (
        f"`plus` is a parameter with {k} more: {RIGHT}."
        if kept[made]
        else f"`plus` is a plain tensor{', the result of a product' if '* 0.1' in made else ''}: "
        f"the module overlooks it. {RIGHT}."
    )
    wrong = [layer + k - k * kept[made], a * b + k, layer + 1, a * b, right + b]
    return Draft(code, "sum(p.numel() for p in model.parameters())", wrong, because)


@modules("module-auto-registration", "buffer-follows-and-is-saved")
def names_in_the_state(random: Random) -> Draft:
    """Ask which attributes stand in a module's state."""
    k = random.randint(2, 30)
    made = {
        "parameter": f"nn.Parameter(torch.ones({k}))",
        "buffer": f"nn.Buffer(torch.ones({k}))",
        "plain": f"torch.ones({k})",
    }
    kinds = random.sample([*made, random.choice(list(made))], 3)
    names = random.sample(["slope", "center", "table", "mask", "scale", "shift", "count"], 3)
    saved = random.random() < 0.6
    counts = {"parameter": True, "buffer": saved, "plain": False}
    right = [name for name, kind in zip(names, kinds, strict=True) if counts[kind]]
    code = module_class(*(f"{name} = {made[kind]}" for name, kind in zip(names, kinds, strict=True)))
    others: list[list[str]] = [
        names,
        [name for name, kind in zip(names, kinds, strict=True) if kind == "parameter"],
        [name for name, kind in zip(names, kinds, strict=True) if kind != "plain"],
        [name for name, kind in zip(names, kinds, strict=True) if kind == "buffer"],
        names[:2],
        names[1:],
        [names[0], names[2]],
    ]
    expression = "sorted(model.state_dict())" if saved else "sorted(name for name, _ in model.named_parameters())"
    because = (
        f"Parameters and buffers are saved, and a plain attribute is not: {RIGHT}."
        if saved
        else f"Only parameters learn; buffers and plain attributes are no parameters: {RIGHT}."
    )
    return Draft(code, expression, [sorted(each) for each in others if sorted(each) != sorted(right)], because)


@modules("buffer-follows-and-is-saved", "module-auto-registration", also=("module-standard-api",))
def dtype_after_to(random: Random) -> Draft:
    """Ask which attributes of a module follow `.to`."""
    k = random.randint(2, 30)
    dtype = random.choice(["float64", "float16", "bfloat16"])
    ones = f"torch.ones({k})"
    kinds = {"parameter": f"nn.Parameter({ones})", "buffer": f"nn.Buffer({ones})", "plain attribute": ones}
    kind = random.choice(list(kinds))
    name = random.choice(["center", "table", "mask", "scale", "shift"])
    code = join_lines(
        module_class(f"layer = nn.Linear({k}, 1)", f"{name} = {kinds[kind]}"),
        f"model.to(torch.{dtype})",
    )
    new, old = f"torch.{dtype}", "torch.float32"
    because = (
        f"`{name}` is a plain attribute: the module does not know of it and leaves it behind. {RIGHT}."
        if kind == "plain attribute"
        else f"A {kind} is in the module's registry, as the layer's weight is, so both follow: {RIGHT}."
    )
    wrong = [(new, new), (new, old), (old, old), (old, new)]
    return Draft(code, f"model.layer.weight.dtype, model.{name}.dtype", wrong, because)


@layers(
    "house-net-parameter-count",
    "linear-layer-is-matmul",
    also=("mlp-classifier-class", "tiny-model-examples", "sequential-needs-no-forward"),
)
def numbers_of_a_network(random: Random) -> Draft:
    """Ask how many numbers a network of two linear layers learns."""
    a, b, c = random.sample(range(2, 12), 3)
    bias = random.random() < 0.7
    code = f"model = nn.Sequential(nn.Linear({a}, {b}), nn.ReLU(), nn.Linear({b}, {c}{'' if bias else ', bias=False'}))"
    whole, last = a * b + b + b * c, c if bias else 0
    because = (
        f"{a} * {b} weights and {b} biases, then {b} * {c} weights and "
        f"{f'{c} biases' if bias else 'no bias'}; the ReLU learns nothing: {RIGHT}."
    )
    wrong = [a * b + b * c, whole + c - last, a * b + b * c + a + b + last, whole + last + 1, a * b * c, whole]
    return Draft(code, "sum(p.numel() for p in model.parameters())", wrong, because)


@layers("relu-zeroes-negatives")
def numbers_through_relu(random: Random) -> Draft:
    """Ask for the numbers after two steps with a ReLU between them."""
    a, b, c = random.randint(2, 5), random.randint(1, 6), random.choice([-3, -2, 2, 3])
    x = [-random.randint(3, 9), random.randint(2, 9)]
    inner = [a * each + b for each in x]
    code = join_lines(
        f"x = torch.tensor([{x[0]}.0, {x[1]}.0])",
        f"hidden = torch.relu({a} * x + {b})",
        f"y = {c} * hidden",
    )
    plain = [c * each for each in inner]
    cut = [c * max(0, each) for each in inner]
    wrong = [plain, cut, [max(0, each) for each in plain], [c * abs(each) for each in inner], [c * b, plain[1]]]
    because = f"`hidden` would be {inner[0]} and {inner[1]}, and ReLU makes the negative one 0: times {c}, {RIGHT}."
    return Draft(code, "y.tolist()", wrong, because)


@layers("relu-zeroes-negatives")
def two_layers_as_one(random: Random) -> Draft:
    """Ask which single line two linear steps make."""
    a, b, c, d = (random.randint(2, 9) for _ in range(4))
    code = join_lines(
        "def first(x):",
        f"    return {a} * x + {b}",
        "def second(x):",
        f"    return {c} * x + {d}",
    )
    prompt = (
        "Two linear steps without an activation are one, `second(first(x)) = weight * x + bias`. "
        "What are `weight` and `bias`?"
    )
    because = f"{c} * ({a}x + {b}) + {d} is {a * c}x + {b * c} + {d}: {RIGHT}. A hundred such layers can do no more."
    wrong = [(a * c, b + d), (a + c, b + d), (a * c, b * d), (a * c, a * d + b), (a * c, b * c)]
    return Draft(code, "second(first(1)) - second(first(0)), second(first(0))", wrong, because, prompt)


@layers("module-auto-registration", also=("list-hides-layers", "module-composition"))
def layers_in_a_row(random: Random) -> Draft:
    """Ask how many tensors parameters() gives for layers in a list, a ModuleList or a Sequential."""
    width, count = random.randint(2, 30), random.randint(2, 6)
    made = f"[nn.Linear({width}, {width}) for _ in range({count})]"
    how, word = random.choice(
        [(made, ""), (f"nn.ModuleList({made})", "ModuleList"), (f"nn.Sequential(*{made})", "Sequential")]
    )
    code = module_class(f"layers = {how}", f"last = nn.Linear({width}, 1)")
    because = (
        f"A {word} is a module, so all {count} layers are known: 2 * {count} tensors, and 2 of `last`. {RIGHT}."
        if word
        else f"A plain list hides its layers from the module; weight and bias of `last` are left: {RIGHT}."
    )
    wrong = [2 * count + 2, 2, count + 1, 2 * count, 0, 4]
    return Draft(code, "len(list(model.parameters()))", wrong, because)


@layers(
    "broadcasting-hides-bugs", "broadcasting-rule", "linear-layer-is-matmul", also=("squeeze-output-to-match-targets",)
)
def predictions_and_targets(random: Random) -> Draft:
    """Ask over how many numbers a loss averages if the predictions have an axis of 1."""
    n, features = random.sample(range(3, 60), 2)
    squeezed = random.random() < 0.4
    code = join_lines(
        f"model = nn.Linear({features}, 1)",
        f"predictions = model(torch.zeros({n}, {features})){'.squeeze(1)' if squeezed else ''}",
        f"targets = torch.zeros({n})",
        "gaps = predictions - targets",
    )
    because = (
        f"`squeeze(1)` makes the predictions ({n},) as the targets are: one gap for each. {RIGHT}."
        if squeezed
        else f"({n}, 1) meets ({n},): each prediction is compared with each target, {n} * {n} gaps. {RIGHT}."
    )
    return Draft(code, "gaps.numel()", [n * n, n, error_choice(4), 2 * n, n * features, 1], because)


@layers("convolution-at-each-place", also=("tensor-3d-is-image-batch",))
def size_of_map(random: Random) -> Draft:
    """Ask for the shape of what a convolution gives, with a rim, steps of two, or pooling."""
    n, k = random.sample(range(2, 20), 2)
    side = random.choice([8, 10, 12, 16, 28])
    option, size, word = random.choice(
        [
            ("", side - 2, f"A kernel of 3 has {side - 2} places in a row of {side}"),
            (", padding=1", side, f"The rim makes {side + 2} of {side}, where a kernel of 3 has {side} places"),
            (", stride=2", (side - 3) // 2 + 1, f"Of {side - 2} places it takes every second, from the first on"),
            (", padding=1, stride=2", (side - 1) // 2 + 1, f"With the rim there are {side} places, and it takes half"),
        ]
    )
    code = join_lines(f"layer = nn.Conv2d(1, {k}, 3{option})", f"y = layer(torch.zeros({n}, 1, {side}, {side}))")
    sizes = dict.fromkeys([side - 2, side, (side - 3) // 2 + 1, (side - 1) // 2 + 1, side - 3, side + 2])
    wrong = [(n, k, each, each) for each in sizes if each != size]
    because = f"{word}; each of the {k} kernels gives a map of its own: {RIGHT}."
    return Draft(code, "tuple(y.shape)", [(n, 1, size, size), *wrong], because)


@layers("convolution-at-each-place")
def fit_of_kernel(random: Random) -> Draft:
    """Ask how well a kernel fits at one place of a picture."""
    rows = [[random.randint(0, 9) for _ in range(3)] for _ in range(3)]
    kernel = random.choice([[[1, 0], [0, -1]], [[1, 0], [0, 10]], [[-1, 1], [-1, 1]], [[1, 1], [-1, -1]]])
    row, column = random.choice([(0, 1), (1, 0), (1, 1)])
    code = join_lines(
        f"picture = torch.tensor({[[float(each) for each in line] for line in rows]})",
        f"kernel = torch.tensor({[[float(each) for each in line] for line in kernel]})",
        "fits = F.conv2d(picture[None, None], kernel[None, None])[0, 0]",
    )

    def fit(top: int, left: int) -> int:
        return sum(kernel[i][j] * rows[top + i][left + j] for i in (0, 1) for j in (0, 1))

    places = [fit(top, left) for top in (0, 1) for left in (0, 1)]
    turned = sum(kernel[1 - i][1 - j] * rows[row + i][column + j] for i in (0, 1) for j in (0, 1))
    terms = [f"{kernel[i][j]} * {rows[row + i][column + j]}" for i in (0, 1) for j in (0, 1) if kernel[i][j]]
    because = f"The kernel lies on the rows {row}, {row + 1} and the columns {column}, {column + 1}: "
    because += f"{' + '.join(terms)} = {RIGHT}."
    return Draft(code, f"fits[{row}, {column}].item()", [*places, turned, sum(map(sum, rows))], because)


@layers("convolution-shares-weights", "house-net-parameter-count")
def numbers_of_convolution(random: Random) -> Draft:
    """Ask how many numbers a convolution learns, which does not depend on the size of the pictures."""
    c, k, side = random.choice([1, 2, 3]), random.choice([4, 6, 8, 10, 16]), random.choice([8, 12, 16, 28])
    size = random.choice([3, 5])
    code = join_lines(f"layer = nn.Conv2d({c}, {k}, {size})", f"y = layer(torch.zeros(1, {c}, {side}, {side}))")
    whole, places = k * c * size * size + k, (side - size + 1) ** 2
    because = f"{k} kernels of {c} * {size} * {size} weights and a bias each, the same at all {places} places: {RIGHT}."
    wrong = [k * c * size * size, whole * places, c * size * size + 1, k * (c * size + 1), k * places + k]
    return Draft(code, "sum(p.numel() for p in layer.parameters())", wrong, because)


@good_starts("creation-zeros-ones-for-weights", "autograd-definition")
def gradients_of_equal_units(random: Random) -> Draft:
    """Ask for the gradients of two units that begin alike."""
    a, b, c = random.randint(1, 5), random.randint(6, 9), random.randint(1, 3)
    code = join_lines(
        "layer = nn.Linear(2, 2, bias=False)",
        f"nn.init.constant_(layer.weight, {c})",
        f"y = layer(torch.tensor([{a}.0, {b}.0]))",
        "(y ** 2).sum().backward()",
    )
    y = c * (a + b)
    row = [2 * y * a, 2 * y * b]
    wrong = [[[row[0]] * 2, [row[1]] * 2], [row, row[::-1]], [row, [0, 0]], [[a, b], [a, b]], [[0, 0], [0, 0]]]
    because = f"Both units give {y}, so both get the same gradient, {RIGHT}: alike they begin, and alike they stay."
    return Draft(code, "layer.weight.grad.tolist()", wrong, because)


@good_starts("he-start", "linear-layer-is-matmul")
def size_of_first_weights(random: Random) -> Draft:
    """Ask with which standard deviation weights should begin."""
    a = random.choice([8, 18, 32, 50, 72, 98, 128, 200, 288, 392])
    b = random.choice([each for each in (2, 10, 20, 40, 80, 160, 300) if each != a])
    prompt = (
        "A ReLU follows this layer. With which standard deviation should its weights begin, so that the numbers keep "
        "their size on the way through?"
    )
    because = f"Each unit adds up {a} products, and ReLU throws half of the sums away: the root of 2 / {a} is {RIGHT}."
    wrong = [(2 / b) ** 0.5, (1 / a) ** 0.5, 2 / a, 1 / a, (2 / (a + b)) ** 0.5]
    return Draft(f"layer = nn.Linear({a}, {b})", "math.sqrt(2 / layer.in_features)", wrong, because, prompt)


@good_starts("he-start")
def size_after_layers(random: Random) -> Draft:
    """Ask how large numbers are after a layer, by the squares that add up."""
    n = random.choice([50, 100, 200, 400, 800])
    std = random.choice([0.01, 0.02, 0.05, 0.1, 0.2])
    depth = random.choice([1, 2])
    code = join_lines(f"layer = nn.Linear({n}, {n}, bias=False)", f"nn.init.normal_(layer.weight, std={std})")
    prompt = (
        f"Numbers go through {'this layer' if depth == 1 else 'two such layers'}, with a ReLU after "
        f"{'it' if depth == 1 else 'each'}. By about which factor does the mean of their squares change?"
    )
    factor = n * std**2 / 2
    because = (
        f"A unit adds up {n} products, whose squares add up, and ReLU takes half: {n} * {std} ** 2 / 2"
        + (f" = {factor:g}" if depth == 2 else "")
        + (f" for each layer: {RIGHT}." if depth == 2 else f": {RIGHT}.")
    )
    wrong = [factor ** (3 - depth), n * std, 2 * factor, n * std / 2, std**2, (n * std**2) ** depth * 2, std]
    return Draft(code, f"({n} * {std} ** 2 / 2) ** {depth}", wrong, because, prompt)


@good_starts("train-eval-switch", also=("eval-deterministic",))
def values_of_dropout(random: Random) -> Draft:
    """Ask which numbers dropout gives in each mode."""
    p, scale = random.choice([(0.5, 2), (0.75, 4), (0.8, 5), (0.9, 10)])
    k = random.randint(2, 30)
    evaluating = random.random() < 0.4
    code = join_lines(
        f"drop = nn.Dropout({p})",
        *(["drop.eval()"] if evaluating else []),
        f"y = drop(torch.full((1000,), {k}.0))",
    )
    wrong = [[0, scale * k], [k], [0, k], [0, k * p], [scale * k], [k * p]]
    because = (
        f"In eval mode dropout changes nothing: {RIGHT}."
        if evaluating
        else f"In train mode most become 0, and those that stay are divided by {1 - p:g}, so the mean stays: {RIGHT}."
        if p > 0.5
        else f"In train mode half become 0, and those that stay are divided by {p}, so that the mean stays: {RIGHT}."
    )
    return Draft(code, "y.unique().tolist()", wrong, because)


@good_starts("train-eval-switch")
def running_mean_of_batch_norm(random: Random) -> Draft:
    """Ask where the running mean of a batch norm is after some calls."""
    low, gap = random.randint(10, 90), 2 * random.randint(1, 9)
    middle = low + gap / 2
    calls = random.choice(
        [("norm(x)",), ("norm(x)", "norm(x)"), ("norm.eval()", "norm(x)"), ("norm(x)", "norm.eval()", "norm(x)")]
    )
    code = join_lines("norm = nn.BatchNorm1d(1)", f"x = torch.tensor([[{low}.0], [{low + gap}.0]])", *calls)
    moved = {1: 0.1 * middle, 2: 0.19 * middle}
    times = calls.index("norm.eval()") if "norm.eval()" in calls else len(calls)
    because = {
        0: f"In eval mode the layer uses its running mean and leaves it where it began: {RIGHT}.",
        1: f"The mean is {middle:g}, and one call in train mode moves from 0 a tenth of the way: {RIGHT}.",
        2: f"Each call moves a tenth of the way to {middle:g}: {0.1 * middle:g}, then {RIGHT}.",
    }[times]
    wrong = [moved[1], moved[2], middle, 0, 0.9 * middle, 0.2 * middle]
    return Draft(code, "norm.running_mean.item()", wrong, because)


@good_starts("train-eval-switch", "feature-normalisation-output")
def result_of_batch_norm(random: Random) -> Draft:
    """Ask what a fresh batch norm gives in each mode."""
    low, gap = random.randint(3, 40), 2 * random.randint(2, 9)
    evaluating = random.random() < 0.5
    code = join_lines(
        "norm = nn.BatchNorm1d(1)",
        *(["norm.eval()"] if evaluating else []),
        f"y = norm(torch.tensor([[{low}.0], [{low + gap}.0]]))",
    )
    half = gap // 2
    wrong = [[-1, 1], [low, low + gap], [-half, half], [0, 1], [0, gap]]
    because = (
        "In eval mode it uses what it has kept, and it has seen no batch: "
        f"mean 0 and deviation 1 change nothing. {RIGHT}."
        if evaluating
        else f"In train mode it uses this batch, of mean {low + half} and deviation {half}: "
        f"both are one deviation off. {RIGHT}."
    )
    return Draft(code, "y.flatten().round().int().tolist()", wrong, because)


@good_starts("eval-is-not-no-grad", "no-grad-context", "train-eval-switch", also=("eval-keeps-metrics-meaningful",))
def two_switches_of_a_model(random: Random) -> Draft:
    """Ask what eval() and no_grad() switch."""
    a, b, n = random.sample(range(2, 30), 3)
    evaluating, without_graph = random.choice([(True, False), (False, True), (True, True)])
    call = f"y = model(torch.zeros({n}, {a}))"
    code = join_lines(
        f"model = nn.Sequential(nn.Linear({a}, {b}), nn.Dropout(0.5))",
        *(["model.eval()"] if evaluating else []),
        *(["with torch.no_grad():", f"    {call}"] if without_graph else [call]),
    )
    wrong = [(mode, grad) for mode in (True, False) for grad in (True, False)]
    because = {
        (True, False): f"`eval()` only sets a flag; the graph is recorded as ever: {RIGHT}.",
        (False, True): f"`no_grad` only stops the recording; the dropout is still in train mode: {RIGHT}.",
        (True, True): f"`eval()` sets the flag of all parts, and `no_grad` stops the recording: {RIGHT}.",
    }[evaluating, without_graph]
    return Draft(code, "model[1].training, y.requires_grad", wrong, because)


@saving_and_reusing("state-is-live", "inplace-operator-aliases")
def state_after_training(random: Random) -> Draft:
    """Ask whether a state changes with its model."""
    old, new = random.sample(range(1, 40), 2)
    copied = random.random() < 0.4
    code = join_lines(
        *(["import copy"] if copied else []),
        "layer = nn.Linear(1, 1)",
        f"nn.init.constant_(layer.weight, {old})",
        f"state = {'copy.deepcopy(layer.state_dict())' if copied else 'layer.state_dict()'}",
        f"nn.init.constant_(layer.weight, {new})",
    )
    because = (
        f"The deep copy has memory of its own, and keeps the {old}: {RIGHT}."
        if copied
        else f"The state shares the memory of the model, so that it has the {new} too: {RIGHT}."
    )
    wrong = [[[new]], [[old]], [[old + new]], error_choice(5 if copied else 4), [[0]], "None"]
    return Draft(code, 'state["weight"].tolist()', wrong, because)


@saving_and_reusing("state-is-live", "inplace-operator-aliases", also=("module-standard-api",))
def weight_after_loading(random: Random) -> Draft:
    """Ask what a model holds after a state has been loaded."""
    a, b, later = random.sample(range(1, 40), 3)
    copied = random.random() < 0.5
    code = join_lines(
        "one, other = nn.Linear(1, 1), nn.Linear(1, 1)",
        f"nn.init.constant_(one.weight, {a})",
        f"nn.init.constant_(other.weight, {b})",
        "other.load_state_dict(one.state_dict())" if copied else "other.weight = one.weight",
        f"nn.init.constant_(one.weight, {later})",
    )
    because = (
        f"Loading copies the numbers, so the two models are apart afterwards, and `other` keeps {RIGHT}."
        if copied
        else f"The assignment gives both models one and the same parameter, so `other` changes too: {RIGHT}."
    )
    return Draft(code, "other.weight.item()", [later, a, b, a + b, error_choice(4)], because)


@saving_and_reusing(
    "frozen-gets-no-gradient",
    "tracking-needs-one-participant",
    also=("requires-grad-flag", "interview-requires-grad-off"),
)
def gradients_of_frozen_layers(random: Random) -> Draft:
    """Ask which of two layers gets a gradient, if one of them is frozen."""
    a, b, n = random.sample(range(2, 30), 3)
    frozen = random.choice(["body", "head"])
    code = join_lines(
        f"body, head = nn.Linear({a}, {b}), nn.Linear({b}, 1)",
        f"{frozen}.requires_grad_(False)",
        f"head(body(torch.ones({n}, {a}))).sum().backward()",
    )
    wrong = [(one, two) for one in (True, False) for two in (True, False)]
    because = (
        f"The frozen `body` gets no gradient; `head` learns: {RIGHT}."
        if frozen == "body"
        else f"The frozen `head` gets none, but the gradient passes through it to `body`: {RIGHT}."
    )
    prompt = "Which of the two weights has a gradient after these lines, that of `body` and that of `head`?"
    expression = "body.weight.grad is not None, head.weight.grad is not None"
    return Draft(code, expression, wrong, because, prompt)


@saving_and_reusing("frozen-gets-no-gradient", "house-net-parameter-count")
def numbers_left_to_learn(random: Random) -> Draft:
    """Ask how many numbers learn after a part of a model is frozen."""
    a, b, c = random.sample(range(2, 12), 3)
    part, left = random.choice([(0, b * c + c), (2, a * b + b)])
    code = join_lines(
        f"model = nn.Sequential(nn.Linear({a}, {b}), nn.ReLU(), nn.Linear({b}, {c}))",
        f"model[{part}].requires_grad_(False)",
    )
    first, last = a * b + b, b * c + c
    rest = f"{b} * {c} + {c}" if part == 0 else f"{a} * {b} + {b}"
    because = f"`model[{part}]` is frozen, and the other linear layer learns its {rest} numbers: {RIGHT}."
    wrong = [first + last - left, first + last, left - (c if part == 0 else b), 0, b * c + a * b]
    return Draft(code, "sum(p.numel() for p in model.parameters() if p.requires_grad)", wrong, because)


@saving_and_reusing("frozen-gets-no-gradient", "train-eval-switch")
def frozen_running_mean(random: Random) -> Draft:
    """Ask whether the running mean of a frozen batch norm moves."""
    middle, gap = random.randint(10, 90), random.randint(1, 9)
    evaluating = random.random() < 0.5
    code = join_lines(
        "norm = nn.BatchNorm1d(1).requires_grad_(False)",
        *(["norm.eval()"] if evaluating else []),
        f"norm(torch.tensor([[{middle - gap}.0], [{middle + gap}.0]]))",
    )
    because = (
        f"In eval mode nothing moves it: {RIGHT}."
        if evaluating
        else "The running mean is a buffer, which moves in train mode, frozen or not: "
        f"a tenth of the way to {middle} is {RIGHT}."
    )
    return Draft(code, "norm.running_mean.item()", [0.1 * middle, 0, middle, 0.9 * middle, 0.5 * middle], because)
