"""The hints of chapter 2, from a nudge to nearly there."""

from __future__ import annotations

HINTS: dict[str, tuple[str, ...]] = {
    "mean_square_grad": (
        "Work on a leaf of your own: then nothing can be left behind on `x`.",
        "`x.detach().clone().requires_grad_()` is such a leaf. Its .grad is new and belongs to you.",
    ),
    "grad_by_hand": (
        "Name the sum: s = x + y, so the result is s * z. What is the derivative of s * z by s?",
        "Then go on from s to x and to y: multiply by the derivative of s by each, which is 1.",
    ),
    "grad_of": (
        "Two things can be left behind: on `x`, and on other tensors that `f` uses. Which call writes no .grad?",
        "`torch.autograd.grad` returns gradients instead of storing them; give it a leaf of your own.",
        "It wants one number to start from. The sum of one number is that number, so sum in any case.",
    ),
    "accumulate": (
        "A batch's mean loss counts each of its rows as 1 / rows. It should count as 1 / (all rows).",
        "Scale each loss before its backward; backward adds the gradients up for you.",
        "What stands in .grad when you come must go, once, before the first backward.",
    ),
    "running_loss": (
        "What do you need of a loss after its backward? A number, not a tensor with a history.",
        "Take the value with `item()`, after `backward()`. A generator has no `len`: count as you go.",
    ),
    "stop_gradient_loss": (
        "One of the two should take part as a number without history. Which one, and which method does that?",
        "`detach` gives a tensor without history and leaves the original alone. Then: subtract, square, mean.",
    ),
    "descend": (
        "Start with a leaf of your own. Which three things happen in each step?",
        "Clear the old gradient, call backward on f(x), move x. The last must not be recorded.",
        "Under `torch.no_grad()` the leaf is changed in place: `x -= ...`, not `x = x - ...`.",
    ),
    "predict_grad_state": (
        "Go line by line: is the tensor asked about made by an operation? What did each operation save?",
        "`**` and `exp` save a tensor, a sum and `* 2` do not. What is not saved can be neither freed nor spoilt.",
        "Only leaves get a .grad, unless asked by `retain_grad`; a program that stops keeps what was done before.",
    ),
    "fix_inplace": (
        "Read which operation the error names. Which of its tensors was changed, and had it been saved?",
        "`exp` saves its result: make a new tensor. A leaf may be changed only where nothing is recorded.",
        "The third program raises nothing. Compare `square_grad` with 18 * x, and look at what `.data` hides.",
    ),
    "vjp": (
        "v says how much each output counts. Could you make one number of f(x) and v whose gradient this is?",
        "`torch.autograd.grad` takes v as `grad_outputs`; no Jacobian is needed.",
        "Give it a leaf of your own instead of `x`.",
    ),
    "safe_log_where": (
        "The gradient of the branch that `torch.where` leaves out is computed too: 0 times infinity is nan.",
        "No log may meet a bad number, not even in the branch that is thrown away.",
        "Choose a harmless number first, with one `torch.where`; take the log of that.",
    ),
    "LeakyClamp": (
        "Let `inside` be the clamped x; the result is inside + slope * (x - inside). What saves you three cases?",
        "By x: grad_out inside, slope * grad_out outside. By slope: the sum of grad_out times what sticks out.",
        "backward returns one entry for each input of forward; `ctx.needs_input_grad` says which are wanted.",
    ),
    "hessian_vector_product": (
        "The Hessian times v is the gradient of a number: of (gradient of f) times v, summed up.",
        "The first gradient must have a graph of its own: look at `create_graph`.",
        "Two calls of `torch.autograd.grad`: the second differentiates the first, with v as `grad_outputs`.",
    ),
    "Value": (
        "Each operation knows its parents and its derivative by each of them. Let it write both down.",
        "backward must not pass a Value on before all its contributions are in: order the Values first.",
        "Visit parents first and append a Value after them, each one once; then walk that list backwards.",
    ),
}
