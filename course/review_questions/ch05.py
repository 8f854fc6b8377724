"""Questions about chapter 5: devices, mixed precision, and the memory of a training step."""

from __future__ import annotations

from random import Random

from autograder.questions.computed_question import RIGHT, Draft, error_choice, join_lines, near_miss_tuples
from autograder.questions.question_generator_registry import QuestionGenerators

questions = QuestionGenerators()
devices = questions.from_sitting("ch05a_devices")
mixed_precision = questions.from_sitting("ch05b_mixed_precision")
time_and_memory = questions.from_sitting("ch05c_time_and_memory")


@devices("device-moves-explicit", also=("device-chosen-at-creation", "table-gpu-memory-control"))
def where_two_names_are(random: Random) -> Draft:
    """Ask which of two names stands for a tensor on the other device."""
    n, m = random.sample(range(2, 9), 2)
    rows, word = random.choice(
        [
            (['y = x.to("meta")'], "returned"),
            (["y = x", 'x = x.to("meta")'], "rebound"),
            (["y = x", 'x.to("meta")'], "dropped"),
            (["y = torch.zeros_like(x)", 'y.to("meta")'], "dropped"),
        ]
    )
    because = {
        "returned": f"`.to` leaves `x` where it was made and returns another tensor, which `y` names: {RIGHT}.",
        "rebound": f"`y` still names the tensor that was made on the CPU; only the name `x` goes on: {RIGHT}.",
        "dropped": f"`.to` returns the tensor on the other device, and nobody keeps it, so both stay: {RIGHT}.",
    }[word]
    wrong = [("meta", "meta"), ("cpu", "meta"), ("meta", "cpu"), ("cpu", "cpu")]
    return Draft(join_lines(f"x = torch.ones({n}, {m})", *rows), "x.device.type, y.device.type", wrong, because)


@devices("device-moves-explicit", "model-once-batches-each", also=("module-standard-api",))
def module_and_tensor_move(random: Random) -> Draft:
    """Ask what `.to` alone on a line does to a module, and to a tensor."""
    n, m = random.sample(range(2, 9), 2)
    kept = random.random() < 0.4
    code = join_lines(
        f"layer = nn.Linear({n}, {m})",
        f"x = torch.ones(1, {n})",
        'layer.to("meta")',
        f'{"x = " if kept else ""}x.to("meta")',
    )
    because = (
        f"A module moves in place; a tensor does not, but here the name `x` takes what `.to` returns: {RIGHT}."
        if kept
        else f"A module moves in place, with its parameters; a tensor stays, and what `.to` returns is lost: {RIGHT}."
    )
    wrong = [("meta", "meta"), ("cpu", "cpu"), ("cpu", "meta"), ("meta", "cpu")]
    return Draft(code, "layer.weight.device.type, x.device.type", wrong, because)


@devices("device-moves-explicit", also=("device-chosen-at-creation", "dtype-explicit-example"))
def device_of_new_tensors(random: Random) -> Draft:
    """Ask where tensors are that are made beside one on another device."""
    n = random.randint(3, 9)
    makers = {
        "torch.zeros_like(x)": ("meta", "takes the device of `x`"),
        f"x.new_zeros({n})": ("meta", "takes the device of `x`"),
        f"torch.zeros({n})": ("cpu", "names no device, so it is on the CPU"),
        "torch.arange(x.shape[0])": ("cpu", "takes only a number from `x`, and is on the CPU"),
        f"torch.arange({n}, device=x.device)": ("meta", "names the device of `x`"),
    }
    drawn = random.sample(list(makers), 3)
    code = join_lines(
        f'x = torch.ones({n}, device="meta")', *(f"{name} = {made}" for name, made in zip("abc", drawn, strict=True))
    )
    right = tuple(makers[made][0] for made in drawn)
    wrong = near_miss_tuples(right, {"cpu": "meta", "meta": "cpu"}.__getitem__)
    told = "; ".join(f"`{made}` {makers[made][1]}" for made in drawn)
    return Draft(code, "a.device.type, b.device.type, c.device.type", wrong, f"{told}: {RIGHT}.")


@devices("mistake-device-mismatch", also=("same-device-rule", "device-mismatch-message"))
def number_meets_device(random: Random) -> Draft:
    """Ask what may come from the CPU to a tensor on another device: a single number, and no vector."""
    n, k = random.randint(2, 9), random.randint(2, 9)
    other, fits = random.choice(
        [(f"torch.tensor({k}.0)", True), (f"torch.tensor([{k}.0])", False), (f"torch.ones({n})", False)]
    )
    code = join_lines(f'x = torch.ones({n}, device="meta")', f"y = {other}", "z = x * y")
    because = (
        f"`y` is a single number without an axis, and such a one may come from the CPU: {RIGHT}."
        if fits
        else f"`y` has an axis and is on the CPU. Tensors that meet have to be on one device: {RIGHT}."
    )
    wrong = [error_choice(3), ("meta", (n,)), ("cpu", (n,)), ("meta", ())]
    return Draft(code, "z.device.type, tuple(z.shape)", wrong, because)


@devices(
    "mistake-device-mismatch",
    "model-once-batches-each",
    also=("faq-gpu-crash", "same-device-rule", "device-mismatch-message"),
)
def where_a_forgotten_move_stops(random: Random) -> Draft:
    """Ask where a program stops in which one of three things was not moved."""
    n, a, b = random.sample(range(2, 9), 3)
    device = random.choice(["cpu", "meta", "meta", "meta"])
    forgotten = random.choice(["model", "x", "target", ""])
    makers = {"model": f"nn.Linear({a}, {b})", "x": f"torch.ones({n}, {a})", "target": f"torch.ones({n}, {b})"}
    code = join_lines(
        f'device = "{device}"',
        *(f"{name} = {made}{'' if name == forgotten else '.to(device)'}" for name, made in makers.items()),
        "prediction = model(x)",
        "loss = F.mse_loss(prediction, target)",
    )
    because = (
        f"On the CPU everything is in one place anyway, moved or not: {RIGHT}."
        if device == "cpu"
        else f"Model, batch and target were all moved: {RIGHT}."
        if not forgotten
        else f"`{forgotten}` stayed on the CPU. Nothing is wrong until it meets a tensor on the other device: {RIGHT}."
    )
    return Draft(code, "loss.device.type", [error_choice(6), error_choice(5), "meta", "cpu", error_choice(4)], because)


@devices("model-once-batches-each", "device-moves-explicit", also=("gpu-move-snippet", "cpu-code-unchanged-on-gpu"))
def last_batch_on_device(random: Random) -> Draft:
    """Ask where the data and the last batch are after a loop that moves each batch."""
    n, size, a, b = random.randint(7, 12), random.choice([4, 5]), *random.sample(range(2, 9), 2)
    code = join_lines(
        f'model = nn.Linear({a}, {b}).to("meta")',
        f"data = torch.ones({n}, {a})",
        f"for x in data.split({size}):",
        '    y = model(x.to("meta"))',
    )
    last = n % size or size
    whole = f"{n} rows in batches of {size}: the last has {last}."
    because = f"{whole} `.to` returns a moved copy of each batch, and `data` stays: {RIGHT}."
    wrong = [
        ("cpu", "meta", (size, b)),
        ("meta", "meta", (last, b)),
        ("cpu", "meta", (n, b)),
        ("cpu", "cpu", (last, b)),
        ("cpu", "meta", (last, b)),
        error_choice(4),
    ]
    return Draft(code, "data.device.type, y.device.type, tuple(y.shape)", wrong, because)


@devices("model-once-batches-each", "sgd-update-rule", also=("parameters-go-to-optimizer", "optimizer-role"))
def optimizer_before_the_layer(random: Random) -> Draft:
    """Ask whether a step changes a weight that was put in place after the optimizer was built."""
    start, k, rate = random.randint(10, 20), random.randint(2, 8), random.choice([0.5, 0.25])
    replace, build = (
        f"layer.weight = nn.Parameter(torch.tensor([[{start}.0]]))",
        (f"optimizer = torch.optim.SGD(layer.parameters(), lr={rate})"),
    )
    too_early = random.random() < 0.6
    code = join_lines(
        "layer = nn.Linear(1, 1, bias=False)",
        *([build, replace] if too_early else [replace, build]),
        f"layer(torch.tensor([[{k}.0]])).backward()",
        "optimizer.step()",
    )
    because = (
        f"The optimizer was built before and holds the old weight; the new one has a gradient, but stays {RIGHT}."
        if too_early
        else f"The optimizer was built last and holds the new weight: {start} - {rate} * {k} = {RIGHT}."
    )
    wrong = [start, start - rate * k, start + rate * k, error_choice(5), start - k]
    return Draft(code, "layer.weight.item()", wrong, because)


@devices(
    "mistake-device-mismatch",
    "device-moves-explicit",
    "buffer-follows-and-is-saved",
    also=("module-auto-registration",),
)
def what_a_module_takes_along(random: Random) -> Draft:
    """Ask which attributes of a module move with it."""
    n = random.randint(2, 9)
    kinds = {
        f"torch.ones({n})": ("cpu", "is a plain tensor and stays"),
        f"nn.Parameter(torch.ones({n}))": ("meta", "is a parameter and moves along"),
        f"nn.Buffer(torch.ones({n}))": ("meta", "is a buffer and moves along"),
    }
    first, second = random.sample(list(kinds), 2)
    code = join_lines("model = nn.Module()", f"model.a = {first}", f"model.b = {second}", 'model.to("meta")')
    wrong = [("meta", "meta"), ("cpu", "cpu"), ("cpu", "meta"), ("meta", "cpu")]
    because = f"`a` {kinds[first][1]}; `b` {kinds[second][1]}: {RIGHT}."
    return Draft(code, "model.a.device.type, model.b.device.type", wrong, because)


@devices("device-pattern", also=("is-available-means-cuda-installed",))
def device_chosen_once(random: Random) -> Draft:
    """Ask which device a program takes on somebody's machine."""
    cuda, mps = random.choice([(True, False), (False, True), (False, False), (True, True)])
    wish = random.choice(["None", "None", "meta"])
    code = join_lines(
        f"cuda_is_available, mps_is_available = {cuda}, {mps}  # on somebody's machine",
        f"wish = {wish if wish == 'None' else chr(34) + wish + chr(34)}",
        'best = "cuda" if cuda_is_available else "mps" if mps_is_available else "cpu"',
        "device = torch.device(wish or best)",
    )
    because = (
        f"What is wished for comes first, whatever there is: {RIGHT}."
        if wish != "None"
        else f"CUDA comes before Apple's cards, and those before the CPU, which is always there: {RIGHT}."
    )
    return Draft(code, "device.type", ["cuda", "cpu", "mps", "meta"], because)


@devices("device-pattern", also=("device-printout-cpu", "cuda-device-creation-example"))
def name_of_a_device(random: Random) -> Draft:
    """Ask for the two parts of a device's name, which may be given without such a card."""
    card = ("cuda", random.randint(0, 7))
    kind, index = random.choice([card, card, ("cuda", None), ("meta", None), ("cpu", None), ("mps", None)])
    name = kind if index is None else f"{kind}:{index}"
    because = (
        f"The name has no number, so it says nothing about which one: {RIGHT}."
        if index is None
        else f"The number counts the cards from 0. To name a card works on every machine: {RIGHT}. "
        "Without it, an error comes when a tensor is to go there."
    )
    wrong = [(kind, 0), (name, "None"), error_choice(1), (kind, 1), (kind, "None")]
    return Draft(f'device = torch.device("{name}")', "device.type, device.index", wrong, because)


@mixed_precision("float16-faster-riskier", also=("float16-halves-memory", "dtype-catalogue"))
def square_in_sixteen_bits(random: Random) -> Draft:
    """Ask which squares are too large for float16, and which for bfloat16."""
    number = random.choice([100, 150, 200, 250, 300, 400, 500, 900])
    dtype = random.choice(["float16", "float16", "bfloat16"])
    code = join_lines(f"x = torch.tensor({number}.0, dtype=torch.{dtype})", "y = x * x")
    too_large = number**2 > 65504
    because = (
        f"bfloat16 has the range of float32, so {number**2} is far from its end: {RIGHT}."
        if dtype == "bfloat16"
        else f"{number**2} is {'beyond' if too_large else 'below'} 65504, the largest number of float16, "
        f"and the dtype stays: {RIGHT}."
    )
    other = "bfloat16" if dtype == "float16" else "float16"
    wrong = [
        (not too_large if dtype == "float16" else True, f"torch.{dtype}"),
        (too_large, "torch.float32"),
        (False, "torch.float32"),
        (False, f"torch.{other}"),
        (True, f"torch.{other}"),
    ]
    return Draft(code, "y.isinf().item(), y.dtype", wrong, because)


@mixed_precision("float16-faster-riskier", "amp-forward-in-fp16", also=("half-memory-double-throughput",))
def many_small_steps(random: Random) -> Draft:
    """Ask where many small steps lead in a dtype with few digits."""
    dtype, step = random.choice([("bfloat16", 0.001), ("float16", 0.0001), ("float32", 0.001), ("float32", 0.0001)])
    share = random.choice([0.1, 0.2, 0.3])
    count = round(share / step)
    code = join_lines(f"w = torch.tensor(1.0, dtype=torch.{dtype})", f"for _ in range({count}):", f"    w = w - {step}")
    because = (
        f"float32 has room for such a step beside 1, and {count} of them are {share}: {RIGHT}. "
        "So mixed precision keeps the weights in float32."
        if dtype == "float32"
        else f"Beside 1 a step of {step} is less than half of the way to the next number of {dtype}, so each is "
        f"rounded away: {RIGHT}. So mixed precision keeps the weights in float32."
    )
    return Draft(code, "w.item()", [1 - share, 1, 1 + share, 0, "inf"], because)


@mixed_precision("amp-scale-against-underflow", "float16-faster-riskier", also=("float16-underflow",))
def gradient_too_small(random: Random) -> Draft:
    """Ask whether a number is 0 in float16, alone and times a factor."""
    digit, exponent, factor = random.choice([1, 2, 7, 8, 9]), random.choice([6, 8, 9, 13]), random.choice([1024, 65536])
    number = f"{digit}e-{exponent}"
    code = join_lines(
        f"gradient = torch.tensor({number})", "alone = gradient.half()", f"scaled = ({factor} * gradient).half()"
    )
    alone, scaled = float(number) < 3e-8, float(number) * factor < 3e-8
    because = (
        f"What is less than half of 6e-8, the smallest number of float16, becomes 0: {number} alone "
        f"{'does' if alone else 'does not'}, and {factor} * {number} {'does' if scaled else 'does not'}. {RIGHT}."
    )
    wrong = [(True, False), (False, False), (True, True), (False, True)]
    return Draft(code, "(alone == 0).item(), (scaled == 0).item()", wrong, because)


@mixed_precision("amp-forward-in-fp16", also=("amp-snippet-api", "half-memory-double-throughput"))
def dtypes_under_autocast(random: Random) -> Draft:
    """Ask for the dtypes of three things inside an autocast block."""
    n, m = random.sample(range(2, 9), 2)
    low, full = "torch.bfloat16", "torch.float32"
    truth = {
        "h": (low, "a product comes out in 16 bits"),
        "x @ x.T": (low, "a product comes out in 16 bits"),
        "loss": (full, "a loss comes out in float32"),
        "layer.weight": (full, "weights stay in float32"),
        "x.relu()": (full, "`relu` gives what came in, and `x` is float32"),
        "h.relu()": (low, "`relu` gives what came in, and `h` has 16 bits"),
    }
    drawn = random.sample(list(truth), 3)
    names = [f"({each})" if "@" in each else each for each in drawn]
    code = join_lines(
        f"layer, x = nn.Linear({n}, {m}), torch.ones(3, {n})",
        'with torch.autocast("cpu", dtype=torch.bfloat16):',
        "    h = layer(x)",
        f"    loss = F.mse_loss(h, torch.zeros(3, {m}))",
        f"    dtypes = [{', '.join(f'{each}.dtype' for each in names)}]",
    )
    right = [truth[each][0] for each in drawn]
    wrong = [list(each) for each in near_miss_tuples(right, {low: full, full: low}.__getitem__)]
    told = "; ".join(f"`{each}`: {truth[each][1]}" for each in drawn)
    return Draft(code, "dtypes", wrong, f"{told}. So {RIGHT}.")


@mixed_precision("amp-forward-in-fp16", "default-float32-cpu", also=("three-critical-properties-break-silently",))
def border_of_autocast(random: Random) -> Draft:
    """Ask what happens to a result of autocast behind the block."""
    n = random.randint(2, 9)
    after, kind = random.choice(
        [("layer(h)", "meets"), ("layer(h.float())", "converted"), ("h.relu()", "alone"), ("h + x", "wider")]
    )
    code = join_lines(
        f"layer, x = nn.Linear({n}, {n}), torch.ones(2, {n})",
        'with torch.autocast("cpu", dtype=torch.bfloat16):',
        "    h = layer(x)",
        f"y = {after}",
    )
    because = {
        "meets": f"`h` is still bfloat16, the weight is float32, and outside of the block nobody converts: {RIGHT}.",
        "converted": f"`.float()` turns `h` to the dtype of the weight, so the product is {RIGHT}.",
        "alone": f"`h` is still bfloat16 behind the block, and `relu` gives what came in: {RIGHT}.",
        "wider": f"Place by place torch takes the wider of the two dtypes, with or without autocast: {RIGHT}.",
    }[kind]
    wrong = ["torch.float32", error_choice(4), "torch.bfloat16", "torch.float16", error_choice(3)]
    return Draft(code, "y.dtype", wrong, because)


@mixed_precision("amp-forward-in-fp16", also=("amp-snippet-on-cpu", "amp-snippet-api"))
def autocast_for_another_device(random: Random) -> Draft:
    """Ask what a block of autocast does to tensors on the CPU, by the device and the switch that it is given."""
    n, m = random.sample(range(2, 9), 2)
    arguments, why = random.choice(
        [
            ('"cpu", dtype=torch.bfloat16', "on"),
            ('"cpu", dtype=torch.bfloat16, enabled=False', "off"),
            ('"cuda", dtype=torch.bfloat16', "elsewhere"),
            ('"cuda", dtype=torch.float16', "elsewhere"),
        ]
    )
    code = join_lines(
        f"x, w = torch.ones({n}, {m}), torch.ones({m}, {n})", f"with torch.autocast({arguments}):", "    y = x @ w"
    )
    because = {
        "on": f"The block is for the device on which the tensors are, and a product comes out as {RIGHT}.",
        "off": f"`enabled=False` switches the block off, so the product is as always: {RIGHT}.",
        "elsewhere": f"The block is for another device than that of these tensors, which are on the CPU: {RIGHT}. "
        "It is no error; without CUDA there is a warning.",
    }[why]
    return Draft(code, "y.dtype", ["torch.bfloat16", "torch.float32", "torch.float16", error_choice(2)], because)


@mixed_precision("amp-scaler-step-and-update", "amp-scale-against-underflow")
def scaled_loss(random: Random) -> Draft:
    """Ask what a scaler makes of a loss, switched on and switched off."""
    loss, factor = random.randint(2, 9), random.choice([128, 256, 1024])
    enabled = random.random() < 0.5
    code = join_lines(
        f'scaler = torch.amp.GradScaler("cpu", init_scale={factor}.0, enabled={enabled})',
        "w = torch.tensor(1.0, requires_grad=True)",
        f"loss = w * {loss}",
        "scaler.scale(loss).backward()",
    )
    because = (
        f"The loss is multiplied by the factor, and so is its gradient, {loss} * {factor}; "
        f"`loss` itself stays: {RIGHT}."
        if enabled
        else f"A scaler that is switched off changes nothing: {RIGHT}."
    )
    wrong = [(loss, loss * factor), (loss * factor, loss * factor), (loss, loss), (loss, factor), (loss, loss / factor)]
    return Draft(code, "loss.item(), w.grad.item()", wrong, because)


@mixed_precision("amp-scaler-step-and-update")
def factor_and_weight(random: Random) -> Draft:
    """Ask for the scaler's factor and the weight after a round."""
    start, k, factor = random.randint(5, 9), random.randint(2, 8), random.choice([256, 512, 1024])
    interval, gradient = random.choice([(1, str(k)), (2, str(k)), (1, "math.inf"), (2, "math.nan")])
    code = join_lines(
        f"w = nn.Parameter(torch.tensor({start}.0))",
        "optimizer = torch.optim.SGD([w], lr=0.5)",
        f'scaler = torch.amp.GradScaler("cpu", init_scale={factor}.0, growth_interval={interval})',
        f"scaler.scale({gradient} * w).backward()",
        "scaler.step(optimizer)",
        "scaler.update()",
    )
    moved = start - 0.5 * k
    because = (
        f"The gradient is not finite, so the step is skipped, and the factor is halved: {RIGHT}."
        if "math" in gradient
        else f"`step` divides the gradient by the factor first, {start} - 0.5 * {k}; one good step is "
        f"{'enough' if interval == 1 else 'not enough'} to double the factor: {RIGHT}."
    )
    wrong = [
        (factor, moved),
        (factor / 2, start),
        (2 * factor, moved),
        (factor, start),
        (factor / 2, moved),
        (factor, "nan"),
    ]
    return Draft(code, "scaler.get_scale(), w.item()", wrong, because)


@mixed_precision("amp-scaler-step-and-update", "amp-scale-against-underflow")
def clip_before_or_after_unscale(random: Random) -> Draft:
    """Ask what a limit does to a gradient with and without the factor."""
    k, limit = random.sample(range(2, 9), 2)
    factor = random.choice([64, 128, 256])
    first_clip = random.random() < 0.5
    clip, unscale = f"nn.utils.clip_grad_norm_([w], max_norm={limit}.0)", "scaler.unscale_(optimizer)"
    code = join_lines(
        "w = nn.Parameter(torch.tensor(1.0))",
        "optimizer = torch.optim.SGD([w], lr=0.1)",
        f'scaler = torch.amp.GradScaler("cpu", init_scale={factor}.0)',
        f"scaler.scale({k} * w).backward()",
        *([clip, unscale] if first_clip else [unscale, clip]),
    )
    because = (
        f"{k} * {factor} is clipped to {limit}, and that is divided by {factor}: {RIGHT} in place of {min(k, limit)}."
        if first_clip
        else f"The true gradient, {k}, meets the limit of {limit}: {RIGHT}."
    )
    wrong = [limit, k, limit / factor, k * factor, k / factor, limit * factor]
    return Draft(code, "w.grad.item()", wrong, because)


@mixed_precision("amp-scaler-step-and-update", "sgd-update-rule")
def step_without_the_scaler(random: Random) -> Draft:
    """Ask where a weight goes if the optimizer steps without the scaler."""
    start, k, factor = random.randint(2, 9), random.randint(2, 5), random.choice([8, 16, 64])
    who = random.choice(["optimizer.step()", "scaler.step(optimizer)"])
    code = join_lines(
        f"w = nn.Parameter(torch.tensor({start}.0))",
        "optimizer = torch.optim.SGD([w], lr=0.5)",
        f'scaler = torch.amp.GradScaler("cpu", init_scale={factor}.0)',
        f"scaler.scale({k} * w).backward()",
        who,
    )
    because = (
        f"`.grad` still has the factor: {start} - 0.5 * {k} * {factor} = {RIGHT}. No error says so."
        if "optimizer.step" in who
        else f"`scaler.step` divides by the factor first: {start} - 0.5 * {k} = {RIGHT}."
    )
    wrong = [
        start - 0.5 * k,
        start - 0.5 * k * factor,
        start,
        start - 0.5 * k / factor,
        start + 0.5 * k,
        error_choice(5),
    ]
    return Draft(code, "w.item()", wrong, because)


@time_and_memory(
    "device-moves-explicit", "default-float32-cpu", also=("dtype-and-device-together", "dtype-explicit-example")
)
def dtype_and_device_in_one_call(random: Random) -> Draft:
    """Ask for device and dtype after a call that names one or both."""
    n, m = random.sample(range(2, 9), 2)
    call, right = random.choice(
        [
            ('.to("meta", torch.bfloat16)', ("meta", "torch.bfloat16")),
            (".to(torch.bfloat16)", ("cpu", "torch.bfloat16")),
            ('.to("meta")', ("meta", "torch.float32")),
            (".to(other)", ("meta", "torch.float16")),
        ]
    )
    code = join_lines(
        'other = torch.ones(1, device="meta", dtype=torch.float16)', f"x = torch.zeros({n}, {m})", f"y = x{call}"
    )
    because = (
        f"Another tensor stands for its device and its dtype: {RIGHT}."
        if "other" in call
        else f"What the call names changes, and the rest stays as it is in `x`, float32 on the CPU: {RIGHT}."
    )
    wrong = [
        ("meta", "torch.float32"),
        ("cpu", "torch.float32"),
        ("meta", right[1]),
        ("cpu", right[1]),
        ("meta", "torch.bfloat16"),
    ]
    return Draft(code, "y.device.type, y.dtype", wrong, because)


@time_and_memory("half-memory-double-throughput", also=("adam-is-sgd-plus-bookkeeping", "dtype-memory-4mb-8mb"))
def bytes_of_training(random: Random) -> Draft:
    """Ask for the bytes of a weight, its gradient and what the optimizer remembers of it."""
    count = random.choice([100, 200, 500, 1000, 3000])
    dtype, size = random.choice([("float32", 4), ("bfloat16", 2)])
    optimizer, state = random.choice(
        [
            ("SGD([w], lr=0.1)", ()),
            ("SGD([w], lr=0.1, momentum=0.9)", ("momentum_buffer",)),
            ("Adam([w])", ("exp_avg", "exp_avg_sq")),
        ]
    )
    code = join_lines(
        f"w = nn.Parameter(torch.zeros({count}, dtype=torch.{dtype}))",
        f"optimizer = torch.optim.{optimizer}",
        "w.sum().backward()",
        "optimizer.step()",
        f"held = [w, w.grad, *(optimizer.state[w][name] for name in {state})]",
    )
    because = (
        f"Weight, gradient and {len(state) or 'no'} tensor{'' if len(state) == 1 else 's'} of the optimizer: "
        f"{2 + len(state)} * {count} numbers of {size} bytes ({dtype}) are {RIGHT}."
    )
    prompt = "How many bytes do weight, gradient and optimizer hold: what is `sum(t.nbytes for t in held)`?"
    wrong = [count * each * size for each in (2, 4, 3, 1)] + [count * (2 + len(state)) * (6 - size)]
    return Draft(code, "sum(t.nbytes for t in held)", wrong, because, prompt)


@time_and_memory("half-memory-double-throughput", "linear-layer-is-matmul", also=("dtype-memory-4mb-8mb",))
def bytes_of_activations(random: Random) -> Draft:
    """Ask what a larger batch or a smaller dtype does to the bytes of a hidden layer and its weight."""
    rows, width = random.choice([16, 32, 64]), random.choice([100, 200, 500])
    times, dtype, size = random.choice([(10, "float32", 4), (1, "bfloat16", 2), (2, "bfloat16", 2), (4, "float32", 4)])
    code = join_lines(
        f"layer = nn.Linear(10, {width}, bias=False, dtype=torch.{dtype})",
        f"x = torch.ones({rows * times}, 10, dtype=torch.{dtype})",
        "hidden = layer(x)",
    )
    weight, hidden = 10 * width * size, rows * times * width * size
    because = (
        f"The weight is 10 * {width} numbers, however large the batch is; the hidden layer has a row for each of the "
        f"{rows * times} examples. {size} bytes for each number ({dtype}): {RIGHT}."
    )
    other = 6 - size
    wrong = [
        (weight, hidden // size * other),
        (weight // size * other, hidden // size * other),
        (weight, weight * rows * times),
        (hidden, hidden),
        (weight, hidden // times),
        (weight // size * other, hidden),
    ]
    return Draft(code, "layer.weight.nbytes, hidden.nbytes", wrong, because)


@time_and_memory("linear-layer-is-matmul", also=("batch-of-100-same-time-on-gpu", "tiny-model-examples"))
def batch_or_rows(random: Random) -> Draft:
    """Ask whether a batch gives what its rows give one by one."""
    n, a, b = random.sample(range(2, 9), 3)
    joined = random.choice(["stack", "cat"])
    code = join_lines(
        f"layer, x = nn.Linear({a}, {b}), torch.ones({n}, {a})",
        "batch = layer(x)",
        f"rows = torch.{joined}([layer(row) for row in x])",
        "difference = (batch.flatten() - rows.flatten()).abs().max().item()",
    )
    because = (
        f"Each row gives {b} numbers, in a batch or alone, so they agree; "
        f"`{joined}` {'lays them in rows' if joined == 'stack' else 'joins them end to end'}: {RIGHT}."
    )
    wrong = [((n, b), False), ((n * b,), False), ((n * b,), True), ((n, b), True), ((n, a), True)]
    return Draft(code, "tuple(rows.shape), difference < 1e-5", wrong, because)
