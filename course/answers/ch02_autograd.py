"""The answer bank of chapter 2: wrong answers learners really give, and right ones that must pass.

Each entry is a whole answer and stands alone: it uses nothing but what the chapter's setup cell imports.
"""

import math

import torch

from autograder.authoring.bank import AnswerBank

bank = AnswerBank("ch02_autograd")


# --- mean_square_grad ---------------------------------------------------------------------------------------


@bank.wrong(
    "mean_square_grad",
    "sum-not-mean",
    "You differentiate the sum of the squares. The mean is smaller by the number of entries, and so is its gradient.",
)
def mean_square_grad(x):
    copy = x.detach().clone().requires_grad_()
    (copy**2).sum().backward()
    return copy.grad


@bank.wrong(
    "mean_square_grad",
    "by-hand-constant",
    "You wrote the derivative down yourself. It is right, but the point is to let autograd find it.",
)
def mean_square_grad(x):
    return 2 * x.detach() / x.numel()


@bank.wrong(
    "mean_square_grad",
    "divides-by-twelve",
    "You divide by 12, the number of entries of a (4, 3) tensor. Another shape has another number of entries.",
)
def mean_square_grad(x):
    copy = x.detach().clone().requires_grad_()
    ((copy**2).sum() / 12).backward()
    return copy.grad


@bank.wrong(
    "mean_square_grad",
    "leaves-grad-behind",
    "You call backward on `x` itself: its .grad stays behind, and is added to the next time. Work on a copy.",
)
def mean_square_grad(x):
    x.requires_grad_()
    (x**2).mean().backward()
    return x.grad


@bank.wrong(
    "mean_square_grad",
    "leaves-the-flag-on",
    "You switch `requires_grad` on for the caller's tensor, and it stays on. Work on a leaf of your own.",
)
def mean_square_grad(x):
    x.requires_grad_()
    return torch.autograd.grad((x**2).mean(), x)[0]


@bank.wrong(
    "mean_square_grad",
    "clears-the-old-grad",
    "You clear the .grad of `x` on the way. It was the caller's: leave it as it was.",
)
def mean_square_grad(x):
    before = x.requires_grad
    x.requires_grad_()
    x.grad = None
    (x**2).mean().backward()
    result, x.grad = x.grad, None
    x.requires_grad_(before)
    return result


@bank.wrong(
    "mean_square_grad",
    "returns-a-tracked-gradient",
    "`create_graph=True` makes a gradient that is tracked itself. That is for second derivatives; none is asked for.",
)
def mean_square_grad(x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad((copy**2).mean(), copy, create_graph=True)[0]


@bank.wrong(
    "mean_square_grad",
    "clone-is-no-leaf",
    "You clone `x` without detaching it. Where `x` is tracked the clone is no leaf: its .grad stays None, "
    "and that of `x` grows.",
)
def mean_square_grad(x):
    copy = x.clone().requires_grad_()
    (copy**2).mean().backward()
    return copy.grad


@bank.wrong(
    "mean_square_grad",
    "returns-none",
    "You return None. `backward` itself returns nothing, and before it .grad is None: call it, then return the .grad.",
)
def mean_square_grad(x):
    copy = x.detach().clone().requires_grad_()
    return (copy**2).mean().backward()


@bank.wrong(
    "mean_square_grad",
    "square-of-the-mean",
    "You square the mean. Asked for is the mean of the squares.",
)
def mean_square_grad(x):
    copy = x.detach().clone().requires_grad_()
    (copy.mean() ** 2).backward()
    return copy.grad


@bank.right("mean_square_grad", "autograd-grad")
def mean_square_grad(x):
    leaf = x.detach().requires_grad_()
    return torch.autograd.grad(leaf.square().mean(), leaf)[0]


@bank.right("mean_square_grad", "func-grad")
def mean_square_grad(x):
    return torch.func.grad(lambda t: (t * t).mean())(x.detach())


@bank.right("mean_square_grad", "jacobian")
def mean_square_grad(x):
    return torch.autograd.functional.jacobian(lambda t: t.pow(2).sum() / t.numel(), x)


@bank.right("mean_square_grad", "vector-of-weights")
def mean_square_grad(x):
    copy = torch.empty_like(x, requires_grad=True)
    with torch.no_grad():
        copy.copy_(x)
    (copy * copy).backward(torch.full_like(x, 1 / x.numel(), requires_grad=False))
    return copy.grad


# --- grad_by_hand -------------------------------------------------------------------------------------------


@bank.wrong(
    "grad_by_hand",
    "forgets-chain",
    "The derivative of x + y by x is 1, but the sum is then multiplied by z. Multiply the derivatives along the way.",
)
def grad_by_hand(x, y, z):
    return 1.0, 1.0, x + y


@bank.wrong(
    "grad_by_hand",
    "product-of-the-inputs",
    "You treat x + y like a product: by x you give y times z. The derivative of a sum by one of its terms is 1.",
)
def grad_by_hand(x, y, z):
    return y * z, x * z, x + y


@bank.wrong(
    "grad_by_hand",
    "z-is-one",
    "By z you give 1, as if z were added. It is a factor: its derivative is what it multiplies.",
)
def grad_by_hand(x, y, z):
    return z, z, 1.0


@bank.wrong(
    "grad_by_hand",
    "wrong-order",
    "Your numbers are right, their order is not: by x first, then by y, then by z.",
)
def grad_by_hand(x, y, z):
    return x + y, z, z


@bank.wrong(
    "grad_by_hand",
    "times-the-value",
    "You multiply each derivative by the value of its variable. That gives x's share of the result, not the slope.",
)
def grad_by_hand(x, y, z):
    return x * z, y * z, x + y


@bank.wrong(
    "grad_by_hand",
    "returns-tensors",
    "Your three results are tensors. Floats go in, and floats are asked for.",
)
def grad_by_hand(x, y, z):
    a, b, c = (torch.tensor(value, requires_grad=True) for value in (x, y, z))
    ((a + b) * c).backward()
    return a.grad, b.grad, c.grad


@bank.wrong(
    "grad_by_hand",
    "factors-kept",
    "You give each factor its own value. The derivative of s * z by s is z, and by z it is s.",
)
def grad_by_hand(x, y, z):
    s = x + y
    return (s, s, z)


@bank.wrong(
    "grad_by_hand",
    "result-for-z",
    "By z you give the result itself. The derivative of s * z by z is how much it grows for each 1 that z grows.",
)
def grad_by_hand(x, y, z):
    return (z, z, (x + y) * z)


@bank.right("grad_by_hand", "in-one-line")
def grad_by_hand(x, y, z):
    return z, z, x + y


@bank.right("grad_by_hand", "chain-spelled-out")
def grad_by_hand(x, y, z):
    total = x + y
    by_total, by_z = z, total
    total_by_x = total_by_y = 1.0
    return by_total * total_by_x, by_total * total_by_y, by_z


@bank.right("grad_by_hand", "asks-autograd")
def grad_by_hand(x, y, z):
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (x, y, z)]
    grads = torch.autograd.grad((leaves[0] + leaves[1]) * leaves[2], leaves)
    return tuple(grad.item() for grad in grads)


# --- grad_of ------------------------------------------------------------------------------------------------


@bank.wrong(
    "grad_of",
    "leaves-grad-behind",
    "You clear the .grad of `x` and let backward fill it: what stood there is lost. `x` must stay as it was.",
)
def grad_of(f, x):
    x.requires_grad_()
    x.grad = None
    f(x).sum().backward()
    return x.grad.clone()


@bank.wrong(
    "grad_of",
    "accumulates",
    "Your backward adds to the .grad that `x` has already. You return the new gradient plus the old one.",
)
def grad_of(f, x):
    x.requires_grad_()
    f(x).sum().backward()
    return x.grad.clone()


@bank.wrong(
    "grad_of",
    "non-scalar",
    "This fails where `f` gives several numbers: a gradient starts from one. Which number is to be differentiated?",
)
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy), copy)[0]


@bank.wrong(
    "grad_of",
    "fills-other-grads",
    "`x` is safe, but backward fills the .grad of every tracked leaf it meets, also of those that `f` uses itself.",
)
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    f(copy).sum().backward()
    return copy.grad


@bank.wrong(
    "grad_of",
    "mean-of-the-outputs",
    "You differentiate the mean of what `f` gives. Their sum is asked for.",
)
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).mean(), copy)[0]


@bank.wrong(
    "grad_of",
    "leaves-the-flag-on",
    "You switch `requires_grad` on for the caller's `x`, and it stays on. Use a leaf of your own.",
)
def grad_of(f, x):
    x.requires_grad_()
    return torch.autograd.grad(f(x).sum(), x)[0]


@bank.wrong(
    "grad_of",
    "tracked-gradient",
    "`create_graph=True` tracks the gradient itself. It is only needed for differentiating once more.",
)
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).sum(), copy, create_graph=True)[0]


@bank.wrong(
    "grad_of",
    "clone-is-no-leaf",
    "You clone `x` without detaching it and read .grad of the clone: where `x` is tracked the clone is no leaf, "
    "and its .grad stays None.",
)
def grad_of(f, x):
    copy = x.clone()
    if not copy.requires_grad:
        copy.requires_grad_()
    f(copy).sum().backward()
    return copy.grad


@bank.wrong(
    "grad_of",
    "first-output-only",
    "You differentiate the first number that `f` gives and forget the others. All of them count.",
)
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).reshape(-1)[0], copy)[0]


@bank.wrong(
    "grad_of",
    "returns-the-tuple",
    "`torch.autograd.grad` returns a tuple, with one gradient for each tensor asked about. Take it out.",
)
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).sum(), copy)


@bank.right("grad_of", "grad-outputs")
def grad_of(f, x):
    leaf = x.detach().requires_grad_()
    y = f(leaf)
    (gradient,) = torch.autograd.grad(y, [leaf], grad_outputs=torch.ones_like(y))
    return gradient


@bank.right("grad_of", "backward-with-inputs")
def grad_of(f, x):
    copy = x.detach().clone().requires_grad_()
    f(copy).sum().backward(inputs=[copy])
    return copy.grad


@bank.right("grad_of", "func-grad")
def grad_of(f, x):
    return torch.func.grad(lambda t: f(t).sum())(x.detach()).detach()


@bank.right("grad_of", "functional-vjp")
def grad_of(f, x):
    def total(t):
        return torch.sum(f(t))

    return torch.autograd.functional.vjp(total, x)[1]


# --- accumulate ---------------------------------------------------------------------------------------------


@bank.wrong(
    "accumulate",
    "mean-of-means",
    "You divide by the number of batches, so that a batch of one row weighs as much as a large one. Count rows.",
)
def accumulate(loss_fn, batches, params):
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) / len(batches)).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "no-scale",
    "You add up the gradients of the mean losses as they are: with more batches, the result grows. Scale each loss.",
)
def accumulate(loss_fn, batches, params):
    for p in params:
        p.grad = None
    for batch in batches:
        loss_fn(batch).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "sum-over-rows",
    "You turn each mean loss into a sum over rows, and never divide by the number of all rows.",
)
def accumulate(loss_fn, batches, params):
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) * len(batch)).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "zero-each",
    "You clear the gradients before each batch, so that only the last one remains. Clear once, then let them add up.",
)
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    for batch in batches:
        for p in params:
            p.grad = None
        (loss_fn(batch) * len(batch) / total).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "never-zero",
    "You never clear .grad: what stood there before your first backward counts too.",
)
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    for batch in batches:
        (loss_fn(batch) * len(batch) / total).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "zeroes-what-it-returns",
    "You return the tensors in .grad and then fill them with zeros: both names stand for the same memory.",
)
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) * len(batch) / total).backward()
    grads = [p.grad for p in params]
    for p in params:
        p.grad.zero_()
    return grads


@bank.wrong(
    "accumulate",
    "one-big-batch",
    "You glue all batches together and call `loss_fn` once. The point is that they need not fit into memory at once.",
)
def accumulate(loss_fn, batches, params):
    for p in params:
        p.grad = None
    loss_fn(torch.cat(batches)).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "grad-not-filled",
    "Your list is right, but .grad of the parameters does not hold it: `torch.autograd.grad` stores nothing.",
)
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    sums = [torch.zeros_like(p) for p in params]
    for batch in batches:
        grads = torch.autograd.grad(loss_fn(batch), params)
        sums = [s + g.detach() * len(batch) / total for s, g in zip(sums, grads)]
    return [s.detach() for s in sums]


@bank.wrong(
    "accumulate",
    "first-batch-counts",
    "You divide by the rows of the first batch times the number of batches. The others have other sizes.",
)
def accumulate(loss_fn, batches, params):
    total = len(batches[0]) * len(batches)
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) * len(batch) / total).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "rows-of-all-alone",
    "You divide each mean loss by the number of all rows. A mean over rows must first be multiplied by its rows.",
)
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) / total).backward()
    return [p.grad for p in params]


@bank.wrong(
    "accumulate",
    "divides-the-list-alone",
    "You divide what you return, and .grad still holds the sum over all rows.",
)
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) * len(batch)).backward()
    return [p.grad / total for p in params]


@bank.right("accumulate", "one-backward-at-the-end")
def accumulate(loss_fn, batches, params):
    rows = [batch.shape[0] for batch in batches]
    loss = sum(n * loss_fn(batch) for n, batch in zip(rows, batches)) / sum(rows)
    grads = torch.autograd.grad(loss, params)
    for p, g in zip(params, grads):
        p.grad = g
    return list(grads)


@bank.right("accumulate", "zero-and-scale-afterwards")
def accumulate(loss_fn, batches, params):
    for p in params:
        if p.grad is not None:
            p.grad.zero_()
    rows = 0
    for batch in batches:
        rows += len(batch)
        (len(batch) * loss_fn(batch)).backward()
    for p in params:
        p.grad /= rows
    return [p.grad.clone() for p in params]


@bank.right("accumulate", "gradient-argument")
def accumulate(loss_fn, batches, params):
    total = sum(batch.numel() for batch in batches)
    for p in params:
        p.grad = torch.zeros_like(p)
    for batch in batches:
        loss = loss_fn(batch)
        loss.backward(torch.full_like(loss, batch.numel() / total))
    return [p.grad for p in params]


# --- running_loss -------------------------------------------------------------------------------------------


@bank.wrong(
    "running_loss",
    "keeps-graph",
    "You keep tensors, in a sum or in a list. Each remembers how it was made, and so keeps the graph of its loss.",
)
def running_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        loss.backward()
        total = total + loss
        count += 1
    return (total / count).item()


@bank.wrong(
    "running_loss",
    "returns-a-tracked-mean",
    "You return a tensor that drags the graphs of all losses along. A plain float is asked for.",
)
def running_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        loss.backward()
        total = total + loss
        count += 1
    return total / count


@bank.wrong(
    "running_loss",
    "item-before-backward",
    "You take the number out first and call backward on it. A float has no graph: backward belongs to the tensor.",
)
def running_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        loss = loss.item()
        loss.backward()
        total += loss
        count += 1
    return total / count


@bank.wrong(
    "running_loss",
    "returns-a-tensor",
    "You keep no graph, but what you return is still a tensor. Make it a Python float.",
)
def running_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        loss.backward()
        total += loss.detach()
        count += 1
    return total / count


@bank.wrong(
    "running_loss",
    "no-backward",
    "The mean is right, but you never call backward: no gradient arrives at the parameters.",
)
def running_loss(losses):
    values = [loss.item() for loss in losses]
    return sum(values) / len(values)


@bank.wrong(
    "running_loss",
    "sum-not-mean",
    "You return the sum of the losses. Divide by their number.",
)
def running_loss(losses):
    total = 0.0
    for loss in losses:
        loss.backward()
        total += loss.item()
    return total


@bank.wrong(
    "running_loss",
    "len-of-a-generator",
    "You ask for the length of the losses. A generator has none: count while you go.",
)
def running_loss(losses):
    total = 0.0
    for loss in losses:
        loss.backward()
        total += loss.item()
    return total / len(losses)


@bank.wrong(
    "running_loss",
    "list-first",
    "You collect all losses in a list before the first backward: every graph is in memory at the same time.",
)
def running_loss(losses):
    losses = list(losses)
    for loss in losses:
        loss.backward()
    return sum(loss.item() for loss in losses) / len(losses)


@bank.wrong(
    "running_loss",
    "one-backward-for-all",
    "You add all losses up and call backward once, at the end: until then all graphs wait in memory.",
)
def running_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        total = total + loss
        count += 1
    (total / count).backward()
    return (total / count).item()


@bank.wrong(
    "running_loss",
    "last-loss-only",
    "You return the last loss. The mean of all of them is asked for.",
)
def running_loss(losses):
    for loss in losses:
        loss.backward()
    return loss.item()


@bank.right("running_loss", "list-of-numbers")
def running_loss(losses):
    values = []
    for loss in losses:
        loss.backward()
        values.append(loss.item())
    return sum(values) / len(values)


@bank.right("running_loss", "detached-sum")
def running_loss(losses):
    total = torch.zeros((), dtype=torch.float64)
    for count, loss in enumerate(losses, start=1):
        loss.backward()
        total += loss.detach()
    return float(total / count)


@bank.right("running_loss", "mean-that-moves")
def running_loss(losses):
    mean = 0.0
    for index, loss in enumerate(losses):
        value = float(loss.detach())
        loss.backward()
        mean += (value - mean) / (index + 1)
    return mean


# --- stop_gradient_loss -------------------------------------------------------------------------------------


@bank.wrong(
    "stop_gradient_loss",
    "no-grad-around-all",
    "Under `no_grad` nothing at all is recorded: no gradient reaches `a` either. Only `b` should stay out.",
)
def stop_gradient_loss(a, b):
    with torch.no_grad():
        return ((a - b) ** 2).mean()


@bank.wrong(
    "stop_gradient_loss",
    "data-attribute",
    "`.data` gives the right numbers here, but a later change in place would go unnoticed. Use what is made for this.",
)
def stop_gradient_loss(a, b):
    return ((a - b.data) ** 2).mean()


@bank.wrong(
    "stop_gradient_loss",
    "detach-both",
    "You detach both tensors, or what you make of them: nothing is left to differentiate. `a` must keep its history.",
)
def stop_gradient_loss(a, b):
    return ((a.detach() - b.detach()) ** 2).mean()


@bank.wrong(
    "stop_gradient_loss",
    "no-detach",
    "The loss is right, but its gradient flows into `b` as well. Cut `b` off before you subtract.",
)
def stop_gradient_loss(a, b):
    return ((a - b) ** 2).mean()


@bank.wrong(
    "stop_gradient_loss",
    "detach-the-wrong-one",
    "You cut off `a`: now the gradient reaches `b` only, the other way round.",
)
def stop_gradient_loss(a, b):
    return ((a.detach() - b) ** 2).mean()


@bank.wrong(
    "stop_gradient_loss",
    "detach-in-place",
    "`detach_`, with the underscore, cuts the caller's own `b` off for good. Make a new tensor instead.",
)
def stop_gradient_loss(a, b):
    return ((a - b.detach_()) ** 2).mean()


@bank.wrong(
    "stop_gradient_loss",
    "switches-requires-grad-off",
    "You switch `requires_grad` of the caller's `b` off: it stays off, and it fails where `b` is no leaf.",
)
def stop_gradient_loss(a, b):
    b.requires_grad_(False)
    return ((a - b) ** 2).mean()


@bank.wrong(
    "stop_gradient_loss",
    "flag-on-the-result",
    "`requires_grad_()` on the loss silences the error and heals nothing: the loss is then a leaf without history.",
)
def stop_gradient_loss(a, b):
    with torch.no_grad():
        loss = ((a - b) ** 2).mean()
    return loss.requires_grad_().add(0)


@bank.wrong(
    "stop_gradient_loss",
    "sum-not-mean",
    "You add the squares up. The mean is asked for.",
)
def stop_gradient_loss(a, b):
    return ((a - b.detach()) ** 2).sum()


@bank.wrong(
    "stop_gradient_loss",
    "absolute-differences",
    "You take absolute differences. Squares are asked for, and their gradient is another one.",
)
def stop_gradient_loss(a, b):
    return (a - b.detach()).abs().mean()


@bank.wrong(
    "stop_gradient_loss",
    "calls-backward",
    "You call backward yourself, and so use the graph up. Return the loss: going back is for whoever called.",
)
def stop_gradient_loss(a, b):
    loss = ((a - b.detach()) ** 2).mean()
    loss.backward()
    return loss


@bank.right("stop_gradient_loss", "functional-loss")
def stop_gradient_loss(a, b):
    return torch.nn.functional.mse_loss(a, b.detach())


@bank.right("stop_gradient_loss", "copy-under-no-grad")
def stop_gradient_loss(a, b):
    with torch.no_grad():
        target = b.clone()
    difference = target - a
    return (difference * difference).mean()


@bank.right("stop_gradient_loss", "sum-over-count")
def stop_gradient_loss(a, b):
    target = b.clone().detach()
    return torch.square(a - target).sum() / a.numel()


# --- descend ------------------------------------------------------------------------------------------------


@bank.wrong(
    "descend",
    "graph-through-update",
    "Your update is recorded: each x is made from the one before, and the graph grows with every step.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x = x - lr * torch.autograd.grad(f(x), x)[0]
    return x


@bank.wrong(
    "descend",
    "detaches-at-the-end-only",
    "You detach the result, but in between each x is made from the one before: `f` is not called on a leaf.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x = x - lr * torch.autograd.grad(f(x), x)[0]
    return x.detach()


@bank.wrong(
    "descend",
    "rebinds-leaf",
    "`x = x - ...` makes a new tensor; made under `no_grad`, it is not tracked, so the second backward fails. "
    "Change the leaf in place.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        f(x).backward()
        with torch.no_grad():
            x = x - lr * x.grad
    return x.detach()


@bank.wrong(
    "descend",
    "never-zeroes",
    "You never clear .grad: the second step goes along the sum of both gradients, the third along that of three.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
    return x.detach()


@bank.wrong(
    "descend",
    "moves-x0",
    "You walk with the caller's `x0` itself: its values, its flag and its .grad are changed. Start from a copy.",
)
def descend(f, x0, lr, steps):
    x0.requires_grad_()
    for _ in range(steps):
        x0.grad = None
        f(x0).backward()
        with torch.no_grad():
            x0 -= lr * x0.grad
    return x0.detach()


@bank.wrong(
    "descend",
    "detach-is-no-copy",
    "`detach` gives a tensor in the memory of `x0`: your steps in place move `x0` too. A clone is missing.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().requires_grad_()
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
    return x.detach()


@bank.wrong(
    "descend",
    "uphill",
    "You add the gradient, and so climb. It points to where f grows: go the other way.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x += lr * x.grad
    return x.detach()


@bank.wrong(
    "descend",
    "update-is-recorded",
    "You change a tracked leaf in place while recording is on: torch refuses. Update under `torch.no_grad()`.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        x -= lr * x.grad
    return x.detach()


@bank.wrong(
    "descend",
    "one-step-too-few",
    "You take one step less than asked: `range(1, steps)` has steps - 1 numbers.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(1, steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
    return x.detach()


@bank.wrong(
    "descend",
    "returns-the-leaf",
    "You return the leaf, which is tracked. An untracked tensor is asked for.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
    return x


@bank.wrong(
    "descend",
    "clears-before-the-update",
    "You clear .grad between backward and the update: nothing is left to go along.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        f(x).backward()
        x.grad.zero_()
        with torch.no_grad():
            x -= lr * x.grad
    return x.detach()


@bank.wrong(
    "descend",
    "returns-inside-the-loop",
    "Your `return` stands inside the loop, and ends it after the first step.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        return x.detach()


@bank.wrong(
    "descend",
    "one-forward-pass",
    "You compute f(x) once, before the loop. Each step needs a forward pass of its own, at the x of that step.",
)
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    loss = f(x)
    for _ in range(steps):
        x.grad = None
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
    return x.detach()


@bank.right("descend", "new-leaf-each-step")
def descend(f, x0, lr, steps):
    x = x0.detach().clone()
    for _ in range(steps):
        leaf = x.requires_grad_()
        (slope,) = torch.autograd.grad(f(leaf), leaf)
        x = (leaf - lr * slope).detach()
    return x


@bank.right("descend", "optimizer")
def descend(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
    return x.detach()


@bank.right("descend", "on-detached-memory")
def descend(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    for _ in range(steps):
        (slope,) = torch.autograd.grad(f(x), [x])
        x.detach().add_(slope, alpha=-lr)
    return x.detach()


@bank.right("descend", "func-grad")
def descend(f, x0, lr, steps):
    slope, x = torch.func.grad(f), x0.detach().clone()
    for _ in range(steps):
        x = x - lr * slope(x)
    return x


@bank.right("descend", "zero-in-place")
def descend(f, x0, lr, steps):
    x = torch.clone(x0).detach()
    x.requires_grad = True
    for _ in range(steps):
        if x.grad is not None:
            x.grad.zero_()
        f(x).backward()
        with torch.no_grad():
            x.sub_(x.grad, alpha=lr)
    return x.detach().clone()


# --- predict_grad_state -------------------------------------------------------------------------------------


@bank.wrong(
    "predict_grad_state",
    "second-backward-adds",
    "Your second backward on the same y adds up and raises nothing. The first one freed what `**` had saved.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 4 * n, False),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "stopped-means-no-grad",
    "Where a second backward raises you say that there is no .grad. The first backward had done its work by then.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, None, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "every-second-backward-raises",
    "You let every second backward raise. It raises only where something saved was freed; a sum saves nothing.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 2.0, True),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "fresh-replaces",
    "Your second gradient replaces the first. backward adds to the .grad that is there.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 2 * n, False),
        "twice_sum": (True, 2.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "middle-has-grad",
    "You give h a .grad. It is no leaf: unless asked to, autograd passes its gradient on and keeps nothing.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, 6 * n, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "retain-makes-a-leaf",
    "`retain_grad` keeps the gradient of h, but does not make it a leaf: an operation made it.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (True, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "retained-for-x",
    "For the kept h you give the gradient of x. From h to x another factor of 3 would come in.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 18 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "detach-lets-through",
    "You let a gradient pass `detach`. What it returns has no history, and y has nothing to go back through.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, 2 * n, False),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "detach-is-silent",
    "You say that backward after `detach` just gives no gradient. y does not require grad, and backward says so.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, False),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "rebound-stays-leaf",
    "`x = x - 1` is no change to the leaf: it makes a new tensor and binds the name x to that.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (True, 2 * (n - 1), False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "no-grad-makes-untracked",
    "After `no_grad` you see x as untracked. Only the update was not recorded; x still requires grad.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, None, True),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "old-value-counts",
    "Under `no_grad` the update is not recorded, but it happens: the gradient is taken at the new x.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * n, False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "leaf-in-place-works",
    "You let a tracked leaf be changed in place while recording is on. torch refuses that.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, 4 * n, False),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "in-place-always-raises",
    "You let every change in place raise. `* 2` saves nothing of y, so the change does no harm.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, None, True),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "in-place-never-raises",
    "You let `y += 1` pass after `exp`. Its derivative is its result, which it saved, and which you changed.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, math.exp(n), False),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "forgets-the-two",
    "The derivative of x squared is x in your answers. A factor is missing.",
)
def predict_grad_state(program):
    name, n = program
    table = {
        "once": (True, n, False),
        "twice": (True, n, True),
        "fresh": (True, 2 * n, False),
        "twice_sum": (True, 4.0, False),
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, n - 1, False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }
    return dict(zip(("leaf", "grad", "raises"), table[name]))


@bank.wrong(
    "predict_grad_state",
    "runs-the-programs",
    "You run the programs. That is a good way to check a prediction, but the prediction is what is asked for.",
)
def predict_grad_state(program):
    name, n = program
    x = torch.tensor(n, dtype=torch.float64, requires_grad=True)
    about, raises = x, False
    try:
        if name in ("once", "twice"):
            y = x**2
            y.backward()
            if name == "twice":
                y.backward()
        elif name == "fresh":
            (x**2).backward()
            (x**2).backward()
        elif name == "twice_sum":
            y = x + x
            y.backward()
            y.backward()
        elif name in ("middle", "kept"):
            about = h = x * 3
            if name == "kept":
                h.retain_grad()
            (h**2).backward()
        elif name == "detached":
            y = x.detach() ** 2
            y.backward()
        elif name == "rebound":
            about = x = x - 1
            (x**2).backward()
        elif name == "under":
            with torch.no_grad():
                x -= 1
            (x**2).backward()
        elif name == "on_leaf":
            x.mul_(2)
            (x**2).backward()
        else:
            y = x.exp() if name == "after_exp" else x * 2
            y += 1
            y.backward()
    except RuntimeError:
        raises = True
    grad = about.grad if about.is_leaf or about.retains_grad else None
    return {"leaf": about.is_leaf, "grad": None if grad is None else grad.item(), "raises": raises}


@bank.right("predict_grad_state", "sets-of-names")
def predict_grad_state(program):
    name, n = program
    leaf = name not in {"middle", "kept", "rebound"}
    raises = name in {"twice", "detached", "on_leaf", "after_exp"}
    slopes = {"once": 2 * n, "twice": 2 * n, "fresh": 4 * n, "kept": 6 * n, "under": 2 * n - 2}
    slopes |= {"twice_sum": 4, "after_twice": 2}
    return {"leaf": leaf, "grad": slopes.get(name), "raises": raises}


@bank.right("predict_grad_state", "match")
def predict_grad_state(program):
    match program:
        case ("once" | "twice" as name, n):
            return {"leaf": True, "grad": 2.0 * n, "raises": name == "twice"}
        case ("fresh", n):
            return {"leaf": True, "grad": 2.0 * n + 2.0 * n, "raises": False}
        case ("twice_sum" | "after_twice" as name, _):
            return {"leaf": True, "grad": 4.0 if name == "twice_sum" else 2.0, "raises": False}
        case ("middle" | "rebound", _):
            return {"leaf": False, "grad": None, "raises": False}
        case ("kept", n):
            return {"leaf": False, "grad": 2.0 * (3.0 * n), "raises": False}
        case ("under", n):
            return {"leaf": True, "grad": 2.0 * (n - 1.0), "raises": False}
    return {"leaf": True, "grad": None, "raises": True}


@bank.right("predict_grad_state", "line-by-line")
def predict_grad_state(program):
    name, n = program
    state = {"leaf": True, "grad": None, "raises": False}
    if name in ("detached", "on_leaf", "after_exp"):
        state["raises"] = True
        return state
    if name in ("middle", "kept", "rebound"):
        state["leaf"] = False
        if name == "kept":
            state["grad"] = 3 * n * 2
        return state
    at = n - 1 if name == "under" else n
    one = {"twice_sum": 2, "after_twice": 2}.get(name, 2 * at)
    state["grad"] = one * (2 if name in ("fresh", "twice_sum") else 1)
    state["raises"] = name == "twice"
    return state


# --- fix_inplace --------------------------------------------------------------------------------------------


@bank.wrong(
    "fix_inplace",
    "untouched",
    "`exp` saved its result, and `y += 1` changes it: that is what the error says. Then look at the other programs.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp()
    y += 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    scores.data.clamp_(max=1)
    loss.backward()
    report = scores.detach()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "leaf-still-in-place",
    "The first program runs. The second changes a tracked leaf in place while recording is on: look at that error.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    scores.data.clamp_(max=1)
    loss.backward()
    report = scores.detach()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "silent-clamp",
    "Two of three. The last program raises nothing, but `.data` hides that the scores, which the square "
    "saved, are cut off.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    scores.data.clamp_(max=1)
    loss.backward()
    report = scores.detach()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "data-hides-the-change",
    "`.data` silences the error of `exp` and not its cause: the gradient is computed from the changed result.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp()
    y.data += 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    report = scores.detach().clamp(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "detaches-the-leaf",
    "You update a detached copy of b: b itself, which is returned, never moves.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    moved = b.detach().clone()
    moved -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    report = scores.detach().clamp(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "moves-twice",
    "You take the step twice: once in place and once more in what you return.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    report = scores.detach().clamp(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": (b - 0.1 * b.grad).detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "clears-before-the-step",
    "You clear b's gradient before you use it: the step has length 0, or none at all.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    b.grad = None
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    report = scores.detach().clamp(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "cut-before-the-loss",
    "You cut the scores off before they are squared: now the loss is another one, and so is its gradient.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    scores = scores.clamp(max=1)
    loss = (scores**2).sum()
    loss.backward()
    report = scores.detach()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "report-not-cut",
    "The gradient is right now, but the report is no longer cut off above 1. Cut off a tensor of its own.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    loss.backward()
    report = scores.detach()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "detach-shares-memory",
    "You cut the scores off in place before backward. That changes what the square saved, also through `detach` "
    "or in `no_grad`.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    report = scores.detach().clamp_(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.wrong(
    "fix_inplace",
    "works-on-x",
    "You dropped the clones: `requires_grad_` and the step in place are done to the caller's own `x`.",
)
def fix_inplace(x):
    results = {}
    x.requires_grad_()
    (x.exp() + 1).sum().backward()
    results["exp_grad"], x.grad = x.grad, None
    scores = 3 * x
    (scores**2).sum().backward()
    results["square_grad"], x.grad = x.grad, None
    results["report"] = scores.detach().clamp(max=1)
    (x**2).sum().backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    results["stepped"] = x.detach().clone()
    return results


@bank.wrong(
    "fix_inplace",
    "report-is-tracked",
    "Your report is still tracked: detach it, as the other three results are.",
)
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp() + 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    report = scores.clamp(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.right("fix_inplace", "clone-everywhere")
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp().clone()
    y += 1
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    moved = b.detach().clone()
    moved -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores.clone() ** 2).sum()
    report = scores.detach().clone()
    report.clamp_(max=1)
    loss.backward()
    return {"exp_grad": a.grad, "stepped": moved, "square_grad": c.grad, "report": report}


@bank.right("fix_inplace", "backward-first")
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = a.exp()
    y.sum().backward()
    y = y.detach()
    y += 1

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    b = b - 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    loss.backward()
    report = scores.detach().clamp_(max=1)
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


@bank.right("fix_inplace", "from-grad")
def fix_inplace(x):
    def gradient(f):
        leaf = x.detach().clone().requires_grad_()
        return torch.autograd.grad(f(leaf).sum(), leaf)[0]

    return {
        "report": torch.clamp(3 * x, max=1),
        "square_grad": gradient(lambda c: (3 * c) ** 2),
        "stepped": x - 0.1 * gradient(lambda b: b**2),
        "exp_grad": gradient(lambda a: a.exp() + 1),
    }


@bank.right("fix_inplace", "add-under-data-of-the-leaf")
def fix_inplace(x):
    a = x.clone().requires_grad_()
    y = torch.add(torch.exp(a), 1)
    torch.sum(y).backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    b.detach().sub_(0.1 * b.grad)

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = scores.pow(2).sum()
    with torch.no_grad():
        report = torch.minimum(scores, torch.ones_like(scores))
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}


# --- vjp -----------------------------------------------------------------------------------------------------


@bank.wrong(
    "vjp",
    "sums-rows",
    "You differentiate the plain sum of the outputs: `v` is never used. It says how much each output counts.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).sum(), copy)[0]


@bank.wrong(
    "vjp",
    "transposed",
    "You give the Jacobian times `v`, how f moves when x moves along v. Asked for is v times the Jacobian.",
)
def vjp(f, x, v):
    return torch.autograd.functional.jvp(f, x.detach(), v.detach())[1]


@bank.wrong(
    "vjp",
    "v-times-the-sum",
    "You multiply by `v` after differentiating the sum. That is right only where each output depends on one input.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return v.detach() * torch.autograd.grad(f(copy).sum(), copy)[0]


@bank.wrong(
    "vjp",
    "v-into-the-input",
    "You scale the input by `v` before f sees it. v belongs to the outputs.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy * v.detach()).sum(), copy)[0]


@bank.wrong(
    "vjp",
    "non-scalar",
    "You call backward without `v`: for more than one output autograd does not know how much each counts.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    f(copy).backward()
    return copy.grad


@bank.wrong(
    "vjp",
    "leaves-grad-behind",
    "You call backward on `x` itself: its old .grad is lost, a new one stays behind. Use a leaf of your own.",
)
def vjp(f, x, v):
    x.requires_grad_()
    x.grad = None
    f(x).backward(v.detach())
    return x.grad.clone()


@bank.wrong(
    "vjp",
    "accumulates",
    "Your backward adds to the .grad that `x` has already, and you return both together.",
)
def vjp(f, x, v):
    x.requires_grad_()
    f(x).backward(v.detach())
    return x.grad.clone()


@bank.wrong(
    "vjp",
    "fills-the-grad-of-v",
    "You weigh with a `v` that may be tracked, so that backward fills its .grad too. v must stay as it was.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    (f(copy) * v).sum().backward()
    return copy.grad


@bank.wrong(
    "vjp",
    "tracked-gradient",
    "`create_graph=True` tracks the result itself. That is for second derivatives only.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy), copy, v, create_graph=True)[0]


@bank.wrong(
    "vjp",
    "mean-of-the-outputs",
    "You average the weighted outputs. They are to be added up.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad((f(copy) * v.detach()).mean(), copy)[0]


@bank.wrong(
    "vjp",
    "returns-the-tuple",
    "`torch.autograd.grad` returns a tuple, with one product for each tensor asked about. Take yours out.",
)
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy), copy, grad_outputs=v)


@bank.right("vjp", "weighted-sum")
def vjp(f, x, v):
    leaf = x.detach().requires_grad_()
    return torch.autograd.grad((f(leaf) * v.detach()).sum(), leaf)[0]


@bank.right("vjp", "backward-with-v")
def vjp(f, x, v):
    copy = x.detach().clone().requires_grad_()
    f(copy).backward(gradient=v)
    return copy.grad


@bank.right("vjp", "func-vjp")
def vjp(f, x, v):
    _, pull = torch.func.vjp(f, x.detach())
    return pull(v.detach())[0]


@bank.right("vjp", "functional-vjp")
def vjp(f, x, v):
    outputs, result = torch.autograd.functional.vjp(f, x, v)
    return result


@bank.right("vjp", "full-jacobian")
def vjp(f, x, v):
    jacobian = torch.autograd.functional.jacobian(f, x.detach())
    return torch.tensordot(v.detach(), jacobian, dims=v.dim())


# --- safe_log_where ------------------------------------------------------------------------------------------


@bank.wrong(
    "safe_log_where",
    "where-outside",
    "`torch.where` throws the bad values away, not their gradients: at 0 the log gives 0 times infinity, which is nan.",
)
def safe_log_where(x):
    return torch.where(x > 0, torch.log(x), 0.0)


@bank.wrong(
    "safe_log_where",
    "nan-to-num-hides",
    "`nan_to_num` hides nan in the values; log(0) becomes a huge negative number, and the gradient there is nan still.",
)
def safe_log_where(x):
    return torch.nan_to_num(torch.log(x), nan=0.0)


@bank.wrong(
    "safe_log_where",
    "times-the-mask",
    "You multiply by the mask: nan times 0 is nan. What should not count must be replaced, not multiplied.",
)
def safe_log_where(x):
    return torch.log(x) * (x > 0)


@bank.wrong(
    "safe_log_where",
    "clamps-to-eps",
    "You raise small numbers to a fixed eps: the log of eps is far from 0, and really small numbers are lost.",
)
def safe_log_where(x):
    return torch.log(x.clamp(min=1e-6))


@bank.wrong(
    "safe_log_where",
    "clamps-inside-where",
    "Your clamp keeps nan away, but small positive numbers get the log of the bound, and no gradient.",
)
def safe_log_where(x):
    return torch.where(x > 0, torch.log(x.clamp(min=1e-6)), 0.0)


@bank.wrong(
    "safe_log_where",
    "adds-eps",
    "You add a small eps to every number: that changes the log and its gradient where x is small.",
)
def safe_log_where(x):
    safe = torch.where(x > 0, x, 1.0)
    return torch.where(x > 0, torch.log(safe + 1e-6), 0.0)


@bank.wrong(
    "safe_log_where",
    "no-gradient",
    "Your result has no record, as under `no_grad`, or from Python numbers: no nan comes back, but no gradient either.",
)
def safe_log_where(x):
    with torch.no_grad():
        safe = torch.where(x > 0, x, 1.0)
        return torch.log(safe)


@bank.wrong(
    "safe_log_where",
    "log-of-abs",
    "You take the log of |x|. For negative x that is a number other than 0, with a gradient.",
)
def safe_log_where(x):
    return torch.log(torch.where(x == 0, 1.0, x.abs()))


@bank.wrong(
    "safe_log_where",
    "changes-x",
    "You write into the caller's `x`. Make a new tensor with `torch.where`.",
)
def safe_log_where(x):
    if not x.requires_grad:
        x[x <= 0] = 1.0
        return torch.log(x)
    return torch.log(torch.where(x > 0, x, 1.0))


@bank.wrong(
    "safe_log_where",
    "log1p",
    "`log1p` is the log of 1 + x. It is friendly at 0, but it is another function.",
)
def safe_log_where(x):
    return torch.log1p(x.clamp(min=0))


@bank.wrong(
    "safe_log_where",
    "zero-counts-as-positive",
    "You let 0 through: `x >= 0` includes it, and the log of 0 is minus infinity.",
)
def safe_log_where(x):
    safe = torch.where(x >= 0, x, 1.0)
    return torch.log(safe)


@bank.wrong(
    "safe_log_where",
    "clamps-to-one",
    "You raise all that is below 1 to 1. Numbers between 0 and 1 have a log, and a gradient, of their own.",
)
def safe_log_where(x):
    return torch.log(x.clamp(min=1.0))


@bank.wrong(
    "safe_log_where",
    "log-of-a-stand-in",
    "Where x is not positive, you return the log of your stand-in. There the result should be 0.",
)
def safe_log_where(x):
    return torch.log(torch.where(x > 0, x, 1e-12))


@bank.right("safe_log_where", "log-of-one")
def safe_log_where(x):
    return torch.where(x > 0, x, torch.ones_like(x)).log()


@bank.right("safe_log_where", "masked-fill")
def safe_log_where(x):
    return torch.log(x.masked_fill(x <= 0, 1.0))


@bank.right("safe_log_where", "index-put")
def safe_log_where(x):
    result, positive = torch.zeros_like(x), x > 0
    result[positive] = x[positive].log()
    return result


@bank.right("safe_log_where", "double-where-with-zeros")
def safe_log_where(x):
    bad = ~(x > 0)
    logs = torch.log(torch.where(bad, 1, x))
    return torch.where(bad, torch.zeros_like(x), logs)


# --- LeakyClamp ----------------------------------------------------------------------------------------------


@bank.wrong(
    "LeakyClamp",
    "returns-grad-out",
    "You pass grad_out on as it came, inside and outside. Outside the limits x counts only `slope` times.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_out
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).sum()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "no-grad-out-factor",
    "You return the derivative of the function alone. The chain rule wants it multiplied by grad_out, "
    "what comes from above.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, torch.ones_like(x), slope)
        if ctx.needs_input_grad[3]:
            grad_slope = excess.sum()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "state-on-self",
    "You keep x on the class, where the next call overwrites it. Each call has a `ctx` of its own for that.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        LeakyClamp.saved = x, low, high, slope
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, low, high, slope = LeakyClamp.saved
        excess = x - x.clamp(low, high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).sum()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "returns-too-few",
    "Your backward returns one gradient, but forward has four inputs: one entry for each, None where there is none.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        return torch.where(excess == 0, grad_out, slope * grad_out)


@bank.wrong(
    "LeakyClamp",
    "ignores-needs-input-grad",
    "You compute both gradients whoever asked. `ctx.needs_input_grad` says which are wanted: give None for the others.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        return torch.where(excess == 0, grad_out, slope * grad_out), None, None, (grad_out * excess).sum()


@bank.wrong(
    "LeakyClamp",
    "no-gradient-for-slope",
    "You return None for `slope`. It is a tensor and may be tracked: what sticks out of the limits is its derivative.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "mean-for-slope",
    "You average the gradient of `slope` over the entries. Shares of one number add up.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).mean()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "hard-clamp",
    "You clamp hard: nothing of what sticks out gets through, whatever `slope` is.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside * 1.0

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).sum()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "slope-times-x",
    "Outside you give `slope * x`. The excess over the limit is scaled, and the limit itself added.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return torch.where(x == inside, x, slope * x)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).sum()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "gradient-of-a-hard-clamp",
    "Your gradient of x is 0 outside the limits, as for a plain clamp. There `slope` times grad_out leaks through.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, 0.0)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).sum()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "limits-swapped-in-backward",
    "Inside and outside are swapped in your backward: it is inside that x gets all of grad_out.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, slope * grad_out, grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).sum()
        return grad_x, None, None, grad_slope


@bank.wrong(
    "LeakyClamp",
    "excess-without-sign",
    "You take the excess without its sign. Below `low` a larger slope makes the result smaller.",
)
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess.abs()).sum()
        return grad_x, None, None, grad_slope


@bank.right("LeakyClamp", "three-cases")
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.limits = (low, high)
        below, above = low + slope * (x - low), high + slope * (x - high)
        return torch.where(x < low, below, torch.where(x > high, above, x))

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        low, high = ctx.limits
        needs_x, _, _, needs_slope = ctx.needs_input_grad
        outside = (x < low) | (x > high)
        by_x = by_slope = None
        if needs_x:
            by_x = grad_out * (1 + (slope - 1) * outside)
        if needs_slope:
            by_slope = torch.sum(grad_out[x < low] * (x[x < low] - low)) + torch.sum(
                grad_out[x > high] * (x[x > high] - high)
            )
        return by_x, None, None, by_slope


@bank.right("LeakyClamp", "saves-what-backward-needs")
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        inside = torch.clamp(x, low, high)
        excess = x - inside
        ctx.save_for_backward(excess, slope)
        return torch.lerp(inside, x, slope.to(x.dtype))

    @staticmethod
    def backward(ctx, grad_out):
        excess, slope = ctx.saved_tensors
        return (
            grad_out * torch.where(excess != 0, slope, 1.0) if ctx.needs_input_grad[0] else None,
            None,
            None,
            torch.dot(grad_out.flatten(), excess.flatten()) if ctx.needs_input_grad[3] else None,
        )


@bank.right("LeakyClamp", "autograd-adds-the-shares-up")
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = grad_out * excess
        return grad_x, None, None, grad_slope


@bank.right("LeakyClamp", "once-differentiable")
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        excess = torch.relu(x - high) - torch.relu(low - x)
        ctx.save_for_backward(excess, slope)
        return x - excess + slope * excess

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_out):
        excess, slope = ctx.saved_tensors
        by_x = by_slope = None
        if ctx.needs_input_grad[0]:
            by_x = grad_out * slope ** (excess != 0).to(grad_out.dtype)
        if ctx.needs_input_grad[3]:
            by_slope = torch.einsum("i,i->", grad_out.reshape(-1), excess.reshape(-1))
        return by_x, None, None, by_slope


@bank.right("LeakyClamp", "setup-context")
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(x, low, high, slope):
        over, under = (x - high).clamp(min=0), (low - x).clamp(min=0)
        return x - (1 - slope) * (over - under)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.low, ctx.high, slope = inputs
        ctx.save_for_backward(x, slope)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        grads = [None, None, None, None]
        outside = (x > ctx.high).to(x.dtype) + (x < ctx.low).to(x.dtype)
        if ctx.needs_input_grad[0]:
            grads[0] = grad_out * (1 - outside) + grad_out * outside * slope
        if ctx.needs_input_grad[3]:
            grads[3] = (grad_out * (x - x.clamp(ctx.low, ctx.high))).sum().reshape(slope.shape)
        return tuple(grads)


@bank.right("LeakyClamp", "on-ctx")
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.x, ctx.slope, ctx.inside = x, slope, x.clip(low, high)
        return (1 - slope) * ctx.inside + slope * x

    @staticmethod
    def backward(ctx, grad_out):
        kept = ctx.x == ctx.inside
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_out.clone()
            grad_x[~kept] *= ctx.slope
        if ctx.needs_input_grad[3]:
            grad_slope = ((ctx.x - ctx.inside) * grad_out).sum()
        return grad_x, None, None, grad_slope


# --- hessian_vector_product ----------------------------------------------------------------------------------


@bank.wrong(
    "hessian_vector_product",
    "no-create-graph",
    "What you differentiate has no graph: `x` may come untracked, and the first gradient has one with "
    "`create_graph` alone.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy)[0]
    return torch.autograd.grad(grad, copy, grad_outputs=v.detach())[0]


@bank.wrong(
    "hessian_vector_product",
    "full-hessian",
    "The numbers are right, but you build the whole Hessian: a million entries for a thousand numbers.",
)
def hessian_vector_product(f, x, v):
    n = x.numel()
    hessian = torch.autograd.functional.hessian(f, x.detach()).reshape(n, n)
    return (hessian @ v.detach().reshape(n)).reshape(x.shape)


@bank.wrong(
    "hessian_vector_product",
    "full-hessian-at-once",
    "`torch.func.hessian` is fast because it builds all rows at once: the full matrix is there all the same.",
)
def hessian_vector_product(f, x, v):
    hessian = torch.func.hessian(f)(x.detach())
    return torch.tensordot(hessian, v.detach(), dims=v.dim())


@bank.wrong(
    "hessian_vector_product",
    "gradient-times-v",
    "You multiply the gradient by `v`, entry by entry. The second differentiation is missing.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy), copy)[0] * v.detach()


@bank.wrong(
    "hessian_vector_product",
    "directional-derivative",
    "You stop at the gradient times `v`, a single number. It is this number that must be differentiated again.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    return (torch.autograd.grad(f(copy), copy)[0] * v.detach()).sum()


@bank.wrong(
    "hessian_vector_product",
    "rows-summed",
    "You differentiate the plain sum of the gradient: that is the Hessian times ones. `v` is never used.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad(grad.sum(), copy)[0]


@bank.wrong(
    "hessian_vector_product",
    "v-after-the-sum",
    "You multiply by `v` after differentiating the sum of the gradient. It is right only without mixed derivatives.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad(grad.sum(), copy)[0] * v.detach()


@bank.wrong(
    "hessian_vector_product",
    "adds-the-gradient",
    "Two backwards fill the same .grad: you return the gradient and the product added together.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    f(copy).backward(create_graph=True)
    (copy.grad * v.detach()).sum().backward()
    return copy.grad.detach().clone()


@bank.wrong(
    "hessian_vector_product",
    "fills-the-grad-of-v",
    "Your second backward reaches a tracked `v` as well and fills its .grad. v must stay as it was.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    (grad * v).sum().backward()
    return copy.grad


@bank.wrong(
    "hessian_vector_product",
    "tracked-result",
    "You keep a graph for a third derivative that nobody asked for: the result is tracked.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad((grad * v.detach()).sum(), copy, create_graph=True)[0]


@bank.wrong(
    "hessian_vector_product",
    "leaves-the-flag-on",
    "You switch `requires_grad` on for the caller's `x`, and it stays on. Use a leaf of your own.",
)
def hessian_vector_product(f, x, v):
    x.requires_grad_()
    grad = torch.autograd.grad(f(x), x, create_graph=True)[0]
    return torch.autograd.grad(grad, x, grad_outputs=v.detach())[0]


@bank.wrong(
    "hessian_vector_product",
    "row-by-row",
    "You go through the Hessian row by row, with a backward pass for each entry of x. Two passes are enough.",
)
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    rows = [torch.autograd.grad(g, copy, retain_graph=True)[0] for g in grad.reshape(-1)]
    return sum(row * w for row, w in zip(rows, v.detach().reshape(-1)))


@bank.right("hessian_vector_product", "gradient-dot-v")
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad((grad * v.detach()).sum(), copy)[0]


@bank.right("hessian_vector_product", "func-jvp-of-grad")
def hessian_vector_product(f, x, v):
    return torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))[1]


@bank.right("hessian_vector_product", "func-vjp-of-grad")
def hessian_vector_product(f, x, v):
    _, pull = torch.func.vjp(torch.func.grad(f), x.detach())
    (product,) = pull(v.detach())
    return product


@bank.right("hessian_vector_product", "functional-hvp")
def hessian_vector_product(f, x, v):
    return torch.autograd.functional.hvp(f, x.detach(), v.detach())[1]


@bank.right("hessian_vector_product", "functional-vhp")
def hessian_vector_product(f, x, v):
    value, product = torch.autograd.functional.vhp(f, x, v)
    return product


@bank.right("hessian_vector_product", "backward-twice")
def hessian_vector_product(f, x, v):
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    grad.backward(v.detach(), inputs=[copy])
    return copy.grad


# --- Value ---------------------------------------------------------------------------------------------------


@bank.wrong(
    "Value",
    "overwrites-instead-of-adds",
    "You assign the gradient of a parent. A Value that is used twice gets two contributions: add them up.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] = slope * slopes[value]


@bank.wrong(
    "Value",
    "no-visited-set",
    "Your order holds a Value once for every path to it, so that it passes its gradient on several times.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order = []

        def visit(value):
            for parent, _ in value.parents:
                visit(parent)
            order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "lost-minus-sign",
    "The derivative of tanh is 1 minus its square. You add the square.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 + t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "tanh-of-the-input",
    "The derivative of tanh is 1 minus the square of its result. You square the input.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - self.data * self.data),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "tanh-not-squared",
    "The derivative of tanh is 1 minus its square; you forgot to square.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "factors-swapped",
    "In a product, the derivative by one factor is the other one. You give each factor its own value.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, self.data), (other, other.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "sum-like-product",
    "You give a sum the derivatives of a product. By each of its terms, a sum has the derivative 1.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, other.data), (other, self.data)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "one-parent-only",
    "Your operations remember their left operand only: no gradient ever reaches the right one.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0),))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data),))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "no-seed",
    "Nothing flows: the derivative of the result by itself is 1, and that is where the walk begins.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "wrong-order",
    "You pass a Value on as soon as you meet it, before the contributions of its other users have come in.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, slopes = [self], {self: 1.0}
        for value in order:
            value.grad += slopes[value]
            for parent, slope in value.parents:
                if parent not in slopes:
                    order.append(parent)
                    slopes[parent] = 0.0
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "passes-old-grad-on",
    "A Value on the way keeps its grad from an earlier result, and you pass that on once more with the new one.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        self.grad = 1.0
        for value in reversed(order):
            for parent, slope in value.parents:
                parent.grad += slope * value.grad


@bank.wrong(
    "Value",
    "clears-what-was-there",
    "You set all grads to 0 before each walk: what an earlier result has left there is lost. Add to it.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        for value in order:
            value.grad = 0.0
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "result-without-grad",
    "The leaves are right, but the grad of the result itself stays 0. It becomes 1.0.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            if value is not self:
                value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "leaves-only",
    "You fill the grad of the leaves, and not that of the Values on the way to the result.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            if value is self or not value.parents:
                value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "Value",
    "queue-of-visits",
    "Whenever you meet a Value, you pass on all that it has gathered so far: what was passed on before counts twice.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        self.grad = 1.0
        queue = [self]
        while queue:
            value = queue.pop(0)
            for parent, slope in value.parents:
                parent.grad += slope * value.grad
                queue.append(parent)


@bank.wrong(
    "Value",
    "calls-backward-of-parents",
    "Each call of a parent's backward passes on its whole grad: what an earlier path has brought goes along once more.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        if self.grad == 0.0:
            self.grad = 1.0
        for parent, slope in self.parents:
            parent.grad += slope * self.grad
            parent.backward()


@bank.right("Value", "every-path")
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, [(self, 1), (other, 1)])

    def __mul__(self, other):
        return Value(self.data * other.data, [(self, other.data), (other, self.data)])

    def tanh(self):
        e = math.exp(2 * self.data)
        return Value((e - 1) / (e + 1), [(self, 4 * e / (e + 1) ** 2)])

    def backward(self, incoming=1.0):
        self.grad += incoming
        for parent, slope in self.parents:
            parent.backward(slope * incoming)


@bank.right("Value", "closures")
class Value:
    def __init__(self, data, parents=(), rule=None):
        self.data, self.grad, self.parents, self.rule = data, 0.0, parents, rule

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), lambda g: (g * other.data, g * self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), lambda g: (g * (1 - t**2),))

    def backward(self):
        users, stack, met = {}, [self], {id(self)}
        while stack:
            for parent in stack.pop().parents:
                users[id(parent)] = users.get(id(parent), 0) + 1
                if id(parent) not in met:
                    met.add(id(parent))
                    stack.append(parent)
        arrived, ready = {id(self): 1.0}, [self]
        while ready:
            value = ready.pop()
            mine = arrived[id(value)]
            value.grad += mine
            shares = value.rule(mine) if value.rule else ()
            for parent, share in zip(value.parents, shares):
                arrived[id(parent)] = arrived.get(id(parent), 0.0) + share
                users[id(parent)] -= 1
                if users[id(parent)] == 0:
                    ready.append(parent)


@bank.right("Value", "numbered")
class Value:
    count = 0

    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents
        Value.count += 1
        self.number = Value.count

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        return Value(math.tanh(self.data), ((self, 1 / math.cosh(self.data) ** 2),))

    def backward(self):
        waiting = {self.number: (self, 1.0)}
        while waiting:
            value, slope = waiting.pop(max(waiting))
            value.grad += slope
            for parent, factor in value.parents:
                before = waiting.get(parent.number, (parent, 0.0))[1]
                waiting[parent.number] = (parent, before + factor * slope)
