"""Answers to `LeakyClamp`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("LeakyClamp")


bank.wrong(
    "returns-grad-out",
    "You pass grad_out on as it came, inside and outside. Outside the limits x counts only `slope` times.",
    change={"grad_x = torch.where(excess == 0, grad_out, slope * grad_out)": "grad_x = grad_out"},
)

bank.wrong(
    "no-grad-out-factor",
    "You return the derivative of the function alone. The chain rule wants it multiplied by grad_out, "
    "what comes from above.",
    also=("slope-without-grad-out", "x-without-grad-out"),
    change={"grad_out, slope * grad_out": "torch.ones_like(x), slope", "(grad_out * excess).sum()": "excess.sum()"},
)

bank.wrong(
    "state-on-self",
    "What you keep for backward stands in one place for all calls, such as the class, and the next call overwrites it. "
    "Each call has a `ctx` of its own for that.",
    change={
        "ctx.save_for_backward(x, slope)\nctx.low, ctx.high = low, high": "LeakyClamp.saved = x, low, high, slope",
        "x, slope = ctx.saved_tensors": "x, low, high, slope = LeakyClamp.saved",
        "x.clamp(ctx.low, ctx.high)": "x.clamp(low, high)",
    },
)

bank.wrong(
    "returns-too-few",
    "Your backward returns one gradient, but forward has four inputs: one entry for each, None where there is none.",
    change={
        "grad_x = grad_slope = None": "",
        "if ctx.needs_input_grad[0]:\n    grad_x =": "return",
        "if ctx.needs_input_grad[3]:\n    grad_slope = (grad_out * excess).sum()": "",
        "return grad_x, None, None, grad_slope": "",
    },
)

bank.wrong(
    "ignores-needs-input-grad",
    "You compute both gradients whoever asked. `ctx.needs_input_grad` says which are wanted: give None for the others.",
    change={
        "torch.where(out, g * slope, g) if ctx.needs_input_grad[0] else None": "torch.where(out, g * slope, g)",
        "(g * (x - x.clamp(ctx.low, ctx.high))).sum() if ctx.needs_input_grad[3] else None": "(g * (x - x.clamp(ctx.low, ctx.high))).sum()",
    },
    of="where",
)

bank.wrong(
    "no-gradient-for-slope",
    "You return None for `slope`. It is a tensor and may require grad: what sticks out of the limits is its derivative.",
    change={"if ctx.needs_input_grad[3]:\n    grad_slope = (grad_out * excess).sum()": ""},
)

bank.wrong(
    "slope-in-the-second-place",
    "You return the gradient of `slope` in the place of `low`. What backward returns stands in the order of forward's inputs.",
    change={"grad_x, None, None, grad_slope": "grad_x, grad_slope, None, None"},
)

bank.wrong(
    "x-for-the-excess",
    "Your gradient of `slope` takes all of x where x is outside the limits. What `slope` is multiplied by is only the part that "
    "sticks out.",
    change={"(grad_out * excess).sum()": "(grad_out * x * (excess != 0)).sum()"},
)

bank.wrong(
    "mean-for-slope",
    "You average the gradient of `slope` over the entries. Shares of one number add up.",
    change={"sum()": "mean()"},
)

bank.wrong(
    "slope-without-grad-out",
    "Your gradient of `slope` leaves grad_out out. Each entry's share is what sticks out times what comes from above.",
    change={"(grad_out * excess).sum()": "excess.sum()"},
)

bank.wrong(
    "hard-clamp",
    "You clamp hard: nothing of what sticks out gets through, whatever `slope` is.",
    change={"+ slope * (x - inside)": "* 1.0"},
)

bank.wrong(
    "slope-times-x",
    "Outside you give `slope * x`. The excess over the limit is scaled, and the limit itself added.",
    change={"inside + slope * (x - inside)": "torch.where(x == inside, x, slope * x)"},
)

bank.wrong(
    "gradient-of-a-hard-clamp",
    "Your gradient of x is 0 outside the limits, as for a plain clamp. There `slope` times grad_out leaks through.",
    change={"slope * grad_out": "0.0"},
)

bank.wrong(
    "limits-swapped-in-backward",
    "Inside and outside are swapped in your backward: it is inside that x gets all of grad_out.",
    change={"grad_out, slope * grad_out": "slope * grad_out, grad_out"},
)

bank.wrong(
    "excess-without-sign",
    "You take the excess without its sign. Below `low` a larger slope makes the result smaller.",
    change={"* excess": "* excess.abs()"},
)

bank.wrong(
    "slope-times-x-below",
    "Below the limits you let `slope` times x through. It is `slope` times what sticks out: x minus the limit.",
    change={"low + slope * (x - low)": "low + slope * x", "(x[x < low] - low)": "x[x < low]"},
    of="three-cases",
)


@bank.right("where")
class LeakyClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, g):
        x, slope = ctx.saved_tensors
        out = (x < ctx.low) | (x > ctx.high)
        gx = torch.where(out, g * slope, g) if ctx.needs_input_grad[0] else None
        gs = (g * (x - x.clamp(ctx.low, ctx.high))).sum() if ctx.needs_input_grad[3] else None
        return gx, None, None, gs


@bank.right("three-cases")
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


@bank.right("saves-what-backward-needs")
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


@bank.right("autograd-adds-the-shares-up")
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


@bank.right("once-differentiable")
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


@bank.right("setup-context")
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


@bank.right("on-ctx")
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


bank.wrong(
    "leaks-all-of-x",
    "Outside the limits you let `slope` times x through. It is `slope` times what sticks out.",
    change={
        "low + slope * (x - low), high + slope * (x - high)": "low + slope * x, high + slope * x",
        "(x[x < low] - low)": "x[x < low]",
        "(x[x > high] - high)": "x[x > high]",
    },
    of="three-cases",
)

bank.wrong(
    "slope-times-all",
    "Outside the limits you give `slope` times x itself. Begin at the limit: to it comes `slope` times what sticks out.",
    change={
        "below, above = low + slope * (x - low), high + slope * (x - high)": "below = above = slope * x",
        "(x[x < low] - low)": "x[x < low]",
        "(x[x > high] - high)": "x[x > high]",
    },
    of="three-cases",
)

bank.wrong(
    "x-without-grad-out",
    "Your gradient of x is the derivative of the function alone. The chain rule multiplies it by grad_out, what comes "
    "from above.",
    change={
        "torch.where(excess == 0, grad_out, slope * grad_out)": "torch.where(excess == 0, torch.ones_like(x), slope)"
    },
)

bank.wrong(
    "no-gradient-for-slope-whoever-asks",
    "Where `slope` alone asks for a gradient, None stands in its place, the fourth. It is a tensor, too: what "
    "sticks out of the limits is its derivative.",
    change={
        "torch.where(out, g * slope, g) if ctx.needs_input_grad[0] else None": "torch.where(out, g * slope, g)",
        "(g * (x - x.clamp(ctx.low, ctx.high))).sum() if ctx.needs_input_grad[3] else None": "None",
    },
    of="where",
)

bank.wrong(
    "zero-inside",
    "Inside the limits your gradient of x is 0. There the function gives x itself: what arrives passes as it is.",
    change={"torch.where(excess == 0, grad_out, slope * grad_out)": "torch.where(excess == 0, 0.0, slope * grad_out)"},
)


bank.survives(
    {
        "inside + slope * (x - inside) -> slope * (x - inside) + inside": "Addition does not mind the order.",
        "inside + slope * (x - inside) -> inside.add_(slope * (x - inside))": "The clamped tensor is the answer's own; the excess is computed before it changes.",
        "slope * (x - inside) -> (x - inside) * slope": "Numbers multiply in any order.",
        "(grad_out * excess).sum() -> grad_out * excess": "autograd sums a gradient that broadcasting would give the input's shape.",
        "slope * grad_out -> grad_out * slope": "Numbers multiply in any order.",
        "grad_out * excess -> excess * grad_out": "Numbers multiply in any order.",
    }
)
