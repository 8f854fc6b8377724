"""Questions about chapter 6: what a model is given, how a training goes on, and what its first numbers say."""

from __future__ import annotations

import math
from random import Random

from autograder.questions.computed_question import RIGHT, Draft, error_choice, join_lines
from autograder.questions.question_generator_registry import QuestionGenerators

questions = QuestionGenerators()
your_handwriting = questions.from_sitting("ch06a_your_handwriting")
stop_and_resume = questions.from_sitting("ch06b_stop_and_resume")
six_faults = questions.from_sitting("ch06c_six_faults")


@your_handwriting("model-once-batches-each", "device-moves-explicit", also=("trainer-asks-the-model",))
def batch_follows_the_model(random: Random) -> Draft:
    """Ask where a step that asks the model computes, and where the data stay."""
    n, a, b = random.sample(range(2, 9), 3)
    move = random.choice(['.to("meta")', '.to("meta")', ""])
    asks = random.random() < 0.7
    code = join_lines(
        f"model = nn.Linear({a}, {b}){move}",
        f"images = torch.ones({n}, {a})",
        f"here = {'next(model.parameters()).device' if asks else chr(34) + 'cpu' + chr(34)}",
        "scores = model(images.to(here))",
    )
    because = (
        f"The batch goes where the model is, whichever device that is, and `images` stays on the CPU: {RIGHT}."
        if asks
        else f"`here` is the CPU, whatever the model says, and the model is on meta: {RIGHT}."
        if move
        else f"`here` is the CPU, and by chance the model is there too: {RIGHT}."
    )
    wrong = [error_choice(4), ("cpu", "meta"), ("meta", "meta"), ("cpu", "cpu"), ("meta", "cpu")]
    return Draft(code, "images.device.type, scores.device.type", wrong, because)


@your_handwriting("confusion-matrix", "matmul-example")
def cell_of_confusion(random: Random) -> Draft:
    """Ask for one number of a confusion matrix."""
    row, column, other = random.sample(range(3), 3)
    counts = {
        (row, row): 2,
        (row, column): random.choice([1, 3]),
        (column, row): random.choice([0, 2]),
        (other, row): 1,
    }
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    random.shuffle(pairs)
    swapped = random.random() < 0.3
    product = ("says", "labels") if swapped else ("labels", "says")
    code = join_lines(
        f"labels = torch.tensor({[is_ for is_, _ in pairs]})",
        f"says = torch.tensor({[says for _, says in pairs]})",
        f"table = F.one_hot({product[0]}, 3).T @ F.one_hot({product[1]}, 3)",
    )
    counted = (column, row) if swapped else (row, column)
    because = (
        f"The row comes from `{product[0]}` and the column from `{product[1]}`, so this counts where a "
        f"{counted[0]} was taken for a {counted[1]}: {RIGHT}."
    )
    wrong = [counts[row, column], counts[column, row], 2, 0, len(pairs), 1]
    return Draft(code, f"table[{row}, {column}].item()", wrong, because)


@your_handwriting("confusion-matrix", "validation-loop")
def shares_from_confusion(random: Random) -> Draft:
    """Ask for a share of a confusion matrix: of all, of one class, or of one answer."""
    a, b, c, d = random.sample(range(1, 20), 4)
    expression, because = random.choice(
        [
            ("(table.diagonal().sum() / table.sum()).item()", f"The diagonal is what is right: {a} + {d} of all"),
            ("(table[0, 0] / table[0].sum()).item()", f"Row 0 is what is a 0: {a} of {a} + {b} were read"),
            ("(table[0, 0] / table[:, 0].sum()).item()", f"Column 0 is what was called a 0: {a} of {a} + {c} are one"),
        ]
    )
    all_ = a + b + c + d
    wrong = [a / (a + b), a / (a + c), (a + d) / all_, a / all_, (b + c) / all_, d / (c + d), d / (b + d)]
    code = f"table = torch.tensor([[{a}, {b}], [{c}, {d}]])  # row: what it is; column: what the model says"
    return Draft(code, expression, wrong, f"{because}: {RIGHT}.")


@your_handwriting("confusion-matrix", "validation-loop", also=("mistake-skip-verification",))
def always_the_larger_class(random: Random) -> Draft:
    """Ask for the share of all and of the rarer class that a constant answer has right."""
    many, few = random.choice([90, 80, 95, 70]), random.choice([10, 20, 30, 5])
    answer = random.choice([0, 0, 1])
    code = join_lines(
        f"labels = torch.tensor([0] * {many} + [1] * {few})",
        f"says = torch.full(({many + few},), {answer})",
        "right = (says == labels).float()",
    )
    share = (few if answer else many) / (many + few)
    because = (
        f"The model says {answer} of everything. So it has right whatever is a {answer}, and of those that are 1 "
        f"{'all' if answer else 'none'}: {RIGHT}."
    )
    wrong = [(share, share), (share, 0), (share, 1), (1 - share, 0), (0.5, 0.5), (1 - share, 1)]
    return Draft(code, "right.mean().item(), right[labels == 1].mean().item()", wrong, because)


@your_handwriting("look-at-the-inputs", also=("another-distribution",))
def rule_on_other_data(random: Random) -> Draft:
    """Ask what a rule that fits one source has right on another."""
    border, shift = random.randint(10, 20), random.choice([4, 6, -4, -6])
    below, above = [border - 5, border - 3, border - 1], [border + 1, border + 3, border + 5]
    code = join_lines(
        f"x = torch.tensor({below + above})",
        "labels = torch.tensor([0, 0, 0, 1, 1, 1])",
        f"elsewhere = x + {shift}" if shift > 0 else f"elsewhere = x - {-shift}",
        f"right = [((each > {border}).long() == labels).float().mean().item() for each in (x, elsewhere)]",
    )
    moved = sum((each + shift > border) != (each > border) for each in below + above)
    because = (
        f"On `x` the rule is right everywhere. Elsewhere {moved} of 6 numbers lie on the other side of {border}, "
        f"although the rule is the same: {RIGHT}."
    )
    share = 1 - moved / 6
    wrong = [[1.0, 1.0], [share, share], [1.0, 1 - share], [1.0, 0.5], [1.0, share], [share, 1.0]]
    return Draft(code, "right", wrong, because)


@your_handwriting("look-at-the-inputs", "mean-std-dim0")
def mean_picture(random: Random) -> Draft:
    """Ask what is left of a stack of pictures after a mean over some of its axes."""
    n, h, w = random.sample(range(3, 12), 3)
    dim, what = random.choice(
        [
            ("0", "the mean picture"),
            ("(0, 2)", "the mean ink of each row"),
            ("(0, 1)", "the mean ink of each column"),
            ("(1, 2)", "the mean ink of each picture"),
        ]
    )
    wrong = [(h, w), (n,), (h,), (w,), (n, w), (n, h)]
    because = f"The axes that are named go, and the others stay. That is {what}: {RIGHT}."
    code = join_lines(
        f"pictures = torch.zeros({n}, {h}, {w})  # picture, row, column", f"mean = pictures.mean(dim={dim})"
    )
    return Draft(code, "tuple(mean.shape)", wrong, because)


@your_handwriting("prepare-alike", "look-at-the-inputs", "feature-normalisation-output")
def prepared_with_whose_numbers(random: Random) -> Draft:
    """Ask what a new number becomes, by the numbers of the training data or by its own."""
    middle, far = random.randint(5, 20), random.choice([2, 4, 5])
    new = [middle + far * each for each in random.choice([(2, 4), (3, 5), (-4, -2), (1, 3)])]
    own = random.random() < 0.3
    code = join_lines(
        f"trained_on = torch.tensor([{middle - far}.0, {middle + far}.0])",
        f"new = torch.tensor([{new[0]}.0, {new[1]}.0])",
        f"source = {'new' if own else 'trained_on'}",
        "prepared = (new - source.mean()) / source.std(correction=0)",
    )
    right = [(each - middle) / far for each in new]
    because = (
        f"By their own mean and deviation any two numbers become {RIGHT}, and the model cannot see that they are "
        "other numbers than before."
        if own
        else f"Prepared as the training data were, with mean {middle} and deviation {far}, they become {RIGHT}."
    )
    wrong = [[-1.0, 1.0], right, [each - middle for each in new], [each / middle for each in new], new, [0.0, 1.0]]
    return Draft(code, "prepared.tolist()", wrong, because)


@your_handwriting("prepare-alike", also=("shape-op-explorer-widget",))
def ink_in_blocks(random: Random) -> Draft:
    """Ask how much ink falls into each block of a drawing."""
    top, left = random.choice([2, 3]), random.choice([1, 2, 3])
    height, width = random.choice([4, 5]), random.choice([3, 4, 5])
    inked = [[0, 0], [0, 0]]
    for row in range(top, top + height):
        for column in range(left, left + width):
            inked[row // 4][column // 4] += 1
    code = join_lines(
        "drawing = torch.zeros(8, 8, dtype=torch.int64)",
        f"drawing[{top}:{top + height}, {left}:{left + width}] = 1",
        "blocks = drawing.reshape(2, 4, 2, 4).sum((1, 3))",
    )
    (a, b), (c, d) = inked
    because = f"Each block counts the ones in 4 by 4 places; the {height * width} of them fall as {RIGHT}."
    wrong = [
        [[a, c], [b, d]],
        [[b, a], [d, c]],
        [[c, d], [a, b]],
        [[height * width, 0], [0, 0]],
        [[16, 0], [0, 0]],
        [[a + b, 0], [c + d, 0]],
        [[b, d], [a, c]],
        error_choice(3),
    ]
    return Draft(code, "blocks.tolist()", wrong, because)


@your_handwriting("prepare-alike")
def box_around_ink(random: Random) -> Draft:
    """Ask for the shape of the box around what is not zero."""
    rows, columns = sorted(random.sample(range(1, 9), 2)), sorted(random.sample(range(1, 9), 2))
    plus = random.choice([" + 1", " + 1", ""])
    code = join_lines(
        "drawing = torch.zeros(10, 10)",
        f"drawing[{rows[0]}, {columns[1]}] = 1",
        f"drawing[{rows[1]}, {columns[0]}] = 1",
        "r, c = drawing.nonzero().T",
        f"box = drawing[r.min() : r.max(){plus}, c.min() : c.max(){plus}]",
    )
    height, width = rows[1] - rows[0], columns[1] - columns[0]
    because = (
        f"The box goes from row {rows[0]} to row {rows[1]} and from column {columns[0]} to column {columns[1]}, "
        f"{'both ends counted' if plus else 'and without + 1 the last row and column are cut off'}: {RIGHT}."
    )
    wrong = [(height, width), (height + 1, width + 1), (width + 1, height + 1), (2, 2), (10, 10), (rows[1], columns[1])]
    return Draft(code, "tuple(box.shape)", wrong, because)


@your_handwriting("augmentation")
def labels_of_copies(random: Random) -> Draft:
    """Ask which label belongs to a row of several copies of all pictures."""
    a, b, c = random.sample(range(10), 3)
    count, place = random.choice([2, 3, 4]), random.choice([1, 2, 4, 5])
    how = random.choice(["repeat", "repeat", "repeat_interleave"])
    code = join_lines(
        "pictures = torch.zeros(3, 1, 8, 8)",
        f"labels = torch.tensor([{a}, {b}, {c}])",
        f"copies = pictures.repeat({count}, 1, 1, 1)",
        f"copied = labels.{how}({count})",
    )
    total = 3 * count
    because = (
        f"`repeat` puts the whole list behind itself, for pictures and labels alike, so row {place} is one of picture "
        f"{place % 3}: {RIGHT}."
        if how == "repeat"
        else f"`repeat_interleave` repeats each label in place, so label {place} is that of picture {place // count}: "
        f"{RIGHT}. Row {place} of the copies is picture {place % 3}, because `repeat` goes in turns."
    )
    wrong = [(total, a), (total, b), (total, c), (3, (a, b, c)[place % 3]), (count, a)]
    return Draft(code, f"len(copies), copied[{place}].item()", wrong, because)


@your_handwriting("augmentation")
def shifted_copy(random: Random) -> Draft:
    """Ask what a row looks like after a shift or a flip, and whether the picture itself is as it was."""
    a, b, c, d = random.sample(range(1, 16), 4)
    call, words = random.choice(
        [
            ("roll(1, dims=1)", "each column goes one place to the right, and the last comes to the front"),
            ("roll(-1, dims=1)", "each column goes one place to the left, and the first comes to the end"),
            ("flip(1)", "the columns come in the opposite order"),
            ("roll(1, dims=0)", "the rows change places"),
        ]
    )
    code = join_lines(f"picture = torch.tensor([[{a}, {b}, {c}], [{d}, 0, 0]])", f"copy = picture.{call}")
    wrong = [
        ([a, b, c], [a, b, c]),
        ([c, a, b], [a, b, c]),
        ([b, c, a], [a, b, c]),
        ([c, b, a], [a, b, c]),
        ([d, 0, 0], [a, b, c]),
        ([c, a, b], [c, a, b]),
        ([c, b, a], [c, b, a]),
    ]
    because = f"With `{call}` {words}; `picture` stays, so both can be learned from: {RIGHT}."
    return Draft(code, "copy[0].tolist(), picture[0].tolist()", wrong, because)


@stop_and_resume("optimizer-remembers", "sgd-update-rule", also=("optimizer-role",))
def resumed_with_momentum(random: Random) -> Draft:
    """Ask where a run goes on with and without the optimizer's velocity."""
    start, k, momentum = random.randint(20, 40), random.choice([2, 4, 6]), 0.5
    restored = random.random() < 0.5
    code = join_lines(
        f"w = nn.Parameter(torch.tensor({start}.0))",
        f"first = torch.optim.SGD([w], lr=1.0, momentum={momentum})",
        f"({k} * w).backward()",
        "first.step()",
        f"second = torch.optim.SGD([w], lr=1.0, momentum={momentum})",
        *(["second.load_state_dict(first.state_dict())"] if restored else []),
        "second.step()  # the gradient is still there",
    )
    after = start - k
    because = (
        f"The velocity is {k}, then {momentum} * {k} + {k}, because the new optimizer has got it back: {RIGHT}."
        if restored
        else f"The new optimizer begins without velocity, so both steps are of {k}: {RIGHT}. "
        f"The unbroken run would be at {after - 1.5 * k:g}."
    )
    wrong = [after - k, after - 1.5 * k, after, after - 0.5 * k, after - 2 * k]
    return Draft(code, "w.item()", wrong, because)


@stop_and_resume("optimizer-remembers", "adam-per-parameter-rate", also=("adam-is-sgd-plus-bookkeeping",))
def what_an_optimizer_remembers(random: Random) -> Draft:
    """Ask for how many parameters an optimizer remembers something, before and after a step."""
    a, b = random.sample(range(2, 9), 2)
    bias, stepped = random.random() < 0.6, random.random() < 0.7
    optimizer = random.choice(["Adam(model.parameters())", "SGD(model.parameters(), lr=0.1, momentum=0.9)"])
    code = join_lines(
        f"model = nn.Linear({a}, {b}{'' if bias else ', bias=False'})",
        f"optimizer = torch.optim.{optimizer}",
        f"model(torch.ones(1, {a})).sum().backward()",
        *(["optimizer.step()"] if stepped else []),
        'remembered = optimizer.state_dict()["state"]',
    )
    because = (
        f"A step leaves it something of each parameter ({'weight and bias' if bias else 'the weight'}): {RIGHT}."
        if stepped
        else f"Before the first step it remembers nothing, although the gradients are there: {RIGHT}."
    )
    return Draft(code, "len(remembered)", [0, 1, 2, a * b, a * b + b, 3], because)


@stop_and_resume("optimizer-remembers", also=("detached-copy-independent",))
def state_that_moves_on(random: Random) -> Draft:
    """Ask what a saved state of an optimizer holds after one more step."""
    k = random.randint(2, 9)
    copied = random.random() < 0.5
    code = join_lines(
        "import copy",
        "w = nn.Parameter(torch.tensor(1.0))",
        "optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.5)",
        f"({k} * w).backward()",
        "optimizer.step()",
        f"saved = {'copy.deepcopy(optimizer.state_dict())' if copied else 'optimizer.state_dict()'}",
        "optimizer.step()",
    )
    because = (
        f"The copy keeps the velocity of the first step: {RIGHT}."
        if copied
        else f"The state holds the optimizer's own tensors, and the next step changes them: 0.5 * {k} + {k} = {RIGHT}."
    )
    return Draft(
        code, 'saved["state"][0]["momentum_buffer"].item()', [k, 1.5 * k, 0, 2 * k, 0.5 * k, error_choice(6)], because
    )


@stop_and_resume("optimizer-remembers", "sgd-update-rule")
def rate_of_a_resumed_run(random: Random) -> Draft:
    """Ask which learning rate a new optimizer has after it has loaded a state."""
    old, new = random.choice([0.5, 0.1, 0.04, 0.6, 0.8]), random.choice([0.2, 0.01, 0.03, 0.7])
    loaded = random.random() < 0.6
    code = join_lines(
        "w = nn.Parameter(torch.tensor(1.0))",
        f"first = torch.optim.SGD([w], lr={old})",
        f'first.param_groups[0]["lr"] = {old / 2}',
        f"second = torch.optim.SGD([w], lr={new})",
        *(["second.load_state_dict(first.state_dict())"] if loaded else []),
    )
    because = (
        f"The learning rate belongs to the state, as it last was, and takes the place of {new}: {RIGHT}."
        if loaded
        else f"Nothing has been loaded, so the second optimizer has what it was given: {RIGHT}."
    )
    wrong = [new, old / 2, old, new / 2, 2 * old]
    return Draft(code, 'second.param_groups[0]["lr"]', wrong, because)


@stop_and_resume("optimizer-remembers", "adam-per-parameter-rate", also=("adam-is-sgd-plus-bookkeeping",))
def steps_that_adam_counts(random: Random) -> Draft:
    """Ask how many steps Adam has counted after a run was resumed."""
    before, after = random.sample(range(2, 9), 2)
    loaded = random.random() < 0.6
    code = join_lines(
        "w = nn.Parameter(torch.tensor(1.0))",
        "first, second = torch.optim.Adam([w]), torch.optim.Adam([w])",
        "w.grad = torch.tensor(1.0)",
        f"for _ in range({before}):",
        "    first.step()",
        *(["second.load_state_dict(first.state_dict())"] if loaded else []),
        f"for _ in range({after}):",
        "    second.step()",
    )
    because = (
        f"The count was loaded too, and goes on: {before} + {after} = {RIGHT}."
        if loaded
        else f"The second Adam knows nothing of the first, and counts its own: {RIGHT}."
    )
    wrong = [before + after, after, before, 1, 0]
    return Draft(code, 'int(second.state[w]["step"])', wrong, because)


@stop_and_resume("optimizer-remembers", also=("manual-seed-reproducible",))
def order_after_resuming(random: Random) -> Draft:
    """Ask whether an order that is drawn after a stop is the first again, the second, or a third."""
    seed = random.randint(0, 99)
    back, word = random.choice(
        [("order.set_state(state)", "state"), (f"order.manual_seed({seed})", "seed"), ("torch.manual_seed(0)", "other")]
    )
    code = join_lines(
        f"order = torch.Generator().manual_seed({seed})",
        "one = torch.randperm(20, generator=order)",
        "state = order.get_state()",
        "two = torch.randperm(20, generator=order)",
        back,
        "three = torch.randperm(20, generator=order)",
    )
    because = {
        "state": f"The generator is put back to its place after the first order, so the second comes again: {RIGHT}.",
        "seed": f"The seed puts the generator back to its beginning, so the first order comes again: {RIGHT}.",
        "other": f"`torch.manual_seed` is for torch's own generator; `order` goes on to a third order: {RIGHT}.",
    }[word]
    wrong = [(True, False), (False, True), (False, False), (True, True)]
    return Draft(code, "torch.equal(three, one), torch.equal(three, two)", wrong, because)


@stop_and_resume("optimizer-remembers", also=("mistake-skip-verification",))
def patience_after_resuming(random: Random) -> Draft:
    """Ask in which epoch a resumed run stops, with or without its counter."""
    best = random.randint(3, 9)
    kept = random.random() < 0.5
    later = [best + each for each in random.choice([(4, 5, 6, 7), (4, 3, 6, 7), (4, 6, 5, 7)])]
    losses = [best + 5, best, best + 2, *later]
    code = join_lines(
        f"losses = {losses}",
        f"best, waited = {f'{best}, 1' if kept else 'math.inf, 0'}  # after epochs 0, 1 and 2",
        f"for epoch in range(3, {len(losses)}):",
        "    waited = 0 if losses[epoch] < best else waited + 1",
        "    best = min(best, losses[epoch])",
        "    if waited == 2:",
        "        break",
    )
    because = (
        f"The run had waited for one epoch since its best loss, {best}, and the next one is no better: {RIGHT}."
        if kept
        else f"Best loss and counter were forgotten, so {later[0]} in epoch 3 counts as the best so far: {RIGHT}. "
        "The unbroken run would have stopped in epoch 3."
    )
    return Draft(code, "epoch", [3, 4, 5, 6, 2], because)


@stop_and_resume("group-by-examples", "dataloader-epochs")
def mean_of_unequal_batches(random: Random) -> Draft:
    """Ask for the mean loss of two batches, by examples or by batches."""
    a, b, c = random.sample(range(1, 20), 3)
    d = random.choice([each for each in range(1, 20) if 3 * each != a + b + c])
    by_batches = random.random() < 0.4
    expression = "(three.mean() + single.mean()) / 2" if by_batches else "(three.sum() + single.sum()) / 4"
    code = join_lines(
        f"three, single = torch.tensor([{a}.0, {b}.0, {c}.0]), torch.tensor([{d}.0])", f"loss = {expression}"
    )
    each, means = (a + b + c + d) / 4, ((a + b + c) / 3 + d) / 2
    because = (
        f"The mean of the means counts {d} as much as the three others together: {RIGHT}, and not {each:g}."
        if by_batches
        else f"Each of the four counts alike: {a + b + c + d} / 4 = {RIGHT}."
    )
    wrong = [each, means, (a + b + c) / 3, (a + b + c) / 3 + d, (a + b + c + d) / 2]
    return Draft(code, "loss.item()", wrong, because)


@stop_and_resume("group-by-examples", "gradients-accumulate", also=("accumulation-for-large-batch",))
def gradient_of_a_group(random: Random) -> Draft:
    """Ask for the gradient that two batches of unequal size leave."""
    a, b = random.sample(range(1, 20), 2)
    c = random.choice([each for each in range(1, 20) if 2 * each != a + b])
    divided = random.choice(["batch.sum() / 3", "batch.mean() / 2", "batch.mean()"])
    code = join_lines(
        "w = torch.tensor(1.0, requires_grad=True)",
        f"for batch in (torch.tensor([{a}.0, {b}.0]), torch.tensor([{c}.0])):",
        f"    (w * {divided}).backward()",
    )
    by_examples, means = (a + b + c) / 3, (a + b) / 2 + c
    because = {
        "batch.sum() / 3": f"All three examples count alike: {a + b + c} / 3 = {RIGHT}.",
        "batch.mean() / 2": f"The mean of the means counts {c} as two examples: {RIGHT}, not {by_examples:.4g}.",
        "batch.mean()": f"`backward` adds up, and nothing divides by the number of batches: "
        f"{(a + b) / 2:g} + {c} = {RIGHT}.",
    }[divided]
    return Draft(code, "w.grad.item()", [by_examples, means / 2, means, (a + b) / 2, c, a + b + c], because)


@stop_and_resume("group-by-examples", "dataloader-epochs")
def steps_and_last_group(random: Random) -> Draft:
    """Ask how many steps the groups of an epoch make, and how many examples the last has."""
    count, size, group = random.randint(30, 60), random.choice([8, 10]), random.choice([2, 3])
    code = join_lines(
        f"batches = torch.zeros({count}, 1).split({size})",
        f"groups = [batches[first : first + {group}] for first in range(0, len(batches), {group})]",
        "last = sum(len(batch) for batch in groups[-1])",
    )
    batches = -(-count // size)
    steps = -(-batches // group)
    last = count - (steps - 1) * size * group
    because = f"{count} examples are {batches} batches, in groups of {group}; the last has what is left: {RIGHT}."
    wrong = [
        (batches, last),
        (steps, size * group),
        (steps - 1, last),
        (steps, size),
        (steps, last + 1),
        (batches, size),
    ]
    return Draft(code, "len(groups), last", wrong, because)


@stop_and_resume("group-by-examples", "dataloader-epochs")
def loss_of_an_epoch(random: Random) -> Draft:
    """Ask for the mean loss of an epoch whose last batch is smaller."""
    size, small = random.choice([(4, 2), (8, 2), (6, 3), (10, 5)])
    first, last = random.sample(range(1, 12), 2)
    weighted = random.random() < 0.6
    code = join_lines(
        f"batches = [({size}, {first}.0), ({size}, {first}.0), ({small}, {last}.0)]  # examples, mean loss",
        "examples = sum(count for count, _ in batches)",
        "loss = sum(mean * count for count, mean in batches) / examples"
        if weighted
        else "loss = sum(mean for _, mean in batches) / len(batches)",
    )
    by_examples = (2 * size * first + small * last) / (2 * size + small)
    by_batches = (2 * first + last) / 3
    because = (
        f"Each mean counts as often as its batch has examples: {RIGHT}."
        if weighted
        else f"Here a batch of {small} counts as much as one of {size}: {RIGHT}, and not {by_examples:.4g}."
    )
    return Draft(code, "loss", [by_examples, by_batches, (first + last) / 2, first, last, 2 * first + last], because)


@six_faults("first-losses", "match-loss-to-logits", also=("perfect-prediction-zero-loss",))
def first_loss_of_classes(random: Random) -> Draft:
    """Ask for the cross-entropy of a model that knows nothing."""
    n, k = random.choice([20, 50, 100]), random.choice([3, 4, 5, 10, 20, 100])
    same = random.choice([0, 0, 1, 5])
    code = join_lines(f"logits = torch.full(({n}, {k}), {same}.0)", f"labels = torch.arange({n}) % {k}")
    because = (
        f"Equal logits, 0 or not, give each of the {k} classes the probability 1 / {k}, and -log(1 / {k}) = {RIGHT}."
    )
    log_k = math.log(k)
    wrong = [log_k, 1 / k, math.log(2), 0, log_k / k, k, 1]
    return Draft(code, "F.cross_entropy(logits, labels).item()", wrong, because)


@six_faults("first-losses", "match-loss-to-logits", also=("bce-train-step-example",))
def first_loss_of_yes_or_no(random: Random) -> Draft:
    """Ask for the first loss of a question with two answers, in two forms."""
    n = 2 * random.randint(5, 50)
    form, two = random.choice(
        [
            (f"F.binary_cross_entropy_with_logits(torch.zeros({n}), yes.float())", True),
            (f"F.cross_entropy(torch.zeros({n}, 2), yes)", True),
            (f"F.mse_loss(torch.zeros({n}), yes.float())", False),
        ]
    )
    code = join_lines(f"yes = torch.arange({n}) % 2", f"loss = {form}")
    because = (
        f"A logit of 0 says one half to both answers, and -log(1 / 2) = {RIGHT}."
        if two
        else f"Half of the targets are 1 and half are 0, so the mean square of what is missing is {RIGHT}."
    )
    return Draft(code, "loss.item()", [math.log(2), 0.5, 1, 0, 0.25], because)


@six_faults("first-losses", "normalise-critical-for-stability", also=("feature-normalisation-output",))
def first_loss_of_a_number(random: Random) -> Draft:
    """Ask for the first squared error of a model that says 0, with and without standardizing."""
    middle, far = random.randint(10, 60), random.choice([2, 4, 10])
    standardized = random.random() < 0.5
    code = join_lines(
        f"prices = torch.tensor([{middle - far}.0, {middle + far}.0])",
        *(["prices = (prices - prices.mean()) / prices.std(correction=0)"] if standardized else []),
        "loss = F.mse_loss(torch.zeros(2), prices)",
    )
    square = middle**2 + far**2
    because = (
        f"Standardized, the numbers have the mean 0 and the variance 1, which is the error of saying 0: {RIGHT}."
        if standardized
        else f"The error of saying 0 is the mean square, {middle} ** 2 + {far} ** 2 = {RIGHT}: standardize first."
    )
    return Draft(code, "loss.item()", [1, square, middle**2, far**2, 0, middle], because)


@six_faults("first-losses", "match-loss-to-logits", also=("mistake-skip-verification",))
def first_loss_of_large_logits(random: Random) -> Draft:
    """Ask for the loss of a certain answer, wrong or right."""
    sure, k = random.choice([12, 15, 20, 30]), random.choice([3, 4])
    is_right = random.random() < 0.4
    logits = [f"{sure}.0", *["0.0"] * (k - 1)]
    code = join_lines(
        f"logits = torch.tensor([[{', '.join(logits)}]])", f"label = torch.tensor([{0 if is_right else 1}])"
    )
    because = (
        f"The largest logit is that of the label, {sure} above the others, so the loss is nearly 0: {RIGHT}."
        if is_right
        else f"The label's logit is {sure} below the largest, and so large is the loss: {RIGHT}, far above "
        f"log({k}) = {math.log(k):.3g}. A first loss like this comes of inputs or weights that are too large."
    )
    expression = "round(F.cross_entropy(logits, label).item(), 2)"
    return Draft(code, expression, [math.log(k), float(sure), 0.0, sure + math.log(k), 1.0, -float(sure)], because)


@six_faults("first-losses", "match-loss-to-logits")
def floor_of_softmax_twice(random: Random) -> Draft:
    """Ask for the lowest cross-entropy that probabilities in place of logits can reach."""
    k, label = random.choice([3, 5, 10, 20]), random.randint(0, 2)
    scale = random.choice([1, 1, 50])
    code = join_lines(
        f"certain = F.one_hot(torch.tensor([{label}]), {k}).float()",
        f"loss = F.cross_entropy({'' if scale == 1 else f'{scale} * '}certain, torch.tensor([{label}]))",
    )
    because = (
        f"As logits, 1 and {k - 1} zeros are no certain answer: log(e + {k - 1}) - 1 = {RIGHT}. Behind a softmax the "
        "loss cannot go below that."
        if scale == 1
        else f"Logits may be as large as they like; {scale} above the others is as good as certain: {RIGHT}."
    )
    wrong = [0, math.log(k), math.log(2.718281828 + k - 1) - 1, 1, 1 / k]
    return Draft(code, "round(loss.item(), 3)", wrong, because)
