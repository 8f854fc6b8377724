"""Questions about chapter 1: shapes, memory, dtypes and broadcasting."""

from __future__ import annotations

from random import Random

from autograder.questions.computed_question import RIGHT, Draft, error_choice, join_lines
from autograder.questions.question_generator_registry import QuestionGenerators

questions = QuestionGenerators()
tensors = questions.from_sitting("ch01a_tensors")
broadcasting = questions.from_sitting("ch01b_broadcasting")
reading_digits = questions.from_sitting("ch01c_reading_digits")
einsum_and_precision = questions.from_sitting("ch01x_einsum_and_precision", optional=True)


@tensors("default-float32-cpu", also=("float-data-default-float32", "dtype-explicit-example"))
def dtype_of_new_tensor(random: Random) -> Draft:
    """Ask which dtype Python's numbers get."""
    numbers = random.sample(range(2, 30), 3)
    kind = random.choice(["int", "float", "bool"])
    data = {
        "int": f"[{numbers[0]}, {numbers[1]}, {numbers[2]}]",
        "float": f"[{numbers[0]}, {numbers[1]}.5, {numbers[2]}]",
        "bool": f"[{numbers[0]} > {numbers[1]}, {numbers[2]} > {numbers[0]}]",
    }[kind]
    because = {
        "int": f"Whole numbers stay whole: without a point in `{data}` the dtype is {RIGHT}, not float32.",
        "float": f"One float makes all of them floats, and torch's default for floats is {RIGHT}; float64 is NumPy's.",
        "bool": f"A comparison gives True or False, and a tensor of these has the dtype {RIGHT}.",
    }[kind]
    wrong = ["torch.float32", "torch.int64", "torch.float64", "torch.bool", "torch.int32"]
    return Draft(f"x = torch.tensor({data})", "x.dtype", wrong, because)


@tensors("default-float32-cpu", also=("arange-example", "creation-functions"))
def arange_values(random: Random) -> Draft:
    """Ask what arange holds: the end is left out, and whole numbers stay whole."""
    start, step, count = random.randint(0, 5), random.randint(2, 4), random.randint(3, 5)
    end = start + step * count
    values = list(range(start, end, step))
    wrong = [
        ([*values, end], "torch.int64"),
        (values, "torch.float32"),
        (list(range(start, start + step)), "torch.int64"),
        ([*values, end], "torch.float32"),
    ]
    because = f"It goes from {start} in steps of {step} and stops before {end}; whole numbers give int64: {RIGHT}."
    return Draft(f"x = torch.arange({start}, {end}, {step})", "x.tolist(), x.dtype", wrong, because)


@tensors("tensor-nd-array", also=("batch-shape-example",))
def shape_of_index(random: Random) -> Draft:
    """Ask which axes an index removes, and which a slice keeps."""
    n, h, w = random.sample(range(3, 12), 3)
    stop = random.randint(1, 2)
    index, shape = random.choice(
        [("0", (h, w)), (f":{stop}", (stop, h, w)), (":, 0", (n, w)), (":, :, 0", (n, h)), (f"0, :{stop}", (stop, w))]
    )
    wrong = [(n, h), (h, w), (n, w), (1, h, w), (stop, h, w), (n, stop, w), (w,)]
    because = f"A number takes its axis away, `:` keeps the whole axis and `:{stop}` the first {stop}. {RIGHT} is left."
    return Draft(
        f"x = torch.zeros({n}, {h}, {w})", f"tuple(x[{index}].shape)", [s for s in wrong if s != shape], because
    )


@tensors("tensor-nd-array", also=("minus-one-inference", "view-reshape-example"))
def reshape_with_minus_one(random: Random) -> Draft:
    """Ask what -1 stands for, or whether it does not divide."""
    a, b, c = random.sample([2, 3, 4, 5, 6], 3)
    fits = random.random() < 0.7
    new = random.choice([a * b, b, c, a]) if fits else next(k for k in (7, 11) if a * b * c % k)
    code = join_lines(f"x = torch.zeros({a}, {b}, {c})", f"y = x.reshape({new}, -1)")
    rest = a * b * c // new
    wrong = [error_choice(2), (new, rest), (new, b * c), (new, a + b + c), (new, b, c), (new, rest + 1)]
    right = f"{a * b * c} numbers in {new} rows are {rest} in each, so the shape is {RIGHT}."
    because = right if fits else f"{a * b * c} numbers cannot be laid into {new} equal rows, so reshape stops: {RIGHT}."
    return Draft(code, "tuple(y.shape)", wrong, because)


@tensors("reshape-copies-if-needed", also=("view-requires-contiguous", "prefer-reshape", "transpose-example"))
def write_after_reshape(random: Random) -> Draft:
    """Ask whether a write into a reshaped tensor reaches the original."""
    a, b, c, d, e, f, new = random.sample(range(1, 40), 7)
    turned = random.random() < 0.5
    code = join_lines(
        f"x = torch.tensor([[{a}, {b}, {c}], [{d}, {e}, {f}]])",
        f"y = x{'.T' if turned else ''}.reshape(-1)",
        f"y[1] = {new}",
    )
    wrong = [[[a, new, c], [d, e, f]], [[a, b, c], [new, e, f]], [[a, b, c], [d, e, f]], [[new, b, c], [d, e, f]]]
    because = (
        f"Column by column the numbers do not lie in one row of memory, so reshape has to copy, and `x` stays {RIGHT}."
        if turned
        else f"The numbers lie in the order asked for, so `y` is a view: the write goes into `x`, which is now {RIGHT}."
    )
    return Draft(code, "x.tolist()", wrong if turned else [*wrong[1:], error_choice(3)], because)


@tensors("reshape-copies-if-needed", also=("transpose-example",))
def write_through_view(random: Random) -> Draft:
    """Ask what the original holds after a write into a row, a slice or a copy."""
    a, b, c, d, new = random.sample(range(1, 40), 5)
    how, place = random.choice([("x[0]", "first"), ("x[1]", "second"), ("x.T[0]", "column"), ("x[0].clone()", "copy")])
    code = join_lines(f"x = torch.tensor([[{a}, {b}], [{c}, {d}]])", f"y = {how}", f"y[1] = {new}")
    wrong = [[[a, b], [c, d]], [[a, new], [c, d]], [[a, b], [c, new]], [[a, b], [new, d]], [[new, b], [c, d]]]
    because = (
        f"`clone` copies, so the write stays in `y`, and `x` is still {RIGHT}."
        if place == "copy"
        else f"`{how}` is a view: it has no memory of its own, so place 1 of `y` is a place of `x`, now {RIGHT}."
    )
    return Draft(code, "x.tolist()", wrong, because)


@tensors("inplace-operator-aliases")
def write_through_alias(random: Random) -> Draft:
    """Ask what `+=` and `= ... +` do to another name of the same tensor."""
    a, b, k = random.sample(range(2, 30), 3)
    step, changed = random.choice([(f"y += {k}", True), (f"y = y + {k}", False), (f"y.mul_({k})", True)])
    plus, times = [a + k, b + k], [a * k, b * k]
    code = join_lines(f"x = torch.tensor([{a}, {b}])", "y = x", step)
    because = (
        f"`{step}` writes into the memory that is there, and `x` is another name for it: {RIGHT}."
        if changed
        else f"`{step}` makes a new tensor and moves only the name `y`; `x` still names the old one, {RIGHT}."
    )
    return Draft(code, "x.tolist()", [[a, b], plus, times, error_choice(3), [k, k]], because)


@tensors(
    "tensor-numpy-shares-memory",
    "default-float32-cpu",
    also=("from-numpy-example", "numpy-conversion-sometimes-copies"),
)
def tensor_from_array(random: Random) -> Draft:
    """Ask whether a write into an array shows in the tensor made from it."""
    a, b, new = random.sample(range(1, 50), 3)
    how = random.choice(["from_numpy", "tensor"])
    code = join_lines(f"array = np.array([{a}.0, {b}.0])", f"x = torch.{how}(array)", f"array[0] = {new}.0")
    same, old = [float(new), float(b)], [float(a), float(b)]
    wrong = [(values, dtype) for values in (old, same) for dtype in ("torch.float64", "torch.float32")]
    because = (
        f"`from_numpy` wraps the array's own memory, float64 as it is, so the write shows: {RIGHT}."
        if how == "from_numpy"
        else f"`torch.tensor` always copies, and keeps the array's float64, so the write comes too late: {RIGHT}."
    )
    return Draft(code, "x.tolist(), x.dtype", wrong, because)


@tensors("tensor-numpy-shares-memory", "inplace-operator-aliases", also=("numpy-conversion-sometimes-copies",))
def array_from_tensor(random: Random) -> Draft:
    """Ask what an array made by `numpy()` sees of a later change."""
    a, b, k = random.sample(range(2, 30), 3)
    step, shows = random.choice([(f"x += {k}", True), (f"x = x + {k}", False), (f"x[0] = {k}", True)])
    wrong = [[a, b], [a + k, b + k], [k, b], error_choice(2), [k, k]]
    because = (
        f"`numpy()` shares the tensor's memory, and `{step}` writes there, so the array holds {RIGHT}."
        if shows
        else f"`{step}` makes a new tensor; the array still shares the memory of the old one, {RIGHT}."
    )
    return Draft(
        join_lines(f"x = torch.tensor([{a}, {b}])", "array = x.numpy()", step), "array.tolist()", wrong, because
    )


@tensors("reshape-copies-if-needed", also=("view-requires-contiguous",))
def view_of_transposed(random: Random) -> Draft:
    """Ask where view refuses and reshape copies."""
    a, b = random.sample(range(2, 9), 2)
    how, turned = random.choice([("view", True), ("reshape", True), ("view", False)])
    code = join_lines(f"x = torch.zeros({a}, {b})", f"y = x{'.T' if turned else ''}.{how}(-1)", "y[0] = 1")
    evaluate = "tuple(y.shape), x.sum().item()"
    flat = (a * b,)
    wrong = [error_choice(2), (flat, 0.0), (flat, 1.0), ((b, a), 1.0), error_choice(3)]
    because = {
        (
            "view",
            True,
        ): f"Turned, the numbers would have to be copied to lie in one row, and view never copies: {RIGHT}.",
        ("reshape", True): f"Turned, they have to be copied, and reshape does: the write does not reach `x`. {RIGHT}.",
        ("view", False): f"Nothing has to be copied, so view works and shares: the 1 is in `x` too. {RIGHT}.",
    }[how, turned]
    return Draft(code, evaluate, wrong, because)


@broadcasting("broadcasting-rule", also=("incompatible-shapes-error",))
def broadcast_shape(random: Random) -> Draft:
    """Ask for the shape of a sum of two shapes."""
    a, b, c = random.sample(range(2, 9), 3)
    one, two = random.choice(
        [((a, 1, c), (b, 1)), ((a, b, 1), (b, c)), ((a, b), (a, 1)), ((a, b, c), (a, b)), ((b,), (a, b))]
    )
    code = join_lines(f"x = torch.zeros({one})", f"y = torch.zeros({two})", "z = x + y")
    wrong = [error_choice(3), (a, b, c), (a, b), (a, b, b), (a, b, b, c), (b, c), (a, a, b)]
    because = (
        f"Lined up at the right, equal lengths fit and a 1 or a gap is stretched; anything else stops. So {RIGHT}."
    )
    return Draft(code, "tuple(z.shape)", wrong, because)


@broadcasting("broadcasting-rule", also=("broadcasting-bias-example",))
def vector_meets_table(random: Random) -> Draft:
    """Ask which axis of a table a vector meets."""
    rows, columns = random.sample([2, 3, 4, 5], 2)
    length, middle = random.choice([(columns, ""), (rows, ""), (rows, "[:, None]")])
    code = join_lines(
        f"x = torch.zeros({rows}, {columns})",
        f"v = torch.arange({length})",
        f"y = x + v{middle}",
    )
    along = list(map(float, range(columns)))
    wrong = [error_choice(3), along, [1.0] * columns, list(map(float, range(rows))), [0.0] * columns]
    because = (
        f"With `[:, None]` the vector is a column, and row 1 gets its number 1 in each place: {RIGHT}."
        if middle
        else f"A vector meets the last axis, which has {columns} places here, and `v` has {length}. So {RIGHT}."
    )
    return Draft(code, "y[1].tolist()", wrong, because)


@broadcasting("broadcasting-hides-bugs", "broadcasting-rule", also=("clear-errors-not-silent-garbage",))
def column_meets_row(random: Random) -> Draft:
    """Ask what comes of a column of predictions minus a row of targets."""
    a, b = random.sample(range(1, 9), 2)
    code = join_lines(
        f"targets = torch.tensor([{a}.0, {b}.0])", "predictions = targets.reshape(2, 1)", "gap = predictions - targets"
    )
    difference = float((a - b) ** 2)
    wrong = [((2, 1), 0.0), ((2,), 0.0), error_choice(3), ((2, 2), difference), ((2, 2), 0.0)]
    because = (
        f"(2, 1) and (2,) are both stretched to (2, 2): each prediction meets each target, and {a} meets {b} twice. "
        f"Perfect predictions get {RIGHT}, and nothing complains."
    )
    return Draft(code, "tuple(gap.shape), (gap ** 2).mean().item()", wrong, because)


@broadcasting("mean-std-dim0")
def sum_along_dim(random: Random) -> Draft:
    """Ask which axis a reduction removes."""
    a, b, c, d, e, f = random.sample(range(1, 20), 6)
    dim = random.choice([0, 1])
    down, across = [a + d, b + e, c + f], [a + b + c, d + e + f]
    wrong = [down, across, [down], [[each] for each in across], a + b + c + d + e + f]
    way = "down the columns" if dim == 0 else "along the rows"
    because = f"dim={dim} is the axis that disappears, so the sums run {way}: {RIGHT}."
    return Draft(f"x = torch.tensor([[{a}, {b}, {c}], [{d}, {e}, {f}]])", f"x.sum(dim={dim}).tolist()", wrong, because)


@reading_digits("mean-std-dim0", "broadcasting-rule")
def keepdim_or_not(random: Random) -> Draft:
    """Ask whether a mean fits back onto its table."""
    rows, columns = random.sample(range(2, 9), 2)
    dim, keep = random.choice([0, 1]), random.choice([True, False])
    code = join_lines(
        f"x = torch.zeros({rows}, {columns})", f"m = x.mean(dim={dim}{', keepdim=True' if keep else ''})", "y = x - m"
    )
    gone = (columns,) if dim == 0 else (rows,)
    kept = (1, columns) if dim == 0 else (rows, 1)
    full = (rows, columns)
    wrong = [error_choice(3), (gone, full), (kept, full), (gone, gone), (kept, kept), (full, full)]
    left = ", of which keepdim leaves a 1" if keep else ""
    because = f"`m` loses axis {dim}{left}; then the shapes line up at the right. So {RIGHT}."
    return Draft(code, "tuple(m.shape), tuple(y.shape)", wrong, because)


@broadcasting("tensor-nd-array", also=("squeeze-example", "unsqueeze-example"))
def squeeze_and_unsqueeze(random: Random) -> Draft:
    """Ask which axes come and go."""
    n, m = random.sample(range(2, 9), 2)
    if random.random() < 0.3:
        place = random.choice([1, 2])
        code = join_lines(f"x = torch.zeros({n}, {m})", f"y = x.unsqueeze({place})")
        wrong = [(n, 1, m), (n, m, 1), (1, n, m), (n, m), error_choice(2)]
        return Draft(code, "tuple(y.shape)", wrong, f"A new axis of length 1 comes at place {place}: {RIGHT}.")
    call, words = random.choice(
        [
            ("squeeze()", "without a number, every axis of length 1 goes"),
            ("squeeze(1)", f"axis 1 has length {n}, so squeeze leaves it alone"),
            ("squeeze(0)", "only axis 0 goes"),
        ]
    )
    wrong = [(n, m), (n, 1, m), (1, n, 1, m), (1, 1, n, 1, m), (1, n, m), error_choice(2)]
    code = join_lines(f"x = torch.zeros(1, {n}, 1, {m})", f"y = x.{call}")
    return Draft(code, "tuple(y.shape)", wrong, f"With `{call}` {words}: {RIGHT}.")


@broadcasting("broadcasting-rule", also=("broadcasting-saves-memory-and-compute",))
def write_to_expanded(random: Random) -> Draft:
    """Ask how many places change with a write into a stretched tensor."""
    rows, columns = random.sample(range(2, 8), 2)
    new = random.randint(2, 9)
    copied = random.random() < 0.3
    code = join_lines(
        f"thin = torch.zeros({columns})",
        f"wide = thin.expand({rows}, {columns}){'.clone()' if copied else ''}",
        f"wide[0, 0] = {new}",
    )
    wrong = [(new, 0), (new * rows, new), (new * rows * columns, new), error_choice(3), (new * columns, new)]
    because = (
        f"`clone` gives each place memory of its own: one {new} in `wide`, none in `thin`. {RIGHT}."
        if copied
        else f"The {rows} rows are one row in memory, read {rows} times, so {rows} places show the {new}, "
        f"and so does `thin`. {RIGHT}."
    )
    return Draft(code, "int(wide.sum()), int(thin.sum())", wrong, because)


@reading_digits("matmul-example", also=("incompatible-shapes-error",))
def matmul_shape(random: Random) -> Draft:
    """Ask for the shape of a matrix product, or whether it fits."""
    n, k, m = random.sample(range(2, 10), 3)
    second, turned = random.choice([((k, m), ""), ((m, k), ".T"), ((m, k), "")])
    code = join_lines(f"x = torch.zeros({n}, {k})", f"w = torch.zeros{second}", f"y = x @ w{turned}")
    wrong = [error_choice(3), (n, m), (k, k), (m, n), (n, k, m)]
    inner = k if second == (k, m) or turned else m
    because = (
        f"The inner lengths, {k} and {inner}, have to be equal, and they disappear; the outer ones stay. So {RIGHT}."
    )
    return Draft(code, "tuple(y.shape)", wrong, because)


@reading_digits("matmul-example", also=("shape-op-explorer-widget", "elementwise-ops-example"))
def matmul_value(random: Random) -> Draft:
    """Ask for one number of a product of matrices."""
    a, b, c, d, p, q, r, s = (random.randint(1, 9) for _ in range(8))
    sign = random.choice(["@", "*"])
    code = join_lines(
        f"x = torch.tensor([[{a}, {b}], [{c}, {d}]])", f"w = torch.tensor([[{p}, {q}], [{r}, {s}]])", f"y = x {sign} w"
    )
    wrong = [a * q + b * s, b * q, a * p + b * q, a * r + b * s, c * p + d * r, a + b + q + s]
    because = (
        f"Row 0 of `x` meets column 1 of `w`: {a} * {q} + {b} * {s} = {RIGHT}."
        if sign == "@"
        else f"`*` multiplies place by place, here {b} * {q} = {RIGHT}; the product of matrices is `@`."
    )
    return Draft(code, "y[0, 1].item()", wrong, because)


@einsum_and_precision("default-float32-cpu", also=("three-critical-properties-break-silently", "matmul-example"))
def dtypes_meet(random: Random) -> Draft:
    """Ask what comes of two dtypes in one operation: a sum promotes, a matrix product refuses."""
    a, b = random.sample(range(2, 5), 2)
    first, second, sign = random.choice(
        [
            ("int", "float", "+"),
            ("float", "double", "+"),
            ("float", "double", "@"),
            ("int", "half", "*"),
            ("int", "int", "/"),
        ]
    )
    ones = {
        name: f"torch.ones({a}, {a}, dtype=torch.{dtype})"
        for name, dtype in (("int", "int64"), ("float", "float32"), ("double", "float64"), ("half", "float16"))
    }
    code = join_lines(f"x = {ones[first]}", f"y = {ones[second]} * {b}", f"z = x {sign} y")
    wrong = [error_choice(3), "torch.float32", "torch.float64", "torch.int64", "torch.float16"]
    because = (
        f"A product of matrices wants one dtype and stops: {RIGHT}."
        if sign == "@"
        else "Place by place torch finds a common dtype: floats win over whole numbers, of two floats the wider; "
        f"`/` gives floats. So {RIGHT}."
    )
    return Draft(code, "z.dtype", wrong, because)


@reading_digits("feature-normalisation-output", "mean-std-dim0")
def standardized_number(random: Random) -> Draft:
    """Ask what a number becomes when a column is standardized."""
    middle, far = random.randint(2, 20), random.choice([2, 4, 5, 8])
    new = middle + far * random.choice([2, 3, -2, -3, 0.5])
    code = join_lines(
        f"x = torch.tensor([{middle - far}.0, {middle + far}.0])",
        "mean, std = x.mean(), x.std(correction=0)",
        f"z = ({new} - mean) / std",
    )
    wrong = [new - middle, (new - middle) / far**2, new / far, (new - middle) / (2 * far), new / middle]
    because = (
        f"The mean is {middle}, the deviation {far}. {new:g} lies {new - middle:g} from the mean: {RIGHT} deviations."
    )
    return Draft(code, "z.item()", wrong, because)


@reading_digits("feature-normalisation-output")
def two_standard_deviations(random: Random) -> Draft:
    """Ask for torch's and NumPy's standard deviation of the same numbers."""
    low, gap = random.randint(1, 20), random.choice([2, 4, 6, 8, 10])
    numbers = f"[{low}.0, {low + gap}.0]"
    code = join_lines(f"x = torch.tensor({numbers})", f"array = np.array({numbers})")
    divided, whole = gap / 2**0.5, gap / 2
    wrong = [(whole, whole), (divided, divided), (whole, divided), (gap**2 / 2, gap**2 / 4)]
    because = (
        f"Both are {gap / 2:g} from the mean. torch divides the sum of squares by n - 1 = 1, NumPy by n = 2: {RIGHT}."
    )
    return Draft(code, "x.std().item(), float(array.std())", wrong, because)


@einsum_and_precision("tensor-nd-array", also=("dtype-memory-4mb-8mb", "float16-halves-memory", "dtype-catalogue"))
def bytes_of_tensor(random: Random) -> Draft:
    """Ask how many bytes a tensor's numbers take."""
    a, b = random.sample(range(10, 60), 2)
    dtype, size = random.choice([("float32", 4), ("float64", 8), ("float16", 2), ("int64", 8), ("bool", 1)])
    wrong = [a * b * each for each in (1, 2, 4, 8, 16) if each != size]
    because = f"{a} * {b} numbers of {size} byte{'s' if size > 1 else ''} each ({dtype}): {RIGHT}."
    return Draft(f"x = torch.zeros({a}, {b}, dtype=torch.{dtype})", "x.nelement() * x.element_size()", wrong, because)


@einsum_and_precision("matmul-example", "tensor-nd-array", also=("batched-matmul-example",))
def batched_matmul_shape(random: Random) -> Draft:
    """Ask for the shape of a product of two stacks of matrices."""
    n, a, b, c = random.sample(range(2, 10), 4)
    code = join_lines(f"x = torch.zeros({n}, {a}, {b})", f"y = torch.zeros({n}, {b}, {c})", "z = x @ y")
    wrong = [(n, n, a, c), (a, c), error_choice(3), (n, b, b)]
    because = f"Matrix by matrix: the {n} stays, ({a}, {b}) @ ({b}, {c}) is ({a}, {c}). So {RIGHT}."
    return Draft(code, "tuple(z.shape)", wrong, because)
